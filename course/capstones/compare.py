"""Runs the capstones on each backend, and compares their losses and their times.

    python capstones/compare.py [--backends minijax jax mine] [--plot times.svg]

Each run has a process of its own, so that none finds what another has compiled.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from training import BACKENDS, HERE

PROGRAMS = ("digits", "characters", "heat")
PARTS = ("trace", "compile", "step")
SAME = 1e-6  # how far losses may be apart

Runs = dict[tuple[str, str], dict[str, Any]]  # what was saved, by program and backend


def main() -> None:
    """Run everything, print the table, and draw the plot."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--backends", nargs="+", choices=BACKENDS, default=BACKENDS)
    parser.add_argument("--plot", type=Path, default=Path("times.svg"), metavar="FILE")
    options = parser.parse_args()
    runs = {
        (program, backend): run
        for program in PROGRAMS
        for backend in options.backends
        if (run := measured(program, backend))
    }
    if not runs:
        sys.exit("No program has run. The reasons stand above.")
    print(table(runs))
    options.plot.write_text(plot(runs), encoding="utf-8")
    print(f"\nThe plot is {options.plot}.")


def measured(program: str, backend: str) -> dict[str, Any] | None:
    """What a run of a hundred steps saves; None, and a line that says why, if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder, "run.json")
        command = [sys.executable, str(HERE / f"{program}.py"), "--backend", backend]
        command += ["--steps", "100", "--save", str(saved)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            found: dict[str, Any] = json.loads(saved.read_text(encoding="utf-8"))
            return found
    print(f"{program} on {backend}: {(done.stderr.strip().splitlines() or ['it failed'])[-1]}")
    return None


def distance(runs: Runs, program: str, backend: str) -> float:
    """How far the losses are from those of the first backend that has run the program."""
    first = next(run for (name, _), run in runs.items() if name == program)
    pairs = zip(first["losses"], runs[program, backend]["losses"], strict=True)
    return max(abs(a - b) for a, b in pairs)


def table(runs: Runs) -> str:
    """A line for each run, times in milliseconds."""
    rows = [f"{'':12}{'':9}{'trace ms':>10}{'compile ms':>12}{'step ms':>9}  losses"]
    for (program, backend), run in runs.items():
        trace, compiled, step = (1e3 * run["times"][part] for part in PARTS)
        same = distance(runs, program, backend) <= SAME
        verdict = "agree" if same else "DIFFER"
        times = f"{trace:10.1f}{compiled:12.1f}{step:9.2f}"
        rows.append(f"{program:12}{backend:9}{times}  {verdict}")
    return "\n".join(rows)


# ------------------------------------------------------------------------------------------
# The plot: a bar for each time, their lengths by the logarithm

COLOURS = {"minijax": "#3f6fb5", "jax": "#c2622d", "mine": "#3c8a55"}
LEFT, RIGHT, LINE = 120, 285, 22  # where bars begin, how long they may be, and how high they are


def plot(runs: Runs) -> str:
    """The times as an SVG picture."""
    pieces, y = [], 30
    for program in dict.fromkeys(name for name, _ in runs):
        backends = [backend for name, backend in runs if name == program]
        for part in PARTS:
            pieces.append(_text(10, y, f"{program}, {part}", "600"))
            for backend in backends:
                y += LINE
                pieces += _bar(y, backend, runs[program, backend]["times"][part])
            y += LINE + 8
    names = ", ".join(sorted({backend for _, backend in runs}))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 500 {y}" role="img" '
        'font-family="system-ui, sans-serif" font-size="16">\n'
        f"  <title>Times to trace, to compile and for a step: {names}</title>\n"
        f'  <rect width="500" height="{y}" rx="10" fill="#f6f7fb"/>\n'
        f"{''.join(pieces)}</svg>\n"
    )


def _bar(y: int, backend: str, seconds: float) -> list[str]:
    decades = (math.log10(max(seconds, 1e-5)) + 5) / 7  # from 10 us to 100 s
    width = max(2, round(RIGHT * decades))
    bar = f'  <rect x="{LEFT}" y="{y - 14}" width="{width}" height="16" fill="{COLOURS[backend]}"/>'
    shown = f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
    return [_text(24, y, backend), f"{bar}\n", _text(LEFT + width + 8, y, shown)]


def _text(x: int, y: int, text: str, weight: str = "400") -> str:
    return f'  <text x="{x}" y="{y}" font-weight="{weight}" fill="#1b2440">{text}</text>\n'


if __name__ == "__main__":
    main()
