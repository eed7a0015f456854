"""The lesson tracing: other right answers pass, and the first version is JAX's on request."""

import jax
import minijax
import numpy as np
import pytest
from minijax.core import full_raise, get_aval, new_main
from minijax.tracing import JaxprBuilder, JaxprTrace
from other_answers import lost

jax.config.update("jax_enable_x64", True)

# Right, but written differently from the reference, two for each exercise.
ALTERNATIVES = [
    {
        "tracing.new_arg": """
def new_arg(self, aval):
    variable = Var(raise_to_shaped(aval))
    tracer = JaxprTracer(self, variable)
    return tracer
""",
        "tracing.record": """
def record(self, primitive, tracers, params):
    operands, outs = [], []
    for tracer in tracers:
        operands.append(tracer.atom)
    for aval in abstract_eval(primitive, [atom.aval for atom in operands], params):
        outs.append(JaxprTracer(self, Var(aval)))
    eqn = JaxprEqn(operands, [out.atom for out in outs], primitive, dict(params))
    self.main.global_data.eqns += [eqn]
    return outs
""",
        "tracing.literal": """
def literal_of(val):
    match val:
        case bool() | int() | float() | np.generic():
            pass
        case np.ndarray(shape=()):
            pass
        case _:
            return None
    aval = raise_to_shaped(get_aval(val))
    return Literal(np.array(val, aval.dtype), aval)
""",
        "tracing.constant": """
def constant(self, val):
    literal = literal_of(val)
    if literal:
        return literal
    known = self.consts.get(id(val))
    if known is None:
        kept = val.copy() if isinstance(val, np.ndarray) else val
        known = Constant(Var(raise_to_shaped(get_aval(val))), val, kept)
        self.consts[id(val)] = known
    return known.var
""",
        "tracing.build": """
def build(self, invars, outvars):
    constvars, consts = [], []
    for var, _, kept in self.consts.values():
        constvars.append(var)
        consts.append(kept)
    return ClosedJaxpr(Jaxpr(constvars, invars, outvars, self.eqns), consts)
""",
        "tracing.new_dynamic": """
@contextmanager
def new_dynamic(main):
    before = trace_state.dynamic_trace
    trace_state.dynamic_trace = main
    try:
        yield main
    finally:
        trace_state.dynamic_trace = before
""",
        "tracing.trace_with": """
def trace_with(builder, f, avals):
    with new_main(JaxprTrace, builder) as main:
        trace = main.trace_type(main)
        boxes = list(map(trace.new_arg, avals))
        with new_dynamic(main):
            results = f(*boxes)
    atoms = [full_raise(trace, result).atom for result in results]
    return builder.build([box.atom for box in boxes], atoms)
""",
        "tracing.without_equation": """
def without_equation(primitive, atom, aval, params):
    match atom:
        case Var(same) | Literal(_, same) if same == aval:
            return atom
        case Literal(val=val) if primitive.name == "convert_element_type":
            return Literal(impl_rules[primitive](val, **params), aval)
    return None
""",
    },
    {
        "tracing.new_arg": """
def new_arg(self, aval):
    weak = aval.weak_type and aval.dtype != bool
    return JaxprTracer(self, Var(ShapedArray(aval.shape, aval.dtype, weak)))
""",
        "tracing.record": """
def record(self, primitive, tracers, params):
    from minijax.core import abstract_eval_rules

    types = get_rule(abstract_eval_rules, primitive, "Abstract evaluation")(
        *(t.aval for t in tracers), **params
    )
    results = list(map(Var, types if primitive.multiple_results else [types]))
    self.builder.eqns.append(
        JaxprEqn(
            invars=[t.atom for t in tracers], outvars=results, primitive=primitive, params=params
        )
    )
    return [JaxprTracer(self, result) for result in results]
""",
        "tracing.literal": """
def literal_of(val):
    if isinstance(val, Tracer):
        return None
    if not isinstance(val, (int, float, np.generic, np.ndarray)) or np.asarray(val).ndim:
        return None
    return Literal(np.asarray(val).copy(), raise_to_shaped(get_aval(val)))
""",
        "tracing.constant": """
def constant(self, val):
    atom = literal_of(val)
    if atom is None:
        if id(val) in self.consts:
            atom = self.consts[id(val)].var
        else:
            atom = Var(raise_to_shaped(get_aval(val)))
            copied = np.copy(val) if isinstance(val, np.ndarray) else val
            self.consts.update({id(val): Constant(var=atom, value=val, kept=copied)})
    return atom
""",
        "tracing.build": """
def build(self, invars, outvars):
    notes = list(self.consts.values())
    program = Jaxpr(
        constvars=[note.var for note in notes], invars=invars, outvars=outvars, eqns=self.eqns
    )
    return ClosedJaxpr(jaxpr=program, consts=[note[2] for note in notes])
""",
        "tracing.new_dynamic": """
@contextmanager
def new_dynamic(main):
    from contextlib import ExitStack

    blocks = ExitStack()
    blocks.callback(setattr, trace_state, "dynamic_trace", trace_state.dynamic_trace)
    with blocks:
        trace_state.dynamic_trace = main
        yield
""",
        "tracing.trace_with": """
def trace_with(builder, f, avals):
    with new_main(JaxprTrace, builder) as main:
        trace = JaxprTrace(main)
        tracers = tuple(trace.new_arg(aval) for aval in avals)
        invars = [tracer.atom for tracer in tracers]
        with new_dynamic(main):
            outvars = []
            for out in f(*tracers):
                outvars.append(full_raise(trace, out).atom)
            return builder.build(invars, outvars)
""",
        "tracing.without_equation": """
def without_equation(primitive, atom, aval, params):
    changed = aval != atom.aval
    if changed and (isinstance(atom, Var) or primitive is broadcast_in_dim_p):
        return None
    if not changed:
        return atom
    rule = get_rule(impl_rules, primitive, "Evaluation rule")
    return Literal(rule(atom.val, **params), aval)
""",
    },
]


@pytest.mark.parametrize("answers", ALTERNATIVES, ids=["first", "second"])
def test_other_right_answers_have_full_points(answers):
    assert lost("tracing", answers) == ([], [])


def damped(jnp):
    return lambda x: jnp.sum(jnp.exp(jnp.array([0.0, -1.0, -2.0])) * x)


def test_without_omnistaging_the_program_is_that_of_ensure_compile_time_eval():
    """What the page says of JAX's context manager."""
    x = np.ones(3)
    with new_main(JaxprTrace, JaxprBuilder()) as main:
        trace = JaxprTrace(main)
        box = trace.new_arg(get_aval(x))
        out = full_raise(trace, damped(minijax.numpy)(box))
    first = trace.builder.build([box.atom], [out.atom])
    with jax.ensure_compile_time_eval():
        folded = jax.make_jaxpr(damped(jax.numpy))(x)
    assert str(first) == str(folded)
    assert str(minijax.make_jaxpr(damped(minijax.numpy))(x)) == str(
        jax.make_jaxpr(damped(jax.numpy))(x)
    )
