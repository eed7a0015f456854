"""`pmap` on four devices.

watch = ["minijax.xla.to_device", "minijax.xla.run"]
hide = ["iota", "lowering", "hlo_lowerings", "squeeze", "broadcast_in_dim"]
look = "The function is traced, and its program runs on four devices at once. Watch the array being split among them, and put together again."
"""

from minijax import lax, pmap
from minijax import numpy as jnp


def share(x):
    return x / lax.psum(x, "devices")


print(pmap(share, axis_name="devices")(jnp.arange(4.0)))
