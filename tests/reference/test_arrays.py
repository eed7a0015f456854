"""Arrays as JAX has them: every row is evaluated by both, and what Python prints of it compared.

What is printed of an array says its values, its dtype, and whether it is weakly typed. Where JAX
raises an error, the class of the error is compared.

JAX compiles a program for nearly every row, which takes minutes. So its answers are kept, in
`answers.json`; `PYTHONPATH=solutions python tests/reference/test_arrays.py` writes them. They count
for one version, machine and table: for all others the test asks JAX, and with `--full` for these.
"""

import copy
import functools
import hashlib
import json
import operator
import pickle
import platform
import types
import weakref
from pathlib import Path

import jax
import minijax
import numpy as np
import pytest
from minijax.core import trace_state

jax.config.update("jax_enable_x64", True)

# In all rows x and m are float arrays, i integers, b booleans, s and w weakly typed numbers, f a
# float32 and h a float16; u are small unsigned numbers, c the numbers of a device; g has a NaN, o
# is one index, z has no values, and duck has a shape and a dtype, but no values either. `program`
# is the text of a function's program.
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
        x == [1, 2, 3]; x != (1, 2, 3); [1, 2, 3] == x; {1} != x; x == {"a": 1}; x == "a"; x == None
        x * [1, 2, 3]; lib.jit(lambda t: t == [1, 2, 3])(x); x != range(3); None != x; x == ...
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
    "ends, parts and divisors": """
        lib.grad(lax.cbrt)(0.0); lib.grad(lib.grad(lax.cbrt))(0.0); x.astype(int, copy=False)
        x.astype("float32", copy=True); lib.jit(lambda t: t.astype(int, copy=True))(w)
        jnp.interp(jnp.array([-1., 5.]), i.sort(), x.sort(), left="extrapolate")
        jnp.interp(jnp.array([-1., 5.]), i.sort(), x.sort(), right="extrapolate")
        jnp.interp(jnp.array([-1., 5.]), i.sort(), x.sort(), "extrapolate", "extrapolate")
        jnp.interp(x, x.sort(), x, left="extra"); jnp.searchsorted(g.sort(), jnp.nan, "right")
        jnp.searchsorted(g.sort(), g, method="compare_all"); jnp.searchsorted(g.sort(), g, "right")
        lib.grad(lib.grad(lib.grad(lib.grad(jnp.sinc))))(0.0); lib.grad(lib.grad(jnp.sinc))(0.0)
        lib.grad(lib.grad(jnp.sinc))(0.3); lib.grad(lib.grad(lib.grad(jnp.sinc)))(0.0)
        lib.jit(lambda k: jnp.tri(3, k=k))(1); jnp.tri(3, k=-1)
        jnp.ldexp(x, i); jnp.ldexp(3, 2); jnp.ldexp(f, jnp.int32(2)); lib.grad(jnp.ldexp)(3.0, 2)
        jnp.ldexp(1, 2.0); jnp.ldexp(f, 200); jnp.ldexp(1.0, -1080); jnp.ldexp(1.0, 1023)
        jnp.ldexp(jnp.inf, -3); jnp.ldexp(0.0, 3000); jnp.ldexp(g, 3); jnp.ldexp(i, b)
        jnp.ldexp(h, 3); jnp.modf(x); jnp.modf(3); jnp.modf(f); jnp.modf(-0.0); jnp.modf(True)
        jnp.modf(jnp.inf); jnp.modf(jnp.nan); lib.grad(lambda t: jnp.modf(t)[0])(1.5)
        jnp.spacing(x); jnp.spacing(f); jnp.spacing(3); jnp.spacing(True); jnp.spacing(h)
        jnp.spacing(jnp.array([0.0, -0.0, jnp.inf, 5e-324, 1.7e308])); jnp.bitwise_count(i)
        jnp.bitwise_count(-i); jnp.bitwise_count(u); jnp.bitwise_count(x); jnp.bitwise_count(b)
        jnp.gcd(12, 18); jnp.gcd(i, 6); jnp.gcd(-i, 4); jnp.gcd(0, 0); jnp.gcd(x, 2); jnp.gcd(b, b)
        lib.jit(jnp.gcd)(i[:, None], 4); lib.vmap(jnp.gcd)(i, i + 2); jnp.lcm(12, 18)
        jnp.lcm(-i, 6); jnp.lcm(u, jnp.int8(6)); jnp.lcm(0, 0); jnp.lcm(2.0, 3.0)
        jnp.logaddexp2(x, x[0]); jnp.logaddexp2(1, 2)
        jnp.logaddexp2(True, w); jnp.logaddexp2(jnp.inf, jnp.inf)
        jnp.logaddexp2(1000.0, 2000.0); lib.grad(jnp.logaddexp2)(1.0, 2.0)
        lib.grad(jnp.logaddexp2, 1)(-jnp.inf, 1.0); lib.grad(jnp.logaddexp2)(jnp.inf, 1.0)
        jnp.delete(x, 1); jnp.delete(x, -1); jnp.delete(x, 7); jnp.delete(x, [1]); jnp.delete(m, 1)
        jnp.delete(m, 1, axis=1); jnp.delete(m, slice(1, 3), 0); jnp.delete(x, b)
        jnp.delete(x, 1.0); jnp.delete(x, np.array([1, -1])); jnp.delete(x, np.array([7]))
        jnp.delete(5, 0); jnp.delete(x, b[:2]); jnp.delete(m, o); jnp.delete(x, jnp.array([], int))
        jnp.delete(m, 1, axis=2); lib.jit(lambda t: jnp.delete(x, t))(1)
        lib.jit(lambda t: jnp.delete(m, t, assume_unique_indices=True))(i - 2)
        lax.reduce(m, 0.0, lax.add, (0,)); lax.reduce(i, 1, lax.mul, (0,))
        lax.reduce(m, 0.0, lambda t, v: t + 2 * v, (1,)); lax.reduce(m, 0.0, lax.max, (0, 1))
        lax.reduce((x, x), (0.0, 1.0), lambda t, v: (t[0] + v[0], t[1] * v[1]), (0,))
        lax.reduce(m, 0.0, lax.add, (2,)); lax.reduce(x[:0], 3.0, lax.add, (0,))
        lib.grad(lambda t: lax.reduce(t, 1.0, lax.mul, (0,)))(x); lax.reduce(m, 9.0, lax.min, (0,))
        lib.vmap(lambda t: lax.reduce(t, 0.0, lax.add, (0,)))(m)
        lax.reduce(b, False, lax.bitwise_or, (0,))
        over(lambda t: lax.all_to_all(t, ("i", "j"), 0, 0))(jnp.arange(36.0).reshape(2, 3, 6))
        over(lambda t: lax.all_to_all(t, ["j", "i"], 0, 0))(jnp.arange(36.0).reshape(2, 3, 6))
        over(lambda t: lax.all_to_all(t, ("i", "j"), 0, 1))(jnp.arange(72.0).reshape(2, 3, 6, 2))
        over(lambda t: lax.all_to_all(t, ("i", "j"), 1, 0))(jnp.arange(72.0).reshape(2, 3, 2, 6))
        over(lambda t: lax.all_to_all(t, ("i", "j"), 1, 0, tiled=True))(jnp.ones((2, 3, 2, 12)))
        over(lambda t: lax.all_to_all(t, ("i", "j"), 0, 1, tiled=True))(jnp.ones((2, 3, 6, 2)))
        over(lambda t: lax.all_to_all(t, ("i",), 0, 0))(jnp.arange(12.0).reshape(2, 3, 2))
        over(lambda t: lax.all_to_all(t, ("i", "j"), 0, 0))(jnp.ones((2, 3, 5)))
        jnp.hypot(b, w); jnp.hypot(i * w, w); jnp.hypot(jnp.nan, jnp.inf); jnp.hypot(w, 1)
        jnp.polyval(b, 2.0); jnp.polyval(i, 2); lib.scipy.special.kl_div(b, 2.0)
        lib.scipy.special.kl_div(i, w); lib.scipy.special.rel_entr(i, w)
        lib.scipy.special.rel_entr(w, i * w); lib.scipy.special.kl_div(w, w)
        lib.nn.softmax(x, where=1); lib.nn.softmax(x, where=True); lib.nn.softmax(x, where=b)
        lib.scipy.special.log_ndtr(x, s); lib.scipy.special.log_ndtr(x, 3)
        lib.scipy.special.log_ndtr(x, 3.0); lax.broadcast(x, i); lax.broadcast(x, [2])
        jnp.concatenate([m, m], axis=i[0]); jnp.stack([m, m], axis=i[0]); jnp.take(m, o, axis=i[0])
        jnp.repeat(m, 2, axis=i[0]); jnp.split(m, 3, axis=i[0]); jnp.flip(m, i[0])""",
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
    "kinds of values": """
        jnp.issubdtype(x.dtype, jnp.floating); jnp.issubdtype(i.dtype, jnp.integer)
        jnp.issubdtype(jnp.float32, jnp.inexact); jnp.issubdtype(int, jnp.signedinteger)
        jnp.issubdtype(x.dtype, jnp.complexfloating); jnp.issubdtype("uint8", jnp.unsignedinteger)
        jnp.issubdtype(bool, jnp.number); jnp.issubdtype(bool, jnp.generic); jnp.iscomplexobj(x)
        jnp.issubdtype(np.floating, jnp.inexact); jnp.issubdtype(jnp.int8, np.int8)
        float(jnp.finfo(x.dtype).eps); float(jnp.finfo("float32").max); jnp.finfo("float16").bits
        jnp.iinfo(jnp.int8).min; jnp.iinfo("uint64").max; x[jnp.newaxis]; jnp.finfo(int)
        jnp.iinfo(float); jnp.isrealobj(x); jnp.iscomplexobj(2j); jnp.isscalar(2.0)
        jnp.isscalar(x); jnp.isscalar(x[0]); jnp.isscalar("a"); jnp.e; jnp.euler_gamma
        jnp.zeros(2, jnp.int_); jnp.zeros(2, jnp.uint); jnp.dtype("int8")
        jnp.promote_types("int32", "float32"); jnp.promote_types(int, "int8")
        jnp.result_type(i, 2.0); jnp.result_type(f, 2.0); jnp.result_type("int8", bool)
        jnp.result_type(f, jnp.float64); jnp.result_type(w); jnp.result_type()
        jnp.promote_types("uint64", "int8"); jnp.set_printoptions(); callable(jnp.printoptions)
        i << 1; i >> 1; u << 2; u >> 1; 1 << i; x << 1; 7 >> s; i.astype("int8") << 9; b << 1
        -i >> 1; i << True; w << 1; i.conj(); x.conj(); m.trace(); m.diagonal(); x.cumprod()
        x.ptp(); jnp.logaddexp(w, 1); jnp.hypot(3, w); jnp.arctan2(1, s); jnp.cbrt(w)
        jnp.trunc(w); jnp.conj(w); jnp.imag(w); jnp.nan_to_num(w); jnp.diff(x); jnp.trace(m)
        jnp.isclose(w, 3); jnp.allclose(x, x); jnp.array_equal(x, [0, 1, 2]); jnp.append(x, w)
        jnp.meshgrid(x, i, indexing="a"); jnp.diag(w); jnp.median(w); jnp.tri(2)
        jnp.full_like(w, 2); jnp.full_like(s, 2.5); jnp.full_like(f, w); jnp.atleast_1d(w)
        jnp.atleast_2d([1, 2])
        jnp.average(w); jnp.average(m, 0, x); jnp.convolve(m, x); jnp.convolve(x, i, "no")
        jnp.searchsorted(jnp.arange(3), w); jnp.searchsorted(m, x); jnp.searchsorted(x, 1, "no")
        jnp.identity(2); jnp.rot90(m, axes=(0, 0)); jnp.cumprod(m); jnp.nansum(b); jnp.nanmax(x[:0])
        jnp.percentile(x, 50); jnp.kron(x, w); jnp.vander(x); jnp.rint(s); jnp.deg2rad(s)""",
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
        jnp.full((2,), 3.0).at[0].set(1.0); x.at[0].set(s); jnp.full((2,), 3.0).astype(float)
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
    "making arrays in programs": """
        program(lambda: jnp.ones(5)); program(lambda: jnp.zeros((2, 3), int))
        program(lambda: jnp.full((2,), 3.0)); program(lambda: jnp.full((2,), 3))
        program(lambda: jnp.full((2,), 3, "float32")); program(lambda: jnp.full((3,), x))
        program(lambda t: jnp.full((3,), t), 2.0)
        program(lambda t: jnp.full((3,), t, "float32"), 2.0); program(lambda: jnp.arange(5))
        program(lambda: jnp.arange(1, 5)); program(lambda: jnp.arange(1, 9, 2))
        program(lambda: jnp.arange(5.0)); program(lambda: jnp.arange(1.0, 5.0))
        program(lambda: jnp.arange(0.0, 1.0, 0.25)); program(lambda: jnp.arange(9, 1, -2))
        program(lambda: jnp.arange(5, dtype="int8"))
        program(lambda: jnp.arange(5, dtype="float32")); program(lambda: jnp.arange(0))
        program(lambda: jnp.eye(3)); program(lambda: jnp.eye(3, 4))
        program(lambda: jnp.eye(3, k=1)); program(lambda: jnp.eye(3, k=-1))
        program(lambda: jnp.eye(3, dtype=int)); program(lambda: jnp.eye(3, dtype=bool))
        program(lambda: jnp.linspace(0, 1, 5)); program(lambda: jnp.linspace(0, 1, 1))
        program(lambda: jnp.linspace(0, 1, 0))
        program(lambda: jnp.linspace(0, 1, 5, endpoint=False))
        program(lambda: jnp.linspace(0, 1, 5, dtype="float32"))
        program(lambda: jnp.linspace(0, 10, 5, dtype=int))
        program(lambda t: jnp.linspace(0, t, 5), 2.0); program(lambda: jnp.array(2.0))
        program(lambda: jnp.array([2.0, 3.0])); program(lambda: jnp.asarray(np.ones(2)))
        program(lambda: jnp.array([1, 2], "float32"))
        program(lambda: jnp.array(np.ones(2), "float32"))
        program(lambda t: jnp.array([t, 2.0]), 1.0)
        program(lambda t: jnp.array([[t, 2.0], [t, t]]), 1.0); program(lambda t: jnp.asarray(t), x)
        program(lambda t: jnp.asarray(t, "float32"), x); program(lambda t: jnp.ones_like(t), x)
        program(lambda t: jnp.zeros_like(t), x); program(lambda t: jnp.zeros_like(t, shape=(4,)), x)
        program(lambda t: jnp.zeros_like(t), 2.0); program(lambda: jnp.float32(2))
        program(lambda: jnp.ones(())); program(lambda: jnp.zeros((0, 2)))
        program(lambda: lax.iota(int, 3)); program(lambda: lax.full((3,), 2.0))
        program(lambda: lax.full_like(x, 2.0)); program(lambda t: [a for a in t], x)
        jnp.arange(5).dtype; jnp.arange(5, 1); jnp.arange(1, 5, 0); jnp.arange(0, 1, 0.1)
        jnp.arange(0.5, 3); jnp.arange("a"); jnp.arange(x); jnp.arange(True); jnp.arange(w)
        jnp.arange(0, w); jnp.arange(f); jnp.arange(np.float32(3)); jnp.arange(0, 3, dtype=bool)
        jnp.arange(None); jnp.arange(start=3); jnp.arange(stop=3, start=1); jnp.arange()
        lib.jit(lambda n: jnp.arange(n))(3); lib.jit(lambda n: jnp.eye(n))(3)
        lib.jit(lambda n: jnp.linspace(0, 1, n))(3); lib.jit(lambda n: jnp.linspace(0, n, 3))(3)
        jnp.linspace(0, 10, 5, dtype=int); jnp.linspace(0, -10, 5, dtype=int); jnp.linspace(0, x, 3)
        jnp.linspace(x, m, 3); jnp.linspace(0, 1, -1); jnp.linspace(0, 1, 2.5)
        jnp.linspace(0, 1, 0); jnp.linspace(0, 1); jnp.linspace(np.float32(0), 1, 3)
        jnp.linspace(h[0], 3, 3); jnp.linspace("a", 1, 3); jnp.eye(-1); jnp.eye(2.0); jnp.eye(3, -1)
        jnp.eye(3, 2, -1); jnp.eye(3, k=5); jnp.eye(3, k=1.0); jnp.eye(3, dtype="float16")
        jnp.eye(0); jnp.eye(3, dtype="a")""",
    "axes": """
        lib.jit(lambda n: jnp.ones(n))(3); jnp.roll(x, 1); jnp.roll(m, (1, 2), (0, 1))
        jnp.roll(m, (1, 2)); jnp.roll(m, 1, (0, 1)); jnp.roll(m, (1, 2), 0); jnp.roll(m, i[0], 0)
        jnp.roll(m, jnp.array([1, 2]), (0, 1)); jnp.roll(x, -7); jnp.roll(x, 1.5)
        jnp.roll(x, 1, 3); jnp.roll(x, 1, -1); jnp.roll(jnp.zeros((0,)), 1)
        jnp.roll(jnp.zeros((0, 2)), 1, 0); jnp.roll(2.0, 1); jnp.roll(2.0, 1, 0)
        jnp.roll(x, (1, 2, 3), (0, 0)); jnp.roll(x, (1, 2), (0, 0)); jnp.roll([1, 2, 3], 1)
        lib.jit(lambda t, k: jnp.roll(t, k))(x, 1); lib.jit(lambda t, k: jnp.roll(t, k, 1))(m, -2)
        lib.jit(lambda t, k: jnp.roll(t, k, (0, 1)))(m, i[:2])
        lib.vmap(lambda k: jnp.roll(x, k))(i); lib.grad(lambda t: (jnp.roll(t, 1) * x).sum())(x)
        jnp.size(m, (0, 0)); jnp.size(m, (0, 1)); jnp.size(m, 0); jnp.size(m, -1); jnp.size(m, 2)
        jnp.size(m, 1.0); jnp.size([1, 2]); jnp.shape([1, 2]); jnp.ndim([1, 2]); jnp.size(3)
        jnp.sum(m, (0, 0)); jnp.sum(m, (0, -2)); jnp.max(m, (0, 0)); jnp.sum(m, 1.0)
        jnp.sum(m, None); jnp.sum(m, ()); jnp.sum(m, [0]); jnp.sum(m, np.int64(0))
        jnp.sum(m, True); jnp.mean(m, (0, 0)); jnp.squeeze(m[None, None], (0, 0))
        jnp.flip(m, (0, 0)); jnp.any(m, (0, 0)); jnp.expand_dims(x, (0, 0))
        jnp.expand_dims(x, (0, 1)); jnp.moveaxis(m, (0, 0), (1, 0)); jnp.transpose(m, (0, 0))
        jnp.transpose(m, (0,)); jnp.transpose(m, (0, -1)); jnp.swapaxes(m, 0, 2)
        lax.squeeze(m[None, None], (0, 0)); lax.rev(m, (0, 0)); lax.reduce_sum(m, (0, 0))
        lax.reduce_max(m, (0, 0)); lax.expand_dims(x, (0, 0))""",
    "more indexing": """
        program(lambda t: t[0], x); program(lambda t: t[1:], x); program(lambda t: t[::2], x)
        program(lambda t: t[:, 0], m); program(lambda t: t[None], m); program(lambda t: t[::-1], x)
        program(lambda t, j: t[j], x, 1); program(lambda t: t[9], x); x[True]; x[False]; x[True, 0]
        x[jnp.array(True)]; m[True, :, 0]; m[:, True]; s[True]; x.at[True].set(2.0)
        x.at[False].set(2.0); x[jnp.array([True, False])]; m[jnp.array([True, False])]
        m[:, jnp.array([True, False])]; m[b[None]]; m[jnp.ones((3, 3), bool)]
        m[jnp.ones((3, 2), bool)]; m[[[0], [1]], 0]; m[[0, 1]]; m[([0], [-1]), i]
        m[((0, 1), (1, 2))]; m[[0, jnp.array(1)]]; m[[0], [i[0]]]; m[([i[0], 1],)]
        m[slice(0, 2), [0, 1]]; m[slice(i[0], 2)]; m[: i[1]]; m[1.5]; m["a"]; m[None, None]
        m[2**63]; m[jnp.array([0.5])]; m[np.array(["a"])]; m[lambda: 0]; m[{}]; m[(1,), (2,)]
        m[:, None, [0, 1], None]; m[[0, 1], None, [0, 1]]; m[[], []]; m[jnp.array([], int)]
        m[jnp.array([])]; m[[[]]]; jnp.zeros((1, 0))[0, 0]; jnp.zeros((0,))[0]; jnp.zeros((0, 3))[0]
        jnp.zeros((0, 3))[i]; jnp.zeros((2, 0))[:, 0]; jnp.zeros((2, 0))[i[0], 0]
        jnp.zeros((3, 0))[i]; x.at[0].get(mode="fill"); x.at[9].get(mode="fill", fill_value=-1.0)
        x.at[9].set(1.0, mode="clip"); x.at[9].add(1.0, mode="drop")
        x.at[i].get(indices_are_sorted=True, unique_indices=True); x.at[0, 0].set(1.0)
        x.at[i, i].set(1.0); m.at[[0, 1]].set(1.0); m.at[[0, 1], [0, 1]].set(1.0)
        m.at[(0, 1)].set(1.0); m.at[0:2, 0].set([7.0, 8.0]); x.at[jnp.array([True, False])].set(1.0)
        x.at[np.array([True, False, True])].set([5.0, 6.0]); program(lambda t, j: t[j], m, i[0])
        program(lambda t, j: t[j], m, 1); program(lambda t, j: t[j, 0], m, i[0])
        program(lambda t, j: t[:, j], m, i[0]); program(lambda t, j: t[j], m, i[0].astype("int32"))
        program(lambda t, j: t[j], m, i[0].astype("uint8"))
        program(lambda t, j: t[j], m, i[0].astype("int8")); program(lambda t, j: t[j, j], m, i[0])
        program(lambda t, j: t[j, None], m, i[0]); program(lambda t, j: t[j, 1:], m, i[0])
        program(lambda t, j: t[j], x, i); program(lambda t, j: t[j, 0], m, i)
        program(lambda t: t[-4], m); program(lambda t: t[0, 3], m)""",
    "tracers": """
        lib.jit(lambda t, p: t[p])(x, True); lib.jit(lambda t: t[True])(x)
        lib.jit(lambda j: np.arange(3)[j])(i); lib.jit(lambda j: [1, 2, 3][j])(1)
        lib.jit(lambda j: (1, 2, 3)[j])(1); lib.jit(lambda j: {0: 1}[j])(0)
        lib.jit(lambda j: range(3)[j])(1); lib.jit(lambda j: "abc"[j])(1)
        lib.grad(lambda t: np.arange(3)[t])(1.0); lib.jit(lambda n: list(range(n)))(3)
        lib.jit(lambda n: jnp.broadcast_to(x, (2, n)))(3); lib.jit(lambda n: jnp.zeros((2, n)))(3)
        lib.jit(lambda n: lax.iota(int, n))(3); lib.jit(lambda n: lax.broadcast(x, (n,)))(3)
        lib.jit(lambda n: jnp.full(n, 2.0))(3); lib.jit(lambda n: jnp.repeat(x, n))(3)
        lib.jit(lambda n: jnp.tile(x, n))(3); lib.jit(lambda n: jnp.sum(m, n))(0)
        lib.jit(lambda n: jnp.split(x, n))(3); lib.jit(lambda n: x[:n])(3)
        lib.jit(lambda n: jnp.pad(x, n))(3); lib.jit(lambda n: jnp.expand_dims(x, n))(0)
        lib.jit(lambda n: jnp.concatenate([x, x], n))(0)
        lib.jit(lambda n: jnp.stack([x, x], n))(0); lib.jit(lambda n: jnp.transpose(m, (n, 0)))(1)
        lib.jit(lambda n: jnp.moveaxis(m, n, 0))(1); lib.jit(lambda n: jnp.take(m, i, n))(1)
        lib.jit(lambda n: jnp.squeeze(m[None], n))(0); lib.jit(lambda n: jnp.flip(m, n))(0)
        lib.jit(lambda n: lax.dynamic_slice(x, (0,), (n,)))(2)
        lib.jit(lambda n: lax.slice_in_dim(x, 0, n))(2); lib.jit(lambda t: t.item())(1.0)
        lib.jit(lambda t: t.tolist())(x); lib.jit(lambda t: float(t))(1.0)
        lib.jit(lambda t: complex(t))(1.0); lib.jit(lambda t: int(t))(1.0)
        lib.jit(lambda t: bool(t))(1.0); lib.jit(lambda t: np.sin(t))(1.0)
        lib.jit(lambda t: np.asarray(t))(1.0); lib.jit(lambda t: f"{t:.2f}")(1.0)
        lib.jit(lambda t: len(f"{t}"))(1.0) > 0; lib.jit(lambda t: len(t))(1.0)
        lib.jit(lambda t: [a for a in t])(1.0); lib.jit(lambda t: hash(t))(1.0)
        lib.jit(lambda t: {t: 1})(1.0); lib.jit(lambda t: t.at[0].set(1))(x)
        lib.jit(lambda t: t.__setitem__(0, 1))(x); lib.jit(lambda t: round(t))(2.5)
        lib.jit(lambda t: 3.0 in t)(x); lib.jit(lambda t: t == None)(x)
        lib.jit(lambda t: t < None)(x); lib.jit(lambda t: t + "a")(x)
        lib.jit(lambda t: t + [1])(x); lib.jit(lambda t: [1, 2, 3] + t)(x)
        lib.jit(lambda t: np.ones(3) + t)(x); lib.jit(lambda t: t.shape)(x)
        lib.jit(lambda t: t.foo)(x); lib.jit(lambda t: t.devices())(x)
        lib.jit(lambda t: t.weak_type)(2.0); lib.jit(lambda t: copy.copy(t))(x)
        lib.jit(lambda t: copy.deepcopy(t))(x); lib.jit(lambda t: t.copy())(x)
        lib.jit(lambda t: t.block_until_ready())(x); lib.jit(lambda t: operator.index(t))(1)
        lib.jit(lambda t: sorted(t))(x); lib.jit(lambda t: sum(t))(x); lib.jit(lambda t: max(t))(x)
        lib.jit(lambda t: t if t > 0 else -t)(2.0); lib.jit(lambda t: t and 1)(2.0)
        lib.jit(lambda t: not t)(2.0)
        lib.grad(lambda t: t if t > 0 else -t)(2.0); lib.grad(lambda t: float(t))(2.0)
        lib.grad(lambda t: int(t))(2.0); lib.vmap(lambda t: bool(t))(x)
        lib.vmap(lambda t: float(t))(x); lib.vmap(lambda t: int(t))(i)
        lib.vmap(lambda t: np.sin(t))(x); lib.grad(lambda t: np.sin(t))(2.0)
        lib.jvp(lambda t: np.sin(t), (2.0,), (1.0,)); lib.jvp(lambda t: float(t), (2.0,), (1.0,))
        lib.jvp(lambda t: complex(t), (2.0,), (1.0,)); lib.grad(lambda t: t * int(t))(2.0)
        lib.grad(lambda t: t * float(t))(2.0); lib.grad(lambda t: t * [1, 2, 3][int(t)])(2.0)
        lib.jvp(lambda t: t.tolist(), (x,), (x,)); lib.jvp(lambda t: t.devices(), (x,), (x,))
        lib.jvp(lambda t: t.copy(), (x,), (x,)); lib.vmap(lambda t: t.copy())(x)
        lib.vmap(lambda t: t.item())(x); lib.vmap(lambda t: range(t))(i)
        lib.jit(lambda t: range(t))(1); lib.jit(lambda t: t.device)(1)
        lib.jit(lambda t: t.sharding)(1); lib.jit(lambda t: t.committed)(1)
        lib.jit(lambda t: t.is_deleted())(1); lib.jit(lambda t: np.array([t, t]))(1)
        lib.jit(lambda t: jnp.array([t, t]))(1); lib.jit(lambda t: copy.deepcopy({"a": t}))(x)
        lib.vmap(lambda t: copy.deepcopy(t))(x); lib.grad(lambda t: copy.deepcopy(t))(1.0)
        lib.jit(lambda t: pickle.dumps(t))(x); lib.grad(lambda t: x + 0., allow_int=True)(1)
        z + jnp.zeros(()); lax.add(z, jnp.zeros(())); lax.mul(z, z); jnp.sin(z); jnp.add(z, 1.0)
        jnp.sum(lib.grad(lambda t: t.sum() + 0., allow_int=True)(i))
        lib.grad(lambda t: t.sum() + 0., allow_int=True)(i) * 2
        2 * lib.grad(lambda t: t.sum() + 0., allow_int=True)(i)
        x * lib.grad(lambda t: t.sum() + 0., allow_int=True)(i)
        repr(lib.jit(jnp.sum)).split(" at")[0].replace("minijax", "jax"); repr(lib.jit(max))
        repr(lib.jit(operator.neg)); str(lib.jit(operator.neg)); lib.make_jaxpr(lambda t: t)("a")
        lib.make_jaxpr(lambda t: t)(object()); jnp.add(jnp.array([1,2,0],'uint64'), i)
        jnp.add(jnp.add(jnp.array([1,2,0],'uint64'), i), f); jnp.array([1,2,0],'uint64') + i + f
        jnp.concatenate([jnp.array([1],'uint64'), i]); jnp.add(u, m)
        jnp.where(b, jnp.ones((2, 3, 3)), jnp.ones((2,))); jnp.ones((2,)) + jnp.ones((3, 3))
        jnp.ones((2,)) + jnp.ones((3,)); jnp.broadcast_arrays(x, m, jnp.ones((2,)))
        jnp.clip(x, jnp.zeros((2, 2)), 1); jnp.floor_divide(i, x)
        lib.jit(lambda: jnp.int32(2) * jnp.float32(3))(); lib.jit(lambda: jnp.reciprocal(b))()
        lib.jit(lambda: jnp.array([1], "int32") * jnp.array([1.0], "float32"))()
        lib.jit(lambda: np.int32(2) * jnp.float32(3))(); lib.jit(lambda: u * f)()
        lib.make_jaxpr(jnp.sin).__module__""",
    "types alone, and transposes": """
        lib.make_jaxpr(lambda t: t + 2.0)(duck)
        lib.make_jaxpr(lambda t: t["a"] + 2.0)({"a": duck})
        lib.make_jaxpr(lambda t: t + 2.0)(Duck(shape=(3,), dtype="float32"))
        lib.make_jaxpr(lambda t: t + 2.0)(Duck(shape=[3], dtype="float32"))
        lib.make_jaxpr(lambda t: t + 2.0)(Duck(shape=(3,)))
        lib.make_jaxpr(lambda t, n: t * n, static_argnums=1)(duck, 2)
        lib.linear_transpose(lambda t: 2 * t, duck)(jnp.arange(3, dtype="float32"))
        lib.linear_transpose(lambda t: 2 * t, duck)(jnp.arange(3))
        lib.linear_transpose(lambda t: 2 * t, 1)(3); lib.jit(lambda t: t)(duck)
        lib.grad(lambda t: t)(Duck(shape=(), dtype=np.dtype("float32")))
        lib.vmap(lambda t: t)(duck); lib.linear_transpose(lambda t: 2 * t, 1)(3.0)
        lib.linear_transpose(lambda t: 2.0 * t, 1.0)(3)
        lib.linear_transpose(lambda t: 2.0 * t, 1.0)((3.0,))
        lib.linear_transpose(lambda t: 2.0 * t, x)(1.0); lib.linear_transpose(jnp.sin, 1.0)(1.0)
        lib.linear_transpose(lambda t: 2.0 * t, "a")(1.0)
        lib.linear_transpose(lambda t: 2.0 * t, 1); lib.linear_transpose(lambda t: t > 0, 1.0)
        lib.linear_transpose(lambda t: t, True); lib.linear_transpose(lambda t: t.astype(int), 1.0)
        lib.linear_transpose(lambda t, n: (t, n), 1.0, 1)
        lib.linear_transpose(lambda t: (), 1.0)(())
        lib.linear_transpose(lambda t: t, jnp.uint8(1))(jnp.uint8(2))
        lib.make_jaxpr(lambda t: {"a": (t, t * 2)}, return_shape=True)(2.0)[1]
        lib.make_jaxpr(lambda t: t[0], return_shape=True)(m)[1]; lib.eval_shape(lambda: struct)
        lib.eval_shape(lambda: lib.jit(jnp.sin)(struct)); lib.eval_shape(lambda: struct * 2)
        lib.eval_shape(lambda: jnp.sin(struct)); lib.jit(jnp.sin)(struct); jnp.sin(struct)
        lib.jit(lambda: jnp.sin(struct))(); lib.grad(jnp.sin)(struct)
        program(lambda: jnp.sin(struct))""",
    "pairs with aux": """
        lib.grad(lambda t: (1, 2, 3), has_aux=True)(1.0); lib.grad(lambda t: t, has_aux=True)(1.0)
        lib.grad(lambda t: (t,), has_aux=True)(1.0); lib.grad(lambda t: [t, 2], has_aux=True)(1.0)
        lib.value_and_grad(lambda t: t, has_aux=True)(1.0); lib.vjp(jnp.sin, 1.0, has_aux=True)
        lib.vjp(lambda t: (t, t, t), 1.0, has_aux=True); lib.jacrev(jnp.sin, has_aux=True)(1.0)
        lib.jacrev(lambda t: (t,), has_aux=True)(x); lib.linearize(jnp.sin, 1.0, has_aux=True)
        lib.jacfwd(lambda t: (t,), has_aux=True)(x); lib.hessian(jnp.sin, has_aux=True)(1.0)
        lib.jvp(lambda t: (t,), (1.0,), (1.0,), has_aux=True)
        lib.jacfwd(lambda t: [t, 1], has_aux=True)(1.0)
        lib.grad(lambda t: {1: t}, has_aux=True)(1.0)
        lib.jacrev(lambda t: [t, 1], has_aux=True)(1.0); lib.jacobian(jnp.sin, 0, False, False)(x)
        lib.grad(jnp.sin, holomorphic=False)(1.0)
        lib.grad(lambda t: t + 0.0, 0, False, False, True)(1).shape
        lib.value_and_grad(jnp.sin, 0, False, False)(w); lib.jacfwd(jnp.sin, 0, False, False)(x)
        lib.hessian(jnp.sin, holomorphic=False)(w)""",
    "what holds what": """
        len(lib.make_jaxpr(lambda: (jnp.array(n3), jnp.sum(n3), n3, jnp.asarray(n3)))().consts)
        len(lib.make_jaxpr(lambda: (jnp.array(n3), jnp.array(n3, int)))().consts)
        is_freed(lambda: lib.device_put(1.0))
        is_freed(lambda: lib.tree.map(jnp.sin, {"a": x})["a"])
        is_freed(lambda: lib.grad(lambda t: (t["a"] ** 2).sum())({"a": x})["a"])
        is_freed(lambda: lib.jit(lambda t: {"a": t * 2})(x)["a"]); is_freed(lambda: x + 1)
        hash(lib.tree_util.SequenceKey(1)) == hash(lib.tree_util.FlattenedIndexKey(1))
        lib.tree_util.SequenceKey(1) == lib.tree_util.FlattenedIndexKey(1)
        lib.jit(dict, donate_argnames="a"); str(lib.jit(max, static_argnames="a"))""",
    "windows": """
        lax.gather(m, o, Out((0,), (0,), (0,)), (2, 3))
        lax.gather(m, o, Out((1,), (0,), (0,)), (1, 3))
        lax.gather(m, o, Out((0,), (0,), (0,)), (1, 3))
        lax.gather(m, o, Out((0,), (5,), (0,)), (1, 3))
        lax.gather(m, o, Out((0,), (0,), (5,)), (1, 3))
        lax.gather(m, o, Out((0,), (0,), (0, 1)), (1, 3))
        lax.gather(m, o, Out((5,), (0,), (0,)), (1, 3))
        lax.gather(m, o, Out((1, 0), (), (0,)), (1, 3))
        lax.gather(m, o, Out((1,), (0,), (0,)), (1, 4))
        lax.gather(m, o, Out((1,), (0,), (0,)), (1,))
        lax.gather(m, jnp.array([[0.5]]), Out((1,), (0,), (0,)), (1, 3))
        lax.gather(m, jnp.array(0), Out((1,), (0,), (0,)), (1, 3))
        lax.gather(m, o, Out((1,), (0,), (0,)), (1, 3), mode="bad")
        lax.gather(m, jnp.array([[7]]), Out((1,), (0,), (0,)), (1, 3), mode="fill")
        lax.gather(m, jnp.array([[7]]), Out((1,), (0,), (0,)), (1, 3), mode="clip")
        lax.gather(m, [[0]], Out((1,), (0,), (0,)), (1, 3))
        lax.scatter(m, o, jnp.ones((1, 3)), Into((1,), (0,), (0,)))
        lax.scatter(m, o, jnp.ones((1, 4)), Into((1,), (0,), (0,)))
        lax.scatter(m, o, jnp.ones((2, 3)), Into((1,), (0,), (0,)))
        lax.scatter(m, o, jnp.ones((1, 3), "float32"), Into((1,), (0,), (0,)))
        lax.scatter(m, o, jnp.ones((1, 3), int), Into((1,), (0,), (0,)))
        lax.scatter_add(m, o, jnp.ones((1, 3)), Into((1,), (5,), (0,)))
        lax.scatter_add(m, jnp.array([[0.5]]), jnp.ones((1, 3)), Into((1,), (0,), (0,)))
        lax.scatter_add(m, o, jnp.ones((1, 3)), Into((0,), (0,), (0,)))""",
    "products and sums": """
        lax.select_n(i, x, x, x); lax.select_n(jnp.array([0, 5, -1]), x, 2 * x, 3 * x)
        lib.jit(lambda *a: lax.select_n(*a))(jnp.array([0, 5, -1]), x, 2 * x, 3 * x)
        lax.select_n(i.astype("int32"), x, 2 * x, 3 * x); lax.select_n(b, x, 2 * x, 3 * x)
        lax.select_n(b, x); lax.select_n(b, x, x); lax.select_n(b, x, f)
        lax.select_n(True, x, 2 * x); lax.select_n(x, x, 2 * x); lax.select_n(b[:2], x, 2 * x)
        lax.select_n(s, x, 2 * x, 3 * x, 4 * x); lax.select_n(9, x, 2 * x, 3 * x, 4 * x)
        lax.select_n(np.int32(9), x, 2 * x, 3 * x, 4 * x)
        lax.select_n(np.int32(-9), x, 2 * x, 3 * x, 4 * x); lax.select(b, x, m)
        lax.select(1, x, x); lax.select(b, x, 2.0); lax.clamp(0.0, x, 1.0); lax.clamp(x, x, x)
        lax.clamp(x[:2], x, x); lax.clamp(0, x, 1); lax.clamp(0.0, x, x)
        jnp.einsum("ij,jk->ik", m, m); jnp.einsum("ij,jk", m, m); jnp.einsum("...j,jk->...k", m, m)
        jnp.einsum("...j,...j", m, m); jnp.einsum("...j,...j->...", m, x)
        jnp.einsum("i...->...", m); jnp.einsum("...ij->...ji", m); jnp.einsum("ii", m)
        jnp.einsum("ii->i", m); jnp.einsum("iij->j", jnp.ones((2, 2, 3)))
        jnp.einsum("bij,bjk->bik", jnp.ones((1, 2, 3)), jnp.ones((4, 3, 2)))
        jnp.einsum("bij,bjk->bik", jnp.ones((4, 2, 3)), jnp.ones((1, 3, 2)))
        jnp.einsum("bij,bjk->bik", jnp.ones((1, 2, 3)), jnp.ones((1, 3, 2)))
        jnp.einsum("i,i->i", jnp.ones((1,)), x); jnp.einsum("i,i", jnp.ones((1,)), x)
        jnp.einsum("...ij,...jk->...ik", jnp.ones((1, 2, 3)), jnp.ones((4, 3, 2)))
        jnp.einsum("...ij,...jk->...ik", jnp.ones((5, 1, 2, 3)), jnp.ones((4, 3, 2)))
        jnp.einsum("i,j,k->ijk", x, x, x); jnp.einsum("i,j,k", x, x, x); jnp.einsum("ij->", m)
        jnp.einsum("ij", m); jnp.einsum("ji", m); jnp.einsum("ij->ji", m)
        jnp.einsum("i,->i", x, 2.0); jnp.einsum(",", 2.0, 3.0); jnp.einsum(",->", 2.0, w)
        jnp.einsum("", 2.0); jnp.einsum("->", 2.0); jnp.einsum("i->ii", x); jnp.einsum("i->j", x)
        jnp.einsum("ij", x); jnp.einsum("ij,jk->ik", m, x)
        jnp.einsum("ij,jk->ik", m, jnp.ones((2, 3))); jnp.einsum("i,i", x, i)
        jnp.einsum("i,i", b, b); jnp.einsum("i,i", x, [1, 2, 3]); jnp.einsum("i, i -> i", x, x)
        jnp.einsum("i;i", x, x); jnp.einsum("aA,Ab->ab", m, m); jnp.einsum("ba,b", m, x)
        jnp.einsum("ijk->i", jnp.ones((2, 0, 3))); jnp.einsum("ij,ij->i", m, m)
        jnp.einsum("ij,ij,ij->j", m, m, m); jnp.einsum("ij,jk,kl->il", m, m, m)
        jnp.einsum(m, [0, 1], m, [1, 2]); jnp.einsum(m, [0, 1], m, [1, 2], [0, 2])
        jnp.einsum(m, [0, 0]); jnp.einsum(m, [..., 0], x, [0], [...]); jnp.einsum("...i->...", x)
        jnp.einsum("...", x); jnp.einsum("...->...", m); jnp.einsum("...,...", x, x)
        jnp.einsum("i...j,j", jnp.ones((2, 3, 4)), jnp.ones(4)); jnp.einsum("ij..,j", m, x)
        jnp.einsum("i", 2); jnp.einsum(3, x); jnp.einsum("i->i"); jnp.einsum("i,i,i", x, x)
        lib.grad(lambda t: jnp.einsum("ii", t))(m)
        lib.jit(lambda t: jnp.einsum("...i,i", t, x))(m)
        lib.vmap(lambda t: jnp.einsum("i,i", t, x))(m)
        jnp.dot(jnp.ones((2, 3, 4, 5)), jnp.ones((2, 3, 5, 6))).shape
        jnp.dot(jnp.ones((2, 3, 4)), jnp.ones((4,))).shape
        jnp.dot(jnp.ones((2, 3, 4)), jnp.ones((5, 4, 6))).shape
        jnp.dot(jnp.ones((4,)), jnp.ones((5, 4, 6))).shape
        jnp.dot(jnp.ones((2, 3)), jnp.ones((2, 3))); jnp.dot(x, jnp.ones((4,))); jnp.dot(x, 2)
        jnp.dot(2, m); jnp.dot(x, [1, 2, 3]); jnp.dot(f, x)
        jnp.matmul(jnp.ones((2, 3, 4, 5)), jnp.ones((2, 3, 5, 6))).shape
        jnp.matmul(jnp.ones((1, 3, 4, 5)), jnp.ones((2, 3, 5, 6))).shape
        jnp.matmul(jnp.ones((4, 5)), jnp.ones((2, 3, 5, 6))).shape
        jnp.matmul(jnp.ones((5,)), jnp.ones((2, 3, 5, 6))).shape
        jnp.matmul(jnp.ones((2, 3, 4, 5)), jnp.ones((5,))).shape
        jnp.matmul(jnp.ones((2, 4, 5)), jnp.ones((3, 5, 6))).shape; jnp.matmul(m, jnp.ones((2, 2)))
        jnp.matmul(m, 2.0); jnp.matmul(x, b); jnp.matmul(jnp.zeros((2, 0)), jnp.zeros((0, 3)))
        jnp.inner(jnp.ones((2, 3)), jnp.ones((4, 3))).shape; jnp.inner(m, 2.0); jnp.inner(x, m)
        jnp.inner(x, jnp.ones(4)); jnp.outer(m, x).shape; jnp.tensordot(m, m)
        jnp.tensordot(m, m, 1); jnp.tensordot(m, m, 0).shape; jnp.tensordot(m, m, 3)
        jnp.tensordot(m, m, -1); jnp.tensordot(m, m, ((0,), (1,))); jnp.tensordot(m, m, (0, 1))
        jnp.tensordot(m, m, ((0, 1), (1, 0))); jnp.tensordot(m, m, ((0, 0), (1, 0)))
        jnp.tensordot(m, m, (0, 1, 2)); jnp.tensordot(m, m, ((0,), (1, 0)))
        jnp.tensordot(m, x, 1.0); jnp.vdot(m, m); jnp.vdot(x, m)
        lax.dot_general(m, m, (((1,), (0,)), ((), ())))
        lax.dot_general(m, m, (((1,), (0,)), ((0,), (0,))))
        lax.dot_general(m, m, (((1,), (0,)), ((0,), (1,))))
        lax.dot_general(m, x, (((1,), (0, 1)), ((), ())))
        lax.dot_general(m, jnp.ones((2, 2)), (((1,), (0,)), ((), ())))
        lax.dot_general(m, jnp.ones((2, 2)), (((), ()), ((0,), (0,))))
        lax.dot_general(m, m, (((5,), (0,)), ((), ())))
        lax.dot_general(m, m, (((-1,), (0,)), ((), ())))
        lax.dot_general(m, m, (((1, 1), (0, 0)), ((), ())))
        lax.dot_general(m, i, (((1,), (0,)), ((), ())))
        lax.dot_general(b, b, (((0,), (0,)), ((), ())))
        lax.dot_general(x, x, (((0,), (0,)), ((), ())), preferred_element_type="float32")
        jnp.take_along_axis(m, i[None], 0); jnp.take_along_axis(m, i[:, None], 1)
        jnp.take_along_axis(m, i[:, None], 0); jnp.take_along_axis(m, i[None], 1)
        jnp.take_along_axis(m, i, 0); jnp.take_along_axis(m, i, None)
        jnp.take_along_axis(m[:1], jnp.array([[0, 1], [1, 0]]), 1)
        jnp.take_along_axis(m, jnp.array([[0], [1]]), 1); jnp.take_along_axis(m, x[None], 0)
        jnp.take_along_axis(m, i[None] + 9, 0); jnp.take_along_axis(m, -i[None], 0)
        jnp.take_along_axis(m, i[None], 2); jnp.take_along_axis(m, b[None], 0)
        jnp.take_along_axis(m, [[0, 1, 2]], 0)
        jnp.take_along_axis(jnp.ones((2, 1, 3)), jnp.zeros((1, 4, 3), int), 2)
        jnp.take_along_axis(jnp.ones((2, 1, 3)), jnp.zeros((1, 4, 2), int), 2).shape
        lib.jit(lambda a, j: jnp.take_along_axis(a, j, 0))(m, i[None]); lib.jit(jnp.sign)(u)
        lib.jit(jnp.sign)(jnp.array([0.0, -0.0, jnp.nan, -2.0]))
        lib.jit(jnp.sign)(jnp.array([0, -5])); jnp.sign(b); jnp.sign(u); lax.sign(u)
        lib.vmap(jnp.sign)(u); jnp.cumsum(b); jnp.cumsum(b, dtype=bool); jnp.cumsum(x, dtype=bool)
        jnp.cumsum(x, dtype=int); jnp.cumsum(u); jnp.cumsum(u, dtype="uint8")
        jnp.cumsum(i.astype("int8")); jnp.cumsum(m); jnp.cumsum(m, 1); jnp.cumsum(m, -1)
        jnp.cumsum(m, 2); jnp.cumsum(m, (0, 1)); jnp.cumsum(h); jnp.cumsum(3.0); jnp.cumsum(3.0, 0)
        jnp.cumsum(3.0, 1); jnp.cumprod(3, 0); jnp.cumprod(3, 1); jnp.diff(3, 0); jnp.diff(3)
        jnp.repeat(3, 2, 0); jnp.quantile(x, 0); jnp.quantile(x, 1.0); jnp.ones(3, 0)
        jnp.zeros(3, ""); jnp.ones_like(x, 0); jnp.eye(2, dtype=0); jnp.identity(2, 0)
        jnp.full_like(x, 1, False); jnp.cumsum(x, dtype=0); jnp.cumprod(x, dtype=0)
        jnp.asarray(3, 0); jnp.nanmean(x, dtype=0); jnp.logspace(0, 1, 3, dtype=0); x.sum(dtype=0)
        jnp.ones(2, np.int8(1)); jnp.ones(2, True); jnp.ones(2, np.int64(1)); x.astype(True)
        jnp.cumsum(np.float32(3), 0); jnp.cumprod(np.array(3), 0); jnp.repeat(np.float32(3), 2, 0)
        jnp.mean(b, dtype=bool); jnp.vdot(b, w); jnp.einsum(",", 2.0, n3[0]); jnp.dot(i, [2.0])
        jnp.einsum(",", w, np.array(1)); jnp.tensordot(np.array(1), 2.0, 0); jnp.vdot(i, x * 2.0)
        jnp.roll(m, (1, 2), np.array(1)); jnp.roll(m, 1, np.int64(1)); jnp.tile(x, np.array(2))
        lax.cumsum(b); lax.cumsum(m, 1); lax.cumsum(m, axis=1, reverse=True); lax.cumsum(m, 2)
        jnp.sum(b); jnp.sum(b, dtype=bool); jnp.sum(x, dtype=bool); jnp.sum(x, dtype=int)
        jnp.sum(h); jnp.sum(jnp.full((3000,), 100, "float16"))
        jnp.sum(jnp.full((3000,), 100, "float16"), dtype="float16")
        jnp.mean(jnp.full((3000,), 100, "float16"))
        jnp.mean(jnp.full((3000,), 100, "float16"), dtype="float16")
        jnp.var(jnp.arange(3000).astype("float16")); jnp.std(jnp.arange(3000).astype("float16"))
        jnp.prod(jnp.full((3,), 100, "float16")); jnp.prod(b, dtype=bool); jnp.prod(u)
        jnp.prod(u, dtype="uint8"); jnp.mean(i); jnp.mean(i, dtype=int); jnp.mean(b); jnp.mean(u)
        jnp.mean(jnp.zeros((0,))); jnp.mean(jnp.zeros((0, 3)), 0); jnp.sum(jnp.zeros((0,)))
        jnp.max(jnp.zeros((0,))); jnp.max(jnp.zeros((0, 3)), 1); jnp.argmax(jnp.zeros((0,)))
        jnp.argmax(m, 0, keepdims=True); jnp.argmax(m, keepdims=True); jnp.argmax(m, (0, 1))
        jnp.argmax(jnp.array([1, jnp.nan, 3])); jnp.argmin(b); jnp.max(b)
        jnp.max(jnp.array([1, jnp.nan, 3])); jnp.any(jnp.zeros((0,))); jnp.all(jnp.zeros((0,)))
        jnp.var(x, ddof=1); jnp.var(x, ddof=3); jnp.var(x, ddof=5); jnp.var(i); jnp.var(b)
        jnp.std(m, 0, keepdims=True); jnp.var(jnp.zeros((0,))); jnp.count_nonzero(m, 0)
        jnp.count_nonzero(m, 0, True); jnp.count_nonzero([1, 0]); jnp.sum("a"); jnp.sum([1, 2])
        jnp.max([1, 2]); jnp.sum(None); jnp.sum(x, 1); jnp.sum(x, (0, 1)); jnp.sum(x, dtype="a")
        jnp.sum(x, keepdims=1); jnp.sum(x, out=x); x.sum(axis=0); x.sum(0, keepdims=True)
        x.mean(dtype="float32")""",
    "masks and starts of reductions": """
        jnp.sum(x, where=b); jnp.sum(x, initial=3); jnp.sum(i, initial=2.7)
        jnp.sum(m, 0, initial=1.0, where=b); jnp.sum(x, where=i)
        jnp.sum(x, where=[True, False, True]); jnp.sum(x, initial=x); jnp.sum(h, initial=1)
        jnp.sum(h, where=b[:2]); jnp.sum(b, initial=1); jnp.sum(b, initial=True, dtype=bool)
        jnp.sum(b, where=b); jnp.sum(u, initial=300); jnp.sum(m, 1, None, None, True, 2.0, b)
        jnp.sum(w, initial=1.0); jnp.sum(w, where=True); jnp.sum(m, where=b[:, None], keepdims=True)
        jnp.sum(x, where=b[:2]); jnp.sum(x, initial="a"); jnp.sum(x, where=None, initial=None)
        x.sum(where=b); jnp.sum(x, where=w > 1); jnp.sum(x, where=m > 2, axis=0)
        jnp.prod(x, where=b); jnp.prod(x, initial=2); jnp.prod(m, 0, initial=2, where=b)
        jnp.prod(h, initial=2.0); jnp.prod(b, initial=1); jnp.prod(b, initial=True, dtype=bool)
        jnp.prod(u, initial=2); jnp.prod(x, where=x); jnp.max(x, initial=0); jnp.max(x, where=b)
        jnp.max(x, where=b, initial=-9.0); jnp.max(m, 0, initial=4.0, where=b)
        jnp.max(i, initial=2.7); jnp.max(i, initial=-5, where=i > 9)
        jnp.max(jnp.zeros((0,)), initial=1.0); jnp.max(jnp.zeros((0, 3)), 0, initial=1.0)
        jnp.max(b, initial=True); jnp.max(u, initial=7, where=u < 100); jnp.max(w, initial=3.0)
        jnp.max(x, initial=jnp.nan); jnp.max(x, initial=x); jnp.max(x, where=i, initial=0)
        jnp.max(m, None, None, True, 8.5); jnp.min(x, initial=0); jnp.min(x, where=b)
        jnp.min(x, where=b, initial=9.0); jnp.min(m, 1, initial=4.0, where=b, keepdims=True)
        jnp.min(u, initial=7, where=u < 0); jnp.min(jnp.zeros((0,)), initial=1.0)
        jnp.min(b, initial=False, where=b); jnp.amax(x, initial=9); jnp.amin(x, initial=-9, where=b)
        x.max(initial=5); x.min(where=b, initial=5)
        np.max(x, initial=5.0, where=np.array([True, False, True])); jnp.any(b, where=~b)
        jnp.all(b, where=b); jnp.all(m > 0, 0, where=b); jnp.any(x, where=i)
        jnp.any(m, 1, where=b[:, None], keepdims=True); b.any(where=b); b.all(where=b)
        jnp.mean(x, where=b); jnp.mean(m, 0, where=b)
        jnp.mean(m, 1, keepdims=True, where=b[:, None]); jnp.mean(i, where=b)
        jnp.mean(h, where=b[:2]); jnp.mean(x, where=x > 9); jnp.mean(x, where=i)
        jnp.mean(x, where=m > 2); jnp.mean(w, where=True); jnp.mean(b, where=b); x.mean(where=b)
        jnp.mean(x, where=b, dtype="float32"); jnp.var(x, where=b); jnp.var(m, 0, where=b)
        jnp.var(m, 1, ddof=1, where=m > 2); jnp.var(i, where=b); jnp.std(x, where=b)
        jnp.std(m, 0, where=b, keepdims=True); jnp.var(x, where=x > 9); jnp.std(h, where=b[:2])
        jnp.var(x, where=i); x.var(where=b); x.std(where=b)
        lib.grad(lambda t: jnp.sum(t, where=b))(x); lib.grad(lambda t: jnp.mean(t, where=b))(x)
        lib.grad(lambda t: jnp.var(t, where=b))(x)
        lib.grad(lambda t: jnp.max(t, initial=0.0, where=b))(x)
        lib.grad(lambda t: jnp.prod(x, initial=t))(2.0)
        lib.jit(lambda t, k: jnp.sum(t, where=k))(x, b)
        lib.vmap(lambda t: jnp.sum(t, where=b, initial=1.0))(m)
        lib.jit(lambda t, k: jnp.max(t, initial=k))(x, 2.0)
        lib.vmap(lambda k: jnp.mean(x, where=k))(m > 2)
        lib.jit(lambda t: jnp.std(t, where=t > 0))(x)
        np.mean(x, where=np.array([True, False, True]))
        np.std(x, where=np.array([True, False, True])); jnp.sum(u, promote_integers=False)
        jnp.sum(b, promote_integers=False); jnp.prod(u, promote_integers=False)
        jnp.prod(b, promote_integers=False); jnp.var(x, correction=1); jnp.var(x, correction=0.5)
        jnp.var(x, ddof=1, correction=1); jnp.std(x, mean=1.0); jnp.var(x, mean=jnp.float32(1))
        jnp.std(m, 0, mean=x); jnp.var(m, 1, mean=m.mean(1, keepdims=True), where=b)
        x.var(correction=1); jnp.std(x, correction=1); jnp.nansum(g, where=b)
        jnp.nansum(g, initial=2); jnp.nanmax(g, initial=9.0); jnp.nanmin(g, initial=9.0, where=b)
        jnp.nanmax(g, where=b); jnp.nanmean(g, where=b); jnp.nanmean(i, where=b)
        jnp.nanmax(g[1:2], initial=1.0); jnp.nanmax(g[1:2]); jnp.nanmax(i, initial=9)
        jnp.nanmean(h, where=b[:2]); jnp.nanmean(f); jnp.nanmean(b)""",
    "dtypes of products": """
        jnp.einsum("ij->i", m, preferred_element_type="float32")
        jnp.einsum("ij,jk", m, m, preferred_element_type="float32")
        jnp.einsum("ij,jk", m, m, preferred_element_type="float16")
        jnp.einsum("ii", m, preferred_element_type="float32")
        jnp.einsum("ij->ji", m, preferred_element_type="float32")
        jnp.einsum("i,i,i", i, i, i, preferred_element_type="int32")
        jnp.einsum("i->", u, preferred_element_type="int32")
        jnp.einsum("i,i", u, u, preferred_element_type="float32")
        jnp.einsum("i,j,k->ijk", u, u, u, preferred_element_type="float32")
        jnp.einsum("ij,j", m, i, preferred_element_type=float)
        jnp.einsum(",", w, w, preferred_element_type="float32"); jnp.einsum(",", w, w)
        jnp.einsum("i", i, preferred_element_type=float); jnp.einsum("i->", i)
        jnp.einsum("ii->i", m, preferred_element_type="float32")
        jnp.einsum("i->", i, preferred_element_type=bool); jnp.einsum("i,i", x, x, optimize=True)
        jnp.einsum("i,i", x, x, optimize="greedy"); jnp.einsum("i,i", x, x, optimize=[(0, 1)])
        jnp.einsum("i,i", x, x, optimize=[(0, 1), (0, 1)]); jnp.einsum("i,i", x, x, optimize=3)
        jnp.einsum("i,i", x, x, optimize=(0, 1)); jnp.einsum("i,i", x, x, optimize=False)
        jnp.einsum("ij,jk,kl", m, m, m, optimize=[(1, 2), (0, 1)])
        jnp.einsum("i,i", x, x, optimize=None); jnp.dot(x, x, preferred_element_type="float32")
        jnp.dot(u, u, preferred_element_type="int32")
        jnp.dot(u, u, preferred_element_type="float32")
        jnp.dot(w, x, preferred_element_type="float32"); jnp.dot(w, w, preferred_element_type=float)
        jnp.dot(i, i, preferred_element_type="float32"); jnp.dot(x, x, preferred_element_type="a")
        jnp.dot(h, h, preferred_element_type="float32")
        jnp.dot(i, x, preferred_element_type="float32")
        jnp.matmul(m, x, preferred_element_type="float32")
        jnp.matmul(u, u, preferred_element_type="int32")
        jnp.matmul(m, i, preferred_element_type=float)
        jnp.matmul(h, h, preferred_element_type=float)
        jnp.inner(h, h, preferred_element_type="float32")
        jnp.inner(w, h, preferred_element_type="float32")
        jnp.vdot(h, h, preferred_element_type="float32")
        jnp.tensordot(m, m, 1, preferred_element_type="float32")
        jnp.tensordot(u, u, 0, preferred_element_type=int)
        jnp.linalg.matmul(m, m, preferred_element_type="float32")
        jnp.linalg.vecdot(h, h, preferred_element_type="float32")
        jnp.linalg.tensordot(m, m, preferred_element_type="float32")
        lax.dot_general(i, i, (((0,), (0,)), ((), ())), preferred_element_type="float32")
        lax.dot_general(u, u, (((0,), (0,)), ((), ())), preferred_element_type="int32")
        lax.dot_general(u, u, (((0,), (0,)), ((), ())), preferred_element_type="int8")
        lax.dot_general(i, i, (((0,), (0,)), ((), ())), preferred_element_type="uint64")
        lax.dot_general(b, b, (((0,), (0,)), ((), ())), preferred_element_type=int)
        lib.grad(lambda t: jnp.dot(t, t, preferred_element_type=float))(h.astype("float32"))
        lib.vmap(lambda t: jnp.dot(t, t, preferred_element_type=float))(m.astype("float32"))
        lib.jit(lambda t: jnp.einsum("ij,jk", t, t, preferred_element_type=float))(m * f)
        lib.grad(lambda t: jnp.einsum("i,i", t, t, preferred_element_type=float))(h)
        program(lambda t: jnp.dot(t, t, preferred_element_type=float), h)
        jnp.matmul(jnp.full((2,), 3), u); jnp.einsum("i,i", jnp.full((2,), 3), u)
        jnp.dot(jnp.full((2,), 3.0), jnp.full((2,), 3.0), preferred_element_type=float)
        jnp.dot(jnp.full((2,), 3.0), h); jnp.einsum("i,i,i", u, u, h); jnp.dot(i, f * x)
        jnp.dot(u, b[:2]); jnp.matmul(b, b, preferred_element_type=int)""",
    "handed through": """
        lax.scan(lambda k, t: (k, t), 0, x); lax.scan(lambda k, t: (k, t), 0.0, n3)
        lax.scan(lambda k, t: (k + 1, t), 0.0, n3); lax.scan(lambda k, t: (k, None), True, x)
        lax.scan(lambda k, t: (k, t), (n3, 2), (n3, x)); lax.scan(lambda k, t: (k, k), 0, x)
        lax.scan(lambda k, t: [k, t], 0.0, x); lax.scan(lambda k, t: {"a": k, "b": t}, 0.0, x)
        lax.scan(lambda k, t: (k, t, t), 0.0, x); lax.scan(lambda k, t: k, 0.0, x)
        lax.while_loop(lambda k: k[0] < 3, lambda k: (k[0] + 1, k[1]), (0, 1.0))
        lax.while_loop(lambda k: False, lambda k: k, (0, 1.0)); lax.fori_loop(0, 3, max, 1.0)
        lax.fori_loop(0, 3, lambda j, k: k, (1.0, x)); lax.fori_loop(0, s, lambda j, k: k, 1.0)
        lax.cond(True, lambda t: t, lambda t: t, (1, 2.0, True, n3, x, None))
        lax.cond(True, lambda t: t, lambda t: ~t, True); lax.cond(True, lambda: n3, lambda: n3)
        lax.switch(1, [lambda t: t, lambda t: t], n3); lax.switch(1, [lambda t: t] * 2, True)
        lib.jvp(lambda t: lax.scan(lambda k, r: (k, r), t, n3)[1], (2.0,), (1.0,))
        isinstance(lax.stop_gradient(2.5), float); jnp.clip(2); jnp.clip(n3); jnp.clip(True)
        jnp.clip([1, 2]); jnp.clip(None); jnp.squeeze(2); jnp.squeeze(n3); x.clip()
        jnp.squeeze(np.float32(2))""",
    "weak types of derivatives": """
        lib.grad(lambda t: lax.scan(lambda k, r: (k * r, None), t, x)[0])(2.0)
        lib.grad(lambda t: lax.scan(lambda k, r: (k * 2.0, None), t, x)[0])(2.0)
        lib.grad(lambda t: lax.scan(lambda k, r: (k * t * r, None), 1.0, x)[0])(2.0)
        lib.grad(lambda t: lax.fori_loop(0, 3, lambda j, k: k * x[0], t))(2.0)
        lib.grad(lambda t: x.at[0].set(t).sum())(2.0)
        lib.grad(lambda t: x.at[i].add(t).sum())(2.0)
        lib.grad(lambda t: jnp.full((2,), 3.0).at[0].set(t).sum())(x[0])
        lib.grad(lambda t: jnp.full((2,), t).at[0].set(x[0]).sum())(2.0)
        jnp.full((2,), 3.0).at[0].set(x[0]); jnp.full((2,), 3.0).at[0].set(f)""",
    "extra data": """
        lib.grad(lambda t: (t * 2, (t * 3, "s", None, {"k": len})), has_aux=True)(3.0)
        lib.value_and_grad(lambda t: (t * t, "s"), has_aux=True)(w)
        lib.value_and_grad(lambda t: (t * 2, 2**70), has_aux=True)(3.0)[0][1]
        lib.value_and_grad(lambda t: (t * 2, np.ma.array([1.0])), has_aux=True)(3.0)[0][1]
        lib.value_and_grad(lambda t: (t * 2, n3), has_aux=True)(3.0)[0][1]
        lib.vjp(lambda t: (t * 2, (t * 3, "s")), 3.0, has_aux=True)[2]
        lib.linearize(lambda t: (t * 2, (t * 3, len)), 3.0, has_aux=True)[2]
        lib.jvp(lambda t: (t * 2, (t * 3, "s", {"k": len})), (3.0,), (1.0,), has_aux=True)
        lib.jvp(lambda t: (t, t, t), (3.0,), (1.0,), has_aux=True)
        lib.grad(lambda t: (t * t, t, t), has_aux=True)(3.0); lib.vjp(lambda t: t, w, has_aux=True)
        lib.jacrev(lambda t: (t * 2, (t, "s")), has_aux=True)(x)
        lib.jacfwd(lambda t: (t * 2, "s"), has_aux=True)(x)
        lib.grad(lambda r: lib.grad(lambda t: (t * t * r, "s"), has_aux=True)(r)[0])(3.0)
        lib.jit(lib.grad(lambda t: (t * 2, "s"), has_aux=True))(3.0)
        lib.vmap(lib.grad(lambda t: (t * 2, "s"), has_aux=True))(x)""",
    "kinds of arguments": """
        jnp.quantile(x, m); jnp.logical_xor(b, -1); jnp.logical_not(jnp.full((2,), 3.0))
        jnp.logical_not(w); jnp.median(u); jnp.median(b); jnp.median(h); jnp.median(w)
        jnp.median(i); jnp.logical_and(w, w); lib.nn.silu(i)
        lib.random.normal(lib.random.key(0), 3)
        lib.random.choice(lib.random.key(0), 5, 3); lib.random.normal(lib.random.key(0), 2.5)
        jnp.quantile(u, 0.5); jnp.quantile(jnp.float32(2), x[:1] * 0); jnp.percentile(b, 50)
        jnp.quantile(x, [0.5]); jnp.median([1.0, 2.0]); jnp.vander(u); jnp.vander(b); jnp.vander(s)
        jnp.vander(x, 2); jnp.vander(i, increasing=True); jnp.vander([1.0]); jnp.vander(x, 0)
        jnp.cumprod(w); jnp.cumprod([1]); jnp.cumprod(b); jnp.cumprod(jnp.full((2,), 3.0))
        jnp.isinf(w); jnp.isinf(jnp.full((2,), 3.0)); jnp.deg2rad(w); jnp.conj([1]); jnp.imag((1,))
        jnp.deg2rad(jnp.full((2,), 3.0)); jnp.cross(jnp.full((3,), 3.0), jnp.full((3,), 3.0))
        jnp.diag(jnp.zeros((2, 0))); jnp.trace(jnp.zeros((2, 0))); jnp.diff([1, 2]); jnp.tri(-3)
        jnp.kron([1], x); jnp.interp([1], x, x); jnp.polyval([1], 2); jnp.searchsorted([1], 1)
        jnp.average(x, weights=[1, 2, 3]); jnp.linalg.norm([1.0]); jnp.nansum([1]); jnp.nanmax((1,))
        jnp.meshgrid(s); jnp.meshgrid(2); jnp.tril_indices(2.5); jnp.triu_indices(-3)
        jnp.hstack(s); jnp.vstack(w); jnp.dstack(s); jnp.column_stack(s); jnp.concatenate(s)
        jnp.all(None); jnp.max(None)
        jnp.sin.__name__; jnp.add.__name__; jnp.argmax.__name__; jnp.nanmax.__name__
        program(lib.jit(jnp.exp), 2.0); lax.select_n(b); lib.jit(lambda t: t)(long)
        jnp.einsum("i,i,i", x, x, x, optimize=[(0, 1, 2)])
        jnp.einsum("ij,ik,il->jkl", m, m, m, optimize=[(0, 1)]); lax.GatherScatterMode(1).name""",
    "shapes": """
        jnp.reshape(m, (9,)); jnp.reshape(m, 9); jnp.reshape(m, -1); jnp.reshape(m, (-1, 3))
        jnp.reshape(m, (-1, -1)); jnp.reshape(m, (2, 5)); jnp.reshape(m, (-1, 2))
        jnp.reshape(m, (3.0, 3)); jnp.reshape(m, jnp.array([9])); jnp.reshape(m, np.array([9]))
        jnp.reshape([1, 2], 2); jnp.reshape(2.0, ()); m.reshape(9); m.reshape(3, -1)
        m.reshape((9, 1)); m.reshape(); m.reshape(2); m.flatten(); m.transpose(); m.transpose(1, 0)
        m.transpose((0, 1)); m.transpose(0); m.swapaxes(0, 1); m.squeeze(); jnp.squeeze(m, 0)
        jnp.squeeze(m[None], 0); jnp.squeeze(m[None], -3); jnp.squeeze(m[None], 5)
        jnp.expand_dims(x, 2); jnp.expand_dims(x, -1); jnp.expand_dims(x, 1.0)
        jnp.expand_dims(2.0, 0); jnp.concatenate([x, m]); jnp.concatenate([x, i])
        jnp.concatenate([]); jnp.concatenate(x); jnp.concatenate(m); jnp.concatenate([x, 2.0])
        jnp.concatenate([2.0, 3.0]); jnp.concatenate([x, x], 1); jnp.concatenate([m, m], axis=None)
        jnp.concatenate([m, m], -1); jnp.concatenate([[1, 2], [3]]); jnp.concatenate([x])
        jnp.concatenate([np.arange(3)]); jnp.concatenate((x, x), axis=0); jnp.stack([x, x], 2)
        jnp.stack([x, x], -1); jnp.stack([x, m]); jnp.stack([]); jnp.stack(m); jnp.stack([1, 2])
        jnp.stack([[1], [2]]); jnp.vstack([x, x]); jnp.vstack([1, 2]); jnp.vstack(m)
        jnp.hstack([x, x]); jnp.hstack([1, 2]); jnp.hstack([m, m]); jnp.vstack([x, m])
        jnp.vstack([x, jnp.ones(2)]); jnp.split(x, 3); jnp.split(x, 2); jnp.split(x, [1])
        jnp.split(x, [1, 5]); jnp.split(x, jnp.array([1])); jnp.split(x, (1, 2))
        jnp.split(m, 3, 1); jnp.split(x, 0); jnp.moveaxis(jnp.ones((2, 3, 4)), 0, -1).shape
        jnp.moveaxis(jnp.ones((2, 3, 4)), (0, 1), (1, 0)).shape
        jnp.moveaxis(jnp.ones((2, 3, 4)), 5, 0); jnp.moveaxis(jnp.ones((2, 3, 4)), (0, 1), 0)
        jnp.swapaxes(m, 0, -1); jnp.swapaxes(m, 5, 0)
        jnp.transpose(jnp.ones((2, 3, 4)), (2, 0, 1)).shape
        jnp.transpose(jnp.ones((2, 3, 4)), (-1, 0, 1)).shape; jnp.transpose(m, (0, 1, 2))
        jnp.transpose(2.0); jnp.flip(x, 0); jnp.flip(m); jnp.flip(m, 5); jnp.flip(m, (0, 1))
        jnp.flip(2.0); jnp.pad(x, 1); jnp.pad(x, (1, 2)); jnp.pad(m, ((1, 0), (0, 1)))
        jnp.pad(m, ((1, 2),)); jnp.pad(x, -1); jnp.pad(x, 1.5); jnp.pad(x, 1, constant_values=5)
        jnp.pad(x, 1, constant_values=2.5); jnp.pad(i, 1, constant_values=2.5)
        jnp.pad(x, (1, 2, 3)); jnp.pad(x, 1, "constant"); jnp.pad(x, 0); jnp.tile(x, 2)
        jnp.tile(x, (2, 2)); jnp.tile(m, 2); jnp.tile(x, 0); jnp.tile(x, ()); jnp.tile(2.0, 3)
        jnp.tile(x, 1.5); jnp.tile([1, 2], 2); jnp.repeat(x, 2); jnp.repeat(m, 2, 0)
        jnp.repeat(m, 2, -1); jnp.repeat(x, jnp.array([1, 2, 0]))
        jnp.repeat(x, np.array([1, 2, 0])); jnp.repeat(x, [1, 2, 0]); jnp.repeat(x, 0)
        jnp.repeat(x, -1); jnp.repeat(2.0, 3); jnp.repeat(x, 2, 5); jnp.repeat(x, 1.5)
        jnp.broadcast_to(x, (2, 3)); jnp.broadcast_to(x, (3, 2)); jnp.broadcast_to(m, (3,))
        jnp.broadcast_to(2.0, 3); jnp.broadcast_to(np.arange(3), (3,))
        jnp.broadcast_to(x, (-1, 3)); jnp.broadcast_to([1, 2], (2, 2))
        jnp.broadcast_arrays(x, 1, m); jnp.broadcast_arrays(); jnp.broadcast_arrays(x, jnp.ones(2))
        jnp.tril(m); jnp.tril(m, 1); jnp.tril(m, -1); jnp.triu(m, 1); jnp.triu(x); jnp.tril(2.0)
        jnp.tril(b[None]); jnp.tril(jnp.ones((2, 3, 4)), 1); jnp.tril(m, 1.0); jnp.where(b, x, 0)
        jnp.where(x, 1, 2); jnp.where(b, x, m); jnp.where(b, "a", x); jnp.where([True], 1, 2)
        jnp.where(b, [1, 2, 3], x); jnp.where(b, i, f); jnp.where(True, x, x)
        jnp.where(b[:2], x, x); jnp.clip(x); jnp.clip(x, 0); jnp.clip(x, None, 0)
        jnp.clip(x, 1, 0); jnp.clip(i, 0.5, 1); jnp.clip(x, max=0); jnp.clip(x, min=0, max=1)
        jnp.clip(u, -1, 300); jnp.clip([1, 2], 0, 1); jnp.clip(2, 0, 1); x.clip(0, 1)
        jnp.round(x, 1); jnp.round(x, -1); jnp.round(jnp.array([0.5, 1.5, -0.5, 2.5]))
        jnp.round(i, 2); jnp.round(f, 1); jnp.round(h, 1); x.round(1); jnp.sort(x); jnp.sort(m, 0)
        jnp.sort(m, None); jnp.sort(jnp.array([jnp.nan, 1, -jnp.inf]))
        jnp.sort(x, descending=True); jnp.sort(b); jnp.sort(x, 5); jnp.argsort(x)
        jnp.argsort(m, None); jnp.argsort(x, descending=True); jnp.argsort(jnp.array([1, 1, 0, 0]))
        jnp.argsort(jnp.array([1, 1, 0, 0]), descending=True); x.sort(); x.argsort()
        jnp.take(x, 1); jnp.take(x, i); jnp.take(m, i, 0); jnp.take(m, i, 1); jnp.take(m, 9, 0)
        jnp.take(m, i - 5, 1, mode="wrap"); jnp.take(x, 7, mode="wrap")
        jnp.take(m, -1, 0); jnp.take(m, -9, 0); jnp.take(x, [0, 1]); jnp.take(x, 1.0)
        jnp.take(x, 9, mode="clip"); jnp.take(x, 9, mode="fill", fill_value=7); jnp.take(i, 9)
        jnp.take(u, 9); jnp.take(b, 9); jnp.take(x, True); jnp.take(2.0, 0); jnp.take(x, 0, 5)
        x.take(i); jnp.power(2, 3); jnp.power(2, -3); jnp.power(i, -1); jnp.power(x, 2)
        jnp.power(x, 0.5); jnp.power(i, i); jnp.power(0, 0); jnp.power(b, 2); jnp.power(True, True)
        jnp.power(x, jnp.array(2)); jnp.power(u, 2); x ** 0; x ** 1; x ** -2; x ** 2.0; i ** 0
        2 ** x; (-8) ** jnp.array([1 / 3]); -i // 2; i // -2; i % -2; x // 0; x % 0; i % 0; u // 3
        7.5 // x; jnp.mod(-x, 2); jnp.remainder(x, -2); jnp.floor_divide(-7, 2); divmod(i, 2)
        divmod(x, 2.5); jnp.maximum(jnp.nan, x); jnp.minimum(x, jnp.nan); jnp.square(b)
        jnp.square(i); jnp.reciprocal(i); jnp.reciprocal(0); jnp.reciprocal(b); jnp.reciprocal(u)
        jnp.log2(8); jnp.log10(1000.0); jnp.exp2(3); jnp.sqrt(-1.0); jnp.log(0); jnp.log(-1.0)
        jnp.divide(1, 0); jnp.divide(0, 0); jnp.fabs(i); jnp.fabs(-2); jnp.fabs(b); jnp.isfinite(i)
        jnp.isinf(i); jnp.isnan(i); jnp.isinf(b); jnp.isnan("a"); jnp.logical_and(x, i)
        jnp.logical_not(x); jnp.logical_xor(1, 0.0); jnp.bitwise_not(b); jnp.invert(u)
        jnp.bitwise_and(i, True); jnp.bitwise_and(i, 1.0); x.astype(int); x.astype("float16")
        x.astype(bool); x.astype("a"); x.astype(None); jnp.array([1e10]).astype("int32")
        jnp.array([-1.0, 300.0, jnp.nan]).astype("uint8"); jnp.array([300, -1]).astype("uint8")
        jnp.float32(x); jnp.int8(300); jnp.int8(jnp.array(300)); jnp.float32([1, 2]); jnp.float32()
        jnp.bool_(x); jnp.float32; jnp.float32 == np.float32; np.dtype(jnp.float32)
        jnp.float32.dtype; isinstance(jnp.float32(1), lib.Array); jnp.zeros(3, jnp.float32)
        jnp.zeros(3, "f4"); jnp.zeros(3, np.dtype("float32")); jnp.zeros(3, float)
        jnp.zeros((3, 2), order="F"); jnp.zeros(-1); jnp.zeros((2.5,)); jnp.zeros("a")
        jnp.zeros(None); jnp.zeros([2, 2]); jnp.zeros(np.array([2, 2]))
        jnp.zeros(jnp.array([2, 2])); jnp.zeros(x.shape); jnp.full((2,), [1, 2, 3])
        jnp.full((2, 2), jnp.array([1, 2])); jnp.full(2, "a"); jnp.full(2, None)
        jnp.full(2, 1, "a"); jnp.ones_like([1, 2]); jnp.ones_like(2); jnp.ones_like(b)
        jnp.ones_like(x, "int8"); jnp.zeros_like(x, shape=4); jnp.array([[1, 2], [3]])
        jnp.array([x, 1]); jnp.array([x, m]); jnp.array([x, [1, 2, 3]]); jnp.array([b, i])
        jnp.array([f, w]); jnp.array([True, 1, 2.0]); jnp.array([np.float32(1), 2])
        jnp.array([[s, 1], [2, w]]); jnp.array(range(3)); jnp.array({1, 2}); jnp.array((x, x))
        jnp.asarray(own); jnp.array(own, "float32"); jnp.array(own) + 1; jnp.sin(own.a)
        jnp.array([[own, own], (own, x)]); jnp.array([own, 1]); jnp.size(own); jnp.ndim(own)
        x * own; own - x; x == own
        jnp.int8(300.0); jnp.int8(jnp.nan); jnp.asarray(-1.5, "uint8"); jnp.asarray(jnp.inf, int)
        jnp.asarray(np.float64(300), "int8"); jnp.asarray(np.array(jnp.nan), int)
        jnp.asarray(2.7, int)
        jnp.full(2, 300.0, "int8"); jnp.full(2, -1.5, "uint8"); jnp.full_like(x, jnp.inf, dtype=int)
        jnp.full(2, jnp.nan, int)
        jnp.tri(2, dtype=u[0].dtype); jnp.isclose(u, 3); lib.nn.gelu(w); x.astype(None)
        jnp.average(u, weights=u * 2.0); jnp.nanmean(x, dtype="uint8")
        jnp.tensordot(2.0, x, (0, 0))
        jnp.tensordot(x, x, (1, 0)); jnp.tensordot(m, m, (-1, 0)); jnp.split(x, -1)
        jnp.uint64(2**63); jnp.uint64(2**64); jnp.uint64(-1); jnp.array(2**63, "uint64")
        jnp.asarray(2**100, "float32"); jnp.full(2, 2**63, "uint64"); jnp.array(2**100, bool)
        lax.convert_element_type(2**100, "float32"); lax.convert_element_type(2**63, "uint64")
        lax.convert_element_type(2**100, "int32"); lax.convert_element_type(300, "uint8")
        lax.convert_element_type(2**64, "uint64"); lax.full((2,), 2**100, "float32")
        jnp.full_like(x, 2**100); jnp.full(2, 300, "uint8"); jnp.multiply(2**100, 3.0)
        lib.jit(lambda: jnp.uint64(2**63))(); program(lambda: jnp.uint64(2**63))
        jnp.array(np.array([1, 2], "int16")); jnp.array(np.array("2020-01-01", "datetime64[D]"))
        jnp.array(np.array([1, 2], ">i4")); jnp.array(np.array([1, "a"], object)); jnp.asarray([])
        jnp.asarray([[]]); jnp.asarray(3, "float32"); jnp.pi; jnp.inf; jnp.nan""",
    "operands of small types": """
        [[(y.dtype, y.weak_type) for t in small for y in [act(t)]] for act in activations]
        [[getattr(lib.nn, n)(t).dtype for t in [*small, x, m]] for n in ["softmax", "log_softmax"]]
        [[getattr(lib.nn, n)(t).dtype for t in small] for n in ["logsumexp", "logmeanexp"]]
        [getattr(jnp, n)(t) for n in ["deg2rad", "rad2deg"] for t in [*small, x]]
        lib.nn.softmax(b); lib.nn.softmax(x[:0]); lib.nn.log_softmax(x[:0]); lib.nn.logsumexp(x[:0])
        [jnp.linalg.vector_norm(t).dtype for t in small]; [jnp.linalg.norm(t).dtype for t in small]
        jnp.linalg.matrix_norm(2.0); jnp.logspace(f, 2, 3).dtype; jnp.logspace(1, 2, 3)
        lib.nn.gelu(2); lax.integer_pow(x, 0.5); lib.grad(lambda t: jnp.logaddexp(t, 2).sum())(x)
        jnp.kron(b, b); jnp.kron(b, x); jnp.convolve(i, i); jnp.convolve(b, b); jnp.convolve(i, x)
        jnp.diagonal(jnp.broadcast_to(jnp.asarray(2.0), (2, 2))).weak_type
        jnp.interp(b, i, jnp.ones(3, "float32")).dtype; lax.integer_pow(b, 1)
        lax.integer_pow(x, i[0]); lax.integer_pow(i, np.int64(2))
        lib.nn.log_sigmoid(b); jnp.zeros_like(struct); jnp.ones_like(duck); jnp.full_like(struct, 2)
        lib.tree.map(jnp.zeros_like, lib.eval_shape(lambda t: {"a": t, "b": t > 1}, x))""",
    "results in containers, equations, layouts": """
        equations(lambda t: t + 1, 5)
        equations(lambda v, k, t: (jnp.dot(v, t) + k + jnp.ones(3), jnp.sin(k)), m, x, n3)
        [str(t) for t in lib.make_jaxpr(lambda *t: t)(3.0, 3, True, n3, m).in_avals]
        lib.jvp(lambda t: 3.0 * t - jnp.sin(t) * 2.0, (3.0,), (1.0,))
        [lib.jit(lambda t: t)({"a": n3, "b": (3.0, n3)})]; lib.jacfwd(lambda t: {"a": t * n3})(x)
        lib.value_and_grad(lambda t: (t["a"] * x).sum() * t["b"])({"a": n3, "b": 0.5})
        lib.value_and_grad(lambda t, v: (t * v).sum(), argnums=(0, 1))(x, 0.5)
        lib.vjp(lambda t, v: jnp.sin(t) * v, 3.0, n3)[1](n3)
        lib.vmap(lambda t: (t, {"a": 2 * t}, t > 0))(x)
        lax.scan(lambda k, t: (k + t, k > 0), 0.0, x)
        [(repr(t), str(t), f"{t}", repr(t.copy()), t.tolist()) for t in looks]
        [(t.size, t.nbytes, t.itemsize, t.ndim, t.weak_type) for t in looks]
        f"{lib.jit(jnp.sum)(x):.3f}{lib.jit(jnp.sum)(x):7.1e}"; lib.jit(jnp.sum)(x).item()
        len(lib.jit(jnp.sin)(m)); [lib.jit(lambda t: t)(t) for t in strided]
        [t(k, np.int32(2)) for t in [lib.jit(jnp.multiply, static_argnums=0)] for k in (1, 1.0, 1)]
        lib.jit(jnp.sum)(swapped); lib.grad(jnp.sum)(swapped); lib.make_jaxpr(jnp.sum)(swapped)""",
    "containers with an array": """
        jnp.sin(box); jnp.negative(box); jnp.add(box, 1); jnp.sum(box); jnp.sort(box)
        jnp.cumsum(box); jnp.where(box, box, 2.0); jnp.stack([box, x]); jnp.matmul(box, box)
        jnp.clip(x, max=box); jnp.reshape(box, (3, 1)); jnp.add(box, jnp.ones(2)); jnp.add(box, "a")
        lib.jit(jnp.matmul)(box, box); lib.vmap(jnp.sin)(box); lib.jit(lambda t: t)(box).a
        lib.grad(lib.jit(lambda t: jnp.sin(t).sum()))(box).a
        program(jnp.exp, box); jnp.asarray(box); box + x; x * box
        jnp.isscalar(own); jnp.isscalar(type(own)(s)); jnp.isscalar(s)
        jnp.isscalar(np.array(1))""",
}


ACTIVATIONS = (
    "elu celu selu leaky_relu relu relu6 hard_silu hard_sigmoid hard_tanh mish soft_sign softplus "
    "sparse_plus sparse_sigmoid squareplus gelu silu"
)


class Own:
    """An object of a user's class that has an array, and says so."""

    def __init__(self, a):
        self.a = a

    def __jax_array__(self):
        return self.a


class Box(Own):
    """A container, too."""


def box(lib):
    """One for the library."""
    of_lib = type("Box", (Box,), {})
    lib.tree_util.register_pytree_node(of_lib, lambda x: ((x.a,), None), lambda _, x: of_lib(*x))
    return of_lib(lib.numpy.arange(3.0))


def equations(lib, f, *args):
    """The equations of a program, one by one, and its text."""
    jaxpr = lib.make_jaxpr(f)(*args).jaxpr
    one_by_one = [(str(eqn), len(eqn.invars), len(eqn.outvars)) for eqn in jaxpr.eqns]
    return [*one_by_one, [str(eqn.primitive) for eqn in jaxpr.eqns], str(jaxpr)]


def is_freed(make):
    """Whether nothing holds the array that `make` returns once its user has dropped it."""
    return weakref.ref(make())() is None


# Of many shapes and dtypes; and in other orders than NumPy's own.
LOOKS = [
    *(3.0, np.float32(1.5), 2, True, np.arange(3.0), np.arange(6, dtype=np.int32).reshape(2, 3)),
    *(np.zeros((0, 3)), np.arange(2000.0), np.array([1e-10, 1.0]), np.array([True, False])),
    *(np.ones((3, 30)), np.ones(21, np.float32), np.ones(20), np.ones((2, 2, 2))),
]
STRIDED = [
    *(np.arange(6.0)[::-1], np.arange(6.0)[::2], np.arange(6.0).reshape(2, 3).T, np.array(2.0)),
    *(np.broadcast_to(np.arange(3.0), (2, 3)), np.zeros((0, 3)), np.float32(1.5), 3),
]


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
        "g": jnp.array([1.0, jnp.nan, 3.0]),
        "o": jnp.array([[0]]),
        "z": lib.grad(lambda t: t + 0.0, allow_int=True)(1),
    }
    names = {
        "Duck": types.SimpleNamespace,
        "own": Own(jnp.arange(3.0)),
        "box": box(lib),
        "struct": lib.ShapeDtypeStruct((3,), "float32"),
        "n3": np.ones(3),
        "long": np.longdouble(2),
        "is_freed": is_freed,
        "over": lambda f: lib.vmap(lib.vmap(f, axis_name="j"), axis_name="i"),
        "program": lambda f, *args: str(lib.make_jaxpr(f)(*args)),
        "equations": functools.partial(equations, lib),
        "looks": [lib.jit(lambda t: t)(t) for t in LOOKS],
        "strided": STRIDED,
        "swapped": np.arange(3.0).astype(">f8"),
        "small": [arrays["h"], arrays["f"], arrays["u"], jnp.int8(3), 2, 0.5, np.float32(2)],
        "activations": [getattr(lib.nn, name) for name in ACTIVATIONS.split()],
        "duck": types.SimpleNamespace(shape=(3,), dtype=np.dtype("float32")),
        "Out": lib.lax.GatherDimensionNumbers,
        "Into": lib.lax.ScatterDimensionNumbers,
    }
    modules = {"lib": lib, "jnp": jnp, "lax": lib.lax, "np": np, "copy": copy, "pickle": pickle}
    return {**modules, **names, "operator": operator, **arrays}


def expressions(family):
    lines = ROWS[family].replace("\n", "; ").split("; ")
    return [*dict.fromkeys(line.strip() for line in lines if line.strip())]


def answer(text, names):
    """What Python prints of the value, or the class of the error; ours is told in one line."""
    try:
        return repr(eval(text, names))  # the tables above
    except Exception as error:
        told = names["lib"] is jax or len(str(error).splitlines()) == 1
        return f"raises {type(error).__name__}{'' if told else ', in several lines'}"


def answers(lib, family):
    names = known(lib, lib.numpy)
    return {text: answer(text, names) for text in expressions(family)}


# What JAX answers ---------------------------------------------------------------------------------

KEPT = Path(__file__).with_name("answers.json")


def versions():
    return [
        jax.__version__,
        np.__version__,
        platform.machine(),
        *platform.python_version_tuple()[:2],
    ]


def state(family):
    """A hash of the rows and of what they compute with."""
    rest = Path(__file__).read_text(encoding="utf-8").partition("\nACTIVATIONS = ")[2]
    return hashlib.sha256(f"{ROWS[family]} {rest}".encode()).hexdigest()[:16]


@functools.cache
def read_kept():
    """The answers by family, with its state; none if the same JAX gave them on another machine.

    Another version answers otherwise in places, and minijax follows the one that gave them.
    """
    made_with, found = json.loads(KEPT.read_text(encoding="utf-8"))
    return found if made_with == versions() or jax.__version__ != made_with[0] else {}


def answers_of_jax(family):
    """The answers that are kept, or JAX's if its rows are others."""
    made_of, found = read_kept().get(family, ["", []])
    if made_of == state(family):
        return dict(zip(expressions(family), found, strict=True))
    return answers(jax, family)


@pytest.mark.every
@pytest.mark.parametrize("family", ROWS)
def test_a_row_prints_what_it_prints_on_jax(family):
    ours, theirs = answers(minijax, family), answers_of_jax(family)
    assert {text: (ours[text], theirs[text]) for text in ours if ours[text] != theirs[text]} == {}
    assert not {"raises NameError", "raises SyntaxError"} & {*theirs.values()}  # slips in rows
    assert len(trace_state.stack) == 1


@pytest.mark.full
@pytest.mark.skipif(jax.__version_info__ >= (0, 11), reason="the answers are those of JAX 0.10")
@pytest.mark.parametrize("family", ROWS)
def test_jax_gives_the_answers_that_are_kept(family):
    assert answers(jax, family) == answers_of_jax(family)


def test_the_answers_that_are_kept_are_those_of_these_rows():
    made_of = {family: state_then for family, (state_then, _) in read_kept().items()}
    assert made_of in ({}, {family: state(family) for family in ROWS})


def keep_answers():
    """Ask JAX for all rows, and write a line for each family."""
    found = {family: [state(family), [*answers(jax, family).values()]] for family in ROWS}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(x)}" for name, x in found.items())
    KEPT.write_text(f"[{json.dumps(versions())}, {{\n{lines}\n}}]\n", encoding="utf-8")


if __name__ == "__main__":
    keep_answers()
