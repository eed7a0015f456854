"""Asks a submission: how long it may take, and what ends it."""

from collections import defaultdict
from collections.abc import Collection
from typing import Any

from autograder.grading import telling
from autograder.grading.package_code import PackageCode
from autograder.sandbox.session import Probe, Reply, Session

MOST_SECONDS = 10.0  # that any probe may take
PATIENCE = 3.0  # times as much it may take until one has run out of it
DEATHS = 2  # of the worker in one exercise, in whatever way; its further probes are not run


def allowed(seconds: float) -> float:
    """The time for a probe that takes the reference so many seconds."""
    return min(20 * seconds, MOST_SECONDS)


class Asking:
    """Gets a reply to each probe from a submission, whatever it does, in little time.

    What takes long may be right, so it has more time until that was in vain once: a submission that
    never ends must not keep the grader.
    """

    def __init__(
        self, session: Session, stubs: Collection[str], patient: bool, around: PackageCode
    ) -> None:
        self.session = session
        self.stubs = stubs  # ids of all exercises so far
        self.around = around
        self.patience = PATIENCE if patient else 1.0
        self.deaths: dict[str, list[Reply]] = defaultdict(list)  # by exercise

    def answer(
        self, exercise: str, probe: Probe, args: tuple[Any, ...], seconds: float, fresh: bool
    ) -> Reply:
        """What the submission replies, unless it has ended too many workers in this exercise."""
        if len(self.deaths[exercise]) >= DEATHS:
            return self.deaths[exercise][-1]
        got = self.session.call(probe, *args, seconds=seconds, fresh=fresh, patience=self.patience)
        if got.kind == "timed_out":
            self.patience = 1.0
        if got.kind in ("timed_out", "crashed"):
            self.deaths[exercise].append(got)
        return self.reduced(got)

    def reduced(self, got: Reply) -> Reply:
        """The reply with no more text and lines than may be told."""
        return telling.reduced(got, self.around.lines, self.stubs, self.around)
