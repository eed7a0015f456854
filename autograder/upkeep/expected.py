"""How the audit's made submissions must be graded: a check tells what is wrong with a result."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from autograder.grading import answers, judging, oracle, submission
from autograder.grading.answers import Mistake, Wrong
from autograder.grading.calls import Call
from autograder.grading.result import Result, Verdict
from autograder.grading.task import Task
from autograder.lessons.manifest import Lesson

Check = Callable[[Result], Iterator[str]]  # gives what is wrong

_MOST_FOR_NOTHING = 1.0  # points in a lesson


def full(wanted: set[str]) -> Check:
    """These exercises have full points, and no mistake has a name."""

    def check(result: Result) -> Iterator[str]:
        for exercise in result["exercises"]:
            if exercise["id"] in wanted and exercise["points"] != exercise["max_points"]:
                yield f"{exercise['id']} should have full points. {_failed(exercise)}"
        yield from _unlabelled(result)

    return check


def _failed(exercise: Verdict) -> str:
    tests = [f"{t['id']} ({t['class']})" for t in exercise["tests"] if not t["passed"]]
    return f"These tests fail: {', '.join(tests)}. Repair them, or name what they need in `after`."


def nothing_passes(result: Result) -> Iterator[str]:
    """No test passes."""
    for exercise in result["exercises"]:
        passed = [test["id"] for test in exercise["tests"] if test["passed"]]
        if passed:
            tests = ", ".join(passed)
            name = exercise["id"]
            yield f"{name}: these tests pass without an answer: {tests}. Let them ask for more."
    yield from _unlabelled(result)


def hardly_any_points(result: Result) -> Iterator[str]:
    """There is a point or less in the whole lesson."""
    if result["score"] > _MOST_FOR_NOTHING:
        earned = [f"{e['id']} {e['points']}" for e in result["exercises"] if e["points"]]
        yield f"it should have {_MOST_FOR_NOTHING:g} point at most, and has: {', '.join(earned)}."


def _unlabelled(result: Result) -> Iterator[str]:
    for exercise in result["exercises"]:
        if exercise["misconception"]:
            name = exercise["misconception"]["name"]
            yield f"{exercise['id']} is labelled {name!r}. Add a test that tells the two apart."


def exactly(done: set[str]) -> Check:
    """These exercises have full points, the others none, and the whole module not all."""

    # With several exercises done, programs may run that the whole module has points for.
    free = {*done, *(f"{name.partition('.')[0]}.whole" for name in done if len(done) > 1)}

    def check(result: Result) -> Iterator[str]:
        yield from full(done)(result)
        for exercise in result["exercises"]:
            if exercise["id"] not in free and exercise["points"]:
                passed = [test["id"] for test in exercise["tests"] if test["passed"]]
                yield (
                    f"{exercise['id']} should have no points, but these tests pass: "
                    f"{', '.join(passed)}. Let them ask for the exercise itself."
                )
            if exercise["id"] in free - done and exercise["points"] == exercise["max_points"]:
                yield f"{exercise['id']} is whole with one missing. Let a test need it."

    return check


def fails(exercise: str, tests: set[str]) -> Check:
    """These tests fail without the exercise."""

    def check(result: Result) -> Iterator[str]:
        every = [test for part in result["exercises"] for test in part["tests"]]
        passed = {test["id"] for test in every if test["passed"]}
        for test in sorted(tests & passed):
            yield f"{test} passes without {exercise}. Name another test in the table of classes."

    return check


def is_not_full(name: str) -> Check:
    """The exercise loses points."""

    def check(result: Result) -> Iterator[str]:
        (own,) = [e for e in result["exercises"] if e["id"] == name]
        if own["points"] == own["max_points"]:
            yield f"{name} should lose points. Add a test that this answer fails."

    return check


def loses(answer: Wrong) -> Check:
    """A wrong answer loses points, and fails the test that it names."""

    def check(result: Result) -> Iterator[str]:
        if full := list(is_not_full(answer.exercise)(result)):
            yield from full
            return
        (own,) = [e for e in result["exercises"] if e["id"] == answer.exercise]
        if answer.fails not in {function_of(t["id"]) for t in own["tests"] if not t["passed"]}:
            yield f"it does not fail {answer.fails}. Name a test of {own['id']} that it fails."

    return check


def function_of(test: str) -> str:
    """A test's function: what it is called without its case."""
    return test.partition("[")[0]


def named(mistake: Mistake, lesson: Lesson) -> Check:
    """A known mistake loses points, has its name, and costs the other exercises nothing."""

    others = {exercise.id for exercise in lesson.exercises} - {mistake.exercise}

    def check(result: Result) -> Iterator[str]:
        if full_points := list(is_not_full(mistake.exercise)(result)):
            yield from full_points
            return
        (own,) = [e for e in result["exercises"] if e["id"] == mistake.exercise]
        label = own["misconception"]
        if label is None or label["name"] != mistake.name:
            found = "not recognized" if label is None else f"taken for {label['name']!r}"
            yield f"the mistake is {found}. {_why(mistake, lesson, result['isolation'])}"
        elsewhere = [e for e in result["exercises"] if e["id"] in others]
        yield from full(others)({**result, "exercises": elsewhere})

    return check


def _why(mistake: Mistake, lesson: Lesson, level: str) -> str:
    """Why a known mistake has no name, or one of a different mistake, and what to do."""
    calls = _calls(mistake, lesson, level)
    if ended := _ended(calls):
        return (
            f"Nothing is named after {ended}. Ask {mistake.exercise} there for less, or not at all."
        )
    differ = {call.test for call in calls if call.wrong_value}
    if len(differ) < 2:
        return (
            "Two tests must get values that differ from the reference's. So far there is "
            f"{''.join(differ) or 'none'}. A test stops at its first difference, so add a test."
        )
    same = [m.name for m in judging.like(lesson, mistake.exercise, calls, level)]
    if others := sorted({*same} - {mistake.name}):
        return f"{', '.join(others)} gives the same in all tests. Add one that tells them apart."
    odd = next((c.test for c in calls if not _again(mistake, lesson, level, c)), "one of its tests")
    return f"It does not give the same twice in {odd}. Let that ask for what does not change."


def _calls(mistake: Mistake, lesson: Lesson, level: str) -> Sequence[Call]:
    """All that a mistake's tests asked it."""
    calls: list[Sequence[Call]] = [()]

    def note(exercise: str, made: Sequence[Call]) -> bool:
        calls[0] = made  # a list that grows
        return False

    source = answers.variant_source(mistake).encode()
    task = Task.of(lesson, source, level)
    submission.grade(task, shrink=False, only=mistake.exercise, enough=note)
    return calls[0]


def _ended(calls: Iterable[Call]) -> str:
    """The tests that ended it, with what each came to."""
    kinds = {c.test: c.found.kind for c in calls if c.found is not None}
    ended = [f"{t} ({kind})" for t, kind in kinds.items() if kind in judging.NOT_A_MISTAKE]
    return ", ".join(ended)


def _again(mistake: Mistake, lesson: Lesson, level: str, call: Call) -> bool:
    return judging.fits(oracle.variant(lesson, level, mistake), [call])
