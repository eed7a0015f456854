"""`nn`, `scipy`, `numpy.linalg` and what stands around computations, against JAX, by table."""

import dataclasses
import functools
from collections import OrderedDict, defaultdict, namedtuple

import jax
import jax.flatten_util
import jax.scipy.stats.norm
import minijax
import numpy as np
import pytest
from expressions import rows_of
from oracle import assert_all_same, assert_same

X = np.random.default_rng(0).normal(size=(4, 4)) * 3
I = np.array([1, -1, 0, 2])  # noqa: E741

# Functions of `x` and `i`: their values, derivatives forwards and backwards, and vmap.
FAMILIES = {
    "nn": """
        nn.relu(x); nn.relu(x - x[0, 0]); nn.relu6(x * 3); nn.sigmoid(x)
        nn.softplus(x); nn.softplus(x * 300); nn.sparse_plus(x); nn.sparse_sigmoid(x)
        nn.soft_sign(x); nn.silu(x); nn.swish(x); nn.mish(x); nn.log_sigmoid(x * 100); nn.elu(x)
        nn.elu(x, 0.5); nn.celu(x, 2.0); nn.selu(x); nn.leaky_relu(x); nn.leaky_relu(x, 0.3)
        nn.hard_tanh(x); nn.hard_sigmoid(x * 2); nn.hard_silu(x); nn.hard_swish(x); nn.tanh(x)
        nn.squareplus(x); nn.squareplus(x, 2.0); nn.gelu(x); nn.gelu(x, False); nn.identity(x)
        nn.gelu(x.astype("float32")); nn.glu(x); nn.glu(x, axis=0); nn.log1mexp(abs(x) + 0.1)
        nn.relu(i); nn.hard_tanh(i); nn.one_hot(i, 3); nn.one_hot(i, 3, dtype="int32", axis=0)
        nn.one_hot(abs(i[:, None]), 2, axis=1); nn.softmax(x); nn.softmax(x, axis=0)
        nn.softmax(x, axis=(0, 1)); nn.softmax(x, where=x > 0); nn.softmax(i); nn.softmax(x * 999)
        nn.log_softmax(x); nn.log_softmax(x, 0); nn.log_softmax(x, where=x > -1)
        nn.logsumexp(x); nn.logsumexp(x, axis=1, keepdims=True); nn.logsumexp(x, 0, b=i)
        nn.logsumexp(x, 1, b=x, return_sign=True); nn.logsumexp(x, 1, where=x > 0)
        nn.logsumexp(x - jnp.inf); nn.logmeanexp(x, 1); nn.logmeanexp(x, where=x > 0)
        nn.standardize(x); nn.standardize(x, 0, epsilon=0.1); nn.standardize(x, mean=x[0, 0])
        nn.dot_product_attention(x[None, :, None], x[None, ::-1, None], x[None, :, None] ** 2)
        nn.dot_product_attention(x[:, None], x[:, None], x[:, None], is_causal=True, scale=0.5)
        nn.dot_product_attention(x[:, None], x[:, None], x[:, None], x[None], x[None] > 0)""",
    "special functions": """
        special.erf(x); special.erf(i); special.erfc(x); special.erfinv(x / 10); special.expit(x)
        special.logit(abs(x) / 10); special.logsumexp(x); special.softmax(x, axis=1)
        special.softmax(x); special.log_softmax(x, axis=0); special.xlogy(x, abs(x))
        special.xlogy(0.0 * x, abs(x)); special.xlog1py(x, abs(x)); special.entr(abs(x))
        special.entr(x); special.rel_entr(abs(x), abs(x[0])); special.kl_div(abs(x), abs(x[0]))
        special.ndtr(x); special.ndtr(x * 9); special.ndtri(abs(x) / 10); special.log_ndtr(x)
        special.log_ndtr(x * 12); special.log_ndtr(x * 30, 5)
        special.log_ndtr(x.astype("float32") * 12); norm.logpdf(x)
        norm.logpdf(x, 1.0, abs(x[0])); norm.pdf(x, scale=2); norm.cdf(x, i); norm.logcdf(x)
        norm.sf(x, 1.0, 2.0); norm.logsf(x); norm.ppf(abs(x) / 10, 1.0, 2.0); norm.isf(abs(x) / 10)
        norm.logpdf(i)""",
    "linear algebra": """
        la.norm(x); la.norm(x[0]); la.norm(x, axis=0); la.norm(x, 1); la.norm(x, -1, keepdims=True)
        la.norm(x, jnp.inf); la.norm(x, -jnp.inf, (1, 0)); la.norm(x[0], 1); la.norm(x[0], 3)
        la.norm(x[0], 0); la.norm(x[0], jnp.inf); la.norm(x[0], -jnp.inf); la.norm(x, 2, 1)
        la.norm(x, "fro"); la.norm(x[None], axis=(0, 2)); la.norm(i); la.norm(x[None])
        la.vector_norm(x); la.vector_norm(x, axis=1, ord=1, keepdims=True)
        la.vector_norm(x, axis=1, ord=3); la.matrix_norm(x[None])
        la.matrix_norm(x, ord=1); la.matrix_power(x, 3); la.matrix_power(x, 0)
        la.matrix_transpose(x[None]); la.multi_dot([x, x.T, x[0]]); la.outer(x[0], i)
        la.vecdot(x, x[::-1]); la.vecdot(x, x, axis=0); la.diagonal(x[None], offset=1); la.trace(x)
        la.trace(x[None], offset=-1); la.cross(x[:, :3], x[0, 1:]); la.matmul(x, x)
        la.tensordot(x, x, axes=1)""",
}


def modules(lib):
    return {
        "jnp": lib.numpy,
        "nn": lib.nn,
        "la": lib.numpy.linalg,
        "special": lib.scipy.special,
        "norm": lib.scipy.stats.norm,
    }


def weighted(lib, values):
    """One number from all floats, each with a weight of its own."""
    total = 0.0
    for y in lib.tree.leaves(values):
        if y.dtype.kind == "f":
            weights = np.cos(np.arange(y.size)).reshape(y.shape)
            total = total + lib.numpy.sum(lib.numpy.where(lib.numpy.isfinite(y), y * weights, 0.0))
    return total


def all_of(lib, family):
    """Values, tangents, gradients and batches of a family's functions, by their texts."""

    def run(x, i):
        found = {}
        for text in rows_of(FAMILIES[family]):
            f = eval(f"lambda x, i: {text}", modules(lib))  # the table above
            found[text] = [
                *lib.tree.leaves(lib.jvp(lambda x, f=f: f(x, i), (x,), (lib.numpy.cos(x),))),
                lib.grad(lambda x, f=f: weighted(lib, f(x, i)))(x),
                *lib.tree.leaves(lib.vmap(lambda x, f=f: f(x, i))(lib.numpy.stack([x, x[::-1]]))),
            ]
        return found

    return run


def value_and_gradient(lib, text):
    f = eval(f"lambda x, i: {text}", modules(lib))  # the table above
    return f(X, I), lib.grad(lambda x: weighted(lib, f(x, I)))(X)


def test_functions_have_the_values_and_gradients_of_jax():
    every = [text for table in FAMILIES.values() for text in rows_of(table)]
    # JAX's attention computes its softmax in float32.
    assert_all_same({t: functools.partial(value_and_gradient, text=t) for t in every}, 1e-4, 1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_functions_and_their_transformations_are_those_of_jax(family):
    got, want = (lib.jit(all_of(lib, family))(X, I) for lib in (minijax, jax))
    for text in want:
        # JAX's attention computes its softmax in float32, too.
        close = 1e-4 if "float32" in text or "attention" in text else 1e-9
        assert_same(got[text], want[text], text, close, close)


# Everything else ----------------------------------------------------------------------------------

Point = namedtuple("Point", "x y")


def shapes(lib):
    """What `eval_shape` says of a function, as texts."""
    struct = lib.ShapeDtypeStruct((2, 3), "float32")
    out = lib.eval_shape(lambda x, *, y: {"a": x.T @ x, "b": (y, x.sum(), 2.0)}, struct, y=X)
    leaves, tree = lib.tree.flatten(out)
    return [*map(str, leaves), str(tree), len(struct), struct.ndim, struct.size, hash(struct) != 0]


def classes(lib):
    """Classes that are containers, in all ways in which one can say so."""
    tu = lib.tree_util

    @tu.register_pytree_node_class
    class A:
        def __init__(self, x):
            self.x = x

        def tree_flatten(self):
            return (self.x,), None

        @classmethod
        def tree_unflatten(cls, data, children):
            return cls(*children)

    @tu.register_pytree_with_keys_class
    class B(A):
        def tree_flatten_with_keys(self):
            return ((tu.GetAttrKey("x"), self.x),), None

    @functools.partial(tu.register_dataclass, data_fields=["w"], meta_fields=["name"])
    @dataclasses.dataclass
    class C:
        w: float
        name: str

    @tu.register_dataclass
    @dataclasses.dataclass
    class D:
        w: float
        name: str = dataclasses.field(metadata={"static": True}, default="d")

    @tu.register_static
    class E:
        pass

    class F(A):
        pass

    tu.register_pytree_with_keys(F, lambda f: (((tu.DictKey("k"), f.x),), 3), lambda _, c: F(*c))
    tree = [A(1.0), B({"a": 2.0}), C(3.0, "c"), D(4.0), E(), F(5.0)]
    doubled = lib.tree.map(lambda x: 2 * x, tree)
    times = lib.jit(lambda c: C(c.w * len(c.name), c.name))
    return [
        [times(C(1.0, name)).w for name in ("a", "bcd", ["no", "hash"], "a")],
        [tu.keystr(path) for path, _ in tu.tree_leaves_with_path(tree)],
        [doubled[0].x, doubled[1].x, doubled[2].w, doubled[2].name, doubled[3].w, doubled[5].x],
        lib.grad(lambda c: c.w**2)(C(3.0, "c")).w,
        lib.jit(lambda d: d)(D(1.0, "n")).name,
    ]


def paths(lib):
    """Paths in containers of all kinds."""
    tu = lib.tree_util
    tree = {"b": [1, (2, None)], "a": Point(3, OrderedDict(z=4, y=5)), "c": defaultdict(int, k=6)}
    pairs, structure = tu.tree_flatten_with_path(tree)
    mapped = lib.tree.map_with_path(lambda path, x, y: (tu.keystr(path), x + y), tree, tree)
    inner, outer = lib.tree.structure({"p": 0, "q": 0}), lib.tree.structure([0, 0])
    return [
        [tu.keystr(path) for path, _ in pairs],
        [tu.keystr(path, simple=True, separator="/") for path, _ in pairs],
        [str(key) for key in (tu.SequenceKey(1), tu.DictKey("a"), tu.FlattenedIndexKey(2))],
        str(structure),
        str(isinstance(structure, tu.PyTreeDef)),
        lib.tree.leaves(mapped),
        [x for _, x in lib.tree.leaves_with_path(tree, is_leaf=lambda t: t is tree["b"])][1:],
        len(lib.tree.flatten_with_path(tree)[0]),
        tu.tree_map_with_path(lambda path, x: len(path) * x, tree)["a"],
        lib.tree.transpose(outer, inner, [{"p": 1, "q": 2}, {"p": 3, "q": 4}]),
        tu.tree_transpose(outer, None, [{"p": 1, "q": 2}, {"p": 3, "q": 4}]),
        [lib.tree.reduce(lambda x, y: x - y, tree), tu.tree_reduce(max, tree, 9)],
        [lib.tree.all([1, {"a": 0}]), tu.tree_all([]), tu.all_leaves([1, 2]), tu.all_leaves([[]])],
        [str(tu.treedef_tuple([inner, outer])), list(map(str, tu.treedef_children(inner)))],
        [tu.treedef_is_leaf(inner), tu.treedef_is_leaf(lib.tree.structure(1))],
    ]


def places(lib):
    """Arrays on devices, and off them."""
    device = lib.devices()[0]
    put = lib.device_put({"a": X, "b": 2.0}, device)
    return [
        put,
        [put["a"].committed, put["a"].devices() == {device}, lib.device_put(X).committed],
        lib.jit(lambda x: lib.device_put(x) + 1)(X),
        type(lib.device_get({"a": lib.numpy.ones(2)})["a"]).__name__,
        lib.device_get(2.0),
        lib.block_until_ready({"a": lib.numpy.ones(2), "b": 3}),
        lib.jacobian(lambda x: x**2)(X[0]),
        lib.grad(lambda x: lib.device_put(x) ** 2)(3.0),
        [lib.device_count() == len(lib.devices()), lib.local_device_count() == lib.device_count()],
        [lib.local_devices() == lib.devices(), lib.default_backend(), lib.process_index()],
    ]


def vectors(lib):
    """Containers as vectors."""
    ravel = lib.flatten_util.ravel_pytree
    vector, back = ravel({"w": X, "b": np.float32(2), "n": np.arange(3)})
    return [
        vector,
        back(2 * vector),
        ravel([])[0],
        lib.grad(lambda v: sum(map(lib.numpy.sum, lib.tree.leaves(back(v**2)))))(vector),
        lib.vmap(lambda x: ravel((x, 1.0))[0])(X),
    ]


def beginnings(lib):
    """What initializers make."""
    init, key = lib.nn.initializers, lib.random.key(1)
    makers = [
        *(init.zeros, init.ones, init.constant(2.0), init.uniform(0.5), init.normal(2.0)),
        init.truncated_normal(0.1, lower=-1.0),
        init.variance_scaling(2.0, "fan_out", "normal", dtype="float32"),
        init.variance_scaling(1.0, "fan_geo_avg", "truncated_normal"),
        *(init.glorot_normal(), init.glorot_uniform(), init.xavier_normal(), init.xavier_uniform()),
        *(init.he_normal(), init.he_uniform(), init.kaiming_normal(), init.kaiming_uniform()),
        *(init.lecun_normal(), init.lecun_uniform(-3, batch_axis=0)),
    ]
    return [make(key, (2, 3, 4)) for make in makers[:-1]] + [makers[-1](key, (2, 3, 4, 5))]


def mended(lib):
    """What JAX's own tests found: weights for several axes, unravelled dtypes, odd containers."""
    jnp, tree_util = lib.numpy, lib.tree_util
    a = np.arange(24.0).reshape(2, 3, 4)
    weights = [(np.ones((4, 2)) + a[:, 0].T, (2, 0)), (X[0, :3] ** 2, (1,)), (a.T, (2, 1, 0))]
    flat, unravel = lib.flatten_util.ravel_pytree({"x": X[0], "y": X[1]})
    _, again = lib.flatten_util.ravel_pytree({"x": X[2], "y": X[3]})
    mixed, unravel_mixed = lib.flatten_util.ravel_pytree((jnp.float32(1.5), jnp.int32(2)))
    traced = []
    f = lib.jit(lambda v, un: traced.append(1) or un(v), static_argnums=1)
    pair = type("Pair", (namedtuple("Pair", "a b"),), {})
    tree_util.register_pytree_node(pair, lambda p: ((p[0],), p[1]), lambda b, a: pair(*a, b))
    lowered = lib.jit(lambda x: {"x": x * 2}).lower(lib.ShapeDtypeStruct((3,), "float32"))
    return [
        "tensor<3xf32>" in lowered.as_text(),
        [jnp.average(a, axis, w) for w, axis in weights],
        unravel(flat > 0),
        (f(flat, unravel), f(flat, again), len(traced)),
        unravel_mixed(mixed * 2),
        [lib.tree_util.keystr(p) for p, _ in tree_util.tree_flatten_with_path(pair(3, "hi"))[0]],
        lib.tree.transpose(lib.tree.structure([0, 0]), lib.tree.structure((0, 0)), [1, 2, 3, 4]),
    ]


PROGRAMS = {f.__name__: f for f in (shapes, classes, paths, places, vectors, beginnings, mended)}


@pytest.mark.every
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_the_result_is_that_of_jax(program):
    assert_same(program(minijax), program(jax), single=1e-12)
