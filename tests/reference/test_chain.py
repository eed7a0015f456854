"""The whole chain against JAX: promotion, evaluation, jvp, vmap, jit on XLA, linearize, grad.

Each operation's values and derivatives are compared in `test_primitives` and `test_edges`.
"""

import jax
import minijax
import numpy as np
import pytest
from expressions import programs_of
from oracle import TRANSFORMATIONS, assert_all_same, assert_same

X, Y = np.array([1.0, 2.0, 4.0]), np.array([3.0, -5.0, 7.0])
MATRIX = np.array([[1.0, 2.0, -1.0], [0.5, 3.0, 2.0]])
N = np.arange(3)
FLOAT0, ZEROS = np.zeros((), [("float0", "V")]), np.zeros(3, [("float0", "V")])


def cubic(x, y):
    return x * x * y * 3.0


def loss(lib):
    return lambda x: lib.jit(lib.vmap(cubic))(x, Y).sum()


def mixed(lib):
    """A compiled function of a vector and of integers, with both among its results."""
    return lib.jit(lambda x, n: {"a": x * n, "n": n + 1, "b": [x.sum()]})


# What lesson stackless has, too.
OF_BOTH_SYSTEMS = programs_of(
    globals(),
    """
    # the whole chain
    vmap: lib.vmap(cubic)(X, Y)
    jit of vmap: lib.jit(lib.vmap(cubic))(X, Y)
    grad of jit of vmap: lib.grad(loss(lib))(X)
    jit of grad of jit of vmap: lib.jit(lib.grad(loss(lib)))(X)
    jvp of grad: lib.jvp(lib.grad(loss(lib)), (X,), (Y,))
    grad of grad: lib.grad(lib.grad(lib.jit(lambda x: x * x * x)))(3.0)
    vmap of grad of jit: lib.vmap(lib.grad(lib.jit(lambda x: x * x)))(X)
    linearize: lib.linearize(loss(lib), X)[1](Y)
    closed over values: lib.grad(lambda x: lib.grad(lambda y: x * y * y)(x) * x)(3.0)
    closed over by jit: lib.grad(lambda x: lib.jit(lambda y: lib.jit(lambda: x * y)())(x))(3.0)
    infinity: lib.jvp(lambda x, y: x * y, (np.inf, 2.0), (1.0, 0.0))
    no elements: lib.grad(lambda x: (x * x).sum())(np.zeros((0, 3)))
    weak types: lib.jit(lambda x: (x * 2, 1 - x, x / 2, 2.5 * (x > x)))(np.float32([1, 2]))
    quotients of integers: lib.jit(lambda x: x / 2)(np.arange(3))
    # the axes of vmap
    nothing mapped twice: lib.vmap(lambda x, y: x * y, (0, None))(X, 2.0)
    axis 1 in, axis 1 out: lib.vmap(lambda x: x * 2.0, 1, 1)(MATRIX)
    axis -1: lib.vmap(lambda x: x.sum(), -1)(MATRIX)
    one entry for a container: lib.vmap(lambda d, x: {"out": d["a"] * d["b"] + x, "same": 1.0},
        ({"a": 0, "b": None}, 0), 0)({"a": X, "b": 3.0}, Y)
    one for each result: lib.vmap(lambda x, y: (x * y, 1.0), (0, 1), (-1, 0))(X, np.outer(X, Y))
    two of them: lib.vmap(lib.vmap(lambda x, y: x + y, (0, None)), (None, 0))(X, Y)
    a size without mapped arguments: lib.vmap(lambda x: x * 2.0, in_axes=None, axis_size=3)(MATRIX)
    a result that is not mapped: lib.vmap(lambda x, y: (x * y, y + 1.0), (0, None), (0, None))(X, Y)
    one of jit: lib.vmap(lib.jit(lambda x, y: (x * y, y)), (0, None), (0, None))(X, Y)
    # the arguments of reverse mode
    two argnums: lib.grad(lambda x, y: x * y, (0, 1))(3.0, 2.0)
    negative argnum: lib.grad(lambda x, y: x * y, -1)(3.0, 2.0)
    value and one argnum: lib.value_and_grad(lambda x, y: (x * y).sum(), 1)(X, Y)
    containers: lib.grad(lambda d: d["a"] * d["b"][0])({"a": 3.0, "b": [2.0]})
    integer input: lib.vjp(lambda x, y: x * y, 3, 2.0)[1](1.0)
    integer result: lib.vjp(lambda x, y: (x * y, x), 3, 2.0)[1]((1.0, FLOAT0))
    linearize with an integer: lib.linearize(lambda x, n: (x * n, n), 3.0, 2)[1](1.0, FLOAT0)
    # tangents of integers, in and out of compiled programs
    float0, result: lib.jit(lambda n: lib.jvp(lambda n: n * 2, (n,), (FLOAT0,)))(3)
    float0, argument: lib.jit(lambda n, t: lib.jvp(lambda n: n * 2, (n,), (t,)))(3, FLOAT0)
    float0, passed on: lib.jit(lambda t: (t, 1.0))(FLOAT0)
    float0, nested calls: lib.jit(lambda t: lib.jit(lambda t: t)(t))(FLOAT0)
    float0, under vmap: lib.vmap(lambda x: lib.jit(lambda t: (x, t))(FLOAT0))(X)
    float0, cotangent: lib.jit(lambda n: lib.vjp(lambda n: n * 2.5, n)[1](1.0))(3)
    float0, of a vector: lib.jit(lambda x: lib.vjp(lambda n: n * 2.5, x)[1](X))(np.arange(3))
    float0, jvp: lib.jvp(mixed(lib), (X, N), (Y, ZEROS))
    float0, linearize: lib.linearize(mixed(lib), X, N)[1](Y, ZEROS)
    float0, vjp: lib.vjp(mixed(lib), X, N)[1]({"a": Y, "n": ZEROS, "b": [2.0]})
""",
)
PROGRAMS = OF_BOTH_SYSTEMS | programs_of(
    globals(),
    """
    arguments by name: lib.vmap(lambda x, y: x @ y["a"], 1)(MATRIX, y={"a": MATRIX.T})
    keyword argument: lib.grad(lambda x, y: x * y)(3.0, y=2.0)
    static and traced arguments of jit: [f({"a": 2.0}, **more) for f in [lib.jit(lambda d, k=1.0,
        way="up": d["a"] * k if way == "up" else k, static_argnames="way")]
        for more in ({"k": 5.0}, {"way": "down"})]
    aux: lib.grad(lambda x: (x * x, {"a": x}), has_aux=True)(3.0)
    value and aux: lib.value_and_grad(lambda x: (x * x, x + 1.0), has_aux=True)(3.0)
    aux of vjp: lib.vjp(lambda x: (x * x, x + 1.0), 3.0, has_aux=True)[2]
    aux of an inner grad moves: lib.grad(lambda x: lib.value_and_grad(lambda y: (x * y, y * 2.0),
        has_aux=True)(x)[0][1])(3.0)
    linear transpose: lib.linear_transpose(lambda x: x * 2.0 + x, X)(Y)
    jacrev: lib.jacrev(lambda x: x * x)(X)
    hessian: lib.hessian(lambda x: (x * x * x).sum())(X)
    float0, integer weights: lib.jit(lib.grad(lambda p: p["n"] * p["x"],
        allow_int=True))({"n": 3, "x": 2.0})
""",
)


def test_minijax_gives_what_jax_gives():
    assert_all_same(PROGRAMS)


def losses(jnp, x):
    """Numbers, of which each uses some of the primitives of lessons 4 to 12."""
    return [
        jnp.sum(jnp.sin(x) * jnp.cos(x) - jnp.log(jnp.exp(-x))),
        jnp.sum((x + x * 2.0 - 3.0 * x) / (x * x + 1.0)),
        jnp.sum(x * (x > 1.5) + x * x * (x < 1.5)),
        jnp.sum(jnp.sin(MATRIX @ (x * x))),
        jnp.sum((MATRIX * x) @ (MATRIX * x).T),
        jnp.sum(x.astype("float32") @ MATRIX.T),
        jnp.dot(x, jnp.sin(x)) / jnp.sum(x),
        jnp.sum((MATRIX * x).T @ MATRIX / 2.0),
        jnp.sum(jnp.broadcast_to(x, (2, 3)) * MATRIX),
        jnp.sum(jnp.exp(jnp.sum(MATRIX * x, axis=0) / 10)),
    ]


# Besides what `oracle` does to every function.
MORE = programs_of(
    globals(),
    """
    jacfwd of grad: lib.jacfwd(lib.grad(lambda x: f(x).sum()))(X)
    vjp of a container: lib.vjp(lambda x: {"a": f(x).sum(), "b": x}, X)[1]({"a": 2.0, "b": X})
""",
    "f",
)


def test_every_operation_under_every_transformation():
    assert_all_same(
        {
            f"{name} of {number}": lambda lib, transform=transform, number=number: transform(
                lib, lambda x: losses(lib.numpy, lib.numpy.asarray(x))[number] * x
            )
            for name, transform in (TRANSFORMATIONS | MORE).items()
            for number in range(10)
        }
    )


def test_vmap_complains_about_sizes_that_differ():
    with pytest.raises(ValueError, match=r"one size, and got sizes \[2, 3\]"):
        minijax.vmap(lambda x, y: x + y)(np.ones(2), np.ones(3))
    with pytest.raises(ValueError, match=r"one size, and got sizes \[2, 3\]"):
        minijax.vmap(lambda x: x, axis_size=3)(np.ones(2))


def test_the_compiled_program_can_be_read():
    text = minijax.jit(lambda x: x * 2.0).lower(X).as_text()
    assert "stablehlo.multiply" in text
    assert "tensor<3xf64>" in text


# Step by step in JAX, too: one looks at a value.
EDGES = programs_of(
    globals(),
    """
    integer division: lax.div(np.array([7, -7, 7, -7, 5], "int32"), np.array([2, 2, -2, -2, 0],
        "int32"))
    smallest integer by -1: lax.div(np.array([-(2**31)], "int32"), np.array([-1], "int32"))
    floats to integers: lax.convert_element_type(jnp.asarray([np.nan, 1e30, -1e30, -1.5, 2.9]),
        "int32")
    log of negative: jnp.log(np.array([-1.0, 0.0]))
    constant times infinity: lib.jvp(lambda x: x * 2.0, (np.inf,), (1.0,))
    derivative of 1/x at 0: lib.jvp(lambda x: 1.0 / x, (0.0,), (1.0,))
    sum of int32: jnp.sum(np.array([1, 2], "int32"))
    python branch: lib.jvp(lambda x: x * 3.0 if x > 0 else x, (2.0,), (1.0,))
    constant output: lib.jvp(lambda x: (x, np.ones(2), 7), (2.0,), (1.0,))[1]
    containers: lib.jvp(lambda d, c: {"b": d["a"] * c[0], "a": (c[0],)}, ({"a": 3.0}, [2.0]),
        ({"a": 1.0}, [5.0]))
    0-d meets vector: lib.jvp(lambda x, v: (x + v, v - x, x * v, v / x), (2.0, np.arange(3.0)),
        (1.0, np.ones(3)))
    length 1 meets vector: lib.jvp(lambda a, b: a + b, (np.ones((1, 3)), np.ones((2, 1))),
        (np.ones((1, 3)), np.ones((2, 1))))
    aux: lib.jvp(lambda x: ({"a": x * x}, [x, 3]), (2.0,), (1.0,), has_aux=True)
    aux of an inner jvp moves: lib.jvp(lambda x: lib.jvp(lambda y: (y, x * y), (x,), (1.0,),
        True)[2], (3.0,), (1.0,))
    perturbation confusion: lib.jvp(lambda x: x * lib.jvp(lambda y: x + y, (1.0,), (1.0,))[1],
        (1.0,), (1.0,))
""",
)


@pytest.mark.every
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("program", EDGES.values(), ids=EDGES)
def test_edge_cases_are_those_of_jax(program):
    assert_same(program(minijax), program(jax))
