"""Every equation and its lines of StableHLO."""

import numpy as np
from minijax import make_jaxpr
from minijax import numpy as jnp


def loss(w, x):
    return jnp.sum(jnp.sin(w * x) + 1.0)


programs = {"loss": make_jaxpr(loss)(2.0, np.ones(3))}
