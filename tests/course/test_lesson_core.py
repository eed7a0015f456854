"""The lesson core: integer division is XLA's."""

import numpy as np
import pytest


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint32", "uint64"])
def test_integer_division_is_xlas(dtype):
    import jax
    from minijax import lax

    x, y = (a.ravel() for a in np.meshgrid(np.arange(-9, 10), np.arange(-4, 5)))
    x, y = x.astype(dtype), y.astype(dtype)
    with jax.enable_x64(True):
        want = np.asarray(jax.lax.div(x, y))
    got = lax.div(x, y)
    assert got.dtype == want.dtype
    assert got.tolist() == want.tolist()
