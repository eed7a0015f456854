"""The code of the functions that steps name: where it is, and its text."""

import functools
import inspect
import linecache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any


class Sources:
    """The functions that were named so far."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []
        self.codes: dict[CodeType, int] = {}  # those whose texts these are

    def of(self, function: Any, folder: Path) -> dict[str, int]:
        """The fact `source`: where among these a function's text is, if it has one."""
        place = place_of(function, folder)
        if "file" not in place:
            return {}
        found = {**place, "text": text_of(code_of(function))}
        if found not in self.found:
            self.found.append(found)
        number = self.found.index(found)
        if code := code_of(function):
            self.codes[code] = number
        return {"source": number}

    def running(self, frame: FrameType | None, program: str) -> dict[str, list[int]]:
        """The fact `rule_line`: the innermost of these that runs, and the number of its line.

        Nothing if a line of the program is further in: that one is told by `at`.
        """
        while frame is not None and frame.f_code.co_filename != program:
            if (number := self.codes.get(frame.f_code)) is not None:
                return {"rule_line": [number, frame.f_lineno - frame.f_code.co_firstlineno + 1]}
            frame = frame.f_back
        return {}


def place_of(rule: Any, folder: Path) -> dict[str, Any]:
    """A rule's own name, and its file and line if it is written in Python."""
    code = code_of(rule)
    rule = function_of(rule)
    if code is None:
        owner = type(rule).__module__.split(".")[0]
        return {"rule": f"{owner}.{getattr(rule, '__name__', type(rule).__name__)}"}
    file = Path(code.co_filename)
    shown = file.relative_to(folder).as_posix() if file.is_relative_to(folder) else file.name
    return {
        "rule": getattr(rule, "__qualname__", code.co_qualname),
        "file": shown,
        "line": code.co_firstlineno,
    }


def function_of(rule: Any) -> Any:
    """A rule without the arguments that are given to it beforehand."""
    while isinstance(rule, functools.partial):
        rule = rule.func
    return rule


def code_of(rule: Any) -> CodeType | None:
    """A rule's code, if it is written in Python."""
    function = function_of(rule)
    return function if isinstance(function, CodeType) else getattr(function, "__code__", None)


def text_of(code: CodeType | None) -> str:
    """The text of a function as it is in its file, from the margin; nothing if it is not known."""
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :] if code else []
    return inspect.cleandoc("\n" + "".join(inspect.getblock(lines))) + "\n" if lines else ""
