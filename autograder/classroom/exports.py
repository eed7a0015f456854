"""Results in the forms that other systems read.

Each form is what its reader documents, or what its reader's source takes:

    gradescope  gradescope-autograders.readthedocs.io, "Autograder Specifications"
    github      the action classroom-resources/autograding-grading-reporter (src/main.js)
    junit       the schema junit-10.xsd of Jenkins' xUnit plugin, with `file` and `line` of a test
                case as pytest's xunit1 has them, which readers on GitHub and GitLab use
    csv         RFC 4180
    canvas      Canvas, lib/gradebook_importer.rb
    moodle      docs.moodle.org, "Grade import"
    prairielearn  docs.prairielearn.com, "External Grading"

What students may see there is what they see in feedback: no hidden test, no expected value.
"""

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from autograder.classroom import grades, gradescope, people, prairielearn
from autograder.classroom.grades import Class
from autograder.classroom.people import Roster
from autograder.grading import results
from autograder.grading.result import Result, Verdict
from autograder.lessons import manifest
from autograder.lessons.problem import Problem

FOLDER = "exports"


def export(folder: Path, form: str, out: Path | None = None, source: str | None = None) -> Path:
    """Write the grades of a folder in another form, into `out` or `folder/exports/<form>`.

    `source` says where they are from (see `grades`).
    """
    if form not in _WRITERS:
        known = ", ".join(_WRITERS)
        raise Problem(f"There is no format {form!r}. Give one of: {known}.")
    found = grades.read(folder, source)
    to = out or grades.place(folder) / FOLDER / form
    with results.made_whole(to) as new:
        _WRITERS[form](found, new, people.roster(grades.directory(folder) or folder))
    return to


def place(folder: Path, result: Result, suffix: str) -> Path:
    """Where the file of one submission goes: `folder/<lesson>/<student>.<suffix>`."""
    lesson, student = results.file_name(result["lesson"]), results.file_name(result["student"])
    path = folder / lesson / f"{student}.{suffix}"
    path.parent.mkdir(exist_ok=True)
    return path


# ------------------------------------------------------------------------------------------
# Gradescope


def _write_gradescope(found: Class, folder: Path, roster: Roster) -> None:
    for class_results in found.values():
        for lesson in _lessons(class_results[0]):
            archive = folder / f"{lesson}-autograder.zip"
            gradescope.write_archive(manifest.get(lesson), archive, class_results[0]["seed"])
        for result in class_results:
            _write_json(gradescope.document(result), place(folder, result, "json"))


def _write_prairielearn(found: Class, folder: Path, roster: Roster) -> None:
    for class_results in found.values():
        for lesson in _lessons(class_results[0]):
            archive = folder / f"{lesson}-grader.zip"
            prairielearn.write_image(manifest.get(lesson), archive, class_results[0]["seed"])
        for result in class_results:
            _write_json(prairielearn.document(result), place(folder, result, "json"))


def _lessons(result: Result) -> list[str]:
    """The lessons whose exercises a result has."""
    return list(dict.fromkeys(exercise["id"].partition(".")[0] for exercise in result["exercises"]))


def _write_json(document: Any, path: Path) -> None:
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


# ------------------------------------------------------------------------------------------
# GitHub Classroom. Its reporter reads for each of its `runners` a variable <RUNNER>_RESULTS, and
# adds up the tests' scores. An exercise is a runner here, for a runner's tests weigh the same.

WORKFLOW = """\
# Shows GitHub Classroom the grades that the instructor's grader has given. In the template
# repository this is .github/workflows/classroom.yml. It runs nothing of the student's, and is
# started for each student with the text that `export --format github` has written:
#
#     gh workflow run classroom.yml -R ORGANIZATION/REPOSITORY -f results="$(cat STUDENT.env)"
name: Autograding Tests
on:
  workflow_dispatch:
    inputs:
      results:
        description: the lines of STUDENT.env
        required: true
        type: string
permissions:
  checks: write
  actions: read
  contents: read
jobs:
  run-autograding-tests:
    runs-on: ubuntu-latest
    steps:
      - name: Take the results
        env:
          RESULTS: ${{ inputs.results }}
        run: printf '%s\\n' "$RESULTS" >> "$GITHUB_ENV"
      - name: Autograding Reporter
        uses: classroom-resources/autograding-grading-reporter@v1
        with:
          runners: ${{ env.RUNNERS }}
"""


def _write_github(found: Class, folder: Path, roster: Roster) -> None:
    (folder / "classroom.yml").write_text(WORKFLOW, encoding="utf-8")
    for result in (result for class_results in found.values() for result in class_results):
        runners = {e["id"].replace(".", "_"): github_runner(e) for e in result["exercises"]}
        _write_json(runners, place(folder, result, "json"))
        lines = [f"RUNNERS={','.join(runners)}"]
        for name, runner in runners.items():
            code = base64.b64encode(json.dumps(runner).encode()).decode()
            lines.append(f"{name.upper()}_RESULTS={code}")
        place(folder, result, "env").write_text("\n".join(lines) + "\n", encoding="utf-8")
        said = "\n".join(annotations(result))
        place(folder, result, "txt").write_text(f"{said}\n", encoding="utf-8")


def github_runner(exercise: Verdict) -> dict[str, Any]:
    """An exercise as the reporter takes it."""
    tests = exercise["tests"]
    passed = sum(test["passed"] for test in tests)
    scores = _shares(exercise["points"], passed)
    made = [_github_test(exercise, i, scores) for i in range(len(tests))]
    if not passed:  # whatever points there are, a person has given
        made[0]["score"] = exercise["points"]
    return {
        "version": 1,
        "status": "pass" if passed == len(tests) else "fail",
        "max_score": exercise["max_points"],
        "tests": made,
    }


def _github_test(exercise: Verdict, index: int, scores: list[float]) -> dict[str, Any]:
    test = exercise["tests"][index]
    asked = test.get("property", "")
    why = None if test["passed"] else test.get("message") or exercise["message"]
    # The reporter prints names only.
    said = f"{asked} {why}" if why and asked not in why else why or asked
    return {
        "name": f"{exercise['id']} {index + 1}" + (f": {said}" if said else ""),
        "line_no": exercise.get("line", 0),  # the reporter leaves 0 out
        "status": "pass" if test["passed"] else "fail",
        "score": scores.pop() if test["passed"] else 0,
        "message": why,
    }


def annotations(result: Result) -> Iterator[str]:
    """A result as GitHub's workflow commands: the grade, and a mark at each exercise that failed.

    A runner that prints these lines shows them beside the student's code.
    """
    grade = f"{result['score']:g} of {result['max_score']:g} points."
    yield _command("notice", {"title": "Grade"}, f"{grade} Isolation: {result['isolation']}.")
    for remark in result["remarks"]:
        yield _command("error", {"title": result["lesson"]}, remark)
    for exercise in result["exercises"]:
        passed = sum(test["passed"] for test in exercise["tests"])
        if exercise["message"] and not result["remarks"]:
            title = f"{exercise['id']}: {passed} of {len(exercise['tests'])} tests passed"
            yield _command("error", {**place_of(exercise), "title": title}, exercise["message"])


def place_of(exercise: Verdict) -> dict[str, str]:
    """The file and line of an exercise that was handed in; {} if it has no place."""
    lesson = manifest.load().get(exercise["id"].partition(".")[0])
    if lesson is None or "line" not in exercise:
        return {}
    return {"file": lesson.module, "line": str(exercise["line"])}


def _command(name: str, about: dict[str, str], text: str) -> str:
    """A workflow command. In its text no line ends, so that none begins another command."""
    marks = ",".join(f"{key}={_escaped(value, ':,')}" for key, value in about.items())
    return f"::{name} {marks}::{_escaped(text, '')}"


def _escaped(text: str, more: str) -> str:
    text = "".join(c if c.isprintable() or c in "\r\n" else "?" for c in text)
    for character in f"%\r\n{more}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def _shares(points: float, count: int) -> list[float]:
    """So many shares, to the cent, whose sum is `points`."""
    cents, rest = divmod(round(100 * points), count or 1)
    return [(cents + (i < rest)) / 100 for i in range(count)]


# ------------------------------------------------------------------------------------------
# JUnit


def _write_junit(found: Class, folder: Path, roster: Roster) -> None:
    for result in (result for class_results in found.values() for result in class_results):
        place(folder, result, "xml").write_bytes(junit(result))


def junit(result: Result) -> bytes:
    """One submission as a JUnit file: a test case for each hidden test, by exercise."""
    cases = [(exercise, test) for exercise in result["exercises"] for test in exercise["tests"]]
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(not test["passed"] for _, test in cases)),
        "errors": "0",
        "time": f"{result.get('seconds', 0):.3f}",
    }
    root = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(root, "testsuite", {"name": result["lesson"], **counts})
    properties = ElementTree.SubElement(suite, "properties")
    for name in ("student", "score", "max_score", "isolation"):
        about = {"name": name, "value": _printable(result[name])}
        ElementTree.SubElement(properties, "property", about)
    for exercise, test in cases:
        names = {"classname": exercise["id"], "name": _printable(test["id"])}
        case = ElementTree.SubElement(suite, "testcase", {**names, **place_of(exercise)})
        if not test["passed"]:
            why = _printable(test.get("message") or exercise["message"] or "")
            about = {"type": test.get("class") or "failure", "message": why}
            ElementTree.SubElement(case, "failure", about)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)


def _printable(value: Any) -> str:
    """A value as a text without the characters that XML cannot hold."""
    return re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", str(value))


# ------------------------------------------------------------------------------------------
# Tables


def _write_csv(found: Class, folder: Path, roster: Roster) -> None:
    scores = _scores(found)
    rows: list[list[Any]] = [["student", *found, "total"]]
    for student, row in scores.items():
        total = round(sum(score for score in row if score is not None), 2)
        rows.append([student, *("" if score is None else score for score in row), total])
    (folder / "grades.csv").write_text(results.table(rows), encoding="utf-8", newline="")


def _write_canvas(found: Class, folder: Path, roster: Roster) -> None:
    """Canvas knows students by its ID, SIS ID or login; the student's id counts as the login."""
    points = [class_results[0]["max_score"] for class_results in found.values()]
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *_titles(found)]
    rows: list[list[Any]] = [head, ["    Points Possible", "", "", "", "", *points]]
    for student, row in _scores(found).items():
        about = roster.get(student)
        cells = ("" if score is None else score for score in row)
        rows.append([about.full_name, about.lms_id, "", student, about.section, *cells])
    (folder / "canvas.csv").write_text(results.table(rows), encoding="utf-8", newline="")


def _write_moodle(found: Class, folder: Path, roster: Roster) -> None:
    """Moodle's import of grades: the instructor chooses there what each column is."""
    rows: list[list[Any]] = [["Username", "ID number", "Email address", *_titles(found)]]
    for student, row in _scores(found).items():
        about = roster.get(student)
        cells = ("" if score is None else score for score in row)
        rows.append([student, about.lms_id, about.email, *cells])
    (folder / "moodle.csv").write_text(results.table(rows), encoding="utf-8", newline="")


def _titles(found: Class) -> list[str]:
    """The titles of the assignments; of those that are not lessons, the names."""
    known = manifest.load()
    return [known[name].title if name in known else name for name in found]


def _scores(found: Class) -> dict[str, list[float | None]]:
    """Every student's score in each lesson; None where there is no submission."""
    by_lesson = [{r["student"]: r["score"] for r in results} for results in found.values()]
    students = sorted(_all(by_lesson))
    return {student: [scores.get(student) for scores in by_lesson] for student in students}


def _all(parts: Iterable[Iterable[str]]) -> set[str]:
    return {item for part in parts for item in part}


Writer = Callable[[Class, Path, Roster], None]

_WRITERS: dict[str, Writer] = {
    "gradescope": _write_gradescope,
    "github": _write_github,
    "junit": _write_junit,
    "csv": _write_csv,
    "canvas": _write_canvas,
    "moodle": _write_moodle,
    "prairielearn": _write_prairielearn,
}
