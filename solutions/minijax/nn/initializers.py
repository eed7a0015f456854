"""How parameters begin (`minijax.nn.initializers`): functions `(key, shape, dtype)`."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from minijax import dtypes, random
from minijax import numpy as jnp
from minijax.core import Value

__all__ = [
    "constant",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "kaiming_normal",
    "kaiming_uniform",
    "lecun_normal",
    "lecun_uniform",
    "normal",
    "ones",
    "truncated_normal",
    "uniform",
    "variance_scaling",
    "xavier_normal",
    "xavier_uniform",
    "zeros",
]

Initializer = Callable[..., Any]
Axes = int | Sequence[int]


def zeros(key: Value, shape: Sequence[int], dtype: Any = None) -> Value:
    """Zeros; the key does not matter."""
    return jnp.zeros(shape, dtype)


def ones(key: Value, shape: Sequence[int], dtype: Any = None) -> Value:
    """Ones; the key does not matter."""
    return jnp.ones(shape, dtype)


def constant(value: Value, dtype: Any = None) -> Initializer:
    """The initializer that returns `value` everywhere."""

    def init(key: Value, shape: Sequence[int], dtype: Any = dtype) -> Value:
        return jnp.full(shape, value, float if dtype is None else dtype)

    return init


def scaled(draw: Callable[..., Any], scale: Value, dtype: Any) -> Initializer:
    """Numbers that `draw(key, shape, dtype)` makes, times `scale`."""

    def init(key: Value, shape: Sequence[int], dtype: Any = dtype) -> Value:
        kind = dtypes.canonical(float if dtype is None else dtype)
        return draw(key, shape, kind) * jnp.asarray(scale, kind)

    return init


def uniform(scale: Value = 1e-2, dtype: Any = None) -> Initializer:
    """Uniform numbers between 0 and `scale`."""
    return scaled(random.uniform, scale, dtype)


def normal(stddev: Value = 1e-2, dtype: Any = None) -> Initializer:
    """Normal numbers with mean 0 and this standard deviation."""
    return scaled(random.normal, stddev, dtype)


def truncated_normal(
    stddev: Value = 1e-2, dtype: Any = None, lower: Value = -2.0, upper: Value = 2.0
) -> Initializer:
    """Like `normal`, of numbers between `lower` and `upper` before they are scaled."""

    def draw(key: Value, shape: Sequence[int], dtype: Any) -> Value:
        return random.truncated_normal(key, lower, upper, shape, dtype)

    return scaled(draw, stddev, dtype)


def fans(
    shape: Sequence[int], in_axis: Axes, out_axis: Axes, batch_axis: Axes
) -> tuple[float, float]:
    """How many inputs an output has, and how many outputs an input has."""
    if len(shape) <= 1 and in_axis == -2:
        raise ValueError(f"An array of shape {shape} has no axis -2: say `in_axis`.")

    def count(axes: Axes) -> int:
        return math.prod(shape[i] for i in ([axes] if isinstance(axes, int) else axes))

    inputs, outputs = count(in_axis), count(out_axis)
    field = math.prod(shape) / inputs / outputs / count(batch_axis)
    return inputs * field, outputs * field


def variance_scaling(
    scale: Value,
    mode: str,
    distribution: str,
    in_axis: Axes = -2,
    out_axis: Axes = -1,
    batch_axis: Axes = (),
    dtype: Any = None,
) -> Initializer:
    """Numbers of variance `scale / n`; `mode` says which n: "fan_in", "fan_out", "fan_avg", ...

    `distribution` is "truncated_normal", "normal" or "uniform".
    """

    def init(key: Value, shape: Sequence[int], dtype: Any = dtype) -> Value:
        kind = dtypes.canonical(float if dtype is None else dtype)
        count = fan(mode, *fans(shape, in_axis, out_axis, batch_axis))
        variance = jnp.array(scale / count, kind)
        if distribution == "normal":
            return random.normal(key, shape, kind) * jnp.sqrt(variance)
        if distribution == "uniform":
            return random.uniform(key, shape, kind, -1.0) * jnp.sqrt(3 * variance)
        if distribution != "truncated_normal":
            raise ValueError(f"There is no distribution {distribution!r} for an initializer.")
        width = jnp.sqrt(variance) / jnp.array(0.87962566103423978, kind)  # of numbers up to 2
        return random.truncated_normal(key, -2.0, 2.0, shape, kind) * width

    return init


def fan(mode: str, inputs: float, outputs: float) -> float:
    """The number by which a mode divides."""
    known = {
        "fan_in": inputs,
        "fan_out": outputs,
        "fan_avg": (inputs + outputs) / 2,
        "fan_geo_avg": (inputs * outputs) ** 0.5,
    }
    if mode not in known:
        raise ValueError(f"There is no mode {mode!r}; use one of {[*known]}.")
    return known[mode]


def scaling(scale: float, mode: str, distribution: str) -> Callable[..., Initializer]:
    """`variance_scaling` with these three."""

    def make(
        in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None
    ) -> Initializer:
        return variance_scaling(scale, mode, distribution, in_axis, out_axis, batch_axis, dtype)

    make.__doc__ = f"`variance_scaling({scale}, {mode!r}, {distribution!r}, ...)`."
    return make


glorot_uniform = xavier_uniform = scaling(1.0, "fan_avg", "uniform")
glorot_normal = xavier_normal = scaling(1.0, "fan_avg", "truncated_normal")
lecun_uniform = scaling(1.0, "fan_in", "uniform")
lecun_normal = scaling(1.0, "fan_in", "truncated_normal")
he_uniform = kaiming_uniform = scaling(2.0, "fan_in", "uniform")
he_normal = kaiming_normal = scaling(2.0, "fan_in", "truncated_normal")
