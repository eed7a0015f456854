"""Ten thousand steps, differentiated backwards: what XLA reserves, and what your checkpoints save."""

import numpy as np

import minijax.numpy as jnp
from minijax import checkpoint, grad, jit, lax, xla


def repeat(f, n):
    return lambda x: lax.scan(lambda x, _: (f(x), None), x, None, length=n)[0]


def megabytes(f):
    text = jit(grad(lambda x: jnp.sum(f(x)))).lower(np.ones(1000)).as_text()
    program = xla.compile_text(text, (xla.current_device(),), []).loaded
    return program.get_compiled_memory_stats().temp_size_in_bytes / 1e6


part = checkpoint(repeat(jnp.sin, 100))
print(megabytes(repeat(jnp.sin, 10_000)), "MB; in parts", megabytes(repeat(part, 100)), "MB")
