"""Newton's method finds a planet; differentiating the result needs none of its steps.

At a root, `f(x, p) = 0`. So if `p` moves, `x` moves by `-(df/dp) / (df/dx)`, however the root was
found. The rule takes one line, and reverse mode never has to run the loop backwards. The picture
shows the orbit that fits the observed positions of a planet around its sun.
"""

import functools

import jax
import jax.numpy as jnp
from jax import lax


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def root(f, guess, p):
    """A number x near `guess` with f(x, p) = 0."""

    def better(state):
        x, _ = state
        value, slope = jax.jvp(lambda x: f(x, p), (x,), (1.0,))
        return x - value / slope, jnp.abs(value)

    return lax.while_loop(lambda s: s[1] > 1e-12, better, (guess, jnp.inf))[0]


@root.defjvp
def root_jvp(f, primals, tangents):
    guess, p = primals
    x = root(f, guess, p)
    _, by_p = jax.jvp(lambda p: f(x, p), (p,), (tangents[1],))
    _, by_x = jax.jvp(lambda x: f(x, p), (x,), (1.0,))
    return x, -by_p / by_x


def kepler(anomaly, orbit):
    """Zero where a planet is, at a time, on an orbit that is more or less round."""
    return anomaly - orbit["round"] * jnp.sin(anomaly) - orbit["time"]


def places(e, times):
    """The planet in its plane at several times, the sun at the origin."""
    angles = jax.vmap(lambda t: root(kepler, t, {"round": e, "time": t}))(times)
    return jnp.stack([jnp.cos(angles) - e, jnp.sqrt(1 - e * e) * jnp.sin(angles)], 1)


def start():
    """A guess at an orbit, and where the planet was really seen, at 24 times."""
    times = jnp.linspace(0.0, 6.0, 24)
    return 0.1, (times, places(0.6, times))


def step(e, data):
    """A rounder orbit, or a longer one, whichever fits better: a derivative through the roots."""
    value, slope = jax.value_and_grad(lambda e: jnp.sum((places(e, data[0]) - data[1]) ** 2))(e)
    return jnp.clip(e - 0.01 * slope, 0.0, 0.9), value


def picture(points):
    """The orbit from above."""
    rows = [[" "] * 50 for _ in range(17)]
    rows[8][32] = "@"
    for x, y in points:
        rows[8 - int(jnp.round(7 * y))][32 + int(jnp.round(14 * x))] = "o"
    return "\n".join("".join(row).rstrip() for row in rows)


def main():
    e, data = start()
    fast = jax.jit(step)
    for _ in range(20):
        e, value = fast(e, data)
    print(f"eccentricity {e:.6f}, distance {value:.2e}")
    print(picture(places(e, data[0])))


if __name__ == "__main__":
    main()
