"""Where a NaN is born.

Write `find_nans(f)`: a function that takes what `f` takes and returns what `f` returns, for an `f`
that takes any number of arrays or numbers and returns one. But if an operation on something that depends
on the arguments makes a NaN out of operands that have none, it raises a `FloatingPointError` that
names the operation. A NaN that comes in from outside is passed on like any number. It must work in
`counted`, around `counted`, and inside itself.
"""

import minijax.numpy as jnp
from minijax.core import Trace, Tracer, full_raise, get_aval, new_main
