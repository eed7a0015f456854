"""Every primitive through every transformation, against JAX in 64-bit mode, by table.

A case is one function and its operands. All that can be asked of it (its value, derivatives, what
`vmap` makes of it for each choice of mapped operands, and compositions) is one list of programs,
which minijax computes twice, step by step and compiled, and JAX once.

The usual run takes two shapes and two dtypes for each case, others for each, and a sample of the
compositions of two transformations that covers all pairs. `--full` takes all of everything; it
keeps JAX's answers in `build/oracle`, so that the next run, or one that goes on, need not ask.
"""

import functools
import hashlib
import importlib
import itertools
import pickle
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import minijax
import numpy as np
import pytest
from minijax import core
from minijax.jaxpr import typecheck_jaxpr
from oracle import assert_same, prints_as_promised

from autograder.lessons import places

FAMILIES = [
    "basic",
    "choosing",
    "elementwise",
    "reductions",
    "shapes",
    "gathers",
    "dynamic",
    "sorting",
    "special",
    "bits",
]
FLOATS, INTS, BOOL = ["float64", "float32"], ["int32", "int64"], ["bool"]
NUMBERS, ALL = FLOATS + INTS, FLOATS + INTS + BOOL
SHAPES = [(2, 3), (), (0, 3), (3,), (2, 1, 4)]


@dataclass(frozen=True, eq=False)
class Case:
    """A function `(lax, *operands)`, and how to make its operands.

    `operands` is how many arrays of the shape and dtype at hand there are, or a function that makes
    them from (shape, dtype, numbers); `rank` is the least number of axes that makes sense.
    """

    primitive: str
    function: Any
    dtypes: list[str]
    operands: Any = 1
    rank: int = 0
    positive: bool = False  # numbers for which it is smooth; test_edges asks all others
    only_together: bool = False  # JAX fails at the gradient by one operand alone

    def make(self, shape, dtype, seed):
        rng = np.random.default_rng(seed)

        def numbers(shape=shape, dtype=dtype):
            # Halves and integers: exact, with zeros and with elements that are equal.
            low, high = (1, 6) if self.positive else (-4, 5)
            scale = 2 if np.dtype(dtype).kind == "f" else 1
            return np.asarray(rng.integers(low, high, shape) / scale).astype(dtype)

        if isinstance(self.operands, int):
            return tuple(numbers() for _ in range(self.operands))
        return tuple(self.operands(shape, numbers, rng))

    def shapes(self):
        return [shape for shape in SHAPES if len(shape) >= self.rank]


def unary(name, dtypes=FLOATS, **more):
    return Case(name, lambda lax, x: getattr(lax, name)(x), dtypes, **more)


def binary(name, dtypes=ALL, function=None, **more):
    function = function or name
    return Case(name, lambda lax, x, y: getattr(lax, function)(x, y), dtypes, 2, **more)


def last(x):
    return len(x.shape) - 1


def all_axes(x):
    return tuple(range(len(x.shape)))


def reduction(name, dtypes):
    def function(lax, x):
        some = (0,) if len(x.shape) > 1 else ()
        reduce = getattr(lax, name)
        return reduce(x, all_axes(x)), reduce(x, some)

    return Case(name, function, dtypes)


def rows(lax, x, i, **more):
    """The parts of `x` along its first axis that the indices `i` name, by gather."""
    axes = tuple(range(1, len(x.shape)))
    numbers = lax.GatherDimensionNumbers(axes, (0,), (0,))
    return lax.gather(x, i, numbers, (1, *x.shape[1:]), **more)


def row_numbers(lax, x):
    return lax.ScatterDimensionNumbers(tuple(range(1, len(x.shape))), (0,), (0,))


def with_rows(shape, numbers, rng):
    """An array, and rows to look up in it: one of them twice, one outside."""
    return numbers(), np.array([[1], [0], [1], [7]], "int32") % max(2 * shape[0], 1)


def with_updates(shape, numbers, rng):
    x, i = with_rows(shape, numbers, rng)
    return x, i, numbers((len(i), *shape[1:]))


def with_starts(shape, numbers, rng):
    return (numbers(), *(np.int64(rng.integers(-1, 3)) for _ in shape))


def smaller(shape):
    return tuple(min(n, 1 + i) for i, n in enumerate(shape))


def pick(shape, numbers, rng):
    return rng.integers(0, 2, shape) > 0, numbers(), numbers()


def matrices(shape, numbers, rng):
    return numbers(), numbers(shape[::-1])


def batched_matrices(shape, numbers, rng):
    return numbers((2, *shape)), numbers((*shape[::-1], 2))


CLIP_FILL = ("clip", "fill", "promise_in_bounds")

CASES = [
    binary("add", NUMBERS),
    binary("sub", NUMBERS),
    binary("mul", NUMBERS),
    binary("div", NUMBERS, positive=True),
    unary("neg", NUMBERS),
    *(unary(name) for name in ("sin", "cos", "exp", "tanh", "expm1", "logistic", "exp2")),
    *(unary(name, positive=True) for name in ("log", "log1p", "sqrt", "rsqrt")),
    *(unary(name, NUMBERS) for name in ("abs", "sign", "square")),
    *(unary(name) for name in ("floor", "ceil", "is_finite")),
    Case("round", lambda lax, x: [lax.round(x, lax.RoundingMethod(i)) for i in (0, 1)], FLOATS),
    Case("not", lambda lax, x: lax.bitwise_not(x), INTS + BOOL),
    Case("stop_gradient", lambda lax, x: lax.stop_gradient(x) * x, FLOATS),
    Case("integer_pow", lambda lax, x: [lax.integer_pow(x, n) for n in (2, 3, 6)], NUMBERS),
    Case("integer_pow", lambda lax, x: lax.integer_pow(x, -3), FLOATS, positive=True),
    binary("pow", FLOATS, positive=True),
    Case("pow", lambda lax, x: lax.pow(x, np.int32(3)), FLOATS),
    *(binary(name) for name in ("gt", "lt", "eq", "ne", "ge", "le", "max", "min")),
    binary("rem", NUMBERS, positive=True),
    *(binary(name, INTS + BOOL, f"bitwise_{name}") for name in ("and", "or", "xor")),
    binary("shift_right_logical", INTS, positive=True),
    Case("select_n", lambda lax, c, x, y: lax.select_n(c, x, y), ALL, pick),
    Case(
        "select_n",
        lambda lax, c, x, y: lax.select_n(c, x, y, x, y),
        FLOATS,
        lambda shape, numbers, rng: (np.int32(rng.integers(0, 4)), numbers(), numbers()),
    ),
    Case("clamp", lambda lax, a, x, b: lax.clamp(a, x, b), NUMBERS, 3, rank=1),
    Case("clamp", lambda lax, x: lax.clamp(x.dtype.type(-1), x, x.dtype.type(1)), NUMBERS),
    Case(
        "clamp",
        lambda lax, a, x, b: lax.clamp(a, x, b),
        INTS,  # JAX cannot differentiate by a 0-d bound
        lambda shape, numbers, rng: (numbers(()), numbers(), numbers(())),
        rank=1,
    ),
    *(reduction(name, NUMBERS) for name in ("reduce_sum", "reduce_max", "reduce_min")),
    reduction("reduce_prod", NUMBERS),
    *(reduction(name, INTS + BOOL) for name in ("reduce_and", "reduce_or")),
    *(
        Case(name, lambda lax, x, f=name: getattr(lax, f)(x, last(x), "int32"), ALL, rank=1)
        for name in ("argmax", "argmin")
    ),
    Case(
        "cumsum",
        lambda lax, x: [lax.cumsum(x, i, bool(i % 2)) for i in all_axes(x)],
        NUMBERS,
        rank=1,
    ),
    Case("transpose", lambda lax, x: lax.transpose(x, all_axes(x)[::-1]), ALL, rank=2),
    Case(
        "broadcast_in_dim",
        lambda lax, x: lax.broadcast_in_dim(x, (2, *x.shape, 3), [i + 1 for i in all_axes(x)]),
        ALL,
    ),
    Case("convert_element_type", lambda lax, x: lax.convert_element_type(x, "float32"), ALL),
    Case("convert_element_type", lambda lax, x: lax.convert_element_type(x, "int32"), FLOATS),
    Case("reshape", lambda lax, x: lax.reshape(x, (*x.shape[1:][::-1], *x.shape[:1], 1)), ALL),
    Case("squeeze", lambda lax, x: lax.squeeze(lax.expand_dims(x, (0, -1)), (0,)), ALL),
    Case("rev", lambda lax, x: lax.rev(x, all_axes(x)[-2:]), ALL, rank=1),
    Case("concatenate", lambda lax, x, y: lax.concatenate([x, y, x], last(x)), ALL, 2, rank=1),
    Case(
        "pad",
        lambda lax, x, v: lax.pad(x, v, [(1, i - 1, i) for i in all_axes(x)]),
        ALL,
        lambda shape, numbers, rng: (numbers(), numbers(())),
        only_together=True,
    ),
    Case(
        "slice",
        lambda lax, x: lax.slice(x, [n // 2 for n in x.shape], x.shape, [2] * len(x.shape)),
        ALL,
        rank=1,
    ),
    Case(
        "iota",
        lambda lax, x: (
            lax.broadcasted_iota("int32", (2, *x.shape), last(x)) * lax.expand_dims(x, [0])
        ),
        ["int32"],
        rank=1,
    ),
    Case(
        "dot_general",
        lambda lax, x, y: lax.dot_general(x, y, (((last(x),), (0,)), ((), ()))),
        NUMBERS,
        matrices,
        rank=2,
    ),
    Case(
        "dot_general",
        lambda lax, x, y: lax.dot_general(
            x, y, (((last(x), 1), (0, last(y) - 1)), ((0,), (last(y),)))
        ),
        NUMBERS,
        batched_matrices,
        rank=2,
    ),
    Case(
        "gather", lambda lax, x, i: [rows(lax, x, i, mode=m) for m in CLIP_FILL], ALL, with_rows, 1
    ),
    *(
        Case(
            name,
            lambda lax, x, i, y, name=name, mode=mode: getattr(lax, name.replace("-", "_"))(
                x, i, y, row_numbers(lax, x), mode=mode
            ),
            [*FLOATS, "int32"],
            with_updates,
            1,
        )
        for name in ("scatter", "scatter-add")
        for mode in ("drop", "clip")
    ),
    Case(
        "dynamic_slice",
        lambda lax, x, *i: lax.dynamic_slice(x, i, smaller(x.shape)),
        ALL,
        with_starts,
        1,
    ),
    Case(
        "dynamic_update_slice",
        lambda lax, y, x, *i: lax.dynamic_update_slice(x, y, i),
        ALL,
        lambda shape, numbers, rng: (numbers(smaller(shape)), *with_starts(shape, numbers, rng)),
        1,
    ),
    Case("sort", lambda lax, x: lax.sort(x, 0), ALL, rank=1),
    Case("sort", lambda lax, x, y: lax.sort((x, y, x + 1), -1, num_keys=2), NUMBERS, 2, 1),
    *(unary(name) for name in ("tan", "atan", "sinh", "cosh", "asinh", "erf", "erfc")),
    unary("cbrt", positive=True),
    binary("atan2", FLOATS, positive=True),
    Case("acosh", lambda lax, x: lax.acosh(lax.add(x, lax.full_like(x, 1))), FLOATS, positive=True),
    *(
        Case(
            name,
            lambda lax, x, f=name: getattr(lax, f)(lax.mul(x, lax.full_like(x, 0.125))),
            FLOATS,
        )
        for name in ("asin", "acos", "erf_inv")
    ),
    *(
        binary(name, ["int32", "int64"], positive=True)
        for name in ("shift_left", "shift_right_arithmetic")
    ),
    unary("population_count", ["int32", "int64"]),
    Case(
        "nextafter", lambda lax, x, y: lax.nextafter(*map(lax.stop_gradient, (x, y))) * x, FLOATS, 2
    ),
    Case(
        "bitcast_convert_type",
        lambda lax, x: lax.bitcast_convert_type(x, f"uint{8 * x.dtype.itemsize}"),
        NUMBERS,
    ),
    Case("top_k", lambda lax, x: lax.top_k(x, x.shape[-1] // 2), [*FLOATS, "int32"], rank=1),
    Case("sort", lambda lax, x, y: lax.sort_key_val(x, y, 0), NUMBERS, 2, 1),
    Case("atanh", lambda lax, x: lax.atanh(lax.mul(x, lax.full_like(x, 0.125))), FLOATS),
    Case(
        "concatenate",
        lambda lax, x: [
            lax.associative_scan(lax.add, x, reverse=bool(i % 2), axis=i) for i in all_axes(x)
        ],
        NUMBERS,
        lambda shape, numbers, rng: (numbers((4, *shape)),),
    ),
]

# What `gather` and `scatter` do with an empty operand is left open.
EMPTY_FAILS = {"gather", "scatter", "scatter-add", "argmax", "argmin"}


# The programs -------------------------------------------------------------------------------------


def is_float(x):
    return np.dtype(x.dtype).kind == "f"


def loss(lib, function):
    """One number from all float results, each element with a weight of its own."""

    def weighted(*xs):
        leaves = [y for y in lib.tree.leaves(function(*xs)) if is_float(y)]
        weights = [np.cos(np.arange(y.size)).reshape(y.shape).astype(y.dtype) for y in leaves]
        return sum((lib.numpy.sum(y * w) for y, w in zip(leaves, weights)), 0.0)  # noqa: B905

    return weighted


def batch_axes(xs, batches):
    """Choices of mapped operands: all along axis 0, all along the last, and each one alone."""
    yield (0,) * len(xs), batches
    yield (-1,) * len(xs), [np.moveaxis(b, 0, -1) for b in batches]
    if len(xs) > 1:
        for i in range(len(xs)):
            axes = tuple(0 if i == j else None for j in range(len(xs)))
            yield (
                axes,
                [b if i == j else x for j, (x, b) in enumerate(zip(xs, batches, strict=True))],
            )


def programs(lib, case, xs, batches, pairs):
    """All results that are asked for, by name."""

    def f(*args):
        return case.function(lib.lax, *args)

    out = {"value": f(*xs), "jit": lib.jit(f)(*xs)}
    for axes, args in batch_axes(xs, batches):
        out[f"vmap {axes}"] = lib.vmap(f, axes)(*args)
    moving = [i for i, x in enumerate(xs) if is_float(x)]
    if has_derivatives(case, xs):
        out.update(derivatives(lib, case, f, xs, batches, moving))
        base = loss(lib, lambda *some: f(*fill(xs, moving, some)))
    else:
        base, moving = f, range(len(xs))
    for outer, inner in pairs:
        composed = TRANSFORMATIONS[outer](lib, TRANSFORMATIONS[inner](lib, base))
        out[f"{outer} of {inner}"] = composed(*[xs[i] for i in moving])
    return out


@functools.cache
def gives_floats(case):
    xs = case.make(case.shapes()[0], case.dtypes[0], 0)
    return any(map(is_float, minijax.tree.leaves(case.function(minijax.lax, *xs))))


def has_derivatives(case, xs):
    return any(map(is_float, xs)) and gives_floats(case)


def derivatives(lib, case, f, xs, batches, moving):
    def of(function, args):
        """`function` of those of `args` that are floats."""
        return lambda *some: function(*fill(args, moving, some))

    xs_moving = [xs[i] for i in moving]
    tangents = [np.cos(np.arange(x.size)).reshape(x.shape).astype(x.dtype) for x in xs_moving]
    numbers = tuple(range(len(moving)))
    out = {}
    values, moved = lib.jvp(of(f, xs), xs_moving, tangents)
    pairs = zip(lib.tree.leaves(values), lib.tree.leaves(moved), strict=True)
    out["jvp"] = [t for y, t in pairs if is_float(y)]
    gradient = lib.grad(loss(lib, of(f, xs)), numbers)
    out["grad"] = gradient(*xs_moving)
    out["grad of jit"] = lib.grad(lib.jit(loss(lib, of(f, xs))), numbers)(*xs_moving)
    out["jvp of grad"] = lib.jvp(gradient, xs_moving, tangents)[1]
    for i in range(len(moving) if len(moving) > 1 and not case.only_together else 0):
        out[f"grad {i}"] = lib.grad(loss(lib, of(f, xs)), i)(*xs_moving)
    out["vmap of grad"] = lib.vmap(lambda *args: lib.grad(loss(lib, f), moving)(*args))(*batches)
    out["grad of vmap"] = lib.grad(loss(lib, of(lib.vmap(f), batches)), numbers)(
        *[batches[i] for i in moving]
    )
    return out


# Compositions of two transformations --------------------------------------------------------------
# Each takes a function of arrays to another one of the same arrays.


def batched(lib, f):
    def pair(x):
        return lib.numpy.stack([x, x * np.asarray(0.5, x.dtype) if is_float(x) else x])

    return lambda *xs: lib.vmap(f)(*map(pair, xs))


def directions(xs):
    return tuple(np.cos(np.arange(x.size)).reshape(x.shape).astype(x.dtype) for x in xs)


def gradient(lib, f):
    def total(*xs):
        return sum(lib.numpy.sum(y) for y in lib.tree.leaves(f(*xs)))

    return lambda *xs: lib.grad(total, tuple(range(len(xs))))(*xs)


TRANSFORMATIONS = {
    "jit": lambda lib, f: lib.jit(f),
    "vmap": batched,
    "jvp": lambda lib, f: lambda *xs: lib.jvp(f, xs, directions(xs))[1],
    "grad": gradient,
    "linearize": lambda lib, f: lambda *xs: lib.linearize(f, *xs)[1](*directions(xs)),
}
WITHOUT_DERIVATIVES = ["jit", "vmap"]


def compositions(case, number, dtype, full):
    """Which transformations of which: all, or each one once outside and once inside."""
    floats = dtype in FLOATS and gives_floats(case)
    names = list(TRANSFORMATIONS) if floats else WITHOUT_DERIVATIVES
    if full:
        return list(itertools.product(names, names))
    shift = number + number // len(names)
    return [(name, names[(i + shift) % len(names)]) for i, name in enumerate(names)]


def fill(args, places, values):
    filled = list(args)
    for place, value in zip(places, values, strict=True):
        filled[place] = value
    return filled


def combinations(case, number, full):
    """Which shapes and dtypes: all, or two that differ in both, and by case; one is of floats."""
    found = [
        (shape, dtype)
        for shape in case.shapes()
        for dtype in case.dtypes
        if not (0 in shape and case.primitive in EMPTY_FAILS)
    ]
    if full:
        return found
    shape, dtype = found[number % len(case.dtypes)]
    others = [c for c in found if shape != c[0] and (dtype != c[1] or len(case.dtypes) == 1)]
    if dtype not in FLOATS:
        others = [c for c in others if c[1] in FLOATS] or others
    return [(shape, dtype), others[(2 * number + number // 3) % len(others)]]


def inputs(case, number, full):
    """Operands of one example and of a batch of two, and compositions, for each combination."""
    for shape, dtype in combinations(case, number, full):
        one, other = (case.make(shape, dtype, seed) for seed in (0, 1))
        batches = [np.stack(pair) for pair in zip(one, other, strict=True)]
        yield one, batches, compositions(case, number, dtype, full)


QUICK = {"xla_backend_optimization_level": "0", "xla_llvm_disable_expensive_passes": "True"}


@pytest.fixture
def full(request):
    return request.config.getoption("--full")


IDS = [f"{case.primitive}-{i}" for i, case in enumerate(CASES)]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(CASES)), ids=IDS)
def test_each_primitive_under_each_transformation_gives_what_jax_gives(number, full):
    case = CASES[number]
    cases = list(inputs(case, number, full))
    arguments = [(xs, batches) for xs, batches, _ in cases]

    def run(lib):
        def every(arguments):
            pairs = [pairs for _, _, pairs in cases]
            return [programs(lib, case, *x, y) for x, y in zip(arguments, pairs, strict=True)]

        return every

    want = answers_of_jax(run(jax), arguments, number, full)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got, compiled = run(minijax)(arguments), minijax.jit(run(minijax))(arguments)
    for result in (got, compiled):
        for (xs, _), here, there in zip(arguments, result, want, strict=True):
            assert here.keys() == there.keys()
            for name in here:
                assert_same(
                    here[name], there[name], f"{name} of {[x.shape for x in xs]}", 1e-10, 1e-4
                )


def a_few(lib, case, xs, batches):
    """The value, two batches, and the gradient by all that floats."""

    def f(*args):
        return case.function(lib.lax, *args)

    first = (0, *(None for _ in xs[1:]))
    out = [f(*xs), lib.vmap(f)(*batches), lib.vmap(f, first)(batches[0], *xs[1:])]
    if has_derivatives(case, xs):
        moving = [i for i, x in enumerate(xs) if is_float(x)]
        base = loss(lib, lambda *some: f(*fill(xs, moving, some)))
        out.append(gradient(lib, base)(*(xs[i] for i in moving)))
    return out


def test_each_primitive_gives_what_jax_gives_of_one_shape_and_dtype():
    """The choice runs this and leaves the next one out: here JAX compiles one program for all."""
    makes = [functools.partial(case.make, case.shapes()[0], case.dtypes[0]) for case in CASES]
    arguments = [make(0) for make in makes]
    pairs = [zip(make(0), make(1), strict=True) for make in makes]
    batches = [[np.stack(both) for both in examples] for examples in pairs]

    def run(lib):
        def every(arguments, batches):
            rows = zip(IDS, CASES, arguments, batches, strict=True)
            return {name: a_few(lib, case, xs, more) for name, case, xs, more in rows}

        return every

    want = jax.jit(run(jax), compiler_options=QUICK)(arguments, batches)
    for form in (run(minijax), minijax.jit(run(minijax))):
        got = form(arguments, batches)
        for name in IDS:
            assert_same(got[name], want[name], name, 1e-10, 1e-4)


def answers_of_jax(program, arguments, number, full):
    """What JAX gives; for the full sweep from a file, once it has been asked."""
    identity = f"{jax.__version__} {number} {Path(__file__).read_text(encoding='utf-8')}"
    name = hashlib.sha256(identity.encode()).hexdigest()[:16]
    kept = places.ROOT / "build" / "oracle" / f"{IDS[number]}-{name}.pickle"
    if full and kept.exists():
        return pickle.loads(kept.read_bytes())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answers = jax.jit(program, compiler_options=QUICK)(arguments)
    answers = jax.tree.map(np.asarray, answers)
    if full:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(pickle.dumps(answers))
    return answers


def rows_of(full):
    """What is walked: the number of the case, outer and inner transformation, shape and dtype."""
    for number, case in enumerate(CASES):
        for shape, dtype in combinations(case, number, full):
            for outer, inner in compositions(case, number, dtype, full):
                yield number, outer, inner, shape, dtype


# By number: case, outer, inner, shape, dtype. Of shapes and dtypes, each case takes two.
PAIRS_TO_COVER = [p for p in itertools.combinations(range(5), 2) if p not in ((0, 3), (0, 4))]


@pytest.mark.parametrize(("i", "j"), PAIRS_TO_COVER)
def test_the_sample_of_the_usual_run_covers_all_pairs(i, j):
    sample, every = ({(row[i], row[j]) for row in rows_of(full)} for full in (False, True))
    assert every - sample == set()


def test_each_case_is_walked_over_two_shapes_and_two_dtypes():
    for number, case in enumerate(CASES):
        shapes, dtypes = zip(*combinations(case, number, False), strict=True)
        walkable = {shape for shape, _ in combinations(case, number, True)}
        assert len(set(shapes)) == min(2, len(walkable))
        assert len(set(dtypes)) == min(2, len(case.dtypes))


# The tables of rules ------------------------------------------------------------------------------

NOT_DIFFERENTIATED = {"iota"}  # it has no operands
LINEAR = {
    *("add", "sub", "mul", "div", "neg", "dot_general", "convert_element_type", "reduce_sum"),
    *("transpose", "broadcast_in_dim", "select_n", "reshape", "squeeze", "rev", "concatenate"),
    *("pad", "slice", "cumsum", "gather", "scatter", "scatter-add", "dynamic_slice"),
    "dynamic_update_slice",
}


def primitives():
    """All primitives that `minijax.core` and the families of `minijax.lax` define."""
    modules = [core, *(importlib.import_module(f"minijax.lax.{name}") for name in FAMILIES)]
    found = itertools.chain.from_iterable(vars(module).values() for module in modules)
    return {p.name: p for p in found if isinstance(p, core.Primitive)}


@pytest.mark.parametrize("name", primitives())
def test_no_primitive_lacks_a_rule(name):
    primitive = primitives()[name]
    tables = [core.impl_rules, core.abstract_eval_rules, core.hlo_lowerings]
    if name not in NOT_DIFFERENTIATED:
        tables += [core.jvp_rules, core.vmap_rules]
    if name in LINEAR:
        tables.append(core.transpose_rules)
    assert all(primitive in table for table in tables)


def test_each_primitive_has_a_case_that_uses_it():
    for case in CASES:
        xs = case.make(case.shapes()[0], case.dtypes[0], 0)
        jaxpr = minijax.make_jaxpr(lambda *xs, case=case: case.function(minijax.lax, *xs))(*xs)
        assert case.primitive in [eqn.primitive.name for eqn in jaxpr.eqns]
    assert {case.primitive for case in CASES} == set(primitives())


# JAX prints the addition of scatter-add as a program of its own, among the parameters.
PRINTED_ALIKE = {i: name for i, name in enumerate(IDS) if not name.startswith("scatter-add")}


@pytest.mark.every
@prints_as_promised
@pytest.mark.parametrize("number", PRINTED_ALIKE, ids=PRINTED_ALIKE.values())
def test_programs_of_lax_functions_print_as_in_jax(number):
    case = CASES[number]
    xs = case.make(case.shapes()[0], case.dtypes[0], 0)
    got, want = (
        lib.make_jaxpr(lambda *xs, lib=lib: case.function(lib.lax, *xs))(*xs)
        for lib in (minijax, jax)
    )
    assert str(got) == str(want)
    typecheck_jaxpr(got.jaxpr)
