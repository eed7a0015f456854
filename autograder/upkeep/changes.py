"""What has changed since the last whole audit: a quick one tries that, and of the rest a few."""

import ast
import functools
import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from autograder.grading import under_pytest
from autograder.lessons import places
from autograder.lessons.manifest import Lesson

SAMPLE = 20  # one in so many is tried when there is little time


def folder() -> Path:
    """Where audits keep what they know."""
    found = places.COURSE.parent / "build" / "audit"
    found.mkdir(parents=True, exist_ok=True)
    return found


def keep(title: str, states: Mapping[str, str]) -> None:
    """Remember what a whole audit found to be as it should, by name, and in which state it was."""
    _file(title).write_text(json.dumps(dict(states)), encoding="utf-8")


def is_kept(title: str) -> bool:
    """Was there a whole audit?"""
    return _file(title).exists()


def sample(title: str, states: Mapping[str, str]) -> set[str]:
    """The names of those to try when there is little time: the changed ones, and a few others.

    The first whole audit is still to come if nothing is kept; then nothing counts as changed.
    """
    known = json.loads(_file(title).read_text(encoding="utf-8")) if is_kept(title) else states
    changed = {name for name, state in states.items() if known.get(name) != state}
    return changed.union([*states][::SAMPLE])


def _file(title: str) -> Path:
    return folder() / f"whole-{title.replace(' ', '-')}.json"


def digest(*texts: str) -> str:
    """A short name for these texts."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]


def sections(lesson: Lesson) -> dict[str, str]:
    """The tests of each exercise as code: what is in its section of the suite."""
    path = under_pytest.suite_of(lesson)
    return _sections(path.read_text(encoding="utf-8")) if path.is_file() else {}


@functools.lru_cache(maxsize=4)
def _sections(suite: str) -> dict[str, str]:
    found: dict[str, str] = defaultdict(str)
    name = ""  # what all sections share
    for node in ast.parse(suite).body:
        match node:
            case ast.Expr(ast.Call(ast.Name("exercise"), [ast.Constant(str(begins))])):
                name = begins
        found[name] += f"{ast.dump(node)}\n"
    return found
