"""A Kalman filter follows a ball that it sees badly, and learns how badly it sees.

The filter is one `scan`. Its likelihood has a gradient, and following that gradient finds the noise
of the measurements. In the picture, time goes from left to right: rings (`o`) are measurements, and
stars (`*`) are where the filter believes the ball to be.
"""

import jax
import jax.numpy as jnp
from jax import lax, random

DT = 0.1
MOVE = jnp.array([[1.0, DT], [0.0, 1.0]])  # position and velocity after a step
PUSH = jnp.array([-0.5 * 9.81 * DT**2, -9.81 * DT])


def start():
    """A throw, seen with noise; and a guess at the noise, as a logarithm."""
    times = DT * jnp.arange(30)
    heights = 15.0 * times - 0.5 * 9.81 * times**2
    return jnp.log(0.2), heights + 1.5 * random.normal(random.key(3), heights.shape)


def follow(log_noise, seen):
    """The expected heights before each look, and the logarithm of the likelihood."""
    variance = jnp.exp(2 * log_noise)

    def look(state, height):
        mean, spread = state
        total = spread[0, 0] + variance
        miss = height - mean[0]
        gain = spread[:, 0] / total
        mean = mean + gain * miss
        spread = spread - jnp.outer(gain, spread[0])
        likelihood = -0.5 * (miss**2 / total + jnp.log(2 * jnp.pi * total))
        ahead = MOVE @ mean + PUSH, MOVE @ spread @ MOVE.T + 1e-4 * jnp.eye(2)
        return ahead, (mean[0], likelihood)

    _, (heights, parts) = lax.scan(look, (jnp.array([0.0, 10.0]), 25.0 * jnp.eye(2)), seen)
    return heights, jnp.sum(parts)


def step(log_noise, seen):
    """One step towards the noise that makes the measurements likeliest."""
    value, slope = jax.value_and_grad(lambda s: follow(s, seen)[1])(log_noise)
    return log_noise + 0.01 * slope, value


def picture(heights, seen):
    """What was seen (o) and what the filter believes (*), from left to right in time."""
    rows = [[" "] * 60 for _ in range(16)]
    for i, (believed, look) in enumerate(zip(heights, seen, strict=True)):
        for mark, height in (("o", look), ("*", believed)):
            row = 13 - int(jnp.round(height))
            if 0 <= row < 16:
                rows[row][2 * i] = mark
    return "\n".join("".join(row).rstrip() for row in rows)


def main():
    log_noise, seen = start()
    fast = jax.jit(step)
    for _ in range(100):
        log_noise, value = fast(log_noise, seen)
    print(f"noise {jnp.exp(log_noise):.3f}, log-likelihood {value:.3f}")
    print(picture(follow(log_noise, seen)[0], seen))


if __name__ == "__main__":
    main()
