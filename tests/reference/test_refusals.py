"""What JAX refuses, minijax refuses: with an error of the same class, and in one line.

A program that runs here and not on JAX breaks the promise as much as a wrong number does.
Each row is a function of the two modules: `lib` is jax or minijax, and `jnp` its numpy.
"""

import functools
from collections import OrderedDict, defaultdict, namedtuple

import jax
import jax.numpy as jjnp
import minijax
import minijax.numpy as mjnp
import numpy as np
import pytest
from oracle import assert_same_error

X = np.arange(3.0)
Point = namedtuple("Point", "x y")


def identity(x):
    return x


def product(x, n):
    return x * n


def mixed(a, /, b, *args, **kwargs):
    return a


def numbers(x):
    yield x


# Trees --------------------------------------------------------------------------------------------


def registered(lib, flatten):
    """An object of a class that is flattened by this function."""
    cls = type("Box", (), {})
    lib.tree_util.register_pytree_node(cls, flatten, lambda data, children: cls())
    return cls()


TREES = [
    ("keys that cannot be sorted", lambda lib, jnp: lib.tree.leaves({1: 1, "a": 2})),
    (
        "keys of a defaultdict that cannot be sorted",
        lambda lib, jnp: lib.tree.leaves(defaultdict(int, {1: 1, "a": 2})),
    ),
    (
        "OrderedDicts of two orders",
        lambda lib, jnp: lib.tree.map(lambda x, y: x, OrderedDict(a=1, b=2), OrderedDict(b=1, a=2)),
    ),
    (
        "an OrderedDict beside a dict",
        lambda lib, jnp: lib.tree.map(lambda x, y: x, OrderedDict(a=1), {"a": 1}),
    ),
    (
        "two default factories",
        lambda lib, jnp: lib.tree.map(
            lambda x, y: x, defaultdict(int, a=1), defaultdict(float, a=1)
        ),
    ),
    ("a list beside a tuple", lambda lib, jnp: lib.tree.map(lambda x, y: x, [1], (1,))),
    ("a tuple beside a namedtuple", lambda lib, jnp: lib.tree.map(product, (1, 2), Point(1, 2))),
    ("too few children", lambda lib, jnp: lib.tree.map(lambda x, y: x, [1, 2], [1])),
    ("other keys", lambda lib, jnp: lib.tree.map(lambda x, y: x, {"a": 1}, {"b": 1})),
    (
        "too few leaves",
        lambda lib, jnp: lib.tree.unflatten(lib.tree.structure([0, 0]), [1]),
    ),
    ("no pair", lambda lib, jnp: lib.tree.leaves(registered(lib, lambda box: 1))),
    ("three parts", lambda lib, jnp: lib.tree.leaves(registered(lib, lambda box: (1, 2, 3)))),
    ("a list of two parts", lambda lib, jnp: lib.tree.leaves(registered(lib, lambda box: [(), 1]))),
    (
        "children that are no series",
        lambda lib, jnp: lib.tree.leaves(registered(lib, lambda box: (1, None))),
    ),
    (
        "a class that is registered already",
        lambda lib, jnp: lib.tree_util.register_pytree_node(OrderedDict, identity, identity),
    ),
]

# vmap ---------------------------------------------------------------------------------------------

VMAP = [
    ("in_axes True", lambda lib, jnp: lib.vmap(identity, in_axes=True)(X)),
    ("in_axes True, inside", lambda lib, jnp: lib.vmap(identity, in_axes=({"a": True},))({"a": X})),
    ("in_axes a float", lambda lib, jnp: lib.vmap(identity, in_axes=0.0)(X)),
    ("in_axes a NumPy integer", lambda lib, jnp: lib.vmap(identity, in_axes=np.int64(0))(X)),
    ("in_axes a set", lambda lib, jnp: lib.vmap(identity, in_axes={0})(X)),
    ("in_axes a dict", lambda lib, jnp: lib.vmap(identity, in_axes={"x": 0})(X)),
    ("in_axes too long", lambda lib, jnp: lib.vmap(identity, in_axes=(0, 0))(X)),
    ("in_axes of other keys", lambda lib, jnp: lib.vmap(identity, in_axes=({"b": 0},))({"a": X})),
    ("in_axes a list inside", lambda lib, jnp: lib.vmap(identity, in_axes=([0],))((X,))),
    ("in_axes too large", lambda lib, jnp: lib.vmap(identity, in_axes=1)(X)),
    ("nothing mapped", lambda lib, jnp: lib.vmap(identity, in_axes=None)(X)),
    ("a scalar mapped", lambda lib, jnp: lib.vmap(identity)(2.0)),
    ("a text mapped", lambda lib, jnp: lib.vmap(product)(X, "abc")),
    ("two sizes", lambda lib, jnp: lib.vmap(product)(X, np.ones(2))),
    (
        "two sizes beside an object",
        lambda lib, jnp: lib.vmap(lambda x, y, f: x, (0, 0, None))(X, np.ones(2), jnp.add),
    ),
    ("axis_size another one", lambda lib, jnp: lib.vmap(identity, axis_size=4)(X)),
    ("out_axes True", lambda lib, jnp: lib.vmap(identity, out_axes=True)(X)),
    ("out_axes a float", lambda lib, jnp: lib.vmap(identity, out_axes=0.0)(X)),
    ("out_axes an array", lambda lib, jnp: lib.vmap(identity, out_axes=(X,))(X)),
    ("out_axes too large", lambda lib, jnp: lib.vmap(identity, out_axes=2)(X)),
    ("out_axes too small", lambda lib, jnp: lib.vmap(identity, out_axes=-2)(X)),
    (
        "out_axes of another container",
        lambda lib, jnp: lib.vmap(lambda x: [x, x], out_axes=(0, 0))(X),
    ),
    ("out_axes None of what is mapped", lambda lib, jnp: lib.vmap(identity, out_axes=None)(X)),
]

# jit and its like ---------------------------------------------------------------------------------

JIT = [
    *(
        (f"{name} of a number", lambda lib, jnp, name=name: getattr(lib, name)(3))
        for name in ("jit", "vmap", "grad", "value_and_grad", "pmap", "make_jaxpr")
    ),
    ("jvp of a number", lambda lib, jnp: lib.jvp(3, (1.0,), (1.0,))),
    ("vjp of a number", lambda lib, jnp: lib.vjp(3, 1.0)),
    ("jit of None", lambda lib, jnp: lib.jit(None)),
    ("jit of a static method", lambda lib, jnp: lib.jit(staticmethod(identity))),
    ("jit of a generator", lambda lib, jnp: lib.jit(numbers)),
    ("unknown static name", lambda lib, jnp: lib.jit(product, static_argnames="k")),
    ("one unknown static name", lambda lib, jnp: lib.jit(product, static_argnames=("n", "k"))),
    ("a number for a static name", lambda lib, jnp: lib.jit(product, static_argnames=[1])),
    ("unknown donated name", lambda lib, jnp: lib.jit(product, donate_argnames="k")),
    *(
        (f"{kind} beyond {case}", lambda lib, jnp, f=f, k=kind, v=v: lib.jit(f, **{k: v}))
        for kind in ("static_argnums", "donate_argnums")
        for case, f, v in [
            ("the slash, too large", lambda a, /, b, *, c: a, 2),
            ("the slash, too small", lambda a, /, b, *, c: a, -3),
        ]
    ),
    *(
        (f"{kind} of {case}", lambda lib, jnp, k=kind, v=v: lib.jit(mixed, **{k: v}))
        for kind in ("static_argnames", "donate_argnames")
        for case, v in [("a positional argument", "a"), ("the others", ("args", "b"))]
    ),
    ("static number too large", lambda lib, jnp: lib.jit(product, static_argnums=2)),
    ("static number too small", lambda lib, jnp: lib.jit(product, static_argnums=-3)),
    ("donated number too large", lambda lib, jnp: lib.jit(product, donate_argnums=2)),
    ("static and donated", lambda lib, jnp: lib.jit(product, static_argnums=0, donate_argnums=0)),
    (
        "a static list",
        lambda lib, jnp: lib.jit(product, static_argnums=1)(2.0, [1]),
    ),
    ("a text into jit", lambda lib, jnp: lib.jit(identity)("text")),
    ("a text out of jit", lambda lib, jnp: lib.jit(lambda x: "text")(1.0)),
    ("a function out of jit", lambda lib, jnp: lib.jit(lambda x: identity)(1.0)),
    (
        "a method without its instance being static",
        lambda lib, jnp: lib.jit(type("A", (), {"f": lambda self, x: x}).f)(object(), 1.0),
    ),
    (
        "a pullback that is given a batch",
        lambda lib, jnp: lib.vmap(lambda x: lib.vjp(lambda y: y * y, x)[1])(X)(X),
    ),
]

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


def rule_of_two(lib):
    f = lib.custom_jvp(lambda x, y: x * y)
    f.defjvps(lambda t, out, x, y: t)
    return lib.grad(f)(1.0, 2.0)


def rules_of(lib, *rules):
    f = lib.custom_jvp(lambda x, y: x * y)
    f.defjvps(*rules)
    return lib.grad(f)(1.0, 2.0)


def beyond(lib):
    f = lib.custom_jvp(lambda x, n: x * n, nondiff_argnums=(5,))
    f.defjvp(lambda n, primals, tangents: (primals[0] * n, tangents[0] * n))
    return f(2.0, 3.0)


CUSTOM = [
    *(
        (f"{f.__name__}, {name}", functools.partial(program, f))
        for f in (closing_over, closing_over_vjp)
        for name, program in {
            "jvp": lambda f, lib, jnp: lib.jvp(lambda c: f(lib, c)(2.0), (3.0,), (1.0,)),
            "jvp by both": lambda f, lib, jnp: lib.jvp(lambda c: f(lib, c)(c), (3.0,), (1.0,)),
            "grad": lambda f, lib, jnp: lib.grad(lambda c: f(lib, c)(2.0))(3.0),
            "grad by both": lambda f, lib, jnp: lib.grad(lambda c: f(lib, c)(c))(3.0),
            "grad of vmap": lambda f, lib, jnp: lib.grad(lambda c: lib.vmap(f(lib, c))(X).sum())(
                3.0
            ),
            "grad of jit of vmap": lambda f, lib, jnp: lib.grad(
                lib.jit(lambda z: lib.vmap(lambda c: f(lib, c)(z))(X).sum())
            )(2.0),
        }.items()
    ),
    (
        "a tracer of grad in nondiff_argnums",
        lambda lib, jnp: lib.grad(lambda c: nondiff(lib, c))(3.0),
    ),
    (
        "a tracer of jit in nondiff_argnums",
        lambda lib, jnp: lib.jit(lambda c: nondiff(lib, c))(3.0),
    ),
    (
        "a tracer of vmap in nondiff_argnums",
        lambda lib, jnp: lib.vmap(lambda c: nondiff(lib, c))(X),
    ),
    (
        "a tracer in a list in nondiff_argnums",
        lambda lib, jnp: lib.jit(lambda c: nondiff(lib, [c]))(3.0),
    ),
    ("bwd of another structure", lambda lib, jnp: bwd(lib, (1.0, (2.0, 3.0)), (1.0, (1.0,)))),
    ("bwd of another container", lambda lib, jnp: bwd(lib, (1.0, (2.0, 3.0)), (1.0, [1.0, 1.0]))),
    ("bwd with a tuple for a number", lambda lib, jnp: bwd(lib, (1.0, 2.0), (1.0, (1.0,)))),
    ("one rule for two arguments", lambda lib, jnp: rule_of_two(lib)),
    ("no rule for any argument", lambda lib, jnp: rules_of(lib, None, None)),
    ("nondiff_argnums beyond the arguments", lambda lib, jnp: beyond(lib)),
]

# Arrays themselves --------------------------------------------------------------------------------


def statement(text):
    """A program that runs this text, in which x, m, i, b and f are arrays."""

    def program(lib, jnp):
        arrays = {"x": jnp.array([1.0, 2.0, 3.0]), "m": jnp.ones((2, 3)), "i": jnp.array([1, 2, 0])}
        arrays |= {"b": jnp.array([True, False, True]), "f": jnp.float32(1.5)}
        exec(text, {"lib": lib, "jnp": jnp, "lax": lib.lax, "np": np, **arrays})

    return program


ARRAYS = [
    (text, statement(text))
    for text in """
        x[0] = 1.0
        x[0] += 1.0
        x[:] = 0.0
        del x[0]
        x.shape = (3, 1)
        x.dtype = float
        x.T = x
        x.nothing
        x.fill(0.0)
        hash(x)
        {x: 1}
        {x, m}
        len(f)
        iter(f)
        list(f)
        f[0]
        if x: pass
        while x: break
        x and m
        not x
        assert x
        x if x > 1 else m
        x in [m]
        int(x)
        float(x)
        complex(x)
        bool(m)
        range(x)
        range(f)
        [1, 2, 3][x]
        [1, 2, 3][f]
        "%d" % x
        f"{x:.2f}"
        x.item()
        sorted(m)
        max(m)
        x + m[:, :2]
        x + jnp.ones(2)
        m @ m
        m @ 2.0
        x @ jnp.ones(2)
        x + "1"
        x + None
        x + [1.0, 2.0, 3.0]
        [1.0, 2.0, 3.0] * x
        x < (1, 2, 3)
        x & 1
        x | b
        ~x
        -b
        b - b
        x << 1
        1.0 & i
        i ** "a"
        x.reshape(2)
        x.reshape((-1, 2))
        x.reshape((-1, -1))
        x.astype("text")
        x.sum(1)
        x.sum((0, 0))
        m.transpose(0, 0)
        m.transpose(0)
        m.swapaxes(0, 2)
        m.squeeze(0)
        x[0, 0]
        x[..., ...]
        x[1.5]
        x["a"]
        x[{}]
        x[[0, 2]]
        x[x]
        x[b[:2]]
        m[b]
        x[::0]
        jnp.zeros((0,))[0]
        x.at[0] = 1.0
        x.at[0].set("a")
        x.at[0].set(x)
        x.at[0, 0].set(1.0)
        x.at[1.5].set(1.0)
        x.at[0].set(1.0, mode="wrong")
        x.at[0].fill(1.0)
        jnp.sin([1.0])
        jnp.sin("a")
        jnp.sin(None)
        jnp.sin(x, x)
        jnp.add(x)
        jnp.add([1.0], x)
        jnp.sin(np.ma.array([1.0], mask=[True]))
        jnp.sum([1.0, 2.0])
        jnp.max(jnp.zeros((0,)))
        jnp.concatenate([])
        jnp.concatenate([x, m])
        jnp.stack([x, m])
        jnp.array("a")
        jnp.array(None)
        jnp.array([[1], [2, 3]])
        jnp.array([x, m])
        jnp.array(2**70)
        jnp.int8(300)
        jnp.zeros(-1)
        jnp.zeros(2.5)
        jnp.zeros("a")
        jnp.arange(None)
        jnp.arange(x)
        jnp.arange(1, 5, 0)
        jnp.linspace(0, 1, -1)
        jnp.eye(-1)
        jnp.eye(2, k=0.5)
        jnp.roll(x, 1, 3)
        jnp.size(m, (0, 0))
        jnp.expand_dims(x, 3)
        jnp.split(x, 2)
        jnp.broadcast_to(x, (2,))
        jnp.einsum("ij,j", m, jnp.ones(2))
        jnp.einsum("ij", x)
        jnp.einsum("i->ii", x)
        jnp.einsum("i->j", x)
        jnp.dot(m, m)
        jnp.tensordot(m, m, 3)
        jnp.tril(x)
        jnp.take(x, 1.0)
        jnp.take(x, 0, 5)
        jnp.take_along_axis(m, x[None], 1)
        jnp.where(b, x, jnp.ones(2))
        lax.add(x, 1)
        lax.add(x, i)
        lax.add(x, m)
        lax.mul(x, f)
        lax.sin(i)
        lax.neg(b)
        lax.pow(i, 2)
        lax.round(i)
        lax.rev(m, (0, 0))
        lax.reshape(x, (2,))
        lax.squeeze(x, (0,))
        lax.transpose(m, (0,))
        lax.select(x, x, x)
        lax.select(b, x, i)
        lax.select_n(b, x, x, x)
        lax.clamp(0, x, 1)
        lax.dot_general(m, m, (((1,), (0,)), ((), ())))
        lax.concatenate([x, i], 0)
        lax.broadcast_in_dim(x, (2,), (0,))
        lax.dynamic_slice(x, (0,), (4,))
        lax.dynamic_slice(x, (0, 0), (1,))
        lax.gather(m, i[:1, None], lax.GatherDimensionNumbers((1,), (0,), (0,)), (2, 3))
        lax.gather(m, i[:1, None], lax.GatherDimensionNumbers((1,), (4,), (0,)), (1, 3))
        lib.jit(lambda n: jnp.zeros(n))(3)
        lib.jit(lambda n: jnp.arange(n))(3)
        lib.jit(lambda n: x.reshape(n))(3)
        lib.jit(lambda n: m.sum(n))(0)
        lib.jit(lambda n: range(n))(3)
        lib.jit(lambda n: np.arange(3)[n])(1)
        lib.jit(lambda n: (1, 2, 3)[n])(1)
        lib.jit(lambda n: {0: 1}[n])(0)
        lib.jit(lambda t: t.item())(1.0)
        lib.jit(lambda t: float(t))(1.0)
        lib.jit(lambda t: int(t))(1.0)
        lib.jit(lambda t: np.sin(t))(1.0)
        lib.jit(lambda t: 1 if t else 2)(1.0)
        lib.jit(lambda t: x[t])(b)
        lib.jit(lambda t: x[t])(True)
        lib.linear_transpose(jnp.sin, 1.0)(1.0)
        lib.linear_transpose(lambda t: 2.0 * t, x)(1.0)
        """.strip().splitlines()
    for text in [text.strip()]
]

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
@pytest.mark.parametrize("text", STATIC.strip().replace("\n", "; ").split("; "))
def test_an_argument_that_jax_refuses_to_hash_is_refused(text):
    names = {"M": np.ones((2, 2)), "X": X, "np": np}
    for lib, jnp in ((jax, jjnp), (minijax, mjnp)):
        with pytest.raises((TypeError, ValueError, IndexError)):
            eval(text, names | {"lib": lib, "jnp": jnp})


PROGRAMS = [*TREES, *VMAP, *JIT, *CUSTOM, *ARRAYS]


@pytest.mark.every
@pytest.mark.parametrize("program", [row[1] for row in PROGRAMS], ids=[row[0] for row in PROGRAMS])
def test_minijax_refuses_it_as_jax_does(program):
    assert_same_error(lambda: program(minijax, mjnp), lambda: program(jax, jjnp))
