"""Begins a lesson: its files, a tiny lesson that works, with marks where it is to be changed.

The files are those in `templates/`, with the lesson's names put in. Each mark, "FILL IN", comes
before the text that says what belongs there; `unfinished` finds those that are left.
"""

import keyword
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from autograder.lessons import manifest, places
from autograder.lessons.problem import Problem

TEMPLATES = Path(__file__).with_name("templates")
PACKAGE = "minijax"  # that new lessons extend; a different one is a matter of two lines
MARK = "FILL IN"

_ID = re.compile(r"[a-z][a-z0-9_]*")
FIRST_OWN = 70  # the number of a course directory's first own lesson
LONGEST = 40  # letters of an id


def begin(lesson_id: str, course: Path | None = None) -> list[str]:
    """Write the files of a new lesson, after all others; their paths, in the order of the work.

    With a `course` directory, they go into its own lessons, and nothing into this copy.

    Raises Problem, and writes nothing, if the id is not a module's name or if something has it.
    """
    if course:
        places.adopt(course)
    _check_id(lesson_id)
    known = manifest.load().values()
    first = FIRST_OWN if course else 1  # an update of this copy may bring lessons before them
    number = max([first, *(lesson.number + 1 for lesson in known)])
    required = standing_on(own=course is not None).id
    names = {"newlesson": lesson_id, "PACKAGE": PACKAGE, "REQUIRED": required}
    place = course / places.OWN if course else None
    lessons = place / "lessons" if place else places.COURSE / "lessons"
    files = _files(lessons / f"{number:02}_{lesson_id}", lesson_id, place)
    for path in files:
        if path.exists():
            raise Problem(f"{places.shown(path)} is there already. Give the lesson another name.")
    for path, template in files.items():
        text = (TEMPLATES / template).read_text(encoding="utf-8")
        path.parent.mkdir(parents=True, exist_ok=True)
        filled = re.sub("|".join(names), lambda found: names[found[0]], text)
        path.write_text(filled, encoding="utf-8")
    return [places.shown(path) for path in files]


def standing_on(*, own: bool) -> manifest.Lesson:
    """The lesson that a new one requires at first: the last, or for a course's own the first.

    A handout publishes the solutions of what its lesson requires.
    """
    of_copy = [x for x in manifest.load().values() if x.folder.parent.parent == places.COURSE]
    earlier = [x for x in of_copy if x.package == PACKAGE and x.exercises]
    return earlier[0] if own else earlier[-1]


def _check_id(lesson_id: str) -> None:
    if not _ID.fullmatch(lesson_id) or len(lesson_id) > LONGEST or keyword.iskeyword(lesson_id):
        raise Problem(
            f"A lesson cannot be called {lesson_id!r}: its module has that name. "
            f"Use at most {LONGEST} lower-case letters, digits and _, such as custom_rules."
        )
    if lesson_id in manifest.load():
        place = places.shown(manifest.get(lesson_id).folder)
        raise Problem(f"There is a lesson {lesson_id!r} already, in {place}. Give another name.")


def _files(folder: Path, lesson_id: str, own: Path | None = None) -> dict[Path, str]:
    """The template of each file that a person writes, in the order of the work.

    All are in `own`, if it is a course's folder of own lessons.
    """
    solutions = own / "solutions" if own else places.SOLUTIONS
    suites = own / "suites" if own else places.SUITES
    answers = own / "answers" if own else places.ANSWERS
    return {
        folder / "lesson.toml": "lesson.toml",
        solutions / PACKAGE / f"{lesson_id}.py": "module.py",
        suites / f"{lesson_id}.py": "suite.py",
        suites / f"{lesson_id}.classes.toml": "classes.toml",
        answers / f"{lesson_id}.py": "answers.py",
        folder / "checks.py": "checks.py",
        folder / f"open_{lesson_id}.py": "open.py",
        solutions / "tasks" / f"open_{lesson_id}.py": "open_solution.py",
        folder / f"repair_{lesson_id}.py": "repair.py",
        solutions / "tasks" / f"repair_{lesson_id}.py": "repair_solution.py",
        folder / "tasks.py": "tasks.py",
        folder / "milestone.py": "milestone.py",
        folder / "lesson.md": "lesson.md",
    }


def unfinished(lessons: Iterable[manifest.Lesson] | None = None) -> list[str]:
    """The marks that are left in lessons, all if absent, each as "FILE, line N: FILL IN: ..."."""
    return [
        f"{places.shown(path)}, line {number}: {line[line.index(MARK) :].strip()}"
        for path in _written_by_hand(manifest.load().values() if lessons is None else lessons)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if MARK in line
    ]


def _written_by_hand(lessons: Iterable[manifest.Lesson]) -> Iterator[Path]:
    for lesson in lessons:
        place = lesson.folder.parent.parent
        files = _files(lesson.folder, lesson.id, None if place == places.COURSE else place)
        module = places.solution(lesson.module)
        yield from (path for path in {module: "", **files} if path.is_file())
