"""Right answers written differently from the reference have full points in every lesson.

Here it is one to each exercise, the one that may travel; `audit` grades all of them.
"""

import subprocess
import sys

import pytest

from autograder.grading import answers, submission, under_pytest
from autograder.grading.laws import Generating
from autograder.grading.rehearsal import rehearse
from autograder.grading.task import Task
from autograder.lessons import manifest
from autograder.sandbox import isolation
from autograder.upkeep import audit, cases

LESSONS = [lesson for lesson in manifest.load().values() if lesson.exercises]
LONG = {"random"}  # takes a minute and a half
CASES = [
    pytest.param(x, id=x.id, marks=[pytest.mark.full] if x.id in LONG else []) for x in LESSONS
]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_the_suite_runs_on_the_reference(lesson):
    """Otherwise nobody's submission can be graded."""
    suite = under_pytest.suite_of(lesson)
    rehearse(lesson, suite, isolation.choose(), Generating(0, None, shrink=False), None)


@pytest.mark.sampled  # `audit` grades them all
@pytest.mark.parametrize("lesson", CASES)
def test_the_suite_and_the_visible_checks_accept_them(lesson):
    case = next(cases.cases_of_right_answers(lesson))
    result = submission.grade(Task.of(lesson, case.source.encode()), shrink=False)
    assert list(case.check(result)) == []
    assert audit.refused(lesson, case.source, case.answers) == set()


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_every_exercise_has_one_that_can_travel(lesson):
    siblings = answers.siblings(lesson.id)
    assert list(siblings) == [e.target for e in lesson.exercises]
    # A method that is defined outside its class cannot call super() without arguments.
    assert not any("super()" in text for text in siblings.values())


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_every_wrong_answer_names_a_test_of_its_exercise(lesson):
    collected = under_pytest.collect(under_pytest.suite_of(lesson))
    tests = {(part, test.partition("[")[0]) for part, group in collected.items() for test in group}
    assert {(answer.exercise, answer.fails) for answer in answers.wrong(lesson.id)} <= tests


def test_no_answer_uses_a_name_that_its_module_has_not(tmp_path):
    for lesson in LESSONS:
        known = [
            *answers.rights(lesson.id),
            *answers.mistakes(lesson.id),
            *answers.wrong(lesson.id),
        ]
        for i, answer in enumerate(known):
            source = answers.variant_source(answer)
            (tmp_path / f"{answer.exercise}_{i}.py").write_text(source, encoding="utf-8")
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--quiet"]
    command += ["--output-format=concise", "--select=F821", str(tmp_path)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.stdout + found.stderr == ""
    assert found.returncode == 0
