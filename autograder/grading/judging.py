"""From what came of a suite's run to points, messages and the names of known mistakes."""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograder.grading import answers, partial, result, suite
from autograder.grading.answers import Mistake
from autograder.grading.calls import Call
from autograder.grading.compare import compare
from autograder.grading.oracle import Oracle, variant
from autograder.grading.suite import Disagreement
from autograder.lessons import manifest
from autograder.lessons.manifest import Exercise, Lesson, Whole
from autograder.sandbox.session import Reply


@dataclass
class Examined:
    """What came of running a hidden suite on one submission."""

    outcomes: dict[str, Disagreement | None] = field(default_factory=dict)  # by test id
    labels: dict[str, Mistake] = field(default_factory=dict)  # by exercise id
    remarks: list[str] = field(default_factory=list)
    review: list[str] = field(default_factory=list)  # why a person should look at it
    layers: tuple[str, ...] = ()
    constants: dict[str, str] = field(default_factory=dict)  # what `constant_answers` says
    properties: Mapping[str, str] = field(default_factory=dict)  # what each test asks
    random: frozenset[str] = frozenset()  # the tests on random programs
    otherwise: Disagreement | None = None  # why tests have no outcome


def judge(
    exercise: Exercise | Whole, tests: list[str], examined: Examined, expected: bool = False
) -> result.Verdict:
    """The result of one exercise, or of the whole module: what did not run has not passed.

    Messages name the property and the kind of difference, and what was `expected` if that is true.

    Errors, and one answer that is always the same, count where something else is right as well: who
    gives nothing else has done nothing.
    """
    missing = examined.otherwise or Disagreement(suite.CRASHED, "The test did not run.")
    found = {test: examined.outcomes.get(test, missing) for test in tests}
    failures = [failure for failure in found.values() if failure is not None]
    right = [test for test, failure in found.items() if failure is None]
    empty = bool(failures) and _could_be_constant(right, examined.constants)
    results = [_test_result(test, x, examined, expected) for test, x in found.items()]
    sure = _is_sure(examined.outcomes if isinstance(exercise, Whole) else found, examined)
    share = 0.0 if empty else partial.share(results, sure)
    by_chance = not sure and any(found[test] for test in examined.random.intersection(found))
    later = _NOT_THE_SAME if right and empty else _SURE_FIRST if by_chance else ""
    label = examined.labels.get(exercise.id)
    made: result.Verdict = {
        "id": exercise.id,
        "points": round(exercise.points * share, 2),
        "max_points": exercise.points,
        "tests": results,
        "class": failures[0].kind if failures else None,
        "message": _exercise_message(failures, expected, later),
        "misconception": {"name": label.name, "hints": list(label.hints)} if label else None,
        "counterexample": next((x.program for x in failures if x.program), None),
    }
    rule = partial.TESTS if isinstance(exercise, Whole) else partial.THIRDS
    return partial.worth(made, rule, exercise.points)


def causes_first(lesson: Lesson, verdicts: list[result.Verdict]) -> list[result.Verdict]:
    """The verdicts, in which a failure begins with the exercise that is to be repaired first.

    That is one without which the failing one cannot be tested, and which is not right either.
    """
    wrong = [v["id"] for v in verdicts if v["class"] not in (None, suite.NOT_IMPLEMENTED)]
    needs = {x.id: manifest.needs(x) for x in lesson.exercises if x.id in wrong}
    causes = {name: next((x.id for x in own if x.id in wrong), "") for name, own in needs.items()}
    return [_caused_by(causes.get(verdict["id"], ""), verdict) for verdict in verdicts]


def _caused_by(cause: str, verdict: result.Verdict) -> result.Verdict:
    if not cause:
        return verdict
    first = next(test for test in verdict["tests"] if not test["passed"])
    begin = f"Repair {cause} first: this exercise needs it. "
    told: result.Test = {**first, "message": f"{begin}{first['message']}"}
    tests = [told if test is first else test for test in verdict["tests"]]
    return {**verdict, "tests": tests, "message": f"{begin}{verdict['message']}"}


def _test_result(
    test: str, failure: Disagreement | None, examined: Examined, expected: bool
) -> result.Test:
    made: result.Test = {"id": test, "passed": failure is None, "class": None, "message": None}
    if failure is not None:
        made |= {"class": failure.kind, "message": _message(failure, expected)}
    if asked := examined.properties.get(test):
        made["property"] = asked
    if test in examined.random:
        made["random"] = True
    return made


def _message(failure: Disagreement, expected: bool) -> str:
    shown = expected and failure.expected
    return f"{failure.message} {failure.expected}" if shown else failure.message


_NOT_THE_SAME = " What is right so far counts when it is not the same for everything."
_SURE_FIRST = " Random programs count once all other tests pass."


def _is_sure(outcomes: Mapping[str, Disagreement | None], examined: Examined) -> bool:
    """Do all tests pass that ask the same whatever the seed is?"""
    return not any(failure for test, failure in outcomes.items() if test not in examined.random)


def _exercise_message(failures: list[Disagreement], expected: bool, later: str) -> str | None:
    """The first failure, how many more there are, and what counts later."""
    if not failures:
        return None
    more = sum(str(failure) != str(failures[0]) for failure in failures)
    text = _message(failures[0], expected)
    if more:
        text += f" ({more} more test{'s' * (more > 1)} of this exercise fail{'s' * (more == 1)}.)"
    return text + later


# ------------------------------------------------------------------------------------------
# Answers that nothing has to be known for

_ERROR = "an error"


def _could_be_constant(right: Iterable[str], constants: Mapping[str, str]) -> bool:
    """Would an answer that always raises, or always returns the same, pass these tests?"""
    answers = {constants.get(test) for test in right}
    return None not in answers and len(answers - {_ERROR}) <= 1


def constant_answers(calls: Mapping[str, list[Call]]) -> dict[str, str]:
    """The tests to which the right answer is always an error, None or the same boolean: which."""
    found: dict[str, set[str | None]] = defaultdict(set)
    for call in itertools.chain.from_iterable(calls.values()):
        found[call.test].add(_constant(call.want))
    single = {test: kinds.pop() for test, kinds in found.items() if len(kinds) == 1}
    return {test: kind for test, kind in single.items() if kind is not None}


def _constant(reply: Reply) -> str | None:
    """Whether a reply is just an error, None or a boolean, and which; None if it tells more."""
    return _ERROR if reply.kind == "raised" else _constant_in(reply.value)


def _constant_in(value: Any) -> str | None:
    """Which of these a value stands for: probes give lists of answers, names of errors, reprs."""
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, (list, tuple)):
        kinds = {_constant_in(item) for item in value}
        return kinds.pop() if len(kinds) == 1 else None
    if isinstance(value, str) and value.rpartition(".")[2].endswith("Error"):
        return _ERROR
    if isinstance(value, np.ndarray | np.generic) and value.dtype != bool:
        return None  # to write the numbers down would take long
    return str(value) if str(value) in ("None", "True", "False") else None


# ------------------------------------------------------------------------------------------
# Known mistakes

# Kinds of failures after which nothing is named: what the submission would have said is not known.
NOT_A_MISTAKE = {suite.NOT_IMPLEMENTED, suite.ENDLESS, suite.CRASHED, suite.OUT_OF_MEMORY}


def recognize(lesson: Lesson, calls: Mapping[str, list[Call]], level: str) -> dict[str, Mistake]:
    """The known mistake behind each exercise's wrong replies, where exactly one fits them."""
    labels: dict[str, Mistake] = {}
    for exercise, made in calls.items():
        kinds = {call.found.kind for call in made if call.found is not None}
        if sum(call.wrong_value for call in made) < 2 or kinds & NOT_A_MISTAKE:
            continue
        fitting = list(like(lesson, exercise, made, level))
        if len(fitting) == 1:
            labels[exercise] = fitting[0]
    return labels


def like(lesson: Lesson, exercise: str, made: Iterable[Call], level: str) -> Iterator[Mistake]:
    """The known mistakes in an exercise that give the same replies to these calls."""
    telling = sorted(made, key=lambda call: not call.wrong_value)  # where most of them differ
    mistakes = [m for m in answers.mistakes(lesson.id) if m.exercise == exercise]
    return (m for m in mistakes if fits(variant(lesson, level, m), telling))


def fits(oracle: Oracle, calls: Iterable[Call]) -> bool:
    """Does this tree give the same replies to these calls?"""
    try:
        return all(_same(call, oracle.ask(call.probe, call.args)[0]) for call in calls)
    finally:
        oracle.session.close()


def _same(call: Call, reply: Reply) -> bool:
    return compare(call.got, reply, (), call.rtol, call.atol) is None
