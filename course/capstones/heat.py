"""Capstone c: looks into a rod from outside. From few temperatures it finds where heat cannot pass.

    python capstones/heat.py --backend minijax|jax|mine

A rod of 31 pieces is cold, and its left end is put on a hot plate. Between two pieces heat flows
with a conductance that is not known; five thermometers are read four times. These 20 numbers depend
on 30 unknown ones. Each step of the fit asks how: for a Jacobian with fewer rows than columns.
"""

from types import ModuleType
from typing import Any

import numpy as np
from training import Task, Tree, main

PIECES, TIMES, STEPS = 31, 800, 120
WHERE = np.array([3, 9, 15, 21, 27])  # the thermometers
WHEN = np.array([199, 399, 599, 799])
DAMPING, PART = 1e-4, 0.1  # of a step: how much noise is expected, and how far it goes

# Logarithms of the conductances. In the middle of the rod something insulates.
TRUTH = np.where(np.abs(np.arange(PIECES - 1) - 18) < 3, -1.5, 0.0)


def temperatures(jax: ModuleType, logs: Any) -> Any:
    """What the thermometers read, `[20]`, if these are the logarithms of the conductances."""
    jnp, conductance = jax.numpy, jax.numpy.exp(logs)

    def flow(rod: Any, _: Any) -> tuple[Any, Any]:
        through = 0.2 * conductance * (rod[:-1] - rod[1:])  # from each piece to the next
        change = jnp.pad(through, (1, 0)) - jnp.pad(through, (0, 1))
        rod = jnp.where(np.arange(PIECES) == 0, 1.0, rod + change)  # the left end stays hot
        return rod, rod[WHERE]

    cold = np.where(np.arange(PIECES) == 0, 1.0, 0.0)
    _, readings = jax.lax.scan(flow, cold, None, length=TIMES)
    return readings[WHEN].reshape(-1)


def solved(jax: ModuleType, matrix: Any, right: Any) -> Any:
    """The solution of a symmetric positive system, by conjugate gradients."""

    def improve(_: int, state: Tree) -> Tree:
        x, rest, towards, size = state
        image = matrix @ towards
        far = size / (towards @ image + 1e-300)
        rest = rest - far * image
        new = rest @ rest
        return x + far * towards, rest, rest + new / (size + 1e-300) * towards, new

    start = (0.0 * right, right, right, right @ right)
    return jax.lax.fori_loop(0, 2 * len(WHERE) * len(WHEN), improve, start)[0]


def make(jax: ModuleType) -> Task:
    """The task: to find the conductances from what the thermometers read."""
    measured = np.asarray(temperatures(jax, TRUTH))

    def step(logs: Any) -> tuple[Any, Any]:
        missing = measured - temperatures(jax, logs)
        jacobian = jax.jacrev(lambda logs: temperatures(jax, logs))(logs)
        noise = DAMPING * np.eye(len(measured))
        weights = solved(jax, jacobian @ jacobian.T + noise, missing)
        return logs + PART * (jacobian.T @ weights), jax.numpy.sum(missing**2)

    return Task(np.zeros(PIECES - 1), step, lambda number: (), STEPS, picture, pictures=rods)


def picture(logs: Any) -> str:
    """The conductances as bars, above those of the rod that was measured."""

    def bars(values: Any) -> str:
        levels = np.clip(np.round(np.exp(values) * 6), 0, 9)
        return "".join(str(int(level)) for level in levels)

    return f"\n  found    {bars(np.asarray(logs))}\n  in truth {bars(TRUTH)}"


def rods(logs: Any) -> list[tuple[str, Any]]:
    """Both rods as a row of shades: the darker a piece, the less heat passes."""

    def row(values: Any) -> list[list[float]]:
        return [np.clip(1.25 - np.exp(values), 0.0, 1.0).round(2).tolist()]

    return [("found from outside", row(np.asarray(logs))), ("in truth", row(TRUTH))]


if __name__ == "__main__":
    main(make, __doc__.partition("\n")[0])
