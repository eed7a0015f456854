"""Jaxprs: printed as JAX prints them, checked by types, and made with JAX's arguments."""

import itertools
import operator

import jax
import minijax
import numpy as np
import pytest
from expressions import failures_of, programs_of
from minijax.array import BINARY_OPERATORS, OPERATORS
from minijax.core import ShapedArray, mul_p, reduce_sum_p, sin_p
from minijax.jaxpr import Jaxpr, JaxprEqn, Literal, Var, eval_jaxpr, typecheck_jaxpr
from minijax.jit import jit_p
from oracle import prints_as_promised

S, X, Y = 2.0, np.array([1.0, 2.0, 4.0]), np.array([3.0, -5.0, 7.0])
F = np.array([1.0, 2.0, 4.0], "float32")
N, B = np.array([1, 2, 4]), np.array([True, False, True])
M, EMPTY, ROW = np.ones((2, 3)), np.ones((0, 3)), np.ones((1, 3))


def double(x):
    return x * 2.0


def long_function(x):
    for _ in range(11):
        x = x * 2.0
    return x


def twice(lib, f):
    f = lib.jit(f)
    return lambda x: f(f(x))


def two_deep(lib, x):
    """A function that calls another one twice, and is called twice itself."""
    f = lib.jit(double)
    return twice(lib, lambda x: f(x) + f(x))(x)


# Here `jaxpr` is `make_jaxpr`.
PROGRAMS = programs_of(
    globals(),
    """
    # primitives as functions, as no case of test_primitives.py has them
    scalar in lax: jaxpr(lambda x: lax.mul(x, 2.0))(X)
    scalar array in lax: jaxpr(lambda x: lax.mul(np.array(2.0), x))(X)
    transpose to the same: jaxpr(lambda x: lax.transpose(x, (0, 1)))(M)
    broadcast to the same: jaxpr(lambda x: lax.broadcast_in_dim(x, (3,), (0,)))(X)
    broadcast of a constant to the same: jaxpr(lambda x: jnp.broadcast_to(X, (3,)) * x)(X)
    convert to the same: jaxpr(lambda x: lax.convert_element_type(x, float))(X)
    convert a literal: jaxpr(lambda x: (lax.convert_element_type(3, "float32"), np.array(3) * x))(F)
    broadcast of 0-d: jaxpr(lambda x: lax.broadcast_in_dim(x, (2, 3), ()))(S)
    convert a weak one: jaxpr(lambda x: lax.convert_element_type(x, float))(S)
    convert to bool: jaxpr(lambda x: lax.convert_element_type(x, bool))(X)
    dot_general with a type: jaxpr(lambda x, y: lax.dot_general(x, y, (((0,), (0,)), ((), ())),
        preferred_element_type="float64"))(F, F)
    slice without strides: jaxpr(lambda x: lax.slice(x, (0, 1), (2, 3)))(M)
    indexing: jaxpr(lambda x, n: (lax.dynamic_slice(x, (n, 0), (1, 2)),
        lax.dynamic_update_slice(x, x, (0, n))))(M, np.int64(1))
    iota: jaxpr(lambda: (lax.iota("int32", 4), lax.broadcasted_iota(float, (2, 3), 1)))()
    # operators, promotion and literals
    operators: jaxpr(lambda x, y: (x + y, x - y, x * y, x / y, -x))(X, Y)
    operators reflected: jaxpr(lambda x: (1.0 + x, 1 - x, 2 * x, 1.0 / x))(X)
    comparison operators: jaxpr(lambda x: (x > 1, x < 2.5))(X)
    0-d result: jaxpr(lambda x: x * x)(S)
    weak operands: jaxpr(lambda x: 1 + x * 2)(S)
    weak booleans: jaxpr(lambda n, x: ((n > 1) & (x < 2) | True) * (n == x))(3, 2.0)
    powers: jaxpr(lambda x, n: [*(x**1, x**0, x**-1, x**-2, x**True, x**2.0, x ** np.int32(2), n
        ** np.array(2)), *(n**1, n**0, 2**n, 2.5**x, True**n, (n > 2) ** 0)])(X, N)
    sum of a weak scalar: jaxpr(lambda n: n.sum())(3)
    weak integers: jaxpr(lambda n: n / 2 + n)(3)
    float32 literal: jaxpr(lambda x: x * 0.1)(F)
    large and small literals: jaxpr(lambda x: 1e30 * x + 1e-7)(F)
    infinite literals: jaxpr(lambda x: (x * float("inf"), x - float("-inf")))(X)
    NaN: jaxpr(lambda x: x + float("nan"))(X)
    integer literal: jaxpr(lambda n: n * 2 - 1)(N)
    small integers: jaxpr(lambda n: n + 3)(np.int8(5))
    unsigned integers: jaxpr(lambda n: n * 3)(np.arange(3, dtype="uint32"))
    integers with a float: jaxpr(lambda n: n + 0.5)(N)
    integer division: jaxpr(lambda n: n / 2)(np.arange(3, dtype="int32"))
    float32 with float64: jaxpr(lambda x, y: x + y)(F, X)
    integers with float32: jaxpr(lambda n, x: n * x)(N, F)
    booleans: jaxpr(lambda b, x: b * x)(B, X)
    a NumPy scalar: jaxpr(lambda x: np.float32(3.0) * x)(X)
    matrix product: jaxpr(lambda x, y: x @ y.T)(M, M)
    vector products: jaxpr(lambda x, y: (x @ y, y @ y))(M, X)
    broadcasting: jaxpr(lambda x, y: x + y)(M, X)
    broadcasting of a row: jaxpr(lambda x, y: x * y)(M, ROW)
    broadcasting of a scalar: jaxpr(lambda x, y: x * y)(M, S)
    no elements: jaxpr(lambda x, y: (x * y).sum())(EMPTY, X)
    # control flow, besides the programs of test_control_flow.py
    cond: jaxpr(lambda b, x: lax.cond(b, lambda x: x * 2.0, lambda x: jnp.sin(x) + 1.0,
        x))(np.bool_(True), X)
    cond of a number: jaxpr(lambda x: lax.cond(3.0, lambda: x, lambda: -x))(X)
    switch: jaxpr(lambda i, x: lax.switch(i, [lambda x: x * 2.0, lambda x: x, lambda x: x + 1.0],
        x))(np.uint8(1), X)
    fori_loop with dynamic bounds: jaxpr(lambda n, x: lax.fori_loop(np.int32(0), n, lambda i, c: c
        * i, x))(4, X)
    scan: jaxpr(lambda x, y: lax.scan(lambda c, r: (c + r * y.sum(), {"a": c * r, "b": None}), 0.0,
        x, reverse=True))(X, X)
    scan that hands through: jaxpr(lambda x: lax.scan(lambda c, r: ((c[0] + 1, c[1], c[2] * c[1]),
        (r, c[0], r * 2)), (0, x, x), x))(X)
    scan of float32 from a number: jaxpr(lambda x: lax.scan(lambda c, r: (c + r, c), 0, x))(F)
    long body: jaxpr(lambda x: lax.scan(lambda c, r: (long_function(c) + r, c), x, M))(X)
    # minijax.numpy
    numpy functions: jaxpr(lambda x: jnp.sin(x) * jnp.cos(x) + jnp.exp(-x))(X)
    numpy functions of integers: jaxpr(lambda n: jnp.sin(n))(N)
    sum: jaxpr(lambda x: x.sum())(M)
    sum of an axis: jaxpr(lambda x: jnp.sum(x, axis=-1))(M)
    sum of booleans: jaxpr(lambda b: jnp.sum(b))(B)
    sum of small integers: jaxpr(lambda n: n.sum())(np.arange(3, dtype="int32"))
    mean: jaxpr(lambda x: jnp.mean(x, axis=0))(M)
    mean of integers: jaxpr(lambda n: n.mean())(N)
    dot: jaxpr(lambda x, y: jnp.dot(x, y))(X, Y)
    broadcast_to: jaxpr(lambda x: jnp.broadcast_to(x, (2, 3)))(X)
    astype: jaxpr(lambda x: x.astype("float32").astype(int))(X)
    numpy of known values: jaxpr(lambda x: x * jnp.sin(2.0))(X)
    # inputs, results, names
    identity: jaxpr(lambda x: x)(X)
    nothing: jaxpr(lambda: ())()
    no results: jaxpr(lambda x: ())(X)
    constant results: jaxpr(lambda x: (1, 2.0, True, np.float32(3.0), np.array(4)))(X)
    one result twice: jaxpr(lambda x: (x, x))(X)
    unused results: jaxpr(lambda x: (x * 2.0, x + 1.0)[1])(X)
    containers: jaxpr(lambda d: {"a": d["b"] + d["a"], "c": [d["a"]]})({"a": 1, "b": S})
    thirty variables: jaxpr(lambda *xs: sum(xs))(*(X,) * 30)
    thirty results: jaxpr(lambda *xs: xs)(*(X,) * 30)
    a long line of operands: jaxpr(lambda *xs: lib.jit(lambda *ys: ys[0])(*xs))(*(X,) * 45)
    740 variables: jaxpr(lambda x: [x := x * 2.0 for _ in range(740)][-1])(X)
    # constants
    array constant: jaxpr(lambda x: x * Y)(X)
    one constant twice: jaxpr(lambda x: x * Y + Y)(X)
    constants in order: jaxpr(lambda x: (Y + x) * N + F)(X)
    constant result: jaxpr(lambda x: (Y, x))(X)
    computed constant: jaxpr(lambda x: x * (Y * 2.0))(X)
    constant that broadcasts: jaxpr(lambda x: x * Y)(M)
    converted constant: jaxpr(lambda x: x * N)(F)
    # jit
    jit: jaxpr(lambda x: lib.jit(double)(x))(X)
    jit with two equations: jaxpr(lambda x: lib.jit(lambda y: y * y + 1.0)(x))(X)
    jit of a scalar: jaxpr(lambda x: lib.jit(double)(3.0) * x)(X)
    jit of the identity: jaxpr(lambda x: lib.jit(lambda y: y)(x))(X)
    jit called twice: jaxpr(lambda x: twice(lib, double)(x))(X)
    one function under two jits: jaxpr(lambda x: lib.jit(double)(lib.jit(double)(x)))(X)
    two functions of one name: jaxpr(lambda x: twice(lib, lambda y: y
        + 1.0)(twice(lib, lambda y: y * 2.0)(x)))(X)
    jit for two types: jaxpr(lambda x, y: [lib.jit(double)(z) for z in (x, y, x)])(X, M)
    jit in jit: jaxpr(lambda x: lib.jit(lambda y: lib.jit(double)(y) + y)(x))(X)
    jit in jit, twice: jaxpr(lambda x: two_deep(lib, x))(X)
    long function: jaxpr(lambda x: lib.jit(long_function)(x))(X)
    long program: jaxpr(lambda x: long_function(x))(X)
    jit of two results: jaxpr(lambda x: lib.jit(lambda y: (y, y * 2.0, 3.0))(x))(X)
    unused results of jit: jaxpr(lambda x: lib.jit(lambda y: (y + 1.0, y * 2.0))(x)[0])(X)
    unused equation in jit: jaxpr(lambda x: lib.jit(lambda y: (y * 2.0, -y)[1])(x))(X)
    jit of one operand twice: jaxpr(lambda x: lib.jit(lambda y, z: y * z)(x, x))(X)
    array in jit: jaxpr(lambda x: lib.jit(lambda y: y * Y)(x))(X)
    tracer in jit: jaxpr(lambda x: lib.jit(lambda y: y * x)(2.0))(X)
    tracer and arrays in jit: jaxpr(lambda x: lib.jit(lambda y: y * x + X + Y)(2.0))(X)
    static argument: jaxpr(lambda x: lib.jit(lambda y, n: y * n, static_argnums=1)(x, 2.0))(X)
    keyword argument of jit: jaxpr(lambda x: lib.jit(lambda y, *, z: y - z)(x, z=1.0))(X)
    jit without operands: jaxpr(lambda: lib.jit(lambda: 2.0)())()
    # arguments of make_jaxpr
    static number: jaxpr(lambda x, n: x * n, static_argnums=1)(X, 2)
    several static numbers: jaxpr(lambda a, x, b: x * a + b, (0, 2))(2.0, X, 1.0)
    the last one: jaxpr(lambda x, n: x * n, static_argnums=-1)(X, 2)
    static by name: jaxpr(lambda x, n: x * n, static_argnums=1)(X, n=2)
    by name: jaxpr(lambda x, z, y: x - y * z)(X, y=Y, z=S)
""",
    "jaxpr",
)


@pytest.mark.every
@prints_as_promised
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_print_as_in_jax(name):
    want, got = (PROGRAMS[name](lib, lib.make_jaxpr) for lib in (jax, minijax))
    assert str(got) == str(want)
    typecheck_jaxpr(got.jaxpr)


# The operators, with arrays of all dtypes, and with Python scalars, known or traced ---------------

SCALARS = {"bool": True, "int": 2, "float": 2.5}
DTYPES = ["bool", "int8", "int32", "int64", "uint8", "uint32", "float16", "float32", "float64"]
UNARY = {"__neg__": operator.neg, "__pos__": operator.pos, "__abs__": abs}
UNARY["__invert__"] = operator.invert
BINARY = {
    f"__{name.strip('_')}__": getattr(operator, name)
    for name in (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor"),
        *("lt", "le", "gt", "ge", "eq", "ne"),
    )
}


def test_the_tables_of_operators_are_complete():
    reflected = {f"__r{name[2:]}" for name in BINARY}
    every = {f"__{name}__" for name in (*OPERATORS, *BINARY_OPERATORS)}
    others = {"__getitem__", "__iter__", "__round__", "__divmod__", "__rdivmod__"}
    others |= {"__lshift__", "__rlshift__", "__rshift__", "__rrshift__"}  # see test_arrays.py
    assert every - reflected - others == {*UNARY, *BINARY}


def of_dtype(dtype):
    return np.ones((2, 3), dtype)


def uses(name):
    """Functions that use the operator `name`, each with arguments."""
    function = BINARY[name]
    for x, y in itertools.product(DTYPES, DTYPES):
        yield function, (of_dtype(x), of_dtype(y).T if name == "__matmul__" else of_dtype(y))
    if name == "__matmul__":
        return
    for x, y in itertools.product(SCALARS.values(), SCALARS.values()):
        yield function, (x, y)
    for x, y in itertools.product(DTYPES, SCALARS.values()):
        yield from [(function, (of_dtype(x), y)), (function, (y, of_dtype(x)))]
        yield (lambda x, y=y: function(x, y)), (of_dtype(x),)
        yield (lambda x, y=y: function(y, x)), (of_dtype(x),)
    for x in DTYPES:
        yield from [(function, (of_dtype(x), y)) for y in (of_dtype(x)[0], of_dtype(x)[0, 0])]


def printed(lib, function, args):
    """The program, inside that of a call of `jit`; or the error's class."""
    try:
        return str(lib.make_jaxpr(lib.jit(function))(*args))
    except TypeError as error:
        return type(error).__name__


@prints_as_promised
@pytest.mark.parametrize("name", BINARY)
def test_binary_operators_print_as_in_jax(name):
    for function, args in uses(name):
        got, want = (printed(lib, function, args) for lib in (minijax, jax))
        assert got == want


@prints_as_promised
@pytest.mark.parametrize("name", UNARY)
def test_unary_operators_print_as_in_jax(name):
    for x in [*map(of_dtype, DTYPES), *SCALARS.values()]:
        got, want = (printed(lib, UNARY[name], (x,)) for lib in (minijax, jax))
        assert got == want


def test_a_long_program_prints_at_the_default_recursion_limit():
    jaxpr = minijax.make_jaxpr(lambda x: [x := x * 2.0 for _ in range(5000)][-1])(X)
    assert str(jaxpr).count("\n") == 5001


def test_a_program_keeps_the_values_that_its_constants_had():
    constant = np.array([1.0, 2.0])
    closed = minijax.make_jaxpr(lambda x: x * constant)(np.ones(2))
    constant[:] = 0.0
    assert eval_jaxpr(closed.jaxpr, closed.consts, 3.0)[0].tolist() == [3.0, 6.0]


# The type checker: each defect is put into a program that is right without it ---------------------


def var(shape=(3,), dtype=float):
    return Var(ShapedArray(shape, np.dtype(dtype)))


def program():
    """`lambda a b. let c = mul a b; d = sin c; e = reduce_sum d; f = mul e 2.0 in f`."""
    a, b, c, d, e, f = var(), var(), var(), var(), var(()), var(())
    two = Literal(2.0, ShapedArray((), np.dtype(float)))
    eqns = [
        JaxprEqn([a, b], [c], mul_p, {}),
        JaxprEqn([c], [d], sin_p, {}),
        JaxprEqn([d], [e], reduce_sum_p, {"axes": (0,)}),
        JaxprEqn([e, two], [f], mul_p, {}),
    ]
    return Jaxpr([], [a, b], [f], eqns)


def test_the_type_of_a_program():
    assert str(typecheck_jaxpr(program())) == "(float64[3], float64[3]) -> (float64[])"


def call_with(jaxpr, atom):
    """Put a call of `g` in place of the second equation; gives the program of `g`."""
    closed = minijax.make_jaxpr(lambda x: x * 3.0)(X)
    params = {"name": "g", "jaxpr": closed}
    jaxpr.eqns[1] = JaxprEqn([atom], jaxpr.eqns[1].outvars, jit_p, params)
    return closed.jaxpr


def call_bad_program(jaxpr):
    set_operand(call_with(jaxpr, jaxpr.eqns[0].outvars[0]), 0, 0, var())


def set_operand(jaxpr, line, place, atom):
    jaxpr.eqns[line].invars[place] = atom


def set_result(jaxpr, line, *variables):
    jaxpr.eqns[line].outvars[:] = variables


def literal(value, shape=(), dtype=float):
    return Literal(value, ShapedArray(shape, np.dtype(dtype)))


# What is done to the program `p`, and the whole message.
DEFECTS = failures_of(
    globals(),
    """
    unbound operand: set_operand(p, 1, 0, var()) raises In equation 2, `c:f64[3] = sin d`: d:f64[3]
        is used but not bound.
    used before it is bound: p.eqns.insert(0, p.eqns.pop(1)) raises In equation 1, `c:f64[3] = sin
        d`: d:f64[3] is used but not bound.
    unbound output: p.outvars.append(var(())) raises g:f64[] is used but not bound.
    input bound twice: p.invars.append(p.invars[0]) raises a:f64[3] is bound twice.
    constant that is an input: p.constvars.append(p.invars[1]) raises a:f64[3] is bound twice.
    bound twice: set_result(p, 1, p.eqns[0].outvars[0]) raises In equation 2, `c:f64[3] = sin
        c`: c:f64[3] is bound twice.
    result that is an input: set_result(p, 0, p.invars[0]) raises In equation 1, `a:f64[3] = mul a
        b`: a:f64[3] is bound twice.
    shape of a result: set_result(p, 1, var((4,))) raises In equation 2, `_:f64[4] = sin c`: the
        result is float64[3] and not float64[4].
    dtype of a result: set_result(p, 3, var((), "float32")) raises In equation 4, `_:f32[] = mul e
        2.0:f64[]`: the result is float64[] and not float32[].
    shapes of operands: p.invars.append(w := var((4,))) or set_operand(p, 0, 1, w) raises In
        equation 1, `d:f64[3] = mul a c`: operation got incompatible shapes for broadcasting: (3,),
        (4,).
    dtypes of operands: p.invars.append(w := var((3,), int)) or set_operand(p, 0, 1, w) raises In
        equation 1, `d:f64[3] = mul a c`: operands must have one dtype, not float64[3] and int64[3].
    dtype of an operand: p.invars.append(w := var((3,), int)) or set_operand(p, 1, 0, w) raises In
        equation 2, `d:f64[3] = sin c`: the operand must be a float, not int64[3].
    axis that is not there: p.eqns[2].params.update(axes=(1,)) raises In equation 3, `e:f64[] =
        reduce_sum[axes=(1,) out_sharding=None] d`: float64[3] does not have the axes (1,), each
        once.
    number of operands: p.eqns[1].invars.append(p.invars[0]) raises In equation 2, `d:f64[3] = sin c
        a`: float_type() takes 1 positional argument but 2 were given.
    too many results: set_result(p, 1, p.eqns[1].outvars[0], var()) raises In equation 2, `d:f64[3]
        _:f64[3] = sin c`: 1 results where 2 are bound.
    no result: (set_result(p, 3), p.outvars.clear()) raises In equation 4, `mul e 2.0:f64[]`: 1
        results where 0 are bound.
    dtype of a literal: set_operand(p, 3, 1, literal(2.0, dtype="float32")) raises In equation 4,
        `f:f64[] = mul e 2.0:f32[]`: the literal 2.0:f32[] is float64[].
    shape of a literal: set_operand(p, 3, 1, literal(np.ones(2))) raises In equation 4, `f:f64[] =
        mul e [...]:f64[]`: the literal [...]:f64[] is float64[2].
    literal as output: p.outvars.append(literal(1, dtype=float)) raises the literal 1:f64[] is
        int64[].
    program in an equation: call_bad_program(p) raises In equation 2, `d:f64[3] = jit[ name=g
        jaxpr={ lambda ; c:f64[3]. let d:f64[3] = mul e 3.0:f64[] in (d,) } ] c`: In equation 1,
        `b:f64[3] = mul c 3.0:f64[]`: c:f64[3] is used but not bound.
    operand of a call: p.invars.append(w := var((4,))) or call_with(p, w) raises In equation 2,
        `d:f64[3] = jit[ name=g jaxpr={ lambda ; c:f64[3]. let d:f64[3] = mul c 3.0:f64[] in (d,) }
        ] c`: g takes (float64[3]) and is called with (float64[4]).
""",
    "p",
)


@pytest.mark.every
@pytest.mark.parametrize("name", DEFECTS)
def test_the_type_checker_names_the_equation_and_the_defect(name):
    damage, message = DEFECTS[name]
    jaxpr = program()
    typecheck_jaxpr(jaxpr)
    damage(minijax, jaxpr)
    with pytest.raises(TypeError) as caught:
        typecheck_jaxpr(jaxpr)
    assert str(caught.value) == message
