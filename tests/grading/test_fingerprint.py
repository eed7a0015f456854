"""A result knows what it depends on: which change makes which grades again."""

import shutil
import sys

import graded_course
import pytest

from autograder.grading.fingerprint import fingerprint
from autograder.lessons import manifest, places

# A file of each room, and of a lesson, and whether a change in it may change a grade.
FILES = {
    "autograder/worker/wire.py": True,
    "autograder/sandbox/session.py": True,
    "autograder/grading/judging.py": True,
    "autograder/lessons/module_rules.py": True,
    "autograder/lessons/page.py": False,
    "autograder/recording/steps.py": False,
    "autograder/student/explain.py": False,
    "autograder/classroom/reports/report.py": False,
    "autograder/upkeep/site.py": False,
    "autograder/cli/command.py": False,
    "suites/tiny.py": True,
    "answers/tiny.py": True,
    "course/lessons/01_tiny/lesson.toml": True,
    "solutions/tiny/numbers.py": True,
}


@pytest.fixture
def package(monkeypatch, tmp_path):
    """A copy of the package whose files may be changed, beside the small course."""
    ignored = shutil.ignore_patterns("__pycache__", "hidden")
    copy = shutil.copytree(places.PACKAGE, tmp_path / "autograder", ignore=ignored)
    monkeypatch.setattr(places, "PACKAGE", copy)
    graded_course.write(monkeypatch, tmp_path)
    return copy


def test_every_room_is_in_the_table():
    rooms = {path.parent.name for path in places.PACKAGE.glob("*/__init__.py")}
    assert rooms - {"hidden"} == {x.split("/")[1] for x in FILES if x.startswith("autograder/")}


@pytest.mark.parametrize("name", FILES)
def test_only_what_grades_counts(package, name):
    before = fingerprint(manifest.get("tiny"), "process")
    file = package.parent / name
    file.write_text(file.read_text(encoding="utf-8") + "\n# Changed.\n", encoding="utf-8")
    assert (fingerprint(manifest.get("tiny"), "process") != before) is FILES[name]


def test_the_versions_the_level_and_the_seed_count(package, monkeypatch):
    marks = {fingerprint(manifest.get("tiny"), *x) for x in (("process",), ("process", 1), ("x",))}
    monkeypatch.setattr(sys.modules[fingerprint.__module__], "versions", dict)
    assert len({*marks, fingerprint(manifest.get("tiny"), "process")}) == 4
