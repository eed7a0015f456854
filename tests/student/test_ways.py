"""Three ways through a lesson, from one source: guided, contract and blank."""

import json

import pytest
import small_course
from student_course import solve

from autograder import cli
from autograder.lessons import manifest, places, skeleton
from autograder.student import workspace
from autograder.upkeep import sync

GREET = """

def greet(name):
    return f"Hello,\\n{name}:"
"""


def module(work):
    return (work / "toy/hello.py").read_text(encoding="utf-8")


@pytest.fixture
def blank(course, say, tmp_path, monkeypatch):
    """A workspace of the blank way, in which the user stands."""
    assert say("init", str(tmp_path / "bare"), "--way", "blank")[0] == 0
    monkeypatch.chdir(tmp_path / "bare")
    return tmp_path / "bare"


@pytest.mark.parametrize(
    ("way", "lines"),
    [
        ("guided", ["# TODO(hello.greet): Put", 'raise NotImplementedError("hello.greet")']),
        ("contract", ["Give the greeting", 'raise NotImplementedError("hello.greet")']),
        ("blank", ["class Box:"]),
    ],
)
def test_a_lesson_that_was_not_begun_takes_any_way(work, say, way, lines):
    say("way", "hello", "blank")
    status, out, _ = say("way", "hello", way)
    assert (status, out.splitlines()[0]) == (
        0, f"The hello lesson now uses the {way} way: {manifest.WAYS[way]}.",
    )  # fmt: skip
    assert all(line in module(work) for line in lines)
    rows = [row.split() for row in say("list")[1].splitlines()]
    assert [row[-4] for row in rows if row[:1] == ["hello"]] == [way]
    assert say("update")[1] == "This workspace is up to date.\n"


def test_a_lesson_that_was_begun_is_not_overwritten(work, say):
    solve(work)
    mine = module(work)
    status, _, error = say("way", "hello", "blank")
    assert (status, error) == (
        1,
        "You have begun hello, so toy/hello.py stays as it is. To begin again, `./jaxprentice "
        "reset hello` (your file is kept), then `./jaxprentice way hello blank`.\n",
    )
    assert module(work) == mine
    say("reset", "hello")
    assert say("way", "hello", "blank")[0] == 0
    assert say("progress")[1].count("hello 0 of 2 (blank)") == 1


def test_after_a_choice_only_ones_own_changes_are_told(work, say):
    say("way", "hello", "blank")
    (work / "toy/hello.py").write_text(module(work) + GREET, encoding="utf-8")
    assert say("update")[1] == "This workspace is up to date.\n"


def test_what_is_not_there_yet_is_said_and_counts_when_it_is_there(blank, say):
    assert skeleton.functions(module(blank)) == ["given", "Box.value"]
    assert "def bye" not in (blank / "toy/bye.py").read_text(encoding="utf-8")
    assert json.loads((blank / workspace.IDENTITY).read_text(encoding="utf-8"))["way"] == "blank"
    status, out, _ = say("check", "hello")
    assert status == 1
    assert out.splitlines()[1].split()[:3] == ["to", "do", "hello.greet"]
    assert "Next: greet is not there yet. Write it in toy/hello.py: Put the name" in out
    assert "Its contract is in lessons/01_hello/lesson.md.\n" in out
    assert (
        "grow is not there yet. Write it in the class Box of toy/hello.py"
        in (say("check", "hello.grow")[1])
    )
    (blank / "toy/hello.py").write_text(module(blank) + GREET, encoding="utf-8")
    out = say("check")[1]
    assert "done   hello.greet" in out
    assert "to do  hello.grow" in out
    solve(blank)
    assert say("check")[0] == 0


def test_in_another_way_what_is_gone_was_renamed_or_removed(work, say):
    text = module(work).replace("def greet(", "def great(")
    (work / "toy/hello.py").write_text(text, encoding="utf-8")
    out = say("check", "hello")[1]
    assert "There is no greet in toy/hello.py. Was it renamed or removed?" in out
    assert "`./jaxprentice reset hello` begins with a new skeleton" in out


def test_programs_run_on_what_is_there(course, tmp_path, monkeypatch, capfd):
    blank = tmp_path / "bare"
    cli.main(["init", str(blank), "--way", "blank"])
    monkeypatch.chdir(blank)
    capfd.readouterr()
    (blank / "toy/hello.py").write_text(module(blank) + GREET, encoding="utf-8")
    (blank / "program.py").write_text("import toy\nprint(toy.greet('Ada'), toy.Box().value)\n")
    assert cli.main(["run", "program.py"]) == 0
    assert capfd.readouterr().out == "Hello,\nAda: 1\n"
    (blank / "program.py").write_text("import toy\ntoy.bye('Ada')\n")
    assert cli.main(["run", "program.py"]) == 1
    assert capfd.readouterr().err.endswith("NotImplementedError: bye.bye\n")


def test_a_new_version_takes_ones_functions_along(blank, course, say):
    (blank / "toy/hello.py").write_text(module(blank) + GREET, encoding="utf-8")
    changed = small_course.HELLO.replace("one more", "one more, now")
    (places.SOLUTIONS / "toy/hello.py").write_text(changed, encoding="utf-8")
    sync.sync(False)
    say("update")
    assert "is now the course's" in say("update", "toy/hello.py")[1]
    new = module(blank)
    assert "one more, now" in new
    assert skeleton.functions(new) == ["given", "greet", "Box.value"]


def test_a_workspace_from_before_there_were_ways_is_guided(work):
    identity = work / workspace.IDENTITY
    about = json.loads(identity.read_text(encoding="utf-8"))
    del about["way"]
    identity.write_text(json.dumps(about), encoding="utf-8")
    assert workspace.find(work).way(manifest.get("hello")) == "guided"
