"""Hidden tests of the `staging` lesson: programs as data, written down, run, and cleaned.

Programs travel as lists of lines such as `["add", 0, 3.0]`. A whole number is a place: the
parameters come first, then the results of the lines. Everything else is a constant. Probes show a
variable by its place too, so it is told by which one it is, and not by its name. The whole module
is asked for random programs.
"""

from typing import TYPE_CHECKING

import pytest

from autograder.grading.in_worker import grown, odd, of_all_kinds
from autograder.grading.suite import exercise, probe

if TYPE_CHECKING:  # imported by each probe that reads them
    import builtins
    import gc
    import weakref

    from microjax.interpreters import context
    from microjax.staging import staged

FOO = [["add", 0, 3.0], ["mul", 0, 1]]  # x * (x + 3.0)
TWO = [["mul", 1, 0], ["add", 2, 1], ["mul", 0.5, 3]]  # 0.5 * (y * x + y)
CONSTANTS = [["mul", 2.0, 4.0], ["add", 1, 0], ["add", 0.0, -1.5]]  # the last is not needed


def answering(mj, answer):
    """An interpreter that answers by a function."""

    class Answering(mj.Interpreter):
        def interpret_op(self, op, args):
            return answer(op, args)

    return Answering()


def program(mj, number, lines, result, names=None, known=None):
    """A program of such lines; `known` says for which values other constants stand."""
    names = names or [f"a{i}" for i in range(number + len(lines))]
    variables = [mj.Var(name) for name in names]

    def atom(a):
        return variables[a] if type(a) is int else (known or {}).get(a, a)

    equations = tuple(
        mj.Equation(variables[number + i], mj.Op[name], tuple(map(atom, operands)))
        for i, (name, *operands) in enumerate(lines)
    )
    return mj.Jaxpr(tuple(variables[:number]), equations, atom(result))


def parts(jaxpr, values):
    """What a program consists of, its variables by their places among these values."""

    def shown(x):
        places = [i for i, value in enumerate(values) if value is x and type(x).__name__ == "Var"]
        return f"place {places[0]}" if places else str(x)

    return {
        "the parameters": [shown(p) for p in jaxpr.parameters],
        "the equations": [
            (shown(e.var), e.op.name, type(e.args)(map(shown, e.args))) for e in jaxpr.equations
        ],
        "the result": shown(jaxpr.return_val),
        "the types of the parts": [
            type(x).__name__ for x in (jaxpr, jaxpr.parameters, jaxpr.equations)
        ],
    }


exercise("staging.build_jaxpr")


@probe(uses=[answering, parts])
def built(mj, number, lines, result):
    """A program, its variables by place; and what the function saw while it ran."""

    def f(*xs):
        runs.append(len(xs))
        values[:] = xs
        for name, *operands in lines:
            values.append(getattr(mj, name)(*(atom(a) for a in operands)))
        return atom(result)

    def atom(a):
        return values[a] if isinstance(a, int) else a

    runs, values, asked = [], [], []
    tell = answering(mj, lambda op, args: asked.append(op.name))
    with mj.set_interpreter(tell):
        jaxpr = mj.build_jaxpr(f, number)
        restored = mj.current_interpreter() is tell
    return {
        "the text of the program": str(jaxpr),
        **parts(jaxpr, values),
        "calls of f": runs,
        "calls of the interpreter before": len(asked),
        "the interpreter before is back": restored,
    }


@probe(uses=[answering])
def built_inside(mj, depth):
    """Programs that are built while others are being built, the innermost first.

    Some operations go through an interpreter of the function's own, which passes them on.
    """

    def f(x):
        def passing(op, args):
            passed.append(op.name)
            return before.interpret_op(op, args)

        y, before = mj.add(x, 1.0), mj.current_interpreter()
        if len(open_programs) < depth:
            open_programs.append(y)
            jaxprs.append(mj.build_jaxpr(f, 1))
        with mj.set_interpreter(answering(mj, passing)):
            z = mj.add(mj.mul(open_programs[0], y), 0.5)
        return z if jaxprs else open_programs[0]

    open_programs, jaxprs, variables, passed = [], [], {}, []
    jaxprs.append(mj.build_jaxpr(f, 1))
    atoms = [
        [*j.parameters, *(x for e in j.equations for x in (e.var, *e.args)), j.return_val]
        for j in jaxprs
    ]
    return {
        "the texts of the programs, the innermost first": list(map(str, jaxprs)),
        "which of their variables and constants are the same": [
            [variables.setdefault(x, len(variables)) for x in each] for each in atoms
        ],
        "what passes through interpreters of the function's own": passed,
    }


@probe
def built_again(mj):
    """Programs of one function whose surroundings change, and of one that takes any number."""

    class Scaled:
        """A function that has no name, and says that it is empty."""

        __hash__ = None

        def __len__(self):
            return 0

        def __call__(self, *xs):
            return mj.mul(mj.add(xs[0], xs[-1]), factor[0])

    factor, f = [3.0], Scaled()
    jaxprs = [mj.build_jaxpr(f, 1)]
    factor[0] = -0.5
    jaxprs += [mj.build_jaxpr(f, number) for number in (1, 2, 1)]
    variables = {id(p) for jaxpr in jaxprs for p in jaxpr.parameters}
    return {
        "the texts of the programs": list(map(str, jaxprs)),
        "the number of variables": len(variables),
    }


def equal():
    """Constants some of which are equal, and one is equal to everything.

    Some of them are names of variables here, or something that code may be tempted to use.
    """

    class Same:
        def __eq__(self, other):
            return True

        def __hash__(self):
            return 0

    tempting = [*"xyz", "v_1", "v_2", repr, iter(()), ValueError("text")]
    return [*of_all_kinds(), 1.0, 0.0, (2.5,), Same(), *tempting]


@probe(uses=[equal])
def built_on_constants(mj):
    """Whether operands and results of many kinds are written down as the very objects they are."""
    dual = mj.DualNumber(mj.JVPInterpreter(mj.current_interpreter()), 2.0, 1.0)
    values, operands = [dual, mj.Var("v_1"), False, float("inf"), *equal()], []

    def f(x):
        for value in values:
            operands.extend([(x, value), (value, x), (value, value), (value, dual)])
        outs = [operation(*pair) for pair in operands for operation in (mj.add, mj.mul)]
        for _ in range(800):
            x = mj.add(x, x)
        return outs[0]

    def result_of(value):
        return mj.build_jaxpr(lambda x: (mj.add(x, 1.5), value)[1], 1).return_val

    jaxpr = mj.build_jaxpr(f, 1)
    return {
        "the types of the operands": sorted({type(e.args).__name__ for e in jaxpr.equations}),
        "the number of equations": len(jaxpr.equations),
        "the operands themselves are kept": [
            x is a and y is b
            for equations in (jaxpr.equations[::2], jaxpr.equations[1::2])
            for (x, y), (a, b) in zip((e.args for e in equations), operands, strict=False)
        ].count(True),
        "the variable of the first equation is the result": (
            jaxpr.return_val is jaxpr.equations[0].var
        ),
        "the results themselves are kept": [result_of(value) is value for value in values],
    }


@probe
def built_in_vain(mj, number, error_class):
    """What comes of a function that fails, or only leaves another interpreter behind."""

    def f(*xs):
        came.append("runs")
        mj.add(xs[0], 1.0)
        with mj.set_interpreter(outer[0]):
            mj.mul(3.0, xs[0] if error_class == "KeyError" else 0.5)
        context.interpreter = mj.Interpreter()
        if raised:
            raise raised

    def outside(x):
        y = mj.add(x, 1.0)
        outer.append(mj.current_interpreter())
        try:
            mj.build_jaxpr(f, number)
        except BaseException as error:
            came.append("the function's" if error is raised else "another error")
        came.append(mj.current_interpreter() is outer[0])
        return mj.mul(x, y)

    came, outer = [], []
    raised = error_class and getattr(builtins, error_class)("of the function")
    text = str(mj.build_jaxpr(outside, 1))
    return {"runs, error, and is the interpreter before back": came, "the program around it": text}


@pytest.mark.meets("order")
@pytest.mark.keeps("On any arguments", "the parameters first")
def test_the_program_of_a_function(student):
    """The program has the function's operations in their order, and its result."""
    student.agrees(built, 1, FOO, 2)
    student.agrees(built, 1, CONSTANTS[:2], 2)
    student.agrees(built, 1, [["mul", 0, 0], ["mul", 1, 1], ["mul", 2, 1]], 3)


@pytest.mark.meets("zeros")
@pytest.mark.keeps("On any arguments", "is not asked anything")
def test_nothing_is_computed(student):
    """An operation on constants is written down like any other, and not applied."""
    student.agrees(built, 0, [["add", 2.0, 4.5]], 0)
    student.agrees(built, 1, CONSTANTS, 3)
    for x in (0.0, 1.0, -1.0, 2.0):
        lines = [["mul", 0, x], ["add", 0, x], ["mul", x, 0], ["add", x, 0]]
        student.agrees(built, 1, lines, 4)


@pytest.mark.meets("twice", "extremes")
def test_the_same_operation_twice(student):
    """An operation that comes twice is two equations with two variables."""
    student.agrees(built, 1, [["mul", 0, 0], ["mul", 0, 0], ["add", 1, 2]], 3)
    student.agrees(built, 0, [["add", 1.0, 2.0], ["add", 1.0, 2.0]], 1)
    student.agrees(built, 1, [["mul", 0, 0.0], ["mul", 0, -0.0], ["mul", 2.0, 1], ["mul", 2, 1]], 4)


@pytest.mark.meets("another_box", "closure")
def test_operands_of_others_are_kept(student):
    """Values of other interpreters are constants here, and are written down as they are."""
    student.agrees(built_on_constants)


@pytest.mark.meets("order", "sizes")
@pytest.mark.keeps("a function of `num_args` arguments", "the parameters first")
def test_several_parameters(student):
    """There is a parameter for each argument, in their order, even if it is not used."""
    student.agrees(built, 2, TWO, 4)
    student.agrees(built, 3, [["add", 2, 0]], 3)
    student.agrees(built, 12, [["add", 11, 9], ["mul", 1, 12], ["mul", 13, 2]], 14)
    student.agrees(built, 0, [["add", 1.0, 2.0]], 0)


@pytest.mark.meets("another_box", "some_results", "none", "zeros")
@pytest.mark.keeps("On any arguments")
def test_results_of_other_kinds(student):
    """A function may return an argument, an earlier value or a constant."""
    student.agrees(built, 1, [*FOO, ["add", 2, 1.0]], 2)
    student.agrees(built, 1, CONSTANTS, 2)
    student.agrees(built, 2, TWO, 1)
    student.agrees(built, 2, [], 1)
    student.agrees(built, 1, FOO, 5.5)
    student.agrees(built, 1, FOO, None)


@pytest.mark.meets("again", "caching")
@pytest.mark.keeps("runs once, here")
def test_the_function_runs_each_time(student):
    """Each program is written anew, with variables of its own."""
    student.agrees(built_again)


@pytest.mark.meets("nested", "mutation")
@pytest.mark.keeps("the parameters first")
def test_programs_inside_programs(student):
    """A program that is built while another is being built leaves the other alone."""
    student.agrees(built_inside, 1)
    student.agrees(built_inside, 3)


@pytest.mark.meets("exception", "moment")
@pytest.mark.keeps("is current again afterwards")
def test_a_function_that_fails(student):
    """The error of a function is raised, and the program around it goes on as before."""
    for error in ("KeyError", "StopIteration", "ValueError", "AttributeError", "IndexError"):
        student.agrees(built_in_vain, 1, error)
    student.agrees(built_in_vain, 3, "KeyboardInterrupt")
    student.agrees(built_in_vain, 2, "RecursionError")
    student.agrees(built_in_vain, 2, None)


exercise("staging.eval_jaxpr")


@probe(uses=[program])
def values(mj, number, lines, result, runs, errors=False):
    """The values of a program for several lists of arguments, or the `errors` that they raise."""
    jaxpr, found = program(mj, number, lines, result), []
    equations = jaxpr.equations
    for args in runs:
        try:
            found.append(mj.eval_jaxpr(jaxpr, list(args)))
        except Exception as error:
            if not errors or isinstance(error, NotImplementedError):
                raise
            found.append(type(error).__name__)
    same = jaxpr.equations == equations, len(jaxpr.parameters)
    return {"the values": found, "the program stays": same}


@probe(uses=[answering, program])
def texts(mj, number, lines, result, args, names=None, outer=()):
    """The value of a program where operations make strings, and all that was asked for.

    `names` are those of the variables. A constant such as "outer 0" stands for the first of some
    variables that belong to a program outside, called by the names in `outer`.
    """

    def text(op, args):
        in_tuples.append(type(args) is tuple)
        asked.append(f"{op}({', '.join(map(shown, args))})")
        return asked[-1]

    def shown(x):
        return next((word for word, variable in foreign.items() if variable is x), str(x))

    foreign = {f"outer {i}": mj.Var(name) for i, name in enumerate(outer)}
    jaxpr, asked, in_tuples = program(mj, number, lines, result, names, foreign), [], []
    with mj.set_interpreter(answering(mj, text)):
        results = [shown(mj.eval_jaxpr(jaxpr, tuple(args))) for _ in range(2)]
    return {
        "the results of two calls": results,
        "what the current interpreter is asked": asked,
        "the operands reach the interpreter in a tuple": all(in_tuples),
    }


@probe(uses=[answering])
def after_another_program(mj, x):
    """A program that returns variables of one that has run, and one that runs inside itself."""

    def again(op, args):
        with mj.set_interpreter(base):
            inside.append(mj.eval_jaxpr(jaxpr, (inside[-1] + 1.0,)))
        return args[0] + args[1]

    a, b, c, d = (mj.Var(name) for name in "abcd")
    lines = mj.Equation(b, mj.Op.mul, (a, 2.0)), mj.Equation(c, mj.Op.add, (a, b))
    jaxpr, base, inside = mj.Jaxpr((a,), lines, c), mj.current_interpreter(), [x]
    value = mj.eval_jaxpr(jaxpr, (x,))
    kept = [mj.eval_jaxpr(mj.Jaxpr((d,), (), var), (1.5,)) is var for var in (a, b, c)]
    others = [mj.eval_jaxpr(mj.Jaxpr((a,), lines, out), (x,)) for out in (c, b, a, b, c)]
    swapped = [mj.eval_jaxpr(mj.Jaxpr((a, d), (), var), (d, a)) for var in (a, d)]
    with mj.set_interpreter(answering(mj, lambda op, args: args)):
        both = mj.Equation(b, mj.Op.add, (a, d))
        swapped += mj.eval_jaxpr(mj.Jaxpr((a, d), (both,), b), (d, a))
        then = mj.Equation(c, mj.Op.mul, (d, b))
        given, pair = mj.eval_jaxpr(mj.Jaxpr((a, d), (both, then), c), (c, b))
    with mj.set_interpreter(answering(mj, lambda op, args: args[1])):
        swapped += [given, *pair, mj.eval_jaxpr(mj.Jaxpr((a, d), (both,), b), (d, a))]
    with mj.set_interpreter(answering(mj, again)):
        outside = mj.eval_jaxpr(jaxpr, (x,))
    return {
        "value": value,
        "the values of programs of the same equations, with other results": others,
        "a variable of a program that has run stands for itself in a different one": kept,
        "a value that is a variable of this very program is a value like any other": [
            x is var for x, var in zip(swapped, (d, a, d, a, b, c, b, a), strict=True)
        ],
        "the value of a program that runs inside itself": outside,
        "the values of the runs inside": inside,
    }


@probe(uses=[answering, program])
def errors_of_operations(mj, errors):
    """Whether an error of the interpreter comes out, and the program runs again afterwards."""

    def fail(op, args):
        if op is mj.Op.mul:
            came.append("asked")
            raise raised
        return args[0] + args[1]

    jaxpr, came = program(mj, 1, [["add", 0, 1.5], ["mul", 1, 1]], 2), []
    for name in errors:
        raised = getattr(builtins, name)("of the interpreter")
        with mj.set_interpreter(answering(mj, fail)):
            try:
                mj.eval_jaxpr(jaxpr, (2.0,))
            except BaseException as error:
                came.append("the interpreter's" if error is raised else "another error")
    return {"questions and errors": came, "the value afterwards": mj.eval_jaxpr(jaxpr, (2.0,))}


@probe(uses=[answering, equal, odd])
def evaluated_of_all_kinds(mj):
    """Whether constants and values of many kinds stay as they are, on their way through."""

    def second(op, args):
        seen.append(args)
        return args[1]

    values, opaque = equal(), odd()
    x, y, z = (mj.Var(name) for name in "xyz")
    seen, lines = [], []
    for value in values:
        line = mj.Equation(y, mj.Op.add, (x, value))
        lines.append((line, mj.Equation(z, mj.Op.mul, (x, y))))
    with mj.set_interpreter(answering(mj, second)):
        outs = [mj.eval_jaxpr(mj.Jaxpr((x,), both, z), (opaque,)) for both in lines]
        args = [mj.eval_jaxpr(mj.Jaxpr((x,), lines[0], x), (value,)) for value in [*values, opaque]]
        last = mj.eval_jaxpr(mj.Jaxpr((x,), (mj.Equation(y, mj.Op.add, (x, x)),), y), [opaque])
        alone = [mj.eval_jaxpr(mj.Jaxpr((x,), (), value), [opaque]) for value in values]
    return {
        "the constants reach the interpreter themselves": [
            args[1] is value for args, value in zip(seen[::2], values, strict=False)
        ],
        "the argument reaches it itself": [args[0] is opaque for args in seen[: len(values)]],
        "results are used, and returned, themselves": [
            out is value for out, value in zip([*outs, last], [*values, opaque], strict=True)
        ],
        "arguments and constants are returned themselves": [
            x is value for x, value in zip([*args, *alone], [*values, opaque, *values], strict=True)
        ],
    }


@probe(uses=[answering, program])
def existing(mj, lines, result):
    """A program of one parameter on objects that can be watched: how many results exist at once."""

    class Number:
        def __init__(self, value):
            self.value = value

    def make(op, args):
        x, y = (arg.value for arg in args)
        number = Number((x + y if op is mj.Op.add else x * y) % 1009)
        exist.add(number)
        most.append(len(exist))
        return number

    exist, most = weakref.WeakSet(), []
    with mj.set_interpreter(answering(mj, make)):
        out = mj.eval_jaxpr(program(mj, 1, lines, result), [Number(3)]).value
    if exist:
        gc.collect()  # an environment may be part of a cycle
    return {
        "value": out,
        "never more than ten results exist": max(most) <= 10,
        "none of them exists afterwards": not exist,
    }


@probe(uses=[answering, program])
def other_numbers(mj, number, lines, result, args):
    """The value of a program where a sum is a maximum and a product is a sum."""
    means = {mj.Op.add: max, mj.Op.mul: sum}
    with mj.set_interpreter(answering(mj, lambda op, args: means[op](args))):
        return {"value": mj.eval_jaxpr(program(mj, number, lines, result), tuple(args))}


@probe(uses=[program])
def derivatives(mj, lines, result, x, order):
    """Derivatives of x * program(x), in whose lines "x" stands for the x outside, as a constant."""

    def f(x):
        return mj.mul(x, mj.eval_jaxpr(program(mj, 1, lines, result, known={"x": x}), (x,)))

    return {"the derivatives": [mj.nth_order_derivative(n, f, x) for n in range(order + 1)]}


@pytest.mark.meets("order", "again", "some_results", "mutation")
@pytest.mark.keeps("The value that a program returns")
def test_values_of_programs(student):
    """A program returns what its operations compute, for any arguments, as often as you like."""
    student.agrees(values, 1, FOO, 2, [[2.0], [-1.5], [2.0]])
    student.agrees(values, 2, TWO, 4, [[2.0, 5.0], [5.0, 2.0]])
    student.agrees(values, 1, FOO, 1, [[2.0], [0.0], [-3.0]])


@pytest.mark.meets("sizes", "none")
@pytest.mark.keeps("any value that can be hashed")
def test_constants_stand_for_themselves(student):
    """An operand or a result that is a constant is that constant, whatever kind of thing it is."""
    student.agrees(values, 1, CONSTANTS, 2, [[2.0], [7.5]])
    student.agrees(values, 1, CONSTANTS, 3, [[2.0], [7.5]])
    student.agrees(values, 1, [], 5.5, [[2.0]])
    student.agrees(texts, 1, [["add", 0, None], ["mul", "k", 1]], 2, ["x"])
    equal = [["add", 0, 0.0], ["mul", 1, -0.0], ["add", True, 2], ["mul", 1.0, 3]]
    student.agrees(texts, 1, equal, 4, ["x"])
    student.agrees(texts, 0, [["mul", True, True]], 0, [])
    student.agrees(evaluated_of_all_kinds)


@pytest.mark.meets("zeros")
@pytest.mark.keeps("The value that a program returns")
def test_zeros_are_values_like_others(student):
    """A variable has the value that it was given, even if that is 0.0 or None."""
    student.agrees(values, 1, FOO, 2, [[0.0], [-0.5]])
    student.agrees(values, 2, [["mul", 0, 1], ["add", 2, 0]], 3, [[0.0, 4.0], [4.0, 0.0]])
    student.agrees(values, 1, [], 0, [[0.0]])
    student.agrees(values, 1, [], 0, [[None], [()], [False]])


@pytest.mark.meets("order")
@pytest.mark.keeps("applies each operation once")
def test_the_current_interpreter_applies_the_operations(student):
    """The current interpreter is asked once for each equation, with the operands in their order."""
    student.agrees(texts, 1, [["add", 0, "c"], ["add", 0, 1]], 2, ["x"])
    student.agrees(texts, 2, TWO, 4, ["x", "y"])
    student.agrees(texts, 1, CONSTANTS, 2, ["x"])
    student.agrees(texts, 1, CONSTANTS, "k", ["x"])
    twice = [["mul", 0, 0], ["mul", 0, 0], ["add", 1, 2]]
    student.agrees(texts, 1, twice, 3, ["x"])


def test_sums_mean_what_the_interpreter_says(student):
    """If a different interpreter is current, a sum means what that one says."""
    student.agrees(other_numbers, 1, [["add", 0, 3.0], ["add", 1, 0]], 2, [2.0])
    student.agrees(other_numbers, 2, TWO, 4, [2.0, 5.5])


@pytest.mark.keeps("applies each operation once")
def test_products_mean_what_the_interpreter_says(student):
    """If a different interpreter is current, a product means what that one says."""
    student.agrees(other_numbers, 1, [["mul", 0, 3.0], ["mul", 1, 0]], 2, [2.0])
    student.agrees(other_numbers, 2, [["mul", 0, 1], ["mul", 2, -1.0]], 3, [4.0, 0.5])


def test_variables_of_the_same_name(student):
    """Two variables are two variables, even if they have the same name."""
    student.agrees(texts, 2, TWO, 4, ["x", "y"], ["v", "v", "v", "v", "v"])
    student.agrees(texts, 1, FOO, 2, ["x"], ["v", "w", "v"])


@pytest.mark.meets("another_box", "closure")
@pytest.mark.keeps("any value that can be hashed")
def test_variables_of_a_program_outside(student):
    """A variable of a program outside is a constant, whatever its name."""
    lines = [["add", 0, "outer 0"], ["mul", "outer 1", 1]]
    student.agrees(texts, 1, lines, 2, ["x"], ["v_1", "v_2", "v_3"], ["v_1", "v_2"])
    student.agrees(texts, 1, lines, 2, ["outer"], ["v_1", "v_2", "v_3"], ["w_1", "w_2"])
    for x in (0.5, -3.0):
        student.agrees(after_another_program, x)


@pytest.mark.meets("another_box")
def test_a_result_from_outside(student):
    """A program may return a variable of a program outside, whatever its name."""
    lines = [["mul", 0, 2.0], ["add", 0, 1.0]]
    student.agrees(texts, 1, lines, "outer 1", ["x"], ["v_1", "v_2", "v_3"], ["v_3", "v_2"])
    student.agrees(texts, 1, [], "outer 0", ["x"], ["v_1"], ["w"])


@pytest.mark.meets("exception")
def test_operations_that_fail(student):
    """An error of the interpreter comes out as it is, and the program can be run again."""
    student.agrees(errors_of_operations, ["KeyError", "ValueError", "KeyboardInterrupt"])
    student.agrees(errors_of_operations, ["TypeError", "IndexError", "AttributeError"])
    student.agrees(errors_of_operations, ["StopIteration", "NotImplementedError", "RuntimeError"])


@pytest.mark.meets("nested", "closure")
def test_derivatives_of_programs(student):
    """A program can be differentiated, even several times, and with moving constants in it."""
    student.agrees(derivatives, FOO, 2, 2.0, 4)
    student.agrees(derivatives, [["mul", 0, "x"], ["add", "x", 1]], 2, -1.5, 3)
    student.agrees(derivatives, [["mul", 0, 0]], "x", 3.0, 2)


@pytest.mark.meets("length")
@pytest.mark.keeps("are not kept")
def test_results_that_were_needed(student):
    """A result is not kept any more when the last operation that needs it is done."""
    student.agrees(existing, [["add", i, 0] for i in range(1_200)], 1_200)
    student.agrees(existing, [["mul", i, i] for i in range(20)], 20)
    pairs = [["add", i, max(i - 1, 0)] for i in range(200)]
    student.agrees(existing, [*pairs, ["mul", 200, 1], ["mul", 1, 2]], 201)
    student.agrees(existing, [*pairs, ["mul", 0, 3], ["add", 201, 200]], 3)


@pytest.mark.meets("some_results")
@pytest.mark.keeps("are not kept")
def test_results_that_nothing_needs(student):
    """A result that no operation needs is not kept, and the program's result is."""
    student.agrees(existing, [["mul", 0, 0]] * 100, 2)
    student.agrees(existing, [["add", i - i % 5, 0] for i in range(100)], 100)


@pytest.mark.meets("sizes", "exception")
@pytest.mark.keeps("Raises `TypeError`")
def test_a_wrong_number_of_values(student):
    """More or fewer values than parameters raise TypeError."""
    student.agrees(values, 1, FOO, 2, [[], [2.0], [2.0, 5.0]], True)
    student.agrees(values, 2, TWO, 4, [[2.0], [2.0, 5.0, 7.0]], True)
    student.agrees(values, 2, [["mul", 0, 0]], 2, [[], [2.0], [2.0, 5.0]], True)


@pytest.mark.keeps("Raises `TypeError`")
def test_a_program_without_parameters(student):
    """A program without parameters takes no values, and returns its constant."""
    student.agrees(values, 0, [], 1.5, [[], [2.0]], True)


exercise("staging.dce_jaxpr")


@probe(uses=[parts, program])
def cleaned(mj, number, lines, result, names=None):
    """What is left of a program, its variables by place, and whether the program itself changed."""
    given = program(mj, number, lines, result, names)
    equations, text = given.equations, str(given)
    for equation in equations:  # other programs of the same equations
        mj.dce_jaxpr(mj.Jaxpr(given.parameters, equations, equation.var))
    jaxpr = mj.dce_jaxpr(given)
    return {
        **parts(jaxpr, [*given.parameters, *(equation.var for equation in equations)]),
        "the given program stays": given.equations == equations and str(given) == text,
    }


@probe
def cleaned_long(mj, length, after):
    """How much is left of a long chain: not every third equation, nor those after the result."""
    x = last = mj.Var("x")
    equations = []
    for i in range(length):
        var = mj.Var(f"v{i}")
        equations.append(mj.Equation(var, mj.Op.add, (last, last)))
        last = last if i % 3 == 2 else var
    for i in range(after):
        equations.append(mj.Equation(mj.Var(f"w{i}"), mj.Op.mul, (equations[-1].var, last)))
    jaxpr = mj.dce_jaxpr(mj.Jaxpr((x,), tuple(equations), last))
    left = [str(e.var) for e in jaxpr.equations[-3:]]
    return {"the number of equations": len(jaxpr.equations), "the last equations": left}


@probe(uses=[equal])
def cleaned_of_all_kinds(mj):
    """What is left of programs with a constant of each kind, as an operand and as the result."""
    x, y, z = (mj.Var(name) for name in "xyz")
    outs = []
    for value in [mj.Var("y"), *equal()]:
        lines = mj.Equation(y, mj.Op.mul, (x, value)), mj.Equation(z, mj.Op.add, (value, x))
        cleaned = [mj.dce_jaxpr(mj.Jaxpr((x,), lines, result)) for result in (y, z, value)]
        kept = [
            [a is b for a, b in zip((e.var, *e.args), (line.var, *line.args), strict=True)]
            for jaxpr, line in zip(cleaned, lines, strict=False)
            for e in jaxpr.equations
        ]
        outs.append((kept, len(cleaned[2].equations), cleaned[2].return_val is value))
    return {"what stays of equations, operands and results": outs}


@pytest.mark.meets("order", "mutation")
@pytest.mark.keeps("These stay as they were")
def test_what_is_needed_stays(student):
    """Equations that the result needs stay, all of them, in their order."""
    student.agrees(cleaned, 1, FOO, 2)
    student.agrees(cleaned, 2, TWO, 4)
    student.agrees(cleaned, 1, [["mul", 0, 0], ["mul", 1, 1], ["mul", 2, 1], ["add", 3, 1]], 4)
    student.agrees(cleaned, 1, [["add", 0, 1.0], ["mul", 1, 1], ["add", 0, 2.0], ["mul", 3, 2]], 4)


@pytest.mark.meets("some_results")
@pytest.mark.keeps("without the equations", "does not need the product")
def test_what_is_not_used_goes(student):
    """An equation goes if its variable is not used."""
    student.agrees(cleaned, 1, CONSTANTS, 2)
    student.agrees(cleaned, 1, [["mul", 0, 0], ["add", 0, 3.0], ["mul", 0, 2]], 3)
    student.agrees(
        cleaned, 1, [["mul", 0, 0], ["add", 0, 3.0], *[["mul", 2, 1]] * 6, ["mul", 0, 2]], 9
    )
    student.agrees(cleaned, 2, [*TWO, ["add", 4, 4]], 4)


@pytest.mark.meets("some_results")
@pytest.mark.keeps("An equation is needed if")
def test_what_only_useless_equations_use_goes(student):
    """An equation goes even if equations use it that are not needed themselves."""
    student.agrees(cleaned, 1, [["add", 0, 1.0], ["mul", 1, 1], ["add", 2, 1], ["mul", 0, 4.0]], 4)
    student.agrees(cleaned, 1, [["add", 0, 1.0], ["mul", 1, 1], ["mul", 1, 2.0], ["mul", 2, 3]], 3)
    student.agrees(cleaned, 2, TWO, 2)


@pytest.mark.meets("sizes")
@pytest.mark.keeps("An equation is needed if")
def test_programs_that_need_nothing(student):
    """If the result is a constant or a parameter, no equation is needed."""
    student.agrees(cleaned, 1, FOO, 5.5)
    student.agrees(cleaned, 2, TWO, 1)
    student.agrees(cleaned, 0, [["add", 1.0, 2.0]], 3.0)


@pytest.mark.meets("sizes")
@pytest.mark.keeps("so do all parameters")
def test_parameters_stay(student):
    """All parameters stay, even those that are not needed."""
    student.agrees(cleaned, 3, [["add", 2, 2.0], ["mul", 0, 0]], 3)
    student.agrees(cleaned, 2, [], 1)
    student.agrees(cleaned, 2, [["add", 0, 1]], 7.0)


@pytest.mark.meets("twice", "caching")
def test_each_equation_stays_once(student):
    """An equation that is used twice stays once, and equations that look alike all stay."""
    student.agrees(cleaned, 1, [["add", 0, 1.0], ["mul", 1, 1], ["mul", 2, 1], ["mul", 2, 3]], 4)
    student.agrees(cleaned, 1, [["mul", 0, 0], ["mul", 0, 0], ["add", 1, 2]], 3)
    student.agrees(cleaned, 0, [["mul", 2.0, 3.0], ["mul", 2.0, 3.0], ["add", 0, 1]], 2)


@pytest.mark.meets("another_box", "caching", "closure")
@pytest.mark.keeps("does not change")
def test_names_do_not_matter(student):
    """Variables are told apart by what they are, not by their names."""
    student.agrees(cleaned, 1, CONSTANTS, 2, ["v", "v", "v", "v"])
    student.agrees(cleaned, 2, TWO, 2, ["v", "v", "w", "w", "w"])


@pytest.mark.meets("none")
def test_constants_need_nothing(student):
    """A constant needs no equation, whatever kind of thing it is, and stays as it is."""
    student.agrees(cleaned_of_all_kinds)


@pytest.mark.meets("length")
@pytest.mark.keeps("does not change")
def test_long_programs(student):
    """Programs may be long, and use each value twice."""
    student.agrees(cleaned_long, 7, 0)
    student.agrees(cleaned_long, 3_001, 0)
    student.agrees(cleaned_long, 7, 1_200)


exercise("staging.whole")


def chains(mj, seeds, inputs):
    """The values of random programs, each of which takes the one before."""
    outs = []
    for seed in seeds:
        outs.append(grown(mj, seed, [*inputs, *outs[-1:]], 6))
    return outs


@probe(uses=[grown])
def written(mj, seeds, number):
    """Random programs as strings, and those of a constant function and of an argument."""
    jaxprs = [mj.build_jaxpr(lambda *xs, s=s: grown(mj, s, xs), number) for s in seeds]
    return {
        "the texts of random programs": list(map(str, jaxprs)),
        "the texts of the cleaned programs": [str(mj.dce_jaxpr(jaxpr)) for jaxpr in jaxprs],
        "the text of a program that returns an argument": str(
            mj.build_jaxpr(lambda *xs: xs[0], number)
        ),
        "the text of a program that returns a constant": str(mj.build_jaxpr(lambda: 2.5, 0)),
    }


@probe(uses=[grown])
def written_derivatives(mj, seeds, order):
    """The programs of derivatives of random programs, and their values."""
    texts, values = [], []
    for seed in seeds:

        def f(x, seed=seed):
            return grown(mj, seed, [x], 4)

        jaxpr = mj.build_jaxpr(lambda x, f=f: mj.nth_order_derivative(order, f, x), 1)
        texts.append(str(jaxpr))
        values.append(repr(mj.eval_jaxpr(jaxpr, (1.5,))))
    return {"the texts of the derivatives": texts, "the values of the derivatives": values}


@probe(uses=[grown])
def there_and_back(mj, seeds, points):
    """Values of random programs by way of their data, twice; and the wrong number of values."""
    outs = []
    for seed in seeds:
        jaxpr = mj.build_jaxpr(lambda *xs, s=seed: grown(mj, s, xs), len(points[0]))
        outs += [repr(mj.eval_jaxpr(jaxpr, tuple(xs))) for xs in (*points, points[0])]
        try:
            mj.eval_jaxpr(jaxpr, tuple(points[0][1:]))
        except TypeError:
            outs.append("TypeError")
    return {"the values": outs}


@probe(uses=[answering])
def staged_twice(mj):
    """How often a function has run that is staged twice, and which operations its calls apply."""
    runs, asked = [], []

    def f(x):
        runs.append(x)
        mj.mul(x, x)
        return mj.add(x, float(len(runs)))

    calls = [staged(f, 1), staged(f, 1)]
    counts = [len(runs)]
    values = [call(x) for call in calls for x in (2.0, 3.0)]
    with mj.set_interpreter(answering(mj, lambda op, args: asked.append(op.name))):
        calls[0](2.0)
    return {
        "calls of f, after it is staged and after calls": [*counts, len(runs)],
        "the values": values,
        "the operations of a call": asked,
        "two variables with the same name are one": mj.Var("a") == mj.Var("a"),
    }


@probe(uses=[grown])
def staged_derivatives(mj, seeds, x):
    """Derivatives of staged programs, and of programs that are staged inside, of a moving input."""

    def inside(x, seed):
        g = staged(lambda y: grown(mj, seed, [x, y], 5), 1)
        return mj.mul(g(x), mj.derivative(g, x))

    outs = []
    for seed in seeds:
        f = staged(lambda x, s=seed: grown(mj, s, [x], 5), 1)
        outs.append([mj.nth_order_derivative(n, f, x) for n in range(3)])
        outs.append([mj.nth_order_derivative(n, lambda x, s=seed: inside(x, s), x) for n in (0, 1)])
    return {"the derivatives": outs}


@probe(uses=[grown])
def written_inside(mj, seeds, depth):
    """A program in which a program is built and run that closes over the variables outside."""

    def f(x, depth):
        y = grown(mj, seeds[0], [x], 2)
        if depth == 0:
            return y
        inner = mj.build_jaxpr(lambda z: mj.add(grown(mj, seeds[1], [x, y, z], 3), f(z, 0)), 1)
        texts.append(str(inner))
        return mj.mul(mj.eval_jaxpr(inner, (f(y, depth - 1),)), x)

    texts = []
    jaxpr = mj.build_jaxpr(lambda x: f(x, depth), 1)
    return {
        "the program": str(jaxpr),
        "the programs inside": texts,
        "the program's value": repr(mj.eval_jaxpr(jaxpr, (1.5,))),
        "the function's value": repr(f(1.5, depth)),
    }


@probe(uses=[chains])
def swept(mj, seeds, number):
    """Programs of which a part is needed, before and after cleaning, and their values."""
    outs = []
    for keep in range(len(seeds)):
        jaxpr = mj.build_jaxpr(lambda *xs, i=keep: chains(mj, seeds, xs)[i], number)
        clean = mj.dce_jaxpr(jaxpr)
        values = [repr(mj.eval_jaxpr(j, (1.5,) * number)) for j in (jaxpr, clean)]
        outs.append(
            {
                "the cleaned program": str(clean),
                "the program that is cleaned twice": str(mj.dce_jaxpr(clean)),
                "the number of equations before": len(jaxpr.equations),
                "the values": values,
            }
        )
    return outs


@probe
def long_programs(mj, length):
    """A long program in which every value is used twice: written, cleaned, and run."""

    def f(x):
        y = x
        for i in range(length):
            mj.mul(y, x)
            y = mj.add(y, y) if i % 40 == 0 else mj.mul(mj.add(y, y), 0.5)
        return y

    jaxpr = mj.build_jaxpr(f, 1)
    clean = mj.dce_jaxpr(jaxpr)
    return {
        "the number of equations": len(jaxpr.equations),
        "the number of equations that are needed": len(clean.equations),
        "value": mj.eval_jaxpr(clean, (1.0,)),
    }


@probe(uses=[grown])
def after_failures(mj, seed):
    """Functions that fail while they are staged, inside one that goes on; and what is current."""
    before, errors = mj.current_interpreter(), []

    def broken(x):
        mj.mul(x, x)
        raise KeyError("out")

    def f(x):
        y = grown(mj, seed, [x], 3)
        try:
            mj.build_jaxpr(broken, 1)
        except KeyError as error:
            errors.append(error.args[0])
        return grown(mj, seed, [x, y], 3)

    jaxpr, back = mj.build_jaxpr(f, 1), mj.current_interpreter() is before
    return {
        "the text of the program": str(jaxpr),
        "the program's value": repr(mj.eval_jaxpr(jaxpr, (1.5,))),
        "the errors that come out": errors,
        "the interpreter before is back": back,
    }


@pytest.mark.meets(sizes="build_jaxpr")
def test_whole_texts(student):
    """Random functions become programs with their operations, operands and result."""
    student.agrees(written, [1, 2, 3], 1)
    student.agrees(written, [4, 5], 3)


def test_whole_derivatives_as_programs(student):
    """The derivative of a function can be staged to a program."""
    student.agrees(written_derivatives, [1, 2], 1)
    student.agrees(written_derivatives, [3], 2)


@pytest.mark.meets(twice="eval_jaxpr", again="eval_jaxpr", caching="eval_jaxpr")
def test_whole_round_trip(student):
    """A program run on values returns what the function returns."""
    student.agrees(there_and_back, [1, 2, 3], [[1.5, -2.0], [0.0, 0.25]])


def test_whole_derivatives(student):
    """Staged functions can be differentiated, and stage functions of a moving input."""
    student.agrees(staged_derivatives, [1, 2, 3], 1.5)
    student.agrees(staged_derivatives, [4], -0.5)
    student.agrees(staged_twice)


@pytest.mark.meets(
    another_box="build_jaxpr", nested="build_jaxpr eval_jaxpr", closure="build_jaxpr"
)
def test_whole_programs_inside(student):
    """A program that is built and run inside another takes its variables for constants."""
    student.agrees(written_inside, [1, 2], 1)
    student.agrees(written_inside, [3, 4], 2)


@pytest.mark.meets(again="dce_jaxpr", some_results="dce_jaxpr", mutation="dce_jaxpr")
def test_whole_cleaning(student):
    """A cleaned program has the operations that its result needs, and the same value."""
    student.agrees(swept, [1, 2, 3, 4], 1)
    student.agrees(swept, [5, 6, 7], 2)


@pytest.mark.meets(length="build_jaxpr eval_jaxpr dce_jaxpr")
def test_whole_long_programs(student):
    """Programs may be long, and use each value twice."""
    student.agrees(long_programs, 1_000)


@pytest.mark.meets(exception="build_jaxpr")
def test_whole_failures(student):
    """A function that fails while it is staged leaves the program around it as it was."""
    student.agrees(after_failures, 1)
    student.agrees(after_failures, 2)
