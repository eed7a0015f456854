"""The open tasks, the programs to repair and the milestones of all lessons.

Each task is solved by its file in `solutions/tasks`, and by nothing less: the file that students
get fails. A milestone runs on the reference, and not on the skeleton.
"""

import ast
import difflib
import os
import re
import subprocess
import sys

import pytest

from autograder.lessons import assemble, manifest, skeleton, tasks
from autograder.sandbox import launch
from autograder.student import checks

LESSONS = [lesson for lesson in manifest.load().values() if lesson.exercises]
NAMES = ("given", "solved")
ANY = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)


def outcomes(folder, lesson, solved):
    """What pytest says of each check of the tasks, by exercise, on the reference."""
    assemble.write_tree(folder, lesson)
    checks.add_checks(folder, lesson)
    for task in (tasks.open_task(lesson), tasks.repair(lesson)):
        (folder / task.name).write_text(tasks.solution(task) if solved else task.text)
    (folder / "tasks.py").write_text((lesson.folder / "tasks.py").read_text())
    quick = {**checks.environment(folder), "XLA_FLAGS": launch.xla_flags()}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=no",
         "--outcomes=outcomes.jsonl", "--time-limit=90", "tasks.py"],
        cwd=folder, capture_output=True, text=True, check=False, env=quick,
    )  # fmt: skip
    events = checks.read_events(folder / "outcomes.jsonl")
    assert events, done.stdout + done.stderr
    ended = [event for event in events if event["event"] == "end"]
    kinds = {kind: f"{lesson.id}.{kind}" for kind in tasks.KINDS}
    return {
        kind: [event["passed"] for event in ended if event["exercise"] == name]
        for kind, name in kinds.items()
    }


@ANY
def test_the_solutions_pass_and_what_is_given_fails(lesson, tmp_path):
    given, solved = (outcomes(tmp_path / name, lesson, name == "solved") for name in NAMES)
    assert all(solved["open"])
    assert all(solved["repair"])
    assert len(solved["open"]) == len(given["open"]) > 0
    assert len(solved["repair"]) == len(given["repair"]) > 0
    assert not any(given["open"])
    assert not all(given["repair"])


@ANY
def test_an_open_task_has_a_goal_of_five_sentences_and_no_function(lesson):
    task = tasks.open_task(lesson)
    assert 1 <= len(re.findall(r"[.!?:](?=\s|$)", task.goal.replace("e.g.", ""))) <= 5, task.goal
    defined = [x for x in ast.walk(ast.parse(task.text)) if isinstance(x, skeleton.Definition)]
    assert defined == []


@ANY
def test_a_repair_changes_a_few_lines(lesson):
    task = tasks.repair(lesson)
    given, solved = task.text.splitlines(), tasks.solution(task).splitlines()
    changed = [x for x in difflib.ndiff(given, solved) if x.startswith(("+ ", "- "))]
    assert 1 <= len(changed) <= 16


@ANY
def test_a_milestone_is_short_and_needs_the_lesson(lesson, tmp_path):
    milestone = tasks.milestone(lesson)
    lines = [
        line
        for line in milestone.code.splitlines()
        if line.strip() and not line.startswith(("import ", "from "))
    ]
    assert 3 <= len(lines) <= 20
    before = {lesson.module: assemble.read_handout(lesson.module)}
    assemble.write_tree(tmp_path, lesson, before)
    done = subprocess.run(
        [sys.executable, "-c", milestone.code],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert "NotImplementedError" in done.stderr
