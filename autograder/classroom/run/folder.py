"""Grades a folder of submissions into a folder of results.

A run that breaks off, however it does, has kept each verdict that it had made, and the next run
goes on from there: a verdict is made again only if its module, or anything else that its key is
made of, has changed. `grades.csv` is written at the end, from all the results in the folder.
"""

import contextlib
import functools
import secrets
import signal
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from autograder.classroom.course.settings import Assignment, seed_of
from autograder.classroom.intake import files, own_base
from autograder.classroom.run import run
from autograder.grading import feedback, pool, result_files, suite
from autograder.grading.result import Result
from autograder.grading.task import Base, Edition, Task
from autograder.lessons import manifest, places, user_files
from autograder.lessons.manifest import Lesson
from autograder.lessons.problem import Interrupted, Problem
from autograder.sandbox import isolation

HandedIn = tuple[str, bytes | None, str]  # student, module, why there is none


def grade_folder(
    submissions: Path,
    lesson: Lesson,
    out: Path,
    *,
    jobs: int | None = None,
    level: str | None = None,
    scheduler: str | None = None,
    seed: int | None = None,
    assignment: Assignment | None = None,
    on_own: bool = False,
) -> None:
    """Grade every student's folder, and write a result each and a table into `out`.

    With the address of a Dask `scheduler`, its workers do it, else `jobs` processes here. Without
    a `seed`, generated tests have the one that `out` keeps; the first run draws it. `assignment`
    says whether there are variants; `on_own`, whether students' own earlier modules count.

    Raises Problem at the end if some folders' names are not fit for results; the others are graded.
    """
    handed_in, unfit = _fit(submissions, list(files.submissions(submissions, lesson)))
    level = isolation.choose(level)
    print(f"Isolation: {level}, {isolation.MEANING[level]}.", flush=True)
    with result_files.locked(out):
        before = _known(out, lesson, {student for student, _, _ in handed_in})
        edition = _editions(lesson, level, _seed(out, seed, before))
        bases = own_base.bases(submissions, lesson) if on_own else None
        # Of a submission that is gone the result of an earlier run is the last word.
        open_ = [x for x in handed_in if x[2] != files.VANISHED or x[0] not in before]
        work = [_submission(each, lesson, assignment, edition, bases) for each in open_]
        store = out / STORE
        known = run.recall(work, store)
        done = len(handed_in) - sum(not run.is_known(each, known) for each in work)
        _say_how_many(len(handed_in), done, work)
        with _breaking_off_well(lesson, done, len(handed_in)) as finished:
            execute = _executor(lesson, jobs, scheduler, out)
            made = run.graded(work, known, store, execute)
            _keep(made, [x.student for x in work if not run.is_known(x, known)], out, finished)
            table = result_files.grades_csv(out)
        students = [student for student, _, _ in handed_in]
        _name_the_odd(out, students)
        _name_the_absent(out, sorted(set(before) - set(students)))
    print(f"{len(handed_in)} submissions graded. The results are in {out}, the grades in {table}.")
    if unfit:
        raise Problem(_about_unfit(unfit))


def _editions(lesson: Lesson, level: str, seed: int) -> Callable[[int], Edition]:
    """What the tests of a variant go by; 0 stands for all students."""
    plain = manifest.load().get(lesson.id, lesson)  # without this course's points
    return functools.cache(lambda variant: Edition(plain, level, seed_of(seed, variant)))


def _say_how_many(total: int, done: int, work: Sequence[run.Submission]) -> None:
    print(f"{total} submissions{run.equal(work)}.", flush=True)
    if done:
        print(f"{done} of {total} were graded before, and stay.")


STORE = ".verdicts"  # in the folder of results


def _submission(
    handed_in: HandedIn,
    lesson: Lesson,
    assignment: Assignment | None,
    edition: Callable[[int], Edition],
    bases: Mapping[str, Base] | None,
) -> run.Submission:
    """What is to be graded of a student."""
    student, source, reason = handed_in
    variant = assignment.variant(student) if assignment else 0
    credit = Task(edition(variant), source)
    own = credit if bases is None else replace(credit, base=bases.get(student, {}))
    beside = None if bases is None else credit
    return run.Submission(student, lesson, own, reason, beside, variant)


def _executor(lesson: Lesson, jobs: int | None, scheduler: str | None, out: Path) -> run.Executor:
    """What grades: a cluster, or processes here, which keep generated programs in `out`."""
    if scheduler and lesson.folder.parent != places.COURSE / "lessons":
        raise Problem(f"The cluster does not have {lesson.id}. Grade it here, without --scheduler.")
    if not scheduler:
        return functools.partial(pool.grade_many, workers=jobs, programs=out / "programs")
    try:
        from autograder.classroom.run import cluster
    except ImportError as error:
        raise Problem(
            f"Grading on a cluster needs a package that is not installed ({error.name}). Start "
            "the command by ./jaxprentice, which installs what is missing."
        ) from None
    return functools.partial(cluster.grade_many, address=scheduler)


def _seed(out: Path, given: int | None, known: Mapping[str, Result]) -> int:
    """The seed of an assignment's generated tests, which stays with its results."""
    path = out / "seed.txt"
    if given is None and user_files.is_there(path):
        return user_files.whole_number(path)
    drawn = next((result["seed"] for result in known.values()), secrets.randbelow(2**31))
    seed = drawn if given is None else given
    result_files.write_text(path, f"{seed}\n")
    return seed


def _keep(made: run.Finished, new: Collection[str], out: Path, finished: list[str]) -> None:
    """Write results as they come, and say the score of each new one; `finished` grows meanwhile.

    On a terminal a bar shows how many there are, how fast, and how long it will take.
    """
    width, odd, start, console = max(map(len, new), default=0), 0, time.monotonic(), Console()
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[about]}"))
    bar = Progress(*columns, TimeRemainingColumn(), console=console, transient=True)
    bar.disable = not (console.is_terminal and new)
    with contextlib.closing(made), bar:
        shown = bar.add_task("", total=len(new), about="")
        for each, result in made:
            result_files.write(result, out)
            if each.student not in new:
                continue
            finished.append(each.student)
            score = f"{result['score']:g} of {result['max_score']:g}"
            line = f"{each.student:<{width}}  {score}  {feedback.why_less(result)}".rstrip()
            if bar.disable:
                print(line, flush=True)
            else:
                console.print(line, markup=False, highlight=False, soft_wrap=True)
            odd += bool(result.get("review"))
            rate = 60 * len(finished) / max(time.monotonic() - start, 1e-9)
            about = f"{rate:.0f} a minute, {odd} for manual review"
            bar.update(shown, advance=1, about=about)


def _name_the_odd(out: Path, students: Sequence[str]) -> None:
    """Say which submissions need manual review; their results say why."""
    odd = [s for s in students if result_files.read(out / f"{s}.json").get("review")]
    if odd:
        print(f"{len(odd)} need manual review (`review` in the result): {', '.join(odd)}.")


def _name_the_absent(out: Path, students: Sequence[str]) -> None:
    """Say whose results are older than this run: nothing is deleted that may be a grade."""
    if students:
        names = ", ".join(students)
        print(f"{len(students)} have a result in {out} and no submission; they stay: {names}.")


def _fit(folder: Path, handed_in: list[HandedIn]) -> tuple[list[HandedIn], dict[str, str]]:
    """The submissions that can be graded under their names; and of the others why they cannot.

    Each needs a file of results of its own, on any file system.
    """
    if not handed_in:
        raise Problem(f"{folder} holds no folders. It should hold one folder per student.")
    alike = Counter(_folded(student) for student, _, _ in handed_in)
    unfit: dict[str, str] = {}
    for student, _, _ in handed_in:
        if not result_files.is_file_name(student):
            unfit[student] = "cannot name a file of results"
        elif alike[_folded(student)] > 1:
            unfit[student] = "is there twice, but for capitals or the ending .zip"
    fit = [each for each in handed_in if each[0] not in unfit]
    if not fit:
        raise Problem(_about_unfit(unfit))
    return fit, unfit


def _folded(student: str) -> str:
    return unicodedata.normalize("NFC", student).casefold()


def _about_unfit(unfit: Mapping[str, str]) -> str:
    names = "; ".join(f"{name[:60]!r} {why}" for name, why in [*unfit.items()][:10])
    more = f"; and {len(unfit) - 10} more" if len(unfit) > 10 else ""
    return (
        f"Not graded for their names: {names}{more}. Rename them, and run the same command again."
    )


# ------------------------------------------------------------------------------------------
# Going on after a run that broke off


def _known(out: Path, lesson: Lesson, students: Collection[str]) -> dict[str, Result]:
    """The results in the folder by student, but for damaged ones that will be made again."""
    known: dict[str, Result] = {}
    for path in result_files.paths(out):
        try:
            known[path.stem] = result = result_files.read(path)
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
            f"Stopped by the system ({reason}): {done}. Fix that, then run the same "
            "command again to go on."
        ) from error


@contextlib.contextmanager
def _signals_interrupt() -> Iterator[None]:
    """Let the signals that ask a program to end do what Ctrl-C does."""
    wanted = [getattr(signal, name, signal.SIGTERM) for name in ("SIGTERM", "SIGHUP")]
    before = {number: signal.getsignal(number) for number in wanted}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:  # as `nohup` asks
            signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
