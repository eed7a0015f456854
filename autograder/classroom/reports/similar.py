"""Which submissions share code: pairs, and likeness to the published reference, by exercise.

copydetect takes each function's tokens apart into fingerprints (winnowing), whatever its variables
are called. What the skeleton and the module's given code hold is left out. How alike two functions
are is the part of the smaller one's fingerprints that both have. Short exercises can be solved in
few ways, so each value is shown beside the class's, and nothing is said about how it came to be.
A pair is named from 80 %, if it is above 99 % of the class's pairs as well; a fixed threshold alone
would name most of a class.

JPlag compares whole programs, needs Java and is under the GPL. copydetect's own report compares
files, and one pair at a time; here all pairs are one product of matrices, and a thousand
submissions of a lesson take a minute of processor time.
"""

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from autograder.classroom.course import people, settings
from autograder.classroom.course.settings import Course, cell_name
from autograder.classroom.intake import files, reading, written
from autograder.classroom.reports import grades
from autograder.classroom.run import pages
from autograder.grading import result_files
from autograder.lessons import assemble, manifest, user_files
from autograder.lessons.manifest import Lesson
from autograder.lessons.problem import Problem

LENGTH, WINDOW = 12, 4  # of fingerprints, in characters of filtered code
LEAST = 8  # fingerprints of a function that is compared; shorter ones are alike by chance
HIGH = 0.8  # from which a pair may be named
RARE = 99.0  # and the percentile of the class that it must reach, too
PAIRS, TOLD = 40, 10  # that the page lists, and the terminal
REFERENCE = "the published solution"

Hashes = frozenset[int]


@dataclass
class Work:
    """What is compared of one submission, or of several with the same functions."""

    student: str  # or all of them
    functions: dict[str, str]  # by exercise
    prints: dict[str, Hashes]
    number: int = 1


@dataclass
class Pair:
    """Two submissions, or one and the reference, with what they share."""

    first: str
    second: str
    share: float  # of all that is compared in the lesson
    exercises: dict[str, float]
    number: int = 1  # submissions that are the first
    functions: list[tuple[str, str, str]] = field(default_factory=list)  # exercise, and both texts


@dataclass
class Same:
    """Submissions in which one function is the same, but for white space."""

    exercise: str
    students: list[str]
    published: bool  # is it the published solution's?
    text: str


@dataclass
class Likeness:
    """What came of a class's comparison."""

    lesson: Lesson
    count: int
    equal: list[Work]  # several submissions each, which have the same functions
    pairs: list[Pair]
    reference: list[Pair]
    same: list[Same]
    percentiles: dict[int, float]
    threshold: float


# ------------------------------------------------------------------------------------------
# Comparing


def compare(sources: Mapping[str, str], lesson: Lesson) -> Likeness:
    """Compare the modules of a class, given by student."""
    given = _fingerprints(assemble.skeleton_of(lesson))
    works = [_work(student, sources[student], lesson, given) for student in sorted(sources)]
    works = [work for work in works if work.prints]
    count, works = len(works), _together(works)
    reference = _work(REFERENCE, assemble.read_solution(lesson.module), lesson, given)
    shares, parts = _shares(works, works, lesson)
    above = np.triu(np.ones(shares.shape, bool), 1)
    values = shares[above] if above.any() else np.zeros(1)
    threshold = max(HIGH, float(np.percentile(values, RARE)))
    rows, columns = np.nonzero(above & (shares >= threshold))
    found = [(int(i), int(j)) for i, j in zip(rows, columns, strict=True)]
    pairs = [_pair(works[i], works[j], shares, parts, (i, j)) for i, j in found]
    pairs.sort(key=lambda pair: (-pair.share, pair.first, pair.second))
    against, own = _shares(works, [reference], lesson)
    likes = [_pair(work, reference, against, own, (i, 0)) for i, work in enumerate(works)]
    likes = sorted((x for x in likes if x.share >= HIGH), key=lambda x: (-x.share, x.first))
    levels = {level: float(np.percentile(values, level)) for level in (50, 90, 99)}
    same = [*_same_functions(works, reference, lesson)]
    equal = [work for work in works if work.number > 1]
    return Likeness(lesson, count, equal, pairs, likes, same, levels, threshold)


def _work(student: str, source: str, lesson: Lesson, given: Hashes) -> Work:
    """What is compared of a module: fingerprints without those of what everybody gets."""
    found = reading.functions(source, lesson)
    texts = {e.id: found[n] for e in lesson.exercises if (n := cell_name(e.id)) in found}
    prints = {
        exercise: kept
        for exercise, text in texts.items()
        if len(kept := _fingerprints(written.limited(text)) - given) >= LEAST
    }
    return Work(student, texts, prints)


def _fingerprints(text: str) -> Hashes:
    from copydetect import CodeFingerprint

    if len(text) < LENGTH:
        return frozenset()
    made = CodeFingerprint("x.py", LENGTH, WINDOW, language="python", fp=io.StringIO(text))
    return frozenset(int(x) for x in made.hashes)


def _shares(
    some: Sequence[Work], others: Sequence[Work], lesson: Lesson
) -> tuple[Any, dict[str, Any]]:
    """How much each of some shares with each of the others: in all, and by exercise."""
    common = np.zeros((len(some), len(others)))
    least = np.zeros_like(common)
    parts = {}
    for exercise in lesson.exercises:
        left = [work.prints.get(exercise.id, frozenset()) for work in some]
        right = [work.prints.get(exercise.id, frozenset()) for work in others]
        both, fewer = _common(left, right)
        parts[exercise.id] = both / np.maximum(fewer, 1)
        common += both
        least += fewer
    return common / np.maximum(least, 1), parts


def _common(left: Sequence[Hashes], right: Sequence[Hashes]) -> tuple[Any, Any]:
    """For each two sets how many elements both have, and how many the smaller one has."""
    places = {x: i for i, x in enumerate(set().union(*left, *right))}
    one, two = (np.zeros((len(sets), len(places) or 1), np.float32) for sets in (left, right))
    for made, sets in ((one, left), (two, right)):
        for row, found in enumerate(sets):
            made[row, [places[x] for x in found]] = 1
    return one @ two.T, np.minimum(one.sum(1)[:, None], two.sum(1)[None, :])


def _together(works: Sequence[Work]) -> list[Work]:
    """Those with the same functions, but for white space, as one."""
    groups: dict[str, list[Work]] = {}
    for work in works:
        groups.setdefault(_plain(" ".join(work.functions.values())), []).append(work)
    return [
        replace(group[0], student=", ".join(x.student for x in group), number=len(group))
        for group in groups.values()
    ]


def _same_functions(works: Sequence[Work], reference: Work, lesson: Lesson) -> Iterator[Same]:
    """The functions that several have alike, the shortest left out, in the lesson's order."""
    for exercise in lesson.exercises:
        groups: dict[str, list[Work]] = {}
        for work in works:
            if exercise.id in work.prints:
                groups.setdefault(_plain(work.functions[exercise.id]), []).append(work)
        published = _plain(reference.functions.get(exercise.id, ""))
        for text, group in groups.items():
            if len(group) > 1:
                shown = group[0].functions[exercise.id]
                students = [work.student for work in group]
                yield Same(exercise.id, students, text == published, shown)


def _plain(text: str) -> str:
    return " ".join(text.split())


def _pair(
    one: Work, two: Work, shares: Any, parts: Mapping[str, Any], place: tuple[int, int]
) -> Pair:
    alike = {name: float(part[place]) for name, part in parts.items() if part[place] >= HIGH}
    texts = [(x, one.functions.get(x, ""), two.functions.get(x, "")) for x in alike]
    return Pair(one.student, two.student, float(shares[place]), alike, one.number, texts)


# ------------------------------------------------------------------------------------------
# The page


def write(found: Likeness, folder: Path) -> Path:
    """Write the page of a lesson; its path."""
    page = pages.template("similar.html.j2").render(
        found=found, high=HIGH, rare=RARE, pairs=found.pairs[:PAIRS], most=PAIRS, least=LEAST
    )
    path = folder / f"similar-{found.lesson.id}.html"
    result_files.write_text(path, page)
    return path


def told(found: Likeness) -> Iterator[str]:
    """The result in sentences."""
    level = found.percentiles
    yield (
        f"{found.count} submissions of {found.lesson.id} with code of their own. "
        f"Two that differ share {level[50]:.0%} in the middle; "
        f"one pair in a hundred shares {level[99]:.0%} or more."
    )
    for lines in (
        [f"{x.student}: the same functions ({', '.join(x.functions)})" for x in found.equal],
        [f"{_named(pair)} ({', '.join(pair.exercises)})" for pair in found.pairs],
        [
            f"{x.exercise} is the same{', as published' * x.published}: {'; '.join(x.students)}"
            for x in found.same
        ],
        [_named(pair) for pair in found.reference],
    ):
        yield from (f"    {line}" for line in lines[:TOLD])
        if len(lines) > TOLD:
            yield f"    and {len(lines) - TOLD} more of these: see the page"


def _named(pair: Pair) -> str:
    return f"{pair.first} and {pair.second}: {pair.share:.0%}"


# ------------------------------------------------------------------------------------------
# From a folder of submissions, and from a course directory


def find(folder: Path, name: str, out: Path | None) -> Iterator[str]:
    """Compare the submissions of a lesson or an assignment; what came of it, in sentences."""
    for lesson, sources, place in _classes(folder, name):
        found = compare(sources, lesson)
        yield from told(found)
        yield f"The page is {write(found, out or place)}."


def _classes(folder: Path, name: str) -> Iterator[tuple[Lesson, dict[str, str], Path]]:
    """Each lesson with the modules of its class, read one lesson at a time, and where they are."""
    course = grades.directory(folder)
    if course is None:
        lesson = manifest.get(name)
        yield lesson, from_submissions(folder, lesson), folder
        return
    for assignment in settings.read(course).chosen([name]):
        place = course / grades.RESULTS / assignment.name
        for lesson in assignment.lessons:
            yield lesson, from_intake(course, assignment.name, lesson), place


def of_course(folder: Path, course: Course, out: Path) -> dict[str, Likeness]:
    """Compare the submissions of every assignment, write the pages, by the name of each page."""
    found = {}
    for assignment in course.assignments.values():
        for lesson in assignment.lessons:
            sources = from_intake(folder, assignment.name, lesson)
            if len(sources) > 1:
                likeness = compare(sources, lesson)
                found[write(likeness, out / assignment.name).relative_to(out).as_posix()] = likeness
    return found


def from_submissions(folder: Path, lesson: Lesson) -> dict[str, str]:
    """The modules of a folder of submissions, by student."""
    taken = files.submissions(folder, lesson)
    found = {_shown(name): source.decode() for name, source, _ in taken if source is not None}
    if not found:
        raise Problem(f"No student in {folder} has {lesson.module}. Give the submissions.")
    return found


def _shown(name: str) -> str:
    """A folder's name without characters that would play with the terminal."""
    return name if name.isprintable() else repr(name)[1:-1]


def from_intake(folder: Path, assignment: str, lesson: Lesson) -> dict[str, str]:
    """The modules of an assignment in a course directory, by student; a group's is there once."""
    groups = people.members(folder, assignment)
    found = {}
    for student, path in files.copies(folder, assignment, lesson):
        found[" + ".join(groups.get(student, [student]))] = user_files.text(path)
    return found
