"""What hidden suites are written with: probes, and the comparison of what they return.

    from autograder.grading.suite import exercise, probe

    exercise("jvp.sin_rule")

    @probe
    def sine_at_three(mj):
        return mj.jvp(mj.numpy.sin, (3.0,), (1.0,))

    def test_sine(student):
        \"\"\"The derivative of sin at 3 is right.\"\"\"
        student.agrees(sine_at_three)

The probe runs in the workers that hold the student's tree and the reference's; the test runs here,
and compares. The first line of a test's docstring is what the student reads when it fails.

A probe may bring helpers along, and right answers to other exercises, which it puts in place:

    @probe(uses=[in_place])
    def two_rules(mj, siblings, x):
        with in_place("minijax.jvp", siblings) as module:
            return module.mul_jvp((x, x), (1.0, None))

    student.agrees(two_rules, siblings("jvp.sum_rule"), 3.0)
"""

import ast
import builtins
import copy
import dis
import functools
import inspect
import sys
import textwrap
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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
# Sections and probes

SECTIONS = "__exercises__"  # of a suite's module: the lines where sections begin, and of what


def exercise(name: str) -> None:
    """Begin a section of a suite: the tests from here to the next one belong to this exercise."""
    suite = sys._getframe(1)
    suite.f_globals.setdefault(SECTIONS, []).append((suite.f_lineno, name))


@dataclass(frozen=True)
class Siblings:
    """Stands among a probe's arguments for right definitions, by target, of these exercises."""

    exercises: tuple[str, ...]


def siblings(*exercises: str) -> Siblings:
    """Right answers to some exercises, for a probe that asks for a different one.

    The probe gets a dict that `in_place` takes. The definitions are the first right ones of the
    lesson's file in `hidden/answers`.
    """
    return Siblings(exercises)


Helper = Callable[..., Any]  # a function or a class

# Annotations stay text: the names in them are not there.
_FIRST_LINE = "from __future__ import annotations"


def probe(function: Callable[..., Any] | None = None, *, uses: Sequence[Helper] = ()) -> Any:
    """Make a probe of a function at the top of a suite.

    The function may use its arguments, built-in names, `np`, what it or the suite's `if
    TYPE_CHECKING` imports, and the helpers that `uses` lists: only texts are sent. A helper is a
    function or a class at the top of a module, and brings along what it uses of that module:
    functions, classes and imported modules.
    """
    if function is None:
        return functools.partial(probe, uses=uses)
    if function.__qualname__ != function.__name__:
        raise TypeError(f"The probe {function.__qualname__} must be at the top of its module.")
    texts: dict[str, str] = {}
    for helper in uses:
        _pack(helper, texts)
    own = _text(function, decorated=False)
    foreign = sorted(_free_names(own) - texts.keys())
    if foreign:
        raise NameError(
            f"The probe {function.__name__} uses {', '.join(foreign)} from outside. "
            "Pass it as an argument, list it in `uses`, or import it inside the probe."
        )
    return Probe(function.__name__, "\n\n".join([_FIRST_LINE, *texts.values(), own]))


def _pack(helper: Helper, texts: dict[str, str]) -> None:
    """Add a helper's text to `texts`, and what it uses of its module before it."""
    if helper.__name__ in texts:
        return
    texts[helper.__name__] = ""  # it may call itself
    text = _text(helper)
    home = vars(sys.modules[helper.__module__])
    for name in sorted(_free_names(text)):
        value = home.get(name)
        if isinstance(value, types.ModuleType):
            texts[name] = f"import {value.__name__} as {name}"
        elif isinstance(value, types.FunctionType | type) and value.__name__ == name:
            _pack(value, texts)
        else:
            raise NameError(f"The helper {helper.__name__} uses {name}. Import it inside.")
    del texts[helper.__name__]
    texts[helper.__name__] = text


def _text(thing: Helper, decorated: bool = True) -> str:
    """The text of a function's or a class's definition."""
    definition = ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0]
    if not decorated:
        assert isinstance(definition, ast.FunctionDef)
        definition.decorator_list = []
    text = ast.unparse(definition)
    imports = _imports("".join(inspect.findsource(inspect.unwrap(thing))[0]))
    wanted = imports.keys() & _free_names(text) if imports else set()
    if isinstance(definition, ast.FunctionDef) and wanted:
        start = ast.get_docstring(definition) is not None
        definition.body[start:start] = [imports[name] for name in imports if name in wanted]
        return ast.unparse(definition)
    return text


@functools.cache
def _imports(suite: str) -> dict[str, ast.stmt]:
    """The imports below a suite's `if TYPE_CHECKING`, by name: there, but not here.

    What is tested must not be imported where grades are given. So each text imports it that needs
    it, and the suite only says from where.
    """
    found: dict[str, ast.stmt] = {}
    guarded = [node for node in ast.parse(suite).body if isinstance(node, ast.If)]
    guarded = [node for node in guarded if ast.unparse(node.test) == "TYPE_CHECKING"]
    for statement in (statement for node in guarded for statement in node.body):
        assert isinstance(statement, ast.Import | ast.ImportFrom)
        for name in statement.names:
            one = copy.copy(statement)
            one.names = [name]
            found[name.asname or name.name] = one
    return found


def _free_names(text: str) -> set[str]:
    """The names from outside that a text reads, but for built-ins and `np`."""
    return set(_read_in(compile(f"{_FIRST_LINE}\n{text}", "<probe>", "exec")))


def _read_in(code: types.CodeType) -> Iterator[str]:
    """The global names that a piece of code reads."""
    steps = list(dis.get_instructions(code))
    known = {"np", "__annotations__", *dir(builtins)}
    known |= {step.argval for step in steps if step.opname == "STORE_NAME"}
    for step in steps:
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME") and step.argval not in known:
            yield step.argval
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _read_in(constant)


# ------------------------------------------------------------------------------------------
# Comparing values

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


def agree(
    got: Any, want: Any, rtol: float | None = None, atol: float | None = None
) -> Disagreement | None:
    """Compare plain data: None where they agree, else the first difference that matters.

    Structures must be the same; arrays agree in dtype, shape and, within tolerance, values. NaN
    equals NaN. A Python scalar equals a 0-d array of its 64-bit dtype.
    """
    if _is_error(got) or _is_error(want):
        return None if type(got) is type(want) and got == want else _wrong_error(got, want)
    if type(want) in _CONTAINERS or type(got) in _CONTAINERS:
        return _agree_containers(got, want, rtol, atol)
    if _is_array(want):
        return _agree_arrays(got, want, rtol, atol)
    if type(got) is type(want) and not isinstance(want, Opaque) and got == want:
        return None
    if type(got) is type(want) and not isinstance(want, Opaque):
        return Disagreement(WRONG_VALUE, f"a wrong {_noun(want)}", f"expected {_short(want)}")
    return _wrong_type(got, want)


def _is_error(value: Any) -> bool:
    """Is it the name of a built-in error, as which probes send what was raised?"""
    found = getattr(builtins, value, None) if type(value) is str else None
    return isinstance(found, type) and issubclass(found, BaseException)


def _wrong_error(got: Any, want: Any) -> Disagreement:
    """What a part of an answer raises, where the reference raises something else, or nothing."""
    raised = got if _is_error(got) else "nothing"
    expected = f"{want if _is_error(want) else 'no error'} is expected"
    return Disagreement(
        WRONG_TYPE,
        f"raises {raised} where {expected}",
        f"expected {want if _is_error(want) else 'no error'}",
    )


def described(value: Any) -> str:
    """What a value is, as "a list" or "None"; the submission cannot choose the words."""
    return _article(_noun(value))


def _wrong_type(got: Any, want: Any) -> Disagreement:
    message = f"{described(got)} where {described(want)} is expected"
    return Disagreement(WRONG_TYPE, message, f"expected {described(want)}")


def _agree_containers(
    got: Any, want: Any, rtol: float | None, atol: float | None
) -> Disagreement | None:
    if type(got) is not type(want):
        return _wrong_type(got, want)
    if len(got) != len(want):
        message = f"{_length_of(got, len(want))} where one of {len(want)} is expected"
        return Disagreement(WRONG_TYPE, message, f"expected {len(want)}")
    if isinstance(want, dict):
        if got.keys() != want.keys():
            return Disagreement(WRONG_TYPE, "a dict with the wrong keys", f"expected {list(want)}")
        pairs = [(got[key], want[key], _inside(key, want)) for key in want]
    else:
        pairs = [(g, w, "") for g, w in zip(got, want, strict=True)]
    differ = [(agree(g, w, rtol, atol), place) for g, w, place in pairs]
    found = [_at(place, x) for x, place in differ if x is not None]
    # A wrong type says more about the mistake than a wrong value beside it.
    order = (WRONG_TYPE, WRONG_SHAPE, WRONG_VALUE)
    return min(found, key=lambda x: order.index(x.kind), default=None)


def _length_of(got: Any, expected: int) -> str:
    kind = _CONTAINERS[type(got)]
    if len(got) < SMALL:
        return f"a {kind} of {len(got)}"
    return f"a {'longer' if len(got) > expected else 'shorter'} {kind}"


def _inside(key: Any, want: dict[Any, Any]) -> str:
    """The place in a small dict; a suite may name there what it asks for, as in "the weak type"."""
    return f" ({key})" if isinstance(key, str) and len(want) <= SMALL else ""


def _at(place: str, found: Disagreement) -> Disagreement:
    return Disagreement(found.kind, f"{found.message}{place}", found.expected)


def _is_array(value: Any) -> bool:
    return type(value) in _SCALARS or isinstance(value, (np.ndarray, np.generic))


def _agree_arrays(
    got: Any, want: Any, rtol: float | None, atol: float | None
) -> Disagreement | None:
    if not _is_array(got):
        return _wrong_type(got, want)
    if type(got) in _SCALARS and type(want) in _SCALARS:
        return _agree_scalars(got, want, rtol, atol)
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        message = f"{_shape_of(got, want)} where {want.shape} is expected"
        return Disagreement(WRONG_SHAPE, message, f"expected {want.shape}")
    if got.dtype != want.dtype:
        message = f"dtype {got.dtype} where {want.dtype} is expected"
        return Disagreement(WRONG_SHAPE, message, f"expected {want.dtype}")
    if want.dtype == FLOAT0 or _close(got, want, rtol, atol):
        return None
    message = "an array with wrong values" if want.ndim else "a wrong value"
    return Disagreement(WRONG_VALUE, message, f"expected {_short(want)}")


def _shape_of(got: np.ndarray, want: np.ndarray) -> str:
    told = all(n < SMALL or n in want.shape for n in got.shape)
    if told and got.ndim <= MOST_AXES:
        return f"shape {got.shape}"
    if got.ndim == want.ndim:
        return "an array of other sizes"
    return "an array with another number of axes"


def _agree_scalars(
    got: Any, want: Any, rtol: float | None, atol: float | None
) -> Disagreement | None:
    """Compare Python's numbers, which have neither shape nor dtype: type first, then value."""
    if type(got) is not type(want):
        return _wrong_type(got, want)
    if _close(np.asarray(got), np.asarray(want), rtol, atol):
        return None
    return Disagreement(WRONG_VALUE, f"a wrong {_noun(want)}", f"expected {_short(want)}")


def _close(got: np.ndarray, want: np.ndarray, rtol: float | None, atol: float | None) -> bool:
    if want.dtype.kind != "O" and got.tobytes() == want.tobytes():  # mostly so, and soon told
        return True
    if want.dtype.kind not in "fc":  # booleans and integers, even those beyond 64 bits
        return bool(np.array_equal(got, want))
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
