"""Hidden tests of the `random` lesson: threefry, keys, bits, and numbers made of them.

Every exercise is tested alone: if its target calls what a sibling exercise defines, the probe puts
a right one in its place meanwhile. What is asked of a function outside `jit` is asked of it inside
of `jit` and `vmap` as well.
"""

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest

from autograder.grading.in_worker import in_place, plain
from autograder.grading.suite import exercise, probe, siblings

if TYPE_CHECKING:  # imported by each probe that reads them
    from contextlib import nullcontext

    from minijax.jaxpr import eval_jaxpr
    from minijax.random_numbers import threefry_2x32, unit_floats

F32, U32, U64 = np.float32, np.uint32, np.uint64

KEY = np.array([0x13198A2E, 0x03707344], U32)
OTHER = np.array([7, 0xFFFFFFFF], U32)
KEYS = np.array([[1, 2], [3, 4], [0xFFFFFFFF, 0]], U32)
ROW = np.array([0, 1, 0x243F6A88, 0x85A308D3, 0xFFFFFFFF], U32)
GRID = np.arange(6, dtype=U32).reshape(2, 3) * U32(0x9E3779B9)
EMPTY = np.zeros((0, 2), U32)

TARGETS = {"threefry": "threefry_2x32", "floats": "unit_floats", "remainder": "remainder_of_pair"}
TARGETS |= {"truncated": "truncated_floats", "apart": "drawn_apart"}


def before(exercise):
    """Right answers to the exercises before this one: no exercise needs a later one.

    So a worker is never shown what it will be asked for, and one worker can do them all.
    """
    earlier = itertools.takewhile(lambda other: other != exercise, TARGETS)
    return siblings(*(f"random.{other}" for other in earlier))


def named(module, name):
    """A function of the module; the last argument of some is a dtype, which travels by its name."""
    f = getattr(module, name)
    kinds = {"truncated_floats": np.dtype, "unit_floats": lambda name: np.dtype(name).type}
    return (lambda *args: f(*args[:-1], kinds[name](args[-1]))) if name in kinds else f


@probe(uses=[in_place, named, plain])
def value(mj, siblings, name, arrays, fixed):
    """What a function returns for arrays and what is fixed; equal arrays are one object."""
    arrays = [next(y for y in arrays if np.array_equal(x, y)) for x in arrays]
    with in_place("minijax.random_numbers", siblings) as module:
        f = named(module, name)
        return {
            "the result": plain(f(*arrays, *fixed)),
            "the result for arrays of minijax's": plain(f(*map(mj.numpy.asarray, arrays), *fixed)),
        }


@probe(uses=[in_place, named, plain])
def traced(mj, siblings, name, arrays, fixed):
    """The same where no value is known, as inside `jit`: what the program computes."""
    with in_place("minijax.random_numbers", siblings) as module:
        f = named(module, name)
        program, shape = mj.make_jaxpr(lambda *xs: f(*xs, *fixed), return_shape=True)(*arrays)
        outs = eval_jaxpr(program.jaxpr, program.consts, *arrays)
        return {"the result inside jit": plain(mj.tree.unflatten(mj.tree.structure(shape), outs))}


@probe(uses=[in_place, named, plain])
def batched(mj, siblings, name, arrays, fixed, in_axes):
    """The same under `vmap`."""
    with in_place("minijax.random_numbers", siblings) as module:
        f = named(module, name)
        mapped = mj.vmap(lambda *xs: f(*xs, *fixed), in_axes=tuple(in_axes))
        return {"the result under vmap": plain(mapped(*arrays))}


@probe(uses=[plain])
def written_to(mj, *arrays):
    """The hash for arrays before and after their owner writes into them."""
    found, own = {}, [*map(np.array, arrays)]
    for number in range(len(own) + 1):
        found[f"the result after {number} arrays are written to"] = plain(threefry_2x32(*own))
        for array in own[number : number + 1]:
            array[...] = array // 3 + 1
    return found


def ask(student, exercise, arrays, *fixed):
    """Compare what a function returns."""
    student.agrees(value, before(exercise), TARGETS[exercise], arrays, list(fixed))


def ask_traced(student, exercise, arrays, *fixed):
    """Compare what it returns where no value is known."""
    student.agrees(traced, before(exercise), TARGETS[exercise], arrays, list(fixed))


def ask_batched(student, exercise, arrays, in_axes, *fixed):
    """Compare what it returns under `vmap`."""
    student.agrees(batched, before(exercise), TARGETS[exercise], arrays, list(fixed), list(in_axes))


exercise("random.threefry")


@pytest.mark.meets("more_than_two", "extremes")
@pytest.mark.keeps("as the lesson's page defines it")
def test_published_answers(student):
    """The hashes of the authors' test vectors are right."""
    ones = np.full(2, 0xFFFFFFFF, U32)
    ask(student, "threefry", [np.zeros(2, U32), U32(0), U32(0)])
    ask(student, "threefry", [ones, ones[0], ones[1]])
    ask(student, "threefry", [KEY, ROW[2], ROW[3]])


@pytest.mark.meets("order", "again")
@pytest.mark.keeps("is the key")
def test_words_of_the_key(student):
    """Each word of the key counts, in its place."""
    for key in (OTHER, OTHER[::-1].copy(), np.array([5, 0], U32), np.array([0, 5], U32)):
        ask(student, "threefry", [key, U32(3), U32(4)])


@pytest.mark.meets("order", "twice")
@pytest.mark.keeps("their first and second words")
def test_words_of_the_counter(student):
    """Each word of the counter counts, in its place, even if two or three operands are one."""
    for x0, x1 in ((1, 0), (0, 1), (9, 8), (8, 9)):
        ask(student, "threefry", [KEY, U32(x0), U32(x1)])
    for x in (ROW, KEY):
        ask(student, "threefry", [KEY, x, x])


@pytest.mark.meets("sizes")
@pytest.mark.keeps("Both results have this shape", "of the same shape")
def test_hash_shapes(student):
    """Counters in arrays of any shape have their hashes in arrays of that shape."""
    for x in (ROW, ROW[:1], GRID, EMPTY, GRID[None]):
        ask(student, "threefry", [KEY, x, x + U32(1)])


@pytest.mark.meets("mutation")
@pytest.mark.keeps("is the key")
def test_hash_of_arrays_written_to(student):
    """A hash is that of the words as they are now, in arrays that their owner writes into."""
    student.agrees(written_to, OTHER, GRID, GRID)


@pytest.mark.meets("nested")
@pytest.mark.keeps("may be a tracer")
def test_hash_of_tracers(student):
    """Hashes come out inside `jit`, and under `vmap` for many keys or many counters."""
    ask_traced(student, "threefry", [KEY, GRID, GRID])
    ask_batched(student, "threefry", [KEYS, U32(1), U32(2)], [0, None, None])
    ask_batched(student, "threefry", [KEY, ROW, U32(2)], [None, 0, None])
    ask_batched(student, "threefry", [KEYS, GRID, ROW[:2]], [0, 1, None])
    ask_batched(student, "threefry", [KEYS, U32(2), ROW[:3]], [0, None, 0])
    ask_batched(student, "threefry", [KEY, U32(2), ROW], [None, None, 0])


exercise("random.floats")

WORDS = {
    "float64": np.array([0, 1 << 11, 1 << 12, 1 << 63, (1 << 64) - 1, 0x123456789ABCDEF0], U64),
    "float32": np.array([0, 1 << 8, 1 << 9, 1 << 31, (1 << 32) - 1, 0x12345678], U32),
    "float16": np.array([0, 1 << 5, 1 << 6, 1 << 15, (1 << 16) - 1, 0x1234], np.uint16),
}


@pytest.mark.keeps("the binary digits")
def test_floats_double(student):
    """The upper 52 bits are the digits after the point of a float64."""
    ask(student, "floats", [WORDS["float64"]], "float64")


@pytest.mark.meets("float32", "more_than_two")
@pytest.mark.keeps("with as many bits as the float type", "the binary digits")
def test_floats_single_and_half(student):
    """A float32 has 23 binary digits after the point, and a float16 has 10."""
    for dtype in ("float32", "float16"):
        ask(student, "floats", [WORDS[dtype]], dtype)


@probe
def below_one(mj, bits, dtype):
    """Whether the floats of the largest numbers are below 1, and the first is 0; all their bits."""
    floats = np.asarray(unit_floats(bits, np.dtype(dtype)))
    return {
        "all numbers are below 1": bool((floats < 1).all()),
        "no number is below 0": bool((floats >= 0).all()),
        "the number for bits that are 0": float(floats[0]),
        "the dtype of the numbers": floats.dtype.name,
        "the numbers, bit by bit": floats.view(bits.dtype),
    }


@pytest.mark.meets("extremes")
@pytest.mark.keeps("to 1 (excluded)", "are ignored")
def test_floats_stay_below_one(student):
    """No bits make 1, zeros make 0, and digits that do not fit are dropped, not rounded."""
    for dtype, words in WORDS.items():
        largest = np.iinfo(words.dtype).max - np.arange(40, dtype=words.dtype)
        student.agrees(below_one, np.concatenate([words, words + 1, largest]), dtype)


@pytest.mark.meets("sizes")
@pytest.mark.keeps("one for each element of")
def test_floats_shapes(student):
    """The floats have the shape of the bits, even if there are none."""
    for bits in (U32(77), GRID, EMPTY):
        ask(student, "floats", [bits], "float32")
    for bits in (U64(1 << 62), GRID[None].astype(U64) << U64(32), EMPTY.astype(U64)):
        ask(student, "floats", [bits], "float64")


@pytest.mark.meets("nested")
def test_floats_of_tracers(student):
    """Bits become floats inside `jit` and under `vmap`."""
    for dtype, words in WORDS.items():
        ask_traced(student, "floats", [words], dtype)
        ask_batched(student, "floats", [words.reshape(2, 3)], [1], dtype)
    ask_traced(student, "floats", [EMPTY], "float32")
    ask_batched(student, "floats", [ROW], [0], "float32")


exercise("random.remainder")

UPPER = np.array([0, 1, 2**31, 2**32 - 1, 12345, 2**32 - 1], U32)
LOWER = np.array([6, 5, 2**32 - 1, 2**32 - 1, 7, 0], U32)


@pytest.mark.meets("order")
@pytest.mark.keeps("The remainder of `upper")
def test_small_spans(student):
    """The remainder is exact for every span up to 2**16."""
    for span in (1, 2, 10, 255, 1000, 65535, 65536):
        ask(student, "remainder", [UPPER, LOWER, np.full(6, span, U32)])


@pytest.mark.meets("extremes")
@pytest.mark.keeps("is larger than", "stands for")
def test_large_spans(student):
    """For a larger span, and for 2**32, which is written 0, only the lower number counts."""
    for span in (65537, 2**31, 2**31 + 1, 2**32 - 1, 0):
        ask(student, "remainder", [UPPER, LOWER, np.full(6, span, U32)])


@pytest.mark.meets("extremes")
@pytest.mark.keeps("The remainder of `upper", "is larger than", "stands for")
def test_remainder_of_64_bits(student):
    """Remainders of 64-bit integers are right for small spans, large ones and 2**64."""
    upper, lower = UPPER.astype(U64) << U64(31), LOWER.astype(U64) * U64(0x9E3779B97F4A7C15)
    for span in (1, 3, 10**9, 2**32 - 1, 2**32, 2**32 + 1, 2**63 + 1, 2**64 - 1, 0):
        ask(student, "remainder", [upper, lower, np.full(6, span, U64)])


@pytest.mark.meets("twice", "sizes")
@pytest.mark.keeps("and so does the result")
def test_spans_of_their_own(student):
    """Each element has its own span; the operands may have any shape, or be the same array."""
    spans = np.array([3, 2**20, 0, 7, 65536, 65537], U32)
    ask(student, "remainder", [UPPER, LOWER, spans])
    ask(student, "remainder", [x.reshape(2, 3) for x in (UPPER, LOWER, spans)])
    for number in (U32(9), U64(9)):
        for span in (7, 2**31 + 1, 0):
            ask(student, "remainder", [number, number, type(number)(span)])
    for empty in (EMPTY, EMPTY.astype(U64)):
        ask(student, "remainder", [empty, empty, empty])


@pytest.mark.meets("nested")
def test_remainder_of_tracers(student):
    """Remainders can be taken inside `jit` and under `vmap`."""
    spans = np.array([3, 2**20, 0, 7, 65536, 65537], U32)
    ask_traced(student, "remainder", [x.reshape(2, 3) for x in (UPPER, LOWER, spans)])
    wide = [UPPER.astype(U64) << U64(31), *(x.astype(U64) << U64(16) for x in (LOWER, spans))]
    ask_traced(student, "remainder", wide)
    for x, y, span, *axes in (
        (UPPER, LOWER, U32(10), 0, 0, None),
        (UPPER, U32(7), U32(10), 0, None, None),
        (U64(5), U64(7), wide[2], None, None, 0),
        (wide[0], wide[1], U64(10**9), 0, 0, None),
    ):
        ask_batched(student, "remainder", [x, y, span], axes)


exercise("random.truncated")

BOUNDS = np.array([-1.0, 0.0, 3.0]), np.array([-0.5, 4.0, 3.5])


@pytest.mark.keeps("made as in `normal_floats`")
def test_truncated_numbers(student):
    """The numbers are made as in `normal_floats`, from uniform ones between the bounds' own."""
    for lower, upper in ((-1.0, 2.0), (2.0, 2.5), (-0.25, 0.25), (-np.inf, np.inf), (-5.0, 5.0)):
        bounds = [KEY, np.array(lower), np.array(upper)]
        ask(student, "truncated", bounds, (7,), "float64")
    for shape in ((), (2, 3)):
        ask(student, "truncated", bounds, shape, "float64")


@pytest.mark.meets("order", "sizes", "axes")
@pytest.mark.keeps("that broadcast to `shape`", "one per result")
def test_truncated_bounds_of_their_own(student):
    """Each element may have its own bounds, which are stretched."""
    for shape in ((3,), (3, 3), (0, 3)):
        ask(student, "truncated", [OTHER, *BOUNDS], shape, "float64")
    column = np.array([[4.0], [5.0]])
    for bounds in ((BOUNDS[0], np.array(9.0)), (BOUNDS[0], column), (-column, np.array(0.5))):
        ask(student, "truncated", [KEY, *bounds], (2, 3), "float64")


@pytest.mark.meets("float32", "more_than_two", "again")
@pytest.mark.keeps("of this shape and float type")
def test_truncated_dtypes(student):
    """The numbers have the dtype that is asked for, whatever that of the bounds is."""
    for dtype in ("float32", "float16", "float64"):
        for bounds in ((-1.0, 2.0), (F32(-1.0), 2.0), (0, 3), (np.arange(5.0), np.arange(5) + 2)):
            ask(student, "truncated", [KEY, *map(np.asarray, bounds)], (5,), dtype)


@probe(uses=[in_place])
def inside(mj, siblings, words, lower, upper, dtype):
    """Whether many numbers lie between two bounds, known or not, with few floats between them."""
    with in_place("minijax.random_numbers", siblings) as module:

        def f(lower, upper):
            return module.truncated_floats(words, lower, upper, (200,), np.dtype(dtype))

        mapped = mj.vmap(f)(np.asarray([lower]), np.asarray([upper]))
        found = np.asarray([f(lower, upper), mapped[0]])
    return {
        "all numbers are above the lower bound": bool((found > lower).all()),
        "all numbers are below the upper bound": bool((found < upper).all()),
        "the dtype of the numbers": found.dtype.name,
    }


@pytest.mark.meets("extremes", "twice")
@pytest.mark.keeps("strictly between the bounds")
def test_truncated_without_the_bounds(student):
    """No number equals a bound, even after rounding, and an infinite bound is no limit."""
    needs, each = before("truncated"), np.arange(1, 201, dtype=F32)
    for dtype, lower, upper in (
        ("float32", F32(1.0), F32(1.0000004)),
        ("float16", np.float16(1.0), np.float16(1.01)),
        ("float32", 5, 9),
        ("float32", np.array([1.0], F32), np.array([1.0000004], F32)),
        ("float32", np.array([1.0], F32), F32(1.0000004)),
        ("float32", F32(1.0), np.array([1.0000004], F32)),
        ("float32", each, each * F32(1.0000003)),
        ("float32", 8.0, np.inf),
        ("float64", -np.inf, -8.0),
        ("float64", 30.0, 31.0),
    ):
        student.agrees(inside, needs, KEY, lower, upper, dtype)


@probe(uses=[in_place])
def moving_bounds(mj, siblings, words, lower, upper, steps, dtype):
    """How numbers between two bounds move with them."""
    with in_place("minijax.random_numbers", siblings) as module:

        def f(lower, upper):
            return module.truncated_floats(words, lower, upper, (4,), np.dtype(dtype))

        return {
            "the tangents of the numbers": mj.jvp(f, (lower, upper), steps)[1],
            "the gradient by the lower bound": mj.grad(lambda x: f(x, upper).sum())(lower),
        }


@pytest.mark.keeps("can be differentiated with respect")
def test_truncated_derivatives(student):
    """The numbers move with their bounds, which may be arrays."""
    needs = before("truncated")
    student.agrees(moving_bounds, needs, KEY, -1.0, 2.0, (1.0, -0.5), "float64")
    student.agrees(moving_bounds, needs, KEY, -np.inf, 2.0, (0.0, -0.5), "float64")
    for own, dtype in (("float64", "float64"), ("float32", "float32"), ("float64", "float32")):
        bounds = np.array([-1.0], own), np.array([2.0, 1.0, 0.5, 3.0], own)
        near = None if own == dtype else 1e-4  # the gradient is in double, and was in single
        student.agrees(moving_bounds, needs, KEY, *bounds, bounds, dtype, rtol=near)


@pytest.mark.meets("nested")
def test_truncated_tracers(student):
    """Numbers between bounds can be made inside `jit`, and for many keys or bounds under `vmap`."""
    ask_traced(student, "truncated", [KEY, *BOUNDS], (3,), "float64")
    ask_batched(student, "truncated", [KEY, *BOUNDS], [None, 0, 0], (3,), "float64")
    arrays = [KEY, BOUNDS[0], np.array([3.5, 4.0, 9.0])]
    ask_batched(student, "truncated", arrays, [None, None, 0], (3,), "float64")
    arrays = [KEYS, BOUNDS[0], np.array(5.0)]
    ask_batched(student, "truncated", arrays, [0, None, None], (3,), "float64")


exercise("random.apart")

LOGITS = np.log(np.array([[0.1, 0.6, 0.3], [0.5, 0.25, 0.25]]))
MANY = np.log(np.arange(1.0, 41.0)).reshape(2, 4, 5)


@pytest.mark.meets("order", "more_than_two", "again")
@pytest.mark.keeps("what `drawn` would draw with this noise")
def test_apart(student):
    """The draws are the places of the largest logits with their noise, the largest first."""
    for key in (KEY, OTHER):
        for draws in (1, 2, 5):
            ask(student, "apart", [key, MANY[0, 0]], -1, (draws,), None)


@pytest.mark.meets("sizes", "axes")
@pytest.mark.keeps("those of `logits` without `axis`")
def test_apart_axes(student):
    """Any axis may be drawn from; the others are the last axes of the result, in their order."""
    for axis, others in ((-1, (2, 4)), (-2, (2, 5)), (-3, (4, 5))):
        ask(student, "apart", [KEY, MANY], axis, (2, *others), None)
        ask(student, "apart", [KEY, MANY], axis, (1, *others), None)
    ask(student, "apart", [KEY, LOGITS[:, :1]], -1, (1, 2), None)
    ask(student, "apart", [KEY, np.zeros((0, 3))], -1, (2, 0), None)


@pytest.mark.keeps("first the axes that count the draws")
def test_apart_several_axes(student):
    """The draws may have several axes, one of them of length 0, or none."""
    ask(student, "apart", [KEY, MANY], -2, (2, 2, 2, 5), None)
    ask(student, "apart", [KEY, MANY[0]], -1, (5, 1, 4), None)
    ask(student, "apart", [OTHER, MANY], -3, (4, 5), None)
    ask(student, "apart", [KEY, MANY], -1, (3, 0, 2, 4), None)
    for shape in ((2, 2), (0,), ()):
        ask(student, "apart", [KEY, MANY[0, 0]], -1, shape, None)


@pytest.mark.meets("float32")
@pytest.mark.keeps("Like `drawn`")
def test_apart_in_single_precision(student):
    """The noise has the dtype of the logits, double, single or half, and the mode asked for."""
    for dtype, mode in itertools.product(("float16", "float32", "float64"), ("low", "high")):
        ask(student, "apart", [KEY, MANY.astype(dtype)], -1, (5, 2, 4), mode)
    ask(student, "apart", [KEY, MANY], -1, (1, 2, 4), "high")


@pytest.mark.meets("extremes")
@pytest.mark.keeps("no index is drawn twice", "if the earlier indices did not exist")
def test_apart_certain(student):
    """What is nearly certain comes first, what has no chance last, and of equal sums the first."""
    hopeless = [-900.0, -2000.0, 0.0, -1500.0]
    logits = [[-np.inf, 0.0, -np.inf, 900.0], [700.0, -np.inf, -np.inf, 0.0], hopeless]
    ask(student, "apart", [KEY, np.array([*logits, [0.0, 1.0, np.inf, 9.0]])], -1, (4, 4), None)
    for large in (np.float16(30000.0), F32(30000.0), F32(2.0**30), np.float64(2.0**40)):
        ask(student, "apart", [KEY, np.full(4, large)], -1, (4,), None)


@pytest.mark.meets("nested")
def test_apart_of_tracers(student):
    """Draws can be made inside `jit`, and for many keys or many logits under `vmap`."""
    ask_traced(student, "apart", [KEY, MANY], -1, (2, 2, 2, 4), None)
    ask_batched(student, "apart", [KEYS, LOGITS], [0, None], -1, (2, 2), "high")
    ask_batched(student, "apart", [KEY, MANY.astype(F32)], [None, 1], -1, (3, 2), "high")


exercise("random.whole")


def without_jit(mj):
    """Compile nothing that a public function calls: so it takes a tenth of the time."""
    from unittest.mock import patch

    return patch.object(mj.random, "compiled", lambda function, *static: function)


@probe(uses=[plain, without_jit])
def public(mj, call, keys, is_compiled):
    """What a call of a public function returns, for each of some keys."""
    known = {"r": mj.random, "np": np, "jnp": mj.numpy, "mj": mj}
    with nullcontext() if is_compiled else without_jit(mj):
        f = eval(f"lambda k: {call}", known)
        return {
            f"what {call.replace('r.', '')} returns for k = {key[2:]}": plain(f(eval(key, known)))
            for key in keys
        }


KINDS = "r.PRNGKey(42)", "r.key(2**35 + 3)"


def ask_public(student, *calls, is_compiled=False):
    """Compare them one by one, with keys of both kinds in turn."""
    for i, call in enumerate(calls):
        student.agrees(public, call, [KINDS[i % 2]], is_compiled)


def test_whole_keys(student):
    """Seeds, splits and numbers folded in make the keys that they make in JAX."""
    for call in (
        "r.key_data(r.split(k, 3))",
        "r.key_data(r.split(r.split(k)[1], (2, 2)))",
        "r.key_data(r.fold_in(k, 7))",
        "r.uniform(r.fold_in(r.fold_in(k, 1), 2**31))",
    ):
        student.agrees(public, call, list(KINDS), False)


def test_whole_numbers(student):
    """Random bits of every width, and uniform and normal numbers of every precision, are JAX's."""
    ask_public(
        student,
        *(f"r.bits(k, (2, 3), 'uint{n}')" for n in (8, 16, 32, 64)),
        "r.uniform(k, (20,))",
        "r.uniform(k, (2, 3), 'float32', -1.0, np.arange(3.0))",
        "r.normal(k, (20,), 'float32')",
        "r.bernoulli(k, 0.3, (30,))",
    )
    for call in ("r.normal(k)", "r.truncated_normal(k, -1.0, 2.0, (9,))"):
        student.agrees(public, call, [KINDS[0]], False, rtol=1e-12)  # in double throughout


def test_whole_integers(student):
    """Integers between bounds of every size are JAX's."""
    ask_public(
        student,
        "r.randint(k, (30,), 0, 10)",
        "r.randint(k, (9,), -(2**60), 2**61)",
        "r.randint(k, (9,), 0, 256, 'uint8')",
        "r.randint(k, (9,), 0, 2**33, 'uint32')",
        "r.randint(k, (2, 2), np.array([0, 9]), np.array([3, 4]), 'int32')",
    )


def test_whole_orders(student):
    """Permutations are JAX's, of a range, of an array and along an axis."""
    ask_public(
        student,
        "r.permutation(k, 20)",
        "r.permutation(k, 2000)",
        "r.permutation(k, np.arange(12.0).reshape(4, 3), 1)",
        "r.permutation(k, np.arange(12.0).reshape(4, 3), 0, independent=True)",
        "r.choice(k, 9, (4,), replace=False)",
        "r.choice(k, 4, (3,), replace=False, p=np.array([0.1, 0.2, 0.3, 0.4]))",
    )


def test_whole_draws(student):
    """Draws from categories are JAX's, with replacement and without."""
    ask_public(
        student,
        "r.categorical(k, np.log(np.array([0.1, 0.2, 0.7])), shape=(30,))",
        "r.categorical(k, np.zeros((3, 4), 'float32'), 0)",
        "r.categorical(k, np.zeros(5), shape=(3,), replace=False)",
        "r.choice(k, 4, (9,), p=np.array([0.1, 0.2, 0.3, 0.4]))",
    )


def test_whole_transformed(student):
    """A key makes the same numbers alone, inside `jit`, and with others under `vmap`."""
    ask_public(
        student,
        "mj.lax.scan(lambda k, _: (r.split(k)[0], r.normal(k, (3,))), k, None, length=4)[1]",
        is_compiled=True,
    )
    ask_public(
        student,
        "mj.vmap(lambda k: r.normal(k, (3,)))(r.split(k, 4))",
        "mj.vmap(lambda i: r.uniform(r.fold_in(k, i)))(jnp.arange(5))",
        "mj.grad(lambda m: (m * r.normal(k, (3,))).sum())(2.0)",
        "mj.vmap(lambda k: r.permutation(k, 6))(r.split(k, 3))",
    )


@probe(uses=[without_jit])
def moments(mj):
    """Means and variances of many numbers, and how far two keys of a split go together, rounded."""
    r = mj.random
    with without_jit(mj):
        first, second = r.split(r.key(0))
        x, y = (np.asarray(r.normal(key, (1000,))) for key in (first, second))
        u, n = np.asarray(r.uniform(first, (1000,))), np.asarray(r.randint(second, (1000,), 0, 6))
    found = {
        "the mean of normal numbers": x.mean(),
        "the variance of normal numbers": x.var(),
        "the mean product of the numbers of two keys": np.mean(x * y),
        "the mean of uniform numbers": u.mean(),
        "the variance of uniform numbers": u.var(),
        "the mean of integers below 6": n.mean(),
    }
    return {what: round(float(value) + 10, 1) for what, value in found.items()}


def test_whole_statistics(student):
    """Many numbers have the means and variances that they should have, and two keys no relation."""
    student.agrees(moments)
