"""Trees hold what their lessons say, nothing later, and stay below their folder."""

import json
import subprocess
import sys

import imports
import pytest
import small_course

from autograder.lessons import assemble, manifest
from autograder.lessons.problem import Problem

GUEST_TOML = """
id = "guest"
title = "Another package"
module = "other/guest.py"
minutes = 0
requires = ["between"]
"""


@pytest.fixture
def course(monkeypatch, tmp_path):
    return small_course.write(monkeypatch, tmp_path / "course_root")


def files_below(folder):
    return {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()}


def test_a_tree_holds_nothing_of_later_lessons(course, tmp_path):
    assemble.write_tree(tmp_path / "tree", manifest.get("between"))
    assert set(files_below(tmp_path / "tree")) == {
        "toy/__init__.py",
        "toy/hello.py",
        "toy/between.py",
        "toy/text/__init__.py",
        "toy/text/words.py",
    }


def test_students_get_skeletons_among_the_references_given_code(course):
    made = assemble.handout({"toy"})
    assert made.keys() == assemble.tree(manifest.get("bye")).keys()
    assert made["toy/text/words.py"] == small_course.WORDS
    assert 'NotImplementedError("bye.bye")' in made["toy/bye.py"]


def test_an_overlay_takes_the_place_of_the_reference(course, tmp_path):
    overlay = {"toy/hello.py": "x = 'ö'\n", "toy/bye.py": b"\xff"}
    assemble.write_tree(tmp_path / "tree", manifest.get("hello"), overlay)
    assert (tmp_path / "tree/toy/hello.py").read_bytes() == "x = 'ö'\n".encode()
    assert (tmp_path / "tree/toy/bye.py").read_bytes() == b"\xff"


def test_the_tree_of_a_required_lesson_of_another_package_joins(monkeypatch, tmp_path):
    toml = GUEST_TOML + 'exports = ["guest"]\n'
    files = {
        "course/lessons/04_guest/lesson.toml": toml,
        "solutions/other/guest.py": "from toy import BETWEEN as guest\n",
    }
    small_course.write(monkeypatch, tmp_path / "root", files)
    guest = manifest.get("guest")
    assert [x.id for x in manifest.prefix(guest)] == ["hello", "between", "guest"]
    assemble.write_tree(tmp_path / "tree", guest, {"toy/between.py": "BETWEEN = 7\n"})
    command = [sys.executable, "-I", "-c", LOOK, str(tmp_path / "tree"), "other", "toy"]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert json.loads(found)[0]["other"] == [["guest"], True]
    assert "BETWEEN" in json.loads(found)[0]["toy"][0]
    assert "bye" not in json.loads(found)[0]["toy"][0]
    inits = assemble.init_files(manifest.prefix(guest))
    assert "later ones" not in inits["other/__init__.py"]
    assert "later ones" in inits["toy/__init__.py"]


@pytest.mark.parametrize(
    "path",
    ["../x.py", "toy/../../x.py", "/etc/x.py", "other/x.py", "toy", "toy//x.py", "./toy/x.py", ""],
)
def test_an_overlay_outside_the_package_is_refused(course, tmp_path, path):
    with pytest.raises(Problem, match="does not lie in the package toy"):
        assemble.write_tree(tmp_path / "tree", manifest.get("hello"), {path: ""})
    assert not (tmp_path / "tree").exists()


def code_of(init):
    """An `__init__.py` without its docstring, and without what says that a name is missing."""
    return init.split("\n\n", 2)[2].partition("\nif not")[0]


def test_init_files_follow_the_exports(course):
    made = assemble.init_files(manifest.prefix(manifest.get("bye")))
    assert code_of(made["toy/__init__.py"]) == (
        "import typing as _typing\n"
        "\n"
        "from toy.between import BETWEEN\n"
        "from toy.bye import bye\n"
        "from toy.hello import Box, greet\n"
        "from toy.text import words\n"
        "\n"
        '__all__ = ["BETWEEN", "Box", "bye", "greet", "words"]\n'
    )
    assert code_of(made["toy/text/__init__.py"]).partition("\n\n")[2] == (
        "from toy.text.words import *\n"
        "from toy.text.words import __all__ as _words\n\n__all__ = [*_words]\n"
    )


@pytest.mark.parametrize(
    ("lesson", "more"),
    [
        ("hello", " in this lesson; later ones add names. It has LIMIT, Word, loud."),
        ("bye", ". See what there is by dir(toy.text)."),
    ],
)
def test_a_name_that_is_not_there_is_told_in_a_sentence(course, tmp_path, lesson, more):
    assemble.write_tree(tmp_path / "tree", manifest.get(lesson))
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'tree')!r}); import toy.text; toy.text.x"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == f"AttributeError: toy.text has no 'x'{more}"


def test_a_star_needs_all(monkeypatch, tmp_path):
    words = small_course.WORDS.replace("__all__ =", "everything =")
    small_course.write(monkeypatch, tmp_path, {"solutions/toy/text/words.py": words})
    with pytest.raises(Problem, match=r"toy/text/words.py, which has no `__all__`"):
        assemble.init_files(manifest.prefix(manifest.get("hello")))


def test_a_name_is_exported_once(monkeypatch, tmp_path):
    toml = small_course.BYE_TOML.replace('["bye"]', '["greet from toy.hello"]')
    small_course.write(monkeypatch, tmp_path, {"course/lessons/03_bye/lesson.toml": toml})
    with pytest.raises(Problem, match=r"bye exports toy.greet, which toy.hello gives already"):
        assemble.init_files(manifest.prefix(manifest.get("bye")))


def test_a_missing_file_of_the_reference_is_named(course):
    (course / "solutions/toy/bye.py").unlink()
    with pytest.raises(Problem, match=r"solutions/toy/bye.py is missing"):
        assemble.tree(manifest.get("bye"))


# ------------------------------------------------------------------------------------------
# The real lessons

REAL = list(manifest.load().values())
each_lesson = pytest.mark.parametrize("lesson", REAL, ids=[x.id for x in REAL])

# Each package of the tree, imported alone: its public names, and which of them are there.
LOOK = """
import importlib, json, sys
sys.path.insert(0, sys.argv[1])
found = {}
for name in sys.argv[2:]:
    package = importlib.import_module(name)
    found[name] = [sorted(package.__all__), all(hasattr(package, x) for x in package.__all__)]
    assert package.__file__.startswith(sys.argv[1])
print(json.dumps([found, "jax" in sys.modules]))
"""


def exported_names(lesson):
    """What the manifests say: the last part of each export; a star stands for `__all__`."""
    names = {}
    for part in manifest.prefix(lesson):
        for export in part.exports:
            path, _, module = export.partition(" from ")
            package, _, name = f"{part.package}.{path}".rpartition(".")
            found = assemble._star(part, module or part.module_name) if name == "*" else [name]
            names.setdefault(package, set()).update(found)
    return names


@each_lesson
def test_the_tree_of_a_lesson_imports_alone_with_exactly_its_exports(lesson, tmp_path):
    assemble.write_tree(tmp_path, lesson)
    expected = exported_names(lesson)
    command = [sys.executable, "-I", "-c", LOOK, str(tmp_path), *expected]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found, jax_is_there = json.loads(done.stdout)
    assert found == {package: [sorted(names), True] for package, names in expected.items()}
    assert not jax_is_there


LISTS = """
import sys; sys.path.insert(0, sys.argv[1])
import minijax.numpy as jnp
from minijax import jvp

print(jnp.array([[jnp.sin(0.0), 2.0], [3, jnp.add(3, 1)]]))
try:
    jvp(lambda x: jnp.array([x, 2.0]), (1.0,), (1.0,))
except NotImplementedError as error:
    print(error)
"""


def test_before_concatenate_exists_lists_of_arrays_become_arrays_and_tracers_are_refused(tmp_path):
    assemble.write_tree(tmp_path, manifest.get("jvp"))
    command = [sys.executable, "-I", "-c", LISTS, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    *array, refusal = done.stdout.splitlines()
    assert array == ["[[0. 2.]", " [3. 4.]]"]
    assert refusal.startswith("Lists with tracers in them")


@each_lesson
def test_each_file_of_a_lesson_can_be_the_first_to_be_imported_beside_what_it_needs(
    lesson, tmp_path
):
    assemble.write_files(tmp_path, assemble.files_of(manifest.needed(lesson)))
    modules = (file.removesuffix(".py").replace("/", ".") for file in lesson.files)
    imports.each_first((tmp_path, module) for module in modules)


def test_the_init_files_are_as_ruff_wants_them(tmp_path):
    for lesson in REAL:
        assemble.write_tree(tmp_path, lesson)
    rules = ["--isolated", "--line-length=100", *map(str, tmp_path.rglob("__init__.py"))]
    for command in ("format --check", "check --select=E,F,I,RUF022,D1 --ignore=F403"):
        line = [sys.executable, "-m", "ruff", *command.split(), *rules]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
