"""Checks of the `checkpoint` lesson, for you to read and to run: `./jaxprentice check checkpoint`.

Nothing here is compiled.
"""

import importlib

import numpy as np
from checking import exercise, names, run, typed

import minijax.numpy as jnp
from minijax import jit, jvp, make_jaxpr
from minijax.core import impl_rules, new_main
from minijax.linearize import PartialEvalTrace, unknown
from minijax.tracing import trace_to_jaxpr

MODULE = importlib.import_module("minijax.checkpoint")  # `minijax.checkpoint` is the function

SCALAR, VECTOR = typed(), typed((3,))
ROW = np.array([1.0, 10.0, 100.0])
PARAMS = {"prevent_cse": True, "policy": None, "differentiated": False}


def sines(primitive, *avals, **params):
    """A policy that keeps sines."""
    return primitive.name == "sin"


exercise("checkpoint.kept_values")


def kept(f, avals, number, policy):
    """The numbers of the equations of which results are kept for the outputs from `number` on."""
    program = trace_to_jaxpr(f, avals)
    residuals = program.jaxpr.replace(outvars=program.jaxpr.outvars[number:])
    values = MODULE.kept_values(residuals, policy)
    makers = {var: i for i, eqn in enumerate(program.eqns) for var in eqn.outvars}
    return [makers[var] for var in values]


def test_needed_results_are_kept():
    """What the policy wants is kept, in the order of the program, if a residual needs it."""

    def f(x):
        a = jnp.sin(x)  # equation 0
        b = jnp.sin(x * 2.0)  # 1 and 2
        unneeded = jnp.sin(x * 3.0)  # 3 and 4
        return [unneeded, a * b]  # 5

    assert kept(f, [SCALAR], 1, sines) == [0, 2]
    assert kept(f, [SCALAR], 0, sines) == [0, 2, 4]
    assert kept(f, [SCALAR], 2, sines) == []
    assert kept(f, [SCALAR], 0, None) == []


def test_nothing_above_a_kept_value():
    """The operands that a kept value was made from are not needed for it."""
    assert kept(lambda x: [jnp.sin(jnp.sin(x)) * 2.0], [SCALAR], 0, sines) == [1]
    assert kept(lambda x: [jnp.cos(jnp.sin(x))], [SCALAR], 0, sines) == [0]


def test_who_is_not_asked():
    """The policy is not asked about equations that the outputs, or a kept value, do not need."""
    asked = []

    def policy(primitive, *avals, **params):
        asked.append(primitive.name)
        return sines(primitive)

    kept(lambda x: [jnp.cos(x), jnp.sin(jnp.exp(x)) * 2.0], [SCALAR], 1, policy)
    assert sorted(asked) == ["mul", "sin"]


def test_an_equation_with_several_results():
    """The policy is asked once, and the needed results are kept, in the program's order."""
    asked = []

    def policy(primitive, *avals, **params):
        asked.append(primitive.name)
        return True

    inner = jit(lambda x: [jnp.sin(x), jnp.cos(x), jnp.exp(x)])
    program = trace_to_jaxpr(lambda x: inner(x)[::2], [SCALAR])
    values = MODULE.kept_values(program.jaxpr, policy)
    made = program.eqns[0].outvars
    assert ([made.index(var) for var in values], asked) == ([0, 2], ["jit"])


def test_what_the_policy_is_asked():
    """The policy is called with the primitive, the types of the operands, and the parameters."""
    asked = []

    def policy(primitive, *avals, **params):
        asked.append((primitive.name, [aval.str_short() for aval in avals], params))
        return False

    kept(lambda x: [jnp.sum(jnp.sin(x))], [VECTOR], 0, policy)
    first, second = sorted(asked, key=lambda call: call[0])
    assert (first[:2], first[2]["axes"]) == (("reduce_sum", ["float64[3]"]), (0,))
    assert second[:2] == ("sin", ["float64[3]"])


exercise("checkpoint.later")


def later(which):
    """The program for later of a small one: its residuals are sin(x) - k and x, with k known.

    It returns the first residual, too.
    """
    known = trace_to_jaxpr(lambda x, k: [jnp.sin(x) - k, x], [SCALAR, SCALAR])
    rest = trace_to_jaxpr(lambda r, x, y: [r * y, x - y, r], [SCALAR, SCALAR, SCALAR])
    variables = [var for i in which for var in known.eqns[i].outvars]
    made = MODULE.program_for_later(known, variables, rest)
    return MODULE.without_dead_code(made)[0], made


def test_everything_again():
    """Without kept values, the program takes the known inputs, then the unknown one."""
    program, made = later([])
    assert names(program) == ["sin", "sub", "mul", "sub"]
    assert run(made, np.pi / 2, 5.0, 10.0) == [-40.0, np.pi / 2 - 10.0, -4.0]


def test_kept_values_are_inputs():
    """A kept value comes after the known inputs, and is not computed again."""
    program, made = later([0])
    assert names(program) == ["sub", "mul", "sub"]
    assert run(made, 2.0, 5.0, 7.0, 10.0) == [20.0, -8.0, 2.0]
    program, made = later([0, 1])
    assert names(program) == ["mul", "sub"]
    assert run(made, 2.0, 5.0, 7.0, 3.0, 10.0) == [30.0, -8.0, 3.0]


def test_one_of_two_results_is_kept():
    """An equation does not appear again if any of its results is kept."""
    inner = jit(lambda x: [jnp.sin(x), jnp.cos(x)])
    known = trace_to_jaxpr(lambda x: [inner(x)[1]], [SCALAR])
    rest = trace_to_jaxpr(lambda r, y: [r * y], [SCALAR, SCALAR])
    made = MODULE.program_for_later(known, known.eqns[0].outvars[1:], rest)
    assert names(MODULE.without_dead_code(made)[0]) == ["mul"]


def test_constants_are_there_again():
    """The known part has a constant, which the residual is computed from."""
    known = trace_to_jaxpr(lambda x: [x * ROW], [VECTOR])
    rest = trace_to_jaxpr(lambda r, y: [r + y], [VECTOR, VECTOR])
    made = MODULE.program_for_later(known, [], rest)
    assert run(made, np.array([1.0, 2.0, 3.0]), np.ones(3)) == [[2.0, 21.0, 301.0]]


exercise("checkpoint.partial_eval")


def partly_known(monkeypatch):
    """A call of which x and k are known, and y is not, by a split that is made by hand.

    The program for now takes x, and returns the second result and a kept value. The one for later
    takes k, the kept value and y. Returned are the operands of each call for now, the two results,
    the program for later, and y.
    """
    now = trace_to_jaxpr(lambda x: [x * 10.0, x + 1.0], [SCALAR])
    rest = trace_to_jaxpr(lambda k, kept, y: [k * kept * y], [SCALAR] * 3)
    by_hand = MODULE.Split(now, [True, False], rest, [False, True, True, True], [False, True])
    operands = []

    def call_now(*args, jaxpr, **params):
        operands.append(list(args))
        return [30.0, 4.0]

    monkeypatch.setattr(MODULE, "split_and_forget", lambda *args: by_hand)
    monkeypatch.setitem(impl_rules, MODULE.remat_p, call_now)
    whole = trace_to_jaxpr(lambda x, y, k: [x, y], [SCALAR] * 3)
    with new_main(PartialEvalTrace) as main:
        trace = PartialEvalTrace(main)
        x, y, k = trace.pure(3.0), trace.new_arg(unknown(SCALAR)), trace.pure(5.0)
        results = MODULE.remat_partial_eval(trace, [x, y, k], jaxpr=whole, **PARAMS)
    return operands, results, rest, y


def test_the_call_for_now(monkeypatch):
    """There is one call for now, and it takes only the known values that it reads."""
    operands, *_ = partly_known(monkeypatch)
    assert operands == [[3.0]]


def test_results_in_order(monkeypatch):
    """The first result is left for later, and the second is known; the kept value is not one."""
    _, results, *_ = partly_known(monkeypatch)
    assert [type(x).__name__ for x in results] == ["PartialEvalTracer", "float"]
    assert (results[0].pval.is_known, results[0].aval.str_short()) == (False, "float64[]")
    assert results[1] == 30.0


def test_operands_for_later(monkeypatch):
    """The operation for later takes k, then the kept value, then y itself."""
    _, results, _, y = partly_known(monkeypatch)
    tracers = results[0].recipe.tracers_in
    assert [t.pval.const for t in tracers] == [5.0, 4.0, None]
    assert (tracers[2] is y) is True


def test_the_operation_for_later(monkeypatch):
    """Its program is the split's one for later; it is differentiated, and keeps the parameters."""
    _, results, rest, _ = partly_known(monkeypatch)
    params = {**results[0].recipe.params}
    assert str(params.pop("jaxpr")) == str(rest)
    assert params == {**PARAMS, "differentiated": True}


def test_parameters(monkeypatch):
    """The split is told which operands are known; the policy and everything else go to both calls."""
    asked, called = [], []
    now, rest = (trace_to_jaxpr(f, [SCALAR]) for f in (lambda x: [x * 2.0], lambda y: [y]))

    def by_hand(jaxpr, is_known, policy):
        asked.append((is_known, policy))
        return MODULE.Split(now, [True], rest, [False, False, True], [False])

    def call_now(*args, jaxpr, **params):
        called.append(params)
        return MODULE.remat_impl(*args, jaxpr=jaxpr, **params)

    monkeypatch.setattr(MODULE, "split_and_forget", by_hand)
    monkeypatch.setitem(impl_rules, MODULE.remat_p, call_now)
    whole = trace_to_jaxpr(lambda y, x: [y], [SCALAR] * 2)
    with new_main(PartialEvalTrace) as main:
        trace = PartialEvalTrace(main)
        y, x = trace.new_arg(unknown(SCALAR)), trace.pure(3.0)
        params = {"prevent_cse": False, "policy": sines, "differentiated": False}
        (out,) = MODULE.remat_partial_eval(trace, [y, x], jaxpr=whole, **params)
    assert asked == [((False, True), sines)]
    assert called == [params]
    assert out.recipe.params == {**params, "differentiated": True, "jaxpr": rest}


exercise("checkpoint.segments")


def parts_of(number):
    """How many functions are in each segment of a chain, and which factors they multiply by."""
    functions = [lambda x, k=k: x * (2.0 + k) for k in range(number)]
    program = make_jaxpr(MODULE.in_segments(functions))(ROW)
    assert set(names(program)) <= {"remat2"}
    parts = [eqn.params["jaxpr"].eqns for eqn in program.eqns]
    return [len(part) for part in parts], [float(e.invars[1].val) for part in parts for e in part]


def test_few_and_short_segments():
    """The number of segments and the longest add up to the least possible, and none is left out."""
    for number, least in [(1, 2), (4, 4), (5, 5), (9, 6), (10, 7), (12, 7), (100, 20)]:
        lengths, factors = parts_of(number)
        assert len(lengths) + max(lengths) == least
        assert factors == [2.0 + k for k in range(number)]


def test_values_of_a_chain():
    """The functions are applied one after the other, and without any nothing changes."""
    f = MODULE.in_segments([jnp.sin, lambda x: x + 1.0, lambda x: x * x])
    assert float(f(0.0)) == 1.0
    assert float(jvp(f, (0.0,), (1.0,))[1]) == 2.0
    assert MODULE.in_segments([])(ROW) is ROW
