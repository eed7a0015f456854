"""What must not reach students, and whether a file holds it.

Secret are the solutions of a lesson and of all lessons that it does not need, hidden tests, and
known answers, right and wrong. A text holds a secret if it has its lines, one after the other;
white space and comments do not count. What is published anyway is not secret: the reference of the
lessons that this one needs, and the skeleton. A function of one line is written by others too: it
counts if it has its name. Of the lesson's own solutions each line counts that is long enough.
"""

import ast
import functools
import json
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autograder.grading import answers
from autograder.lessons import assemble, manifest, places, skeleton
from autograder.lessons.manifest import CONTRACT, Lesson

LONG = 25  # characters: shorter code says little, and is in many places
NEAR = 60  # lines from the beginning of a definition to its body, with signature and docstring


@dataclass(frozen=True)
class Secret:
    """Code or a sentence that students must not get, in normal form."""

    what: str  # "the solution of jvp.flat"
    lines: tuple[str, ...]
    name: str = ""  # of the function whose body this is
    telling: bool = False  # one line of it alone is

    def is_in(self, text: "Text") -> bool:
        """Does the text hold it? What others write too counts only below a `def` of its name."""
        body = "\n".join(self.lines)
        if f"\n{body}\n" not in text.whole:
            return False
        many = len(self.lines) > 1 or self.telling
        return (many and len(body) > LONG) or any(
            text.lines[i : i + len(self.lines)] == self.lines and self._defined(text, i)
            for i in range(len(text.lines))
        )

    def _defined(self, text: "Text", row: int) -> bool:
        before = text.lines[max(0, row - NEAR) : row]
        heads = [line for line in before if line.startswith(("def ", "async def "))]
        return bool(self.name and heads) and heads[-1].startswith(f"def {self.name}(")


@dataclass(frozen=True)
class Sentence(Secret):
    """A secret that may be in the middle of a line."""

    def is_in(self, text: "Text") -> bool:
        """Does the text hold it, wherever its lines are broken?"""
        return self.lines[0] in text.flat


class Text:
    """A text in normal form."""

    def __init__(self, source: str) -> None:
        self.lines = _normal(source)
        self.whole = "\n{}\n".format("\n".join(self.lines))
        self.flat = " ".join(source.split())


def _normal(source: str) -> tuple[str, ...]:
    """The lines that are not empty, without comments and superfluous white space."""
    lines = (" ".join(re.sub(r"(^|\s)#.*", "", line).split()) for line in source.split("\n"))
    return tuple(line for line in lines if line)


# ------------------------------------------------------------------------------------------
# Looking


def find(folder: Path, lesson: Lesson) -> Iterator[tuple[str, Path]]:
    """The secrets in the files below a folder that is to be handed out for a lesson."""
    secrets = list(of(lesson))
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        inside = path.relative_to(folder)
        if what := _forbidden(inside, lesson):
            yield what, inside
        text = Text(_read(path))
        yield from ((secret.what, inside) for secret in secrets if secret.is_in(text))


def _forbidden(path: Path, lesson: Lesson) -> str:
    """What a file is whose name alone says that it must not be there."""
    for other in _others(lesson):
        if any(path.as_posix().endswith(file) for file in other.files):
            return f"a file of the lesson {other.id}"
    hidden = {places.SUITES.name, places.ANSWERS.name} & set(path.parts)
    return f"a file of {hidden.pop()}" if hidden else ""


def _read(path: Path) -> str:
    """A file's text; of formats that write code as strings, the strings."""
    text = path.read_bytes().decode("utf-8", "replace")
    if path.suffix in (".json", ".ipynb"):
        return "\n".join(_strings(json.loads(text)))
    if path.suffix == ".toml":
        return "\n".join(_strings(tomllib.loads(text)))
    return text


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and all(isinstance(part, str) for part in value):
        yield "".join(value)  # a notebook's cell: its lines, with their ends
    elif isinstance(value, (list, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part)


# ------------------------------------------------------------------------------------------
# What is secret


def of(lesson: Lesson) -> Iterator[Secret]:
    """What a handout of this lesson must not hold."""
    texts = list(_published(lesson))
    public = Text("\n".join(texts))
    helps = (text for e in lesson.exercises for text in (*e.hints, *e.toolbox))
    hinted = Text("\n".join([*texts, *helps]))
    for secret in {*_solutions(lesson), *_hidden_tests(), *_answers()}:
        # A hint and the toolbox may give a line away, and not all of a solution.
        known = hinted if isinstance(secret, Sentence) else public
        if secret.lines and not secret.is_in(known):
            yield secret


def _published(lesson: Lesson) -> Iterator[str]:
    """What students get with every handout of the lesson."""
    before = manifest.needed(lesson)[:-1]
    yield from (assemble.read_solution(file) for part in before for file in part.files)
    yield from map(assemble.read_handout, lesson.given)
    if lesson.module:
        yield assemble.skeleton_of(replace(lesson, way=CONTRACT))  # the page has its docstrings
    yield from (hint for part in before for exercise in part.exercises for hint in exercise.hints)


def _others(lesson: Lesson) -> list[Lesson]:
    """The lessons whose files are not in this one's handout."""
    here = {part.id for part in manifest.needed(lesson)}
    return [other for other in manifest.load().values() if other.id not in here]


def _solutions(lesson: Lesson) -> Iterator[Secret]:
    """The bodies that the exercises ask for, each of their long lines, and all later code."""
    bodies = dict(_bodies(assemble.read_solution(lesson.module))) if lesson.module else {}
    for exercise in (e for e in lesson.exercises if e.points):  # a course may give the others
        what = f"the solution of {exercise.id}"
        name = exercise.target.rpartition(".")[2]
        yield Secret(what, bodies[exercise.target], name, telling=True)
        yield from (Sentence(what, (x,)) for x in bodies[exercise.target] if len(x) > LONG)
    for other in _others(lesson):
        for file in other.files:
            for name, body in _bodies(assemble.read_solution(file)):
                yield Secret(f"{name} of {file}", body, name.rpartition(".")[2])


def _hidden_tests() -> Iterator[Secret]:
    suites = {places.suite(f"{lesson.id}.py") for lesson in manifest.load().values()}
    for path in sorted({*places.SUITES.glob("*.py"), *(x for x in suites if x.exists())}):
        for name, body in _bodies(path.read_text(encoding="utf-8")):
            yield Secret(f"{name} of the hidden suite {path.stem}", body, name)


def _answers() -> Iterator[Secret]:
    for lesson in manifest.load().values():
        for mistake in answers.mistakes(lesson.id):
            what = f"the known mistake {mistake.id}"
            yield from (Secret(what, body, name) for name, body in _bodies(mistake.source))
            yield from (
                Sentence(what, (" ".join(x.split()),)) for x in (mistake.name, *mistake.hints)
            )
        for answer in (*answers.rights(lesson.id), *answers.wrong(lesson.id)):
            what = f"a known answer to {answer.exercise}"
            yield from (Secret(what, body, name) for name, body in _bodies(answer.source))


@functools.cache  # each handout of a course asks for nearly all of them
def _bodies(source: str) -> list[tuple[str, tuple[str, ...]]]:
    """The functions and methods of a source with their bodies, docstrings left out."""
    lines, found = source.split("\n"), []
    for name, node in _functions(ast.parse(source).body, ""):
        statements = skeleton.code(node)
        if statements:
            first, last = statements[0].lineno - 1, node.end_lineno
            found.append((name, _normal("\n".join(lines[first:last]))))
    return found


def _functions(body: Iterable[ast.stmt], path: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in body:
        if isinstance(node, ast.FunctionDef):
            yield path + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{path}{node.name}.")
