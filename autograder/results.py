"""Result documents on the disk: one JSON file for each submission, and a table of all."""

import contextlib
import csv
import functools
import io
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

from autograder.edition import Problem

SCHEMA = Path(__file__).parent / "schema" / "result.json"
_WRITING = ".writing-"  # begins the names of files that are not whole yet


def write(result: dict[str, Any], folder: Path) -> Path:
    """Write a result to `folder/<student>.json`: whole or not at all."""
    student = result["student"]
    if not is_file_name(student):
        raise Problem(f"{student!r} cannot name a file. Rename the submission's folder.")
    path = folder / f"{student}.json"
    write_text(path, json.dumps(result, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    return path


def is_file_name(name: str) -> bool:
    """Can this be the name of a file in a folder, and of nothing outside it?"""
    plain = name.isprintable() and not set(name) & set('/\\:*?"<>|')
    return plain and name not in ("", ".", "..") and len(name.encode()) <= 200


def write_text(path: Path, text: str) -> None:
    """Write a file so that a reader, or a crash, never meets half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=_WRITING)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)  # noqa: PTH101  # mkstemp's files are for the owner only
        os.replace(name, path)  # noqa: PTH105
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Have a folder of results for oneself; a lock ends with its process, however that ends.

    Raises Problem while another grader has the folder. What a killed one left half written goes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("ab") as lock:
        try:
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Problem(
                f"Another grader is writing to {folder}. Wait until it has ended, then run the "
                "same command again."
            ) from None
        for path in folder.glob(f"{_WRITING}*"):
            path.unlink()
        yield


def read(path: Path) -> dict[str, Any]:
    """Read a result and check it against the schema."""
    import jsonschema

    try:
        result = json.loads(path.read_text(encoding="utf-8"))
        _validator().validate(result)
    except FileNotFoundError:
        raise Problem(f"There is no result {path}. Run `./jaxprentice grade` first.") from None
    except (ValueError, jsonschema.ValidationError) as error:
        reason = getattr(error, "message", str(error))
        raise Problem(f"{path} is no result: {reason}. Grade the submission again.") from None
    return result


@functools.cache
def _validator() -> Any:
    import jsonschema

    return jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def read_all(folder: Path) -> list[dict[str, Any]]:
    """All results of a folder, sorted by student."""
    return sorted(map(read, paths(folder)), key=lambda result: result["student"])


def paths(folder: Path) -> list[Path]:
    """The files of results in a folder."""
    return [path for path in folder.glob("*.json") if not path.name.startswith(".")]


def grades_csv(folder: Path) -> Path:
    """Write `folder/grades.csv`: one row for each result, one column for each exercise."""
    found = read_all(folder)
    ids = list(dict.fromkeys(e["id"] for result in found for e in result["exercises"]))
    head = ["student", "lesson", "score", "max_score", "isolation"]
    path = folder / "grades.csv"
    rows = [[*head, *ids], *(_row(result, head, ids) for result in found)]
    write_text(path, _csv(rows))
    return path


def _row(result: dict[str, Any], head: list[str], ids: list[str]) -> list[Any]:
    points = {exercise["id"]: exercise["points"] for exercise in result["exercises"]}
    return [*(result[name] for name in head), *(points.get(name, "") for name in ids)]


def _csv(rows: list[list[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
