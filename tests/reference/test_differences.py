"""Programs that once gave something else than on JAX; each row is run on both and compared.

Compared are the structures of the results, and shape, dtype and values of all leaves.
"""

import functools
import gc
import warnings
from collections import OrderedDict, defaultdict, namedtuple

import jax
import minijax
import numpy as np
import pytest
from expressions import programs_of
from oracle import assert_same

X = np.arange(3.0)
PAIRS = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
CONSTANT = np.array([1.0, 2.0])
ENDS = (-np.inf, 1.0, np.inf, np.nan)

Point = namedtuple("Point", "x y")
SOME = functools.partial(max, 1.0)


def two(kind):
    """A container of two numbers that was filled in another order than the alphabet's."""
    items = [("b", 2.0), ("a", 1.0)]
    return OrderedDict(items) if kind is OrderedDict else defaultdict(float, items)


def collected(f, calls=1000):
    """How many objects a call leaves that only the garbage collector finds.

    Over many calls, because a collection also finds what other tests left: finalizers run in the
    one before, and what they let go of is garbage of the next.
    """
    gc.collect()
    gc.disable()
    try:
        for _ in range(calls):
            f()
        return gc.collect() // calls
    finally:
        gc.enable()


def warned(f):
    """What a call returns, and the classes of its warnings."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        return f(), [warning.category.__name__ for warning in found]


CONTAINERS = {
    f"{name} of {kind.__name__}": lambda lib, program=program, kind=kind: program(lib, kind)
    for kind in (OrderedDict, defaultdict)
    for name, program in programs_of(
        globals(),
        """
        leaves: lib.tree.leaves(two(kind))
        structure: str(lib.tree.structure(two(kind)))
        map: lib.tree.map(lambda x: x + 1, two(kind))
        the class: type(lib.tree.map(lambda x: x, two(kind))).__name__
        the order: [*lib.tree.map(lambda x: x, two(kind))]
        grad: lib.grad(lambda d: d["a"] * d["b"] * d["b"])(two(kind))
        jit: lib.jit(lambda d: {"d": d})(two(kind))
        vmap: lib.vmap(lambda d: d)(lib.tree.map(lambda x: x + X, two(kind)))
        in_axes: lib.vmap(lambda d: d["a"] + d["b"], ({**two(kind), "a": 0, "b": None},))({"a": X,
            "b": 2.0})
        scan: lax.scan(lambda c, x: (lib.tree.map(lambda v: v * x, c), x), two(kind), X)
    """,
        "kind",
    ).items()
}


# Functions with rules of their own, which close over `c` in the function or in the rule


def scaled(lib, c):
    f = lib.custom_jvp(lambda x: c * x)
    f.defjvp(lambda primals, tangents: (c * primals[0], 5.0 * c * tangents[0]))
    return f


def scaled_vjp(lib, c):
    f = lib.custom_vjp(lambda x: c * x)
    f.defvjp(lambda x: (c * x, c), lambda c, ct: (5.0 * c * ct,))
    return f


def scaled_slope(lib, c):
    f = lib.custom_jvp(lambda x: 2.0 * x)
    f.defjvp(lambda primals, tangents: (2.0 * primals[0], c * tangents[0]))
    return f


def scaled_fwd(lib, c):
    f = lib.custom_vjp(lambda x: 2.0 * x)
    f.defvjp(lambda x: (c * x, None), lambda res, ct: (2.0 * ct,))
    return f


def repeated(lib, f, x):
    return lib.lax.scan(lambda carry, _: (f(carry), None), x, None, length=2)[0]


def examples(lib, rule, z):
    """One value, with the examples of a `vmap` in the rule; and the same for two of them."""
    one = lib.vmap(lambda x: rule(lib, x)(z))(X)
    two = lib.vmap(lambda x: lib.vmap(lambda y: rule(lib, x * y)(z))(X))(X)
    return one.sum() + two.sum()


CLOSURES = programs_of(
    globals(),
    """
    scan under grad(vmap): lib.grad(lambda m: lib.vmap(lambda x: repeated(lib, rule(lib, CONSTANT),
        x))(m).sum())(PAIRS)
    scan under vmap(grad): lib.vmap(lib.grad(lambda x: repeated(lib, rule(lib, CONSTANT),
        x).sum()))(PAIRS)
    jit under grad(vmap): lib.grad(lambda m: lib.vmap(lib.jit(lambda x: rule(lib,
        CONSTANT)(x)))(m).sum())(PAIRS)
    cond under grad: lib.grad(lambda x: lax.cond(x[0] > 0, lambda x: rule(lib, CONSTANT)(x),
        lambda x: x, x).sum())(CONSTANT)
    a tracer of vmap under grad: lib.grad(lambda t: lib.vmap(lambda c, x: rule(lib, c)(x))(X,
        t).sum())(X)
    a tracer of vmap: lib.vmap(lambda c, x: rule(lib, c)(x))(X, X)
    a tracer of an outer vmap: lib.vmap(lambda c: lib.vmap(lambda x: rule(lib, c)(x))(X))(X)
    a tracer of jit: lib.jit(lambda c, x: lib.grad(rule(lib, c))(x))(3.0, 2.0)
    grad of examples: lib.grad(lambda z: examples(lib, rule, z))(2.0)
    jit of grad of examples: lib.jit(lib.grad(lambda z: examples(lib, rule, z)))(2.0)
    vmap of grad of examples: lib.vmap(lib.grad(lambda z: examples(lib, rule, z)))(X)
    a value without an example: lib.vmap(lambda x: (rule(lib, 3.0)(2.0), x),
        out_axes=(None, 0))(X)
""",
    "rule",
)
FORWARD_CLOSURES = programs_of(
    globals(),
    """
    a tracer of vmap under jvp: lib.jvp(lambda t: lib.vmap(lambda c, x: rule(lib, c)(x))(X, t),
        (X,), (X + 1.0,))
    vmap of jvp: lib.vmap(lambda c, x: lib.jvp(rule(lib, c), (x,), (1.0,)))(X, X)
    jvp of examples: lib.jvp(lambda z: examples(lib, rule, z), (2.0,), (3.0,))
""",
    "rule",
)
CUSTOM = {
    f"{rule.__name__}: {name}": lambda lib, program=program, rule=rule: program(lib, rule)
    for rules, programs in [
        ([scaled, scaled_vjp, scaled_slope, scaled_fwd], CLOSURES),
        ([scaled, scaled_slope], FORWARD_CLOSURES),
    ]
    for rule in rules
    for name, program in programs.items()
}


def not_differentiated(lib):
    f = lib.custom_jvp(lambda c, x: c * x, nondiff_argnums=(0,))
    f.defjvp(lambda c, primals, tangents: (c * primals[0], c * tangents[0]))
    return f


def own_slope(lib, fun):
    f = lib.custom_jvp(fun)
    f.defjvp(lambda primals, tangents: (fun(*primals), 5.0 * tangents[0]))
    return f(3.0), lib.grad(f)(3.0), lib.jit(lib.grad(f))(3.0)


def backwards(lib, args, bwd):
    """The gradient by a tuple, of which `bwd` gives cotangents in its own way."""
    f = lib.custom_vjp(lambda p: p[0] * 2.0)
    f.defvjp(lambda p: (p[0] * 2.0, None), lambda res, ct: (bwd(ct),))
    return lib.grad(f)(args)


# What transformations take and return


def method(transformation):
    """A class with a method that is transformed by a decorator."""

    class Scale:
        factor = 3.0

        @transformation
        def apply(self, x):
            return x * self.factor

    return Scale()


def runs(program, lib):
    """How often a function has run after one, two and three calls of a program with it."""
    calls = []

    def f(x, *others):
        calls.append(others)
        return x * 2.0

    counts = []
    for _ in range(3):
        program(lib, f)
        counts.append(len(calls))
    return counts


ROWS = programs_of(
    globals(),
    """
    # trees
    two orders are two structures: lib.tree.structure(OrderedDict(a=1, b=2))
        == lib.tree.structure(OrderedDict(b=1, a=2))
    a default factory survives: lib.tree.map(lambda x: x, defaultdict(int,
        {"a": 1})).default_factory.__name__
    unsorted keys in an OrderedDict: lib.tree.leaves(OrderedDict({1: 1, "a": 2}))
    subclasses of dict and list are leaves: [len(lib.tree.leaves(cls([1, 2])))
        for cls in (type("L", (list,), {}),)]
    trees are built without garbage: collected(lambda:
        lib.tree.unflatten(lib.tree.structure((1, [2, {"a": 3}])), "abc"))
    methods of a structure: (lib.tree.structure((1, [2, {"a": 3}])).num_nodes, list(map(str,
        lib.tree.structure((1, [2, {"a": 3}])).children())),
        lib.tree.structure((1, [2])).unflatten([3.0, 4.0]),
        lib.tree.structure((1, [2])).flatten_up_to((3.0, [{"a": 4.0}])))
    a leaf has no children: lib.tree.structure(1).children()
    partial: lib.jit(lambda f: f(2.0))(lib.tree_util.Partial(lambda a, x, k: a * x + k, 3.0, k=1.0))
    partial as a result: lib.jit(lambda a: lib.tree_util.Partial(jnp.multiply, a))(3.0)(2.0)
    a partial within: [lib.tree.leaves(lib.tree_util.Partial(functools.partial(max, 1.0), 2.0)),
        lib.tree.structure(lib.tree_util.Partial(SOME, 2.0))
        == lib.tree.structure(lib.tree_util.Partial(SOME, 3.0)),
        SOME == lib.tree_util.Partial(SOME, 2.0).func]
    partial has leaves: lib.tree.leaves(lib.tree_util.Partial(max, 1.0, (2.0, 3.0)))
    # rules of one's own
    a tracer for an argument that is not differentiated: [
        lib.grad(lambda c: not_differentiated(lib)(c, 2.0))(3.0),
        lib.jit(lambda c: not_differentiated(lib)(c, 2.0))(3.0),
        lib.vmap(lambda c: not_differentiated(lib)(c, 2.0))(X)]
    a partial: own_slope(lib, functools.partial(lambda a, x: a * x, 2.0))
    a partial by name: own_slope(lib, functools.partial(lambda x, a: a * x, a=2.0))
    an argument by name only: own_slope(lib, lambda x, *, a=2.0: a * x)
    None for a part of an argument: [backwards(lib, (1.0, (2.0, 3.0)), lambda ct: (ct, None)),
        backwards(lib, (1.0, (2.0, 3.0)), lambda ct: (ct, (None, ct))),
        backwards(lib, (1.0, (2.0, None)), lambda ct: (ct, (None, None))),
        backwards(lib, (1.0, None), lambda ct: (ct, None))]
    one cotangent for a whole part: backwards(lib, (1.0, (2.0, 3.0)), lambda ct: (ct, 4.0 * ct))
    cotangents of another precision: [backwards(lib, (1.0, 2.0), lambda ct: (np.float32(3.0),
        ct.astype("float16"))), lib.jit(lambda p: backwards(lib, p,
        lambda ct: (ct.astype("float32"), ct)))((1.0, 2.0))]
    # what transformations take and return
    log of a sum, moved at the ends: [(lib.grad(f, k)(a, b), lib.jvp(f, (a, b), (1.0, 0.0)))
        for f in (jnp.logaddexp, jnp.logaddexp2) for k in (0, 1) for a in ENDS for b in ENDS]
    activations, moved at the ends: [(lib.grad(f)(x), lib.jacfwd(f)(x), lib.grad(lib.grad(f))(x))
        for f in (lib.nn.softplus, lib.nn.log_sigmoid, lib.nn.mish) for x in ENDS]
    round to more digits than there are: [jnp.round(x.astype(dtype), digits)
        for dtype in ("float16", "float32", "float64") for digits in (-2, 0, 3, 400)
        for x in (np.array([1.25, 1234.0, 65000.0, -2.5]),)]
    initializers of vectors: [lib.nn.initializers.variance_scaling(1.0, "fan_in", "normal",
        **axes)(lib.random.key(0), (3,)) for axes in ({"in_axis": 0, "out_axis": []},
        {"in_axis": [], "out_axis": 0})]
    one_hot of floats, and of integers: [warned(functools.partial(lib.nn.one_hot, X.astype(dtype),
        3)) for dtype in ("float64", "float16", "int8")]
    standardize some elements: lib.value_and_grad(lambda x: (lib.nn.standardize(x,
        where=np.array([True, False, True])) ** 3).sum())(np.array([1.0, 2.0, 4.0]))
    one of two integers, backwards: lib.linear_transpose(lambda x, y:
        lib.jit(lambda a, b: (2 * a, b))(x, y)[0], 3, 4)(5)[0]
    jit of a method: method(functools.partial(lib.jit, static_argnums=0)).apply(2.0)
    jit of a method, through its class: type(scale := method(functools.partial(lib.jit,
        static_argnums=0))).apply(scale, 2.0)
    vmap of a method: method(functools.partial(lib.vmap, in_axes=(None, 0))).apply(X)
    pmap of a method: method(functools.partial(lib.pmap,
        static_broadcasted_argnums=0)).apply(X[None])
    grad of a method: method(functools.partial(lib.grad, argnums=1)).apply(2.0)
    objects through vmap: [lib.vmap(lambda f, x: f(x), in_axes=(None, 0))(jnp.sin, X),
        lib.vmap(lambda text, x: x + len(text), in_axes=(None, 0))("abc", X),
        lib.vmap(lambda d, x: d["f"](x), in_axes=({"f": None}, 0))({"f": jnp.cos}, X)]
    pullback from jit: lib.jit(lambda x: lib.vjp(lambda y: y * y, x)[1])(3.0)(2.0)
    value and pullback from jit: [part if i == 0 else part(2.0)
        for i, part in enumerate(lib.jit(lambda x: lib.vjp(jnp.sin, x))(3.0))]
    pullback into jit: lib.jit(lambda pull_back, ct: pull_back(ct))(lib.vjp(jnp.sin, 3.0)[1], 2.0)
    pullbacks from vmap: lib.vmap(lambda pull_back, ct: pull_back(ct))(lib.vmap(lambda x:
        lib.vjp(lambda y: y * y, x)[1])(X), X)
    linear function from jit: lib.jit(lambda x: lib.linearize(jnp.sin, x)[1])(3.0)(2.0)
    transposed function from jit: lib.jit(lambda x: lib.linear_transpose(lambda y: x * y,
        1.0))(3.0)(2.0)
    names: [transformation(square).__name__ for transformation in (*(lib.grad, lib.value_and_grad,
        lib.vmap, lib.jit, lib.jacfwd, lib.jacrev), *(lib.hessian, lib.make_jaxpr, lib.checkpoint,
        lib.custom_jvp, lib.pmap))]
    the long name: lib.make_jaxpr(square).__qualname__
    arguments by name under vmap: lib.vmap(lambda x, y: x + y, (0,))(X, y=X)
    lists of axes: lib.vmap(lambda x: [x, 1.0], in_axes=[0], out_axes=[0, None])(X)
    jit of an array and then of a NumPy array: [f(x) for f in [lib.jit(square)]
        for x in (jnp.asarray(X), X, jnp.asarray(X), 2.0, jnp.array(2.0), 3.0)]
    jit of a NumPy array and then of an array: [f(x) for f in [lib.jit(square)]
        for x in (X, jnp.asarray(X), X, jnp.array(2.0), 2.0, jnp.array(3.0))]
    jit of a class and of a callable object: [lib.jit(functools.partial(square))(3.0),
        lib.jit(type("Twice", (), {"__call__": lambda self, x: 2.0 * x})())(3.0)]
""",
)
OFTEN = {
    f"how often {name} runs a function": functools.partial(runs, program)
    for name, program in programs_of(
        globals(),
        """
        checkpoint: lib.checkpoint(f)(1.0)
        checkpoint of two types: (lib.checkpoint(f)(1.0), lib.checkpoint(f)(np.float32(1)))
        checkpoint with static arguments: [lib.checkpoint(f, static_argnums=1)(1.0, n)
            for n in (1, True, 2)]
        checkpoint under grad, jit and vmap: (lib.grad(lib.checkpoint(f))(1.0),
            lib.jit(lib.checkpoint(f))(1.0), lib.vmap(lib.checkpoint(f))(X))
        jit: (lib.jit(f)(1.0), lib.jit(f)(X), lib.jit(f)(X + 1.0))
        jit with static arguments: [g(x, n) for g in [lib.jit(f, static_argnums=1)]
            for x, n in ((2.0, 3), (5.0, 3), (X, 3), (2.0, 4))]
        scan: lax.scan(lambda c, x: (f(c), x), 1.0, X)
    """,
        "f",
    ).items()
}


def square(x):
    return x * x


# What programs of derivatives look like: the operands stand in JAX's order, a difference is one
# operation, and nothing is converted that JAX does not convert


def text(lib, f, *args):
    """A program as text. JAX adds cotangents with a primitive of its own, `add_any`."""
    return str(lib.make_jaxpr(f)(*args)).replace("add_any", "add")


def changes(lib, f, *xs):
    """The program of the value of a function and its change."""
    return text(lib, lambda xs, ts: lib.jvp(f, xs, ts), xs, xs)


def linear(lib):
    """What is left of the second seed's function for its tangents."""
    return lib.linearize(lambda x, y: lib.numpy.sin(x) - lib.numpy.exp(x + y), 1.0, 2.0)[1]


PICTURES = programs_of(
    globals(),
    """
    linearized: text(lib, linear(lib), 1.0, 0.0)
    linearized and transposed: text(lib, lib.linear_transpose(linear(lib), 1.0, 2.0), 1.0)
    linearized, one variable: text(lib, lib.linearize(jnp.sin, 3.0)[1], 1.0)
    pulled back: text(lib, lib.vjp(lambda x, y: x * y + x, 3.0, 4.0)[1], 1.0)
    gradient: text(lib, lib.grad(lambda x: jnp.exp(x) * x), 2.0)
    powers: changes(lib, lambda x: x**2 + x**3 + x**-1 + 2.0**x, 1.0)
    two variables: changes(lib, lambda x, y: jnp.sin(x) - jnp.exp(x + y), 1.0, 2.0)
    a difference: changes(lib, lambda x, y: x - y, 1.0, 2.0)
    a difference of products: changes(lib, lambda x, y: x * 2.0 - y * 3.0, 1.0, 2.0)
    one minus: changes(lib, lambda x: 1.0 - x, 1.0)
    functions of one variable: [changes(lib, getattr(jnp, name), 1.0) for name in ("sin", "cos",
        "exp", "log", "tanh", "log1p", "expm1", "sqrt", "square")]
    names of primitives: [getattr(lax, name).name for name in [*dir(minijax.lax)]
        if name.endswith("_p")]
    arctanh: [jnp.arctanh(0.5), lib.jit(jnp.arctanh)(np.linspace(-0.9, 0.9, 5)),
        jnp.arctanh(np.float32(0.5)), jnp.arctanh(0), lib.grad(lib.grad(jnp.arctanh))(0.5),
        lax.atanh(0.25), text(lib, jnp.arctanh, 0.5), text(lib, lib.grad(jnp.arctanh), 0.5)]
    primitives: lib.make_jaxpr(lax.exp)(1.0).eqns[0].primitive is lax.exp_p
    literals: lib.make_jaxpr(lambda x: x * CONSTANT)(2.0).literals
    a loop over a checkpoint, pulled back: text(lib, lib.vjp(lambda x: lax.scan(lib.checkpoint(
        lambda c, _: (jnp.sin(c), None)), x, np.arange(3.0))[0], 4.0)[1], 1.0)
""",
)

PROGRAMS = PICTURES | CONTAINERS | ROWS | OFTEN | CUSTOM


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_the_result_is_that_of_jax(program):
    assert_same(program(minijax), program(jax))
