"""Two hundred operations on thousands of points, compiled into one call: the Mandelbrot set."""

import numpy as np

from minijax import jit


@jit
def stays(x, y):
    a, b = x, y
    for _ in range(30):
        a, b = a * a - b * b + x, 2.0 * a * b + y
    return a * a + b * b < 4.0


for row in stays(np.linspace(-2.1, 0.6, 72), np.linspace(-1.1, 1.1, 25)[:, None]):
    print("".join(".#"[int(point)] for point in row))
