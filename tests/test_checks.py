"""The visible checks: what a student is told about right, wrong, unwritten and hostile work."""

import subprocess
import sys
import time

import pytest
import small_course

from autograder import assemble, checks, lessons, skeleton
from autograder.checks import DONE, NOT_RUN, TO_DO, WRONG

CHECKS = '''
import numpy as np
import pytest
from toy.hello import Box, greet


@pytest.mark.exercise("hello.greet")
def test_colon():
    """The greeting ends in a colon."""
    assert greet("Ada") == "Hello,\\nAda:"


@pytest.mark.exercise("hello.greet")
def test_mark():
    """The greeting ends in the mark."""
    assert greet("Ada", mark="!") == "Hello,\\nAda!"


@pytest.mark.exercise("hello.grow")
def test_grow():
    """A box grows by what is asked for."""
    np.testing.assert_allclose(Box().grow(2).size, 3)


@pytest.mark.exercise("hello.grow")
def test_text():
    """A box cannot grow by a text."""
    with pytest.raises(TypeError):
        Box().grow("2")
'''


@pytest.fixture
def lesson(monkeypatch, tmp_path):
    """The lesson `hello` of the small course, with checks."""
    small_course.write(monkeypatch, tmp_path, {"course/lessons/01_hello/checks.py": CHECKS})
    return lessons.load()["hello"]


def run(lesson, *changes, only=None):
    """Check the reference with some texts in it replaced."""
    source = small_course.HELLO
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    return checks.run(lesson, {lesson.module: source.encode()}, only)


def statuses(report):
    return [report.status(exercise) for exercise in report.exercises]


def said(report):
    """What the student reads about the first exercise that is wrong."""
    failures = [f for exercise in report.exercises if (f := report.failure(exercise))]
    return "\n".join(checks.explain(report, failures[0]))


def test_the_reference_is_done(lesson):
    report = run(lesson)
    assert statuses(report) == [DONE, DONE]
    assert report.complete


def test_the_skeleton_is_to_do(lesson):
    source = skeleton.make_skeleton(small_course.HELLO, lesson)
    report = checks.run(lesson, {lesson.module: source.encode()})
    assert statuses(report) == [TO_DO, TO_DO]
    assert not report.complete


def test_one_exercise_can_be_checked_alone(lesson):
    report = run(lesson, ("text + mark", "text"), only=lesson.exercises[1])
    assert statuses(report) == [DONE]
    assert [x.exercise for x in report.outcomes] == ["hello.grow"] * 2


def test_a_wrong_value_shows_property_sides_and_places(lesson):
    report = run(lesson, ("return text + mark", "return text + '!'"))
    assert statuses(report) == [WRONG, DONE]
    assert said(report).splitlines() == [
        "It should hold that: The greeting ends in a colon.",
        "  expected: 'Hello,\\nAda:'",
        "  got:      'Hello,\\nAda!'",
        "checks.py, line 10, in test_colon:",
        '    assert greet("Ada") == "Hello,\\nAda:"',
    ]


def test_numpys_comparisons_show_both_sides(lesson):
    text = said(run(lesson, ("self.size += by", "self.size += by + 1")))
    assert text.splitlines()[1:3] == ["  expected: array(3)", "  got:      array(4)"]


def test_a_missing_exception_is_named(lesson):
    text = said(run(lesson, ("self.size += by", "self.size += int(by)")))
    assert "expected: the exception TypeError" in text


def test_a_condition_is_told_in_words():
    message = "assert False\n +  where False = isinstance(None, int)\n +    and   None = f(1)"
    error = checks.Error("AssertionError", message)
    assert checks.what_happened(error) == ["isinstance(None, int) is False", "f(1) is None"]


def test_an_exception_shows_where_it_was_raised(lesson):
    text = said(run(lesson, ("return text + mark", "return text + markk")))
    assert "raises NameError: name 'markk' is not defined" in text
    assert "toy/hello.py, line 25, in greet:\n    return text + markk" in text


def test_prints_are_shown_with_the_failure(lesson):
    text = said(run(lesson, ("return text + mark", "print('was here'); return text")))
    assert "Your code printed:\n    was here" in text


def test_a_syntax_error_has_line_and_column(lesson):
    report = run(lesson, ("return text + mark", "return text +"))
    assert report.broken.type == "SyntaxError"
    assert "line 25, column" in report.broken.message
    assert statuses(report) == [NOT_RUN, NOT_RUN]


def test_a_module_that_fails_on_import_says_where(lesson):
    report = run(lesson, ("import functools", "import functools\nfunctools.nothing"))
    assert report.broken.type == "AttributeError"
    assert checks.where(lesson, report.broken)[-2].startswith("toy/hello.py, line 4")


def test_an_unwritten_exercise_is_to_do_even_if_another_is_met_first(lesson):
    stub = "raise NotImplementedError('hello.greet')"
    grow = ("self.size += by", f"{stub}\n        raise NotImplementedError('hello.grow')")
    assert statuses(run(lesson, grow)) == [DONE, TO_DO]


def test_an_unwritten_sibling_is_named(lesson):
    grow = ("self.size += by", "raise NotImplementedError('hello.greet')")
    report = run(lesson, grow)
    assert statuses(report) == [DONE, "needs hello.greet"]


@pytest.fixture
def hurry(monkeypatch):
    """Short time limits."""
    monkeypatch.setattr(checks, "LIMIT", 1.0)
    monkeypatch.setattr(checks, "PATIENCE", 1.0)


@pytest.mark.parametrize(
    "loop",
    [
        "while True: pass",
        "while True:\n        try:\n            while True: pass\n        except Exception: pass",
    ],
)
def test_a_loop_without_end_is_said_and_the_others_are_checked(lesson, hurry, loop):
    start = time.monotonic()
    report = run(lesson, ("return text + mark", loop))
    assert statuses(report) == [WRONG, DONE]
    assert "does not end within 1 seconds" in said(report)
    assert time.monotonic() - start < 6


def test_a_loop_that_swallows_everything_is_ended_from_outside(lesson, hurry):
    loop = "while True:\n        try: input\n        except BaseException: pass".replace(
        "input", "[x for x in range(10**9)]"
    )
    report = run(lesson, ("return text + mark", loop))
    assert report.status(report.exercises[0]) == WRONG
    assert "does not end" in said(report)


def test_a_process_that_dies_names_the_test(lesson):
    report = run(lesson, ("return text + mark", "import os; os._exit(77)"))
    assert statuses(report) == [WRONG, NOT_RUN]
    assert "status 77" in said(report)


@pytest.mark.parametrize("end", ["exit()", "__import__('os')._exit(0)"])
def test_a_module_that_ends_python_on_import_is_said(lesson, end):
    report = run(lesson, ("import functools", f"import functools\n{end}"))
    assert "Python was ended" in report.broken.message


def test_a_recursion_without_end_is_shown_at_once(lesson):
    start = time.monotonic()
    text = said(run(lesson, ("return text + mark", "return greet(name + 'x')")))
    assert "raises RecursionError" in text
    assert text.count("toy/hello.py") <= 4
    assert time.monotonic() - start < 5


def test_no_path_of_the_temporary_folder_is_shown(lesson):
    report = run(lesson, ("class Box", "class Bux"))
    assert report.broken.type == "ImportError"
    assert "(toy/hello.py)" in report.broken.message


def test_the_students_own_pytest_settings_change_nothing(lesson, monkeypatch):
    monkeypatch.setenv("PYTEST_ADDOPTS", "--no-such-option")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    assert run(lesson).complete


@pytest.mark.parametrize(
    ("exercise", "status", "words"),
    [("hello.grow", 0, "2 passed"), ("hello.greet", 1, "2 failed"), ("hello.gret", 4, "no checks")],
)
def test_plain_pytest_beside_the_notebook_runs_one_exercise(
    lesson, tmp_path, exercise, status, words
):
    folder = tmp_path / "notebook"
    source = small_course.HELLO.replace("return text + mark", "return 0")
    assemble.write_tree(folder, lesson, {lesson.module: source})
    checks.add_checks(folder, lesson)
    command = [sys.executable, "-m", "pytest", "-q", "checks.py", "--exercise", exercise]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == status
    assert words in done.stdout + done.stderr


def test_the_first_feedback_comes_soon(lesson):
    start = time.monotonic()
    run(lesson)
    assert time.monotonic() - start < 5  # 0.5 s on a quiet machine
