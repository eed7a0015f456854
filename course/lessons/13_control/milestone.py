"""Throw, miss, aim better: gradients of one loop inside another, compiled into one program."""

from minijax import grad, jit, lax


def step(ball, _):
    return (ball[0] + 0.1 * ball[1], ball[1] - 0.981), ball[0]


def heights(speed):
    return lax.scan(step, (0.0, speed), None, length=20)[1]


slope = grad(lambda speed: (heights(speed)[-1] - 3.0) ** 2)  # the last height should be 3
speed = jit(lambda v: lax.fori_loop(0, 50, lambda i, v: v - 0.1 * slope(v), v))(1.0)
print("thrown at", speed, "it ends at", heights(speed)[-1])
