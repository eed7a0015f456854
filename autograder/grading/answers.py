"""Known mistakes: wrong answers that students really give, each with its name and its hints.

`autograder/hidden/answers/<lesson>.py` holds them as functions, in the form

    @mistake("jvp.cos_rule", name="...", hints=["...", "...", "..."])
    def cos_jvp(primals, tangents): ...

Decorators that the real definition has stand below. The file is parsed, never imported: each
function takes its target's place in the reference, and the whole is a program that behaves as the
mistaken student's does.
"""

import ast
import functools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.lessons import assemble, manifest, places, skeleton
from autograder.lessons.problem import Problem


@dataclass(frozen=True)
class Mistake:
    """One known mistake in one exercise."""

    id: str  # "jvp.cos_rule/the_minus_sign_is_missing"
    exercise: str
    name: str
    hints: tuple[str, ...]  # three, each saying more than the one before
    source: str  # the definition that a mistaken student writes


def load(lesson_id: str) -> list[Mistake]:
    """The known mistakes of a lesson, in the order of the file; none where there is no file."""
    path = places.ANSWERS / f"{lesson_id}.py"
    return list(_load(path, path.read_text(encoding="utf-8"))) if path.is_file() else []


@functools.cache
def _load(path: Path, text: str) -> tuple[Mistake, ...]:
    try:
        nodes = ast.parse(text).body
    except SyntaxError as error:
        raise Problem(f"{path.name}, line {error.lineno}: {error.msg}. Correct it.") from None
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    found = tuple(_read(path, text, function) for function in functions)
    for i, mistake in enumerate(found):
        if mistake.id in {other.id for other in found[:i]}:
            raise Problem(f"{path.name} has two mistakes {mistake.id!r}. Name them differently.")
    return found


def _read(path: Path, text: str, node: ast.FunctionDef) -> Mistake:
    place = f"{path.name}, line {node.lineno}"
    call = node.decorator_list[0] if node.decorator_list else None
    if not isinstance(call, ast.Call) or ast.unparse(call.func) != "mistake":
        raise Problem(f"{place}: {node.name} has no @mistake(...) at the top. Write one.")
    try:
        (exercise,) = [ast.literal_eval(argument) for argument in call.args]
        facts: dict[str, Any] = {k.arg or "": ast.literal_eval(k.value) for k in call.keywords}
        name, hints = facts.pop("name"), tuple(facts.pop("hints"))
    except (ValueError, KeyError, TypeError):
        raise Problem(
            f"{place}: write @mistake(EXERCISE, name=TEXT, hints=[TEXT, TEXT, TEXT])."
        ) from None
    if facts or len(hints) != 3 or not all(isinstance(x, str) for x in (exercise, name, *hints)):
        raise Problem(f"{place}: a mistake has an exercise, a name, three hints, nothing else.")
    manifest.find_exercise(exercise)
    slug = re.sub(r"\W+", "_", name.lower()).strip("_")
    return Mistake(f"{exercise}/{slug}", exercise, name, hints, _definition(text, node))


def _definition(text: str, node: ast.FunctionDef) -> str:
    """The function's text without its first decorator."""
    first = node.decorator_list[1] if len(node.decorator_list) > 1 else node
    return "".join(text.splitlines(keepends=True)[first.lineno - 1 : node.end_lineno])


def variant_source(mistake: Mistake) -> str:
    """The reference's module with this mistake in it."""
    exercise = manifest.find_exercise(mistake.exercise)
    reference = assemble.read_solution(manifest.get(exercise.lesson).module)
    return skeleton.replace_function(reference, exercise.target, mistake.source)
