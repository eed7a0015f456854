"""Measures two libraries side by side on one machine, which may be busy with other work.

Samples of the two are taken in turns, so that what slows the machine slows both; what is reported
is the ratio of the medians, with the quartiles of the ratios of neighbours.
"""

import gc
import json
import math
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

Operation = Callable[[], Any]
Row = TypeVar("Row")
Sampler = Callable[[Operation, int], float]  # (operation, how often) -> seconds for one


@dataclass(frozen=True)
class Figure:
    """What one row of the table says."""

    name: str
    ours: float  # median, in seconds
    other: float  # the same of the library that we compare with
    other_name: str
    ratio: float  # of the medians
    quartiles: tuple[float, float]  # of the ratios, round by round
    rounds: int
    aim: float  # the ratio should be at most that

    @property
    def is_reached(self) -> bool:
        return self.ratio <= self.aim


@dataclass(frozen=True)
class Effort:
    """How much time a row may take."""

    seconds: float = 9.0
    least_rounds: int = 5
    sample: float = 0.02  # seconds: quick operations are repeated to take so long in each round


def seconds_of(operation: Operation, number: int) -> float:
    """The time of one operation, measured over several, until the device has finished the last."""
    start = time.perf_counter()
    for _ in range(number):
        result = operation()
    wait_for(result)
    return (time.perf_counter() - start) / number


def wait_for(result: Any) -> None:
    """Wait for the arrays in a result; lists, tuples and dicts may hold them."""
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, list | tuple):
        for part in result:
            wait_for(part)
    elif hasattr(result, "block_until_ready"):
        result.block_until_ready()


def interleaved(
    ours: Operation, other: Operation, sampler: Sampler, effort: Effort
) -> list[tuple[float, float]]:
    """Seconds of the two operations, round by round, for as long as the effort says."""
    numbers = [repetitions(operation, sampler, effort) for operation in (ours, other)]
    gc.collect()
    gc.freeze()  # the collector should not look through the modules of both again and again
    pairs: list[tuple[float, float]] = []
    end = time.perf_counter() + effort.seconds
    while len(pairs) < effort.least_rounds or time.perf_counter() < end:
        pairs.append((sampler(ours, numbers[0]), sampler(other, numbers[1])))
    gc.unfreeze()
    return pairs


def repetitions(operation: Operation, sampler: Sampler, effort: Effort) -> int:
    """How often to run an operation in one round; runs it, which also warms it up."""
    sampler(operation, 1)
    once = sampler(operation, 1)
    return max(1, math.ceil(effort.sample / once))


def figure(name: str, other_name: str, aim: float, pairs: Sequence[tuple[float, float]]) -> Figure:
    """The summary of the rounds."""
    ours, other = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratios = [a / b for a, b in pairs] * 2  # twice, for one round would have no quartiles
    low, _, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return Figure(name, ours, other, other_name, ours / other, (low, high), len(pairs), aim)


# Reports ----------------------------------------------------------------------------------------

HEAD = f"{'':50} {'minijax':>9} {'other':>9}  {'ratio':>5}  {'quartiles':14} {'aim':>5}"


def table_line(row: Figure) -> str:
    """One line of the table below `HEAD`."""
    name = f"{row.name}, to {row.other_name}"
    low, high = row.quartiles
    spread = f"{low:.2f} to {high:.2f}"
    verdict = "reached" if row.is_reached else "not reached"
    times = f"{duration(row.ours):>9} {duration(row.other):>9}"
    return f"{name:50} {times}  {row.ratio:5.2f}  {spread:14} {row.aim:5.2f}  {verdict}"


def duration(seconds: float) -> str:
    """A time with a unit that suits it.

    >>> duration(0.00001234), duration(1.234)
    ('12.3 us', '1.23 s')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"


def printed(rows: Iterable[Row], line: Callable[[Row], str]) -> list[Row]:
    """The rows, each of them printed as soon as it is there."""
    found = []
    for row in rows:
        print(line(row), flush=True)
        found.append(row)
    return found


def last_rows(report: Path) -> list[dict[str, Any]]:
    """The rows of the run before, as `keep` wrote them; none if there was no such run."""
    return json.loads(report.read_text(encoding="utf-8"))["rows"] if report.exists() else []


def keep(
    report: Path, rows: Sequence[dict[str, Any]], packages: Sequence[str], **more: Any
) -> None:
    """Write a run's rows, one a line, with its date, the versions and the kind of machine."""
    about = {
        "date": date.today().isoformat(),
        "versions": {"python": platform.python_version(), **{p: version(p) for p in packages}},
        "machine": {
            "system": platform.system(),
            "architecture": platform.machine(),
            "processor": processor(),
            "cores": os.cpu_count(),
        },
        **more,
        "rows": "ROWS",
    }
    lines = ",\n    ".join(map(json.dumps, rows))
    text = json.dumps(about, indent=2).replace('"ROWS"', f"[\n    {lines}\n  ]")
    report.parent.mkdir(parents=True, exist_ok=True)
    report.write_text(f"{text}\n", encoding="utf-8")
    print(f"The figures are in {report}.")


def processor() -> str:
    """The processor's model, where Linux says it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor()
