"""What the files with checks import: whose checks they are, and what students write for tasks.

A copy of this file is beside the checks, so it needs nothing of ours.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def exercise(name: str) -> None:
    """Begin a section: the checks from here to the next one belong to this exercise.

    The file keeps the names that were there before; `check_plugin.py` marks the checks by them.
    """
    checks = sys._getframe(1).f_globals
    checks.setdefault("_sections", []).append((name, frozenset(checks)))


def yours(name: str) -> Callable[..., Any]:
    """A function of a student's file, such as "open_jvp.hessian", looked up when it is called.

    So the checks of one file run while there is no other, and what is wrong is told where it is.
    """
    file, _, function = name.partition(".")

    def call(*args: Any, **options: Any) -> Any:
        return getattr(import_module(file), function)(*args, **options)

    return call
