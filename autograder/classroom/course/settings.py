"""What a course makes of the lessons: `course.toml` in the course directory.

It says which lessons the assignments hold, what their exercises are worth, when they are due, and
what late work, feedback and hints are like. Without it each lesson is an assignment as it is.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from autograder.grading import partial
from autograder.grading.result import Result
from autograder.lessons import manifest, places, tasks, user_files
from autograder.lessons.manifest import CONTRACT, Exercise, Lesson, Whole
from autograder.lessons.notebook import QUESTION_POINTS
from autograder.lessons.problem import Problem

FILE = "course.toml"


@dataclass(frozen=True)
class Variants:
    """How many variants an assignment has, and what they choose from.

    Neighbours have other generated tests, and another open task. Which variant a student has
    follows from seed, assignment and id alone, regardless of who else is in the class.
    """

    seed: str  # which students do not know
    count: int
    open_tasks: tuple[Lesson, ...] = ()  # the lessons whose open tasks are given out


@dataclass(frozen=True)
class Assignment:
    """Lessons that are handed in together, with the points that they have in this course."""

    name: str
    lessons: tuple[Lesson, ...]  # with this course's points and hints; what is dropped has 0
    question: float = QUESTION_POINTS  # points for the written question of each lesson
    open: Mapping[str, float] = field(default_factory=dict)  # of open tasks, by lesson
    due: datetime | None = None  # in UTC
    own_base: bool = False  # is it graded on the students' own earlier modules?
    variants: Variants | None = None

    @property
    def files(self) -> list[str]:
        """The files of the student's own that are graded, below the assignment's folder."""
        return [lesson.module for lesson in self.lessons]

    @property
    def is_lesson(self) -> bool:
        """Is this one lesson under its own name?"""
        return [lesson.id for lesson in self.lessons] == [self.name]

    def cells(self, lesson: Lesson) -> dict[str, float]:
        """The points of each grade cell in a lesson's notebook."""
        points = {cell_name(part.id): part.points for part in lesson.graded}
        if lesson.question:
            points[f"{lesson.id}-question"] = self.question
        if lesson.id in self.open:
            points[f"{lesson.id}-open"] = self.open[lesson.id]
        return points

    def variant(self, student: str) -> int:
        """Which variant a student has, from 1 on; 0 if all have the same."""
        if self.variants is None:
            return 0
        return _drawn(self.variants.seed, self.name, student) % self.variants.count + 1

    def open_tasks(self, lesson: Lesson) -> tuple[Lesson, ...]:
        """The lessons whose open tasks may be handed in where `lesson` has points for one."""
        return (self.variants and self.variants.open_tasks) or (lesson,)

    def open_task(self, lesson: Lesson, student: str) -> Lesson:
        """The lesson whose open task a student is to hand in there."""
        pool = self.open_tasks(lesson)
        return pool[(self.variant(student) - 1) % len(pool)]


def _drawn(*about: object) -> int:
    """A number from 0 to 2**31 that follows from these and looks random."""
    return int.from_bytes(hashlib.sha256("\0".join(map(str, about)).encode()).digest()[:4]) >> 1


def seed_of(seed: int, variant: int) -> int:
    """The seed of the generated tests in a variant; 0 stands for an assignment without variants."""
    return _drawn(seed, variant) if variant else seed


@dataclass(frozen=True)
class Late:
    """What late work costs."""

    percent_per_day: float = 0.0  # of the assignment's points, for each day or part of a day
    most_percent: float = 100.0
    days: int = 0  # that each student may be late without penalty, over the whole course
    grace_minutes: int = 0


@dataclass(frozen=True)
class Feedback:
    """What feedback shows."""

    expected: bool = False  # the values that hidden tests expect
    hints: int = 1  # of a known mistake


FULL, COUNTS, CHECKS = "full", "counts", "checks"  # what is shown at once


@dataclass(frozen=True)
class AtOnce:
    """What other systems show as soon as something is handed in, and how often."""

    shows: str = FULL
    per_day: int = 0  # submissions of a student that are tested; 0: all


@dataclass(frozen=True)
class Course:
    """All that `course.toml` says."""

    assignments: Mapping[str, Assignment]
    late: Late = Late()
    feedback: Feedback = Feedback()
    at_once: AtOnce = AtOnce()
    zone: tzinfo = UTC  # in which times are said, and due dates are that name no zone

    def get(self, name: str) -> Assignment:
        """The assignment of this name."""
        if name not in self.assignments:
            names = ", ".join(self.assignments)
            raise Problem(f"{name!r} is not an assignment of this course. Give one of: {names}.")
        return self.assignments[name]

    def said(self, when: datetime) -> str:
        """A time in UTC, as the course says it: with the day of the week, in its own time zone."""
        return f"{when.replace(tzinfo=UTC).astimezone(self.zone):%a %Y-%m-%d %H:%M %Z}"

    def chosen(self, names: Sequence[str]) -> list[Assignment]:
        """The assignments of these names, or that hold a lesson of such a name; all for none."""
        found = [
            each
            for each in self.assignments.values()
            if not names or {each.name, *(lesson.id for lesson in each.lessons)} & {*names}
        ]
        return found or [self.get(names[0])]


def find(folder: Path, name: str) -> Assignment:
    """The assignment of this name, or the first that holds the lesson of this id."""
    if folder.is_dir() and not user_files.is_there(folder / FILE):
        raise Problem(f"{folder} has no {FILE}. Give a course directory, or no --course.")
    return read(folder).chosen([name])[0]


def lessons(folder: Path, name: str) -> tuple[Lesson, ...]:
    """The lessons of an assignment, or the lesson of this id, as a course has them."""
    assignment = find(folder, name)
    if assignment.name == name:
        return assignment.lessons
    return tuple(lesson for lesson in assignment.lessons if lesson.id == name)


def one_lesson(folder: Path, name: str) -> Lesson:
    """The lesson that an assignment holds, or of this id; a Problem if it holds several."""
    found = lessons(folder, name)
    if len(found) > 1:
        names = ", ".join(lesson.id for lesson in found)
        raise Problem(f"{name} holds several lessons. Grade one at a time: {names}.")
    return found[0]


def cell_name(exercise: str) -> str:
    """The name of an exercise's grade cell."""
    return exercise.replace(".", "-")


def with_points(result: Result, lesson: Lesson) -> Result:
    """A result of the lesson's own points as a lesson with other points has it."""
    points = {part.id: part.points for part in lesson.graded}
    rules = {exercise.id: lesson.partial for exercise in lesson.exercises}  # not the whole module
    kept = [
        partial.worth(v, rules.get(v["id"], partial.TESTS), points[v["id"]])
        for v in result["exercises"]
        if points.get(v["id"])
    ]
    score = round(sum(verdict["points"] for verdict in kept), 2)
    return {**result, "exercises": kept, "score": score, "max_score": lesson.max_points}


# ------------------------------------------------------------------------------------------
# Writing one

_TEXT = """\
# What this course grades. After a change here, `jaxprentice nbgrader update` renews what students
# get, and `nbgrader autograde` the grades; both say what changes.

partial = "thirds"  # an exercise keeps at most 2/3 of its points if a test fails, 1/3 if more do;
#                     "tests": the share of tests that pass, "none": nothing
# timezone = "Europe/Berlin"  # of due dates without one, and of times in messages; else UTC

[students]
hints = 3  # of the three for each exercise; its toolbox, also a hint, is always there
way = "contract"  # how much help the module gives: "guided" has toolboxes, "blank" no stubs

[feedback]
expected = false  # true: feedback shows the values that hidden tests expect
hints = 1  # of the three for a known mistake

[at_once]  # what Gradescope, PrairieLearn and GitHub show as soon as something is submitted
shows = "full"  # "counts": points, and how many hidden tests passed; "checks": visible checks alone
per_day = 0  # submissions tested per student and day, if the system can limit them; 0: no limit

[late]
percent_per_day = 0  # of an assignment's points, for each day or part of a day
most_percent = 100
days = 0  # that each student may be late without penalty, over the whole course
grace_minutes = 0

# An assignment may hold several lessons, and a lesson may be in several assignments. Besides `due`
# it may have other points for exercises, exercises that are given, and points that a person gives:
#
#     points = { "jvp.mul_rule" = 4, "jvp.whole" = 6 }
#     drop = ["jvp.sum_rule"]
#     question = 3
#     open = { jvp = 5 }
#     own_base = true  # graded on the students' own earlier modules
#     variants = 6  # of generated tests, by the student's id and a seed that is your secret
#     seed = "autumn"
#     open_tasks = ["core", "jvp"]  # the variants choose from these lessons' open tasks
"""
_ENTRY = """
[[assignment]]
name = "{0}"
lessons = ["{0}"]
# due = 2030-05-18T12:00:00Z
"""


def text(lessons: Iterable[Lesson]) -> str:
    """A `course.toml` in which each of the lessons is an assignment."""
    return _TEXT + "".join(_ENTRY.format(lesson.id) for lesson in lessons)


def excerpt(course: Course, assignment: Assignment, lesson: Lesson) -> str:
    """A `course.toml` for one lesson of an assignment, by which a grader elsewhere goes."""
    points = {part.id: part.points for part in lesson.graded if part.points}
    table = ", ".join(f"{json.dumps(name)} = {value}" for name, value in points.items())
    return "\n".join(
        [
            f'partial = "{lesson.partial}"',
            "[feedback]",
            f"expected = {json.dumps(course.feedback.expected)}",
            f"hints = {course.feedback.hints}",
            "[at_once]",
            f'shows = "{course.at_once.shows}"',
            f"per_day = {course.at_once.per_day}",
            "[[assignment]]",
            f'name = "{assignment.name}"',
            f'lessons = ["{lesson.id}"]',
            f"points = {{ {table} }}",
            f"drop = {json.dumps([x.id for x in lesson.exercises if not x.points])}",
            "",
        ]
    )


# ------------------------------------------------------------------------------------------
# Reading one

_NUMBER = (int, float)
_TABLES: dict[str, dict[str, Any]] = {
    "students": {"hints": int, "way": str},
    "feedback": {option.name: option.type for option in fields(Feedback)},
    "at_once": {option.name: option.type for option in fields(AtOnce)},
    "late": {
        option.name: _NUMBER if option.type is float else option.type for option in fields(Late)
    },
}
_WORDS: dict[str, Iterable[str]] = {"way": manifest.WAYS, "shows": (FULL, COUNTS, CHECKS)}
_ASSIGNMENT: dict[str, type | tuple[type, ...]] = {
    "name": str,
    "lessons": list,
    "due": datetime,
    "points": dict,
    "drop": list,
    "question": _NUMBER,
    "open": dict,
    "own_base": bool,
    "variants": int,
    "seed": str,
    "open_tasks": list,
}
_KINDS = {
    int: "a whole number",
    bool: "true or false",
    _NUMBER: "a number",
    str: "a text",
    list: "a list of texts",
    dict: "a table of numbers, such as { NAME = 4 }",
    datetime: "a date and a time, such as 2030-05-18T12:00:00Z",
}
_NAME = re.compile(r"\w[\w-]*")


def read(folder: Path) -> Course:
    """The course of a directory."""
    path = folder / FILE
    places.adopt(folder)
    if not user_files.is_there(path):
        lessons = [lesson for lesson in manifest.load().values() if lesson.exercises]
        return Course({lesson.id: Assignment(lesson.id, (lesson,)) for lesson in lessons})
    return _course(user_files.toml(path), _Where(path, user_files.text(path).splitlines()))


@dataclass(frozen=True)
class _Where:
    """A table of the file: `header` and the how-manieth of this header it is."""

    path: Path
    lines: list[str]
    header: str = ""
    number: int = 0

    def check(self, fine: object, key: str, expected: str) -> None:
        """Complain about a key unless `fine`."""
        if not fine:
            raise Problem(f"{self.path}, line {self._line(key)}: `{key}` {expected}.")

    def _line(self, key: str) -> int:
        """The line of the key, else of this name, or of the table that should hold it."""
        heads = [i for i, line in enumerate(self.lines) if line.strip().startswith(self.header)]
        start = heads[self.number] if self.header and self.number < len(heads) else 0
        name = rf"(?<![\w.#]){re.escape(key)}(?![\w.])"
        for sought in (rf"{name}[\"']?\s*=", name):
            for i in range(start, len(self.lines)):
                if re.search(sought, self.lines[i].partition("#")[0]):
                    return i + 1
        return start + 1


def _course(table: dict[str, Any], where: _Where) -> Course:
    rule = table.get("partial", partial.THIRDS)
    where.check(rule in partial.RULES, "partial", f"should be one of {', '.join(partial.RULES)}")
    for key in table:
        known = ["partial", "timezone", *_TABLES, "assignment"]
        where.check(key in known, key, f"is not known here; known are {', '.join(known)}")
    options = {name: _options(table.get(name, {}), name, where) for name in _TABLES}
    entries = table.get("assignment", [])
    tables = isinstance(entries, list) and all(isinstance(x, dict) for x in entries)
    where.check(tables and entries, "assignment", "should be [[assignment]]s")
    students, zone = options["students"], _zone(table.get("timezone"), where)
    found: dict[str, Assignment] = {}
    for number, entry in enumerate(entries):
        here = replace(where, header="[[assignment]]", number=number)
        assignment = _assignment(entry, students, rule, zone, here)
        here.check(assignment.name not in found, "name", "is the name of two assignments")
        found[assignment.name] = assignment
    late, feedback = Late(**options["late"]), Feedback(**options["feedback"])
    return Course(found, late, feedback, AtOnce(**options["at_once"]), zone or UTC)


def _zone(name: Any, where: _Where) -> tzinfo | None:
    """The time zone of the course; None if it names none."""
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, TypeError, AttributeError, OSError):
        where.check(False, "timezone", "should be a time zone, such as Europe/Berlin")
        raise


def _options(table: Any, name: str, where: _Where) -> dict[str, Any]:
    here = replace(where, header=f"[{name}]")
    where.check(isinstance(table, dict), name, f"should be a table, [{name}]")
    _check_keys(table, _TABLES[name], here)
    for key, value in table.items():
        if isinstance(value, str):
            words = _WORDS[key]
            here.check(value in words, key, f"should be one of {', '.join(words)}")
        else:
            most = {"hints": 3, "most_percent": 100}.get(key, float("inf"))
            here.check(0 <= value <= most, key, f"should be from 0 to {most:g}")
    return table


def _check_keys(
    table: dict[str, Any], known: Mapping[str, type | tuple[type, ...]], where: _Where
) -> None:
    for key, value in table.items():
        where.check(key in known, key, f"is not known here; known are {', '.join(known)}")
        kind = known[key]
        fine = isinstance(value, kind) and isinstance(value, bool) <= (kind is bool)
        texts = kind is not list or (fine and all(isinstance(x, str) for x in value))
        where.check(fine and texts, key, f"should be {_KINDS[kind]}")


def _assignment(
    entry: dict[str, Any], students: dict[str, Any], rule: str, zone: tzinfo | None, where: _Where
) -> Assignment:
    _check_keys(entry, _ASSIGNMENT, where)
    for key in ("name", "lessons"):
        where.check(entry.get(key), key, "is missing in this assignment")
    name, known = entry["name"], manifest.load()
    where.check(_NAME.fullmatch(name), "name", "should be letters, digits, - and _")
    ids = entry["lessons"]
    for i, lesson in enumerate(ids):
        graded = lesson in known and known[lesson].exercises
        where.check(graded, "lessons", f"names {lesson!r}, which is not a lesson with exercises")
        where.check(lesson not in ids[:i], "lessons", f"names {lesson!r} twice")
    lessons = [known[lesson] for lesson in sorted(ids, key=list(known).index)]
    points = _points(entry, lessons, where)
    adapted = tuple(replace(_adapted(x, points, students), partial=rule) for x in lessons)
    for lesson in adapted:
        where.check(lesson.max_points > 0, "lessons", f"leaves no points in {lesson.id}")
    return Assignment(
        name,
        adapted,
        float(entry.get("question", QUESTION_POINTS)),
        _open(entry.get("open", {}), ids, where),
        _due(entry.get("due"), zone, where),
        entry.get("own_base", False),
        _variants(entry, lessons, where),
    )


def _points(entry: dict[str, Any], lessons: list[Lesson], where: _Where) -> dict[str, float]:
    """The points that an assignment gives to exercises, by their ids; 0 for what is dropped."""
    ids = [part.id for lesson in lessons for part in lesson.graded]
    unknown = f"is not an exercise of this assignment, which has {', '.join(ids)}"
    points = entry.get("points", {})
    for name, value in points.items():
        where.check(name in ids, name, unknown)
        where.check(_is_points(value), name, "should be a number above 0; see `drop` for 0")
    exercises = {exercise.id for lesson in lessons for exercise in lesson.exercises}
    for name in entry.get("drop", []):
        whole = "is the whole module, which cannot be dropped"
        where.check(name in exercises, str(name), whole if name in ids else unknown)
    where.check(0 <= entry.get("question", 0) < 1e6, "question", "should be a number from 0 on")
    return {**points, **dict.fromkeys(entry.get("drop", []), 0.0)}


def _is_points(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e6


def _open(table: dict[str, Any], ids: list[str], where: _Where) -> dict[str, float]:
    for name, value in table.items():
        where.check(name in ids, name, "is not a lesson of this assignment")
        where.check(_is_points(value), name, "should be a number above 0")
    return {name: float(value) for name, value in table.items()}


def _variants(entry: dict[str, Any], lessons: list[Lesson], where: _Where) -> Variants | None:
    if "variants" not in entry:
        for key in ("seed", "open_tasks"):
            where.check(key not in entry, key, "is for variants: say how many, as `variants = 6`")
        return None
    where.check(2 <= entry["variants"] <= 1000, "variants", "should be from 2 to 1000")
    where.check(entry.get("seed"), "variants", "needs a text that students do not know, as `seed`")
    needed = {part.id: part for lesson in lessons for part in manifest.needed(lesson)}
    pool = entry.get("open_tasks", [])
    for name in pool:
        fine = name in needed and tasks.exist(needed[name])
        where.check(fine, "open_tasks", f"names {name!r}, which is not a lesson that these need")
    one = len(entry.get("open", {})) == 1 or not pool
    where.check(one, "open_tasks", "needs the points of one of these lessons, as `open = {...}`")
    return Variants(entry["seed"], entry["variants"], tuple(needed[name] for name in pool))


def _due(due: datetime | None, zone: tzinfo | None, where: _Where) -> datetime | None:
    if due is None:
        return None
    due = due if due.tzinfo else due.replace(tzinfo=zone)
    advice = "should say its time zone, as in 2030-05-18T12:00:00Z, or the course its `timezone`"
    where.check(due.tzinfo, "due", advice)
    where.check(2000 <= due.year < 2200, "due", "should be in this century or the next")
    return due.astimezone(UTC).replace(tzinfo=None)


def _adapted(lesson: Lesson, points: Mapping[str, float], students: Mapping[str, Any]) -> Lesson:
    def of(part: Exercise | Whole) -> float:
        return float(points.get(part.id, part.points))

    hints, way = students.get("hints", 3), students.get("way", CONTRACT)
    exercises = [replace(e, points=of(e), hints=e.hints[:hints]) for e in lesson.exercises]
    whole = lesson.whole and replace(lesson.whole, points=of(lesson.whole))
    return replace(lesson, exercises=tuple(exercises), whole=whole, way=way)
