"""What JAX refuses, minijax refuses: with an error of the same class, and in one line.

A program that runs here and not on JAX breaks the promise as much as a wrong number does.
Each row is a statement: `lib` is jax or minijax, `jnp` and `lax` its modules; x, m, i, b and f are
arrays of it, r its `random`, and k a key; X and W are arrays of NumPy.
"""

import dataclasses
from collections import OrderedDict, defaultdict, namedtuple  # noqa: F401 (rows)

import jax
import jax.flatten_util
import jax.numpy as jjnp
import minijax
import minijax.numpy as mjnp
import numpy as np
import pytest
from expressions import rows_of
from microjax import contexts, stackless
from minijax.core import trace_state
from oracle import assert_same_error
from test_custom_rules import custom_product  # noqa: F401 (rows)

X, W = np.arange(3.0), np.ones((3, 3))
Point = namedtuple("Point", "x y")


def identity(x):
    return x


def product(x, n):
    return x * n


def mixed(a, /, b, *args, **kwargs):
    return a


def numbers(x):
    yield x


def registered(lib, flatten):
    """An object of a class that is flattened by this function."""
    cls = type("Box", (), {})
    lib.tree_util.register_pytree_node(cls, flatten, lambda data, children: cls())
    return cls()


TREES = """
    lib.tree.leaves({1: 1, "a": 2}); lib.tree.leaves(defaultdict(int, {1: 1, "a": 2}))
    lib.tree.map(product, OrderedDict(a=1, b=2), OrderedDict(b=1, a=2))
    lib.tree.map(product, OrderedDict(a=1), {"a": 1})
    lib.tree.map(product, defaultdict(int, a=1), defaultdict(float, a=1))
    lib.tree.map(product, [1], (1,)); lib.tree.map(product, (1, 2), Point(1, 2))
    lib.tree.map(product, [1, 2], [1]); lib.tree.map(product, {"a": 1}, {"b": 1})
    lib.tree.unflatten(lib.tree.structure([0, 0]), [1])
    lib.tree.leaves(registered(lib, lambda box: 1))
    lib.tree.leaves(registered(lib, lambda box: (1, 2, 3)))
    lib.tree.leaves(registered(lib, lambda box: [(), 1]))
    lib.tree.leaves(registered(lib, lambda box: (1, None)))
    lib.tree_util.register_pytree_node(OrderedDict, identity, identity)
"""

VMAP = """
    lib.vmap(identity, in_axes=True)(X); lib.vmap(identity, in_axes=({"a": True},))({"a": X})
    lib.vmap(identity, in_axes=0.0)(X); lib.vmap(identity, in_axes=np.int64(0))(X)
    lib.vmap(identity, in_axes={0})(X); lib.vmap(identity, in_axes={"x": 0})(X)
    lib.vmap(identity, in_axes=(0, 0))(X); lib.vmap(identity, in_axes=({"b": 0},))({"a": X})
    lib.vmap(identity, in_axes=([0],))((X,)); lib.vmap(identity, in_axes=1)(X)
    lib.vmap(identity, in_axes=None)(X); lib.vmap(identity)(2.0); lib.vmap(product)(X, "abc")
    lib.vmap(product)(X, np.ones(2))
    lib.vmap(lambda x, y, f: x, (0, 0, None))(X, np.ones(2), jnp.add)
    lib.vmap(identity, axis_size=4)(X); lib.vmap(identity, out_axes=True)(X)
    lib.vmap(identity, out_axes=0.0)(X); lib.vmap(identity, out_axes=(X,))(X)
    lib.vmap(identity, out_axes=2)(X); lib.vmap(identity, out_axes=-2)(X)
    lib.vmap(lambda x: [x, x], out_axes=(0, 0))(X)
"""

JIT = """
    lib.jit(3); lib.vmap(3); lib.grad(3); lib.value_and_grad(3); lib.pmap(3); lib.make_jaxpr(3)
    lib.jvp(3, (1.0,), (1.0,)); lib.vjp(3, 1.0); lib.jit(None); lib.jit(staticmethod(identity))
    lib.jit(numbers); lib.jit(product, static_argnames="k")
    lib.jit(product, static_argnames=("n", "k")); lib.jit(product, static_argnames=[1])
    lib.jit(product, donate_argnames="k"); lib.jit(lambda a, /, b, *, c: a, static_argnums=2)
    lib.jit(lambda a, /, b, *, c: a, static_argnums=-3)
    lib.jit(lambda a, /, b, *, c: a, donate_argnums=2)
    lib.jit(lambda a, /, b, *, c: a, donate_argnums=-3); lib.jit(mixed, static_argnames="a")
    lib.jit(mixed, static_argnames=("args", "b")); lib.jit(mixed, donate_argnames="a")
    lib.jit(mixed, donate_argnames=("args", "b")); lib.jit(product, static_argnums=2)
    lib.jit(product, static_argnums=-3); lib.jit(product, donate_argnums=2)
    lib.jit(product, static_argnums=0, donate_argnums=0)
    lib.jit(product, static_argnums=1)(2.0, [1]); lib.jit(identity)("text")
    lib.jit(lambda x: "text")(1.0); lib.jit(lambda x: identity)(1.0)
    lib.jit(type("A", (), {"f": lambda self, x: x}).f)(object(), 1.0)
    lib.vmap(lambda x: lib.vjp(lambda y: y * y, x)[1])(X)(X)
"""
JVP = """
    lib.jvp(jnp.sin, (3.0,), (1.0,), has_aux=True)
    lib.jvp(lambda t: (t, t, t), (3.0,), (1.0,), True); lib.jvp(jnp.sin, (3.0,), [1.0])
    lib.grad(lambda t, u: t * u, 2)(3.0, 2.0); lib.make_jaxpr(lambda t: t, static_argnums=3)(X)
    lib.make_jaxpr(lambda t, n: t, static_argnums=1)(X, [2])
    lib.make_jaxpr(lambda t, n: t, static_argnums=1)(X, ([],))
"""

# What lesson stackless refuses, too.
BOTH_SYSTEMS = """
    lib.jvp(lax.sin, ("a",), ("b",)); lib.jvp(lax.sin, (3.0,), (1,)); lib.jvp(lax.sin, (3,), (1.0,))
    lib.jvp(lax.sin, (np.ones(3),), (np.ones(2),)); lib.jvp(lax.sin, 3.0, 1.0)
    lib.jvp(lambda t: t, (1.0,), ((1.0,),)); lib.jvp(lambda t: float(t), (3.0,), (1.0,))
    lib.jvp(lambda t: np.sin(t), (3.0,), (1.0,)); lib.grad(lambda t: np.sin(t))(1.0)
    lib.jvp(lambda t: t.__setitem__(0, 1.0), (np.ones(3),), (np.ones(3),))
    lib.jvp(lambda t: t if t > 0 else -t, (np.ones(3),), (np.ones(3),))
    [kept := [], lib.jvp(lambda t: kept.append(t) or t, (3.0,), (1.0,)), kept[0] * 2.0]
    [kept := [], lib.grad(lambda t: kept.append(t) or t)(1.0), kept[0] * 2]
    [kept := [], lib.jit(lambda t: kept.append(t) or t)(1.0), kept[0] * 2]
    [kept := [], lib.vmap(lambda t: kept.append(t) or t)(X), lib.jit(lambda t: t * kept[0])(2.0)]
    [k := [], lib.vmap(lambda t: k.append(t) or t)(X), lib.make_jaxpr(lambda t: t * k[0])(2.0)]
    lib.grad(lambda t: t)(X); lib.grad(lambda t: (t, t))(1.0); lib.grad(lambda t: 1)(1.0)
    lib.grad(lambda t: t > 0)(1.0); lib.grad(lambda t: t)(1)
    lib.vjp(lambda t: t, 1.0)[1]((1.0, 2.0)); lib.vjp(lambda t: t, 1.0)[1](1)
    lib.vjp(lambda t: t, 1.0)[1](X); lib.linearize(lambda t: t * t, 3.0)[1](1)
    lib.linearize(lambda t: t * t, 3.0)[1](1.0, 2.0)
    lib.jit(lambda t: t if t > 0 else -t)(1.0); lib.vmap(lambda t: t if t > 0 else -t)(X)
    lib.jit(lambda n: [1, 2, 3][n])(1); lib.jit(float)(1.0); lib.jit(lambda t: np.sin(t))(1.0)
    lib.jit(lambda t: t.__setitem__(0, 1.0))(X); lib.make_jaxpr(lambda t: t)("text")
    lib.make_jaxpr(lambda t: "text")(X); lib.vmap(lambda t, u: t)(X, np.ones((2, 3)))
    lib.vmap(lambda t: t, 0, None)(X); lax.add(np.ones(3), np.ones(4))
    lax.mul(np.ones((2, 3)), np.ones(3)); lax.mul(np.float32(1), np.float64(1))
    lax.sin(np.arange(3)); lax.sin("one"); lax.transpose(np.ones((2, 3)), (0, 0))
    lax.dot_general(X, np.ones(4), (((0,), (0,)), ((), ())))
"""

# Rules of one's own -------------------------------------------------------------------------------


def closing_over(lib, c):
    f = lib.custom_jvp(lambda x: c * x)
    f.defjvp(lambda primals, tangents: (c * primals[0], c * tangents[0]))
    return f


def closing_over_vjp(lib, c):
    f = lib.custom_vjp(lambda x: c * x)
    f.defvjp(lambda x: (c * x, None), lambda res, ct: (c * ct,))
    return f


def nondiff(lib, c):
    f = lib.custom_vjp(lambda c, x: 2.0 * x, nondiff_argnums=(0,))
    f.defvjp(lambda c, x: (2.0 * x, None), lambda c, res, ct: (2.0 * ct,))
    return f(c, 2.0)


def bwd(lib, argument, cotangent):
    f = lib.custom_vjp(lambda p: p[0] * 2.0)
    f.defvjp(lambda p: (p[0] * 2.0, None), lambda res, ct: (cotangent,))
    return lib.grad(f)(argument)


def with_jvp(lib, rule):
    f = lib.custom_jvp(lambda x: x * 2.0)
    f.defjvp(rule)
    return lib.grad(f)(1.0)


def with_bwd(lib, bwd):
    f = lib.custom_vjp(lambda x: x * 2.0)
    f.defvjp(lambda x: (x, None), bwd)
    return lib.grad(f)(1.0)


def rules_of(lib, *rules):
    f = lib.custom_jvp(lambda x, y: x * y)
    f.defjvps(*rules)
    return lib.grad(f)(1.0, 2.0)


def beyond(lib):
    f = lib.custom_jvp(lambda x, n: x * n, nondiff_argnums=(5,))
    f.defjvp(lambda n, primals, tangents: (primals[0] * n, tangents[0] * n))
    return f(2.0, 3.0)


# Of both kinds of rules that close over what is differentiated.
CLOSING = """
    lib.jvp(lambda c: closing_over(lib, c)(2.0), (3.0,), (1.0,))
    lib.jvp(lambda c: closing_over(lib, c)(c), (3.0,), (1.0,))
    lib.grad(lambda c: closing_over(lib, c)(2.0))(3.0)
    lib.grad(lambda c: closing_over(lib, c)(c))(3.0)
    lib.grad(lambda c: lib.vmap(closing_over(lib, c))(X).sum())(3.0)
    lib.grad(lib.jit(lambda z: lib.vmap(lambda c: closing_over(lib, c)(z))(X).sum()))(2.0)
"""
CUSTOM = """
    lib.grad(lib.custom_jvp(lambda t: t))(1.0); with_jvp(lib, lambda p, t: p[0])
    with_jvp(lib, lambda p, t: (p[0], (t[0], t[0]))); with_jvp(lib, lambda p, t: (p[0], t[0] * X))
    with_bwd(lib, lambda res, ct: ct); with_bwd(lib, lambda res, ct: (ct, ct))
    with_bwd(lib, lambda res, ct: (ct * X,)); lib.jvp(custom_product(lib), (1.0, 2.0), (1.0, 1.0))
    lib.jvp(lib.grad(custom_product(lib)), (3.0, 4.0), (1.0, 1.0))
    lib.vmap(lambda t: lib.jvp(lib.jit(custom_product(lib)), (t, t), (t, t)))(X)
    lib.jit(lambda t: lib.jvp(custom_product(lib), (t, 2.0), (1.0, 1.0)))(1.0)
    lib.grad(lambda c: nondiff(lib, c))(3.0); lib.jit(lambda c: nondiff(lib, c))(3.0)
    lib.vmap(lambda c: nondiff(lib, c))(X); lib.jit(lambda c: nondiff(lib, [c]))(3.0)
    bwd(lib, (1.0, (2.0, 3.0)), (1.0, (1.0,))); bwd(lib, (1.0, (2.0, 3.0)), (1.0, [1.0, 1.0]))
    bwd(lib, (1.0, 2.0), (1.0, (1.0,))); rules_of(lib, lambda t, out, x, y: t)
    rules_of(lib, None, None); beyond(lib)
"""

# Packages, and Jacobians in both modes ------------------------------------------------------------

PACKAGES = """
    jnp.linalg.norm(W[None], 1); jnp.linalg.norm(W, "no"); jnp.linalg.norm(X, "fro")
    jnp.linalg.matrix_power(X, 2); jnp.average(W, weights=X); jnp.average(W, 0, X[:2])
    jnp.average(np.ones((2, 3, 4)), (1, 0), np.ones((2, 3))); lib.tree.reduce(max, [])
    lib.nn.initializers.he_normal()(k, (3,)); lib.eval_shape(lambda t: t, "text")
    lib.nn.initializers.variance_scaling(1.0, "fan", "normal")(k, (3, 3))
    lib.eval_shape(lambda t: t @ t, W[:2]); fields(lib, ["a", "b"], ["b"]); fields(lib, ["a"], [])
    fields(lib, ["a", "b"], ["c"]); fields(lib, ["a", "b"], None)
    lib.tree.transpose(lib.tree.structure([0, 0]), lib.tree.structure((0, 0)), [1, 2, 3])
    lib.flatten_util.ravel_pytree((1, 2.0))[1](np.ones(2, "float32"))
    lib.flatten_util.ravel_pytree([W])[1](X); jnp.dot(W, W, precision="HIGHEST")
    jnp.dot(W, W, precision=("high",) * 3); lax.dot_general(W, W, (((0,), (0,)), ((), ())), 1)
    r.normal(r.split(k)); r.normal(3); r.normal("key"); r.normal(np.zeros(2)); r.key(1.5)
    r.key(np.zeros(2, int)); r.uniform(k, dtype=int); r.bits(k, dtype=int)
    r.randint(k, (), 0, 1, float)
    r.normal(k, (2,), bool); r.fold_in(k, np.zeros(2, int)); r.permutation(k, 2.5)
    r.uniform(k, (2,), minval=np.zeros(3)); r.bernoulli(k, 1); r.bernoulli(k, 0.5, mode="no")
    r.choice(k, 3, (4,), replace=False); r.choice(k, 0, (1,)); r.choice(k, 3, (2,), p=np.ones(2))
    r.categorical(k, np.zeros((2, 3)), shape=(3,)); r.split(r.split(k)); r.key(0, impl="none")
    r.categorical(k, np.zeros(3), shape=(4,), replace=False); k + 1; float(k); np.sin(k)
"""
JACOBIANS = """
    lib.jacfwd(lambda t: 1.0)({}); lib.jacfwd(lambda t: t * 2.0)(3)
    lib.jacfwd(lambda t: t["a"] * 2.0)({"a": 1.0, "n": 3}); lib.jacfwd(lambda t: (t, t > 0))(3.0)
    lib.jacfwd(product, 2)(1.0, 2.0)
"""


def fields(lib, data, meta):
    cls = dataclasses.make_dataclass("Fields", ["a", "b"])
    return lib.tree_util.register_dataclass(cls, data, meta)


# Arrays themselves --------------------------------------------------------------------------------

# Of expressions, those that no row of `test_arrays` has.
ARRAYS = """
    x[0] = 1.0; x[0] += 1.0; x[:] = 0.0; del x[0]; x.shape = (3, 1); x.dtype = float; x.T = x
    x.fill(0.0); {x: 1}; {x, m}; len(f); iter(f); list(f); f[0]; if x: pass; while x: break; x and m
    not x; assert x; x if x > 1 else m; x in [m]; complex(x); bool(m); range(x); range(f)
    [1, 2, 3][x]; [1, 2, 3][f]; "%d" % x; sorted(m); max(m); x + m[:, :2]; x + jnp.ones(2); m @ m
    m @ 2.0; x @ jnp.ones(2); x + "1"; x + [1.0, 2.0, 3.0]; [1.0, 2.0, 3.0] * x; x < (1, 2, 3)
    x | b; ~x; 1.0 & i; i ** "a"; x.reshape(2); x.reshape((-1, 2)); x.reshape((-1, -1))
    x.astype("text"); x.sum(1); x.sum((0, 0)); m.transpose(0, 0); m.swapaxes(0, 2); m.squeeze(0)
    x[0, 0]; x[..., ...]; x[1.5]; x[{}]; x[b[:2]]; m[b]; x[::0]; x.at[0] = 1.0; x.at[1.5].set(1.0)
    x.at[0].set(1.0, mode="wrong"); x.at[0].fill(1.0); jnp.sin([1.0]); jnp.sin("a"); jnp.sin(None)
    jnp.sin(x, x); jnp.add(x); jnp.add([1.0], x); jnp.sin(np.ma.array([1.0], mask=[True]))
    jnp.sum([1.0, 2.0]); jnp.zeros(2.5); jnp.eye(2, k=0.5); jnp.expand_dims(x, 3)
    jnp.broadcast_to(x, (2,)); jnp.einsum("ij,j", m, jnp.ones(2)); jnp.dot(m, m); jnp.tril(x)
    jnp.take_along_axis(m, x[None], 1); jnp.where(b, x, jnp.ones(2)); lax.add(x, 1); lax.add(x, i)
    lax.add(x, m); lax.mul(x, f); lax.sin(i); lax.sin(3); lax.mul(np.ones(3), np.ones(3, "float32"))
    lax.add(np.ones(2), np.ones(3)); lax.neg(b); lax.pow(i, 2); lax.round(i); lax.reshape(x, (2,))
    lax.squeeze(x, (0,)); lax.transpose(m, (0,)); lax.select(x, x, x); lax.select(b, x, i)
    lax.select_n(b, x, x, x); lax.dot_general(m, m, (((1,), (0,)), ((), ())))
    lax.concatenate([x, i], 0); lax.broadcast_in_dim(x, (2,), (0,))
    lax.dynamic_slice(x, (0,), (4,)); lax.dynamic_slice(x, (0, 0), (1,))
    lax.gather(m, i[:1, None], lax.GatherDimensionNumbers((1,), (0,), (0,)), (2, 3))
    lax.gather(m, i[:1, None], lax.GatherDimensionNumbers((1,), (4,), (0,)), (1, 3))
    lib.jit(lambda n: jnp.zeros(n))(3); lib.jit(lambda n: x.reshape(n))(3)
    lib.jit(lambda n: m.sum(n))(0); lib.jit(lambda n: range(n))(3)
    lib.jit(lambda n: np.arange(3)[n])(1); lib.jit(lambda n: (1, 2, 3)[n])(1)
    lib.jit(lambda n: {0: 1}[n])(0); lib.jit(lambda t: 1 if t else 2)(1.0)
    lib.jit(lambda t: x[t])(b); lib.jit(lambda t: x[t])(True); lib.jit(lambda t: t[[0, 1]])(x)
    lib.jit(lambda t: t[t])(x); lib.jit(lambda t: t[: t.argmax()])(x)
    lib.jit(lambda t: t[0, 0, 0])(m); lib.jit(lambda t: t.reshape(3, 5))(m)
    lib.jit(lambda t: t[:0].min())(x); lib.jit(lambda t: t.argmax() ** -1)(x)
    lib.jit(lambda t: t & t)(x); lib.jit(lambda t: jnp.concatenate([t, t[:, :1]]))(m)
    lib.jit(lambda t: lax.select(t > 0, t, t[0]))(m); lib.jit(lambda t: list(t[0, 0]))(m)
"""

# What is a static argument in JAX must be hashable, and here a number or a tuple; only the class of
# the error may differ.
STATIC = """
jnp.sort(M, axis=np.array(0)); jnp.argsort(M, axis=jnp.array(0)); jnp.diff(M, np.array(1))
jnp.cumprod(M, np.array(0)); jnp.append(M, M, np.array(0)); jnp.count_nonzero(M, [0])
jnp.nansum(M, [0]); jnp.nanmean(M, np.array(0)); jnp.nanmax(M, [0]); jnp.median(M, [0])
jnp.quantile(M, 0.5, np.array([0])); jnp.rot90(M, np.array(1)); jnp.round(M, np.array(1))
jnp.vander(X, jnp.array(2)); jnp.linalg.norm(X, jnp.array(2))
jnp.round(M, 0.5); jnp.tril(M, jnp.array(0)); jnp.take(M, 0, mode=0); jnp.take(M, 0, mode="")
jnp.take(M, 9, fill_value=[1.0]); jnp.asarray(M).at[9].get(mode="fill", fill_value=jnp.array(1.0))
lib.nn.log_softmax(M, [0]); lib.nn.standardize(M, np.array(0)); jnp.split(M, [0.5])
jnp.searchsorted(X, 1.0, sorter=0); jnp.searchsorted(X, 1.0, method="quick")
lib.lax.convert_element_type(X, None); lib.lax.fori_loop(0, 3, lambda i, c: c, 1.0, unroll=2.5)
lib.lax.scan(lambda c, _: (c, c), 1.0, None, length=2, unroll=2.5)"""


@pytest.mark.every
@pytest.mark.parametrize("text", rows_of(STATIC))
def test_an_argument_that_jax_refuses_to_hash_is_refused(text):
    names = {"M": np.ones((2, 2)), "X": X, "np": np}
    for lib, jnp in ((jax, jjnp), (minijax, mjnp)):
        with pytest.raises((TypeError, ValueError, IndexError)):
            eval(text, names | {"lib": lib, "jnp": jnp})


CLOSED = CLOSING + CLOSING.replace("closing_over", "closing_over_vjp")
BOTH_MODES = JACOBIANS + JACOBIANS.replace("jacfwd", "jacrev")
STATEMENTS = rows_of(
    TREES + VMAP + JIT + JVP + BOTH_SYSTEMS + CLOSED + CUSTOM + PACKAGES + BOTH_MODES + ARRAYS
)


def run(text, lib, jnp):
    names = {"x": jnp.array([1.0, 2.0, 3.0]), "m": jnp.ones((2, 3)), "i": jnp.array([1, 2, 0])}
    names |= {"b": jnp.array([True, False, True]), "f": jnp.float32(1.5), "jnp": jnp}
    if hasattr(lib, "random"):
        names |= {"r": lib.random, "k": lib.random.key(42)}
    exec(text, {**globals(), "lib": lib, "lax": lib.lax, **names})


@pytest.mark.every
@pytest.mark.parametrize("text", STATEMENTS)
def test_minijax_refuses_it_as_jax_does(text):
    assert_same_error(lambda: run(text, minijax, mjnp), lambda: run(text, jax, jjnp))
    assert len(trace_state.stack) == 1


@pytest.mark.every
@pytest.mark.parametrize("text", rows_of(BOTH_SYSTEMS))
def test_stackless_refuses_it_as_jax_does(text):
    assert_same_error(lambda: run(text, stackless, mjnp), lambda: run(text, jax, jjnp))
    assert type(stackless.context.interpreter) is contexts.EvalInterpreter
