"""Everything that touches jaxlib: making a client, compiling StableHLO text, moving arrays.

`minijax` needs jaxlib, never jax, and works the same where jax is installed. jaxlib tries to import
it on each `execute()` and for each shard that is read: so results come from handlers, and while
shards are read `jax_hidden` makes the import fail at once.

The one client is an attribute of `jaxlib.xla_client`. A notebook and a grader's worker import
minijax afresh again and again, and each client takes a dozen threads and 50 MB of address space.
"""

import functools
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")  # before jaxlib loads, or XLA talks

from jaxlib import _jax, xla_client
from jaxlib._jax import Device

from minijax.core import ShapedArray, Value
from minijax.dtypes import on_device
from minijax.tree import node_types

Devices = tuple[Device, ...]


def client() -> Any:
    """The one connection to XLA of this process; made when it is first used.

    The place for hardware other than the CPU: everything else follows from the client here.
    jaxlib's module keeps it: notebooks and the grader import minijax afresh again and again, and
    each client has threads and memory of its own.
    """
    if not hasattr(xla_client, "minijax_client"):
        xla_client.minijax_client = xla_client.make_cpu_client()
    return xla_client.minijax_client


# Choosing the device ------------------------------------------------------------------------------


def devices(backend: str | None = None) -> list[Device]:
    """All devices. Counterpart: `jax.devices`; the only backend here is "cpu".

    The CPU counts as one device. To have several of them, set the environment variable
    `XLA_FLAGS=--xla_force_host_platform_device_count=8` before Python starts, as for JAX.

    >>> devices("cpu")[0]
    CpuDevice(id=0)
    """
    if backend not in (None, client().platform):
        raise RuntimeError(f"Unknown backend {backend}. Available backends: {client().platform}.")
    return list(client().local_devices())


class DefaultDevice(threading.local):
    """The device that `default_device` has set in this thread."""

    device: Device | None = None


_default = DefaultDevice()


@functools.cache
def first_device() -> Device:
    return devices()[0]


def current_device() -> Device:
    """The device of what has no reason to be elsewhere."""
    return _default.device or first_device()


@functools.cache
def alone(device: Device) -> Devices:
    """A single device, as what an array is on: one object, to be compared by identity."""
    return (device,)


@contextmanager
def default_device(new_val: Device | str | None) -> Iterator[None]:
    """A `with` block inside which `jit` computes on this device. Counterpart: `jax.default_device`.

    The name of a backend stands for its first device, and None for the very first. Arrays that
    `pmap` has made stay where they are, and what is computed from them as well.
    """
    if not isinstance(new_val, Device | str | None):
        raise ValueError(f"default_device takes one of devices(), or 'cpu'; got {new_val!r}.")
    chosen = devices(new_val)[0] if isinstance(new_val, str) else new_val
    previous, _default.device = _default.device, chosen
    try:
        yield
    finally:
        _default.device = previous


# Arrays -------------------------------------------------------------------------------------------


@functools.cache
def sharding(devices: Devices, axis: int | None = None, rank: int = 0) -> Any:
    """An array that is whole on each device; or cut along `axis`, of `rank`, a piece for each."""
    tiles = [len(devices) if i == axis else 1 for i in range(rank)]
    hlo = xla_client.HloSharding
    spec = hlo.replicate() if axis is None else hlo.iota_tile(tiles)
    return _jax.GSPMDSharding(devices, spec)


# The alternatives may use NumPy's memory: a later write to the array would change a result.
COPY = xla_client.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL
# By position, which is quicker: committed, not forced to copy, how to treat memory, 64 bits.
AS_COPIES = (True, False, COPY, True)


def to_device(aval: Any, x: Value, devices: Devices, axis: int | None = None) -> Value:
    """A buffer with a copy of the host array `x`: whole on each device, or cut along `axis`."""
    if axis is None:
        return sender(aval, devices)(x)
    aval = device_type(aval)
    host = np.asarray(x, dtype=aval.dtype)
    pieces = [host.take([i], axis) for i in range(len(devices))]
    place = sharding(devices, axis, host.ndim)
    return xla_client.batched_device_put(aval, place, pieces, list(devices), *AS_COPIES)


def sender(aval: Any, devices: Devices) -> Callable[[Value], Value]:
    """What copies host arrays of a type to devices, where they are whole on each."""
    aval, place, to = device_type(aval), sharding(devices, None, len(aval.shape)), list(devices)
    put, dtype, number = xla_client.batched_device_put, aval.dtype, len(to)
    return lambda x: put(aval, place, [np.asarray(x, dtype)] * number, to, *AS_COPIES)


def device_type(aval: Any) -> Any:
    """The type that an array of type `aval` has on a device."""
    dtype = on_device(aval.dtype)
    return aval if dtype is aval.dtype else ShapedArray(aval.shape, dtype)


def to_host(buffer: Value, devices: Devices, axis: int | None = None) -> np.ndarray:
    """The array in a buffer that is whole on each device, or cut along `axis`."""
    if len(devices) == 1:
        return np.asarray(buffer)
    with jax_hidden():
        pieces = [np.asarray(piece) for piece in buffer._arrays]
    return pieces[0] if axis is None else np.concatenate(pieces, axis)


@contextmanager
def jax_hidden() -> Iterator[None]:
    """An import of jax fails at once: jaxlib tries it for each shard of an array, needlessly.

    `None` among the modules says that there is none. If jax is there already, it stays.
    """
    hidden = sys.modules.setdefault("jax", None) is None  # type: ignore[arg-type]
    try:
        yield
    finally:
        if hidden:
            del sys.modules["jax"]


# Programs -----------------------------------------------------------------------------------------


class Executable(NamedTuple):
    """A compiled program, the devices that it runs on, and what makes buffers of its results."""

    loaded: Any
    devices: Devices
    handlers: list[Any]


def compile_text(
    stablehlo: str,
    devices: Devices,
    out_avals: Sequence[Any],
    out_axes: Sequence[int | None] | None = None,
) -> Executable:
    """Compile a module, given as text, to run on all of these devices at once.

    Each runs the same program, as replica 0, 1, ... of it. `out_axes` says along which axis the
    results of all make up one array; None for a result that they share.
    """
    options = xla_client.CompileOptions()
    options.num_replicas = len(devices)
    ids = np.array([[device.id] for device in devices])
    options.device_assignment = xla_client.DeviceAssignment.create(ids)
    loaded = client().compile_and_load(stablehlo, xla_client.DeviceList(devices), options)
    places = zip(out_avals, out_axes or [None] * len(out_avals), strict=True)
    handlers = [result_handler(a, sharding(devices, axis, len(a.shape))) for a, axis in places]
    return Executable(loaded, devices, handlers)


def run(executable: Executable, buffers: Sequence[Any]) -> list[Any]:
    """Run a compiled program on buffers; returns buffers."""
    return executable.loaded.execute_sharded(list(buffers)).consume_with_handlers(
        executable.handlers
    )


def runner(
    executable: Executable, captured: Sequence[Any], buffers_of: Any, makers: Any, finish: Any
) -> Callable[[Sequence[Any]], Any]:
    """`run` for one program, in a single step: a call of it takes little longer than this.

    `buffers_of` makes the buffers of the arguments, after those that are `captured`; `makers` make
    what the caller wants of the buffers of the results, and `finish` what it wants of all of them.
    """
    execute = executable.loaded.execute_sharded
    handlers = [h.wrap(make) for h, make in zip(executable.handlers, makers, strict=True)]
    return lambda xs: finish(execute([*captured, *buffers_of(xs)]).consume_with_handlers(handlers))


def result_handler(aval: Any, sharding: Any) -> Any:
    """What makes an array of a result; jaxlib 0.11 dropped the last argument."""
    aval = device_type(aval)
    try:
        return xla_client.array_result_handler(aval, sharding, True, True)
    except TypeError:
        return xla_client.array_result_handler(aval, sharding, True)


# Trees, in C++: the same as `minijax.tree`, for where the time of a call matters ------------------

registry = _jax.pytree.PyTreeRegistry()  # which knows tuples, lists, dicts and None
known = [tuple, list, dict, type(None)]


def flatten(tree: Any) -> tuple[list[Any], Any]:
    """The leaves, and jaxlib's definition of the structure, which has a method `unflatten`."""
    if len(known) < len(node_types):
        register_new_containers()
    return registry.flatten(tree)


def structure(tree: Any) -> Any:
    return flatten(tree)[1]


# The names of a dataclass's fields: its children, and the data beside them.
fields_by_class: dict[type, tuple[tuple[str, ...], tuple[str, ...]]] = {}


def register_new_containers() -> None:
    """Tell jaxlib of the containers that were registered since it was last told."""
    for cls in [*node_types][len(known) :]:
        if cls in fields_by_class:  # a dataclass, which jaxlib takes apart without Python
            registry.register_dataclass_node(cls, *fields_by_class[cls])
        else:
            registry.register_node(cls, *node_types[cls])
        known.append(cls)
