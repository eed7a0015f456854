"""The core and jvp lessons against JAX: promotion, and edge cases.

Each operation's values and derivatives are compared in `test_primitives` and `test_edges`.
"""

import itertools
import warnings

import jax
import jax.numpy as jjnp
import minijax
import minijax.numpy as mjnp
import numpy as np
import pytest
from oracle import assert_all_same, assert_same


def compare(program):
    """`program(lib, jnp)` in both systems; minijax must not warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = program(minijax, mjnp)
    assert_same(got, program(jax, jjnp))


SCALARS = {"int": 3, "float": 2.5, "bool": True}
DTYPES = ["bool", "int8", "int32", "int64", "uint8", "uint32", "float32", "float64"]
OPERANDS = [*SCALARS, *DTYPES]
# Of two booleans jnp.multiply takes the logical and, which is for a later lesson.
PAIRS = [p for p in itertools.product(OPERANDS, OPERANDS) if p != ("bool", "bool")]


def operand(name):
    return SCALARS[name] if name in SCALARS else np.ones((2,), name)


def product(lib, x, y):
    return lib.jvp(lambda t: t * lib.numpy.multiply(x, y), (2.0,), (1.0,))[0]


@pytest.mark.filterwarnings("error")
def test_operators_promote_as_in_jax():
    assert_all_same(
        {f"{x}, {y}": lambda lib, x=x, y=y: product(lib, operand(x), operand(y)) for x, y in PAIRS}
    )


EDGES = {
    "integer division": lambda lib, jnp: lib.lax.div(
        np.array([7, -7, 7, -7, 5], "int32"), np.array([2, 2, -2, -2, 0], "int32")
    ),
    "smallest integer by -1": lambda lib, jnp: lib.lax.div(
        np.array([-(2**31)], "int32"), np.array([-1], "int32")
    ),
    "floats to integers": lambda lib, jnp: lib.lax.convert_element_type(
        jnp.asarray([np.nan, 1e30, -1e30, -1.5, 2.9]), "int32"
    ),
    "log of negative": lambda lib, jnp: jnp.log(np.array([-1.0, 0.0])),
    "constant times infinity": lambda lib, jnp: lib.jvp(lambda x: x * 2.0, (np.inf,), (1.0,)),
    "derivative of 1/x at 0": lambda lib, jnp: lib.jvp(lambda x: 1.0 / x, (0.0,), (1.0,)),
    "sum of int32": lambda lib, jnp: jnp.sum(np.array([1, 2], "int32")),
    "python branch": lambda lib, jnp: lib.jvp(lambda x: x * 3.0 if x > 0 else x, (2.0,), (1.0,)),
    "constant output": lambda lib, jnp: lib.jvp(lambda x: (x, np.ones(2), 7), (2.0,), (1.0,))[1],
    "containers": lambda lib, jnp: lib.jvp(
        lambda d, c: {"b": d["a"] * c[0], "a": (c[0],)}, ({"a": 3.0}, [2.0]), ({"a": 1.0}, [5.0])
    ),
    "0-d meets vector": lambda lib, jnp: lib.jvp(
        lambda x, v: (x + v, v - x, x * v, v / x), (2.0, np.arange(3.0)), (1.0, np.ones(3))
    ),
    "length 1 meets vector": lambda lib, jnp: lib.jvp(
        lambda a, b: a + b, (np.ones((1, 3)), np.ones((2, 1))), (np.ones((1, 3)), np.ones((2, 1)))
    ),
    "aux": lambda lib, jnp: lib.jvp(lambda x: ({"a": x * x}, [x, 3]), (2.0,), (1.0,), has_aux=True),
    "aux of an inner jvp moves": lambda lib, jnp: lib.jvp(
        lambda x: lib.jvp(lambda y: (y, x * y), (x,), (1.0,), True)[2], (3.0,), (1.0,)
    ),
    "perturbation confusion": lambda lib, jnp: lib.jvp(
        lambda x: x * lib.jvp(lambda y: x + y, (1.0,), (1.0,))[1], (1.0,), (1.0,)
    ),
}


@pytest.mark.every
@pytest.mark.parametrize("program", EDGES.values(), ids=EDGES)
def test_edge_cases(program):
    compare(program)
