"""All derivatives in one run.

Write `taylor(f, x, order)`, the list of the coefficients `c[0]` to `c[order]` of the Taylor series
of `f` at `x`: `c[k]` is the derivative of order k, divided by the factorial of k. Nested
derivatives cost four times as much with each order. Yours run `f` once, and spend no more than
2 * (order + 1)**2 operations on each of its operations. Like `derivative`, `taylor` may be used
inside a function that is differentiated or expanded, and such a function inside `taylor`.
"""

from microjax.duals import derivative
from microjax.interpreters import Interpreter, Op, add, current_interpreter, mul, set_interpreter
