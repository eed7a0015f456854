"""A differential equation, solved by a loop, and its gradient by a second loop, backwards in time.

Reverse mode through the loop would keep every step. The adjoint method keeps only the end: it runs
the equation backwards and carries the gradient along. With it, a cannon learns to aim, shot by shot.
"""

import jax
import jax.numpy as jnp
from jax import lax

STEPS, TIME = 200, 2.0


def slope(state, drag):
    """How the ball's position and velocity change: it falls, and the air slows it down."""
    x, y, vx, vy = state
    speed = jnp.sqrt(vx**2 + vy**2)
    return jnp.stack([vx, vy, -drag * speed * vx, -9.81 - drag * speed * vy])


def runge_kutta(f, state, h):
    """One step of the classical method."""

    def ahead(by, slope):
        return jax.tree.map(lambda s, d: s + by * d, state, slope)

    a = f(state)
    b = f(ahead(h / 2, a))
    c = f(ahead(h / 2, b))
    d = f(ahead(h, c))
    return ahead(h / 6, jax.tree.map(lambda a, b, c, d: a + 2 * (b + c) + d, a, b, c, d))


@jax.custom_vjp
def fly(state, drag):
    """Where the ball is at the end."""
    h = TIME / STEPS
    return lax.fori_loop(0, STEPS, lambda _, s: runge_kutta(lambda s: slope(s, drag), s, h), state)


def fly_back(kept, cotangent):
    """The state, its cotangent and the drag's, together backwards through time."""

    def back(joint):
        value, pull_back = jax.vjp(slope, joint[0], kept[1])
        return value, *(-part for part in pull_back(joint[1]))

    joint, h = (kept[0], cotangent, jnp.zeros_like(kept[1])), -TIME / STEPS
    return lax.fori_loop(0, STEPS, lambda _, j: runge_kutta(back, j, h), joint)[1:]


fly.defvjp(lambda state, drag: ((end := fly(state, drag)), (end, drag)), fly_back)


def start():
    """The ball's velocity at the start, and where it should be after two seconds."""
    return jnp.array([10.0, 10.0]), jnp.array([15.0, 2.0])


def step(speed, target):
    """Aim better, by the gradient of the squared distance from the target."""

    def miss(speed):
        return jnp.sum((fly(jnp.append(jnp.zeros(2), speed), 0.05)[:2] - target) ** 2)

    value, by_speed = jax.value_and_grad(miss)(speed)
    return speed - 0.2 * by_speed, value


def main():
    speed, target = start()
    fast = jax.jit(step)
    for _ in range(12):
        speed, value = fast(speed, target)
        print(f"misses by {jnp.sqrt(value):8.5f} m")
    print("fire at", jnp.round(speed, 3), "m/s")


if __name__ == "__main__":
    main()
