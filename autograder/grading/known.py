"""What is the same for every submission, kept on the disk: found out once on a machine.

That is what trusted trees reply, and random programs. To ask the reference all that a suite asks
takes seconds of CPU for each lesson, in each process that grades.
"""

import contextlib
import functools
import hashlib
import pickle
import sqlite3
import time
from pathlib import Path
from typing import Any

from autograder.grading.fingerprint import fingerprint
from autograder.lessons import places
from autograder.lessons.manifest import Lesson

FOLDER = places.ROOT / "build" / "known"
TABLE = "CREATE TABLE IF NOT EXISTS known (about PRIMARY KEY, hash, value)"
UNUSED = 86400.0  # seconds after which the database of an earlier state of a lesson goes


@functools.cache
def of(lesson: Lesson) -> "Known":
    """What is known of a lesson: a new database once anything changes that it depends on.

    What a handout brings along grades once, in a folder that goes afterwards: it keeps nothing.
    """
    if places.is_handout():
        return Known(None)
    return Known(FOLDER / f"{lesson.id}.{fingerprint(lesson, '')[:20]}")


class Known:
    """A database that all processes share; always empty without a file that can be written.

    An entry that is damaged is not there: each is kept with its hash.
    """

    def __init__(self, path: Path | None) -> None:
        self.database: sqlite3.Connection | None = None
        if path is None:
            return
        with contextlib.suppress(OSError, sqlite3.Error):
            path.parent.mkdir(parents=True, exist_ok=True)
            _remove_earlier(path)
            self.database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self.database.execute("PRAGMA synchronous = OFF")
            self.database.execute(TABLE)

    def get(self, about: bytes) -> Any:
        """What is known about this; None if nothing is."""
        for hashed, value in self._run("SELECT hash, value FROM known WHERE about = ?", about):
            if hashed == hashlib.sha256(value).digest():
                return pickle.loads(value)
        return None

    def put(self, about: bytes, found: Any) -> None:
        """Keep what was found out."""
        value = pickle.dumps(found)
        hashed = hashlib.sha256(value).digest()
        self._run("INSERT OR REPLACE INTO known VALUES (?, ?, ?)", about, hashed, value)

    def _run(self, command: str, *values: bytes) -> list[tuple[bytes, bytes]]:
        """The rows of a command; none where it fails, on a full disk for instance."""
        with contextlib.suppress(sqlite3.Error):
            if self.database:
                return self.database.execute(command, values).fetchall()
        return []


def _remove_earlier(path: Path) -> None:
    """Remove what was made for earlier states of the lesson."""
    for other in path.parent.glob(f"{path.name.split('.')[0]}.*"):
        if other != path and time.time() - other.stat().st_mtime > UNUSED:
            other.unlink()
