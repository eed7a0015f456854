"""PrairieLearn: results as its external grading takes them, and the image that makes them.

PrairieLearn starts the image for each submission, with the student's files in /grade/student, and
reads /grade/results/results.json. See "External Grading" in its documentation.
"""

import json
import sys
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from autograder.classroom.course.people import Roster
from autograder.classroom.course.settings import COUNTS, FULL, Course
from autograder.classroom.systems import at_once, gradescope, system
from autograder.classroom.systems.system import Exports, System
from autograder.grading import feedback
from autograder.grading.result import Class, Result, Verdict
from autograder.lessons import packing
from autograder.lessons.manifest import Lesson

LIMIT = 4_000  # characters of a test's output: the document may have 1 MB

DOCKERFILE = """\
# The external grader of one lesson: docker build -t NAME . && docker push NAME
FROM python:3.12-slim
RUN apt-get update -qq \\
    && apt-get install -qq -y --no-install-recommends bubblewrap > /dev/null \\
    && rm -rf /var/lib/apt/lists/*
COPY . /jaxprentice
RUN PIP_NO_CACHE_DIR=1 UV_NO_CACHE=1 sh /jaxprentice/requirements/install.sh grader python
ENV PYTHONPATH=/jaxprentice JAX_PLATFORMS=cpu
ENTRYPOINT ["python", "-P", "-m", "autograder.classroom.systems.prairielearn", \\
    "{lesson}", "/grade", "{seed}"]
"""
TIMEOUT = 300  # seconds for a submission; endless ones end before that


def document(result: Result, hints: int = 1, shows: str = FULL) -> dict[str, Any]:
    """A result as `results.json`. What cannot be imported is not gradable, and costs no attempt."""
    gradable = bool(result["score"]) or not feedback.faults(result)
    made = {
        "gradable": gradable,
        "score": round(min(result["score"] / result["max_score"], 1.0), 6),
        "message": f"{result['score']:g} of {result['max_score']:g} points.",
        "output": "\n".join(result["remarks"]),
        "tests": [_test(exercise, hints, shows) for exercise in result["exercises"]],
    }
    return made if gradable else {**made, "format_errors": result["remarks"]}


def _test(exercise: Verdict, hints: int, shows: str) -> dict[str, Any]:
    passed = exercise["points"] >= exercise["max_points"]
    return {
        "name": exercise["id"],
        "description": system.title_of(exercise),
        "points": exercise["points"],
        "max_points": exercise["max_points"],
        "message": "" if passed or shows == COUNTS else exercise["message"] or "",
        "output": at_once.said(exercise, shows, hints)[:LIMIT],
    }


def image(
    lesson: Lesson, seed: int, course: str = "", shows: str = FULL, per_day: int = 0
) -> bytes:
    """The archive from which the image of a lesson's grader is built.

    Its points are those of `course`, a course.toml.
    """
    files = gradescope.files(lesson, course, shows) | _own(lesson, seed, per_day)
    return packing.packed(sorted(files.items()))


def _own(lesson: Lesson, seed: int, per_day: int) -> dict[str, bytes]:
    options = {"enabled": True, "image": f"YOUR-REGISTRY/{lesson.id}", "timeout": TIMEOUT}
    name = lesson.module.rpartition("/")[2]
    question = (
        f"<pl-question-panel><p>{lesson.title}: submit <code>{name}</code>.</p>"
        f'<pl-file-upload file-names="{name}"></pl-file-upload></pl-question-panel>\n'
        "<pl-submission-panel><pl-external-grader-results></pl-external-grader-results>"
        "<pl-file-preview></pl-file-preview></pl-submission-panel>\n"
    )
    about = {
        "uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, f"jaxprentice/{lesson.id}")),
        "title": lesson.title,
        "topic": "JAX",
        "type": "v3",
        "singleVariant": True,
        "gradingMethod": "External",
        "externalGradingOptions": options,
    }
    entry: dict[str, Any] = {"id": lesson.id, "autoPoints": lesson.max_points}
    if per_day:
        entry["gradeRateMinutes"] = round(24 * 60 / per_day)
    texts = {
        "assessment/question.json": json.dumps(entry, indent=2) + "\n",
        "Dockerfile": DOCKERFILE.format(lesson=lesson.id, seed=seed),
        "question/info.json": json.dumps(about, indent=2) + "\n",
        "question/question.html": question,
    }
    return {path: text.encode() for path, text in texts.items()}


def _files(found: Class, roster: Roster, course: Course) -> Iterator[tuple[str, bytes]]:
    hints, shows = course.feedback.hints, course.at_once.shows
    for name, lesson, text, seed in system.graders(found, course):
        yield f"{name}-grader.zip", image(lesson, seed, text, shows, course.at_once.per_day)
    yield from system.of_each(
        found, "json", lambda result: system.as_json(document(result, hints, shows))
    )


SYSTEM = System(
    "prairielearn",
    exports=Exports(
        _files,
        holds=(
            "`LESSON-grader.zip`: a question, and an external grader that Docker builds, with the "
            "course's points; and a `results.json` for each submission"
        ),
        use=(
            "build and push the image, name it in the question's `info.json`. Inside the container "
            "one of the upper levels of isolation must work, as in Gradescope"
        ),
    ),
)


# ------------------------------------------------------------------------------------------
# Inside the image

# What a student reads if the grader could not do its work.
NOT_GRADED = "This could not be graded, which is not your fault. Your instructor can see why."


def main(arguments: Sequence[str]) -> int:
    """Grade FOLDER/student and write FOLDER/results/results.json; the exit status."""
    lesson, folder, seed = arguments
    failed = {"gradable": False, "format_errors": NOT_GRADED}
    return gradescope.run(lesson, Path(folder), "student", int(seed), "", document, failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
