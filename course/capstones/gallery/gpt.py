"""A one-layer transformer learns a round, character by character, and sings it on its own.

The model is what remains of GPT when you leave out all you can: one head of attention, one layer of
neurons, and one table for letters and positions. After 60 steps it continues by itself from the
first letters of the round.
"""

import jax
import jax.numpy as jnp
from jax import lax, nn, random

TEXT = "row row row your boat gently down the stream merrily merrily life is but a dream "
LETTERS = sorted(set(TEXT))
LENGTH, WIDTH = 24, 32


def start():
    """The parameters, Adam's two averages, and pieces of the text with what follows each letter."""
    shapes = {"letters": (len(LETTERS), WIDTH), "places": (LENGTH, WIDTH)}
    shapes |= {"qkv": (WIDTH, 96), "up": (WIDTH, 128), "down": (128, WIDTH)}
    keys = random.split(random.key(0), len(shapes))
    params = {n: 0.2 * random.normal(k, s) for k, (n, s) in zip(keys, shapes.items(), strict=True)}
    numbers = jnp.array([LETTERS.index(c) for c in TEXT * 2])
    places = jnp.arange(len(TEXT))[:, None] + jnp.arange(LENGTH + 1)
    zeros = jax.tree.map(jnp.zeros_like, params)
    return (params, zeros, zeros, 0), numbers[places]


def logits(params, letters):
    """What the model expects after each letter of a piece."""
    x = params["letters"][letters] + params["places"]
    query, key, value = jnp.split(nn.standardize(x) @ params["qkv"], 3, axis=-1)
    scores = query @ key.T / WIDTH**0.5
    scores = jnp.where(jnp.tri(LENGTH, dtype=bool), scores, -1e9)
    x = x + nn.softmax(scores) @ value
    x = x + nn.gelu(nn.standardize(x) @ params["up"]) @ params["down"]
    return nn.standardize(x) @ params["letters"].T


def loss(params, pieces):
    """The mean cross entropy of the next letters."""
    guesses = nn.log_softmax(jax.vmap(logits, (None, 0))(params, pieces[:, :-1]))
    return -jnp.mean(jnp.sum(guesses * nn.one_hot(pieces[:, 1:], len(LETTERS)), -1))


def step(state, pieces):
    """One step of Adam's method."""
    params, mean, square, i = state
    value, slope = jax.value_and_grad(loss)(params, pieces)
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, slope)
    square = jax.tree.map(lambda s, g: 0.99 * s + 0.01 * g * g, square, slope)
    rate = 0.01 * jnp.sqrt(1 - 0.99 ** (i + 1.0))
    moved = jax.tree.map(lambda p, m, s: p - rate * m / (jnp.sqrt(s) + 1e-8), params, mean, square)
    return (moved, mean, square, i + 1), value


def sing(params, first, count):
    """The letters that follow, each the likeliest after the ones before it."""

    def next_letter(piece, _):
        new = jnp.argmax(logits(params, piece)[-1])
        return jnp.append(piece[1:], new), new

    return lax.scan(next_letter, first, None, length=count)[1]


def main():
    state, pieces = start()
    fast = jax.jit(step)
    for i in range(61):
        state, value = fast(state, pieces)
        if i % 20 == 0:
            print(f"loss {value:.2f}")
    song = jax.jit(sing, static_argnums=2)(state[0], pieces[0, :-1], 60)
    print("".join(LETTERS[i] for i in song))


if __name__ == "__main__":
    main()
