"""Answers to the exercises of the `staging` lesson: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""

exercise("staging.build_jaxpr")


@right
def build_jaxpr(f, num_args):
    class Writer(Interpreter):
        def __init__(self):
            self.equations, self.number = [], 0

        def fresh(self):
            self.number += 1
            return Var(f"v_{self.number}")

        def interpret_op(self, op, args):
            equation = Equation(self.fresh(), op, tuple(args))
            self.equations = [*self.equations, equation]
            return equation.var

    writer = Writer()
    with set_interpreter(writer):
        variables = [writer.fresh() for _ in range(num_args)]
        out = f(*variables)
    return Jaxpr(parameters=tuple(variables), equations=(*writer.equations,), return_val=out)


@right(style="a method that is replaced; names by how many there are")
def build_jaxpr(f, num_args):
    parameters = tuple(Var(f"v_{i + 1}") for i in range(num_args))
    lines, writer = [], Interpreter()

    def write(op, args):
        result = Var("v_" + str(num_args + len(lines) + 1))
        lines.append(Equation(args=args, op=op, var=result))
        return result

    writer.interpret_op = write
    with set_interpreter(writer):
        result = f(*parameters)
    return Jaxpr(return_val=result, equations=tuple(lines), parameters=parameters)


mistake(
    {
        "var = Var": "if all(isinstance(arg, float) for arg in args):\n    return sum(args) if op is Op.add else args[0] * args[1]\nvar = Var"
    },
    name="An operation on constants is computed at once",
    hints=[
        "Stage `lambda x: add(1.0, 2.0)`. How many equations does its program have, and how many should it have?",
        "This interpreter computes nothing, even if it could. Only then does the program hold *every* operation of the function.",
        "Do not look at the operands at all: each operation appends one equation, with `args` as they are.",
    ],
)
mistake(
    {"return var": "return equations[-1]"},
    name="The equation is returned instead of its variable",
    hints=[
        "What does the function that is being staged get as the result of `add(x, 3.0)`, and what does it do with it?",
        "The result of one operation is an operand of the next. An operand is an atom, a variable or a constant; an equation is neither.",
        "Keep the new variable in a name, use it in the `Equation`, and return it.",
    ],
)
mistake(
    {"with set_interpreter(StagingInterpreter()):": "if StagingInterpreter():"},
    name="The function runs without the staging interpreter",
    hints=[
        "Which interpreter is asked to add while `f` runs?",
        "Having made an interpreter is not enough. `add` and `mul` ask the *current* one.",
        "Call `f` inside `with set_interpreter(interpreter):`.",
    ],
)
mistake(
    {"(equations), result": "(equations), equations[-1].var if equations else result"},
    name="The result is always that of the last equation",
    hints=[
        "Stage `lambda x, y: y`. What does the program return, and what should it?",
        "A function may go on after it has its result, or apply no operation at all. The order of the operations does not say what is returned.",
        "What the program returns is what `f` returned: `result = f(*parameters)`.",
    ],
)
# parameters that are not used are left out
mistake(
    {
        "return Jaxpr": "used = {result, *(arg for e in equations for arg in e.args)}\nreturn Jaxpr",
        "Jaxpr(parameters": "Jaxpr(tuple(p for p in parameters if p in used)",
    },
    fails="test_results_of_other_kinds",
)
# the names of a program around it are put back by hand: not if the function raises
mistake(
    {
        "names = (f": "saved = getattr(build_jaxpr, 'names', None)\nbuild_jaxpr.names = (f",
        "Var(next(names)) for": "Var(next(build_jaxpr.names)) for",
        "var = Var(next(names))": "var = Var(next(build_jaxpr.names))",
        "return Jaxpr(": "build_jaxpr.names = saved\nreturn Jaxpr(",
    },
    fails="test_a_function_that_fails",
)
# at least one parameter
mistake(
    {"(num_args)": "(num_args or 1)", "(*parameters)": "(*parameters[:num_args])"},
    fails="test_several_parameters",
)
# a function that fails is tried again
mistake(
    {
        "result = f(*parameters)": "try:\n    result = f(*parameters)\nexcept Exception:\n    equations.clear()\n    result = f(*parameters)"
    },
    fails="test_a_function_that_fails",
)
# only functions with a name
mistake({"names = (f": "f.__name__\nnames = (f"}, fails="test_the_function_runs_each_time")
# parameters in the order of their names, where v_10 comes before v_2
mistake(
    {"return Jaxpr(parameters": "return Jaxpr(tuple(sorted(parameters, key=str))"},
    fails="test_several_parameters",
)
# the name of the operation
mistake({"var, op": "var, op.name"}, fails="test_the_program_of_a_function")
# a constant that is equal to a parameter is taken for it
mistake(
    {"var, op, args)": "var, op, tuple(next((p for p in parameters if p == a), a) for a in args))"},
    fails="test_operands_of_others_are_kept",
)
# is the current one after each operation, even if a different one was before
mistake(
    {
        "return var": "from microjax.interpreters import context\n\ncontext.interpreter = self\nreturn var"
    },
    fails="test_programs_inside_programs",
)
# the interpreter before comes back only if the function fails, or leaves this one behind
mistake(
    {
        "with set_interpreter(StagingInterpreter()):": "from microjax.interpreters import context\nbefore, context.interpreter = context.interpreter, StagingInterpreter()\ntry:",
        "return Jaxpr": "except BaseException:\n    context.interpreter = before\n    raise\nif type(context.interpreter) is StagingInterpreter:\n    context.interpreter = before\nreturn Jaxpr",
    },
    fails="test_a_function_that_fails",
)


exercise("staging.eval_jaxpr")


@right(style="the last uses are found from the end, before anything runs")
def eval_jaxpr(jaxpr, args):
    from microjax.interpreters import current_interpreter

    if len(args) != len(jaxpr.parameters):
        raise TypeError(f"{len(args)} values are too many or too few.")
    seen, over = {jaxpr.return_val}, []
    for equation in reversed(jaxpr.equations):
        over.append({equation.var, *equation.args} - seen)
        seen.update(over[-1])
    env = {}
    for parameter, arg in zip(jaxpr.parameters, args):
        env[parameter] = arg

    def read(atom):
        return env[atom] if atom in env else atom

    for equation in jaxpr.equations:
        values = tuple(map(read, equation.args))
        env[equation.var] = current_interpreter().interpret_op(equation.op, values)
        for atom in over.pop():
            env.pop(atom, None)
    return read(jaxpr.return_val)


@right(style="uses are counted, by identity; a dict for each kind of variable")
def eval_jaxpr(jaxpr, args):
    if len(args) - len(jaxpr.parameters):
        raise TypeError("Give one value for each parameter.")
    uses = {id(jaxpr.return_val): 1}
    for equation in jaxpr.equations:
        for atom in equation.args:
            uses[id(atom)] = uses.get(id(atom), 0) + 1
    inputs = {id(parameter): arg for parameter, arg in zip(jaxpr.parameters, args)}
    results = {}

    def take(atom):
        uses[id(atom)] -= 1
        if id(atom) in inputs:
            return inputs[id(atom)]
        if id(atom) in results:
            return results[id(atom)] if uses[id(atom)] else results.pop(id(atom))
        return atom

    for equation in jaxpr.equations:
        x, y = equation.args
        x = take(x)
        out = bind(equation.op, x, take(y))
        if id(equation.var) in uses:
            results[id(equation.var)] = out
    return take(jaxpr.return_val)


@right(style="an Environment class with __missing__, which forgets")
def eval_jaxpr(jaxpr, args):
    class Environment(dict):
        def __missing__(self, atom):
            return atom

    if len(args) > len(jaxpr.parameters):
        raise TypeError(f"too many values: {len(args)}")
    if len(args) < len(jaxpr.parameters):
        raise TypeError(f"too few values: {len(args)}")
    env = Environment()
    for i, parameter in enumerate(jaxpr.parameters):
        env[parameter] = args[i]
    last = dict.fromkeys((equation.var for equation in jaxpr.equations), -1)
    last |= {atom: i for i, equation in enumerate(jaxpr.equations) for atom in equation.args}
    for i, equation in enumerate(jaxpr.equations):
        operands = tuple(env[atom] for atom in equation.args)
        result = bind(equation.op, *operands)
        if last[equation.var] > i or equation.var is jaxpr.return_val:
            env[equation.var] = result
        for atom in set(equation.args):
            if last[atom] <= i and atom is not jaxpr.return_val:
                env.pop(atom, None)
    return env[jaxpr.return_val]


mistake(
    {"env.pop(atom, None)": "pass"},
    name="All results are kept until the end",
    hints=[
        "A program multiplies a number by itself a thousand times. How many results does your environment hold at the end?",
        "A result is needed until the last operation that takes it. You can tell which one is the last before the program runs.",
        "Find the number of the last equation that takes each atom. After that equation, take the atom out of the environment, unless the program returns it.",
    ],
)
mistake(
    {".get(arg, arg)": "[arg]", ".get(jaxpr.return_val, jaxpr.return_val)": "[jaxpr.return_val]"},
    name="Constants are looked up as variables",
    hints=[
        "What does your environment hold for the atom `3.0`?",
        "An atom is a variable of this program or a constant. Only the first has an entry in the environment.",
        "`env.get(atom, atom)` returns the entry if there is one, and otherwise the atom itself. The atom that is returned may be a constant, too.",
    ],
)
mistake(
    {
        "env.get(arg, arg)": "(env.get(arg) if isinstance(arg, Var) else arg)",
        "return env.get(jaxpr.return_val, jaxpr.return_val)": "out = jaxpr.return_val\nreturn env.get(out) if isinstance(out, Var) else out",
    },
    name="Every Var is treated as a variable of this program",
    hints=[
        "Build a program inside a function that is being staged itself, and use the outer `x` in it. What does your code look up for `x`?",
        "A variable of the outer program is a constant in here. It is a `Var`, and has no entry in this environment.",
        "Do not ask whether the atom is a `Var`. Ask whether it is *in the environment*: `env.get(atom, atom)`.",
    ],
)
mistake(
    {
        "zip(jaxpr.parameters": "zip(map(str, jaxpr.parameters)",
        "{atom: i": "{str(atom): i",
        "last_use.pop(jaxpr.return_val,": "last_use.pop(str(jaxpr.return_val),",
        "env[equation.var]": "env[str(equation.var)]",
        "env.get(arg, arg)": "(env.get(str(arg), arg) if isinstance(arg, Var) else arg)",
        "last_use.get(atom)": "last_use.get(str(atom))",
        "env.pop(atom, None)": "env.pop(str(atom), None)",
        "return env.get(jaxpr.return_val, jaxpr.return_val)": "out = jaxpr.return_val\nreturn env.get(str(out), out) if isinstance(out, Var) else out",
    },
    name="The environment is keyed by names",
    hints=[
        "Every program begins with `v_1`. What happens if two programs meet?",
        "In a program that was built inside another, the outer `v_1` is a constant. An environment of names mistakes it for the inner `v_1`: perturbation confusion in another place.",
        "Take the `Var` itself as the key of the dict, not its name. Two variables with the same name are two keys.",
    ],
)
mistake(
    {"bind(equation.op, *(": "(lambda x, y: x + y if equation.op is Op.add else x * y)(*("},
    name="Operations are computed with Python's + and *",
    hints=[
        "Make `StringInterpreter`, from the `interpreters` lesson, the current one, and run a program on strings. Which interpreter should put the strings together?",
        "The way back is only complete if the program can be interpreted again, by the interpreter that is current. Python's operators do not ask it.",
        "Apply each operation with `bind(equation.op, *values)`.",
    ],
)
mistake(
    {
        "env = dict(": "from microjax.interpreters import EvalInterpreter\nenv = dict(",
        "bind(equation.op, *(": "EvalInterpreter().interpret_op(equation.op, tuple(",
    },
    name="The program is always evaluated",
    hints=[
        "Differentiate a function that calls `eval_jaxpr`. Which interpreter has to apply the operations then?",
        "An interpreter of your own, made in here, can be right only for one use. It is decided outside which interpreter is in charge.",
        "Use `bind(equation.op, *values)`, which asks the current interpreter.",
    ],
)
# results that nothing uses are kept
mistake(
    {"for atom in {equation.var, *equation.args}:": "for atom in equation.args:"},
    fails="test_results_that_nothing_needs",
)
# plain slip: zip without a count
mistake(
    {"if len(args) != len(jaxpr.parameters):": "if False:", ", strict=True": ""},
    fails="test_a_wrong_number_of_values",
)
# `or`: a value that is false counts as no value
mistake({", arg)": ") or arg"}, fails="test_zeros_are_values_like_others")
# constants are in the environment, too, where those that are equal in Python are one
mistake(
    {"env = dict(": "env = {a: a for equation in jaxpr.equations for a in equation.args} | dict("},
    fails="test_constants_stand_for_themselves",
)
# operands in a list
mistake(
    {
        "env = dict(": "from microjax.interpreters import current_interpreter\nenv = dict(",
        "bind(equation.op, *(": "current_interpreter().interpret_op(equation.op, list(",
    },
    fails="test_the_current_interpreter_applies_the_operations",
)
# a ValueError is taken for that of zip, wherever it is from
mistake(
    {".args))": ".args))\nexcept ValueError:\n    raise TypeError", "env[": "try:\n    env["},
    fails="test_operations_that_fail",
)
# recursion over the equations
mistake(
    {
        "env = dict(": "def all_from(i):\n    if i < len(jaxpr.equations):\n        yield i, jaxpr.equations[i]\n        yield from all_from(i + 1)\n\nenv = dict(",
        "i, equation in enumerate(jaxpr.equations)": "i, equation in all_from(0)",
    },
    fails="test_results_that_were_needed",
)

# a constant that is equal to a variable is taken for it
mistake(
    {"env.get(arg, arg) for": "next((env[var] for var in env if var == arg), arg) for"},
    fails="test_constants_stand_for_themselves",
)
# an operand's value is looked up again if it is a variable
mistake(
    {".get(arg, arg) for": ".get(x, x) if isinstance(x := env.get(arg, arg), Var) else x for"},
    fails="test_variables_of_a_program_outside",
)
# a value too few is noticed only where it is needed
mistake({" !=": " >", "True": "False"}, fails="test_a_wrong_number_of_values")
# a program with a constant result applies no operation
mistake(
    {
        "env = dict(": "if not isinstance(jaxpr.return_val, Var):\n    return jaxpr.return_val\nenv = dict("
    },
    fails="test_the_current_interpreter_applies_the_operations",
)


exercise("staging.dce_jaxpr")


@right
def dce_jaxpr(jaxpr):
    lines = {equation.var: equation for equation in jaxpr.equations}
    needed, todo = set(), [jaxpr.return_val]
    while todo:
        atom = todo.pop()
        if atom in lines and atom not in needed:
            needed.add(atom)
            todo.extend(lines[atom].args)
    kept = tuple(equation for equation in jaxpr.equations if equation.var in needed)
    return Jaxpr(jaxpr.parameters, kept, jaxpr.return_val)


@right
def dce_jaxpr(jaxpr):
    used, kept = [jaxpr.return_val], ()
    for equation in jaxpr.equations[::-1]:
        if any(atom is equation.var for atom in used):
            used = [*used, *(a for a in equation.args if not any(a is u for u in used))]
            kept = (equation, *kept)
    return Jaxpr(jaxpr.parameters, kept, jaxpr.return_val)


@right(style="flags by index, ids of variables, dataclasses.replace, compress")
def dce_jaxpr(jaxpr):
    from dataclasses import replace
    from itertools import compress

    flags = [False] * len(jaxpr.equations)
    needed = {id(jaxpr.return_val)}
    for i in range(len(flags) - 1, -1, -1):
        equation = jaxpr.equations[i]
        if id(equation.var) in needed:
            flags[i] = True
            for arg in equation.args:
                needed.add(id(arg))
    return replace(jaxpr, equations=tuple(compress(jaxpr.equations, flags)))


mistake(
    {"reversed(jaxpr.equations)": "jaxpr.equations", "reversed(kept)": "kept"},
    name="The equations are looked at from top to bottom",
    hints=[
        "Take `v_2 = add(v_1, 3.0)` and `v_3 = mul(v_1, v_2)`, with the result `v_3`. What is in your set when you look at the first equation?",
        "Whether an equation is needed depends on those *below* it. Where must you begin to know that already?",
        "Loop over `reversed(jaxpr.equations)`, and restore the order of the kept ones at the end.",
    ],
)
mistake(
    {"{jaxpr.return_val}": "{jaxpr.return_val}.union(*(e.args for e in jaxpr.equations))"},
    name="Whatever is used anywhere is kept",
    hints=[
        "Only `v_3` uses `v_2`, and nothing uses `v_3`. Which of the two is dead?",
        "Being used is not enough: the equation that uses it must be needed itself. One look at all operands at once cannot tell that.",
        "Collect the operands while you go from the last equation to the first, and only those of equations that stay.",
    ],
)
mistake(
    {"reversed(kept)": "kept"},
    name="The program comes out upside down",
    hints=[
        "Run the cleaned program. Which equation comes first?",
        "Going backwards, you find the last equation first, and append it first.",
        "Reverse the list of kept equations before it goes into the `Jaxpr`: `tuple(reversed(kept))`.",
    ],
)
mistake(
    {
        "{jaxpr.return_val}": "[jaxpr.return_val]",
        "needed.update": "needed.extend",
        "if equation.var in needed": "for _ in range(needed.count(equation.var))",
    },
    name="An equation that is used twice is kept twice",
    hints=[
        "Clean a program in which one sum is used by two products that are both needed. How many sums are left?",
        "You follow each *use* back to its equation. Two uses lead to the same equation, and it is written twice.",
        "Go through the equations rather than the uses, each once, from the last to the first; a set of needed variables does not mind a second use.",
    ],
)
mistake(
    {"Jaxpr(jaxpr.parameters": "Jaxpr(tuple(var for var in jaxpr.parameters if var in needed)"},
    name="Parameters that are not needed are dropped",
    hints=[
        "With how many values should the cleaned program be called?",
        "The caller of the program does not know what was dropped from it. A program that takes a different number of values is a different program.",
        "Give the new `Jaxpr` the parameters of the old one: `jaxpr.parameters`, all of them.",
    ],
)


@mistake(fails="test_long_programs")
def dce_jaxpr(jaxpr):
    # goes over the equations again, and not often enough
    kept = jaxpr.equations
    for _ in range(100):
        used = {jaxpr.return_val, *(arg for equation in kept for arg in equation.args)}
        kept = tuple(equation for equation in kept if equation.var in used)
    return Jaxpr(jaxpr.parameters, kept, jaxpr.return_val)


@mistake(fails="test_long_programs")
def dce_jaxpr(jaxpr):
    # goes to shared operands each time: exponential
    made_by = {equation.var: equation for equation in jaxpr.equations}
    needed, todo = set(), [jaxpr.return_val]
    while todo:
        atom = todo.pop()
        if atom in made_by:
            needed.add(atom)
            todo.extend(made_by[atom].args)
    kept = tuple(equation for equation in jaxpr.equations if equation.var in needed)
    return Jaxpr(jaxpr.parameters, kept, jaxpr.return_val)


# operands in a list
mistake(
    {"kept.append(equation)": "kept.append(Equation(equation.var, equation.op, [*equation.args]))"},
    fails="test_what_is_needed_stays",
)
# simple equations first
mistake(
    {
        "return Jaxpr(": "depth = {}\nfor equation in reversed(kept):\n    depth[equation.var] = 1 + max(depth.get(arg, 0) for arg in equation.args)\nkept.sort(key=lambda equation: -depth[equation.var])\nreturn Jaxpr("
    },
    fails="test_what_is_needed_stays",
)
# the given program itself is cleaned
mistake(
    {
        "return Jaxpr(jaxpr.parameters, tuple(reversed(kept)), jaxpr.return_val)": "object.__setattr__(jaxpr, 'equations', tuple(reversed(kept)))\nreturn jaxpr"
    },
    fails="test_names_do_not_matter",
)
# a list of atoms, in which a constant may be equal to a variable
mistake(
    {"{jaxpr.return_val}": "[jaxpr.return_val]", "needed.update": "needed.extend"},
    fails="test_constants_need_nothing",
)
# an equation without a variable stays
mistake(
    {".var in needed": ".var in needed or not any(isinstance(arg, Var) for arg in equation.args)"},
    fails="test_what_is_not_used_goes",
)
# in the order of a set: mostly that of its numbers
mistake(
    {
        "kept = []": "kept = set()",
        "kept.append(equation)": "kept.add(jaxpr.equations.index(equation))",
        "reversed(kept)": "jaxpr.equations[i] for i in kept",
    },
    fails="test_what_is_not_used_goes",
)
# a program that returns a constant stays as it is
mistake(
    {"needed =": "if not isinstance(jaxpr.return_val, Var):\n    return jaxpr\nneeded ="},
    fails="test_programs_that_need_nothing",
)
