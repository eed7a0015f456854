"""What random programs are made of: arguments, and steps of operations that NumPy evaluates.

Where a copy of `random_programs.py` goes, a copy of this file goes too.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

SHAPES = ((), (), (3,), (3,), (2, 3), (1, 3))
LITERALS = (2.0, 0.5, 3, -1.5)
LARGEST = 30.0  # that a value or a slope may be
MARGIN = 0.1  # how far a value keeps away from jumps and poles

Draw = Callable[[random.Random, list[np.ndarray]], "tuple[list[int], dict[str, Any]] | None"]


class Unfit(Exception):
    """Operands that an operation does not take, or that lie where rounding would decide."""


# Choosing ---------------------------------------------------------------------------------------


def pick(rng: random.Random, choices: Sequence[Any]) -> Any:
    """One of the choices. Only `random()` is promised to be the same in every Python."""
    return choices[int(rng.random() * len(choices))]


def late(rng: random.Random, places: Sequence[int]) -> int:
    """One of the places, a late one rather than an early one."""
    return max(pick(rng, places), pick(rng, places))


def floats(values: Sequence[np.ndarray]) -> list[int]:
    """The places of values that can be computed with."""
    return [i for i, x in enumerate(values) if x.dtype != bool]


# Arguments ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Input:
    """An argument of a program: a value, another of the same type, and an axis for a batch.

    The second value serves as a tangent and as the second example of a batch; where the axis is
    None, the argument is the same for all examples.
    """

    value: np.ndarray
    other: np.ndarray
    axis: int | None


def make_input(rng: random.Random, dtypes: Sequence[str]) -> Input:
    """An argument with short numbers."""
    shape, dtype = pick(rng, SHAPES), pick(rng, dtypes)
    size = int(np.prod(shape))
    value, other = (
        np.array([pick(rng, range(-6, 9)) / 4 for _ in range(size)], dtype).reshape(shape)
        for _ in range(2)
    )
    axis = pick(rng, (0, 0, len(shape), None))
    return Input(value, other, axis)


# Operations: how to choose operands, how to evaluate, how to write --------------------------------


@dataclass(frozen=True)
class Operation:
    """`text` has places for operands ({0}, {1}) and parameters; `evaluate` is NumPy's.

    `params` is the text of the parameters that the primitive has in an equation of a jaxpr.
    """

    text: str
    evaluate: Callable[..., Any]
    draw: Draw
    params: str = "{{}}"


def one(rng: random.Random, values: list[np.ndarray]) -> Any:
    """Any float."""
    return [late(rng, floats(values))], {}


def two(rng: random.Random, values: list[np.ndarray]) -> Any:
    """Two floats; whether they fit is found out by evaluating."""
    return [late(rng, floats(values)), pick(rng, floats(values))], {}


def some_axes(rng: random.Random, values: list[np.ndarray]) -> Any:
    """A float that has axes, and some of these."""
    places = [i for i in floats(values) if values[i].ndim]
    if not places:
        return None
    i = late(rng, places)
    chosen = tuple(k for k in range(values[i].ndim) if rng.random() < 0.6)
    return [i], {"axes": chosen or (0,)}


def turned(rng: random.Random, values: list[np.ndarray]) -> Any:
    """A float with two axes, and their other order."""
    places = [i for i in floats(values) if values[i].ndim == 2]
    return ([late(rng, places)], {"permutation": (1, 0)}) if places else None


def widened(rng: random.Random, values: list[np.ndarray]) -> Any:
    """A float, where to put a new axis, and how long that is."""
    places = [i for i in floats(values) if values[i].ndim < 2]
    if not places:
        return None
    i = late(rng, places)
    rank, new = values[i].ndim, int(rng.random() * (values[i].ndim + 1))
    shape = [*values[i].shape]
    shape.insert(new, pick(rng, (2, 3)))
    return [i], {"shape": tuple(shape), "axes": tuple(k for k in range(rank + 1) if k != new)}


def converted(rng: random.Random, values: list[np.ndarray]) -> Any:
    """Any value, and a dtype of floats; booleans become numbers more often than the others do."""
    bools = [i for i, x in enumerate(values) if x.dtype == bool]
    places = bools or range(len(values))
    return [late(rng, places)], {"dtype": pick(rng, ("float64", "float32"))}


def contracted(rng: random.Random, values: list[np.ndarray]) -> Any:
    """Two floats and an axis of each, along which they are multiplied and added up."""
    (i, j), _ = two(rng, values)
    axes = range(values[i].ndim), range(values[j].ndim)
    pairs = [(a, b) for a in axes[0] for b in axes[1] if values[i].shape[a] == values[j].shape[b]]
    if not pairs:
        return None
    a, b = pick(rng, pairs)
    return [i, j], {"axes": (((a,), (b,)), ((), ()))}


def constant(rng: random.Random, values: list[np.ndarray]) -> Any:
    """An array that does not depend on the arguments."""
    x = make_input(rng, ("float64",)).value
    return [], {"value": x.tolist()}


def literal(rng: random.Random, values: list[np.ndarray]) -> Any:
    """Any float, a number, and what to do with the two."""
    return one(rng, values)[0], {"value": pick(rng, LITERALS), "symbol": pick(rng, "+-*")}


def infix(rng: random.Random, values: list[np.ndarray]) -> Any:
    """Two floats of whatever dtypes and shapes, and an operator."""
    return two(rng, values)[0], {"symbol": pick(rng, "+-*")}


def strict(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f`, for operands with the same dtype and shape (or 0-d), as the functions of `lax` ask."""

    def evaluate(x: np.ndarray, y: np.ndarray) -> Any:
        if x.dtype != y.dtype or (x.shape != y.shape and x.shape and y.shape):
            raise Unfit
        return f(x, y)

    return evaluate


def no_bool(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f`, for numbers."""

    def evaluate(*xs: np.ndarray, **params: Any) -> Any:
        if any(x.dtype == bool for x in xs):
            raise Unfit
        return f(*xs, **params)

    return evaluate


def far_from(where: Callable[..., Any], f: Callable[..., Any]) -> Callable[..., Any]:
    """`f`, for operands for which `where` gives numbers of a certain size."""

    def evaluate(*xs: np.ndarray) -> Any:
        if not np.all(where(*xs) > MARGIN):
            raise Unfit
        return f(*xs)

    return evaluate


def distance(x: np.ndarray, y: np.ndarray) -> Any:
    """How far two numbers are from each other."""
    return np.abs(x - y)


def reduce_sum(x: np.ndarray, axes: tuple[int, ...]) -> Any:
    """The sum along axes, which must be there."""
    if any(axis >= x.ndim for axis in axes):
        raise Unfit
    return np.sum(x, axes)


def transpose(x: np.ndarray, permutation: tuple[int, ...]) -> Any:
    """Another order of the axes."""
    if sorted(permutation) != list(range(x.ndim)):
        raise Unfit
    return np.transpose(x, permutation)


def broadcast_in_dim(x: np.ndarray, shape: tuple[int, ...], axes: tuple[int, ...]) -> Any:
    """`x` repeated; its axis i becomes axis `axes[i]`."""
    if [shape[axis] for axis in axes] != list(x.shape):
        raise Unfit
    new = tuple(k for k in range(len(shape)) if k not in axes)
    return np.broadcast_to(np.expand_dims(x, new), shape)


def dot_general(x: np.ndarray, y: np.ndarray, axes: Any) -> Any:
    """Multiply and add up along an axis of each operand."""
    ((a,), (b,)), _ = axes
    if x.dtype != y.dtype or a >= x.ndim or b >= y.ndim or x.shape[a] != y.shape[b]:
        raise Unfit
    return np.tensordot(x, y, (a, b))


def array_of(value: Any) -> np.ndarray:
    """A constant."""
    return np.array(value)


def apply_symbol(x: np.ndarray, value: Any, symbol: str) -> Any:
    """An infix operator, which promotes and broadcasts."""
    return {"+": np.add, "-": np.subtract, "*": np.multiply}[symbol](x, value)


def literal_with(x: np.ndarray, value: float, symbol: str) -> Any:
    """A Python number and an array."""
    return -apply_symbol(x, value, symbol) if symbol == "-" else apply_symbol(x, value, symbol)


def unary(name: str, f: Callable[..., Any]) -> Operation:
    """An operation of `lax` on one float."""
    return Operation(f"lax.{name}({{0}})", no_bool(f), one)


def binary(name: str, f: Callable[..., Any]) -> Operation:
    """An operation of `lax` on two floats."""
    return Operation(f"lax.{name}({{0}}, {{1}})", no_bool(strict(f)), two)


# The primitives of the lessons from `core` to `grad`, and what their operators do.
OPERATIONS = {
    "neg": unary("neg", np.negative),
    "sin": unary("sin", np.sin),
    "cos": unary("cos", np.cos),
    "exp": unary("exp", np.exp),
    "log": unary("log", far_from(lambda x: x, np.log)),
    "add": binary("add", np.add),
    "sub": binary("sub", np.subtract),
    "mul": binary("mul", np.multiply),
    "div": binary("div", far_from(lambda x, y: np.abs(y), np.divide)),
    "gt": binary("gt", far_from(distance, np.greater)),
    "lt": binary("lt", far_from(distance, np.less)),
    "infix": Operation("{0} {symbol} {1}", no_bool(apply_symbol), infix),
    "with_literal": Operation("{0} {symbol} {value}", no_bool(apply_symbol), literal),
    "literal_with": Operation("{value} {symbol} {0}", no_bool(literal_with), literal),
    "constant": Operation("np.array({value})", array_of, constant),
    "reduce_sum": Operation(
        "lax.reduce_sum({0}, {axes})", no_bool(reduce_sum), some_axes, "{{'axes': {axes}}}"
    ),
    "transpose": Operation(
        "lax.transpose({0}, {permutation})",
        no_bool(transpose),
        turned,
        "{{'permutation': {permutation}}}",
    ),
    "broadcast_in_dim": Operation(
        "lax.broadcast_in_dim({0}, {shape}, {axes})",
        no_bool(broadcast_in_dim),
        widened,
        "{{'shape': {shape}, 'broadcast_dimensions': {axes}}}",
    ),
    "convert_element_type": Operation(
        "lax.convert_element_type({0}, {dtype!r})",
        lambda x, dtype: x.astype(dtype),
        converted,
        "{{'new_dtype': np.dtype({dtype!r}), 'weak_type': False}}",
    ),
    "dot_general": Operation(
        "lax.dot_general({0}, {1}, {axes})",
        no_bool(dot_general),
        contracted,
        "{{'dimension_numbers': {axes}, 'preferred_element_type': None}}",
    ),
}

FIRST_CIRCLE = tuple(OPERATIONS)
LAX = tuple(name for name, x in OPERATIONS.items() if x.text.startswith("lax."))  # no operators


# Steps -------------------------------------------------------------------------------------------


def tame(x: np.ndarray) -> np.ndarray:
    """The array itself; raises Unfit if it has a number that is none, or too large."""
    if not (np.abs(x.astype(float)) < LARGEST).all():
        raise Unfit
    return x


@dataclass(frozen=True)
class Step:
    """One operation; operands are places among the inputs and the results of earlier steps."""

    name: str
    operands: tuple[int, ...]
    params: tuple[tuple[str, Any], ...] = ()

    def evaluate(self, values: Sequence[np.ndarray]) -> np.ndarray:
        """Its value, from those before it. Raises Unfit where operands do not fit."""
        operands = [values[i] for i in self.operands]
        with np.errstate(all="ignore"):
            return tame(np.asarray(OPERATIONS[self.name].evaluate(*operands, **dict(self.params))))
