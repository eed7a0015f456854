"""Expressions of public names, for comparing minijax with JAX and for using it without JAX."""

import re
import textwrap

import numpy as np

X = np.array([[1.0, -2.0, 4.0], [3.0, 0.5, -1.0]])
N = np.array([[3, -1, 2], [0, 2, 5]])

# What no other table reads; expressions of the library with its `jnp` and `lax`.
EXPRESSIONS = """
    jnp.array([1, 2]); jnp.array([1.0, 2], "float32"); jnp.asarray([True, False], dtype=float)
    jnp.zeros(3); jnp.zeros((2, 0), int); jnp.ones(shape=(2,), dtype="int32"); jnp.eye(3)
    jnp.eye(2, 3, 1, "float32"); jnp.eye(3, k=-1, dtype=bool); jnp.linspace(0, 1, 5)
    jnp.linspace(0.0, 1.0, 4, False, dtype="float32"); jnp.arange(4); jnp.arange(1, 2, 0.25)
    jnp.arange(5, 1, -2, "float32"); jnp.arange(2.0); jnp.arange(stop=3, start=1, dtype=int)
    jnp.full((2,), 3); jnp.full(2, 1.5, dtype="float32")
    lib.jit(lambda y: jnp.full(2, y, "int32"))(2.5); jnp.zeros_like(n)
    jnp.zeros_like(x, dtype=bool); jnp.ones_like(n, shape=(2, 2)); jnp.ones_like(b); jnp.shape(x)
    jnp.ndim(x); jnp.size(x); jnp.size(x, 1); jnp.size(x, axis=(0, -1)); jnp.pi; jnp.inf; jnp.nan
    jnp.bool_(0); jnp.int8(3); jnp.int16(3); jnp.int32(-3); jnp.int64(3); jnp.uint8(3)
    jnp.uint16(3); jnp.uint32(3); jnp.uint64(3); jnp.float16(1.5); jnp.float32(1.5)
    jnp.float64(1.5); x.astype(jnp.float32); jnp.add(x, n); jnp.subtract(x, 1); jnp.multiply(x, b)
    jnp.divide(n, n + 3); jnp.add(b, b); jnp.true_divide(x, 2); jnp.negative(x); jnp.positive(n)
    jnp.floor_divide(n, 2); jnp.remainder(n, 3); jnp.mod(x, -0.7); jnp.pow(x, 2); jnp.greater(x, n)
    jnp.greater_equal(x, n); jnp.less(x, 1); jnp.less_equal(n, 2); jnp.not_equal(n, 2)
    jnp.bitwise_and(n, 3); jnp.bitwise_or(n, 4); jnp.bitwise_xor(n, 1); jnp.bitwise_not(n)
    jnp.invert(b); jnp.logical_or(b, n); jnp.absolute(x); jnp.amax(x, 1)
    jnp.amin(x, axis=0, keepdims=True); jnp.min(x); jnp.argmax(x, 1); jnp.std(x, 0)
    jnp.argmax(x, keepdims=True); jnp.ravel(n); jnp.reshape(x, (3, -1)); jnp.transpose(x)
    jnp.transpose(x, (1, 0)); jnp.roll(x, 2); jnp.clip(x, max=1); jnp.count_nonzero(n, 0, True)
    lax.broadcast(x, (2,)); lax.full((2, 3), 1.0); lax.full((2,), 1, "float32"); lax.full_like(x, 2)
    lax.full_like(n, 1.0, "float32"); lax.iota("int32", 4); lax.select(b, x, -x)
    lax.slice_in_dim(x, 1, 3, axis=1); lax.dynamic_index_in_dim(x, 1, 0, False)
    lax.dynamic_slice_in_dim(x, 1, 2, axis=1); lax.dynamic_update_index_in_dim(x, x[0], 1, 0)
    lax.dynamic_update_slice_in_dim(x, x[:, :1], 2, 1)
    rows(lax, x, n[:, :1], mode=lax.GatherScatterMode.CLIP)
    lib.tree.flatten({"b": 1, "a": (2, None)}); lib.vmap(lambda y: y + y, axis_name="i")(x)
    lib.tree.leaves([1, (2, 3)], is_leaf=lambda t: t == (2, 3)); lib.tree.structure({"a": [1]})
    lib.tree.unflatten(lib.tree.structure((0, [0])), [1, 2])
    lib.tree.map(lambda u, v: u + v, {"a": 1}, {"a": 2})
    lib.tree.map(len, [(1, 2), (3,)], is_leaf=lambda t: type(t) is tuple)
    lib.tree_util.tree_flatten([1]); lib.tree_util.tree_leaves([1])
    lib.tree_util.tree_structure([1]); lib.tree_util.tree_map(abs, [-1])
    lib.tree_util.tree_unflatten(lib.tree_util.tree_structure([0]), [1])
    issubclass(lib.errors.TracerBoolConversionError, lib.errors.ConcretizationTypeError)
    issubclass(lib.errors.ConcretizationTypeError, TypeError)
    issubclass(lib.errors.UnexpectedTracerError, lib.errors.JAXTypeError)
    issubclass(lib.errors.TracerArrayConversionError, TypeError)
    issubclass(lib.errors.TracerIntegerConversionError, TypeError)
    str(lib.make_jaxpr(lambda y: y * 2.0)(x)); registered(lib); converted(lib)
    lib.grad(lambda y: lib.remat(jnp.sin)(y).sum())(x); lib.ShapeDtypeStruct.like(x).shape
    str(lib.ShapeDtypeStruct.like(x[0]).update(dtype="int32").dtype)
    str(lib.ShapeDtypeStruct.like(2))
    [str(p) + repr(p) for p in lax.Precision]; str(lax.Precision("float32"))
    jnp.dot(x, x.T, precision="highest"); jnp.matmul(x, x.T, precision=lax.Precision.HIGHEST)
    jnp.einsum("ij,kj", x, x, precision=("default", "fastest")); jnp.inner(x, x, precision="high")
    jnp.tensordot(x, x.T, 1, precision="float32"); jnp.vdot(x, x, precision="tensorfloat32")
    lax.dot_general(x, x, (((1,), (1,)), ((), ())), lax.Precision.HIGH, "float64")
    jnp.convolve(x[0], x[1], precision="bfloat16"); jnp.linalg.matmul(x, x.T, precision="high")
    lax.conv(x[None], x[None], (1,), "SAME", "highest")
    lax.conv_transpose(x[None], x[:, :, None], (1,), "SAME", precision="highest")
    jnp.linalg.multi_dot([x, x.T], precision="high"); jnp.linalg.vecdot(x, x, precision="high")
    lax.conv_with_general_padding(x[None], x[None], (1,), "SAME", None, None, "highest")
"""


def registered(lib):
    """What a container of one's own gives, once it is registered."""

    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

    lib.tree_util.register_pytree_node(Pair, lambda p: ((p.a, p.b), None), lambda _, ab: Pair(*ab))
    out = lib.grad(lambda p: p.a * p.b)(Pair(2.0, 3.0))
    return type(out).__name__, out.a, out.b, lib.tree.leaves({"x": [Pair(1, Pair(2, 3))]})


def converted(lib):
    """Values, gradients and the number of captured values of a function without its closure."""
    derivatives = lib.custom_derivatives

    def g(a, b):
        f, captured = derivatives.closure_convert(lambda y: y["k"] * a[0] + b * X[0], {"k": X[0]})
        return f({"k": X[0]}, *captured).sum(), len(captured)

    rules = derivatives.custom_jvp is lib.custom_jvp, derivatives.custom_vjp is lib.custom_vjp
    same = derivatives.closure_convert is lib.closure_convert
    return lib.grad(g, has_aux=True)([2.0], 3), lib.jit(g)([2.0], 3.0), rules, same


def rows_of(table):
    """The texts of a table: one a line, or several with "; " between them."""
    return [text.strip() for text in table.replace("\n", "; ").split("; ") if text.strip()]


def by_name(table):
    """The texts of a table by name; one goes on in lines that are indented more."""
    rows = re.split(r"\n(?=\S)", textwrap.dedent(table).strip())
    pairs = [" ".join(row.split()).split(": ", 1) for row in rows if not row.startswith("#")]
    assert len({name for name, _ in pairs}) == len(pairs)
    return dict(pairs)


def programs_of(known, table, *more):
    """The programs of a table by name: functions of the library, and of `more` arguments.

    An expression may use `lib`, its `lax` and `jnp`, and all names of the module `known`.
    """

    def program(text):
        def run(lib, *args):
            names = {"lib": lib, "lax": lib.lax, "jnp": getattr(lib, "numpy", None)}
            return eval(text, known | names | dict(zip(more, args, strict=True)))  # the table

        return run

    return {name: program(text) for name, text in by_name(table).items()}


def failures_of(known, table, *more):
    """Programs by name, each with what minijax's error says: `name: program raises message`."""
    pairs = {name: text.rpartition(" raises ")[::2] for name, text in by_name(table).items()}
    texts = "\n".join(f"{name}: {text}" for name, (text, _) in pairs.items())
    programs = programs_of(known, texts, *more)
    return {name: (program, pairs[name][1]) for name, program in programs.items()}


def expressions():
    return rows_of(EXPRESSIONS)


def rows(lax, x, i, **more):
    """The rows of the matrix `x` that the indices `i` name."""
    numbers = lax.GatherDimensionNumbers((1,), (0,), (0,))
    return lax.gather(x, i, numbers, (1, x.shape[1]), **more)


def value_of(text, lib):
    """What an expression is, on minijax or on JAX."""
    known = {"lib": lib, "jnp": lib.numpy, "lax": lib.lax, "registered": registered, "rows": rows}
    known["converted"] = converted
    known |= {"x": X, "n": N, "b": N > 1}
    if lib.__name__ == "jax":
        known |= {name: lib.numpy.asarray(known[name]) for name in "xnb"}
    return eval(text, known)  # the table above
