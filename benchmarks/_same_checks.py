"""The checks of a hidden suite for graders that run student code in their own process.

This file is copied into the assignments of the other graders, as `same_checks.py`, with the probes
of the suite, their arguments and the reference's answers beside it. It asks and compares as the
grading engine does: the package is imported afresh for each exercise, and after each failure.
"""

import importlib
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np

from autograder.grading.values import agree
from autograder.worker import wire
from autograder.worker.worker import array_classes

ANSWERS = "same_checks.pickle"


class Checks:
    """The tests of one lesson, and the package as the exercise at hand has it."""

    def __init__(self, package: str, tests: dict[str, dict[str, list[dict[str, Any]]]]) -> None:
        self.name = package
        self.tests = tests  # by exercise and by test: the probe calls with their answers
        self.package: Any = None

    def share(self, exercise: str) -> float:
        """The share of an exercise's tests that pass."""
        self.package = None
        outcomes = [self.passes(exercise, test) for test in self.tests[exercise]]
        return sum(outcomes) / len(outcomes)

    def passes(self, exercise: str, test: str) -> bool:
        """Are all probes of a test answered as by the reference?"""
        good = all(self._agrees(call) for call in self.tests[exercise][test])
        self.package = self.package if good else None
        return good

    def _agrees(self, call: dict[str, Any]) -> bool:
        try:
            got = wire.decode(wire.encode(self._answer(call)))
        except Exception as error:
            return call["raises"] in {cls.__name__ for cls in type(error).__mro__}
        if call["raises"]:
            return False
        return agree(got, call["value"], (call["rtol"], call["atol"])) is None

    def _answer(self, call: dict[str, Any]) -> Any:
        if self.package is None:
            for name in [name for name in sys.modules if name.split(".")[0] == self.name]:
                del sys.modules[name]
            self.package = importlib.import_module(self.name)
            wire.own_arrays = array_classes()
        space: dict[str, Any] = {"np": np, "__name__": "probe"}
        exec(call["source"], space)
        return space[call["name"]](self.package, *wire.decode(call["args"]))


def load(folder: str = ".") -> Checks:
    """The checks whose answers lie in a folder."""
    content = pickle.loads(Path(folder, ANSWERS).read_bytes())
    return Checks(content["package"], content["tests"])
