"""Convolutions and windows against JAX: values and gradients by operand and kernel."""

import functools

import jax
import minijax
import numpy as np
from expressions import programs_of
from oracle import assert_all_same

X = np.random.default_rng(1).normal(size=(2, 7, 6, 4))
W = np.random.default_rng(2).normal(size=(3, 2, 4, 6))
G = np.random.default_rng(3).normal(size=(3, 3, 2, 6))
LETTERS = ("NHWC", "HWIO", "NHWC")

PROGRAMS = programs_of(
    globals(),
    """
    SAME: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=LETTERS)
    strides: lax.conv_general_dilated(x, w, (2, 3), "VALID",
        dimension_numbers=("NHWC", "HWIO", "NCHW"))
    pads and gaps: lax.conv_general_dilated(x, w, (2, 1), [(2, 1), (0, 3)], (1, 2), (2, 1), LETTERS)
    in order: lax.conv(lax.transpose(x, (0, 3, 1, 2)), lax.transpose(w, (3, 2, 0, 1)), (2, 2),
        "SAME")
    numbers: lax.conv_general_dilated(x, w, (1, 1), "SAME_LOWER", None, None,
        lax.conv_dimension_numbers(x.shape, w.shape, LETTERS))
    general padding: lax.conv_with_general_padding(lax.transpose(x, (0, 3, 1, 2)),
        lax.transpose(w, (3, 2, 0, 1)), (1, 2), [(1, -1), (2, 2)], None, (1, 2))
    transposed SAME: lax.conv_transpose(x, w, (2, 3), "SAME")
    transposed VALID: lax.conv_transpose(x, w, (1, 2), "VALID", (2, 1))
    transposed pads: lax.conv_transpose(x, w, (2, 2), [(1, 2), (0, 1)])
    transposed as a gradient: lax.conv_transpose(lax.transpose(x, (0, 3, 1, 2)),
        lax.transpose(w, (2, 3, 0, 1)), (2, 4), [(1, 1), (0, 1)],
        dimension_numbers=("NCHW", "OIHW", "NHWC"), transpose_kernel=True,
        use_consistent_padding=True)
    sums of windows: lax.reduce_window(x, 0.0, lax.add, (1, 2, 3, 1), (1, 2, 1, 1), "SAME")
    largest of windows: (lax.reduce_window(x, -np.inf, lax.max, (1, 3, 2, 1), (1, 2, 2, 1),
        [(0, 0), (1, 1), (0, 1), (0, 0)]) + 0.0 * w.sum())
    windows with gaps: lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), None, "VALID", None,
        (1, 3, 2, 1))
""",
    "x",
    "w",
)


def everything(lib, program):
    """The value, both gradients, and a batch."""

    def loss(x, w):
        out = program(lib, x, w)
        return lib.numpy.sum(lib.numpy.sin(out)), out

    def run(x, w):
        slopes, out = lib.grad(loss, (0, 1), has_aux=True)(x, w)
        return slopes, out, lib.vmap(lambda x: program(lib, x, w))(lib.numpy.stack([x, -x]))

    return lib.jit(run)(X, W)


def test_windows_are_those_of_jax():
    assert_all_same(
        {name: functools.partial(everything, program=of) for name, of in PROGRAMS.items()}, 1e-9
    )


def test_groups_of_features():
    got, want = (
        lib.lax.conv_general_dilated(
            X, G, (1, 1), "SAME", dimension_numbers=LETTERS, feature_group_count=2
        )
        for lib in (minijax, jax)
    )
    np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-9)


def sizes(lax, kind):
    """What the functions about shapes return."""
    return [
        [*map(list, lax.padtype_to_pads((5, 8), (3, 2), (2, 3), kind))],
        list(lax.conv_general_shape_tuple((9, 5, 8, 4), (3, 2, 4, 6), (2, 1), kind, LETTERS)),
        list(lax.conv_transpose_shape_tuple((9, 5, 8, 4), (3, 2, 4, 6), (2, 1), kind, LETTERS)),
        list(lax.reduce_window_shape_tuple((9, 5), (1, 2), (1, 2), ((0, 0), (1, 0)))),
        type(lax.conv_dimension_numbers(X.shape, W.shape, LETTERS)) is lax.ConvDimensionNumbers,
    ]


def test_shapes():
    for kind in ("SAME", "VALID"):
        assert sizes(minijax.lax, kind) == sizes(jax.lax, kind)
