"""All derivatives in one run.

Write `taylor(f, x, order)`. It returns the list of the coefficients `c[0]` to `c[order]` of the
Taylor series of `f` at `x`: `c[k]` is the derivative of order k, divided by the factorial of k.
Nested derivatives may cost four times as much with each order, but `taylor` runs `f` once, and
spends no more than 2 * (order + 1)**2 operations on each operation of `f`. Calls to `taylor` and
`derivative` may be nested in any way.
"""

from microjax.duals import derivative
from microjax.interpreters import Interpreter, Op, add, current_interpreter, mul, set_interpreter
