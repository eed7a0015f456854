"""The end of the course says what was reached: on JAX's own losses, so nothing is trained here."""

import pytest

from autograder.lessons import manifest
from autograder.student import capstone, contents, ending_page

LESSON = manifest.get("capstone")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return contents.init(tmp_path_factory.mktemp("end") / "mine")


@pytest.fixture
def trained(monkeypatch):
    """Runs of the student's that gave what JAX gave, but for rounding."""
    runs = capstone.stored(LESSON)
    runs = {
        name: {**run, "losses": [x * (1 + 1e-12) for x in run["losses"]]}
        for name, run in runs.items()
    }
    monkeypatch.setattr(capstone, "run", lambda root, script, steps: (runs[script], ""))
    monkeypatch.setattr(capstone, "wrong_exercise", lambda *_: [])
    return runs


def test_it_ends_with_what_was_reached_and_with_a_page_to_send(place, trained, capsys):
    assert capstone.check(place, LESSON, None) == 0
    said = capsys.readouterr().out
    for text in (
        "steps on your own package ...",
        "of them digit for digit; none differs by more than",
        "Written by yourself: 0 exercises",
        ": open it in a browser, and send it to a friend.",
    ):
        assert text in said, said
    page = (place.root / ending_page.NAME).read_text(encoding="utf-8")
    for text in (
        "steps in all, and after each step the loss was the same as JAX's.",
        "A small network saw 1,437 handwritten digits. These are from 360 others, among them some "
        "that it got wrong.",
        "A transformer read six sonnets by Shakespeare, letter by letter. It was given the first "
        "words, and went on.",
        "A rod insulates somewhere. Five thermometers outside, read four times each, were enough "
        "to find where.",
    ):
        assert text in page


def test_a_run_that_parts_from_jaxs_is_no_end(place, trained, monkeypatch, capsys):
    next(iter(trained.values()))["losses"][3] = 7.0
    monkeypatch.setattr(capstone, "culprit", lambda *_: "Look in minijax/jvp.py.")
    assert capstone.check(place, LESSON, None) == 1
    said = capsys.readouterr().out
    assert "The model does not learn as it should. The loss at step 4 is 7, and should be" in said
    assert "Look in minijax/jvp.py." in said


def test_an_exercise_that_no_script_needs_is_wrong_all_the_same(
    place, trained, monkeypatch, capsys
):
    monkeypatch.setattr(capstone, "wrong_exercise", lambda *_: ["Next: look there."])
    assert capstone.check(place, LESSON, None) == 1
    said = capsys.readouterr().out
    assert "The programs learn as they do on JAX, but they do not use every rule." in said
    assert "Next: look there." in said
