"""A tour through minijax, to be run as a script where JAX is missing, or where it must stay out.

`python tour.py hidden` makes every import of jax fail; `seen` does not.
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


def step():
    """One of training, compiled, of parameters in a container, and for a batch of them."""

    def loss(params):
        return jnp.sum(jnp.tanh(X @ params["w"]) ** 2)

    gradients = minijax.jit(minijax.vmap(minijax.value_and_grad(loss)))
    print(gradients({"w": np.ones((5, 3))}), minijax.make_jaxpr(gradients)({"w": np.ones((5, 3))}))


if __name__ == "__main__":
    every_name()
    for text in expressions():
        value_of(text, minijax)
    step()
    print("jax" in sys.modules)
