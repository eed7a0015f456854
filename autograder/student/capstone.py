"""Checks a lesson of scripts: the first of them learns on the student's own package as it should.

It runs as a student would run it, `python capstones/digits.py --backend mine`, and its losses are
compared with those that the reference had, which lie beside it as JSON.

With `--mine` the lesson to blame is named: each of the student's modules is tried alone among the
reference's. The scripts draw their SVG by themselves, because students have no matplotlib.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from autograder.lessons import assemble, manifest, places
from autograder.lessons.manifest import Lesson
from autograder.lessons.problem import Problem
from autograder.student import latest, workspace
from autograder.student.workspace import Workspace

SAME = 1e-6  # how far two losses may be apart
PATIENCE = 300  # seconds for one run


def check(place: Workspace, lesson: Lesson, look: bool) -> int:
    """Run the script, say how its losses are, and return the exit status.

    Where something is wrong and `look` is set, name the lesson that breaks it.
    """
    if not place.own:
        raise Problem(
            "This is not a workspace. Make one with `./jaxprentice init DIR`, and run this there."
        )
    script = lesson.scripts[0]
    wrong = complaint(place.root, lesson)
    place.remember("capstones", lesson.id, not wrong)
    if not wrong:
        print(f"{script} learns on your own package as it does on the reference.")
        if given := told_given(place, lesson):
            print(f"Not your own are exercises that `give` has taken: {given}.")
        return 0
    print(f"{script} does not learn on your own package as it should.\n  {wrong}\n")
    print(culprit(place, lesson) if look else f"Next: ./jaxprentice check {lesson.id} --mine")
    return 1


def told_given(place: Workspace, lesson: Lesson) -> str:
    """How many exercises of each lesson before this one were given; "" if none was."""
    counts = {part.id: len(latest.given(place, part)) for part in manifest.prefix(lesson)}
    return ", ".join(f"{count} of {name}" for name, count in counts.items() if count)


def is_done(place: Workspace, lesson: Lesson) -> bool:
    """Was all right when this was last checked?"""
    return bool(place.record.get("capstones", {}).get(lesson.id))


def complaint(root: Path, lesson: Lesson) -> str:
    """What is wrong with the losses on the package below `root`; "" if nothing is."""
    script = root / lesson.scripts[0]
    if not script.is_file():
        raise Problem(f"{script} is missing. Copy it from a new workspace.")
    stored = (places.COURSE / lesson.scripts[0]).with_suffix(".json")
    want = json.loads(stored.read_text(encoding="utf-8"))["losses"]
    with tempfile.TemporaryDirectory(prefix="jaxprentice-") as folder:
        saved = Path(folder, "run.json")
        options = ["--backend", "mine", "--steps", str(len(want)), "--save", str(saved)]
        try:
            done = subprocess.run(
                [sys.executable, "-B", str(script), *options],
                cwd=root, capture_output=True, text=True, check=False, timeout=PATIENCE,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"It has not ended after {PATIENCE} seconds."
        if done.returncode != 0:
            return (done.stderr.strip().splitlines() or ["It ends without a word."])[-1]
        got = json.loads(saved.read_text(encoding="utf-8"))["losses"]
    return difference(got, want)


def difference(got: list[float], want: list[float]) -> str:
    """Where two loss curves part; "" if they do not."""
    for step, (a, b) in enumerate(zip(got, want, strict=True), 1):
        if not abs(a - b) <= SAME:  # also true for NaN
            return f"The loss of step {step} is {a:.8g}, and should be {b:.8g}."
    return ""


def culprit(place: Workspace, lesson: Lesson) -> str:
    """The lesson whose module, alone among the reference's, does not do."""
    known = manifest.prefix(lesson)
    lacking = [part for part in known for path in part.files if not _solved(path)]
    if lacking:  # a handout
        return f"Next: ./jaxprentice check {lacking[0].id}, whose reference is not in this copy."
    for suspect in known:
        if not suspect.exercises or not place.file(suspect).exists():
            continue
        with tempfile.TemporaryDirectory(prefix="jaxprentice-") as folder:
            own = {suspect.module: place.source(suspect)}
            assemble.write_files(Path(folder), {**assemble.tree(lesson, but=own), **own})
            workspace.add_scripts(Path(folder), lesson)
            workspace.add_launcher(Path(folder), str(places.ROOT))
            wrong = complaint(Path(folder), lesson)
        if wrong:
            return (
                f"Your own {suspect.module} breaks it: {wrong}\n"
                f"Next: ./jaxprentice check {suspect.id}, or ./jaxprentice give {suspect.id}"
            )
    return "Each of your modules does among the reference's. Look at what two of them share."


def _solved(path: str) -> bool:
    return (places.SOLUTIONS / path).is_file()
