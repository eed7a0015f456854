"""What programs on pages leave when they run: in `course/outputs/`, where `sync` writes it.

Running them all takes half a minute, and a page is the same on every machine. What belongs to
another program than that in the tree, such as a page that is being written, runs in each process
that asks for it.
"""

import functools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from autograder.lessons import assemble, places
from autograder.lessons.problem import Problem

FOLDER = "course/outputs"
PATIENCE = 300  # seconds for all that one process runs


@dataclass(frozen=True)
class Place:
    """Where it is found what one program left, with a hash of all on which that depends."""

    lesson: str  # its id
    name: str  # such as "examples/jvp"
    mark: str

    def left(self, run: Callable[[], Any]) -> Any:
        """What came with the course, if it is of the same program; else what `run` returns once."""
        given = _given(places.ROOT / FOLDER / f"{self.lesson}.json").get(self.name)
        if given and given["of"] == self.mark:
            return given["left"]
        if self not in _known:
            _known[self] = run()
        return _known[self]


_known: dict[Place, Any] = {}


def place(lesson: str, name: str, *depends: Any) -> Place:
    """Where something is kept that depends on these."""
    return Place(lesson, name, sha256(json.dumps(depends).encode()).hexdigest()[:16])


def _given(path: Path) -> Mapping[str, Any]:
    """What came with the course, by name."""
    return _parsed(path, path.stat().st_mtime_ns) if path.exists() else {}


@functools.lru_cache(64)
def _parsed(path: Path, changed: int) -> Mapping[str, Any]:
    """A file as it was at this time; nothing of one that a merge has left in pieces."""
    try:
        found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return {}
    return found


def text(found: Mapping[Place, Any]) -> str:
    """A lesson's file: a line for each example, and for each recording."""
    entries = []
    for where, left in found.items():
        lines = ",\n".join(map(_line, left)) if isinstance(left, list) else _line(left)
        around = f"[\n{lines}\n]" if isinstance(left, list) else lines
        entries.append(f'"{where.name}": {{"of": "{where.mark}", "left": {around}}}')
    return "{\n" + ",\n".join(entries) + "\n}\n"


def _line(left: Any) -> str:
    return json.dumps(left, separators=(",", ":"), ensure_ascii=False)


def run(
    what: str, files: assemble.Files, script: str, text: str, name: str = "", *options: str,
    xla_flags: str = "",
) -> Any:  # fmt: skip
    """What a script makes of a text, as JSON, in a process of its own beside these files.

    The command line is `script FOLDER TEXT NAME DOCUMENT [OPTIONS]`. Raises Problem, with `what` as
    its subject, if there is no document in the end.
    """
    with tempfile.TemporaryDirectory(prefix="page-") as folder:
        assemble.write_files(Path(folder), files)
        source, document = Path(folder, "program.txt"), Path(folder, "document.json")
        source.write_text(text, encoding="utf-8")
        words = [script, folder, str(source), name, str(document), *options]
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-B", *words], cwd=folder, stdin=subprocess.DEVNULL,
                env=os.environ | {"XLA_FLAGS": xla_flags}, timeout=PATIENCE,
                capture_output=True, text=True, encoding="utf-8", check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise Problem(f"{what} takes over {PATIENCE} seconds.") from None
        if document.exists():
            return json.loads(document.read_text(encoding="utf-8"))
        last = (done.stderr.strip().splitlines() or ["it gave no reason"])[-1]
        raise Problem(f"{what} fails ({last.rstrip('.')}). Change it.")
