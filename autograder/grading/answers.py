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
from typing import Any, TypeGuard

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
        exercise = _section(node) or exercise
        if _is_answer(node):
            found.append(_read(path, text, node, exercise))
    ids = [answer.id for answer in found if isinstance(answer, Mistake)]
    for twice in (i for i in ids if ids.count(i) > 1):
        raise Problem(f"{path.name} has two mistakes {twice!r}. Name them differently.")
    return tuple(found)


def _section(node: ast.stmt) -> str:
    """The exercise to which the answers below a line are; "" for other lines."""
    match node:
        case ast.Expr(ast.Call(ast.Name("exercise"), [ast.Constant(str(exercise))])):
            return exercise
    return ""


Written = skeleton.Definition | ast.Expr


def _is_answer(node: ast.stmt) -> TypeGuard[Written]:
    """Is it a definition, or an edit of the reference's?"""
    return isinstance(node, skeleton.Definition) or (
        isinstance(node, ast.Expr) and bool(_form(node))
    )


def _form(node: Written) -> str:
    """Which of the forms it has; "" for none."""
    mark = _mark(node)
    name = ast.unparse(mark.func if isinstance(mark, ast.Call) else mark) if mark else ""
    return name if name in _FORMS else ""


def _mark(node: Written) -> ast.expr | None:
    if isinstance(node, ast.Expr):
        return node.value
    return node.decorator_list[0] if node.decorator_list else None


_FORMS = {
    "right": "@right or @right(style=TEXT)",
    "mistake": "@mistake(name=TEXT, hints=[TEXT, TEXT, TEXT]) or @mistake(fails=TEST) above a "
    "definition, or the same without @ and with {OLD: NEW} in front",
}


def _read(path: Path, text: str, node: Written, exercise: str) -> Answer:
    place, form = f"{path.name}, line {node.lineno}", _form(node)
    if not form:
        assert isinstance(node, skeleton.Definition)
        raise Problem(f"{place}: {node.name} has no @right or @mistake(...) at the top. Write one.")
    if not exercise:
        raise Problem(f'{place}: write exercise("LESSON.EXERCISE") above the answers to it.')
    edits, facts = _literals(_mark(node))
    answer = _answer(form, exercise, facts)
    edited = isinstance(node, ast.Expr)
    if answer is None or [type(x) for x in edits] != [dict] * edited or (edits and form == "right"):
        raise Problem(f"{place}: write {_FORMS[form]}.")
    if isinstance(node, ast.Expr):
        return replace(answer, source=_edited(place, answer.exercise, edits[0]))
    target = manifest.find_exercise(answer.exercise).target
    if node.name != target.rpartition(".")[2]:
        raise Problem(f"{place}: {answer.exercise} defines {target}, not {node.name}. Rename it.")
    return replace(answer, source=_definition(text, node))


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


def _answer(form: str, exercise: str, facts: dict[str, Any]) -> Answer | None:
    """The answer, its source to come; None if it is written in another way."""
    match form, [*sorted(facts.items())]:
        case "right", []:
            return Right(exercise, "")
        case "right", [("style", str(style))]:
            return Right(exercise, "", style)
        case "mistake", [("fails", str(test))]:
            return Wrong(exercise, "", test)
        case "mistake", [("hints", [str(), str(), str()] as hints), ("name", str(name))]:
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
