"""Variants and own bases: who gets which, and what the gradebook, pages and results make of it."""

import csv
import json
import shlex
from collections import Counter
from itertools import pairwise

import pytest
from command_lines import EXAMPLES
from nbgrader_class import run

from autograder import cli
from autograder.classroom.course import notebooks
from autograder.classroom.course import settings as courses
from autograder.classroom.nbgrader import directory, people
from autograder.classroom.reports import grades, report
from autograder.grading import result_files
from autograder.lessons import assemble, manifest, skeleton, tasks
from autograder.lessons.problem import Problem

EARLIER, LESSON, CORE = (manifest.get(name) for name in ("interpreters", "duals", "core"))
RIGHT = assemble.read_solution(EARLIER.module)
STUB = skeleton.make_skeleton(RIGHT, EARLIER)
ENTRY = """
[[assignment]]
name = "ps1"
lessons = ["interpreters"]

[[assignment]]
name = "ps2"
lessons = ["duals"]
open = { duals = 5 }
own_base = true
variants = 2
seed = "autumn"
open_tasks = ["interpreters", "duals"]
"""


@pytest.fixture
def course(tmp_path):
    (tmp_path / courses.FILE).write_text(ENTRY, encoding="utf-8")
    return courses.read(tmp_path)


# ------------------------------------------------------------------------------------------
# Who gets which


def test_a_variant_follows_from_seed_assignment_and_id_alone(course):
    ps2 = course.get("ps2")
    names = [f"student-{i:03}" for i in range(600)]
    first = [ps2.variant(name) for name in names]
    assert first == [ps2.variant(name) for name in names]
    assert set(first) == {1, 2}
    assert min(Counter(first).values()) > 250
    neighbours = sum(a != b for a, b in pairwise(first))
    assert 250 < neighbours < 350
    assert [course.get("ps1").variant(name) for name in names[:3]] == [0, 0, 0]


def test_all_of_a_variant_have_one_open_task_and_the_points_are_the_same(course):
    ps2 = course.get("ps2")
    pairs = {(ps2.variant(str(i)), ps2.open_task(LESSON, str(i)).id) for i in range(50)}
    assert pairs == {(1, "interpreters"), (2, "duals")}
    assert ps2.cells(ps2.lessons[0])["duals-open"] == 5.0
    book = json.loads(notebooks.texts(ps2)["duals.ipynb"])
    text = "".join("".join(cell["source"]) for cell in book["cells"])
    assert "which of these is yours" in text
    assert "`tasks/open_interpreters.py`, `tasks/open_duals.py`" in text


def test_the_table_tells_each_student(course, tmp_path):
    with pytest.raises(Problem, match="No student is known"):
        people.variants(tmp_path, "ps2")
    (tmp_path / "roster.csv").write_text("id\nbob\nada\n", encoding="utf-8")
    head, ada, bob = csv.reader(people.variants(tmp_path, "ps2").splitlines())
    assert head == ["student", "variant", "open task in duals"]
    for student, *found in (ada, bob):
        task = course.get("ps2").open_task(LESSON, student).id
        assert found == [str(course.get("ps2").variant(student)), f"tasks/open_{task}.py"]
    with pytest.raises(Problem, match="ps1 has no variants"):
        people.variants(tmp_path, "ps1")


def test_the_command_s_example_prints_the_table(tmp_path, monkeypatch, capsys):
    text = ENTRY.replace('"ps2"', '"jvp"')
    (tmp_path / courses.FILE).write_text(text, encoding="utf-8")
    (tmp_path / "roster.csv").write_text("id\nada\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert cli.main(shlex.split(EXAMPLES["nbgrader variants"])) == 0
    assert capsys.readouterr().out.startswith("student,variant,open task in duals\nada,")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("variants = 2", "variants = 1", "line 11: `variants` should be from 2 to 1000"),
        ("variants = 2", "variants = true", "line 11: `variants` should be a whole number"),
        ("variants = 2\n", "", "line 11: `seed` is for variants: say how many"),
        ('seed = "autumn"', "", "line 11: `variants` needs a text that students do not know"),
        ('"interpreters", "duals"]', '"jvp"]', "line 13: `open_tasks` names 'jvp', which is not"),
        ("open = { duals = 5 }", "", "line 13: `open_tasks` needs the points of one"),
        ("own_base = true", "own_base = 1", "line 10: `own_base` should be true or false"),
    ],
)
def test_a_wrong_entry_is_told_with_its_line(tmp_path, old, new, complaint):
    assert old in ENTRY
    (tmp_path / courses.FILE).write_text(ENTRY.replace(old, new), encoding="utf-8")
    with pytest.raises(Problem) as error:
        courses.read(tmp_path)
    assert complaint in str(error.value)


# ------------------------------------------------------------------------------------------
# Graded

pytestmark = [pytest.mark.isolated]


def of_each(assignment):
    """A student of each of two variants."""
    names = [f"s{i}" for i in range(30)]
    return [next(x for x in names if assignment.variant(x) == v) for v in (1, 2)]


@pytest.mark.slow
def test_neighbours_have_other_programs_and_the_same_points(tmp_path, capsys):
    text = '[[assignment]]\nname = "ps1"\nlessons = ["core"]\nvariants = 2\nseed = "x"\n'
    (tmp_path / courses.FILE).write_text(text, encoding="utf-8")
    students = of_each(courses.read(tmp_path).get("ps1"))
    for student in students:
        path = tmp_path / "work" / student / CORE.module
        path.parent.mkdir(parents=True)
        path.write_text(assemble.read_solution(CORE.module))
    out = tmp_path / "out"
    command = ["grade", str(tmp_path / "work"), "--lesson", "ps1", "--out", str(out)]
    for _ in range(2):
        assert cli.main([*command, "--course", str(tmp_path), "--jobs", "1"]) == 0
    assert "2 of 2 were graded before" in capsys.readouterr().out
    first, second = (result_files.read(out / f"{student}.json") for student in students)
    assert first["score"] == second["score"] == CORE.max_points
    assert (first["variant"], second["variant"]) == (1, 2)
    assert first["notes"] == ["Graded as variant 1."]
    assert first["seed"] != second["seed"]
    kept = [sorted(out.glob(f"programs/core/*.{x['seed']}.*")) for x in (first, second)]
    assert len(kept[0]) == len(kept[1]) != 0
    assert all(a.read_bytes() != b.read_bytes() for a, b in zip(*kept, strict=True))


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A course directory with ps2 graded: two students with a solution, on stubs and on none."""
    folder = tmp_path_factory.mktemp("own") / "course"
    directory.init(folder, seed=0, lessons=["interpreters", "duals"])
    (folder / courses.FILE).write_text(ENTRY, encoding="utf-8")
    directory.update(folder)
    run(folder, "generate_assignment", "ps2")
    alone, on_stubs = of_each(courses.read(folder).get("ps2"))
    for student in (alone, on_stubs):
        path = folder / "submitted" / student / "ps2" / LESSON.module
        path.parent.mkdir(parents=True)
        path.write_text(assemble.read_solution(LESSON.module))
        for part in (EARLIER, LESSON):
            (path.parent / tasks.open_task(part).name).write_text(f"x = {part.id!r}\n")
    earlier(folder, on_stubs, STUB)
    run(folder, "autograde", "ps2")
    return folder, alone, on_stubs


def earlier(folder, student, source):
    """What the student handed in for ps1, as the intake has left it."""
    path = folder / "intake" / student / "ps1" / EARLIER.module
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source)


@pytest.mark.slow
def test_earlier_modules_of_ones_own_count_and_the_comparison_is_everywhere(graded):
    folder, alone, on_stubs = graded
    first, second = (result_files.read(folder / f"results/ps2/{x}.json") for x in (alone, on_stubs))
    assert first["score"] == LESSON.max_points > 2 * second["score"]
    credit = f"On the course's own earlier modules: {LESSON.max_points:g} points."
    note = f"Graded on {EARLIER.module}. {credit}"
    missing = "duals.ipynb is missing, so there is no answer to the written question."
    assert second["notes"] == [note, missing, "Graded as variant 2."]
    assert f"Graded on none of the student's own. {credit}" in first["notes"]
    found = {result["student"]: result for result in grades.read(folder)["ps2"]}
    assert found[on_stubs]["score"] == second["score"]
    page = report.write(folder).read_text()
    own = folder / "results" / "students" / f"{on_stubs}.html"
    run(folder, "generate_feedback", "ps2")
    feedback = folder / "feedback" / on_stubs / "ps2" / f"{LESSON.id}.html"
    for text in (page, own.read_text(), feedback.read_text()):
        assert note.replace("'", "&#39;") in text


@pytest.mark.slow
def test_only_the_open_task_of_the_variant_is_shown(graded):
    folder, *students = graded
    for student, part in zip(students, (EARLIER, LESSON), strict=True):
        book = json.loads((folder / f"autograded/{student}/ps2/duals.ipynb").read_text())
        (shown,) = [x for x in book["cells"] if x["id"] == "duals-open"]
        assert "".join(shown["source"]) == f"x = {part.id!r}\n"


@pytest.mark.slow
def test_another_earlier_module_is_graded_on_and_said(graded):
    folder, alone, on_stubs = graded
    earlier(folder, on_stubs, RIGHT)
    log = run(folder, "autograde", "ps2")
    assert f"Graded again: {on_stubs} (other earlier modules)" in log
    assert f"Graded again: {alone}" not in log
    assert result_files.read(folder / f"results/ps2/{on_stubs}.json")["score"] == LESSON.max_points
