"""Compares plain data: what a submission's probe returns with what the reference's does."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from autograder.grading import records
from autograder.grading.suite import WRONG_SHAPE, WRONG_TYPE, WRONG_VALUE, Disagreement
from autograder.worker.wire import FLOAT0, Opaque

# Relative tolerances by dtype. A right answer may compute in another order or by an equal formula;
# each operation then adds a rounding of up to 5e-4 (float16), 6e-8 (float32) or 1e-16 (float64).
# These allow for 20, for 1,600 and for 10 billion roundings that all go one way: more than any test
# has, even if an intermediate result is some hundred times the last one. A mistake (a sign, an
# axis, a factor) changes the numbers of the tests in their first or second digit. Booleans and
# integers are exact. The absolute tolerance, for values that should be 0, is a thousandth of the
# relative one: the tests' numbers are near 1. A test in which large terms cancel gives its own.
RTOL = {"float16": 1e-2, "float32": 1e-4, "complex64": 1e-4}
RTOL_OTHERS = 1e-6

SMALL = 12  # sizes below this are told, and those that are expected: a submission chooses them
MOST_AXES = 4  # of a shape that is told

_SCALARS = (bool, int, float, complex)
_CONTAINERS: dict[type, str] = {list: "list", tuple: "tuple", dict: "dict"}


Tolerance = tuple[float | None, float | None]  # relative, absolute; None for the usual one


def agree(got: Any, want: Any, near: Tolerance = (None, None)) -> Disagreement | None:
    """Compare plain data: None where they agree, else the first difference that matters.

    Structures must be the same; arrays agree in dtype, shape and, within tolerance, values. NaN
    equals NaN. A Python scalar equals a 0-d array of its 64-bit dtype.
    """
    if records.is_error(got) or records.is_error(want):
        return None if type(got) is type(want) and got == want else _wrong_error(got, want)
    if type(want) in _CONTAINERS or type(got) in _CONTAINERS:
        return _agree_containers(got, want, near)
    if _is_array(want):
        return _agree_arrays(got, want, near)
    if type(got) is type(want) and not isinstance(want, Opaque) and got == want:
        return None
    if type(got) is type(want) and not isinstance(want, Opaque):
        message = f"a wrong {_noun(want)}{_first_line(got, want) if type(want) is str else ''}"
        return Disagreement(WRONG_VALUE, message, f"expected {_short(want)}")
    return _wrong_type(got, want)


def _first_line(got: str, want: str) -> str:
    """The first line in which a text of several lines differs, or its length, or weak types."""
    if got.replace("~", "") == want.replace("~", ""):  # the sign of a weak type
        few = got.count("~") < want.count("~")
        if got.count("~") == want.count("~"):
            return ", weakly typed in other places than expected"
        return f", {'not ' * few}weakly typed where {'that' if few else 'no weak type'} is expected"
    lines, came = want.split("\n"), got.split("\n")
    pairs = zip(lines, came, strict=False)
    first = next((i for i, (x, y) in enumerate(pairs, 1) if x != y), 0)
    if not first:
        return f", with {'fewer' if len(came) < len(lines) else 'more'} lines than expected"
    return f", different from line {first} of {len(lines)} on" if len(lines) > 1 else ""


def _wrong_error(got: Any, want: Any) -> Disagreement:
    """What a part of an answer raises, where the reference raises something else, or nothing."""
    raised = got if records.is_error(got) else "nothing"
    expected = want if records.is_error(want) else "no error"
    message = f"raises {raised} where {expected} is expected"
    return Disagreement(WRONG_TYPE, message, f"expected {expected}")


def described(value: Any) -> str:
    """What a value is, as "a list" or "None"; the submission cannot choose the words."""
    return _article(_noun(value))


def _wrong_type(got: Any, want: Any) -> Disagreement:
    message = f"{described(got)} where {described(want)} is expected"
    return Disagreement(WRONG_TYPE, message, f"expected {described(want)}")


def _agree_containers(got: Any, want: Any, near: Tolerance) -> Disagreement | None:
    if type(got) is not type(want):
        return _wrong_type(got, want)
    if len(got) != len(want) and not (type(want) is dict and records.is_record(want)):
        message = f"{_length_of(got, len(want))} where one of {len(want)} is expected"
        return Disagreement(WRONG_TYPE, message, f"expected {len(want)}")
    if isinstance(want, dict):
        return _agree_dicts(got, want, near)
    differ = [agree(g, w, near) for g, w in zip(got, want, strict=True)]
    found = _worst([found for found in differ if found is not None])
    return found and _in_its_place(found, differ)


def _in_its_place(found: Disagreement, differ: list[Disagreement | None]) -> Disagreement:
    """The difference with its place in a list; a sentence that a record has made begins with it."""
    number, wrong = len(differ), sum(x is not None for x in differ)
    first = next(i for i, x in enumerate(differ) if x is found)
    ordinal = records.ORDINALS[first] if first < len(records.ORDINALS) else ""
    every = "both" if number == 2 else f"all {number}"
    place = every if wrong == number else ordinal and f"the {ordinal} of {number}"
    if number == 1 or not place:
        return found
    if found.message.endswith("."):
        if found.message.startswith("In "):
            return found
        message = f"In {place} cases, {found.message[0].lower()}{found.message[1:]}"
        return Disagreement(found.kind, message, found.expected)
    among = ", among others" * (1 < wrong < number)
    found.places = (f"{place}{among}", *(found.places if wrong < number else ()))
    return found


def _agree_dicts(got: dict[Any, Any], want: dict[Any, Any], near: Tolerance) -> Disagreement | None:
    both = [key for key in want if key in got]
    differ = {key: agree(got[key], want[key], near) for key in both}
    found = {key: x for key, x in differ.items() if x is not None}
    if records.is_record(want):
        told = (records.told(key, got[key], want[key], x) for key, x in found.items())
        return next(told, records.missing(got, want))
    if got.keys() != want.keys():
        lacks = next((f"without the key {key!r}" for key in want if key not in got), "")
        message = f"a dict {lacks or 'with keys that are not expected'}"
        return Disagreement(WRONG_TYPE, message, f"expected {list(want)}")
    worst = _worst([*found.values()])
    if worst and not worst.message.endswith("."):
        key = next(key for key, x in found.items() if x is worst)
        worst.places = (repr(key), *worst.places)
    return worst


def _worst(found: list[Disagreement]) -> Disagreement | None:
    """The first that says most: a wrong type tells more of a mistake than a value beside it."""
    order = (WRONG_TYPE, WRONG_SHAPE, WRONG_VALUE)
    return min(found, key=lambda x: order.index(x.kind), default=None)


def _length_of(got: Any, expected: int) -> str:
    kind = _CONTAINERS[type(got)]
    if len(got) < SMALL:
        return f"a {kind} of {len(got)}"
    return f"a {'longer' if len(got) > expected else 'shorter'} {kind}"


def _is_array(value: Any) -> bool:
    return type(value) in _SCALARS or isinstance(value, (np.ndarray, np.generic))


def _agree_arrays(got: Any, want: Any, near: Tolerance) -> Disagreement | None:
    if not _is_array(got):
        return _wrong_type(got, want)
    if type(got) in _SCALARS and type(want) in _SCALARS:
        return _agree_scalars(got, want, near)
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        message = f"{_shape_of(got, want)} where {want.shape} is expected"
        return Disagreement(WRONG_SHAPE, message, f"expected {want.shape}")
    if got.dtype != want.dtype:
        names = ["float0" if x.dtype == FLOAT0 else x.dtype.name for x in (got, want)]
        message = f"dtype {names[0]} where {names[1]} is expected"
        return Disagreement(WRONG_SHAPE, message, f"expected {names[1]}")
    if want.dtype == FLOAT0 or _close(got, want, near):
        return None
    message = "an array with wrong values" if want.ndim else "a wrong value"
    return Disagreement(WRONG_VALUE, message + _how(got, want), f"expected {_short(want)}")


def _shape_of(got: np.ndarray, want: np.ndarray) -> str:
    told = all(n < SMALL or n in want.shape for n in got.shape)
    if told and got.ndim <= MOST_AXES:
        return f"shape {got.shape}"
    if got.ndim == want.ndim:
        return "an array of other sizes"
    return "an array with another number of axes"


def _agree_scalars(got: Any, want: Any, near: Tolerance) -> Disagreement | None:
    """Compare Python's numbers, which have neither shape nor dtype: type first, then value."""
    if type(got) is not type(want):
        return _wrong_type(got, want)
    if _close(np.asarray(got), np.asarray(want), near):
        return None
    message = f"{got} where {want} is expected"
    if type(want) is not bool:
        message = f"a wrong {_noun(want)}{_how(np.asarray(got), np.asarray(want))}"
    return Disagreement(WRONG_VALUE, message, f"expected {_short(want)}")


def _how(got: np.ndarray, want: np.ndarray) -> str:
    """How numbers are related to those that are expected, or a small number that came."""
    if got.dtype.kind not in "ifc":
        return ""
    with np.errstate(all="ignore"):
        related = next((words for words, x in _related(got, want) if _close(x, want)), "")
    if related:
        return f", {related}"
    if np.isnan(got).any() and not np.isnan(want).any():
        return ", nan" if not want.ndim else ", nan among them"
    if got.size and (got == got.flat[0]).all() and got.flat[0] in range(-SMALL + 1, SMALL):
        return f", {'all ' * bool(want.ndim)}{int(got.flat[0].real)}"
    return ""


def _related(got: np.ndarray, want: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    yield "the negative of what is expected", -got
    if got.dtype.kind != "i":
        yield "twice what is expected", got / 2
        yield "half of what is expected", got * 2
    if want.ndim and got.dtype.kind != "c":
        flat = np.sort(got, axis=None)[np.argsort(np.argsort(want, axis=None))]
        yield "those that are expected, in a different order", flat.reshape(want.shape)


def _close(got: np.ndarray, want: np.ndarray, near: Tolerance = (None, None)) -> bool:
    if want.dtype.kind != "O" and got.tobytes() == want.tobytes():  # mostly so, and soon told
        return True
    if want.dtype.kind not in "fc":  # booleans and integers, even those beyond 64 bits
        return bool(np.array_equal(got, want))
    rtol, atol = near
    rtol = RTOL.get(want.dtype.name, RTOL_OTHERS) if rtol is None else rtol
    atol = rtol / 1000 if atol is None else atol
    with np.errstate(all="ignore"):
        return bool(np.isclose(got, want, rtol=rtol, atol=atol, equal_nan=True).all())


# What a value is, if it is not said by the name of its built-in class.
NOUNS = ("object that is not plain data", "None", "True or False", "array", "scalar", "string")


def _noun(value: Any) -> str:
    """What a value is, in a word or two that the submission cannot choose."""
    opaque, none, boolean, array, scalar, string = NOUNS
    if isinstance(value, Opaque):
        return value.name if value.name != "object" else opaque
    if value is None:
        return none
    if type(value) in _SCALARS:
        return boolean if type(value) is bool else type(value).__name__
    if _is_array(value):
        return array if np.ndim(value) else scalar
    return string if isinstance(value, str) else type(value).__name__


def _article(noun: str) -> str:
    if noun in ("None", "bytes", "True or False"):
        return noun
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def _short(value: Any) -> str:
    text = (
        " ".join(np.array2string(value, threshold=20).split())
        if isinstance(value, np.ndarray)
        else repr(value)
    )
    return text if len(text) <= 200 else f"{text[:200]} ..."


def has_opaque(value: Any) -> bool:
    """Is there something in a reply that could not be sent as data?"""
    if isinstance(value, dict):
        return has_opaque(list(value.items()))
    if isinstance(value, (list, tuple)):
        return any(map(has_opaque, value))
    return isinstance(value, Opaque)
