"""Two designs of one system draw one picture: its left half on the stack, its right in a context.

Both are yours: waves around a stone that fell into water, lit from the left. Can you see a seam?
"""

import minijax
import numpy as np

from microjax import stackless


def drawn(design, across, down):
    jit, vmap, grad, sin = design.jit, design.vmap, design.grad, design.lax.sin
    light = jit(vmap(grad(lambda x, y: sin(x * x + y * y)), (0, None)))
    for y in down:
        shades = np.clip(np.asarray(light(across, y)) + 5.0, 0.0, 9.9)
        yield "".join(" .:-=+*#%@"[int(shade)] for shade in shades)


across, down = np.linspace(-3.2, 3.2, 72), np.linspace(-1.9, 1.9, 23)
halves = drawn(minijax, across[:36], down), drawn(stackless, across[36:], down)
for left, right in zip(*halves, strict=True):
    print(left + right)
