"""Capstone b: writes like Shakespeare, or tries to. A transformer of two blocks learns six sonnets.

python capstones/characters.py --backend minijax|jax|mine
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from digits import cross_entropy
from training import HERE, Task, Tree, adam, adam_state, main

WIDTH, HEADS, BLOCKS, LENGTH, BATCH, RATE, STEPS = 32, 2, 2, 32, 16, 0.01, 400

TEXT = (HERE / "sonnets.txt").read_text(encoding="utf-8")
ALPHABET = sorted(set(TEXT))
TOKENS = np.array([ALPHABET.index(character) for character in TEXT])


# ------------------------------------------------------------------------------------------
# The model


def initial() -> Tree:
    """All parameters: random weights, smaller where more of them are summed."""
    random = np.random.default_rng(3)

    def normal(*shape: int) -> np.ndarray:
        return random.normal(size=shape) / np.sqrt(shape[0])

    block = {
        "qkv": (WIDTH, 3 * WIDTH),
        "out": (WIDTH, WIDTH),
        "up": (WIDTH, 4 * WIDTH),
        "down": (4 * WIDTH, WIDTH),
    }
    return {
        "tokens": normal(len(ALPHABET), WIDTH),
        "places": normal(LENGTH, WIDTH),
        "blocks": [{name: normal(*shape) for name, shape in block.items()} for _ in range(BLOCKS)],
        "read": normal(WIDTH, len(ALPHABET)),
    }


def normalised(jax: ModuleType, x: Any) -> Any:
    """Each row with mean 0 and variance 1."""
    centred = x - jax.numpy.mean(x, axis=-1, keepdims=True)
    return centred / jax.numpy.sqrt(jax.numpy.mean(centred**2, axis=-1, keepdims=True) + 1e-5)


def attention(jax: ModuleType, params: Tree, x: Any) -> Any:
    """Each character of `x[length, width]` collects from those before it what concerns it."""
    jnp, size = jax.numpy, WIDTH // HEADS
    qkv = (x @ params["qkv"]).reshape(LENGTH, 3, HEADS, size)
    q, k, v = (jnp.transpose(qkv[:, i], (1, 0, 2)) for i in range(3))
    scores = q @ jnp.transpose(k, (0, 2, 1)) / np.sqrt(size)
    scores = jnp.where(np.tril(np.ones((LENGTH, LENGTH), bool)), scores, -1e9)
    weights = jnp.exp(scores - jnp.max(scores, axis=-1, keepdims=True))
    mixed = weights / jnp.sum(weights, axis=-1, keepdims=True) @ v
    return jnp.transpose(mixed, (1, 0, 2)).reshape(LENGTH, WIDTH) @ params["out"]


def logits(jax: ModuleType, params: Tree, tokens: Any) -> Any:
    """What may follow each character of `tokens[length]`: `[length, alphabet]`."""
    x = params["tokens"][tokens] + params["places"]
    for block in params["blocks"]:
        x = x + attention(jax, block, normalised(jax, x))
        x = x + jax.numpy.maximum(normalised(jax, x) @ block["up"], 0.0) @ block["down"]
    return normalised(jax, x) @ params["read"]


# ------------------------------------------------------------------------------------------
# Training and writing


def make(jax: ModuleType) -> Task:
    """The task: to say which character comes next."""

    def loss(params: Tree, tokens: Any, one_hot: Any) -> Any:
        predict = jax.vmap(lambda row: logits(jax, params, row))
        return cross_entropy(jax, predict(tokens), one_hot)

    starts = np.random.default_rng(4).integers(len(TOKENS) - LENGTH, size=(STEPS, BATCH))

    def batch(number: int) -> tuple[Any, ...]:
        pieces = starts[number % STEPS][:, None] + np.arange(LENGTH + 1)
        tokens = TOKENS[pieces]
        return tokens[:, :-1], np.eye(len(ALPHABET))[tokens[:, 1:]]

    state = adam_state(jax, initial())
    predict = jax.jit(lambda params, tokens: logits(jax, params, tokens)[-1])

    def show(state: Tree) -> str:
        return f"\n{continued(predict, state[0], TEXT[:LENGTH])}\n"

    def prompted(state: Tree, prompt: str) -> str:
        return f"\n{continued(predict, state[0], prompt)}\n"

    return Task(state, adam(jax, loss, RATE), batch, STEPS, show, samples=3, prompted=prompted)


def continued(predict: Callable[..., Any], params: Tree, start: str, count: int = 150) -> str:
    """`start` and so many characters, each drawn from what the model expects after the others.

    The model reads `LENGTH` characters: what is missing in a short `start` is the text's beginning.
    Characters that the text does not have are spaces to it.
    """
    known = [ALPHABET.index(x if x in ALPHABET else " ") for x in start]
    draw, tokens = np.random.default_rng(5), [*TOKENS[:LENGTH], *known]
    for _ in range(count):
        scores = 2.0 * np.asarray(predict(params, np.array(tokens[-LENGTH:])))  # 2: play it safe
        chances = np.exp(scores - scores.max())
        tokens.append(draw.choice(len(ALPHABET), p=chances / chances.sum()))
    return start + "".join(ALPHABET[token] for token in tokens[LENGTH + len(known) :])


if __name__ == "__main__":
    main(make, __doc__)
