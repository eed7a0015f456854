"""The hidden suites' own exam: are they fair, and do they see what they should?

Submissions whose grades are known beforehand are made from the reference: the reference itself,
the untouched skeleton, stubs that cheat, the same answer everywhere, each exercise filled in alone,
each one left out, right answers in other styles, each known mistake, each wrong answer without a
name, and mutants, which have a slip in one exercise. All of them are graded as a student's would
be, and every grade that is not as it should be is a finding.
"""

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from rich.console import Console
from rich.progress import track

from autograder.grading import pool, submission
from autograder.grading.calls import Call
from autograder.grading.result import Result
from autograder.grading.suite import SuiteError
from autograder.grading.task import Task
from autograder.lessons import manifest
from autograder.lessons.manifest import Exercise, Lesson
from autograder.student import checks, screen
from autograder.upkeep import attacks, changes, classes, expected, mutants, promises, widths
from autograder.upkeep.cases import Case, make_cases
from autograder.upkeep.mutants import Mutant

T = TypeVar("T")


class Row(NamedTuple):
    """What came of a lesson's submissions of some kind."""

    lesson: str
    kind: str
    right: int  # so many are as they should be
    tried: int
    left: int = 0  # so many were left out


@dataclass
class Report:
    """What came of an audit."""

    rows: list[Row] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    vague: list[str] = field(default_factory=list)  # messages to be better, but no faults

    @property
    def passed(self) -> bool:
        """Is there nothing to complain of?"""
        return bool(self.rows) and not self.findings


@dataclass(frozen=True)
class Asked:
    """What an audit is asked for, beside lessons."""

    exercise: Exercise | None = None  # the only one that tests run of
    quick: bool = False
    level: str | None = None

    @property
    def is_whole(self) -> bool:
        """Is nothing of a lesson left out?"""
        return not (self.exercise or self.quick)


def audit(chosen: Sequence[Lesson], asked: Asked, *, workers: int | None = None) -> Report:
    """Examine the suites of these lessons.

    A quick audit leaves out lone exercises, constant answers and stubs that cheat, and of mutants
    and answers takes a sample and those that changed since the last whole audit.
    """
    report = Report()
    # One exercise needs less time than it takes to start processes.
    with pool.crew(1 if asked.exercise else workers) as crew:
        if len(chosen) == 1:
            examine(chosen[0], report, crew, asked)
            return report
        # A lesson stays in one process: what that has asked the reference, it asks once.
        task = functools.partial(_examined, asked=asked)
        # The last lessons take longest: they begin.
        outcomes = crew.each(task, chosen[::-1])
        found = {x.id: report for x, report in _with_progress(outcomes, "Lessons", len(chosen))}
    for lesson in chosen:
        report.rows += found[lesson.id].rows
        report.findings += found[lesson.id].findings
        report.vague += found[lesson.id].vague
    return report


def _examined(lesson: Lesson, asked: Asked) -> Report:
    report = Report()
    examine(lesson, report, pool.Crew(), asked)
    return report


def examine(lesson: Lesson, report: Report, crew: pool.Crew, asked: Asked) -> None:
    """Examine a lesson's suite, and add what comes of it to the report.

    A suite that does not run is a finding, and other lessons are examined.
    """
    try:
        _examine_classes(lesson, report)
        _examine_promises(lesson, report)
        _examine_cases(lesson, report, crew, asked)
        examine_mutants(lesson, report, crew, asked)
    except SuiteError as error:
        report.findings.append(f"The suite of {lesson.id} is at fault: {error}")


# Kinds of which there are many, or whose every test runs to its end.
_LONG = ("one exercise", "one missing", "constant answer", "state between calls", "cheat")
_ANSWERS = ("right answer", "known mistake", "wrong answer")  # and of which there are still more


def _sample(lesson: Lesson, cases: Sequence[Case]) -> list[Case]:
    """The cases for a quick audit: none of the long kinds, and some of the answers."""
    names = {case.name for case in cases if case.kind not in (*_LONG, *_ANSWERS)}
    for kind in _ANSWERS:
        states = {case.name: case.state for case in cases if case.kind == kind}
        names |= changes.sample(f"{lesson.id} {kind}", states)
    return [case for case in cases if case.name in names]


def _examine_classes(lesson: Lesson, report: Report) -> None:
    """Is each class of mistakes met in each exercise, or argued away?"""
    cells = len(classes.classes()) * len(lesson.exercises)
    faults = classes.faults(lesson)
    report.rows.append(Row(lesson.id, TABLE, max(0, cells - len(faults)), cells))
    report.findings += faults


def _examine_promises(lesson: Lesson, report: Report) -> None:
    """Is there a test for each sentence of a contract, and a stored answer that breaks it?"""
    kept = promises.table(lesson)
    report.rows.append(Row(lesson.id, KEPT, sum(map(bool, kept.values())), len(kept)))
    report.rows.append(Row(lesson.id, BROKEN, promises.shown(lesson), len(kept)))
    report.findings += promises.faults(lesson)


# Rows that count no submissions.
TABLE, AGREE, TOLD = "class of mistakes", "visible checks agree", "message that says what differs"
KEPT, BROKEN = "promise with a test", "promise that a stored answer breaks"


def _examine_cases(lesson: Lesson, report: Report, crew: pool.Crew, asked: Asked) -> None:
    every = make_cases(lesson, asked.exercise)
    cases = _sample(lesson, every) if asked.quick else every
    wrong, visible, told = _faults(lesson, cases, crew, asked)
    vague = [f"{lesson.id}: {name}: {text}" for name, text in told.items() if _VAGUE.search(text)]
    for kind in dict.fromkeys(case.kind for case in every):
        tried = [case for case in cases if case.kind == kind]
        right = {case.name: case.state for case in tried if not wrong[case.name]}
        left = sum(case.kind == kind for case in every) - len(tried)
        report.rows.append(Row(lesson.id, kind, len(right), len(tried), left))
        if asked.is_whole and kind in _ANSWERS:
            changes.keep(f"{lesson.id} {kind}", right)
    report.rows.append(Row(lesson.id, AGREE, sum(visible), len(visible)))
    report.rows.append(Row(lesson.id, TOLD, len(told) - len(vague), len(told)))
    report.vague += vague
    report.findings += [text for case in cases for text in wrong[case.name]]


def _faults(
    lesson: Lesson, cases: Sequence[Case], crew: pool.Crew, asked: Asked
) -> tuple[dict[str, list[str]], list[bool], dict[str, str]]:
    """What is wrong with each case; whether visible checks agree with those they were asked of.

    And the messages to the authors of wrong answers.
    """
    by_name = {case.name: case for case in cases}
    only = asked.exercise.id if asked.exercise else None
    head = lesson.id, asked.level
    sent = [
        Sent(*head, c.name, c.source, c.answers, c.answers[0] if c.fails else only, c.fails)
        for c in cases
    ]
    wrong: dict[str, list[str]] = {}
    visible: list[bool] = []
    told: dict[str, str] = {}
    outcomes = crew.each(grade, sent)
    for one, (result, refused) in _with_progress(outcomes, f"Made for {lesson.id}", len(sent)):
        case = by_name[one.name]
        wrong[case.name] = [f"{lesson.id}: {case.name}: {x}" for x in case.check(result)]
        if case.fails:
            own = (e["message"] for e in result["exercises"] if e["id"] == case.exercise)
            told[case.name] = next(own) or ""
        if refused is not None:
            visible.append(not refused)
            wrong[case.name] += [_refused(case, exercise) for exercise in sorted(refused)]
    return wrong, visible, told


# What says nothing to those who do not see the test: the general sentences, and sizes of a record.
_VAGUE = re.compile(
    "returns a (wrong value|different type than expected)|where one of .* is expected"
)


def _refused(case: Case, exercise: str) -> str:
    return (
        f"{case.lesson}: {case.name}: {exercise}: a visible check refuses it, and the hidden suite "
        "does not. Let one of them ask for what is promised."
    )


@dataclass(frozen=True)
class Sent:
    """A made submission as it travels to another process."""

    lesson: str
    level: str | None
    name: str
    source: str
    answers: tuple[str, ...]
    only: str | None  # the exercise whose tests run; None for all
    fails: str  # the test whose failure is all that matters; "" for all tests


def grade(sent: Sent) -> tuple[Result, set[str] | None]:
    """The result, and which of the answers with full points a visible check refuses.

    None where no answer has full points: what the hidden suite refuses, a visible check may.
    """
    lesson, source = manifest.get(sent.lesson), sent.source.encode()
    enough = functools.partial(_has_failed, sent.fails) if sent.fails else None
    task = Task.of(lesson, source, sent.level)
    result = submission.grade(task, shrink=False, only=sent.only, enough=enough)
    if sent.fails and any(_VAGUE.search(e["message"] or "") for e in result["exercises"]):
        result = submission.grade(task, only=sent.only, enough=enough)  # as a student reads it
    full = {e["id"] for e in result["exercises"] if e["points"] == e["max_points"]}
    own = full.intersection(sent.answers)
    return result, refused(lesson, sent.source, sent.answers) & own if own else None


def _has_failed(test: str, exercise: str, calls: Sequence[Call]) -> bool:
    """Has this test failed?"""
    return any(call.found is not None and expected.function_of(call.test) == test for call in calls)


def refused(lesson: Lesson, source: str, exercises: Sequence[str]) -> set[str]:
    """The exercises, of these, that a visible check refuses with this module."""
    alone = manifest.find_exercise(exercises[0]) if len(exercises) == 1 else None
    report = checks.run(lesson, {lesson.module: source.encode()}, alone)
    return set(exercises) - set(report.done)


def examine_mutants(lesson: Lesson, report: Report, crew: pool.Crew, asked: Asked) -> None:
    """Does the suite notice each slip? Those argued to be none are not counted."""
    equivalent = mutants.read_equivalent(lesson)
    made = mutants.make_mutants(lesson)
    for gone in equivalent.keys() - {mutant.id for mutant in made}:
        report.findings.append(f"{lesson.id}: {gone} is not a mutant any more. Remove its entry.")
    about = [m for m in made if asked.exercise is None or m.exercise == asked.exercise.id]
    found = _tried(lesson, about, crew, asked)
    real = [outcome for outcome in found if outcome.mutant.id not in equivalent]
    killed = sum(outcome.killed for outcome in real)
    left = len(about) - len(found)
    report.rows.append(Row(lesson.id, "mutant", killed, len(real), left))
    report.findings += [
        text
        for outcome in found
        for text in _about_mutant(outcome, outcome.mutant.id in equivalent)
    ]


def _tried(
    lesson: Lesson, made: list[Mutant], crew: pool.Crew, asked: Asked
) -> list[mutants.Outcome]:
    """What came of these mutants, or of the sample of them for a quick audit."""
    title, tests = f"{lesson.id} mutant", changes.sections(lesson)
    states = {m.id: changes.digest(tests.get(m.exercise, "")) for m in made}
    names = changes.sample(title, states) if asked.quick else states
    chosen = [mutant for mutant in made if mutant.id in names]
    outcomes = mutants.try_out(lesson, chosen, crew, asked.level)
    found = list(_with_progress(outcomes, f"Mutants of {lesson.id}", len(chosen)))
    if asked.is_whole:
        changes.keep(title, states)
    return found


def _with_progress(items: Iterable[T], title: str, total: int) -> Iterable[T]:
    console = Console(stderr=True)
    return track(
        items, title, total, console=console, transient=True, disable=not console.is_terminal
    )


def _about_mutant(outcome: mutants.Outcome, is_equivalent: bool) -> Iterator[str]:
    mutant = outcome.mutant
    if is_equivalent and outcome.killed:
        yield f"{mutant.id} is said to be equivalent, and a test fails it. Remove its entry."
    if not is_equivalent and not outcome.killed:
        advice = (
            "Add a test that fails it, or argue in the suite's .equivalent.toml that it is right."
        )
        yield f"{mutant.id} passes all tests of its exercise. {advice}\n{mutant.diff}"
    if not outcome.label_is_right:
        yield (
            f"{mutant.id} is labelled {outcome.label!r}, and other tests tell the two apart. Add a "
            f"test to its exercise that does.\n{mutant.diff}"
        )


# ------------------------------------------------------------------------------------------
# The command


def run(chosen: Sequence[Lesson], asked: Asked, hostile: bool = False) -> int:
    """Examine these lessons and print the table; the exit status is 0 if nothing was found.

    With `hostile` the attacks of the corpus are tried too, on every rung that this machine has;
    when there is little time, some of them on the best one.
    """
    report = audit(chosen, asked)
    parts = [table(report), summary(report, chosen, asked)]
    print(*parts, *([] if asked.exercise else [widths.text()]), sep="\n\n")
    findings = attacks.examine(quick=asked.quick) if hostile else 0
    return 0 if report.passed and not findings else 1


def table(report: Report) -> str:
    """The report as text: one line for each kind of submission."""
    heads = ("lesson", "submissions", "as they should be", "left out")
    rows = [(x.lesson, x.kind, f"{x.right} of {x.tried}", str(x.left or "")) for x in report.rows]
    rows = [heads if any(x.left for x in report.rows) else (*heads[:3], ""), *rows]
    return "\n".join(screen.columns(rows))


def summary(report: Report, chosen: Sequence[Lesson], asked: Asked) -> str:
    """What was tried, what came of it, what was not tried, and the findings."""
    counted = [row for row in report.rows if row.kind not in (TABLE, AGREE, TOLD, KEPT, BROKEN)]
    tried, left = sum(row.tried for row in counted), sum(row.left for row in counted)
    what = asked.exercise.id if asked.exercise else ", ".join(lesson.id for lesson in chosen)
    lines = [f"Tried: {tried} submissions to {what}."]
    if report.passed and asked.is_whole:
        lines.append("Every suite that was tried gives the grades that it should.")
    elif report.passed:
        lines.append("All of these get the grades that they should.")
    if left:
        lines.append(f"Left out: {left} submissions. Without --quick they are tried, too.")
    new = [x.id for x in chosen if asked.quick and not changes.is_kept(f"{x.id} mutant")]
    if new:
        lines.append(
            f"No whole audit is kept of {', '.join(new)}: nothing there counts as changed."
        )
    if report.findings:
        lines += [f"{len(report.findings)} findings:", *(f"- {text}" for text in report.findings)]
    if report.vague:
        lines += ["Messages that do not say what differs:", *(f"- {text}" for text in report.vague)]
    return "\n".join(lines)
