"""Arrays on devices, and the kinds of arrays that a compiled program can be called with.

Lesson jit gives these as they are. `Array` is what a compiled program returns; its values stay on
the device until somebody asks for them.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minijax import xla
from minijax.core import ArrayOperators, ShapedArray, aval_makers, get_aval
from minijax.dtypes import canonical, float0
from minijax.jaxpr import raise_to_shaped
from minijax.tree import tree_map


class Array(ArrayOperators):
    """An array on a device. It is copied to NumPy when somebody asks, and not before.

    If it is on several devices, all of it is on each. It is `committed` where the program has said
    which devices these are; any other array goes where it is needed.
    """

    def __init__(
        self, aval: ShapedArray, buffer: Any, on: xla.Devices, committed: bool = False
    ) -> None:
        self.kind = kind_of(aval, on, committed)
        self.buffer = buffer

    aval = property(lambda self: self.kind.aval)
    on = property(lambda self: self.kind.on)
    committed = property(lambda self: self.kind.committed)
    shape = property(lambda self: self.aval.shape)
    dtype = property(lambda self: self.aval.dtype)
    weak_type = property(lambda self: self.aval.weak_type)
    ndim = property(lambda self: len(self.aval.shape))
    size = property(lambda self: math.prod(self.aval.shape))
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: self.size * self.itemsize)

    def block_until_ready(self) -> Array:
        """Wait until the device has computed the values; a call returns before that."""
        self.buffer.block_until_ready()
        return self

    def devices(self) -> set[xla.Device]:
        return set(self.on)

    @property
    def device(self) -> Any:
        """The device; where there are several, how the array is spread over them."""
        return self.on[0] if len(self.on) == 1 else xla.sharding(self.on)

    def buffer_on(self, devices: xla.Devices) -> Any:
        """The buffer, or a copy of it on other devices."""
        return self.buffer if devices == self.on else xla.to_device(self.aval, self, devices)

    def is_deleted(self) -> bool:
        """Whether the array was given away to a call, and has no values any more."""
        return self.buffer.is_deleted()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if self.is_deleted():
            shape = ",".join(map(str, self.shape))
            raise RuntimeError(f"Array has been deleted with shape={self.dtype}[{shape}].")
        if self.dtype == float0:
            return np.zeros(self.shape, float0)
        return np.array(xla.to_host(self.buffer, self.on), dtype=dtype, copy=copy)

    def item(self, *args: int) -> Any:
        """The only element, or the one at a place, as a number of Python."""
        return np.asarray(self).item(*args)

    def tolist(self) -> Any:
        """The elements as lists of Python's numbers."""
        return np.asarray(self).tolist()

    def copy(self) -> Array:
        """The same values in memory of their own."""
        return Array(self.aval, xla.to_device(self.aval, self, self.on), self.on, self.committed)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """NumPy's functions compute on the copy (and do not call the methods of this class)."""
        return function(*tree_map(as_numpy, args), **tree_map(as_numpy, kwargs))

    def __bool__(self) -> bool:
        return bool(np.asarray(self))

    def __float__(self) -> float:
        return float(np.asarray(self))

    def __int__(self) -> int:
        return int(np.asarray(self))

    __index__ = __int__

    def __len__(self) -> int:
        return len(np.asarray(self))

    def __str__(self) -> str:
        return str(np.asarray(self))

    def __format__(self, spec: str) -> str:
        return format(np.asarray(self)[()], spec)

    def __repr__(self) -> str:
        """As JAX writes it, down to where the line breaks."""
        start, width = "Array(", np.get_printoptions()["linewidth"]
        kind = f"dtype={self.dtype.name}" + (", weak_type=True" if self.weak_type else "")
        text = f"[], shape={self.shape}"
        if self.size:
            style: dict[str, Any] = {"separator": ", ", "prefix": start, "suffix": ","}
            text = np.array2string(np.asarray(self), max_line_width=width, **style)
        fits = len(text) - text.rfind("\n") + len(kind) + 3 <= width
        return f"{start}{text},{' ' if fits else ' ' * len(start)}{kind})"


aval_makers[Array] = lambda x: x.aval


def as_numpy(x: Any) -> Any:
    return np.asarray(x) if isinstance(x, Array) else x


# What a program is compiled for ----------------------------------------------------------------

# The types of leaves that no interpreter has anything to do with.
CONCRETE = {Array, np.ndarray, bool, int, float, *np.sctypeDict.values()}


@dataclass(frozen=True, eq=False)
class Kind:
    """What a compiled program asks of an argument: its type, and where it is (None: on the host).

    There is one object for each kind, so that looking a program up compares addresses.
    """

    aval: ShapedArray
    on: xla.Devices | None
    committed: bool

    def result_maker(self) -> Callable[[Any], Any]:
        """What makes the result of a call of a buffer: a device array; but `float0` is NumPy's."""
        if self.aval.dtype == float0:
            return lambda buffer: np.zeros(self.aval.shape, float0)
        return self.new_array

    def new_array(self, buffer: Any) -> Array:
        array = object.__new__(Array)
        array.kind, array.buffer = self, buffer
        return array


@functools.cache
def kind_of(aval: ShapedArray, on: xla.Devices | None, committed: bool) -> Kind:
    return Kind(raise_to_shaped(aval), on, committed)


def host_kind(x: Any) -> Kind:
    """The kind of an array of NumPy or a Python number."""
    if type(x) is np.ndarray:
        return numpy_kind(x.shape, x.dtype)
    return kind_of(raise_to_shaped(get_aval(x)), None, False)


@functools.cache  # `get_aval` takes longer than the rest of a call
def numpy_kind(shape: tuple[int, ...], dtype: np.dtype) -> Kind:
    return kind_of(ShapedArray(shape, canonical(dtype)), None, False)


# Where arguments are, and how they get where a program is ----------------------------------------


def committed_devices(args: Sequence[Any]) -> xla.Devices | None:
    """The devices of the arguments that are committed to some; None where there are none."""
    places = {x.on: x.aval for x in args if isinstance(x, Array) and x.committed}
    return the_one_place(places)


def the_one_place(places: dict[xla.Devices, Any]) -> xla.Devices | None:
    """The only key, if there is one; the values say what belongs to each."""
    if len(places) > 1:
        found = " and ".join(f"{x} on {[d.id for d in on]}" for on, x in places.items())
        raise ValueError(f"Received incompatible devices for jitted computation: {found}.")
    return next(iter(places), None)


buffer_of = operator.attrgetter("buffer")


def to_buffer(aval: ShapedArray, x: Any, devices: xla.Devices) -> Any:
    return x.buffer_on(devices) if isinstance(x, Array) else xla.to_device(aval, x, devices)
