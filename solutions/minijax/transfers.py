"""Where arrays are, and what a function would return: the names of `jax` around computations.

`device_put` and `device_get` move arrays, `eval_shape` traces a function and computes nothing.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minijax import xla
from minijax.array import Array, ArrayImpl
from minijax.core import (
    Primitive,
    Tangent,
    Tracer,
    Value,
    Values,
    abstract_eval_rules,
    get_aval,
    hlo_lowerings,
    impl_rules,
    jvp_rules,
    transpose_rules,
    vmap_rules,
)
from minijax.gradients import jacrev
from minijax.jaxpr import raise_to_shaped
from minijax.jvp import apply_linear
from minijax.numpy.basic import positive
from minijax.placement import array_of, to_buffer
from minijax.shape_dtype import ShapeDtypeStruct, structs_of
from minijax.tracing import trace_tree
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


def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The shapes and dtypes of what `fun` would return, in its structure; nothing is computed.

    The arguments may be arrays, or anything else with a shape and a dtype.

    >>> eval_shape(lambda x: (x.T, x.sum()), ShapeDtypeStruct((2, 3), "float32"))
    (ShapeDtypeStruct(shape=(3, 2), dtype=float32), ShapeDtypeStruct(shape=(), dtype=float32))
    """
    closed, out_tree = trace_tree(lambda args, kwargs: fun(*args, **kwargs), (args, kwargs))
    return tree_unflatten(out_tree, structs_of(closed.out_avals))


# Where arrays are ---------------------------------------------------------------------------------


def device_put(x: Any, device: Any = None) -> Any:
    """`x`, which may be a container, as arrays on a device; committed to it if one is named."""
    if device is not None and not isinstance(device, xla.Device):
        raise NotImplementedError(
            f"device_put takes one of devices(), and no sharding: {device!r}."
        )
    return tree_map(lambda leaf: put(leaf, device), x)


def put(x: Value, device: Any) -> Value:
    """One array on a device; of a tracer, what is inside it."""
    if isinstance(x, Tracer):
        return moved(x, device, None)
    array = positive(x)
    on = xla.alone(device or xla.current_device())
    aval = raise_to_shaped(get_aval(array))
    if device is None and array.committed:
        return array
    return array_of(aval, to_buffer(aval, array, on), on, committed=device is not None)


device_put_p = Primitive("device_put", multiple_results=True)


def moved(x: Value, device: Any, source: Any) -> Value:
    """`x` on a device; `source` is where it was, and where its cotangent should go."""
    return device_put_p.bind(x, devices=(device,), srcs=(source,))[0]


def device_put_jvp(
    primals: Values, tangents: Sequence[Tangent], *, devices: Any, srcs: Any
) -> tuple[list[Any], list[Any]]:
    (x,), (x_dot,), (device,) = primals, tangents, devices
    at = x.device if isinstance(x, ArrayImpl) else None
    source = at if isinstance(at, xla.Device) else None
    return [put(x, device)], [apply_linear(lambda t: moved(t, device, source), x_dot)]


def device_put_transpose(cts: Values, x: Value, *, devices: Any, srcs: Any) -> list[Any]:
    return [apply_linear(lambda ct: moved(ct, srcs[0], devices[0]), cts[0])]


impl_rules[device_put_p] = lambda x, *, devices, srcs: [put(x, devices[0])]
abstract_eval_rules[device_put_p] = lambda aval, **params: [raise_to_shaped(aval)]
jvp_rules[device_put_p] = device_put_jvp
transpose_rules[device_put_p] = device_put_transpose
vmap_rules[device_put_p] = lambda axis_size, vals, dims, **params: (
    device_put_p.bind(*vals, **params),
    dims,
)
hlo_lowerings[device_put_p] = lambda emitter, avals, out_avals, args, **params: list(args)


def device_get(x: Any) -> Any:
    """`x` with NumPy arrays instead of its arrays."""
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
