"""Hidden tests of the `custom` lesson: inverses, dead code, and costs of programs.

Every exercise is tested alone. If its target calls what a sibling exercise defines, the probe puts
a right one there meanwhile. Functions to be traced travel as text. Nothing here is
compiled: calls of `jit` are only ever traced.
"""

from typing import TYPE_CHECKING

import numpy as np
import pytest

from autograder.grading.in_worker import in_place, one_program
from autograder.grading.suite import exercise, probe, siblings

if TYPE_CHECKING:  # imported by each probe that reads them
    import builtins
    import re
    from unittest.mock import patch

    from minijax import custom_interpreters as custom
    from minijax.core import Primitive, abstract_eval_rules, get_aval
    from minijax.costs import cost
    from minijax.custom_interpreters import (
        dce_jaxpr,
        eval_jaxpr,
        inverse,
        inverse_chain,
        inverse_jaxpr,
        inverse_rules,
    )
    from minijax.jaxpr import JaxprEqn, kept, typecheck_jaxpr

F32 = np.float32

ROW = np.array([0.2, 0.7, 1.3])
OTHER = np.array([2.0, -1.0, 0.5])
GRID = np.array([[1.5, -2.0, 0.75], [4.0, 0.5, -3.0]])

# Functions with a derivative of their own, as text.
OWN_JVP = """(lambda f: (f.defjvp(lambda xs, ts: (f(*xs), ts[0])), f)[1])(
    mj.custom_jvp(lambda x: lax.tanh(x) * 2.0))"""


def written(mj, text):
    """The function that travels as a text."""
    return eval(text, {**vars(mj), "np": np, "jnp": mj.numpy, "mj": mj})


def outcome(name, function, *args):
    """What a function gives, under this name, or its error, and the equation that that names."""
    try:
        return {"error": "nothing", name: function(*args)}
    except (ValueError, NotImplementedError) as error:
        number = re.search(r"stops at equation (\d+)", str(error))
        place = number and number[1]
        return {"error": type(error).__name__, "the equation that the error names": place}


exercise("custom.inverse_chain")


@probe(uses=[written])
def chain(mj, program, y, how="", rules=()):
    """The inverse of a chain, at y; `how` names transformations, from the inside to the outside."""
    more = {name: [written(mj, rule)] for name, rule in rules}
    back = inverse_chain(written(mj, program))
    for name in how.split():
        back = getattr(mj, name)(back)
    with patch.dict(inverse_rules, more):
        out = back(y)
    if how.endswith("make_jaxpr"):
        return {"the text of the program": str(out)}
    return {"value": out, "the value is weakly typed": get_aval(out).weak_type}


@probe(uses=[written, outcome])
def chain_stops(mj, program, y):
    """Which error, and at which equation."""
    return outcome("value", inverse_chain(written(mj, program)), y)


@probe(uses=[written])
def chain_runs(mj, program, values):
    """How often the function has run: after it was made, after each value, and in a trace."""
    f, runs = written(mj, program), []
    back = inverse_chain(lambda x: runs.append(x) or f(x))
    counts, outs = [len(runs)], []
    for value in values:
        outs.append(back(value))
        counts.append(len(runs))
    mj.make_jaxpr(back)(values[0])
    counts.append(len(runs))
    return {"the values": outs, "calls of f, so far after each step": counts}


NEGATIONS = "lambda x: [x := lax.neg(x) for _ in range({})][-1]"
LONG = "lambda x: lax.exp(lax.tanh(lax.neg(lax.log1p(x))))"


@pytest.mark.meets("float32", "sizes")
@pytest.mark.keeps("one thing after another")
def test_chain_of_one(student):
    """One operation is undone by its rule, and a function of none is its own inverse."""
    student.agrees(chain, "lax.exp", 3.0)
    student.agrees(chain, "lax.log", 0.5)
    student.agrees(chain, "lax.neg", GRID)
    student.agrees(chain, "lax.tanh", ROW / 2)
    student.agrees(chain, "lax.sqrt", ROW.astype(F32))
    student.agrees(chain, "lax.logistic", np.array([0.1, 0.5, 0.7]))
    student.agrees(chain, "lambda x: x", 3.0)
    student.agrees(chain, "lambda x: x", ROW)


@pytest.mark.meets("order", "length")
@pytest.mark.keeps("one thing after another")
def test_chain_goes_backwards(student):
    """The last operation is undone first, however long the chain is."""
    student.agrees(chain, "lambda x: lax.neg(lax.exp(x))", -3.0)
    student.agrees(chain, "lambda x: lax.exp(lax.neg(x))", ROW)
    student.agrees(chain, LONG, np.array([0.5, 0.7, 0.9]))
    student.agrees(chain, LONG, np.array([0.5, 0.7, 0.9]), "make_jaxpr")
    student.agrees(chain, NEGATIONS.format(1501), ROW)


def test_chain_params(student):
    """Rules are looked up at each call, by name, and get the params of the equation."""
    cube_root = ("integer_pow", "lambda z, *, y: lax.exp(lax.log(z) / y)")
    student.agrees(chain, "lambda x: lax.integer_pow(x, 3)", 8.0, "", [cube_root])
    student.agrees(chain, "lambda x: lax.exp(lax.integer_pow(x, 5))", ROW + 1.0, "", [cube_root])
    flip = ("rev", "lambda z, *, dimensions: lax.rev(z, dimensions)")
    student.agrees(chain, "lambda x: lax.exp(lax.rev(x, (1,)))", abs(GRID), "", [flip])


@probe
def chain_of_toys(mj, params, error, y):
    """The inverse of a made-up operation, whose rule notes its parameters, or raises an error."""
    toy, noted = Primitive("toy"), []

    def rule(z, **params):
        noted.append(params)
        if error:
            raise getattr(builtins, error)("of the rule")
        return -z

    with (
        patch.dict(abstract_eval_rules, {toy: lambda x, **params: x}),
        patch.dict(inverse_rules, {"toy": [rule]}),
    ):
        try:
            out = inverse_chain(lambda x: toy.bind(x, **params))(y)
        except Exception as found:
            own = found.args == ("of the rule",)
            return {"error": type(found).__name__, "the rule's own error comes out": own}
    return {"error": "nothing", "the value": out, "the params that the rule gets": noted}


BUILTIN = "KeyError", "TypeError", "ValueError", "NotImplementedError", "IndexError"
ERRORS = (*BUILTIN, "StopIteration", "ZeroDivisionError", "AttributeError")


BY_TYPE = """lambda x: (lambda y: lax.neg(y) if x.dtype == np.float32 else y)(
    lax.exp(x) if x.shape else lax.neg(x))"""


@pytest.mark.meets("float32", "again", "caching")
@pytest.mark.keeps("traces `f` once")
def test_chain_of_each_type(student):
    """Each call traces the function once, for the type of its own result, and inverts that."""
    student.agrees(chain_runs, BY_TYPE, [2.0, ROW, F32(2.0), -ROW.astype(F32), 3.0])
    student.agrees(chain_runs, "lax.exp", [3.0, 2.0])
    student.agrees(chain_runs, "lax.exp", [ROW, 2.0, ROW])
    student.agrees(chain_runs, "lambda x: x", [3.0, ROW])


@pytest.mark.meets("keys", "exception", "none")
@pytest.mark.keeps("Errors of rules")
def test_chain_of_rules(student):
    """A rule gets the parameters that say something; an error that it raises is the caller's."""
    params = {"by": 2.0, "accuracy": None, "axis": 0, "exact": False}
    student.agrees(chain_of_toys, params, None, ROW)
    for error in ERRORS:
        student.agrees(chain_of_toys, {}, error, 2.0)


@pytest.mark.meets("nested")
def test_chain_is_transformed(student):
    """The inverse is mapped and differentiated like any function of lax."""
    ys = np.array([0.4, 0.7, 0.9])
    student.agrees(chain, "lambda x: lax.exp(lax.tanh(x))", 0.7, "grad")
    student.agrees(chain, "lambda x: lax.exp(lax.tanh(x))", ys, "grad vmap")
    student.agrees(chain, "lambda x: lax.exp(lax.tanh(x))", ys, "vmap make_jaxpr")


@pytest.mark.keeps("stops at equation N")
def test_chain_has_no_rule(student):
    """A primitive that is not in the table raises its error, which names the equation."""
    student.agrees(chain_stops, "lax.sin", 0.5)
    student.agrees(chain_stops, "lambda x: lax.exp(lax.neg(lax.sin(lax.neg(x))))", ROW)
    student.agrees(chain_stops, "lambda x: lax.exp(lax.sin(x))", ROW)
    student.agrees(chain_stops, "lambda x: lax.neg(jit(lax.exp)(x))", ROW)
    student.agrees(chain_stops, "lambda x: lax.exp(lax.sin(lax.neg(x * 2.0)))", ROW)


@pytest.mark.keeps("stops at equation N")
def test_chain_is_no_chain(student):
    """An equation with two operands raises its error, which names the equation."""
    student.agrees(chain_stops, "lambda x: lax.exp(lax.exp(x * 2.0))", ROW + 2.0)
    student.agrees(chain_stops, "lambda x: lax.neg(lax.exp(x + x))", 3.0)
    student.agrees(chain_stops, "lambda x: lax.exp(x * np.array([2.0, -1.0, 0.5]))", ROW)
    student.agrees(chain_stops, "lambda x: lax.exp(lax.rem(x, 2.0))", 0.3)
    student.agrees(chain_stops, "lambda x: lax.clamp(-1.0, lax.exp(lax.sin(x)), 1.0)", 0.3)
    student.agrees(chain_stops, "lambda x: lax.sin(x) + lax.sin(x)", 0.3)


exercise("custom.inverse_jaxpr")


@probe(uses=[written, outcome])
def swept(mj, program, examples, ins, outs):
    """The inputs of a program, from what is known of them and from its results; and the errors."""
    closed = mj.make_jaxpr(written(mj, program))(*examples)
    consts = tuple(closed.consts)
    others = [c * 2 if get_aval(c).dtype.kind == "f" else c for c in consts]
    earlier = {}
    if consts:  # nothing stays of other ones
        earlier = outcome("the list", lambda: inverse_jaxpr(closed.jaxpr, others, ins, outs))
    places = [*map(id, earlier.get("the list", ()))]
    found = outcome("the inputs", lambda: [*inverse_jaxpr(closed.jaxpr, consts, ins, outs)])
    values = found.get("the inputs", ())
    weak = [x is not None and get_aval(x).weak_type for x in values]
    stays = [*map(id, earlier.get("the list", ()))] == places
    return {**found, "an input is weakly typed": weak, "a list stays as it was returned": stays}


@probe(uses=[written])
def inverse_of(mj, program, ys, how):
    """`inverse` of a function, transformed from the inside to the outside, or as a program."""
    back = inverse(written(mj, program))
    for name in how.split():
        back = getattr(mj, name)(back)
    out = back(*ys)
    if how.endswith("make_jaxpr"):  # independent operations may come in any order
        return {"the operations of the program": sorted(eqn.primitive.name for eqn in out.eqns)}
    return {"value": out}


@probe(uses=[written])
def traced_in_calls(mj, program, ys):
    """The program of jit(vmap(grad(inverse(f)))): names of its primitives, and its value at ys."""
    back = inverse(written(mj, program))
    closed = mj.make_jaxpr(mj.jit(mj.vmap(mj.grad(back))))(ys)
    (call,) = closed.eqns
    jaxpr, consts = custom.called_program(call)
    names = [eqn.primitive.name for eqn in jaxpr.eqns]
    return {
        "the primitive of the call": call.primitive.name,
        "the operations of the program inside": names,
        "the value": eval_jaxpr(jaxpr, consts, [ys]),
    }


def sweep(student, program, ins, outs, examples=None):
    """Compare what is found."""
    given = examples or [outs[0] if x is None else x for x in ins]
    student.agrees(swept, program, given, ins, outs)


@pytest.mark.meets("length")
@pytest.mark.keeps("computed or undone")
def test_sweep_backward(student):
    """A chain, even a long one, is undone from its last equation to its first."""
    sweep(student, "lambda x: lax.exp(lax.neg(x))", [None], [3.0])
    sweep(student, "lambda x: lax.exp(lax.tanh(x)) * 2.0", [None], [np.array([2.5, 1.5, 3.0])])
    sweep(student, "lambda x: 5.0 - (x - 2.0) / 4.0", [None], [GRID])
    # To begin again after each find is right, too, and takes its time.
    sweep(student, NEGATIONS.format(301), [None], [ROW])


@pytest.mark.keeps("are the values of constants")
def test_sweep_constants(student):
    """Constants are known, and so is what is computed from them alone."""
    sweep(student, "lambda x: x * np.array([2.0, -1.0, 0.5])", [None], [ROW])
    program = """lambda x: (x - np.array([1.0, 2.0, 3.0])) * lax.sin(
        lax.exp(np.array([2.0, -1.0, 0.5])) + 1.0)"""
    sweep(student, program, [None], [ROW])
    sweep(student, "lambda x: x + lax.exp(lax.neg(2.0))", [None], [3.0])


@pytest.mark.keeps("None is unknown")
def test_sweep_known_inputs(student):
    """Inputs that are known help to find the others, and are returned."""
    sweep(student, "lambda x, y: x - lax.sin(y * 2.0)", [None, OTHER], [ROW])
    sweep(student, "lambda x, y: (x + 2.0) / lax.exp(y)", [None, 0.5], [5.0])
    sweep(student, "lambda x, y: (x + 2.0) / lax.exp(y)", [0.5, None], [5.0])


@pytest.mark.meets("order", "more_than_two", "twice", "some_results", "none")
@pytest.mark.keeps("None is unknown")
def test_sweep_some_results(student):
    """An input that is a result as well helps from the start, whichever of the two is known."""
    coupled = "lambda x, y: (x * lax.exp(y) + lax.sin(y), y)"
    sweep(student, coupled, [None, None], [ROW, OTHER])
    sweep(student, "lambda x, y: (lax.exp(y), x - 1.0)", [None, None], [3.0, 4.0])
    sweep(student, "lambda x, y: (y, x - y)", [None, None], [3.0, 4.0])
    sweep(student, "lambda x, y: (x, x * y)", [2.0, None], [None, 8.0], [1.0, 1.0])
    sweep(student, "lambda x, y: (x * y, x, y)", [None, 2.0], [8.0, None, None], [1.0, 1.0])
    sweep(student, "lambda x, y: (lax.exp(x), y, y)", [None, None], [ROW, None, OTHER], [ROW, ROW])
    sweep(student, "lambda x, y: (lax.exp(x), y, y)", [None, None], [ROW, OTHER, None], [ROW, ROW])
    sweep(student, "lambda x, y: (lax.exp(x), y, 3.0)", [None, 5.0], [None] * 3, [1.0, 1.0])


@pytest.mark.meets("sizes", "some_results")
@pytest.mark.keeps("that cannot be found")
def test_sweep_unknown(student):
    """What the results do not tell stays unknown, and dead code stops nothing."""
    sweep(student, "lambda x, y: lax.exp(x)", [None, None], [ROW])
    sweep(student, "lambda x, y: 2.0 * lax.neg(y)", [None, None], [3.0])
    sweep(student, "lambda x: (lax.sin(x) * x, lax.exp(x))[1]", [None], [ROW])


@pytest.mark.meets("zeros", "sizes")
@pytest.mark.keeps("None is unknown")
def test_sweep_zeros(student):
    """Zeros and nan are known, and integers, and empty arrays; there may be no equations."""
    for zero in (0.0, np.zeros(()), F32(0)):
        sweep(student, "lambda x, y: (x, y - x)", [None, None], [zero, ROW], [zero, ROW])
        sweep(student, "lambda x, y: y - x", [zero, None], [ROW])
    sweep(student, "lambda x: lax.exp(lax.neg(x))", [None], [np.zeros((0, 2))])
    sweep(student, "lambda x: lax.neg(x)", [None], [np.nan])
    sweep(student, "lambda x, y: (y - x, x)", [None, None], [np.arange(3), np.array([0, 4, 5])])
    given = "lambda x, y: (y, x, np.array([2.0, -1.0, 0.5]))"
    sweep(student, given, [None, None], [ROW, OTHER, None])


@pytest.mark.meets("again", "caching")
def test_sweep_calls(student):
    """A program that is called twice has values of its own each time."""
    twice = "lambda x, g=jit(lambda x, y: lax.exp(x - y)): g(g(x, 1.0), 2.0)"
    sweep(student, twice, [None], [4.0])
    sweep(student, twice, [None], [ROW])
    sweep(student, "lambda x, y: jit(lambda a, b: a / b)(x, lax.exp(y))", [None, 1.0], [2.0])


CHAINED = "lambda x, y, z: (x + 1.0, lax.exp(x) * y, lax.neg(y) * z)"


@pytest.mark.keeps("computed or undone")
def test_sweep_again(student):
    """What cannot be undone yet is undone once what it lacks is found, in any number of rounds."""
    sweep(student, "lambda x, y: (x + 1.0, lax.exp(x) * y)", [None, None], [ROW, OTHER])
    sweep(student, "lambda x, y: (x * lax.neg(y), y - 1.0)", [None, None], [3.0, 4.0])
    sweep(student, CHAINED, [None, None, None], [3.0, 4.0, 5.0])
    sweep(student, "lambda x, y: (y * x * x, lax.exp(x))", [None, None], [3.0, 4.0])
    sweep(student, "lambda x: (x + 1.0, lax.sin(x))", [None], [ROW, OTHER])
    inside = "lambda x, y, z: (lambda m: (lax.exp(m), lax.neg(m) * z, y - z))(x * y)"
    sweep(student, inside, [None, None, None], [3.0, 4.0, 5.0])
    later = "lambda x, y, z: (x + 1.0, lax.exp(x) * lax.exp(lax.exp(y)), lax.log(y) - z)"
    sweep(student, later, [None, None, None], [ROW + 2.0, OTHER + 9.0, ROW])
    call = "lambda x, y: jit(lambda a, b: (lax.neg(b), lax.sin(b) - a * b))(x, y)"
    sweep(student, call, [None, None], [ROW, OTHER])
    in_part = """lambda x, y: (lambda p, q: (p, x * q))(
        *jit(lambda a, b: (lax.neg(a), lax.neg(b)))(x, y))"""
    sweep(student, in_part, [None, None], [3.0, 4.0])
    then_computed = """lambda x, y: (lambda p, q: (p, q * y))(
        *jit(lambda a: (lax.neg(a), lax.exp(a)))(x))"""
    sweep(student, then_computed, [None, None], [3.0, 4.0])

    steps = "".join(f", lax.neg(xs[{i}]) * xs[{i + 1}]" for i in range(15))
    program = f"lambda *xs: (xs[0] + 1.0{steps})"
    sweep(student, program, [None] * 16, [3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 2.0] * 2)
    between = """lambda x, y: (lambda a, b, c, d: (
        a + 1.0, lax.neg(a) * b, lax.neg(b) * c, lax.neg(c) * d, lax.neg(d) * x
    ))(x + y, x * y, x - y, y - x)"""
    sweep(student, between, [None, None], [6.0, -30.0, 6.0, 1.0, -2.0])


@pytest.mark.meets("exception")
@pytest.mark.keeps("counted from 1")
def test_sweep_stops(student):
    """The equation that stops it is named by its number, counted from the top."""
    sweep(student, "lambda x, y: (x + y, x - 1.0, lax.sin(y))", [None, None], [5.0, None, None])
    sweep(student, "lambda x, y: (x + 1.0, lax.sin(y) * x)", [None, None], [3.0, 4.0])
    sweep(student, "lambda x, y: (lax.exp(x) - 1.0, x * y * y)", [None, None], [ROW, OTHER])
    sweep(student, "lambda x: lax.exp(lax.sin(lax.neg(x) * 2.0))", [None], [ROW])
    sweep(student, "lambda x: lax.exp(lax.neg(x) + x) - 1.0", [None], [ROW])
    sweep(student, "lambda x: lax.sin(x) * 2.0", [None], [0.5])
    sweep(student, "lambda x: lax.exp(x * x)", [None], [3.0])


def test_sweep_as_a_program(student):
    """The inverse is a program itself, with the operations that are needed and no others."""
    for program in (
        "lambda x: lax.exp(lax.tanh(x))",
        "lambda x: 3.0 - lax.exp(x) * lax.sin(np.array([2.0, -1.0, 0.5]))",
        "lambda x: jit(lambda y: lax.log(y) - 1.0)(x) / 2.0",
    ):
        student.agrees(inverse_of, program, [ROW], "make_jaxpr")


@pytest.mark.meets("nested")
def test_sweep_is_transformed(student):
    """The inverse can be differentiated, mapped and compiled, in this order."""
    ys = np.array([0.4, 0.7, 0.9])
    student.agrees(inverse_of, "lambda x: lax.exp(lax.tanh(x))", [ys], "grad vmap")
    affine = "lambda x: lax.exp(x * 3.0) + lax.exp(2.0)"
    student.agrees(inverse_of, affine, [ys + 8.0], "grad vmap")
    student.agrees(traced_in_calls, "lambda x: lax.exp(lax.tanh(x))", ys)


STEPS = (
    "-x",
    "x + {}",
    "{} - x",
    "lax.exp({}) * x",
    "x / {}",
    "lax.log(lax.exp(x) + 1.0)",
    "64.0 * lax.tanh(x / 64.0)",
    "jit(lambda y: (y + {}) * jit(lax.exp)(0.5))(x)",
)


def random_chain(rng):
    """A function, as text: up to six steps, each of which has an inverse."""
    text = "x"
    for _ in range(rng.integers(2, 6)):
        step = STEPS[rng.integers(len(STEPS))].format(round(rng.uniform(0.5, 2.0), 2))
        text = f"(lambda x: {step})({text})"
    return f"lambda x: {text}"


def test_sweep_random_chains(student):
    """Random chains of invertible steps are undone."""
    rng = np.random.default_rng(14)
    for _ in range(6):
        sweep(student, random_chain(rng), [None], [rng.uniform(1.0, 2.0, 3)])


exercise("custom.dce_jaxpr")


@probe(uses=[in_place, one_program, written])
def without_dead_code(mj, siblings, program, examples, used, effects=(), call=None):
    """The program for these outputs, the inputs that it still has, its value, and the old program.

    `effects` are the numbers of equations that do something besides returning results. The calls
    have the name `call`, if it is given.
    """

    class Printing(JaxprEqn):  # Equations have slots, and none for effects.
        effects = frozenset({"prints"})

    make = mj.make_jaxpr(written(mj, program))
    closed = one_program(custom, f"{program} {effects} {call}", examples, lambda: make(*examples))
    for i in effects:
        eqn = closed.jaxpr.eqns[i]
        closed.jaxpr.eqns[i] = Printing(eqn.invars, eqn.outvars, eqn.primitive, eqn.params)
    for eqn in closed.jaxpr.eqns:
        if call and eqn.primitive.name == "jit":
            eqn.primitive = Primitive(call, multiple_results=True)
    before = str(closed.jaxpr)
    with in_place("minijax.custom_interpreters", siblings) as module:
        jaxpr, kept = module.dce_jaxpr(closed.jaxpr, used)
    identical = [eqn for eqn in jaxpr.eqns if eqn in closed.jaxpr.eqns]
    return {
        "the given program stays as it was": str(closed.jaxpr) == before,
        "the text of the program": str(jaxpr),
        "an input is kept": [bool(x) for x in kept],
        "the number of equations that are the given ones": len(identical),
        "the given program itself is returned": jaxpr is closed.jaxpr,
        "what is returned beside the program is a list": type(kept) is list,
    }


def lean(closed, args, used):
    """A program without dead code, which inputs it still has, and those of these arguments."""
    jaxpr, kept = dce_jaxpr(closed.jaxpr, used)
    return jaxpr, kept, [x for x, is_kept in zip(args, kept, strict=True) if is_kept]


@probe(uses=[written, lean])
def evaluated_without_dead_code(mj, program, args, used):
    """The values of these outputs, computed without dead code, and the number of equations."""
    closed = mj.make_jaxpr(written(mj, program))(*args)
    jaxpr, _, left = lean(closed, args, used)
    typecheck_jaxpr(jaxpr)
    return {
        "the results": eval_jaxpr(jaxpr, closed.consts, left),
        "the number of equations": len(jaxpr.eqns),
    }


def thin(student, program, examples, used, *more):
    """Compare the programs."""
    student.agrees(without_dead_code, CALLS_THINNED, program, examples, used, *more)


CALLS_THINNED = siblings("custom.dce_call")


@probe
def kept_beside_programs(mj, x):
    """What is kept beside a program, and beside the one without dead code."""
    closed = mj.make_jaxpr(lambda x: (mj.lax.sin(x), mj.lax.exp(x)))(x)
    jaxpr = dce_jaxpr(closed.jaxpr, (False, True))[0]
    first = kept(closed, "results", lambda: 2), kept(jaxpr, "results", lambda: 1)
    again = dce_jaxpr(closed.jaxpr, [True, False])[0]
    whole = dce_jaxpr(closed.jaxpr, [True, True])[0]
    return {
        "what is kept for the two programs": first,
        "what is kept for a third program": kept(again, "results", lambda: 1),
        "what is kept for a program with all results": kept(whole, "results", lambda: 3),
        "what is kept for the given program": kept(closed, "results", lambda: 0),
    }


TREE = "lambda x, y: (lax.sin(x) * 2.0, lax.cos(lax.exp(y)), x - lax.exp(y))"


@pytest.mark.meets("order", "again", "mutation", "sizes")
@pytest.mark.keeps("of no use to them", "The old program")
def test_dce_equations(student):
    """Equations stay, in order, if used outputs need them, directly or through others that stay."""
    for used in ([True, False, False], [False, True, False]):
        thin(student, TREE, [1.0, 2.0], used)
    for used in ([True, False, True], [True, True, True]):
        thin(student, TREE, [ROW, ROW], used)
    thin(student, "lambda x, y: (lax.sin(lax.exp(lax.neg(x))) * y, -y)", [1.0, 1.0], [False, True])
    thin(student, "lambda x: (lax.exp(lax.sin(x) + lax.sin(x)), -x)[1]", [ROW], [True])
    thin(student, "lambda x: (lax.exp(x), lax.sin(x))", [ROW], [False, False])
    without_results = "lambda x: (jit(lambda a: (lax.sin(a), ())[1])(lax.exp(x)), -x)[1]"
    thin(student, without_results, [1.0], [True])


@pytest.mark.meets("some_results")
@pytest.mark.keeps("the inputs that stay")
def test_dce_inputs(student):
    """Inputs of no use are left out, and it is said of each whether it is still there."""
    thin(student, "lambda x, y, z: (x - z, y)", [1.0, 2.0, 3.0], [True, False])
    thin(student, "lambda x, y, z: (x - z, y)", [1.0, 2.0, 3.0], [False, True])
    thin(student, "lambda x, y, z: (lax.neg(y), z * x)", [ROW, ROW, ROW], [True, False])
    thin(student, "lambda x, y: (y, x, y)", [1.0, 2.0], [True, False, False])
    thin(student, "lambda x, y: jit(lambda a, b: (lax.exp(b), -a)[1])(x, y)", [1.0, 2.0], [True])


@pytest.mark.meets("twice", "some_results")
@pytest.mark.keeps("the results that stay")
def test_dce_outputs(student):
    """Outputs may be inputs or numbers, and may occur twice."""
    thin(student, "lambda x, y: (y, 2.0, x, y)", [1.0, 2.0], [True, True, False, True])
    thin(student, "lambda x: (x * 2.0, 3.0)", [1.0], [False, True])
    thin(student, "lambda x, y: (lax.exp(y), y, x)", [1.0, 2.0], [False, True, False])
    twice = "lambda x, y: (lambda z: (z, y, z, y))(lax.sin(x))"
    for used in ((0,), (2,), (1, 2), (3,), (1,)):  # of two that are one, one is used
        thin(student, twice, [1.0, 2.0], [i in used for i in range(4)])


@pytest.mark.keeps("Constants stay")
def test_dce_constants(student):
    """Constants stay, whether they are used or not."""
    program = "lambda x: (x * np.array([2.0, -1.0, 0.5]), x - np.array([5.0, 6.0, 7.0]))"
    thin(student, program, [ROW], [False, True])
    thin(student, program, [ROW], [False, False])


CALL = "lambda x, y: jit(lambda a, b: (lax.exp(a), lax.cos(b), a * 2.0))(lax.sin(x), y)"


@pytest.mark.meets("more_than_two", "nested")
@pytest.mark.keeps("a call loses")
def test_dce_calls(student):
    """A call loses what it is not asked for, and with that what only those results needed."""
    thin(student, CALL, [1.0, 2.0], [False, True, False])
    thin(student, CALL, [1.0, 2.0], [True, False, True])
    thin(student, CALL, [ROW, ROW], [False, False, True])
    thin(student, CALL, [ROW, ROW], [False, False, True], (), "pmap")
    thin(student, CALL, [ROW, ROW], [True, False, False], (), "remat2")
    nested = "lambda x, y: jit(lambda a, b: (a, jit(lambda c, d: (-c, d * b))(a, b)[1]))(x, y)"
    thin(student, nested, [1.0, 2.0], [False, True])
    all_used = "lambda x, y: jit(lambda a, b: (lax.exp(b), lax.sin(a))[1])(x, lax.neg(y))"
    thin(student, all_used, [1.0, 2.0], [True])


@pytest.mark.keeps("Constants stay")
def test_dce_effects(student):
    """An equation that does something besides returning results stays, with what it needs."""
    program = "lambda x, y: (lax.sin(lax.neg(x)), lax.exp(y))"
    thin(student, program, [1.0, 2.0], [False, True], [1])
    thin(student, program, [1.0, 2.0], [False, False], [0])
    thin(student, CALL, [1.0, 2.0], [False, False, False], [1])  # a call loses what is of no use
    thin(student, "lambda x: (lax.sin(2.0), x)", [1.0], [False, True], [0])  # with no variable


@pytest.mark.meets("caching")
@pytest.mark.keeps("none of its caches")
def test_dce_keeps_nothing(student):
    """What is cached on the old program does not fit the new one, and is not on it."""
    student.agrees(kept_beside_programs, 2.0)


@pytest.mark.meets("length")
@pytest.mark.keeps("of no use to them")
def test_dce_values(student):
    """What is left over computes the same values, even if program and dead code are long."""
    student.agrees(evaluated_without_dead_code, TREE, [ROW, OTHER], [False, True, True])
    student.agrees(evaluated_without_dead_code, TREE, [2.0, 3.0], [True, False, False])
    dead = "lambda x, y: ([x := lax.neg(x) for _ in range(1200)][-1], lax.exp(y))"
    student.agrees(evaluated_without_dead_code, dead, [ROW, ROW], [True, False])
    student.agrees(evaluated_without_dead_code, dead, [ROW, ROW], [False, True])


def random_program(rng):
    """A function of three arrays with four results, as text; some of it is dead."""
    names = ["x", "y", "z"]
    lines = []
    for i in range(8):
        a, b = (names[j] for j in rng.integers(len(names), size=2))
        step = ("lax.sin({0})", "{0} * {1}", "{0} - {1}", "jit(lambda a, b: (b, -a))({0}, {1})[0]")
        lines.append((f"v{i}", step[rng.integers(len(step))].format(a, b)))
        names.append(f"v{i}")
    outs = ", ".join(names[j] for j in rng.integers(len(names), size=4))
    body = f"({outs})"
    for name, line in reversed(lines):
        body = f"(lambda {name}: {body})({line})"
    return f"lambda x, y, z: {body}"


def test_dce_random_programs(student):
    """Random programs lose exactly what is dead."""
    rng = np.random.default_rng(14)
    for _ in range(6):
        used = [bool(x) for x in rng.integers(2, size=4)]
        thin(student, random_program(rng), [ROW, OTHER, ROW], used)


exercise("custom.dce_call")


@probe(uses=[in_place, written])
def call_left_over(mj, siblings, program, examples, used, more, is_open):
    """The call that is left over of one with these further parameters, and the old one after it."""
    (eqn,) = mj.make_jaxpr(mj.jit(written(mj, program)))(*examples).eqns
    closed = eqn.params["jaxpr"]
    params = {**eqn.params, **(more or {}), "jaxpr": closed.jaxpr if is_open else closed}
    eqn = eqn.replace(params=params)
    before = str(eqn), dict(params), list(eqn.invars), list(eqn.outvars)
    with in_place("minijax.custom_interpreters", siblings) as module:
        left = module.dce_call(eqn, tuple(used))
        operands = [before[2].index(x) for x in left.invars]
        is_sound = len(operands) == len(custom.opened(left.params["jaxpr"])[0].invars)
        args = [examples[i] for i in operands]
        results = list(custom.eval_equation(left, args)) if is_sound else None
    inner = left.params["jaxpr"]
    stays = before == (str(eqn), eqn.params, list(eqn.invars), list(eqn.outvars))
    return {
        "the given equation stays as it was": stays,
        "places of the operands that are left": operands,
        "the results that are left": [before[3].index(x) for x in left.outvars],
        "the text of the program": str(inner),
        "the class of the program": type(inner).__name__,
        "the number of constants": len(getattr(inner, "consts", ())),
        "the results of the call": results,
        "the primitive stays": left.primitive is eqn.primitive,
        "the parameters": {key: value for key, value in left.params.items() if key != "jaxpr"},
    }


PROGRAM_THINNED = siblings("custom.dce_jaxpr")
THREE = "lambda a, b, c: (lax.exp(a) * b, lax.cos(c), a - c, b)"


def left_over(student, program, examples, used, more=None, is_open=False):
    """Compare the call that is left over."""
    student.agrees(call_left_over, PROGRAM_THINNED, program, examples, used, more, is_open)


@pytest.mark.meets("order", "more_than_two", "some_results", "sizes", "nested")
@pytest.mark.keeps("The call for the results")
def test_call_in_part(student):
    """The results that are used stay, all or none of them too, and the operands that they need."""
    for used in ([False, True, False, False], [False, False, True, True], [True] * 4, [False] * 4):
        left_over(student, THREE, [1.0, 2.0, 3.0], used)
    left_over(student, THREE, [ROW, ROW, ROW], [True, False, False, True])
    left_over(student, "lambda a, b, c: (c, a, lax.neg(b))", [ROW, ROW, ROW], [True, False, True])
    left_over(student, "lambda: (2.0, np.ones(3))", [], [False, True])
    left_over(student, "lambda a: (lax.exp(a), ())[1]", [1.0], [])
    left_over(student, "lambda a, b: (lax.exp(b), lax.sin(a))[1]", [1.0, 2.0], [True])
    nested = "lambda a, b: (a, jit(lambda c, d: (-c, d * b))(a, b)[1])"
    left_over(student, nested, [1.0, 2.0], [False, True])


@pytest.mark.meets("keys", "none", "again")
@pytest.mark.keeps("as sound as", "about neither operands nor results")
def test_call_params(student):
    """Parameters with an entry for each operand, or each result, lose those that go."""
    per_operand = {"in_axes": (0, 1, None), "donated_invars": (True, False, True)}
    per_result = {"out_axes": (0, None, 2, 1), "out_shardings": ("a", "b", "c", "d")}
    other = {"inline": True, "backend": None, "ctx": (1, 2, 3), "layers": [1, 2, 3, 4]}
    for used in ([False, True, True, False], [True, False, False, False]):
        for more in (per_operand, per_result, {**per_operand, **per_result, **other}):
            left_over(student, THREE, [1.0, 2.0, 3.0], used, more=more)
    keys = "in_axes", "in_layouts", "in_shardings", "out_axes", "out_layouts"
    crossed = {key: (2 * i, 2 * i + 1) for i, key in enumerate(keys)}
    for used in ([False, True], [True, False]):  # as many operands as results, and others of them
        left_over(student, "lambda a, b: (lax.cos(b), lax.sin(a))", [1.0, 2.0], used, more=crossed)


@pytest.mark.keeps("stays closed")
def test_call_of_an_open_program(student):
    """A program that is not closed stays so."""
    left_over(student, THREE, [1.0, 2.0, 3.0], [False, True, False, False], is_open=True)
    left_over(student, THREE, [ROW, ROW, ROW], [True, False, False, False], is_open=True)


@pytest.mark.meets("closure")
def test_call_constants(student):
    """The constants of the program stay."""
    program = "lambda a, b: (a * np.array([2.0, -1.0, 0.5]), b - np.array([5.0, 6.0, 7.0]))"
    left_over(student, program, [ROW, ROW], [False, True])
    left_over(student, program, [ROW, ROW], [True, False])


@pytest.mark.meets("twice", "mutation")
@pytest.mark.keeps("as sound as", "The given equation")
def test_call_of_twins(student):
    """Operands or results may be equal, and the equation that was given stays as it is."""
    left_over(student, "lambda a, b: (a, b, a)", [1.0, 2.0], [False, False, True])
    left_over(student, "lambda a, b: (a, a, b)", [1.0, 2.0], [True, True, False])
    left_over(student, "lambda a, b: (a, b, a)", [1.0, 2.0], [True, False, False])
    for operands in ("x, x", "x, 2.0"):
        program = f"lambda x: jit(lambda a, b: (lax.sin(a), lax.cos(b)))({operands})"
        for used in ([True, False], [False, True], [True, True]):
            student.agrees(without_dead_code, PROGRAM_THINNED, program, [1.0], used)


# Random programs ----------------------------------------------------------------------------------

# What `inverse` can undo: operations on one array. With those on two, most programs need a value
# twice, and then there is no inverse; so constants and calls of calls are left to `random_chain`.
# Dead code in calls within a program is left to `random_program`.
CHAIN = ["neg", "exp", "log"]
INVERTIBLE = [*CHAIN, "with_literal", "literal_with"]


@probe
def chain_undone(mj, f, xs):
    """What the result of a chain came from.

    >>> mj.custom_interpreters.inverse_chain(f)(f(*xs))
    """
    return inverse_chain(f)(f(*xs))


@probe
def inputs_found(mj, f, xs):
    """The inputs of a program, found from its results."""
    closed, outs = mj.make_jaxpr(f)(*xs), f(*xs)
    leaves = outs if isinstance(outs, tuple) else (outs,)
    return inverse_jaxpr(closed.jaxpr, closed.consts, [None] * len(xs), leaves)


@probe
def input_beside_another(mj, f, xs):
    """The input of a chain, whose result is multiplied by an input that is known."""
    closed = mj.make_jaxpr(lambda x, y: f(x) * y)(*xs, 2.0)
    return inverse_jaxpr(closed.jaxpr, closed.consts, [None, 2.0], [f(*xs) * 2.0])


@probe(uses=[lean])
def last_result(mj, f, xs):
    """The last result, computed without what the others need; how much that is."""
    closed = mj.make_jaxpr(mj.jit(f))(*xs)
    used = [var is closed.jaxpr.outvars[-1] for var in closed.jaxpr.outvars]
    jaxpr, _, left = lean(closed, xs, used)
    sizes = [len(eqn.params["jaxpr"].eqns) for eqn in jaxpr.eqns]
    return {
        "the results": eval_jaxpr(jaxpr, closed.consts, left),
        "the number of inputs that are left": len(left),
        "the numbers of equations": sizes,
    }


exercise("custom.inverse_chain")


def test_chain_programs(student):
    """Random chains of operations are undone."""
    kinds = {"operations": CHAIN, "dtypes": ["float64"], "results": 1}
    student.agrees_on_programs(chain_undone, **kinds)


exercise("custom.inverse_jaxpr")


def test_sweep_programs(student):
    """The inputs of random programs are found, even if there are several or some are known."""
    kinds = {"operations": INVERTIBLE, "dtypes": ["float64"], "number": 5}
    student.agrees_on_programs(inputs_found, **kinds)
    student.agrees_on_programs(input_beside_another, **kinds, results=1)


exercise("custom.dce_jaxpr")


def test_dce_programs(student):
    """The last result of a random program does not change, and only what it needs is left."""
    student.agrees_on_programs(last_result, steps=8)


exercise("custom.dce_call")


def test_call_programs(student):
    """Of a call of a random program, what the last result needs is left over."""
    student.agrees_on_programs(last_result, steps=8, number=5)


exercise("custom.whole")


@probe(uses=[written])
def calls_opened(mj, program, args):
    """The program of a function without its calls, and its derivative's; the value."""
    closed = mj.make_jaxpr(written(mj, program))(*args)

    def opened(*xs):
        return eval_jaxpr(closed.jaxpr, closed.consts, xs)

    slopes = mj.make_jaxpr(lambda *xs: mj.jvp(opened, xs, xs)[1])(*args)
    flat = mj.make_jaxpr(opened)(*args)
    short, _ = dce_jaxpr(flat.jaxpr, [True] * len(flat.jaxpr.outvars))
    return {
        "the text of the program without calls": str(flat),
        "the text of the program without dead code": str(short),
        "the text of the derivative's program": str(slopes),
        "the value": opened(*args),
    }


@probe(uses=[written])
def undone(mj, program, ys):
    """The arguments that results came from, as values and as a program; of a chain or of more."""
    make = inverse if "," in program or len(ys) > 1 else inverse_chain
    back = make(written(mj, program))
    names = sorted(eqn.primitive.name for eqn in mj.make_jaxpr(back)(*ys).eqns)
    return {"the arguments": back(*ys), "the operations of the inverse's program": names}


@probe
def undone_and_mapped(mj, ys):
    """The inverse of a function that uses an outer value, differentiated and mapped."""

    def f(k, y):
        return inverse(lambda x: mj.lax.exp(mj.lax.tanh(x)) * k + mj.lax.exp(2.0))(y)

    both = mj.vmap(mj.grad(f, (0, 1)), (None, 0))(2.0, ys)
    return {
        "the results and their batches": both,
        "the values and tangents": mj.jvp(lambda k: f(k, 9.0), (2.0,), (1.0,)),
    }


@probe(uses=[written, outcome])
def stops_at(mj, programs, y):
    """Which errors stop both inverses, and at which equations; what can be undone afterwards."""
    makes, functions = (inverse, inverse_chain), [written(mj, program) for program in programs]
    return [outcome("value", make(f), y) for f in functions for make in makes]


@probe(uses=[written, lean])
def thinned_out(mj, program, args, used):
    """A program without dead code, and what it returns; made from the program of its derivative."""
    f = written(mj, program)
    closed = mj.make_jaxpr(mj.jit(f))(*args)
    slopes = mj.make_jaxpr(lambda *xs: mj.jvp(f, xs, xs))(*args)
    found = []
    for whole, wanted in ((closed, used), (slopes, [False] * len(used) + used)):
        jaxpr, kept, left = lean(whole, args, wanted)
        told = {"the text of the program": str(jaxpr), "an input is kept": [*kept]}
        found.append({**told, "the results": eval_jaxpr(jaxpr, whole.consts, left)})
    return found


@probe
def thinned_in_turn(mj, xs):
    """Programs without dead code, each of which is gone before the next one is made."""
    functions = (lambda x, y: (mj.lax.sin(x), y)), (lambda x, y: (mj.lax.exp(y), x))
    jaxprs = [mj.make_jaxpr(mj.jit(f))(*xs).jaxpr for f in functions * 2]

    def anew(jaxpr):
        (eqn,) = jaxpr.eqns
        inner = eqn.params["jaxpr"]
        params = {**eqn.params, "jaxpr": inner.replace(jaxpr=inner.jaxpr.replace())}
        return jaxpr.replace(eqns=[eqn.replace(params=params)])

    found = [dce_jaxpr(anew(jaxpr), [True, False]) for jaxpr in jaxprs]
    return {"the programs, and which inputs they keep": [*map(str, found)]}


@probe
def chain_in_a_call(mj, f, xs):
    """A random chain, undone where it is called, and multiplied by what is known."""
    call = mj.jit(lambda x, k: f(x) * k)
    back = inverse(lambda x: call(x, mj.lax.exp(0.5)) + 1.0)
    return back(call(*xs, mj.lax.exp(0.5)) + 1.0)


@probe(uses=[lean])
def lean_program(mj, f, xs):
    """All results of a random program but the first, of a call that lost its dead code."""
    closed = mj.make_jaxpr(mj.jit(lambda *ys: (mj.lax.exp(ys[0]), f(*ys))))(*xs)
    used = [i > 0 for i in range(len(closed.jaxpr.outvars))]
    jaxpr, kept, left = lean(closed, xs, used)
    total = cost(lambda *ys: eval_jaxpr(jaxpr, closed.consts, ys))(*left)
    return {
        "the results": eval_jaxpr(jaxpr, closed.consts, left),
        "an input is kept": [*kept],
        "the flops": int(total.flops),
        "the bytes": int(total.bytes),
    }


@pytest.mark.meets(closure="inverse_jaxpr")
def test_whole_inverses(student):
    """Chains, and functions with constants, calls and outer values, are undone, and mapped."""
    student.agrees(undone, "lambda x: lax.exp(lax.tanh(lax.neg(lax.log1p(x))))", [OTHER[2:] * 0.9])
    student.agrees(undone, "lambda x: lax.neg(lax.exp(x))", [-ROW.astype(F32)])
    student.agrees(undone, "lambda x, y: (lax.neg(x), lax.exp(y))", [ROW, ROW * ROW])
    called = """lambda x: jit(lambda y, k: lax.exp(y * k) - np.array([2.0, -1.0, 0.5]))(x, 4.0)"""
    student.agrees(undone, called, [ROW + 3.0])
    coupled = "lambda x, y: (x * lax.exp(y) + lax.sin(y), y)"
    student.agrees(undone, coupled, [ROW, OTHER])
    student.agrees(undone_and_mapped, np.array([8.5, 9.0, 10.0]))


def test_whole_stops(student):
    """What cannot be undone names its equation, and spoils nothing."""
    programs = [
        "lambda x: lax.exp(lax.sin(lax.neg(x)))",
        "lambda x: lax.exp(x) * x + 1.0",
        "lambda x: lax.exp(x) - 1.0",
        "lambda x: jit(lambda y: lax.neg(lax.sin(y)))(x * 2.0)",
    ]
    student.agrees(stops_at, programs, 3.0)


@pytest.mark.meets(nested="dce_jaxpr")
def test_whole_dead_code(student):
    """Without dead code a program returns the same, even in calls and in derivatives."""
    student.agrees(thinned_out, TREE, [ROW, OTHER], [False, True, False])
    student.agrees(thinned_out, CALL, [2.0, 3.0], [False, False, True])
    student.agrees(thinned_in_turn, [2.0, 3.0])
    loop = "lax.scan(lambda c, y: (c + y, c), 0.0, x)[1]"  # what no rule thins out stays whole
    student.agrees(thinned_out, f"lambda x: ({OWN_JVP}(x), {loop}, -x)", [ROW], [True, True, False])
    program = """lambda x: jit(lambda y: (jit(lax.sin)(y) * np.array([2.0, 3.0, 5.0]), y))(x)[0]"""
    student.agrees(calls_opened, program, [ROW])
    own = f"lambda x: ({OWN_JVP})(x) + jit(lambda y, z: (z, y))(x, 2.0)[1]"
    student.agrees(calls_opened, own, [ROW])


def test_whole_programs(student):
    """Random chains are undone in calls, and random programs lose their dead code."""
    kinds = {"operations": CHAIN, "dtypes": ["float64"], "results": 1, "number": 4}
    student.agrees_on_programs(chain_in_a_call, **kinds)
    student.agrees_on_programs(lean_program, number=4)
