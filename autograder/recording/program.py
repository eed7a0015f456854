"""The recording of a program from its text."""

import ast
import contextlib
import functools
import importlib
import io
import linecache
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograder.recording import calls
from autograder.recording.memory import Memory
from autograder.recording.patches import recording
from autograder.recording.steps import VERSION, Record, exercise_of
from autograder.recording.values import cut

PACKAGES = ("minijax", "microjax")
HERE = Path(__file__).parent


def record(
    source: str, name: str, *, watch: Sequence[str] = (), memory: bool = False
) -> dict[str, Any]:
    """Run a program's text and record it: the document, with the program and how it ended.

    What is recorded is the package that the program imports, of several the first one; besides,
    calls of the functions in `watch`, and the memory that arrays take.
    """
    modules = imported(source)
    wanted = [package for package in PACKAGES if package in {x.split(".")[0] for x in modules}]
    about: dict[str, Any] = {"program": source, "file": name}
    names = {"__name__": "__main__", "__file__": name}
    with contextlib.ExitStack() as stack:
        recorder = None
        try:
            if not wanted:
                raise ImportError(f"It has to import {' or '.join(PACKAGES)}, to be recorded.")
            code = compile(source, name, "exec")
            linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
            load(modules, wanted[0])
            recorder = stack.enter_context(recording(wanted[0]))
            recorder.file, recorder.memory = name, Memory() if memory else None
            stack.enter_context(calls.watching(recorder, watch))
            stack.enter_context(contextlib.redirect_stdout(Printed(recorder)))
            exec(code, names)
            print(end="", flush=True)
        except (Exception, SystemExit) as error:
            about["error"] = error_facts(error, name)
    empty = {"format": "jaxprentice-recording", "version": VERSION, "steps": []}
    return {**(recorder.document() if recorder else empty), **about}


def load(modules: set[str], package: str) -> None:
    """Load what a program imports of a package, so that all of it is there to be watched."""
    for module in sorted(modules):
        if module.startswith(f"{package}."):
            with contextlib.suppress(ImportError):  # which the program will meet itself
                importlib.import_module(module)


def imported(source: str) -> set[str]:
    """The modules that a program imports, of which a text that is not Python has none."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except SyntaxError:
        return set(PACKAGES)  # which is told when it is compiled
    plain = [name.name for node in nodes if isinstance(node, ast.Import) for name in node.names]
    whole = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return {*plain, *whole}


def error_facts(error: BaseException, name: str) -> dict[str, Any]:
    """An error that ended the program, with the lines that led to it, without our own."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if Path(f.filename).parent != HERE and "contextlib" not in f[0]]
    facts = {
        "type": type(error).__name__,
        "message": cut(str(error), 1000),
        "frames": [{"file": f.filename, "line": f.lineno, "name": f.name} for f in own],
    }
    return {**facts, **({"missing": missing} if (missing := exercise_of(error)) else {})}


class Printed(io.TextIOBase):
    """What the program prints becomes steps, a line each."""

    def __init__(self, recorder: Record) -> None:
        self.recorder = recorder
        self.rest = ""

    def write(self, text: str) -> int:
        """Take a text as a program prints it."""
        *lines, self.rest = (self.rest + text).split("\n")
        for line in lines:
            self.recorder.add("print", functools.partial(dict, text=line))
        return len(text)

    def flush(self) -> None:
        """Take what was printed without an end of its line."""
        if self.rest:
            self.write("\n")
