"""`minijax.numpy` against `jax.numpy`: values, dtypes and derivatives of a table of expressions."""

import jax
import minijax
import numpy as np
import pytest
from expressions import rows_of
from oracle import assert_same

X = np.random.default_rng(0).normal(size=(4, 4))
I = np.array([1, -1, 0])  # noqa: E741
J = np.int64(2)
B = np.array([True, False, True, True])

# Of the names below, `M` is an array of booleans that is known while the program is traced.
EXPRESSIONS = {
    "indexing by what is known": """
        x[0]; x[-1]; x[9]; x[-9]; x[10:]; x[1:3]; x[1:1]; x[:, 1:]; x[0, 1:]; x[()]
        x[..., None]; x[None, 0]; x[::-1]; x[::2]; x[::-2]; x[3:0:-2, 1]""",
    "indexing by arrays": """
        x[i]; x[i, 0]; x[:, i]; x[0, i]; x[i, i]; x[i[:, None], i]; x[M]; x[:, M]; x[i + 9]
        x[None, i, None, 1:]; x[..., i]; x[1:, i]; x[i, 1:3]; x[:, None, i]; x[i, None, 0]
        x[j]; x[j, 1]; x[:, j]; x[:, 1][i]; i[b[:3] * i]; x[j, i]; x[::2, i]""",
    "updates": """
        x.at[0].set(1.0); x.at[i].add(x[i]); x.at[:, 1:].set(2.0); x.at[j].set(x[0])
        x.at[i, i].set(3.0); x.at[9].add(1.0); x.at[0].get(); x.at[0, 1:].add(x[0, 0])
        x.at[i + 2].set(x[:3]); i.at[1].set(7); x.at[:, j].set(x[0]); x.at[9].set(x[0])
        x.at[1, ::-2].set(x[0, :2]); x.at[-9].set(x[1]); x.at[j, j].set(x[0, 0])""",
    "operators": """
        x**2; x**-1; abs(x) ** 0.5; 2**x; 2.0**i; abs(x) ** x; x ** i[0]; abs(i) ** abs(i)
        i**2; x % 0.3; x // 0.3; i % 2; i // 2; -7 // i; 7 % (i + 3); i // 0; i % 0
        ~b; b & b; b | ~b; b ^ b; b * b; b + b; i & 1; i | 4; x == x; x != 0
        x >= 0.1; x <= i[0]; (x > 0) == b; x // -0.7; -i % 3; +x""",
    "elementwise": """
        jnp.maximum(x, 0); jnp.minimum(i, x[0, :3]); abs(i); jnp.abs(b); jnp.sign(x)
        jnp.sign(i); jnp.square(i); jnp.square(b); jnp.isnan(x / 0); jnp.isinf(x / 0)
        jnp.isfinite(i); jnp.logical_and(x, b); jnp.logical_not(i); jnp.logical_xor(b, i[0])
        jnp.log2(abs(x)); jnp.log10(abs(x)); jnp.floor(x); jnp.floor(i); jnp.ceil(x)
        jnp.sqrt(i * i); jnp.sqrt(b); jnp.tanh(b); jnp.log1p(abs(x)); jnp.expm1(i)
        jnp.exp2(x); jnp.reciprocal(x); jnp.fabs(i); jnp.clip(x, -0.5, 0.5); x.clip(0)
        jnp.round(x, 2); x.round(); jnp.round(i); jnp.where(x > 0, x, 0.0)
        jnp.where(b, x, 1); jnp.where(b, 1, 2.0); jnp.where(i, 1, 2); jnp.where(j > 1, x, -x)
        jnp.sin(b); jnp.power(x.astype("float32"), i[0]); jnp.equal(x, x.T)""",
    "reductions": """
        x.max(); x.min(axis=0); jnp.max(x, axis=(0, 1), keepdims=True); x.prod(); jnp.prod(i)
        jnp.prod(b); x.argmax(); jnp.argmin(x, axis=1, keepdims=True); jnp.any(x > 1, axis=0)
        jnp.all(b); x.cumsum(); jnp.cumsum(x, axis=1); jnp.cumsum(b); x.var()
        x.std(axis=0, ddof=1); jnp.var(i); x.mean(axis=0, keepdims=True); jnp.mean(b)
        x.sum(axis=1, keepdims=True); jnp.sum(x, dtype="float32"); jnp.count_nonzero(i)
        jnp.var(i.astype("int32")); jnp.prod(x[:0], axis=0); jnp.var(x[0, 0])""",
    "shapes": """
        x.reshape(2, 8); x.reshape((-1, 2)); x.ravel(); jnp.squeeze(x[:1]); x.transpose(1, 0)
        jnp.expand_dims(x, (0, 2)); jnp.concatenate([x, x[:1], i[None, :1] * jnp.ones((1, 4))])
        jnp.stack([x, x], 1); jnp.vstack([x[0], x[1]]); jnp.hstack([x, x])
        jnp.split(x, 2, axis=1); jnp.split(x, [1, 3]); jnp.moveaxis(x[None], 0, -1)
        jnp.swapaxes(x, 0, 1); jnp.flip(x); jnp.flip(x, 1); jnp.pad(x, 1)
        jnp.pad(x, ((1, 2), (0, 1)), constant_values=3); jnp.tile(x, (2, 1)); jnp.tile(x[0], 3)
        jnp.tile(x, (2, 1, 1)); jnp.repeat(x, 2, axis=0); jnp.repeat(i, 3); jnp.tril(x)
        jnp.triu(x, 1); jnp.tril(x, -1); jnp.roll(x, 1, 0); jnp.roll(x, -3, 1)
        jnp.broadcast_arrays(x, x[0]); [row + 1 for row in x[:2]]
        jnp.array([x[0, 0], 1, x[1, 1] > 0]); jnp.array([[x[0, 0], 2.0], [1, x[1, 1]]])
        jnp.asarray([x[0], (1, 2, 3, x[0, 0])])
        jnp.array([x[0, 0], 2.5], dtype="float32"); jnp.array([i, i + 1])""",
    "look-ups and sorting": """
        jnp.take(x, i); jnp.take(x, i, axis=1); jnp.take(x, i + 7, axis=0); jnp.take(i, i + 7)
        jnp.take(x, i + 7, axis=0, mode="clip"); jnp.take(x, j, axis=1); jnp.sort(x)
        jnp.take_along_axis(x, jnp.argsort(x, axis=1), 1); jnp.sort(x, axis=0, descending=True)
        jnp.argsort(x, axis=0); jnp.argsort(x, descending=True); jnp.sort(x, axis=None)
        x.sort(); x.argsort(); jnp.sort(jnp.log(x)); jnp.argsort(b, descending=True)""",
    "contractions": """
        jnp.matmul(x[None], jnp.stack([x, x])); jnp.stack([x, x]) @ x; x @ jnp.stack([x, x])
        x[0] @ jnp.stack([x, x]); jnp.stack([x, x]) @ x[0]; x @ x[0]; x[0] @ x[1]
        jnp.ones((3, 1, 2, 4)) @ jnp.ones((5, 4, 3)); x[:, :3] @ i; jnp.stack([x, x.T]) @ x[None]
        jnp.tensordot(x, x, 1); jnp.tensordot(x, x, ((0,), (1,))); jnp.tensordot(x, x)
        jnp.outer(x[0], i); jnp.inner(x, x); jnp.vdot(x, x); jnp.einsum("ij->j", x)
        jnp.einsum("bij,bjk->bik", jnp.stack([x, x]), jnp.stack([x, x])); jnp.dot(x, 2)
        jnp.einsum("ij,jk,k->i", x, x, x[0]); jnp.einsum("ij,kj", x, x)""",
    "further functions": """
        jnp.arcsin(x / 5); jnp.arccos(x / 5); jnp.arctan(x); jnp.arctan2(x, x[0]); jnp.tan(x)
        jnp.arctan2(i, 2.0); jnp.sinh(x); jnp.cosh(x); jnp.arcsinh(x); jnp.arccosh(2 + abs(x))
        jnp.cbrt(x); jnp.hypot(x, i[0] + x[0]); jnp.hypot(x - x, 0.0); jnp.conj(x); jnp.real(i)
        jnp.imag(x); jnp.conjugate(b); jnp.rint(x); jnp.trunc(x); jnp.trunc(i); jnp.sinc(x - x[0])
        jnp.copysign(abs(x), -x); jnp.copysign(i, x[0, :3]); jnp.deg2rad(x); jnp.rad2deg(x)
        jnp.degrees(x); jnp.radians(i); jnp.logaddexp(x, x[0]); jnp.logaddexp(x, -jnp.inf)
        jnp.logaddexp(1000.0, i); jnp.nan_to_num(jnp.log(x)); jnp.nan_to_num(i); i << 2; i >> 1
        jnp.nan_to_num(x / 0, nan=1.0, posinf=2.0, neginf=-2.0); jnp.left_shift(i, 3); 2 << abs(i)
        jnp.right_shift(i, 1); jnp.right_shift(i.astype("uint8"), 1); i.astype("int8") << 1
        jnp.tan(b); jnp.arctan(i); jnp.cbrt(i); jnp.hypot(i, i); jnp.sinc(i)""",
    "grids, diagonals, joining": """
        jnp.empty((2, 3)); jnp.empty_like(x, dtype=int); jnp.full_like(x, 3); jnp.full_like(i, 2.7)
        jnp.full_like(x, x[0, 0], shape=(2,)); jnp.identity(3); jnp.tri(3); jnp.tri(2, 4, 1, int)
        jnp.meshgrid(x[0], i); jnp.meshgrid(x[0], i, indexing="ij"); jnp.meshgrid(i)
        jnp.meshgrid(x[0], i, x[1, :2], sparse=True); jnp.logspace(0, 2, 4); jnp.vander(x[0], 3)
        jnp.vander(i, increasing=True); jnp.diagonal(x); jnp.diagonal(x[:3], 1); jnp.diag(x)
        jnp.diag(x, -2); jnp.diag(i, 1); jnp.diag(x[0], -1); jnp.trace(x); jnp.trace(x, 1)
        jnp.trace(i[:, None] * i); x.diagonal(); x.trace(); jnp.tril_indices(3); jnp.append(x, i)
        jnp.triu_indices(3, 1, 4); jnp.append(x, x[:1], 0); jnp.atleast_1d(x[0, 0], i)
        jnp.atleast_1d(2.0); jnp.atleast_2d(i); jnp.column_stack([x[0], x[1]]); jnp.dstack([x, x])
        jnp.array_split(x, 3); jnp.array_split(i, [1]); jnp.fliplr(x); jnp.flipud(x); jnp.rot90(x)
        jnp.rot90(x, 2); jnp.rot90(x[:2], 3); jnp.rot90(x, -4)""",
    "comparing, samples": """
        jnp.isclose(x, x + 1e-9); jnp.isclose(x, x[0]); jnp.isclose(x / 0, x / 0)
        jnp.isclose(jnp.log(x), jnp.log(x), equal_nan=True); jnp.isclose(i, i + 1, atol=1)
        jnp.isclose(i, i, rtol=0); jnp.allclose(x, x * (1 + 1e-7)); jnp.allclose(x, i[0])
        jnp.array_equal(x, x); jnp.array_equal(x, i); jnp.array_equal(i, i[::-1])
        jnp.array_equal(jnp.log(x), jnp.log(x), equal_nan=True); jnp.cumprod(x); jnp.cumprod(x, 1)
        jnp.cumprod(i, dtype=float); jnp.cumprod(b); jnp.diff(x); jnp.diff(x, 2, 0); jnp.diff(b)
        jnp.diff(i, prepend=0); jnp.diff(x, axis=0, append=x[:1]); jnp.ptp(x, 0); jnp.average(x)
        jnp.average(x, 1); jnp.average(x, 0, abs(x)); jnp.average(x, 1, jnp.arange(1.0, 5.0))
        jnp.average(i, returned=True); jnp.average(x, 0, abs(x), True)
        jnp.nansum(jnp.log(x)); jnp.nanmean(jnp.log(x), 1); jnp.nanmax(jnp.log(x), 0)
        jnp.nanmin(jnp.log(x), axis=1, keepdims=True); jnp.nansum(i); jnp.nanmax(i); jnp.nanmean(i)
        jnp.kron(x[:2], i[:, None]); jnp.kron(i, x[0]); jnp.cross(x[0, :3], i)
        jnp.cross(x[:, :3], i)
        jnp.convolve(x[0], i); jnp.convolve(i, x[0], "same"); jnp.convolve(x[0], x[1, :2], "valid")
        jnp.polyval(x[0], x); jnp.polyval(i, 2.0); jnp.interp(x, jnp.arange(3.0), x[0, :3])
        jnp.interp(x, jnp.arange(4), x[0], left=0.0, right=1.0); jnp.median(x); jnp.median(x, 1)
        jnp.percentile(x, 30.0); jnp.percentile(x, jnp.array([25, 50]), axis=0)
        jnp.quantile(x, 0.3, axis=(0, 1), keepdims=True); jnp.quantile(i, 0.5)
        jnp.quantile(jnp.log(x), 0.5, axis=1); jnp.searchsorted(jnp.sort(x[0]), x)
        jnp.searchsorted(jnp.sort(i), i, side="right"); jnp.searchsorted(jnp.arange(3.0), i)""",
}


def values_and_derivatives(lib, family):
    """All expressions of a family with their derivatives along the direction cos(x)."""

    def run(x, i, j, b):
        known = {"jnp": lib.numpy, "M": B, "i": i, "j": j, "b": b}
        found = {}
        for text in rows_of(EXPRESSIONS[family]):
            function = eval(f"lambda x: {text}", known)  # the table above
            values, tangents = lib.jvp(function, (x,), (lib.numpy.cos(x),))
            values, tangents = lib.tree.leaves(values), lib.tree.leaves(tangents)
            moving = [t for y, t in zip(values, tangents, strict=True) if y.dtype.kind == "f"]
            found[text] = values + moving
        return found

    return lib.jit(run)


@pytest.mark.slow
@pytest.mark.parametrize("family", EXPRESSIONS)
def test_functions_and_operators_give_what_those_of_jax_give(family):
    got, want = (values_and_derivatives(lib, family)(X, I, J, B) for lib in (minijax, jax))
    for text in want:
        assert_same(got[text], want[text], text, 1e-11)


@pytest.mark.parametrize("index", [(slice(None), 1), (J, slice(1, 3)), (0, 0)])
def test_the_derivative_of_an_update_at_one_place_asks_nobody_which_update_has_won(index):
    gradient = minijax.grad(lambda x, value: (x.at[index].set(value) ** 2).sum(), (0, 1))
    operations = [eqn.primitive.name for eqn in minijax.make_jaxpr(gradient)(X, 2.0).eqns]
    assert operations.count("gather") == 1
    assert "select_n" not in operations
