"""The demo: the sample class, its way through nbgrader, and that wrong grades are found out."""

import ast
import csv
import html
import json
import re
import shlex
import sys
from dataclasses import replace

import numpy as np
import pytest
from archives import released, run
from command_lines import EXAMPLES
from sqlalchemy import text

from autograder.classroom.handouts import leaks
from autograder.classroom.nbgrader import directory as nbgrader_course
from autograder.classroom.nbgrader import gradebook
from autograder.grading import answers, oracle, submission
from autograder.grading.task import Task
from autograder.lessons import manifest
from autograder.lessons.places import ROOT, SUITES
from autograder.lessons.problem import Problem
from autograder.sandbox import isolation
from autograder.upkeep import demo, sample_class

LESSONS = ("jvp",)  # the demo's other two are graded alike, and take as long
GRADED = [lesson for lesson in manifest.load().values() if lesson.exercises]


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """The demo's folder after it ran in an instructors' archive, unpacked in an empty folder.

    It complains itself when a grade is wrong. It has this `.venv`, to save time: the wrapper's own
    tests make one anew.
    """
    place = tmp_path_factory.mktemp("demo")
    unpacked = released(place)["instructors"]
    file = unpacked / "autograder/upkeep/demo.py"
    text = file.read_text(encoding="utf-8")
    lessons = 'LESSONS = ("core", "jvp", "grad")'
    assert lessons in text
    file.write_text(text.replace(lessons, f"LESSONS = {LESSONS!r}"), encoding="utf-8")
    own = {"JAXPRENTICE_VENV": sys.prefix}
    said = run(unpacked, *shlex.split(EXAMPLES["demo"]), tools=place / "tools", **own)
    assert "All 8 submissions got what they deserve." in said
    return unpacked / demo.FOLDER.relative_to(ROOT)


# ------------------------------------------------------------------------------------------
# The sample class


@pytest.mark.parametrize("lesson", GRADED, ids=lambda lesson: lesson.id)
def test_a_class_has_all_kinds_of_different_submissions(lesson):
    everyone = sample_class.make(lesson)
    kinds = {each.kind for each in everyone}
    assert len(everyone) >= 8
    assert kinds == {"right", "half", "untouched", "mistake", "endless", "cheat"}
    assert len({each.student for each in everyone}) == len(everyone)
    assert len({ast.dump(ast.parse(each.source)) for each in everyone}) == len(everyone)
    places = [each.mistake.exercise for each in everyone if each.mistake]
    available = {mistake.exercise for mistake in answers.mistakes(lesson.id)}
    assert len(set(places)) == min(3, len(available))


# ------------------------------------------------------------------------------------------
# The whole way


@pytest.mark.slow
def test_the_export_has_every_submission(folder):
    with (folder / "grades.csv").open(newline="") as file:
        found = {(row["assignment"], row["student_id"]) for row in csv.DictReader(file)}
    wanted = {(i, x.student) for i in LESSONS for x in sample_class.make(manifest.get(i))}
    assert found == wanted


@pytest.mark.slow
def test_hidden_tests_are_nowhere_in_what_students_get(folder):
    # A helper may stand in the visible checks too; whole tests may not.
    visible = "".join(text_of(lesson.folder / "checks.py") for lesson in GRADED)
    pieces = [piece for x in GRADED for piece in hidden_code(SUITES / f"{x.id}.py")]
    secrets = [piece for piece in pieces if piece not in visible]
    assert len(secrets) > max(50, 0.9 * len(pieces))
    assert secrets[0] in text_of(SUITES / f"{GRADED[0].id}.py")
    folders = [folder / "course" / name for name in ("release", "feedback")]
    texts = {path: text_of(path) for top in folders for path in handed_out(top)}
    # Few pieces consist of lines that are anywhere at all; looking for all of them takes minutes.
    lines = "\n".join({line for text in texts.values() for line in text.splitlines()})
    near = [piece for piece in secrets if all(line in lines for line in piece.splitlines())]
    assert [(p, piece) for p, text in texts.items() for piece in near if piece in text] == []


@pytest.mark.slow
@pytest.mark.parametrize("lesson_id", LESSONS)
def test_expected_values_of_hidden_tests_are_nowhere_in_the_feedback(folder, lesson_id):
    lesson = manifest.get(lesson_id)
    right = next(each for each in sample_class.make(lesson) if each.kind == "right")
    submission.grade(Task.of(lesson, right.source.encode()))
    replies = oracle.reference(lesson, isolation.choose()).replies.values()
    numbers = {digits for reply, _ in replies for digits in digits_of(reply.value)}
    course = folder / "course"
    released = "".join(text_of(path) for path in handed_out(course / "release" / lesson_id))
    secrets = {digits for digits in numbers if digits not in released}
    assert len(secrets) > 30
    pages = list((course / "feedback").glob(f"*/{lesson_id}/*.html"))
    assert len(pages) == len(sample_class.make(lesson))
    texts = [(page, text_of(page)) for page in pages]
    assert [(page, digits) for page, text in texts for digits in secrets if digits in text] == []


def digits_of(value):
    """The numbers in a probe's answer that nobody hits by chance: five digits of each."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return {digits for item in value for digits in digits_of(item)}
    array = np.asarray(value)
    texts = {f"{abs(x):.10f}"[:7] for x in array.ravel()} if array.dtype.kind == "f" else set()
    return {text for text in texts if len(set(text[2:])) > 3}


# Of the others one; with --full all, each in a course directory of its own.
RELEASED = [
    pytest.param(
        lesson, id=lesson.id, marks=[pytest.mark.full] * (lesson.id not in ("grad", *LESSONS))
    )
    for lesson in GRADED
]


@pytest.mark.slow
@pytest.mark.parametrize("lesson", RELEASED)
def test_a_solution_is_nowhere_in_its_own_release(folder, lesson, tmp_path):
    released = folder / "course" / "release" / lesson.id
    if lesson.id not in LESSONS:  # nbgrader makes it from the source, and takes nothing away
        nbgrader_course.init(tmp_path / "course", lessons=[lesson.id])
        released = tmp_path / "course" / "source" / lesson.id
    assert (released / lesson.module).exists()
    assert list(leaks.find(released, lesson)) == []


def hidden_code(suite):
    """Pieces of a suite's functions of three lines, too long to stand elsewhere by chance.

    What a function imports is no secret: two modules may begin with the same imports.
    """
    source = suite.read_text(encoding="utf-8")
    own_lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            lines = [
                line
                for x in body
                if not isinstance(x, ast.Import | ast.ImportFrom)
                for line in stripped("\n".join(own_lines[x.lineno - 1 : x.end_lineno])).splitlines()
            ]
            pieces = ["\n".join(lines[i : i + 3]) for i in range(max(len(lines) - 2, 1))]
            yield from (piece for piece in pieces if len(piece) > 60)


def stripped(text):
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())


def handed_out(folder):
    kinds = (".py", ".ipynb", ".html", ".json")
    return [path for path in folder.rglob("*") if path.suffix in kinds]


def text_of(path):
    """What a reader of the file sees."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        text = html.unescape(re.sub(r"<[^>]*>", "", text))
    if path.suffix == ".ipynb":
        text = "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
    return stripped(text)


@pytest.mark.slow
def test_the_demo_runs_again_in_its_own_folder_only(folder, tmp_path):
    assert (folder / demo.MARKER).exists()
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(Problem, match="is not a demo"):
        demo.run(tmp_path)
    assert (tmp_path / "thesis.txt").exists()


# ------------------------------------------------------------------------------------------
# What is shown meanwhile

LOG = ["Grading 8 submissions\n", *(f"[WriteVerdicts] Graded ada, {i} of 8\n" for i in (1, 2, 3))]


@pytest.fixture
def clock(monkeypatch):
    """The seconds that have passed."""
    passed = [0.0]
    monkeypatch.setattr(demo.time, "monotonic", lambda: passed[0])
    return passed


def told(capsys, clock, progress):
    """What is said while two lessons are graded, one of which is done first."""
    progress.step("jvp", "grading")
    for seconds, _ in enumerate(progress.follow("core", LOG)):
        clock[0] = 3.0 * seconds
    progress.end("core", "A table")
    progress.end()
    return capsys.readouterr().out


def test_a_terminal_has_one_line_that_is_rewritten(capsys, clock, tmp_path, monkeypatch):
    monkeypatch.setattr(demo.sys.stdout, "isatty", lambda: True)
    lines = told(capsys, clock, demo.Progress(tmp_path / "log")).split(demo.CLEAR)[1:]
    assert lines == [
        "[   0 s] jvp: grading",
        *(f"[{s:4} s] jvp: grading, core: ada, {i} of 8" for i, s in ((1, 0), (2, 3), (3, 6))),
        "A table\n",
        "[   9 s] jvp: grading",
        "",
    ]


def test_elsewhere_lines_are_apart_and_the_log_has_all(capsys, clock, tmp_path):
    out = told(capsys, clock, demo.Progress(tmp_path / "log"))
    assert out == "[   0 s] jvp: grading\n[   6 s] core: ada, 3 of 8\nA table\n"
    assert (tmp_path / "log").read_text(encoding="utf-8") == "".join(LOG)


def test_a_long_line_is_cut_to_the_terminal(capsys, clock, tmp_path, monkeypatch):
    monkeypatch.setattr(demo.sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "20")
    demo.Progress(tmp_path / "log").step("jvp", "grading many submissions")
    assert capsys.readouterr().out == f"{demo.CLEAR}[   0 s] jvp: gradi"


def test_two_commands_wait_for_each_other_at_the_gradebook(tmp_path):
    with gradebook.opened(tmp_path) as book:
        assert book.db.execute(text("PRAGMA busy_timeout")).scalar() == 60_000


# ------------------------------------------------------------------------------------------
# Wrong grades are found out

LESSON = GRADED[0]
FULL = {exercise.id: exercise.points for exercise in LESSON.graded}
NONE = dict.fromkeys(FULL, 0.0)
FIRST, SECOND = list(FULL)[:2]


def graded(kind, points):
    submission = next(each for each in sample_class.make(LESSON) if each.kind == kind)
    if kind == "mistake":
        submission = replace(submission, exercises=(FIRST,))
    kinds = ["does_not_terminate" if kind == "endless" else None]
    result = {"exercises": [{"class": kind} for kind in kinds]}
    feedback = html.escape(submission.mistake.name, quote=False) if submission.mistake else ""
    return demo.Graded(submission, LESSON, points, result, feedback)


FITTING = {
    "right": FULL,
    "untouched": NONE,
    "cheat": NONE,
    "mistake": {**FULL, FIRST: 0.5},
    "endless": {**FULL, LESSON.exercises[-1].id: 0.0},
    "half": {name: FULL[name] * (i % 2 == 0) for i, name in enumerate(FULL)},
}


@pytest.mark.parametrize("kind", FITTING)
def test_fitting_grades_raise_no_complaint(kind):
    assert list(demo.complaints(graded(kind, FITTING[kind]))) == []


@pytest.mark.parametrize(
    ("kind", "points", "complaint"),
    [
        ("right", {**FULL, FIRST: 0.0}, f"points were lost in {FIRST}"),
        ("untouched", {**NONE, FIRST: 0.1}, "0.1 points instead of 0"),
        ("cheat", FULL, "instead of 0"),
        ("mistake", FULL, f"{FIRST} has full points"),
        ("mistake", {**FULL, FIRST: 0.0, SECOND: 0.0}, f"points were lost in {SECOND}"),
        ("endless", FULL, "has full points"),
        ("half", FULL, "has full points"),
        ("half", NONE, "it has no points"),
    ],
)
def test_a_wrong_grade_is_complained_about(kind, points, complaint):
    assert complaint in " ".join(demo.complaints(graded(kind, points)))


def test_a_mistake_that_the_feedback_does_not_name_is_complained_about():
    each = replace(graded("mistake", FITTING["mistake"]), feedback="Something is wrong.")
    assert "does not name the mistake" in " ".join(demo.complaints(each))


def test_an_endless_submission_that_is_not_called_so_is_complained_about():
    each = replace(graded("endless", FITTING["endless"]), result={"exercises": []})
    assert "does not terminate" in " ".join(demo.complaints(each))
