"""pmap, collectives, and the choice of a device, against JAX on eight devices of one process."""

import json
import pickle
import subprocess
import sys

import jax
import minijax
import numpy as np
import pmap_programs as programs
import pytest
from oracle import assert_all_same, assert_same, assert_same_error, prints_as_promised
from run_on import environment, output


class Eight:
    """A library on eight devices, in a process of its own."""

    def __init__(self, name):
        command, pipe = [sys.executable, programs.__file__, name], subprocess.PIPE
        self.process = subprocess.Popen(command, env=environment(8), stdin=pipe, stdout=pipe)

    def __getitem__(self, key):
        """What the program of this table and name gives."""
        self.process.stdin.write(f"{json.dumps(key)}\n".encode())
        self.process.stdin.flush()
        return pickle.load(self.process.stdout)


@pytest.fixture(scope="module")
def found():
    """minijax and JAX, by name: what a program gives there."""
    running = {name: Eight(name) for name in ("minijax", "jax")}
    yield running
    for each in running.values():
        each.process.communicate()


def same(got, want):
    assert not programs.is_error(got), got[1]
    assert not programs.is_error(want), want[1]
    assert_same(got, want)


# On eight devices ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("key", programs.COLLECTIVES)
def test_collectives_between_devices_give_what_they_give_in_jax(found, key):
    same(*(found[lib]["collectives", key] for lib in ("minijax", "jax")))


@pytest.mark.parametrize("key", programs.PMAP)
def test_pmap_gives_what_it_gives_in_jax(found, key):
    same(*(found[lib]["pmap", key] for lib in ("minijax", "jax")))


@pytest.mark.parametrize("key", programs.ERRORS)
def test_errors_are_of_the_class_that_jax_raises(found, key):
    ours, theirs = (found[lib]["errors", key] for lib in ("minijax", "jax"))
    assert programs.is_error(ours), "no error in minijax"
    assert programs.is_error(theirs), "no error in jax"
    assert ours[0][0] in theirs[0]
    assert ("NameError" in theirs[0]) == key.startswith("unbound")  # else a slip in the table


def test_an_error_says_how_to_have_more_devices(found):
    _, text = found["minijax"]["errors", "too few devices"]
    assert "requires 9 logical devices, but only 8 XLA devices are available" in text
    assert "XLA_FLAGS=--xla_force_host_platform_device_count=9" in text


# With vmap ----------------------------------------------------------------------------------------


def results(program):
    libs = (programs.Library(lib, lib.vmap) for lib in (minijax, jax))
    return [programs.plain_data(program(lib), lib) for lib in libs]


def test_collectives_over_a_batch_give_what_they_give_in_jax():
    assert_all_same(
        {
            key: lambda lib, of=of: of(programs.Library(lib, lib.vmap))
            for key, of in programs.COLLECTIVES.items()
        }
    )


@pytest.mark.parametrize("key", programs.REFUSED)
def test_collectives_over_a_batch_refuse_what_they_refuse_in_jax(key):
    ours, theirs = (programs.Library(lib, lib.vmap) for lib in (minijax, jax))
    program = programs.REFUSED[key]
    assert_same_error(lambda: program(ours), lambda: program(theirs), or_wider=True)


def test_ppermute_over_a_batch_takes_whole_permutations():
    def permuted(lib, pairs):
        return lib.vmap(lambda x: lib.lax.ppermute(x, "i", pairs), axis_name="i")(np.ones(2))

    for lib in (jax, minijax):
        with pytest.raises(AssertionError):
            permuted(lib, [(0, 1)])
    for pairs in ([], [(0, 1), (1, 1)], [(0, 1), (0, 0)], [(0, 1), (1, 2)]):
        with pytest.raises(AssertionError, match="a permutation of all 2 examples"):
            permuted(minijax, pairs)


def test_axes_from_the_end_are_refused_by_name():
    for f in (
        lambda x: minijax.lax.all_to_all(x, "i", -1, 0),
        lambda x: minijax.lax.psum_scatter(x, "i", scatter_dimension=-1),
    ):
        with pytest.raises(NotImplementedError, match="from the front"):
            minijax.vmap(f, axis_name="i")(np.ones((2, 2)))


@pytest.mark.every
@pytest.mark.parametrize("program", programs.ONE_DEVICE.values(), ids=programs.ONE_DEVICE)
def test_programs_of_one_device_give_what_they_give_in_jax(program):
    same(*results(program))


# Inside -------------------------------------------------------------------------------------------

MINIJAX = """
import numpy as np
import minijax as jax
from minijax import lax, numpy as jnp, xla
from minijax.jaxpr import typecheck_jaxpr
X = np.arange(8.0)
"""


def run(code):
    """What a program prints on eight devices."""
    return output("-c", MINIJAX + code, devices=8)


def test_parameters_stay_on_the_devices_from_step_to_step():
    out = run("""
step = jax.pmap(lambda w, x: w - lax.pmean(w * x, "i"), axis_name="i")
x = step(X, X)
w = step(X, x)
def no_copy(*args, **kwargs):
    raise AssertionError("a copy from or to the host")
to_device, to_host = xla.to_device, xla.to_host
xla.to_device = xla.to_host = no_copy
for _ in range(3):
    w = step(w, x)
total = jax.jit(lambda w: w.sum())(w)
xla.to_device, xla.to_host = to_device, to_host
print(w.shape, total.shape)
""")
    assert out == "(8,) ()\n"


def test_a_program_is_traced_and_compiled_once():
    out = run("""
traced, compile_text, compiled = [], xla.compile_text, []
xla.compile_text = lambda *args: compiled.append(1) or compile_text(*args)
f = jax.pmap(lambda x: traced.append(1) or x * 2.0)
for _ in range(3):
    f(X), jax.vmap(f)(np.ones((2, 8))), jax.grad(lambda x: f(x).sum())(X)
print(len(traced), len(compiled))
""")
    assert out == "1 4\n"


def test_programs_of_all_transformations_have_types():
    out = run("""
f = jax.pmap(lambda w, x: (lax.psum(jnp.sin(w * x), "i"), lax.all_gather(x, "i"), w * x),
             axis_name="i", in_axes=(None, 0), out_axes=(None, 1, 0))
total = lambda w, x: sum(y.sum() for y in f(w, x))
for g, args in [
    (f, (2.0, X)), (jax.grad(total, (0, 1)), (2.0, X)),
    (jax.vmap(f, (None, 0)), (2.0, np.ones((3, 8)))),
    (jax.vmap(jax.grad(total)), (np.ones(2), np.ones((2, 8)))),
    (lambda w, x: jax.jvp(f, (w, x), (w, x)), (2.0, X)),
]:
    print(typecheck_jaxpr(jax.make_jaxpr(g)(*args).jaxpr))
""")
    assert out == (
        "(float64[], float64[8]) -> (float64[], float64[8,8], float64[8])\n"
        "(float64[], float64[8]) -> (float64[], float64[8])\n"
        "(float64[], float64[3,8]) -> (float64[3], float64[3,8,8], float64[3,8])\n"
        "(float64[2], float64[2,8]) -> (float64[2])\n"
        "(float64[], float64[8]) -> "
        "(float64[], float64[8,8], float64[8], float64[], float64[8,8], float64[8])\n"
    )


def collectives(lax):
    return lambda x: (
        lax.psum(x, "i"),
        lax.pmean(x, "i"),
        lax.all_gather(x, "i", axis=-1),
        lax.axis_index("i"),
        lax.pmax(x, ("i",)),
        lax.pmin(x, "i"),
        lax.ppermute(x, "i", [(0, 0)]),
        lax.all_to_all(x, "i", 0, 1),
        lax.all_to_all(x, "i", 0, 0),
        lax.all_to_all(x, "i", 1, 0, tiled=True),
        lax.psum_scatter(x, "i"),
        lax.psum_scatter(x, "i", scatter_dimension=1, tiled=True),
    )


@prints_as_promised
def test_collectives_print_as_in_jax():
    pmapped = minijax.pmap(collectives(minijax.lax), "i")
    (eqn,) = minijax.make_jaxpr(pmapped)(np.ones((1, 1, 2))).eqns
    wanted = jax.make_jaxpr(collectives(jax.lax), axis_env=[("i", 1)])(np.ones((1, 2)))
    assert str(eqn.params["jaxpr"]) == str(wanted)


def test_a_thread_has_axes_of_its_own():
    out = run("""
import threading
def other():
    try:
        lax.psum(1, "i")
    except NameError as error:
        print(error)
def f(x):
    thread = threading.Thread(target=other)
    thread.start(); thread.join()
    return x * lax.psum(1, "i")
print(jax.vmap(f, axis_name="i")(X)[1])
""")
    assert [line[:20] for line in out.splitlines()] == ["unbound axis name: i", "8.0"]


def test_a_name_is_unbound_again_after_an_error():
    def f(x):
        raise KeyError

    with pytest.raises(KeyError):
        minijax.vmap(f, axis_name="i")(np.ones(3))
    with pytest.raises(NameError, match="unbound axis name: i"):
        minijax.lax.psum(1, "i")
