"""An optimizer.

Write `simplify(jaxpr)`. It returns a program with the same parameters and as few equations as
possible, which returns the same number for all inputs as long as nothing overflows. At the very
least, no equation adds 0.0, multiplies by 0.0 or by 1.0, has two numbers as operands, repeats an
operation on the same operands in either order, or is not needed. Constants that are not floats can
be anything, from dual numbers to variables of other programs. Of the 438 equations for the fourth
derivative of `mul(mul(x, x), mul(x, x))`, none is left.
"""

from microjax.interpreters import Op, add, mul
from microjax.staging import Equation, Jaxpr, build_jaxpr, dce_jaxpr, eval_jaxpr
