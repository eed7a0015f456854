"""The lesson staging: other right answers pass."""

import pytest
from other_answers import lost

# Right, but written differently from the reference, two for each exercise.
ALTERNATIVES = [
    {
        "staging.fresh_var": """
def fresh_var(self):
    number = self.name_counter + 1
    self.name_counter = number
    return Var("v_" + str(number))
""",
        "staging.record": """
def interpret_op(self, op, args):
    equation = Equation(self.fresh_var(), op, tuple(args))
    self.equations.append(equation)
    return equation.var
""",
        "staging.build_jaxpr": """
def build_jaxpr(f, num_args):
    interpreter = StagingInterpreter()
    with set_interpreter(interpreter):
        variables = [interpreter.fresh_var() for _ in range(num_args)]
        out = f(*variables)
    return Jaxpr(parameters=tuple(variables), equations=(*interpreter.equations,), return_val=out)
""",
        "staging.eval_jaxpr": """
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
""",
        "staging.staged": """
def staged(f, num_args):
    program = build_jaxpr(f, num_args)

    def by_way_of_the_program(*args):
        return eval_jaxpr(program, list(args))

    return by_way_of_the_program
""",
        "staging.dce_jaxpr": """
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
""",
    },
    {
        "staging.fresh_var": """
def fresh_var(self):
    self.name_counter += 1
    return Var(name="v_%d" % self.name_counter)
""",
        "staging.record": """
def interpret_op(self, op, args):
    result = self.fresh_var()
    self.equations = [*self.equations, Equation(var=result, op=op, args=args)]
    return result
""",
        "staging.build_jaxpr": """
def build_jaxpr(f, num_args):
    writer, parameters = StagingInterpreter(), ()
    while len(parameters) < num_args:
        parameters += (writer.fresh_var(),)
    with set_interpreter(writer):
        return_val = f(*parameters)
        equations = tuple(writer.equations)
    return Jaxpr(parameters, equations, return_val)
""",
        "staging.eval_jaxpr": """
def eval_jaxpr(jaxpr, args):
    if len(args) - len(jaxpr.parameters):
        raise TypeError("Give one value for each parameter.")
    env = {id(parameter): arg for parameter, arg in zip(jaxpr.parameters, args)}
    for equation in jaxpr.equations:
        x, y = equation.args
        out = bind(equation.op, env.get(id(x), x), env.get(id(y), y))
        env[id(equation.var)] = out
    return env.get(id(jaxpr.return_val), jaxpr.return_val)
""",
        "staging.staged": """
def staged(f, num_args):
    program = build_jaxpr(f=f, num_args=num_args)
    return lambda *values: eval_jaxpr(jaxpr=program, args=values)
""",
        "staging.dce_jaxpr": """
def dce_jaxpr(jaxpr):
    used, kept = [jaxpr.return_val], ()
    for equation in jaxpr.equations[::-1]:
        if any(atom is equation.var for atom in used):
            used = [*used, *(a for a in equation.args if not any(a is u for u in used))]
            kept = (equation, *kept)
    return Jaxpr(jaxpr.parameters, kept, jaxpr.return_val)
""",
    },
]


@pytest.mark.parametrize("answers", ALTERNATIVES, ids=["first", "second"])
def test_other_right_answers_have_full_points(answers):
    assert lost("staging", answers) == ([], [])
