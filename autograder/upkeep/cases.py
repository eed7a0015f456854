"""Submissions made from the reference whose grades are known beforehand, and what these are."""

import itertools
import textwrap
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from autograder.grading import answers
from autograder.grading.answers import Answer
from autograder.lessons import assemble, manifest, skeleton
from autograder.lessons.manifest import Exercise, Lesson
from autograder.upkeep import changes, classes, expected, sample_class
from autograder.upkeep.expected import Check


@dataclass(frozen=True)
class Case:
    """A made submission, and what its result must be."""

    lesson: str
    kind: str  # "reference", "one exercise", "known mistake" and so on
    name: str
    source: str
    check: Check
    exercise: str = ""  # the only one that it is about; "" for the module
    answers: tuple[str, ...] = ()  # the exercises that visible checks are asked about as well
    fails: str = ""  # the test whose failure says all
    state: str = ""  # of an answer: changes with it and with the tests that ask for it


def make_cases(lesson: Lesson, only: Exercise | None = None) -> list[Case]:
    """All submissions that a lesson's suite is tried on, or those that ask for one exercise."""
    reference = assemble.read_solution(lesson.module)
    untouched = skeleton.make_skeleton(reference, lesson)
    lie = sample_class.cheat(untouched, lesson)
    nothing, everything = expected.nothing_passes, {part.id for part in lesson.graded}
    cases = [
        Case(lesson.id, "reference", "the reference", reference, expected.full(everything)),
        Case(lesson.id, "skeleton", "the untouched skeleton", untouched, nothing),
        Case(lesson.id, "cheat", "stubs whose results claim to be right", lie, nothing),
    ]
    for exercise in lesson.exercises:
        done = {exercise.id, *(needed.id for needed in manifest.needs(exercise))}
        if len(done) == len(lesson.exercises):
            continue  # it needs all others: this is the reference
        name = f"{exercise.id} alone"
        source = _only(lesson, reference, done)
        check = expected.exactly(done)
        cases.append(Case(lesson.id, "one exercise", name, source, check, exercise.id))
    cases += _cases_of_missing(reference, lesson)
    cases += _cases_of_constants(untouched, lesson)
    cases += [_kept(reference, exercise) for exercise in lesson.exercises]
    cases += [*cases_of_right_answers(lesson, only), *_cases_of_wrong_answers(lesson)]
    return [case for case in cases if only is None or case.exercise in ("", only.id)]


def _cases_of_missing(reference: str, lesson: Lesson) -> Iterator[Case]:
    """Each exercise left out: the tests that the table of classes names for it ask for it."""
    named = {} if classes.faults(lesson) else classes.cells(lesson)
    everything = {exercise.id for exercise in lesson.exercises}
    for exercise, tests in named.items():
        source = _only(lesson, reference, everything - {exercise})
        check = expected.fails(exercise, tests)
        yield Case(lesson.id, "one missing", f"all but {exercise}", source, check, exercise)


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


# A right answer that gives its first result for operands of some types whenever these come again.
_KEEPING = """\
def {name}(*args, _kept={{}}, **kwargs):
{definition}

    def described(x):
        if isinstance(x, list | tuple):
            return [described(y) for y in x]
        return type(x), str(getattr(x, "shape", "")), str(getattr(x, "dtype", ""))

    key = repr((described(args), sorted(kwargs)))
    if key not in _kept:
        _kept[key] = {name}(*args, **kwargs)
    return _kept[key]
"""


def _kept(reference: str, exercise: Exercise) -> Case:
    """What stays from one call to the next loses points, whatever the exercise is."""
    name = exercise.target.rpartition(".")[2]
    own = textwrap.indent(skeleton.bare(reference, exercise.target), "    ")
    text = _KEEPING.format(name=name, definition=own)
    source = skeleton.replace_function(reference, exercise.target, text)
    about = f"{exercise.id}, whose first results stay"
    check = expected.is_not_full(exercise.id)
    return Case(exercise.lesson, "state between calls", about, source, check, exercise.id)


def cases_of_right_answers(lesson: Lesson, only: Exercise | None = None) -> Iterator[Case]:
    """The right answers: in each case one to every exercise, or to this one."""
    wanted = (only,) if only else lesson.exercises
    check, own = expected.full({part.id for part in lesson.graded}), tuple(e.id for e in wanted)
    for i, chosen in enumerate(answers.in_turn(lesson.id), 1):
        found = [answer for answer in chosen if answer.exercise in own]
        if found:
            source, name = answers.variant_source(*found), f"right answers, number {i}"
            about, state = only.id if only else "", _state(lesson, found)
            yield Case(lesson.id, "right answer", name, source, check, about, own, state=state)


def _cases_of_wrong_answers(lesson: Lesson) -> Iterator[Case]:
    known = [
        ("known mistake", a.id, expected.named(a, lesson), "", a)
        for a in answers.mistakes(lesson.id)
    ]
    others = [
        ("wrong answer", f"{a.exercise}, wrong answer {i}", expected.loses(a), a.fails, a)
        for i, a in enumerate(answers.wrong(lesson.id), 1)
    ]
    for kind, name, check, fails, answer in (*known, *others):
        source, own = answers.variant_source(answer), answer.exercise
        state = _state(lesson, [answer])
        yield Case(lesson.id, kind, name, source, check, own, (own,), fails, state)


def _state(lesson: Lesson, chosen: Collection[Answer]) -> str:
    """What changes when one of these answers does, or the tests that ask for it."""
    tests = changes.sections(lesson)
    parts = ((repr(answer), tests.get(answer.exercise, "")) for answer in chosen)
    return changes.digest(*itertools.chain(*parts))


def _only(lesson: Lesson, reference: str, done: set[str]) -> str:
    """The module with these exercises filled in, and no others."""
    left = tuple(e for e in lesson.exercises if e.id not in done)
    return skeleton.make_skeleton(reference, replace(lesson, exercises=left))
