"""Where arrays are: on the host, or on devices; and how they get where a program runs.

In the `jit` lesson, this is given code. What a compiled program returns stays on its device until
you ask for the values. An array that a program takes is copied to the program's device once.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from minijax import xla
from minijax.array import ArrayImpl, array_methods
from minijax.core import ShapedArray, Value, Values, get_aval
from minijax.dtypes import canonical, float0
from minijax.jaxpr import raise_to_shaped

# What a program is compiled for ----------------------------------------------------------------

# The types of leaves that no interpreter has anything to do with.
NUMBERS = {bool, int, float}
CONCRETE = {ArrayImpl, np.ndarray, *NUMBERS, *np.sctypeDict.values()}
ARRAYS = {ArrayImpl}


@dataclass(frozen=True, eq=False)
class Kind:
    """What a compiled program asks of an argument: its type, and the devices where it is.

    Arrays of our own on the host are on no devices, `()`. NumPy's arrays and numbers, which are
    copied at each call, have None there. An array on several devices is whole on each. It is
    `committed` where the program has said which devices these are; any other array goes where it
    is needed. There is one object for each kind, so that looking a program up compares addresses.
    """

    aval: ShapedArray
    on: Any
    committed: bool

    def result_maker(self) -> Callable[[Any], Any]:
        """What makes the result of a call of a buffer: an array; but `float0` is NumPy's."""
        if self.aval.dtype == float0:
            return lambda buffer: np.zeros(self.aval.shape, float0)
        new, weak_type = object.__new__, self.aval.weak_type  # looked up once, not at each call

        def array_in(buffer: Value) -> ArrayImpl:
            array = new(ArrayImpl)
            array.kind, array.buffer, array.weak_type = self, buffer, weak_type
            return array

        return array_in

    def device(self) -> Any:
        """The device; where there are several, how the array is spread over them."""
        return self.on[0] if len(self.on) == 1 else xla.sharding(self.on)

    def to_host(self, x: ArrayImpl) -> np.ndarray:
        """The values of an array of this kind."""
        if x.buffer.is_deleted():
            shape = ",".join(map(str, x.shape))
            raise RuntimeError(f"Array has been deleted with shape={x.dtype}[{shape}].")
        return self.copied_to_host(x.buffer) if x.host is None else x.host

    def copied_to_host(self, buffer: Value) -> np.ndarray:
        return xla.to_host(buffer, self.on)

    def buffer_on(self, x: ArrayImpl, devices: xla.Devices) -> Any:
        """The buffer of an array of this kind, or a copy of it on other devices."""
        if self.on == devices:
            return x.buffer
        buffer = xla.to_device(self.aval, x.value, devices)
        if not self.on and len(devices) == 1:
            x.buffer = buffer
            x.kind = kind_of(self.aval, devices, False)
        return buffer


@functools.cache
def kind_of(aval: ShapedArray, on: xla.Devices | None, committed: bool) -> Kind:
    return Kind(raise_to_shaped(aval), on, committed)


def kind_of_value(x: Value) -> Kind:
    """The kind of an array, or of a Python number."""
    if type(x) is ArrayImpl:
        x.kind = x.kind or host_kind(x.shape, x.dtype, x.weak_type)
        return x.kind
    if type(x) is np.ndarray:
        return numpy_kind(x.shape, x.dtype)
    if type(x) in NUMBERS:
        return kind_of_number(type(x))  # type: ignore[arg-type]  # classes can be hashed
    return kind_of(raise_to_shaped(get_aval(x)), None, False)


kind_noted = operator.attrgetter("kind")  # of an array, which may not know it yet


# `get_aval` takes longer than the rest of a call, so its answers are kept.


@functools.cache
def host_kind(shape: tuple[int, ...], dtype: np.dtype, weak_type: bool) -> Kind:
    return kind_of(ShapedArray(shape, dtype, weak_type), (), False)


@functools.cache
def numpy_kind(shape: tuple[int, ...], dtype: np.dtype) -> Kind:
    return kind_of(ShapedArray(shape, canonical(dtype)), None, False)


@functools.cache
def kind_of_number(cls: type) -> Kind:
    """The kind that all numbers of one of Python's classes have."""
    return kind_of(raise_to_shaped(get_aval(cls())), None, False)


# Where arguments are, and how they get where a program is ----------------------------------------


def committed_devices(args: Values) -> xla.Devices | None:
    """The devices of the arguments that are committed to some; None where there are none."""
    kinds = [x.kind for x in args if type(x) is ArrayImpl and x.kind is not None]
    return the_one_place({kind.on: kind.aval for kind in kinds if kind.committed})


def the_one_place(places: dict[xla.Devices, Any]) -> xla.Devices | None:
    """The only key, if there is one; the values say what belongs to each."""
    if len(places) > 1:
        found = " and ".join(f"{x} on {[d.id for d in on]}" for on, x in places.items())
        raise ValueError(f"Received incompatible devices for jitted computation: {found}.")
    return next(iter(places), None)


buffer_of = operator.attrgetter("buffer")


def to_buffer(aval: ShapedArray, x: Value, devices: xla.Devices) -> Value:
    """A buffer with the values of `x` on these devices."""
    if type(x) is ArrayImpl:
        return kind_of_value(x).buffer_on(x, devices)
    return xla.to_device(aval, x, devices)


def placed_on(x: Value, devices: xla.Devices) -> bool:
    """Whether a program on these devices can take the buffer of `x` as it is."""
    return type(x) is ArrayImpl and type(x.kind) is Kind and x.kind.on is devices


def sender(aval: ShapedArray, x: Value, devices: xla.Devices) -> Callable[[Value], Value]:
    """What makes a buffer on these devices of each argument of the kind of `x`."""
    if placed_on(x, devices):
        return buffer_of
    if type(x) is ArrayImpl:
        return lambda x: kind_of_value(x).buffer_on(x, devices)
    return xla.sender(aval, devices)


def array_of(aval: ShapedArray, buffer: Value, on: xla.Devices, committed: bool = False) -> Value:
    """The array whose values are in a buffer."""
    return kind_of(aval, on, committed).result_maker()(buffer)


def placed_with(operands: Values, result: Value) -> Value:
    """A new array with the values of `result`, on the devices to which operands are committed."""
    on = committed_devices(operands)
    if on is None or type(result) is not ArrayImpl or result.kind is not None:
        return result
    aval = raise_to_shaped(get_aval(result))
    array = array_of(aval, xla.to_device(aval, result.host, on), on, committed=True)
    array.host = result.host
    return array


array_methods["_placed_with"] = placed_with


# What users ask an array about its place ----------------------------------------------------------


def placed(x: ArrayImpl) -> Kind:
    """The kind of an array that is on a device; one that is not is copied to the current one."""
    kind = kind_of_value(x)
    to_buffer(kind.aval, x, kind.on or xla.alone(xla.current_device()))
    return x.kind


array_methods["_placed"] = placed
