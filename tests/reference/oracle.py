"""Which JAX the tests compare with, the newest that the lock file has for each Python; and how."""

import jax
import minijax
import numpy as np
import pytest

# Jaxprs are promised to print as in JAX 0.10.2 (Python 3.11); later ones print more parameters.
prints_as_promised = pytest.mark.skipif(
    jax.__version_info__ >= (0, 11), reason="printed jaxprs are compared with those of JAX 0.10"
)

# Signatures too are JAX 0.10's: later ones drop and add parameters.
signed_as_promised = pytest.mark.skipif(
    jax.__version_info__ >= (0, 11), reason="signatures are compared with those of JAX 0.10"
)


def assert_same(got, want, what="", near=1e-12, single=1e-5):
    """What minijax and JAX gave has the same structure, shapes, dtypes, and values within rounding.

    `near` and `single` are how far values may be apart, relatively or absolutely: float64 and
    float32. All else is equal.
    """
    assert str(minijax.tree.structure(got)) == str(jax.tree.structure(want)), what
    for x, y in zip(minijax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        if isinstance(y, str | jax.tree_util.PyTreeDef):
            assert str(x) == str(y), what
            continue
        x, y = np.asarray(x), np.asarray(y)
        assert (x.shape, x.dtype) == (y.shape, y.dtype), what
        if y.dtype != jax.dtypes.float0:
            most = single if y.dtype == np.float32 else near
            np.testing.assert_allclose(x, y, rtol=most, atol=most, err_msg=what)


def assert_all_same(programs, near=1e-12, single=1e-5):
    """Functions of the library, by name, give the same on both; JAX compiles all of them at once.

    Compiling takes nearly all of the time.
    """
    want = jax.jit(lambda: {name: program(jax) for name, program in programs.items()})()
    for name, program in programs.items():
        assert_same(program(minijax), want[name], name, near, single)


def assert_same_error(ours, theirs, or_wider=False, match=None):
    """Both fail: minijax with one line, and with JAX's class of error (`or_wider`: or a base)."""
    with pytest.raises(Exception) as want:
        theirs()
    with pytest.raises(Exception, match=match) as got:
        ours()
    assert want.type not in (NameError, SyntaxError)  # a slip in the program itself
    classes = want.type.__mro__ if or_wider else [want.type]
    assert got.type.__name__ in [cls.__name__ for cls in classes]
    assert len(str(got.value).splitlines()) == 1
