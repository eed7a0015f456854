"""What programs on pages left when they ran: in `course/outputs/`, where `sync` writes it.

Running them all takes half a minute, and a page is the same on every machine. What belongs to
another program than that in the tree, such as a page that is being written, is kept in `build/`.
"""

import functools
import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any

from autograder.lessons import places

FOLDER = "course/outputs"


@dataclass(frozen=True)
class Place:
    """Where it is found what one program left, with a hash of all on which that depends."""

    lesson: str  # its id
    name: str  # such as "examples/jvp"
    mark: str

    @property
    def path(self) -> Path:
        """The file in `build/`."""
        return places.ROOT / "build" / f"{self.name}.json"

    @property
    def local_mark(self) -> str:
        """The hash with Python and with the libraries that compute, which are this machine's."""
        versions = [sys.version, *(metadata.version(name) for name in ("numpy", "jaxlib"))]
        return sha256(json.dumps([self.mark, versions]).encode()).hexdigest()

    def read(self) -> Any | None:
        """What is kept, if it is of the same program; else None."""
        given = _given(self.lesson).get(self.name)
        if given and given["of"] == self.mark:
            return given["left"]
        try:
            kept = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            kept = {"of": ""}
        return kept["left"] if kept["of"] == self.local_mark else _unwritten.get(self.local_mark)

    def write(self, left: Any) -> None:
        """Keep it; for this process only, if this copy of the course belongs to another user."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            new = self.path.with_suffix(f".{os.getpid()}")
            new.write_text(json.dumps({"of": self.local_mark, "left": left}), encoding="utf-8")
            new.replace(self.path)
        except OSError:
            _unwritten[self.local_mark] = left

    def left(self, run: Callable[[], Any]) -> Any:
        """What is kept; else what `run` returns, which is kept then."""
        found = self.read()
        if found is None:
            found = run()
            self.write(found)
        return found


_unwritten: dict[str, Any] = {}  # by mark


def place(lesson: str, name: str, *depends: Any) -> Place:
    """Where something is kept that depends on these."""
    return Place(lesson, name, sha256(json.dumps(depends).encode()).hexdigest()[:16])


def _given(lesson: str) -> Mapping[str, Any]:
    """What came with the course, by name."""
    path = places.ROOT / FOLDER / f"{lesson}.json"
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
