"""A conversation with the tree under test: probes go to a worker, replies come back, always.

Whatever the submission does in its worker, the answer here is a `Reply`. A worker that does not
answer in time, dies or talks nonsense is killed, and the next probe gets a new one.
"""

import builtins
import math
import re
import signal
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.lessons.problem import Problem
from autograder.sandbox.limits import Limits
from autograder.sandbox.visible import NotIsolated
from autograder.sandbox.worker import Died, Nonsense, TimedOut, Worker
from autograder.worker import wire

# Seconds are of CPU, the worker's and what reading its replies takes here: how busy the machine is
# does not change what is in time.
LEAST_SECONDS = 0.7  # that any probe may take
IMPORT_SECONDS = 10.0
BUDGET_SECONDS = 120.0  # for all probes of one submission together
PATIENCE = 30.0  # seconds by the clock that a worker has besides: it may wait for a processor
SLOWER = 5.0  # times as long as by CPU may a submission take by the clock, and PAUSES besides:
PAUSES = 120.0  # with PATIENCE alone it could sleep before each of its answers

OUT_OF_TIME = {-getattr(signal, name, 0) for name in ("SIGPROF", "SIGXCPU")} - {0}  # statuses

ASLEEP = "asleep"  # a worker had far more time by the clock than it took of CPU
FORGED = "forged"  # the worker sent what no worker writes
ENDED = "ended"  # the worker ended, and no signal had ended it
KILLED = "killed"  # the worker ended by a signal that nothing can catch


@dataclass(frozen=True)
class Probe:
    """A function of the package under test, as source text that can be sent to a worker."""

    name: str
    source: str


@dataclass(frozen=True)
class Reply:
    """What came back.

    `kind` is `value`, `raised` (with the name of the exception's class, its message, and the lines
    of the student's file that it came through, the last one besides), `unsendable` (a large value),
    `timed_out`, `crashed`, or for the import only `syntax_error` and `import_error` (with the line
    and, where known, the column).
    """

    kind: str
    value: Any = None
    name: str = ""
    message: str = ""
    line: int | None = None
    column: int | None = None
    lines: tuple[int, ...] = ()


class Session:
    """A tree in an isolated worker, to be asked one probe after the other.

    >>> with Session(tree, "minijax/jvp.py", "namespaces") as session:
    ...     reply = session.call(sine_at_three)
    """

    def __init__(
        self,
        tree: Path,
        module: str,
        level: str,
        budget: float | None = None,
        imports: Collection[str] = (),
    ) -> None:
        self.tree = tree
        self.module = module
        self.level = level
        self.imports = imports  # what the probes may import
        self.budget = BUDGET_SECONDS if budget is None else budget
        self.seconds = 0.0  # spent on probes so far
        self.paused = 0.0  # seconds by the clock beyond SLOWER times those of CPU
        self.trouble: Reply | None = None  # what came of the import, if it failed
        self.signs: set[str] = set()  # of tampering, see grading/review.py
        self.untouched = False  # nothing was called since the package was imported
        self.killed = False  # the last worker ended by a signal that nothing can catch
        self.worker: Worker | None = None
        self.counted = 0.0  # seconds of the worker's CPU up to its last reply

    def load(self) -> Reply:
        """Start a worker and import the package; the reply says what came of it.

        A worker that is killed is no answer: the system's memory may have run out, or a person has
        stopped it. So the same is asked once more, here and in `call`.
        """
        reply = self._load()
        return self._load() if self.killed else reply

    def _load(self) -> Reply:
        reply = self._start()
        if reply.kind == "value":
            reply = self._ask(["import"], IMPORT_SECONDS)
            # What speaks now may be the submission, and what it says would be shown.
            reply = Reply("import_error") if reply.kind == "syntax_error" else reply
        self.trouble = None if reply.kind == "value" else reply
        self.untouched = reply.kind == "value"
        return reply

    def call(
        self,
        probe: Probe,
        *args: Any,
        seconds: float = 0.0,
        fresh: bool = False,
        patience: float = 1.0,
    ) -> Reply:
        """Run a probe; `fresh` imports the package again, so that nothing is left of earlier calls.

        It may take `patience` times as many `seconds` of CPU, which are at least LEAST_SECONDS.
        """
        if self.trouble is not None:
            return self.trouble
        if self._is_over():
            return Reply("timed_out")
        request = ["call", probe.source, probe.name, wire.encode(list(args))]
        seconds = patience * max(seconds, LEAST_SECONDS)
        reply = self._call(request, fresh, seconds)
        return self._call(request, fresh, seconds) if self.killed else reply

    def _is_over(self) -> bool:
        """Has the submission had its time? The reference has no end of it."""
        late = self.paused > PAUSES and not math.isinf(self.budget)
        return late or self.seconds > self.budget

    def _call(self, request: list[Any], fresh: bool, seconds: float) -> Reply:
        if self.worker is None and self.load().kind != "value":
            # It was fine before: a submission that imports only sometimes.
            return self.trouble or Reply("crashed")
        fresh, self.untouched = fresh and not self.untouched, False
        return self._ask([*request, fresh], seconds)

    def close(self) -> None:
        """Kill the worker and all that it started."""
        if self.worker is not None:
            self.worker.close()
        self.worker = None

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self) -> Reply:
        """Have a new worker, sealed; the reply says if there is a syntax error in the module."""
        try:
            return self._sealed()
        except NotIsolated:  # a worker can be killed before it speaks
            try:
                return self._sealed()
            except NotIsolated as error:
                raise Problem(
                    f"The isolation {self.level!r} stopped working: {error}. "
                    "Run `./jaxprentice doctor`, then the same command again."
                ) from error

    def _sealed(self) -> Reply:
        self.close()
        limits = self._limits()
        self.worker = Worker(self.tree, self.module, self.level, limits, tuple(self.imports))
        self.counted = self.worker.spent()
        return self._ask(["seal"], IMPORT_SECONDS, read_seal)

    def _limits(self) -> Limits:
        """What code can reach that lifts the limit of its probe: twice the submission's time."""
        most = None if math.isinf(self.budget) else max(2, math.ceil(2 * self.budget))
        return Limits(cpu_seconds=most)

    def _ask(
        self, request: list[Any], seconds: float, read: Callable[[list[Any]], Reply] | None = None
    ) -> Reply:
        assert self.worker is not None
        self.killed = False
        own, clock = time.thread_time(), time.monotonic()
        try:
            reply = (read or read_reply)(self.worker.ask(request, seconds, PATIENCE))
            begin, self.counted = self.counted, self.worker.spent()
            taken = max(0.0, self.counted - begin) + time.thread_time() - own
            self._count(taken, time.monotonic() - clock)
            return reply
        except TimedOut:
            reply = Reply("timed_out", name=ASLEEP)
        except (Nonsense, wire.Malformed):
            self.signs.add(FORGED)
            reply = Reply("crashed")
        except Died:
            reply = self._obituary(self.worker.exit_status())
        out_of_time = reply.kind == "timed_out" and reply.name != ASLEEP
        waited = time.monotonic() - clock
        self._count(seconds if out_of_time else waited, waited)
        self.close()
        return reply

    def _count(self, seconds: float, clock: float) -> None:
        """Count what a request has taken: seconds of CPU, and those by the clock.

        Of a very long one only PATIENCE counts: the grader itself may have been stopped.
        """
        self.seconds += seconds
        self.paused += min(clock, PATIENCE) - SLOWER * seconds

    def _obituary(self, status: int | None) -> Reply:
        """What the way in which the worker ended says."""
        if status is None or status >= 0:
            self.signs.add(ENDED)
        self.killed = status == -getattr(signal, "SIGKILL", 0)
        if self.killed:
            self.signs.add(KILLED)
        out_of_time = status in OUT_OF_TIME
        return Reply("timed_out" if out_of_time else "crashed")


# ------------------------------------------------------------------------------------------
# Reading replies, which the submission may have written

_ERROR_NAME = re.compile(r"errors\.[A-Za-z_][A-Za-z0-9_]{0,59}")


def read_reply(raw: list[Any]) -> Reply:
    """The reply in a message from a worker. Raises Malformed for what is none."""
    match raw:
        case ["value", content]:
            return Reply("value", wire.decode(content))
        case ["raised", str(name), str(message), [*lines]] if (
            is_exception(name) and len(message) <= wire.MAX_ERROR
        ):
            known = tuple(x for x in map(_number, lines) if x is not None)
            return Reply("raised", None, name, message, known[-1] if known else None, None, known)
        case ["unsendable"]:
            return Reply("unsendable")
        case ["syntax_error", str(message), line, column]:
            message = message if message.isprintable() and message.isascii() else ""
            message = "" if len(message) > 200 or set(message) & set("<>&") else message
            return Reply(
                "syntax_error", None, "SyntaxError", message, _number(line), _number(column)
            )
        case ["import_error", str(name), str(), line] if is_exception(name):
            return Reply("import_error", None, name, "", _number(line))
    raise wire.Malformed("This is no reply.")


def read_seal(raw: list[Any]) -> Reply:
    """What came of sealing; none of the submission has run yet. Raises NotIsolated if it failed."""
    match raw:
        case ["refused", str(reason)]:
            raise NotIsolated(reason)
    return read_reply(raw)


def is_exception(name: str) -> bool:
    """Is this the name of a built-in exception, or of one that the package's `errors` may hold?"""
    cls = builtins.__dict__.get(name)
    known = isinstance(cls, type) and issubclass(cls, BaseException)
    return known or bool(_ERROR_NAME.fullmatch(name))


def _number(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 1_000_000 else None
