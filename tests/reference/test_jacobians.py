"""Jacobians and Hessians against JAX: any shapes, containers, argnums, aux."""

import numpy as np
import pytest
from oracle import assert_all_same

MATRIX = np.array([[1.0, 2.0, -1.0], [0.5, 3.0, 2.0]])
VECTOR = np.array([0.5, -1.0, 2.0])
SINGLE = VECTOR.astype(np.float32)
TREE = {"a": 3.0, "b": [MATRIX, VECTOR]}


def product(x, y):
    return x * y * y


def of_tree(d):
    return {"out": d["b"][0] * d["b"][1] * d["a"], "more": (d["a"] * d["a"], d["b"][1])}


def with_aux(x):
    return x * x, {"sum": x.sum(), "n": 3}


def mixed(x):
    return x.astype("float64") * 2.0, x * x


JACOBIANS = {
    "scalar": lambda jac, lib: jac(lambda x: x * x)(3.0),
    "scalar to matrix": lambda jac, lib: jac(lambda x: x * MATRIX)(3.0),
    "matrix to scalar": lambda jac, lib: jac(lambda x: (x * x).sum())(MATRIX),
    "matrix to matrix": lambda jac, lib: jac(lambda x: (x @ x.T).T * 2.0)(MATRIX),
    "three axes": lambda jac, lib: jac(lambda x: (x * x).sum(1))(np.stack([MATRIX, MATRIX + 1])),
    "unequal axes": lambda jac, lib: jac(lambda x: MATRIX.T @ x)(np.ones((2, 1))),
    "no entries": lambda jac, lib: jac(lambda x: x * x)(np.zeros((0, 2))),
    "containers": lambda jac, lib: jac(of_tree)(TREE),
    "constant results": lambda jac, lib: jac(lambda x: (x, 1.0, np.ones(2)))(MATRIX),
    "second argument": lambda jac, lib: jac(product, 1)(MATRIX, VECTOR),
    "last argument": lambda jac, lib: jac(product, -1)(MATRIX, VECTOR),
    "two arguments": lambda jac, lib: jac(product, (1, 0))(MATRIX, VECTOR),
    "one in a tuple": lambda jac, lib: jac(of_tree, (0,))(TREE),
    "keyword": lambda jac, lib: jac(product)(MATRIX, y=VECTOR),
    "aux": lambda jac, lib: jac(with_aux, has_aux=True)(VECTOR),
    "aux and two arguments": lambda jac, lib: jac(
        lambda x, y: (x * y, x), argnums=(0, 1), has_aux=True
    )(VECTOR, 2.0),
    "single precision": lambda jac, lib: jac(mixed)(SINGLE),
    "under jit": lambda jac, lib: lib.jit(jac(of_tree))(TREE),
    "under vmap": lambda jac, lib: lib.vmap(jac(lambda x: x * x.sum()))(MATRIX),
    "under grad": lambda jac, lib: lib.grad(lambda x: jac(lambda y: y * y * y)(x).sum())(VECTOR),
    "of jit": lambda jac, lib: jac(lib.jit(product), (0, 1))(MATRIX, VECTOR),
    "of itself": lambda jac, lib: jac(jac(lambda x: x * x * x))(MATRIX),
}
OTHERS = {
    "matrix": lambda lib: lib.hessian(lambda x: (x * x * x @ VECTOR).sum())(MATRIX),
    "containers": lambda lib: lib.hessian(lambda d: (d["b"][0] * d["b"][1]).sum() * d["a"])(TREE),
    "two arguments": lambda lib: lib.hessian(product, (0, 1))(2.0, 3.0),
    "not a scalar": lambda lib: lib.hessian(product, 1)(MATRIX, VECTOR),
    "aux": lambda lib: lib.hessian(lambda x: (product(x, x), x), has_aux=True)(VECTOR),
    "under jit": lambda lib: lib.jit(lib.hessian(lambda x: (x * x * x).sum()))(VECTOR),
    "an integer result": lambda lib: lib.jacfwd(lambda x: (x.astype("int32"), x, 3))(MATRIX),
    "an integer argument": lambda lib: lib.jacrev(lambda d: d["n"] * d["x"], allow_int=True)(
        {"n": 3, "x": VECTOR}
    ),
}


@pytest.mark.parametrize("mode", ["jacfwd", "jacrev"])
def test_jacobians_are_those_of_jax(mode):
    assert_all_same(
        {name: lambda lib, of=of: of(getattr(lib, mode), lib) for name, of in JACOBIANS.items()}
    )


def test_hessians_and_jacobians_of_integers_are_those_of_jax():
    assert_all_same(OTHERS)
