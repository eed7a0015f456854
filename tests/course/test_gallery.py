"""The programs of the gallery: each is short, and prints the same on minijax as on JAX."""

import subprocess
import sys
import tomllib

import pytest

from autograder.lessons import places
from autograder.student import run_program

GALLERY = sorted((places.COURSE / "capstones" / "gallery").glob("*.py"))
LINES = 80


@pytest.mark.parametrize("file", GALLERY, ids=lambda file: file.stem)
def test_a_program_is_short_and_of_jax_only(file):
    text = file.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LINES
    assert "minijax" not in text
    assert all(f"def {name}(" in text for name in ("start", "step", "main"))


@pytest.mark.parametrize("file", GALLERY, ids=lambda file: file.stem)
def test_a_program_prints_the_same_on_both(file):
    ours, theirs = (printed(file, backend) for backend in ("minijax", "jax"))
    assert len(ours.splitlines()) > 3
    assert ours == theirs
    assert ours == file.with_suffix(".txt").read_text(encoding="utf-8")  # what the page shows


def test_every_program_is_on_the_page():
    lessons = tomllib.loads((GALLERY[0].parent / "lessons.toml").read_text(encoding="utf-8"))
    assert sorted(name for names in lessons.values() for name in names) == [x.stem for x in GALLERY]


def printed(file, backend):
    """What a program prints."""
    words = [run_program.__file__, str(places.SOLUTIONS), str(file), backend, ""]
    run = subprocess.run(
        [sys.executable, "-P", "-W", "ignore", *words], capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout
