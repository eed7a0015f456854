"""Containers that stand for an array, as operands of the public functions of `minijax.numpy`.

In JAX these functions are compiled. So a pytree is taken apart before them, is put together again
inside, and a method `__jax_array__` says which array it stands for. Other objects are refused.
"""

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

from minijax.tree import node_type


@functools.cache  # so that two names of a function stay one function
def with_containers(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, which takes such containers, too; anything but a function stays unchanged.

    It asks when the function has refused its operands: for arrays, nothing takes longer.
    """
    if not isinstance(function, FunctionType):
        return function

    @functools.wraps(function)
    def call(*args: Any, **kw: Any) -> Any:
        try:
            return function(*args, **kw)
        except TypeError:
            arrays = opened((args, kw))
            if arrays is None:
                raise
        return function(*arrays[0], **arrays[1])

    call.__module__ = __package__  # for pickle, which looks there for this one
    return call


def opened(operands: Any) -> Any:
    """Tuples, lists and dicts of operands with arrays for containers; None if none is there."""
    if isinstance(operands, tuple | list | dict):
        items = operands.items() if isinstance(operands, dict) else enumerate(operands)
        found = [(name, x, opened(x)) for name, x in items]
        if all(array is None for _, _, array in found):
            return None
        arrays = {name: x if array is None else array for name, x, array in found}
        return arrays if isinstance(operands, dict) else [*arrays.values()]
    stands_for = getattr(type(operands), "__jax_array__", None)
    return stands_for(operands) if stands_for and node_type(type(operands)) else None
