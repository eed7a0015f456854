"""The lesson custom: the message of a while loop is no stub."""

from autograder.lessons import assemble, manifest
from autograder.student.commands import blame


def test_an_error_of_given_code_is_no_exercise_to_do():
    lesson = manifest.get("custom")
    source = assemble.read_solution(lesson.module).encode()
    assert "exercises to do" not in blame(lesson, source, ["checkpoint.first"])
    handout = assemble.read_handout(lesson.module).encode()
    assert "exercises to do" in blame(lesson, handout, ["checkpoint.first"])
