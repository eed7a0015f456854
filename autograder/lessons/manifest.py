"""The lessons: reads the manifests `course/lessons/NN_name/lesson.toml` and checks them.

A manifest is the only place where a lesson's facts stand. Everything that shows or uses them
(skeletons, pages, notebooks, suites, grades) asks this module.
"""

import difflib
import functools
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

from autograder.lessons import places, user_files
from autograder.lessons.problem import Problem

# ------------------------------------------------------------------------------------------
# What a lesson is: the fields are the keys of a manifest, and those with a default may be left out


# The ways through a lesson, and what a student finds where an exercise is to be written.
GUIDED, CONTRACT, BLANK = "guided", "contract", "blank"
WAYS = {
    GUIDED: "signature, contract and toolbox",
    CONTRACT: "signature and contract; the toolbox is the second hint",
    BLANK: "nothing; the page says what to write",
}


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """One function or method that the student writes."""

    id: str  # "jvp.mul_rule"
    title: str
    target: str  # qualified name in the lesson's module: "JVPTrace.pure"
    points: float
    minutes: int
    difficulty: int  # 1 to 3
    todo: str  # the sentence that replaces the body in the skeleton
    hints: tuple[str, ...]  # three, each saying more than the one before
    after: tuple[str, ...] = ()  # exercises of this lesson without which it cannot be tested
    toolbox: tuple[str, ...] = ()  # given code that is useful here: "`name(args)`: what it does"
    lesson: str  # the id of its lesson, which the manifest says once

    def helps(self, way: str) -> tuple[str, ...]:
        """The hints of a way: unless the toolbox is beside the exercise, it is the second."""
        if way == GUIDED or not self.toolbox:
            return self.hints
        tools = "".join(f"\n- {tool}" for tool in self.toolbox)
        return (*self.hints[:1], f"Useful here:\n{tools}", *self.hints[1:])


def without_points(name: str, title: str, target: str, lesson: str, todo: str = "") -> Exercise:
    """What is checked as exercises are, and costs no points: a task, or a part of a file."""
    return Exercise(
        id=name, title=title, target=target, points=0.0, minutes=0, difficulty=3,
        todo=todo, hints=(), lesson=lesson,
    )  # fmt: skip


@dataclass(frozen=True)
class Whole:
    """The lesson's module as a whole: its tests use the student's own functions throughout."""

    id: str  # "jvp.whole"
    points: float
    title: str = "The whole module"


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """One lesson; without exercises it has scripts to run, or only joins the trees."""

    id: str
    title: str
    number: int  # from the folder's name; orders the lessons, identifies nothing
    folder: Path
    module: str = ""  # "minijax/jvp.py"; "" for given code that has no module of its own
    minutes: int
    requires: tuple[str, ...]
    exports: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    exercises: tuple[Exercise, ...]  # [[exercise]]
    scripts: tuple[str, ...] = ()  # below course/: run on the package, with what they read
    question: str = ""  # to be answered in words, and graded by a person; "" where there is none
    whole: Whole | None = None  # what the tests of the whole module are worth
    way: str = CONTRACT  # a student's or a course's choice, in no manifest
    partial: str = "thirds"  # what an exercise with a broken promise keeps; a course's choice

    @property
    def has_page(self) -> bool:
        """Is there something to read? Given code alone has no page."""
        return bool(self.exercises or self.scripts)

    @property
    def graded(self) -> tuple[Exercise | Whole, ...]:
        """What has tests and points: the exercises, and the module as a whole."""
        return (*self.exercises, self.whole) if self.whole else self.exercises

    @property
    def max_points(self) -> float:
        """The points of the exercises and of the whole module together."""
        return sum(part.points for part in self.graded)

    @property
    def package(self) -> str:
        """The package that the lesson's files belong to: "minijax"; "" for scripts alone."""
        return self.files[0].split("/")[0] if self.files else ""

    @property
    def module_name(self) -> str:
        """The module as an import statement names it: "minijax.jvp"."""
        return self.module.removesuffix(".py").replace("/", ".")

    @property
    def files(self) -> tuple[str, ...]:
        """The files that this lesson adds to a tree: the given ones, then its module."""
        return (*self.given, self.module) if self.module else self.given


# ------------------------------------------------------------------------------------------
# Asking for lessons


def load() -> dict[str, Lesson]:
    """All lessons by id, in the order of their folders' numbers."""
    return _load(places.lessons())


@functools.cache
def _load(folders: tuple[Path, ...]) -> dict[str, Lesson]:
    lessons: dict[str, Lesson] = {}
    for path in (x for folder in folders for x in sorted(folder.glob("*/lesson.toml"))):
        lesson = _read(path)
        _check_place(lesson, list(lessons.values()), _Where(path))
        lessons[lesson.id] = lesson
    return lessons


def get(lesson_id: str) -> Lesson:
    """The lesson of this id."""
    lessons = load()
    if lesson_id not in lessons:
        raise unknown_name("lesson", lesson_id, [x.id for x in lessons.values() if x.exercises])
    return lessons[lesson_id]


def find_exercise(exercise_id: str) -> Exercise:
    """The exercise of this id, in whichever lesson it is."""
    exercises = {e.id: e for lesson in load().values() for e in lesson.exercises}
    if exercise_id not in exercises:
        raise unknown_name("exercise", exercise_id, exercises)
    return exercises[exercise_id]


def _around(lesson: Lesson) -> dict[str, Lesson]:
    """The lessons of the course that a lesson is of."""
    place, known = lesson.folder.parent, places.lessons()
    return _load(known if place in known else (place,))


def prefix(lesson: Lesson) -> list[Lesson]:
    """The lessons whose files make up the tree of this one, in order.

    They are those of the same package up to and with this one. Where one of them requires a lesson
    of another package, the lessons of that one's tree join.
    """
    known = _around(lesson)
    own = [other for other in package_of(lesson) if other.number <= lesson.number]
    required = [known[lesson_id] for other in own for lesson_id in other.requires]
    guests = [
        guest for other in required if other.package != lesson.package for guest in prefix(other)
    ]
    found = {other.id for other in [*own, *guests]}
    return [other for other in known.values() if other.id in found]


def comes_later(text: str) -> str:
    """The module of the course that an import, or its error, names first, and its lesson; or ""."""
    found = re.search(r"(?:from |import |No module named ')([\w.]+)", text)
    file = found and found[1].replace(".", "/") + ".py"
    home = next((lesson for lesson in load().values() if file in lesson.files), None)
    return f"{file}, which comes with lesson {home.number}, {home.id}" if home else ""


def needs(exercise: Exercise) -> list[Exercise]:
    """The exercises without which this one cannot be tested, in the order of the lesson."""
    exercises = get(exercise.lesson).exercises
    ids = set(exercise.after)
    for other in reversed(exercises):
        if other.id in ids:
            ids.update(other.after)
    return [other for other in exercises if other.id in ids]


def needed(lesson: Lesson) -> list[Lesson]:
    """The lessons that this one stands on and itself, in order: a part of its `prefix`.

    These are what it requires, what those require, and so on. Students get their solutions with it.
    """
    known = _around(lesson)
    found, todo = {lesson.id}, [*lesson.requires]
    while todo:
        name = todo.pop()
        found.add(name)
        todo += [other for other in known[name].requires if other not in found]
    return [other for other in prefix(lesson) if other.id in found]


def package_of(lesson: Lesson) -> list[Lesson]:
    """All lessons of the same package, in order."""
    every = _around(lesson).values()
    return [other for other in every if other.package == lesson.package]


def unknown_name(kind: str, name: str, known: Iterable[str]) -> Problem:
    """The error for a name that is not known, with what may be meant: functions' names count."""
    known = list(known)
    exercises = [e for lesson in load().values() for e in lesson.exercises]
    called = {e.id for e in exercises if name in (e.target, e.id.rpartition(".")[2])}
    close = [x for x in known if x in called] or _lessons_called(name)
    close = close or difflib.get_close_matches(name, known)
    advice = f"Did you mean {' or '.join(close)}?" if close else "See `./jaxprentice list`."
    return Problem(f"There is no {kind} {name!r}. {advice}")


def _lessons_called(name: str) -> list[str]:
    """The lesson that has this number, this file or this folder, or this name in capitals."""
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2].lower()
    found = []
    for lesson in load().values():
        names = {lesson.id, str(lesson.number), lesson.module.rpartition("/")[2]}
        if last and last in {*names, lesson.folder.name}:
            found.append(lesson.id)
    return found


# ------------------------------------------------------------------------------------------
# Reading one manifest

_TYPES: dict[Any, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    tuple[str, ...]: "a list of texts",
}
_DERIVED = {"number", "lesson", "way", "partial"}  # fields of these types that no manifest holds

_ID = re.compile(r"[a-z][a-z0-9_]*")
_MODULE = re.compile(r"[a-z]\w*(/[a-z]\w*)*/[a-z_]\w*\.py")
_SCRIPT = re.compile(r"[a-z]\w*/\w[\w.]*")
_TARGET = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_EXPORT = re.compile(r"([a-z]\w*\.)*(\w+|\*)( from [a-z]\w*(\.[a-z]\w*)*)?")
_FOLDER = re.compile(r"(\d\d)_\w+")


@dataclass(frozen=True)
class _Where:
    """A manifest, and the exercise in it when the place is that exact."""

    path: Path
    part: str = ""

    def check(self, fine: object, key: str, expected: str) -> None:
        """Complain about `key` unless `fine`."""
        if not fine:
            raise Problem(f"{places.shown(self.path)}: {self.part}`{key}` {expected}.")


def _read(path: Path) -> Lesson:
    where, table = _Where(path), user_files.toml(path)
    entries, worth = table.pop("exercise", []), table.pop("whole", 0.0)
    said = _take(table, Lesson, where, ("whole", "exercise"))
    where.check(isinstance(entries, list), "exercise", "should be written as [[exercise]] tables")
    where.check(_is(worth, float), "whole", f"should be {_TYPES[float]}")
    numbered = _FOLDER.fullmatch(path.parent.name)
    where.check(numbered, "id", f"is in the folder {path.parent.name!r}, which should be NN_name")
    assert numbered
    lesson = Lesson(
        **said,
        number=int(numbered[1]),
        folder=path.parent,
        exercises=tuple(_exercise(entry, i, said["id"], where) for i, entry in enumerate(entries)),
        whole=Whole(f"{said['id']}.whole", float(worth)) if worth else None,
    )
    _check_lesson(lesson, where)
    return lesson


def _exercise(entry: object, index: int, lesson: str, where: _Where) -> Exercise:
    where = _Where(where.path, f"[[exercise]] number {index + 1}: ")
    where.check(isinstance(entry, dict), "exercise", "should be written as [[exercise]] tables")
    assert isinstance(entry, dict)
    exercise = Exercise(**_take(entry, Exercise, where), lesson=lesson)
    _check_exercise(exercise, _Where(where.path, f"exercise {exercise.id!r}: "))
    return exercise


# ------------------------------------------------------------------------------------------
# Checks. No library does them: it would take over `_take` and `_is`, know nothing of the file and
# the exercise, and say "Expected `str` of length >= 1 - at `$.exercise[0].todo`".


def _take(
    table: dict[str, Any], kind: type, where: _Where, besides: Sequence[str] = ()
) -> dict[str, Any]:
    """What a table says of the fields of `kind`, once its keys and types are found right."""
    found = [x for x in fields(kind) if x.type in _TYPES and x.name not in _DERIVED]
    types: dict[str, Any] = {field.name: field.type for field in found}
    for key in table:
        known = f"is not a known key; known are {', '.join([*types, *besides])}"
        where.check(key in types, key, known)
    for field in found:
        key, expected = field.name, _TYPES[types[field.name]]
        there = key in table or field.default is not MISSING
        where.check(there, key, f"is missing; give {expected}")
        where.check(key not in table or _is(table[key], types[key]), key, f"should be {expected}")
    return {key: types[key](value) for key, value in table.items()}


def _is(value: object, kind: Any) -> bool:
    if isinstance(value, bool):  # to Python a bool is an int
        return False
    if kind is float:
        return isinstance(value, int | float)
    if kind == tuple[str, ...]:
        return isinstance(value, list) and all(isinstance(item, str) and item for item in value)
    return isinstance(value, kind) and value != ""


def _check_lesson(lesson: Lesson, where: _Where) -> None:
    where.check(_ID.fullmatch(lesson.id), "id", "should be lower-case letters, digits and _")
    least = 1 if lesson.has_page else 0
    where.check(lesson.minutes >= least, "minutes", f"should be {least} or more")
    alone = (lesson.given or lesson.scripts) and not lesson.exercises
    where.check(
        lesson.module or alone, "module", "is missing; only given code may be `given` files alone"
    )
    modules = [lesson.module] if lesson.module else []
    package = [*modules, *lesson.given, ""][0].split("/")[0]
    for key, files in (("module", modules), ("given", lesson.given)):
        for file in files:
            where.check(_MODULE.fullmatch(file), key, f"holds {file!r}, not like minijax/jvp.py")
            same = file.split("/")[0] == package
            where.check(same, key, f"holds {file!r}, which is in another package than the others")
            generated = file.endswith("/__init__.py")
            where.check(not generated, key, f"holds {file!r}, but sync writes those from `exports`")
    for script in lesson.scripts:
        there = _SCRIPT.fullmatch(script) and (places.COURSE / script).is_file()
        where.check(there, "scripts", f"holds {script!r}, which is not a file below course/")
    for export in lesson.exports:
        shape = f"holds {export!r}, not like 'NAME', 'PACKAGE.NAME' or 'PACKAGE.* from MODULE'"
        where.check(_EXPORT.fullmatch(export), "exports", shape)
    _check_exercises(lesson, where)


def _check_exercises(lesson: Lesson, where: _Where) -> None:
    """Check what exercises have to do with each other and with the whole module."""
    _check_repeats([e.id for e in lesson.exercises], "id", where)
    _check_repeats([e.target for e in lesson.exercises], "target", where)
    apart = sum(exercise.points for exercise in lesson.exercises)
    enough = not lesson.whole or 3 * lesson.whole.points >= apart
    where.check(enough, "whole", "should hold a quarter of the lesson's points or more")
    earlier: list[str] = []
    for exercise in lesson.exercises:
        named = exercise.id != f"{lesson.id}.whole"
        where.check(named, "id", "of an exercise ends in .whole, which names the module as a whole")
        for other in exercise.after:
            where.check(other in earlier, "after", f"names {other!r}, no earlier exercise here")
        earlier.append(exercise.id)


def _check_repeats(values: Sequence[str], key: str, where: _Where) -> None:
    for i, value in enumerate(values):
        where.check(value not in values[:i], key, f"{value!r} is given to two exercises")


def _check_exercise(exercise: Exercise, where: _Where) -> None:
    start, _, name = exercise.id.partition(".")
    named = start == exercise.lesson and _ID.fullmatch(name)
    expected = f"should be {exercise.lesson}.NAME, NAME in lower-case letters, digits and _"
    where.check(named, "id", expected)
    target = _TARGET.fullmatch(exercise.target)
    where.check(target, "target", "should be a name such as 'jvp' or 'JVPTrace.pure'")
    where.check(exercise.points > 0, "points", "should be more than 0")
    where.check(exercise.minutes > 0, "minutes", "should be more than 0")
    where.check(exercise.difficulty in (1, 2, 3), "difficulty", "should be 1, 2 or 3")
    where.check(len(exercise.hints) == 3, "hints", "should hold three texts, each saying more")


def _check_place(lesson: Lesson, before: Collection[Lesson], where: _Where) -> None:
    """Check what a lesson has to do with the ones before it."""
    known = {other.id for other in before}
    where.check(lesson.id not in known, "id", f"{lesson.id!r} is taken by another lesson")
    numbers = {other.number for other in before}
    where.check(lesson.number not in numbers, "id", f"shares number {lesson.number} with another")
    for required in lesson.requires:
        where.check(required in known, "requires", f"names {required!r}, no earlier lesson")
    owners = {file: other.id for other in before for file in other.files}
    for file in lesson.files:
        owner = owners.get(file)
        where.check(owner is None, "module", f"or `given` holds {file!r}, which {owner!r} has")
