"""The repository keeps its own rules: style, types, docstrings that run, nothing of one machine."""

import doctest
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.lessons import places

TOOLS = {
    "lint": ["ruff", "check", "."],
    "format": ["ruff", "format", "--check", "."],
    "types": ["mypy"],
    "spelling": ["codespell_lib"],
}
MODULES = sorted(
    ".".join(path.relative_to(places.SOLUTIONS).with_suffix("").parts)
    for path in places.SOLUTIONS.rglob("*.py")
    if path.name != "__init__.py"
)


@pytest.mark.parametrize("command", TOOLS.values(), ids=TOOLS)
def test_the_code_passes(command):
    run = subprocess.run(
        [sys.executable, "-m", *command], cwd=places.ROOT, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_the_reference_are_true(name):
    importlib.import_module(name)
    assert doctest.testmod(sys.modules[name]).failed == 0


def tracked_files():
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=places.ROOT, capture_output=True, text=True
    )
    if listed.returncode:
        pytest.fail("This test reads the list of files from git. Run it in a git checkout.")
    return [places.ROOT / name for name in listed.stdout.split("\0") if name]


def test_no_file_names_a_folder_of_one_machine():
    here = re.compile(re.escape(str(Path.home()) + "/") + "|" + re.escape(f"{places.ROOT}/"))
    found = [path for path in tracked_files() if path.is_file() and here.search(text_of(path))]
    assert found == []


def test_lock_files_hold_pins_and_no_addresses():
    for path in (places.ROOT / "requirements").glob("*.txt"):
        lines = [line for line in path.read_text().splitlines() if line and line[0] != "#"]
        assert all(re.match(r"[\w.-]+(\[[\w,-]+\])?==", line) for line in lines)
        assert not re.search(r"https?:|--|@ ", "\n".join(lines))


def text_of(path):
    return path.read_bytes().decode("utf-8", "replace")
