"""Grades a folder of submissions into a folder of results.

A run that breaks off, however it does, has kept each result that it had made, and the next run goes
on from there: a result is made again only if its module, or anything else that it depends on, is
not the same as then. `grades.csv` is written at the end, from all the results in the folder.
"""

import contextlib
import hashlib
import secrets
import signal
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from autograder.classroom import course as courses
from autograder.classroom import intake, reading, variants
from autograder.classroom.course import Assignment
from autograder.classroom.display import display
from autograder.grading import fingerprint, pool, results, submission, suite
from autograder.grading.result import Result
from autograder.grading.submission import Base
from autograder.lessons import manifest, user_files
from autograder.lessons.manifest import Lesson
from autograder.lessons.problem import Interrupted, Problem
from autograder.sandbox import isolation

Taken = tuple[str, bytes | None, str]  # student, module, why there is none


def grade_folder(
    submissions: Path,
    lesson: Lesson,
    out: Path,
    *,
    jobs: int | None = None,
    level: str | None = None,
    scheduler: str | None = None,
    seed: int | None = None,
    bases: Mapping[str, Base] | None = None,
    assignment: Assignment | None = None,
) -> None:
    """Grade every student's folder, and write a result each and a table into `out`.

    With the address of a Dask `scheduler`, its workers do it, else `jobs` processes here. Without
    a `seed`, generated tests have the one that `out` keeps; the first run draws it. `bases` holds
    students' own modules of earlier lessons, where these count; `assignment` says whether there are
    variants.

    Raises Problem at the end if some folders' names are not fit for results; the others are graded.
    """
    taken, unfit = _fit(submissions, list(intake.submissions(submissions, lesson)))
    students = [student for student, _, _ in taken]
    level = isolation.choose(level)
    print(f"Isolation: {level}, {isolation.MEANING[level]}.", flush=True)
    with results.locked(out):
        known = _known(out, lesson, students)
        seed = _seed(out, seed, known)
        plain = manifest.load().get(lesson.id, lesson)  # with its own points
        editions = _editions(assignment, students, plain, level, seed)
        more = (
            "" if lesson == plain else f" points {sorted((x.id, x.points) for x in lesson.graded)}"
        )
        marks = {x: editions[x].mark + more + _hashed(bases, x) for x in students}
        todo = [each for each in taken if not _is_done(each, known, marks[each[0]])]
        if len(todo) < len(taken):
            print(f"{len(taken) - len(todo)} of {len(taken)} were graded before, and stay.")
        with _breaking_off_well(lesson, len(taken) - len(todo), len(taken)) as finished:
            made = _made(todo, editions, plain, out, jobs, scheduler, level=level, bases=bases)
            keep(_finished(made, lesson, todo, editions), todo, out, marks, finished)
            table = results.grades_csv(out)
        _name_the_odd(out, students)
        _name_the_absent(out, sorted(set(known) - set(students)))
    print(f"{len(taken)} submissions graded. The results are in {out}, the grades in {table}.")
    if unfit:
        raise Problem(_about_unfit(unfit))


@dataclass(frozen=True)
class _Edition:
    """What a student's tests go by."""

    variant: int
    seed: int
    mark: str


def _editions(
    assignment: Assignment | None, students: Sequence[str], lesson: Lesson, level: str, seed: int
) -> dict[str, _Edition]:
    """By student the edition of the tests: one for all, or one for each variant."""
    chosen = {x: assignment.variant(x) if assignment else 0 for x in students}
    made = {}
    for variant in sorted(set(chosen.values())):
        own = variants.seed_of(seed, variant)
        made[variant] = _Edition(variant, own, fingerprint.fingerprint(lesson, level, own))
    return {student: made[variant] for student, variant in chosen.items()}


def _finished(
    made: pool.Results, lesson: Lesson, taken: Sequence[Taken], editions: Mapping[str, _Edition]
) -> pool.Results:
    """Results with the points that the lesson has in this course, lines, and their variant."""
    sources = {student: source for student, source, _ in taken}
    with contextlib.closing(made):
        for result in made:
            scaled = courses.with_points(result, lesson)
            placed = reading.with_lines(scaled, sources[result["student"]], lesson)
            yield variants.noted(placed, editions[result["student"]].variant)


def _hashed(bases: Mapping[str, Base] | None, student: str) -> str:
    """What the fingerprint of a result is longer by if it stands on a student's own modules."""
    if bases is None:
        return ""
    parts = sorted(bases.get(student, {}).items())
    return f" base {hashlib.sha256(repr(parts).encode()).hexdigest()}"


def _made(
    todo: Sequence[Taken],
    editions: Mapping[str, _Edition],
    lesson: Lesson,
    out: Path,
    *how: Any,
    **options: Any,
) -> pool.Results:
    """The results of some submissions, edition by edition."""
    for edition in sorted({editions[each[0]] for each in todo}, key=lambda x: x.variant):
        own = [each for each in todo if editions[each[0]] == edition]
        with contextlib.closing(_made_of(edition, own, lesson, out, *how, **options)) as made:
            yield from made


def _made_of(
    edition: _Edition,
    todo: Sequence[Taken],
    lesson: Lesson,
    out: Path,
    jobs: int | None,
    scheduler: str | None,
    *,
    bases: Mapping[str, Base] | None,
    **options: Any,
) -> pool.Results:
    """The results of some submissions of one edition, made here or on a cluster."""
    options["seed"] = edition.seed
    work = [(student, source) for student, source, _ in todo]
    if scheduler:
        return _cluster().grade_many(work, lesson, scheduler, mark=edition.mark, **options)
    kept = out / "programs"
    kept = kept / f"variant-{edition.variant}" if edition.variant else kept
    options |= {"kept": kept, "bases": bases}
    return pool.grade_many(work, lesson, workers=jobs, **options)


def _seed(out: Path, given: int | None, known: Mapping[str, Result]) -> int:
    """The seed of an assignment's generated tests, which stays with its results."""
    path = out / "seed.txt"
    if given is None and user_files.is_there(path):
        return user_files.whole_number(path)
    drawn = next((result["seed"] for result in known.values()), secrets.randbelow(2**31))
    seed = drawn if given is None else given
    results.write_text(path, f"{seed}\n")
    return seed


def _cluster() -> ModuleType:
    try:
        from autograder.classroom import cluster
    except ImportError as error:
        raise Problem(
            f"Grading on a cluster needs a package that is not installed ({error.name}). Start "
            "the command by ./jaxprentice, which installs what is missing."
        ) from None
    return cluster


def keep(
    made: pool.Results,
    taken: Sequence[Taken],
    out: Path,
    marks: Mapping[str, str],
    finished: list[str],
) -> None:
    """Write results as they come, and say each score; `finished` grows meanwhile."""
    reasons = {student: reason for student, _, reason in taken}
    width = max(map(len, reasons), default=0)
    with contextlib.closing(made), display(len(taken)) as shows:
        for result in made:
            student = result["student"]
            if reasons[student]:
                result["remarks"] = [reasons[student], *result["remarks"]]
            results.write({**result, "fingerprint": marks[student]}, out)
            finished.append(student)
            score = f"{result['score']:g} of {result['max_score']:g}"
            shows.add(f"{student:<{width}}  {score}", result)


def _name_the_odd(out: Path, students: Sequence[str]) -> None:
    """Say which submissions need manual review; their results say why."""
    odd = [s for s in students if results.read(out / f"{s}.json").get("review")]
    if odd:
        print(f"{len(odd)} need manual review (`review` in the result): {', '.join(odd)}.")


def _name_the_absent(out: Path, students: Sequence[str]) -> None:
    """Say whose results are older than this run: nothing is deleted that may be a grade."""
    if students:
        names = ", ".join(students)
        print(f"{len(students)} have a result in {out} and no submission; they stay: {names}.")


def shown(name: str) -> str:
    """A student's name without characters that would play with the terminal."""
    return "".join(c if c.isprintable() else "?" for c in name)


def _fit(folder: Path, taken: list[Taken]) -> tuple[list[Taken], dict[str, str]]:
    """The submissions that can be graded under their names; and of the others why they cannot.

    Each needs a file of results of its own, on any file system.
    """
    if not taken:
        raise Problem(f"{folder} holds no folders. It should hold one folder per student.")
    alike = Counter(_folded(student) for student, _, _ in taken)
    unfit: dict[str, str] = {}
    for student, _, _ in taken:
        if not results.is_file_name(student):
            unfit[student] = "cannot name a file of results"
        elif alike[_folded(student)] > 1:
            unfit[student] = "is there twice, but for capitals or the ending .zip"
    fit = [each for each in taken if each[0] not in unfit]
    if not fit:
        raise Problem(_about_unfit(unfit))
    return fit, unfit


def _folded(student: str) -> str:
    return unicodedata.normalize("NFC", student).casefold()


def _about_unfit(unfit: Mapping[str, str]) -> str:
    shortened = [(shown(name)[:60], why) for name, why in unfit.items()]
    names = "; ".join(f"{name!r} {why}" for name, why in shortened[:10])
    more = f"; and {len(unfit) - 10} more" if len(unfit) > 10 else ""
    return (
        f"Not graded for their names: {names}{more}. Rename them, and run the same command again."
    )


# ------------------------------------------------------------------------------------------
# Going on after a run that broke off


def _known(out: Path, lesson: Lesson, students: Sequence[str]) -> dict[str, Result]:
    """The results in the folder by student, but for damaged ones that will be made again."""
    known: dict[str, Result] = {}
    for path in results.paths(out):
        try:
            known[path.stem] = result = results.read(path)
        except Problem:
            if path.stem not in students:
                raise
            continue
        if result["lesson"] != lesson.id:
            raise Problem(
                f"{out} holds results of the lesson {result['lesson']!r}, which would be "
                "overwritten. Give another folder as --out."
            )
    return known


def _is_done(taken: Taken, known: Mapping[str, Result], mark: str) -> bool:
    """Is there a result that would be the same if it was made again, or that is the last word?"""
    student, source, reason = taken
    result = known.get(student)
    if result is None or reason == intake.VANISHED:
        return result is not None
    if source is None or result.get("fingerprint") != mark:
        return False
    same = result["submission_sha256"] == hashlib.sha256(source).hexdigest()
    return same and result["student"] == student and submission.is_graded(result)


@contextlib.contextmanager
def _breaking_off_well(lesson: Lesson, before: int, total: int) -> Iterator[list[str]]:
    """Say in one sentence why grading broke off, how far it had come, and how to go on."""
    finished: list[str] = []
    try:
        with _signals_interrupt():
            yield finished
    except suite.SuiteError as error:
        why = " ".join(str(error).split()).rstrip(".")
        raise Problem(
            f"The hidden suite of {lesson.id} is at fault, so nothing is graded ({why}). "
            f"Repair it, and run `./jaxprentice audit {lesson.id}`."
        ) from None
    except (KeyboardInterrupt, OSError) as error:
        done = f"{before + len(finished)} of {total} submissions are graded, and kept"
        if isinstance(error, KeyboardInterrupt):
            raise Interrupted(f"Stopped: {done}. Run the same command again to go on.") from None
        reason = error.strerror or str(error)
        raise Problem(
            f"Stopped by the system ({reason}): {done}. Set that right, then run the same "
            "command again to go on."
        ) from error


@contextlib.contextmanager
def _signals_interrupt() -> Iterator[None]:
    """Let the signals that ask a program to end do what Ctrl-C does."""
    wanted = [getattr(signal, name, signal.SIGTERM) for name in ("SIGTERM", "SIGHUP")]
    before = {number: signal.getsignal(number) for number in wanted}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:  # as `nohup` asks
            signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt
