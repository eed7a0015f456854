"""The tests under every Python that is found on this machine, each in an environment of its own."""

import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.lessons import places
from autograder.lessons.problem import Problem

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
# Where Pythons are kept beside those that PATH names: pyenv's and uv's folders.
FOLDERS = (".pyenv/versions/{}*/bin/python3", ".local/share/uv/python/cpython-{}*/bin/python3")


def run(arguments: Sequence[str]) -> int:
    """Run the tests under each Python, and print a table; 1 if they failed under any.

    Each environment has the newest jaxlib that is locked for its Python.
    """
    found = {version: find(version) for version in VERSIONS}
    if not any(found.values()):
        raise Problem(f"No Python of {', '.join(VERSIONS)} was found. Install one.")
    table = {
        version: _test(version, python, arguments) if python else "not found"
        for version, python in found.items()
    }
    print()
    for version, result in table.items():
        print(f"Python {version:<6}{result:<12}{found[version]}".rstrip())
    return int("failed" in table.values())


def _test(version: str, python: str, arguments: Sequence[str]) -> str:
    print(f"Python {version} ({python})", flush=True)
    environment = {**os.environ, "JAXPRENTICE_VENV": str(places.ROOT / f".venv-{version}")}
    command = [python, str(places.ROOT / "jaxprentice"), "test", *arguments]
    return "failed" if subprocess.call(command, env=environment) else "passed"


def find(version: str) -> str:
    """A Python of this version that works; nothing if there is none."""
    return next((python for python in _known(version) if version_of(python) == version), "")


def _known(version: str) -> Iterator[str]:
    yield f"python{version}"
    for folder in FOLDERS:
        yield from map(str, sorted(Path.home().glob(folder.format(version)), reverse=True))


def version_of(python: str) -> str:
    """What a Python says that it is, as "3.12"; nothing where it does not start."""
    code = "import sys; print('{}.{}'.format(*sys.version_info))"
    try:
        return subprocess.run(
            [python, "-c", code], check=False, capture_output=True, text=True
        ).stdout.strip()
    except OSError:
        return ""
