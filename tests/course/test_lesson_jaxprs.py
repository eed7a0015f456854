"""The lesson jaxprs: rules foretell the types of results."""

import numpy as np
import pytest
from minijax import core
from minijax.jaxpr import abstract_eval

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
