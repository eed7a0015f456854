"""Operations on arrays, for all who can apply a primitive: plumbing of the `stackless` lesson.

Nothing here knows how programs are interpreted. `Lax(bind)` holds the functions that users know
from `jax.lax`, and a few more for rules; every one of them ends in `bind(primitive, *operands)`.
`ArrayLike` says what `x + y` means, and what it does not. The dtypes that mix are JAX's, as in
`minijax`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from minijax import core, dtypes
from minijax.core import UndefPrimal, get_aval
from minijax.errors import ConcretizationTypeError, TracerArrayConversionError
from minijax.lax.basic import check_kind

Shape = tuple[int, ...]

# The elementwise operations, and NumPy's letters for the dtypes that they take.
ELEMENTWISE = {
    **dict.fromkeys([core.add_p, core.sub_p, core.mul_p, core.div_p, core.neg_p], "iuf"),
    **dict.fromkeys([core.sin_p, core.cos_p, core.exp_p, core.log_p], "f"),
    **dict.fromkeys([core.gt_p, core.lt_p], "biuf"),
}


class Lax:
    """The operations under their names in `jax.lax`, and as strict about types as there."""

    def __init__(self, bind: Callable[..., Any]) -> None:
        self.bind = bind
        self.elementwise = {p.name: self.checked(p, kinds) for p, kinds in ELEMENTWISE.items()}

    def checked(self, primitive: core.Primitive, kinds: str) -> Callable[..., Any]:
        """The function of an elementwise primitive."""

        def function(*operands: Any) -> Any:
            check_kind(primitive.name, get_aval(operands[0]).dtype, kinds)
            return self.bind(primitive, *operands)

        return function

    def __getattr__(self, name: str) -> Any:
        if name == "elementwise" or name not in self.elementwise:
            raise AttributeError(f"There is no operation {name!r} here.")
        return self.elementwise[name]

    def reduce_sum(self, operand: Any, axes: Sequence[int]) -> Any:
        return self.bind(core.reduce_sum_p, operand, axes=tuple(axes))

    def transpose(self, operand: Any, permutation: Sequence[int]) -> Any:
        if list(permutation) == list(range(len(get_aval(operand).shape))):
            return operand
        return self.bind(core.transpose_p, operand, permutation=tuple(permutation))

    def broadcast_in_dim(
        self, operand: Any, shape: Sequence[int], broadcast_dimensions: Sequence[int]
    ) -> Any:
        """Repeat into `shape`; axis `i` of the operand becomes axis `broadcast_dimensions[i]`."""
        axes = tuple(broadcast_dimensions)
        return self.bind(
            core.broadcast_in_dim_p, operand, shape=tuple(shape), broadcast_dimensions=axes
        )

    def convert_element_type(self, operand: Any, new_dtype: Any) -> Any:
        return self.convert(operand, dtypes.canonical(new_dtype), False)

    def dot_general(
        self, lhs: Any, rhs: Any, dimension_numbers: Any, *, preferred_element_type: Any = None
    ) -> Any:
        """`dimension_numbers`: ((contracted axes of lhs, of rhs), (batch axes of lhs, of rhs))."""
        contract, batch = (tuple(tuple(axes) for axes in pair) for pair in dimension_numbers)
        params = {"preferred_element_type": preferred_element_type}
        return self.bind(
            core.dot_general_p, lhs, rhs, dimension_numbers=(contract, batch), **params
        )

    # Not in jax.lax: what the rules of several primitives need.

    def convert(self, x: Any, dtype: np.dtype, weak_type: bool) -> Any:
        """`x` as `dtype`. A Python number is converted at once."""
        aval = get_aval(x)
        if (aval.dtype, aval.weak_type) == (dtype, weak_type):
            return x
        if type(x) in (bool, int, float):
            return dtype.type(x).item() if weak_type else np.asarray(x, dtype)
        return self.bind(core.convert_element_type_p, x, new_dtype=dtype, weak_type=weak_type)

    def repeat(self, x: Any, size: int) -> Any:
        """`size` times `x`, stacked along a new leading axis."""
        shape = get_aval(x).shape
        return self.broadcast_in_dim(x, (size, *shape), range(1, 1 + len(shape)))

    def move_axis(self, x: Any, source: int, destination: int) -> Any:
        order = [i for i in range(len(get_aval(x).shape)) if i != source]
        order.insert(destination, source)
        return self.transpose(x, order)

    def insert_axes(self, x: Any, place: int, number: int) -> Any:
        """`x` with so many new axes of length 1 at `place`."""
        if number == 0:
            return x
        shape = get_aval(x).shape
        kept = [i if i < place else i + number for i in range(len(shape))]
        return self.broadcast_in_dim(x, (*shape[:place], *(1,) * number, *shape[place:]), kept)

    def aligned(self, vals: Sequence[Any], mapped: Sequence[Any]) -> list[Any]:
        """Operands whose examples all have the same rank; constants that are 0-d stay so."""
        shapes = [get_aval(x).shape for x in vals]
        rank = max(len(shape) - bool(m) for shape, m in zip(shapes, mapped, strict=True))
        return [
            self.insert_axes(x, 1, 1 + rank - len(shape))
            if m
            else self.insert_axes(x, 0, int(shape != ()))
            for x, shape, m in zip(vals, shapes, mapped, strict=True)
        ]

    def stretch(self, x: Any, like: Any, *_: Any) -> Any:
        """`x` in the shape of `like`, as an elementwise operation stretches its operands."""
        shape, want = get_aval(x).shape, get_aval(like).shape
        axes = range(len(want) - len(shape), len(want))
        return x if shape == want else self.broadcast_in_dim(x, want, axes)

    def unstretch(self, x: Any, like: UndefPrimal) -> Any:
        """The transpose of `stretch`: the sum over the axes along which `like` was repeated."""
        shape, want = get_aval(x).shape, like.aval.shape
        new = len(shape) - len(want)
        axes = [i for i, n in enumerate(shape) if i < new or want[i - new] != n]
        kept = [i for i in range(len(want)) if i + new not in axes]
        return self.broadcast_in_dim(self.reduce_sum(x, axes), want, kept) if axes else x

    def place(self, size: int, x: Any, mapped: Any, axis: int | None) -> Any:
        """A result of `vmap`, with its batch axis where `out_axes` wants it."""
        if axis is None and mapped:
            raise ValueError("vmap has mapped a result whose out_axes is None.")
        if axis is None:
            return x
        batch = x if mapped else self.repeat(x, size)
        return self.move_axis(batch, 0, axis % len(get_aval(batch).shape))

    def dot_general_lhs(self, ct: Any, x: Any, y: Any, *, dimension_numbers: Any, **_: Any) -> Any:
        """The cotangent of a linear `x`: a product of the result's with `y`, over what `y` kept."""
        return self.dot_general_back(ct, x.aval, y, *dimension_numbers)

    def dot_general_rhs(self, ct: Any, x: Any, y: Any, *, dimension_numbers: Any, **_: Any) -> Any:
        """The same for a linear `y`, whose axes come last in the result."""
        contract, batch = (pair[::-1] for pair in dimension_numbers)
        return self.dot_general_back(ct, y.aval, x, contract, batch, comes_last=True)

    def dot_general_back(
        self, ct: Any, like: Any, other: Any, contract: Any, batch: Any, comes_last: bool = False
    ) -> Any:
        """The cotangent of the operand of type `like`; its axes are the first ones of each pair."""
        kept = others(like.shape, (*contract[0], *batch[0]))
        other_kept = others(get_aval(other).shape, (*contract[1], *batch[1]))
        first = len(batch[0]) + (0 if comes_last else len(kept))
        ct_axes, ct_batch = range(first, first + len(other_kept)), range(len(batch[0]))
        numbers = (ct_axes, other_kept), (ct_batch, batch[1])
        out = self.dot_general(ct, other, numbers, preferred_element_type=like.dtype)
        contracted = [contract[0][contract[1].index(i)] for i in sorted(contract[1])]
        return self.transpose(out, inverse_permutation([*batch[0], *kept, *contracted]))


def others(shape: Shape, axes: Sequence[int]) -> list[int]:
    """The other axes of a shape.

    >>> others((2, 3, 4), [1])
    [0, 2]
    """
    return [i for i in range(len(shape)) if i not in axes]


def shifted(axes: Sequence[int]) -> list[int]:
    """Axes of an example, as axes of a batch."""
    return [axis + 1 for axis in axes]


def inverse_permutation(permutation: Sequence[int]) -> list[int]:
    """The permutation that undoes this one.

    >>> inverse_permutation([2, 0, 1])
    [1, 2, 0]
    """
    return [list(permutation).index(i) for i in range(len(permutation))]


# What behaves as an array -------------------------------------------------------------------------


class ArrayLike:
    """The attributes, methods and errors of arrays, for what has an abstract value `aval`."""

    aval: Any  # what is known about the array: its type, and its value if that is known
    lax: Lax  # the operations that operators and methods call

    __array_priority__ = 100  # NumPy's arrays leave `numpy_array * x` to `x`
    __hash__ = None  # type: ignore[assignment]

    shape = property(lambda self: self.aval.shape)
    dtype = property(lambda self: self.aval.dtype)
    ndim = property(lambda self: len(self.aval.shape))
    weak_type = property(lambda self: self.aval.weak_type)
    T = property(lambda self: self.lax.transpose(self, range(self.ndim)[::-1]))

    def astype(self, dtype: Any) -> Any:
        return self.lax.convert_element_type(self, dtype)

    def sum(self, axis: int | None = None) -> Any:
        return self.lax.reduce_sum(self, range(self.ndim) if axis is None else [axis % self.ndim])

    def __neg__(self) -> Any:
        return self.lax.neg(self)

    def __matmul__(self, other: Any) -> Any:
        return matmul(self.lax, self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return matmul(self.lax, other, self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}<{self.aval}>"

    def __bool__(self) -> bool:
        return self.aval.to_bool()  # raises TracerBoolConversionError if the value is not known

    def __int__(self) -> int:
        return self.aval.to_int()

    def __index__(self) -> int:
        return self.aval.to_index()

    def __float__(self) -> float:
        raise ConcretizationTypeError(f"float() was called on {self}. Use astype(float).")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise TracerArrayConversionError(
            f"NumPy was called on {self}. Use an operator, or the function of stackless.lax."
        )

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __getitem__(self, index: Any) -> Any:
        raise TypeError(f"{self} cannot be indexed: there is no primitive for it here.")

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError(f"{self} cannot be changed: arrays are immutable. Compute a new one.")

    def __eq__(self, other: object) -> bool:
        raise TypeError(f"{self} cannot be compared by == here. Use < and >.")


core.aval_makers[ArrayLike] = lambda x: x.aval

Promotion = Callable[..., tuple[np.dtype, bool]]  # from (dtype, weakness) of each operand


def promoted(lax: Lax, args: Sequence[Any], promotion: Promotion = dtypes.result_type) -> list[Any]:
    """The operands in one dtype."""
    avals = [get_aval(x) for x in args]
    dtype, weak_type = promotion(*((aval.dtype, aval.weak_type) for aval in avals))
    return [lax.convert(x, dtype, weak_type) for x in args]


def of_one_rank(lax: Lax, args: Sequence[Any]) -> list[Any]:
    """The operands with leading axes of length 1; a 0-d operand stretches without them."""
    ranks = [len(get_aval(x).shape) for x in args]
    pairs = zip(args, ranks, strict=True)
    return [lax.insert_axes(x, 0, max(ranks) - rank) if rank else x for x, rank in pairs]


def matmul(lax: Lax, x: Any, y: Any) -> Any:
    """`x @ y` for operands with one or two axes."""
    ranks = [len(get_aval(x).shape), len(get_aval(y).shape)]
    if not set(ranks) <= {1, 2}:
        raise TypeError(f"@ takes arrays with one or two axes here, not {ranks}; see dot_general.")
    x, y = promoted(lax, [x, y])
    return lax.dot_general(x, y, (((ranks[0] - 1,), (0,)), ((), ())))


def infix(name: str, promotion: Promotion, mirrored: bool = False) -> Callable[[Any, Any], Any]:
    """An operation as an operator, which brings its operands to one dtype and one rank first."""

    def operator(self: Any, other: Any) -> Any:
        args = promoted(self.lax, [other, self] if mirrored else [self, other], promotion)
        return getattr(self.lax, name)(*of_one_rank(self.lax, args))

    return operator


for _operation, _operator, _mirrored, _promotion in (
    ("add", "add", "radd", dtypes.result_type),
    ("sub", "sub", "rsub", dtypes.result_type),
    ("mul", "mul", "rmul", dtypes.result_type),
    ("div", "truediv", "rtruediv", dtypes.float_result_type),
):
    setattr(ArrayLike, f"__{_operator}__", infix(_operation, _promotion))
    setattr(ArrayLike, f"__{_mirrored}__", infix(_operation, _promotion, mirrored=True))
for _operation in ("gt", "lt"):
    setattr(ArrayLike, f"__{_operation}__", infix(_operation, dtypes.result_type))
