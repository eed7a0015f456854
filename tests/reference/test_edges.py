"""Every elementwise primitive, and what goes along an axis, where numbers end, against JAX.

`test_primitives` asks numbers among which rules behave. Here are zero of both signs, the largest
and the smallest numbers, infinities and NaN: values and first and second derivatives, forward and
in reverse, step by step, mapped, and compiled; arrays, single numbers, and none at all.

What both libraries give is compared as it is. Where they may differ, `FREE` has the reason. Eager
JAX takes subnormal numbers for zero, as all programs of XLA do here; NumPy, which evaluates step by
step in minijax, computes with them. So subnormal operands go to compiled programs only.
"""

import functools
import inspect
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jax
import minijax
import numpy as np
import pytest
from minijax import core
from test_primitives import CASES

jax.config.update("jax_enable_x64", True)

UNARY = [
    *("neg", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh"),
    *("acosh", "atanh", "exp", "exp2", "expm1", "log", "log1p", "logistic", "sqrt", "rsqrt"),
    *("cbrt", "erf", "erfc", "erf_inv", "abs", "sign", "square", "floor", "ceil", "round"),
    *("is_finite", "bitwise_not", "population_count"),
]
BINARY = [
    *("add", "sub", "mul", "div", "rem", "pow", "atan2", "max", "min", "gt", "lt", "eq", "ne"),
    *("ge", "le", "nextafter", "bitwise_and", "bitwise_or", "bitwise_xor", "shift_left"),
    *("shift_right_logical", "shift_right_arithmetic"),
]


def number(lib, x):
    """`x`, and booleans as numbers."""
    return x.astype("int32") if x.dtype == bool else x


ALONG = {  # functions of an array, whose first axis they go along
    # Booleans: JAX's lax refuses them, and its numpy does not; here one function serves both.
    "reduce_sum": lambda lib, x: lib.lax.reduce_sum(number(lib, x), (0,)),
    "reduce_max": lambda lib, x: lib.lax.reduce_max(x, (0,)),
    "reduce_min": lambda lib, x: lib.lax.reduce_min(x, (0,)),
    "reduce_prod": lambda lib, x: lib.lax.reduce_prod(number(lib, x), (0,)),
    "reduce_and": lambda lib, x: lib.lax.reduce_and(x, (0,)),
    "reduce_or": lambda lib, x: lib.lax.reduce_or(x, (0,)),
    "cumsum": lambda lib, x: lib.lax.cumsum(x),
    "argmax": lambda lib, x: lib.lax.argmax(x, 0, "int32"),
    "argmin": lambda lib, x: lib.lax.argmin(x, 0, "int32"),
    "sort": lambda lib, x: lib.lax.sort(x),
    "top_k": lambda lib, x: lib.lax.top_k(x, min(3, x.shape[0])),
    "clamp": lambda lib, x: lib.lax.clamp(x.dtype.type(0), x, x.dtype.type(1)),
    "stop_gradient": lambda lib, x: lib.lax.stop_gradient(x) * x,
    "integer_pow": lambda lib, x: [lib.lax.integer_pow(x, n) for n in (0, 1, 2, 3, -1, -2)],
    "convert_element_type": lambda lib, x: [
        lib.lax.convert_element_type(x, dtype) for dtype in ("float16", "float32", "float64")
    ],
}
DTYPES = [  # some with `--full` only, which `audit` gives
    "float32",
    *(pytest.param(dtype, marks=pytest.mark.slow) for dtype in ("float64", "int32", "bool")),
    *(pytest.param(dtype, marks=pytest.mark.full) for dtype in ("float16", "int8", "uint8")),
]

# Where minijax need not give what JAX gives: the programs, the elements, and why.
ZEROS = (
    "IEEE 754 leaves open which of two zeros is the greater one; XLA and NumPy choose otherwise."
)
OVERFLOW = (
    "JAX's formula divides by a square that overflows or underflows on the way, and gives NaN."
)
FREE = {
    "max": ("value vmap", lambda x, y: (x == 0) & (y == 0), ZEROS),
    "min": ("value vmap", lambda x, y: (x == 0) & (y == 0), ZEROS),
    "div": ("second", lambda x, y: large(x) | large(y) | small(y), OVERFLOW),
    "atan2": ("derivative", lambda x, y: large(x) | large(y) | small(x) | small(y), OVERFLOW),
    "acosh": ("derivative", lambda x: (abs(x) == 1) | large(x), OVERFLOW),
    "pow": (
        "second",
        lambda x, y: (large(x) & (y < 0)) | (abs(x) < np.finfo(x.dtype).tiny),
        "The power or its base is subnormal, and some of the steps take it for zero.",
    ),
    "clamp": ("value vmap", lambda x: x == 0, ZEROS),
    "nextafter": ("value vmap", lambda x, y: (x == 0) & (y == 0), ZEROS),
    "reduce_sum": ("vmap", lambda x: x == 0, "NumPy adds the only element, -0.0, to 0.0."),
}


def large(x):
    return ~(np.abs(x) < np.sqrt(np.finfo(x.dtype).max))


def small(x):
    return np.abs(x) < np.sqrt(np.finfo(x.dtype).tiny)


def edges(dtype, subnormal=False):
    """The numbers at which a dtype ends, and some between."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return np.array(sorted({0, 1, 2, info.max, info.max - 1, info.min, info.min // 2}), dtype)
    info = np.finfo(dtype)
    least = info.smallest_subnormal if subnormal else 4 * info.tiny
    ends = [0.0, 1, 0.5, 2, np.inf, info.max, least]
    return np.array([*ends, *(-x for x in ends), np.nan], dtype)


def operands(name, dtype, subnormal=False):
    """One array, or two that make all pairs."""
    x = edges(dtype, subnormal)
    return (np.repeat(x, len(x)), np.tile(x, len(x))) if name in BINARY else (x,)


def weak(xs):
    """Some of the operands as Python numbers."""
    places = range(0, 15, 3) if xs[0].dtype.kind == "f" else range(2)
    return [tuple(x[k].item() for x in xs) for k in places]


def programs(lib, f, xs, numbers, moving) -> Iterator[tuple[str, object]]:
    """What is asked: the name of each program, and the program; derivatives of what is `moving`."""
    yield "value", lambda: f(*xs)
    yield "vmap", lambda: lib.vmap(f)(*xs)
    yield "compiled", lambda: lib.jit(f)(*xs)
    yield "none", lambda: f(*(x[:0] for x in xs))
    yield "weak", lambda: [f(*some) for some in numbers]
    if xs[0].dtype.kind == "f":
        places = range(0, 15, 4)
        yield "single", lambda: [f(*(x[k : k + 1].reshape(()) for x in xs)) for k in places]
    for k in range(len(xs) if moving else 0):
        yield from derivatives(lib, f, xs, k)


def moves(f, xs):
    """Whether there is a result, and all of it floats: only that has derivatives to compare."""
    out = results(lambda: f(*xs)) if xs[0].dtype.kind == "f" else ""
    return not isinstance(out, str) and all(x.dtype.kind == "f" for x in out)


def answers_of_jax(asked, xs):
    """JAX's results by program, of one compilation, as each takes as long; none if it fails."""

    def every(xs, numbers):
        return {name: program() for name, program in asked(xs, numbers)}

    try:
        return {name: results(lambda x=x: x) for name, x in jax.jit(every)(xs, weak(xs)).items()}
    except Exception:
        return {}


def derivatives(lib, f, xs, k):
    """Those by operand `k`, along ones."""
    ones = np.ones(xs[k].shape, xs[k].dtype)

    def g(x):
        return f(*xs[:k], x, *xs[k + 1 :])

    def forward(x):
        return lib.jvp(g, (x,), (ones,))[1]

    def reverse(x):
        return lib.vjp(g, x)[1](lib.tree.map(lib.numpy.ones_like, g(x)))[0]

    place = ("first", "second")[k]
    yield f"derivative, {place}", lambda: forward(xs[k])
    yield f"derivative, {place}, in reverse", lambda: reverse(xs[k])
    yield f"derivative, {place}, compiled", lambda: lib.jit(forward)(xs[k])
    for name, inner in {"forward": forward, "reverse": reverse}.items():
        yield f"derivative, {place}, {name} twice", lambda f=inner: lib.jvp(f, (xs[k],), (ones,))[1]
    yield (
        f"derivative, {place}, back through it",
        lambda: lib.vjp(forward, xs[k])[1](lib.tree.map(lib.numpy.ones_like, forward(xs[k])))[0],
    )


def results(make):
    """The arrays of a result, or the class of the error."""
    try:
        with np.errstate(all="ignore"):
            return [np.asarray(leaf) for leaf in minijax.tree.leaves(make())]
    except Exception as error:
        return type(error).__name__


def same(got, want):
    """Where two arrays agree: within rounding, NaN with NaN, and zeros in their sign."""
    if got.dtype.kind != "f":
        return got == want
    near = {8: 1e-12, 4: 2e-5, 2: 4e-3}[got.dtype.itemsize]
    least = np.finfo(got.dtype).tiny  # below, XLA has zeros
    with np.errstate(all="ignore"):
        x, y = got.astype(float), want.astype(float)
        close = (x == y) | (np.abs(x - y) <= near * np.abs(y) + least) | (np.isnan(x) & np.isnan(y))
    return close & ((x != 0) | (y != 0) | (np.signbit(x) == np.signbit(y)))


def differences(name, xs, subnormal=False):
    """By program, how the libraries differ, but for what is `FREE`."""
    moving, found = moves(function_of(minijax, name), xs), {}

    def asked(lib, xs, numbers):
        every = programs(lib, function_of(lib, name), xs, numbers, moving)
        return ((x, ask) for x, ask in every if "compiled" in x or not subnormal)

    together = answers_of_jax(functools.partial(asked, jax), xs)
    alone = dict(asked(jax, xs, weak(xs)))
    for program, ask in asked(minijax, xs, weak(xs)):
        ours = results(ask)
        # Among others, XLA may simplify what is NaN by itself: alone is what counts.
        if program in together and not difference(name, program, xs, ours, together[program]):
            continue
        if differs := difference(name, program, xs, ours, results(alone[program])):
            found[program] = differs
    return found


def difference(name, program, xs, ours, theirs):
    """Operands, minijax's result and JAX's where they differ; None if they do not."""
    if isinstance(ours, str) or isinstance(theirs, str):
        # That XLA could compile neither says nothing.
        return None if ours == theirs != "JaxRuntimeError" else (ours, theirs)
    for got, want in zip(ours, theirs, strict=True):
        if (got.dtype, got.shape) != (want.dtype, want.shape):
            return got.dtype, got.shape, want.dtype, want.shape
        if not (same(got, want) | free(name, program, xs, got.shape)).all():
            at = np.flatnonzero(~same(got, want))[:3]
            return [x[at % len(x)] for x in xs], got.ravel()[at], want.ravel()[at]
    return None


def free(name, program, xs, shape):
    """Which elements of a result JAX need not decide."""
    programs, where, _ = FREE.get(name, ("", None, ""))
    words = {*program.replace(",", "").split()}
    if where is None or not words & {*programs.split()} or np.prod(shape) != xs[0].size:
        return False
    return where(*xs).reshape(shape)


def function_of(lib, name):
    if name in ALONG:
        return lambda x: ALONG[name](lib, lib.numpy.atleast_1d(x))
    return lambda *xs: getattr(lib.lax, name)(*xs)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [*UNARY, *BINARY, *ALONG])
def test_the_ends_of_numbers_are_those_of_jax(name, dtype):
    if (name, dtype) == ("clamp", "bool"):
        assert printed_with_emitters(name, dtype) == "{}\n"
    else:
        assert differences(name, operands(name, dtype)) == {}


def printed_with_emitters(name, dtype):
    """The differences in a process where XLA has its fusion emitters, which conftest.py takes."""
    code = (
        "import sys, test_edges as t; print(t.differences(sys.argv[1], t.operands(*sys.argv[1:])))"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code, name, dtype]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_compiled_programs_treat_subnormal_numbers_as_jax_does(name, dtype):
    assert differences(name, operands(name, dtype, subnormal=True), subnormal=True) == {}


# Programs that move numbers -----------------------------------------------------------------------


def function_name(primitive):
    """What the function of a primitive is called: that of `not` is `bitwise_not`."""
    return f"bitwise_{primitive}" if primitive in ("not", "and", "or", "xor") else primitive


MOVING = {
    f"{case.primitive}-{number}": case
    for number, case in enumerate(CASES)
    if function_name(case.primitive) not in {*UNARY, *BINARY, *ALONG}
}


def at_the_ends(x, start):
    """An array of this shape and dtype with the ends of numbers in it; indices stay."""
    return np.roll(np.resize(edges(x.dtype), x.shape), start) if x.dtype.kind == "f" else x


def moving_programs(lib, case, xs):
    """The value, mapped, compiled, and the derivatives in both directions by all that floats."""
    floats = [k for k, x in enumerate(xs) if x.dtype.kind == "f"]

    def f(*moved):
        full = list(xs)
        for k, x in zip(floats, moved, strict=True):
            full[k] = x
        return case.function(lib.lax, *full)

    moved = tuple(xs[k] for k in floats)
    yield "value", lambda: f(*moved)
    yield "compiled", lambda: lib.jit(f)(*moved)
    if not floats or not moves(f, moved):
        return
    ones = tuple(map(np.ones_like, moved))
    pairs = tuple(np.stack([x, x[::-1] if x.ndim else -x]) for x in moved)
    yield "vmap", lambda: lib.vmap(f)(*pairs)
    yield "forward", lambda: lib.jvp(f, moved, ones)[1]
    yield "reverse", lambda: lib.vjp(f, *moved)[1](lib.tree.map(lib.numpy.ones_like, f(*moved)))


@pytest.mark.full
@pytest.mark.parametrize("name", MOVING)
def test_what_moves_numbers_moves_their_ends_as_jax_does(name):
    case = MOVING[name]
    dtype = "float32" if "float32" in case.dtypes else case.dtypes[0]
    made = case.make(case.shapes()[0], dtype, 0)
    xs = [at_the_ends(np.asarray(x), 3 * k) for k, x in enumerate(made)]
    asked = [dict(moving_programs(lib, case, xs)) for lib in (minijax, jax)]
    assert asked[0].keys() == asked[1].keys()
    for program in asked[0]:
        ours, theirs = (results(each[program]) for each in asked)
        assert isinstance(ours, str) == isinstance(theirs, str), (program, ours, theirs)
        for got, want in zip(ours, theirs, strict=True):
            assert (got.dtype, got.shape) == (want.dtype, want.shape), program
            # A sum of products that are zeros of both signs: where it starts is the library's.
            free = (got == want) & (case.primitive == "dot_general")
            assert (same(got, want) | free).all(), (program, xs, got, want)


# What is asked ------------------------------------------------------------------------------------

ELSEWHERE = {  # what carries programs or marks computes nothing by itself
    **dict.fromkeys(["cond", "scan", "while"], "test_control_flow"),
    **dict.fromkeys(["custom_jvp_call", "custom_vjp_call", "custom_lin"], "test_custom_rules"),
    **dict.fromkeys(["pmap", "pmax", "pmin"], "test_pmap"),
    **dict.fromkeys(["name", "remat2"], "test_checkpoint"),
    "jit": "test_primitives",
    "device_put": "test_pmap",
}


PRIMITIVES = [p.name for p in core.impl_rules]  # before any test runs: some define their own
ELEMENTWISE = [p.name for p in core.impl_rules if hasattr(p, "cost")]  # those that `define` made


def test_every_primitive_is_asked_somewhere():
    here = {*UNARY, *BINARY, *ALONG}
    there = {*ELSEWHERE, *(case.primitive for case in MOVING.values())}
    asked = [name for name in PRIMITIVES if function_name(name) in here or name in there]
    assert asked == PRIMITIVES
    assert [
        name for name in ELSEWHERE.values() if not Path(__file__).with_name(f"{name}.py").exists()
    ] == []


def test_every_elementwise_primitive_is_asked_all_the_ends():
    listed = {*UNARY, *BINARY, *ALONG}  # test_primitives would ask it kind numbers only
    assert [name for name in ELEMENTWISE if function_name(name) not in listed] == []


def test_what_is_free_has_a_reason():
    for name, (_, where, reason) in FREE.items():
        assert reason.endswith("."), name
        assert len(inspect.signature(where).parameters) == (2 if name in BINARY else 1)
