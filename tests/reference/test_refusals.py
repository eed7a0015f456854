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

jax.config.update("jax_enable_x64", True)

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
]

PROGRAMS = [*TREES, *VMAP, *JIT, *CUSTOM]


@pytest.mark.parametrize("program", [row[1] for row in PROGRAMS], ids=[row[0] for row in PROGRAMS])
def test_minijax_refuses_it_as_jax_does(program):
    with pytest.raises(Exception) as want:
        program(jax, jjnp)
    with pytest.raises(Exception) as got:
        program(minijax, mjnp)
    assert got.type.__name__ == want.type.__name__
    assert len(str(got.value).splitlines()) == 1
