"""Where the parts of this copy of the course lie, its version, and the error that users see."""

from pathlib import Path

VERSION = "0.1.0"

ROOT = Path(__file__).resolve().parent.parent
COURSE = ROOT / "course"
SOLUTIONS = ROOT / "solutions"
SUITES = ROOT / "autograder" / "suites"
MISCONCEPTIONS = ROOT / "autograder" / "misconceptions"


def is_complete() -> bool:
    """Is this the whole repository? A handout has the students' part of it."""
    return SUITES.is_dir()


class Problem(Exception):
    """An error of the user's or of the course's files, told without a traceback.

    The text says in one or two sentences what is wrong and what to do next.
    """

    status = 1  # with which the command ends


class Interrupted(Problem):
    """Somebody has stopped the command, by Ctrl-C or a signal."""

    status = 130
