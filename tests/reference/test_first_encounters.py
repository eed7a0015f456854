"""What users meet first: mistakes that everybody makes with JAX once, and what minijax says then.

Each message names what happened and what to do instead; the classes are JAX's.
"""

import threading

import jax
import minijax
import minijax.numpy as jnp
import numpy as np
import pytest
from minijax.core import Primitive, full_raise, new_main, trace_state
from minijax.jvp import JVPTrace

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


# name -> (what is done under `jit`, class of the error, what its message says)
UNDER_JIT = {
    "if": (lambda x: x if x > 0 else -x, "TracerBoolConversionError", "lax.cond or jnp.where"),
    "and": (lambda x: (x > 0) and x, "TracerBoolConversionError", "bool[]"),
    "while": (
        lambda x: [0 for _ in iter(lambda: bool(x > 0), False)],
        "TracerBoolConversionError",
        "while",
    ),
    "range": (
        lambda x: list(range(x.astype(int))),
        "TracerIntegerConversionError",
        "static argument",
    ),
    "a list's index": (lambda x: [1, 2][x.astype(int)], "TracerIntegerConversionError", "static"),
    "float": (float, "ConcretizationTypeError", "x.astype(float)"),
    "numpy": (
        lambda x: np.sin(x),
        "TracerArrayConversionError",
        "the same name from minijax.numpy",
    ),
    "numpy array": (lambda x: np.array([x, x]), "TracerArrayConversionError", "minijax.numpy"),
}


@pytest.mark.every
@pytest.mark.parametrize("name", UNDER_JIT)
def test_what_needs_a_value_under_jit_says_what_to_use_instead(name):
    function, error, words = UNDER_JIT[name]
    with pytest.raises(getattr(minijax.errors, error)) as caught:
        minijax.jit(function)(1.0)
    with pytest.raises(getattr(jax.errors, error)):
        jax.jit(function)(1.0)
    assert words in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def write(x):
    x[0] = 1.0
    return x


@pytest.mark.parametrize("transform", [minijax.jit, minijax.vmap, minijax.grad])
def test_an_in_place_write_says_what_to_use_instead(transform):
    x = np.ones((2, 3)) if transform is minijax.vmap else ONES
    with pytest.raises(TypeError, match=r"immutable .* x\.at\[idx\]\.set\(y\)"):
        transform(write)(x)


def test_results_cannot_be_written_to():
    for sin in (jnp.sin, minijax.jit(jnp.sin)):
        with pytest.raises(TypeError, match=r"immutable .* x\.at\[idx\]\.set\(y\)"):
            sin(ONES)[0] = 2.0


INTEGERS = {
    "grad": lambda: minijax.grad(lambda x: x * 2.0)(3),
    "grad of an array": lambda: minijax.grad(lambda x: jnp.sum(x * 2.0))(np.arange(3)),
    "jacfwd": lambda: minijax.jacfwd(lambda x: x * 2.0)(3),
    "jvp": lambda: minijax.jvp(lambda x: x * 2.0, (3,), (1.0,)),
}


@pytest.mark.parametrize("program", INTEGERS.values(), ids=INTEGERS)
def test_an_integer_has_no_derivative(program):
    with pytest.raises(TypeError, match=r"3\.0"):
        program()


@pytest.mark.parametrize("name", ["grad", "value_and_grad", "jacfwd", "jacrev", "hessian"])
def test_holomorphic_functions_are_refused_in_one_sentence(name):
    with pytest.raises(NotImplementedError, match="complex numbers"):
        getattr(minijax, name)(jnp.sin, holomorphic=True)


unknown_p = Primitive("unknown")
RULES = {
    "Evaluation rule": lambda: unknown_p.bind(1.0),
    "Differentiation rule": lambda: minijax.jvp(unknown_p.bind, (1.0,), (1.0,)),
    "Batching rule": lambda: minijax.vmap(unknown_p.bind)(ONES),
    "Abstract evaluation": lambda: minijax.make_jaxpr(unknown_p.bind)(1.0),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_primitive_without_a_rule_is_named_with_the_transformation(rule):
    with pytest.raises(NotImplementedError, match=f"{rule} for 'unknown' not implemented"):
        RULES[rule]()


@pytest.mark.parametrize(
    ("message", "program"),
    [
        ("StableHLO lowering", lambda: minijax.jit(unknown_p.bind)(1.0)),
        ("Transpose rule", lambda: minijax.linear_transpose(unknown_p.bind, 1.0)(1.0)),
    ],
)
def test_a_primitive_that_lacks_only_a_later_rule_is_named_too(message, program, monkeypatch):
    rules = minijax.core.abstract_eval_rules
    monkeypatch.setitem(rules, unknown_p, lambda x: minijax.jaxpr.raise_to_shaped(x))
    with pytest.raises(NotImplementedError) as caught:
        program()
    assert "'unknown'" in str(caught.value)
    assert message in str(caught.value)
