"""The lesson on one's own transformations: one source, on minijax's programs and on JAX's."""

import json
import re
import sys
import types

import jax
import jax.extend
import jax.interpreters.partial_eval as pe
import minijax
import numpy as np
import pytest
from expressions import failures_of
from hypothesis import given, settings
from hypothesis import strategies as st
from minijax import costs, custom_interpreters
from minijax.core import abstract_eval_rules
from minijax.jaxpr import eval_jaxpr, typecheck_jaxpr
from oracle import prints_as_promised
from random_programs import programs
from run_on import output

from autograder.lessons import assemble


def together(*modules):
    """The names of all of them in one place."""
    return types.SimpleNamespace(**{key: x for found in modules for key, x in vars(found).items()})


def load_on_jax(name, *others):
    """The same file, with `jax` for `minijax` in its imports, and these modules for its others."""
    source = assemble.read_solution(f"minijax/{name}.py")
    for other in others:
        source = source.replace(f"from minijax.{other} import", f"from {other}_on_jax import")
    changed = re.sub(r"^(from|import) minijax\b", r"\1 jax", source, flags=re.MULTILINE)
    assert "import minijax" not in changed
    module = sys.modules[f"{name}_on_jax"] = types.ModuleType(f"{name}_on_jax")
    exec(compile(changed, module.__name__, "exec"), module.__dict__)
    return module


on_minijax = together(custom_interpreters, costs)
on_jax = together(load_on_jax("custom_interpreters"), load_on_jax("costs", "custom_interpreters"))
BOTH = [(minijax, on_minijax), (jax, on_jax)]
on_both = pytest.mark.parametrize(("lib", "custom"), BOTH, ids=["minijax", "jax"])

X = np.array([0.2, 0.7, 1.3])
W = np.array([2.0, -1.0, 0.5])


def calls(lib):
    """A call within a call: of two operands, the second is known; one result is not used."""

    @lib.jit
    def scaled(x, w):
        inner = lib.jit(lambda a, b: a * b + 1.0)
        return inner(x, lib.numpy.sin(w)), lib.numpy.cos(x)

    return lambda x: lib.numpy.exp(scaled(x, W)[0])


def with_derivative_of_its_own(lib):
    @lib.custom_jvp
    def double(x):
        return x * 2.0

    double.defjvp(lambda primals, tangents: (double(*primals), tangents[0] * 2.0))
    return lambda x: double(x) + 1.0


# name -> a function that can be inverted at X, given the library
CHAINS = {
    "exp of tanh": lambda lib: lambda x: lib.numpy.exp(lib.numpy.tanh(x)),
    "log of expm1": lambda lib: lambda x: lib.numpy.log(lib.numpy.expm1(x)),
    "square root": lambda lib: lambda x: lib.numpy.sqrt(lib.numpy.log1p(x)),
    "rsqrt": lambda lib: lambda x: lib.lax.rsqrt(lib.lax.exp2(x)),
    "logistic": lambda lib: lambda x: lib.lax.logistic(-x),
    "sum with a constant": lambda lib: lambda x: 3.0 + lib.numpy.exp(x + 2.0),
    "differences": lambda lib: lambda x: 5.0 - (x - 2.0),
    "products": lambda lib: lambda x: (x * W) * 2.0,
    "quotients": lambda lib: lambda x: 3.0 / (x / W),
    "constants are computed": lambda lib: lambda x: x * lib.numpy.sin(lib.numpy.exp(W) + 1.0),
    "dead code": lambda lib: lambda x: (lib.numpy.sin(x) * x, lib.numpy.exp(x))[1],
    "jit inside": calls,
    "all in jit": lambda lib: lib.jit(lambda x: lib.numpy.tanh(x) * 2.0),
    "a derivative of its own": with_derivative_of_its_own,
    "nothing": lambda lib: lambda x: x,
}
each_chain = pytest.mark.parametrize("name", CHAINS)


# ------------------------------------------------------------------------------------------------
# Evaluation


@pytest.mark.every
@on_both
@each_chain
def test_a_program_gives_what_its_function_gives(lib, custom, name):
    f = CHAINS[name](lib)
    closed = lib.make_jaxpr(f)(X)
    (got,) = custom.eval_jaxpr(closed.jaxpr, closed.consts, [X])
    assert np.allclose(got, f(X), rtol=1e-12, atol=0)


# ------------------------------------------------------------------------------------------------
# inverse


@pytest.mark.every
@on_both
@each_chain
def test_the_inverse_gives_the_argument_back(lib, custom, name):
    f = CHAINS[name](lib)
    back = custom.inverse(f)(f(X))
    assert np.asarray(back).dtype == X.dtype
    assert np.allclose(back, X, rtol=1e-9, atol=0)


@on_both
@each_chain
def test_it_is_compiled_batched_and_differentiated(lib, custom, name):
    f = CHAINS[name](lib)
    rows = np.stack([X, X + 0.1])

    def total(y):
        return custom.inverse(f)(y).sum()

    got = lib.jit(lib.vmap(lib.grad(total)))(lib.vmap(f)(rows))
    slopes = lib.vmap(lambda x: lib.jvp(f, (x,), (np.ones(3),))[1])(rows)
    assert np.allclose(got, 1 / np.asarray(slopes), rtol=1e-9, atol=0)


@on_both
def test_the_derivative_of_an_inverse_is_the_one_of_calculus(lib, custom):
    ys = (np.arange(5) + 1.0) / 5.0
    f_inverse = custom.inverse(CHAINS["exp of tanh"](lib))
    got = np.asarray(lib.jit(lib.vmap(lib.grad(f_inverse)))(ys))
    assert np.allclose(got, 1 / (ys * (1 - np.log(ys) ** 2)), rtol=1e-9)
    assert np.allclose(got, [-3.1440797, 15.584931, 2.2551253, 1.3155028, 1.0], rtol=1e-5)


@prints_as_promised
@each_chain
def test_the_inverse_of_a_program_is_the_same_program_on_both(name):
    texts = [str(lib.make_jaxpr(c.inverse(CHAINS[name](lib)))(X)) for lib, c in BOTH]
    assert texts[0] == texts[1]


STEPS = {
    "neg": lambda lib, c: lambda x: -x,
    "add": lambda lib, c: lambda x: x + c,
    "sub": lambda lib, c: lambda x: c - x,
    "mul": lambda lib, c: lambda x: lib.numpy.exp(c) * x,
    "div": lambda lib, c: lambda x: x / (c + 3.0),
    "softplus": lambda lib, c: lambda x: lib.numpy.log(lib.numpy.exp(x) + 1.0),
    "tanh": lambda lib, c: lambda x: 64.0 * lib.numpy.tanh(x / 64.0),
    "jit": lambda lib, c: lib.jit(lambda x: (x + c) * lib.jit(lib.numpy.exp)(c)),
}


@pytest.mark.slow
@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.floats(-1, 1)), max_size=6))
def test_random_chains_are_inverted(steps):
    def f(x):
        for name, constant in steps:
            x = STEPS[name](minijax, constant)(x)
        return x

    assert np.allclose(on_minijax.inverse(f)(f(X)), X, atol=1e-6)


@on_both
def test_several_arguments_are_found_where_each_has_its_own_way(lib, custom):
    def coupled(x, y):
        return x * lib.numpy.exp(y) + lib.numpy.sin(y), y

    back = custom.inverse(coupled)(*coupled(X, W))
    assert np.allclose(back, (X, W))


@on_both
def test_the_table_can_be_extended(lib, custom, monkeypatch):
    monkeypatch.setitem(
        custom.inverse_rules, "integer_pow", [lambda z, *, y: lib.numpy.exp(lib.numpy.log(z) / y)]
    )
    assert np.allclose(custom.inverse(lambda x: x**3)(X**3), X)


@on_both
def test_rules_may_compute_with_pythons_numbers(lib, custom, monkeypatch):
    monkeypatch.setitem(custom.inverse_rules, "sqrt", [lambda z: z * z])
    assert float(custom.inverse(lib.numpy.sqrt)(3.0)) == 9.0


STOPS = {
    name: (kind, *row)
    for kind, table in {
        NotImplementedError: r"""
        no rule: lambda x: jnp.exp(jnp.sin(x)) raises stops at equation 1, `.*= sin .*`: 'sin' has
            no rule in inverse_rules
        no rule in a call: lib.jit(lambda x: jnp.sin(x * 2.0)) raises stops at equation 2, `.*=
            sin .*`: 'sin' has no rule
        """,
        ValueError: r"""
        used twice: lambda x: jnp.exp(x) + x raises stops at equation 2, `.*= add .*`: 2 operands
            are not known
        twice the same: lambda x: x * x raises stops at equation 1, `.*= mul .*`: 2 operands are not
            known
        not used: lambda x: W + 0.0 raises cannot find argument 1 of 1
        another shape: lambda x: x.sum() raises takes \(float64\[3\]\) to \(float64\[\]\)
        another dtype: lambda x: x > 1.0 raises takes \(float64\[3\]\) to \(bool\[3\]\)
        several results: lambda x: (x, x) raises takes \(float64\[3\]\) to \(float64\[3\],
            float64\[3\]\)
        precision was lost: lambda x: x.astype("float32").astype(float) raises stops at equation 2,
            `.*`: its operand was float32\[3\]
        """,
    }.items()
    for name, row in failures_of(globals(), table).items()
}


@pytest.mark.every
@on_both
@pytest.mark.parametrize("name", STOPS)
def test_what_cannot_be_inverted_says_where_and_why(lib, custom, name):
    error, program, message = STOPS[name]
    with pytest.raises(error, match=message):
        custom.inverse(program(lib))(X)


@pytest.mark.slow
@pytest.mark.usefixtures("default_recursion_limit")
def test_a_long_program_is_inverted_at_the_default_recursion_limit():
    def f(x):
        for _ in range(10_000):
            x = x * 1.0 + 0.001
        return x

    assert np.allclose(on_minijax.inverse(f)(15.0), 5.0)
    closed = minijax.make_jaxpr(f)(5.0)
    thinned, _ = on_minijax.dce_jaxpr(closed.jaxpr, [True])
    assert len(thinned.eqns) == 20_000
    assert on_minijax.jaxpr_cost(closed.jaxpr).flops == 20_000


# ------------------------------------------------------------------------------------------------
# Dead-code elimination


@settings(max_examples=40)
@given(programs(), st.data())
def test_dead_code_elimination_is_that_of_jax(program, data):
    used = [data.draw(st.booleans()) for _ in program.results]
    args = program.arguments()
    closed, jaxs = (lib.make_jaxpr(program.on(lib))(*args) for lib in (minijax, jax))
    jaxpr, used_inputs = on_minijax.dce_jaxpr(closed.jaxpr, used)
    wanted, wanted_inputs = pe.dce_jaxpr(jaxs.jaxpr, used)
    assert used_inputs == wanted_inputs
    assert shape_of(jaxpr) == shape_of(wanted) == shape_of(on_jax.dce_jaxpr(jaxs.jaxpr, used)[0])
    typecheck_jaxpr(jaxpr)
    whole = minijax.jit(program.on(minijax))(*args)
    kept_args = [x for x, kept in zip(args, used_inputs, strict=True) if kept]
    outs = eval_jaxpr(jaxpr, closed.consts, *kept_args)
    for got, want in zip(outs, [x for x, u in zip(whole, used, strict=True) if u], strict=True):
        assert np.allclose(got, want, program.tolerance, program.tolerance, equal_nan=True)


def shape_of(jaxpr):
    """Primitives with their operands' and results' numbers, inner programs included."""
    lines = []
    for eqn in jaxpr.eqns:
        inner = shape_of(eqn.params["jaxpr"].jaxpr) if eqn.primitive.name == "jit" else None
        lines.append((eqn.primitive.name, len(eqn.invars), len(eqn.outvars), inner))
    return lines


@on_both
def test_a_call_loses_what_it_is_not_asked_for(lib, custom):
    @lib.jit
    def both(x, y):
        return lib.numpy.sin(x), lib.numpy.cos(y)

    closed = lib.make_jaxpr(lambda x, y: both(lib.numpy.exp(x), y)[1])(1.0, 2.0)
    jaxpr, used = custom.dce_jaxpr(closed.jaxpr, [True])
    (eqn,) = jaxpr.eqns
    assert used == [False, True]
    assert [inner.primitive.name for inner in eqn.params["jaxpr"].eqns] == ["cos"]
    (out,) = eqn.primitive.bind(2.0, **eqn.params)
    assert np.allclose(out, np.cos(2.0))


@pytest.mark.parametrize(
    ("lib", "custom"), [pair for pair in BOTH if hasattr(pair[0], "checkpoint")]
)
def test_a_call_that_forgets_is_a_call(lib, custom):
    @lib.checkpoint
    def f(x, y):
        return lib.numpy.exp(x) * 2.0, lib.numpy.sin(y)

    x = custom.inverse(lambda x: f(x, 1.0)[0])(f(X, 1.0)[0])
    assert np.allclose(x, X)
    jaxpr, used = custom.dce_jaxpr(lib.make_jaxpr(f)(1.0, 1.0).jaxpr, [False, True])
    ((eqn,), (inner,)) = jaxpr.eqns, custom.opened(jaxpr.eqns[0].params["jaxpr"])[0].eqns
    assert (used, eqn.primitive.name, inner.primitive.name) == ([False, True], "remat2", "sin")
    assert custom.cost(f)(1.0, 1.0) == custom.Cost(1, 2, 48)


def test_in_jax_what_prints_is_not_dead():
    def f(x):
        jax.debug.print("{}", x)
        return x

    closed = jax.make_jaxpr(f)(1.0)
    assert len(on_jax.dce_jaxpr(closed.jaxpr, [True])[0].eqns) == len(closed.eqns) == 1


def test_a_derived_program_is_not_taken_for_the_one_it_came_from():
    closed = minijax.make_jaxpr(minijax.jit(lambda x: (x + 1.0, x + 2.0)))(1.0)
    inner = closed.eqns[0].params["jaxpr"].jaxpr
    inner.cache["executable"] = "of the whole program"
    assert on_minijax.dce_jaxpr(inner, [False, True])[0].cache == {}


# ------------------------------------------------------------------------------------------------
# Costs

A, B = np.ones((4, 5)), np.ones((5, 6))


def added_row(lib):
    axes = lib.lax.ScatterDimensionNumbers((1,), (0,), (0,))
    return lambda x: lib.lax.scatter_add(x, np.array([[1]]), np.ones((1, 5)), axes)


# name -> (function of the library, arguments, flops, transcendentals, bytes)
COSTS = {
    "one element": (lambda lib: lambda x: x * 2.0, [1.0], 1, 0, 16),
    "element-wise": (lambda lib: lambda x: x * x + 1.0, [A], 40, 0, 20 * 8 * 5),
    "float32": (lambda lib: lambda x: -x, [np.ones(3, np.float32)], 3, 0, 24),
    "comparison": (lambda lib: lambda x: x > 1.0, [A], 20, 0, 20 * 9),
    "transcendentals": (lambda lib: lib.numpy.exp, [A], 0, 20, 20 * 16),
    "matrix product": (lambda lib: lambda x, y: x @ y, [A, B], 240, 0, (20 + 30 + 24) * 8),
    "reduction": (lambda lib: lambda x: lib.lax.reduce_sum(x, (1,)), [A], 16, 0, 24 * 8),
    "maximum": (lambda lib: lambda x: lib.lax.reduce_max(x, (0, 1)), [A], 19, 0, 21 * 8),
    "movement": (lambda lib: lambda x: lib.lax.transpose(x, (1, 0)), [A], 0, 0, 40 * 8),
    "power": (lambda lib: lambda x: x**5, [A], 60, 0, 40 * 8),
    "negative power": (lambda lib: lambda x: lib.lax.integer_pow(x, -2), [A], 40, 0, 40 * 8),
    "addition in places": (added_row, [A], 5, 0, (20 + 1 + 5 + 20) * 8),
    "nothing": (lambda lib: lambda x: x, [A], 0, 0, 0),
}


@pytest.mark.every
@on_both
@pytest.mark.parametrize("name", COSTS)
def test_the_cost_of_one_operation(lib, custom, name):
    program, args, *wanted = COSTS[name]
    assert custom.cost(program(lib))(*args) == custom.Cost(*wanted)


@pytest.mark.parametrize("name", sorted(set(COSTS) - {"nothing"}))
def test_the_operations_are_those_that_xla_counts(name):
    program, args, flops, transcendentals, _ = COSTS[name]
    counted = jax.jit(program(jax)).lower(*args).compile().cost_analysis()
    assert counted.get("flops", 0) == flops
    assert counted.get("transcendentals", 0) == transcendentals


@on_both
def test_a_sort_compares_as_merging_does(lib, custom):
    assert custom.cost(lambda x: lib.lax.sort(x))(A).flops == 20 * 3


@on_both
def test_a_call_costs_what_its_program_costs(lib, custom):
    def f(x):
        return lib.numpy.exp(x @ B) + 1.0

    assert custom.cost(lib.jit(lib.jit(f)))(A) == custom.cost(f)(A)


@settings(max_examples=40)
@given(programs())
def test_a_program_costs_the_same_on_both(program):
    args = program.arguments()
    costs = [custom.cost(program.on(lib))(*args) for lib, custom in BOTH]
    assert (costs[0].flops, costs[0].transcendentals, costs[0].bytes) == (
        costs[1].flops,
        costs[1].transcendentals,
        costs[1].bytes,
    )


def scanned(lib):
    return lambda x: lib.lax.scan(lambda c, _: (lib.numpy.sin(c) * c, None), x, None, length=7)[0]


def counted_loop(lib):
    return lambda x: lib.lax.fori_loop(0, 5, lambda i, c: c * c, x)


def choice(lib):
    return lambda x: lib.lax.cond(x > 0, lambda c: c * c * c + c, lambda c: c, x)


# Besides the steps: a loop counts, and a choice compares and converts what it compared.
CONTROL = {
    "scan": (scanned, 7, 7),
    "fori_loop": (counted_loop, 5 + 5, 0),
    "cond": (choice, 3 + 2, 0),
}
with_control = [pair for pair in BOTH if hasattr(pair[0].lax, "while_loop")]


@pytest.mark.every
@pytest.mark.parametrize(("lib", "custom"), with_control)
@pytest.mark.parametrize("name", CONTROL)
def test_a_loop_costs_its_steps_and_a_choice_its_dearest_branch(lib, custom, name):
    program, *wanted = CONTROL[name]
    got = custom.cost(program(lib))(2.0)
    assert [got.flops, got.transcendentals] == wanted


@pytest.mark.parametrize(("lib", "custom"), with_control)
def test_a_while_loop_has_no_cost_beforehand(lib, custom):
    def f(x):
        return lib.lax.while_loop(lambda c: c < 3.0, lambda c: c * 2.0, x)

    with pytest.raises(NotImplementedError, match="while loop is not known before it has run"):
        custom.cost(f)(1.0)


def test_every_primitive_of_minijax_has_a_cost():
    rules = abstract_eval_rules.items()
    own = [p for p, x in rules if getattr(x, "func", x).__module__.startswith("minijax")]
    assert len(own) > 100
    known = {*on_minijax.cost_rules, *on_minijax.called_programs}
    unknown = [p.name for p in own if p.name not in known and not hasattr(p, "cost")]
    assert sorted(unknown) == ["custom_lin", "kept"]  # which nobody evaluates


def test_a_primitive_without_a_name_in_the_table_costs_what_it_was_defined_with():
    new = types.SimpleNamespace(name="new", cost="transcendental")
    assert on_minijax.cost_rule(new) is on_minijax.transcendental_cost


def test_the_names_for_jax_cost_what_the_primitives_are_defined_with():
    defined = {p.name: p.cost for p in abstract_eval_rules if hasattr(p, "cost")}
    assert len(defined) > 40
    named = {name: x for name, x in on_minijax.cost_rules.items() if name in defined}
    del named["integer_pow"]  # which has a rule of its own
    assert named == {name: on_minijax.cost_classes[defined[name]] for name in named}


def test_an_unknown_primitive_is_named():
    unknown = jax.extend.core.Primitive("unknown")
    unknown.def_abstract_eval(lambda x: x)
    with pytest.raises(NotImplementedError, match="'unknown' has no rule in cost_rules"):
        on_jax.cost(unknown.bind)(1.0)


# ------------------------------------------------------------------------------------------------
# pmap, on four devices, which are made when a process starts

ON_FOUR_DEVICES = """
import json
import numpy as np
import minijax
from minijax import lax, numpy as jnp
from minijax.costs import cost
from minijax.custom_interpreters import dce_jaxpr, inverse

x, w, m = np.array([0.2, 0.5, 0.7, 0.9]), np.array([1.0, 2.0, 3.0, 4.0]), np.eye(3, 4)

def f(x):
    return minijax.pmap(lambda a, b: jnp.exp(a) * b + jnp.sin(b))(x, w) * 2.0

def columns(x):
    def one(a, b, c):
        return a * lax.psum(b, "i") + lax.axis_index("i") + c
    return minijax.pmap(one, "i", in_axes=(1, 0, None), out_axes=1)(x, w, 3.0)

def pair(x, y):
    return minijax.pmap(lambda a, b: (a + 1.0, jnp.sin(b)))(x, y)[1]

def total(y):
    return inverse(f)(y).sum()

rows = np.stack([x, x + 1.0])
jaxpr, used = dce_jaxpr(minijax.make_jaxpr(pair)(x, w).jaxpr, [True])
found = {
    "back": inverse(f)(f(x)),
    "columns": inverse(columns)(columns(m)),
    "slopes": minijax.jit(minijax.vmap(minijax.grad(total)))(np.stack([f(r) for r in rows])),
    "used": np.array(used),
    "flops": np.array([cost(f)(x).flops, cost(f)(x).transcendentals]),
}
inner = [eqn.primitive.name for eqn in jaxpr.eqns[0].params["jaxpr"].eqns]
print(json.dumps([inner, {name: np.asarray(value).tolist() for name, value in found.items()}]))
"""


def test_pmap_is_inverted_thinned_and_counted():
    inner, found = json.loads(output("-c", ON_FOUR_DEVICES, devices=4))
    x, w = np.array([0.2, 0.5, 0.7, 0.9]), np.array([1.0, 2.0, 3.0, 4.0])
    assert np.allclose(found["back"], x)
    assert np.allclose(found["columns"], np.eye(3, 4))
    assert np.allclose(found["slopes"], 1 / (2 * w * np.exp(np.stack([x, x + 1.0]))))
    assert (inner, found["used"], found["flops"]) == (["sin"], [False, True], [12, 8])
