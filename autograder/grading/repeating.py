"""Has each call of an exercise's function made again, in what was answered rightly.

The same is done on the reference. See `run_repeated.py` for what comes before a call.
"""

import ast
import functools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autograder.grading import generated, run_repeated, suite, telling
from autograder.grading.asking import MOST_SECONDS, Asking
from autograder.grading.calls import Call, Calls
from autograder.grading.compare import compare
from autograder.grading.lending import Lending
from autograder.grading.oracle import Oracle
from autograder.grading.questions import Given, Question, Right, Tolerance
from autograder.grading.suite import Disagreement
from autograder.lessons import assemble, skeleton
from autograder.lessons.manifest import Lesson
from autograder.sandbox.session import Reply

CALLS = 5  # of a function where it is called once


@dataclass(frozen=True)
class Repeating:
    """Asks a submission, and the reference, with each call made again."""

    oracle: Oracle
    asking: Asking
    lending: Lending
    calls: Calls
    stubs: Collection[str]

    def ask(
        self, exercise: str, given: Given, asked: Sequence[Right]
    ) -> Iterator[tuple[str, Disagreement]]:
        """The tests that do not agree then, each with how it differs.

        If the calls do not end, nothing is said: no contract speaks of the other numbers.
        """
        wants = [(one, self._wanted(exercise, one)) for one in asked]
        known = [(one, want) for one, want in wants if want is not None]
        if not known:
            return
        seconds = min(CALLS * sum(one.question.seconds for one, _ in known), MOST_SECONDS)
        sent = self._arguments(exercise, [one for one, _ in known], given)
        reply = self.asking.answer(exercise, run_repeated.answers, sent, seconds, fresh=True)
        for (one, want), got in zip(known, generated.replies(reply), strict=False):
            got, near = self.asking.reduced(got), one.question.tolerance
            found = compared(got, want, self.stubs, near)
            if found is not None:
                about = one.test, run_repeated.answers, self._arguments(exercise, [one], given)
                whole = Reply("value", [("value", got.value)]) if got.kind == "value" else got
                self.calls.keep(exercise, Call(*about, whole, want, *near, found))
                shown = telling.by_kind(found, exercise) if self.lending.shown else found
                apart = found.message in telling.OF_CALLS
                yield one.test, found if apart else telling.repeated(shown)

    def _wanted(self, exercise: str, one: Right) -> Reply | None:
        """What the reference answers; None if that is nothing to compare with.

        Left out are the parts of a record that are others when calls are made again: they count
        calls, and how many there are before an error is not promised.
        """
        if exercise not in self.lending.targets:
            return None
        arguments = self._arguments(exercise, [one], one.question.siblings)
        replies = generated.replies(self.oracle.ask(run_repeated.answers, arguments)[0])
        want = next((reply for reply in replies if reply.kind == "value"), None)
        return want and _steady(want, one.question)

    def _arguments(self, exercise: str, chosen: Sequence[Right], given: Given) -> tuple[Any, ...]:
        questions = [one.question for one in chosen]
        sent = [(q.probe.name, q.probe.source, q.arguments(given)) for q in questions]
        target = self.lending.targets[exercise]
        return self.lending.module, target, promised(self.lending.lesson, target), sent


def _steady(want: Reply, question: Question) -> Reply:
    """The answer without the parts of a record that are others, or new, if it is not asked once."""
    once = question.want.value
    match want.value:
        case [dict(record), *seen] if isinstance(once, dict):
            parts = {
                key: part
                for key, part in record.items()
                if key in once
                and not compare(
                    Reply("value", part), Reply("value", once[key]), (), *question.tolerance
                )
            }
            return replace(want, value=[parts, *seen])
    return want


@functools.cache
def promised(lesson: Lesson, target: str) -> str:
    """The annotation of what the reference's function returns."""
    found = skeleton.defined_once(assemble.read_solution(lesson.module))[target]
    returns = found.returns if isinstance(found, ast.FunctionDef) else None
    return ast.unparse(returns) if returns else "Any"


def compared(
    got: Reply, want: Reply, stubs: Collection[str], near: Tolerance
) -> Disagreement | None:
    """How an answer differs, or what else is seen of a call and not of the reference's."""
    answer, *usual = _parts(want)
    value, *seen = _parts(got)
    for what, more, usually in zip(_SAID, seen, usual, strict=True):
        for new, (kind, message) in what.items():
            if new in more - usually:
                return Disagreement(kind, message)
    if got.kind == "value":
        if isinstance(answer, dict) and isinstance(value, dict):
            value = {key: part for key, part in value.items() if key in answer}
        got = Reply("value", value)
    return compare(got, Reply("value", answer), stubs, *near)


# What is said of a call that the reference does not do.
_SAID: list[dict[Any, tuple[str, str]]] = [
    dict.fromkeys(range(10), (suite.WRONG_VALUE, telling.CHANGED)),
    {
        "function: nothing": (suite.WRONG_TYPE, telling.SWALLOWED),
        "function: another": (suite.WRONG_TYPE, telling.REPLACED),
        "rule: nothing": (suite.WRONG_TYPE, telling.SWALLOWED_OF_RULE),
        "rule: another": (suite.WRONG_TYPE, telling.REPLACED_OF_RULE),
    },
    {"list": (suite.WRONG_TYPE, telling.NO_LIST), "tuple": (suite.WRONG_TYPE, telling.NO_TUPLE)},
    {
        **dict.fromkeys(
            ("interpreter", "stack", "dynamic_trace"), (suite.WRONG_VALUE, telling.LEFT)
        ),
        "frames": (suite.WRONG_VALUE, telling.LEFT_NAMES),
    },
]


def _parts(reply: Reply) -> tuple[Any, ...]:
    """An answer, and four sets of what else is seen; a submission may have sent anything."""
    match reply.value:
        case [value, [*touched], [*errors], [*kinds], [*states]]:
            parts = (touched, errors, kinds, states)
            return value, *({x for x in part if type(x) in (int, str, bool)} for part in parts)
    return None, *[set()] * len(_SAID)
