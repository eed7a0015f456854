"""Answers that are known beforehand: right ones in several styles, and wrong ones.

`autograder/hidden/answers/<lesson>.py` holds them as definitions, in the forms

    exercise("jvp.mul_rule")

    @right
    def bilinear_jvp(primitive, primals, tangents, **params): ...

    @mistake(name="...", hints=["...", "...", "..."])
    def bilinear_jvp(primitive, primals, tangents, **params): ...

    @mistake(fails="test_mul_shapes")
    def bilinear_jvp(primitive, primals, tangents, **params): ...

    mistake({"bind(t, y,": "bind(t, x,"}, fails="test_mul_shapes")

Decorators that the real definition has are written below. The file is parsed, never imported: each
definition takes its target's place in the reference, and the whole is a program that behaves as
the student's does who answers like this. In the last form the definition is the reference's own
with pieces of it exchanged. Each must be there once; where more lines than one replace it, they are
indented as its line is.

A mistake with a name is one that students really make: feedback names it and gives its hints. One
without a name must lose points, and `fails` names a test of its exercise that it does not pass.
The first right answer to an exercise is the one that replaces a student's own where another
exercise is tested (see `siblings`). It should call as few other exercises as possible.
"""

import ast
import functools
import itertools
import re
from dataclasses import dataclass, replace
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
        """The exercise and the name, as in "jvp.mul_rule/the_minus_sign_is_missing"."""
        slug = re.sub(r"\W+", "_", self.name.lower()).strip("_")
        return f"{self.exercise}/{slug}"


@dataclass(frozen=True)
class Wrong(Answer):
    """A wrong answer without a name, which must lose points."""

    fails: str  # a test of its exercise, without its case


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
    path = places.answers(f"{lesson_id}.py")
    return _parse(path, path.read_text(encoding="utf-8")) if path.is_file() else ()


@functools.cache
def _parse(path: Path, text: str) -> tuple[Answer, ...]:
    try:
        nodes = ast.parse(text).body
    except SyntaxError as error:
        raise Problem(f"{path.name}, line {error.lineno}: {error.msg}. Correct it.") from None
    exercise, found = "", []
    for node in nodes:
        match node:
            case ast.Expr(ast.Call(ast.Name("exercise"), [ast.Constant(str(exercise))])):
                pass
            case ast.FunctionDef(decorator_list=marks) | ast.ClassDef(decorator_list=marks):
                place = f"{path.name}, line {node.lineno}"
                source = _definition(text, node)
                found.append(_read(place, exercise, marks[0] if marks else None, source, node.name))
            case ast.Expr(ast.Call(ast.Name("right" | "mistake")) as mark):
                found.append(_read(f"{path.name}, line {node.lineno}", exercise, mark))
    ids = [answer.id for answer in found if isinstance(answer, Mistake)]
    for twice in (i for i in ids if ids.count(i) > 1):
        raise Problem(f"{path.name} has two mistakes {twice!r}. Name them differently.")
    return tuple(found)


_FORMS = {
    "right": "@right or @right(style=TEXT)",
    "mistake": "@mistake(name=TEXT, hints=[TEXT, TEXT, TEXT]) or @mistake(fails=TEST) above a "
    "definition, or the same without @ and with {OLD: NEW} in front",
}


def _read(
    place: str, exercise: str, mark: ast.expr | None, source: str = "", name: str = ""
) -> Answer:
    """The answer that a definition is, or without one what an edit makes of the reference's."""
    form = ast.unparse(mark).partition("(")[0] if mark else ""
    if form not in _FORMS:
        raise Problem(f"{place}: {name} has no @right or @mistake(...) at the top. Write one.")
    if not exercise:
        raise Problem(f'{place}: write exercise("LESSON.EXERCISE") above the answers to it.')
    edits, facts = _literals(mark)
    answer = _answer(form, edits, exercise, facts)
    if answer is None or bool(name) == bool(edits):
        raise Problem(f"{place}: write {_FORMS[form]}.")
    target = manifest.find_exercise(exercise).target
    if name and name != target.rpartition(".")[2]:
        raise Problem(f"{place}: {exercise} defines {target}, not {name}. Rename it.")
    return replace(answer, source=source or _edited(place, exercise, edits[0]))


def _literals(mark: ast.expr | None) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a mark, by position and by keyword; None for one that has to be computed."""
    if not isinstance(mark, ast.Call):
        return [], {}

    def value(argument: ast.expr) -> Any:
        try:
            return ast.literal_eval(argument)
        except ValueError:
            return None

    return [*map(value, mark.args)], {k.arg or "": value(k.value) for k in mark.keywords}


def _answer(form: str, edits: list[Any], exercise: str, facts: dict[str, Any]) -> Answer | None:
    """The answer, its source to come; None if it is written in another way."""
    match form, edits, [*sorted(facts.items())]:
        case "right", [], []:
            return Right(exercise, "")
        case "right", [], [("style", str(style))]:
            return Right(exercise, "", style)
        case "mistake", [] | [dict()], [("fails", str(test))]:
            return Wrong(exercise, "", test)
        case (
            "mistake",
            [] | [dict()],
            [("hints", [str(), str(), str()] as hints), ("name", str(name))],
        ):
            return Mistake(exercise, "", name, tuple(hints))
    return None


def _definition(text: str, node: skeleton.Definition) -> str:
    """The definition's text without its first decorator."""
    first = node.decorator_list[1] if len(node.decorator_list) > 1 else node
    return "".join(text.splitlines(keepends=True)[first.lineno - 1 : node.end_lineno])


def _edited(place: str, name: str, edits: dict[str, str]) -> str:
    """The reference's definition with pieces of it exchanged."""
    exercise = manifest.find_exercise(name)
    module = manifest.get(exercise.lesson).module
    source = skeleton.bare(assemble.read_solution(module), exercise.target)
    for old, new in edits.items():
        before, *after = source.split(old)
        if len(after) != 1:
            raise Problem(
                f"{place}: {old!r} is {len(after)} times in the reference's {exercise.target}. "
                "Give a piece of one line that is there once."
            )
        indent = re.match(" *", before.rpartition("\n")[2])
        assert indent
        source = before + new.replace("\n", f"\n{indent[0]}") + after[0]
    return source
