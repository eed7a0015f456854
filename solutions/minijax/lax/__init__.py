"""The public names of minijax.lax.

Written by `./jaxprentice sync` from the lessons' `exports`: change those, not this file.
"""

from minijax.lax.basic import (
    add,
    broadcast_in_dim,
    convert_element_type,
    cos,
    div,
    dot_general,
    exp,
    gt,
    log,
    lt,
    mul,
    neg,
    reduce_sum,
    sin,
    sub,
    transpose,
)

__all__ = [
    "add",
    "broadcast_in_dim",
    "convert_element_type",
    "cos",
    "div",
    "dot_general",
    "exp",
    "gt",
    "log",
    "lt",
    "mul",
    "neg",
    "reduce_sum",
    "sin",
    "sub",
    "transpose",
]
