"""nbgrader's own commands on a course directory, with honest, odd and hostile submissions."""

import contextlib
import csv
import json
import logging
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import result_documents
from nbgrader_class import answer, bare_course, feedback_page, formgrader_of, nbgrader, run

from autograder.classroom.course import settings as courses
from autograder.classroom.course.settings import Assignment
from autograder.classroom.intake import files as intake
from autograder.classroom.intake.files import MORE
from autograder.classroom.nbgrader import directory, gradebook, outgoing, summary, verdicts
from autograder.classroom.nbgrader.results import read_results
from autograder.classroom.reports import exports
from autograder.classroom.reports.grades import read as grades_of
from autograder.grading import result_files
from autograder.grading.feedback import REASONS, message, why_less
from autograder.lessons import assemble, manifest, notebook, skeleton
from autograder.lessons.problem import Problem
from autograder.upkeep import attacks, demo

LESSON = manifest.get("core")
RIGHT = assemble.read_solution(LESSON.module)
UNTOUCHED = skeleton.make_skeleton(RIGHT, LESSON)
QUESTION = f"{LESSON.id}-question"  # the cell that a person grades
FULL = {exercise.id.replace(".", "-"): exercise.points for exercise in LESSON.graded}
FULL[QUESTION] = 0.0
NONE = dict.fromkeys(FULL, 0.0)


@pytest.mark.slow
def test_names_of_the_class_list_are_no_tags(tmp_path):
    course = bare_course(tmp_path / "course")
    (tmp_path / "list.csv").write_text("id,first_name,last_name\neve,<img src=x>,O'Brien\n")
    run(course, "db", "student", "import", str(tmp_path / "list.csv"))
    run(course, "db", "student", "add", "bob", "--first-name", "<b>", "--last-name", "Ng")
    with contextlib.closing(sqlite3.connect(course / "gradebook.db")) as book:
        names = set(book.execute("select first_name, last_name from student"))
    assert names == {("\u2039img src=x\u203a", "O'Brien"), ("\u2039b\u203a", "Ng")}


# ------------------------------------------------------------------------------------------
# A class of odd submissions


def written(text):
    return lambda path: path.write_text(text)


def replaced(old, new):
    return lambda path: path.write_text(path.read_text().replace(old, new))


def with_cells(change):
    def write(path):
        notebook = json.loads(path.read_text())
        path.write_text(json.dumps({**notebook, "cells": change(notebook["cells"])}))

    return write


def linked(target):
    def link(path):
        path.unlink(missing_ok=True)
        path.symlink_to(target)

    return link


def fifo(path):
    path.unlink()
    os.mkfifo(path)


def extra_files(folder):
    for name in ("numpy.py", "ipykernel_launcher.py", "conftest.py"):
        (folder / name).write_text("raise SystemExit('this ran')")
    (folder / "gradebook.db").symlink_to("../../../gradebook.db")
    os.mkfifo(folder / "fifo")


def strange_archive(folder):
    """It says that its file lies 2**63 bytes behind its end."""
    (folder / LESSON.module).unlink()
    attack = next(each for each in attacks.load() if each.name == "archive_beyond_the_end")
    exec(attack.body, {"folder": folder, "name": LESSON.module, "solution": RIGHT})


NOTEBOOK, STAMP = f"{LESSON.id}.ipynb", "timestamp.txt"
# By student which file of the right submission is spoilt, and how.
HONOURED = {
    "only_module": (NOTEBOOK, Path.unlink),
    "broken_notebook": (NOTEBOOK, written("{ this is no notebook")),
    "old_notebook": (NOTEBOOK, replaced('"schema_version": 3', '"schema_version": 1')),
    "doubled_cells": (NOTEBOOK, with_cells(lambda cells: cells + cells)),
    "no_cells": (NOTEBOOK, with_cells(lambda cells: [])),
    "not_graded": (NOTEBOOK, replaced('"grade": true', '"grade": false')),
    "linked_notebook": (NOTEBOOK, linked("/dev/zero")),
    "extra_files": ("", extra_files),
    "wrong_timestamp": (STAMP, written("yesterday <b>evening</b>")),
    "endless_timestamp": (STAMP, written("2030-01-01 1e999999999")),
    "linked_timestamp": (STAMP, linked("/dev/zero")),
    "noisy": (LESSON.module, written(f"{RIGHT}\nimport sys\nprint('note', file=sys.stderr)\n")),
}
# Also what students are told.
REFUSED = {
    "no_module": (LESSON.module, Path.unlink, "is missing"),
    "linked_module": (LESSON.module, linked("/etc/passwd"), "is a link"),
    "fifo_module": (LESSON.module, fifo, "is not an ordinary file"),
    "large_module": (LESSON.module, written(RIGHT + "#" * intake.MODULE_LIMIT), "than 256 KiB"),
    "strange_archive": ("", strange_archive, "The archive is damaged"),
    "syntax_error": (LESSON.module, written("def <script>alert(1)</script>"), "no valid Python"),
    "untouched": (LESSON.module, written(UNTOUCHED), "not implemented"),
}


@pytest.fixture(scope="session")
def course(tmp_path_factory):
    """A course directory after the class was graded."""
    course = tmp_path_factory.mktemp("nbgrader") / "course"
    before = os.umask(0)
    directory.init(course, seed=0)
    run(course, "generate_assignment", LESSON.id)
    for student, (file, spoil, *_) in (HONOURED | REFUSED).items():
        spoil(demo.hand_in(course, LESSON, student, RIGHT) / file)
    submitted = listing(course / "submitted")
    log = run(course, "autograde", LESSON.id)
    assert "Traceback" not in log, log
    for student in ("wrong_timestamp", "endless_timestamp"):
        assert f"{student}: timestamp.txt holds no time such as" in log
    assert listing(course / "submitted") == submitted
    run(course, "generate_feedback", LESSON.id)
    os.umask(before)
    return course


@pytest.fixture
def copy(course, tmp_path):
    """A copy of the course that a test may change; only `untouched` has handed something in."""
    copy = tmp_path / "course"
    shutil.copytree(course, copy, ignore=shutil.ignore_patterns("submitted"))
    demo.hand_in(copy, LESSON, "untouched", UNTOUCHED)
    return copy


def listing(folder):
    """Every path below a folder with its kind, size and times."""
    return {
        path: (found.st_mode, found.st_size, found.st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        for found in [path.lstat()]
    }


def grades(course, student):
    with gradebook.opened(course) as book:
        found = book.find_submission_notebook(LESSON.id, LESSON.id, student)
        return {grade.name: grade.score for grade in found.grades}


def feedback(course, student):
    return feedback_page(course, LESSON, student).read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_right_module_is_graded_whatever_is_odd_and_what_is_refused_gets_0(course, tmp_path):
    found = {student: grades(course, student) for student in HONOURED | REFUSED}
    assert found == dict.fromkeys(HONOURED, FULL) | dict.fromkeys(REFUSED, NONE)
    pages = {student: feedback(course, student) for student in REFUSED}
    assert [x for x, page in pages.items() if REFUSED[x][-1] not in page] == []
    assert [x for x, page in pages.items() if "<script>alert(1)" in page] == []
    run(course, "export", "--to", str(tmp_path / "grades.csv"))
    rows = [line.split(",") for line in (tmp_path / "grades.csv").read_text().splitlines()]
    scores = {row[3]: float(row[9]) for row in rows if row[0] == LESSON.id}
    assert scores == dict.fromkeys(HONOURED, LESSON.max_points) | dict.fromkeys(REFUSED, 0.0)


ODD = ("broken_notebook", "no_cells", "linked_notebook")  # a person is to find the answer


@pytest.mark.slow
def test_the_table_says_points_and_why_less_and_what_a_person_should_read(course):
    asked = courses.read(course).get(LESSON.id)
    names = ("untouched", "syntax_error", "large_module", "only_module", *ODD)
    results = {name: read_results(course, asked, name) for name in names}
    results["only_module"][0]["remarks"].append(f"{MORE}: core (1).py.")
    with gradebook.opened(course) as book:
        found = summary.rows(book, course, courses.read(course), LESSON.id, results)
        rows = {row[0]: row for row in found}
    none, full = f"0 of {LESSON.max_points + 3:g}", f"{LESSON.max_points:g} of"
    assert rows["untouched"][1:] == (none, "", "Nothing is written yet.", "")
    assert "no valid Python" in rows["syntax_error"][3]
    assert "is larger than 256 KiB." in rows["large_module"][3]
    assert rows["only_module"][1].startswith(full)
    assert rows["only_module"][3:] == ("", "other files")
    assert {rows[student][4] for student in ODD} == {QUESTION}


def test_who_has_no_submission_is_named_below_the_table(tmp_path, capsys):
    (tmp_path / "roster.csv").write_text("id\nada\nbob\n")
    (tmp_path / "autograded" / "ada" / "ps1").mkdir(parents=True)
    summary.show([("ada", "1 of 2", "", "", "")], summary.absent(tmp_path, "ps1"))
    assert capsys.readouterr().out.splitlines()[-1] == "No submission: bob"


@pytest.mark.slow
def test_an_answer_that_is_not_read_yet_is_never_0_of_3(course):
    page = feedback(course, "no_cells")
    assert "The written question is not read yet: it may add up to 3 points." in page
    assert "has no cell for the written question any more" in page
    assert not re.search(r"\b0 of 3\b", page)
    assert "There is no answer." in feedback(course, "untouched")
    assert "There is no answer." not in page
    assert "core.ipynb is missing, so there is no answer" in feedback(course, "only_module")
    (grade,) = [x for x in grades_of(course)[LESSON.id] if x["student"] == "no_cells"]
    (question,) = [x for x in grade["exercises"] if x["id"] == f"{LESSON.id}.question"]
    assert message(question, []) == "It is not read yet."
    (said,) = exports.unread({LESSON.id: [grade]})
    assert said == f"core: {LESSON.id}.question is not read yet, and counts as 0: no_cells."


@pytest.mark.slow
def test_what_leaves_the_house_is_the_gradebooks(copy):
    """After points were changed, pages are made again, and none is released before that."""
    assert outgoing.outdated(copy, LESSON.id) == []
    give(copy, "untouched", 1.5)
    assert outgoing.outdated(copy, LESSON.id) == ["untouched"]
    done = nbgrader(copy, "release_feedback", LESSON.id, f"--Exchange.root={copy.parent}")
    assert done.returncode != 0
    assert "The feedback of untouched is older than the grades." in done.stderr
    (said,) = directory.renew_feedback(copy, LESSON.id)
    assert said.startswith("The feedback pages of untouched were missing or older")
    assert "Score: 1.5 of" in feedback(copy, "untouched")
    assert outgoing.outdated(copy, LESSON.id) == []
    # What comes from results does not take the place of the gradebook's.
    exports.export(copy, "csv")
    beside = exports.export(copy, "csv", source="results")
    tables = [copy / "results/exports/csv/grades.csv", beside / "grades.csv"]
    found = [
        {row["student"]: row["total"] for row in csv.DictReader(path.open())} for path in tables
    ]
    assert [table["untouched"] for table in found] == ["1.5", "0.0"]


@pytest.mark.slow
def test_what_waits_for_autograde_is_said_and_other_points_let_nothing_out(copy):
    assert list(directory.waiting(copy)) == []
    shutil.copytree(copy / "submitted/untouched", copy / "submitted/new")
    module = copy / "submitted/untouched" / LESSON.id / LESSON.module
    module.write_text(RIGHT)
    assert list(directory.waiting(copy)) == [
        "`nbgrader autograde core` has not graded yet: new.",
        "`nbgrader autograde core` will grade again: untouched (another module).",
    ]
    done = nbgrader(copy, "export", "--to", "before.csv")
    assert "has not graded yet: new." in done.stderr
    assert "untouched (another module)" in done.stderr
    toml = copy / courses.FILE
    entry = 'lessons = ["core"]\n'
    toml.write_text(
        toml.read_text().replace(entry, f'{entry}points = {{ "core.full_raise" = 17 }}\n')
    )
    for leave in (exports.export, outgoing.outdated):
        with pytest.raises(Problem, match=r"core was graded with other points .* Run `nbgrader"):
            leave(copy, *(["csv"] if leave is exports.export else [LESSON.id]))
    done = nbgrader(copy, "export", "--to", "after.csv")
    assert done.returncode != 0
    assert "core was graded with other points" in done.stderr
    assert [path.name for path in copy.glob("*.csv")] == ["before.csv"]


def test_pages_of_those_who_were_not_asked_for_stay(tmp_path, monkeypatch):
    for student in ("ada", "bob"):
        (tmp_path / student).mkdir()
    monkeypatch.setattr(outgoing, "outdated", lambda *about: ["ada", "bob"])
    monkeypatch.setattr(outgoing.BaseConverter, "start", lambda converter: None)
    course = SimpleNamespace(root=tmp_path, assignment_id="core", student_id="a*")
    course.student_id_exclude = ""
    course.format_path = lambda step, student, name: tmp_path / student
    log = logging.getLogger("of this test")
    outgoing.start(SimpleNamespace(coursedir=course, log=log))
    assert [path.name for path in tmp_path.iterdir()] == ["bob"]


def give(course, student, points):
    """Points that a person gives for an exercise."""
    with gradebook.opened(course) as book:
        book.find_grade(next(iter(FULL)), LESSON.id, LESSON.id, student).manual_score = points
        book.db.commit()


@pytest.mark.slow
def test_the_module_of_the_student_and_nothing_else_reaches_the_graded_copy(course):
    graded = course / "autograded" / "extra_files" / LESSON.id
    released = course / "release" / LESSON.id
    files = [{p.relative_to(f) for f in [top] for p in f.rglob("*")} for top in (graded, released)]
    assert files[0] == files[1]
    assert "this ran" not in (graded / "conftest.py").read_text()
    places = [course / x / "noisy" / LESSON.id for x in ("autograded", "submitted")]
    kept, given = ((place / LESSON.module).read_bytes() for place in places)
    assert kept == given


@pytest.mark.slow
def test_no_cell_of_the_export_is_a_formula_or_breaks_the_row(copy):
    with gradebook.opened(copy) as book:
        names = {"last_name": "Byron, Countess of Lovelace", "first_name": "=1+1", "email": "@x"}
        book.update_or_create_student("untouched", **names)
    run(copy, "export", "--to", "grades.csv", "--student", "untouched")
    with (copy / "grades.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    told = [row[key] for key in ("student_id", "last_name", "first_name", "email", "score")]
    assert told == ["untouched", "Byron, Countess of Lovelace", "'=1+1", "'@x", "0.0"]


@pytest.mark.slow
def test_only_the_instructor_sees_the_course(course, tmp_path):
    """Whatever the shell's umask is; nbgrader makes the files that it writes readable."""
    assert course.stat().st_mode & 0o777 == 0o700
    private = [course / "gradebook.db", *(course / "results").rglob("*")]
    private += [*(course / "intake").rglob("*"), course / "nbgrader_config.py"]
    private += [path for path in (course / "autograded").rglob("*") if path.is_dir()]
    assert [path for path in private if path.lstat().st_mode & 0o077] == []


@pytest.mark.slow
def test_a_second_run_grades_only_what_is_new_and_a_regrade_keeps_points_by_hand(copy):
    demo.hand_in(copy, LESSON, "newcomer", UNTOUCHED + "\n# my first line\n")
    with result_files.locked(copy / ".jaxprentice/verdicts/core"):
        done = nbgrader(copy, "autograde", LESSON.id)
    assert done.returncode == 1
    assert "Another grader is writing to" in done.stderr
    assert "Grading 1 of 2" in run(copy, "autograde", LESSON.id)
    assert grades(copy, "newcomer") == NONE
    give(copy, "untouched", 0.5)
    log = run(copy, "autograde", LESSON.id, "--student", "untouched", "--force")
    assert "Grading 1 of 1" in log
    assert grades(copy, "untouched") == {**NONE, next(iter(FULL)): 0.5}


BECAUSE = "Because the outer one is <b>active</b> too."


@pytest.mark.slow
def test_a_written_answer_is_graded_by_a_person_beside_the_automatic_points(copy, browser):
    answer(demo.hand_in(copy, LESSON, "writer", RIGHT), LESSON, BECAUSE)
    run(copy, "autograde", LESSON.id, "--student", "writer")
    with gradebook.opened(copy) as book:
        assert book.find_grade(QUESTION, LESSON.id, LESSON.id, "writer").needs_manual_grade
        number = book.find_submission_notebook(LESSON.id, LESSON.id, "writer").id
    give_in_formgrader(copy, browser, number, "2.5")
    with gradebook.opened(copy) as book:
        comment = book.find_comment(QUESTION, LESSON.id, LESSON.id, "writer")
        comment.manual_comment = "Say which trace."
        book.db.commit()
    run(copy, "autograde", LESSON.id, "--student", "writer", "--force")
    assert grades(copy, "writer") == {**FULL, QUESTION: 2.5}
    run(copy, "generate_feedback", LESSON.id, "--student", "writer")
    page = feedback(copy, "writer")
    assert "Say which trace." in page
    assert "the outer one is" in page
    answer(copy / "submitted" / "writer" / LESSON.id, LESSON, "On second thoughts, it is not.")
    run(copy, "autograde", LESSON.id, "--student", "writer")
    assert grades(copy, "writer") == {**FULL, QUESTION: 2.5}
    graded = copy / "autograded" / "writer" / LESSON.id / f"{LESSON.id}.ipynb"
    assert "On second thoughts" in graded.read_text()


def give_in_formgrader(course, browser, number, given):
    """Give points for a written answer in formgrader, which shows it, and the class."""
    from playwright.sync_api import expect

    tab, asked = browser.new_page(), []
    tab.on("request", lambda request: asked.append(request.url))
    with formgrader_of(course) as address:
        tab.goto(f"{address}/manage_assignments")
        expect(tab.get_by_role("link", name=LESSON.id, exact=True).first).to_be_visible()
        tab.goto(f"{address}/submissions/{number}")
        expect(tab.get_by_text("Because the outer one is")).to_be_visible()
        assert all(url.startswith(address.removesuffix("/formgrader")) for url in asked)
        automatic = tab.locator(f"input.score[id='{next(iter(FULL))}']")
        expect(automatic).to_have_attribute("placeholder", "2")
        points = tab.locator(f"input.score[id='{QUESTION}']")
        with tab.expect_response(lambda response: "/api/grade/" in response.url):
            points.fill(given)
            points.press("Tab")
        tab.close()
    assert grades(course, "writer") == {**FULL, QUESTION: float(given)}


# Appended to nbgrader_config.py: nbgrader is killed when it has come to a place.
DEADLY = """
import itertools, os
from nbgrader.preprocessors import SaveAutoGrades
calls = itertools.count()
def deadly(self, *args, whole={place}):
    if next(calls) == {count}:
        os.kill(os.getpid(), 9)
    return whole(self, *args)
{place} = deadly
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "count"),
    [
        pytest.param("verdicts.WriteVerdicts.preprocess", 0, marks=pytest.mark.full),
        ("SaveAutoGrades._add_score", 3),
    ],
)
def test_a_run_that_is_killed_half_way_through_a_student_is_gone_on_with(copy, place, count):
    demo.hand_in(copy, LESSON, "newcomer", RIGHT)
    config = copy / "nbgrader_config.py"
    whole = config.read_text()
    config.write_text(whole + DEADLY.format(place=place, count=count))
    assert nbgrader(copy, "autograde", LESSON.id).returncode == -9
    assert (copy / "autograded" / "newcomer").exists()  # nbgrader would take it as done
    config.write_text(whole)
    assert "Grading 0 of 2" in run(copy, "autograde", LESSON.id)
    assert grades(copy, "newcomer") == FULL
    assert grades(copy, "untouched") == NONE


def gradebook_text(course):
    with sqlite3.connect(course / "gradebook.db") as book:
        return list(book.iterdump())


@pytest.mark.slow
@pytest.mark.parametrize(
    "number", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.full)]
)
def test_a_run_that_is_stopped_while_it_grades_leaves_the_gradebook_alone(copy, number):
    demo.hand_in(copy, LESSON, "quick", f"{RIGHT}\n# mine\n")
    slow = f"{RIGHT}\nimport time\n\ntime.sleep(0.5)\n"
    demo.hand_in(copy, LESSON, "slow", slow)
    cache, before = copy / ".jaxprentice/verdicts/core", gradebook_text(copy)
    known = set(cache.glob("*.json"))
    program = Path(sys.executable).with_name("nbgrader")
    with subprocess.Popen(
        [program, "autograde", LESSON.id],
        cwd=copy,
        env=demo.environment(copy),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        while set(cache.glob("*.json")) == known and process.poll() is None:
            time.sleep(0.01)
        (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
        complaint = process.stderr.read()
    assert process.returncode == (1 if number == signal.SIGINT else -9)
    assert ("Stopped. What is graded is kept." in complaint) == (number == signal.SIGINT)
    assert "Traceback" not in complaint
    assert gradebook_text(copy) == before
    assert "Grading 1 of 3" in run(copy, "autograde", LESSON.id)
    assert grades(copy, "quick") == grades(copy, "slow") == FULL


@pytest.mark.slow
def test_nothing_runs_when_the_repository_is_not_found(course, tmp_path):
    elsewhere = tmp_path / "course"
    shutil.copytree(course / "release", elsewhere / "submitted" / "ada")
    config = (course / "nbgrader_config.py").read_text()
    config = re.sub("REPOSITORY = .*", f"REPOSITORY = {str(tmp_path)!r}", config)
    (elsewhere / "nbgrader_config.py").write_text(config)
    done = subprocess.run(  # a new process: what forks has the repository on its path
        [Path(sys.executable).with_name("nbgrader"), "autograde", LESSON.id],
        cwd=elsewhere, env={**demo.environment(elsewhere), "PATH": os.defpath},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "Set REPOSITORY" in done.stderr
    assert not (elsewhere / "autograded").exists()


@pytest.mark.slow
def test_what_cannot_be_graded_is_refused_in_a_sentence(course, tmp_path):
    for asked, said in (
        (["essay"], "'essay' is not an assignment of this course"),
        (["core", "--student=zoe"], "There is no submission of core by zoe in submitted/. Collect"),
    ):
        done = nbgrader(course, "autograde", *asked)
        assert done.returncode == 1
        assert said in done.stderr
    book = (course / "gradebook.db").rename(tmp_path / "gradebook.db")
    try:
        done = nbgrader(course, "autograde", LESSON.id)
    finally:
        book.replace(course / "gradebook.db")
    assert done.returncode == 1
    said = f"The gradebook does not have {LESSON.id}. Run `nbgrader generate_assignment"
    assert done.stderr.count(said) == 1
    assert len(done.stderr.splitlines()) < 5


def test_without_an_exchange_feedback_goes_another_way(tmp_path):
    said = []
    outgoing.Release.ensure_root(SimpleNamespace(root=tmp_path / "none", fail=said.append))
    assert "with `jaxprentice return`" in said[0]


# ------------------------------------------------------------------------------------------
# Course directories


def test_a_course_directory_holds_the_skeleton_of_every_lesson_with_exercises(tmp_path):
    made = directory.init(tmp_path / "course")
    assert made == [lesson.id for lesson in manifest.load().values() if lesson.exercises]
    source = tmp_path / "course" / "source"
    assert sorted(path.name for path in source.iterdir()) == sorted(made)
    assert (source / LESSON.id / LESSON.module).read_text() == UNTOUCHED


def test_an_exercise_that_the_page_forgets_is_a_problem(tmp_path, monkeypatch):
    whole = notebook.make(LESSON)
    last = LESSON.exercises[-1].id
    kept = [cell for cell in whole["cells"] if cell["id"] != last.replace(".", "-")]
    text = json.dumps({**whole, "cells": kept})
    monkeypatch.setattr(notebook, "texts", lambda lessons: [text])
    with pytest.raises(Problem, match=last):
        directory.write_source(tmp_path, Assignment(LESSON.id, (LESSON,)))


def test_a_new_or_an_empty_folder_becomes_the_course_with_a_seed_of_its_own(tmp_path):
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "empty", tmp_path / "new"):
        directory.init(folder, lessons=["core"])
        names = {path.name for path in folder.iterdir()}
        assert names == {"source", "course.toml", "nbgrader_config.py"}
    one, two = (path.read_text() for path in tmp_path.glob("*/nbgrader_config.py"))
    assert one != two


def test_a_folder_with_something_in_it_is_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(Problem, match="is not empty"):
        directory.init(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_failure_leaves_nothing_behind(tmp_path, monkeypatch):
    def fail(folder, assignment):
        raise KeyboardInterrupt

    monkeypatch.setattr(directory, "write_source", fail)
    with pytest.raises(KeyboardInterrupt):
        directory.init(tmp_path / "course")
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------------------------------
# Grade cells


def verdict(points, passed=(True, False), mistake=None):
    made = result_documents.exercise("core.full_raise", *passed, message="The result differs.")
    return {**made, "points": points, "misconception": mistake}


@pytest.mark.parametrize(
    ("earned", "maximum", "score"),
    [(2.0, 2.0, 2.0), (0.0, 2.0, 0.0), (1.33, 2.0, 1.33), (1.0, 5.0, 2.5), (2.0, 0.1, 0.1)],
)
def test_points_are_scaled_to_the_cell_and_never_above_it(earned, maximum, score):
    assert verdicts.points(verdict(earned), maximum) == score


@pytest.mark.parametrize("earned", [0.0, 0.67, 1.34, 2.0])
def test_nbgrader_reads_the_score_from_the_cell(earned):
    from nbformat.v4 import new_code_cell
    from nbgrader.utils import determine_grade

    about = {"grade": True, "solution": False, "grade_id": "x", "points": 2.0}
    cell = new_code_cell("", metadata={"nbgrader": about})
    verdicts.fill(cell, verdict(earned), [])
    assert determine_grade(cell) == (earned, 2.0)


def test_the_message_says_what_failed_and_names_the_mistake_with_one_hint():
    assert message(verdict(2.0, (True,)), []) == "1 of 1 tests passed."
    mistake = {"name": "The minus is missing", "hints": ["Draw it.", "Second.", "Third."]}
    text = message(verdict(1.0, mistake=mistake), [])
    assert text.splitlines() == [
        "1 of 2 tests passed.",
        "",
        "- The result differs.",
        "",
        "Known mistake: The minus is missing.",
        "Hint: Draw it.",
    ]


def test_each_reason_stands_once_and_not_too_many_do():
    failed = verdict(0.0, passed=[False] * 30)
    for i, test in enumerate(failed["tests"]):
        test["message"] = f"Property {i // 2} does not hold."
    lines = message(failed, ["A remark."]).splitlines()
    assert lines[2:4] == ["- A remark.", "- Property 0 does not hold."]
    assert lines[4] == "- Property 1 does not hold."
    assert lines[-1] == "- and 8 more."
    assert len(lines) == 3 + REASONS


def reason(*verdicts, remarks=()):
    score = sum(each["points"] for each in verdicts)
    return why_less({"exercises": verdicts, "remarks": [*remarks], "score": score})


def lost(name, kind, points=0.0, said="This does not hold yet: it is x. And more."):
    return {**verdict(points), "id": f"core.{name}", "class": kind, "message": said}


def test_why_there_are_less_points_is_one_sentence():
    whole, bind = lost("whole", "wrong_value"), lost("bind", "wrong_value", 1.0)
    assert reason({**verdict(2.0, (True,))}) == ""
    assert reason(whole, bind) == "bind: This does not hold yet: it is x. And 1 more."
    stub = lost("bind", "not_implemented", said="This is not implemented yet.")
    assert reason(stub, stub) == "Nothing is written yet."
    assert reason(stub, bind).startswith("bind: This does not hold")
    endless = lost("raise", "does_not_terminate")
    deep = "raise: it does not terminate, or calls itself too deeply. And 1 more."
    assert reason(bind, endless) == deep
    syntax = "minijax/core.py, line 2, column 1 is no valid Python: invalid syntax."
    broken = lost("bind", "crashed", said=syntax)
    assert reason(broken, broken, remarks=["Submitted by ada for the group.", syntax]) == syntax
