"""The table exercise x class of mistakes has no empty cell, and names tests that are there."""

import re

import pytest

from autograder.grading import under_pytest
from autograder.lessons import manifest
from autograder.upkeep import classes

LESSONS = [lesson for lesson in manifest.load().values() if lesson.exercises]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_each_class_is_met_in_each_exercise_or_does_not_apply(lesson):
    assert classes.faults(lesson) == []


SEQUEL = re.compile(
    r"(The same(,| (for|if|where|with|holds|of)\b)|So (do|does|is|are|has|have|can)\b"
    r"|Both together|That holds|It )"
)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_each_property_is_a_sentence_that_can_be_read_alone(lesson):
    asked = under_pytest.properties(under_pytest.suite_of(lesson))
    assert [x for x in asked.values() if SEQUEL.match(x) or not x.endswith((".", "?"))] == []
