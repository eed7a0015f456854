"""A `cond`, and the same for a batch of predicates."""

import numpy as np
from minijax import lax, make_jaxpr, vmap
from minijax import numpy as jnp


def by_cond(x):
    return lax.cond(x > 0.0, jnp.sin, lambda x: x * 2.0, x)


programs = {
    "by_cond": make_jaxpr(by_cond)(1.0),
    "vmap of by_cond": make_jaxpr(vmap(by_cond))(np.array([1.0, -1.0])),
}
