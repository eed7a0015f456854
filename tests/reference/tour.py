"""A tour through minijax, to be run as a script where JAX is missing, or where it must stay out.

`python tests/tour.py hidden` makes every import of jax fail; `seen` does not.
"""

# ruff: noqa: E402 (what hides jax comes before the imports)

import sys
from types import ModuleType


class Hidden:
    """A finder of modules that finds no jax."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "jax":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


if sys.argv[1:] == ["hidden"]:
    sys.meta_path.insert(0, Hidden())

import minijax
import minijax.numpy as jnp
import numpy as np
from expressions import X, expressions, value_of


def every_name(module=minijax):
    for name in getattr(module, "__all__", ()):
        value = getattr(module, name)
        if isinstance(value, ModuleType):
            every_name(value)


def every_expression():
    for text in expressions():
        value_of(text, minijax)


def every_transformation():
    def f(x):
        return jnp.sum(jnp.tanh(x @ x.T) ** 2)

    minijax.jvp(f, (X,), (X,))
    minijax.jvp(minijax.grad(minijax.jit(f)), (X,), (X,))
    minijax.vmap(minijax.value_and_grad(minijax.jit(f)))(np.stack([X, X]))
    minijax.linearize(f, X)[1](X)
    minijax.linear_transpose(lambda x: x @ X, np.ones(2))(np.ones(3))
    jacobians = (minijax.jacfwd, minijax.jacrev, minijax.hessian)
    assert [j(f)(X).ndim for j in jacobians] == [2, 2, 4]
    assert "jit" in str(minijax.make_jaxpr(minijax.jit(minijax.vjp(f, X)[1]))(1.0))
    assert "stablehlo" in minijax.jit(f).lower(X).as_text()
    print(minijax.jit(f)(X), minijax.jit(f))


def custom_rules():
    f = minijax.custom_jvp(lambda x: x * 2.0)
    f.defjvp(lambda primals, tangents: (f(*primals), 3.0 * tangents[0]))
    g = minijax.custom_vjp(lambda x: x * 2.0)
    g.defvjp(lambda x: (g(x), None), lambda _, ct: (5.0 * ct,))
    assert [float(minijax.jit(minijax.grad(h))(1.0)) for h in (f, g)] == [3.0, 5.0]


def several_devices():
    """Where there is pmap already."""
    if hasattr(minijax, "pmap"):
        n = len(minijax.devices())
        np.asarray(minijax.pmap(lambda x: x * 2.0)(np.ones((n, 3))))


def training():
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(32, 2))
    wanted = (inputs[:, 0] * inputs[:, 1] > 0).astype(float)
    params = [(rng.normal(size=size), np.zeros(size[1])) for size in ((2, 16), (16, 1))]

    def loss(params):
        (w1, b1), (w2, b2) = params
        return jnp.mean(((jnp.tanh(inputs @ w1 + b1) @ w2 + b2)[:, 0] - wanted) ** 2)

    @minijax.jit
    def step(params):
        value, gradient = minijax.value_and_grad(loss)(params)
        return value, minijax.tree.map(lambda p, g: p - 0.1 * g, params, gradient)

    first, params = step(params)
    for _ in range(100):
        last, params = step(params)
    assert float(last) < 0.5 * float(first)


if __name__ == "__main__":
    stages = (every_name, every_expression, every_transformation, custom_rules)
    for stage in (*stages, several_devices, training):
        stage()
    print("jax" in sys.modules)
