"""The memory behind jitted functions: whose it is, who may change it, and when it is free again."""

import gc
import sys
import warnings
import weakref
from pathlib import Path

import jax
import minijax
import numpy as np
import pytest
from minijax import xla
from minijax.core import get_aval

BOTH = pytest.mark.parametrize("jx", [jax, minijax], ids=["jax", "minijax"])


def on_device(jx, x):
    return jx.jit(lambda x: x)(x)


# Buffers are copies of the host's arrays ----------------------------------------------------------


def aligned(n):
    """Ones that start where XLA would use the memory of NumPy itself: at a multiple of 64."""
    raw = np.ones(n + 8)
    return raw[-(raw.ctypes.data // 8) % 8 :][:n]


@pytest.mark.parametrize("make", [np.ones, aligned])
@pytest.mark.parametrize("size", [1, 1000, 100_000])
def test_writing_to_an_argument_after_the_call_changes_no_result(size, make):
    x = make(size)
    kept, doubled = minijax.jit(lambda x: (x, x * 2.0))(x)
    buffer = xla.to_device(get_aval(x), x, (xla.devices()[0],))
    x[:] = 7.0
    assert (np.asarray(kept) == 1.0).all()
    assert (np.asarray(doubled) == 2.0).all()
    assert (np.asarray(buffer) == 1.0).all()


@pytest.mark.parametrize("make", [np.ones, aligned])
@pytest.mark.parametrize("size", [1, 1000, 100_000])
def test_captured_arrays_are_copied_when_the_function_is_traced(size, make):
    x = make(size)
    f = minijax.jit(lambda y: x + y)
    f(0.0)
    x[:] = 7.0
    assert (np.asarray(f(0.0)) == 1.0).all()


def test_containers_registered_late_are_arguments_and_results():
    class Pair:
        def __init__(self, *parts):
            self.parts = parts

    f = minijax.jit(lambda pair: Pair(pair.parts[1], pair.parts[0] * 2.0))
    f_of_a_number = minijax.jit(lambda x: x)
    f_of_a_number(1.0)
    minijax.tree.register_pytree_node(Pair, lambda p: (p.parts, None), lambda _, xs: Pair(*xs))
    for _ in range(2):
        out = f(Pair(1.0, 2.0))
        assert isinstance(out, Pair)
        assert [float(x) for x in out.parts] == [2.0, 2.0]


# Donation -----------------------------------------------------------------------------------------

DONATIONS = {
    # (function, options of jit, shapes of the arguments)
    "same type": (lambda x: x + 1.0, {"donate_argnums": 0}, [(3,)]),
    "one of two": (lambda x, y: (x, y + 1.0), {"donate_argnums": 1}, [(3,), (3,)]),
    "by name": (lambda x, y: (x, y + 1.0), {"donate_argnames": "y"}, [(3,), (3,)]),
    "both, for one result": (lambda x, y: x + y, {"donate_argnums": (0, 1)}, [(3,), (3,)]),
    "same size": (lambda x: x.reshape(6), {"donate_argnums": 0}, [(2, 3)]),
    "same size, other dtype": (lambda x: x > 0.0, {"donate_argnums": 0}, [(3,)]),
    "no such result": (lambda x: x.sum(), {"donate_argnums": 0}, [(3,)]),
    "with a captured array": (lambda x: x + np.arange(3.0), {"donate_argnums": 0}, [(3,)]),
    "behind a static one": (
        lambda n, x, y: x + y * n,
        {"static_argnums": 0, "donate_argnums": 2},
        [None, (3,), (3,)],
    ),
}


def donate(jx, name):
    """Result, warnings, which arguments are gone, and the attributes of the inputs."""
    f, options, shapes = DONATIONS[name]
    args = [3 if shape is None else on_device(jx, np.ones(shape)) for shape in shapes]
    jitted = jx.jit(f, **options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        out = jx.tree.map(np.asarray, jitted(*args))
    text = jitted.lower(*[3 if shape is None else np.ones(shape) for shape in shapes]).as_text()
    messages = [str(w.message).partition(":")[0] for w in caught]
    gone = [not isinstance(x, int) and x.is_deleted() for x in args]
    counts = [text.count("tf.aliasing_output = 0"), text.count("jax.buffer_donor")]
    return jx.tree.leaves(out), messages, gone, counts


@pytest.mark.every
@pytest.mark.filterwarnings("ignore:Some donated buffers")
@pytest.mark.parametrize("name", DONATIONS)
def test_donation_is_as_in_jax(name):
    (ours, *our_facts), (theirs, *facts) = donate(minijax, name), donate(jax, name)
    for x, y in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(x, y, strict=True)
    assert our_facts == facts


def test_donated_arguments_count_from_the_end_too():  # JAX 0.10 overlooks them, 0.12 does not
    x, y = on_device(minijax, np.ones(3)), on_device(minijax, np.ones(3))
    minijax.jit(lambda x, y: (x, y + 1.0), donate_argnums=-1)(x, y)
    assert [x.is_deleted(), y.is_deleted()] == [False, True]


@BOTH
@pytest.mark.parametrize(
    "use", [np.asarray, lambda x: x + 1.0, lambda x: x.block_until_ready(), lambda x: x[0]]
)
def test_using_a_donated_array_is_an_error(jx, use):
    x = on_device(jx, np.ones(3))
    jx.jit(lambda x: x + 1.0, donate_argnums=0)(x)
    assert x.shape == (3,)
    kinds = RuntimeError if jx is minijax else (RuntimeError, ValueError)  # JAX has either, by luck
    with pytest.raises(kinds, match=r"deleted (with shape=float64|or don)"):
        use(x)


def test_a_donated_array_cannot_be_an_argument():
    x = on_device(minijax, np.ones(3))
    minijax.jit(lambda x: x + 1.0, donate_argnums=0)(x)
    with pytest.raises(RuntimeError, match="Buffer has been deleted or donated"):
        minijax.jit(lambda x: x - 1.0)(x)


def test_donating_an_array_of_numpy_gives_the_copy_away_and_not_the_array():
    x, f = np.ones(3), minijax.jit(lambda x: x + 1.0, donate_argnums=0)
    assert (np.asarray(f(x)) == 2.0).all()
    assert (np.asarray(f(x)) == 2.0).all()
    assert (x == 1.0).all()


@BOTH
def test_jit_with_and_without_donation_do_not_share_programs(jx):
    def f(x):
        return x + 1.0

    x = on_device(jx, np.ones(3))
    jx.jit(f)(x)
    assert not x.is_deleted()
    jx.jit(f, donate_argnums=0)(x)
    assert x.is_deleted()


@BOTH
def test_jit_with_options_alone_is_a_decorator(jx):
    @jx.jit(donate_argnums=0)
    def f(x):
        return x + 1.0

    x = on_device(jx, np.ones(3))
    assert (np.asarray(f(x)) == 2.0).all()
    assert x.is_deleted()


# Nothing grows ------------------------------------------------------------------------------------


def footprint():
    """Blocks of Python's memory, executables, and megabytes of the process (where Linux tells)."""
    gc.collect()
    statm = Path("/proc/self/statm")
    pages = int(statm.read_text().split()[1]) if statm.exists() else 0
    return sys.getallocatedblocks(), len(xla.client().live_executables()), pages * 4096 / 1e6


def growth(action, number):
    """How much `action` leaves behind, after a few rounds to warm up."""
    action(number // 10)
    before = footprint()
    action(number)
    return [b - a for a, b in zip(before, footprint(), strict=True)]


def call(number):
    f = minijax.jit(lambda params, x: {"w": params["w"] * x, "b": [params["b"][0] + 1.0]})
    params = {"w": np.ones(1000), "b": [np.ones(1000)]}
    for _ in range(number):
        params = f(params, 0.5)
    params["w"].block_until_ready()


def recompile(number):
    for i in range(number):
        minijax.jit(lambda x, i=i: x * float(i))(np.ones(10))


@pytest.mark.slow
@pytest.mark.parametrize(("action", "number"), [(call, 10_000), (recompile, 200)])
def test_many_calls_and_recompilations_leave_no_growth(action, number):
    blocks, executables, megabytes = growth(action, number)
    assert blocks < 1000
    assert executables == 0
    assert megabytes < 20


def test_programs_go_with_their_function():
    def f(x):
        return x + constant

    constant = np.ones(3)
    jitted = minijax.jit(f)
    jitted(1.0)
    minijax.jvp(jitted, (1.0,), (1.0,))
    program = weakref.ref(next(iter(jitted.programs.values())).closed)
    assert program() is not None
    del f, jitted
    gc.collect()
    assert program() is None


def test_a_copy_for_numpy_may_be_written_to_and_the_array_stays():
    x = minijax.jit(lambda x: x + 1.0)(np.zeros(3))
    own = np.array(x)
    own[0] = 7.0
    assert (own.tolist(), x.tolist()) == ([7.0, 1.0, 1.0], [1.0, 1.0, 1.0])
    assert x.at[0].set(5.0).tolist() == [5.0, 1.0, 1.0]
