"""Calls of functions that are watched by name, such as "minijax.tree.tree_flatten"."""

import contextlib
import functools
import inspect
import sys
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

from autograder.recording.steps import Record, Step


@contextlib.contextmanager
def watching(record: Record, names: Sequence[str]) -> Iterator[None]:
    """Calls of functions, such as "minijax.tree.tree_flatten", are steps for a time."""
    calls: dict[FrameType, Step] = {}

    def noticed(frame: FrameType, event: str, value: Any) -> None:
        if event == "call" and record.listens and full_name(frame) in names:
            calls[frame] = record.add("call", functools.partial(called, record, frame))
            record.open.append(calls[frame])
        elif event == "return" and frame in calls:
            step = calls.pop(frame)
            if value is not None:
                record.finish(step, [value])
            record.close(step)

    sys.setprofile(noticed if names else None)
    try:
        yield
    finally:
        sys.setprofile(None)


def called(record: Record, frame: FrameType) -> dict[str, Any]:
    """The facts of a call that begins."""
    code = frame.f_code
    number = code.co_argcount + code.co_kwonlyargcount
    given = [frame.f_locals[name] for name in code.co_varnames[:number]]
    if code.co_flags & inspect.CO_VARARGS:
        given += frame.f_locals[code.co_varnames[number]]
    name = code.co_qualname.rpartition("<locals>.")[2]
    operands = [record.show(x) for x in given]
    return {"name": name, "operands": operands, **record.source_of(code)}


def full_name(frame: FrameType) -> str:
    """The function that a frame belongs to, by its module's name and its own."""
    return f"{frame.f_globals.get('__name__')}.{frame.f_code.co_name}"
