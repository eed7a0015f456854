"""Capstone a: reads handwritten digits. A small network learns 1,437 of them, and is tested on 360.

python capstones/digits.py --backend minijax|jax|mine
"""

from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np
from show import drawn
from training import HERE, Task, Tree, main

WIDTHS, BATCH, TEST, RATE, STEPS = (64, 48, 10), 128, 360, 0.5, 100


def data() -> tuple[np.ndarray, np.ndarray]:
    """Pictures of 8 by 8 as rows of 64 numbers from 0 to 1, and their digits, shuffled."""
    with np.load(HERE / "digits.npz") as stored:
        pictures, labels = stored["pictures"], stored["labels"]
    order = np.random.default_rng(0).permutation(len(labels))
    return pictures[order] / 16.0, labels[order]


def initial(widths: tuple[int, ...]) -> Tree:
    """Weights and biases of each layer."""
    random = np.random.default_rng(1)
    return [(random.normal(size=(m, n)) / np.sqrt(m), np.zeros(n)) for m, n in pairwise(widths)]


def network(jax: ModuleType, params: Tree, x: Any) -> Any:
    """Pictures `[n, 64]` to a number for each digit, `[n, 10]`."""
    *hidden, (weights, bias) = params
    for w, b in hidden:
        x = jax.numpy.tanh(x @ w + b)
    return x @ weights + bias


def cross_entropy(jax: ModuleType, logits: Any, one_hot: Any) -> Any:
    """Minus the logarithm of the probability that the right answers get, averaged."""
    jnp = jax.numpy
    shifted = logits - jnp.max(logits, axis=-1, keepdims=True)
    log_total = jnp.log(jnp.sum(jnp.exp(shifted), axis=-1))
    return jnp.mean(log_total - jnp.sum(shifted * one_hot, axis=-1))


def make(jax: ModuleType) -> Task:
    """The task: which step is taken, with what, and how the result is tested."""
    x, labels = data()
    train_x, test_x, one_hot = x[TEST:], x[:TEST], np.eye(10)[labels[TEST:]]
    random = np.random.default_rng(2)
    picks = [random.choice(len(train_x), BATCH, replace=False) for _ in range(STEPS)]

    def loss(params: Tree, x: Any, one_hot: Any) -> Any:
        return cross_entropy(jax, network(jax, params, x), one_hot)

    def step(params: Tree, x: Any, one_hot: Any) -> tuple[Tree, Any]:
        value, grads = jax.value_and_grad(loss)(params, x, one_hot)
        return jax.tree.map(lambda p, g: p - RATE * g, params, grads), value

    def show(params: Tree) -> str:
        answers = np.argmax(np.asarray(network(jax, params, test_x)), axis=-1)
        share = f"{np.mean(answers == labels[:TEST]):.1%} of {TEST} new digits are read correctly"
        wrong = np.flatnonzero(answers != labels[:TEST])[:4]
        titles = [f"a {labels[i]}, read as {answers[i]}" for i in wrong]
        return f"{share}\n{drawn(test_x[wrong], titles)}" if len(wrong) else share

    def pictures(params: Tree) -> list[tuple[str, Any]]:
        """Twelve of the new digits: 0 to 7, each read correctly, and some others."""
        answers = np.argmax(np.asarray(network(jax, params, test_x)), axis=-1)
        right = answers == labels[:TEST]
        read = [np.flatnonzero(right & (labels[:TEST] == digit))[:1] for digit in range(8)]
        some = [*np.concatenate(read), *np.flatnonzero(~right)[:4]]
        rows = test_x[some].reshape(-1, 8, 8).round(2).tolist()
        titles = [f"a {labels[i]}, read as {answers[i]}" for i in some]
        return list(zip(titles, rows, strict=True))

    def batch(number: int) -> tuple[Any, ...]:
        pick = picks[number % STEPS]
        return train_x[pick], one_hot[pick]

    return Task(initial(WIDTHS), step, batch, STEPS, show, pictures=pictures)


if __name__ == "__main__":
    main(make, __doc__)
