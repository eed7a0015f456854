"""Visible checks that are made of docstrings: the examples of each exercise, run on the student's.

Of an error they compare the class: its message is the student's own.

A copy of this file is beside a lesson's `checks.py` when that is run, with `examples.json`, which
holds the examples as the course has them. So it imports nothing of ours.
"""

import doctest
import functools
import importlib
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

ABOUT = json.loads(Path(__file__).with_name("examples.json").read_text(encoding="utf-8"))
MODULE = importlib.import_module(ABOUT["module"])


class Runner(doctest.DocTestRunner):
    """Runs the examples of a docstring, and stops at the first that is not true."""

    def report_failure(self, out: Any, test: Any, example: Any, got: str) -> None:
        """Say what was expected, in the words that `explain.py` knows."""
        said = f">>> {example.source.strip()}\nassert ACTUAL: {got.strip()}\n"
        raise AssertionError(f"{said} DESIRED: {example.want.strip()}")

    def report_unexpected_exception(self, out: Any, test: Any, example: Any, info: Any) -> None:
        """The exception itself says what went wrong."""
        raise info[1]


def check_of(exercise: dict[str, str]) -> Callable[..., None]:
    """The test that runs an exercise's examples, and notes which other exercises they use."""

    @pytest.mark.exercise(exercise["id"])
    def test_examples(record_property: Callable[[str, Any], None]) -> None:
        """The examples in the docstring are true."""
        name = exercise["id"]
        test = doctest.DocTestParser().get_doctest(
            exercise["examples"], dict(vars(MODULE)), name, None, 0
        )
        used: set[str] = set()
        record_property("uses", used)
        with noting(used, but=name):
            flags = doctest.IGNORE_EXCEPTION_DETAIL
            Runner(verbose=False, optionflags=flags).run(test, out=lambda text: None)

    return test_examples


@contextmanager
def noting(used: set[str], but: str) -> Iterator[None]:
    """Add the ids of the exercises that are called meanwhile, but for this one."""
    codes = {code_of(x["target"]): x["id"] for x in ABOUT["exercises"] if x["id"] != but}

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code in codes:
            used.add(codes[frame.f_code])

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(before)


def code_of(target: str) -> Any:
    """The code of a function or method of the module; of what is not there, nothing."""
    try:
        found = functools.reduce(getattr, target.split("."), MODULE)
        while hasattr(found, "__wrapped__"):
            found = found.__wrapped__
        return getattr(found, "fget", found).__code__
    except Exception:
        return target


for _number, _exercise in enumerate(ABOUT["exercises"]):
    if _exercise["examples"]:
        globals()[f"test_examples_{_number}"] = check_of(_exercise)
