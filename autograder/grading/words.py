"""How an error is told to a student, wherever that is: by `check`, in feedback, in a report."""

import ast
import re
from collections.abc import Iterator

from autograder.lessons import skeleton
from autograder.lessons.problem import Problem

LONGEST = 400  # characters of a text
CUT = "... (cut)"
NO_RETURN = "(None: is a `return` missing?)"
NO_YIELD = "(None: is the `yield` missing?)"
_TOO_DEEP = "a function calls itself endlessly, or once for each step of something long"


def raises(name: str, message: str) -> str:
    """What code does that raises this: "raises ValueError: the message"."""
    text = _TOO_DEEP if name == "RecursionError" else cut(tidy(message))
    return f"raises {name}" + (f": {text}" if text else "")


def missing(message: str) -> str:
    """The hint for a caller that stumbles over a None; "" if the message does not tell of one."""
    if "NoneType" not in message:
        return ""
    return NO_YIELD if message.endswith("object is not an iterator") else NO_RETURN


def lacking(source: str) -> dict[str, frozenset[str]]:
    """What may be said to be missing in each function: a `return` with a value, or a `yield`."""
    try:
        return {name: _lacking(node) for name, node in skeleton.defined_once(source).items()}
    except (Problem, ValueError, RecursionError, MemoryError):
        return {}


def _lacking(node: ast.AST) -> frozenset[str]:
    found = {type(part) for part in _own_parts(node) if getattr(part, "value", None)}
    missing = {NO_RETURN: ast.Return, NO_YIELD: ast.Yield}
    return frozenset(hint for hint, kind in missing.items() if kind not in found)


def _own_parts(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a function but for those of functions inside."""
    for part in ast.iter_child_nodes(node):
        if not isinstance(part, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            yield part
            yield from _own_parts(part)


def tidy(text: str) -> str:
    """A text with classes by name, and without the addresses of objects and what has no bits."""
    text = re.sub(
        r"array\([][()b', \n]*dtype=\[\('float0', '\|?V0?'\)\]\)", "array of float0", text
    )
    text = re.sub(r"<class '(?:[\w.<>]+\.)?(\w+)'>", r"\1", text)
    return re.sub(r"<(?:[\w.<>]+\.)?(\w+) object at 0x[0-9a-f]+>", r"<\1 object>", text)


def cut(text: str) -> str:
    """A text of bearable length, with a sign where it was cut: between words, if they are short."""
    if len(text) <= LONGEST:
        return text
    end = text.rfind(" ", LONGEST - 40, LONGEST)
    return f"{text[: end if end > 0 else LONGEST]} {CUT}"
