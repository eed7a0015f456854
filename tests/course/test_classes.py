"""The table exercise x class of mistakes has no empty cell, and names tests that are there."""

import pytest

from autograder.lessons import manifest
from autograder.upkeep import classes

LESSONS = [lesson for lesson in manifest.load().values() if lesson.exercises]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_each_class_is_met_in_each_exercise_or_does_not_apply(lesson):
    assert classes.faults(lesson) == []
