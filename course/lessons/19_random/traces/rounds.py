"""Four rounds with the distance 1, and no key.

watch = ["minijax.random_numbers.rotate_left"]
hide = ["convert_element_type", "shift_left", "shift_right_logical", "or"]
look = "One bit is set in the first word. Watch it enter the second word, and vanish from it again."
"""

from minijax import lax
from minijax import numpy as jnp
from minijax.random_numbers import rotate_left

x0, x1 = jnp.uint32(1), jnp.uint32(0)
for _ in range(4):
    x0 = lax.add(x0, x1)
    x1 = lax.bitwise_xor(x0, rotate_left(x1, 1))
print(f"{x0:b} {x1:b}")
