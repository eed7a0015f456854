"""Gradescope: its exported submissions; results as it shows them; an autograder that it runs.

`submission_metadata.yml` says whose each exported submission is.

The autograder's archive holds all that grading one lesson needs. Gradescope unpacks it to `source/`
in its folder /autograder, runs `setup.sh` once, and `run_autograder` for each submission, which
starts `main` below. See "Autograder Specifications" on gradescope-autograders.readthedocs.io.
"""

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from autograder.classroom.course import settings as courses
from autograder.classroom.course.people import Roster
from autograder.classroom.course.settings import CHECKS, FULL, Course
from autograder.classroom.intake import files as intake
from autograder.classroom.intake.downloads import Download, Entry
from autograder.classroom.run.run import Submission, presented
from autograder.classroom.systems import at_once, system
from autograder.classroom.systems.system import Called, Claim, Collects, Exports, Reader, Readings
from autograder.grading import feedback, result_files, submission, suite
from autograder.grading.result import Class, Result, Verdict
from autograder.grading.task import Edition, Task
from autograder.lessons import assemble, manifest, packing, places, user_files
from autograder.lessons.manifest import Lesson
from autograder.lessons.problem import Problem
from autograder.sandbox import isolation

# ------------------------------------------------------------------------------------------
# Whose submissions


def _reader(download: Download, assignment: str) -> Reader:
    about = _about(download)

    def read(entry: Entry) -> Readings:
        if entry.is_file or not re.fullmatch(r"submission_[0-9]+", entry.name):
            return []
        facts = _table(about.get(entry.name))
        time = _utc(facts.get(":created_at"))
        people = _submitters(facts) or [()]  # without any, it is a stranger's
        return [[Claim(entry.name, called, entry.name, time=time) for called in people]]

    return read


def _about(download: Download) -> dict[str, Any]:
    """What `submission_metadata.yml` says of each submission."""
    file = download.entries.get("submission_metadata.yml")
    if file is None or not file.is_file:
        return {}
    return user_files.yaml(file.files[""](user_files.LIMIT + 1), Path(file.name))


# In which columns of a roster each fact of a submitter is looked up. The first fact that is there
# counts: people choose their own names, so that one may look like another's id.
_FACTS = {":sid": ("id", "lms_id"), ":email": ("email",), ":name": ("full_name",)}


def _submitters(facts: dict[str, Any]) -> list[Called]:
    """What Gradescope calls those who handed in together, as far as it says that."""
    listed = facts.get(":submitters")
    called = map(_called, map(_table, listed if isinstance(listed, list) else []))
    return [each for each in called if each]


def _called(submitter: dict[str, Any]) -> Called:
    for fact, columns in _FACTS.items():
        if text := submitter.get(fact):
            return tuple((str(text), (column,)) for column in columns)
    return ()


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _utc(time: Any) -> datetime | None:
    if not isinstance(time, datetime):
        return None
    return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time


# ------------------------------------------------------------------------------------------
# Results


def document(result: Result, hints: int = 1, shows: str = FULL) -> dict[str, Any]:
    """A result as `results.json`. What is for the instructor alone is hidden from students.

    Where students see the visible checks alone at first, the rest waits until grades are published.
    """
    shown = "after_published" if shows == CHECKS else "visible"
    tests = [
        _test(number, exercise, at_once.said(exercise, shows, hints))
        for number, exercise in enumerate(result["exercises"], 1)
    ]
    if notes := result.get("review"):  # worth no points, so that it can be hidden
        output = {"output": "\n".join(notes), "output_format": "text", "visibility": "hidden"}
        tests.append({"name": "For instructors: this needs manual review", **output})
    return {
        "score": result["score"],
        "execution_time": round(result["seconds"]),
        "output": "\n".join(result["remarks"]),
        "output_format": "text",
        "visibility": shown,
        "stdout_visibility": "hidden",
        "tests": tests,
    }


def _test(number: int, exercise: Verdict, said: str) -> dict[str, Any]:
    title = system.title_of(exercise)
    passed = exercise["points"] >= exercise["max_points"]
    points = {
        "score": exercise["points"],
        "max_score": exercise["max_points"],
        "status": "passed" if passed else "failed",
    }
    return {
        "number": str(number),
        "name": f"{exercise['id']}: {title}" if title else exercise["id"],
        **({} if feedback.is_unread(exercise) else points),
        "output": said,
        "output_format": "text",
        "visibility": "visible",
    }


# ------------------------------------------------------------------------------------------
# The autograder's archive

SETUP = """\
#!/usr/bin/env bash
# Run once, when Gradescope builds the image of the autograder: Python and its packages.
set -euo pipefail
cd "$(dirname "$0")"

new_enough() {
    command -v "$1" > /dev/null && "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))'
}

if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -qq -y --no-install-recommends bubblewrap python3 python3-venv > /dev/null
    new_enough python3 || apt-get install -qq -y python3.11 python3.11-venv > /dev/null
fi
for python in python3.13 python3.12 python3.11 python3; do
    if new_enough "$python"; then
        "$python" -m venv .venv
        sh requirements/install.sh grader .venv/bin/python
        exit 0
    fi
done
echo "The autograder needs Python 3.11 or newer. Choose a newer base image." >&2
exit 1
"""

RUN = """\
#!/usr/bin/env bash
# Run for each submission: grades submission/ and writes results/results.json.
# ISOLATION is empty for the best that the machine has. With "process" a submission can read the
# hidden tests in this container, and send them away if the container has a network.
ISOLATION=""
folder="${{AUTOGRADER_FOLDER:-/autograder}}"
export PYTHONPATH="$folder/source" JAX_PLATFORMS=cpu
python="$folder/source/.venv/bin/python"
exec "$python" -P -m autograder.classroom.systems.gradescope {lesson} "$folder" {seed} "$ISOLATION"
"""

ROOMS = ("lessons", "recording", "worker", "sandbox", "grading", "student", "classroom")


def archive(lesson: Lesson, seed: int, course: str = "", shows: str = FULL) -> bytes:
    """The autograder of a lesson, to be uploaded to Gradescope as it is.

    Its generated tests are drawn from `seed`, its points are those of `course`, a course.toml.
    """
    start = RUN.format(lesson=lesson.id, seed=seed)
    scripts = {"setup.sh": SETUP.encode(), "run_autograder": start.encode()}
    return packing.packed(sorted((files(lesson, course, shows) | scripts).items()), scripts)


def files(lesson: Lesson, course: str, shows: str = FULL) -> dict[str, bytes]:
    """What grading the lesson needs, by path: nothing of later lessons.

    For the visible checks alone that is nothing hidden, and not the lesson's own solution.
    """
    rooms = [file for room in ROOMS for file in (places.PACKAGE / room).rglob("*.py")]
    own = [*places.PACKAGE.glob("*.py"), *rooms]
    held = {f"autograder/{x.relative_to(places.PACKAGE).as_posix()}": x for x in own}
    held["autograder/grading/result.json"] = result_files.SCHEMA
    for name in ("grader.txt", "install.sh", "lock.txt", "uv.txt", "without.txt"):
        held[f"requirements/{name}"] = places.ROOT / "requirements" / name
    for room, of in (("suites", places.suite), ("answers", places.answers)):
        file = of(f"{lesson.id}.py")
        if shows != CHECKS and file.exists():
            held[f"autograder/hidden/{room}/{file.name}"] = file
    for part in assemble.prefix(lesson):
        facts = part.folder / "lesson.toml"
        held[f"course/lessons/{part.folder.name}/lesson.toml"] = facts
        held |= {f"solutions/{file}": places.solution(file) for file in part.files}
    if shows == CHECKS:
        del held[f"solutions/{lesson.module}"]
    own_points = {f"course/{courses.FILE}": course.encode()} if course else {}
    checked = at_once.files(lesson) if shows == CHECKS else {}
    return own_points | checked | {name: path.read_bytes() for name, path in held.items()}


# ------------------------------------------------------------------------------------------
# The system


def _files(found: Class, roster: Roster, course: Course) -> Iterator[tuple[str, bytes]]:
    hints, shows = course.feedback.hints, course.at_once.shows
    for name, lesson, text, seed in system.graders(found, course):
        yield f"{name}-autograder.zip", archive(lesson, seed, text, shows)
    yield from system.of_each(
        found, "json", lambda result: system.as_json(document(result, hints, shows))
    )


SYSTEM = system.System(
    "gradescope",
    Collects(
        _reader,
        example="submission_678/core.py",
        download="*Export Submissions*",
        note=(
            "`submission_metadata.yml` has ids, times, and the members of groups, whom students "
            "add themselves"
        ),
        wrapper=r"assignment_[0-9]+_export",
        times=True,
    ),
    Exports(
        _files,
        holds=(
            "`LESSON-autograder.zip` with the course's points, and a `results.json` for each "
            "submission"
        ),
        use="see below",
    ),
)


# ------------------------------------------------------------------------------------------
# Inside the autograder


def main(arguments: Sequence[str]) -> int:
    """Grade FOLDER/submission and write FOLDER/results/results.json; the exit status.

    If that cannot be done there is no such file, and Gradescope says so, which is better than a
    score that was neither earned nor lost.
    """
    lesson, folder, seed, level = arguments

    def shown(result: Result, hints: int, shows: str) -> dict[str, Any]:
        made = document(result, hints, FULL if shows == CHECKS else shows)
        return {**made, "extra_data": {TESTED: True}}

    return run(lesson, Path(folder), "submission", int(seed), level, shown)


def run(
    lesson: str,
    folder: Path,
    inside: str,
    seed: int,
    level: str,
    shown: Callable[[Result, int, str], dict[str, Any]],
    failed: dict[str, Any] | None = None,
) -> int:
    """Grade a folder inside a different one, and write what is `shown` of it; the exit status.

    The reason why something cannot be graded is for the log: students read the document.
    """
    made = folder / "results" / "results.json"
    made.unlink(missing_ok=True)  # no matter what wrote it
    try:
        course = courses.read(places.COURSE)  # the archive's own, if it has one
        found, status = too_many(folder, course.at_once.per_day), 0
        if found is None:
            result = grade(lesson, course, folder, inside, seed, level or None)
            score = f"{result['score']:g} of {result['max_score']:g}"
            print(f"{score}, isolation: {result['isolation']}")
            shows = course.at_once.shows
            found = at_once.marked(shown(result, course.feedback.hints, shows), shows)
    except (Problem, suite.SuiteError) as error:
        print(f"Not graded. {error}", file=sys.stderr)
        found, status = failed, 1
    if found is not None:
        result_files.write_text(made, system.as_json(found).decode())
    return status


TESTED = "tested"  # in `extra_data`: this submission counts among those of its day


def too_many(folder: Path, per_day: int) -> dict[str, Any] | None:
    """What a student gets who has had the day's submissions tested: the last of these scores.

    Gradescope tells of earlier submissions in `submission_metadata.json`; a day is 24 hours.
    """
    path = folder / "submission_metadata.json"
    if not per_day or not path.is_file():
        return None
    try:
        about = user_files.document(path)
        now = datetime.fromisoformat(about["created_at"])
        tested = [
            x
            for x in about["previous_submissions"]
            if ((x.get("results") or {}).get("extra_data") or {}).get(TESTED)
        ]
        times = [datetime.fromisoformat(x["submission_time"]) for x in tested]
        today = [x for x in times if now - x < DAY]
    except (AttributeError, KeyError, TypeError, ValueError):  # "may be subject to change"
        return None
    if len(today) < per_day:
        return None
    again = today[-per_day] + DAY
    said = (
        f"This was not tested: the limit is {per_day} per day. The next test is possible from "
        f"{again:%Y-%m-%d %H:%M %Z}. The score is that of your last tested submission."
    )
    return {"score": float(tested[-1]["score"]), "output": said, "output_format": "text"}


DAY = timedelta(days=1)


def grade(
    name: str, course: Course, folder: Path, inside: str, seed: int, level: str | None
) -> Result:
    """The result of a lesson's submission in a folder inside a different one."""
    lesson = next(x for x in course.chosen([name])[0].lessons if x.id == name)
    source, reason = intake.take_module(folder, [inside], lesson)
    if course.at_once.shows == CHECKS:
        return at_once.checked(lesson, source, reason)
    level = isolation.choose(level)
    task = Task(Edition(manifest.get(name), level, seed, course.feedback.expected), source)
    each = Submission("submission", lesson, task, reason)
    return presented(each, {task.key: submission.grade(task)})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
