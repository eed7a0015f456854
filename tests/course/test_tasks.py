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
from autograder.student import checks

LESSONS = [lesson for lesson in manifest.load().values() if lesson.exercises]
ANY = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)


def outcomes(folder, lesson, files, kind):
    """What pytest says of each check of a task, on the reference with these files beside it."""
    assemble.write_tree(folder, lesson)
    checks.add_checks(folder, lesson)
    assemble.write_files(folder, files)
    (folder / "tasks.py").write_text((lesson.folder / "tasks.py").read_text())
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "--tb=line", "tasks.py",
         f"--exercise={lesson.id}.{kind}"],
        cwd=folder, capture_output=True, text=True, check=False, env=checks.environment(folder),
    )  # fmt: skip
    found = re.findall(r"tasks\.py::(\S+) (PASSED|FAILED|ERROR|SKIPPED)", done.stdout)
    assert found, done.stdout + done.stderr
    return dict(found)


@ANY
@pytest.mark.parametrize("kind", tasks.KINDS)
def test_the_solution_passes_and_what_is_given_fails(lesson, kind, tmp_path):
    task = tasks.open_task(lesson) if kind == "open" else tasks.repair(lesson)
    given, solved = (
        outcomes(tmp_path / name, lesson, {task.name: text}, kind)
        for name, text in (("given", task.text), ("solved", tasks.solution(task)))
    )
    assert set(solved.values()) == {"PASSED"}, solved
    assert "FAILED" in given.values()
    assert kind == "repair" or set(given.values()) == {"FAILED"}, given


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
    assert 3 <= len(lines) <= 8
    before = {lesson.module: assemble.read_handout(lesson.module)}
    assemble.write_tree(tmp_path, lesson, before)
    done = subprocess.run(
        [sys.executable, "-c", milestone.code],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert "NotImplementedError" in done.stderr
