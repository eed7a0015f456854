"""The tests under every Python that is found on this machine, each in an environment of its own."""

import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.lessons import places
from autograder.lessons.problem import Problem
from autograder.student import progress

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
# Where Pythons are kept beside those that PATH names: pyenv's and uv's folders.
FOLDERS = (".pyenv/versions/{}*/bin/python3", ".local/share/uv/python/cpython-{}*/bin/python3")


# Those that minijax takes, as far as there is one for a Python. The wrapper installs the newest.
JAXLIBS = ("0.10.2", "0.11.0", "0.11.1", "0.11.2", "0.12.0", "0.12.0.1")
LESSONS = "tests/course/test_right_answers.py::test_the_suite_and_the_visible_checks_accept_them"
NONE = "there is none"
MISSING = "not found"
OTHERS = "-pairs"  # the end of the name of an environment whose jaxlib changes


def run(arguments: Sequence[str]) -> int:
    """Run the tests under each Python, and print a table; 1 if they failed under any.

    Each environment has the newest jaxlib that is locked for its Python. Where the arguments do not
    choose tests, all other pairs of a Python and a jaxlib follow, with the tests of the reference
    and a lesson of each part that is graded.
    """
    found = {version: find(version) for version in VERSIONS}
    if not any(found.values()):
        raise Problem(f"No Python of {', '.join(VERSIONS)} was found. Install one.")
    rows = []
    for version, python in found.items():
        rows.append((version, "locked", _test(version, python, arguments) if python else MISSING))
        if python and not arguments:
            rows += [(version, x, _pair(version, python, x)) for x in JAXLIBS]
    print()
    for version, jaxlib, result in rows:
        print(f"Python {version:<6}jaxlib {jaxlib:<10}{result:<15}{found[version]}".rstrip())
    return int("failed" in [result for *_, result in rows])


def _test(version: str, python: str, arguments: Sequence[str], name: str = "") -> str:
    print(f"Python {version} ({python})", flush=True)
    place = places.ROOT / f".venv-{version}{name}"
    command = [python, str(places.ROOT / "jaxprentice"), "test", *arguments]
    environment = {**os.environ, "JAXPRENTICE_VENV": str(place)}
    return "failed" if subprocess.call(command, env=environment) else "passed"


def _pair(version: str, python: str, jaxlib: str) -> str:
    """Run what such a pair has to pass, in one environment for all pairs of this Python."""
    if _test(version, python, ["--version"], OTHERS) == "failed":
        return "failed"
    own = str(places.ROOT / f".venv-{version}{OTHERS}" / "bin" / "python")  # pip knows of mirrors
    pip = [own, "-m", "pip", "install", "--no-deps", f"jaxlib=={jaxlib}", f"jax=={jaxlib}"]
    told = subprocess.run(pip, check=False, capture_output=True, text=True)
    if told.returncode:
        print(told.stderr, flush=True)
        return NONE if "No matching distribution" in told.stderr else "failed"
    print(f"jaxlib {jaxlib}", flush=True)
    graded = [f"{LESSONS}[{lessons[0].id}]" for _, lessons in progress.parts()]
    for tests in (["tests/reference", "--choice"], ["--full", *graded]):
        if _test(version, python, [*tests, "-q"], OTHERS) == "failed":
            return "failed"
    return "passed"


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
