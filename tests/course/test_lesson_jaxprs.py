"""The lesson jaxprs: other right answers pass, and rules foretell the types of results."""

import numpy as np
import pytest
from minijax import core
from minijax.jaxpr import abstract_eval
from other_answers import lost

# Right, but written differently from the reference, two for each exercise.
ALTERNATIVES = [
    {
        "jaxprs.eval_jaxpr": """
def eval_jaxpr(jaxpr, consts, *args):
    env = {}

    def write(variables, values):
        if len(variables) != len(values):
            raise ValueError("A program got too few or too many values.")
        for var, value in zip(variables, values):
            env[var] = value

    def look_up(atoms):
        return [a.val if isinstance(a, Literal) else env[a] for a in atoms]

    write(jaxpr.constvars, consts)
    write(jaxpr.invars, args)
    for eqn in jaxpr.eqns:
        write(eqn.outvars, apply_equation(eqn, look_up(eqn.invars)))
    return look_up(jaxpr.outvars)
""",
        "jaxprs.binary_type": """
def binary_type(x, y):
    if {x.dtype} != {y.dtype}:
        raise TypeError("Convert one of the operands first.")
    weak = all(aval.weak_type for aval in (x, y))
    return ShapedArray(broadcast_shapes("operation", y.shape, x.shape), y.dtype, weak)
""",
        "jaxprs.comparison_type": """
def comparison_type(x, y):
    return dataclasses.replace(binary_type(x, y), dtype=np.dtype("bool"))
""",
        "jaxprs.reduce_sum_type": """
def reduce_sum_type(x, *, axes):
    shape = dict(enumerate(x.shape))
    for axis in axes:
        if axis not in shape:
            raise TypeError(f"There is no axis {axis}.")
        del shape[axis]
    return ShapedArray(tuple(shape.values()), x.dtype, x.weak_type)
""",
        "jaxprs.dot_general_type": """
def dot_general_type(x, y, *, dimension_numbers, preferred_element_type):
    contract, batch = dimension_numbers
    for i, j in [*zip(*contract), *zip(*batch)]:
        if x.shape[i] != y.shape[j]:
            raise TypeError("Lengths differ.")
    if preferred_element_type is None and x.dtype != y.dtype:
        raise TypeError("Dtypes differ.")
    shape = [x.shape[i] for i in batch[0]]
    for aval, gone in ((x, {*contract[0], *batch[0]}), (y, {*contract[1], *batch[1]})):
        shape += [n for axis, n in enumerate(aval.shape) if axis not in gone]
    return ShapedArray(tuple(shape), np.dtype(preferred_element_type or y.dtype))
""",
        "jaxprs.check_atom": """
def check_atom(self, atom):
    match atom:
        case Literal(val, aval):
            if aval.shape != () or np.shape(val) != () or np.asarray(val).dtype != aval.dtype:
                self.fail("This literal is wrong: {}", atom)
        case _:
            if not {atom} & self.bound:
                self.fail("Nobody knows {}", atom)
""",
        "jaxprs.bind": """
def bind(self, variables):
    if len(set(variables)) < len(variables) or not self.bound.isdisjoint(variables):
        self.fail("A variable is bound a second time")
    self.bound |= set(variables)
""",
        "jaxprs.check_equation": """
def check_equation(self, eqn):
    self.check_inner(eqn)
    [self.check_atom(atom) for atom in eqn.invars]
    got = [(aval.shape, aval.dtype) for aval in self.result_types(eqn)]
    want = [(var.aval.shape, var.aval.dtype) for var in eqn.outvars]
    if got != want:
        self.fail("The results are not what the variables say")
    self.bind(eqn.outvars)
""",
    },
    {
        "jaxprs.eval_jaxpr": """
def eval_jaxpr(jaxpr, consts, *args):
    env = dict(zip(jaxpr.constvars, consts, strict=True))
    env |= zip(jaxpr.invars, args, strict=True)
    for eqn in jaxpr.eqns:
        operands = [read(env, atom) for atom in eqn.invars]
        outs = eqn.primitive.bind(*operands, **eqn.params)
        if not eqn.primitive.multiple_results:
            outs = [outs]
        env |= zip(eqn.outvars, outs, strict=True)
    return [read(env, atom) for atom in jaxpr.outvars]
""",
        "jaxprs.binary_type": """
def binary_type(x, y):
    if x.dtype == y.dtype:
        shape = broadcast_shapes("addition", x.shape, y.shape)
        return ShapedArray(shape, x.dtype, bool(x.weak_type * y.weak_type))
    raise TypeError("The dtypes differ.")
""",
        "jaxprs.comparison_type": """
def comparison_type(x, y):
    if x.dtype != y.dtype:
        raise TypeError("The dtypes differ.")
    shape = broadcast_shapes("comparison", x.shape, y.shape)
    return ShapedArray(shape, np.dtype(bool), x.weak_type and y.weak_type)
""",
        "jaxprs.reduce_sum_type": """
def reduce_sum_type(x, *, axes):
    left = [axis for axis in range(len(x.shape)) if axis not in axes]
    if len(left) + len(axes) != len(x.shape):
        raise TypeError("An axis is not there.")
    return ShapedArray(tuple(x.shape[axis] for axis in left), x.dtype, x.weak_type)
""",
        "jaxprs.dot_general_type": """
def dot_general_type(x, y, *, dimension_numbers, preferred_element_type):
    (x_contract, y_contract), (x_batch, y_batch) = dimension_numbers
    pairs = zip(x_contract + x_batch, y_contract + y_batch)
    if not all(x.shape[i] == y.shape[j] for i, j in pairs):
        raise TypeError("Lengths differ.")
    dtype = preferred_element_type
    if dtype is None:
        (dtype, *others) = {x.dtype, y.dtype}
        if others:
            raise TypeError("Dtypes differ.")
    x_kept = np.delete(x.shape, x_contract + x_batch).tolist()
    y_kept = np.delete(y.shape, y_contract + y_batch).tolist()
    shape = (*(x.shape[i] for i in x_batch), *x_kept, *y_kept)
    return ShapedArray(shape, np.dtype(dtype))
""",
        "jaxprs.check_atom": """
def check_atom(self, atom):
    if type(atom) is Var:
        right = atom in self.bound
    else:
        value = np.array(atom.val)
        right = value.ndim == 0 == len(atom.aval.shape) and value.dtype == atom.aval.dtype
    if not right:
        self.fail("this may not be used here: {}", atom)
""",
        "jaxprs.bind": """
def bind(self, variables):
    for var in variables:
        before = len(self.bound)
        self.bound.add(var)
        if len(self.bound) == before:
            self.fail("{} has a value", var)
""",
        "jaxprs.check_equation": """
def check_equation(self, eqn):
    for atom in eqn.invars:
        self.check_atom(atom)
    self.check_inner(eqn)
    types = list(self.result_types(eqn))
    for var in eqn.outvars:
        aval = types.pop(0) if types else None
        if aval is None or aval.shape != var.aval.shape or aval.dtype != var.aval.dtype:
            self.fail("{} does not get what it says", var)
    if types:
        self.fail("some results are left over")
    self.bind(eqn.outvars)
""",
    },
]


def test_other_right_answers_have_full_points():
    assert lost("jaxprs", ALTERNATIVES[0]) == ([], [])


def test_more_right_answers_have_full_points():
    assert lost("jaxprs", ALTERNATIVES[1]) == ([], [])


NUMBERS = (((1, 3), (2, 0)), ((2,), (3,)))

# A primitive, the shapes and dtypes of its operands, and its params.
OPERATIONS = {
    "stretched": (core.add_p, [((1, 3), "float32"), ((2, 1), "float32")], {}),
    "0-d": (core.mul_p, [((), "int8"), ((2, 0), "int8")], {}),
    "comparison": (core.lt_p, [((3,), "int32"), ((3,), "int32")], {}),
    "sum": (core.reduce_sum_p, [((2, 3, 5), "int8")], {"axes": (2, 0)}),
    "product": (
        core.dot_general_p,
        [((2, 3, 7, 5), "float32"), ((5, 11, 3, 7), "float32")],
        {"dimension_numbers": NUMBERS, "preferred_element_type": None},
    ),
}


@pytest.mark.parametrize("case", OPERATIONS)
def test_the_foretold_type_is_that_of_the_result(case):
    primitive, operands, params = OPERATIONS[case]
    values = [np.ones(shape, dtype) for shape, dtype in operands]
    (out,) = abstract_eval(primitive, [core.get_aval(x) for x in values], params)
    result = primitive.bind(*values, **params)
    assert (out.shape, out.dtype) == (result.shape, result.dtype)
