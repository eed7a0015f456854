"""Where a NaN is born.

Write `find_nans(f)`, for an `f` that takes any number of arrays or numbers and returns one. The new
function does what `f` does, and watches every operation on something that depends on the arguments.
If such an operation produces a NaN although no operand has one, the function raises a
`FloatingPointError` that names the operation. A NaN that comes in from outside is passed on like
any number. `find_nans` must work in `counted`, around `counted`, and inside itself.
"""

import minijax.numpy as jnp
from minijax.core import Trace, Tracer, full_raise, get_aval, new_main
