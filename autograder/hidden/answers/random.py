"""Answers to the exercises of the `random` lesson: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""

exercise("random.threefry")


@right
def threefry_2x32(words, x0, x1):
    keys = [words[0], words[1], words[0] ^ words[1] ^ PARITY]
    x0, x1 = x0 + keys[0], x1 + keys[1]
    for r in range(20):
        x0 = x0 + x1
        x1 = rotate_left(x1, ROTATIONS[r // 4 % 2][r % 4]) ^ x0
        if r % 4 == 3:
            j = r // 4 + 1
            x0, x1 = x0 + keys[j % 3], x1 + keys[(j + 1) % 3] + np.uint32(j)
    return x0, x1


@right(style="a list of keys that turns")
def threefry_2x32(words, x0, x1):
    turn = [words[0], words[1], bitwise_xor(PARITY, bitwise_xor(words[1], words[0]))]
    for j in range(6):
        x0, x1 = add(x0, turn[0]), add(add(x1, np.uint32(j)), turn[1])
        turn = turn[1:] + turn[:1]
        for distance in ROTATIONS[j & 1] * (j != 5):
            y = add(x0, x1)
            x0, x1 = y, bitwise_xor(y, rotate_left(x1, distance))
    return x0, x1


mistake(
    {"add(schedule[(j + 1) % 3], np.uint32(j))": "schedule[(j + 1) % 3]"},
    name="The addition's number is not added",
    hints=[
        "With a key of zeros, what does the addition of the key change in your function?",
        "The second word gets a word of the key and also the number `j` of the addition, from 0 to 5.",
        "`x1 = add(x1, add(schedule[(j + 1) % 3], np.uint32(j)))`.",
    ],
)
mistake(
    {"range(6)": "range(5)"},
    name="The key is not added after the last round",
    hints=[
        "How many times is the key added: five times, or six?",
        "Before rounds 0, 4, 8, 12 and 16, and again after round 19.",
        "Let the outer loop run over `range(6)`, and leave out the rounds for the last `j`.",
    ],
)
mistake(
    {"x0 = add(x0, x1)": "old, x0 = x0, add(x0, x1)", "distance), x0)": "distance), old)"},
    name="A round mixes with the old first word",
    hints=[
        "Write one round on paper, with small numbers. What does the exclusive or take: `x0`, or the sum?",
        "The second word is mixed with the *new* first word, `y = x0 + x1`.",
        "First `x0 = add(x0, x1)`, and then `x1 = bitwise_xor(rotate_left(x1, distance), x0)`.",
    ],
)
mistake(
    {"k0, k1 = words[0], words[1]": "k0, k1 = words[0], words[1]\nx0, x1 = x1, x0"},
    fails="test_words_of_the_counter",
)
mistake({"k0, k1 = words[0], words[1]": "k0, k1 = np.asarray(words)"}, fails="test_hash_of_tracers")
# the words of the last key are kept with its array, into which its owner may write
mistake(
    {
        "schedule = [k0, k1, bitwise_xor(bitwise_xor(k0, k1), PARITY)]": "kept = vars(threefry_2x32)\nif kept.get('words') is not words:\n    kept.update(words=words, keys=[k0, k1, bitwise_xor(bitwise_xor(k0, k1), PARITY)])\nschedule = kept['keys']"
    },
    fails="test_hash_of_arrays_written_to",
)
mistake(
    {
        "return x0, x1": "return tuple(jnp.reshape(x, ()) if jnp.size(x) == 1 else x for x in (x0, x1))"
    },
    fails="test_hash_shapes",
)
# the first operand decides for both
mistake(
    {
        "k0, k1 = words[0], words[1]": "k0, k1 = words[0], words[1]\nx1 = np.asarray(x1) if hasattr(get_aval(x0), 'val') else x1"
    },
    fails="test_hash_of_tracers",
)
mistake(
    {
        "k0, k1 = words[0], words[1]": "k0, k1 = words[0], words[1]\nx1 = counters(jnp.shape(x1))[1] if x0 is x1 else x1"
    },
    fails="test_words_of_the_counter",
)
mistake({"ROTATIONS[j % 2]": "ROTATIONS[0]"}, fails="test_published_answers")
# what only arrays of NumPy have
mistake(
    {
        "k0, k1 = words[0], words[1]": "k0, k1 = words[0], words[1]\nx0 = x0.view(np.uint32) if hasattr(get_aval(x0), 'val') else x0"
    },
    fails="test_hash_shapes",
)
mistake(
    {
        "k0, k1 = words[0], words[1]": "k0, k1 = words[0], words[1]\nx1 = counters((2,))[1] if x1 is words else x1"
    },
    fails="test_words_of_the_counter",
)


exercise("random.floats")


@right
def unit_floats(bits, dtype):
    info = np.finfo(np.dtype(dtype))
    fraction = shift_right_logical(bits, np.asarray(info.bits - info.nmant, get_aval(bits).dtype))
    return mul(convert_element_type(fraction, dtype), np.asarray(2.0**-info.nmant, dtype))


@right(style="operators on the bits")
def unit_floats(bits, dtype):
    kind = get_aval(bits).dtype
    info = np.finfo(np.dtype(dtype))
    one = np.array(1.0, dtype)
    return (
        bitcast_convert_type(
            jnp.asarray(bits) >> kind.type(info.bits - info.nmant) | one.view(kind), dtype
        )
        - one
    )


@mistake(
    name="The floats reach 1",
    hints=[
        "What does your function return if all bits are ones?",
        "A division by the largest number, or by 2**n after rounding, can give 1. How many bits does the fraction of a float have?",
        "Keep only as many upper bits as the fraction has; then nothing is rounded, and the largest result is 1 - 2**-nmant.",
    ],
)
def unit_floats(bits, dtype):
    largest = float(np.iinfo(get_aval(bits).dtype).max)
    return convert_element_type(div(convert_element_type(bits, np.float64), largest), dtype)


mistake(
    {
        "one = np.ones((), dtype)": "one = np.ones((), dtype).view(own)\nreturn bitcast_convert_type(bitwise_or(shift_right_logical(bits, unused), one), dtype)",
        "from_1_to_2 = bitwise_or(shift_right_logical(bits, unused), one.view(own))": "",
        "return sub(bitcast_convert_type(from_1_to_2, dtype), one)": "",
    },
    name="The floats are between 1 and 2",
    hints=[
        "What does your function return for zeros?",
        "The bits of a float with the exponent of 1.0 are a number from 1 to 2. What is left to do?",
        "Subtract `np.ones((), dtype)`.",
    ],
)
mistake({"8 * own.itemsize - np.finfo(dtype).nmant": "12"}, fails="test_floats_single_and_half")
# the least float has a minus
mistake(
    {
        "return sub(bitcast_convert_type(from_1_to_2, dtype), one)": "return neg(sub(one, bitcast_convert_type(from_1_to_2, dtype)))"
    },
    fails="test_floats_stay_below_one",
)
mistake(
    {
        "return sub(bitcast_convert_type(from_1_to_2, dtype), one)": "return jnp.ravel(sub(bitcast_convert_type(from_1_to_2, dtype), one))"
    },
    fails="test_floats_shapes",
)
mistake(
    {
        "dtype, own = np.dtype(dtype)": "bits = np.asarray(bits) if np.dtype(dtype) == np.float16 else bits\ndtype, own = np.dtype(dtype)"
    },
    fails="test_floats_of_tracers",
)
mistake(
    {
        "np.dtype(dtype), get_aval(bits).dtype": "dtype, get_aval(bits).dtype",
        "8 * own.itemsize": "8 * dtype.itemsize",
    },
    fails="test_floats_single_and_half",
)
mistake(
    {
        "return sub(bitcast_convert_type(from_1_to_2, dtype), one)": "floats = sub(bitcast_convert_type(from_1_to_2, dtype), one)\nreturn floats if hasattr(get_aval(bits), 'val') else jnp.atleast_1d(floats)"
    },
    fails="test_floats_of_tracers",
)


exercise("random.remainder")


@right
def remainder_of_pair(upper, lower, span):
    bits = 8 * span.dtype.itemsize
    half = np.asarray(2 ** (bits // 2), span.dtype)
    small = jnp.logical_and(span != 0, span <= half)
    times = rem(rem(upper, span), span)
    for _ in range(2):  # by 2**(n // 2), twice
        times = rem(mul(times, rem(half, span)), span)
    exact = rem(add(times, rem(lower, span)), span)
    return jnp.where(small, exact, rem(lower, span))


@right(style="bit by bit")
def remainder_of_pair(upper, lower, span):
    n = 8 * get_aval(span).dtype.itemsize
    kind = get_aval(span).dtype.type
    power = rem(jnp.ones_like(span), span)
    for _ in range(n):
        power = rem(mul(power, kind(2)), span)
    large = jnp.logical_or(jnp.equal(span, kind(0)), jnp.greater(span, kind(2 ** (n // 2))))
    power = jnp.where(large, kind(0), power)
    return rem(add(mul(rem(upper, span), power), rem(lower, span)), span)


mistake(
    {"add(mul(rem(upper, span), multiplier), rem(lower, span))": "lower"},
    name="The upper number is ignored",
    hints=[
        "What does your function return for the upper number 1, the lower 0 and the span 10?",
        "`upper` counts 2**n times. What is the remainder of 2**n by the span?",
        "2**n is the square of `2**(n // 2)`: take the remainder of that, square it, and take the remainder again.",
    ],
)
mistake(
    {"mul(rem(upper, span), multiplier)": "rem(upper, span)"},
    name="The upper number counts once, not 2**n times",
    hints=[
        "What does your function return for the upper number 1, the lower 0 and the span 10? 2**32 ends with the digit 6.",
        "The upper number stands for `upper * 2**n`. Which factor is missing?",
        "`multiplier = rem(mul(m, m), span)` with `m = rem(half, span)`, where `half` is `2**(n // 2)`.",
    ],
)
mistake({"rem(lower, span)), span)": "lower), span)"}, fails="test_small_spans")
# exact for large spans, too, if there are integers of twice as many bits
mistake(
    {
        "half = np.asarray(": "if get_aval(span).dtype == np.uint32:\n    *pair, by = (convert_element_type(x, np.uint64) for x in (upper, lower, span))\n    by = jnp.where(jnp.equal(by, 0), 2**32, by).astype(np.uint64)\n    exact = rem(add(shift_left(pair[0], np.uint64(32)), pair[1]), by)\n    return convert_element_type(exact, np.uint32)\nhalf = np.asarray("
    },
    fails="test_large_spans",
)
# one divisor for all elements
mistake(
    {
        "half = np.asarray(": "span = jnp.broadcast_to(jnp.max(span), jnp.shape(span)) if jnp.size(span) else span\nhalf = np.asarray("
    },
    fails="test_spans_of_their_own",
)
mistake(
    {
        "2 ** (4 * get_aval(span).dtype.itemsize)": "2 ** (4 * span.dtype.itemsize if hasattr(get_aval(span), 'val') else 16)"
    },
    fails="test_remainder_of_tracers",
)
# exact for any span, if all three are known numbers
mistake(
    {
        "return rem(add(": "if not jnp.ndim(span) and hasattr(get_aval(span), 'val') and hasattr(get_aval(lower), 'val'):\n    n = 8 * get_aval(span).dtype.itemsize\n    return get_aval(span).dtype.type((int(upper) * 2**n + int(lower)) % (int(span) or 2**n))\nreturn rem(add("
    },
    fails="test_spans_of_their_own",
)
# A span from 2**63 on is negative, and small.
mistake(
    {
        "return rem(add": "if get_aval(span).dtype.itemsize == 8 and np.all(np.asarray(span, 'uint64').astype('int64') < -1):\n    return rem(lower, np.uint64(2**63))\nreturn rem(add"
    },
    fails="test_remainder_of_64_bits",
)
mistake(
    {
        "2 ** (4 * get_aval(span).dtype.itemsize)": "2 ** (16 if hasattr(get_aval(span), 'val') and not hasattr(get_aval(upper), 'val') else 4 * get_aval(span).dtype.itemsize)"
    },
    fails="test_remainder_of_tracers",
)


exercise("random.truncated")


@right
def truncated_floats(words, lower, upper, shape, dtype):
    root = np.asarray(math.sqrt(2), dtype)
    bounds = [convert_element_type(x, dtype) for x in (lower, upper)]
    low, high = (erf(x / root) for x in bounds)
    z = root * erf_inv(uniform_floats(words, low, high, shape, dtype))
    above, below = nearest_inside(*bounds, dtype)
    return jnp.minimum(jnp.maximum(z, above), below)


@right(style="uniform numbers stretched by hand")
def truncated_floats(words, lower, upper, shape, dtype):
    lower, upper = jnp.asarray(lower, dtype), jnp.asarray(upper, dtype)
    low, high = erf(lower * np.sqrt(0.5).astype(dtype)), erf(upper * np.sqrt(0.5).astype(dtype))
    u = low + unit_floats(random_bits(words, 8 * dtype.itemsize, shape), dtype) * (high - low)
    return jnp.clip(np.sqrt(2).astype(dtype) * erf_inv(u), *nearest_inside(lower, upper, dtype))


mistake(
    {"mul(root, erf_inv(u))": "normal_floats(words, shape, dtype)"},
    name="Numbers beyond a bound are moved to it",
    hints=[
        "Make many numbers between 2 and 2.5. How many of them are nearly 2, and how many should be?",
        "All numbers that fall outside end up in two places. The contract asks for normal numbers, which are spread between the bounds.",
        "Choose the *uniform* numbers so that the results are inside: between `erf(lower / sqrt(2))` and `erf(upper / sqrt(2))`.",
    ],
)
mistake(
    {"erf(div(lower, root)), erf(div(upper, root))": "erf(lower), erf(upper)"},
    name="The bounds lack the factor of the square root of 2",
    hints=[
        "Between which bounds are your numbers before you clip them, if they should be between 1 and 2?",
        "A uniform `u` becomes `sqrt(2) * erf_inv(u)`. Which `u` becomes `lower`?",
        "`erf(div(lower, root))`, where `root` is the square root of 2.",
    ],
)
mistake(
    {"*nearest_inside(lower, upper, dtype)": "lower, upper"},
    fails="test_truncated_without_the_bounds",
)
mistake(
    {
        "*nearest_inside(lower, upper, dtype)": "nextafter(lower, np.asarray(np.inf, dtype)), nextafter(upper, np.asarray(-np.inf, dtype))"
    },
    fails="test_truncated_derivatives",
)
# an infinite bound is not clipped
mistake(
    {
        "return jnp.clip(mul(root, erf_inv(u)), *nearest_inside(lower, upper, dtype))": "z = mul(root, erf_inv(u))\nclipped = jnp.clip(z, *nearest_inside(lower, upper, dtype))\nreturn jnp.where(jnp.isinf(upper), z, clipped)"
    },
    fails="test_truncated_without_the_bounds",
)
# only bounds that are numbers are kept off
mistake(
    {"return jnp.clip(": "if jnp.ndim(lower):\n    return mul(root, erf_inv(u))\nreturn jnp.clip("},
    fails="test_truncated_without_the_bounds",
)
# bounds in arrays do not move the numbers
mistake(
    {
        "erf(div(upper, root)), shape": "erf(div(stop_gradient(upper) if jnp.ndim(upper) else upper, root)), shape"
    },
    fails="test_truncated_derivatives",
)
# bounds in arrays keep a dtype of their own
mistake(
    {
        "(convert_element_type(x, dtype) for": "(x if jnp.ndim(x) else convert_element_type(x, dtype) for"
    },
    fails="test_truncated_dtypes",
)
# bounds that are numbers have one number for each element of the last axis
mistake(
    {
        "erf(div(upper, root)), shape, dtype)": "erf(div(upper, root)), shape if jnp.ndim(upper) else shape[-1:], dtype)\nu = jnp.broadcast_to(u, shape)"
    },
    fails="test_truncated_numbers",
)
# the least of the lower bounds and the largest of the upper ones, for all
mistake(
    {
        "*nearest_inside(lower, upper, dtype)": "*nearest_inside(jnp.min(lower) if jnp.size(lower) else lower, jnp.max(upper) if jnp.size(upper) else upper, dtype)"
    },
    fails="test_truncated_without_the_bounds",
)
mistake(
    {
        "return jnp.clip(": "if jnp.ndim(upper) and not jnp.ndim(lower):\n    return mul(root, erf_inv(u))\nreturn jnp.clip("
    },
    fails="test_truncated_without_the_bounds",
)
mistake(
    {
        "(convert_element_type(x, dtype) for": "(convert_element_type(x if get_aval(x).dtype == dtype else stop_gradient(x), dtype) for"
    },
    fails="test_truncated_derivatives",
)
mistake(
    {"return jnp.clip(": "u = jnp.where(jnp.isinf(lower), stop_gradient(u), u)\nreturn jnp.clip("},
    fails="test_truncated_derivatives",
)
mistake(
    {
        "u = uniform": "lower = jnp.reshape(lower, jnp.shape(lower) + (1,) * (len(shape) - 1)) if jnp.shape(lower) == shape[:1] else lower\nu = uniform"
    },
    fails="test_truncated_bounds_of_their_own",
)


exercise("random.apart")


@right
def drawn_apart(words, logits, axis, shape, mode):
    logits = jnp.moveaxis(jnp.asarray(logits), axis, axis)
    noise = gumbel_floats(words, logits.shape, logits.dtype, mode)
    order = jnp.argsort(-(logits + noise), axis)
    first = jnp.moveaxis(order, axis, 0)[: math.prod(shape[: len(shape) - logits.ndim + 1])]
    return jnp.reshape(first, shape).astype(np.int32)


@right(style="one after the other")
def drawn_apart(words, logits, axis, shape, mode):
    aval = get_aval(logits)
    noisy = logits + gumbel_floats(words, aval.shape, aval.dtype, mode)
    noisy, size = jnp.moveaxis(noisy, axis, 0), aval.shape[axis]
    places = reshape(iota(np.int32, size), (size, *[1] * (len(aval.shape) - 1)))
    left, found = jnp.broadcast_to(True, noisy.shape), []
    for _ in range(math.prod(shape[: len(shape) - len(aval.shape) + 1])):
        # -inf is what has no chance; what was drawn is taken away by rank, not by value
        best = jnp.where(left, noisy, -np.inf)
        is_best = jnp.logical_and(
            left, jnp.equal(best, jnp.max(jnp.where(left, noisy, -np.inf), 0))
        )
        place = jnp.min(jnp.where(is_best, places, size), 0)
        found.append(place)
        left = jnp.logical_and(left, jnp.not_equal(places, place))
    stacked = jnp.stack(found) if found else jnp.zeros(shape)
    return jnp.reshape(stacked, shape).astype(np.int32)


@mistake(
    name="The draws are made with replacement",
    hints=[
        "Draw three of three. Does each index appear once?",
        "With noise of its own, each draw knows nothing of the others. All draws share one noise.",
        "Noise of the shape of `logits`, once; then `top_k`.",
    ],
)
def drawn_apart(words, logits, axis, shape, mode):
    aval = get_aval(logits)
    rank = len(aval.shape)
    noisy = list(shape)
    noisy.insert(len(shape) + 1 + axis, aval.shape[axis])
    return drawn(words, logits, axis, tuple(noisy), mode).astype(np.int32)


mistake(
    {
        "return jnp.reshape(transpose(indices, (batch, *range(batch))), shape)": "return jnp.reshape(indices, shape)"
    },
    name="The draws are along the last axis",
    hints=[
        "`logits` has two rows, and you ask for three draws of each, with `shape` (3, 2). What shape does `top_k` return?",
        "`top_k` has its results along the last axis. In `shape`, the draws come first.",
        "`transpose(indices, (batch, *range(batch)))` before you `reshape`.",
    ],
)
mistake(
    {"jnp.moveaxis(noise + logits, axis, -1)": "jnp.swapaxes(noise + logits, axis, -1)"},
    fails="test_apart_axes",
)
mistake({"count)[1]": "count or 1)[1]"}, fails="test_apart_several_axes")
mistake(
    {
        "math.prod(shape[: len(shape) - batch])": "math.prod(shape) // math.prod(shape[len(shape) - batch :])"
    },
    fails="test_apart_axes",
)
mistake(
    {
        "count = math.prod(shape[: len(shape) - batch])": "count = math.prod(shape[: len(shape) - batch]) if batch else shape[0]"
    },
    fails="test_apart_several_axes",
)
mistake(
    {"batch = len(": "logits = np.asarray(logits)\nbatch = len("}, fails="test_apart_of_tracers"
)
mistake(
    {"batch = len(": 'mode = mode and "high"\nbatch = len('}, fails="test_apart_in_single_precision"
)
mistake({"noise + logits": "jnp.exp(noise + logits)"}, fails="test_apart_certain")
mistake({".dtype, mode)": ".dtype, mode).astype(np.float32)"}, fails="test_apart_certain")
mistake(
    {
        "jnp.moveaxis(noise + logits, axis, -1)": "jnp.moveaxis(noise + logits, axis, -1).astype(np.float32)"
    },
    fails="test_apart_certain",
)
mistake(
    {".dtype, mode)": ".dtype, mode if count > 1 else None)"},
    fails="test_apart_in_single_precision",
)
mistake(
    {
        "batch = len(": "logits = logits if hasattr(get_aval(logits), 'val') else convert_element_type(logits, np.float64)\nbatch = len("
    },
    fails="test_apart_of_tracers",
)
mistake(
    {
        "noise + logits, axis": "noise.astype(np.float64) + logits if get_aval(logits).dtype == np.float32 else noise + logits, axis"
    },
    fails="test_apart_certain",
)
