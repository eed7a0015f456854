"""Answers to the exercises of the lesson staging: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""


@right("staging.fresh_var")
def fresh_var(self):
    number = self.name_counter + 1
    self.name_counter = number
    return Var("v_" + str(number))


@right("staging.fresh_var")
def fresh_var(self):
    self.name_counter += 1
    return Var(name="v_%d" % self.name_counter)


@mistake(
    "staging.fresh_var",
    name="The first variable has the number zero",
    hints=[
        "Print `StagingInterpreter().fresh_var()`, and compare with the example in the docstring.",
        "`name_counter` is 0 before the first variable. Is it used for the name before or after it has grown?",
        "Add one to `self.name_counter` first, then make the name from it.",
    ],
)
def fresh_var(self):
    var = Var(f"v_{self.name_counter}")
    self.name_counter += 1
    return var


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


@mistake(
    "staging.record",
    name="An operation on constants is computed at once",
    hints=[
        "Stage `lambda x: add(1.0, 2.0)`. How many equations does its program have, and how many should it have?",
        "This interpreter computes nothing, not even where it could. Only so does the program hold *every* operation of the function.",
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
    name="The equation is returned in place of its variable",
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


@mistake(
    "staging.build_jaxpr",
    name="The function runs without the staging interpreter",
    hints=[
        "Who is asked to add while `f` runs?",
        "Having made an interpreter is not enough. `add` and `mul` ask the *current* one.",
        "Call `f` inside of `with set_interpreter(interpreter):`.",
    ],
)
def build_jaxpr(f, num_args):
    interpreter = StagingInterpreter()
    parameters = tuple(interpreter.fresh_var() for _ in range(num_args))
    result = f(*parameters)
    return Jaxpr(parameters, tuple(interpreter.equations), result)


@mistake(
    "staging.build_jaxpr",
    name="The last equation is taken for the result",
    hints=[
        "Stage `lambda x, y: y`. What does the program return, and what should it?",
        "A function may go on after it has its result, or apply no operation at all. The order of the operations does not say what is returned.",
        "What the program returns is what `f` returned: `result = f(*parameters)`.",
    ],
)
def build_jaxpr(f, num_args):
    interpreter = StagingInterpreter()
    parameters = tuple(interpreter.fresh_var() for _ in range(num_args))
    with set_interpreter(interpreter):
        result = f(*parameters)
    equations = tuple(interpreter.equations)
    return Jaxpr(parameters, equations, equations[-1].var if equations else result)


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
        "Every program begins with `v_1`. What happens where two programs meet?",
        "In a program that was built inside another one, the outer `v_1` is a constant. An environment of names takes it for the inner `v_1`: perturbation confusion in another place.",
        "Take the `Var` itself as the key of the dict, not its name or its text. Two variables of the same name are two keys.",
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
        "The way back is only complete if the program can be interpreted again, by whoever is current. Python's operators ask nobody.",
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


@right("staging.staged")
def staged(f, num_args):
    program = build_jaxpr(f, num_args)

    def by_way_of_the_program(*args):
        return eval_jaxpr(program, list(args))

    return by_way_of_the_program


@right("staging.staged")
def staged(f, num_args):
    program = build_jaxpr(f=f, num_args=num_args)
    return lambda *values: eval_jaxpr(jaxpr=program, args=values)


@mistake(
    "staging.staged",
    name="The program is built anew at every call",
    hints=[
        "Put a `print` into a function, stage it, and call the result three times. How often do you see the text?",
        "There are two moments: when `staged` is called, and when the function is called that it returns. To which of them does building belong?",
        "Call `build_jaxpr(f, num_args)` before the inner function is defined, and only `eval_jaxpr` in it.",
    ],
)
def staged(f, num_args):
    return lambda *args: eval_jaxpr(build_jaxpr(f, num_args), args)


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


@mistake(
    "staging.dce_jaxpr",
    name="The equations are looked at from top to bottom",
    hints=[
        "Take `v_2 = add(v_1, 3.0)`, `v_3 = mul(v_1, v_2)`, returned `v_3`. What is in your set when you look at the first equation?",
        "Whether an equation is needed depends on what stands *below* it. Where must one begin to know that already?",
        "Loop over `reversed(jaxpr.equations)`, and put the kept ones back into their order at the end.",
    ],
)
def dce_jaxpr(jaxpr):
    needed = {jaxpr.return_val}
    kept = []
    for equation in jaxpr.equations:
        if equation.var in needed:
            needed.update(equation.args)
            kept.append(equation)
    return Jaxpr(jaxpr.parameters, tuple(kept), jaxpr.return_val)


@mistake(
    "staging.dce_jaxpr",
    name="Whatever anybody uses is kept",
    hints=[
        "Let `v_2` be used by `v_3` alone, and `v_3` by nobody. Which of the two is dead?",
        "To be used is not enough: the user must be needed itself. One look at all operands at once cannot tell that.",
        "Collect the operands while you go from the last equation to the first, and only those of equations that stay.",
    ],
)
def dce_jaxpr(jaxpr):
    used = {jaxpr.return_val}.union(*(equation.args for equation in jaxpr.equations))
    kept = tuple(equation for equation in jaxpr.equations if equation.var in used)
    return Jaxpr(jaxpr.parameters, kept, jaxpr.return_val)


@mistake(
    "staging.dce_jaxpr",
    name="The program comes out upside down",
    hints=[
        "Run the cleaned program. Which equation comes first?",
        "Going backwards, you find the last equation first, and append it first.",
        "Reverse the list of kept equations before it goes into the `Jaxpr`: `tuple(reversed(kept))`.",
    ],
)
def dce_jaxpr(jaxpr):
    needed = {jaxpr.return_val}
    kept = []
    for equation in reversed(jaxpr.equations):
        if equation.var in needed:
            needed.update(equation.args)
            kept.append(equation)
    return Jaxpr(jaxpr.parameters, tuple(kept), jaxpr.return_val)


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


@mistake(
    "staging.dce_jaxpr",
    name="Parameters that are not needed are dropped",
    hints=[
        "With how many values is the cleaned program to be called?",
        "Who calls the program does not know what was dropped from it. A program that takes another number of values is another program.",
        "Give the new `Jaxpr` the parameters of the old one: `jaxpr.parameters`, all of them.",
    ],
)
def dce_jaxpr(jaxpr):
    needed = {jaxpr.return_val}
    kept = []
    for equation in reversed(jaxpr.equations):
        if equation.var in needed:
            needed.update(equation.args)
            kept.append(equation)
    parameters = tuple(var for var in jaxpr.parameters if var in needed)
    return Jaxpr(parameters, tuple(reversed(kept)), jaxpr.return_val)
