"""A term's day: teacher and students, from `init` over the exchange and formgrader to Canvas.

nbgrader's real commands, a real exchange between three accounts, formgrader in Chromium.
"""

import csv
import html
import os
import pwd
import tempfile
from pathlib import Path

import pytest
from accounts import only_root, run_as
from nbgrader_class import formgrader_of

from autograder.classroom.nbgrader import gradebook
from autograder.lessons import assemble, manifest, skeleton

pytestmark = [pytest.mark.slow, only_root]

LESSON = manifest.get("interpreters")
TEACHER, DILIGENT, LAZY = "games", "news", "mail"  # accounts that every Debian has
SOLUTION = assemble.read_solution(LESSON.module)
SKELETON = skeleton.make_skeleton(SOLUTION, LESSON)
COMMENT = "A `with` block would be shorter."
ENTRY = """
[late]
percent_per_day = 10

[[assignment]]
name = "ps1"
lessons = ["interpreters"]
due = 2020-01-01T12:00:00Z
points = {{ "interpreters.bind" = {points} }}
"""


class Place:
    """A folder with an exchange, and a home for each account."""

    def __init__(self, folder):
        self.folder, self.course = folder, folder / TEACHER / "course"
        self.said = {}
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

    def teacher(self, *arguments, program="nbgrader"):
        """Run a command in the course directory; what it said, its log as well."""
        script = (
            f"import runpy, sys; sys.stderr = sys.stdout; sys.argv = {[program, *arguments]!r}; "
            f"runpy.run_module({program!r}, run_name='__main__', alter_sys=True)"
        )
        return self.python(TEACHER, "-c", script, within="course")

    def ours(self, *arguments):
        return self.teacher(*arguments, program="autograder")

    def student(self, user, command):
        root = f"--Exchange.root={self.folder / 'exchange'}"
        options = ("--course", "jaxprentice", root)
        self.python(user, "-m", "nbgrader", command, "ps1", *options)

    def hand_in(self, user, source):
        (self.folder / user / "ps1" / LESSON.module).write_text(source)
        self.student(user, "submit")

    def configure(self, points):
        (self.course / "course.toml").write_text(ENTRY.format(points=points))

    def grades(self):
        """Score less penalty in the gradebook, and the penalty, by student."""
        with gradebook.opened(self.course) as book:
            found = {x.student.id: x for x in book.assignment_submissions("ps1")}
            penalty = {name: x.late_submission_penalty or 0.0 for name, x in found.items()}
            return {name: (x.score - penalty[name], penalty[name]) for name, x in found.items()}


@pytest.fixture(scope="module")
def term(browser):
    """The day; what its steps said is in `said`, by step."""
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder))
        place.python(
            *(TEACHER, "-m", "autograder", "nbgrader", "init", "course"),
            *("--lessons", LESSON.id, "--seed", "0"),
        )
        with (place.course / "nbgrader_config.py").open("a") as file:
            file.write(f'\nc.Exchange.root = "{place.folder / "exchange"}"\n')
        place.configure(points=4)
        place.ours("nbgrader", "update")
        for command in ("generate_assignment", "release_assignment"):
            place.teacher(command, "ps1")
        for user in (DILIGENT, LAZY):
            place.student(user, "fetch_assignment")
            place.hand_in(user, SKELETON)
        for command in ("collect", "autograde"):
            place.said[command] = place.teacher(command, "ps1")
        comment_on(place, browser)
        place.configure(points=6)
        place.said["update"] = place.ours("nbgrader", "update")
        place.hand_in(DILIGENT, SOLUTION)
        place.teacher("collect", "ps1", "--update")
        place.said["extend"] = place.ours("nbgrader", "extend", "ps1", DILIGENT, "--days", "3650")
        place.said["again"] = place.teacher("autograde", "ps1")
        place.said["nothing"] = place.teacher("autograde", "ps1")
        for command in ("generate_feedback", "release_feedback"):
            place.teacher(command, "ps1")
        place.ours("export", ".", "--format", "canvas")
        place.ours("report", ".")
        for user in (DILIGENT, LAZY):
            place.student(user, "fetch_feedback")
        yield place


def comment_on(place, browser):
    """Give the lazy student two points and a comment by hand, in formgrader."""
    from playwright.sync_api import expect

    name = "interpreters-bind"
    with gradebook.opened(place.course) as book:
        number = book.find_submission_notebook(LESSON.id, "ps1", LAZY).id
    with formgrader_of(place.course) as address:
        tab = browser.new_page()
        tab.goto(f"{address}/submissions/{number}")
        points = tab.locator(f"input.score[id='{name}']")
        expect(points).to_have_attribute("placeholder", "0")
        with tab.expect_response(lambda answer: "/api/grade/" in answer.url):
            points.fill("2")
            points.press("Tab")
        comment = tab.locator(f"textarea[id='{name}-code-comment']")
        with tab.expect_response(lambda answer: "/api/comment/" in answer.url):
            comment.fill(COMMENT)
            comment.press("Tab")
        tab.close()


MAXIMUM = LESSON.max_points - 2 + 6 + 3  # `bind` has 2 points in the lesson, the question 3


def test_the_gradebook_has_automatic_and_manual_points_late_penalty_and_extension(term):
    assert term.grades() == {DILIGENT: (MAXIMUM - 3, 0.0), LAZY: (0.0, 2.0)}


def test_what_is_graded_again_and_why_is_said(term):
    assert f"ps1, {LAZY}: " not in term.said["collect"]
    assert "ps1 has been updated." in term.said["update"]
    assert f"will grade again: {LAZY}, {DILIGENT} (other points)" in term.said["update"]
    assert f"{DILIGENT} has 3650 days more for ps1, until " in term.said["extend"]
    assert f"Graded again: {LAZY} (other points)" in term.said["again"]
    assert f"Graded again: {DILIGENT} (another module, other points)" in term.said["again"]
    assert "points off" not in term.said["again"]
    assert "Graded again" not in term.said["nothing"]
    assert "Changed" not in term.said["nothing"]


def test_canvas_and_the_report_have_what_the_gradebook_has(term):
    folder = term.course / "results"
    with (folder / "exports" / "canvas" / "canvas.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    scores = {row["SIS Login ID"]: float(row["ps1"]) for row in rows[1:]}
    assert rows[0]["ps1"] == str(MAXIMUM)
    assert scores == {name: score for name, (score, _) in term.grades().items()}
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert f"{MAXIMUM - 3:g} / {MAXIMUM:g}" in page
    own = (folder / "students" / f"{LAZY}.html").read_text(encoding="utf-8")
    assert "2 points are taken off because it was late." in own


def test_each_student_gets_the_feedback_on_their_own_work(term):
    pages = {}
    for user in (DILIGENT, LAZY):
        found = (term.folder / user / "ps1" / "feedback").rglob(f"{LESSON.id}.html")
        *_, page = sorted(found)
        pages[user] = html.unescape(page.read_text(encoding="utf-8"))
    assert f"Score: {MAXIMUM - 3:g} of {MAXIMUM:g} points" in pages[DILIGENT]
    assert "Extension of 3650 days" in pages[DILIGENT]
    assert "Score: 0 of" in pages[LAZY]
    assert "not implemented" in pages[LAZY]
    assert "<code>with</code> block would be shorter." in pages[LAZY]
    assert "would be shorter" not in pages[DILIGENT]


def test_students_cannot_read_each_others_work(term):
    look = f"import pathlib; print(list(pathlib.Path({str(term.folder / DILIGENT)!r}).iterdir()))"
    with pytest.raises(AssertionError, match="PermissionError"):
        term.python(LAZY, "-c", look)
