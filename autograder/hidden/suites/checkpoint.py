"""Hidden tests of the lesson checkpoint: what is kept, what is computed again, and what XLA gets.

Every exercise is tested alone. Where its target calls what a sibling exercise defines, the probe
puts a right one in its place meanwhile, whose text travels with `TOOLS`. Functions to be traced
travel as text, too. Variables are told by the equation that makes them. Nothing here is compiled.
"""

import numpy as np
import pytest

from autograder.grading.suite import probe

ROW = np.array([0.5, -2.0, 3.0])
STEP = np.array([1.0, 10.0, 100.0])
GRID = np.array([[1.5, -2.0, 0.75], [4.0, 0.5, -3.0]])
STEPS = np.array([[1.0, -1.0, 2.0], [0.5, 3.0, -2.0]])
F32 = np.float32

TOOLS = """
import contextlib
import importlib
from unittest.mock import patch

import numpy as np

from minijax import core, lax
from minijax import numpy as jnp
from minijax.core import get_aval, new_main
from minijax.jaxpr import eval_jaxpr, raise_to_shaped
from minijax.jit import jit_p
from minijax.linearize import PartialEvalTrace, tracers_to_jaxpr, unknown
from minijax.tracing import trace_to_jaxpr

module = importlib.import_module("minijax.checkpoint")

pair_p = core.Primitive("pair", multiple_results=True)
core.abstract_eval_rules[pair_p] = lambda x, y, **params: [x, y]
core.impl_rules[pair_p] = lambda x, y, **params: [np.add(x, y), np.subtract(x, y)]


def pair(x, y, **params):
    '''An operation with two results: sum and difference.'''
    return pair_p.bind(x, y, **params)


@contextlib.contextmanager
def in_place():
    '''The module, with right siblings in it and in the tables of rules.'''
    scope = dict(vars(module))
    for source in SOURCES:
        exec(source, scope)
    rules = {"remat_partial_eval": core.partial_eval_rules, "remat_hlo": core.hlo_lowerings}
    with contextlib.ExitStack() as stack:
        stack.enter_context(patch.dict(vars(module), {name: scope[name] for name in NAMES}))
        for name in set(NAMES) & set(rules):
            stack.enter_context(patch.dict(rules[name], {module.remat_p: scope[name]}))
        yield module


def types(values):
    return [raise_to_shaped(get_aval(x)) for x in values]


def traced(text, values):
    '''A function as a program, for arguments like these.'''
    return trace_to_jaxpr(eval(text, globals()), types(values))


def keeping(*names):
    '''A policy that keeps the results of these primitives, and a list of what it is asked.'''
    asked = []

    def policy(primitive, *avals, **params):
        asked.append((primitive.name, [str(aval) for aval in avals], params_of(params)))
        return primitive.name in names

    return policy, asked


def params_of(params):
    '''Parameters that are plain data, sorted.'''
    plain = (bool, int, float, str, tuple, type(None))
    return [(k, v) for k, v in sorted(params.items()) if isinstance(v, plain)]


def made(program):
    '''Which result of which equation each variable is.'''
    pairs = [(v, (i, j)) for i, e in enumerate(program.eqns) for j, v in enumerate(e.outvars)]
    return dict(pairs)


def names(program):
    '''The primitives of a program, sorted: their order is not always fixed.'''
    return sorted(eqn.primitive.name for eqn in program.eqns)


def staged_calls(boxed, tracers, policy):
    '''What was left for later: operands (a value, or which unknown one), parameters, program.'''
    told = []
    for recipe in {id(t.recipe): t.recipe for t in boxed}.values():
        inner = recipe.params["jaxpr"]
        places = {id(t): i for i, t in enumerate(tracers)}
        for t in recipe.tracers_in:
            told.append(np.asarray(t.pval.const) if t.pval.is_known else places[id(t)])
        told += [recipe.primitive.name, names(inner), [str(aval) for aval in inner.in_avals]]
        told += [params_of(recipe.params), recipe.params["policy"] is policy]
    return told


def arrays(values):
    return [np.asarray(x) for x in values]
"""

SIBLINGS = {
    "call_remat": """
def call_remat(program, args, **params):
    inner = ClosedJaxpr(without_consts(program.jaxpr), [])
    operands = list(program.consts) + list(args)
    return remat_p.bind(*operands, **params, jaxpr=inner)
""",
    "kept_values": """
def kept_values(jaxpr, number, policy):
    needed, kept = {x for x in jaxpr.outvars[number:] if isinstance(x, Var)}, []
    for eqn in jaxpr.eqns[::-1] if policy is not None else []:
        results = [var for var in eqn.outvars if var in needed]
        if results and policy(eqn.primitive, *(x.aval for x in eqn.invars), **eqn.params):
            kept = results + kept
        elif results:
            needed |= {x for x in eqn.invars if isinstance(x, Var)}
    return kept
""",
    "program_for_later": """
def program_for_later(known_part, number, kept, rest):
    outvars = known_part.jaxpr.outvars[number:]
    eqns = [eqn for eqn in known_part.jaxpr.eqns if not set(eqn.outvars) & set(kept)]
    inputs = known_part.jaxpr.invars + kept
    first = known_part.jaxpr.replace(invars=inputs, eqns=eqns, outvars=outvars)

    def f(*args):
        before, unknown = args[: len(inputs)], args[len(inputs) :]
        middle = eval_jaxpr(first, known_part.consts, *before)
        return eval_jaxpr(rest.jaxpr, rest.consts, *middle, *unknown)

    return trace_to_jaxpr(f, [v.aval for v in inputs] + rest.in_avals[len(outvars) :])
""",
    "remat_partial_eval": """
def remat_partial_eval(trace, tracers, *, jaxpr, policy, **params):
    known = [t for t in tracers if t.pval.is_known]
    others = [t for t in tracers if not t.pval.is_known]
    split = split_and_forget(jaxpr, tuple(t.pval.is_known for t in tracers), policy)
    values = chosen([t.pval.const for t in known], split.now_takes)
    outs = list(call_remat(split.now, values, policy=policy, **params))
    ready = [outs.pop(0) for flag in split.out_known if flag]
    operands = [trace.pure(t.pval.const) for t in known] + [trace.pure(x) for x in outs] + others
    staged = {**params, "policy": policy, "jaxpr": split.later, "differentiated": True}
    waiting = trace.stage_out(remat_p, chosen(operands, split.later_takes), staged)
    return [(ready if flag else waiting).pop(0) for flag in split.out_known]
""",
    "remat_hlo": """
def remat_hlo(emitter, avals, out_avals, args, *, jaxpr, prevent_cse, differentiated, policy):
    again = differentiated and prevent_cse and len(args) > 0
    names = emit_barrier(emitter, avals, args) if again else args
    return lower_body(emitter, jaxpr.jaxpr, names, jaxpr.consts)
""",
}


def right(*names):
    """The text that a probe executes: the tools, and right siblings for `in_place`."""
    return f"{TOOLS}\nSOURCES = {[SIBLINGS[name] for name in names]!r}\nNAMES = {names!r}\n"


PLAIN = right()
SPLIT = right("call_remat", "kept_values", "program_for_later")
WHOLE = right("call_remat", "kept_values", "program_for_later", "remat_partial_eval")

# call_remat ---------------------------------------------------------------------------------------

CONSTANTS = "lambda x: [x * np.array([2.0, 3.0, 5.0]) - np.array([7.0, 1.0, 4.0]), -x]"


@probe
def called(mj, tools, text, args):
    """The results of a program that is called."""
    scope = {}
    exec(tools, scope)
    params = {"prevent_cse": True, "policy": None, "differentiated": False}
    outs = scope["module"].call_remat(scope["traced"](text, args), args, **params)
    return scope["arrays"](outs), len(outs)


@probe
def bound(mj, tools, text, args, prevent_cse, differentiated):
    """The equations of a traced call: operands, parameters, and the program inside."""
    scope = {}
    exec(tools, scope)
    policy, _ = scope["keeping"]("sin")
    params = {"prevent_cse": prevent_cse, "policy": policy, "differentiated": differentiated}
    program = scope["traced"](text, args)

    def call(*xs):
        return scope["module"].call_remat(program, xs, **params)

    outer = scope["trace_to_jaxpr"](call, scope["types"](args))
    places = {v: ("constant", i) for i, v in enumerate(outer.jaxpr.constvars)}
    places |= {v: ("input", i) for i, v in enumerate(outer.jaxpr.invars)}
    told = []
    for eqn in outer.eqns:
        inner = eqn.params.get("jaxpr")
        told.append(
            [
                eqn.primitive.name,
                [places.get(atom) for atom in eqn.invars],
                scope["params_of"](eqn.params),
                eqn.params.get("policy") is policy,
                inner and [len(inner.consts), len(inner.in_avals), scope["names"](inner)],
            ]
        )
    return told, scope["arrays"](outer.consts)


@probe
def captured(mj, tools, x, w, t, how):
    """A checkpointed function that uses a value which is transformed: values and operations."""
    scope = {}
    exec(tools, scope)

    def f(w):
        return mj.checkpoint(lambda x: mj.numpy.sin(x) * w - w)(x)

    def g(w):
        return mj.jvp(f, (w,), (t,)) if how == "jvp" else mj.vmap(f)(w)

    return g(w), scope["names"](mj.make_jaxpr(g)(w))


@pytest.mark.exercise("checkpoint.call")
def test_call_results(student):
    """A call gives the results of the program for the arguments, as a list."""
    student.agrees(called, PLAIN, "lambda x, y: [x - y, x * y]", [ROW, STEP])
    student.agrees(called, PLAIN, "lambda x: [jnp.sum(x, axis=0)]", [GRID.astype(F32)])
    student.agrees(called, PLAIN, "lambda x, y: []", [1.0, 2.0])


@pytest.mark.exercise("checkpoint.call")
def test_call_results_with_constants(student):
    """The same for programs with constants."""
    student.agrees(called, PLAIN, CONSTANTS, [ROW])
    student.agrees(called, PLAIN, "lambda x, y: [y - np.array([1.0, 2.0, 4.0]), x]", [ROW, STEP])


@pytest.mark.exercise("checkpoint.call")
def test_call_operands(student):
    """One operation is bound, for which constants are operands in front of the arguments."""
    student.agrees(bound, PLAIN, CONSTANTS, [ROW], True, False)
    student.agrees(bound, PLAIN, "lambda x, y: [y - np.array([1.0, 2.0, 4.0])]", [ROW, STEP], 1, 0)


@pytest.mark.exercise("checkpoint.call")
def test_call_params(student):
    """The other parameters arrive as they were given."""
    student.agrees(bound, PLAIN, "lambda x, y: [jnp.sin(x) - y]", [ROW, STEP], False, True)
    student.agrees(bound, PLAIN, "lambda x, y: [y, x * y]", [2.0, 3.0], True, True)


@pytest.mark.exercise("checkpoint.call")
def test_call_captured_tangents(student):
    """A value from outside the function is differentiated, and the call stays one operation."""
    student.agrees(captured, PLAIN, ROW, STEP, GRID[0], "jvp")
    student.agrees(captured, PLAIN, 2.0, ROW, STEP, "jvp")


@pytest.mark.exercise("checkpoint.call")
def test_call_captured_batches(student):
    """The same for values that are batched."""
    student.agrees(captured, PLAIN, ROW, GRID, GRID, "vmap")
    student.agrees(captured, PLAIN, 2.0, ROW, STEP, "vmap")


# kept_values --------------------------------------------------------------------------------------


@probe
def kept(mj, tools, text, args, number, policy_names):
    """Which results are kept, and what the policy was asked."""
    scope = {}
    exec(tools, scope)
    program = scope["traced"](text, args)
    policy, asked = scope["keeping"](*policy_names)
    found = scope["module"].kept_values(program.jaxpr, number, policy)
    return [scope["made"](program).get(var) for var in found], asked


@probe
def kept_without_policy(mj, tools, text, args, number):
    """The same without a policy; how many results the policy that keeps all would keep."""
    scope = {}
    exec(tools, scope)
    program = scope["traced"](text, args)
    every = scope["module"].kept_values(program.jaxpr, number, lambda *avals, **params: True)
    return len(every), len(scope["module"].kept_values(program.jaxpr, number, None))


MIXED = """lambda x, y: (lambda a, b: [jnp.sin(y), jnp.cos(a) * b, jnp.cos(b) - y])(
    jnp.sin(x), jnp.sin(x * y))"""
NESTED = "lambda x: [jnp.sin(jnp.cos(jnp.sin(jnp.exp(x)))), jnp.exp(jnp.exp(x))]"
FORKED = "lambda x: (lambda a: [jnp.cos(jnp.sin(a)) + jnp.exp(a)])(jnp.sin(x) * x)"
PAIRS = "lambda x, y: (lambda a, b: [jnp.sin(x), b * a, pair(b, x)[0]])(*pair(x, y, k=3))"


@pytest.mark.exercise("checkpoint.kept_values")
def test_kept_in_order(student):
    """What the policy wants of what is needed is kept, in the order of the program."""
    student.agrees(kept, PLAIN, MIXED, [2.0, 3.0], 1, ["sin"])
    student.agrees(kept, PLAIN, MIXED, [ROW, STEP], 1, ["cos", "mul"])
    student.agrees(kept, PLAIN, FORKED, [ROW], 0, ["exp", "sin"])


@pytest.mark.exercise("checkpoint.kept_values")
def test_kept_residuals_alone(student):
    """What only the outputs in front of the residuals need is not kept."""
    student.agrees(kept, PLAIN, MIXED, [2.0, 3.0], 2, ["sin"])
    student.agrees(kept, PLAIN, MIXED, [2.0, 3.0], 3, ["sin", "cos"])
    student.agrees(kept, PLAIN, "lambda x: [jnp.sin(x), jnp.cos(x)]", [ROW], 1, ["sin", "cos"])


@pytest.mark.exercise("checkpoint.kept_values")
def test_kept_residuals_after_outputs(student):
    """The same where an output and a residual are made of one value."""
    text = "lambda x: (lambda a: [jnp.exp(jnp.sin(a)), jnp.exp(a), a * x])(jnp.sin(x))"
    student.agrees(kept, PLAIN, text, [ROW], 2, ["exp", "sin"])
    student.agrees(kept, PLAIN, text, [ROW], 1, ["exp"])


@pytest.mark.exercise("checkpoint.kept_values")
def test_kept_stops(student):
    """What a kept value was made from is not needed for it, but perhaps for another one."""
    student.agrees(kept, PLAIN, NESTED, [ROW], 0, ["sin"])
    student.agrees(kept, PLAIN, NESTED, [ROW], 0, ["exp", "cos"])
    student.agrees(kept, PLAIN, FORKED, [2.0], 0, ["sin"])


@pytest.mark.exercise("checkpoint.kept_values")
def test_kept_stops_at_once(student):
    """If the residuals themselves are kept, nobody asks about other equations."""
    student.agrees(kept, PLAIN, NESTED, [2.0], 1, ["exp"])
    student.agrees(kept, PLAIN, "lambda x: [jnp.sin(jnp.sin(jnp.sin(x)))]", [ROW], 0, ["sin"])


@pytest.mark.exercise("checkpoint.kept_values")
def test_kept_asks(student):
    """The policy is told primitive, types of the operands and parameters, once an equation."""
    student.agrees(kept, PLAIN, "lambda x, y: [jnp.sum(x, axis=0) * y]", [GRID, STEP], 0, [])
    student.agrees(kept, PLAIN, MIXED, [2.0, ROW.astype(F32)], 1, [])
    twice = "lambda x: (lambda a: [jnp.exp(a), a * a, jnp.cos(a)])(jnp.sin(x))"
    student.agrees(kept, PLAIN, twice, [ROW], 0, ["sin"])


@pytest.mark.exercise("checkpoint.kept_values")
def test_kept_of_several_results(student):
    """Of an equation with several results those that are needed are kept, in their order."""
    student.agrees(kept, PLAIN, PAIRS, [2.0, 3.0], 1, ["pair"])
    student.agrees(kept, PLAIN, PAIRS, [ROW, STEP], 2, ["pair"])
    student.agrees(kept, PLAIN, "lambda x, y: [*pair(x, y), x]", [ROW, STEP], 0, ["pair"])
    student.agrees(kept, PLAIN, "lambda x, y: pair(*pair(y, x))[1:]", [2.0, 3.0], 0, ["mul"])


@pytest.mark.exercise("checkpoint.kept_values")
def test_kept_no_inputs(student):
    """Inputs, constants and literals are never kept, not even as residuals."""
    text = "lambda x, y: [x, jnp.sin(y) * np.array([1.0, 2.0, 4.0]), 3.0, y]"
    student.agrees(kept, PLAIN, text, [ROW, STEP], 0, ["sin", "mul"])
    student.agrees(kept, PLAIN, text, [ROW, STEP], 2, ["sin"])
    student.agrees(kept, PLAIN, text, [ROW, STEP], 0, ["sin"])


@pytest.mark.exercise("checkpoint.kept_values")
def test_kept_without_policy(student):
    """Without a policy nothing is kept."""
    student.agrees(kept_without_policy, PLAIN, MIXED, [2.0, 3.0], 1)
    student.agrees(kept_without_policy, PLAIN, NESTED, [ROW], 0)


# program_for_later --------------------------------------------------------------------------------


@probe
def later(mj, tools, first, args, number, which, second, unknowns):
    """The program for later: types, operations without dead code, results; no operation is dead.

    `args` and `unknowns` are the known and the unknown inputs. The kept values come from a run of
    the known part, each a hundred more, to see where they go.
    """
    scope = {}
    exec(tools, scope)
    known_part = scope["traced"](first, args)
    jaxpr = known_part.jaxpr
    variables = [jaxpr.eqns[i].outvars[j] for i, j in which]
    run = jaxpr.replace(outvars=[*variables, *jaxpr.outvars[number:]])
    values = scope["eval_jaxpr"](run, known_part.consts, *args)
    kept, residuals = values[: len(which)], values[len(which) :]
    rest = scope["traced"](second, [*residuals, *unknowns])
    program = scope["module"].program_for_later(known_part, number, variables, rest)
    operands = [*args, *(x + 100.0 for x in kept), *unknowns]
    outs = scope["eval_jaxpr"](program.jaxpr, program.consts, *operands)
    smaller, takes = scope["module"].without_dead_code(program)
    return (
        [[str(aval) for aval in side] for side in (program.in_avals, program.out_avals)],
        scope["names"](smaller),
        takes,
        scope["arrays"](outs),
    )


# Known outputs: x y. Residuals: sin(x), exp(sin(x)) - y, y.
KNOWN = "lambda x, y: (lambda a: [x * y, a, jnp.exp(a) - y, y])(jnp.sin(x))"
REST = "lambda a, b, y, t: [a * t - b, y * t]"


@pytest.mark.exercise("checkpoint.later")
def test_later_computes_again(student):
    """Without kept values all residuals are computed again, from the known inputs."""
    student.agrees(later, PLAIN, KNOWN, [2.0, 3.0], 1, [], REST, [10.0])
    student.agrees(later, PLAIN, KNOWN, [ROW, STEP], 1, [], REST, [STEP])


@pytest.mark.exercise("checkpoint.later")
def test_later_takes_kept_values(student):
    """A kept value is an input behind the known ones, and is not computed."""
    student.agrees(later, PLAIN, KNOWN, [2.0, 3.0], 1, [(0, 0)], REST, [10.0])
    student.agrees(later, PLAIN, KNOWN, [ROW, STEP], 1, [(2, 0)], REST, [ROW])
    student.agrees(later, PLAIN, KNOWN, [ROW, STEP], 1, [(3, 0)], REST, [STEP])


@pytest.mark.exercise("checkpoint.later")
def test_later_takes_several(student):
    """Several kept values come in the order in which they are listed."""
    student.agrees(later, PLAIN, KNOWN, [2.0, 3.0], 1, [(0, 0), (2, 0)], REST, [10.0])
    student.agrees(later, PLAIN, KNOWN, [ROW, STEP], 1, [(3, 0), (0, 0)], REST, [STEP])


@pytest.mark.exercise("checkpoint.later")
def test_later_several_unknowns(student):
    """Unknown inputs come last, in their order."""
    rest = "lambda a, b, y, s, t: [s - t * a, b, y * t]"
    student.agrees(later, PLAIN, KNOWN, [2.0, 3.0], 1, [], rest, [10.0, 7.0])
    student.agrees(later, PLAIN, KNOWN, [ROW, STEP], 1, [(2, 0)], rest, [GRID[0], GRID[1]])
    student.agrees(later, PLAIN, KNOWN, [2.0, 3.0], 1, [(0, 0)], "lambda a, b, y: [a - y]", [])


@pytest.mark.exercise("checkpoint.later")
def test_later_without_outputs(student):
    """All outputs of the known part may be residuals, or none."""
    rest = "lambda p, a, b, y, t: [p * t, a - b * y]"
    student.agrees(later, PLAIN, KNOWN, [2.0, 3.0], 0, [], rest, [10.0])
    student.agrees(later, PLAIN, KNOWN, [ROW, STEP], 0, [(1, 0)], rest, [ROW])
    student.agrees(later, PLAIN, KNOWN, [ROW, STEP], 4, [], "lambda t: [t * t, t]", [ROW])


@pytest.mark.exercise("checkpoint.later")
def test_later_constants(student):
    """The known part may have constants, also as residuals, and equations with several results."""
    text = "lambda x: [x, np.array([1.0, 2.0, 4.0]) * x, 3.0, np.array([7.0, 8.0, 9.0])]"
    student.agrees(later, PLAIN, text, [ROW], 1, [], "lambda a, b, c, t: [a * t - b, c]", [STEP])
    text = "lambda x, y: (lambda a, b: [a, jnp.sin(b), b])(*pair(x, y))"
    student.agrees(later, PLAIN, text, [2.0, 3.0], 1, [(0, 1)], "lambda a, b, t: [a * t, b]", [5.0])
    student.agrees(later, PLAIN, text, [2.0, 3.0], 1, [(1, 0)], "lambda a, b, t: [a * t, b]", [5.0])


# remat_partial_eval -------------------------------------------------------------------------------


@probe
def split_call(mj, tools, text, values, is_known, policy_names, flags, tangents):
    """What the rule makes of a call: results, the call for now, the call for later, its results."""
    scope = {}
    exec(tools, scope)
    program = scope["traced"](text, values)
    policy = scope["keeping"](*policy_names)[0] if policy_names else None
    params = dict(zip(["prevent_cse", "differentiated"], flags, strict=True))
    calls = []
    with scope["in_place"]() as module, scope["new_main"](scope["PartialEvalTrace"]) as main:
        call_remat = module.call_remat

        def watched(program, args, **params):
            calls.append([scope["names"](program), scope["arrays"](args)])
            calls[-1] += [scope["params_of"](params), params.get("policy") is policy]
            return call_remat(program, args, **params)

        trace = scope["PartialEvalTrace"](main)
        avals = program.in_avals
        tracers = [
            trace.pure(x) if flag else trace.new_arg(scope["unknown"](aval))
            for x, aval, flag in zip(values, avals, is_known, strict=True)
        ]
        with scope["patch"].object(module, "call_remat", watched):
            outs = module.remat_partial_eval(trace, tracers, jaxpr=program, policy=policy, **params)
        boxed = [out for out in outs if isinstance(out, scope["core"].Tracer)]
        told = [None if isinstance(x, scope["core"].Tracer) else np.asarray(x) for x in outs]
        staged = scope["staged_calls"](boxed, tracers, policy)
        unknowns = [t for t in tracers if not t.pval.is_known]
        rest = scope["tracers_to_jaxpr"](unknowns, boxed)
        results = scope["eval_jaxpr"](rest.jaxpr, rest.consts, *tangents)
        return told, calls, staged, scope["arrays"](results), type(outs).__name__


@probe
def derivative(mj, tools, text, args, policy_names, how):
    """A derivative of a checkpointed function; the operations of its linear program."""
    scope = {}
    exec(tools, scope)
    policy = scope["keeping"](*policy_names)[0] if policy_names else None
    with scope["in_place"]():
        f = mj.checkpoint(eval(text, scope), policy=policy)
        if how == "grad":
            return mj.grad(f)(*args)
        value, f_lin = mj.linearize(f, *args)
        (call,) = [e for e in mj.make_jaxpr(f_lin)(*args).eqns if e.primitive.name == "remat2"]
        return value, f_lin(*args), scope["names"](call.params["jaxpr"])


LINE = "lambda x, y: [jnp.sin(jnp.sin(x)) * y, jnp.exp(x)]"
SEVERAL = """lambda x, t, y, s: [jnp.sum(y), jnp.cos(jnp.exp(y)) * t - s, x - y,
    jnp.cos(jnp.sin(x)) * s]"""
FIRST = (True, False)


@pytest.mark.exercise("checkpoint.partial_eval")
def test_split_forgets(student):
    """The known inputs cross the line, and the residuals are computed again later."""
    student.agrees(split_call, SPLIT, LINE, [2.0, 3.0], [True, False], [], FIRST, [10.0])
    student.agrees(split_call, SPLIT, LINE, [ROW, STEP], [True, False], [], FIRST, [STEP])


@pytest.mark.exercise("checkpoint.partial_eval")
def test_split_order(student):
    """Operands may stand among one another; known results are values, others wait."""
    values, flags = [ROW, 2.0, STEP, 3.0], [True, False, True, False]
    student.agrees(split_call, SPLIT, SEVERAL, values, flags, [], FIRST, [5.0, 7.0])
    flags = [False, False, True, False]
    student.agrees(split_call, SPLIT, SEVERAL, values, flags, [], FIRST, [GRID[0], 5.0, 7.0])
    student.agrees(split_call, SPLIT, SEVERAL, values, [True, True, True, False], [], FIRST, [7.0])


@pytest.mark.exercise("checkpoint.partial_eval")
def test_split_policy(student):
    """What the policy keeps crosses the line too, and is not computed again."""
    values, flags = [ROW, 2.0, STEP / 100, 3.0], [True, False, True, False]
    student.agrees(split_call, SPLIT, SEVERAL, values, flags, ["exp"], FIRST, [5.0, 7.0])
    student.agrees(split_call, SPLIT, SEVERAL, values, flags, ["cos"], FIRST, [5.0, 7.0])
    student.agrees(split_call, SPLIT, LINE, [2.0, 3.0], [True, False], ["sin"], FIRST, [10.0])


@pytest.mark.exercise("checkpoint.partial_eval")
def test_split_marks(student):
    """The call for later is marked; the other parameters are handed on to both calls."""
    student.agrees(split_call, SPLIT, LINE, [2.0, 3.0], [True, False], [], (False, False), [10.0])
    student.agrees(split_call, SPLIT, LINE, [ROW, STEP], [True, False], [], (True, True), [STEP])
    student.agrees(split_call, SPLIT, LINE, [2.0, 3.0], [True, False], ["mul"], FIRST, [10.0])


@pytest.mark.exercise("checkpoint.partial_eval")
def test_split_one_side(student):
    """All operands may be unknown, and all results may be known."""
    student.agrees(split_call, SPLIT, LINE, [2.0, 3.0], [False, False], [], FIRST, [0.5, 7.0])
    student.agrees(split_call, SPLIT, LINE, [ROW, STEP], [False, True], [], FIRST, [STEP / 100])
    text = "lambda x, t: [jnp.sin(x), x * 2.0]"
    student.agrees(split_call, SPLIT, text, [ROW, 3.0], [True, False], [], FIRST, [5.0])


@pytest.mark.exercise("checkpoint.partial_eval")
def test_split_linearized(student):
    """A function can be linearized, and its slopes are computed in the linear program."""
    text = "lambda x: jnp.sin(jnp.cos(x) * x)"
    student.agrees(derivative, SPLIT, text, [ROW], [], "linearize")
    student.agrees(derivative, SPLIT, text, [2.0], ["mul"], "linearize")


@pytest.mark.exercise("checkpoint.partial_eval")
def test_split_differentiated(student):
    """The gradient of a checkpointed function is right, with a policy and without."""
    text = "lambda x: jnp.sum(jnp.sin(jnp.exp(x) * x))"
    student.agrees(derivative, SPLIT, text, [ROW], [], "grad")
    student.agrees(derivative, SPLIT, text, [GRID], ["exp"], "grad")
    student.agrees(derivative, SPLIT, text, [2.0], [], "grad")


# remat_hlo ----------------------------------------------------------------------------------------


@probe
def emitted(mj, tools, text, args, prevent_cse, differentiated):
    """The lines of a call, the names of its results, and how many arrays are captured."""
    from minijax.jit import Emitter

    scope = {}
    exec(tools, scope)
    program, emitter = scope["traced"](text, args), Emitter()
    emitter.emit("something before")
    outs = scope["module"].remat_hlo(
        emitter,
        program.in_avals,
        program.out_avals,
        [f"%arg{i}" for i in range(len(args))],
        jaxpr=program,
        prevent_cse=prevent_cse,
        differentiated=differentiated,
        policy=None,
    )
    return emitter.lines, list(outs), len(emitter.captured)


@probe
def gradient_text(mj, tools, text, x, options):
    """The text of a compiled program: value and gradient of a checkpointed function."""
    scope = {}
    exec(tools, scope)
    with scope["in_place"]():
        f = mj.checkpoint(eval(text, scope), **options)
        lowered = mj.jit(mj.value_and_grad(f)).lower(x).as_text()
    return [line.split(":")[0] for line in lowered.splitlines()]


@pytest.mark.exercise("checkpoint.barrier")
def test_barrier(student):
    """The second time all operands go through one barrier, and the equations use its results."""
    student.agrees(emitted, PLAIN, "lambda x: [jnp.sin(x)]", [2.0], True, True)
    student.agrees(emitted, PLAIN, "lambda x, y: [x - y, y]", [ROW, STEP], True, True)
    student.agrees(emitted, PLAIN, "lambda x, y, z: [z - x]", [2.0, ROW, GRID[0]], True, True)


@pytest.mark.exercise("checkpoint.barrier")
def test_no_barrier_the_first_time(student):
    """There is no barrier where something is computed for the first time."""
    student.agrees(emitted, PLAIN, "lambda x: [jnp.sin(x)]", [2.0], True, False)
    student.agrees(emitted, PLAIN, "lambda x, y: [x - y, y]", [ROW, STEP], False, False)


@pytest.mark.exercise("checkpoint.barrier")
def test_no_barrier_at_first_for_arrays(student):
    """The same for operands of other types."""
    student.agrees(emitted, PLAIN, "lambda x: [x * x]", [GRID.astype(F32)], True, False)


@pytest.mark.exercise("checkpoint.barrier")
def test_no_barrier_where_merging_is_allowed(student):
    """There is no barrier where the compiler may merge the two."""
    student.agrees(emitted, PLAIN, "lambda x: [jnp.sin(x)]", [2.0], False, True)
    student.agrees(emitted, PLAIN, "lambda x, y: [x - y, y]", [GRID, STEP], False, True)


@pytest.mark.exercise("checkpoint.barrier")
def test_no_barrier_where_arrays_may_be_merged(student):
    """The same for operands of other types."""
    student.agrees(emitted, PLAIN, "lambda x: [x * x]", [GRID.astype(F32)], False, True)


@pytest.mark.exercise("checkpoint.barrier")
def test_barrier_without_operands(student):
    """A program without operands has no barrier; constants and literals stay outside of it."""
    student.agrees(emitted, PLAIN, "lambda: [2.0]", [], True, True)
    student.agrees(emitted, PLAIN, "lambda x: [x - np.array([1.0, 2.0, 4.0])]", [ROW], True, True)
    student.agrees(emitted, PLAIN, "lambda x: [x * 2.0, 3.0]", [2.0], True, True)


@pytest.mark.exercise("checkpoint.barrier")
def test_barrier_in_a_gradient(student):
    """In a compiled gradient the barrier stands between the first run and the second."""
    text = "lambda x: jnp.sum(jnp.sin(jnp.sin(x)))"
    student.agrees(gradient_text, WHOLE, text, ROW, {})
    student.agrees(gradient_text, WHOLE, text, 2.0, {"prevent_cse": False})


# Random programs ----------------------------------------------------------------------------------


@probe
def both_derivatives(mj, f, xs, ts):
    """A checkpointed program's values, and its derivative in a direction."""
    return mj.checkpoint(f)(*xs), mj.jvp(mj.checkpoint(f), xs, ts)


@probe
def pulled_back(mj, f, xs, cts):
    """What reverse mode makes of a checkpointed program."""
    return mj.vjp(mj.checkpoint(f), *xs)[1](cts)


@probe
def pulled_back_with_policy(mj, f, xs, cts):
    """The same, if everything may be kept."""
    policy = mj.checkpoint_policies.everything_saveable
    return mj.vjp(mj.checkpoint(f, policy=policy), *xs)[1](cts)


@pytest.mark.exercise("checkpoint.call")
def test_random_programs_are_called(student):
    """A random program with a checkpoint gives its values, and its derivative in a direction."""
    student.agrees_on_programs(both_derivatives, SIBLINGS)


@pytest.mark.exercise("checkpoint.partial_eval")
def test_random_programs_backwards(student):
    """A random program with a checkpoint has the right derivatives in reverse mode."""
    student.agrees_on_programs(pulled_back, SIBLINGS)


@pytest.mark.exercise("checkpoint.later")
def test_random_programs_later(student):
    """A random program of which much is kept has the right derivatives in reverse mode."""
    student.agrees_on_programs(pulled_back_with_policy, SIBLINGS)
