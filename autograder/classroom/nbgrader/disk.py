"""Where the disk is full or read-only, nbgrader stops, and one sentence says so.

Its own loop over submissions takes that for a fault of each one, and goes on to the next.
"""

import errno
import functools
from collections.abc import Callable
from typing import Any

from nbgrader.converters.base import BaseConverter, NbGraderException
from sqlalchemy.exc import DatabaseError

from autograder.lessons.problem import REMEDIES, of_system

STEPS = ("init_destination", "init_assignment", "convert_single_notebook")
SQLITE = {"database or disk is full": errno.ENOSPC, "readonly database": errno.EROFS}
AGAIN = "then run the same command again."
_usual = BaseConverter.convert_notebooks


class Stopped(KeyboardInterrupt):
    """The disk takes nothing; nbgrader cleans up after a Ctrl-C, and goes no further."""


def reason(error: BaseException | None) -> str:
    """What is to be done about the disk, if that is what an error comes from; else ""."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (*SQLITE.values(), errno.EDQUOT):
            return of_system(error)
        if isinstance(error, DatabaseError):
            for text, number in SQLITE.items():
                if text in (said := str(error.orig)):
                    return f"The gradebook: {said}. {REMEDIES[number]}, {AGAIN}"
        error = error.__cause__ or error.__context__
    return ""


def convert_notebooks(converter: Any) -> None:
    """Take the place of nbgrader's loop over submissions."""
    for name in STEPS:
        setattr(converter, name, _stopping(getattr(converter, name)))
    try:
        _usual(converter)
    except Stopped as stopped:
        converter.log.error(str(stopped))
        raise NbGraderException(str(stopped)) from None


def _stopping(step: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(step)
    def made(*arguments: Any) -> Any:
        try:
            return step(*arguments)
        except Exception as error:
            if said := reason(error):
                raise Stopped(said) from None
            raise

    return made
