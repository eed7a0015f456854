"""How the audit's made submissions must be graded: a check tells what is wrong with a result."""

from collections.abc import Callable, Iterator

from autograder.grading.answers import Mistake, Wrong
from autograder.grading.result import Result, Verdict
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


_NAMED = (
    "Two tests must get values from it that differ from the reference's, the same ones each time, "
    "and none of its tests may end it or fit another known mistake. A test stops at its first "
    "difference, so add a test, or let one ask for less."
)


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
            yield f"the mistake is {found}. {_NAMED}"
        elsewhere = [e for e in result["exercises"] if e["id"] in others]
        yield from full(others)({**result, "exercises": elsewhere})

    return check
