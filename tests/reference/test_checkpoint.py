"""Lesson checkpoint: values and gradients as in JAX, and what is kept, computed and merged."""

import jax
import jax.ad_checkpoint
import minijax
import numpy as np
import pytest
from expressions import programs_of
from jax._src.ad_checkpoint import saved_residuals
from minijax import xla
from minijax.jaxpr import typecheck_jaxpr
from minijax.linearize import linearize_tree
from oracle import assert_all_same, prints_as_promised

X = np.linspace(-1.0, 1.0, 12).reshape(4, 3)
W = np.linspace(0.1, 0.9, 9).reshape(3, 3)

POLICIES = [
    "everything_saveable",
    "nothing_saveable",
    "dots_saveable",
    "dots_with_no_batch_dims_saveable",
    "checkpoint_dots",
    "checkpoint_dots_with_no_batch_dims",
    None,
    ("save_only_these_names", "sines"),
    ("save_any_names_but_these", "sines"),
    ("save_anything_except_these_names", "cosines"),
    "both",
]


def policy_of(lib, name):
    """A policy by its name, or by the names of a function that makes it and of values."""
    policies = lib.checkpoint_policies
    if name == "both":
        names = policies.save_only_these_names("cosines")
        return policies.save_from_both_policies(names, policies.dots_saveable)
    if isinstance(name, tuple):
        return getattr(policies, name[0])(*name[1:])
    return name if name is None else getattr(policies, name)


def layers(lib, x, w):
    """Three layers, of which one is compiled on its own."""
    np_, named = lib.numpy, lib.ad_checkpoint.checkpoint_name
    x = named(np_.sin(x @ w), "sines")
    x = lib.jit(lambda x: named(np_.cos(x @ w), "cosines"))(x)
    return np_.exp(-x @ w)


def checkpointed(lib, policy=None, **options):
    return lib.checkpoint(lambda x, w: layers(lib, x, w), policy=policy_of(lib, policy), **options)


def loss(lib, f):
    return lambda x, w: lib.numpy.sum(f(x, w))


def batch(lib, f):
    return lib.vmap(f, in_axes=(0, None))


def in_scan(lib, f):
    return lambda x, w: lib.lax.scan(lambda c, _: (f(c, w), c), x, None, length=2)[0]


def in_cond(lib, f):
    return lambda x, w: lib.lax.cond(x.sum() < 100, f, lambda x, w: x @ w, x, w)


# What is done with the checkpointed function `f`.
USES = programs_of(
    globals(),
    """
    value: f(X, W)
    jit: lib.jit(f)(X, W)
    jvp: lib.jvp(f, (X, W), (X + 1, W - 1))
    grad: lib.grad(loss(lib, f), (0, 1))(X, W)
    grad of jit: lib.grad(loss(lib, lib.jit(f)), (0, 1))(X, W)
    jit of grad: lib.jit(lib.grad(loss(lib, f), (0, 1)))(X, W)
    grad of one: lib.grad(loss(lib, f), 1)(X, W)
    linearize: lib.linearize(f, X, W)[1](X, W)
    vjp: lib.vjp(f, X, W)[1](np.ones((4, 3)))
    vmap: batch(lib, f)(X, W)
    vmap of grad: batch(lib, lib.grad(loss(lib, f), (0, 1)))(X, W)
    grad of vmap: lib.grad(loss(lib, batch(lib, f)), (0, 1))(X, W)
    jit of vmap of grad: lib.jit(batch(lib, lib.grad(loss(lib, f))))(X, W)
    hessian: lib.hessian(loss(lib, f), 1)(X, W)
    forward over forward: lib.jacfwd(lib.jacfwd(loss(lib, f), 1), 1)(X, W)
    forward over reverse: lib.jvp(lib.grad(loss(lib, f)), (X, W), (X, W))
    reverse over reverse: lib.jacrev(lib.jacrev(loss(lib, f), 1), 1)(X, W)
    under another one: lib.grad(loss(lib, lib.checkpoint(f)))(X, W)
    linear in one: lib.linear_transpose(lib.checkpoint(lambda x: x @ jnp.sin(W)), X)(np.ones((4,
        3)))
    captured tracer: lib.grad(lambda w: jnp.sum(lib.checkpoint(lambda x: f(x, w) * w[0])(X)))(W)
    container: lib.grad(lambda p: lib.checkpoint(lambda p: {"y":
        jnp.sum(f(*p["xw"]))})(p)["y"])({"xw": (X, W)})
    integers beside: lib.vjp(lib.checkpoint(lambda x, n: (x * n, n)), X, np.arange(3))[0]
""",
    "f",
)
USES |= {
    f"{name} of {where.__name__}": lambda lib, f, use=USES[name], where=where: use(
        lib, where(lib, f)
    )
    for where in (in_scan, in_cond)
    for name in ("grad", "jit of grad", "vmap of grad", "forward over reverse")
}


@pytest.mark.parametrize(
    "policy",
    [None, *(pytest.param(p, marks=pytest.mark.slow) for p in ("dots_saveable", POLICIES[0]))],
)
def test_the_same_results_as_jax(policy):
    assert_all_same(
        {
            name: lambda lib, use=use: use(lib, checkpointed(lib, policy))
            for name, use in USES.items()
        },
        1e-10,
    )


PRINTED = {
    "plain": lambda lib: checkpointed(lib),
    "a policy": lambda lib: checkpointed(lib, "dots_with_no_batch_dims_saveable"),
    "merging allowed": lambda lib: checkpointed(lib, prevent_cse=False),
    "inside jit": lambda lib: lib.jit(checkpointed(lib)),
}


@prints_as_promised
@pytest.mark.parametrize("make", PRINTED.values(), ids=PRINTED)
def test_programs_print_as_in_jax(make):
    assert str(minijax.make_jaxpr(make(minijax))(X, W)) == str(jax.make_jaxpr(make(jax))(X, W))


def residual_shapes(f):
    """The shapes of what reverse mode keeps, larger than 0-d."""
    program = linearize_tree(f, (X, W), has_aux=False).program
    typecheck_jaxpr(program.jaxpr)
    return sorted(np.shape(x) for x in program.consts if np.shape(x))


@pytest.mark.every
@pytest.mark.parametrize("policy", POLICIES)
def test_as_much_is_kept_as_in_jax(policy):
    kept = [aval.shape for aval, _ in saved_residuals(checkpointed(jax, policy), X, W)]
    assert residual_shapes(checkpointed(minijax, policy)) == sorted(
        shape for shape in kept if shape
    )


@pytest.mark.parametrize("policy", [None, ("save_only_these_names", "sines")])
def test_what_is_kept_is_printed_as_in_jax_but_for_places(policy, capsys):
    printed = []
    for lib in (minijax, jax):
        lib.ad_checkpoint.print_saved_residuals(checkpointed(lib, policy), X, W)
        lines = [line.partition(" from /")[0] for line in capsys.readouterr().out.splitlines()]
        printed.append(sorted(line for line in lines if not line.startswith("f64[] ")))
    assert printed[0] == printed[1] != []


def test_names_stand_in_programs_and_are_not_of_tangents():
    def program(lib):
        name = lib.ad_checkpoint.checkpoint_name
        f = lib.make_jaxpr(lambda x, t: lib.jvp(lambda x: name({"a": x}, "n"), (x,), (t,)))
        return str(f(X, X))

    assert program(minijax) == program(jax)


def test_without_a_policy_the_inputs_are_kept_and_nothing_else():
    assert residual_shapes(checkpointed(minijax)) == [(3, 3), (4, 3)]
    assert len(residual_shapes(lambda x, w: layers(minijax, x, w))) > 5


def first_is_read(f, a, b):
    """Where all is kept, the derivative needs `a` again and not `b`."""
    return a * a * f(b)


# Choices and loops: a policy is asked about what is inside them, and what nobody reads is left out.
INSIDE = programs_of(
    globals(),
    """
    cond: lax.cond(x > 0, f, lambda x: x, x)
    two results: lax.cond(x > 0, lambda x: (f(x), f(x)), lambda x: (x, x), x)
    one of two is read: first_is_read(f, *lax.cond(x > 0, lambda x: (x * 2.0, x * 3.0),
        lambda x: (x, x), x))
    scan: lax.scan(lambda c, _: (f(c), f(c)), x, None, length=3)
    scan in cond: lax.cond(x > 0, lambda x: lax.fori_loop(0, 2, lambda i, c: f(c), x),
        lambda x: x, x)
    jit in scan: lax.scan(lambda c, _: (lib.jit(f)(c), None), x, None, length=2)[0]
    cond in scan: lax.scan(lambda c, k: (lax.cond(k > 0, f, lambda c: c, c), c), x, jnp.arange(3))
""",
    "f",
    "x",
)
KEEP = {
    "no policy": None,
    "cosines": lambda primitive, *avals, **params: str(primitive) == "cos",
    "all": lambda primitive, *avals, **params: True,
    "nothing": lambda primitive, *avals, **params: False,
    "sines": lambda primitive, *avals, **params: str(primitive) == "sin",
}


def inside(lib, program, policy):
    """The derivative, and how often the backward pass computes sines, cosines and exponentials."""
    np_ = lib.numpy
    f = lib.checkpoint(
        lambda x: INSIDE[program](lib, lambda x: np_.sin(np_.exp(np_.sin(x))), x),
        policy=KEEP[policy],
    )
    y, f_lin = lib.linearize(f, 0.5)
    text = str(lib.make_jaxpr(f_lin)(1.0))
    return f_lin(1.0), y, [text.count(f" {name} ") for name in ("sin", "cos", "exp")]


@pytest.mark.parametrize("policy", KEEP)
@pytest.mark.parametrize("program", INSIDE)
def test_policies_are_asked_inside_choices_and_loops_as_in_jax(program, policy):
    (*ours, our_counts), (*theirs, counts) = (
        inside(lib, program, policy) for lib in (minijax, jax)
    )
    jax.tree.map(np.testing.assert_allclose, minijax.device_get(ours), theirs)
    assert our_counts == counts


# What XLA gets, and what it makes of it -----------------------------------------------------------


def barriers(lib, **options):
    """The barriers in a gradient's StableHLO, by the number of arrays that go through."""
    gradient = lib.grad(loss(lib, checkpointed(lib, **options)), (0, 1))
    lines = lib.jit(gradient).lower(X, W).as_text().splitlines()
    return [line.count("tensor<") for line in lines if "optimization_barrier" in line]


def test_a_barrier_stands_before_the_second_run_as_in_jax():
    assert barriers(minijax) == barriers(jax) == [3]
    assert barriers(minijax, prevent_cse=False) == []


def planned_memory(policy):
    """What XLA sets aside for the gradient of 16 layers in a scan, in bytes."""

    def layer(x, w):
        return minijax.numpy.tanh(minijax.numpy.sin(x @ w)), None

    step = minijax.checkpoint(layer, policy=policy) if policy else layer
    gradient = minijax.grad(lambda ws, x: minijax.numpy.sum(minijax.lax.scan(step, x, ws)[0]))
    text = minijax.jit(gradient).lower(np.ones((16, 32, 32)), np.ones((64, 32))).as_text()
    executable = xla.compile_text(text, (xla.current_device(),), [])
    return executable.loaded.get_compiled_memory_stats().temp_size_in_bytes


def test_under_scan_xla_plans_less_memory():
    nothing = minijax.checkpoint_policies.nothing_saveable
    assert planned_memory(nothing) < 0.5 * planned_memory(None)


def residuals_printed(lib):
    """What one function keeps, printed."""
    ad = lib.ad_checkpoint
    keep = ad.checkpoint_policies.everything_saveable
    f = lib.remat(lambda x: ad.checkpoint_name(lib.numpy.sin(x), "sine"), policy=keep)
    return ad.print_saved_residuals(f, X)
