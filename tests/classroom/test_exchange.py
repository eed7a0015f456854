"""nbgrader's exchange between the accounts of a teacher and of two students."""

import csv
import html
import os
import pwd
import tempfile
from pathlib import Path

import pytest
from accounts import only_root, run_as

from autograder.lessons import assemble, manifest

pytestmark = [pytest.mark.slow, only_root]

LESSON = manifest.get("interpreters")
TEACHER, DILIGENT, LAZY = "games", "news", "mail"  # accounts that every Debian has
SOLUTION = assemble.read_solution(LESSON.module)


class Place:
    """A folder with an exchange, and a home for each account."""

    def __init__(self, folder):
        self.folder = folder
        folder.chmod(0o755)
        (folder / "exchange").mkdir()
        (folder / "exchange").chmod(0o777)
        for user in (TEACHER, DILIGENT, LAZY):
            home = folder / user
            home.mkdir(mode=0o700)
            os.chown(home, pwd.getpwnam(user).pw_uid, pwd.getpwnam(user).pw_gid)

    def python(self, user, *arguments, within=""):
        home = self.folder / user
        jupyter = {f"JUPYTER_{x}_DIR": str(home / "jupyter") for x in ("CONFIG", "DATA", "RUNTIME")}
        more = {"HOME": str(home), "IPYTHONDIR": str(home / "ipython"), "TMPDIR": str(home)}
        return run_as(user, *arguments, cwd=home / within, **jupyter, **more)

    def teacher(self, *arguments):
        self.python(TEACHER, "-m", "nbgrader", *arguments, within="course")

    def student(self, user, command):
        root = f"--Exchange.root={self.folder / 'exchange'}"
        options = ("--course", "jaxprentice", root)
        self.python(user, "-m", "nbgrader", command, LESSON.id, *options)


@pytest.fixture(scope="module")
def term():
    """A lesson released, fetched, handed in by both students, graded, and given back."""
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder))
        place.python(TEACHER, "-m", "autograder", "nbgrader", "init", "course")
        config = place.folder / TEACHER / "course" / "nbgrader_config.py"
        with config.open("a") as file:
            file.write(f'\nc.Exchange.root = "{place.folder / "exchange"}"\n')
        place.teacher("generate_assignment", LESSON.id)
        place.teacher("release_assignment", LESSON.id)
        for user in (DILIGENT, LAZY):
            place.student(user, "fetch_assignment")
        (place.folder / DILIGENT / LESSON.id / LESSON.module).write_text(SOLUTION)
        for user in (DILIGENT, LAZY):
            place.student(user, "submit")
        for command in ("collect", "autograde", "generate_feedback", "release_feedback"):
            place.teacher(command, LESSON.id)
        place.teacher("export")
        for user in (DILIGENT, LAZY):
            place.student(user, "fetch_feedback")
        yield place


def test_the_gradebook_has_the_points_of_each_account(term):
    with (term.folder / TEACHER / "course" / "grades.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["assignment"] == LESSON.id]
    scores = {row["student_id"]: float(row["score"]) for row in rows}
    assert scores == {DILIGENT: LESSON.max_points, LAZY: 0.0}


def test_each_student_gets_the_feedback_on_their_own_work(term):
    pages = {}
    for user in (DILIGENT, LAZY):
        (page,) = (term.folder / user / LESSON.id / "feedback").rglob(f"{LESSON.id}.html")
        pages[user] = html.unescape(page.read_text(encoding="utf-8"))
    assert f"Score: {LESSON.max_points:.1f}" in pages[DILIGENT]
    assert "Score: 0.0" in pages[LAZY]
    assert "not implemented" in pages[LAZY]
    assert "not implemented" not in pages[DILIGENT]


def test_students_cannot_read_each_others_work(term):
    look = f"import pathlib; print(list(pathlib.Path({str(term.folder / DILIGENT)!r}).iterdir()))"
    with pytest.raises(AssertionError, match="PermissionError"):
        term.python(LAZY, "-c", look)
