"""The hidden suites' own exam: are they fair, and do they see what they should?

Submissions whose grades are known beforehand are made from the reference: the reference itself,
the untouched skeleton, stubs that cheat, the same answer everywhere, each exercise filled in alone,
each one left out, right answers in other styles, each known mistake, each wrong answer without a
name, and mutants, which have a slip in one exercise. All of them are graded as a student's would
be, and every grade that is not as it should be is a finding.
"""

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import track

from autograder.grading import answers, pool, submission
from autograder.grading.calls import Call
from autograder.grading.result import Result
from autograder.grading.task import Task
from autograder.lessons import assemble, manifest, skeleton
from autograder.lessons.manifest import Exercise, Lesson
from autograder.sandbox import isolation
from autograder.student import checks, screen
from autograder.upkeep import attacks, classes, expected, mutants, sample_class, widths
from autograder.upkeep.expected import Check

T = TypeVar("T")


@dataclass(frozen=True)
class Case:
    """A made submission, and what its result must be."""

    lesson: str
    kind: str  # "reference", "one exercise", "known mistake" and so on
    name: str
    source: str
    check: Check
    answers: tuple[str, ...] = ()  # the exercises that visible checks are asked about as well
    fails: str = ""  # the test whose failure says all


@dataclass
class Report:
    """What came of an audit."""

    rows: list[tuple[str, str, int, int]] = field(default_factory=list)  # lesson, kind, right, all
    findings: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Is there nothing to complain of?"""
        return bool(self.rows) and not self.findings


def audit(
    lesson_ids: Iterable[str] = (),
    quick: bool = False,
    *,
    workers: int | None = None,
    level: str | None = None,
) -> Report:
    """Examine the suites of these lessons, or of all.

    `quick` leaves out lone exercises, constant answers and stubs that cheat, and samples mutants
    and answers.
    """
    known = manifest.load()
    chosen = [manifest.get(i) for i in lesson_ids] or [x for x in known.values() if x.exercises]
    report = Report()
    with pool.crew(workers) as crew:
        if len(chosen) == 1:
            examine(chosen[0], report, quick, crew, level)
            return report
        # A lesson stays in one process: what that has asked the reference, it asks once.
        task = functools.partial(_examined, quick=quick, level=level)
        # The last lessons take longest: they begin.
        outcomes = crew.each(task, chosen[::-1])
        found = dict(_with_progress(outcomes, "Lessons", len(chosen)))
    for lesson in chosen:
        report.rows += found[lesson].rows
        report.findings += found[lesson].findings
    return report


def _examined(lesson: Lesson, quick: bool, level: str | None) -> Report:
    report = Report()
    examine(lesson, report, quick, pool.Crew(), level)
    return report


def examine(
    lesson: Lesson, report: Report, quick: bool, crew: pool.Crew, level: str | None = None
) -> None:
    """Examine a lesson's suite, and add what comes of it to the report."""
    cases = _sample(make_cases(lesson)) if quick else make_cases(lesson)
    _examine_classes(lesson, report)
    _examine_cases(lesson, cases, report, crew, level)
    examine_mutants(lesson, report, quick, crew, level)


# Kinds of which there are many, or whose every test runs to its end.
_LONG = ("one exercise", "one missing", "constant answer", "cheat")
_ANSWERS = ("right answer", "known mistake", "wrong answer")  # and of which there are still more


def _sample(cases: Sequence[Case]) -> list[Case]:
    """The cases for a quick audit: none of the long kinds, and a few of the answers."""
    answered = {kind: [case for case in cases if case.kind == kind] for kind in _ANSWERS}
    short = [case for case in cases if case.kind not in (*_LONG, *_ANSWERS)]
    return [*short, *(case for group in answered.values() for case in group[::SAMPLE])]


def _examine_classes(lesson: Lesson, report: Report) -> None:
    """Is each class of mistakes met in each exercise, or argued away?"""
    cells = len(classes.classes()) * len(lesson.exercises)
    faults = classes.faults(lesson)
    report.rows.append((lesson.id, "class of mistakes", max(0, cells - len(faults)), cells))
    report.findings += faults


def _examine_cases(
    lesson: Lesson, cases: Sequence[Case], report: Report, crew: pool.Crew, level: str | None
) -> None:
    by_name = {case.name: case for case in cases}
    asked = [Asked(lesson.id, level, c.name, c.source, c.answers, c.fails) for c in cases]
    outcomes = crew.each(grade, asked)
    wrong: dict[str, list[str]] = {}
    visible: dict[str, bool] = {}
    for made, (result, refused) in _with_progress(outcomes, f"Made for {lesson.id}", len(asked)):
        case = by_name[made.name]
        wrong[case.name] = [f"{lesson.id}: {case.name}: {x}" for x in case.check(result)]
        if refused is not None:
            visible[case.name] = not refused
            wrong[case.name] += [_refused(case, exercise) for exercise in sorted(refused)]
    for kind in dict.fromkeys(case.kind for case in cases):
        names = [case.name for case in cases if case.kind == kind]
        right = sum(not wrong[name] for name in names)
        report.rows.append((lesson.id, kind, right, len(names)))
    report.rows.append((lesson.id, "visible checks agree", sum(visible.values()), len(visible)))
    report.findings += [text for case in cases for text in wrong[case.name]]


def _refused(case: Case, exercise: str) -> str:
    return (
        f"{case.lesson}: {case.name}: {exercise}: a visible check refuses it, and the hidden suite "
        "does not. Let one of them ask for what is promised."
    )


@dataclass(frozen=True)
class Asked:
    """A made submission as it travels to another process."""

    lesson: str
    level: str | None
    name: str
    source: str
    answers: tuple[str, ...]
    fails: str  # the test of the only answer whose failure is all that matters; "" for all tests


def grade(asked: Asked) -> tuple[Result, set[str] | None]:
    """The result, and which of the answers with full points a visible check refuses.

    None where no answer has full points: what the hidden suite refuses, a visible check may.
    """
    lesson, source = manifest.get(asked.lesson), asked.source.encode()
    only: dict[str, Any] = {}
    if asked.fails:
        only = {"only": asked.answers[0], "enough": functools.partial(_has_failed, asked.fails)}
    result = submission.grade(Task.of(lesson, source, asked.level), shrink=False, **only)
    full = {e["id"] for e in result["exercises"] if e["points"] == e["max_points"]}
    own = full.intersection(asked.answers)
    return result, refused(lesson, asked.source, asked.answers) & own if own else None


def _has_failed(test: str, exercise: str, calls: Sequence[Call]) -> bool:
    """Has this test failed?"""
    return any(call.found is not None and expected.function_of(call.test) == test for call in calls)


def refused(lesson: Lesson, source: str, exercises: Sequence[str]) -> set[str]:
    """The exercises, of these, that a visible check refuses with this module."""
    alone = manifest.find_exercise(exercises[0]) if len(exercises) == 1 else None
    report = checks.run(lesson, {lesson.module: source.encode()}, alone)
    return set(exercises) - set(report.done)


SAMPLE = 20  # one mutant, answer or attack in so many is tried when there is little time


def examine_mutants(
    lesson: Lesson, report: Report, quick: bool, crew: pool.Crew, level: str | None = None
) -> None:
    """Does the suite notice each slip? Those argued to be none are not counted."""
    equivalent = mutants.read_equivalent(lesson)
    made = mutants.make_mutants(lesson)
    for gone in equivalent.keys() - {mutant.id for mutant in made}:
        report.findings.append(f"{lesson.id}: {gone} is not a mutant any more. Remove its entry.")
    chosen = made[::SAMPLE] if quick else made
    outcomes = mutants.try_out(lesson, chosen, crew, level)
    found = list(_with_progress(outcomes, f"Mutants of {lesson.id}", len(chosen)))
    real = [outcome for outcome in found if outcome.mutant.id not in equivalent]
    killed = sum(outcome.killed for outcome in real)
    report.rows.append((lesson.id, "mutant", killed, len(real)))
    report.findings += [
        text
        for outcome in found
        for text in _about_mutant(outcome, outcome.mutant.id in equivalent)
    ]


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
# The made submissions


def make_cases(lesson: Lesson) -> list[Case]:
    """All submissions that a lesson's suite is tried on."""
    reference = assemble.read_solution(lesson.module)
    untouched = skeleton.make_skeleton(reference, lesson)
    cheat = sample_class.cheat(untouched, lesson)
    nothing = expected.nothing_passes
    everything = {part.id for part in lesson.graded}
    cases = [
        Case(lesson.id, "reference", "the reference", reference, expected.full(everything)),
        Case(lesson.id, "skeleton", "the untouched skeleton", untouched, nothing),
        Case(lesson.id, "cheat", "stubs whose results claim to be right", cheat, nothing),
    ]
    for exercise in lesson.exercises:
        done = _with_those_before(lesson, exercise)
        name = f"{exercise.id} alone"
        source = _only(lesson, reference, done)
        cases.append(Case(lesson.id, "one exercise", name, source, expected.exactly(done)))
    cases += _cases_of_missing(reference, lesson)
    cases += _cases_of_constants(untouched, lesson)
    return [*cases, *cases_of_right_answers(lesson), *_cases_of_wrong_answers(lesson)]


def _cases_of_missing(reference: str, lesson: Lesson) -> Iterator[Case]:
    """Each exercise left out: the tests that the table of classes names for it ask for it."""
    named = {} if classes.faults(lesson) else classes.cells(lesson)
    everything = {exercise.id for exercise in lesson.exercises}
    for exercise, tests in named.items():
        source = _only(lesson, reference, everything - {exercise})
        check = expected.fails(exercise, tests)
        yield Case(lesson.id, "one missing", f"all but {exercise}", source, check)


# What can replace every stub without any thought.
_CONSTANTS = (
    *("raise TypeError", "raise ValueError", "raise KeyError", "raise IndexError"),
    *("return None", "return True", "return False", "return 0", "return 0.0", "return 1.0"),
    *("return []", "return ()", "return {}", 'return ""'),
)


def _cases_of_constants(untouched: str, lesson: Lesson) -> Iterator[Case]:
    for constant in _CONSTANTS:
        source = untouched
        for exercise in lesson.exercises:
            source = source.replace(f'raise NotImplementedError("{exercise.id}")', constant)
        name = f"`{constant}` everywhere"
        yield Case(lesson.id, "constant answer", name, source, expected.hardly_any_points)


def cases_of_right_answers(lesson: Lesson) -> Iterator[Case]:
    """The right answers: in each case one to every exercise."""
    for i, chosen in enumerate(answers.in_turn(lesson.id), 1):
        source = answers.variant_source(*chosen)
        name, own = f"right answers, number {i}", tuple(e.id for e in lesson.exercises)
        check = expected.full({part.id for part in lesson.graded})
        yield Case(lesson.id, "right answer", name, source, check, own)


def _cases_of_wrong_answers(lesson: Lesson) -> Iterator[Case]:
    for mistake in answers.mistakes(lesson.id):
        source = answers.variant_source(mistake)
        check, own = expected.named(mistake, lesson), (mistake.exercise,)
        yield Case(lesson.id, "known mistake", mistake.id, source, check, own)
    for i, answer in enumerate(answers.wrong(lesson.id), 1):
        source, name = answers.variant_source(answer), f"{answer.exercise}, wrong answer {i}"
        check, own = expected.loses(answer), (answer.exercise,)
        yield Case(lesson.id, "wrong answer", name, source, check, own, answer.fails)


def _with_those_before(lesson: Lesson, exercise: Exercise) -> set[str]:
    """An exercise and those without which it cannot be tested."""
    by_id = {e.id: e for e in lesson.exercises}
    return {exercise.id}.union(*(_with_those_before(lesson, by_id[i]) for i in exercise.after))


def _only(lesson: Lesson, reference: str, done: set[str]) -> str:
    """The module with these exercises filled in, and no others."""
    left = tuple(e for e in lesson.exercises if e.id not in done)
    return skeleton.make_skeleton(reference, replace(lesson, exercises=left))


# ------------------------------------------------------------------------------------------
# The command


def run(chosen: Iterable[Lesson], quick: bool = False, hostile: bool = False) -> int:
    """Examine these lessons and print the table; the exit status is 0 if nothing was found.

    With `hostile` the attacks of the corpus are tried too, on every rung that this machine has;
    when there is little time, some of them on the best one.
    """
    report = audit([lesson.id for lesson in chosen], quick)
    print(table(report), widths.text(), sep="\n\n")
    sample: tuple[Any, ...] = ([isolation.choose()], SAMPLE) if quick else ()
    findings = attacks.examine(*sample) if hostile else 0
    return 0 if report.passed and not findings else 1


def table(report: Report) -> str:
    """The report as text: one line for each kind of submission, then the findings."""
    rows = [("lesson", "submissions", "as they should be")]
    rows += [(lesson, kind, f"{right} of {n}") for lesson, kind, right, n in report.rows]
    return "\n".join([*screen.columns(rows), "", *_summary(report)])


def _summary(report: Report) -> list[str]:
    if report.passed:
        return ["Every suite gives the grades that it should."]
    return [f"{len(report.findings)} findings:", *(f"- {text}" for text in report.findings)]
