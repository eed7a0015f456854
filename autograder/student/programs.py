"""Programs on the student's own modules: `trace` shows what happens inside, `run` just runs them.

Each runs in a process of its own, in the current folder, and finds the workspace's packages first.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.lessons import drawing, places, recorder
from autograder.lessons.problem import Problem
from autograder.student import screen
from autograder.student.workspace import Workspace


@dataclass(frozen=True)
class Program:
    """A program's text, and the name under which its lines are told."""

    text: str
    name: str


@dataclass(frozen=True)
class View:
    """How to show a recording; everything, if nothing is said."""

    level: int | None = None
    only: tuple[str, ...] = ()
    depth: int | None = None
    as_json: bool = False
    page: Path | None = None


def read(file: Path | None, code: str | None) -> Program:
    """The program in a file, or the one on the command line."""
    if (file is None) == (code is None):
        raise Problem('Give a program: the name of a file, or -c "...".')
    if code is not None:
        return Program(code, "your program")
    assert file
    try:
        return Program(file.read_text(encoding="utf-8"), str(file))
    except FileNotFoundError:
        raise Problem(f"There is no file {file}. Give the name of a program.") from None
    except UnicodeDecodeError:
        raise Problem(f"{file} is not a text in UTF-8. Give the name of a program.") from None


def trace(place: Workspace, program: Program, view: View) -> int:
    """Show what each operation of a program did; the exit status is 1 if it did not end well."""
    document = record(place, program)
    steps = drawing.chosen(document["steps"], level=view.level, only=view.only)
    steps = drawing.folded(steps, view.depth)
    if view.as_json:
        print(json.dumps({**document, "steps": steps}, indent=1))
    elif view.page:
        view.page.write_text(drawing.page(document, steps), encoding="utf-8")
        print(f"The recording is in {view.page}. Open it in a browser.")
    else:
        tell(document, steps)
    return 1 if "error" in document else 0


def tell(document: dict[str, Any], steps: Sequence[drawing.Step]) -> None:
    """Print a recording, and how the program ended."""
    screen.print_lines(drawing.lines(steps))
    if not steps:
        print("No operation was recorded.")
    if document.get("cut"):
        print(f"Only the first {recorder.LIMIT} steps are shown. Try a smaller program.")
    screen.print_lines([drawing.ending(document)])


def record(place: Workspace, program: Program) -> dict[str, Any]:
    """The recording of a program on a workspace's own modules (docs/recordings.md)."""
    with tempfile.TemporaryDirectory(prefix="trace-") as name:
        text, document = Path(name, "program.py"), Path(name, "recording.json")
        text.write_text(program.text, encoding="utf-8")
        command = [recorder.__file__, str(packages(place)), str(text), program.name, str(document)]
        status = subprocess.call(
            [sys.executable, "-P", "-B", *command], env=environment(), stdin=subprocess.DEVNULL
        )
        if not document.exists():
            raise Problem(f"The program ended Python (status {status}). Nothing was recorded.")
        return json.loads(document.read_text(encoding="utf-8"))


def packages(place: Workspace) -> Path:
    """Where the packages are; outside of a workspace the course's own are taken."""
    return place.root if place.own else places.SOLUTIONS


def environment() -> dict[str, str]:
    """The environment without what changes how Python finds modules."""
    return {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")} | {"PYTHONUTF8": "1"}
