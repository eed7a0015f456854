"""Mutants: the reference with one small slip in one exercise, to try the hidden suites with.

A suite that is worth its name notices each of them. The slips are made on the syntax tree: for
every node of an exercise's body, `slips` says what a tired student might have written instead. A
few mutants are no mistakes at all, because the changed program does the same; those are listed in
`suites/<lesson>.equivalent.toml`, each with the reason.
"""

from __future__ import annotations

import ast
import difflib
import functools
import hashlib
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.grading import answers, judging, pool, submission
from autograder.grading.calls import Call
from autograder.grading.task import Task
from autograder.lessons import assemble, manifest, places, skeleton
from autograder.lessons.manifest import Lesson
from autograder.lessons.problem import Problem
from autograder.upkeep import slips


@dataclass(frozen=True)
class Mutant:
    """The reference's module with one slip in it."""

    id: str  # "jvp.mul_rule/1f09ab34": the exercise, and a hash of the mutated function
    exercise: str
    source: str  # the whole module
    diff: str  # the lines that differ, of the function as Python prints it


def make_mutants(lesson: Lesson) -> list[Mutant]:
    """All mutants of a lesson, exercise by exercise, in a fixed order."""
    reference = assemble.read_solution(lesson.module)
    return [
        mutant
        for exercise in lesson.exercises
        for mutant in mutants_of(reference, exercise.target, exercise.id)
    ]


def mutants_of(reference: str, target: str, name: str) -> Iterator[Mutant]:
    """The mutants of one function, of this name, in a module; they keep its docstring."""
    tree = _parsed(skeleton.definition(reference, target))
    original = ast.unparse(tree)
    said = skeleton.docstring(reference, target)
    seen = {original}
    for mutated in slips.mutations(tree):
        text = ast.unparse(mutated)
        if text not in seen:
            seen.add(text)
            mutant = f"{name}/{hashlib.sha256(text.encode()).hexdigest()[:8]}"
            mutated.body[:0] = [ast.Expr(ast.Constant(said))] if said else []
            source = skeleton.replace_function(reference, target, ast.unparse(mutated))
            yield Mutant(mutant, name, source, _diff(original, text))


def _parsed(definition: str) -> ast.FunctionDef:
    """The syntax tree of a function without docstring and annotations; comments are lost.

    So a mutant keeps its name when only types or words change.
    """
    indent = len(definition) - len(definition.lstrip())
    module = ast.parse("\n".join(line[indent:] for line in definition.splitlines()))
    (function,) = module.body
    assert isinstance(function, ast.FunctionDef)
    function.body = skeleton.code(function)
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.FunctionDef):
            node.returns = None
    return function


def _diff(old: str, new: str) -> str:
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), n=0, lineterm="")
    return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))


def read_equivalent(lesson: Lesson) -> dict[str, str]:
    """By id, the mutants of a lesson that do the same as the reference, and why they do."""
    return read_argued(places.suite(f"{lesson.id}.equivalent.toml"))


def read_argued(path: Path) -> dict[str, str]:
    """By id, the mutants of a file that do the same as the reference; none without the file."""
    if not path.is_file():
        return {}
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("mutant", [])
    for entry in entries:
        if set(entry) != {"id", "diff", "why"} or not entry["why"].strip():
            raise Problem(f"{path.name}: each [[mutant]] has id, diff and why, and nothing else.")
    return {entry["id"]: entry["why"] for entry in entries}


# ------------------------------------------------------------------------------------------
# Trying a suite


@dataclass(frozen=True)
class Outcome:
    """What the suite made of a mutant: whether a test of its exercise failed, and the label."""

    mutant: Mutant
    killed: bool
    label: str | None
    label_is_right: bool


def try_out(
    lesson: Lesson, mutants: list[Mutant], crew: pool.Crew, level: str | None = None
) -> Iterator[Outcome]:
    """Grade mutants of a lesson; outcomes come as they are known."""
    for mutant, found in crew.each(functools.partial(_grade, lesson.id, level), mutants):
        yield Outcome(mutant, **found)


def _grade(lesson_id: str, level: str | None, mutant: Mutant) -> dict[str, Any]:
    lesson, source = manifest.get(lesson_id), mutant.source.encode()
    task = Task.of(lesson, source, level)

    def unlike_mistakes(exercise: str, calls: Sequence[Call]) -> bool:
        """Whether it has no label, whatever the other tests say."""
        return not any(judging.like(lesson, exercise, calls, task.edition.level))

    only = mutant.exercise
    result = submission.grade(task, only=only, enough=unlike_mistakes, shrink=False)
    (exercise,) = result["exercises"]
    label = exercise["misconception"] and exercise["misconception"]["name"]
    return {
        "killed": exercise["points"] < exercise["max_points"],
        "label": label,
        "label_is_right": label is None or _behaves_as(lesson, level, mutant, label),
    }


def _behaves_as(lesson: Lesson, level: str | None, mutant: Mutant, label: str) -> bool:
    """Does the mutant do as the known mistake does in all tests of the lesson, of any exercise?"""
    mistake = _mistaken(lesson.id, mutant.exercise, label)
    return _tests(lesson, level, mutant.source) == _tests(lesson, level, mistake)


@functools.lru_cache(maxsize=100)
def _tests(lesson: Lesson, level: str | None, source: str) -> list[tuple[str, str | None, str]]:
    """What comes of each test of each exercise; of a known mistake it is asked again and again.

    The line of an error is left out: it is a matter of layout.
    """
    result = submission.grade(Task.of(lesson, source.encode(), level), shrink=False)
    tests = [test for exercise in result["exercises"] for test in exercise["tests"]]
    return [(t["id"], t["class"], _LINE.sub("", t["message"] or "")) for t in tests]


_LINE = re.compile(r"\bLine \d+\b")


def _mistaken(lesson_id: str, exercise: str, label: str) -> str:
    mistakes = answers.mistakes(lesson_id)
    (found,) = [m for m in mistakes if (m.exercise, m.name) == (exercise, label)]
    return answers.variant_source(found)
