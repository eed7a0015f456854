"""What a probe says of a function in several parts, and the sentence for each that differs.

    return {"value": out, "operations": log, "calls of f": len(calls), "operands afterwards": xs}

A dict is a record if one of its keys has a space, or is among `NAMES`; the key says what the part
is, and the student reads it. A key beside True or False is a claim, such as "the stack is as it
was". Parts are compared in their order: put first what explains the others.
"""

import builtins
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from autograder.grading.suite import WRONG_TYPE, Disagreement

NAMES = ("value", "operations", "error")
CALLS = "calls of "
OPERANDS = "operands afterwards"
WORD = re.compile(r"expected '([A-Za-z]\w*(?:\[[\d,]*\])?)'")  # a class, a name or a type
SMALL = 12  # numbers below this are told
MOST_OF_ONE = 9  # times that a single case of a test may have something called

# Operations that are named where they should not be there; all that are expected are named too.
FAMILIAR = (
    *("neg", "sin", "cos", "exp", "log", "add", "sub", "mul", "div", "gt", "lt", "transpose"),
    *("reduce_sum", "broadcast_in_dim", "convert_element_type", "dot_general", "jit", "reshape"),
)


def is_record(want: dict[Any, Any]) -> bool:
    """Does a dict of the reference's name the parts of what was seen?"""
    return any(type(key) is str and (" " in key or key in NAMES) for key in want)


def is_error(value: Any) -> bool:
    """Is it the name of a built-in error, as which probes send what was raised?"""
    found = getattr(builtins, value, None) if type(value) is str else None
    return isinstance(found, type) and issubclass(found, BaseException)


def told(key: str, got: Any, want: Any, found: Disagreement) -> Disagreement:
    """What differs in a part, as a sentence; what a part of this part has said stays."""
    if found.message.endswith("."):
        return found
    return Disagreement(found.kind, _sentence(key, got, want, found), found.expected)


def aside(found: Disagreement, detail: str = "") -> str:
    """Which part of a list differs, which part of that, and a detail; "" if there is none."""
    if detail.startswith("got ") and found.places and found.places[-1].startswith(("both", "all")):
        detail = f"one is {detail.removeprefix('got ')}"
    text = ": ".join(filter(None, ("; of that, ".join(found.places[:2]), detail)))
    return f" ({text})" if text else ""


def missing(got: dict[Any, Any], want: dict[Any, Any]) -> Disagreement | None:
    """What to say of a record with other parts than the reference's; None if it has the same."""
    if got.keys() == want.keys():
        return None
    lacking = next((key for key in want if key not in got), None)
    if lacking is None:
        return Disagreement(WRONG_TYPE, "Your code does more than is expected.")
    if _is_claim(want[lacking]) and all(_leaves(want[lacking])):
        return Disagreement(WRONG_TYPE, f"This should be so, but is not: {lacking}.")
    error = "Your code raises no error, where one is expected."
    return Disagreement(WRONG_TYPE, error if lacking == "error" else f"This is missing: {lacking}.")


def _sentence(key: str, got: Any, want: Any, found: Disagreement) -> str:
    if key.startswith(CALLS):
        return _calls(key, got, want, found)
    if key == OPERANDS:
        return _operands(got, want)
    if key == "operations" and (text := _operations(got, want)):
        return text
    if found.message.startswith("raises "):
        where = "" if key in ("error", "the error", "value") else f": {key}"
        return f"Your code {found.message}{where}{aside(found)}."
    if key == "error":  # of errors that are not Python's own no name is told
        return "Your code raises a different error than expected, or none."
    if key == "value":
        return f"Your code returns {found.message}{aside(found)}."
    if _is_claim(want) and (text := _claims(key, got, want, found)):
        return text
    if _is_count(got) and _is_count(want):
        came = str(got) if got < SMALL else "more" if got > want else "less"
        return f"This is wrong: {key} ({came}, where {want} is expected)."
    return f"This is wrong: {key}{aside(found, _detail(got, want, found))}."


def _detail(got: Any, want: Any, found: Disagreement) -> str:
    """How a part differs; of texts, which are the probe's own, no more than an expected word."""
    difference = found.message
    if difference == "a wrong string" and (word := WORD.fullmatch(found.expected)):
        return f"{word[1]} is expected"
    if type(got) is type(want) is list and len(got) != len(want):
        fewer = "fewer" if len(got) < len(want) else "more"
        came = str(len(got)) if len(got) < SMALL else fewer
        return f"{came} of them, where {len(want)} {'is' if len(want) == 1 else 'are'} expected"
    if difference.startswith(("a wrong", "an array with wrong")):
        how = difference.partition(", ")[2]
        if difference.startswith("a wrong int") and "expected" not in how:
            came = f"got {how}, where " if how else ""
            return f"{came}{found.expected.removeprefix('expected ')} is expected"
        return how if not how or "expected" in how or "line" in how else f"got {how}"
    return "" if "string" in difference else difference.replace(" where", ", where")


def _claims(key: str, got: Any, want: Any, found: Disagreement) -> str:
    if type(got) is not type(want) and {type(got), type(want)} & {list, tuple}:
        return ""  # what differs is not what is claimed
    pairs = [*zip(_leaves(got), _leaves(want), strict=False)]
    wrong = [expected for came, expected in pairs if came != expected]
    kinds = {*wrong}
    if len(kinds) > 1:
        so = aside(found, f"the first of them should {'' if wrong[0] else 'not '}be so")
        return f"In some cases this is wrong: {key}{so}."
    so = "should not be so, but is" if kinds == {False} else "should be so, but is not"
    if found.places and key.startswith(("a ", "an ")):  # one of a list that the key names
        return f"This {so}: {key}{aside(found)}."
    if found.places and found.places[0].startswith("the"):
        place, comma, among = found.places[0].partition(",")
        return f"In {place} cases{comma}{among}{comma} this {so}: {key}."
    return f"{'In some cases this' if len({*_leaves(want)}) > 1 else 'This'} {so}: {key}."


def _calls(key: str, got: Any, want: Any, found: Disagreement) -> str:
    """How often something was called, which may be a list of what it was called with."""
    pairs = [*zip(got, want, strict=False)] if type(got) is type(want) is list else [(got, want)]
    numbers = [(_number(x), _number(y)) for x, y in pairs]
    if type(got) is list and len(got) != len(want):
        numbers = [(len(got), len(want))]
    called, expected = next(((x, y) for x, y in numbers if x != y), (0, 0))
    name = key.removeprefix(CALLS)
    if called == expected:
        if length := re.match(r"a \w+ of (\d+) where one of (\d+)", found.message):
            few = "fewer" if int(length[1]) < int(length[2]) else "more"
            return f"Your code calls {name} with {few} values than expected{aside(found)}."
        other = aside(found, found.message)
        return f"Your code calls {name} with something other than expected{other}."
    return _said("call", name, called, expected)


def _number(calls: Any) -> int:
    return calls if _is_count(calls) else 0


def _operations(got: Any, want: Any) -> str:
    """Which operation is bound too often or not often enough, or their number."""
    if _is_count(got) and _is_count(want):
        return f"Your code binds {_numbered(got, 'operation')}, where {want} are expected."
    if not (_are_names(got) and _are_names(want)):
        return ""
    bound, expected = Counter(got), Counter(want)
    differ = [name for name in {**bound, **expected} if bound[name] != expected[name]]
    if not differ:
        return "Your code binds the expected operations in a different order."
    name = max(differ, key=lambda name: bound[name] - expected[name])
    known = name if name in expected or name in FAMILIAR else "an unexpected operation"
    return _said("bind", known, bound[name], expected[name])


def _are_names(value: Any) -> bool:
    texts = [*value] if type(value) in (list, tuple, dict) else [None]
    numbers = [*value.values()] if type(value) is dict else []
    return all(type(x) is str for x in texts) and all(type(n) is int for n in numbers)


def _operands(got: Any, want: Any) -> str:
    """Which operand is changed: those of the reference are as they were."""
    if type(got) is not type(want) or type(want) not in (list, tuple) or len(got) != len(want):
        return "Your code changes its operands."
    pairs = enumerate(zip(got, want, strict=True))
    first = next((i for i, (x, y) in pairs if repr(x) != repr(y)), len(ORDINALS))
    which = f"{ORDINALS[first]} operand" if first < len(ORDINALS) else "operands"
    return f"Your code changes its {which}."


ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


def _is_claim(want: Any) -> bool:
    leaves = [*_leaves(want)]
    return bool(leaves) and all(type(x) in (bool, np.bool_) for x in leaves)


def _leaves(value: Any) -> Iterator[Any]:
    if type(value) in (list, tuple):
        for part in value:
            yield from _leaves(part)
    else:
        yield value


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value


def times(number: int) -> str:
    """How often: "never", "once", "twice", "3 times"; large numbers are not told."""
    many = "many times" if number >= SMALL else f"{number} times"
    return ("never", "once", "twice")[number] if number < 3 else many


def _said(verb: str, name: str, number: int, expected: int) -> str:
    """How often something is called or bound, beside how often it should be."""
    if expected > MOST_OF_ONE:  # of all cases of a test together
        often = "less" if number < expected else "more"
        return f"Your code {verb}s {name} {often} often than expected in the cases of this test."
    if not number:
        return f"Your code does not {verb} {name}, where {times(expected)} is expected."
    wanted = f"{times(expected)} is expected" if expected else "it should not"
    return f"Your code {verb}s {name} {times(number)}, where {wanted}."


def _numbered(number: int, noun: str) -> str:
    few = str(number) if number < SMALL else "many"
    return f"{few} {noun}{'s' * (number != 1)}"
