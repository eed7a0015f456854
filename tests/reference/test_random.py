"""`minijax.random` against `jax.random`: bit for bit, under each transformation, for both keys."""

import jax
import minijax
import numpy as np
import pytest
from expressions import rows_of
from oracle import assert_same

WEIGHTS = np.array([0.1, 0.2, 0.3, 0.4, 0.0])
GRID = np.arange(12.0).reshape(4, 3)

# Of a key `k`, a program of the library; `r` is its module `random`.
ROWS = """
    r.key_data(r.split(k, 3)); r.key_data(r.split(k, (2, 3))); r.key_data(r.fold_in(k, 7))
    r.key_data(r.fold_in(k, np.uint32(2**31))); r.bits(k, (3, 4)); r.bits(k, (5,), "uint8")
    r.bits(k, (5,), "uint16"); r.bits(k, (2, 3), "uint32"); r.bits(k); r.uniform(k, (50,))
    r.uniform(k, (50,), "float32"); r.uniform(k, (50,), "float16"); r.uniform(k)
    r.uniform(k, (50,), minval=-2.5, maxval=7.1); r.uniform(k, (2, 3), minval=np.arange(3.0) - 4)
    r.normal(k, (50,)); r.normal(k, (50,), "float32"); r.normal(k, (50,), "float16"); r.normal(k)
    r.truncated_normal(k, -1, 2.0, (50,)); r.truncated_normal(k, -1.0, WEIGHTS, dtype="float32")
    r.bernoulli(k, 0.3, (50,)); r.bernoulli(k, 0.3, (50,), mode="high"); r.bernoulli(k, WEIGHTS)
    r.bernoulli(k); r.randint(k, (50,), 0, 10); r.randint(k, (50,), -5, 10, "int32")
    r.randint(k, (50,), 0, 256, "uint8"); r.randint(k, (50,), 0, 2**33, "uint32")
    r.randint(k, (9,), -(2**60), 2**61); r.randint(k, (2, 2), np.array([0, 9]), np.array([3, 4]))
    r.permutation(k, 10); r.permutation(k, GRID); r.permutation(k, GRID, 1)
    r.permutation(k, GRID, -1, independent=True); r.permutation(k, 3000); r.choice(k, 5, (7,))
    r.choice(k, GRID, (2, 2), axis=1); r.choice(k, np.arange(5) * 10, (7,), p=WEIGHTS)
    r.choice(k, np.arange(9), (4,), replace=False); r.choice(k, 5, (3,), False, WEIGHTS)
    r.categorical(k, np.log(GRID + 1)); r.categorical(k, np.log(GRID + 1), 0, (5, 3))
    r.categorical(k, np.zeros(4, "float32"), shape=(9,)); r.gumbel(k, (20,))
    r.categorical(k, GRID, shape=(2, 4), replace=False); r.gumbel(k, (20,), "float32", mode="high")
    r.exponential(k, (50,)); r.laplace(k, (50,), "float32"); r.logistic(k, (50,))
    r.cauchy(k, (50,)); r.rademacher(k, (20,), "int8"); r.key_data(r.wrap_key_data(r.key_data(k)))
    r.normal(r.PRNGKey(3), (2,)); r.key_data(r.key(2**40 + 5)); r.PRNGKey(-1)
    r.choice(k, GRID, (0, 2))
"""


def of_row(text):
    """A row as a program of the library, for a typed key."""

    def program(lib, key=None):
        known = {"r": lib.random, "k": lib.random.key(42) if key is None else key}
        return eval(text, known | {"np": np, "WEIGHTS": WEIGHTS, "GRID": GRID})

    return program


def function(text):
    return text.removeprefix("r.key_data(").removeprefix("r.").partition("(")[0]


@pytest.fixture(scope="module")
def numbers_of_jax():
    """By row; JAX compiles one program for all of them."""
    return jax.jit(lambda key: {x: of_row(x)(jax, key) for x in rows_of(ROWS)})(jax.random.key(42))


# The choice takes the first row of each function.
FIRST = {function(text): text for text in reversed(rows_of(ROWS))}
CASES = [
    pytest.param(text, marks=() if FIRST[function(text)] == text else pytest.mark.slow)
    for text in rows_of(ROWS)
]


@pytest.mark.every
@pytest.mark.parametrize("text", CASES)
def test_the_numbers_have_the_bits_of_those_of_jax(numbers_of_jax, text):
    assert_same(of_row(text)(minijax), numbers_of_jax[text], near=0, single=0)


def everything(lib):
    """Keys of both kinds through transformations and loops."""
    r, jnp, lax = lib.random, lib.numpy, lib.lax
    typed, raw = r.key(5), r.PRNGKey(5)

    def walk(key, _):
        key, own = r.split(key)
        return key, r.normal(own)

    def of_tree(keys):
        return lib.tree.map(lambda k, s: r.normal(k, s), keys, {"a": 2.0 * jnp.ones(3), "b": 1.0})

    out = {"raw": r.normal(raw, (3,)), "raw keys": r.split(raw), "raw folded": r.fold_in(raw, 1)}
    for name, key in {"typed": typed, "raw": raw}.items():
        keys = r.split(key, 4)
        out[name] = [
            lib.vmap(lambda k: r.uniform(k, (2,)))(keys),
            lib.jit(lambda k: [r.bits(x) for x in r.split(k)])(key),
            lib.vmap(lambda i, key=key: r.normal(r.fold_in(key, i)))(jnp.arange(3)),
            lib.vmap(lambda k: r.key_data(r.split(k, 2)))(keys),
            lib.pmap(lambda k: r.normal(k, (2,)))(keys[:1]),
            lib.jit(lib.vmap(lambda k: r.permutation(k, 5)))(keys),
            lax.scan(walk, key, None, length=3)[1],
            lax.cond(True, lambda k: r.normal(k), lambda k: r.uniform(k), key),
            lax.fori_loop(0, 3, lambda i, x, key=key: x + r.normal(r.fold_in(key, i)), 0.0),
            lib.grad(lambda m, key=key: (m * r.normal(key, (3,))).sum())(2.0),
            lib.jacfwd(lambda x, key=key: r.uniform(key, (2,), minval=x, maxval=3.0))(1.0),
            lib.grad(lambda x, key=key: r.truncated_normal(key, x, 3.0))(1.0),
            [r.normal(k) for k in keys],
            r.key_data(keys[1]),
            r.key_data(keys[1:3]),
        ]
    out["about keys"] = [typed.shape, typed.ndim, r.split(typed, (2, 3)).size, len(r.split(typed))]
    out["texts"] = [str(typed.dtype), repr(typed), repr(r.split(typed).shape)]
    out["equal"] = [typed == r.key(5), r.split(typed) == r.split(typed)[0]]
    out["shapes of keys"] = r.key_data(r.split(typed, 6).reshape(3, 2)[..., 0])
    return out


@pytest.mark.slow
def test_keys_of_both_kinds_go_through_every_transformation():
    assert_same(everything(minijax), everything(jax), near=1e-15)
