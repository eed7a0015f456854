"""Grades do not depend on what else the machine does: the same points with eight busy processes."""

import contextlib
import subprocess
import sys

import pytest

from autograder.grading import pool
from autograder.grading.task import Task
from autograder.lessons import assemble, manifest, skeleton
from autograder.upkeep import sample_class

pytestmark = [
    pytest.mark.full,  # it keeps all others waiting
    pytest.mark.isolated,
    pytest.mark.skipif(sys.platform != "linux", reason="the CPU of others is read from /proc"),
]

# Right, and quadratic: it looks through a list for each equation.
SLOW = """def dce_jaxpr(jaxpr):
    needed, kept = [jaxpr.return_val], []
    for equation in jaxpr.equations[::-1]:
        if any(atom is equation.var for atom in needed):
            kept.insert(0, equation)
            needed.extend(equation.args)
    return Jaxpr(jaxpr.parameters, tuple(kept), jaxpr.return_val)
"""


@contextlib.contextmanager
def busy(number):
    """So many processes that do nothing and stop at nothing."""
    command = [sys.executable, "-c", "while True: pass"]
    with contextlib.ExitStack() as stack:
        for _ in range(number):
            process = stack.enter_context(subprocess.Popen(command))
            stack.callback(process.kill)
        yield


def points(lesson, jobs):
    names = {Task.of(lesson, source): name for name, source in jobs}
    made = pool.grade_many(names, workers=2)
    return {names[task]: [e["points"] for e in x["exercises"]] for task, x in made}


def test_a_class_has_the_same_points_on_a_busy_machine():
    lesson = manifest.get("staging")
    source = skeleton.replace_function(
        assemble.read_solution(lesson.module), "dce_jaxpr", SLOW
    ).encode()
    jobs = [(each.student, each.source.encode()) for each in sample_class.make(lesson)]
    jobs.append(("slow", source))
    quiet = points(lesson, jobs)
    assert quiet["slow"] == [part.points for part in lesson.graded]
    with busy(8):
        assert points(lesson, jobs) == quiet
