"""The programs that are measured, written once: `jax` is whichever module is measured.

It is JAX itself, minijax, or HIPS autograd (which has `numpy` and `grad` of the same names).
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np

Tree = Any


@dataclass(frozen=True)
class Sizes:
    """How large the programs are; the defaults are what is reported."""

    equations: int = 1000  # of the program that is only traced; a multiple of 4
    widths: tuple[int, ...] = (784, 256, 10)  # of the MLP's layers
    batch: int = 128
    small_widths: tuple[int, ...] = (8, 32, 32, 1)  # of the MLP for eager gradients
    small_batch: int = 16
    examples: int = 64  # for gradients example by example
    vocabulary: int = 64
    model: int = 64  # width of the transformer
    heads: int = 4
    length: int = 32  # tokens in a sequence
    sequences: int = 8
    blocks: int = 2


def normal(*shape: int) -> np.ndarray:
    """Numbers that look random and are always the same ones, scaled as initial weights are."""
    numbers = np.random.default_rng(len(shape)).normal(size=shape)
    return (numbers / np.sqrt(shape[0])).astype(np.float32)


def chain(jax: ModuleType, equations: int) -> Callable[[Any], Any]:
    """A function of so many equations, new at each call, so that it was never traced before."""
    jnp = jax.numpy

    def f(x: Any) -> Any:
        for _ in range(equations // 4):
            x = jnp.sin(x) * 2.0 + jnp.cos(x)
        return x

    return f


# An MLP -----------------------------------------------------------------------------------------


def mlp_params(widths: tuple[int, ...]) -> Tree:
    return [{"w": normal(m, n), "b": np.zeros(n, np.float32)} for m, n in pairwise(widths)]


def mlp_data(widths: tuple[int, ...], batch: int) -> tuple[np.ndarray, np.ndarray]:
    """Inputs, and one-hot labels."""
    labels = np.arange(batch) % widths[-1]
    return normal(batch, widths[0]), np.eye(widths[-1], dtype=np.float32)[labels]


def mlp(jnp: ModuleType, params: Tree, x: Any) -> Any:
    for layer in params[:-1]:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def cross_entropy(jnp: ModuleType, logits: Any, one_hot: Any) -> Any:
    shifted = logits - jnp.max(logits, axis=-1, keepdims=True)
    log_sum = jnp.log(jnp.sum(jnp.exp(shifted), axis=-1))
    return jnp.mean(log_sum - jnp.sum(shifted * one_hot, axis=-1))


def mlp_loss(jax: ModuleType) -> Callable[[Tree, Any, Any], Any]:
    """The loss of an MLP that classifies."""
    jnp = jax.numpy
    return lambda params, x, one_hot: cross_entropy(jnp, mlp(jnp, params, x), one_hot)


def squared_loss(jax: ModuleType) -> Callable[[Tree, Any, Any], Any]:
    """The loss of an MLP that predicts numbers."""
    jnp = jax.numpy
    return lambda params, x, y: jnp.mean((mlp(jnp, params, x) - y) ** 2)


# A transformer ----------------------------------------------------------------------------------


def block_params(model: int) -> Tree:
    return {
        "qkv": normal(model, 3 * model),
        "out": normal(model, model),
        "up": normal(model, 4 * model),
        "down": normal(4 * model, model),
        "scales": [np.ones(model, np.float32), np.ones(model, np.float32)],
    }


def transformer_params(sizes: Sizes) -> Tree:
    return {
        "tokens": normal(sizes.vocabulary, sizes.model),
        "places": normal(sizes.length, sizes.model),
        "blocks": [block_params(sizes.model) for _ in range(sizes.blocks)],
        "unembed": normal(sizes.model, sizes.vocabulary),
    }


def token_data(sizes: Sizes) -> tuple[np.ndarray, np.ndarray]:
    """Sequences of tokens, and of the tokens that follow, one-hot."""
    stream = np.arange(sizes.sequences * (sizes.length + 1), dtype=np.int32)
    tokens = (stream**2 % sizes.vocabulary).reshape(sizes.sequences, -1)
    return tokens[:, :-1], np.eye(sizes.vocabulary, dtype=np.float32)[tokens[:, 1:]]


def layer_norm(jnp: ModuleType, scale: Any, x: Any) -> Any:
    centred = x - jnp.mean(x, axis=-1, keepdims=True)
    return scale * centred / jnp.sqrt(jnp.mean(centred**2, axis=-1, keepdims=True) + 1e-5)


def attention(jnp: ModuleType, params: Tree, x: Any, heads: int) -> Any:
    """Causal self-attention of `x[sequences, length, model]`."""
    sequences, length, model = x.shape
    qkv = (x @ params["qkv"]).reshape(sequences, length, 3, heads, model // heads)
    q, k, v = (jnp.transpose(qkv[:, :, i], (0, 2, 1, 3)) for i in range(3))
    scores = q @ jnp.transpose(k, (0, 1, 3, 2)) / (model // heads) ** 0.5
    past = np.tril(np.ones((length, length), bool))
    weights = jnp.exp(jnp.where(past, scores, -1e9) - jnp.max(scores, axis=-1, keepdims=True))
    mixed = (weights / jnp.sum(weights, axis=-1, keepdims=True)) @ v
    return jnp.transpose(mixed, (0, 2, 1, 3)).reshape(x.shape) @ params["out"]


def block(jnp: ModuleType, params: Tree, x: Any, heads: int) -> Any:
    x = x + attention(jnp, params, layer_norm(jnp, params["scales"][0], x), heads)
    hidden = layer_norm(jnp, params["scales"][1], x) @ params["up"]
    return x + jnp.maximum(hidden, 0.0) @ params["down"]


def block_loss(jax: ModuleType, heads: int) -> Callable[[Tree, Any], Any]:
    """A number from one block, to have something to differentiate."""
    jnp = jax.numpy
    return lambda params, x: jnp.mean(block(jnp, params, x, heads) ** 2)


def transformer_loss(jax: ModuleType, heads: int) -> Callable[[Tree, Any, Any], Any]:
    """The loss of a language model."""
    jnp = jax.numpy

    def loss(params: Tree, tokens: Any, one_hot: Any) -> Any:
        x = params["tokens"][tokens] + params["places"]
        for each in params["blocks"]:
            x = block(jnp, each, x, heads)
        return cross_entropy(jnp, x @ params["unembed"], one_hot)

    return loss


# Training ---------------------------------------------------------------------------------------


def training_step(jax: ModuleType, loss: Callable[..., Any]) -> Callable[..., tuple[Tree, Any]]:
    """A jitted step of gradient descent: from parameters and data to parameters and the loss."""

    def step(params: Tree, *data: Any) -> tuple[Tree, Any]:
        value, grads = jax.value_and_grad(loss)(params, *data)
        return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads), value

    return jax.jit(step)
