"""What hidden suites are written with: probes, and the comparison of what they return.

    from autograder.grading.suite import probe

    @probe
    def sine_at_three(mj):
        return mj.jvp(mj.numpy.sin, (3.0,), (1.0,))

    @pytest.mark.exercise("jvp.sin_rule")
    def test_sine(student):
        \"\"\"The derivative of sin at 3 is right.\"\"\"
        student.agrees(sine_at_three)

The probe runs in the workers that hold the student's tree and the reference's; the test runs here,
and compares. The first line of a test's docstring is what the student reads when it fails.
"""

import ast
import builtins
import dis
import inspect
import textwrap
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autograder.sandbox.session import Probe
from autograder.worker.wire import FLOAT0, Opaque

NOT_IMPLEMENTED = "not_implemented"
WRONG_VALUE = "wrong_value"
WRONG_SHAPE = "wrong_shape_or_dtype"
WRONG_TYPE = "wrong_type_or_exception"
ENDLESS = "does_not_terminate"
CRASHED = "crashed"
OUT_OF_MEMORY = "out_of_memory"
CLASSES = (
    *(NOT_IMPLEMENTED, WRONG_VALUE, WRONG_SHAPE, WRONG_TYPE),
    *(ENDLESS, CRASHED, OUT_OF_MEMORY),
)


class SuiteError(Exception):
    """A hidden suite is at fault, not the submission: no grade may be given before its repair."""


class Disagreement(Exception):
    """The submission does not answer as the reference does.

    `kind` is one of CLASSES. `message` tells the student what differs without telling what was
    expected; `expected` adds that, for courses whose policy allows it. `program` is the smallest
    generated program on which it was found, if the test has generated ones.
    """

    def __init__(self, kind: str, message: str, expected: str = "", program: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.expected = expected
        self.program = program


# ------------------------------------------------------------------------------------------
# Probes


def probe(function: Callable[..., Any]) -> Probe:
    """Make a probe of a function at the top of a suite.

    The function may use its arguments, its own imports, built-in names and `np`, nothing else:
    only its text is sent.
    """
    if function.__qualname__ != function.__name__:
        raise TypeError(f"The probe {function.__qualname__} must stand at the top of its module.")
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list = []
    source = ast.unparse(definition)
    foreign = sorted(set(_free_names(compile(source, "<probe>", "exec"))))
    if foreign:
        raise NameError(
            f"The probe {definition.name} uses {', '.join(foreign)} from outside. "
            "Pass it as an argument, or import it inside the probe."
        )
    return Probe(definition.name, source)


def _free_names(code: types.CodeType) -> Iterator[str]:
    """The global names that a piece of code reads, but for built-ins and `np`."""
    steps = list(dis.get_instructions(code))
    known = {"np", *dir(builtins), *(s.argval for s in steps if s.opname == "STORE_NAME")}
    for step in steps:
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME") and step.argval not in known:
            yield step.argval
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _free_names(constant)


# ------------------------------------------------------------------------------------------
# Comparing values

# Relative tolerances by dtype. A right answer may compute in another order or by an equal formula;
# each operation then adds a rounding of up to 5e-4 (float16), 6e-8 (float32) or 1e-16 (float64).
# These allow for 20, for 1,600 and for 10 billion roundings that all go one way: more than any test
# has, also where an intermediate result is some hundred times the last one. A mistake (a sign, an
# axis, a factor) changes the numbers of the tests in their first or second digit. Booleans and
# integers are exact. The absolute tolerance, for values that should be 0, is a thousandth of the
# relative one: the tests' numbers are near 1. A test in which large terms cancel gives its own.
RTOL = {"float16": 1e-2, "float32": 1e-4, "complex64": 1e-4}
RTOL_OTHERS = 1e-6

_SCALARS = (bool, int, float, complex)
_CONTAINERS: dict[type, str] = {list: "list", tuple: "tuple", dict: "dict"}


def agree(
    got: Any, want: Any, rtol: float | None = None, atol: float | None = None
) -> Disagreement | None:
    """Compare plain data: None where they agree, else the first difference that matters.

    Structures must be the same; arrays agree in dtype, shape and, within tolerance, values. NaN
    equals NaN. A Python scalar equals a 0-d array of its 64-bit dtype.
    """
    if type(want) in _CONTAINERS or type(got) in _CONTAINERS:
        return _agree_containers(got, want, rtol, atol)
    if _is_array(want):
        return _agree_arrays(got, want, rtol, atol)
    if type(got) is type(want) and not isinstance(want, Opaque) and got == want:
        return None
    if type(got) is type(want) and not isinstance(want, Opaque):
        return Disagreement(WRONG_VALUE, f"a wrong {_noun(want)}", f"expected {_short(want)}")
    return _wrong_type(got, want)


def _wrong_type(got: Any, want: Any) -> Disagreement:
    message = f"{_article(_noun(got))} where something else is expected"
    return Disagreement(WRONG_TYPE, message, f"expected {_article(_noun(want))}")


def _agree_containers(
    got: Any, want: Any, rtol: float | None, atol: float | None
) -> Disagreement | None:
    if type(got) is not type(want):
        return _wrong_type(got, want)
    kind = _CONTAINERS[type(want)]
    if len(got) != len(want):
        message = f"a {kind} with the wrong number of items"
        return Disagreement(WRONG_TYPE, message, f"expected {len(want)}, got {len(got)}")
    if isinstance(want, dict):
        if got.keys() != want.keys():
            return Disagreement(WRONG_TYPE, "a dict with the wrong keys", f"expected {list(want)}")
        pairs = [(got[key], want[key]) for key in want]
    else:
        pairs = list(zip(got, want, strict=True))
    found = [x for g, w in pairs if (x := agree(g, w, rtol, atol)) is not None]
    # A wrong type says more about the mistake than a wrong value beside it.
    order = (WRONG_TYPE, WRONG_SHAPE, WRONG_VALUE)
    return min(found, key=lambda x: order.index(x.kind), default=None)


def _is_array(value: Any) -> bool:
    return type(value) in _SCALARS or isinstance(value, (np.ndarray, np.generic))


def _agree_arrays(
    got: Any, want: Any, rtol: float | None, atol: float | None
) -> Disagreement | None:
    if not _is_array(got):
        return _wrong_type(got, want)
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        expected = f"expected {want.shape}, got {got.shape}"
        return Disagreement(WRONG_SHAPE, "a wrong shape", expected)
    if got.dtype != want.dtype:
        expected = f"expected {want.dtype}, got {got.dtype}"
        return Disagreement(WRONG_SHAPE, "the right shape, a wrong dtype", expected)
    if want.dtype == FLOAT0 or _close(got, want, rtol, atol):
        return None
    expected = f"expected {_short(want)}, got {_short(got)}"
    return Disagreement(WRONG_VALUE, "the right shape and dtype, but a wrong value", expected)


def _close(got: np.ndarray, want: np.ndarray, rtol: float | None, atol: float | None) -> bool:
    if want.dtype.kind not in "fc":  # booleans and integers, also those beyond 64 bits
        return bool(np.array_equal(got, want))
    rtol = RTOL.get(want.dtype.name, RTOL_OTHERS) if rtol is None else rtol
    atol = rtol / 1000 if atol is None else atol
    with np.errstate(all="ignore"):
        return bool(np.isclose(got, want, rtol=rtol, atol=atol, equal_nan=True).all())


def _noun(value: Any) -> str:
    """What a value is, in a word or two that the submission cannot choose."""
    if isinstance(value, Opaque):
        return value.name if value.name != "object" else "object that is no plain data"
    if value is None:
        return "None"
    if _is_array(value):
        return "array or number"
    return "text" if isinstance(value, str) else type(value).__name__


def _article(noun: str) -> str:
    if noun in ("None", "bytes"):
        return noun
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def _short(value: Any) -> str:
    text = (
        " ".join(np.array2string(value, threshold=20).split()) if _is_array(value) else repr(value)
    )
    return text if len(text) <= 200 else f"{text[:200]} ..."


def has_opaque(value: Any) -> bool:
    """Is there something in a reply that could not be sent as data?"""
    if isinstance(value, dict):
        return has_opaque(list(value.items()))
    if isinstance(value, (list, tuple)):
        return any(map(has_opaque, value))
    return isinstance(value, Opaque)
