"""The table exercise x class of mistakes has no empty cell, and names tests that are there."""

import pytest

from autograder.lessons import manifest
from autograder.upkeep import classes

LESSONS = [lesson for lesson in manifest.load().values() if lesson.exercises]
FILLED = [lesson for lesson in LESSONS if classes.file_of(lesson).is_file()]


@pytest.mark.parametrize("lesson", FILLED, ids=[lesson.id for lesson in FILLED])
def test_each_class_is_met_in_each_exercise_or_does_not_apply(lesson):
    assert classes.faults(lesson) == []
