"""Runs the capstones on each backend, and compares their losses and their times.

    python capstones/compare.py [--backends minijax jax mine] [--plots FOLDER]

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
    parser.add_argument("--plots", type=Path, default=Path(), metavar="FOLDER")
    options = parser.parse_args()
    runs = {
        (program, backend): run
        for program in PROGRAMS
        for backend in options.backends
        if (run := measured(program, backend))
    }
    if not runs:
        sys.exit("No program has run. The reasons are above.")
    print(table(runs))
    for name, picture in (("times.svg", plot(runs)), ("losses.svg", curves(runs))):
        (options.plots / name).write_text(picture, encoding="utf-8")
        print(f"Wrote {options.plots / name}.")


def measured(program: str, backend: str) -> dict[str, Any] | None:
    """What a run saves; None, and a line that says why, if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder, "run.json")
        command = [sys.executable, str(HERE / f"{program}.py"), "--backend", backend]
        command += ["--save", str(saved)]
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
DECADES = 7  # from 10 us to 100 s


def plot(runs: Runs) -> str:
    """The times as an SVG picture."""
    pieces, y = _scale(30), 60
    for program in dict.fromkeys(name for name, _ in runs):
        backends = [backend for name, backend in runs if name == program]
        for part in PARTS:
            pieces.append(_text(10, y, f"{program}, {part}", "600"))
            for backend in backends:
                y += LINE
                pieces += _bar(y, backend, runs[program, backend]["times"][part])
            y += LINE + 8
    names = ", ".join(sorted({backend for _, backend in runs}))
    return _picture(y, f"Times to trace, to compile and for a step: {names}", pieces)


def _scale(y: int) -> list[str]:
    """What the length of a bar means, with a piece that is a tenfold time."""
    piece = f'  <path d="M52 {y - 6}h{RIGHT / DECADES:.0f}" stroke="#1b2440" stroke-width="3"/>\n'
    return [
        _text(10, y, "Each"),
        piece,
        _text(101, y, "more in length is ten times as long in time"),
    ]


# ------------------------------------------------------------------------------------------
# The loss curves: a panel for each program, the loss by its logarithm

PANEL, WIDE = 90, 400  # height and width of a panel
DASHES = {"minijax": "", "jax": "3 7", "mine": "9 5"}  # so that no curve hides another


def curves(runs: Runs) -> str:
    """The losses of all runs as an SVG picture."""
    names = sorted({backend for _, backend in runs})
    pieces, y = [*_legend(names), _text(284, 30, "loss, logarithmic")], 66
    for program in dict.fromkeys(name for name, _ in runs):
        pieces.append(_text(10, y, program, "600"))
        found = {backend: run["losses"] for (name, backend), run in runs.items() if name == program}
        least, most = min(map(min, found.values())), max(map(max, found.values()))
        pieces += [_curve(y + 10, losses, least, most, name) for name, losses in found.items()]
        first, *_, last = losses = next(iter(found.values()))
        pieces += _axes(y + 10, len(losses))
        pieces.append(_text(150, y, f"loss from {first:.3g} to {last:.3g}"))
        y += PANEL + 44
    title = f"Losses, on a logarithmic scale: {', '.join(names)}"
    return _picture(y - 8, title, pieces, WIDE + 20)


def _axes(top: int, steps: int) -> list[str]:
    """The axes of a panel: losses upwards, and the steps of the training."""
    bottom = top + PANEL
    line = f'd="M10 {top}V{bottom}H{10 + WIDE}" fill="none" stroke="#1b2440" stroke-width="1"'
    last = f"step {steps}"
    return [
        f"  <path {line}/>\n",
        _text(10, bottom + 16, "step 1"),
        _text(10 + WIDE - 9 * len(last), bottom + 16, last),
    ]


def _legend(names: list[str]) -> list[str]:
    """A line for each backend, as its curves are drawn, and its name."""
    pieces = []
    for column, backend in enumerate(names):
        x = 10 + 140 * column
        pieces.append(f'  <path d="M{x} 25h36" {_style(backend)}/>\n')
        pieces.append(_text(x + 46, 30, backend))
    return pieces


def _curve(top: int, losses: list[float], least: float, most: float, backend: str) -> str:
    height = math.log(most / least) or 1.0
    points = " ".join(
        f"{10 + WIDE * i / (len(losses) - 1):.1f},{top + PANEL * math.log(most / x) / height:.1f}"
        for i, x in enumerate(losses)
    )
    return f'  <polyline points="{points}" {_style(backend)}/>\n'


def _style(backend: str) -> str:
    dashes = DASHES[backend]
    return f'fill="none" stroke="{COLOURS[backend]}" stroke-width="3" stroke-dasharray="{dashes}"'


def _picture(height: int, title: str, pieces: list[str], width: int = 500) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        'font-family="system-ui, sans-serif" font-size="16">\n'
        f"  <title>{title}</title>\n"
        f'  <rect width="{width}" height="{height}" rx="10" fill="#f6f7fb"/>\n'
        f"{''.join(pieces)}</svg>\n"
    )


def _bar(y: int, backend: str, seconds: float) -> list[str]:
    decades = math.log10(max(seconds, 1e-5)) + 5
    width = max(2, round(RIGHT * decades / DECADES))
    bar = f'  <rect x="{LEFT}" y="{y - 14}" width="{width}" height="16" fill="{COLOURS[backend]}"/>'
    shown = f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
    return [_text(24, y, backend), f"{bar}\n", _text(LEFT + width + 8, y, shown)]


def _text(x: int, y: int, text: str, weight: str = "400", fill: str = "#1b2440") -> str:
    return f'  <text x="{x}" y="{y}" font-weight="{weight}" fill="{fill}">{text}</text>\n'


if __name__ == "__main__":
    main()
