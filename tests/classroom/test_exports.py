"""Exports: each in the form that its reader takes, without what students must not see."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from xml.etree import ElementTree

import archives
import graded_course
import pytest
import result_documents
import yaml
from result_documents import ADA, BELA, CY, exercise

from autograder import cli
from autograder.classroom import systems
from autograder.classroom.course import people
from autograder.classroom.course import settings as courses
from autograder.classroom.reports import exports
from autograder.classroom.systems import github, gradescope, junit, prairielearn, system
from autograder.grading import feedback, result_files
from autograder.lessons import assemble, manifest, places, skeleton
from autograder.lessons.problem import Problem

FORMS = ", ".join(systems.exporting())
NO_TABLES = {"github", "gradescope", "junit", "prairielearn"}


@pytest.fixture
def folder(tmp_path):
    return result_documents.write(tmp_path / "results")


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


# ------------------------------------------------------------------------------------------
# The command


@pytest.mark.parametrize("form", systems.exporting())
def test_an_export_has_its_place_and_is_made_anew(folder, form, capsys, monkeypatch):
    monkeypatch.setattr(system, "_check_points", lambda *about: None)  # these are parts of lessons
    for _ in range(2):
        assert cli.main(["export", str(folder), "--format", form]) == 0
    assert f"The export is in {folder / 'exports' / form}." in capsys.readouterr().out
    assert result_files.by_lesson(folder).keys() == {"core", "jvp"}  # what was made is not read


def test_a_folder_that_is_not_there_has_no_grades_of_the_course_around_it(tmp_path):
    for name in ("gradebook.db", "nbgrader_config.py"):
        (tmp_path / name).touch()
    with pytest.raises(Problem, match="There are no results in"):
        exports.export(tmp_path / "reports", "csv")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["results", "--format", "excel"], f"There is no format 'excel'. Give one of: {FORMS}"),
        (["empty", "--format", "csv"], "There are no results in empty. Give the folder that"),
        (["results", "--format", "csv", "--out", "full"], "full exists and is not empty."),
    ],
)
def test_what_cannot_be_exported_is_one_sentence(folder, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(folder.parent)
    (folder.parent / "empty").mkdir()
    (folder.parent / "full").mkdir()
    (folder.parent / "full" / "mine.txt").touch()
    assert cli.main(["export", *arguments]) == 1
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1
    assert sorted(path.name for path in folder.parent.iterdir()) == ["empty", "full", "results"]


def test_an_export_that_fails_leaves_the_old_one(folder, monkeypatch):
    made = exports.export(folder, "junit")
    before = {path: path.read_bytes() for path in made.rglob("*.xml")}
    monkeypatch.setattr(junit, "document", lambda result: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        exports.export(folder, "junit")
    assert {path: path.read_bytes() for path in made.rglob("*.xml")} == before
    assert [path.name for path in made.parent.iterdir()] == ["junit"]


def test_two_results_of_one_submission_are_a_problem(folder, capsys):
    result_files.write(ADA, folder / "again")
    assert cli.main(["export", str(folder), "--format", "csv"]) == 1
    assert "holds two results of ada in core." in capsys.readouterr().err


def test_a_student_cannot_name_a_path(folder, capsys):
    spoilt = {**ADA, "student": "../../ada"}
    (folder / "core" / "ada.json").write_text(json.dumps(spoilt), encoding="utf-8")
    assert cli.main(["export", str(folder), "--format", "junit"]) == 1
    assert "'../../ada' cannot name a file." in capsys.readouterr().err


# ------------------------------------------------------------------------------------------
# Gradescope. The fields and their values are those of its Autograder Specifications.

VISIBILITY = {"hidden", "after_due_date", "after_published", "visible"}
TOP = {
    "score": (int, float), "execution_time": int, "output": str, "output_format": str,
    "visibility": str, "stdout_visibility": str, "tests": list,
    "extra_data": dict,
}  # fmt: skip
TEST = {
    "score": (int, float), "max_score": (int, float), "status": str, "name": str, "number": str,
    "output": str, "output_format": str, "visibility": str,
}  # fmt: skip


def assert_takes(document, fields):
    assert document.keys() <= fields.keys()
    assert all(isinstance(value, fields[name]) for name, value in document.items())
    assert {document[name] for name in document if name.endswith("visibility")} <= VISIBILITY
    assert document["output_format"] in ("text", "html", "simple_format", "md", "ansi")
    assert document.get("status", "passed") in ("passed", "failed")


@pytest.mark.parametrize("result", [ADA, BELA, CY], ids=["right", "mistake", "odd"])
def test_gradescope_and_prairielearn_take_a_result(result):
    document = json.loads(json.dumps(gradescope.document(result)))
    assert_takes(document, TOP)
    for test in document["tests"]:
        assert_takes(test, TEST)
    assert document["score"] == result["score"]
    assert sum(test.get("max_score", 0) for test in document["tests"]) == result["max_score"]
    assert sum(test.get("score", 0) for test in document["tests"]) == result["score"]
    document = json.loads(json.dumps(prairielearn.document(result)))
    assert_prairielearn_takes(document)
    assert document["score"] == pytest.approx(result["score"] / result["max_score"])


def test_gradescope_shows_the_feedback_and_hides_what_is_for_instructors():
    bind, _, eye = gradescope.document(CY)["tests"]
    assert bind["name"] == "core.full_raise: Box a value for a trace: pure or lift"
    assert bind["output"].startswith("0 of 3 tests passed.")
    assert (eye["visibility"], eye["output"]) == ("hidden", CY["review"][0])
    assert gradescope.document(CY)["output"] == CY["remarks"][0]
    said = json.dumps(gradescope.document(BELA))
    assert "Known mistake: A < B." in said
    assert "test_hidden" not in said


OWN = """\
partial = "none"

[feedback]
hints = 3

[[assignment]]
name = "ps1"
lessons = ["tiny"]
points = { "tiny.double" = 10, "tiny.mean" = 7 }
drop = ["tiny.spread"]
"""


def exported(monkeypatch, root, form, more=""):
    """What is exported of a class with points, a dropped exercise and a rule of its own."""
    graded_course.write(monkeypatch, root)
    (root / "class").mkdir()
    (root / "class" / "course.toml").write_text(OWN + more)
    lesson = courses.one_lesson(root / "class", "ps1")
    result = courses.with_points(graded_course.graded(manifest.get("tiny"), None), lesson)
    result_files.write({**result, "student": "ada"}, root / "class")
    return exports.export(root / "class", form)


# The mean of nothing is forgotten: one of three tests of the exercise fails.
FORGETFUL = graded_course.changed(
    '    if not len(x):\n        raise TinyError("nothing there")\n', ""
).replace(b"2.0 * np", b"3.0 * np")


def machine_of(archive, folder):
    """Gradescope's folder as its harness makes it: the archive unpacked, the script beside it.

    `setup.sh` would have made the `.venv`.
    """
    (folder / "submission").mkdir(parents=True)
    archives.unpack(archive, folder / "source")
    shutil.copy(folder / "source" / "run_autograder", folder)
    python = folder / "source" / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    return folder


def test_a_grader_with_other_points_than_the_grades_is_not_exported(tmp_path, monkeypatch, capsys):
    made = exported(monkeypatch, tmp_path, "csv")
    (made.parents[1] / "course.toml").unlink()
    assert cli.main(["export", str(made.parents[1]), "--format", "gradescope"]) == 1
    assert "graded with other points than course.toml gives" in capsys.readouterr().err


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Gradescope's folder of a lesson as it is."""
    lesson = graded_course.write(monkeypatch, tmp_path)
    (tmp_path / "autograder.zip").write_bytes(gradescope.archive(lesson, 3))
    return machine_of(tmp_path / "autograder.zip", tmp_path / "machine")


def run_autograder(machine):
    """Run the script as Gradescope does."""
    environment = {"AUTOGRADER_FOLDER": str(machine), "PATH": os.environ["PATH"]}
    return subprocess.run(
        [machine / "run_autograder"], cwd=machine, env=environment, capture_output=True, text=True
    )


# PrairieLearn. The fields are those of "External Grading" in its documentation.


def assert_prairielearn_takes(document):
    assert 0.0 <= document["score"] <= 1.0
    assert isinstance(document["gradable"], bool)
    assert ("format_errors" in document) == (not document["gradable"])
    assert all(isinstance(document[name], str) for name in ("message", "output"))
    for test in document["tests"]:
        texts = {"name", "description", "message", "output"}
        assert test.keys() == texts | {"points", "max_points"}
        assert all(isinstance(test[name], str) for name in texts)
        assert 0 <= test["points"] <= test["max_points"]
    assert len(json.dumps(document)) < 1_000_000


def test_what_cannot_be_imported_costs_no_attempt_in_prairielearn():
    assert prairielearn.document(BELA)["gradable"]
    reason = result_documents.ENDLESS
    lost = exercise("core.full_raise", False, message=reason)
    endless = result_documents.result("cy", lost, remarks=[reason])
    assert prairielearn.document(endless)["format_errors"] == [reason]
    nothing_right = result_documents.result(
        "dan", exercise("core.full_raise", False), remarks=["Also handed in: jvp (1).py."]
    )
    assert prairielearn.document(nothing_right)["gradable"]


def run_image(tmp_path, image, source):
    """Grade a module by the archive of an image, as its container would; the document."""
    archives.unpack(image, tmp_path / "image")
    student = tmp_path / "grade" / "student"
    student.mkdir(parents=True)
    (student / "numbers.py").write_bytes(source)
    start = (tmp_path / "image" / "Dockerfile").read_text().replace("\\\n", "").splitlines()[-1]
    _, *arguments = json.loads(start.removeprefix("ENTRYPOINT "))
    arguments = [str(tmp_path / "grade") if x == "/grade" else x for x in arguments]
    environment = {"PYTHONPATH": str(tmp_path / "image"), "PATH": os.environ["PATH"]}
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return load(tmp_path / "grade" / "results" / "results.json")


def gradescopes(archive, folder, source):
    """Grade a module by Gradescope's archive; the document, and points and words by exercise."""
    machine = machine_of(archive, folder / "machine")
    (machine / "submission" / "numbers.py").write_bytes(source)
    done = run_autograder(machine)
    assert done.returncode == 0, done.stderr
    document = load(machine / "results" / "results.json")
    return document, [(x["score"], x["max_score"], x["output"]) for x in document["tests"]]


def prairielearns(archive, folder, source):
    """The same by PrairieLearn's image."""
    document = run_image(folder / "run", archive, source)
    return document, [(x["points"], x["max_points"], x["output"]) for x in document["tests"]]


both = pytest.mark.parametrize(
    ("form", "run"), [("gradescope", gradescopes), ("prairielearn", prairielearns)]
)


@both
@pytest.mark.isolated
def test_a_grader_elsewhere_gives_the_points_of_the_course(tmp_path, monkeypatch, form, run):
    (archive,) = exported(monkeypatch, tmp_path, form).glob("ps1-tiny-*.zip")
    document, tests = run(archive, tmp_path, FORGETFUL)
    assert [x[:2] for x in tests] == [(0, 10), (0, 7)]
    assert tests[0][2].count("Hint: ") == 3
    assert "Known mistake: It is tripled." in tests[0][2]
    if form == "gradescope":
        assert_takes(document, TOP)
        return
    assert_prairielearn_takes(document)
    question = load(tmp_path / "run" / "image" / "question" / "info.json")
    assert question["gradingMethod"] == "External"
    assert question.keys() >= {"uuid", "title", "topic", "type"}  # what its schema requires
    assert question["externalGradingOptions"]["timeout"] <= 600


@pytest.mark.isolated
def test_the_autograder_tells_what_is_missing(machine):
    assert run_autograder(machine).returncode == 0
    document = load(machine / "results" / "results.json")
    assert (document["score"], len(document["tests"])) == (0, 3)
    assert "tiny/numbers.py is missing" in document["output"]


def test_the_autograder_gives_no_score_where_it_cannot_grade(machine):
    script = machine / "run_autograder"
    text = script.read_text(encoding="utf-8")
    script.write_text(text.replace('ISOLATION=""', 'ISOLATION="locked"'), encoding="utf-8")
    done = run_autograder(machine)
    assert done.returncode == 1
    assert done.stderr.startswith("Not graded. ")
    assert "Traceback" not in done.stderr
    assert not (machine / "results").exists()


def test_the_autograders_archive_holds_what_the_lesson_needs_and_nothing_later(tmp_path):
    content = io.BytesIO(gradescope.archive(manifest.get("pytrees"), 3))
    with zipfile.ZipFile(content) as archive:
        held = {entry.filename: entry.external_attr >> 16 for entry in archive.infolist()}
    assert held["setup.sh"] == held["run_autograder"] == 0o100755
    assert {"autograder/hidden/suites/pytrees.py", "solutions/minijax/tree.py"} <= held.keys()
    locks = ("grader.txt", "install.sh", "lock.txt", "uv.txt", "without.txt")
    assert {f"requirements/{name}" for name in locks} <= held.keys()
    assert "autograder/grading/result.json" in held
    assert not [name for name in held if re.search("jvp|suites/core|microjax", name)]


def test_the_autograders_scripts_are_sound():
    for text in (gradescope.SETUP, gradescope.RUN.format(lesson="core", seed=3)):
        assert text.startswith("#!/usr/bin/env bash\n")
        subprocess.run(["bash", "-n"], input=text, text=True, check=True)


# ------------------------------------------------------------------------------------------
# GitHub Classroom


def with_places():
    """An exercise that begins at line 7, of two tests that say what they ask."""
    placed = {**exercise("core.full_raise", True, False), "line": 7}
    placed["tests"] = [{**test, "property": "Bind is right."} for test in placed["tests"]]
    return placed


def test_annotations_mark_the_function_and_no_text_begins_a_command():
    placed = {**with_places(), "message": "100% wrong.\n::error::forged\x1b[1m"}
    done = exercise("core.get_aval", True)
    total, both, grade, mark = github.annotations(result_documents.result("ada", placed, done))
    assert total == "::notice title=Autograding complete::Points 3/4"
    assert both == '::notice title=Autograding report::{"totalPoints": 3.0, "maxPoints": 4.0}'
    assert grade == "::notice title=Grade::3 of 4 points. Isolation: namespaces."
    where = "file=minijax/core.py,line=7,title=core.full_raise%3A 1 of 2 tests passed"
    assert mark == f"::error {where}::100%25 wrong.%0A::error::forged?[1m"


def test_a_remark_is_an_error_only_if_it_costs_points_and_hides_no_other():
    remark = "There is no minijax/jvp.py; JVP.PY was taken for it."
    open_question = exercise("core.question", False, points=3.0)
    open_question["tests"][0]["id"] = feedback.BY_HAND
    lost = exercise("core.full_raise", False)
    noted = result_documents.result("bob", lost, open_question, remarks=[remark])
    *_, said, mark, question = github.annotations(noted)
    assert said == f"::notice title=core::{remark}"
    assert mark.startswith("::error title=core.full_raise%3A 0 of 1 tests passed::")
    assert question.startswith("::notice title=core.question::")
    reason = result_documents.ENDLESS
    lost = exercise("core.full_raise", False, message=reason)
    *_, said = github.annotations(result_documents.result("cy", lost, remarks=[reason]))
    assert said == f"::error title=core::{reason}"


def workflow(name):
    text = (places.COURSE / "instructor" / "github" / name).read_text(encoding="utf-8")
    return yaml.safe_load(text)


def test_students_workflow_calls_the_graders():
    (caller,) = workflow("push.yml")["jobs"].values()
    assert caller["uses"].endswith("/.github/workflows/grade.yml@main")
    assert caller["with"].keys() == {"lesson"}


def machine_with_a_push(tmp_path, lesson):
    """The instructor's machine after the check-out of an untouched skeleton; its environment."""
    pushed = tmp_path / "work" / "ps1-ada" / lesson.module
    pushed.parent.mkdir(parents=True)
    pushed.write_text(skeleton.make_skeleton(assemble.read_solution(lesson.module), lesson))
    tool = tmp_path / "tool" / "jaxprentice"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec {sys.executable} -P -m autograder "$@"\n')
    tool.chmod(0o755)
    known = {"LESSON": lesson.id, "REPOSITORY": "ps1-ada", "SEED": "3", "JAXPRENTICE": tool.parent}
    known |= {"RESULTS": tmp_path / "kept", "COURSE": tmp_path / "course"}
    (tmp_path / "course").mkdir()
    (tmp_path / "course" / "course.toml").write_text(
        '[at_once]\nshows = "counts"\n[[assignment]]\nname = "ps1"\nlessons = ["interpreters"]\n'
        'points = { "interpreters.bind" = 40 }\n'
    )
    more = {"PATH": os.environ["PATH"], "PYTHONPATH": places.ROOT, **known}
    return {name: str(value) for name, value in more.items()}


@pytest.mark.slow
@pytest.mark.isolated
def test_a_push_is_graded_by_the_commands_of_the_workflow(tmp_path):
    lesson = manifest.get("interpreters")
    (job,) = workflow("grade.yml")["jobs"].values()
    environment = machine_with_a_push(tmp_path, lesson)
    assert job["env"].keys() <= environment.keys()
    said = ""
    for step in job["steps"]:
        if command := step.get("run"):
            assert "${{" not in command  # an expression in a script would be run
            done = subprocess.run(
                ["bash", "-e", "-c", command],
                cwd=tmp_path, env=environment, capture_output=True, text=True,
            )  # fmt: skip
            assert done.returncode == ("unless" in step["name"]), done.stderr
            said += done.stdout
    assert f"::notice title=Grade::0 of {lesson.max_points + 38:g} " in said
    assert f"::error file={lesson.module},line=" in said
    assert said.count("::Not all tests passed.") == len(lesson.graded)
    assert not (tmp_path / "work").exists()
    kept = result_files.read(tmp_path / "kept" / lesson.id / "ps1-ada" / "ps1-ada.json")
    assert (kept["lesson"], kept["score"]) == (lesson.id, 0)


def test_results_that_are_sent_are_shown_and_fail_unless_all_is_right(folder):
    made = exports.export(folder, "github")
    workflow = yaml.safe_load((made / "classroom.yml").read_text(encoding="utf-8"))
    assert workflow["name"] == "Autograding Tests"  # Classroom looks for it, and for the job's
    (step,) = workflow["jobs"]["run-autograding-tests"]["steps"]
    assert "${{" not in step["run"]  # an input in a script would be run
    for result, status in ((ADA, 0), (BELA, 1)):
        text = (made / "core" / f"{result['student']}.txt").read_text(encoding="utf-8").strip()
        done = subprocess.run(
            ["bash", "-e", "-c", step["run"]],
            env={**os.environ, "RESULTS": text}, capture_output=True, text=True,
        )  # fmt: skip
        assert (done.returncode, done.stdout.strip()) == (status, text)
        assert text.startswith(f"::notice title=Autograding complete::Points {result['score']:g}/")


# ------------------------------------------------------------------------------------------
# JUnit: the elements and attributes of the schema junit-10.xsd

ATTRIBUTES = {
    "testsuites": {"name", "time", "tests", "failures", "errors"},
    "testsuite": {"name", "tests", "failures", "errors", "time", "skipped", "timestamp"},
    "properties": set(),
    "property": {"name", "value"},
    "testcase": {"name", "classname", "time", "file", "line"},
    "failure": {"type", "message"},
}
CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase"},
    "properties": {"property"},
    "testcase": {"failure"},
}


@pytest.mark.parametrize("result", result_documents.CLASS)
def test_junit_has_a_case_for_each_test(result):
    root = ElementTree.fromstring(junit.document(result))
    for element in root.iter():
        assert element.attrib.keys() <= ATTRIBUTES[element.tag]
        assert {child.tag for child in element} <= CHILDREN.get(element.tag, set())
    tests = [test for e in result["exercises"] for test in e["tests"]]
    suite = root.find("testsuite")
    assert re.fullmatch(r"\d+\.\d{3}", suite.get("time"))
    failed = [case.find("failure") is not None for case in suite.iter("testcase")]
    assert failed == [not test["passed"] for test in tests]
    assert (suite.get("tests"), suite.get("failures")) == (str(len(tests)), str(sum(failed)))
    facts = {p.get("name"): p.get("value") for p in suite.iter("property")}
    assert facts["student"] == result["student"]


def test_a_case_names_the_file_and_the_line_that_was_handed_in():
    root = ElementTree.fromstring(junit.document(result_documents.result("ada", with_places())))
    found = [(case.get("file"), case.get("line")) for case in root.iter("testcase")]
    assert found == [("minijax/core.py", "7")] * 2


def test_junit_takes_any_text():
    odd = exercise("core.full_raise", False)
    odd["tests"][0]["message"] = "a\0b\ud800 <&> \u263a\x1b[1m"
    root = ElementTree.fromstring(junit.document(result_documents.result("ada", odd)))
    assert root.find(".//failure").get("message") == "a?b? <&> \u263a?[1m"


# ------------------------------------------------------------------------------------------
# Tables


def rows(path):
    return list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8"), newline="")))


def test_the_table_has_each_student_with_points_maxima_and_days_late(folder, capsys):
    people = 'id,name,section\nada,"Ada, B.",A\nzoe,Zoe,B\n'  # the last has handed in nothing
    (folder / "roster.csv").write_text(people, encoding="utf-8")
    path = folder / "core" / "ada.json"
    late = {**json.loads(path.read_text(encoding="utf-8")), "days_late": 2}
    path.write_text(json.dumps(late), encoding="utf-8")
    assert rows(exports.export(folder, "csv") / "grades.csv") == [
        [
            *("student", "name", "section", "core", "core maximum", "core days late"),
            *("jvp", "jvp maximum", "jvp days late", "total", "maximum"),
        ],
        ["'=cy", "'=cy", "", "0.0", "4.0", "", "", "1.0", "", "0.0", "5.0"],
        ["ada", "Ada, B.", "A", "4.0", "4.0", "2", "0.5", "1.0", "", "4.5", "5.0"],
        ["bela", "bela", "", "2.67", "4.0", "", "", "1.0", "", "2.67", "5.0"],
        ["zoe", "Zoe", "B", "", "4.0", "", "", "1.0", "", "0", "5.0"],
    ]
    assert (
        "Not in the roster, and written by their ids alone: =cy, bela." in capsys.readouterr().out
    )


def test_canvas_finds_its_columns_and_the_students(folder):
    """As Canvas reads it: lib/gradebook_importer.rb."""
    head, points, *students = rows(exports.export(folder, "canvas") / "canvas.csv")
    assert "Student" in head[0]
    assert "ID" in head[1]
    assert re.search(r"SIS\s+User\s+ID", head[2])
    assert re.search(r"SIS\s+Login\s+ID", head[3])
    assert "Section" in head[4]
    assert [title.partition(":")[0] for title in head[5:]] == ["Core", "jvp"]
    assert "Points Possible" in points[0]
    assert points[5:] == ["4.0", "1.0"]
    assert students[1] == ["ada", "", "", "ada", "", "4.0", "0.5"]


NAMES = {
    **{start: f"{start}1+1" for start in ("=", "+", "-", "@", "\t=", "\r\n=", "\uff1d", "\ufeff=")},
    "semicolon": "ada;=1+1",
    "bar": "ada| @x",
    "comma": "ada, =1+1",
    "quote": 'a;"=1+1"',
    "second": "ada;b;-1+cmd|' /C calc'!A0",
}


@pytest.mark.parametrize("delimiter", [",", ";", "|", "\t"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", sorted(systems.exporting().keys() - NO_TABLES))
def test_no_cell_is_a_formula_whatever_ends_a_cell(tmp_path, name, form, delimiter):
    found = {"core": [result_documents.result(NAMES[name], exercise("core.full_raise", True))]}
    about = found, people.Roster(), courses.read(tmp_path)
    ((_, table),) = systems.exporting()[form].files(*about)
    file = io.StringIO(table.decode(), newline="")
    cells = [cell for row in csv.reader(file, delimiter=delimiter) for cell in row]
    signs = tuple("=+-@\uff1d\uff0b\uff0d\uff20")
    assert not [cell for cell in cells if cell.lstrip(' "\u200b\ufeff').startswith(signs)]


@pytest.mark.isolated
@pytest.mark.parametrize(
    ("system", "inside"), [(gradescope, "submission"), (prairielearn, "student")]
)
def test_what_is_wrong_with_a_suite_is_for_the_log(system, inside, tmp_path, monkeypatch, capsys):
    broken = graded_course.SUITE.replace(
        "student.agrees(double_of, x)", "student.agrees(secret, x)"
    )
    graded_course.write(monkeypatch, tmp_path, {"suites/tiny.py": broken})
    (tmp_path / inside).mkdir()
    (tmp_path / inside / "numbers.py").write_text(graded_course.MODULE)
    more = [""] if system is gradescope else []
    assert system.main(["tiny", str(tmp_path), "3", *more]) == 1
    assert "test_double" in capsys.readouterr().err
    made = tmp_path / "results" / "results.json"
    document = load(made) if made.exists() else {}
    assert document == (
        {"gradable": False, "format_errors": prairielearn.NOT_GRADED} if more == [] else {}
    )
