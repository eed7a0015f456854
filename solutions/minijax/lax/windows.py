"""Convolutions, and reductions of windows, made of slices and a product.

JAX has a primitive for each. Here they are programs: the parts of the operand that an element of
the window meets are a slice with strides, so a convolution is one slice for each element of the
kernel and one `dot_general` over all of them. Derivatives and batches follow from these.
"""

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from minijax.core import Value, get_aval
from minijax.lax.basic import check_precision, convert_element_type, dot_general, transpose
from minijax.lax.shapes import concatenate, expand_dims, pad, reshape, rev, slice

__all__ = [
    "ConvDimensionNumbers",
    "conv",
    "conv_dimension_numbers",
    "conv_general_dilated",
    "conv_general_shape_tuple",
    "conv_transpose",
    "conv_transpose_shape_tuple",
    "conv_with_general_padding",
    "padtype_to_pads",
    "reduce_window",
    "reduce_window_shape_tuple",
]

Pads = Sequence[tuple[int, int]]


# Sizes --------------------------------------------------------------------------------------------


def padtype_to_pads(
    in_shape: Sequence[int],
    window_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: str,
) -> list[tuple[int, int]]:
    """How much a kind of padding puts before and after each axis.

    "VALID" puts nothing there, "SAME" as much as makes a result of the operand's size divided by
    the stride, with the odd one after, and "SAME_LOWER" with the odd one before.

    >>> padtype_to_pads((5,), (4,), (1,), "SAME")
    [(1, 2)]
    """
    kind = str(padding).upper()
    if kind == "VALID":
        return [(0, 0)] * len(in_shape)
    if kind not in ("SAME", "SAME_LOWER"):
        raise RuntimeError(f"Unrecognized padding type: expected 'VALID' or 'SAME', got {padding}.")
    pads = []
    for size, window, stride in zip(in_shape, window_shape, window_strides, strict=True):
        total = max((-(-size // stride) - 1) * stride + window - size, 0)
        less, more = total // 2, total - total // 2
        pads.append((less, more) if kind == "SAME" else (more, less))
    return pads


def dilated(size: int, dilation: int) -> int:
    """The size of an axis with gaps between its elements."""
    return 0 if size == 0 else (size - 1) * dilation + 1


def places(size: int, window: int, stride: int) -> int:
    """How many places a window has along an axis."""
    return max(0, (size - window) // stride + 1)


def reduce_window_shape_tuple(
    operand_shape: Sequence[int],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int],
    padding: Pads,
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> tuple[int, ...]:
    """The shape of the result of `reduce_window`."""
    ones = (1,) * len(operand_shape)
    rows = zip(
        operand_shape,
        window_dimensions,
        window_strides,
        padding,
        base_dilation or ones,
        window_dilation or ones,
        strict=True,
    )
    return tuple(
        places(dilated(n, base) + low + high, dilated(window, gap), stride)
        for n, window, stride, (low, high), base, gap in rows
    )


# Windows ------------------------------------------------------------------------------------------


def parts_of_windows(
    x: Value, window: Sequence[int], strides: Sequence[int], gaps: Sequence[int]
) -> list[Any]:
    """For each element of the window, in order, those elements of `x` that it meets."""
    sizes = get_aval(x).shape
    counts = [
        places(n, dilated(w, gap), stride)
        for n, w, stride, gap in zip(sizes, window, strides, gaps, strict=True)
    ]
    found = []
    for element in itertools.product(*map(range, window)):
        starts = [i * gap for i, gap in zip(element, gaps, strict=True)]
        ends = [
            start + (count - 1) * stride + 1 if count else start
            for start, count, stride in zip(starts, counts, strides, strict=True)
        ]
        found.append(slice(x, starts, ends, strides))
    return found


def reduce_window(
    operand: Value,
    init_value: Value,
    computation: Callable[[Any, Any], Any],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None = None,
    padding: str | Pads = "VALID",
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> Value:
    """All elements of each window, joined by `computation`; `init_value` begins, and pads."""
    ones = (1,) * len(get_aval(operand).shape)
    strides, gaps = window_strides or ones, window_dilation or ones
    base = base_dilation or ones
    if isinstance(padding, str):
        sizes = [dilated(n, d) for n, d in zip(get_aval(operand).shape, base, strict=True)]
        windows = [dilated(w, gap) for w, gap in zip(window_dimensions, gaps, strict=True)]
        padding = padtype_to_pads(sizes, windows, strides, padding)
    init = convert_element_type(init_value, get_aval(operand).dtype)
    config = [(low, high, d - 1) for (low, high), d in zip(padding, base, strict=True)]
    parts = parts_of_windows(pad(operand, init, config), window_dimensions, strides, gaps)
    return functools.reduce(computation, parts, init)


# Convolutions -------------------------------------------------------------------------------------


class ConvDimensionNumbers(NamedTuple):
    """Which axes are batch and features, then those of space, of operand, kernel and result.

    In the kernel, the first two are the features of the result and those of the operand.
    """

    lhs_spec: Sequence[int]
    rhs_spec: Sequence[int]
    out_spec: Sequence[int]


def conv_dimension_numbers(
    lhs_shape: Sequence[int], rhs_shape: Sequence[int], dimension_numbers: Any
) -> ConvDimensionNumbers:
    """The axes that letters name, as in `("NHWC", "HWIO", "NHWC")`; in order if there are none."""
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    if len(lhs_shape) != len(rhs_shape):
        raise TypeError(f"A convolution takes operands of the same rank: {lhs_shape}, {rhs_shape}.")
    if dimension_numbers is None:
        order = tuple(range(len(lhs_shape)))
        return ConvDimensionNumbers(order, order, order)
    lhs, rhs, out = dimension_numbers
    space = sorted(set(rhs) - set("OI"), key=rhs.index)
    if any(
        sorted(spec) != sorted({*first, *space}) or len(spec) != len(lhs_shape)
        for spec, first in ((lhs, "NC"), (rhs, "OI"), (out, "NC"))
    ):
        raise ValueError(f"convolution dimension_numbers do not fit: {dimension_numbers}.")
    return ConvDimensionNumbers(
        *(
            tuple(spec.index(letter) for letter in (*first, *space))
            for spec, first in ((lhs, "NC"), (rhs, "OI"), (out, "NC"))
        )
    )


def inverse(order: Sequence[int]) -> list[int]:
    """The permutation that undoes another."""
    return [list(order).index(i) for i in range(len(order))]


def conv_general_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: str | Pads,
    dimension_numbers: Any,
) -> tuple[int, ...]:
    """The shape of the result of a convolution."""
    numbers = conv_dimension_numbers(lhs_shape, rhs_shape, dimension_numbers)
    batch, _, *sizes = (lhs_shape[i] for i in numbers.lhs_spec)
    features, _, *windows = (rhs_shape[i] for i in numbers.rhs_spec)
    if isinstance(padding, str):
        padding = padtype_to_pads(sizes, windows, window_strides, padding)
    space = reduce_window_shape_tuple(sizes, windows, window_strides, padding)
    found = (batch, features, *space)
    return tuple(found[i] for i in inverse(numbers.out_spec))


def conv_general_dilated(
    lhs: Value,
    rhs: Value,
    window_strides: Sequence[int],
    padding: str | Pads,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: Any = None,
) -> Value:
    """The convolution of `lhs` with the kernel `rhs`, with strides, gaps and groups of features.

    `dimension_numbers` says which axes mean what, see `conv_dimension_numbers`. `precision`
    changes nothing on the CPU. Counterpart: `jax.lax.conv_general_dilated`.
    """
    check_precision(precision)
    if batch_group_count != 1:
        raise NotImplementedError("A convolution here has only one group of examples.")
    shapes = get_aval(lhs).shape, get_aval(rhs).shape
    numbers = conv_dimension_numbers(*shapes, dimension_numbers)
    check_same_dtype(lhs, rhs)
    x, kernel = transpose(lhs, numbers.lhs_spec), transpose(rhs, numbers.rhs_spec)
    windows = get_aval(kernel).shape[2:]
    gaps = tuple(rhs_dilation or (1,) * len(windows))
    base = tuple(lhs_dilation or (1,) * len(windows))
    if isinstance(padding, str):
        sizes = [dilated(w, gap) for w, gap in zip(windows, gaps, strict=True)]
        padding = padtype_to_pads(get_aval(x).shape[2:], sizes, window_strides, padding)
    config = [(low, high, d - 1) for (low, high), d in zip(padding, base, strict=True)]
    zero = np.zeros((), get_aval(x).dtype)
    x = pad(x, zero, [(0, 0, 0), (0, 0, 0), *config])
    out = correlated(x, kernel, window_strides, gaps, feature_group_count)
    return transpose(out, inverse(numbers.out_spec))


def check_same_dtype(lhs: Value, rhs: Value) -> None:
    a, b = get_aval(lhs).dtype, get_aval(rhs).dtype
    if a != b:
        raise TypeError(f"A convolution takes operands with the same dtype, not {a} and {b}.")


def correlated(
    x: Value, kernel: Value, strides: Sequence[int], gaps: Sequence[int], groups: int
) -> Value:
    """The product of the kernel with each window: axes are batch, features, space in all three."""
    outputs, inputs, *windows = get_aval(kernel).shape
    if get_aval(x).shape[1] != inputs * groups or outputs % groups:
        raise ValueError(
            f"A kernel with {inputs} features and {groups} groups does not fit an operand with "
            f"{get_aval(x).shape[1]}."
        )
    parts = parts_of_windows(x, (1, 1, *windows), (1, 1, *strides), (1, 1, *gaps))
    met = concatenate([expand_dims(part, [0]) for part in parts], 0)
    element, batch, _, *space = get_aval(met).shape
    met = reshape(met, (element, batch, groups, inputs, *space))
    weights = reshape(kernel, (groups, outputs // groups, inputs, element))
    axes = ((0, 3), (3, 2)), ((2,), (0,))  # elements and features are summed, in each group
    out = dot_general(met, weights, axes)  # groups, batch, space, outputs of a group
    last = len(get_aval(out).shape) - 1
    out = transpose(out, (1, 0, last, *range(2, last)))
    return reshape(out, (batch, outputs, *space))


def conv(
    lhs: Value, rhs: Value, window_strides: Sequence[int], padding: str, precision: Any = None
) -> Value:
    """`conv_general_dilated` without gaps and groups."""
    return conv_general_dilated(lhs, rhs, window_strides, padding, precision=precision)


def conv_with_general_padding(
    lhs: Value,
    rhs: Value,
    window_strides: Sequence[int],
    padding: str | Pads,
    lhs_dilation: Sequence[int] | None,
    rhs_dilation: Sequence[int] | None,
    precision: Any = None,
) -> Value:
    """`conv_general_dilated` without groups."""
    gaps = lhs_dilation, rhs_dilation
    return conv_general_dilated(lhs, rhs, window_strides, padding, *gaps, precision=precision)


# Transposed convolutions --------------------------------------------------------------------------

# The letters that are meant if none are given, for each number of axes: here, features come last.
LETTERS = {
    2: ("NC", "IO", "NC"),
    3: ("NHC", "HIO", "NHC"),
    4: ("NHWC", "HWIO", "NHWC"),
    5: ("NHWDC", "HWDIO", "NHWDC"),
}


def conv_transpose(
    lhs: Value,
    rhs: Value,
    strides: Sequence[int],
    padding: str | Pads,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    transpose_kernel: bool = False,
    precision: Any = None,
    *,
    use_consistent_padding: bool = False,
) -> Value:
    """A convolution whose stride is that of the result: it makes sizes larger.

    `padding` by name is that of the convolution in the other direction, and pairs of numbers are
    what is put around the operand, unless `use_consistent_padding`. `transpose_kernel` turns the
    kernel around, and exchanges its features: the gradient of a convolution has it so.
    `precision` changes nothing on the CPU. Counterpart: `jax.lax.conv_transpose`.
    """
    shapes = get_aval(lhs).shape, get_aval(rhs).shape
    if dimension_numbers is None:
        dimension_numbers = LETTERS[len(shapes[0])]
    numbers = conv_dimension_numbers(*shapes, dimension_numbers)
    features, inputs, *space = numbers.rhs_spec
    gaps = tuple(rhs_dilation or (1,) * len(space))
    if use_consistent_padding or padding in ("SAME", "VALID"):
        windows = [dilated(shapes[1][axis], gap) for axis, gap in zip(space, gaps, strict=True)]
        wanted = [padding] * len(space) if isinstance(padding, str) else padding
        padding = [*map(transposed_pads, windows, strides, wanted)]
    if transpose_kernel:
        order = [*range(len(shapes[1]))]
        order[features], order[inputs] = inputs, features
        rhs = transpose(rev(rhs, space), order)
    ones = (1,) * len(space)
    return conv_general_dilated(
        lhs, rhs, ones, padding, strides, gaps, numbers, precision=precision
    )


def transposed_pads(window: int, stride: int, padding: str | tuple[int, int]) -> tuple[int, int]:
    """What to put before and after an axis, by the padding of the other direction."""
    if padding == "SAME":
        total = window + stride - 2
        before = window - 1 if stride > window - 1 else -(-total // 2)
        return before, total - before
    if padding == "VALID":
        return window - 1, stride - 1 + max(window - stride, 0)
    if not isinstance(padding, tuple):
        raise ValueError(f"Invalid padding mode: {padding}")
    low, high = padding
    return window - 1 - low, window - 1 - high


def conv_transpose_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: str | Pads,
    dimension_numbers: Any,
) -> tuple[int, ...]:
    """The shape of the result of `conv_transpose`."""
    numbers = conv_dimension_numbers(lhs_shape, rhs_shape, dimension_numbers)
    batch, _, *sizes = (lhs_shape[i] for i in numbers.lhs_spec)
    features, _, *windows = (rhs_shape[i] for i in numbers.rhs_spec)
    if isinstance(padding, str):
        kinds = [padding] * len(windows)
        padding = [*map(transposed_pads, windows, window_strides, kinds)]
    rows = zip(sizes, windows, window_strides, padding, strict=True)
    space = [(n - 1) * stride - window + 2 + sum(pads) for n, window, stride, pads in rows]
    found = (batch, features, *space)
    return tuple(found[i] for i in inverse(numbers.out_spec))
