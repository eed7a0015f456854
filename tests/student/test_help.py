"""The help of every command ends with an example, and every example is a command that works."""

import os
import shlex
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer
import watchfiles
from command_lines import COMMANDS, EXAMPLES, every

from autograder import cli
from autograder.lessons import assemble, places
from autograder.student import workspace
from autograder.upkeep import bench

# What a student's examples say on skeletons, of which `core` is solved, and how they end.
SAID = {
    "list": (0, "4 of 4"),
    "check": (1, "to do  jvp.mul_rule"),
    "watch": (0, "Waiting for you to save a file"),
    "hint": (0, "Hint 1 of 4 for jvp.mul_rule"),
    "trace": (0, "sin 3.0 -> 0.1411   level 0, EvalTrace"),
    "run": (0, "-0.0\n"),
    "give": (0, "minijax/core.py is now the solution of core."),
    "reset": (0, "minijax/core.py is now the skeleton of core."),
    "way": (0, "The jvp lesson now uses the blank way: nothing; the page says what to write."),
    "update": (0, "minijax/jvp.py is now the course's, with your exercises."),
    "progress": (0, "points, according to the checks."),
    "doctor": (0, "Python"),
    "sync": (0, "Everything generated is up to date."),
}

# What instructors' examples say, one after the other, in a class of two.
TERM = {
    "release": "The handout of jvp is handouts/jvp,",
    "grade": "2 submissions graded.",
    "report": "The report is results/report.html.",
    "export": "The export is in results/exports/csv.",
    "similar": "similar/similar-jvp.html",
    "nbgrader init": "with the assignments core, jvp.",
    "nbgrader roster": "The course has 2 students.",
    "nbgrader section": "monday: ada, grace",
    "nbgrader group": "jvp: ada, grace",
    "nbgrader extend": "ada",
    "nbgrader late-days": "ada: jvp",
    "nbgrader update": "What students get is up to date.",
    "collect": "2 submissions are collected.",
    "return": "feedback.zip holds 2 pages",
}

# What maintainers' examples say in small copies of the course. The others run in tests of theirs.
SMALL = {
    "init": "Your workspace is my-jax.",
    "nbgrader": "with the assignments hello, bye.",
    "test": "1 passed",
    "bench": "It is fast.",
}
ELSEWHERE = {
    "archives": "tests/classroom/archives.py",
    "new": "tests/course/test_new.py",
    "cluster": "tests/classroom/test_cluster.py",
    "demo": "tests/classroom/test_demo.py",
    "nbgrader read": "tests/classroom/test_read.py",
    "nbgrader variants": "tests/classroom/test_variants.py",
    "audit": "tests/grading/test_audit.py",
    "site": "tests/site/test_site.py",
    "site build": "tests/site/test_site.py",
    "site serve": "tests/site/test_site.py",
}


@pytest.fixture(scope="module")
def skeletons():
    return assemble.handout({"minijax", "microjax"})


@pytest.fixture
def begun(skeletons, tmp_path, monkeypatch):
    """A workspace of the course in which `core` is done, and a program."""
    assemble.write_files(tmp_path, skeletons)
    core = (places.SOLUTIONS / "minijax/core.py").read_bytes()
    (tmp_path / "minijax/core.py").write_bytes(core)
    workspace.add_launcher(tmp_path, str(places.ROOT))
    program = "from minijax import lax\nprint(lax.neg(lax.sin(0.0)))\n"
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_ends_with_an_example_that_the_command_takes(name, capsys, monkeypatch):
    assert cli.main([*name.split(), "--help"]) == 0
    last = capsys.readouterr().out.rstrip().splitlines()[-1].strip()
    assert last == f"Example: ./jaxprentice {EXAMPLES[name]}"
    called = []
    group = typer.main.get_command(cli.app)
    for command in dict(every(group)).values():
        if not hasattr(command, "commands"):
            monkeypatch.setattr(command, "callback", lambda **given: called.append(given))
    group.main(shlex.split(EXAMPLES[name]), standalone_mode=False)
    assert len([given for given in called if given.keys() != {"version", "plain"}]) == 1


def run(name):
    return cli.main(shlex.split(EXAMPLES[name]))


@pytest.mark.parametrize("name", SAID)
def test_the_examples_for_students_run(begun, name, capfd, monkeypatch):
    monkeypatch.setattr(watchfiles, "watch", lambda *root, **options: iter([set()]))
    status = run(name)
    assert (status, SAID[name][1] in capfd.readouterr().out) == (SAID[name][0], True)


@pytest.fixture
def two_students(tmp_path, monkeypatch):
    """What ada, who has the solution, and grace, who has written nothing, handed in."""
    monkeypatch.chdir(tmp_path)
    module = "minijax/jvp.py"
    texts = {"ada": assemble.read_solution(module), "grace": assemble.read_handout(module)}
    with zipfile.ZipFile("submissions.zip", "w") as archive:
        for number, (student, text) in enumerate(texts.items(), 1):
            file = tmp_path / "submissions" / student / "jvp.py"
            file.parent.mkdir(parents=True)
            file.write_text(text, encoding="utf-8")
            archive.write(file, f"{student}_{number}_90{number}_jvp.py")
    Path("class.csv").write_text("id,canvas id\nada,1\ngrace,2\n", encoding="utf-8")


def enter_course():
    """Go into the course directory, in which an assignment has been generated and graded."""
    from autograder.classroom.nbgrader import gradebook

    os.chdir("my-class")
    for name in ("class.csv", "submissions.zip"):
        Path("..", name).rename(name)
    with gradebook.opened(Path()) as book:
        book.add_assignment("jvp")


def give_feedback():
    for student in ("ada", "grace"):
        page = Path("feedback", student, "jvp", "jvp.html")
        page.parent.mkdir(parents=True)
        page.write_text("Well done.", encoding="utf-8")


BETWEEN = {"nbgrader roster": enter_course, "return": give_feedback}


@pytest.mark.slow
def test_the_examples_for_instructors_run_in_a_class_of_two(two_students, capfd):
    for name, words in TERM.items():
        if name == "similar" and not find_spec("copydetect"):
            continue
        BETWEEN.get(name, int)()
        capfd.readouterr()
        assert (name, run(name)) == (name, 0)
        assert words in capfd.readouterr().out


@pytest.fixture
def small_copy(course, monkeypatch):
    """The small course, with a test and a benchmark of its own; it counts as a whole copy."""
    for path, text in {
        "tests/student/test_one.py": "def test_one(): pass",
        "benchmarks/reference.py": "print('It is fast.')",
    }.items():
        (course / path).parent.mkdir(parents=True, exist_ok=True)
        (course / path).write_text(text, encoding="utf-8")
    monkeypatch.setattr(bench, "FOLDER", course / "benchmarks")
    monkeypatch.setattr(bench, "ROOT", course)


@pytest.mark.parametrize("name", SMALL)
def test_the_examples_that_are_quick_in_a_small_course_run(small_copy, name, capfd):
    assert run(name) == 0
    assert SMALL[name] in capfd.readouterr().out


def test_every_example_runs_in_one_of_the_tests():
    assert sorted([*SAID, *TERM, *SMALL, *ELSEWHERE]) == sorted(COMMANDS)
    for name, file in ELSEWHERE.items():
        assert f'EXAMPLES["{name}"]' in (places.ROOT / file).read_text(encoding="utf-8")
