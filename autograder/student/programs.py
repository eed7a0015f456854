"""Programs on the student's own modules: `trace` shows what happens inside, `run` just runs them.

Each runs in a process of its own, in the current folder, and finds the workspace's packages first.
"""

import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from typing import Any

from autograder import recording
from autograder.lessons import assemble, drawing, manifest, places, stepper, user_files
from autograder.lessons.manifest import BLANK, Lesson
from autograder.lessons.problem import Problem
from autograder.student import from_nothing, run_program, screen, workspace
from autograder.student.workspace import Workspace


@dataclass(frozen=True)
class Program:
    """A program's text, and the name under which its lines are told."""

    text: str
    name: str


def read(file: Path | None, code: str | None) -> Program:
    """The program in a file, or the one on the command line."""
    if (file is None) == (code is None):
        raise Problem('Give a program: the name of a file, or -c "...".')
    if code is not None:
        return Program(code, "your program")
    assert file
    if not user_files.is_there(file) or file.is_dir():
        raise Problem(f"There is no file {file}. Give the name of a program.")
    return Program(user_files.text(file), str(file))


def need_modules(place: Workspace, program: Program) -> None:
    """Complain if the program's package lacks a module, under its own name."""
    for lesson in manifest.load().values():
        uses = lesson.exercises and lesson.package in program.text
        if uses and not place.page(lesson) and not place.file(lesson).exists():
            found = place.renamed(lesson)
            raise Problem(f"There is no {lesson.module}. Rename {found} to {lesson.module}.")


def trace(
    place: Workspace, program: Program, level: int | None, only: Sequence[str],
    depth: int | None, as_json: bool, page: Path | None,
) -> int:  # fmt: skip
    """Show what each operation of a program did; the exit status is 1 if it did not end well."""
    need_modules(place, program)
    document = record(place, program)
    steps = drawing.chosen(document["steps"], level=level, only=only)
    steps = drawing.folded(steps, depth)
    if as_json:
        print(json.dumps({**document, "steps": steps}, indent=1))
    elif page:
        workspace.write(page, stepper.page(document, steps).encode())
        print(f"The recording is in {page}. Open it in a browser.")
    else:
        tell(document, steps)
    return 1 if "error" in document else 0


def tell(document: dict[str, Any], steps: Sequence[drawing.Step]) -> None:
    """Print a recording, and how the program ended."""
    screen.print_lines(drawing.lines(steps))
    if not steps:
        print("No operation was recorded.")
    if document.get("cut"):
        print(f"Only the first {recording.LIMIT} steps are shown. Try a smaller program.")
    screen.print_lines([drawing.ending(document)])
    if missing := document.get("error", {}).get("missing"):
        print(f"Next: ./jaxprentice check {missing}")


def record(place: Workspace, program: Program) -> dict[str, Any]:
    """The recording of a program on a workspace's own modules (docs/recordings.md)."""
    with tempfile.TemporaryDirectory(prefix="trace-") as name:
        text, document = Path(name, "program.py"), Path(name, "recording.json")
        text.write_text(program.text, encoding="utf-8")
        words = [recording.SCRIPT, packages(place), text, program.name, document]
        status = subprocess.call(
            [sys.executable, "-P", "-B", *map(str, words)],
            env=environment(),
            stdin=subprocess.DEVNULL,
        )
        if not document.exists():
            raise Problem(f"The program ended Python (status {status}). Nothing was recorded.")
        return json.loads(document.read_text(encoding="utf-8"))


# ------------------------------------------------------------------------------------------
# Running


def run(place: Workspace, file: Path, on: str | None, options: Sequence[str]) -> int:
    """Run a program on the student's minijax; with `on="jax"` on JAX as well, and compare."""
    program = read(file, None)
    need_modules(place, program)
    if on is None:
        status = subprocess.call(command(place, file, "minijax", options), env=environment())
        return status if status >= 0 else 1
    if on != "jax":
        raise Problem(f"A program cannot run on {on}. Write --on jax, or leave it out.")
    if not re.search(r"(?m)^\s*(import|from) +(minijax|jax)\b", program.text):
        raise Problem(
            f"{file} imports neither minijax nor jax, so there is nothing to compare. "
            "Leave out --on jax."
        )
    need_jax()
    return compare(*(ended(place, file, backend, options) for backend in ("minijax", "jax")))


def need_jax() -> None:
    """Complain, with how to install it, unless JAX is there."""
    if find_spec("jax") is None:
        version = metadata.version("jaxlib")
        raise Problem(
            "JAX is not installed with the course. To compare with it, run once: "
            f'"{sys.executable}" -m pip install jax=={version}'
        )


@dataclass(frozen=True)
class End:
    """What a program printed, and the error that ended it."""

    printed: list[str]
    errors: str  # what Python printed of it
    error: str  # its class; "" if there was none


def command(
    place: Workspace, file: Path, backend: str, options: Sequence[str], report: Path | str = ""
) -> list[str]:
    """How a program is run with its options; `report` gets how it ended, if one is named."""
    words = [run_program.__file__, str(packages(place)), str(file), backend, str(report)]
    return [sys.executable, "-P", "-B", *words, *options]


def ended(place: Workspace, file: Path, backend: str, options: Sequence[str]) -> End:
    """Run a program to its end, on one of the two."""
    with tempfile.TemporaryDirectory(prefix="run-") as name:
        report = Path(name, "report.json")
        done = subprocess.run(
            command(place, file, backend, options, report),
            env=environment() | {"JAX_PLATFORMS": "cpu"}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, encoding="utf-8", errors="replace", check=False,
        )  # fmt: skip
        end = f"the end of Python (status {done.returncode})"
        error = report.read_text(encoding="utf-8") if report.exists() else end
    return End(done.stdout.splitlines(), done.stderr, error)


def compare(own: End, jax: End) -> int:
    """Print what the own modules gave, and where JAX's differ; the exit status is 1 if they do."""
    screen.print_lines(own.printed)
    screen.print_lines(own.errors.splitlines()[-1:])
    print("-" * 40)
    told = differences(own, jax)
    screen.print_lines(told or [f"JAX {metadata.version('jax')} prints the same."])
    return 1 if told else 0


def differences(own: End, jax: End) -> list[str]:
    """Where two ends differ: the first line that does, and the error."""
    told = []
    if own.error != jax.error:
        told += labelled("It ends differently.", own.error or "no error", jax.error or "no error")
    pairs = zip_longest(own.printed, jax.printed, fillvalue="(nothing)")
    for number, (mine, theirs) in enumerate(pairs, 1):
        if not alike(mine, theirs):
            return [*told, *labelled(f"Line {number} differs.", mine, theirs)]
    return told


def labelled(what: str, own: str, jax: str) -> list[str]:
    """What differs, then both sides."""
    return [what, f"  yours: {own}", f"  JAX's: {jax}"]


NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")
CLOSE = 1e-6  # how far two numbers may be apart, relative to their size


def alike(own: str, jax: str) -> bool:
    """Whether two lines are the same, but for spaces and the last digits of numbers."""
    if NUMBER.sub("#", own).split() != NUMBER.sub("#", jax).split():
        return False
    pairs = zip(NUMBER.findall(own), NUMBER.findall(jax), strict=True)
    return all(math.isclose(float(a), float(b), rel_tol=CLOSE, abs_tol=1e-12) for a, b in pairs)


# ------------------------------------------------------------------------------------------
# Where


def packages(place: Workspace) -> Path:
    """Where the packages are; outside a workspace the course's own are taken.

    In the blank way it is a copy, in which all that is not written yet has a stand-in.
    """
    if not place.own:
        return places.SOLUTIONS
    lessons = [x for x in manifest.load().values() if x.exercises and place.way(x) == BLANK]
    return blank_copy(place, lessons) if lessons else place.root


def blank_copy(place: Workspace, lessons: Sequence[Lesson]) -> Path:
    """A copy of the packages that can be imported; one file from nothing is its whole package."""
    folder = place.folder / "packages"
    shutil.rmtree(folder, ignore_errors=True)
    pages = {page for lesson in lessons if (page := place.page(lesson))}
    known = {x.package for x in manifest.load().values() if x.package}
    for package in known - {x.id for x in pages}:
        shutil.copytree(place.root / package, folder / package)
    for page in pages:
        workspace.write(folder / f"{page.id}.py", from_nothing.source(place, page))
    own = {x.module: place.source(x) for x in lessons if not place.page(x)}
    assemble.write_files(folder, assemble.completed(own))
    return folder


def environment() -> dict[str, str]:
    """The environment without what changes how Python finds modules."""
    return {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")} | {"PYTHONUTF8": "1"}
