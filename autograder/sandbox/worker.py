"""The handle of a running worker: it is asked, and answers in time or is ended."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from autograder.sandbox import cgroup, launch
from autograder.sandbox.limits import Limits
from autograder.sandbox.visible import NotIsolated
from autograder.worker import wire

_LISTEN, _STOP = "listen", "stop"  # instead of messages, which are lists
_BETWEEN_COUNTS = 0.05  # seconds


class Died(Exception):
    """The worker is gone."""


class Nonsense(Died):
    """What came from the worker is nothing that a worker writes."""


class TimedOut(Exception):
    """The worker did not answer in time, and was killed."""


@dataclass
class Worker:
    """One worker process. Whatever it started is dead when it is closed."""

    tree: Path
    module: str
    level: str
    limits: Limits = field(default_factory=Limits)
    imports: tuple[str, ...] = ()  # what the probes may import
    layers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.scratch = tempfile.TemporaryDirectory(prefix="jaxprentice-")
        self.number = 0
        self.group = cgroup.Group(self.limits.by_controller())
        try:
            self.process = self._launch()
        except BaseException:
            self._remove()
            raise
        # A thread of its own does the talking: not every system's pipes know time limits.
        self.messages: SimpleQueue[Any] = SimpleQueue()
        self.answers: SimpleQueue[Any] = SimpleQueue()
        self.talker = threading.Thread(target=self._talk, daemon=True)
        self.talker.start()
        self.closed = threading.Event()
        self.watcher = threading.Thread(target=self._watch, daemon=True)
        if sys.platform == "linux" and "pids" not in cgroup.held():
            self.watcher.start()
        try:
            self._greet()
        except BaseException:
            self.close()
            raise

    def _launch(self) -> subprocess.Popen[bytes]:
        limits, prefix = self.limits.by_name(), self.group.command()
        about = {"module": self.module, "imports": self.imports, "limits": limits}
        return launch.launch(self.level, self.tree, about, self.scratch.name, prefix)

    def _greet(self) -> None:
        """Wait until the worker says that it is confined."""
        try:
            hello = self._exchange(_LISTEN, 60)
        except TimedOut:
            raise NotIsolated("the worker did not start in time") from None
        except Died:
            assert self.process.stderr is not None
            said = self.process.stderr.read(2000).decode(errors="replace").strip()
            raise NotIsolated(said.splitlines()[-1] if said else "the worker died") from None
        if hello[0] != "ready":
            raise NotIsolated(hello[1])
        self.layers = tuple(hello[1])

    def ask(self, request: list[Any], seconds: float, patience: float = 0.0) -> list[Any]:
        """Send a request and wait for the reply; after TimedOut or Died, close the worker.

        The worker may take so many `seconds` of CPU, its threads included, so that what else the
        machine does decides nothing. By the clock it has ten times as much, and `patience` seconds.
        """
        self.number += 1
        clock = 10 * seconds + patience if patience else seconds
        reply = self._exchange([self.number, seconds, *request], clock)
        if type(reply) is not list or len(reply) < 2 or reply[0] != self.number:
            raise Nonsense
        return reply[1:]

    def _exchange(self, message: Any, seconds: float) -> Any:
        self.messages.put(message)
        try:
            answer = self.answers.get(timeout=seconds)
        except Empty:
            raise TimedOut from None
        if isinstance(answer, (OSError, EOFError)):
            raise Died from answer
        if isinstance(answer, Exception):
            raise Nonsense from answer
        try:
            return wire.unpack(answer)
        except (wire.Malformed, MemoryError) as error:
            raise Nonsense from error

    def _talk(self) -> None:
        """Send each message, and receive its answer, until something goes wrong.

        The answer is unpacked by the thread that waits for it, so that it knows what that took.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            while (message := self.messages.get()) != _STOP:
                if message != _LISTEN:
                    wire.send(self.process.stdin.fileno(), message)
                self.answers.put(wire.receive_text(self.process.stdout.fileno()))
        except (OSError, EOFError, ValueError, MemoryError, wire.Malformed) as error:
            self.answers.put(error)

    def _watch(self) -> None:
        """End the worker once it has too many threads, where no control group limits them.

        RLIMIT_NPROC counts all threads of a user, so it is far above the number that one worker may
        have: else a worker that takes all of them would leave none to the workers beside it.
        """
        while not self.closed.wait(_BETWEEN_COUNTS):
            with contextlib.suppress(OSError):  # it has just ended
                if _threads_of(self.process.pid) > self.limits.threads:
                    keeper = self.level == "process"  # which sweeps
                    (self.process.terminate if keeper else self.process.kill)()

    def spent(self) -> float:
        """The seconds of CPU that it has taken so far; by the clock where that cannot be told."""
        try:
            return _cpu_of(self.process.pid)
        except OSError:
            return time.monotonic()

    def exit_status(self) -> int | None:
        """How the worker ended: its exit status, less than 0 for a signal, None if it has not."""
        try:
            status = self.process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return None
        return 128 - status if status > 128 else status  # bubblewrap tells signals so

    def close(self) -> None:
        """Kill the worker and everything that it started."""
        self.messages.put(_STOP)
        self.closed.set()
        if self.watcher.is_alive():
            self.watcher.join()
        if self.level == "process" and hasattr(os, "killpg"):
            self.process.terminate()  # the keeper sweeps
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=6)
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        self._remove()
        # The thread may still read: if its pipe were closed, and the next worker got a pipe of the
        # same number, it would read that one.
        self.talker.join(timeout=5)
        if self.talker.is_alive():
            return
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe is not None
            with contextlib.suppress(OSError):
                pipe.close()

    def _remove(self) -> None:
        self.group.close()
        self.scratch.cleanup()

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _cpu_of(process: int) -> float:
    """The seconds of CPU of a process, its descendants, and those that it has waited for."""
    ticks = sum(sum(map(int, about[11:15])) for about in _family(process))
    return ticks / os.sysconf("SC_CLK_TCK")


def _threads_of(process: int) -> int:
    """The threads of a process and its descendants."""
    return sum(int(about[17]) for about in _family(process))


def _family(process: int) -> Iterator[list[str]]:
    """What the kernel says of a process and of its descendants: proc(5), `stat` from field 3 on."""
    yield _told(f"/proc/{process}/stat").rpartition(")")[2].split()
    for child in _told(f"/proc/{process}/task/{process}/children").split():
        with contextlib.suppress(OSError):  # it has just ended
            yield from _family(int(child))


def _told(path: str) -> str:
    """What a file of /proc says. Each probe has several read, and a Path takes twice the time.

    A process may have given itself a name that is not valid text.
    """
    with open(path, errors="replace") as file:  # noqa: PTH123
        return file.read()
