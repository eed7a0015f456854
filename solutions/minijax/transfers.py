"""Where arrays are, and what a function would return: the names of `jax` around computations.

`device_put` and `device_get` move arrays, `eval_shape` traces a function and computes nothing.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from minijax import dtypes, xla
from minijax.array import Array, ArrayImpl
from minijax.core import Tracer, Value, get_aval
from minijax.jaxpr import raise_to_shaped
from minijax.numpy.basic import positive
from minijax.placement import array_of, to_buffer
from minijax.tracing import trace_tree, type_of
from minijax.transpose import jacrev
from minijax.tree import tree_leaves, tree_map, tree_unflatten

__all__ = [
    "ShapeDtypeStruct",
    "block_until_ready",
    "default_backend",
    "device_count",
    "device_get",
    "device_put",
    "eval_shape",
    "jacobian",
    "local_device_count",
    "local_devices",
    "process_index",
]

jacobian = jacrev


# What a function would return ---------------------------------------------------------------------


class ShapeDtypeStruct:
    """The shape and the dtype of an array that does not have to exist.

    >>> ShapeDtypeStruct((2, 3), "float32")
    ShapeDtypeStruct(shape=(2, 3), dtype=float32)
    """

    def __init__(self, shape: Any, dtype: Any, *, weak_type: bool = False) -> None:
        if dtype is None:
            raise ValueError("A ShapeDtypeStruct needs a dtype.")
        self.shape, self.dtype = tuple(shape), dtypes.canonical(dtype)
        self.weak_type = weak_type

    @classmethod
    def like(cls, x: Value) -> "ShapeDtypeStruct":
        """The shape and the dtype of an array.

        >>> ShapeDtypeStruct.like(np.ones(3))
        ShapeDtypeStruct(shape=(3,), dtype=float64)
        """
        aval = type_of(x)
        return cls(aval.shape, aval.dtype, weak_type=aval.weak_type)

    def update(self, **changes: Any) -> "ShapeDtypeStruct":
        """The same with another `shape`, `dtype` or `weak_type`."""
        parts = {"shape": self.shape, "dtype": self.dtype, "weak_type": self.weak_type}
        return ShapeDtypeStruct(**{**parts, **changes})

    ndim = property(lambda self: len(self.shape), doc="How many axes it has.")
    size = property(lambda self: int(np.prod(self.shape, dtype=int)), doc="How many elements.")

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def parts(self) -> tuple[Any, ...]:
        """What two equal ones share."""
        return self.shape, self.dtype, self.weak_type

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShapeDtypeStruct) and self.parts() == other.parts()

    def __hash__(self) -> int:
        return hash(self.parts())

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak_type else ""
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype.name}{weak})"


def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The shapes and dtypes of what `fun` would return, in its structure; nothing is computed.

    The arguments may be arrays, or anything else with a shape and a dtype.

    >>> eval_shape(lambda x: (x.T, x.sum()), ShapeDtypeStruct((2, 3), "float32"))
    (ShapeDtypeStruct(shape=(3, 2), dtype=float32), ShapeDtypeStruct(shape=(), dtype=float32))
    """
    closed, out_tree = trace_tree(lambda args, kwargs: fun(*args, **kwargs), (args, kwargs))
    found = [ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in closed.out_avals]
    return tree_unflatten(out_tree, found)


# Where arrays are ---------------------------------------------------------------------------------


def device_put(x: Any, device: Any = None) -> Any:
    """`x`, which may be a container, as arrays on a device; committed to it if one is named."""
    if device is not None and not isinstance(device, xla.Device):
        raise NotImplementedError(
            f"device_put takes one of devices(), and no sharding: {device!r}."
        )
    return tree_map(lambda leaf: put(leaf, device), x)


def put(x: Value, device: Any) -> Value:
    """One array on a device; a tracer stays where it is."""
    if isinstance(x, Tracer):
        return x
    array = positive(x)
    on = xla.alone(device or xla.current_device())
    aval = raise_to_shaped(get_aval(array))
    if device is None and array.committed:
        return array
    return array_of(aval, to_buffer(aval, array, on), on, committed=device is not None)


def device_get(x: Any) -> Any:
    """`x` with arrays of NumPy instead of its arrays."""
    return tree_map(lambda leaf: np.asarray(leaf) if isinstance(leaf, Array) else leaf, x)


def block_until_ready(x: Any) -> Any:
    """`x`, once all of its arrays have been computed."""
    for leaf in tree_leaves(x):
        if isinstance(leaf, ArrayImpl):
            leaf.block_until_ready()
    return x


def device_count(backend: str | None = None) -> int:
    """How many devices there are."""
    return len(xla.devices(backend))


def local_devices(process_index: int | None = None, backend: str | None = None) -> list[Any]:
    """The devices of this process: all of them."""
    return xla.devices(backend)


def local_device_count(backend: str | None = None) -> int:
    """How many devices this process has: all of them."""
    return device_count(backend)


def default_backend() -> str:
    """The name of the platform that computes: "cpu"."""
    return xla.current_device().platform


def process_index(backend: str | None = None) -> int:
    """The number of this process, which is the only one: 0."""
    return 0
