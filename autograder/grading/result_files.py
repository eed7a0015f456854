"""Result documents on the disk: one JSON file for each submission, and a table of all."""

import contextlib
import csv
import functools
import io
import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

from autograder.grading.result import Result
from autograder.lessons import user_files
from autograder.lessons.problem import Problem

SCHEMA = Path(__file__).with_name("result.json")
_WRITING = ".writing-"  # begins the names of files that are not whole yet
BESIDE = "from-results"  # in the results of a course directory, what is not the gradebook's
MADE = ".made-by-jaxprentice"  # marks folders that are made anew from results


def write(result: Result, folder: Path) -> Path:
    """Write a result to `folder/<student>.json`: whole or not at all."""
    path = folder / f"{file_name(result['student'])}.json"
    text = json.dumps(result, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    if not (path.is_file() and path.read_bytes() == text.encode()):
        write_text(path, text)
    return path


def is_file_name(name: str) -> bool:
    """Can this be the name of a file in a folder, and of nothing outside it?"""
    plain = name.isprintable() and not set(name) & set('/\\:*?"<>|')
    return plain and name not in ("", ".", "..") and len(name.encode()) <= 200


def file_name(student: str) -> str:
    """The name of a student's file, without its ending: the student's own."""
    if not is_file_name(student):
        raise Problem(f"{student!r} cannot name a file. Give the student a different name.")
    return student


def write_text(path: Path, text: str) -> None:
    """Write a file, for its owner's eyes, so that no reader and no crash meets half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=_WRITING)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)  # noqa: PTH105
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def private(folder: Path) -> None:
    """Make a folder that only its owner can look into, unless it is there already."""
    if not folder.exists():
        folder.mkdir(parents=True)
        folder.chmod(0o700)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Have a folder of results for oneself; a lock ends with its process, however that ends.

    Raises Problem while another grader has the folder. What a killed one left half written goes.
    """
    private(folder)
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


def read(path: Path) -> Result:
    """Read a result and check it against the schema."""
    if not user_files.is_there(path):
        raise Problem(f"There is no result {path}. Run `./jaxprentice grade` first.")
    result = user_files.document(path)
    try:
        _validator()(result)
    except ValueError as error:
        raise Problem(
            f"{path} is not a result file: {error}. Grade the submission again."
        ) from None
    return result


@functools.cache
def _validator() -> Callable[[object], object]:
    """The schema as a function, which raises a kind of ValueError.

    A class has thousands of results: fastjsonschema is twenty times as fast here as jsonschema.
    """
    import fastjsonschema

    return fastjsonschema.compile(json.loads(SCHEMA.read_text(encoding="utf-8")))


def read_all(folder: Path) -> list[Result]:
    """All results of a folder, sorted by student."""
    return sorted(map(read, paths(folder)), key=lambda result: result["student"])


def paths(folder: Path) -> list[Path]:
    """The files of results in a folder."""
    return [path for path in folder.glob("*.json") if not path.name.startswith(".")]


def by_lesson(folder: Path) -> dict[str, list[Result]]:
    """The results in a folder and the folders inside it, by lesson, in the order of the course."""
    from autograder.lessons import manifest

    found: dict[str, list[Result]] = {}
    for path in [path for place in _places(folder) for path in paths(place)]:
        result = read(path)
        found.setdefault(result["lesson"], []).append(result)
    if not found:
        raise Problem(f"There are no results in {folder}. Give the folder that `grade` wrote.")
    for lesson, results in found.items():
        _check_single(lesson, [result["student"] for result in results], folder)
        results.sort(key=lambda result: result["student"])
    known = [name for name in manifest.load() if name in found]
    return {name: found[name] for name in [*known, *sorted(set(found) - set(known))]}


def _places(folder: Path, above: tuple[str, ...] = ()) -> Iterator[Path]:
    """A folder and the folders inside it, but for hidden ones and for what is made of results.

    A link to one of those `above` it leads nowhere new.
    """
    if (real := os.path.realpath(folder)) in above:
        return
    yield folder
    for place in sorted(path for path in folder.glob("*") if path.is_dir()):
        if not place.name.startswith(".") and not (place / MADE).exists():
            yield from _places(place, (*above, real))


def _check_single(lesson: str, students: list[str], folder: Path) -> None:
    twice = sorted(student for student, count in Counter(students).items() if count > 1)
    if twice:
        raise Problem(
            f"{folder} holds two results of {twice[0]} in {lesson}. Give a folder with one of each."
        )


@contextlib.contextmanager
def made_whole(folder: Path) -> Iterator[Path]:
    """A new folder to write into, which takes the place of `folder` at the end: whole, or not.

    What was made like this before is replaced; anything else that is there is a Problem.
    """
    if folder.exists() and not (folder / MADE).exists() and any(folder.iterdir()):
        raise Problem(f"{folder} exists and is not empty. Move it away, or give another folder.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as name:
        new = Path(name, "new")
        private(new)
        (new / MADE).touch()
        yield new
        if folder.exists():
            folder.replace(Path(name, "old"))
        new.replace(folder)


def grades_csv(folder: Path) -> Path:
    """Write `folder/grades.csv`: one row for each result, one column for each exercise."""
    found = read_all(folder)
    ids = list(dict.fromkeys(e["id"] for result in found for e in result["exercises"]))
    head = ["student", "lesson", "score", "max_score", "isolation"]
    path = folder / "grades.csv"
    rows = [[*head, *ids], *(_row(result, head, ids) for result in found)]
    write_text(path, table(rows))
    return path


def _row(result: Result, head: list[str], ids: list[str]) -> list[Any]:
    facts: dict[str, Any] = {**result}
    points = {exercise["id"]: exercise["points"] for exercise in result["exercises"]}
    return [*(facts[name] for name in head), *(points.get(name, "") for name in ids)]


def table(rows: list[list[Any]]) -> str:
    """The text of a CSV file, in which no cell is a formula."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([[_cell(x) for x in row] for row in rows])
    return text.getvalue()


def _cell(value: Any) -> Any:
    """A text on one line, which a spreadsheet shows: what begins like a formula is computed.

    Some spreadsheets end a cell at a semicolon, whatever this one means by it.
    """
    if not isinstance(value, str):
        return value
    return _FORMULA.sub("\\1'", re.sub(r"[\t\r\n]", " ", value))


def as_written(text: str) -> str:
    """A text as it was before `table` made it a cell, but for tabs and ends of lines."""
    return _GUARDED.sub("\\1", text)


_SIGNS = "=+@\uff1d\uff0b\uff0d\uff20-"
_BEFORE = rf"(?=[\s\"'\u200b-\u200f\u2060\ufeff]*[{_SIGNS}])"
_FORMULA = re.compile(rf"(^|[;,|]){_BEFORE}")
_GUARDED = re.compile(rf"(^|[;,|])'{_BEFORE}")
