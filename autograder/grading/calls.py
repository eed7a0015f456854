"""What a run keeps of its probes: both answers to each, for those who look for known mistakes."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import msgpack

from autograder.grading.suite import Disagreement
from autograder.sandbox.session import Probe, Reply
from autograder.worker import wire

MOST_KEPT = 1 << 20  # bytes of a submission's wrong answers, as they are written in messages


@dataclass
class Call:
    """One probe call: what the submission and the reference answered in a test."""

    test: str
    probe: Probe
    args: tuple[Any, ...]
    got: Reply
    want: Reply
    rtol: float | None
    atol: float | None
    found: Disagreement | None

    @property
    def wrong_value(self) -> bool:
        """Is the reply a value, where the reference has a different one?"""
        return self.found is not None and self.got.kind == self.want.kind == "value"


class Calls:
    """The calls of a run by exercise, with no more of the submission's answers than MOST_KEPT."""

    def __init__(self) -> None:
        self.by_exercise: dict[str, list[Call]] = defaultdict(list)
        self.size = 0  # bytes of wrong answers

    def keep(self, exercise: str, call: Call) -> None:
        """Remember a call.

        A right answer is as good as the reference's. What is too large is no known mistake.
        """
        if call.found is None:
            call.got = call.want
        elif self.size <= MOST_KEPT:
            # What was read can be written: `wire` holds both to the same limits.
            self.size += len(msgpack.packb(wire.encode(call.got.value)))
        if self.size > MOST_KEPT:
            call.got = Reply("unsendable")
        self.by_exercise[exercise].append(call)

    def is_any_right(self, exercise: str) -> bool:
        """Was an answer of this exercise right so far?"""
        return any(call.found is None for call in self.by_exercise[exercise])

    def is_any_wrong(self, exercise: str) -> bool:
        """Was an answer of this exercise wrong so far?"""
        return any(call.found is not None for call in self.by_exercise[exercise])
