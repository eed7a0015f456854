"""From the reference to the skeleton: drops the exercises' bodies, keeps all else byte for byte.

Works on lines: the syntax tree says which lines a definition takes, and only these are exchanged.
"""

import ast
import functools
import io
import re
import textwrap
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from autograder.lessons.manifest import BLANK, GUIDED, Exercise, Lesson
from autograder.lessons.problem import Problem

WIDTH = 100

Definition = ast.FunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Place:
    """Lines `start` to `end` (exclusive, from 0) of a source: a definition with its decorators."""

    node: Definition
    start: int
    end: int


# ------------------------------------------------------------------------------------------
# Public functions


@functools.lru_cache(maxsize=64)
def make_skeleton(source: str, lesson: Lesson) -> str:
    """The module as the student gets it, by the lesson's way.

    Every exercise's body is an error (contract), below its toolbox and a TODO (guided); or the
    exercise is not there (blank).
    """
    lines = _lines(source)
    places = _places(source)
    found = [(_only(places, e.target, lesson.module), e) for e in lesson.exercises]
    for place, exercise in sorted(found, key=lambda pair: -pair[0].start):
        if lesson.way == BLANK:
            _cut(lines, place)
        else:
            stub = _stub(lines, place, exercise, lesson.way == GUIDED)
            lines[place.start : place.end] = [stub]
    return "".join(lines)


def completed(source: bytes, lesson: Lesson, apart: str = "; ") -> bytes:
    """The module with a function that says "to do" for each exercise that is not there.

    So it can be imported. Lines keep their numbers: a stand-in is one more statement at the end of
    a line near the top of its module or class, and whatever is defined below replaces it. With a
    line's end as `apart`, each has a line of its own.
    """
    by_owner: dict[str, list[Exercise]] = {}
    for exercise in missing(source, lesson):
        by_owner.setdefault(exercise.target.rpartition(".")[0], []).append(exercise)
    if not by_owner:
        return source
    text = source.decode()
    lines, known = _lines(text), _found(text)
    for owner, exercises in sorted(by_owner.items(), reverse=True):  # the module comes last
        if owner in known or not owner:
            body = known[owner][0].node.body if owner else ast.parse(text).body
            _add(lines, body, map(_stand_in, exercises), apart)
    return "".join(lines).encode()


def missing(source: bytes, lesson: Lesson) -> list[Exercise]:
    """The exercises that a module does not define; of one that is not Python nothing is said."""
    try:
        known = _found(source.decode())
    except (Problem, ValueError, RecursionError, MemoryError):
        return []  # told by those who run it
    return [exercise for exercise in lesson.exercises if exercise.target not in known]


def with_statement(source: str, statement: str) -> str:
    """The module with one more simple statement near its top; lines keep their numbers."""
    lines = _lines(source)
    _add(lines, _parse(source).body, [statement], "; ")
    return "".join(lines)


def replace_function(source: str, target: str, new_source: str) -> str:
    """The module with a different definition of `target` ("func" or "Class.method").

    `new_source` is the text of the whole definition, decorators included, at any indentation.
    """
    lines = _lines(source)
    place = _only(_places(source), target)
    new = new_source.strip("\n")
    name, body = target.rpartition(".")[2], _body(new)
    if [node.name for node in body if isinstance(node, Definition)] != [name] or len(body) != 1:
        raise Problem(f"The replacement should define {name!r} and nothing else.")
    indent = _indent(lines[place.start])
    end = "\n" if lines[place.end - 1].endswith("\n") else ""
    lines[place.start : place.end] = [_reindent(new, indent) + end]
    return "".join(lines)


def definition(source: str, target: str) -> str:
    """The text of a function, method or class as it stands, decorators included."""
    place = _only(_places(source), target)
    return "".join(_lines(source)[place.start : place.end])


def bare(source: str, target: str) -> str:
    """The text of a definition at the left margin, without its docstring."""
    node = _only(_places(source), target).node
    first, lines = node.body[0], _lines(definition(source, target))
    if code(node) != node.body:
        offset = min([node, *node.decorator_list], key=lambda part: part.lineno).lineno
        del lines[first.lineno - offset : (first.end_lineno or 0) - offset + 1]
    return _reindent("".join(lines), "")


def pieces(source: str, targets: Sequence[str]) -> list[tuple[str, str]]:
    """The source in pieces, in order: pairs of a target, or "" between two, and its text."""
    lines, found = _lines(source), _places(source)
    cut, end = [], 0
    for target in sorted(targets, key=lambda x: _only(found, x).start):
        place = _only(found, target)
        cut += [("", end, place.start), (target, place.start, place.end)]
        end = place.end
    cut.append(("", end, len(lines)))
    return [(target, "".join(lines[start:stop])) for target, start, stop in cut]


def docstring(source: str, target: str) -> str | None:
    """The docstring of a function, method or class, without its indentation."""
    return ast.get_docstring(_only(_places(source), target).node)


def functions(source: str) -> list[str]:
    """The functions and methods of a module that are defined once, in order."""
    found = _places(source).items()
    return [
        target
        for target, (first, *more) in found
        if isinstance(first.node, ast.FunctionDef) and not more
    ]


def defined_once(source: str) -> dict[str, Definition]:
    """What a submission defines, by qualified name, but for what it defines repeatedly."""
    return {target: first.node for target, (first, *more) in _found(source).items() if not more}


# ------------------------------------------------------------------------------------------
# Finding definitions


def _lines(source: str) -> list[str]:
    # str.splitlines would also split at form feeds and the like, where `ast` does not.
    return re.findall(r"[^\n]*\n|[^\n]+", source)


@functools.lru_cache(maxsize=64)  # a page asks for many definitions of few files
def _places(source: str) -> dict[str, list[Place]]:
    return _found(source)


def _found(source: str) -> dict[str, list[Place]]:
    """Where each qualified name is defined; properties and overloads are defined repeatedly.

    Of a submission this is asked once, and it is not kept: a class's modules are large together.
    """
    lines = _lines(source)
    places: dict[str, list[Place]] = {}
    for name, node in _definitions(_parse(source), ""):
        first = node.decorator_list[0] if node.decorator_list else node
        place = Place(node, first.lineno - 1, _end(lines, node))
        places.setdefault(name, []).append(place)
    return places


def _parse(source: str) -> ast.Module:
    try:
        return ast.parse(source)
    except SyntaxError as error:
        raise Problem(f"Line {error.lineno} is not valid Python: {error.msg}.") from None


def _definitions(parent: ast.Module | ast.ClassDef, path: str) -> Iterator[tuple[str, Definition]]:
    for node in parent.body:
        if isinstance(node, Definition):
            yield path + node.name, node
        if isinstance(node, ast.ClassDef):
            yield from _definitions(node, f"{path}{node.name}.")


def _end(lines: Sequence[str], node: Definition) -> int:
    """One past the last line; comments below the last statement count when they are indented."""
    assert node.end_lineno is not None
    end = node.end_lineno
    for i in range(end, len(lines)):
        text = lines[i].strip()
        if text and not (text.startswith("#") and len(_indent(lines[i])) > node.col_offset):
            break
        if text:
            end = i + 1
    return end


def _only(places: dict[str, list[Place]], target: str, module: str = "the module") -> Place:
    found = places.get(target, [])
    if not found:
        raise Problem(f"There is no definition of {target!r} in {module}. Name an existing one.")
    if len(found) > 1:
        raise Problem(f"{target!r} is defined {len(found)} times in {module}. Define it once.")
    return found[0]


# ------------------------------------------------------------------------------------------
# Writing a stub


def _stub(lines: Sequence[str], place: Place, exercise: Exercise, guided: bool) -> str:
    """Decorators, signature and docstring as they are, then the guide's comments and the error."""
    node = place.node
    if not isinstance(node, ast.FunctionDef):
        raise Problem(f"The target of {exercise.id!r} is a class. Name one of its methods.")
    head, indent = _signature(lines, place)
    text = ast.get_docstring(node, clean=False)
    if text is not None:
        head += indent + _statement(lines, node.body[0])
    end = "\n" if lines[place.end - 1].endswith("\n") else ""
    guide = _guide(exercise, indent) if guided else []
    stub = [*guide, f'{indent}raise NotImplementedError("{exercise.id}")']
    return head + "\n".join(stub) + end


def _guide(exercise: Exercise, indent: str) -> list[str]:
    """The comments above the error of a guided exercise: its toolbox, and what to do."""
    tools = [_comment(f"- {tool.replace('`', '')}", indent, "  ") for tool in exercise.toolbox]
    toolbox = [_comment("Toolbox:", indent), *tools] if tools else []
    return [*toolbox, _comment(f"TODO({exercise.id}): {exercise.todo}", indent)]


def _comment(text: str, indent: str, hanging: str = "") -> str:
    """A sentence as comment lines."""
    return textwrap.fill(
        " ".join(text.split()),
        WIDTH,
        initial_indent=f"{indent}# ",
        subsequent_indent=f"{indent}# {hanging}",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _signature(lines: Sequence[str], place: Place) -> tuple[str, str]:
    """The text up to the signature's colon and the line's end, and the body's indentation."""
    first = place.node.body[0]
    row, column = _colon(lines[place.node.lineno - 1 : place.end])
    row += place.node.lineno - 1
    before = "".join(lines[place.start : row])
    if first.lineno - 1 == row:  # the body follows the colon
        return f"{before}{lines[row][:column]}\n", " " * (place.node.col_offset + 4)
    return before + lines[row], _indent(lines[first.lineno - 1])


def _colon(lines: Sequence[str]) -> tuple[int, int]:
    """Row (from 0) and column just behind the colon that ends a signature."""
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO("".join(lines)).readline):
        if token.string in ("(", "[", "{"):
            depth += 1
        elif token.string in (")", "]", "}"):
            depth -= 1
        elif token.string == ":" and depth == 0:
            return token.end[0] - 1, token.end[1]
    raise AssertionError("a function without a colon")


def _statement(lines: Sequence[str], node: ast.stmt) -> str:
    """The text of one statement without its first line's indentation, ended by a newline.

    A comment behind the statement stays; another statement on the same line does not.
    """
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    last = lines[node.end_lineno - 1].encode()
    rest = last[node.end_col_offset :].decode().strip()
    rest = f"  {rest}" if rest.startswith("#") else ""
    text = [*lines[node.lineno - 1 : node.end_lineno - 1], last[: node.end_col_offset].decode()]
    text[0] = text[0].encode()[node.col_offset :].decode()
    return "".join(text) + rest + "\n"


# ------------------------------------------------------------------------------------------
# Exercises that are not there


def _cut(lines: list[str], place: Place) -> None:
    """Take a definition out, with the empty lines that parted it from what is before it."""
    start = place.start
    while start and not lines[start - 1].strip():
        start -= 1
    lines[start : place.end] = []


def _stand_in(exercise: Exercise) -> str:
    """A simple statement that defines an exercise's function: its error says that it is to do."""
    name = exercise.target.rpartition(".")[2]
    error = f'raise NotImplementedError("{exercise.id}")'
    return f"exec('def {name}(*args, **kwargs): {error}')"


def _add(lines: list[str], body: Sequence[ast.stmt], statements: Iterable[str], apart: str) -> None:
    """Put simple statements into a body after its docstring and what must be at the very top."""
    top: list[ast.stmt] = [x for x in body if getattr(x, "module", "") == "__future__"][-1:]
    top = top or [x for x in body[:1] if _is_text(x)]
    more = [*statements]
    if top or (body and not hasattr(body[0], "body")):  # in the line of a simple statement
        place = [*top, *body][0]
        row = (place.end_lineno if top else place.lineno) or 1
        column = (place.end_col_offset if top else place.col_offset) or 0
        line = lines[row - 1].encode()
        before, after = line[:column].decode(), line[column:].decode()
        if apart == "\n":
            apart += " " * place.col_offset
        told = apart.join([before, *more]) + after if top else before + apart.join([*more, after])
        lines[row - 1] = told
    else:
        rows = [part.lineno for part in body[:1]]
        rows += [x.lineno for part in body[:1] for x in getattr(part, "decorator_list", [])]
        row = min([*rows, len(lines) + 1]) - 1
        lines.insert(row, f"{_indent(lines[row]) if rows else ''}{'; '.join(more)}\n")


def _is_text(node: ast.stmt) -> bool:
    value = getattr(node, "value", None)
    return isinstance(node, ast.Expr) and isinstance(getattr(value, "value", None), str)


# ------------------------------------------------------------------------------------------
# Indentation


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _body(text: str) -> list[ast.stmt]:
    """The statements of an indented text; their line numbers are one too high."""
    top = _parse(f"if True:\n{text}" if _indent(text) else f"\n{text}").body
    return top[0].body if top and isinstance(top[0], ast.If) and _indent(text) else top


def _reindent(text: str, indent: str) -> str:
    """The text moved so that its first line has this indentation.

    Lines inside strings stay as they are, except in docstrings, whose indentation is no content.
    """
    old = _indent(text)
    if old == indent:
        return text
    fixed = {row for node in _body(text) for row in _string_rows(node)}
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if line.strip() and i not in fixed and line.startswith(old):
            lines[i] = indent + line[len(old) :]
    return "\n".join(lines)


def _string_rows(root: ast.stmt) -> Iterator[int]:
    """The rows (from 0) that begin inside a string which is no docstring."""
    docs = [docstring.value for docstring in docstrings(root)]
    for node in ast.walk(root):
        if isinstance(node, (ast.Constant, ast.JoinedStr)) and node not in docs:
            assert node.end_lineno is not None
            yield from range(node.lineno - 1, node.end_lineno - 1)


# Docstrings ---------------------------------------------------------------------------------------

Documented = ast.Module | ast.ClassDef | ast.FunctionDef


def code(node: Documented) -> list[ast.stmt]:
    """The statements of a module or a definition, without its docstring."""
    return node.body if ast.get_docstring(node, clean=False) is None else node.body[1:]


def lines_of_code(text: str) -> int:
    """The lines of a file that hold code: no comments, no docstrings, no empty lines."""
    layout = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in (*layout, tokenize.ENDMARKER):
            lines.update(range(token.start[0], token.end[0] + 1))
    for words in docstrings(ast.parse(text)):
        lines.difference_update(range(words.lineno, (words.end_lineno or 0) + 1))
    return len(lines)


def docstrings(root: ast.AST) -> Iterator[ast.Expr]:
    """The docstrings of a syntax tree and of everything in it, as statements."""
    for node in ast.walk(root):
        if isinstance(node, Documented) and ast.get_docstring(node, clean=False) is not None:
            assert isinstance(node.body[0], ast.Expr)
            yield node.body[0]
