"""Answers to the exercises of the `staging` lesson: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""


@right("staging.record")
def interpret_op(self, op, args):
    equation = Equation(self.fresh_var(), op, tuple(args))
    self.equations.append(equation)
    return equation.var


@right("staging.record")
def interpret_op(self, op, args):
    result = self.fresh_var()
    self.equations = [*self.equations, Equation(var=result, op=op, args=args)]
    return result


@right("staging.record", style="+= a list with one keyword-made equation")
def interpret_op(self, op, args):
    self.equations += [Equation(args=tuple(args), op=op, var=self.fresh_var())]
    return self.equations[-1].var


@right("staging.record", style="insert at the end; a closure writes")
def interpret_op(self, op, args):
    def write(equation):
        self.equations.insert(len(self.equations), equation)
        return equation

    return write(Equation((result := self.fresh_var()), op, (*args,))).var


@mistake(
    "staging.record",
    name="An operation on constants is computed at once",
    hints=[
        "Stage `lambda x: add(1.0, 2.0)`. How many equations does its program have, and how many should it have?",
        "This interpreter computes nothing, not even where it could. Only then does the program hold *every* operation of the function.",
        "Do not look at the operands at all: each call appends one equation, with `args` as they are.",
    ],
)
def interpret_op(self, op, args):
    if all(isinstance(arg, float) for arg in args):
        x, y = args
        return x + y if op is Op.add else x * y
    var = self.fresh_var()
    self.equations.append(Equation(var, op, args))
    return var


@mistake(
    "staging.record",
    name="The equation is returned instead of its variable",
    hints=[
        "What does the function that is being staged get as the result of `add(x, 3.0)`, and what does it do with it?",
        "The result of one operation is an operand of the next. An operand is an atom, a variable or a constant; an equation is neither.",
        "Keep the fresh variable in a name, use it in the `Equation`, and return it.",
    ],
)
def interpret_op(self, op, args):
    equation = Equation(self.fresh_var(), op, args)
    self.equations.append(equation)
    return equation


@mistake("staging.record", fails="test_the_same_operation_twice")
def interpret_op(self, op, args):
    # writes the same operation once: 'common subexpressions', and 0.0 is -0.0 to it
    for equation in self.equations:
        if equation.op is op and equation.args == args:
            return equation.var
    var = self.fresh_var()
    self.equations.append(Equation(var, op, args))
    return var


@mistake("staging.record", fails="test_operands_of_others_are_kept")
def interpret_op(self, op, args):
    # only variables and floats get in: a value of another interpreter is refused
    for arg in args:
        if not isinstance(arg, (float, Var)):
            raise TypeError(f"{arg} is neither a variable nor a float")
    var = self.fresh_var()
    self.equations.append(Equation(var, op, args))
    return var


# x * 1.0 is x: no equation for it
mistake(
    "staging.record",
    {"var = self": "if op is Op.mul and args[1] == 1.0:\n    return args[0]\nvar = self"},
    fails="test_nothing_is_computed",
)


@right("staging.build_jaxpr")
def build_jaxpr(f, num_args):
    interpreter = StagingInterpreter()
    with set_interpreter(interpreter):
        variables = [interpreter.fresh_var() for _ in range(num_args)]
        out = f(*variables)
    return Jaxpr(parameters=tuple(variables), equations=(*interpreter.equations,), return_val=out)


@right("staging.build_jaxpr")
def build_jaxpr(f, num_args):
    writer, parameters = StagingInterpreter(), ()
    while len(parameters) < num_args:
        parameters += (writer.fresh_var(),)
    with set_interpreter(writer):
        return_val = f(*parameters)
        equations = tuple(writer.equations)
    return Jaxpr(parameters, equations, return_val)


@right("staging.build_jaxpr", style="a helper function runs f; keywords; parameters by a loop")
def build_jaxpr(f, num_args):
    writer = StagingInterpreter()
    parameters = []
    while len(parameters) < num_args:
        parameters.append(writer.fresh_var())

    def run():
        with set_interpreter(writer):
            return f(*parameters)

    result = run()
    return Jaxpr(return_val=result, equations=(*writer.equations,), parameters=tuple(parameters))


@right("staging.build_jaxpr", style="everything inside the block, map on iter, class inside")
def build_jaxpr(f, num_args):
    class Writer(StagingInterpreter):
        def program(self, inputs, output):
            return Jaxpr(inputs, tuple(list(self.equations)), output)

    with set_interpreter(interpreter := Writer()):
        inputs = tuple(map(lambda _: interpreter.fresh_var(), range(num_args)))
        output = f(*inputs)
        jaxpr = interpreter.program(inputs, output)
    return jaxpr


@mistake(
    "staging.build_jaxpr",
    name="The function runs without the staging interpreter",
    hints=[
        "Who is asked to add while `f` runs?",
        "Having made an interpreter is not enough. `add` and `mul` ask the *current* one.",
        "Call `f` inside `with set_interpreter(interpreter):`.",
    ],
)
def build_jaxpr(f, num_args):
    interpreter = StagingInterpreter()
    parameters = tuple(interpreter.fresh_var() for _ in range(num_args))
    result = f(*parameters)
    return Jaxpr(parameters, tuple(interpreter.equations), result)


mistake(
    "staging.build_jaxpr",
    {
        "return Jaxpr(parameters, tuple(interpreter.equations), result)": "equations = tuple(interpreter.equations)\nreturn Jaxpr(parameters, equations, equations[-1].var if equations else result)"
    },
    name="The last equation is taken for the result",
    hints=[
        "Stage `lambda x, y: y`. What does the program return, and what should it?",
        "A function may go on after it has its result, or apply no operation at all. The order of the operations does not say what is returned.",
        "What the program returns is what `f` returned: `result = f(*parameters)`.",
    ],
)


@mistake("staging.build_jaxpr", fails="test_programs_inside_programs")
def build_jaxpr(f, num_args):
    # writes into the interpreter that is there already
    from microjax.interpreters import current_interpreter

    current = current_interpreter()
    interpreter = current if isinstance(current, StagingInterpreter) else StagingInterpreter()
    parameters = tuple(interpreter.fresh_var() for _ in range(num_args))
    with set_interpreter(interpreter):
        result = f(*parameters)
    return Jaxpr(parameters, tuple(interpreter.equations), result)


@mistake("staging.build_jaxpr", fails="test_the_function_runs_each_time")
def build_jaxpr(f, num_args, cache={}):
    # one program for each function, kept
    if (f, num_args) not in cache:
        interpreter = StagingInterpreter()
        parameters = tuple(interpreter.fresh_var() for _ in range(num_args))
        with set_interpreter(interpreter):
            result = f(*parameters)
        cache[f, num_args] = Jaxpr(parameters, tuple(interpreter.equations), result)
    return cache[f, num_args]


@mistake("staging.build_jaxpr", fails="test_results_of_other_kinds")
def build_jaxpr(f, num_args):
    # a result that is no variable must be a float
    interpreter = StagingInterpreter()
    parameters = tuple(interpreter.fresh_var() for _ in range(num_args))
    with set_interpreter(interpreter):
        result = f(*parameters)
    if not isinstance(result, (Var, float)):
        raise TypeError("the function must return a variable or a float")
    return Jaxpr(parameters, tuple(interpreter.equations), result)


@mistake("staging.build_jaxpr", fails="test_results_of_other_kinds")
def build_jaxpr(f, num_args):
    # parameters that are not used are left out
    interpreter = StagingInterpreter()
    parameters = tuple(interpreter.fresh_var() for _ in range(num_args))
    with set_interpreter(interpreter):
        result = f(*parameters)
    used = {result, *(arg for equation in interpreter.equations for arg in equation.args)}
    used_parameters = tuple(p for p in parameters if p in used)
    return Jaxpr(used_parameters, tuple(interpreter.equations), result)


# at least one parameter
mistake(
    "staging.build_jaxpr",
    {"(num_args)": "(num_args or 1)", "(*parameters)": "(*parameters[:num_args])"},
    fails="test_several_parameters",
)


@right("staging.eval_jaxpr")
def eval_jaxpr(jaxpr, args):
    from microjax.interpreters import current_interpreter

    if len(args) != len(jaxpr.parameters):
        raise TypeError(f"{len(args)} values are too many or too few.")
    env = {}
    for parameter, arg in zip(jaxpr.parameters, args):
        env[parameter] = arg

    def read(atom):
        return env[atom] if atom in env else atom

    for equation in jaxpr.equations:
        values = tuple(map(read, equation.args))
        env[equation.var] = current_interpreter().interpret_op(equation.op, values)
    return read(jaxpr.return_val)


@right("staging.eval_jaxpr")
def eval_jaxpr(jaxpr, args):
    if len(args) - len(jaxpr.parameters):
        raise TypeError("Give one value for each parameter.")
    env = {id(parameter): arg for parameter, arg in zip(jaxpr.parameters, args)}
    for equation in jaxpr.equations:
        x, y = equation.args
        out = bind(equation.op, env.get(id(x), x), env.get(id(y), y))
        env[id(equation.var)] = out
    return env.get(id(jaxpr.return_val), jaxpr.return_val)


@right("staging.eval_jaxpr", style="recursion over the equations with a new dict at each step")
def eval_jaxpr(jaxpr, args):
    args = list(args)
    if not len(args) == len(jaxpr.parameters):
        raise TypeError("wrong number of values")
    env = dict(zip(jaxpr.parameters, args))
    pending = iter(jaxpr.equations)
    look = lambda atom: env[atom] if isinstance(atom, Var) and atom in env else atom
    while (equation := next(pending, None)) is not None:
        env.update({equation.var: bind(equation.op, *map(look, equation.args))})
    return look(jaxpr.return_val)


@right("staging.eval_jaxpr", style="an Environment class with __missing__, keyed by the variables")
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
    for equation in jaxpr.equations:
        operands = tuple(env[atom] for atom in equation.args)
        env[equation.var] = bind(equation.op, *operands)
    return env[jaxpr.return_val]


@mistake(
    "staging.eval_jaxpr",
    name="Constants are looked up as variables",
    hints=[
        "What does your environment hold for the atom `3.0`?",
        "An atom is a variable of this program or a constant. Only the first has an entry in the environment.",
        "`env.get(atom, atom)` gives the entry where there is one, and otherwise the atom itself. The atom that is returned may be a constant, too.",
    ],
)
def eval_jaxpr(jaxpr, args):
    if len(args) != len(jaxpr.parameters):
        raise TypeError("wrong number of values")
    env = dict(zip(jaxpr.parameters, args))
    for equation in jaxpr.equations:
        env[equation.var] = bind(equation.op, *(env[arg] for arg in equation.args))
    return env[jaxpr.return_val]


@mistake(
    "staging.eval_jaxpr",
    name="Every Var is taken for a variable of this program",
    hints=[
        "Build a program inside a function that is being staged itself, and use the outer `x` in it. What does your code look up for `x`?",
        "A variable of the program outside is a constant in here. It is a `Var`, and has no entry in this environment.",
        "Do not ask whether the atom is a `Var`. Ask whether it is *in the environment*: `env.get(atom, atom)`.",
    ],
)
def eval_jaxpr(jaxpr, args):
    if len(args) != len(jaxpr.parameters):
        raise TypeError("wrong number of values")
    env = dict(zip(jaxpr.parameters, args))

    def read(atom):
        return env.get(atom) if isinstance(atom, Var) else atom

    for equation in jaxpr.equations:
        env[equation.var] = bind(equation.op, *map(read, equation.args))
    return read(jaxpr.return_val)


@mistake(
    "staging.eval_jaxpr",
    name="The environment is keyed by names",
    hints=[
        "Every program begins with `v_1`. What happens if two programs meet?",
        "In a program that was built inside another, the outer `v_1` is a constant. An environment of names takes it for the inner `v_1`: perturbation confusion in another place.",
        "Take the `Var` itself as the key of the dict, not its name. Two variables with the same name are two keys.",
    ],
)
def eval_jaxpr(jaxpr, args):
    if len(args) != len(jaxpr.parameters):
        raise TypeError("wrong number of values")
    env = {str(var): value for var, value in zip(jaxpr.parameters, args)}

    def read(atom):
        return env.get(str(atom), atom) if isinstance(atom, Var) else atom

    for equation in jaxpr.equations:
        env[str(equation.var)] = bind(equation.op, *map(read, equation.args))
    return read(jaxpr.return_val)


@mistake(
    "staging.eval_jaxpr",
    name="Operations are computed with Python's + and *",
    hints=[
        "Let `StringInterpreter`, from the `interpreters` lesson, be current, and run a program on strings. Who should put the strings together?",
        "The way back is only complete if the program can be interpreted again, by the interpreter that is current. Python's operators do not ask it.",
        "Apply each operation with `bind(equation.op, *values)`.",
    ],
)
def eval_jaxpr(jaxpr, args):
    if len(args) != len(jaxpr.parameters):
        raise TypeError("wrong number of values")
    env = dict(zip(jaxpr.parameters, args))
    for equation in jaxpr.equations:
        x, y = (env.get(arg, arg) for arg in equation.args)
        env[equation.var] = x + y if equation.op is Op.add else x * y
    return env.get(jaxpr.return_val, jaxpr.return_val)


@mistake(
    "staging.eval_jaxpr",
    name="The program is always evaluated",
    hints=[
        "Differentiate a function that calls `eval_jaxpr`. Which interpreter has to apply the operations then?",
        "An interpreter of your own, made in here, can be right for one use only. Who is in charge is decided outside.",
        "Use `bind(equation.op, *values)`, which asks the current interpreter.",
    ],
)
def eval_jaxpr(jaxpr, args):
    from microjax.interpreters import EvalInterpreter

    if len(args) != len(jaxpr.parameters):
        raise TypeError("wrong number of values")
    env = dict(zip(jaxpr.parameters, args))
    for equation in jaxpr.equations:
        values = tuple(env.get(arg, arg) for arg in equation.args)
        env[equation.var] = EvalInterpreter().interpret_op(equation.op, values)
    return env.get(jaxpr.return_val, jaxpr.return_val)


@mistake("staging.eval_jaxpr", fails="test_a_wrong_number_of_values")
def eval_jaxpr(jaxpr, args):
    # plain slip: zip without a count
    env = dict(zip(jaxpr.parameters, args))
    for equation in jaxpr.equations:
        env[equation.var] = bind(equation.op, *(env.get(a, a) for a in equation.args))
    return env.get(jaxpr.return_val, jaxpr.return_val)


@mistake("staging.eval_jaxpr", fails="test_zeros_are_values_like_others")
def eval_jaxpr(jaxpr, args):
    # `or`: a value that is false counts as no value
    if len(args) != len(jaxpr.parameters):
        raise TypeError("wrong number of values")
    env = dict(zip(jaxpr.parameters, args))

    def look(atom):
        return env.get(atom) or atom

    for equation in jaxpr.equations:
        env[equation.var] = bind(equation.op, *map(look, equation.args))
    return look(jaxpr.return_val)


@mistake("staging.eval_jaxpr", fails="test_products_mean_what_the_interpreter_says")
def eval_jaxpr(jaxpr, args):
    # floats are computed at once, only other values are bound
    if len(args) != len(jaxpr.parameters):
        raise TypeError("wrong number of values")
    env = dict(zip(jaxpr.parameters, args))
    for equation in jaxpr.equations:
        values = [env.get(a, a) for a in equation.args]
        if all(isinstance(v, float) for v in values):
            x, y = values
            env[equation.var] = x + y if equation.op is Op.add else x * y
        else:
            env[equation.var] = bind(equation.op, *values)
    return env.get(jaxpr.return_val, jaxpr.return_val)


@mistake("staging.eval_jaxpr", fails="test_a_result_from_outside")
def eval_jaxpr(jaxpr, args):
    # on demand, from the result downwards: works again for each use, and not for what is not used
    if len(args) != len(jaxpr.parameters):
        raise TypeError("wrong number of values")
    env = dict(zip(jaxpr.parameters, args))
    made_by = {equation.var: equation for equation in jaxpr.equations}

    def value(atom):
        if atom in env:
            return env[atom]
        if atom in made_by:
            equation = made_by[atom]
            return bind(equation.op, *map(value, equation.args))
        return atom

    return value(jaxpr.return_val)


@mistake("staging.eval_jaxpr", fails="test_variables_of_the_same_name")
def eval_jaxpr(jaxpr, args):
    # puts constants last, 'sums and products do not mind'
    if len(args) != len(jaxpr.parameters):
        raise TypeError("wrong number of values")
    env = dict(zip(jaxpr.parameters, args))
    for equation in jaxpr.equations:
        values = [env.get(a, a) for a in equation.args]
        env[equation.var] = bind(equation.op, *sorted(values, key=lambda v: isinstance(v, float)))
    return env.get(jaxpr.return_val, jaxpr.return_val)


@right("staging.dce_jaxpr")
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


@right("staging.dce_jaxpr")
def dce_jaxpr(jaxpr):
    used, kept = [jaxpr.return_val], ()
    for equation in jaxpr.equations[::-1]:
        if any(atom is equation.var for atom in used):
            used = [*used, *(a for a in equation.args if not any(a is u for u in used))]
            kept = (equation, *kept)
    return Jaxpr(jaxpr.parameters, kept, jaxpr.return_val)


@right("staging.dce_jaxpr", style="recursion from the result up: mark what is reached, then filter")
def dce_jaxpr(jaxpr):
    made_by = {equation.var: equation for equation in jaxpr.equations}
    alive, pending = set(), [jaxpr.return_val]
    while pending:
        atom = pending.pop()
        if not isinstance(atom, Var) or atom not in made_by or atom in alive:
            continue
        alive.add(atom)
        pending.extend(made_by[atom].args)
    kept = tuple(equation for equation in jaxpr.equations if equation.var in alive)
    return Jaxpr(jaxpr.parameters, kept, jaxpr.return_val)


@right("staging.dce_jaxpr", style="flags by index, ids of variables, dataclasses.replace, compress")
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
    "staging.dce_jaxpr",
    {"reversed(jaxpr.equations)": "jaxpr.equations", "reversed(kept)": "kept"},
    name="The equations are looked at from top to bottom",
    hints=[
        "Take `v_2 = add(v_1, 3.0)`, `v_3 = mul(v_1, v_2)`, returned `v_3`. What is in your set when you look at the first equation?",
        "Whether an equation is needed depends on those *below* it. Where must you begin to know that already?",
        "Loop over `reversed(jaxpr.equations)`, and restore the order of the kept ones at the end.",
    ],
)


@mistake(
    "staging.dce_jaxpr",
    name="Whatever is used anywhere is kept",
    hints=[
        "Let `v_2` be used by `v_3` alone, and `v_3` not at all. Which of the two is dead?",
        "To be used is not enough: the user must be needed itself. One look at all operands at once cannot tell that.",
        "Collect the operands while you go from the last equation to the first, and only those of equations that stay.",
    ],
)
def dce_jaxpr(jaxpr):
    used = {jaxpr.return_val}.union(*(equation.args for equation in jaxpr.equations))
    kept = tuple(equation for equation in jaxpr.equations if equation.var in used)
    return Jaxpr(jaxpr.parameters, kept, jaxpr.return_val)


mistake(
    "staging.dce_jaxpr",
    {"reversed(kept)": "kept"},
    name="The program comes out upside down",
    hints=[
        "Run the cleaned program. Which equation comes first?",
        "Going backwards, you find the last equation first, and append it first.",
        "Reverse the list of kept equations before it goes into the `Jaxpr`: `tuple(reversed(kept))`.",
    ],
)


@mistake(
    "staging.dce_jaxpr",
    name="An equation that is used twice stays twice",
    hints=[
        "Clean a program in which one sum is used by two products that are both needed. How many sums are left?",
        "You follow each *use* back to its equation. Two uses lead to the same equation, and it is written twice.",
        "Go through the equations rather than the uses, each once, from the last to the first; a set of needed variables does not mind a second use.",
    ],
)
def dce_jaxpr(jaxpr):
    equations = {equation.var: equation for equation in jaxpr.equations}
    kept, todo = [], [jaxpr.return_val]
    while todo:
        atom = todo.pop(0)
        if atom in equations:
            kept.append(equations[atom])
            todo.extend(equations[atom].args)
    kept.sort(key=lambda equation: list(equations).index(equation.var))
    return Jaxpr(jaxpr.parameters, tuple(kept), jaxpr.return_val)


mistake(
    "staging.dce_jaxpr",
    {
        "return Jaxpr(jaxpr.parameters, tuple(reversed(kept)), jaxpr.return_val)": "parameters = tuple(var for var in jaxpr.parameters if var in needed)\nreturn Jaxpr(parameters, tuple(reversed(kept)), jaxpr.return_val)"
    },
    name="Parameters that are not needed are dropped",
    hints=[
        "With how many values is the cleaned program to be called?",
        "The caller of the program does not know what was dropped from it. A program that takes a different number of values is a different program.",
        "Give the new `Jaxpr` the parameters of the old one: `jaxpr.parameters`, all of them.",
    ],
)


@mistake("staging.dce_jaxpr", fails="test_names_do_not_matter")
def dce_jaxpr(jaxpr):
    # needed by name
    needed, kept = {str(jaxpr.return_val)}, []
    for equation in reversed(jaxpr.equations):
        if str(equation.var) in needed:
            kept.insert(0, equation)
            needed.update(map(str, equation.args))
    return Jaxpr(jaxpr.parameters, tuple(kept), jaxpr.return_val)


@mistake("staging.dce_jaxpr", fails="test_long_programs")
def dce_jaxpr(jaxpr):
    # a recursion that goes to shared operands each time: exponential
    made_by = {equation.var: equation for equation in jaxpr.equations}
    needed = set()

    def visit(atom):
        if atom in made_by:
            needed.add(atom)
            for arg in made_by[atom].args:
                visit(arg)

    visit(jaxpr.return_val)
    kept = tuple(equation for equation in jaxpr.equations if equation.var in needed)
    return Jaxpr(jaxpr.parameters, kept, jaxpr.return_val)
