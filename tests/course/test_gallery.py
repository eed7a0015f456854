"""The programs of the gallery: each is short, and prints the same on minijax as on JAX.

What JAX prints is kept beside each. JAX itself is asked for the first, and with `--full` for all.
"""

import tomllib

import pytest
from run_on import printed

from autograder.lessons import places

GALLERY = sorted((places.COURSE / "capstones" / "gallery").glob("*.py"))
LINES = 80


@pytest.mark.parametrize("file", GALLERY, ids=lambda file: file.stem)
def test_a_program_is_short_and_of_jax_only(file):
    text = file.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LINES
    assert "minijax" not in text
    assert all(f"def {name}(" in text for name in ("start", "step", "main"))


def on(backend, files):
    return [pytest.param(backend, file, id=f"{backend}-{file.stem}") for file in files]


@pytest.mark.parametrize(
    ("backend", "file"),
    [
        *on("minijax", GALLERY),
        *on("jax", GALLERY[:1]),
        *(pytest.param(*x.values, id=x.id, marks=pytest.mark.full) for x in on("jax", GALLERY[1:])),
    ],
)
def test_a_program_prints_the_same_on_both(backend, file):
    shown = file.with_suffix(".txt").read_text(encoding="utf-8")  # on the page
    assert len(shown.splitlines()) > 3
    assert printed(file, backend) == shown


def test_every_program_is_on_the_page():
    lessons = tomllib.loads((GALLERY[0].parent / "lessons.toml").read_text(encoding="utf-8"))
    assert sorted(name for names in lessons.values() for name in names) == [x.stem for x in GALLERY]
