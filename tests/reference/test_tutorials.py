"""Programs of the kinds that JAX's tutorials have, cell by cell: both systems print the same.

The kinds are those of Autodidax, of its interpreters of jaxprs, of the autodiff cookbook and of the
tutorial on custom derivatives, as far as the surface goes. Each cell is run on both, and what it
prints is compared as text.
"""

import contextlib
import io

import jax
import minijax
import numpy as np
import pytest

jax.config.update("jax_enable_x64", True)

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


def logsumexp_like(lib):
    f = lib.custom_jvp(lambda x: lib.numpy.log(1.0 + lib.numpy.exp(x)))
    f.defjvps(lambda t, out, x: (1.0 - 1.0 / (1.0 + lib.numpy.exp(x))) * t)
    return f


def clipped(lib):
    @lib.custom_vjp
    def identity(low, high, x):
        return x

    identity.defvjp(
        lambda low, high, x: (x, (low, high)),
        lambda res, ct: (None, None, lib.numpy.clip(ct, res[0], res[1])),
    )
    return identity


def fixed_point(lib, step, start):
    return lib.lax.while_loop(
        lambda pair: lib.numpy.abs(pair[0] - pair[1]) > 1e-9,
        lambda pair: (pair[1], step(pair[1])),
        (start, step(start)),
    )[1]


def show_equations(lib, f, *args):
    jaxpr = lib.make_jaxpr(f)(*args).jaxpr
    for eqn in jaxpr.eqns:
        print(eqn.primitive, len(eqn.invars), len(eqn.outvars))
    print(jaxpr)


AUTODIDAX = {
    "a value": lambda lib: print(wave(lib.numpy)(POINT)),
    "jvp": lambda lib: print(*lib.jvp(wave(lib.numpy), (POINT,), (STEP,))),
    "derivatives of higher order": lambda lib: [
        print(f(POINT)) for f in derivatives(lib, lib.numpy.sin, 4)
    ],
    "a branch of Python": lambda lib: [
        print(lib.grad(lambda x: 2.0 * x if x > 0.0 else x)(x)) for x in (POINT, -POINT)
    ],
    "containers": lambda lib: [
        print(part["out"])
        for part in lib.jvp(
            lambda d: {"out": d["x"] * d["y"]}, ({"x": 2.0, "y": 3.0},), ({"x": 1.0, "y": 0.0},)
        )
    ],
    "vmap": lambda lib: print(lib.vmap(lambda x: x + ROW)(ROW)),
    "jacobian": lambda lib: print(lib.jacfwd(lambda x: lib.numpy.sin(x) * x)(ROW)),
    "programs": lambda lib: [
        print(lib.make_jaxpr(f)(POINT))
        for f in (wave(lib.numpy), lambda x: 2.0 * x, lambda x: (x, {"two": x * x}), lambda x: 7.0)
    ],
    "a program with arrays": lambda lib: print(lib.make_jaxpr(lambda x, y: x @ y)(TABLE, ROW)),
    "a program of jvp": lambda lib: print(
        lib.make_jaxpr(lambda x, t: lib.jvp(lib.numpy.sin, (x,), (t,)))(POINT, STEP)
    ),
    "jit runs Python once": lambda lib: twice(lib.jit(lambda x: print("traced") or x * 2.0)),
    "jit under others": lambda lib: print(
        lib.grad(lib.jit(wave(lib.numpy)))(POINT), lib.vmap(lib.jit(lib.numpy.sin))(ROW)
    ),
    "linearize": lambda lib: print(
        lib.linearize(lib.numpy.sin, POINT)[1](STEP), lib.numpy.cos(POINT)
    ),
    "grad": lambda lib: print(lib.grad(wave(lib.numpy))(POINT)),
    "cond": lambda lib: [print(lib.lax.cond(flag, lambda: 3, lambda: 4)) for flag in (True, False)],
}
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
COOKBOOK = {
    "grad": lambda lib: print(lib.grad(lib.numpy.tanh)(2.0)),
    "grad of grad": lambda lib: [print(f(2.0)) for f in derivatives(lib, lib.numpy.tanh, 3)],
    "logistic regression": lambda lib: [
        print(np.asarray([lib.grad(loss(lib), argnums)(WEIGHTS, 0.5)])) for argnums in (0, 1)
    ],
    "value and grad": lambda lib: print(lib.value_and_grad(loss(lib))(WEIGHTS, 0.5)[0]),
    "a dict of parameters": lambda lib: print(
        sorted(lib.grad(lambda p: loss(lib)(p["w"], p["b"]))({"w": WEIGHTS, "b": 0.5}))
    ),
    "hessian": lambda lib: print(lib.hessian(lambda w: loss(lib)(w, 0.5))(WEIGHTS)),
    "hessian times a vector": lambda lib: print(
        lib.jvp(lib.grad(lambda w: loss(lib)(w, 0.5)), (WEIGHTS,), (ROW,))[1]
    ),
    "jacobians": lambda lib: print(
        lib.jacfwd(lambda w: lib.numpy.tanh(TABLE @ w))(WEIGHTS)
        - lib.jacrev(lambda w: lib.numpy.tanh(TABLE @ w))(WEIGHTS)
        < 1e-12
    ),
    "vjp": lambda lib: print(
        lib.vjp(lambda w: lib.numpy.dot(TABLE, w), WEIGHTS)[1](TABLE[:, 0])[0]
    ),
    "rows by vmap": lambda lib: print(
        lib.vmap(lib.vjp(lambda w: lib.numpy.dot(TABLE, w), WEIGHTS)[1])(np.eye(4))[0]
    ),
}
CUSTOM = {
    "without a rule": lambda lib: print(
        lib.grad(lambda x: lib.numpy.log(1.0 + lib.numpy.exp(x)))(100.0)
    ),
    "with a rule": lambda lib: print(lib.grad(logsumexp_like(lib))(100.0)),
    "with a rule, everywhere": lambda lib: print(
        lib.jit(lib.vmap(lib.grad(logsumexp_like(lib))))(np.array([-100.0, 0.0, 100.0]))
    ),
    "clipped": lambda lib: [
        print(lib.grad(lambda x, f=f: f(-1.0, 1.0, 10.0 * x))(2.0))
        for f in (lambda low, high, x: x, clipped(lib))
    ],
    "a fixed point": lambda lib: print(fixed_point(lib, lambda x: 0.5 * (x + 2.0 / x), 1.0)),
    "no rule": lambda lib: refused(lambda: lib.custom_jvp(lambda x: x)(1.0)),
    "forward mode of a reverse rule": lambda lib: refused(
        lambda: lib.jvp(lambda x: clipped(lib)(-1.0, 1.0, x), (2.0,), (1.0,))
    ),
}


def derivatives(lib, f, number):
    for _ in range(number):
        yield f
        f = lib.grad(f)


def twice(f):
    print(f(2.0))
    print(f(3.0))


def refused(program):
    """Prints the class of the error."""
    with pytest.raises(Exception) as caught:
        program()
    print(caught.type.__name__)


CELLS = {
    f"{name}: {cell}": program
    for name, cells in {
        "autodidax": AUTODIDAX,
        "interpreters": INTERPRETERS,
        "containers": CONTAINERS,
        "cookbook": COOKBOOK,
        "custom derivatives": CUSTOM,
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
