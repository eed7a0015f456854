"""Which JAX the tests compare with, the newest that the lock file has for each Python; and how."""

import jax
import minijax
import numpy as np
import pytest
from expressions import programs_of

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


def assert_all_same(programs, near=1e-12, single=1e-5, lib=minijax):
    """Functions of the library, by name, give the same on both; JAX compiles all of them at once.

    Compiling takes nearly all of the time.
    """
    want = jax.jit(lambda: {name: program(jax) for name, program in programs.items()})()
    for name, program in programs.items():
        assert_same(program(lib), want[name], name, near, single)


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


# What each transformation makes of a function from vectors to vectors -----------------------------

X, Y = np.array([1.0, 2.0, 4.0]), np.array([3.0, 0.5, 1.5])
STACK = np.stack([X, Y])


def weighted(f):
    """A number in place of an array, to which every entry adds something of its own."""
    return lambda x: (f(x) * np.array([1.0, -2.0, 0.5])).sum()


def hessian(lib, f):
    """Forward over reverse, one direction at a time."""
    return lib.vmap(lambda v: lib.jvp(lib.grad(f), (X,), (v,))[1])(np.eye(3))


TRANSFORMATIONS = programs_of(
    globals(),
    """
    evaluation: f(X)
    jit: lib.jit(f)(X)
    jit of jit: lib.jit(lambda x: lib.jit(f)(x) * 2.0)(X)
    jvp: lib.jvp(f, (X,), (Y,))
    vmap: lib.vmap(f)(STACK)
    vmap along axis 1: lib.vmap(f, 1, 1)(np.stack([X, Y], 1))
    vmap of jit: lib.vmap(lib.jit(f))(STACK)
    vmap of vmap: lib.vmap(lib.vmap(f), 1)(np.stack([[X, Y], [Y, X + Y]]))
    vmap of jvp: lib.vmap(lambda x: lib.jvp(f, (x,), (Y,)))(STACK)
    jvp of vmap: lib.jvp(lib.vmap(f), (STACK,), (np.stack([Y, X]),))
    jvp of jit: lib.jvp(lib.jit(f), (X,), (Y,))
    jit of jvp of jit: lib.jit(lambda x: lib.jvp(lib.jit(f), (x,), (Y,)))(X)
    jvp of jvp: lib.jvp(lambda x: lib.jvp(f, (x,), (Y,)), (X,), (X,))
    linearize: lib.linearize(f, X)[1](Y)
    vjp: lib.vjp(f, X)[1](Y)
    vjp of jit: lib.vjp(lib.jit(f), X)[1](Y)
    grad: lib.grad(weighted(f))(X)
    jit of grad: lib.jit(lib.grad(weighted(f)))(X)
    grad of jit: lib.grad(lib.jit(weighted(f)))(X)
    jit of vmap of grad: lib.jit(lib.vmap(lib.grad(weighted(f))))(STACK)
    jit of vmap of grad of jit: lib.jit(lambda xs:
        lib.vmap(lib.grad(lib.jit(weighted(f))))(xs))(STACK)
    grad of vmap: lib.grad(lambda x: lib.vmap(f)(x).sum())(STACK)
    grad of grad: lib.grad(lambda x: (lib.grad(weighted(f))(x) * Y).sum())(X)
    grad of jvp: lib.grad(lambda x: weighted(lambda y: lib.jvp(f, (y,), (Y,))[1])(x))(X)
    hessian: hessian(lib, weighted(f))
    jit of hessian of jit: lib.jit(lambda: hessian(lib, lib.jit(weighted(f))))()
""",
    "f",
)
