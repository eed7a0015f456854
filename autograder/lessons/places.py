"""Where the parts of this copy of the course lie, and its version."""

from pathlib import Path

VERSION = "0.2.0"

PACKAGE = Path(__file__).resolve().parents[1]
WORKER = PACKAGE / "worker"
SUITES = PACKAGE / "hidden" / "suites"
ANSWERS = PACKAGE / "hidden" / "answers"
CLASSES = PACKAGE / "hidden" / "classes.toml"

ROOT = PACKAGE.parent
COURSE = ROOT / "course"
SOLUTIONS = ROOT / "solutions"
ASSETS = ROOT / "site" / "theme" / "assets"


def is_complete() -> bool:
    """Is this the whole repository? Archives for students and handouts have a part of it."""
    return SUITES.is_dir()


def is_handout() -> bool:
    """Is this what a handout brings along, for one lesson and those that it stands on?"""
    return not (COURSE / "routes.toml").is_file()
