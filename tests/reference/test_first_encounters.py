"""What users meet first: mistakes that everybody makes with JAX once, and what minijax says then.

Each message names what happened and what to do instead; the classes are JAX's.
"""

import threading

import jax
import minijax
import minijax.numpy as jnp
import numpy as np
import pytest
from expressions import failures_of
from minijax.core import Primitive, full_raise, new_main, trace_state
from minijax.jvp import JVPTrace
from oracle import assert_same_error

ONES = np.ones(3)


def leak(transform):
    """What a function kept of its argument, after the transformation has ended."""
    kept = []
    transform(lambda x: kept.append(x) or x * 2.0)
    return kept[0]


TRANSFORMS = {
    "jvp": lambda f: minijax.jvp(f, (3.0,), (1.0,)),
    "grad": lambda f: minijax.grad(f)(3.0),
    "vmap": lambda f: minijax.vmap(f)(ONES),
    "jit": lambda f: minijax.jit(f)(3.0),
    "make_jaxpr": lambda f: minijax.make_jaxpr(f)(3.0),
}


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
def test_a_leaked_tracer_is_reported_when_it_is_used(transform):
    with pytest.raises(minijax.errors.UnexpectedTracerError) as caught:
        leak(transform) * 2.0
    assert "was used outside the function that was being transformed" in str(caught.value)


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
def test_an_exception_leaves_the_stack_clean(transform):
    def f(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        transform(f)
    assert len(trace_state.stack) == 1
    assert trace_state.dynamic_trace is None
    assert float(minijax.grad(lambda x: x * x)(3.0)) == 6.0


def in_a_thread(function):
    """What a function gives, or raises, in another thread."""
    found = []

    def run():
        try:
            found.append(function())
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return found[0]


def test_every_thread_has_a_stack_of_its_own():
    with new_main(JVPTrace):
        assert in_a_thread(lambda: len(trace_state.stack)) == 1


def test_threads_transform_side_by_side():
    def derivatives():
        f = minijax.jit(lambda x: jnp.sum(jnp.sin(x) * x))
        return [minijax.grad(f)(np.full(3, float(i)))[0] for i in range(20)]

    want, results = derivatives(), []
    threads = [threading.Thread(target=lambda: results.append(derivatives())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_allclose(results, [want] * 4)


def test_a_tracer_of_another_thread_is_reported():
    with new_main(JVPTrace) as main:
        tracer = full_raise(JVPTrace(main), 1.0)
        error = in_a_thread(lambda: jnp.sin(tracer))
    assert isinstance(error, minijax.errors.UnexpectedTracerError)


def test_a_branch_works_where_values_are_known():
    assert float(minijax.grad(lambda x: x * x if x > 0 else -x)(3.0)) == 6.0


def write(x):
    x[0] = 1.0
    return x


MISTAKES = failures_of(
    globals(),
    r"""
    # what needs a value under jit
    if: lib.jit(lambda x: x if x > 0 else -x)(1.0) raises lax.cond or jnp.where
    and: lib.jit(lambda x: (x > 0) and x)(1.0) raises bool\[\]
    while: lib.jit(lambda x: [0 for _ in iter(lambda: bool(x > 0), False)])(1.0) raises while
    range: lib.jit(lambda x: list(range(x.astype(int))))(1.0) raises static argument
    a list's index: lib.jit(lambda x: [1, 2][x.astype(int)])(1.0) raises static
    float: lib.jit(float)(1.0) raises x\.astype\(float\)
    numpy: lib.jit(lambda x: np.sin(x))(1.0) raises the same name from minijax\.numpy
    numpy array: lib.jit(lambda x: np.array([x, x]))(1.0) raises minijax\.numpy
    # what jit is told of arguments
    static and donated: lib.jit(lambda x: x, static_argnums=0, donate_argnums=0) raises cannot
        intersect
    donated, and not there: lib.jit(lambda x: x, donate_argnums=3) raises donate_argnums=\(3,\)
    # writes in place
    write under jit: lib.jit(write)(ONES) raises immutable .* x\.at\[idx\]\.set\(y\)
    write under vmap: lib.vmap(write)(np.ones((2, 3))) raises immutable .* x\.at\[idx\]\.set\(y\)
    write under grad: lib.grad(write)(ONES) raises immutable .* x\.at\[idx\]\.set\(y\)
    write to a result: write(jnp.sin(ONES)) raises immutable .* x\.at\[idx\]\.set\(y\)
    write to a result of jit: write(lib.jit(jnp.sin)(ONES)) raises immutable .* x\.at\[idx\]\.set
    # integers, which have no derivative
    grad: lib.grad(lambda x: x * 2.0)(3) raises 3\.0
    grad of an array: lib.grad(lambda x: jnp.sum(x * 2.0))(np.arange(3)) raises 3\.0
    jacfwd: lib.jacfwd(lambda x: x * 2.0)(3) raises 3\.0
    jvp: lib.jvp(lambda x: x * 2.0, (3,), (1.0,)) raises 3\.0
""",
)


@pytest.mark.every
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_jaxs_class_of_error_and_says_what_to_use_instead(name):
    program, words = MISTAKES[name]
    assert_same_error(lambda: program(minijax), lambda: program(jax), match=words)


@pytest.mark.parametrize("name", ["grad", "value_and_grad", "jacfwd", "jacrev", "hessian"])
def test_holomorphic_functions_are_refused_in_one_sentence(name):
    with pytest.raises(NotImplementedError, match="complex numbers"):
        getattr(minijax, name)(jnp.sin, holomorphic=True)


unknown_p = Primitive("unknown")
RULES = {
    "Evaluation rule": lambda f: f(1.0),
    "Differentiation rule": lambda f: minijax.jvp(f, (1.0,), (1.0,)),
    "Batching rule": lambda f: minijax.vmap(f)(ONES),
    "Abstract evaluation": lambda f: minijax.make_jaxpr(f)(1.0),
    "StableHLO lowering": lambda f: minijax.jit(f)(1.0),
    "Transpose rule": lambda f: minijax.linear_transpose(f, 1.0)(1.0),
}


@pytest.mark.every
@pytest.mark.parametrize("rule", RULES)
def test_a_primitive_without_a_rule_is_named_with_the_rule(rule, monkeypatch):
    if rule in ("StableHLO lowering", "Transpose rule"):  # which ask for the type before
        monkeypatch.setitem(
            minijax.core.abstract_eval_rules, unknown_p, minijax.jaxpr.raise_to_shaped
        )
    with pytest.raises(NotImplementedError, match=f"{rule} for 'unknown' not implemented"):
        RULES[rule](unknown_p.bind)
