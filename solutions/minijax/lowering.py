"""Programs as text, StableHLO: what an operation looks like, and the lowerings of most primitives.

XLA compiles text. An `Emitter` collects its lines; a primitive's lowering, in the table
`hlo_lowerings`, emits those that compute it. How a whole program is lowered, and the lowering of a
call, are in `minijax/jit.py`.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from minijax import xla
from minijax.core import (
    ShapedArray,
    Value,
    add_p,
    broadcast_in_dim_p,
    convert_element_type_p,
    cos_p,
    div_p,
    dot_general_p,
    exp_p,
    gt_p,
    hlo_lowerings,
    log_p,
    lt_p,
    mul_p,
    neg_p,
    reduce_sum_p,
    sin_p,
    sub_p,
    transpose_p,
)
from minijax.dtypes import on_device
from minijax.jaxpr import Literal

# Types ------------------------------------------------------------------------------------------

ELEMENT_TYPES = {"bool": "i1", "uint8": "ui8", "uint16": "ui16", "uint32": "ui32", "uint64": "ui64"}


@functools.cache  # NumPy makes the name again each time
def element_type(dtype: np.dtype) -> str:
    """StableHLO's name of a dtype: `f64`."""
    name = on_device(dtype).name
    return ELEMENT_TYPES.get(name, name.replace("float", "f").replace("int", "i"))


def tensor_type(aval: ShapedArray) -> str:
    """StableHLO's name of a type: the size of each axis, followed by an x, then the dtype.

    >>> tensor_type(ShapedArray((2, 3), np.dtype("float64")))
    'tensor<2x3xf64>'
    >>> tensor_type(ShapedArray((), np.dtype("bool")))
    'tensor<i1>'
    """
    return f"tensor<{''.join(f'{n}x' for n in aval.shape)}{element_type(aval.dtype)}>"


# Lines ------------------------------------------------------------------------------------------


class Emitter:
    """The lines of a function so far, with the arrays that it needs in addition to its arguments.

    Every value has a fresh name. Captured arrays are handed over at each call, as arguments are:
    as text in the module, large ones would take their time.
    """

    def __init__(self, stem: str = "%") -> None:
        self.stem = stem  # of the names
        self.lines: list[str] = []
        self.captured: list[Any] = []
        self.places: dict[xla.Devices, str] = {}  # which operations need which devices

    def emit(self, operation: str, results: int = 1) -> str:
        """Write one operation down; returns the name of its result.

        Of several results, the names are this one with `#0`, `#1`, ... behind it.
        """
        name = f"{self.stem}{len(self.lines)}"
        number = f":{results}" if results > 1 else ""
        self.lines.append(f"    {name}{number} = {operation}")
        return name

    def capture(self, array: Value) -> str:
        """The name of a constant of the program."""
        self.captured.append(array)
        return f"%const{len(self.captured) - 1}"


def result_names(name: str, number: int) -> list[str]:
    """The names of the results of an operation, from what `emit` has returned."""
    return [name] if number == 1 else [f"{name}#{i}" for i in range(number)]


def donations(
    donated: Sequence[bool], in_avals: Sequence[ShapedArray], out_avals: Sequence[ShapedArray]
) -> list[str]:
    """Attributes of the inputs: a result takes the memory of the first donated input of its type.

    Donated inputs that are left go to XLA, if a result of their size is left too.
    """
    attributes = [""] * len(in_avals)
    free = [i for i, flag in enumerate(donated) if flag]
    sizes = []  # of the results that take over no operand's memory
    for number, out in enumerate(out_avals):
        kind = (out.shape, out.dtype)
        match = next((i for i in free if (in_avals[i].shape, in_avals[i].dtype) == kind), None)
        if match is None:
            sizes.append(math.prod(out.shape))
        else:
            free.remove(match)
            attributes[match] = f" {{tf.aliasing_output = {number} : i32}}"
    for i in [*free]:
        if math.prod(in_avals[i].shape) in sizes:
            sizes.remove(math.prod(in_avals[i].shape))
            free.remove(i)
            attributes[i] = " {jax.buffer_donor = true}"
    if free:
        names = ", ".join(str(in_avals[i]) for i in free)
        warnings.warn(f"Some donated buffers were not usable: {names}.", stacklevel=2)
    return attributes


class Lowered(NamedTuple):
    """A program in StableHLO."""

    text: str

    def as_text(self) -> str:
        """The text of the module."""
        return self.text


# Operations with types --------------------------------------------------------------------------


def emit_literal(emitter: Emitter, literal: Literal) -> str:
    value = np.asarray(literal.val, on_device(literal.aval.dtype))
    text = str(value).lower() if value.dtype.kind in "biu" else f"0x{value.tobytes()[::-1].hex()}"
    return emitter.emit(f"stablehlo.constant dense<{text}> : {tensor_type(literal.aval)}")


def emit_converted(emitter: Emitter, aval: ShapedArray, wanted: ShapedArray, arg: str) -> str:
    types = f"({tensor_type(aval)}) -> {tensor_type(wanted)}"
    return emitter.emit(f"stablehlo.convert {arg} : {types}")


def emit_broadcast(
    emitter: Emitter, x: str, aval: ShapedArray, out: ShapedArray, axes: Sequence[int]
) -> str:
    if aval.shape == out.shape:
        return x
    dims = f"dims = [{', '.join(map(str, axes))}]"
    types = f"({tensor_type(aval)}) -> {tensor_type(ShapedArray(out.shape, aval.dtype))}"
    return emitter.emit(f"stablehlo.broadcast_in_dim {x}, {dims} : {types}")


def stretched(
    emitter: Emitter, avals: Sequence[ShapedArray], out: ShapedArray, args: Sequence[str]
) -> list[str]:
    """The operands in the shape of the result, for StableHLO does not broadcast by itself."""
    rank = len(out.shape)
    return [
        emit_broadcast(emitter, x, aval, out, range(rank - len(aval.shape), rank))
        for x, aval in zip(args, avals, strict=True)
    ]


# Lowerings --------------------------------------------------------------------------------------


def elementwise_hlo(operation: str) -> Callable[..., list[str]]:
    """The lowering of an elementwise primitive: operands are stretched to the result's shape."""

    def lowering(emitter: Emitter, avals: Any, out_avals: Any, args: Any) -> list[str]:
        operands = ", ".join(stretched(emitter, avals, out_avals[0], args))
        return [emitter.emit(f"stablehlo.{operation} {operands} : {tensor_type(out_avals[0])}")]

    return lowering


def comparison_hlo(direction: str) -> Callable[..., list[str]]:
    """The lowering of a comparison, whose result has another element type."""

    def lowering(emitter: Emitter, avals: Any, out_avals: Any, args: Any) -> list[str]:
        operands = ", ".join(stretched(emitter, avals, out_avals[0], args))
        side = tensor_type(ShapedArray(out_avals[0].shape, avals[0].dtype))
        types = f"({side}, {side}) -> {tensor_type(out_avals[0])}"
        return [emitter.emit(f"stablehlo.compare {direction}, {operands} : {types}")]

    return lowering


def transpose_hlo(
    emitter: Emitter, avals: Any, out_avals: Any, args: Any, *, permutation: tuple[int, ...]
) -> list[str]:
    dims = ", ".join(map(str, permutation))
    types = f"({tensor_type(avals[0])}) -> {tensor_type(out_avals[0])}"
    return [emitter.emit(f"stablehlo.transpose {args[0]}, dims = [{dims}] : {types}")]


def dot_general_hlo(
    emitter: Emitter, avals: Any, out_avals: Any, args: Any, **params: Any
) -> list[str]:
    contract, batch = params["dimension_numbers"]
    numbers = f"contracting_dims = {list(contract[0])} x {list(contract[1])}"
    if batch[0]:
        numbers = f"batching_dims = {list(batch[0])} x {list(batch[1])}, {numbers}"
    if avals[0].dtype != avals[1].dtype:
        wanted = [ShapedArray(aval.shape, out_avals[0].dtype) for aval in avals]
        args = [emit_converted(emitter, *x) for x in zip(avals, wanted, args, strict=True)]
        avals = wanted
    types = f"({tensor_type(avals[0])}, {tensor_type(avals[1])}) -> {tensor_type(out_avals[0])}"
    return [emitter.emit(f"stablehlo.dot_general {args[0]}, {args[1]}, {numbers} : {types}")]


def reduce_sum_hlo(
    emitter: Emitter, avals: Any, out_avals: Any, args: Any, *, axes: tuple[int, ...]
) -> list[str]:
    """Emit a sum along `axes`. Returns a list with the name of the result.

    `avals`, `out_avals` and `args` have one item each: the types of operand and result, and the
    operand's name. The sum starts from a zero of the operand's dtype. (The last line is one line.)

    >>> x, out = (ShapedArray(shape, np.dtype("int8")) for shape in ((3, 2), (3,)))
    >>> emitter = Emitter()
    >>> (name,) = reduce_sum_hlo(emitter, [x], [out], ["%arg0"], axes=(1,))
    >>> for line in emitter.lines:  # doctest: +NORMALIZE_WHITESPACE
    ...     print(line)
        %0 = stablehlo.constant dense<0> : tensor<i8>
        %1 = stablehlo.reduce(%arg0 init: %0) applies stablehlo.add
            across dimensions = [1] : (tensor<3x2xi8>, tensor<i8>) -> tensor<3xi8>
    """
    (aval,), (out,), (x,) = avals, out_avals, args
    zero = ShapedArray((), aval.dtype)
    init = emit_literal(emitter, Literal(np.zeros((), aval.dtype), zero))
    dims = ", ".join(map(str, axes))
    types = f"({tensor_type(aval)}, {tensor_type(zero)}) -> {tensor_type(out)}"
    return [
        emitter.emit(
            f"stablehlo.reduce({x} init: {init}) applies stablehlo.add across "
            f"dimensions = [{dims}] : {types}"
        )
    ]


def broadcast_in_dim_hlo(
    emitter: Emitter, avals: Any, out_avals: Any, args: Any, **params: Any
) -> list[str]:
    axes = params["broadcast_dimensions"]
    return [emit_broadcast(emitter, args[0], avals[0], out_avals[0], axes)]


def convert_hlo(
    emitter: Emitter, avals: Any, out_avals: Any, args: Any, *, new_dtype: Any, weak_type: bool
) -> list[str]:
    return [emit_converted(emitter, avals[0], out_avals[0], args[0])]


for _p, _operation in {
    add_p: "add",
    sub_p: "subtract",
    mul_p: "multiply",
    div_p: "divide",
    neg_p: "negate",
    sin_p: "sine",
    cos_p: "cosine",
    exp_p: "exponential",
    log_p: "log",
}.items():
    hlo_lowerings[_p] = elementwise_hlo(_operation)
for _p, _direction in {gt_p: "GT", lt_p: "LT"}.items():
    hlo_lowerings[_p] = comparison_hlo(_direction)
hlo_lowerings[transpose_p] = transpose_hlo
hlo_lowerings[dot_general_p] = dot_general_hlo
hlo_lowerings[reduce_sum_p] = reduce_sum_hlo
hlo_lowerings[broadcast_in_dim_p] = broadcast_in_dim_hlo
hlo_lowerings[convert_element_type_p] = convert_hlo
