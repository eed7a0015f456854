"""What a module must be to be taken as a submission, and what it may import.

The intake, `check` and `nbgrader validate` ask here: what is taken at home is taken in class.
A copy of this file is beside a lesson's `checks.py`: it imports nothing of ours.
"""

import ast
import codecs
import io
import sys
import tokenize
from collections.abc import Iterator

LIMIT = 256 * 1024  # bytes; the longest module of the course has a tenth of it
ENCODINGS = {"utf-8", "utf-8-sig", "ascii", "iso8859-1", "iso8859-15", "cp1252"}
COURSE = ("microjax", "minijax")
PACKAGES = ("numpy", "msgpack", "jaxlib", "ml_dtypes")  # that there are where it is graded
LONGEST = 40  # characters of a name in a sentence


def complaint(source: bytes, label: str) -> str:
    """Why the module `label`, such as minijax/jvp.py, is not taken; "" if it is.

    It must be a text, not empty and not too large, and the same one for people as for Python.
    """
    if not source.strip():
        return f"{label} is empty."
    if len(source) > LIMIT:
        return f"{label} is larger than {LIMIT // 1024} KiB."
    try:
        text = source.decode("utf-8")
    except UnicodeDecodeError as error:
        place = _place(source, error.start).rstrip(",")
        return f"{label} is not a text in UTF-8: look at {place}. Save it in UTF-8."
    if b"\0" in source:
        return f"{label} is not a text file: {_place(source, source.index(0))} is 0."
    if _as_python_reads(source) != text.removeprefix("\ufeff"):
        return (
            f"{label} names an encoding other than UTF-8 in its first lines, "
            "which may make it a different text. Remove the comment."
        )
    return ""


def unreadable(source: bytes, label: str) -> str:
    """Where the module is no valid Python; "" if the parser finds nothing."""
    try:
        ast.parse(source)
    except SyntaxError as error:
        return f"{label}, line {error.lineno}, is no valid Python: {error.msg}."
    except NOT_PARSED:
        return f"{label} is no valid Python."
    return ""


NOT_PARSED = (SyntaxError, ValueError, RecursionError, MemoryError)


def _as_python_reads(source: bytes) -> str | None:
    """The text of a module in the encoding that it names; None if it cannot be read in that.

    In UTF-7 a comment, as everybody sees it, may hold a program; Punycode takes seconds to read.
    """
    try:
        encoding = codecs.lookup(tokenize.detect_encoding(io.BytesIO(source).readline)[0])
        return source.decode(encoding.name) if encoding.name in ENCODINGS else None
    except (SyntaxError, LookupError, ValueError):
        return None


def _place(source: bytes, index: int) -> str:
    before = source[:index].decode("utf-8", "replace").split("\n")
    return f"the byte in line {len(before)}, column {len(before[-1]) + 1},"


# ------------------------------------------------------------------------------------------
# Imports


def import_complaint(source: bytes, label: str) -> str:
    """The first import of a package that is not there in class, and what may be imported; or ""."""
    own = label.split("/", maxsplit=1)[0]
    for line, name in imported(source):
        if name not in (*PACKAGES, *COURSE, own, *sys.stdlib_module_names):
            return (
                f"{label}, line {line}, imports {name[:LONGEST]}, which is not there when it is "
                f"graded. It may import {own}, numpy, jaxlib, ml_dtypes, and all that comes "
                "with Python."
            )
    return ""


def imported(source: bytes) -> list[tuple[int, str]]:
    """The packages that a module imports, with the lines; not those that it can do without."""
    try:
        return sorted(_imports_in(ast.parse(source)))
    except NOT_PARSED:
        return []  # told elsewhere


def _imports_in(node: ast.AST) -> Iterator[tuple[int, str]]:
    match node:
        case ast.Import(names=names):
            yield from ((node.lineno, alias.name.split(".")[0]) for alias in names)
        case ast.ImportFrom(module=str(module), level=0):
            yield node.lineno, module.split(".")[0]
    for child in ast.iter_child_nodes(node):
        if child not in _optional(node):
            yield from _imports_in(child)


def _optional(node: ast.AST) -> list[ast.stmt]:
    """The statements of a `try` that expects a failed import; and what only type checkers read."""
    match node:
        case ast.Try(body=body, handlers=handlers) if any(map(_catches_imports, handlers)):
            return body
        case ast.If(test=ast.Name("TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
            return node.body
    return []


def _catches_imports(handler: ast.ExceptHandler) -> bool:
    names = (
        {x.id for x in ast.walk(handler.type) if isinstance(x, ast.Name)} if handler.type else ()
    )
    return not names or bool({*names} & {"ImportError", "ModuleNotFoundError", "Exception"})
