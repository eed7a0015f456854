"""Contracts are short and say no word on how; tests keep each sentence, and meet each mistake.

And what a student reads about a failing hidden test is its property, a sentence that stands alone.
"""

import ast
import re
import statistics

import pytest

from autograder.lessons import manifest, places
from autograder.upkeep import classes, promises

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


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_each_class_of_mistakes_is_met_in_each_exercise_or_does_not_apply(lesson):
    assert classes.faults(lesson) == []


SEQUEL = (
    "The same", "So", "Also", "And", "But", "Or", "Nor", "Neither", "Again", "Too", "Then",
    "It", "Its", "They", "Their", "This", "These", "That", "Those", "Others", "Otherwise", "Such",
    "Both together",
)  # fmt: skip


def properties(suite):
    """The first line of each test's docstring, by the test's name."""
    tests = [x for x in ast.parse(suite.read_text(encoding="utf-8")).body if named_test(x)]
    return {x.name: (ast.get_docstring(x) or "").partition("\n")[0] for x in tests}


def named_test(node):
    return isinstance(node, ast.FunctionDef) and node.name.startswith("test_")


def is_alone(text):
    """Can a sentence be read without the one before?"""
    begins = re.match(rf"({'|'.join(SEQUEL)})\b", text)
    ends = re.search(r"\b(too|as well)\.$", text)
    return not begins and not ends and len(text.split()) > 3 and text.endswith(".")


@pytest.mark.parametrize("suite", sorted(places.SUITES.glob("*.py")), ids=lambda x: x.stem)
def test_a_property_can_be_read_alone(suite):
    assert [x for x in properties(suite).items() if not is_alone(x[1])] == []
