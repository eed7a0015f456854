"""The rounds of a loop. It runs compiled, where none can be watched: they are evaluated once more.

Each is a step inside the loop's rule: what it was given, the carry first, and what it returned.
"""

import contextlib
import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from autograder.recording.steps import Record

MOST = 12  # a loop of more rounds is no picture

Values = Sequence[Any]
Round = tuple[Values, Values, int]  # operands, results; how many of each are the carry
Run = Callable[[Any], Callable[..., list[Any]]]  # a program as a function


def note(record: Record, primitive: Any, args: Values, params: Mapping[str, Any]) -> None:
    """Add the rounds of a loop to the step that is open, if there are few."""
    loop, run = LOOPS.get(str(primitive)), record.package.state("jaxpr_as_fun")
    if not loop or not run or record.memory:
        return
    record.asleep = True
    found = list[Round]()
    with contextlib.suppress(Exception):  # a learner's `eval_jaxpr` may be unfinished, or wrong
        found = list(itertools.islice(loop(run, args, params), MOST + 1))
    record.asleep = False
    for number, one in enumerate(found if len(found) <= MOST else [], 1):
        record.add("round", functools.partial(facts, record, number, *one))


def facts(record: Record, number: int, given: Values, made: Values, carry: int) -> dict[str, Any]:
    """The facts of a round."""
    shown = {"operands": [*map(record.show, given)], "results": [*map(record.show, made)]}
    return record.identify(
        {"number": number, "carry": carry, **shown}, operands=given, results=made
    )


def of_scan(run: Run, args: Values, params: Mapping[str, Any]) -> Iterator[Round]:
    """The rounds of a scan: each reads a row, and leaves one."""
    body, first, count = run(params["jaxpr"]), params["num_consts"], params["num_carry"]
    consts, carry, rows = args[:first], args[first : first + count], args[first + count :]
    places = range(params["length"])
    for place in reversed(places) if params["reverse"] else places:
        given = [*carry, *(x[place] for x in rows)]
        outs = body(*consts, *given)
        yield given, outs, count
        carry = outs[:count]


def of_while(run: Run, args: Values, params: Mapping[str, Any]) -> Iterator[Round]:
    """The rounds of a loop that goes on as long as its condition holds."""
    condition, body = run(params["cond_jaxpr"]), run(params["body_jaxpr"])
    first, last = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
    carry = args[last:]
    while condition(*args[:first], *carry)[0]:
        outs = body(*args[first:last], *carry)
        yield carry, outs, len(carry)
        carry = outs


LOOPS = {"scan": of_scan, "while": of_while}
