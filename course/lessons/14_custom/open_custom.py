"""Bounds that are proved.

Write `bounds(f)`: it takes a pair (low, high) of arrays for each argument of `f`, and returns such
a pair for its result, or a tuple of pairs. If the arguments of `f` are within the pairs that come
in, its results are within the pairs that go out. Write rules for neg, exp, tanh, add, sub, mul,
max, reduce_sum, transpose, broadcast_in_dim and dot_general, and inline `jit` calls; any other
operation raises `NotImplementedError`. For a program that reads each value once and has no
dot_general, no narrower pair would be right.
"""

from minijax import lax, make_jaxpr
from minijax.custom_interpreters import called_program, is_variable, read, write
