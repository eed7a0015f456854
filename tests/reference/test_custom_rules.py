"""custom_jvp and custom_vjp against JAX, with rules that are wrong on purpose, to be seen."""

import jax
import minijax
import numpy as np
import pytest
from expressions import programs_of
from oracle import TRANSFORMATIONS, assert_same

X, Y = np.array([1.0, 2.0, 4.0]), np.array([3.0, -5.0, 7.0])
MATRIX = np.array([[1.0, 2.0, -1.0], [0.5, 3.0, 2.0]])


def custom_sin(lib):
    """The sine with a derivative of 10 cos(x), given for forward mode."""
    f = lib.custom_jvp(lambda x: lib.numpy.sin(x))

    @f.defjvp
    def f_jvp(primals, tangents):
        return f(*primals), 10.0 * lib.numpy.cos(primals[0]) * tangents[0]

    return f


def custom_product(lib):
    """A product of two, with derivatives 10 y and 100 x, given for reverse mode."""
    f = lib.custom_vjp(lambda x, y: x * y)
    f.defvjp(
        lambda x, y: (f(x, y), {"x": x, "y": y}),
        lambda res, ct: (10.0 * res["y"] * ct, 100.0 * res["x"] * ct),
    )
    return f


def of_containers(lib):
    """A dict and a number to two results, of which one is an integer."""
    f = lib.custom_vjp(lambda d, s: {"p": d["a"] * d["b"] * s, "n": 3})
    f.defvjp(lambda d, s: (f(d, s), d), lambda d, ct: ({"a": ct["p"], "b": 2.0 * ct["p"]}, None))
    return f


def with_function(lib):
    """An argument that is a function."""
    f = lib.custom_jvp(lambda g, x, n: g(x) * n, nondiff_argnums=(0, 2))
    f.defjvp(lambda g, n, primals, tangents: (g(primals[0]) * n, 7.0 * n * tangents[0]))
    return f


def with_function_vjp(lib):
    f = lib.custom_vjp(lambda g, x: g(x), nondiff_argnums=(0,))
    f.defvjp(lambda g, x: (g(x), x), lambda g, x, ct: (g(ct) * x,))
    return f


def branching(lib):
    """Python's `if` on values, which works wherever they are known."""
    f = lib.custom_jvp(lambda x: x * 2.0 if x > 0 else x)
    f.defjvps(lambda t, y, x: t * y if x > 0 else t * 5.0)
    return f


def one_by_one(lib):
    f = lib.custom_jvp(lambda x, y, z: x * y * z)
    f.defjvps(lambda t, out, x, y, z: t * out, None, lambda t, out, x, y, z: 3.0 * t)
    return f


def with_default(lib):
    f = lib.custom_jvp(lambda x, k=2.0: x * k)
    f.defjvp(lambda primals, tangents: (primals[0] * primals[1], tangents[0] * 50.0))
    return f


# Besides what `oracle` does to every function.
JVP = programs_of(
    globals(),
    """
    grad of grad of jit: lib.grad(lib.grad(lib.jit(f)))(2.0)
    jvp of jit of vmap: lib.jvp(lib.jit(lib.vmap(f)), (MATRIX,), (MATRIX,))
    grad of vmap of jit: lib.grad(lambda m: lib.vmap(lib.jit(f), 1, 1)(m).sum())(MATRIX)
    grad of vmap of vmap: lib.grad(lambda m: lib.vmap(lib.vmap(f))(m).sum())(MATRIX)
    jacfwd: lib.jacfwd(f)(X)
    jacrev: lib.jacrev(f)(X)
    hessian: lib.hessian(lambda x: f(x).sum())(X)
    used within: lib.grad(lambda x: f(f(x) * x))(2.0)
""",
    "f",
)
VJP = programs_of(
    globals(),
    """
    evaluation: f(X, Y)
    jit: lib.jit(f)(X, Y)
    vmap: lib.vmap(f)(X, Y)
    grad: lib.grad(f, (0, 1))(3.0, 4.0)
    grad of one: lib.grad(f, 1)(3.0, 4.0)
    vjp: lib.vjp(f, X, Y)[1](MATRIX[0])
    jit of grad: lib.jit(lib.grad(f, (0, 1)))(3.0, 4.0)
    grad of jit: lib.grad(lib.jit(f), (0, 1))(3.0, 4.0)
    vmap of grad: lib.vmap(lib.grad(f, (0, 1)), (0, None))(X, 4.0)
    vmap of grad of jit: lib.vmap(lib.grad(lib.jit(f)))(X, Y)
    grad of vmap: lib.grad(lambda x, y: lib.vmap(f, (0, None))(x, y).sum(), (0, 1))(X, 4.0)
    grad of jit of vmap: lib.grad(lambda x, y: lib.jit(lib.vmap(f, (None, 0)))(x, y).sum(),
        (0, 1))(4.0, X)
    grad of vmap of jit, axis 1: lib.grad(lambda x, y: lib.vmap(lib.jit(f), (1, None))(x, y).sum(),
        (0, 1))(MATRIX, X[:2])
    grad of grad: lib.grad(lib.grad(lambda x: f(x, x * x)))(3.0)
    grad of grad of jit: lib.grad(lib.grad(lib.jit(lambda x: f(x, x))))(3.0)
    jacrev: lib.jacrev(f)(X, Y)
""",
    "f",
)
OTHERS = programs_of(
    globals(),
    """
    containers: lib.grad(lambda d: of_containers(lib)(d, 2.0)["p"])({"a": 2.0, "b": 3.0})
    containers under jit: lib.grad(lib.jit(lambda d, s: of_containers(lib)(d, s)["p"]),
        (0, 1))({"a": 2.0, "b": 3.0}, 4.0)
    containers under vmap: lib.vmap(lib.grad(lambda a: of_containers(lib)({"a": a, "b": 2.0},
        2)["p"]))(X)
    a function: lib.grad(lambda x: with_function(lib)(jnp.sin, x, 3))(2.0)
    a function, jit: lib.jit(lib.grad(lambda x: with_function(lib)(jnp.sin, x, 3)))(2.0)
    a function, vjp: lib.grad(lambda x: with_function_vjp(lib)(lambda y: y * 3.0, x))(2.0)
    jvp of grad: lib.jvp(lib.grad(lambda x: with_function_vjp(lib)(jnp.sin, x)), (2.0,), (1.0,))
    jvp of jit of grad of jit: lib.jvp(lib.jit(lib.grad(lib.jit(lambda x:
        with_function_vjp(lib)(jnp.sin, x)))), (2.0,), (1.0,))
    if under grad: [lib.grad(branching(lib))(x) for x in (3.0, -3.0)]
    one rule an argument: lib.grad(one_by_one(lib), (0, 1, 2))(2.0, 3.0, 4.0)
    a keyword: lib.grad(lambda x: with_default(lib)(x, k=3.0))(2.0)
    a default: lib.grad(with_default(lib))(2.0)
    closed over, jit: lib.jit(lambda c, x: closing_over(lib, c)(x)
        + lib.grad(closing_over(lib, c))(x))(3.0, 2.0)
    closed over, vmap: lib.vmap(lambda c: lib.jvp(closing_over(lib, c), (2.0,), (1.0,)))(X)
    closed over and batched, jit: lib.vmap(lib.jit(lambda c, x: closing_over(lib, c)(x)),
        (0, None))(X, 2.0)
""",
)


def closing_over(lib, c):
    f = lib.custom_jvp(lambda x: c * x)
    f.defjvp(lambda primals, tangents: (c * primals[0], 5.0 * c * tangents[0]))
    return f


@pytest.mark.every
@pytest.mark.parametrize("program", (TRANSFORMATIONS | JVP).values(), ids=TRANSFORMATIONS | JVP)
def test_a_forward_rule_is_used_by_every_transformation_as_in_jax(program):
    assert_same(program(minijax, custom_sin(minijax)), program(jax, custom_sin(jax)))


@pytest.mark.every
@pytest.mark.parametrize("program", VJP.values(), ids=VJP)
def test_a_reverse_rule_is_used_by_every_transformation_as_in_jax(program):
    assert_same(program(minijax, custom_product(minijax)), program(jax, custom_product(jax)))


@pytest.mark.every
@pytest.mark.parametrize("program", OTHERS.values(), ids=OTHERS)
def test_arguments_and_results_can_be_what_they_can_be_in_jax(program):
    assert_same(program(minijax), program(jax))


@pytest.mark.parametrize("wrap", [lambda f: f, minijax.jit, minijax.vmap], ids=["", "jit", "vmap"])
def test_a_rule_says_so_when_it_misses_an_argument(wrap):
    x = X if wrap is minijax.vmap else 2.0
    with pytest.raises(minijax.errors.UnexpectedTracerError):
        minijax.jvp(lambda c: wrap(closing_over(minijax, c.sum()))(c), (x,), (x,))


def test_the_program_shows_what_the_function_computes():
    text = str(minijax.make_jaxpr(custom_sin(minijax))(2.0))
    assert "custom_jvp_call[" in text
    assert "call_jaxpr={ lambda ; c:f64[]. let d:f64[] = sin c in (d,) }" in text
