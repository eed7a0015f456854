"""Asks again about what went wrong, in a worker that was shown no right definition.

What such a worker says may be told in full: it cannot be the answer to another exercise. So the
smallest programs are looked for here, too.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from autograder.grading import generated, suite, suite_run, telling
from autograder.grading.compare import compare
from autograder.grading.generated import OUTCOMES, TELLING, Sample
from autograder.grading.suite import Disagreement
from autograder.grading.suite_run import Silenced, SuiteRun


@dataclass(frozen=True)
class _More:
    """What is said of a test by a worker that knows nothing, and of which program."""

    found: Disagreement
    program: Sample | None = None


def say_more(run: SuiteRun, properties: Mapping[str, str]) -> None:
    """Replace some outcomes of a run by fuller messages.

    Nothing of this counts: not for the time that the submission has, nor for known mistakes.
    """
    seconds = run.session.seconds
    run.session.close()  # a worker of its own
    run.shown.clear()
    try:
        asked = {test: _asked_again(run, silenced) for test, silenced in run.quiet.items()}
        for test, more in asked.items():
            exercise = run.quiet[test].exercise
            if more is not None and _holds(run, test, more):
                run.outcomes[test] = telling.told(more.found, exercise, properties[test])
    finally:
        run.session.seconds = seconds


def _asked_again(run: SuiteRun, silenced: Silenced) -> _More | None:
    """What a worker that knows nothing says; None where that is no difference.

    What ran out of time says nothing more, and would only do so again.
    """
    if silenced.call.found is not None and silenced.call.found.kind == suite.ENDLESS:
        return None
    if silenced.law is not None:
        pair = generated.smallest(silenced.law, functools.partial(_differences, run, silenced.law))
        return _More(pair[1], pair[0]) if pair else None
    call = silenced.call
    if call.found is None or call.found.kind not in TELLING or _is_over(run):
        return None
    if any(map(run.has_failed, silenced.lent)):  # what it says could be the doing of one of these
        return None
    run.know_nothing()
    begin = run.session.seconds
    found = run.compared(call)
    run.searched += run.session.seconds - begin
    return _More(found) if found is not None and found.kind == call.found.kind else None


def _holds(run: SuiteRun, test: str, more: _More) -> bool:
    """Is it this exercise's doing? With right definitions of the others its program differs, too.

    No more is taken from a worker that knows them than this one bit.
    """
    exercise, law = run.quiet[test].exercise, run.quiet[test].law
    if more.program is None or law is None or not law.siblings:
        return True
    run.keep_apart(exercise, law.siblings)
    (found,) = _differences(run, law, [more.program], lent=True) or [None]
    return found is not None and found.kind in TELLING


def _is_over(run: SuiteRun) -> bool:
    return run.searched > suite_run.SEARCH_SECONDS


def _differences(
    run: SuiteRun, test: generated.Test, chosen: Sequence[Sample], lent: bool = False
) -> list[Disagreement | None]:
    """How the answers to each of some programs differ.

    Nothing where the call itself fails, or the time for searches is up.
    """
    if _is_over(run):
        return []
    if not lent:
        run.know_nothing()
    bare = replace(test, siblings=test.siblings if lent else {})
    arguments = bare.arguments(chosen, catch=True)
    want, seconds = run.oracle.ask(OUTCOMES, test.arguments(chosen, catch=True))
    begin = run.session.seconds
    got = run.session.call(OUTCOMES, *arguments, seconds=suite_run.allowed(seconds), fresh=True)
    run.searched += run.session.seconds - begin
    pairs = zip(generated.replies(got), generated.replies(want), strict=False)
    return [
        compare(x, y, run.stubs, None, generated.ATOL) if y.kind == "value" else None
        for x, y in pairs
    ]
