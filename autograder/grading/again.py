"""Asks again what was answered rightly: nothing may stay from one call to the next.

At the end of an exercise's tests all that agreed is asked once more, in one package, in the
opposite order, each question after others of its kind (see `run_again.py`), and then with each call
made several times (see `repeating.py`). So an answer that depends on what came before is a wrong
one, without a test that looks for it.
"""

import itertools
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from autograder.grading import generated, run_again, telling
from autograder.grading.asking import MOST_SECONDS, Asking
from autograder.grading.calls import Calls
from autograder.grading.compare import compare
from autograder.grading.lending import Lending
from autograder.grading.oracle import Oracle
from autograder.grading.questions import Given, Right
from autograder.grading.repeating import Repeating
from autograder.grading.suite import Disagreement
from autograder.sandbox.session import Probe, Reply

# Seconds that a submission may take, twenty times the reference's (see `asking.allowed`). The
# reference's have the package's import in them, which is a third of a second on a busy machine.
SHORT = 2.0  # for what is asked with other arguments first, and for what has each call repeated
LONG = 4.0  # for what is not asked again
SLOW = 0.2  # seconds of the submission for one answer: then it is not asked again either
RUNS = 4  # of a probe at most: inside an interpreter, with two other arguments, and itself
MOST = 3  # questions of one probe that are asked again


def _chosen(right: Sequence[Right]) -> list[Right]:
    """What is asked again, the last question first."""
    asked = Counter[Probe]()
    found = []
    for one in reversed(right):
        asked[one.question.probe] += 1
        is_quick = one.question.seconds < LONG and one.seconds < SLOW
        if is_quick and asked[one.question.probe] <= MOST:
            found.append(one)
    return found


def _grouped(chosen: Sequence[Right]) -> Iterator[tuple[Given, list[Right], bool]]:
    """Questions with the same right siblings in place, one after the other in one package."""
    for number, (given, group) in enumerate(itertools.groupby(chosen, lambda x: x.given)):
        yield given, list(group), not number


def _replayed(right: Sequence[Right]) -> Iterator[tuple[Given, list[Right], bool]]:
    """All questions of a probe, in their order, if one was answered rightly in a second try.

    The first try may have failed because of a sibling of the submission's own, or because of what
    earlier calls have left. With right siblings from the first question on, only the latter can be.
    """
    for asked in dict.fromkeys(one.question.probe for one in right if one.late):
        group = [one for one in right if one.question.probe == asked and one.seconds < SLOW]
        lent = {key: text for one in group for key, text in one.question.siblings.items()}
        yield lent, group, True


class Again:
    """The questions that a submission has answered rightly, to be asked again."""

    def __init__(
        self, oracle: Oracle, asking: Asking, lending: Lending, calls: Calls, stubs: Collection[str]
    ) -> None:
        self.repeating = Repeating(oracle, asking, lending, calls, stubs)
        self.asking = asking
        self.lending = lending
        self.calls = calls
        self.stubs = stubs
        self.right: list[Right] = []  # since the last time that all was asked again

    def ask(self, exercise: str) -> Iterator[tuple[str, Disagreement]]:
        """The tests that do not agree any more, each with how it differs."""
        groups = [*_replayed(self.right), *_grouped(_chosen(self.right))]
        wrong, self.right = set[str](), []
        for given, asked, fresh in groups:
            for one, got in zip(asked, self._replies(exercise, given, asked, fresh), strict=False):
                found = compare(got, one.question.want, self.stubs, *one.question.tolerance)
                if found is not None and one.test not in wrong:
                    wrong.add(one.test)
                    self.calls.keep(exercise, one.question.call(one.test, given, got, found))
                    shown = telling.by_kind(found, exercise) if self.lending.shown else found
                    yield one.test, shown if got.kind == "changed" else telling.again(shown)
            quick = [x for x in asked if x.question.seconds < SHORT and x.test not in wrong]
            yield from self.repeating.ask(exercise, given, quick)

    def _replies(
        self, exercise: str, given: Given, asked: Sequence[Right], fresh: bool
    ) -> list[Reply]:
        """The replies to questions that are asked in one call; if it fails, one to the first.

        A call may fail because of the other arguments, which no promise is about: on double the
        values a loop may not end. So it is made once more without them.
        """
        self.lending.keep_apart(exercise, given)
        seconds = min(3 * sum(one.question.seconds for one in asked), MOST_SECONDS)
        seconds = max(seconds, 2 * RUNS * sum(one.seconds for one in asked))
        for disturbed in (True, False):
            sent = [
                (q.probe.name, q.probe.source, q.arguments(given), disturbed and q.seconds < SHORT)
                for q in (one.question for one in asked)
            ]
            got = self.asking.answer(exercise, run_again.answers, (sent,), seconds, fresh)
            replies = [self.asking.reduced(reply) for reply in generated.replies(got)]
            if len(replies) == len(asked):
                return replies
        return [got if got.kind != "value" else Reply("crashed")]
