"""Equations one by one, and results in containers: both print the same.

The kinds are those of JAX's tutorials. What transformations compute is compared elsewhere: here is
what a program shows of itself, and of its results.
"""

import contextlib
import io

import jax
import minijax
import numpy as np
import pytest
from expressions import programs_of

POINT, STEP = 3.0, 1.0
ROW = np.array([0.5, -1.5, 2.0])
TABLE = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5], [0.1, 0.2, 0.3], [-2.0, 1.0, 0.0]])
TARGETS = np.array([True, False, True, False])


def wave(jnp):
    return lambda x: 3.0 * x - jnp.sin(x) * 2.0


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


CELLS = programs_of(
    globals(),
    """
    # equations one by one
    equations: show_equations(lib, lambda x: x + 1, 5)
    equations of arrays: show_equations(lib, lambda w, b, x: jnp.dot(w, x) + b + jnp.sin(b), TABLE,
        TABLE[:, 0], ROW)
    a product, a sum and ones: show_equations(lib, lambda w, b, x: (jnp.dot(w, x) + b + jnp.ones(4),
        x), TABLE, TABLE[:, 0], ROW)
    # results in containers
    value and change: print(lib.jvp(wave(jnp), (POINT,), (STEP,)))
    a list of a dict: print([lib.jit(lambda d: d)({"a": ROW, "b": (POINT, ROW)})])
    a dict of gradients: print(lib.grad(lambda p: loss(lib)(p["w"],
        p["b"]))({"w": WEIGHTS, "b": 0.5}))
    value and gradients: print(lib.value_and_grad(loss(lib), argnums=(0, 1))(WEIGHTS, 0.5))
    a tuple of cotangents: print(lib.vjp(lambda x, y: jnp.sin(x) * y, POINT, ROW)[1](ROW))
    a tuple of batches: print(lib.vmap(lambda x: (x, {"twice": 2 * x}, x > 0))(jnp.asarray(ROW)))
    Jacobians: print(lib.jacfwd(lambda d: {"out": d["x"] * ROW})({"x": jnp.asarray(ROW)}))
    scan: print(lax.scan(lambda c, x: (c + x, c > 0), 0.0, ROW))
    types of arguments: print([str(aval) for aval in lib.make_jaxpr(lambda *xs: xs)(POINT, 3, True,
        ROW, TABLE).in_avals])
""",
)


def printed(program, lib):
    with np.printoptions(precision=6), contextlib.redirect_stdout(io.StringIO()) as out:
        program(lib)
    return out.getvalue()


@pytest.mark.parametrize("program", CELLS.values(), ids=CELLS)
def test_a_cell_prints_the_same_on_both(program):
    assert printed(program, minijax) == printed(program, jax)
