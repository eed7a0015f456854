"""A lesson of a course directory's own: begun, audited, released and graded beside the others."""

import os
import subprocess
import sys

import pytest
from nbgrader_class import run

from autograder.classroom.course import settings
from autograder.classroom.nbgrader import directory
from autograder.classroom.run import folder as run_of_folder
from autograder.classroom.systems import gradescope
from autograder.grading import result_files
from autograder.lessons import assemble, manifest, places
from autograder.lessons.problem import Problem
from autograder.upkeep import demo, new

ENTRY = '\n[[assignment]]\nname = "fusion"\nlessons = ["fusion"]\n'


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course directory with a lesson of its own."""
    monkeypatch.setenv("JAXPRENTICE_OWN", "")  # so that it is put back at the end
    (tmp_path / settings.FILE).write_text(ENTRY, encoding="utf-8")
    new.begin("fusion", tmp_path)
    return tmp_path


def command(course, *arguments):
    """What one of our commands says in the course directory."""
    environment = {**os.environ, "PYTHONPATH": str(places.ROOT)}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "autograder", *arguments],
        cwd=course, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_an_own_lesson_joins_in_its_course_and_nowhere_else(course, tmp_path_factory):
    assert [x.id for x in settings.read(course).get("fusion").lessons] == ["fusion"]
    lesson = manifest.get("fusion")
    assert lesson.number == new.FIRST_OWN
    assert "minijax/fusion.py" in assemble.tree(lesson)
    assert "minijax/jvp.py" in assemble.tree(lesson)
    other = tmp_path_factory.mktemp("other")
    (other / settings.FILE).write_text(ENTRY, encoding="utf-8")
    with pytest.raises(Problem, match="names 'fusion', which is not a lesson"):
        settings.read(other)
    assert "fusion" not in manifest.load()


def test_a_second_lesson_comes_after_the_first_and_needs_another_name(course):
    (first,) = (course / "own" / "lessons").iterdir()
    new.begin("inlining", course)
    assert sorted(x.name for x in first.parent.iterdir()) == ["70_fusion", "71_inlining"]
    for taken in ("fusion", "jvp"):
        with pytest.raises(Problem, match="already"):
            new.begin(taken, course)


def test_what_this_copy_has_comes_before_what_a_course_calls_alike(course):
    (course / "own/solutions/minijax/jvp.py").write_text("raise SystemExit")
    settings.read(course)
    assert places.solution("minijax/jvp.py") == places.SOLUTIONS / "minijax/jvp.py"


def test_an_archive_for_gradescope_has_all_that_the_lesson_needs(course):
    settings.read(course)
    held = gradescope.files(manifest.get("fusion"), "")
    own = course / "own"
    assert held["autograder/hidden/suites/fusion.py"] == (own / "suites/fusion.py").read_bytes()
    assert held["solutions/minijax/fusion.py"] == (own / "solutions/minijax/fusion.py").read_bytes()
    assert "course/lessons/70_fusion/lesson.toml" in held


def test_a_cluster_does_not_have_it_and_says_so(course):
    settings.read(course)
    with pytest.raises(Problem, match="without --scheduler"):
        run_of_folder._executor(manifest.get("fusion"), None, "tls://head:8786", course)


@pytest.mark.slow
def test_it_is_released_and_graded_and_this_copy_stays_as_it_is(tmp_path, monkeypatch):
    monkeypatch.setenv("JAXPRENTICE_OWN", "")
    before = snapshot()
    directory.init(tmp_path / "course", seed=0, lessons=["interpreters"])
    course = tmp_path / "course"
    said = command(course, "new", "fusion")
    assert f"{course}/own/suites/fusion.py" in said
    assert "the solutions of what `requires` in lesson.toml names: core." in said
    with (course / settings.FILE).open("a") as file:
        file.write(ENTRY)
    updated = command(course, "nbgrader", "update", "fusion")
    assert updated.startswith("fusion is new in source/, and has no grades.")
    assert "marks are left in lessons, and students get them" in updated
    released = command(course, "release", "fusion", "--out", "handouts")
    assert "With it you publish the solutions of: core.\n" in released
    assert "none were found" in released
    run(course, "generate_assignment", "fusion")
    settings.read(course)
    lesson = manifest.get("fusion")
    for student, source in (
        ("right", assemble.read_solution(lesson.module)),
        ("begun", assemble.skeleton_of(lesson)),
    ):
        demo.hand_in(course, lesson, student, source)
    run(course, "autograde", "fusion")
    scores = {x["student"]: x["score"] for x in result_files.read_all(course / "results/fusion")}
    assert scores == {"right": lesson.max_points, "begun": 0.0}
    assert snapshot() == before


def snapshot():
    """When each file of this copy's lessons and tool was changed."""
    found = [places.ROOT / x for x in ("course", "solutions", "autograder")]
    return {
        x: x.stat().st_mtime_ns
        for folder in found
        for x in folder.rglob("*")
        if x.is_file() and "__pycache__" not in x.parts
    }
