"""`update`: what the course has corrected comes in, and what the student has changed stays."""

import subprocess
import sys

import pytest
import small_course
from student_course import solve

from autograder.lessons import manifest, places, skeleton
from autograder.student import updating
from autograder.upkeep import sync


@pytest.fixture
def complete(monkeypatch):
    """The small course counts as a whole copy."""
    monkeypatch.setattr(places, "is_complete", lambda: True)


def correct(course, path, old, new):
    file = course / path
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")
    manifest._load.cache_clear()
    sync.sync(False)


def test_what_is_untouched_is_replaced_and_what_is_gone_or_new_written(course, work, say, complete):
    correct(course, "course/lessons/01_hello/lesson.md", "## A part", "## A better part")
    correct(course, "solutions/toy/hello.py", "Greet somebody.", "Greet a person politely.")
    (work / "lessons/03_bye/checks.py").unlink()
    (course / "course/lessons/03_bye/bye.png").write_bytes(b"a picture")
    out = say("update")[1]
    assert "updated  lessons/01_hello/lesson.md\n" in out
    assert "updated  toy/hello.py\n" in out
    assert "new      lessons/03_bye/bye.png\nnew      lessons/03_bye/checks.py\n" in out
    assert (work / "lessons/03_bye/bye.png").read_bytes() == b"a picture"
    assert "politely" in (work / "toy/hello.py").read_text(encoding="utf-8")
    assert say("update")[1] == "This workspace is up to date.\n"


def test_what_only_the_student_changed_stays_without_a_word(work, say, complete):
    solve(work)
    mine = (work / "toy/hello.py").read_bytes()
    assert say("update")[1] == "This workspace is up to date.\n"
    assert (work / "toy/hello.py").read_bytes() == mine


def test_what_both_changed_is_shown_three_ways_and_left_until_told(course, work, say, complete):
    lesson = manifest.get("hello")
    stub = skeleton.make_skeleton(small_course.HELLO, lesson)
    line = next(x for x in stub.splitlines() if "raise NotImpl" in x)
    mine = stub.replace(line, "    return f'Hello,\\n{name}{mark}'", 1)
    (work / "toy/hello.py").write_text(mine, encoding="utf-8")
    correct(course, "solutions/toy/hello.py", "size = 1", "size = 2")
    for _ in range(2):  # until told
        out = say("update")[1]
        assert "toy/hello.py was changed by the course and by you. It stays as it is." in out
        theirs, _, own = out.partition("You changed:")
        assert "    -    size = 1\n    +    size = 2\n" in theirs
        assert "    +    return f'Hello,\\n{name}{mark}'\n" in own
        assert (work / "toy/hello.py").read_text(encoding="utf-8") == mine
    out = say("update", "toy/hello.py")[1]
    assert "What you had in toy/hello.py is kept in .jaxprentice/backups/toy-hello-1.py." in out
    now = (work / "toy/hello.py").read_text(encoding="utf-8")
    assert "size = 2" in now
    assert "return f'Hello,\\n{name}{mark}'" in now
    kept = work / ".jaxprentice/backups/toy-hello-1.py"
    assert kept.read_text(encoding="utf-8") == mine
    assert say("update")[1] == "This workspace is up to date.\n"


def test_a_workspace_of_an_old_version_loses_nothing(course, work, say, complete):
    (work / updating.GIVEN).unlink()
    solve(work)
    mine = (work / "toy/hello.py").read_bytes()
    correct(course, "solutions/toy/bye.py", "Part from somebody.", "Say goodbye.")
    out = say("update")[1]
    assert (work / "toy/hello.py").read_bytes() == mine
    assert "toy/bye.py was changed by the course and by you." in out


def test_what_does_not_fit_on_the_disk_leaves_the_old_file(tmp_path):
    file = tmp_path / "hello.py"
    file.write_bytes(b"mine")
    program = (
        "import resource, sys; from pathlib import Path; from autograder.student import workspace\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))\n"
        "workspace.write(Path(sys.argv[1]), bytes(5000))\n"
    )
    command = [sys.executable, "-c", program, str(file)]
    done = subprocess.run(command, cwd=places.ROOT, capture_output=True, text=True, check=False)
    assert "OSError: [Errno 27] File too large" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["hello.py"]
    assert file.read_bytes() == b"mine"
