"""What a run shows: how the loss falls, what has been learned on the way, and who did the work.

In a terminal the loss is one line that moves. Anywhere else it is a few lines.
"""

import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

import numpy as np

WIDTH = 24  # of the bar
LINES = 5  # that are printed where there is no terminal
SHADES = " .:+#@"  # from white to black


class Progress:
    """The bar and the loss of a run of so many steps."""

    def __init__(self, steps: int, out: TextIO | None = None) -> None:
        self.steps = steps
        self.out = out or sys.stdout
        self.live = self.out.isatty()

    def __call__(self, number: int, loss: float) -> None:
        """Show that step `number` (from 1) is done, and its loss."""
        done = WIDTH * number // self.steps
        bar = "#" * done + "." * (WIDTH - done)
        line = f"[{bar}] step {number} of {self.steps}  loss {loss:.6f}"
        if self.live:
            self.out.write(f"\r{line[: shutil.get_terminal_size().columns - 1]}")
            self.out.write("\n" if number == self.steps else "")
            self.out.flush()
        elif number == 1 or number * LINES // self.steps > (number - 1) * LINES // self.steps:
            self.out.write(f"{line}\n")

    def say(self, text: str) -> None:
        """Print something between two steps."""
        self.out.write("\n" if self.live else "")
        self.out.write(f"{text}\n")


def drawn(pictures: Sequence[np.ndarray], titles: Sequence[str]) -> str:
    """Pictures of 8 by 8 numbers from 0 to 1, side by side below their titles."""
    shades = [np.minimum((p.reshape(8, 8) * len(SHADES)).astype(int), 5) for p in pictures]
    rows = [
        ["".join(2 * SHADES[x] for x in picture[row]) for picture in shades] for row in range(8)
    ]
    lines = ["   ".join(row) for row in [[f"{title:16}" for title in titles], *rows]]
    return "\n".join(line.rstrip() for line in lines)


# ------------------------------------------------------------------------------------------
# Which functions of a package ran


@contextmanager
def counted(package: Path) -> Iterator[Counter[tuple[str, str]]]:
    """Count the calls of a package's functions, by (file, qualified name), inside the block."""
    calls: Counter[tuple[str, str]] = Counter()
    start = str(package)

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(start) and code.co_name[0] != "<":
            calls[Path(code.co_filename).name, code.co_qualname] += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield calls
    finally:
        sys.setprofile(before)


def who_ran(calls: Counter[tuple[str, str]], mine: Callable[[str, str], bool]) -> str:
    """The student's own functions that ran, file by file, those called most often first."""
    own: dict[str, list[str]] = {}
    for (file, name), count in calls.most_common():
        if mine(file, name):
            own.setdefault(file, []).append(f"{name} {count}")
    return "\n".join(f"  {file:13} {', '.join(names[:6])}" for file, names in own.items())


# ------------------------------------------------------------------------------------------
# Beside JAX


def beside(name: str, own: dict[str, Any], other: dict[str, Any]) -> str:
    """Times and losses of your own run next to JAX's, as they are stored."""
    rows = [f"{'':10}{'trace ms':>10}{'compile ms':>12}{'step ms':>9}   last loss"]
    for who, run in ((name, own), ("JAX", other)):
        trace, compiled, step = (1e3 * run["times"][part] for part in ("trace", "compile", "step"))
        rows.append(f"{who:10}{trace:10.1f}{compiled:12.1f}{step:9.2f}   {run['losses'][-1]:.15f}")
    far = max(abs(a - b) for a, b in zip(own["losses"], other["losses"], strict=True))
    steps = len(own["losses"])
    rows.append(
        f"All {steps} losses are equal, digit for digit."
        if far == 0
        else f"No two of the {steps} losses differ by more than {far:.0e}."
    )
    return "\n".join(rows)
