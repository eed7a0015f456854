"""Checks a lesson of scripts: they learn on the student's own package as they do on JAX.

Each runs as a student would run it, `./jaxprentice run capstones/digits.py`, and its losses are
compared with those that JAX had, which are beside the script as JSON: you do not need JAX.

If something is wrong, the place to look is named. First the student's exercises are checked, lesson
by lesson; if all pass, each module is tried alone among the reference's.
"""

import json
import math
import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from autograder.lessons import assemble, manifest, places
from autograder.lessons.manifest import Lesson
from autograder.lessons.problem import Problem
from autograder.student import checks, ending, ending_page, latest, screen, workspace
from autograder.student.checks import Report
from autograder.student.ending import Trained
from autograder.student.workspace import Workspace

SAME = 1e-6  # how far two losses may be apart, relative to their size
SMALL = 1e-9  # a difference that rounding may make where a loss is nearly zero
PATIENCE = 300  # seconds for one run

Check = Callable[[Workspace, Lesson], Report]  # checks the student's module of a lesson


def check(place: Workspace, lesson: Lesson, by: Check) -> int:
    """Run the scripts, show what they have learned or what is wrong, and return the exit status."""
    place.need_own()
    trained: list[Trained] = []
    wrong: list[str] = []
    for script, jax in stored(lesson).items():
        print(f"{script}: {len(jax['losses'])} steps on your own package ...", flush=True)
        own, reason = run(place.root, script, len(jax["losses"]))
        reason = reason or difference(own["losses"], jax["losses"])
        if reason:
            print(f"The model does not learn as it should. {reason}\n")
            wrong = where(place, lesson, script, reason, by)
            break
        trained.append(Trained(script, own, jax))
    if not wrong and (told := wrong_exercise(place, lesson, by)):  # which no script needs
        wrong = ["\nThe programs learn as they do on JAX, but they do not use every rule.", *told]
    place.remember("capstones", lesson.id, not wrong)
    screen.print_lines(wrong or reached(place, trained))
    return 1 if wrong else 0


def reached(place: Workspace, trained: Sequence[Trained]) -> list[str]:
    """What the package has learned, and who wrote it; a page says the same."""
    works, page = ending.done_by(place), place.root / ending_page.NAME
    workspace.write(page, ending_page.text(trained, works).encode())
    last = f"\nAll this is in {page}: open it in a browser, and send it to a friend."
    return [*ending.lines(trained, works), last]


def is_done(place: Workspace, lesson: Lesson) -> bool:
    """Was all right when this was last checked?"""
    return bool(place.record.get("capstones", {}).get(lesson.id))


# ------------------------------------------------------------------------------------------
# Running


def stored(lesson: Lesson) -> dict[str, dict[str, Any]]:
    """What each script of a lesson that is compared gave on JAX."""
    files = {x: (places.COURSE / x).with_suffix(".json") for x in lesson.scripts if x[-3:] == ".py"}
    found = {x: json.loads(y.read_text(encoding="utf-8")) for x, y in files.items() if y.is_file()}
    if not found:
        raise Problem(
            f"JAX's losses for {lesson.id} are missing. Get a complete copy of the course."
        )
    return found


def run(root: Path, script: str, steps: int) -> tuple[dict[str, Any], str]:
    """What a script saves on the package below `root`; and why it did not end well, if so."""
    if not (root / script).is_file():
        raise Problem(f"{root / script} is missing. Copy it from a new workspace.")
    with tempfile.TemporaryDirectory(prefix="jaxprentice-") as folder:
        saved = Path(folder, "run.json")
        options = ["--backend", "mine", "--steps", str(steps), "--save", str(saved)]
        reason = checks.ended(["-B", str(root / script), *options], root, PATIENCE)[1]
        return {} if reason else json.loads(saved.read_text(encoding="utf-8")), reason


def difference(got: list[float], want: list[float]) -> str:
    """Where two loss curves part; "" if they do not."""
    for step, (a, b) in enumerate(zip(got, want, strict=True), 1):
        if not math.isclose(a, b, rel_tol=SAME, abs_tol=SMALL):  # nothing is close to NaN
            return f"The loss at step {step} is {a:.8g}, and should be {b:.8g}."
    return ""


# ------------------------------------------------------------------------------------------
# Where to look


def where(place: Workspace, lesson: Lesson, script: str, reason: str, by: Check) -> list[str]:
    """What to say of a script that goes wrong: the exercise or the module at fault, what next."""
    if told := to_do(reason):
        return [told]
    return wrong_exercise(place, lesson, by) or [culprit(place, lesson, script)]


def to_do(reason: str) -> str:
    """What comes next if a run ended at an exercise that is not written; "" if it did not."""
    found = re.search(r"the exercise (\S+) is not done yet", reason)
    return f"Next: ./jaxprentice check {found[1]}" if found else ""


def wrong_exercise(place: Workspace, lesson: Lesson, by: Check) -> list[str]:
    """What to say of the first exercise of the lessons before that is wrong; nothing of none.

    What was complete when it was last checked is not checked again, nor what was never begun.
    """
    for part in manifest.prefix(lesson):
        if not place.has_module(part) or place.is_complete(part):
            continue
        if not latest.is_begun(place, part):
            continue
        report = by(place, part)
        for exercise in part.exercises:
            if report.broken or report.status(exercise) == checks.WRONG:
                return [
                    f"{exercise.id} is not right: {exercise.target} in {part.module}.",
                    f"Next: ./jaxprentice check {exercise.id}",
                ]
    return []


def culprit(place: Workspace, lesson: Lesson, script: str) -> str:
    """The lesson whose module, alone among the reference's, does not do."""
    known = manifest.prefix(lesson)
    lacking = [x for x in known for path in x.files if not (places.SOLUTIONS / path).is_file()]
    if lacking:  # a handout
        return f"Next: ./jaxprentice check {lacking[0].id}, whose reference is not in this copy."
    for suspect in known:
        if not place.has_module(suspect):
            continue
        if wrong := _alone(place, lesson, suspect, script):
            return to_do(wrong) or (
                f"Your own {suspect.module} breaks it: {wrong}\n"
                f"Next: ./jaxprentice check {suspect.id}, or ./jaxprentice give {suspect.id}"
            )
    return (
        "Each of your modules works among the reference's. Look at how they work together.\n"
        "Next: ./jaxprentice check LESSON --mine, for one lesson after another"
    )


def _alone(place: Workspace, lesson: Lesson, suspect: Lesson, script: str) -> str:
    """What goes wrong on one module of the student's among the reference's; "" if nothing does."""
    want = stored(lesson)[script]["losses"]
    own = {suspect.module: place.source(suspect)}
    with tempfile.TemporaryDirectory(prefix="jaxprentice-") as folder:
        assemble.write_files(Path(folder), {**assemble.tree(lesson, but=own), **own})
        assemble.write_files(Path(folder), workspace.scripts(lesson))
        workspace.add_launcher(Path(folder), str(places.ROOT))
        got, reason = run(Path(folder), script, len(want))
    return reason or difference(got["losses"], want)
