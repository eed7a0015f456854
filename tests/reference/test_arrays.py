"""Arrays as JAX has them: every row is evaluated by both, and what Python prints of it compared.

What is printed of an array says its values, its dtype, and whether it is weakly typed. Where JAX
raises an error, the class of the error is compared.
"""

import copy
import operator
import pickle

import jax
import minijax
import numpy as np
import pytest

jax.config.update("jax_enable_x64", True)

# In all rows x, v, m are float arrays, i integers, b booleans, s and w weakly typed numbers, f a
# float32 and h a float16; u are small unsigned numbers, c the numbers of a device.
ROWS = {
    "what they are": """
        x; x[0]; x[:0]; s; w; f; h; u; b; m; type(x).__name__; isinstance(x, lib.Array)
        isinstance(x, jnp.ndarray); jnp.ndarray is lib.Array; isinstance(np.ones(2), lib.Array)
        isinstance(2.0, lib.Array); lib.jit(lambda t: isinstance(t, lib.Array))(x); x.shape
        x.dtype; x.ndim; x.size; x.nbytes; x.itemsize; x.weak_type; w.weak_type; c.weak_type
        len(x); len(s); x.T; m.T; c; type(c).__name__; isinstance(x, lib.typing.ArrayLike)
        isinstance([1], lib.typing.ArrayLike); isinstance(2.0, lib.typing.ArrayLike); hash(x)
        x.nothing; x.fill(3); x.is_deleted(); len(x.devices()); x.block_until_ready()
        x.committed; lib.config.update("jax_enable_x64", True); lib.config.jax_enable_x64
        issubclass(lib.errors.NonConcreteBooleanIndexError, lib.errors.JAXIndexError)""",
    "Python's own": """
        bool(s); int(s); float(s); complex(s); int(x); float(x); bool(x); bool(x[:1]); range(s)
        [10, 20, 30, 40][s]; [10, 20][w]; f"{s:5d}"; f"{w:.2f}"; f"{x}"; f"{x:.2f}"; str(x); str(s)
        repr(h); list(x); list(s); not s; s in [3]; 3.0 in x; round(w); round(x); round(w, 1)
        round(x, 1); divmod(x, 2); divmod(7, i); abs(-x); -x; +x; pow(s, 2); x == None; x != None
        x.tolist(); s.tolist(); s.item(); x.item(); x.item(0); copy.copy(w); copy.deepcopy(w)
        copy.deepcopy(c); x.copy(); c.copy(); pickle.loads(pickle.dumps(w))
        pickle.loads(pickle.dumps(c)); sorted(x); max(x); sum(x); any(x); "%d" % s; [*m]
        (lambda a: (a := x, exec("a += 1", {"a": a}))[0])(x); dict(a=x) == 3; str(m); repr(m * 1e9)
        float(f); int(f); bool(h); f.__index__(); operator.index(i[0]); hex(s)""",
    "NumPy's functions": """
        np.sin(x); np.sum(x); np.mean(m, axis=0); np.reshape(x, (3, 1)); np.transpose(m); np.std(x)
        np.concatenate([x, x]); np.round(x); np.clip(x, 0, 1); np.argmax(x); np.cumsum(x)
        np.any(b); np.all(b); np.ravel(m); np.squeeze(m[:1]); np.max(x); np.dot(x, x)
        np.where(x > 1, x, 0); np.stack([x, x]); np.add(x, x); np.ones(3) * x; np.ones(3) + x
        np.float32(2) * x; np.float64(2) * s; np.int64(2) * f; np.float32(1) + i; x * np.ones(3)
        np.asarray(x).flags.writeable; np.array(x).flags.writeable; np.asarray(x, dtype="int32")
        x.__array__(dtype="float32"); np.take(x, np.array([0])); np.var(x); np.prod(x); np.min(x)
        np.asarray(c).flags.writeable; np.asarray(c); np.isnan(x); np.allclose(x, x); np.shape(x)
        np.ndim(m); np.size(m); np.swapaxes(m, 0, 1); np.array([x, x]); np.array([x[0], 1.0])
        np.zeros(3) < x; np.ones(3) == x; np.ones((3, 3)) @ x; np.repeat(x, 2); np.array(s)
        np.full((2,), w); np.arange(s); np.linspace(0, w, 3); np.float32(w); np.int64(s)""",
    "operators": """
        i.astype("int32") * f; i * f; f * i; i / 2; i.astype("int32") / f; b * b; b + b; b * i
        u + i; u * f; u - 1; f + 1; f + 1.5; f * s; f * w; h * 2.5; h * f; h * i; h + True
        i + True; i + 1.5; i.astype("int8") + 300; i.astype("int8") * w; s + s; s * w; w / s; s / s
        w + f; w + h; s + b; s + True; s < w; s == 3; x > 1; x >= w; ~b; ~i; -u; -b; +b; b & b
        b | ~b; b ^ b; i & 1; x & 1; s & 1; s ** 2; 2 ** s; i ** 2; i ** -1; x ** -1; f ** 2
        f ** 0.5; w ** 2; w ** 0.5; 2.0 ** i; i ** i; x // 2; i // 2; i // 0; i % 2; x % 0.3
        -7 // i; 7 % i; x @ x; m @ x; m @ m.T; i @ f; h @ h; b @ b; x + [1, 2, 3]; [1, 2, 3] + x
        x + "a"; x + None; x * (1, 2, 3); x < [1]; x @ [1, 2, 3]; s - 1; 1 - s; 1 / s; 1.5 - s
        2 / i; x << 1; s - w; abs(s); abs(u); abs(b); x - b; b - b; u // 2; u % 3; h / 3; h // 2
        i.astype("uint8") - 3; u + u.astype("int8"); u * 1.5; c + 1; c * w; c + x; x + c""",
    "making arrays": """
        jnp.ones(3); jnp.zeros((2, 3)); jnp.full((2,), 3.0); jnp.full((2,), 3); jnp.full(3, x)
        jnp.full((2,), 3.0, jnp.float32); jnp.full((2, 3), x); jnp.full((), 2.0); jnp.full((), s)
        jnp.full((2,), f); jnp.full((2,), w); jnp.full((2,), [1, 2]); jnp.full((2,), True)
        jnp.arange(4); jnp.arange(2, 5); jnp.arange(0.0, 3.0); jnp.arange(1, 7, 2); jnp.arange(3.0)
        jnp.arange(3, dtype="int8"); jnp.arange(s); jnp.linspace(0, 1, 5); jnp.linspace(0.0, w, 3)
        jnp.linspace(0, 1, 5, endpoint=False); jnp.linspace(f, 2, 3); jnp.linspace(0, 1, 1)
        jnp.eye(2); jnp.eye(2, 3, k=1); jnp.eye(2, dtype=int); jnp.eye(2, dtype=bool)
        jnp.ones_like(x); jnp.zeros_like(3); jnp.ones_like(3.0); jnp.ones_like(f)
        jnp.zeros_like(s); jnp.zeros_like(True); jnp.ones_like(x, dtype=int)
        jnp.ones_like(x, shape=(2,)); jnp.zeros_like([1.0]); jnp.zeros_like("a"); jnp.zeros(2.0)
        jnp.zeros((2, -1)); jnp.ones(s); jnp.zeros(np.int64(2)); jnp.ones((2,), "int32")
        jnp.ones(()); jnp.zeros((0, 3)); jnp.array(2.0); jnp.array(2); jnp.array(True)
        jnp.asarray(w); jnp.asarray(c); jnp.array([]); jnp.array([1, 2.0])
        jnp.array([x[0], 2, np.float32(3)]); jnp.array([x, x]); jnp.array("a"); jnp.array([s, 2])
        jnp.array([w, w]); jnp.array([True, 2]); jnp.array(None); jnp.array([[1], [2, 3]])
        jnp.array({}); jnp.array(2, jnp.float32); jnp.array(x, int); jnp.array([1, 2], jnp.float32)
        jnp.array(np.float32(2)); jnp.array(2**70); jnp.array([None]); jnp.float32(2)
        jnp.int32(2.7); jnp.float64(x); jnp.bool_(2); jnp.uint8(3); jnp.float16(f)
        jnp.sin(np.ma.array([1.0])); jnp.ones(3, dtype=np.float32); jnp.sin(np.matrix([1.0]))
        jnp.array((1, 2)); jnp.array([(1, 2), [3, 4]]); jnp.array([f, i[0]])""",
    "weak types": """
        jnp.sin(2.0); jnp.sin(2); jnp.sin(w); jnp.sin(f); jnp.exp(s); jnp.add(1, 2); jnp.add(w, 2)
        jnp.sum(w); jnp.sum(jnp.full((2,), 3)); jnp.mean(jnp.full((2,), 3.0)); jnp.max(w)
        jnp.max(jnp.full((2,), 3.0)); jnp.min(jnp.full((2,), 3)); jnp.prod(jnp.full((2,), 3))
        jnp.any(s); jnp.argmax(jnp.full((2,), 3)); jnp.cumsum(jnp.full((2,), 3.0))
        jnp.var(jnp.full((2,), 3.0)); jnp.std(w); jnp.reshape(w, (1,)); jnp.ravel(w)
        jnp.expand_dims(w, 0); jnp.broadcast_to(w, (2,)); jnp.broadcast_to(2.0, (2,))
        jnp.transpose(jnp.full((2,), 3.0)); jnp.squeeze(jnp.full((1,), 3.0)); jnp.stack([w, w])
        jnp.concatenate([jnp.full((1,), 3.0)] * 2); jnp.where(True, 1, 2.0); jnp.where(b, w, w)
        jnp.where(b, x, w); jnp.where(b, f, w); jnp.where(b, 1, s); jnp.maximum(w, 2); jnp.sign(w)
        jnp.maximum(f, w); jnp.clip(w, 0, 1); jnp.clip(f, 0, w); jnp.abs(s); jnp.square(w)
        jnp.sqrt(s); jnp.floor(w); jnp.floor(s); jnp.round(w); jnp.round(s); jnp.round(w, 1)
        jnp.tanh(w); jnp.power(w, 2); jnp.power(w, w); jnp.power(2, s); jnp.power(f, w)
        jnp.reciprocal(w); jnp.log2(w); jnp.log10(s); jnp.isnan(w); jnp.isfinite(s)
        jnp.equal(s, 2); jnp.negative(w); jnp.dot(w, w); jnp.dot(2.0, 3.0)
        jnp.dot(jnp.full((2,), 3.0), jnp.full((2,), 3.0))
        jnp.matmul(jnp.full((2,), 3.0), jnp.full((2,), f)); jnp.outer(jnp.full((2,), 3.0), 2.0)
        jnp.einsum("i,i", jnp.full((2,), 3.0), jnp.full((2,), 3.0)); jnp.vdot(w, w); jnp.tile(w, 2)
        jnp.repeat(w, 2); jnp.flip(jnp.full((2,), 3.0)); jnp.roll(jnp.full((2,), 3.0), 1)
        jnp.pad(jnp.full((2,), 3.0), 1); jnp.sort(jnp.full((2,), 3.0))
        jnp.tril(jnp.full((2, 2), 3)); jnp.argsort(jnp.full((2,), 3.0))
        jnp.take(jnp.full((2,), 3.0), 0); jnp.full((2,), 3.0)[0]; jnp.full((2,), 3.0)[i]
        jnp.full((2,), 3.0).at[0].set(1.0); x.at[0].set(s);; jnp.full((2,), 3.0).astype(float)
        w.astype(float); w.astype("float32"); jnp.positive(w); jnp.logical_not(s)
        jnp.logical_and(s, w); jnp.bitwise_and(s, 1); jnp.count_nonzero(s); jnp.mod(s, 2)
        jnp.floor_divide(w, 2); jnp.divide(s, 2); jnp.swapaxes(jnp.full((2, 1), 3), 0, 1)
        lax.neg(w); lax.add(1.0, 2.0); lax.lt(1.0, 2.0); lax.select(True, 1.0, 2.0); lax.sin(2.0)
        lax.select(b, jnp.full((3,), 3.0), x); lax.max(w, w); lax.convert_element_type(w, float)
        lax.reduce_sum(jnp.full((2,), 3.0), (0,)); lax.dot_general(x, x, (((0,), (0,)), ((), ())))
        lax.broadcast_in_dim(2.0, (2,), ()); lax.full((2,), 3.0); lax.full_like(w, 2)
        lax.square(w); lax.full_like(x, 2); lax.integer_pow(w, 2); lax.pow(w, 2.0)
        lax.clamp(0.0, w, 1.0); lax.reshape(w, (1,)); lax.stop_gradient(w); lax.iota("int32", 2)
        lax.rem(w, 2.0); lax.concatenate([jnp.full((1,), 3.0), x], 0)
        lax.cumsum(jnp.full((2,), 3.0)); lax.dynamic_slice(jnp.full((2,), 3.0), (0,), (1,))
        lax.pad(x, 0.0, [(1, 0, 0)]); lax.is_finite(w); lax.sort(jnp.full((2,), 3.0))
        lax.rev(jnp.full((2,), 3.0), (0,)); lib.grad(lambda t: t * t)(3.0)
        lib.grad(lambda t: t)(3.0); lib.grad(jnp.sin)(w); lib.grad(lambda t: 2.0)(3.0)
        lib.grad(lambda t: (t * x).sum())(3.0); lib.grad(jnp.tanh)(2.0); lib.grad(jnp.sqrt)(4.0)
        lib.grad(lambda t: t**2)(3.0); lib.grad(lambda t: 1 / t)(2.0)
        lib.grad(lambda t: f * t)(3.0); lib.grad(jnp.log)(2.0)
        lib.jvp(lambda t: 7.0 * t, (1.0,), (1.0,)); lib.jvp(jnp.sin, (f,), (f,))
        lib.jvp(lambda t: 7.0, (1.0,), (1.0,))[1]; lib.vmap(lambda t: 7.0)(x); lib.vmap(jnp.sin)(i)
        lib.vmap(lambda t: t * w)(x); lib.vmap(lambda t: w)(x); lib.jacfwd(lambda t: t * t)(3.0)
        lib.jacrev(lambda t: t * t)(3.0); lib.hessian(lambda t: t**3)(2.0); lib.jit(lambda t: t)(3)
        lib.jit(lambda t: (t, 2.0, w))(w); lib.jit(lambda t: t * 2)(f); lib.jit(lambda: 2.0)()
        lib.jacfwd(lambda t: 3)(3.0); lib.value_and_grad(lambda t: t * t)(f)
        lib.linearize(lambda t: t * t, 3.0)[1](1.0); lib.vjp(lambda t: t * t, 3.0)[1](1.0)
        lib.vjp(lambda t: 2.0, 3.0)[1](1.0); lib.jacfwd(lambda t: t)(x); lib.jacrev(lambda t: t)(x)
        lax.cond(True, lambda t: t, lambda t: t, 3.0)
        lax.while_loop(lambda t: t < 3, lambda t: t + 1, 1.0)
        lax.fori_loop(0, 3, lambda j, t: t + j, 1.0); lax.scan(lambda k, t: (k + t, t), 1.0, x)""",
    "indexing": """
        x[1]; x[-1]; x[9]; x[-9]; x[s]; x[None]; x[..., None]; x[[0, 2]]; x[[0, 2], [0, 2]]
        m[[0, 2], [0, 2]]; m[(0, 1)]; m[i]; m[i, 0]; m[i, i]; m[:, i]; m[i[:, None], i]; x[b]; m[b]
        m[:, b]; x["a"]; x[1.0]; x[w]; x[x]; m[0, 0, 0]; x[np.array([0, 1])]; x[np.int64(1)]
        m[0][1]; x[i + 9]; x[-i - 9]; x[5:]; x[::-1]; x[::2]; x[: s]; x[slice(1, 2)]; m[..., 0]
        m[..., ..., 0]; x[()]; s[()]; s[...]; s[0]; m[m > 0]; m[0, b]; m[None, 0]; m[0, None]
        m[:, None, i]; x[[]]; x[[True, False, True]]; x[(0,)]; x[([0, 2],)]; m[[0]]; x[u]; m[s, i]
        m[1:, i]; m[i, 1:]; m[0, 1:3]; m[np.array([[0, 1], [1, 2]])]; x[np.array(1)]
        x[jnp.array(1)]; m[s]; m[s, s]; m[(i, i)]; x[2**40]; x[-(2**40)]; x[i.astype("int8")]
        lib.jit(lambda t, j: t[j])(x, 1); lib.jit(lambda t, j: t[j])(x, 9)
        lib.jit(lambda t, j: t[j])(m, i); lib.jit(lambda t, j: t[j, 0])(m, -1)
        lib.jit(lambda t, j: t[j : j + 1])(x, 1); lib.jit(lambda j: (10, 20)[j])(1)
        lib.vmap(lambda j: x[j])(i); lib.vmap(lambda j: m[j, 1])(i); lib.jit(lambda t: t[t > 0])(x)
        lib.jit(lambda j: np.arange(3)[j])(1); np.arange(3)[i]; np.ones((3, 3))[s]; [1, 2, 3, 4][s]
        lib.grad(lambda t: t[1])(x); lib.grad(lambda t: t[9])(x); lib.grad(lambda t: t[i].sum())(x)
        lib.grad(lambda t: t[[0, 1], [0, 1]].sum())(m)""",
    "updates": """
        x.at[0].set(9.0); x.at[0].add(1); x.at[i].add(x); x.at[i].set(0); x.at[9].set(1.0)
        x.at[-1].set(1.0); x.at[-9].set(1.0); m.at[0].set(1.0); m.at[:, 0].set(x)
        m.at[i, i].add(1); x.at[1:].set(7); x.at[b].set(0.0); m.at[b].set(0.0); x.at[[0]].set(1.0)
        i.at[0].set(2.7); x.at[0].get(); x.at[9].get(); x.at[i].get(); x.at[s].set(1)
        m.at[0, 1:].add(x[:2]); x.at[...].set(0); m.at[m > 1].set(0.0); f.at[()].set(3.0)
        x.at[0].set([1.0]); x.at["a"].set(1); x.at[1.0].set(1); i.at[i].add(i); u.at[0].set(300)
        x.at[None].set(1.0); x.at[::-1].set(x); x.at[5:].set(1.0); x.at[0].set(x); m.at[0].set(m)
        x.at[0].set("a"); x.at[i.astype("int8")].set(1); b.at[0].set(2)""",
}


def known(lib, jnp):
    """What the rows compute with."""
    arrays = {
        "x": jnp.array([1.0, 2.5, -3.0]),
        "m": jnp.arange(9.0).reshape(3, 3),
        "i": jnp.array([1, 2, 0]),
        "b": jnp.array([True, False, True]),
        "s": jnp.array(3),
        "w": jnp.array(2.0),
        "f": jnp.float32(1.5),
        "h": jnp.array([1.5, 2], "float16"),
        "u": jnp.array([3, 200], "uint8"),
        "c": lib.jit(lambda t: t * 2)(np.arange(3)),
    }
    modules = {"lib": lib, "jnp": jnp, "lax": lib.lax, "np": np, "copy": copy, "pickle": pickle}
    return {**modules, "operator": operator, **arrays}


def expressions(family):
    lines = ROWS[family].replace("\n", "; ").split("; ")
    return [line.strip() for line in lines if line.strip()]


def answer(text, names):
    """What Python prints of the value, or the class of the error."""
    try:
        return repr(eval(text, names))  # the tables above
    except Exception as error:
        return f"raises {type(error).__name__}"


def answers(lib, family):
    names = known(lib, lib.numpy)
    return {text: answer(text, names) for text in expressions(family)}


@pytest.mark.parametrize("family", ROWS)
def test_a_row_prints_what_it_prints_on_jax(family):
    ours, theirs = answers(minijax, family), answers(jax, family)
    assert {text: (ours[text], theirs[text]) for text in ours if ours[text] != theirs[text]} == {}
