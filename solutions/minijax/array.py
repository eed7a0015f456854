"""Arrays: what every computation returns.

`minijax` computes with NumPy, but its results are arrays of a class of its own, `ArrayImpl`, for
three reasons. They never change, so a transformation may keep an array and look at it again later.
They promote by JAX's rules: `int32 * float32` is a float32, and a weakly typed array, made from
Python's numbers, gives way to others. Their values may be outside Python's memory: what a
compiled program returns stays on its device until it is asked for.

`Array` is the base class of arrays and of tracers; what both can do is in the table
`array_methods`, which `minijax.numpy` fills. Operators that are forwarded to abstract values, as in
Autodidax, would be written a second time for arrays on a device.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

# What `x + y`, `x.sum()` and `x[0]` mean, by name. minijax.numpy fills this in, because an operator
# promotes and broadcasts its operands before it binds a primitive.
array_methods: dict[str, Callable[..., Any]] = {}

OPERATORS = ("neg", "pos", "abs", "invert", "iter", "getitem", "round")
BINARY_OPERATORS = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor"),
    *("lshift", "rshift", "rlshift", "rrshift"),
    *("radd", "rsub", "rmul", "rtruediv", "rfloordiv", "rmod", "rpow", "rmatmul"),
    *("rand", "ror", "rxor", "lt", "le", "gt", "ge", "eq", "ne", "divmod", "rdivmod"),
)


class Array:
    """Everything that behaves like an array, tracers included: operators, indexing, methods.

    Functions make arrays, such as `minijax.numpy.array`. They never change: operators and methods
    return new ones, and `x.at[index].set(value)` is a copy with another element. `weak_type` says
    whether the dtype gives way to another array's.
    """

    shape: tuple[int, ...]
    dtype: np.dtype

    __array_priority__ = 100  # NumPy's arrays leave `numpy_array * tracer` to the tracer

    def __getattr__(self, name: str) -> Any:
        if name not in array_methods or name.startswith("__"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return lambda *args, **kwargs: array_methods[name](self, *args, **kwargs)

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError(
            "JAX arrays are immutable and do not support in-place item assignment. Instead of "
            "x[idx] = y, compute a new array, for instance with x.at[idx].set(y)."
        )

    def by_numpy(self, name: str, *args: Any) -> Any:
        """What an operator returns that no lesson so far has defined."""
        if name in ("eq", "ne"):  # by itself, Python would compare boxes and not values
            sign = "==" if name == "eq" else "!="
            raise TypeError(f"{sign} of a {type(self).__name__} is not defined in this lesson yet.")
        return NotImplemented

    ndim = property(lambda self: len(self.shape), doc="The number of axes.")
    size = property(lambda self: math.prod(self.shape), doc="How many elements it has.")
    itemsize = property(lambda self: self.dtype.itemsize, doc="The bytes of an element.")
    nbytes = property(lambda self: self.size * self.itemsize, doc="The bytes of all elements.")
    T = property(lambda self: self.transpose(), doc="The array with its axes in reverse order.")
    at = property(
        lambda self: self.__getattr__("at")(),
        doc="`x.at[index].set(value)` is a copy with this element; `add` and `get` work alike.",
    )

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    __hash__ = None  # type: ignore[assignment]  # equal arrays are arrays of booleans


def forward_operator(name: str) -> Callable[..., Any]:
    """The method `__name__`, which looks its meaning up in `array_methods` when it is called."""

    def operator(self: Any, *args: Any) -> Any:
        method = array_methods.get(f"__{name}__")
        return self.by_numpy(name, *args) if method is None else method(self, *args)

    return operator


def forward_binary(name: str) -> Callable[..., Any]:
    """Like `forward_operator`; what is not an array is left to its own class, as in Python.

    Python's containers are refused: `x == [1, 2]` would be False and look like an answer.
    An object that is not an array may have a method `__jax_array__`, which returns one.
    """
    forward = forward_operator(name)

    def operator(self: Any, other: Any) -> Any:
        if isinstance(other, OPERANDS):
            return forward(self, other)
        if type(other) in (list, tuple, set, dict):  # a subclass may have operators of its own
            raise TypeError(
                f"A {type(other).__name__} is no operand of an array. Make it an array first, by "
                "jnp.array(...)."
            )
        converted = getattr(other, "__jax_array__", None)
        return NotImplemented if converted is None else forward(self, converted())

    return operator


OPERANDS = (Array, np.ndarray, np.generic, int, float)
for _name in OPERATORS:
    setattr(Array, f"__{_name}__", forward_operator(_name))
for _name in BINARY_OPERATORS:
    setattr(Array, f"__{_name}__", forward_binary(_name))


class ArrayImpl(Array):
    """An array with values, which never change; they are NumPy's, or on a device.

    `host` holds the values as NumPy has them. An array that has been on a device holds them in
    `buffer` as well, or only there, and `kind` says where that is (see the `jit` lesson).
    """

    host: Any = None
    buffer: Any = None
    kind: Any = None
    weak_type: bool = False

    def __init__(self, host: np.ndarray, weak_type: bool = False) -> None:
        self.host = host
        self.weak_type = weak_type

    aval = property(  # core says how
        lambda self: self.__getattr__("aval")(), doc="The type: shape, dtype, whether it is weak."
    )

    @property
    def value(self) -> np.ndarray:
        """The values as a read-only NumPy array."""
        return self.host if self.buffer is None else self.kind.to_host(self)

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """The sizes of the axes."""
        return self.kind.aval.shape if self.host is None else self.host.shape

    @property
    def dtype(self) -> np.dtype:  # type: ignore[override]
        """The type of the elements."""
        return self.kind.aval.dtype if self.host is None else self.host.dtype

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        read_only = self.value.view()
        read_only.flags.writeable = False
        return np.array(read_only, dtype=dtype, copy=copy)

    def by_numpy(self, name: str, *args: Any) -> Any:
        """An operator that a later lesson defines is NumPy's until then."""
        out = getattr(self.value, f"__{name}__")(*map(as_numpy, args))
        return ArrayImpl(np.asarray(out)) if isinstance(out, np.ndarray | np.generic) else out

    def item(self, *args: int) -> Any:
        """The only element, or the one at a place, as a Python number."""
        return self.value.item(*args)

    def tolist(self) -> Any:
        """The elements as lists of Python numbers."""
        return self.value.tolist()

    def devices(self) -> set[Any]:
        """The devices that hold the array; it is copied to one if it has not been on any."""
        return set(self._placed().on)

    @property
    def device(self) -> Any:
        """The device; where there are several, how the array is spread over them."""
        return self._placed().device()

    @property
    def committed(self) -> bool:
        """Whether the program has said on which devices the array should be."""
        return self.kind is not None and self.kind.committed

    def block_until_ready(self) -> ArrayImpl:
        """Wait until the device has computed the values; a call returns before that."""
        if self.buffer is not None:
            self.buffer.block_until_ready()
        return self

    def is_deleted(self) -> bool:
        """Whether the array was given away to a call, and has no values any more."""
        return self.buffer is not None and self.buffer.is_deleted()

    def copy(self) -> ArrayImpl:
        """The same values in memory of their own."""
        array = ArrayImpl(np.array(self.value), self.weak_type)
        return array_methods["_placed_with"]([self], array) if self.committed else array

    def __reduce__(self) -> Any:
        return ArrayImpl, (np.array(self.value), self.weak_type)

    def __deepcopy__(self, memo: Any) -> ArrayImpl:
        return self.copy()

    def __bool__(self) -> bool:
        return bool(self.value)

    def __int__(self) -> int:
        return int(self.number())

    def __float__(self) -> float:
        return float(self.number())

    def __complex__(self) -> complex:
        return complex(self.number())

    def __index__(self) -> int:
        return self.number().__index__()

    def number(self) -> np.ndarray:
        """The value of an array without axes, which Python can turn into a number."""
        if self.shape:
            raise TypeError(
                f"Only arrays without axes can be converted to Python numbers; this one has "
                f"shape {self.shape}."
            )
        return self.value

    def __str__(self) -> str:
        return str(self.value)

    def __format__(self, spec: str) -> str:
        return format(self.value[()], spec)

    def __repr__(self) -> str:
        """As JAX writes it, down to where the line breaks."""
        start, width = "Array(", np.get_printoptions()["linewidth"]
        kind = f"dtype={self.dtype.name}" + (", weak_type=True" if self.weak_type else "")
        text = f"[], shape={self.shape}"
        if self.size:
            style: dict[str, Any] = {"separator": ", ", "prefix": start, "suffix": ","}
            text = np.array2string(self.value, max_line_width=width, **style)
        fits = len(text) - text.rfind("\n") + len(kind) + 3 <= width
        return f"{start}{text},{' ' if fits else ' ' * len(start)}{kind})"


def as_array(x: Any) -> Any:
    """`x` as an array: Python numbers are weakly typed; a NumPy array is copied."""
    if isinstance(x, np.ndarray | np.generic):
        return ArrayImpl(np.array(x))
    if isinstance(x, bool | int | float):
        return ArrayImpl(np.array(x), not isinstance(x, bool))
    return x


def as_numpy(x: Any) -> Any:
    """`x` as the evaluation rules take it: the values of an array; anything else unchanged."""
    return x.value if type(x) is ArrayImpl else x
