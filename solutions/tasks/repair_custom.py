def demanded(env, jaxpr, consts, args):
    """The results of a program; `env` remembers what has been computed in this call of it."""
    write(env, [*jaxpr.constvars, *jaxpr.invars], [*consts, *args])
    equations = {var: eqn for eqn in jaxpr.eqns for var in eqn.outvars}
    return [find(env, equations, atom) for atom in jaxpr.outvars]


def find(env, equations, atom):
    """The value of an operand: the one in `env`, or else what its equation computes now."""
    if read(env, atom) is None:
        eqn = equations[atom]
        args = [find(env, equations, x) for x in eqn.invars]
        called = called_program(eqn)
        outs = demanded({}, *called, args) if called else eval_equation(eqn, args)
        write(env, eqn.outvars, outs)
    return read(env, atom)
