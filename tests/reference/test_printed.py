"""Interpreters of jaxprs as users write them, and results in containers: both print the same.

The kinds are those of JAX's tutorials. What transformations compute is compared elsewhere: here is
what a program shows of itself, and of its results.
"""

import contextlib
import io

import jax
import minijax
import numpy as np
import pytest

POINT, STEP = 3.0, 1.0
ROW = np.array([0.5, -1.5, 2.0])
TABLE = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5], [0.1, 0.2, 0.3], [-2.0, 1.0, 0.0]])
TARGETS = np.array([True, False, True, False])


def wave(jnp):
    return lambda x: 3.0 * x - jnp.sin(x) * 2.0


def inverse(lib, f):
    """The inverse of a chain of functions of one operand, by reading its program backwards."""
    table = {lib.lax.exp_p: lib.numpy.log, lib.lax.tanh_p: lib.numpy.arctanh}

    def inverted(y):
        closed = lib.make_jaxpr(f)(y)
        values = dict(zip(closed.jaxpr.outvars, [y], strict=True))
        values.update(zip(closed.jaxpr.constvars, closed.literals, strict=True))
        for eqn in closed.jaxpr.eqns[::-1]:
            (operand,), (result,) = eqn.invars, eqn.outvars
            if eqn.primitive not in table:
                raise NotImplementedError(f"{eqn.primitive} has no inverse.")
            values[operand] = table[eqn.primitive](values[result])
        return values[closed.jaxpr.invars[0]]

    return inverted


def evaluated(lib, f, x):
    """The results of a program, equation by equation."""
    closed = lib.make_jaxpr(f)(x)
    values = dict(zip(closed.jaxpr.invars, [x], strict=True))
    for eqn in closed.eqns:
        out = eqn.primitive.bind(*(values[v] for v in eqn.invars), **eqn.params)
        values.update(zip(eqn.outvars, [out], strict=True))
    return [values[v] for v in closed.jaxpr.outvars]


def chain(lib):
    return lambda x: lib.numpy.exp(lib.numpy.tanh(x))


def loss(lib):
    def f(weights, bias):
        p = 0.5 * (lib.numpy.tanh((lib.numpy.dot(TABLE, weights) + bias) / 2) + 1)
        right = p * TARGETS + (1 - p) * (1 - TARGETS)
        return -lib.numpy.sum(lib.numpy.log(right))

    return f


WEIGHTS = np.array([0.1, -0.2, 0.3])


def show_equations(lib, f, *args):
    jaxpr = lib.make_jaxpr(f)(*args).jaxpr
    for eqn in jaxpr.eqns:
        print(eqn.primitive, len(eqn.invars), len(eqn.outvars))
    print(jaxpr)


INTERPRETERS = {
    "equations": lambda lib: show_equations(lib, lambda x: x + 1, 5),
    "equations of arrays": lambda lib: show_equations(
        lib, lambda w, b, x: lib.numpy.dot(w, x) + b + lib.numpy.sin(b), TABLE, TABLE[:, 0], ROW
    ),
    "a product, a sum and ones": lambda lib: show_equations(
        lib,
        lambda w, b, x: (lib.numpy.dot(w, x) + b + lib.numpy.ones(4), x),
        *(TABLE, TABLE[:, 0], ROW),
    ),
    "an interpreter": lambda lib: print(evaluated(lib, chain(lib), ROW)),
    "types": lambda lib: print(
        [v.aval.shape for v in lib.make_jaxpr(chain(lib))(ROW).jaxpr.invars]
    ),
    "literals": lambda lib: print(len(lib.make_jaxpr(lambda x: x * ROW)(2.0).literals)),
    "inverse": lambda lib: print(inverse(lib, chain(lib))(chain(lib)(0.5))),
    "its program": lambda lib: print(lib.make_jaxpr(inverse(lib, chain(lib)))(1.5)),
    "with all others": lambda lib: print(
        lib.jit(lib.vmap(lib.grad(inverse(lib, chain(lib)))))((np.arange(5) + 1.0) / 5.0)
    ),
}
CONTAINERS = {
    "value and change": lambda lib: print(lib.jvp(wave(lib.numpy), (POINT,), (STEP,))),
    "a list of a dict": lambda lib: print([lib.jit(lambda d: d)({"a": ROW, "b": (POINT, ROW)})]),
    "a dict of gradients": lambda lib: print(
        lib.grad(lambda p: loss(lib)(p["w"], p["b"]))({"w": WEIGHTS, "b": 0.5})
    ),
    "value and gradients": lambda lib: print(
        lib.value_and_grad(loss(lib), argnums=(0, 1))(WEIGHTS, 0.5)
    ),
    "a tuple of cotangents": lambda lib: print(
        lib.vjp(lambda x, y: lib.numpy.sin(x) * y, POINT, ROW)[1](ROW)
    ),
    "a tuple of batches": lambda lib: print(
        lib.vmap(lambda x: (x, {"twice": 2 * x}, x > 0))(lib.numpy.asarray(ROW))
    ),
    "Jacobians": lambda lib: print(
        lib.jacfwd(lambda d: {"out": d["x"] * ROW})({"x": lib.numpy.asarray(ROW)})
    ),
    "scan": lambda lib: print(lib.lax.scan(lambda c, x: (c + x, c > 0), 0.0, ROW)),
    "types of arguments": lambda lib: print(
        [str(aval) for aval in lib.make_jaxpr(lambda *xs: xs)(POINT, 3, True, ROW, TABLE).in_avals]
    ),
}
CELLS = {
    f"{name}: {cell}": program
    for name, cells in {
        "interpreters": INTERPRETERS,
        "containers": CONTAINERS,
    }.items()
    for cell, program in cells.items()
}


def printed(program, lib):
    with np.printoptions(precision=6), contextlib.redirect_stdout(io.StringIO()) as out:
        program(lib)
    return out.getvalue()


@pytest.mark.parametrize("program", CELLS.values(), ids=CELLS)
def test_a_cell_prints_the_same_on_both(program):
    assert printed(program, minijax) == printed(program, jax)
