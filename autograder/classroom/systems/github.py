"""GitHub Classroom: clones of repositories named by their accounts; and results for it.

`gh classroom clone student-repos` puts ASSIGNMENT-LOGIN into ASSIGNMENT-submissions, where
ASSIGNMENT is the name that the assignment has there. For the way back see the action
classroom-resources/autograding-grading-reporter (src/notify-classroom.js).
"""

import contextlib
import json
import os
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from autograder.classroom.course.people import Roster
from autograder.classroom.course.settings import CHECKS, FULL, Course
from autograder.classroom.intake.downloads import Download, Entry
from autograder.classroom.systems import system
from autograder.classroom.systems.system import Claim, Collects, Exports, Reader, Readings
from autograder.grading import feedback
from autograder.grading.result import Class, Result

_FOLDER = "-submissions"


def _reader(download: Download, assignment: str) -> Reader:
    named = download.name.endswith(_FOLDER)
    prefix = (download.name.removesuffix(_FOLDER) if named else assignment) + "-"

    def read(entry: Entry) -> Readings:
        if entry.is_file or not entry.name.startswith(prefix):
            return []
        called = ((entry.name.removeprefix(prefix), ("github", "id")),)
        time = _committed(download.folder / entry.name) if download.folder else None
        return [[Claim(entry.name, called, entry.name, time=time)]]

    return read


def _committed(folder: Path) -> datetime | None:
    """When the last commit of a clone was made, if it is one."""
    if not (folder / ".git").is_dir():
        return None
    # None of these may start a program that the clone's own settings name. Without a protocol
    # git fetches no objects that the clone lacks.
    command = ["git", "-c", "core.fsmonitor=false", "-c", "log.showSignature=false"]
    command += ["-C", str(folder), "log", "-1", "--format=%ct"]
    alone = {**os.environ, "GIT_ALLOW_PROTOCOL": ""}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=alone)
    with contextlib.suppress(ValueError, OverflowError, OSError):  # the author chooses the time
        return datetime.fromtimestamp(int(done.stdout), UTC).replace(tzinfo=None)
    return None


# ------------------------------------------------------------------------------------------
# Results: workflow commands, with the two notices from which Classroom takes points

WORKFLOW = """\
# Shows GitHub Classroom the grades that the instructor's grader has given. In the template
# repository this is .github/workflows/classroom.yml. It runs nothing of the student's, and is
# started for each student with the text that `export --format github` has written:
#
#     gh workflow run classroom.yml -R ORGANIZATION/REPOSITORY -f results="$(cat STUDENT.txt)"
name: Autograding Tests
on:
  workflow_dispatch:
    inputs:
      results:
        description: the lines of STUDENT.txt
        required: true
        type: string
permissions:
  contents: read
jobs:
  run-autograding-tests:
    runs-on: ubuntu-latest
    steps:
      - name: Show the results
        env:
          RESULTS: ${{ inputs.results }}
        run: |
          printf '%s\\n' "$RESULTS"
          case $RESULTS in *::error*) exit 1 ;; esac
"""


# Where students see the visible checks alone, their own copy of the handout runs them.
CHECKING = """\
# Runs the visible checks on each push. In the template repository, which is the handout of the
# lesson, this is .github/workflows/classroom.yml. Nothing hidden is there, and nothing counts.
name: Visible checks
on: push
permissions:
  contents: read
jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@34e114876b0b11c390a56381ad16ebd13914f8d5 # v4.3.1
      - run: ./jaxprentice --plain check
"""


def _files(found: Class, roster: Roster, course: Course) -> Iterator[tuple[str, bytes]]:
    shows = course.at_once.shows
    yield "classroom.yml", (CHECKING if shows == CHECKS else WORKFLOW).encode()
    lines = system.of_each(found, "txt", lambda x: "\n".join([*annotations(x, shows), ""]).encode())
    yield from lines


def annotations(result: Result, shows: str = FULL) -> Iterator[str]:
    """A result as GitHub's workflow commands: the grade, and a mark at each exercise that failed.

    Where students see the visible checks alone, it says no more than that it is there.

    A runner that prints these lines shows them beside the student's code, and GitHub Classroom
    takes the points.
    """
    if shows == CHECKS:
        yield _command("notice", {"title": result["lesson"]}, "This is submitted.")
        return
    points = {"totalPoints": result["score"], "maxPoints": result["max_score"]}
    both = "Points {totalPoints:g}/{maxPoints:g}".format_map(points)
    yield _command("notice", {"title": "Autograding complete"}, both)
    yield _command("notice", {"title": "Autograding report"}, json.dumps(points))
    grade = f"{result['score']:g} of {result['max_score']:g} points."
    yield _command("notice", {"title": "Grade"}, f"{grade} Isolation: {result['isolation']}.")
    faults = feedback.faults(result)
    for remark in result["remarks"]:
        kind = "error" if remark in faults else "notice"
        yield _command(kind, {"title": result["lesson"]}, remark)
    for exercise in result["exercises"]:
        passed = sum(test["passed"] for test in exercise["tests"])
        if feedback.is_by_hand(exercise):
            if exercise["message"]:
                yield _command("notice", {"title": exercise["id"]}, exercise["message"])
        elif exercise["message"] and exercise["message"] not in faults:
            title = f"{exercise['id']}: {passed} of {len(exercise['tests'])} tests passed"
            text = exercise["message"] if shows == FULL else "Not all tests passed."
            yield _command("error", {**system.place_of(exercise), "title": title}, text)


def _command(name: str, about: dict[str, str], text: str) -> str:
    """A workflow command. In its text no line ends, so that none begins another command."""
    marks = ",".join(f"{key}={_escaped(value, ':,')}" for key, value in about.items())
    return f"::{name} {marks}::{_escaped(text, '')}"


def _escaped(text: str, more: str) -> str:
    text = "".join(c if c.isprintable() or c in "\r\n" else "?" for c in text)
    for character in f"%\r\n{more}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text


SYSTEM = system.System(
    "github",
    Collects(
        _reader,
        example="ps1-adab/minijax/core.py",
        download="`gh classroom clone student-repos`: the folder `ps1-submissions`",
        note=(
            "a repository's name is the assignment's name and the login, which the roster has as "
            "`github`. The folder says what GitHub calls the assignment; if the folder has a "
            "different name, GitHub's must be the name in `course.toml`. The time is that of the "
            "last commit, and **its author chooses it**: where it matters, look at the pushes "
            "(*Activity*) on GitHub"
        ),
        caution=(
            "Times are those of the last commits, as given by the students themselves. Where a "
            "grade depends on one, look at the pushes on GitHub."
        ),
    ),
    Exports(
        _files,
        holds=(
            "for each submission its points and marks with file and line, as GitHub's annotations, "
            "and a workflow that shows them"
        ),
        use="see below",
    ),
)
