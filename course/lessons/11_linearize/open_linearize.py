"""One residual is enough.

Linearize a thousand sines in a row, and the program keeps a thousand residuals, although the
derivative of an elementwise function is only one number per element. Write `fewer(program)`, which
takes the program of a derivative, as `linearize_flat` returns it, and returns one that computes the
same results with fewer constants. Inputs and outputs keep their shapes and dtypes, and the
constants never take more bytes than before. An elementwise function of one array, however long,
keeps a single constant; elementwise parts before and after another operation are shortened too.
"""

import minijax.numpy as jnp
from minijax.linearize import linearize_flat
