"""What a command costs: seconds on the clock, and seconds of processor time with all it started.

The kernel adds a process's time to its parent's only if the parent waits for it; the processes of
a sandbox that is killed are lost so. A control group counts everything. Where none can be had, the
processor time is not measured (None).
"""

import contextlib
import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.sandbox import cgroup

LINES = 30  # of what a command that fails has printed
_FILES = {"cpuacct.usage": 1e-9, "cpu.stat": 1e-6}  # version 1 in ns, version 2 in us


@dataclass(frozen=True)
class Cost:
    """Of one or several commands."""

    seconds: float
    cpu: float | None

    def __add__(self, other: "Cost") -> "Cost":
        known = self.cpu is not None and other.cpu is not None
        return Cost(self.seconds + other.seconds, self.cpu + other.cpu if known else None)  # type: ignore[operator]


HEAD = f"{'':32}{'clock s':>8}{'CPU s':>8}{'before':>8}  aim"


@dataclass(frozen=True)
class Row:
    """What something took beside its aim, and in the run before."""

    name: str
    seconds: float
    cpu: float | None
    aim: float = 0.0  # there is none
    of_cpu: bool = False  # is the aim not by the clock?
    before: float | None = None

    @property
    def counts(self) -> float:
        """The seconds that the aim is for; by the clock where those of CPU cannot be told."""
        return self.cpu if self.of_cpu and self.cpu is not None else self.seconds

    @property
    def line(self) -> str:
        """A row of the table."""
        cpu = "" if self.cpu is None else round(self.cpu, 2)
        unit = "CPU" if self.of_cpu else "clock"
        reached = "reached" if self.counts <= self.aim else "not reached"
        end = f"{self.aim:6g} {unit:5}  {reached}" if self.aim else ""
        before = "" if self.before is None else round(self.before, 2)
        return f"{self.name:32}{round(self.seconds, 2):8}{cpu:>8}{before:>8}  {end}".rstrip()


def of(
    command: Sequence[str],
    folder: Path,
    environment: dict[str, str],
    log: Path,
    grouped: bool = True,
) -> Cost:
    """Run a command, in a control group if it may; what it prints goes to the end of `log`."""
    with _group() if grouped else contextlib.nullcontext() as group, log.open("ab") as output:
        enter = ["/bin/sh", "-ec", 'echo 0 > "$1"; shift; exec "$@"', "sh"]
        front = [*enter, str(group / "cgroup.procs")] if group else []
        begin = time.monotonic()
        done = subprocess.run(
            [*front, *command],
            cwd=folder,
            env=environment,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        seconds = time.monotonic() - begin
        if done.returncode != 0:
            lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
            end = "\n".join(lines[-LINES:])
            raise SystemExit(f"`{' '.join(command)}` failed, and ended with:\n{end}")
        return Cost(seconds, _used(group) if group else None)


def take_two_processors() -> None:
    """Leave this process, and all that it will start, two processors."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])


@contextlib.contextmanager
def _group() -> Iterator[Path | None]:
    """A new control group that counts processor time, where one can be had."""
    for controllers, top, own in cgroup.trees():
        if not controllers or "cpuacct" in controllers:
            folder = top / own / f"{cgroup.PREFIX}{os.getpid()}-cost"
            try:
                folder.mkdir()
                _used(folder)
            except (OSError, StopIteration):
                cgroup.remove(folder)
                continue
            try:
                yield folder
            finally:
                cgroup.remove(folder)
            return
    yield None


def _used(group: Path) -> float:
    """The seconds that a group has used."""
    name = next(name for name in _FILES if (group / name).exists())
    text = (group / name).read_text().split()
    return int(text[text.index("usage_usec") + 1 if name == "cpu.stat" else 0]) * _FILES[name]
