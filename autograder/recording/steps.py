"""The steps of a recording: what began, what ended it and what happened between."""

import contextlib
import itertools
import re
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from autograder.recording.memory import Memory
from autograder.recording.package import Package
from autograder.recording.sources import Sources
from autograder.recording.values import Identities, Shown, cut

VERSION = 1
LIMIT = 20_000  # steps in one recording; what happens afterwards is left out


@dataclass(eq=False)  # two that say the same are two
class Step:
    """Something that began, maybe ended, and what happened between."""

    kind: str  # "operation", "rule", "interpreter", "box", "call", "round" or "print"
    facts: dict[str, Any]
    inside: list["Step"] = field(default_factory=list)
    taker: Any = None  # the interpreter that took an operation
    raw: Any = None  # what it gave, before it was unboxed

    def plain(self) -> dict[str, Any]:
        """The step as plain data."""
        inside = {"inside": [step.plain() for step in self.inside]} if self.inside else {}
        return {"kind": self.kind, **self.facts, **inside}


class Record:
    """The steps of one recording, and where it is in them."""

    def __init__(self, package: Package, limit: int) -> None:
        self.package = package
        self.steps: list[Step] = []
        self.open: list[Step] = []  # those that have not ended, the outermost first
        self.count, self.limit = 0, limit
        self.thread = threading.get_ident()
        self.asleep = False  # while values are shown: what their methods do is not the program's
        self.told: BaseException | None = None  # the error whose place is recorded
        self.file: str | None = None  # of the program whose lines are noted
        self.sources = Sources()
        self.memory: Memory | None = None  # if it is measured
        self.show = Shown(package.level_of)
        self.identities = Identities()
        self.meet: Callable[[type], None] = lambda cls: None  # a class of interpreters

    def document(self) -> dict[str, Any]:
        """Everything as plain data, ready for JSON."""
        return {
            "format": "jaxprentice-recording",
            "version": VERSION,
            "package": self.package.name,
            "cut": self.count > self.limit,
            "sources": self.sources.found,
            "types": self.identities.types,
            "steps": [step.plain() for step in self.steps],
        }

    @property
    def listens(self) -> bool:
        """Whether what happens now belongs into the recording."""
        return not self.asleep and threading.get_ident() == self.thread

    @contextlib.contextmanager
    def step(self, kind: str, facts: Callable[[], dict[str, Any]]) -> Iterator[Step]:
        """A step that lasts as long as the `with` block; errors that end it are noted once."""
        step = self.add(kind, facts)
        self.open.append(step)
        try:
            yield step
        except BaseException as error:
            self.note(step, error)
            raise
        finally:
            self.close(step)

    def close(self, step: Step) -> None:
        """End a step, and let go of the values that it held."""
        del self.open[self.open.index(step) :]
        step.taker = step.raw = None
        if self.memory:
            step.facts["memory"] = self.memory.held()

    def add(self, kind: str, facts: Callable[[], dict[str, Any]]) -> Step:
        """A new step inside the one that is open; above the limit it is counted, and not kept."""
        self.count += 1
        kept = self.count <= self.limit
        step = Step(kind, {**self.quietly(facts), **self.lines()} if kept else {})
        if kept:
            (self.open[-1].inside if self.open else self.steps).append(step)
        return step

    def lines(self) -> dict[str, Any]:
        """Which line of the program is being evaluated, and which of a rule that led here."""
        if not self.file:
            return {}
        return {**line_in(self.file), **self.sources.running(sys._getframe(), self.file)}

    def quietly(self, facts: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """What `facts` gives, computed without being recorded itself."""
        before, self.asleep = self.asleep, True
        try:
            return facts()
        finally:
            self.asleep = before

    def finish(self, step: Step, outs: Any, key: str = "results") -> None:
        """Note what a step gave."""
        if self.memory:
            self.measure(self.memory, outs)
        if self.count <= self.limit:
            several = outs if isinstance(outs, list | tuple) else [outs]
            self.identify(step.facts, **{key: several})
            step.facts.update(self.quietly(lambda: {key: self.show.several(outs)}))

    def identify(self, facts: dict[str, Any], **values: Sequence[Any]) -> dict[str, Any]:
        """Add to the fact `ids` which objects these values are; returns the facts.

        Not while memory is measured, because objects that have a number are kept.
        """
        if not self.memory:
            with contextlib.suppress(Exception):  # whatever the methods of a value do
                found = self.quietly(
                    lambda: {k: self.identities(list(x)) for k, x in values.items()}
                )
                facts["ids"] = {**facts.get("ids", {}), **found}
        return facts

    def measure(self, memory: Memory, outs: Any) -> None:
        """Count new results; that may be the most that has been held during the open steps."""
        memory.add(outs)
        for step in self.open:
            step.facts["peak"] = max(memory.held(), step.facts.get("peak", 0))

    def note(self, step: Step, error: BaseException) -> None:
        """Note an error with the innermost step that it ended."""
        if error is self.told:
            step.facts["ended"] = True
            return
        self.told = error
        message = self.quietly(lambda: {"text": cut(str(error), 300)})["text"]
        step.facts["error"] = {"type": type(error).__name__, "message": message}
        if missing := exercise_of(error):
            step.facts["missing"] = missing

    def source_of(self, function: Any) -> dict[str, int]:
        """The fact `source`: where in the document's `sources` a function's text is, if it has."""
        return self.sources.of(function, self.package.folder())


def line_in(file: str | None) -> dict[str, Any]:
    """The line of a program that is being evaluated, as the fact `at`.

    `part` is the expression: its columns, if it is on this line alone. If it is in a function, the
    line that began it all is the fact `from`.
    """
    frame = sys._getframe() if file else None
    frames = []
    while frame is not None:
        if frame.f_code.co_filename == file:
            frames.append(frame)
        frame = frame.f_back
    if not frames:
        return {}
    at: dict[str, Any] = {"at": frames[0].f_lineno, **part_in(frames[0])}
    return {**at, "from": frames[-1].f_lineno} if len(frames) > 1 else at


def part_in(frame: FrameType) -> dict[str, Any]:
    """The columns of the expression that a frame evaluates, as the fact `part`."""
    places = itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None)
    line, last, begin, end = next(places, (None,) * 4)
    whole = line == last == frame.f_lineno and begin is not None and end is not None
    return {"part": [begin, end]} if whole else {}


def exercise_of(error: BaseException) -> str:
    """The exercise that is still to do, if that is what an error says."""
    text = str(error) if type(error) is NotImplementedError else ""
    return text if re.fullmatch(r"[a-z]\w*\.[a-z]\w*", text) else ""
