"""Answers that are known beforehand: right ones in several styles, and wrong ones.

`autograder/hidden/answers/<lesson>.py` holds them as definitions, in the forms

    @right("jvp.cos_rule")
    def cos_jvp(primals, tangents): ...

    @mistake("jvp.cos_rule", name="...", hints=["...", "...", "..."])
    def cos_jvp(primals, tangents): ...

    @mistake("jvp.cos_rule", shown_by="import minijax as mj ...")
    def cos_jvp(primals, tangents): ...

Decorators that the real definition has are written below. The file is parsed, never imported: each
definition takes its target's place in the reference, and the whole is a program that behaves as
the student's does who answers like this.

A mistake with a name is one that students really make: feedback names it and gives its hints. One
without a name must lose points, and `shown_by` is a program that prints something else with it.
The first right answer to an exercise is the one that replaces a student's own where another
exercise is tested (see `siblings`). It should call as few other exercises as possible.
"""

import ast
import functools
import itertools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.lessons import assemble, manifest, places, skeleton
from autograder.lessons.problem import Problem


@dataclass(frozen=True)
class Answer:
    """A definition that answers an exercise."""

    exercise: str
    source: str


@dataclass(frozen=True)
class Right(Answer):
    """A right answer that is written differently from the reference."""

    style: str = ""  # in what way, if that can be said


@dataclass(frozen=True)
class Mistake(Answer):
    """A known mistake."""

    name: str
    hints: tuple[str, ...]  # three, each saying more than the one before

    @property
    def id(self) -> str:
        """The exercise and the name, as in "jvp.cos_rule/the_minus_sign_is_missing"."""
        slug = re.sub(r"\W+", "_", self.name.lower()).strip("_")
        return f"{self.exercise}/{slug}"


@dataclass(frozen=True)
class Wrong(Answer):
    """A wrong answer without a name, which must lose points."""

    shown_by: str  # a program that prints something else with it than with the reference


# ------------------------------------------------------------------------------------------
# What is known of a lesson


def rights(lesson_id: str) -> list[Right]:
    """The right answers, in the order of the file; none if there is no file."""
    return [answer for answer in _load(lesson_id) if isinstance(answer, Right)]


def mistakes(lesson_id: str) -> list[Mistake]:
    """The known mistakes, those with a name."""
    return [answer for answer in _load(lesson_id) if isinstance(answer, Mistake)]


def wrong(lesson_id: str) -> list[Wrong]:
    """The wrong answers without a name."""
    return [answer for answer in _load(lesson_id) if isinstance(answer, Wrong)]


def siblings(lesson_id: str) -> dict[str, str]:
    """The definition that replaces each exercise, by its target: the first right answer.

    They travel to the worker that holds a submission. The reference never does.
    """
    first = {answer.exercise: answer.source for answer in reversed(rights(lesson_id))}
    return {e.target: first[e.id] for e in manifest.get(lesson_id).exercises if e.id in first}


def in_turn(lesson_id: str) -> list[list[Right]]:
    """The first right answers to all exercises, then the second ones, and so on."""
    known = rights(lesson_id)
    by_exercise = [
        [answer for answer in known if answer.exercise == exercise.id]
        for exercise in manifest.get(lesson_id).exercises
    ]
    rounds = itertools.zip_longest(*by_exercise)
    return [[answer for answer in chosen if answer is not None] for chosen in rounds]


def variant_source(*chosen: Answer) -> str:
    """The reference's module with these answers, all to exercises of one lesson, in it."""
    exercises = [manifest.find_exercise(answer.exercise) for answer in chosen]
    source = assemble.read_solution(manifest.get(exercises[0].lesson).module)
    for exercise, answer in zip(exercises, chosen, strict=True):
        source = skeleton.replace_function(source, exercise.target, answer.source)
    return source


# ------------------------------------------------------------------------------------------
# Reading


def _load(lesson_id: str) -> tuple[Answer, ...]:
    path = places.ANSWERS / f"{lesson_id}.py"
    return _parse(path, path.read_text(encoding="utf-8")) if path.is_file() else ()


@functools.cache
def _parse(path: Path, text: str) -> tuple[Answer, ...]:
    try:
        nodes = ast.parse(text).body
    except SyntaxError as error:
        raise Problem(f"{path.name}, line {error.lineno}: {error.msg}. Correct it.") from None
    definitions = [node for node in nodes if isinstance(node, skeleton.Definition)]
    found = tuple(_read(path, text, node) for node in definitions)
    ids = [answer.id for answer in found if isinstance(answer, Mistake)]
    for twice in (i for i in ids if ids.count(i) > 1):
        raise Problem(f"{path.name} has two mistakes {twice!r}. Name them differently.")
    return found


def _read(path: Path, text: str, node: skeleton.Definition) -> Answer:
    place = f"{path.name}, line {node.lineno}"
    call = node.decorator_list[0] if node.decorator_list else None
    kind = ast.unparse(call.func) if isinstance(call, ast.Call) else ""
    if kind not in _FORMS or not isinstance(call, ast.Call):
        raise Problem(
            f"{place}: {node.name} has no @right(...) or @mistake(...) at the top. Write one."
        )
    answer = _answer(kind, call, _definition(text, node))
    if answer is None:
        raise Problem(f"{place}: write {_FORMS[kind]}.")
    target = manifest.find_exercise(answer.exercise).target
    if node.name != target.rpartition(".")[2]:
        raise Problem(f"{place}: {answer.exercise} defines {target}, not {node.name}. Rename it.")
    return answer


_FORMS = {
    "right": "@right(EXERCISE) or @right(EXERCISE, style=TEXT)",
    "mistake": "@mistake(EXERCISE, name=TEXT, hints=[TEXT, TEXT, TEXT]) or "
    "@mistake(EXERCISE, shown_by=PROGRAM)",
}


def _answer(kind: str, call: ast.Call, source: str) -> Answer | None:
    """What a decorator says of the definition below it; None if it is written in another way."""
    try:
        given = [ast.literal_eval(argument) for argument in call.args]
        facts: dict[str, Any] = {k.arg or "": ast.literal_eval(k.value) for k in call.keywords}
    except ValueError:
        return None
    match kind, given, [*sorted(facts.items())]:
        case "right", [str(exercise)], []:
            return Right(exercise, source)
        case "right", [str(exercise)], [("style", str(style))]:
            return Right(exercise, source, style)
        case "mistake", [str(exercise)], [("shown_by", str(program))]:
            return Wrong(exercise, source, program)
        case (
            "mistake",
            [str(exercise)],
            [("hints", [str(), str(), str()] as hints), ("name", str(name))],
        ):
            return Mistake(exercise, source, name, tuple(hints))
    return None


def _definition(text: str, node: skeleton.Definition) -> str:
    """The definition's text without its first decorator."""
    first = node.decorator_list[1] if len(node.decorator_list) > 1 else node
    return "".join(text.splitlines(keepends=True)[first.lineno - 1 : node.end_lineno])
