"""The archives of a release: one for students, one for instructors.

They hold files as the repository tracks them, and work without git. Students get what learns and
checks; the hidden suites, the grader's front doors and the tests of this project stay out.
"""

import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

from autograder.lessons import places
from autograder.lessons.problem import Problem

WHEN = (1980, 1, 1, 0, 0, 0)  # the same files are the same archive, whenever it is made
ONLY_HERE = (".", "tests/", "benchmarks/", "docs/")
LEFT_OUT = {
    "instructors": ONLY_HERE,
    "students": (
        *ONLY_HERE,
        *("autograder/classroom/", "autograder/hidden/", "autograder/upkeep/"),
        *("course/instructor/", "site/lighthouse/", "site/runner/", "mkdocs.yml"),
    ),
}


def build(out: Path) -> list[Path]:
    """Write `jaxprentice-VERSION-WHO.zip` for each in the table; each file whole, or not at all."""
    files = [*_tracked()]
    out.mkdir(parents=True, exist_ok=True)
    made = []
    for who, left_out in LEFT_OUT.items():
        name = f"jaxprentice-{places.VERSION}-{who}"
        part = out / f".{name}.part"
        try:
            _pack(part, name, [path for path in files if not path.startswith(left_out)])
            made.append(part.replace(out / f"{name}.zip"))
        finally:
            part.unlink(missing_ok=True)
    return made


def _tracked() -> Iterator[str]:
    command = ["git", "-C", str(places.ROOT), "ls-files", "-z"]
    try:
        listed = subprocess.run(command, check=True, capture_output=True).stdout.decode()
    except (OSError, subprocess.CalledProcessError):
        raise Problem(
            "An archive holds what git tracks, and git finds no repository here. "
            "Install git, and run this in a clone of the repository."
        ) from None
    for path in filter(None, listed.split("\0")):
        if (places.ROOT / path).is_file():
            yield path


def _pack(archive: Path, top: str, files: list[str]) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in files:
            entry = zipfile.ZipInfo(f"{top}/{path}", WHEN)
            entry.external_attr = (places.ROOT / path).stat().st_mode << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(entry, (places.ROOT / path).read_bytes())
