"""Checks of the `jaxprs` lesson, for you to read and to run: `./jaxprentice check jaxprs`.

Programs are made by hand here.
"""

import itertools

import numpy as np
import pytest
from checking import exercise, operation, typed, variables
from random_programs import LAX, for_programs, numbers

from minijax.core import counted, mul_p, neg_p, sub_p, transpose_p
from minijax.jaxpr import Jaxpr, JaxprEqn, Literal, TypeChecker, Var, dot_general_type, eval_jaxpr


exercise("jaxprs.eval_jaxpr")


def test_equations_in_order():
    """A constant minus the first input, and this times the second one."""
    k, a, b, c, d = variables(5)
    eqns = [JaxprEqn([k, a], [c], sub_p, {}), JaxprEqn([c, b], [d], mul_p, {})]
    jaxpr = Jaxpr([k], [a, b], [d, b, c], eqns)
    assert [float(x) for x in eval_jaxpr(jaxpr, [10.0], 3.0, 2.0)] == [14.0, 2.0, 7.0]


def test_literals_and_params():
    """A literal stands for itself, and params reach the primitive."""
    a, b, c = variables(3, 1, 2)
    ten = Literal(10.0, typed(()))
    eqns = [
        JaxprEqn([ten, a], [b], sub_p, {}),
        JaxprEqn([b], [c], transpose_p, {"permutation": (1, 0)}),
    ]
    out, literal = eval_jaxpr(Jaxpr([], [a], [c, ten], eqns), [], np.array([[1.0, 4.0]]))
    assert out.tolist() == [[9.0], [6.0]]
    assert literal == 10.0


def test_several_results():
    """A primitive may return several results."""
    swap_p = operation("swap", several=True, impl=lambda x, y: [y, x])
    a, b, c, d = variables(4)
    jaxpr = Jaxpr([], [a, b], [c, d], [JaxprEqn([a, b], [c, d], swap_p, {})])
    assert eval_jaxpr(jaxpr, [], 1.0, 2.0) == [2.0, 1.0]


def test_operations_are_bound():
    """An interpreter above sees each equation."""
    a, b, c = variables(3)
    first_p, second_p = (operation(x, impl=lambda x: x) for x in ("first", "second"))
    eqns = [JaxprEqn([a], [b], first_p, {}), JaxprEqn([b], [c], second_p, {})]
    assert counted(lambda x: eval_jaxpr(Jaxpr([], [a], [c], eqns), [], x)[0])(3.0) == (3.0, 2)


def test_each_run_has_its_own_values():
    """A program whose second equation runs the program again, once, with another value."""
    a, b, c = variables(3)
    again_p = operation(impl=lambda x: eval_jaxpr(jaxpr, [], 1.0)[0] if x > 1.0 else np.array(0.0))
    eqns = [JaxprEqn([a], [b], again_p, {}), JaxprEqn([a, b], [c], sub_p, {})]
    jaxpr = Jaxpr([], [a], [c], eqns)
    assert float(eval_jaxpr(jaxpr, [], 5.0)[0]) == 4.0


def test_number_of_values():
    """One value for each constant and input; any other number raises ValueError."""
    k, a = variables(2)
    for consts, args in (([], [1.0]), ([1.0], [2.0, 3.0]), ([1.0, 2.0], []), ([], [1.0, 2.0])):
        with pytest.raises(ValueError):
            eval_jaxpr(Jaxpr([k], [a], [a], []), consts, *args)


def test_variable_without_a_value():
    """An operand or output that was never bound raises KeyError."""
    a, b = variables(2)
    for jaxpr in (Jaxpr([], [], [a], []), Jaxpr([], [], [], [JaxprEqn([a], [b], neg_p, {})])):
        with pytest.raises(KeyError):
            eval_jaxpr(jaxpr, [])


def test_thousands_of_equations():
    """A program may be longer than Python's recursion limit."""
    names = variables(3001)
    eqns = [JaxprEqn([a], [b], neg_p, {}) for a, b in itertools.pairwise(names)]
    assert [float(x) for x in eval_jaxpr(Jaxpr([], names[:1], names[-1:], eqns), [], 7.0)] == [7.0]


@for_programs(seed="jaxprs", operations=LAX)
def test_random_programs(jaxpr, xs, want):
    """A random program returns what NumPy computes."""
    assert numbers(eval_jaxpr(jaxpr, [], *xs)) == numbers(want)


exercise("jaxprs.dot_general_type")

MATRICES = ((1,), (0,)), ((), ())
F32 = np.dtype("float32")


def product(x, y, numbers=MATRICES, preferred=None):
    """The type of a product."""
    return dot_general_type(x, y, dimension_numbers=numbers, preferred_element_type=preferred)


def test_a_product_of_matrices():
    """Rows of x, columns of y."""
    assert product(typed((2, 3), F32), typed((3, 5), F32)) == typed((2, 5), F32)


def test_batch_axes():
    """Batch axes come first, as they are listed; axes that are kept are known by number, not by size."""
    one = ((1,), (0,)), ((2,), (1,))
    assert product(typed((2, 3, 7)), typed((3, 7, 5)), one) == typed((7, 2, 5))
    x, y = typed((2, 3, 5, 5)), typed((5, 3, 2, 2))
    assert product(x, y, (((0,), (2,)), ((2, 1), (0, 1)))) == typed((5, 3, 5, 2))
    assert product(x, y, (((0,), (2,)), ((1, 2), (1, 0)))) == typed((3, 5, 5, 2))


def test_preferred_element_type():
    """A preferred_element_type is the dtype of the result, and operands may then have different dtypes."""
    assert product(typed((2, 3)), typed((3, 5)), preferred=F32) == typed((2, 5), F32)
    assert product(typed((2, 3), "int8"), typed((3, 5), F32), preferred=F32) == typed((2, 5), F32)


def test_a_product_may_be_weak():
    """The result is weakly typed if both operands are."""
    weak, strong = typed((2, 2), weak_type=True), typed((2, 2))
    assert product(weak, weak) == weak
    assert product(weak, strong) == strong
    assert product(weak, weak, preferred=F32) == typed((2, 2), F32, weak_type=True)


@pytest.mark.parametrize(
    ("x_shape", "y_shape", "contracted", "batch"),
    [
        ((2, 3), (4, 5), ((1,), (0,)), ((), ())),
        ((2, 3), (3, 2), ((0, 1), (0, 1)), ((), ())),
        ((7, 2, 3), (8, 3, 5), ((2,), (1,)), ((0,), (0,))),
        ((2, 3), (2, 3), ((2,), (2,)), ((), ())),
        ((2, 3), (2, 3), ((-1,), (-1,)), ((), ())),
        ((2, 3), (2, 3), ((1, 1), (1, 1)), ((), ())),
        ((3, 3), (3, 3), ((0, 1), (1, 1)), ((), ())),
        ((3, 3), (3, 3), ((0,), (-1,)), ((), ())),
        ((2, 3), (2, 3), ((1,), (1,)), ((1,), (1,))),
        ((2, 3), (2, 3), ((0, 1), (0,)), ((), ())),
        ((2, 3), (2, 3), ((), ()), ((0,), (0, 1))),
    ],
)
def test_products_that_do_not_fit(x_shape, y_shape, contracted, batch):
    """Axes at the same position have the same size; each is an axis of its operand, and listed once."""
    with pytest.raises(TypeError):
        product(typed(x_shape), typed(y_shape), (contracted, batch))


def test_products_of_two_dtypes():
    """Without a preferred_element_type, both operands have the same dtype."""
    with pytest.raises(TypeError):
        product(typed((2, 3)), typed((3, 5), F32))


exercise("jaxprs.check_equation")


class Lenient(TypeChecker):
    """Right siblings for checks of `check_equation`, without literals."""

    def check_atom(self, atom):
        """A variable must be bound."""
        if atom not in self.bound:
            raise TypeError("unbound")

    def check_inner(self, eqn):
        """There must be no program among the parameters."""
        if "jaxpr" in eqn.params:
            raise TypeError("a program inside")

    def bind(self, new):
        """Note the variables, which must be new."""
        if not self.bound.isdisjoint(new):
            raise TypeError("bound twice")
        self.bound.update(new)


def check_equation(eqn, *bound):
    """What is bound after the equation."""
    check = Lenient(Jaxpr([], list(bound), [], [eqn]))
    check.bound = set(bound)
    for each in check.equations():
        check.check_equation(each)
    return check.bound


def test_results_are_bound():
    """An equation that is right binds its result, and the weak type does not matter."""
    a, b = variables(2, 3)
    assert check_equation(JaxprEqn([a], [b], neg_p, {}), a) == {a, b}
    weak = Var(typed((), weak_type=True))
    (c,) = variables(1)
    assert check_equation(JaxprEqn([weak], [c], neg_p, {}), weak) == {weak, c}


def test_types_of_results():
    """Shape and dtype must agree with the variable; the error says in which equation."""
    (a,), (b,), (c,) = variables(1, 3), variables(1), variables(1, 3, dtype="float32")
    for wrong in (b, c):
        with pytest.raises(TypeError, match="In equation 1"):
            check_equation(JaxprEqn([a], [wrong], neg_p, {}), a)


def test_number_of_results():
    """One variable for each result; the error says in which equation."""
    pair_p = operation("pair", several=True, abstract_eval=lambda x: [x, x])
    a, b, c, d = variables(4)
    assert check_equation(JaxprEqn([a], [b, c], pair_p, {}), a) == {a, b, c}
    for results in ([b], [b, c, d]):
        with pytest.raises(TypeError, match="In equation 1"):
            check_equation(JaxprEqn([a], results, pair_p, {}), a)


def test_results_must_be_new():
    """`bind` notes the results: it rejects a variable that has a value already."""
    (a,) = variables(1)
    with pytest.raises(TypeError, match="bound twice"):
        check_equation(JaxprEqn([a], [a], neg_p, {}), a)


def test_programs_inside_are_checked():
    """`check_inner` is asked about the programs among the parameters."""
    a, b = variables(2)
    call_p = operation("call", abstract_eval=lambda x, jaxpr: x)
    inner = Jaxpr([], [], [], [])
    with pytest.raises(TypeError, match="a program inside"):
        check_equation(JaxprEqn([a], [b], call_p, {"jaxpr": inner}), a)


def test_each_operand_is_checked():
    """Every operand is checked, the last one and literals, too."""
    a, b, unbound = variables(3)
    wrong = Literal(1, typed(()))
    for operands in ([unbound, a], [a, unbound], [wrong, a], [a, wrong]):
        with pytest.raises(TypeError):
            check_equation(JaxprEqn(operands, [b], sub_p, {}), a)


def test_wrong_equation_binds_nothing():
    """The type of each result is compared, not only the first; after an error, none is bound."""
    a, b, c = *variables(2), Var(typed((3,)))
    two_p = operation("two", several=True, abstract_eval=lambda x: [x, x])
    check = Lenient(Jaxpr([], [a], [], [JaxprEqn([a], [b, c], two_p, {})]))
    check.bound = {a}
    eqn = next(check.equations())
    with pytest.raises(TypeError):
        check.check_equation(eqn)
    assert check.bound == {a}


def test_operands_are_checked_before_results_are_bound():
    """An equation cannot use what it makes."""
    a, b = variables(2)
    with pytest.raises(TypeError, match="unbound"):
        check_equation(JaxprEqn([b], [b], neg_p, {}), a)
