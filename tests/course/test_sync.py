"""Generated files follow their sources, and nothing else is touched."""

import pytest
import small_course

from autograder.lessons import manifest, places
from autograder.lessons.problem import Problem
from autograder.upkeep import sync

GENERATED = [
    "course/map.svg",
    "course/outputs/hello.json",
    "solutions/toy/__init__.py",
    "solutions/toy/text/__init__.py",
]


@pytest.fixture
def root(monkeypatch, tmp_path):
    return small_course.write(monkeypatch, tmp_path)


def all_files(root):
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def test_a_check_names_the_files_and_writes_none(root):
    before = all_files(root)
    assert sorted(sync.sync(check=True)) == [f"{path} (missing)" for path in GENERATED]
    assert all_files(root) == before


def test_sync_writes_all_and_then_finds_nothing_to_do(root):
    before = all_files(root)
    assert len(sync.sync(check=False)) == len(GENERATED)
    assert sorted(set(all_files(root)) - set(before)) == GENERATED
    assert sync.sync(check=True) == []
    assert (root / "course/map.svg").stat().st_mode & 0o777 == 0o644


def test_a_changed_reference_makes_what_it_printed_out_of_date(root):
    sync.sync(check=False)
    reference = root / "solutions/toy/hello.py"
    reference.write_text(reference.read_text().replace("Return one more", "Add one"))
    assert sync.sync(check=True) == ["course/outputs/hello.json (out of date)"]


def test_files_that_nothing_generates_are_removed_where_only_generated_ones_are(root):
    sync.sync(check=False)
    old = ["course/outputs/bye.json", "course/outputs/hullo.json"]
    for path in [*old, "course/notes.py", "solutions/toy/draft.py"]:
        (root / path).write_text("x = 1\n")
    assert sync.sync(check=False) == [f"{path} (nothing generates it any more)" for path in old]
    assert not any((root / path).exists() for path in old)
    assert (root / "course/notes.py").exists()
    assert (root / "solutions/toy/draft.py").exists()


BYE = "course/lessons/03_bye"
LOST = small_course.BYE_TOML.replace('target = "bye"', 'target = "by"')
MUTE = small_course.BYE.replace("Part from somebody.", "")
PEOPLE = "<!-- generated: people -->\n<!-- /generated -->\n"


@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        (f"{BYE}/lesson.md", "# Parting\n", "lesson.md: the exercise bye.bye is shown 0 times"),
        (f"{BYE}/lesson.toml", LOST, "no definition of 'by' in toy/bye.py"),
        ("solutions/toy/bye.py", MUTE, "solutions/toy/bye.py: bye has no docstring"),
        ("README.md", PEOPLE, r"README.md asks for \['people'\]"),
    ],
)
def test_what_does_not_fit_together_is_told(monkeypatch, tmp_path, path, text, message):
    small_course.write(monkeypatch, tmp_path, {path: text})
    with pytest.raises(Problem, match=message):
        sync.sync(check=True)


def test_a_table_between_markers_is_renewed(root):
    text = "# Course\n\n<!-- generated: lessons -->\n{}<!-- /generated -->\n\nEnd.\n"
    for file in [root / "README.md", root / "course/index.md"]:
        file.write_text(text.format("old\n"))
    sync.sync(check=False)
    table = """
| # | lesson | title | exercises | points | minutes |
|--:|---|---|--:|--:|--:|
| | | **I. Small** | | | |
| 1 | `hello` | [Greeting people]({0}lessons/01_hello/lesson.md) | 2 | 3.5 | 10 |
| 3 | `bye` | [Parting]({0}lessons/03_bye/lesson.md) | 1 | 1 | 10 |

"""
    assert (root / "README.md").read_text() == text.format(table.format("course/"))
    assert (root / "course/index.md").read_text() == text.format(table.format(""))
    assert sync.sync(check=True) == []


def test_this_repository_is_in_step():
    assert sync.sync(check=True) == []


def test_every_module_of_the_reference_belongs_to_a_lesson():
    owned = {path for lesson in manifest.load().values() for path in lesson.files}
    found = {p.relative_to(places.SOLUTIONS).as_posix() for p in places.SOLUTIONS.rglob("*.py")}
    apart = ("tasks/", "nothing/")
    modules = {x for x in found if not x.endswith("/__init__.py") and not x.startswith(apart)}
    assert modules == owned
