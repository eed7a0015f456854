"""Hidden tests of the `linearize` lesson: partial evaluation.

Every exercise is tested alone. Where its target calls what a sibling exercise defines, the probe
puts a right one in its place meanwhile. A call of a program is evaluated operation by operation, so
that no test compiles anything.
"""

import contextlib
from typing import TYPE_CHECKING

import numpy as np
import pytest

from autograder.grading.in_worker import in_place, one_program
from autograder.grading.suite import exercise, probe, siblings

if TYPE_CHECKING:  # imported by each probe that reads them
    import gc
    import importlib
    import sys
    import threading
    import weakref
    from unittest.mock import patch

    from minijax import core
    from minijax.core import (
        Primitive,
        ShapedArray,
        abstract_eval_rules,
        full_raise,
        get_aval,
        impl_rules,
        neg_p,
        new_main,
        sin_p,
        trace_state,
    )
    from minijax.errors import UnexpectedTracerError
    from minijax.jaxpr import Var, eval_jaxpr, inner_jaxprs, typecheck_jaxpr
    from minijax.jit import jit_p
    from minijax.jvp import JVPTrace, JVPTracer
    from minijax.linearize import known, unknown

F16, F32 = np.float16, np.float32

ROW = np.array([0.5, -2.0, 3.0])
STEP = np.array([1.0, 10.0, 100.0])
GRID = np.array([[1.5, -2.0, 0.75], [4.0, 0.5, -3.0]])
GRID_STEP = np.array([[1.0, 0.0, -1.0], [0.5, 2.0, 1.0]])
EMPTY = np.zeros((0, 2))


# What several probes use --------------------------------------------------------------------------


def any_error():
    """An error that many an `except` would take for its own."""
    kinds = AttributeError, NotImplementedError, KeyError, IndexError, ValueError, AssertionError
    numbers = ZeroDivisionError, OverflowError, FloatingPointError
    return type("AnyError", (*kinds, *numbers, TypeError), {})()


@contextlib.contextmanager
def evaluating(siblings):
    """The module with right siblings in place, and the names of the programs called meanwhile.

    A call of a program is evaluated operation by operation. One without results may be left out.
    """
    runs = []

    def run_call(*args, name, jaxpr):
        runs.extend([name] * bool(jaxpr.jaxpr.outvars))
        return eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *args)

    with in_place("minijax.linearize", siblings) as lin, patch.dict(impl_rules, {jit_p: run_call}):
        yield lin, runs


def names_in(jaxpr):
    """The primitives of a program and of those inside it, sorted."""
    found = [eqn.primitive.name for eqn in jaxpr.eqns]
    for eqn in jaxpr.eqns:
        for inner in inner_jaxprs(eqn.params):
            found += names_in(inner)
    return sorted(found)


def types_of(atoms):
    """Shape and dtype of each."""
    return [(x.aval.shape, x.aval.dtype.name) for x in atoms]


def chosen(xs, flags, wanted):
    """Those with this flag."""
    return [x for x, flag in zip(xs, flags, strict=True) if flag == wanted]


def partial_of(vals, flags):
    """Partial values: known where the flag says so."""
    return [known(x) if flag else unknown(get_aval(x)) for x, flag in zip(vals, flags, strict=True)]


exercise("linearize.stage_out")


@probe
def staged(mj, operands, is_known, types, params):
    """The recipe and the boxes of a made-up operation whose results have these types.

    If `types` is None, it has one result, and its rule returns the type of the operand as it is.
    """
    lin = importlib.import_module("minijax.linearize")
    toy = Primitive("toy", multiple_results=types is not None)
    asked, runs = [], []

    def result_types(*avals, **params):
        types_in = [[aval.shape, aval.dtype.name, aval.weak_type] for aval in avals]
        asked.append([*types_in, params])
        if types is None:
            return avals[0]
        return tuple(ShapedArray(shape, np.dtype(dtype), weak) for shape, dtype, weak in types)

    with (
        patch.dict(abstract_eval_rules, {toy: result_types}),
        patch.dict(impl_rules, {toy: lambda *args, **params: runs.append(params) or []}),
        new_main(lin.PartialEvalTrace) as main,
    ):
        trace = lin.PartialEvalTrace(main)
        boxes = [
            trace.new_arg(lin.known(x) if flag else lin.unknown(get_aval(x)))
            for x, flag in zip(operands, is_known, strict=True)
        ]
        outs = trace.stage_out(toy, boxes, params)
        told = [
            {
                "the class of a result": type(out).__name__,
                "a result belongs to this interpreter": out._trace.main is main,
                "a result is known": out.pval.is_known,
                "the shapes of a result and of its partial value": [
                    a.shape for a in (out.aval, out.pval.aval)
                ],
                "the dtypes of a result and of its partial value": [
                    a.dtype.name for a in (out.aval, out.pval.aval)
                ],
                "a result, its partial value and its variable are weakly typed": [
                    x.aval.weak_type for x in (out, out.pval, out.var)
                ],
                "the class of a result's type": type(out.aval).__name__,
                "a result has a variable": type(out.var) is Var,
                "the shape and dtype of a result's variable": type(out.var) is Var
                and (out.var.aval.shape, out.var.aval.dtype.name),
                "a result's variable is in its place among the recipe's outvars": (
                    out.recipe.outvars[i] is out.var
                ),
                "all results have one and the same recipe": out.recipe is outs[0].recipe,
            }
            for i, out in enumerate(outs)
        ]
        recipe = outs[0].recipe if outs else None
        made = (
            {}
            if recipe is None
            else {
                "the recipe has the primitive": recipe.primitive is toy,
                "the recipe's operands, by their numbers": [
                    [x is t for x in boxes].index(True) for t in recipe.tracers_in
                ],
                "the recipe's params": recipe.params,
                "the number of the recipe's outvars": len(recipe.outvars),
                "the number of different outvars": len(set(map(id, recipe.outvars))),
            }
        )
        return {
            "the class of what is returned": type(outs).__name__,
            "the number of results": len(outs),
            "each result": told,
            **made,
            "an operand is known, without a variable, without a recipe afterwards": [
                (t.pval.is_known, t.var is None, t.recipe is None) for t in boxes
            ],
            "what the abstract rule gets": asked[:1],
            "calls of the evaluation": len(runs),
        }


@probe
def staged_primitive(mj, name, operands, params):
    """A primitive of the library, left for later with all its operands unknown."""
    lin = importlib.import_module("minijax.linearize")
    with core.new_main(lin.PartialEvalTrace) as main:
        trace = lin.PartialEvalTrace(main)
        boxes = [trace.new_arg(lin.unknown(core.get_aval(x))) for x in operands]
        outs = trace.stage_out(getattr(core, name), boxes, params)
        return {
            "the shapes of the results": [out.shape for out in outs],
            "the dtypes of the results": [out.dtype.name for out in outs],
            "a result is weakly typed": [out.weak_type for out in outs],
            "a result is unknown": [out.pval.const is None for out in outs],
        }


@probe
def staged_again(mj, x, all_params):
    """The recipes of operations on three operands in turn, each time with other parameters.

    An operand is there twice. The results have as many axes of length 2 as the parameter `rank`
    says.
    """
    lin = importlib.import_module("minijax.linearize")
    toy = Primitive("toy")

    def type_of(x, y, *, rank, **params):
        return ShapedArray((2,) * rank, x.dtype, x.weak_type)

    with patch.dict(abstract_eval_rules, {toy: type_of}), new_main(lin.PartialEvalTrace) as main:
        trace = lin.PartialEvalTrace(main)
        aval = get_aval(np.asarray(x))
        types = get_aval(x), aval, ShapedArray(aval.shape, aval.dtype, weak_type=True)
        boxes = [trace.new_arg(lin.unknown(aval)) for aval in types]
        told, parts = [], [*boxes, *[box.var for box in boxes]]
        for box, params in zip(boxes * len(all_params), all_params, strict=False):
            (out,) = trace.stage_out(toy, [box, box], params)
            new = out, out.var, out.recipe
            told.append(
                {
                    "the shape of the result": out.shape,
                    "a result is weakly typed": out.weak_type,
                    "the shape of the result's variable": out.var.aval.shape,
                    "the recipe's operands are the operands": [
                        t is box for t in out.recipe.tracers_in
                    ],
                    "the recipe's params": out.recipe.params,
                    "the result, its variable and its recipe belong to another operation": [
                        any(part is old for old in parts) for part in new
                    ],
                }
            )
            parts += new
        return told


@probe
def staged_and_dropped(mj):
    """Whether the recipe of a dropped result is kept, and with it what it holds."""
    lin = importlib.import_module("minijax.linearize")
    with new_main(lin.PartialEvalTrace) as main:
        trace = lin.PartialEvalTrace(main)
        (out,) = trace.stage_out(neg_p, [trace.new_arg(unknown(get_aval(2.0)))], {})
        recipe = weakref.ref(out.recipe)
        del out
        gc.collect()
        return {"a recipe is kept after its result is dropped": recipe() is not None}


VECTOR = ((3,), "float64", False)
NUMBER = ((), "float32", True)
COUNTS = ((2, 1), "int8", False)


@pytest.mark.meets("float32", "axes")
@pytest.mark.keeps("Nothing is computed")
def test_staged_types(student):
    """The results have the types that follow from the operands' types."""
    student.agrees(staged_primitive, "mul_p", [np.ones((2, 1), F32), np.ones((1, 3), F32)], {})
    student.agrees(staged_primitive, "reduce_sum_p", [GRID], {"axes": (0,)})
    student.agrees(staged_primitive, "gt_p", [ROW, 2.0], {})
    student.agrees(staged_primitive, "neg_p", [2.0], {})
    student.agrees(staged_primitive, "transpose_p", [EMPTY], {"permutation": (1, 0)})


@pytest.mark.keeps("One recipe makes all")
def test_staged_recipe(student):
    """The recipe holds the operation, its parameters and its operands, all of them, in order."""
    student.agrees(staged, [ROW, 2.0], [False, True], [VECTOR], {"scale": 3.0, "name": "f"})
    student.agrees(staged, [ROW, GRID], [False, False], [VECTOR], {})
    student.agrees(staged, [], [], [VECTOR], {})


@pytest.mark.keeps("One recipe makes all")
def test_staged_known_operands(student):
    """Known operands belong to the recipe too, wherever they are."""
    student.agrees(staged, [2.0, ROW, GRID, 1.0], [True, False, True, False], [VECTOR], {})
    student.agrees(staged, [ROW, ROW, 1.0], [True, True, False], [COUNTS], {"axes": (0,)})


@pytest.mark.meets("weak_type")
@pytest.mark.keeps("a list of unknown tracers")
def test_staged_box(student):
    """A result is unknown, belongs to this trace, and has a variable of its own type."""
    student.agrees(staged, [ROW], [False], [COUNTS], {})
    student.agrees(
        staged, [ROW], [False], [NUMBER, *[((), "int64", weak) for weak in (True, False)]], {}
    )


@pytest.mark.meets("more_than_two", "sizes")
@pytest.mark.keeps("a list of unknown tracers", "One recipe makes all")
def test_staged_several(student):
    """Several results have one recipe, and each has its own type and its own variable."""
    student.agrees(staged, [ROW], [False], [VECTOR, COUNTS, NUMBER, VECTOR], {"n": 2})
    student.agrees(staged, [ROW], [False], [], {})


@pytest.mark.meets("order")
def test_staged_alike(student):
    """Two results of the same type are two variables."""
    student.agrees(staged, [ROW, 2.0], [False, True], [VECTOR, VECTOR], {})


def test_staged_anew(student):
    """Each operation has a recipe and variables of its own, which go with its results."""
    for x in (2.0, GRID):
        student.agrees(staged_again, x, [{"rank": 1}] * 4)
    student.agrees(staged_and_dropped)


@pytest.mark.meets("keys", "twice", "again", "caching", "none")
def test_staged_with_other_params(student):
    """Each operation keeps its parameters, even None, and has the type that follows from them.

    An operand that appears twice is two operands.
    """
    all_params = [{"rank": 1, "by": None}, {"rank": 2, "by": 0}, {"rank": 0, "by": False}]
    all_params += [{"rank": 1, "by": ()}, *all_params[:2]]  # now for the other operands
    student.agrees(staged_again, 2.0, all_params)
    student.agrees(staged_again, GRID.astype(F32), all_params[::-1])


@pytest.mark.keeps("Nothing is computed")
def test_staging_computes_nothing(student):
    """Nothing is computed, and of the results only a type is known, even if all operands are."""
    student.agrees(staged, [2.0], [True], None, {})
    student.agrees(staged, [ROW], [True], None, {})
    student.agrees(staged, [2.0, ROW], [True, True], [VECTOR, COUNTS], {})


exercise("linearize.toposort")


def recipes_of(main, needs):
    """Recipes with two results each, in their order.

    `needs` has for each the numbers of those that its operands come from; -1 is an input, and -2 a
    known value. Where it has more than one operand, these are first and second results in turn.
    """
    lin = importlib.import_module("minijax.linearize")
    trace, aval = lin.PartialEvalTrace(main), lin.raise_to_shaped(get_aval(1.0))
    made = {-1: [trace.new_arg(lin.unknown(aval))] * 2, -2: [trace.pure(2.0)] * 2}
    for number, operands in enumerate(needs):
        inputs = [made[i][place % 2] for place, i in enumerate(operands)]
        recipe = lin.EqnRecipe(sin_p, inputs, {}, [Var(aval), Var(aval)])
        made[number] = [
            lin.PartialEvalTracer(trace, lin.unknown(aval), var, recipe) for var in recipe.outvars
        ]
    return [made[i][0].recipe for i in range(len(needs))]


@probe(uses=[recipes_of])
def order(mj, needs, outs, only_one=True):
    """The order of those recipes that `outs` ask for, by their numbers, if there is only one."""
    lin = importlib.import_module("minijax.linearize")
    with new_main(lin.PartialEvalTrace) as main:
        recipes = recipes_of(main, needs)
        number_of = {id(recipe): i for i, recipe in enumerate(recipes)}
        asked = [recipes[i] for i in outs]
        orders = [lin.toposort(outs) for outs in (asked, asked, recipes[:1])]
        found = [[number_of[id(recipe)] for recipe in listed] for listed in orders]
        place = {number: i for i, number in enumerate(found[0])}
        return {
            "which recipes are listed": sorted(found[0]),
            "which recipes come after all that they need": [
                number
                for number in sorted(place)
                if all(place.get(i, len(place)) < place[number] for i in needs[number] if i >= 0)
            ],
            "the order of the recipes in two calls": found[:2] if only_one else [],
            "operands afterwards": [[number_of[id(recipe)] for recipe in asked]],
            "the recipes' params afterwards": [recipe.params for recipe in recipes],
        }


@probe
def long_chain(mj, length, uses):
    """A chain of operations, each of which uses the one before so many times.

    If `uses` is 0, each uses the first one and the two before, in one order or the other.
    """
    lin = importlib.import_module("minijax.linearize")
    with new_main(lin.PartialEvalTrace) as main:
        trace, aval = lin.PartialEvalTrace(main), lin.raise_to_shaped(get_aval(1.0))
        made, recipes = [trace.new_arg(lin.unknown(aval))], []
        for i in range(length):
            three = [made[min(i, 1)], made[max(i - 1, 0)], made[i]][:: i % 2 * 2 - 1]
            recipe = lin.EqnRecipe(sin_p, [made[i]] * uses or three, {}, [Var(aval)])
            made.append(lin.PartialEvalTracer(trace, lin.unknown(aval), recipe.outvars[0], recipe))
            recipes.append(recipe)
        sys.setrecursionlimit(1000)  # an earlier call may have raised it
        with patch.object(sys, "setrecursionlimit") as limit:
            found = lin.toposort([recipes[-1]])
        in_order = [a is b for a, b in zip(found, recipes, strict=False)].count(True)
        return {
            "the number of recipes": len(found),
            "how many are in their place": in_order,
            "the recursion limit is raised": limit.called,
        }


# Each recipe needs the one before, so that there is one order only.
LADDER = [[-1], [0, -1], [0, 1], [2, 0, -2], [3, 3], [4, 1, 2]]
FORK = [[-1], [0], [1, 0], [1, 2, 0], [-1, 0], [3, 4, 0]]
RNG = np.random.default_rng(20)
WOODS = [
    [[int(i) for i in RNG.integers(-2, n, size=RNG.integers(0, 4))] for n in range(30)]
    for _ in range(4)
]


@pytest.mark.keeps("each once, after those")
def test_order_of_a_chain(student):
    """In a chain, the first operation comes first and the result last."""
    student.agrees(order, [[-1], [0], [1], [2]], [3])
    student.agrees(order, [[-1, -2]], [0])


@pytest.mark.meets("more_than_two")
@pytest.mark.keeps("each once, after those")
def test_order_with_shortcuts(student):
    """A recipe that several others need, near and far, comes before all of them, once."""
    student.agrees(order, LADDER, [5])
    student.agrees(order, [[-1], [-2, 0], [0, 1], [0, 2], [0, 1, 3]], [4])


def test_order_does_not_depend_on_operands(student):
    """In which order the operands are does not matter for the order of the recipes."""
    student.agrees(order, [operands[::-1] for operands in LADDER], [5])
    student.agrees(order, [[-1], [0, 0], [1, 0, 1], [0, 2, 1]], [3])


@pytest.mark.meets("order", "caching")
@pytest.mark.keeps("each once, after those")
def test_order_of_branches(student):
    """If branches meet again, everything still comes after what it needs."""
    student.agrees(order, FORK, [5], False)
    student.agrees(order, [[-1], [0], [0], [0], [1, -1, -2, 2, 3], [3, 4]], [5], False)
    for needs in WOODS:
        student.agrees(order, needs, [29], False)


@pytest.mark.meets("again", "mutation")
@pytest.mark.keeps("hold a recipe twice")
def test_order_of_several_results(student):
    """Several results may be asked for, including some that others need, or one twice."""
    student.agrees(order, LADDER, [2, 5])
    student.agrees(order, LADDER, [5, 2])
    student.agrees(order, LADDER, [4, 1, 4])
    for needs in WOODS:
        student.agrees(order, needs, [29, 3, 17, 29, 28], False)


@pytest.mark.meets("sizes", "some_results")
@pytest.mark.keeps("hold a recipe twice")
def test_order_leaves_out_what_is_not_needed(student):
    """What no result needs is left out; nothing is needed if there are no results."""
    student.agrees(order, LADDER, [2])
    student.agrees(order, FORK, [1])
    student.agrees(order, LADDER, [])
    student.agrees(order, WOODS[0], [12, 20], False)


@pytest.mark.meets("length")
@pytest.mark.keeps("recursion limit")
def test_order_of_long_programs(student):
    """A chain of thousands of operations is no problem."""
    student.agrees(long_chain, 2000, 1)


@pytest.mark.meets("twice")
@pytest.mark.keeps("does not double")
def test_work_of_sorting(student):
    """If each operation is used twice, by one or two others, the work does not double each time."""
    student.agrees(long_chain, 300, 2)
    student.agrees(long_chain, 60, 3)
    student.agrees(long_chain, 2000, 0)


exercise("linearize.tracers_to_jaxpr")

STAGING = ("linearize.stage_out", "linearize.toposort")
SORTED = siblings(*STAGING)


@probe(uses=[evaluating])
def program_of(mj, siblings, name, vals, consts, later):
    """A program made of the results of a function, and what it computes for `later`.

    `vals` are examples of its inputs, all of them unknown; `consts` are known.
    """

    sin, total = mj.numpy.sin, mj.numpy.sum
    functions = {
        "line": lambda x, k: [x * k, k],
        "difference": lambda x, y: [x - y],
        "unused": lambda x, y, z: [y * 2.0],
        "nothing": lambda x, y: [],
        "swap": lambda *xs: [*xs[::-1]],
        "dead": lambda x: [(sin(x) * 5.0, -x)[1]],
        "same": lambda x, k: [x, k, x, k, -x],
        "early": lambda x: [sin(y := x * 3.0), y],
        "often": lambda x, k: [x * k + sin(k * x) * k],
        "boxed twice": lambda x, k: [x * k + trace.pure(k.pval.const)],
        "sums": lambda x, k, m: [total(x * k, axis=0) - m, m * k],
        "mixed": lambda x, y, k: [k, y, k - x * y, 2.5],
    }
    owned = {id(x): x.copy() for x in consts if isinstance(x, np.ndarray)}
    with evaluating(siblings) as (lin, _), new_main(lin.PartialEvalTrace) as main:
        trace = lin.PartialEvalTrace(main)
        boxes = [trace.new_arg(lin.unknown(get_aval(x))) for x in vals]
        known = [trace.pure(owned.get(id(x), x)) for x in consts]
        outs = functions[name](*boxes, *known)
        raised = [full_raise(trace, out) for out in outs]
        program = lin.tracers_to_jaxpr(boxes, raised)
    for array in owned.values():  # whose owner writes into it
        array[...] = 0
    names = sorted(eqn.primitive.name for eqn in program.eqns)
    types = [(x.shape, x.dtype.name) for x in [*program.in_avals, *program.out_avals]]
    typecheck_jaxpr(program.jaxpr)
    runs = len(program.in_avals) == len(later)
    outs = eval_jaxpr(program.jaxpr, program.consts, *later) if runs else None
    return {
        "the class of what is returned": type(program).__name__,
        "the types of the inputs and results of the program": types,
        "the operations of the program": names,
        "the number of constants": len(program.consts),
        "the results of the program": outs,
    }


@probe(uses=[evaluating])
def program_text(mj, siblings, x, y):
    """How a program is printed, made twice; and which primitive has which params."""

    with evaluating(siblings) as (lin, _), new_main(lin.PartialEvalTrace) as main:
        trace = lin.PartialEvalTrace(main)
        a, b = (trace.new_arg(lin.unknown(get_aval(v))) for v in (x, y))
        # Each operation needs the one before: others may come in any order.
        outs = [mj.numpy.sum(mj.numpy.transpose(a) * 2.0, axis=0) - b]
        return {
            "the text of the program, printed twice": [
                str(lin.tracers_to_jaxpr([a, b], outs)) for _ in range(2)
            ]
        }


@probe(uses=[evaluating])
def two_results(mj, siblings, x):
    """A primitive with two results, of which one, the other, or both in turn are asked for."""
    toy = Primitive("toy", multiple_results=True)
    impl = patch.dict(impl_rules, {toy: lambda x, *, by: [x * by, x + by]})
    types = patch.dict(abstract_eval_rules, {toy: lambda aval, *, by: [aval, aval]})
    with impl, types, evaluating(siblings) as (lin, _), new_main(lin.PartialEvalTrace) as main:
        trace = lin.PartialEvalTrace(main)
        box = trace.new_arg(lin.unknown(get_aval(x)))
        first, second = trace.stage_out(toy, [box], {"by": 7.0})
        told = []
        for outs in ([first], [second], [second, first]):
            program = lin.tracers_to_jaxpr([box], outs)
            told.append(
                {
                    "the number of equations": len(program.eqns),
                    "the numbers of the equations' results": [len(e.outvars) for e in program.eqns],
                    "the params of the equations": [eqn.params for eqn in program.eqns],
                    "the results of the program": eval_jaxpr(program.jaxpr, program.consts, x),
                }
            )
        return told


@probe(uses=[evaluating])
def residual_types(mj, siblings, values):
    """The types of known operands in an equation and among outputs, and the constants."""
    toy = Primitive("toy")
    types = patch.dict(abstract_eval_rules, {toy: lambda aval, *avals, **params: aval})
    with types, evaluating(siblings) as (lin, _), new_main(lin.PartialEvalTrace) as main:
        trace = lin.PartialEvalTrace(main)
        x, known = trace.new_arg(lin.unknown(get_aval(1.0))), [trace.pure(y) for y in values]
        (out,) = trace.stage_out(toy, [x, *known, x, *known], {"axis": None})
        program = lin.tracers_to_jaxpr([x], [out, *known])
        typecheck_jaxpr(program.jaxpr)

    (eqn,) = program.eqns
    found = eqn.invars, program.jaxpr.outvars
    pairs = zip(program.jaxpr.constvars, program.consts, strict=True)
    consts = {id(var): np.asarray(const) for var, const in pairs}
    return {
        "the classes of the equation's operands and of the outputs": [
            [type(atom).__name__ for atom in atoms] for atoms in found
        ],
        "their types, and the values of literals": [
            [(type(a.aval).__name__, str(a.aval), repr(getattr(a, "val", None))) for a in atoms]
            for atoms in found
        ],
        "the constants that they stand for": [
            [consts.get(id(atom)) for atom in atoms] for atoms in found
        ],
        "the number of constants": len(consts),
        "the params of the equation": eqn.params,
    }


@probe(uses=[evaluating])
def residuals_without_numpy(mj, siblings, x):
    """Results of operations and tracers from below as known operands: what becomes of them."""
    with (
        evaluating(siblings) as (lin, _),
        new_main(JVPTrace) as below,
        new_main(lin.PartialEvalTrace) as main,
    ):
        trace, kept = lin.PartialEvalTrace(main), JVPTracer(JVPTrace(below), x, x)
        weak = mj.lax.broadcast_in_dim(2.0, (3,), ())
        box, known = trace.new_arg(lin.unknown(get_aval(x))), [neg_p.bind(x), kept, weak]
        outs = [full_raise(trace, mj.numpy.multiply(box, y)) for y in known]
        program = lin.tracers_to_jaxpr([box], [*outs, *map(trace.pure, known)])
    return {
        "the classes of the outputs": [type(atom).__name__ for atom in program.jaxpr.outvars],
        "the number of constants": len(program.consts),
        "an output is weakly typed": [atom.aval.weak_type for atom in program.jaxpr.outvars],
        "a tracer from below is a constant itself": [c is kept for c in program.consts].count(True),
    }


def makes(student, name, vals, consts, later):
    """Compare the program of a function."""
    student.agrees(program_of, SORTED, name, vals, consts, later)


@pytest.mark.meets("order")
@pytest.mark.keeps("The program that computes")
def test_program_of_an_operation(student):
    """An operation becomes an equation, between the inputs and the outputs."""
    makes(student, "difference", [2.0, 3.0], [], [7.0, 10.0])
    makes(student, "difference", [GRID, ROW], [], [GRID_STEP, STEP])


@pytest.mark.meets("keys", "again")
@pytest.mark.keeps("The program that computes")
def test_program_as_printed(student):
    """Equations keep their parameters, and are in an order in which they can be run."""
    student.agrees(program_text, SORTED, GRID, np.ones(2))
    makes(student, "early", [2.0], [], [0.5])


@pytest.mark.keeps("A known array is one constant")
def test_program_with_residuals(student):
    """A known operand is a constant of the program: a literal, or a variable for an array."""
    makes(student, "line", [2.0], [3.0], [10.0])
    makes(student, "line", [ROW], [STEP], [ROW * 2])
    makes(student, "sums", [GRID], [GRID_STEP, ROW], [GRID + 1])


@pytest.mark.meets("twice")
@pytest.mark.keeps("A known array is one constant")
def test_program_keeps_a_residual_once(student):
    """An array that is used several times is one constant."""
    makes(student, "often", [ROW], [STEP], [ROW + 1])
    makes(student, "boxed twice", [ROW], [STEP], [ROW + 1])
    makes(student, "same", [GRID], [GRID_STEP], [GRID * 3])


@pytest.mark.meets("weak_type", "float32", "caching", "none", "zeros")
@pytest.mark.keeps("A known array is one constant")
def test_types_of_residuals(student):
    """Two arrays are two constants, even without axes, and keep their types, weak or not."""
    numbers = [2.0, 3, True, F32(2.0), np.int8(3), np.float64(2.0), np.array(2.0)]
    numbers += [np.int64(3), np.array(3), 0.0, -0.0, np.nan, -np.inf, 2**40]
    student.agrees(residual_types, SORTED, numbers)
    arrays = [np.zeros(2), np.zeros(2, int), np.zeros((1, 2)), np.zeros(2), np.zeros(2, F32)]
    student.agrees(residual_types, SORTED, [*arrays, np.ones(1), EMPTY, 0.0, 0])
    student.agrees(residuals_without_numpy, SORTED, 2.0)
    student.agrees(residuals_without_numpy, SORTED, ROW)


@pytest.mark.keeps("used or not", "equations that the outputs need")
def test_program_inputs(student):
    """All inputs are inputs of the program, in order, even those that nothing needs."""
    makes(student, "unused", [2, ROW, EMPTY], [], [1, STEP, EMPTY])
    makes(student, "dead", [ROW], [], [STEP])


@pytest.mark.meets("sizes")
def test_program_without_equations(student):
    """There may be no output at all, and the inputs stay; or outputs that are inputs."""
    makes(student, "swap", [2.0, ROW, 1.5, GRID], [], [1.0, STEP, 2.5, GRID])
    makes(student, "nothing", [2.0, ROW], [], [1.0, STEP])


@pytest.mark.keeps("used or not")
def test_program_outputs(student):
    """An output may be an input, a known value, or appear twice."""
    makes(student, "same", [2.0], [3.0], [10.0])
    makes(student, "mixed", [ROW, STEP], [4.0], [STEP, ROW])
    makes(student, "swap", [], [4.0, ROW], [])


@pytest.mark.meets("more_than_two", "some_results")
@pytest.mark.keeps("equations that the outputs need")
def test_program_with_several_results(student):
    """An operation with two results is one equation, whichever of its results is needed."""
    student.agrees(two_results, SORTED, 3.0)
    student.agrees(two_results, SORTED, ROW)


exercise("linearize.partial_eval_flat")

PROGRAMS = (*STAGING, "linearize.tracers_to_jaxpr")
MADE = siblings(*PROGRAMS)


@probe(uses=[evaluating, partial_of])
def partial(mj, siblings, name, vals, is_known, later, instantiate=None):
    """The partial values of a function's results; the program, and what it computes for `later`."""

    sin = mj.numpy.sin
    functions = {
        "swap": lambda *xs: [*xs[::-1]],
        "product": lambda x, y: [x * x, x * y, sin(y) * sin(x)],
        "three": lambda x, y, z: [y - z, sin(x), z - y],
        "constants": lambda x, y: [2.5, np.array([1.0, 2.0]), 7, *constants],
        "none": lambda x, y: [],
        "branch": lambda x, y: [sin(y) if x > 1.0 else -y],
        "chain": lambda x, y: [sin(sin(x) * 2.0) * y, sin(x)],
        "often": lambda x, y: [z := y * 2.0, x, z, 7.0, x * 3.0, y, z, x],
        "twins": lambda x, y: [x - y * 2.0, y],
    }
    constants = 0, False, np.float32(2.0), np.array(3.0), np.nan
    calls, sizes, given = [], [len(trace_state.stack)], []

    def f(*xs):
        calls.append([x.pval.is_known for x in xs])
        sizes.append(len(trace_state.stack))
        outs = functions[name](*xs)
        given.append((outs, [*outs]))
        return outs

    pvals = partial_of(vals, is_known)
    if name == "twins":  # one partial value for two inputs, which are weakly typed
        pvals = [unknown(ShapedArray(pvals[0].aval.shape, pvals[0].aval.dtype, True))] * 2
    more = () if instantiate is None else (instantiate.count,)
    with evaluating(siblings) as (lin, _):
        pvals_out, program = lin.partial_eval_flat(f, pvals, *more)
        sizes.append(len(trace_state.stack))
        typecheck_jaxpr(program.jaxpr)
        outs = eval_jaxpr(program.jaxpr, program.consts, *later)
    kept = [[*map(id, x)] == [*map(id, y)] for x, y in given]  # one test is enough
    return {
        "calls of f": len(calls),
        "an argument of f is known": calls,
        "the number of results": len(pvals_out),
        "a result is known": [p.is_known for p in pvals_out],
        "the known results": [p.const for p in pvals_out],
        "the classes of the known results": [type(p.const).__name__ for p in pvals_out],
        "the shapes of the results": [p.aval.shape for p in pvals_out],
        "the dtypes of the results": [p.aval.dtype.name for p in pvals_out],
        "a result is weakly typed": [p.aval.weak_type for p in pvals_out],
        "the classes of the results' types": [type(p.aval).__name__ for p in pvals_out],
        "the operations of the program": sorted(eqn.primitive.name for eqn in program.eqns),
        "the number of constants": len(program.consts),
        "the results of the program": outs,
        "a result of the program is weakly typed": [x.weak_type for x in program.out_avals],
        "the height of the stack before, during and after the call": sizes,
        **(
            {"the list that f returned is as it was": kept}
            if name == "swap" or (name, more) == ("constants", ())
            else {}
        ),
    }


@probe(uses=[evaluating])
def partial_below(mj, siblings, x, x_dot, y):
    """Results that are tracers of the uses around it, and others that are computed from them."""

    boxed = []

    def f(t, known, box):
        boxed.extend(type(argument).__name__ for argument in (t, known, box))
        return [outer, t * outer, outer * known, box, around]

    with (
        evaluating(siblings) as (lin, _),
        new_main(JVPTrace) as main,
        new_main(lin.PartialEvalTrace) as other,
    ):
        outer = JVPTracer(JVPTrace(main), x, x_dot)
        around = lin.PartialEvalTrace(other).new_arg(unknown(get_aval(y)))
        inputs = [unknown(get_aval(y)), known(outer), known(around)]
        pvals, program = lin.partial_eval_flat(f, inputs)
        (out,) = eval_jaxpr(program.jaxpr, program.consts, y)
        again, whole = lin.partial_eval_flat(f, inputs, lambda i: True)
        outs = eval_jaxpr(whole.jaxpr, whole.consts, y)
        return {
            "the classes of the arguments of f": boxed,
            "a result is known if all are instantiated": [p.is_known for p in again],
            "the outer tracers themselves are results of the program": [
                outs[0] is outer,
                outs[3] is around,
                outs[4] is around,
            ],
            "a box of a use around it itself is a known result": [
                pvals[3].const is around,
                pvals[4].const is around,
            ],
            "a result is known": [p.is_known for p in pvals],
            "the outer tracer itself is the first result": pvals[0].const is outer,
            "the value and the tangent of a known result": [
                pvals[2].const.primal,
                pvals[2].const.tangent,
            ],
            "the value and the tangent of what the program computes": [out.primal, out.tangent],
        }


@probe(uses=[any_error, evaluating])
def partial_fails(mj, siblings):
    """The stack after a function that raises; and a result that has escaped from another use."""

    kept, told, runs, one = [], [], [], get_aval(1.0)

    def keeps(x):
        kept.append(x)
        return [x]

    def raises(x):
        runs.append(x)
        raise error

    with evaluating(siblings) as (lin, _):
        for error in (any_error(), KeyboardInterrupt()):
            try:
                lin.partial_eval_flat(raises, [lin.known(2.0)])
            except BaseException as found:
                told.append([found is error, len(trace_state.stack)])

        def escape(pval):
            mj.jvp(keeps, (2.0,), (1.0,)) if pval is None else lin.partial_eval_flat(keeps, [pval])
            return [kept[-1]]

        def refuses(pval, when):
            outs = escape(pval) if "before" in when else []
            try:
                with new_main(JVPTrace) if "jvp" in when else contextlib.nullcontext():
                    lin.partial_eval_flat(lambda x: outs or escape(pval), [unknown(one)])
            except UnexpectedTracerError:
                return True
            return False

        kinds = {"an unknown box": unknown(one), "a known box": known(2.0), "a box of jvp": None}
        refused = {
            f"{kind} of a use that ended {when} is rejected by UnexpectedTracerError": refuses(
                x, when
            )
            for kind, x in kinds.items()
            for when in ("before f", "before f, inside another use of jvp,", "inside f")
        }
    return {
        "the error itself comes out": [same for same, _ in told],
        "calls of f": len(runs),
        "the heights of the stack after the errors": [height for _, height in told],
        **refused,
    }


def splits(student, *args):
    """Compare the partial evaluation of a function."""
    student.agrees(partial, MADE, *args)


@pytest.mark.keeps("The partial values of the results", "under a new `PartialEvalTrace`")
def test_partial_values_of_results(student):
    """What depends on known inputs alone comes back as a value, all else as a type."""
    splits(student, "product", [3.0, 5.0], [True, False], [7.0])
    splits(student, "product", [ROW, STEP], [True, False], [ROW + 2])
    splits(student, "product", [ROW, 5.0], [False, True], [STEP])


@pytest.mark.meets("order")
@pytest.mark.keeps("to the unknown results, in order")
def test_partial_program(student):
    """The program goes from the unknown inputs to the unknown results, each in order."""
    splits(student, "swap", [ROW, F16(2.0), 3, True], [False] * 4, [STEP, F16(9.0), 4, False])
    splits(student, "swap", [3, EMPTY], [False, False], [4, EMPTY])
    splits(student, "twins", [ROW, ROW], [False, False], [STEP, ROW])
    splits(student, "three", [3.0, ROW, 2.0], [True, False, False], [STEP, 9.0])
    splits(student, "three", [3.0, ROW, STEP], [False, True, False], [0.5, ROW])


@pytest.mark.meets("sizes")
@pytest.mark.keeps("The partial values of the results")
def test_partial_known_alone(student):
    """If everything is known, or nothing, the program has nothing, or everything, to do."""
    splits(student, "chain", [0.0, 5.0], [True, True], [])
    splits(student, "chain", [3.0, 5.0], [False, False], [7.0, 0.5])
    splits(student, "none", [3.0, 5.0], [True, False], [7.0])
    splits(student, "swap", [0.0, ROW, False, EMPTY], [True, False, True, True], [STEP])
    splits(student, "swap", [], [], [])


def test_partial_work(student):
    """Known work is done now and not in the program, which has its results as constants."""
    splits(student, "chain", [ROW, STEP], [True, False], [ROW])
    splits(student, "chain", [ROW, STEP], [False, True], [ROW])


@pytest.mark.meets("zeros")
@pytest.mark.keeps("if `instantiate(i)`")
def test_partial_instantiate(student):
    """A result that is to be instantiated is unknown, and the program returns its value."""
    splits(student, "product", [3.0, 5.0], [True, False], [7.0], [0])
    splits(student, "product", [ROW, STEP], [True, False], [ROW], [0, 1])


@pytest.mark.meets("some_results")
@pytest.mark.keeps("if `instantiate(i)`")
def test_partial_instantiate_some(student):
    """The numbers that are to be instantiated count the results from 0, and no others are."""
    splits(student, "chain", [3.0, 5.0], [True, True], [], [1])
    splits(student, "constants", [3.0, 5.0], [True, False], [7.0], [0, 2, 4, 5])
    splits(student, "swap", [3.0, EMPTY], [True, True], [], [0])
    splits(student, "swap", [3.0, 5.0], [True, True], [], [])


@pytest.mark.meets("more_than_two", "twice")
@pytest.mark.keeps("to the unknown results, in order")
def test_partial_results_often(student):
    """A result may appear several times, before and after others that are known or not."""
    splits(student, "often", [ROW, STEP], [True, False], [ROW])
    for numbers in ([1], [4], [2, 3], [0, 7]):
        splits(student, "often", [3.0, 5.0], [True, False], [7.0], numbers)


@pytest.mark.keeps("if `instantiate(i)`", "The list that `f` returns")
def test_partial_constants(student):
    """A result that is no box, such as a number, is known."""
    splits(student, "constants", [3.0, 5.0], [True, False], [7.0])
    splits(student, "constants", [3.0, 5.0], [False, False], [0.5, 7.0], [1])


def test_partial_branches(student):
    """Python's if can look at a known input, and the other one is never run."""
    splits(student, "branch", [3.0, 5.0], [True, False], [7.0])
    splits(student, "branch", [0.5, 5.0], [True, False], [7.0])


@pytest.mark.meets("another_box", "nested", "closure")
def test_partial_below(student):
    """A tracer of an interpreter further down counts as known, and may be a residual."""
    student.agrees(partial_below, MADE, 3.0, 1.0, 5.0)
    student.agrees(partial_below, MADE, ROW, STEP, ROW + 1)


@pytest.mark.meets("another_box", "exception", "moment")
@pytest.mark.keeps("under a new `PartialEvalTrace`", "even at the same level")
def test_partial_fails(student):
    """A function that raises leaves the stack as it was, and escaped tracers are rejected."""
    student.agrees(partial_fails, MADE)


exercise("linearize.flat")

EVALUATION = (*PROGRAMS, "linearize.partial_eval_flat")
EVALUATED = siblings(*EVALUATION)


@probe(uses=[evaluating])
def linear(mj, siblings, name, primals, tangents, count=None):
    """Values, and what the program gives for several tangents; what it is made of; runs of f."""

    jnp = mj.numpy
    sin, exp = jnp.sin, jnp.exp
    functions = {
        "cube": lambda x: [x * x * x],
        "waves": lambda x: [sin(x) * exp(x), exp(exp(x))],
        "two": lambda x, y: [x / y, jnp.sum(x) * y],
        "swap": lambda *xs: [*xs[::-1]],
        "index": lambda x, n: [x * n, n, sin(x)],
        "constant": lambda *xs: [
            2.0,
            *[x * 3.0 for x in xs],
            np.array([1.0, 2.0]),
            np.float32(2.0),
            4.0,
        ],
        "compare": lambda x, y: [x > y, x - y],
        "product": lambda x, y: [x @ y],
        "branch": lambda x: [sin(x) if x > 0.0 else exp(x)],
        "whole": lambda n: [n * 2, n * 0.5],
        "nothing": lambda x: [],
    }
    calls, results, early = [], [], []

    def f(*xs):
        calls.append(len(xs))
        outs = functions[name](*xs)
        results.append(len(outs))
        return outs

    def how_many():
        early.append(not results)
        return results[0] if count is None else count if results else -1

    with evaluating(siblings) as (lin, _):
        values, program = lin.linearize_flat(f, primals, how_many)
        typecheck_jaxpr(program.jaxpr)
        outs = [eval_jaxpr(program.jaxpr, program.consts, *ts) for ts in tangents]
    return {
        "calls of f": len(calls),
        "count is called before f has run": any(early),
        "the values": values,
        "a value is weakly typed": [get_aval(x).weak_type for x in values],
        "the tangents that the program computes": outs,
        "the operations of the program": sorted(eqn.primitive.name for eqn in program.eqns),
        "the number of constants": len(program.consts),
        "the types of the program's inputs": [(x.shape, x.dtype.name) for x in program.in_avals],
        "an input of the program is weakly typed": [x.weak_type for x in program.in_avals],
        "the classes of the inputs' types": [type(x).__name__ for x in program.in_avals],
        "the types of the program's results": [(x.shape, x.dtype.name) for x in program.out_avals],
        "a result of the program is weakly typed": [x.weak_type for x in program.out_avals],
        "the classes of the values": [type(x).__name__ for x in values],
    }


@probe(uses=[evaluating])
def second_derivative(mj, siblings, x, x_dot, t):
    """The value and the derivative, by jvp, of what the linear program of x sin(x) gives for t."""

    def slope(x):
        values, program = lin.linearize_flat(lambda x: [x * mj.numpy.sin(x)], [x], lambda: 1)
        return values[0], eval_jaxpr(program.jaxpr, program.consts, t)[0]

    with evaluating(siblings) as (lin, _):
        out, out_dot = mj.jvp(slope, (x,), (x_dot,))
    return {"the value": out, "the derivative": out_dot}


@probe(uses=[any_error, evaluating])
def linear_in_turn(mj, siblings, x, t):
    """Uses of one function, which fails at first, and then computes with another factor.

    Its two inputs are one object.
    """
    calls, factors, refused, told = [], [2.0, 3.0], [], []

    def f(x, z):
        calls.append(1)
        if errors:
            raise errors[-1]
        return [y := x * x * z * factors[-1], y, x]

    with evaluating(siblings) as (lin, _):
        primals = [neg_p.bind(x)] * 2
        errors = [any_error(), KeyboardInterrupt()]
        while errors:
            try:
                lin.linearize_flat(f, primals, lambda: 3)
            except BaseException as found:
                refused.append([found is errors.pop(), len(trace_state.stack)])
        while factors:
            values, program = lin.linearize_flat(f, primals, lambda: 3)
            outs = eval_jaxpr(program.jaxpr, program.consts, t, 2.0 * t)
            weak = [x.weak_type for x in (*map(get_aval, values), *program.in_avals)]
            told.append((factors.pop(), values, weak, outs))
    return {
        "calls of f": len(calls),
        "f's error itself comes out, and the height of the stack": refused,
        "what the program gives after a number that the function reads has changed": told,
        "the values are arrays of the package": [isinstance(x, mj.Array) for x in values],
    }


@probe(uses=[evaluating])
def public(mj, siblings, primals, tangents):
    """`linearize` itself, over containers and with something handed through; f_lin called twice."""

    calls = []

    def f(p, n):
        calls.append(sorted(p))
        return {"y": p["a"] * mj.numpy.sin(p["b"]), "n": n}, {"aux": p["b"] * 2.0}

    with evaluating(siblings):
        value, f_lin, aux = mj.linearize(f, *primals, has_aux=True)
        return {
            "the values": value,
            "the auxiliary output": aux,
            "the tangents": [f_lin(*ts) for ts in tangents],
            "calls of f": calls,
        }


def linearizes(student, *args):
    """Compare values and linear program of a function."""
    student.agrees(linear, EVALUATED, *args)


@pytest.mark.meets("weak_type")
@pytest.mark.keeps("and its derivative as a program")
def test_linear_values(student):
    """The values are those of the function, and the program computes the derivative."""
    linearizes(student, "cube", [2.0], [[1.0], [0.5]])
    linearizes(student, "cube", [ROW], [[STEP]])
    linearizes(student, "branch", [0.5], [[1.0]])
    linearizes(student, "branch", [-0.5], [[1.0]])


@pytest.mark.meets("float32", "order")
@pytest.mark.keeps(
    "and its derivative as a program", "takes tangents of float inputs", "one for each float"
)
def test_linear_several_inputs(student):
    """Several inputs and results of different shapes keep their order and their types."""
    linearizes(student, "two", [ROW, 4.0], [[STEP, 0.5], [ROW, 0.0]])
    linearizes(student, "swap", [GRID, 4.0, ROW, 1.5, 2.5], [[GRID_STEP, 0.5, STEP, 2.0, 3.0]])
    linearizes(student, "swap", [EMPTY, 4.0], [[EMPTY, 0.5]])
    linearizes(student, "two", [ROW.astype(F32), F32(4.0)], [[STEP.astype(F32), F32(0.5)]])
    linearizes(student, "index", [F16(1.5), np.float64(2.0)], [[F16(0.5), np.float64(3.0)]])


@pytest.mark.keeps("depends on primals alone")
def test_linear_runs_once(student):
    """The function runs once, however often the program runs afterwards."""
    linearizes(student, "waves", [0.5], [[1.0], [2.0], [-3.0]])
    linearizes(student, "two", [ROW, 4.0], [[STEP, 0.5]] * 3)
    linearizes(student, "nothing", [ROW], [[STEP]])
    student.agrees(linear_in_turn, EVALUATED, 2.0, 0.5)


@pytest.mark.keeps("depends on primals alone")
def test_linear_program_is_linear(student):
    """No sine, exponential or product of primals is left to be computed by the program."""
    linearizes(student, "waves", [ROW], [[STEP]])
    linearizes(student, "product", [GRID, GRID.T * 2], [[GRID_STEP, GRID_STEP.T]])


@pytest.mark.meets("sizes")
@pytest.mark.keeps("takes tangents of float inputs")
def test_linear_integers(student):
    """Integers and booleans have no place in the program, as inputs and as results."""
    for n in (3, True, np.uint8(2)):
        linearizes(student, "index", [1.5, n], [[1.0], [0.5]])
    linearizes(student, "compare", [ROW, 0.0], [[STEP, 1.0]])
    linearizes(student, "whole", [4], [[]])


@pytest.mark.meets("more_than_two", "moment", "some_results")
@pytest.mark.keeps("among the first `count()`", "once `f` has run")
def test_linear_count(student):
    """Only the results that count are differentiated; how many these are is asked late enough."""
    linearizes(student, "waves", [ROW], [[STEP]], 1)
    linearizes(student, "index", [1.5, 3], [[1.0]], 2)
    linearizes(student, "cube", [2.0], [[1.0]], 0)


@pytest.mark.meets("zeros")
@pytest.mark.keeps("one for each float")
def test_linear_constants(student):
    """A result that does not depend on the inputs has a tangent in the program, of zeros."""
    linearizes(student, "constant", [2.0], [[1.0]])
    linearizes(student, "constant", [GRID], [[GRID_STEP]])
    linearizes(student, "constant", [], [[]])


def test_linear_constants_first(student):
    """A result that does not depend on the inputs has zeros, even if no other one counts."""
    linearizes(student, "constant", [2.0], [[1.0]], 1)
    linearizes(student, "constant", [ROW], [[STEP], [ROW]], 1)


@pytest.mark.meets("another_box", "nested")
def test_linear_nested(student):
    """Primals may be tracers: the derivative can be differentiated."""
    student.agrees(second_derivative, EVALUATED, 0.7, 1.0, 3.0)
    student.agrees(second_derivative, EVALUATED, ROW, STEP, ROW + 1)


@pytest.mark.meets("keys")
def test_linear_public(student):
    """`linearize` works over containers, with integers, and with what is handed through."""
    zero = np.zeros((), np.dtype([("float0", np.void, 0)]))
    primals = [{"a": 2.0, "b": 0.5}, 3]
    tangents = [[{"a": 1.0, "b": 0.0}, zero], [{"a": 0.0, "b": 1.0}, zero]]
    student.agrees(public, EVALUATED, primals, tangents)


exercise("linearize.split_jaxpr")


@probe(uses=[chosen, evaluating, names_in, one_program, types_of])
def unzipped(mj, siblings, name, vals, is_known, instantiate, runs):
    """The two programs: their types, what they are made of, and what they compute together.

    `runs` holds values of all inputs, for several runs of the two, one after the other.
    """

    sin, exp, total = mj.numpy.sin, mj.numpy.exp, mj.numpy.sum
    inner = mj.jit(lambda x, y: (sin(x) * y, exp(x)))
    constant = np.array([2.0, 3.0, 5.0])
    functions = {
        "line": lambda x, y: [sin(x) * y],
        "mixed": lambda x, y, z: [y * z, sin(x), y - exp(x), exp(z) * z],
        "shared": lambda x, y: [(c := sin(x)) * y + exp(y * c), c, y],
        "constant": lambda x, y: [x * constant, constant, y * constant],
        "through": lambda x, y: [x, y, x],
        "sums": lambda x, y: [total(x, axis=0) * y, total(y * 2.0), total(x, axis=1)],
        "fixed": lambda x, y: [4.0, y * exp(0.5), mj.jit(lambda: 3.0)()],
        "nothing": lambda x, y: [],
        "alone": lambda: [4.0, constant, np.zeros(3), np.zeros(3, int)],
        "called": lambda x, y: [*inner(x, y), y],
    }

    closed = one_program(core, name, vals, lambda: mj.make_jaxpr(functions[name])(*vals))
    outs = []
    with evaluating(siblings) as (lin, _):
        first, second, out_known = lin.split_jaxpr(closed, tuple(is_known), frozenset(instantiate))
        number = sum(out_known)
        told = [str(typecheck_jaxpr(program.jaxpr)).count("(") for program in (first, second)]
        for run in runs:
            now, later = (chosen(run, is_known, flag) for flag in (True, False))
            results = eval_jaxpr(first.jaxpr, first.consts, *now)
            rest = eval_jaxpr(second.jaxpr, second.consts, *results[number:], *later)
            outs.append([results[:number], rest])
    residuals = types_of(first.jaxpr.outvars[number:])
    split = len(residuals)
    ends = [first.in_avals, first.out_avals[:number], second.in_avals[split:], second.out_avals]
    return {
        "a result is known": out_known,
        "the types of the first program's inputs": types_of(first.jaxpr.invars),
        "the types of the known results": types_of(first.jaxpr.outvars[:number]),
        "the types of the residuals": sorted(residuals),
        "the residuals come first among the second program's inputs": residuals
        == types_of(second.jaxpr.invars[:split]),
        "the types of the second program's other inputs": types_of(second.jaxpr.invars[split:]),
        "the types of the second program's results": types_of(second.jaxpr.outvars),
        "the operations of the first program": names_in(first.jaxpr),
        "the operations of the second program": names_in(second.jaxpr),
        "the number of the second program's constants": len(second.consts),
        "what the two programs compute": outs,
        "the types of the programs, by the type checker": told,
        "an input or a result is weakly typed": [[x.weak_type for x in avals] for avals in ends],
    }


@probe(uses=[evaluating])
def unzipped_alike(mj, siblings, constants, x, y):
    """What the two programs of several functions give that differ in a constant alone."""

    def of(constant):
        closed = mj.make_jaxpr(lambda x, y: (x * constant, x * constant * y))(x, y)
        with evaluating(siblings) as (lin, _):
            first, second, out_known = lin.split_jaxpr(closed, (True, False), frozenset())
            product, *residuals = eval_jaxpr(first.jaxpr, first.consts, x)
            rest = eval_jaxpr(second.jaxpr, second.consts, *residuals, y)
            names = ("a result is known", "the known result", "the other result")
            return dict(zip(names, (out_known, product, rest), strict=True))

    return [of(constant) for constant in constants]


def unzips(student, name, vals, is_known, instantiate=(), again=(), lent=EVALUATED):
    """Compare the two programs of a function."""
    runs = [vals, *again]
    student.agrees(unzipped, lent, name, vals, is_known, list(instantiate), runs)


@pytest.mark.keeps("Unzip a program")
def test_unzip_values(student):
    """The two programs, one after the other, compute what the program does."""
    unzips(student, "line", [0.5, 2.0], [True, False], again=[[1.5, 3.0], [-2.0, 0.5]])
    unzips(student, "line", [ROW, STEP], [False, True], again=[[STEP, ROW]])


@pytest.mark.meets("order", "more_than_two")
@pytest.mark.keeps("known inputs -> known outputs", "Residuals come in any order")
def test_unzip_types(student):
    """Inputs and outputs of both keep their order among themselves, with residuals between."""
    unzips(student, "mixed", [ROW, GRID, 2.0], [True, False, True])
    unzips(student, "mixed", [ROW, GRID, 2.0], [False, True, False])
    unzips(student, "mixed", [0.5, ROW, STEP], [False, False, True], again=[[1.0, STEP, ROW]])


@pytest.mark.meets("twice")
@pytest.mark.keeps("is one residual")
def test_unzip_residuals(student):
    """A value that the second program needs is handed over, once, however often it is used."""
    unzips(student, "shared", [ROW, STEP], [True, False], again=[[STEP / 10, ROW]])
    unzips(student, "through", [ROW, STEP], [True, False], [0, 2])
    unzips(student, "sums", [GRID, ROW], [True, False])
    unzips(student, "sums", [GRID.astype(int), STEP.astype(int)], [True, False])


@pytest.mark.keeps("the second has no constants")
def test_unzip_work(student):
    """No work that needs known inputs alone is left to the second program."""
    unzips(student, "shared", [0.5, 2.0], [True, False])
    unzips(student, "sums", [GRID, ROW], [False, True])


@pytest.mark.meets("some_results")
@pytest.mark.keeps("is not in `instantiate`")
def test_unzip_instantiate(student):
    """An output that is to be instantiated is one of the second program."""
    unzips(student, "mixed", [ROW, GRID, 2.0], [True, False, True], [1])
    unzips(student, "fixed", [0.5, 2.0], [True, False], [0])
    unzips(student, "fixed", [0.5, 2.0], [False, False], [0])


@pytest.mark.keeps("is not in `instantiate`")
def test_unzip_instantiate_all(student):
    """Several outputs can be instantiated, even inputs that are outputs."""
    for dtype in (int, bool):
        unzips(student, "through", [EMPTY.astype(dtype), 2.0], [True, False], [0])
    unzips(student, "constant", [ROW, STEP], [True, False], [1])
    unzips(student, "mixed", [ROW, GRID, 2.0], [True, True, True], [0, 1, 2, 3])


@pytest.mark.meets("sizes")
@pytest.mark.keeps("is not in `instantiate`")
def test_unzip_one_side(student):
    """All inputs may be known, or none; then one of the programs has nothing to do."""
    unzips(student, "line", [0.5, 2.0], [True, True])
    unzips(student, "line", [0.5, 2.0], [False, False])
    unzips(student, "fixed", [3, 2.0], [False, False])
    unzips(student, "through", [ROW, 2.0], [True, False])
    unzips(student, "through", [ROW, 2.0], [False, True])
    unzips(student, "nothing", [ROW, 2.0], [True, False])
    unzips(student, "alone", [], [], [0])


@pytest.mark.keeps("the second has no constants")
def test_unzip_constants(student):
    """Constants of the program reach both; the second one has none of its own."""
    unzips(student, "constant", [ROW, STEP], [True, False])
    unzips(student, "constant", [2.0, STEP], [False, False])
    unzips(student, "fixed", [0.5, 2.0], [False, True])


@pytest.mark.meets("again", "caching")
def test_unzip_other_constants(student):
    """Programs that look the same and have other constants are other programs."""
    student.agrees(unzipped_alike, EVALUATED, [ROW, STEP, ROW], 2.0, 3.0)
    student.agrees(unzipped_alike, EVALUATED, [GRID, GRID_STEP], 2.0, GRID)


exercise("linearize.jit_rule")

EVERYTHING = (*EVALUATION, "linearize.split_jaxpr")
SPLIT = siblings(*EVERYTHING)


@probe(uses=[chosen, evaluating, names_in, partial_of, types_of])
def called(mj, siblings, name, vals, is_known, later, before=()):
    """The results of the rule, what it leaves for later, and what that computes for `later`.

    `before` says which operands are known in calls of the same program before this one.
    """

    sin, exp, total = mj.numpy.sin, mj.numpy.exp, mj.numpy.sum
    functions = {
        "line": lambda x, y: [y - sin(x)],
        "mixed": lambda x, y, z: [y - z, sin(x), y - exp(x), exp(z), z * y],
        "known": lambda x, y: [sin(x), x * 2.0],
        "fixed": lambda x, y: [x * y, sin(2.0), 2.0, np.array([2.0, 3.0])],
        "through": lambda x, y: [y, x, y, x],
        "sums": lambda x, y: [total(x, axis=0) * exp(y), total(y * 2.0)],
        "array": lambda x, y: [y * np.array([2.0, 3.0, 5.0]) * x],
        "nothing": lambda x, y: [],
    }

    closed, splits = mj.make_jaxpr(functions[name])(*vals), []

    def counted(*args):
        splits.append(len(args))
        return right(*args)

    with evaluating(siblings) as (lin, runs), new_main(lin.PartialEvalTrace) as main:
        right, lin.split_jaxpr = lin.split_jaxpr, counted
        trace = lin.PartialEvalTrace(main)
        for flags in (*before, is_known):
            boxes = [trace.new_arg(pval) for pval in partial_of(vals, flags)]
            outs = lin.jit_partial_eval(trace, boxes, name="my_name", jaxpr=closed)
        runs_before = list(runs)
        tracers = [x for x in outs if isinstance(x, lin.PartialEvalTracer)]
        values = [None if isinstance(x, lin.PartialEvalTracer) else np.asarray(x) for x in outs]
        unknown_in = chosen(boxes, is_known, False)
        program = lin.tracers_to_jaxpr(unknown_in, tracers)
        staged = eval_jaxpr(program.jaxpr, program.consts, *later)
    typecheck_jaxpr(program.jaxpr)
    inputs = sorted(types_of([*program.jaxpr.constvars, *program.jaxpr.invars]))
    return {
        "the class of what is returned": type(outs).__name__,
        "the known results": values,
        "a known result is weakly typed": [
            None if isinstance(x, lin.PartialEvalTracer) else get_aval(x).weak_type for x in outs
        ],
        "the classes of the results": [type(x).__name__ for x in outs],
        "the types of the unknown results": types_of(tracers),
        "what is computed later": staged,
        "what is computed later is weakly typed": [get_aval(x).weak_type for x in staged],
        "the types of the later program's inputs": inputs,
        "the known operations that are evaluated": runs_before,
        "the operations that are evaluated in the end": runs,
        "calls of split_jaxpr": len(splits),
        "the operations that are left for later": [e.primitive.name for e in program.eqns],
        "the names of the calls that are left for later": [e.params["name"] for e in program.eqns],
        "the params of the calls that are left for later": [sorted(e.params) for e in program.eqns],
        "the operations of the later program": names_in(program.jaxpr),
        "the number of constants": len(program.consts),
    }


@probe(uses=[any_error, evaluating])
def failing_call(mj, siblings):
    """Whether the error of what is computed at once is the error of the rule."""
    told, runs = [], []

    def fails(*args, name, jaxpr):
        runs.append(name)
        raise errors[-1]

    closed = mj.make_jaxpr(lambda x, y: x * x * y)(3.0, 5.0)
    with (
        evaluating(siblings) as (lin, _),
        new_main(lin.PartialEvalTrace) as main,
        patch.dict(impl_rules, {jit_p: fails}),
    ):
        trace = lin.PartialEvalTrace(main)
        boxes = [trace.new_arg(pval) for pval in (known(3.0), unknown(get_aval(5.0)))]
        errors = [any_error(), KeyboardInterrupt(), MemoryError(), OSError()]
        while errors:
            try:
                told.append(len(lin.jit_partial_eval(trace, boxes, name="", jaxpr=closed)))
            except BaseException as found:
                told.append(found is errors[-1])
            errors.pop()
    return {"the error itself comes out": told, "the names of calls of the known part": runs}


@probe(uses=[evaluating])
def call_of_twins(mj, siblings, places, vals):
    """A call in which a tracer or a known value is an operand several times; run for `vals`.

    `places` says for each operand what it is: an unknown input, minus the other, or -1 for a known
    value, which is a tracer from below.
    """

    def f(x, y, z):
        return x * y - z, z * 2.0 - x, y

    closed = mj.make_jaxpr(f)(*[vals[0]] * 3)
    with (
        evaluating(siblings) as (lin, runs),
        new_main(JVPTrace) as below,
        new_main(lin.PartialEvalTrace) as main,
    ):
        trace, moving = lin.PartialEvalTrace(main), JVPTracer(JVPTrace(below), vals[2], 1.0)
        boxes = [trace.new_arg(lin.unknown(get_aval(x))) for x in vals[:2]]
        choice = boxes[0], -boxes[1], trace.pure(moving)
        operands = [choice[i] for i in places]
        outs = lin.jit_partial_eval(trace, operands, name="", jaxpr=closed)
        known_calls = [*runs]
        tracers = [x if isinstance(x, lin.PartialEvalTracer) else trace.pure(x) for x in outs]
        program = lin.tracers_to_jaxpr(boxes, tracers)
        found = eval_jaxpr(program.jaxpr, program.consts, *vals[:2])
        return {
            "the classes of the results": [type(x).__name__ for x in outs],
            "the known operations that are evaluated": known_calls,
            "the names of the calls that are left for later": [
                eqn.params["name"] for eqn in program.eqns if "name" in eqn.params
            ],
            "the results of the program, and their tangents": [
                [getattr(x, "primal", x), getattr(x, "tangent", None)] for x in found
            ],
        }


@probe(uses=[evaluating, names_in])
def linear_call(mj, siblings, x, tangents):
    """`linearize` of functions that call functions of `jit`; what the linear program is made of."""

    sin, exp, calls = mj.numpy.sin, mj.numpy.exp, []

    def wave(x):
        calls.append("wave")
        return sin(x) * exp(x)

    def told(f):
        values, program = lin.linearize_flat(lambda x: [f(x)], [x], lambda: 1)
        used = set(names_in(program.jaxpr)) & {"sin", "cos", "exp", "log", "div"}
        outs = [eval_jaxpr(program.jaxpr, program.consts, t) for t in tangents]
        return {
            "the values": [np.asarray(v) for v in values],
            "the tangents that the program computes": outs,
            "which of sin, cos, exp, log and div the linear program has": sorted(used),
            "calls of f": len(calls),
        }

    def value(f, x):
        return lin.linearize_flat(lambda x: [f(x)], [x], lambda: 1)[0][0]

    inner = mj.jit(wave)
    double, square = mj.jit(lambda x: x * 2.0), mj.jit(lambda x: x * x)  # both are <lambda>
    outer = mj.jit(lambda x: inner(x) * square(inner(double(x))))
    with evaluating(siblings) as (lin, _):
        return [told(inner), told(outer), told(lambda x: value(inner, x))]


def calls(student, *args):
    """Compare what the rule makes of a call."""
    student.agrees(called, SPLIT, *args)


@pytest.mark.meets("keys")
@pytest.mark.keeps("can be computed now is computed", "The rest is one call", "Both have the name")
def test_call_of_two_parts(student):
    """The known part is called at once, the rest by the program; together they make the result."""
    calls(student, "line", [0.5, 2.0], [True, False], [3.0])
    calls(student, "line", [ROW, STEP], [False, True], [ROW + 1])
    calls(student, "line", [F32(0.5), F32(2.0)], [True, False], [F32(3.0)])
    student.agrees(failing_call, SPLIT)


@pytest.mark.meets("more_than_two")
@pytest.mark.keeps("plain values if known")
def test_call_keeps_the_order(student):
    """Results come in the order of the call, known ones as values and others as tracers."""
    calls(student, "mixed", [ROW, GRID, 2.0], [True, False, True], [GRID_STEP])
    calls(student, "mixed", [ROW, GRID, 2.0], [True, True, False], [7.0])


@pytest.mark.meets("order")
def test_call_keeps_the_order_of_operands(student):
    """Several unknown operands keep their order."""
    calls(student, "mixed", [ROW, STEP, 2.0], [True, False, False], [ROW, 7.0])
    calls(student, "mixed", [0.5, 4.0, 2.0], [False, False, True], [1.5, 7.0])


@pytest.mark.meets("twice")
@pytest.mark.keeps("The rest is one call")
def test_call_of_twins(student):
    """One value may be several operands."""
    for places in ([0, 0, 1], [1, 0, 1], [0, -1, 0], [-1, 0, 0], [-1, -1, 1]):
        student.agrees(call_of_twins, SPLIT, places, [3.0, 5.0, 7.0])


def test_call_residuals(student):
    """What the rest needs is handed over, and is not computed again."""
    calls(student, "sums", [GRID, ROW], [True, False], [STEP / 100])
    calls(student, "sums", [GRID, ROW], [False, True], [GRID_STEP])
    calls(student, "array", [2.0, ROW], [True, False], [STEP])


@pytest.mark.meets("sizes", "some_results")
@pytest.mark.keeps("can be computed now is computed")
def test_call_on_one_side(student):
    """All results may be known though an operand is not, or some though no operand is."""
    calls(student, "known", [0.0, 2.0], [True, False], [3.0])
    calls(student, "known", [F32(0.5), 2.0], [True, False], [3.0])
    calls(student, "fixed", [0.5, 2.0], [False, False], [1.5, 3.0])
    calls(student, "nothing", [0.5, 2.0], [True, False], [3.0])


@pytest.mark.keeps("plain values if known")
def test_call_hands_through(student):
    """Operands that are results themselves come back in their places."""
    for x in (3, np.int64(3), np.bool_(True)):
        calls(student, "through", [x, 2.0], [True, False], [3.0])
    calls(student, "through", [True, EMPTY], [True, False], [EMPTY])
    calls(student, "through", [ROW, EMPTY], [False, True], [ROW * 2])


@pytest.mark.keeps("`jaxpr` is split once")
def test_call_splits_once(student):
    """A program that is called several times is split once for each choice of known operands."""
    calls(student, "line", [0.5, 2.0], [True, False], [3.0], [[True, False]] * 2)
    calls(student, "line", [0.5, 2.0], [False, False], [1.5, 3.0], [[False, False]])
    others = [[True, False], [False, True], [False, False]]
    calls(student, "sums", [GRID, ROW], [True, False], [STEP / 100], others)


@pytest.mark.meets("nested")
def test_call_linearized(student):
    """Functions that call functions of `jit` can be linearized, and what is left is linear."""
    student.agrees(linear_call, siblings(*EVERYTHING, "linearize.flat"), 0.5, [1.0, 2.0])
    student.agrees(linear_call, siblings(*EVERYTHING, "linearize.flat"), ROW, [STEP])


exercise("linearize.split_jaxpr")

CALLS = siblings(*EVALUATION, "linearize.jit_rule")


@pytest.mark.meets("nested")
@pytest.mark.keeps("Unzip a program")
def test_unzip_calls(student):
    """A call of another program within the program is unzipped."""
    unzips(student, "called", [0.5, 2.0], [True, False], again=[[1.5, 3.0]], lent=CALLS)
    unzips(student, "called", [ROW, STEP], [False, True], lent=CALLS)


# Random programs ----------------------------------------------------------------------------------


@probe
def linear_program(mj, f, xs, ts):
    """A program's value, and its derivative in two directions.

    >>> mj.linearize(f, *xs)[1](*ts)
    """
    y, f_lin = mj.linearize(f, *xs)
    return {
        "the values": y,
        "the tangents": f_lin(*ts),
        "the tangents in another direction": f_lin(*xs),
    }


exercise("linearize.partial_eval_flat")


def test_partial_programs(student):
    """Random programs of several inputs and results are evaluated in part correctly."""
    student.agrees_on_programs(linear_program)


exercise("linearize.flat")


def test_linear_programs(student):
    """The value and the derivative of a random program are right."""
    student.agrees_on_programs(linear_program)


exercise("linearize.whole")


@probe(uses=[evaluating])
def values_and_slopes(mj, x, tangents):
    """Values of a function and its derivative in several directions; how often the function ran."""
    runs = []

    def f(x):
        runs.append(1)
        y = mj.numpy.sin(x) * 2.0
        return y * y + y * x, y, 7.0, y

    with evaluating({}):
        values, f_lin = mj.linearize(f, x)
        return {
            "the values": values,
            "the tangents": [f_lin(t) for t in tangents],
            "calls of f": len(runs),
        }


@probe(uses=[evaluating])
def types_throughout(mj, x, t):
    """What values and tangents make of an array of float32: a weak type gives way to it."""
    small, runs = np.ones(2, np.float32), []

    def f(x):
        runs.append(1)
        return mj.numpy.exp(x * 0.5) - x

    with evaluating({}):
        y, f_lin = mj.linearize(f, x)
        called, called_lin = mj.linearize(mj.jit(f), x)
        outs = [out * small for out in (y, f_lin(t), called, called_lin(t))]
        return {"values and tangents times a float32": outs, "calls of f": len(runs)}


@probe(uses=[evaluating])
def outer_values(mj, x, t):
    """Inner functions that return the outer tracer, or compute with it and with their own."""
    runs = []

    def f(x):
        runs.append(1)
        constant, constant_lin = mj.linearize(lambda y: x, 2.0)
        product, product_lin = mj.linearize(lambda y: (x * y + 2.0) * y, x)
        return constant * x + constant_lin(3.0), product, product_lin(x)

    with evaluating({}):
        values, f_lin = mj.linearize(f, x)
        slopes = mj.jvp(lambda x: mj.linearize(f, x)[1](t), (x,), (t,))
        return {
            "the values": values,
            "the tangents": f_lin(t),
            "the inner derivatives": slopes,
            "calls of f": len(runs),
        }


@probe(uses=[evaluating])
def after_errors(mj, x, t):
    """Inner functions that fail in several ways; the outer one goes on with a different one."""
    runs = []

    def broken(error):
        def g(y):
            mj.numpy.exp(y * 2.0 + y)
            raise error

        return g

    def f(x):
        runs.append(1)
        for error in (KeyError("out"), KeyboardInterrupt(), GeneratorExit()):
            try:
                mj.linearize(broken(error), x)
            except BaseException as found:
                x = x * 2.0 if found is error else x
        return x + mj.linearize(lambda y: y * x, x)[1](x)

    with evaluating({}):
        value, f_lin = mj.linearize(f, x)
        return {
            "the values": value,
            "the tangents": f_lin(t),
            "the height of the stack in the end": len(trace_state.stack),
            "calls of f": len(runs),
        }


@probe(uses=[evaluating])
def containers(mj, x, t, n):
    """Containers, an integer, None, what is handed through, and an input without influence."""
    zero = np.zeros(np.shape(n), [("float0", np.void, 0)])
    runs = []

    def f(p, n):
        runs.append(1)
        moved = p["x"] * 2.0 + p["x"]
        return {"moved": [moved, n, moved], "constant": (1.5, None), "bool": moved > 0.0}, (n, None)

    with evaluating({}):
        value, f_lin, aux = mj.linearize(f, {"x": x, "unused": x}, n, has_aux=True)
        tangents = f_lin({"x": t, "unused": x}, zero)
        found = {"the values": value, "the tangents": tangents, "the auxiliary output": aux}
        return {**found, "calls of f": len(runs)}


@probe(uses=[evaluating])
def calls_of_programs(mj, x, t):
    """Functions of `jit`: operands twice, constants, results that are known or not needed."""
    sin = mj.numpy.sin

    def of(row):
        runs = []
        inner = mj.jit(lambda x, y, k: (sin(x) * y * row, k * 2.0, x - k, y))
        outer = mj.jit(lambda x, y: inner(x, y, 3.0)[2] * inner(y, x, x)[0] + inner(x, x, y)[0])
        value, f_lin = mj.linearize(lambda x: [runs.append(1), outer(x, x * x)][1], x)
        tangents = [f_lin(t), f_lin(x)]
        return {"the values": value, "the tangents": tangents, "calls of f": len(runs)}

    with evaluating({}):
        return [of(row) for row in (np.array([2.0, 3.0]), np.array([5.0, 7.0]))]


@probe(uses=[evaluating])
def again(mj, x, t):
    """A function that reads what changes: linearized twice, and in a program; a program split."""
    read, exp, pairs = [], mj.numpy.exp, []

    def f(x):
        return mj.numpy.sin(x) * exp(read[-1])

    def g(x):
        return mj.linearize(f, x)[1](t) * exp(1.5)

    with evaluating({}) as (lin, _):
        for number in (2.5, 0.5):
            read.append(number)
            value, f_lin = mj.linearize(f, x)
            pairs.append([value, f_lin(t)])
        closed = mj.make_jaxpr(g)(x)
        names = [str(eqn.primitive) for eqn in closed.eqns]
        splits = [lin.partial_eval_jaxpr(closed, (True,), frozenset(i)) for i in ([], [0])]
        return {
            "values and tangents, one call after another": pairs,
            "operations 'exp' of the program": names.count("exp"),
            "the value of the program": eval_jaxpr(closed.jaxpr, closed.consts, x),
            "results of a program that are known, without and with `instantiate`": [
                known_out for _, _, known_out in splits
            ],
        }


@probe(uses=[evaluating])
def in_threads(mj, x, t):
    """Derivatives while another thread linearizes: one that ends later, one in between."""
    begun, ended, found = threading.Event(), threading.Event(), {}

    def late(x):
        begun.set()
        ended.wait(2)
        return [x * x, x]

    def early(x):
        second.start()
        begun.wait(2)
        return [x * x * x]

    def derive(name, f, count):
        values, program = lin.linearize_flat(f, [x], count)
        tangents = eval_jaxpr(program.jaxpr, program.consts, t)
        found[f"values and tangents in {name}"] = values, tangents

    def count():
        third = threading.Thread(target=derive, args=["the third thread", sine, lambda: 1])
        third.start()
        third.join()
        return 1

    def sine(x):
        return [mj.numpy.sin(x)]

    with evaluating({}) as (lin, _):
        second = threading.Thread(target=derive, args=["the second thread", late, lambda: 2])
        derive("the first thread", early, count)
        ended.set()
        second.join()
        return found


@probe(uses=[evaluating])
def long_program(mj, x, t, steps):
    """A function of many steps, one after the other."""
    runs = []

    def f(x):
        runs.append(1)
        for _ in range(steps):
            x = -x
        return x * x

    with evaluating({}):
        value, f_lin = mj.linearize(f, x)
        return {"the value": value, "the tangent": f_lin(t), "calls of f": len(runs)}


@probe(uses=[evaluating])
def linear_within(mj, f, xs, ts):
    """A random program with constants, linearized; and its derivative, which is linearized too.

    >>> mj.linearize(f, *xs)[1](*ts)
    """

    runs = []

    def slopes(*ys):
        runs.append(1)
        return mj.linearize(f, *ys)[1](*ts), 2.0 * ys[0]

    with evaluating({}):
        value, f_lin = mj.linearize(slopes, *xs)
        return {"the values": value, "the tangents": f_lin(*ts), "calls of f": len(runs)}


def test_whole_values(student):
    """A function returns its values, and its derivative in every direction, and runs once."""
    student.agrees(values_and_slopes, 0.5, [1.0, -2.0])
    student.agrees(values_and_slopes, ROW, [STEP, ROW])


@pytest.mark.meets(
    weak_type="partial_eval_flat split_jaxpr jit_rule",
    float32="partial_eval_flat split_jaxpr jit_rule",
)
def test_whole_types(student):
    """Values and tangents have the dtypes of the function, and stay weakly typed if it is."""
    student.agrees(types_throughout, 0.5, 1.0)
    student.agrees(types_throughout, F32(0.5), F32(1.0))


@pytest.mark.meets(another_box="flat", closure="flat")
def test_whole_outer_values(student):
    """In functions linearized inside each other, each sees its own input move, and no other."""
    student.agrees(outer_values, 0.5, 2.0)


@pytest.mark.meets(exception="flat")
def test_whole_after_errors(student):
    """After an inner function that fails, the outer one goes on, and all is as before."""
    student.agrees(after_errors, 0.5, 2.0)


@pytest.mark.meets(twice="flat", none="flat")
def test_whole_containers(student):
    """Arguments and results are containers, of which some leaves do not move."""
    student.agrees(containers, ROW, STEP, 3)
    student.agrees(containers, 2.0, 1.0, np.arange(3))


@pytest.mark.meets(again="partial_eval_flat flat jit_rule", caching="jit_rule")
def test_whole_calls(student):
    """Functions that call functions of `jit` are linearized, whatever they are called with."""
    student.agrees(calls_of_programs, 0.5, 2.0)


def test_whole_again(student):
    """A function is linearized anew in each call, even in a program and beside other threads."""
    student.agrees(again, 0.5, 2.0)
    student.agrees(in_threads, 0.5, 2.0)


@pytest.mark.meets(length="stage_out tracers_to_jaxpr partial_eval_flat flat")
def test_whole_long(student):
    """A program may have more steps than Python has room for calls."""
    student.agrees(long_program, 0.5, 2.0, 1200)


def test_whole_programs(student):
    """The derivative of a random program is right, and so is the derivative of that."""
    student.agrees_on_programs(linear_within, number=5)
