"""A slot for a program of your own. What is here is the smallest one: a line through twenty points.

python capstones/own.py --backend minijax|jax|mine

Replace `make`, and train what you like. Write it with the names of JAX: `jax` is an argument, so that
the same program runs on your package and on JAX, and at the end you see them side by side.
"""

from types import ModuleType
from typing import Any

import numpy as np
from training import Task, Tree, main


def make(jax: ModuleType) -> Task:
    """What is learned: where it begins, one step, the data of a step, and what a state can do."""
    x = np.linspace(-1.0, 1.0, 20)
    y = 3.0 * x + 0.5

    def loss(params: Tree, x: Any, y: Any) -> Any:
        return jax.numpy.mean((params["slope"] * x + params["start"] - y) ** 2)

    def step(params: Tree, x: Any, y: Any) -> tuple[Tree, Any]:
        value, grads = jax.value_and_grad(loss)(params, x, y)
        return jax.tree.map(lambda p, g: p - 0.5 * g, params, grads), value

    def show(params: Tree) -> str:
        return ", ".join(f"{name} {float(x):.4f}" for name, x in params.items())

    begin = {"slope": np.float64(0.0), "start": np.float64(0.0)}
    return Task(begin, step, lambda number: (x, y), 50, show)


if __name__ == "__main__":
    main(make, __doc__)
