"""cond, switch, while_loop, fori_loop and scan against JAX, under every transformation."""

import functools
import gc
import itertools
import weakref

import jax
import minijax
import numpy as np
import pytest
from expressions import failures_of, programs_of
from hypothesis import given, settings
from minijax import scans, xla
from minijax.array import ArrayImpl
from minijax.core import ShapedArray
from minijax.jaxpr import typecheck_jaxpr
from oracle import assert_all_same, assert_same, assert_same_error, prints_as_promised
from random_programs import Type, assume_tame, programs

X, Y = np.array([1.0, 2.0, 4.0]), np.array([3.0, -5.0, 7.0])
W = np.array([[0.5, -1.0, 0.25], [1.5, 0.5, -0.5], [0.1, 0.2, 0.3]])


# Functions of a vector that differentiate in both modes -------------------------------------------


def custom_square(lib):
    f = lib.custom_vjp(lambda x: x * x)
    f.defvjp(lambda x: (f(x), x), lambda x, ct: (10.0 * x * ct,))
    return f


def custom_double(lib):
    f = lib.custom_jvp(lambda x: x * 2.0)
    f.defjvp(lambda primals, tangents: (f(*primals), 7.0 * tangents[0]))
    return f


def cond_of_trees(lib, x):
    def swap(d):
        return {"a": d["b"], "b": d["a"], "c": None}

    def same(d):
        return {"a": d["a"] * 2.0, "b": d["b"], "c": None}

    return lib.lax.cond(x.sum() > 5.0, swap, same, {"a": x, "b": lib.numpy.sin(x)})


def recurrent(lib, x):
    """A small recurrent network: the carry is a vector, the weights are constants."""

    def step(h, row):
        h = lib.numpy.tanh(W @ h + row * x)
        return h, h[0]

    return lib.lax.scan(step, x, W)


def cond_in_scan(lib, x):
    def step(carry, row):
        count, total = carry
        total = lib.lax.cond(
            count < 1, lambda: total * row.sum(), lambda: lib.numpy.sin(total) + x[0] * row[1]
        )
        return (count + 1, total), (count, total, row)

    return lib.lax.scan(step, (0, x[1]), W)


def scan_in_scan(lib, x):
    def outer(total, row):
        inner, products = lib.lax.scan(lambda c, r: (c * r + x[2], c), total, row)
        return inner / 3.0, products

    return lib.lax.scan(outer, x[0], W * x)


def jit_in_scan(lib, x):
    f = lib.jit(lambda a, b: (a * lib.numpy.sin(b), a + b))
    return lib.lax.scan(f, x[0], x)


def nothing_moves(lib, x):
    counts, rows = lib.lax.scan(lambda n, r: (n + 1, (n, r > 1.0)), 0, W)
    return x * counts + rows[0] + rows[1].sum()


def late_mover(lib, x):
    """The third carry moves only after the second one has, and that after the first."""

    def step(carry, _):
        a, b, c, n = carry
        return (a, b + a, c + b * 2.0, n + 1), c

    return lib.lax.scan(step, (x, 0.0 * Y, np.ones(3), 0), None, 4)


BOTH_MODES = programs_of(
    globals(),
    """
    cond: lax.cond(x[0] > 1.5, lambda y: jnp.sin(y), lambda y: y * y * 3.0, x)
    cond that captures: lax.cond(x[0] < 1.5, lambda: (jnp.exp(x) * Y, x), lambda: (Y, jnp.cos(x)))
    cond of containers: cond_of_trees(lib, x)
    cond with branches that do not move: lax.cond(x[0] > 1.5, lambda y: (y, 1.0, 2),
        lambda y: (Y, 2.0, 3), x)
    cond with residuals of different types: lax.cond(x[1] > 1.5, lambda y: jnp.sin(y).sum()
        * jnp.cos(y[0]), lambda y: jnp.exp(y[1]), x)
    switch: lax.switch(x[0].astype(int), [lambda y: y, lambda y: y * y, lambda y: jnp.log(y)], x)
    scan: lax.scan(lambda c, r: (c * jnp.sin(r), c + r), 2.0, x)
    reversed scan: lax.scan(lambda c, r: (c * r + 1.0, c * c), x[0], x, reverse=True, unroll=2)
    associative_scan of a recurrence: lax.associative_scan(lambda a, b: (a[0] * b[0], b[0] * a[1]
        + b[1]), (x, jnp.sin(x)), reverse=True)
    scan without rows: lax.scan(lambda c, _: (c * Y * x, None), x, None, length=3)
    scan without carry: lax.scan(lambda _, r: (None, {"y": r * x.sum()}), None, x)
    scan over containers: lax.scan(lambda c, r: ({"s": c["s"] + r["u"] * r["v"].sum(), "n": c["n"]
        + 1}, [c["s"], None]), {"s": 1, "n": 0}, {"u": x, "v": W})
    scan of no steps: lax.scan(lambda c, r: (c * r, c + r[0]), x, np.ones((0, 3)))
    scan that hands through: lax.scan(lambda c, r: ((c[0], c[1] * c[0]), (r, c[0], r * 2.0)),
        (x, x), W)
    scan with a counter: nothing_moves(lib, x)
    scan with booleans: lax.scan(lambda c, r: (jnp.logical_not(c), jnp.where(c, r, r * r)), True, x)
    recurrent network: recurrent(lib, x)
    cond in scan: cond_in_scan(lib, x)
    scan in cond: lax.cond(x[0] > 0.0, lambda: lax.scan(lambda c, r: (c * r, c), 1.0, x)[0],
        lambda: x[1])
    scan in scan: scan_in_scan(lib, x)
    jit in scan: jit_in_scan(lib, x)
    scan in jit in scan: lax.scan(lambda c, r: lib.jit(lambda c, r: lax.scan(lambda a, b: (a * b,
        a), c, r))(c, r), x[0], W)
    late mover: late_mover(lib, x)
    custom jvp in cond: lax.cond(x[0] > 0.0, lambda y: custom_double(lib)(y) * y, lambda y: y, x)
    fori_loop: lax.fori_loop(1, 4, lambda i, c: c * i + x, x)
    gradient in scan: lax.scan(lambda c, r: (c - 0.1 * lib.grad(lambda w: jnp.sin(w * r) * w)(c),
        c), x[0], x)
""",
    "x",
)
REVERSE_ONLY = programs_of(
    globals(),
    """
    custom vjp in scan: lax.scan(lambda c, r: (custom_square(lib)(c) * r, c), x[0] / 4.0, x)
    custom vjp in cond in scan: lax.scan(lambda c, r: (lax.cond(r > 1.0, custom_square(lib),
        lambda c: c, c) * r, c), x[0], x)
""",
    "x",
)


def total(lib, out):
    """All floats of a result, in one number."""
    floats = [y for y in lib.tree.leaves(out) if np.dtype(y.dtype).kind == "f"]
    return functools.reduce(lambda a, b: a + b, [lib.numpy.sum(y * y) for y in floats], 0.0)


def number(lib, f):
    return lambda x: total(lib, f(lib, x)) + x.sum()


def floats_of(lib, f):
    """The results that have derivatives, as a list."""
    return lambda x: [y for y in lib.tree.leaves(f(lib, x)) if np.dtype(y.dtype).kind == "f"]


BATCH = np.stack([X, Y / 4.0, X - 0.5])

FORWARD = {
    "evaluation": lambda lib, f: f(lib, X),
    "jit": lambda lib, f: lib.jit(lambda x: f(lib, x))(X),
    "jvp": lambda lib, f: lib.jvp(lambda x: f(lib, x), (X,), (Y,)),
    "vmap": lambda lib, f: lib.vmap(lambda x: f(lib, x))(BATCH),
    "jit of vmap of jvp": lambda lib, f: lib.jit(
        lib.vmap(lambda x, t: lib.jvp(floats_of(lib, f), (x,), (t,)), (1, None))
    )(BATCH, Y),
    "linearize": lambda lib, f: lib.linearize(lambda x: f(lib, x), X)[1](Y),
    "jacfwd": lambda lib, f: lib.jacfwd(floats_of(lib, f))(X),
}
REVERSE = {
    "grad": lambda lib, f: lib.grad(number(lib, f))(X),
    "jit of grad": lambda lib, f: lib.jit(lib.grad(number(lib, f)))(X),
    "grad of jit": lambda lib, f: lib.grad(lib.jit(number(lib, f)))(X),
    "vmap of grad": lambda lib, f: lib.vmap(lib.grad(number(lib, f)))(BATCH),
    "grad of vmap": lambda lib, f: lib.grad(lambda x: lib.vmap(number(lib, f))(x).sum())(BATCH),
    "jacrev": lambda lib, f: lib.jacrev(floats_of(lib, f))(X),
}
SECOND = {
    "hessian": lambda lib, f: lib.hessian(number(lib, f))(X),
    "grad of grad": lambda lib, f: lib.grad(lambda x: lib.grad(number(lib, f))(x)[0])(X),
}


def compare(program, transforms):
    """Each of the transformations of the program gives what it gives in JAX."""
    assert_all_same({name: lambda lib, of=of: of(lib, program) for name, of in transforms.items()})


@pytest.mark.parametrize("program", BOTH_MODES.values(), ids=BOTH_MODES)
def test_every_construct_under_every_transformation(program):
    compare(program, {**FORWARD, **REVERSE})


@pytest.mark.parametrize("program", REVERSE_ONLY.values(), ids=REVERSE_ONLY)
def test_custom_rules_for_reverse_mode_count_inside(program):
    compare(program, REVERSE)


@pytest.mark.parametrize(
    "name", ["cond that captures", "scan over containers", "cond in scan", "recurrent network"]
)
def test_second_derivatives(name):
    compare(BOTH_MODES[name], SECOND)


# while_loop: forward mode only ------------------------------------------------------------------


def newton(lib, x):
    """Square roots; how many steps it takes depends on the values."""

    def far(state):
        guess, steps = state
        return lib.numpy.logical_and(lib.numpy.max(abs(guess * guess - x)) > 1e-9, steps < 50)

    return lib.lax.while_loop(far, lambda s: ((s[0] + x / s[0]) / 2.0, s[1] + 1), (x, 0))


WHILE = programs_of(
    globals(),
    """
    doubling: lax.while_loop(lambda c: c < 100.0, lambda c: c * 2.0, x[0])
    newton: newton(lib, x)
    containers: lax.while_loop(lambda d: d["n"] < 3, lambda d: {"n": d["n"] + 1,
        "x": [d["x"][0] * x]}, {"n": 0, "x": [Y]})
    a carry that stays: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1], c[2] * c[1]),
        (0, x, 1.0 * Y))
    condition that captures: lax.while_loop(lambda c: c[1] < x[2] + 3.0,
        lambda c: (c[0] * jnp.sin(x), c[1] + 1.0), (x, 0.0))
    no steps: lax.while_loop(lambda c: c[0] < 0.0, lambda c: c * x, x)
    known and unknown: lax.while_loop(lambda c: c[0] < 4, lambda c: (c[0] + 1, c[1] * 2.0, c[2]
        * x * c[1]), (0, 1.0, Y))
    dynamic bounds: lax.fori_loop(0, jnp.sum(x > 0.0), lambda i, c: c * x + i, x)
    while in while: lax.while_loop(lambda c: c[0] < 60.0, lambda c: (lax.while_loop(lambda d: d
        < c[0] * 3.0, lambda d: d + 7.0, c[0]), c[1] * 2), (x[0], x))
    cond in while: lax.while_loop(lambda c: c[0] < 6, lambda c: (c[0] + 1,
        lax.cond(c[0] < 3, lambda: c[1] * x, lambda: c[1] + x)), (0, x))
    scan in while: lax.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1,
        lax.scan(lambda a, r: (a * r, a), c[1], W)[0]), (0, x))
    while in scan: lax.scan(lambda c, r: (lax.while_loop(lambda a: a < r * 10.0, lambda a: a * 2.0,
        c), c), 1.0, x)
""",
    "x",
)


@pytest.mark.parametrize("program", WHILE.values(), ids=WHILE)
def test_while_loops_under_forward_transformations(program):
    compare(program, FORWARD)


# Which operands are mapped, and which move ------------------------------------------------------

# name -> (a function of three operands, and the operands)
OPERANDS = {
    "cond": (
        lambda lib: lambda p, a, b: lib.lax.cond(p > 0, lambda u: (u * b, u), lambda u: (b, b), a),
        (np.array([1, -1, 2]), X, Y),
    ),
    "while": (
        lambda lib: (
            lambda limit, factor, start: lib.lax.while_loop(
                lambda c: c[0] < limit, lambda c: (c[0] * 2.0, c[1] * factor), (start, 1.0 * start)
            )
        ),
        (np.array([8.0, 50.0, 3.0]), X, np.array([1.0, 0.5, 2.0])),
    ),
    "scan": (
        lambda lib: (
            lambda factor, start, rows: lib.lax.scan(
                lambda c, r: (c * factor + r.sum(), r * 2.0), start, rows
            )
        ),
        (X, Y, np.stack([W, W + 1.0, W * 2.0])),
    ),
}
CHOICES = [axes for axes in itertools.product([0, None], repeat=3) if axes != (None,) * 3]


@pytest.mark.every
@pytest.mark.parametrize("name", OPERANDS)
def test_vmap_over_any_choice_of_operands(name):
    f, operands = OPERANDS[name]

    def every(lib):
        pick = [
            [x if axis == 0 else x[0] for x, axis in zip(operands, axes, strict=True)]
            for axes in CHOICES
        ]
        pairs = zip(CHOICES, pick, strict=True)
        return [lib.vmap(f(lib), axes)(*args) for axes, args in pairs]

    assert_same(every(minijax), jax.jit(lambda: every(jax))())


@pytest.mark.parametrize("name", OPERANDS)
def test_a_derivative_by_any_choice_of_operands(name):
    f, operands = OPERANDS[name]
    first = [x[0] for x in operands]
    floats = [i for i, x in enumerate(first) if np.asarray(x).dtype.kind == "f"]

    def every(lib):
        choices = [c for n in (1, 2, 3) for c in itertools.combinations(floats, n)]
        forward = [lib.jacfwd(f(lib), choice)(*first) for choice in choices]
        if name == "while":
            return forward
        return forward, [lib.jacrev(f(lib), choice)(*first) for choice in choices]

    assert_same(every(minijax), jax.jit(lambda: every(jax))())


# Values, dtypes, structures, and captured tracers of every interpreter --------------------------


def three_deep(lib):
    """A loop in a choice in a scan, in vmap and jit; each has something from outside."""

    def steps(x, y):
        def step(c, r):
            def loop():
                return lib.lax.while_loop(lambda d: d[0] < y, lambda d: d + x * r, c)

            return lib.lax.cond(c[0] > 0, loop, lambda: c), r * y

        return lib.lax.scan(step, x, x)

    return lib.jit(lambda x: lib.vmap(lambda y: steps(x, y))(X))(X)


F = X.astype("float32")

VALUES = programs_of(
    globals(),
    """
    predicate that is a number: lax.cond(2, lambda: 1.0, lambda: 2.0)
    predicate that is zero: lax.cond(0.0, lambda: 1.0, lambda: 2.0)
    index too large: lax.switch(7, [lambda: 1, lambda: 2, lambda: 3])
    index too small: lax.switch(-7, [lambda: 1, lambda: 2, lambda: 3])
    one branch: lax.switch(5, [lambda x: {"a": x * 2}], 3)
    unsigned index: lax.switch(np.uint8(200), [lambda: 1, lambda: 2])
    None and empty containers: lax.cond(True, lambda t: (t, None, []), lambda t: (t, None, []),
        ({}, None))
    weak and strong branches: lax.cond(False, lambda: 1.0, lambda: np.float64(2.0))
    weak carry becomes float32: lax.scan(lambda c, x: (c + x, c), 0, F)
    weak carry of while: lax.while_loop(lambda c: c < 10, lambda c: c + F[0], 1)
    weak integer carry: lax.scan(lambda c, n: (c + n, n), 0, np.arange(3, dtype="int8"))
    boolean carry: lax.scan(lambda c, x: (c ^ (x > 1), c), False, X)
    no leaves: lax.scan(lambda c, _: (c, None), None, None, 3)
    no steps: lax.scan(lambda c, x: (c + 1, c), 0, None, 0)
    rows without elements: lax.scan(lambda c, x: (c + x.sum(), x), 0.0, np.ones((3, 0)))
    length given twice: lax.scan(lambda c, x: (c + x, x), 0.0, X, length=3)
    all at once: lax.scan(lambda c, x: (c + x, x), 0.0, X, unroll=True)
    bounds the wrong way: lax.fori_loop(5, 3, lambda i, c: c * 2, 1.0)
    bounds of int32: lib.jit(lambda n: lax.fori_loop(np.int32(1), n, lambda i, c: c * 2 + i,
        n))(np.int32(4))
    a bound that takes the other's type: lib.jit(lambda n: lax.fori_loop(0, n, lambda i, c: c + i,
        np.int32(0)))(np.int32(4))
    bounds that are known under grad: lib.grad(lambda x: lax.fori_loop(0, np.int64(3),
        lambda i, c: c * x, 1.0))(2.0)
    gradient of an integer carry: lib.grad(lambda c: lax.scan(lambda c, x: ((c[0] + 1, c[1] * x),
        c[0]), c, X)[0][1], allow_int=True)((0, 2.0))
    tangents of an integer carry: lib.jvp(lambda x: lax.scan(lambda c, x: ((c[0] + 1, c[1] * x),
        c[0]), (0, 2.0), x), (X,), (Y,))
    derivative where the other branch has none: lib.grad(lambda x: lib.vmap(lambda x: lax.cond(x
        > 0.0, lambda: jnp.sqrt(x), lambda: x * 0.0))(x).sum())(np.array([-1.0, 0.0, 4.0]))
    linear transpose: lib.linear_transpose(lambda x: lax.scan(lambda c, r: (c * 2.0 + r, c * 3.0),
        x[0], x), X)((1.0, Y))
    linear transpose of a loop with a counter: lib.linear_transpose(lambda x: lax.fori_loop(0, 3,
        lambda i, c: c * i + x, x), 2.0)(5.0)
    linear transpose of cond: lib.linear_transpose(lambda x: lax.cond(True, lambda y: y * 2.0,
        lambda y: y + y * 3.0, x), X)(Y)
    device arrays: lax.scan(lambda c, x: (c + x, x), lib.jit(lambda x: x)(1.0),
        lib.jit(lambda x: x)(X))
    captured by jvp: lib.jvp(lambda x: lax.scan(lambda c, r: (c * x.sum(), r * x), 1.0, W), (X,),
        (Y,))
    captured by vmap in grad: lib.grad(lambda y: lib.vmap(lambda x: lax.cond(x > 1.5, lambda: x * y,
        lambda: jnp.sin(y)))(X).sum())(3.0)
    grad in a body: lib.jit(lambda x: lax.scan(lambda c, r: (lib.grad(lambda z: z * z * c
        * x.sum())(r), c), 1.0, x))(X)
    three deep: three_deep(lib)
    jit of a function that captures: lib.grad(lambda x: lax.scan(lambda c, r: (lib.jit(lambda a: a
        * x)(c), r), 2.0, X)[0])(3.0)
    captured by a condition only: lib.jvp(lambda x: lax.while_loop(lambda c: c < x, lambda c: c
        * 2.0, 1.0), (5.0,), (1.0,))
    a mapped axis in scan: lib.vmap(lambda x: lax.scan(lambda c, r: (c + lax.psum(c * x, "i"),
        lax.axis_index("i")), x, X), axis_name="i")(X)
    a mapped axis in cond: lib.vmap(lambda x: lax.cond(X[0] > 0.0, lambda: lax.psum(x, "i"),
        lambda: x), axis_name="i")(X)
    a mapped axis in while: lib.vmap(lambda x: lax.while_loop(lambda c: c < 10.0, lambda c: c
        + lax.psum(1.0, "i") * x, x), axis_name="i")(X)
""",
)


@pytest.mark.every
@pytest.mark.parametrize("program", VALUES.values(), ids=VALUES)
def test_values_and_types_are_those_of_jax(program):
    assert_same(program(minijax), program(jax))


def test_evaluation_gives_numpy_arrays_that_cannot_be_written_to():
    outs = [
        minijax.lax.cond(True, lambda x: x, lambda x: x + 1.0, 2.0),
        minijax.lax.while_loop(lambda x: x < 3.0, lambda x: x + 1.0, 1.0),
        *minijax.lax.scan(lambda c, x: (c * 1.0, x * c), 2.0, X),
    ]
    assert [type(out) for out in outs] == [ArrayImpl] * 4


# Errors -----------------------------------------------------------------------------------------


ERRORS = failures_of(
    globals(),
    r"""
    cond of a number: lax.cond(True, 1.0, lambda: 2.0) raises should be callable
    cond of nothing: lax.cond(None, lambda: 1, lambda: 2) raises predicate is None
    vector predicate: lax.cond(X > 1, lambda: 1, lambda: 2) raises Pred must be a scalar, got an
        array of shape \(3,\)
    shapes of branches: lax.cond(True, lambda: {"a": X, "b": 1.0}, lambda: {"a": X, "b": Y}) raises
        output of true_fun at path \['b'\] has type ~float64\[\] but .* has type float64\[3\]
    dtypes of branches: lax.cond(True, lambda: 1.0, lambda: 2) raises the output of true_fun has
        type ~float64\[\] but .* false_fun has type ~int64\[\]
    structures of branches: lax.cond(True, lambda: (1.0, 2.0), lambda: [1.0]) raises true_fun is
        PyTreeDef\(\(\*, \*\)\) and that of false_fun is PyTreeDef\(\[\*\]\)
    third branch: lax.switch(0, [lambda: 1.0, lambda: 2.0, lambda: X]) raises switch branches .*
        output of branch 2 has type
    no branches: lax.switch(0, []) raises Empty branch sequence
    branch that is a number: lax.switch(0, [1]) raises sequence of callables
    float index: lax.switch(1.0, [lambda: 1, lambda: 2]) raises must be an integer
    vector index: lax.switch(N, [lambda: 1, lambda: 2]) raises must be scalar
    condition of a tree: lax.while_loop(lambda c: (True,), lambda c: c, 0.0) raises boolean scalar,
        but got pytree PyTreeDef\(\(\*,\)\)
    condition of a number: lax.while_loop(lambda c: 1, lambda c: c, 0.0) raises boolean scalar, but
        got output type ~int64\[\]
    condition of a vector: lax.while_loop(lambda c: c > X, lambda c: c, 0.0) raises boolean scalar,
        but got output type bool\[3\]
    carry of while: lax.while_loop(lambda c: c > 1, lambda c: X, 0.0) raises while_loop body .*
        input carry has type ~float64\[\] but .* has type float64\[3\]
    structure of the carry of while: lax.while_loop(lambda c: c > 1, lambda c: (c, c), 0.0) raises
        while_loop body .* same pytree structure
    while of numbers: lax.while_loop(1, 2, 0.0) raises should be callable
    while with a number: lax.while_loop(lambda c: c > 1, 2, 0.0) raises should be callable
    types of the carry: lax.scan(lambda c, x: ((X, 1), x), (0.0, 1.0), X) raises component \[0\] .*
        type ~float64\[\] .* float64\[3\]; .* component \[1\] .* ~int64\[\]
    structure of the carry: lax.scan(lambda c, x: ({"a": 1.0}, x), (0.0, 1.0), X) raises the output
        is PyTreeDef\(\{'a': \*\}\)
    no pair: lax.scan(lambda c, x: c, 0.0, X) raises must be a pair
    a triple: lax.scan(lambda c, x: (c, c, c), 0.0, X) raises must be a pair
    scan of a number: lax.scan(3, 0.0, X) raises should be a callable
    lengths: lax.scan(pair, 0.0, (X, X[:2])) raises different leading axis sizes
    other length: lax.scan(pair, 0.0, X, length=4) raises disagrees with
    no length: lax.scan(lambda c, x: (c, x), 0.0) raises `length` not provided
    number of rows: lax.scan(pair, 0.0, 3.0) raises no leading axis
    length that is traced: lib.jit(lambda n: lax.scan(lambda c, x: (c, x), 0.0, None, n))(3) raises
        expects a concrete `int` value
    negative unroll: lax.scan(pair, 0.0, X, unroll=-1) raises non-negative
    types of bounds: lax.fori_loop(np.int32(0), np.int64(3), lambda i, c: c, 1.0) raises must have
        equal types, got int32 and int64
    fori_loop of a number: lax.fori_loop(0, 3, 1, 1.0) raises should be callable
    unrolled without bounds: lib.jit(lambda n: lax.fori_loop(0, n, lambda i, c: c, 1.0,
        unroll=3))(3) raises loop bounds are statically known
    reverse mode of while: lib.grad(lambda x: lax.while_loop(lambda c: c < 9.0, lambda c: c * 2.0,
        x))(1.0) raises Reverse-mode differentiation does not work for lax.while_loop
    reverse mode of dynamic bounds: lib.jit(lib.grad(lambda x, n: lax.fori_loop(0, n, lambda i, c: c
        * x, 1.0)))(2.0, 3) raises Reverse-mode differentiation does not work for lax.while_loop
    forward mode of a custom vjp: lib.jvp(lambda x: lax.scan(lambda c, r: (custom_square(lib)(c),
        r), x, X)[0], (1.0,), (1.0,)) raises forward-mode
    Python's if in a body: lax.scan(lambda c, x: (c if x > 1 else -c, x), 0.0, X) raises lax.cond
    not an array: lax.scan(lambda c, x: (c, x), "a", X) raises not a valid JAX type
""",
)


def pair(c, x):
    return c, x


N = np.array([0, 1])


@pytest.mark.every
@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_of_the_kind_that_jax_raises_and_say_what_differs(name):
    program, message = ERRORS[name]
    assert_same_error(lambda: program(minijax), lambda: program(jax), or_wider=True, match=message)
    assert len(minijax.core.trace_state.stack) == 1


# Types: every program that is made on the way holds together -------------------------------------


@pytest.mark.every
@pytest.mark.parametrize("name", [*BOTH_MODES, *WHILE])
def test_transformed_programs_are_well_typed(name):
    f = {**BOTH_MODES, **WHILE}[name]
    forward = lambda x: minijax.jvp(floats_of(minijax, f), (x,), (Y,))  # noqa: E731
    made = [
        minijax.make_jaxpr(lambda x: f(minijax, x))(X),
        minijax.make_jaxpr(forward)(X),
        minijax.make_jaxpr(minijax.vmap(forward))(BATCH),
    ]
    if name in BOTH_MODES:
        made.append(minijax.make_jaxpr(minijax.vmap(minijax.grad(number(minijax, f))))(BATCH))
    for closed in made:
        typecheck_jaxpr(closed.jaxpr)


# In JAX their equations or constants have another order, or primitives and parameters of its own.
PRINTED_OTHERWISE = {
    *("associative_scan of a recurrence", "cond in scan", "custom jvp in cond"),
    *("gradient in scan", "scan that hands through", "scan with booleans"),
}


@pytest.mark.every
@prints_as_promised
@pytest.mark.parametrize("name", sorted({*BOTH_MODES, *WHILE} - PRINTED_OTHERWISE))
def test_printed_programs_are_those_of_jax(name):
    f = {**BOTH_MODES, **WHILE}[name]
    got, want = (str(lib.make_jaxpr(lambda x, lib=lib: f(lib, x))(X)) for lib in (minijax, jax))
    assert got == want


# What it costs ----------------------------------------------------------------------------------


def scan_eqns(closed):
    return [eqn for eqn in closed.eqns if eqn.primitive.name == "scan"]


def residual_bytes(f, *args):
    """The bytes of what the first of the two scans of a gradient hands to the second one."""
    forward, backward = scan_eqns(minijax.make_jaxpr(minijax.grad(f))(*args))
    handed = set(forward.outvars) & set(backward.invars)
    return sum(int(np.prod(v.aval.shape)) * v.aval.dtype.itemsize for v in handed)


def test_reverse_mode_keeps_what_a_step_needs_and_nothing_else():
    weights = np.full((20, 20), 0.01)

    def loss(h, weights):
        step = lambda h, _: (minijax.numpy.sin(weights @ h), None)  # noqa: E731
        return minijax.lax.scan(step, h, None, 1000)[0].sum()

    # The cosine, 20 numbers a step; the weights (400 numbers) are the same in every step.
    assert residual_bytes(loss, np.ones(20), weights) == 1000 * 20 * 8
    # With respect to the weights, the carry of each step is needed too.
    by_weights = lambda w, h: loss(h, w)  # noqa: E731
    assert residual_bytes(by_weights, weights, np.ones(20)) == 2 * 1000 * 20 * 8


def test_what_is_the_same_in_every_step_is_computed_once():
    def loss(x, w):
        step = lambda c, r: (c * minijax.numpy.exp(minijax.numpy.sin(w)) * 2.0 + r, None)  # noqa: E731
        return minijax.lax.scan(step, x, X)[0].sum()

    closed = minijax.make_jaxpr(minijax.grad(loss))(Y, Y)
    assert [eqn.primitive.name for eqn in closed.eqns].count("exp") == 1
    assert residual_bytes(loss, Y, Y) == 0


def test_xla_needs_memory_in_proportion_to_the_steps():
    def temporary_bytes(length):
        def loss(x):
            step = lambda h, _: (minijax.numpy.sin(h) * h, None)  # noqa: E731
            return minijax.lax.scan(step, x, None, length)[0].sum()

        text = minijax.jit(minijax.grad(loss)).lower(np.ones(100)).as_text()
        result = ShapedArray((100,), np.dtype(float))
        executable = xla.compile_text(text, (xla.current_device(),), [result])
        return executable.loaded.get_compiled_memory_stats().temp_size_in_bytes

    per_step = (temporary_bytes(2000) - temporary_bytes(1000)) / 1000
    assert 3 * 800 <= per_step <= 3.2 * 800  # cos(h), sin(h) and h, of 100 numbers each


def test_a_body_is_traced_a_fixed_number_of_times():
    calls = []

    def step(c, x):
        calls.append(1)
        return c * x, c + x

    minijax.lax.scan(step, 1.0, np.ones(1000))
    minijax.lax.scan(step, 1.0, np.ones(1000))
    minijax.grad(lambda x: minijax.lax.scan(step, 1.0, x)[0])(np.ones(1000))
    minijax.jit(minijax.vmap(lambda x: minijax.lax.scan(step, 1.0, x)))(np.ones((3, 1000)))
    assert len(calls) == 1


def test_a_python_number_as_carry_costs_one_more_trace():
    calls = []

    def step(c, x):
        calls.append(1)
        return c * x, c

    minijax.lax.scan(step, 1, X)
    assert len(calls) == 2


def test_a_loop_is_compiled_once_for_each_type(monkeypatch):
    compiled = []
    real = xla.compile_text
    monkeypatch.setattr(xla, "compile_text", lambda *args: compiled.append(1) or real(*args))

    def body(i, c):
        return c * 2.0 + i

    def step(c, x):
        return c * x, c

    for _ in range(3):
        minijax.lax.fori_loop(0, 5, body, 1.0)
        minijax.grad(lambda x: minijax.lax.scan(step, 1.0, x)[0])(X)
    assert len(compiled) == 3  # the loop, and forwards and backwards the scan


def test_programs_of_functions_go_with_the_functions():
    def run():
        def body(i, c):
            return c * 2.0 + i

        minijax.lax.fori_loop(0, 5, body, 1.0)
        minijax.grad(lambda x: minijax.lax.scan(lambda c, x: (c * x, c), 1.0, x)[0])(X)
        return weakref.ref(body)

    body = run()
    gc.collect()
    assert body() is None


# A scan is a loop ---------------------------------------------------------------------------------


@settings(max_examples=12)
@given(programs(depth=0, inputs=(Type((3,), "float64"), Type((2, 3), "float64"))))
@pytest.mark.slow
def test_scan_is_a_python_loop(program):
    rows = np.stack([program.arguments(seed)[1] for seed in range(3)])
    start = program.arguments()[0]
    f = program.on(minijax)

    def step(carry, row):
        outs = f(carry, row)
        return minijax.numpy.tanh(carry + outs[0].sum() / 10.0), outs

    def loop(carry, rows):
        ys = []
        for row in rows:
            carry, y = step(carry, row)
            ys.append(y)
        return carry, [np.stack(column) for column in zip(*ys, strict=True)]

    assume_tame(program, start, rows[0])
    carry, ys = minijax.lax.scan(step, start, rows)
    want_carry, want_ys = loop(start, rows)
    for x, y in zip([carry, *ys], [want_carry, *want_ys], strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-3, atol=1e-3)
        assert (np.shape(x), np.asarray(x).dtype) == (y.shape, y.dtype)
    tangents = (np.ones_like(start), np.ones_like(rows))
    got = minijax.jvp(lambda c, r: minijax.lax.scan(step, c, r)[0], (start, rows), tangents)[1]
    unrolled = minijax.jvp(
        lambda c, r: functools.reduce(lambda c, i: step(c, r[i])[0], range(3), c),
        (start, rows),
        tangents,
    )[1]
    np.testing.assert_allclose(got, unrolled, rtol=1e-3, atol=1e-3)
    ct = minijax.grad(lambda c: minijax.lax.scan(step, c, rows)[0].sum())(start)
    slope = minijax.jvp(
        lambda c: minijax.lax.scan(step, c, rows)[0].sum(), (start,), (np.ones(3),)
    )[1]
    np.testing.assert_allclose(np.sum(ct), slope, rtol=1e-3, atol=1e-3)


def test_no_row_is_read_from_an_array_without_rows():
    with pytest.raises(IndexError, match=r"\(0, 2\) has no row"):
        scans.row_at(np.zeros((0, 2)), 0)
