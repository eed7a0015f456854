"""A release's archives do what they promise; `test_demo` puts the instructors' to work."""

import pytest
from archives import released, run

from autograder.lessons import places
from autograder.lessons.problem import Problem
from autograder.upkeep import archives


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return released(tmp_path_factory.mktemp("archives"))


@pytest.mark.slow
def test_students_go_from_init_to_the_first_complete_lesson(made, tmp_path):
    run(made["students"], "init", str(tmp_path / "mine"), tools=tmp_path / "tools")
    own = tmp_path / "mine/microjax/interpreters.py"
    own.write_bytes((places.SOLUTIONS / "microjax/interpreters.py").read_bytes())
    said = run(tmp_path / "mine", "check", "interpreters", tools=tmp_path / "tools")
    assert "The lesson interpreters is complete." in said


def test_students_get_nothing_that_grades(made):
    found = {path.relative_to(made["students"]).parts[:2] for path in made["students"].rglob("*")}
    assert not {part for part in found if part[-1] in ("hidden", "classroom", "instructor")}
    assert ("course", "lessons") in found


def test_outside_a_clone_it_is_one_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr(places, "ROOT", tmp_path)
    with pytest.raises(Problem, match="git finds no repository here"):
        archives.build(tmp_path / "out")
    assert not (tmp_path / "out").exists()
