"""Reads the files that users write or name: whole and within a limit, or a `Problem` says why not.

Whatever is in such a file, and whatever lies in its place, comes to one of three ends: a value, no
file (see `is_there`), or one sentence. So nothing else reads them.
"""

import csv
import io
import json
import math
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from autograder.lessons.problem import Problem, of_system

LIMIT = 64 * 1024 * 1024  # bytes; what Gradescope says about a thousand students has a tenth of it

T = TypeVar("T")


def is_there(path: Path) -> bool:
    """Is there anything of this name, be it only a broken link? It is read, then, and said."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def content(path: Path) -> bytes:
    """The bytes of a file."""
    try:
        with path.open("rb") as file:
            found = file.read(LIMIT + 1)
    except OSError as error:
        error.filename = error.filename or path  # a folder that is read has no name
        raise Problem(of_system(error)) from None
    return _limited(found, path)


def _limited(found: bytes, path: Path) -> bytes:
    if len(found) > LIMIT:
        raise Problem(f"{path} is larger than {LIMIT >> 20} MiB. Is it the right file?")
    return found


def text(path: Path) -> str:
    """The text in a file, with the ends of lines that Python has."""
    return _decoded(content(path), path).replace("\r\n", "\n").replace("\r", "\n")


def toml(path: Path) -> dict[str, Any]:
    """The table in a TOML file."""
    return parsed(text(path), tomllib.loads, path, "TOML")


def document(path: Path) -> Any:
    """The value in a JSON file; it has no infinite numbers."""
    read = partial(json.loads, parse_constant=_refuse, parse_float=_finite)
    return parsed(text(path), read, path, "JSON")


def yaml(found: bytes, path: Path) -> dict[str, Any]:
    """The mapping in a YAML file with this content."""
    source = _decoded(_limited(found, path), path)
    value = parsed(source, _yaml, path, "YAML")
    if not isinstance(value, dict):
        raise Problem(f"{path} holds no table of names. Download it again.")
    return value


def rows(path: Path) -> list[list[str]]:
    """The rows of a CSV file."""
    return parsed(_decoded(content(path), path), _rows, path, "CSV")


def whole_number(path: Path) -> int:
    """The number in a file, which is 0 or more and fits where numbers are kept."""
    found = text(path).strip()
    if not (found.isascii() and found.isdigit() and len(found) < 19):
        raise Problem(f"{path} does not hold a whole number. Correct it, or remove it.")
    return int(found)


def parsed(source: str, parse: Callable[[str], T], path: Path | str, syntax: str) -> T:
    """What `parse` makes of the text of a file in a syntax such as TOML."""
    try:
        return parse(source)
    except RecursionError:
        raise Problem(f"{path} is nested too deeply. Correct it.") from None
    except (ValueError, OverflowError) as error:
        raise Problem(f"{path} is not valid {syntax}: {_why(error)}. Correct it.") from None


def _why(error: Exception) -> str:
    """What an error says, on one line."""
    why = " ".join(str(error).split()).replace(' in "<unicode string>"', "").rstrip(".")
    return "it holds a number of thousands of digits" if "set_int_max_str_digits" in why else why


def _decoded(found: bytes, path: Path) -> str:
    """The text, without the byte order mark that some editors put before it."""
    try:
        return found.decode().removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise Problem(f"{path} is not a text in UTF-8. Save it as one.") from None


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"it holds {name}")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError("it holds a number that is too large")
    return number


def _yaml(source: str) -> Any:
    """What a YAML text says; libyaml scans it, but its own composer overflows C's stack."""
    from yaml import YAMLError
    from yaml.composer import Composer
    from yaml.constructor import SafeConstructor
    from yaml.cyaml import CParser
    from yaml.resolver import Resolver

    class Loader(Composer, CParser, SafeConstructor, Resolver):
        def __init__(self) -> None:
            CParser.__init__(self, source)
            for part in (Composer, SafeConstructor, Resolver):
                part.__init__(self)

    try:
        return Loader().get_single_data()
    except YAMLError as error:
        raise ValueError(str(error)) from None


def _rows(source: str) -> list[list[str]]:
    head = source.partition("\n")[0]  # Excel writes semicolons where a comma is in numbers
    mark = ";" if ";" in head and "," not in head else ","
    reader = csv.reader(io.StringIO(source, newline=""), delimiter=mark)
    try:
        return list(reader)
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from None
