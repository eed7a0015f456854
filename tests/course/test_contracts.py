"""An exercise's docstring is a contract: short, and without a word on how it is done."""

import re
import statistics

import pytest

from autograder.lessons import manifest
from autograder.upkeep import promises

LESSONS = [lesson for lesson in manifest.load().values() if lesson.exercises]
EXERCISES = [exercise for lesson in LESSONS for exercise in lesson.exercises]


def test_contracts_are_short():
    words = {exercise.id: len(promises.contract(exercise).split()) for exercise in EXERCISES}
    assert {name: n for name, n in words.items() if n > 110} == {}
    assert statistics.median(words.values()) <= 56  # exercises of one line are given code


def test_the_name_of_a_counterpart_is_no_promise():
    exercise = manifest.find_exercise("pytrees.map")
    assert "Counterpart: `jax.tree.map`." in promises.contract(exercise)
    assert [x for x in promises.sentences(exercise) if "jax.tree" in x or "Counterpart" in x] == []


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_a_contract_names_nothing_of_its_toolbox(exercise):
    tools = {re.match(r"`([\w.]+)", tool)[1] for tool in exercise.toolbox}
    named = set(
        re.findall(r"[\w.]+", " ".join(re.findall(r"`([^`]*)`", promises.contract(exercise))))
    )
    assert tools & named == set()


def test_nearly_every_exercise_has_a_toolbox():
    assert sum(not exercise.toolbox for exercise in EXERCISES) <= 3


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_a_toolbox_says_in_a_line_what_each_thing_is_for(exercise):
    for tool in exercise.toolbox:
        assert re.match(r"`[\w.]+[^`]*`[^:]*: \S", tool), tool
        assert len(tool) <= 160, tool


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_each_sentence_of_a_contract_has_a_test_that_names_it(lesson):
    assert promises.faults(lesson) == []
