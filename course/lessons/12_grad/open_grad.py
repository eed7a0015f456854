"""Which rule is wrong?

A gradient is wrong, and a transpose rule is to blame. Write `guilty(f, *xs)`, the set of names of
all primitives whose transpose rule is wrong in the derivative of `f` at `xs`, where `f` takes and
returns arrays of floats and calls no jitted function. Use only what holds for every transpose. You
may not use what you know about the primitives, or a rule that you trust. A rule may be missing,
raise an exception, return numbers or shapes that are wrong, or not return a list with one cotangent
per operand.
"""

import numpy as np

from minijax.core import UndefPrimal, transpose_rules
from minijax.linearize import linearize_flat
