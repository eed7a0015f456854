"""Two designs of one system, both yours: on a stack, and in a context. They agree."""

import minijax
import numpy as np

from microjax import stackless

xs = np.array([0.5, 1.0, 1.5])
for design in (minijax, stackless):
    jit, vmap, grad, lax = design.jit, design.vmap, design.grad, design.lax
    bend = jit(vmap(grad(grad(jit(lambda x, sin=lax.sin: sin(x) * x)))))
    print(design.__name__, bend(xs))
