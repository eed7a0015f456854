"""Answers to the exercises of the `random` lesson: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""


@right("random.rotate_left")
def rotate_left(x, distance):
    return (x << np.uint32(distance)) | (x >> np.uint32(32 - distance))


@right("random.rotate_left", style="by exclusive or, step by step")
def rotate_left(x, distance):
    for _ in range(distance):
        top = shift_right_logical(x, np.uint32(31))
        x = bitwise_xor(shift_left(x, np.uint32(1)), top)
    return x


mistake(
    "random.rotate_left",
    {
        "left = shift_left(x, np.uint32(distance))": "return bitwise_or(\n    shift_right_logical(x, np.uint32(distance)), shift_left(x, np.uint32(32 - distance))\n)",
        "return bitwise_or(left, shift_right_logical(x, np.uint32(32 - distance)))": "",
    },
    name="The bits go around to the right",
    hints=[
        "Try `rotate_left(np.uint32(1), 1)`: a one at the bottom should be at the second place.",
        "`shift_left` moves bits to larger numbers. Which of your two shifts has the whole distance?",
        "To the left by `distance`, and to the right by `32 - distance`; you have the two the other way around.",
    ],
)


@mistake(
    "random.rotate_left",
    name="The bits that leave are lost",
    hints=[
        "Try `rotate_left(np.uint32(0x80000001), 4)`: two bits are set, and two should be set in the result.",
        "A shift to the left fills the lower bits with zeros. Which bits belong there?",
        "The upper `distance` bits of `x`: `shift_right_logical(x, np.uint32(32 - distance))` brings them to the bottom.",
    ],
)
def rotate_left(x, distance):
    return shift_left(x, np.uint32(distance))


@right("random.threefry")
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


@right("random.threefry", style="a list of keys that turns")
def threefry_2x32(words, x0, x1):
    turn = [words[0], words[1], bitwise_xor(PARITY, bitwise_xor(words[1], words[0]))]
    for j in range(6):
        x0, x1 = add(x0, turn[0]), add(add(x1, np.uint32(j)), turn[1])
        turn = turn[1:] + turn[:1]
        for distance in ROTATIONS[j & 1] * (j != 5):
            y = add(x0, x1)
            x0, x1 = y, bitwise_xor(y, rotate_left(x1, distance))
    return x0, x1


@mistake(
    "random.threefry",
    name="The number of the addition is missing",
    hints=[
        "With a key of zeros, what does the addition of the key change in your function?",
        "Besides a word of the key, the second word gets the number `j` of the addition, from 0 to 5.",
        "`x1 = add(x1, add(schedule[(j + 1) % 3], np.uint32(j)))`.",
    ],
)
def threefry_2x32(words, x0, x1):
    schedule = [words[0], words[1], bitwise_xor(bitwise_xor(words[0], words[1]), PARITY)]
    for j in range(6):
        x0, x1 = add(x0, schedule[j % 3]), add(x1, schedule[(j + 1) % 3])
        for distance in ROTATIONS[j % 2] if j < 5 else ():
            x0 = add(x0, x1)
            x1 = bitwise_xor(rotate_left(x1, distance), x0)
    return x0, x1


@mistake(
    "random.threefry",
    name="The key is not added after the last round",
    hints=[
        "How often is the key added: five times, or six?",
        "Before rounds 0, 4, 8, 12 and 16, and once more after round 19.",
        "Let the outer loop run over `range(6)`, and leave out the rounds for the last `j`.",
    ],
)
def threefry_2x32(words, x0, x1):
    schedule = [words[0], words[1], bitwise_xor(bitwise_xor(words[0], words[1]), PARITY)]
    for j in range(5):
        x0 = add(x0, schedule[j % 3])
        x1 = add(x1, add(schedule[(j + 1) % 3], np.uint32(j)))
        for distance in ROTATIONS[j % 2]:
            x0 = add(x0, x1)
            x1 = bitwise_xor(rotate_left(x1, distance), x0)
    return x0, x1


@mistake(
    "random.threefry",
    name="A round mixes with the old first word",
    hints=[
        "Write one round on paper, with small numbers. What does the exclusive or take: `x0`, or the sum?",
        "The second word is mixed with the *new* first word, `y = x0 + x1`.",
        "First `x0 = add(x0, x1)`, and then `x1 = bitwise_xor(rotate_left(x1, distance), x0)`.",
    ],
)
def threefry_2x32(words, x0, x1):
    schedule = [words[0], words[1], bitwise_xor(bitwise_xor(words[0], words[1]), PARITY)]
    for j in range(6):
        x0 = add(x0, schedule[j % 3])
        x1 = add(x1, add(schedule[(j + 1) % 3], np.uint32(j)))
        for distance in ROTATIONS[j % 2] if j < 5 else ():
            x0, x1 = add(x0, x1), bitwise_xor(rotate_left(x1, distance), x0)
    return x0, x1


@right("random.split")
def split_words(words, shape):
    first, second = threefry_2x32(words, *counters(shape))
    return jnp.concatenate([jnp.expand_dims(first, -1), jnp.expand_dims(second, -1)], -1)


@right("random.split", style="a line of keys, put into shape")
def split_words(words, shape):
    count = math.prod(shape)
    pairs = jnp.stack(threefry_2x32(words, *counters((count,))), 1)
    return jnp.reshape(pairs, (*shape, 2))


mistake(
    "random.split",
    {", -1": ""},
    name="The words of the keys are along the first axis",
    hints=[
        "Which shape has your result for `(3,)`? Three keys have the shape `(3, 2)`.",
        "`jnp.stack` puts the new axis first, unless you say where.",
        "`jnp.stack(..., -1)`.",
    ],
)
mistake(
    "random.split",
    {
        "return jnp.stack(threefry_2x32(words, *counters(shape)), -1)": "zeros = jnp.zeros(shape, np.uint32)\nreturn jnp.stack(threefry_2x32(words, zeros, zeros), -1)"
    },
    name="All keys are the same",
    hints=[
        "Look at two of the keys that you return. What differs between them?",
        "Each key is the hash of a counter of its own; your counters are all zero.",
        "`counters(shape)` gives the counters 0, 1, 2, ... as two arrays of words.",
    ],
)


@right("random.bits")
def random_bits(words, width, shape):
    x0, x1 = threefry_2x32(words, *counters(shape))
    if width == 64:
        return (x0.astype(np.uint64) << np.uint64(32)) | x1.astype(np.uint64)
    return (x0 ^ x1).astype(f"uint{width}")


@right("random.bits", style="64 bits by a product")
def random_bits(words, width, shape):
    pair = threefry_2x32(words, *counters(shape))
    if width < 64:
        return convert_element_type(bitwise_xor(*pair), np.dtype(f"u{width // 8}"))
    upper, lower = (convert_element_type(x, np.uint64) for x in pair)
    return add(mul(upper, np.uint64(2**32)), lower)


@mistake(
    "random.bits",
    name="The two halves of 64 bits are exchanged",
    hints=[
        "Which of the two words is the upper half?",
        "The first word is: it is shifted to the left by 32.",
        "`bitwise_or(shift_left(first, np.uint64(32)), second)`, both as uint64.",
    ],
)
def random_bits(words, width, shape):
    second, first = threefry_2x32(words, *counters(shape))
    if width < 64:
        return convert_element_type(bitwise_xor(first, second), np.dtype(f"uint{width}"))
    upper, lower = (convert_element_type(x, np.uint64) for x in (first, second))
    return bitwise_or(shift_left(upper, np.uint64(32)), lower)


mistake(
    "random.bits",
    {
        'dtype = np.dtype(f"uint{width}")': "",
        "return convert_element_type(bitwise_xor(first, second), dtype)": 'return convert_element_type(first, np.dtype(f"uint{width}"))',
        "upper, lower = (convert_element_type(x, dtype) for x in (first, second))": "upper, lower = (convert_element_type(x, np.uint64) for x in (first, second))",
    },
    name="Only the first word counts",
    hints=[
        "The hash has two words. What do you do with the second one if 32 bits are wanted?",
        "32 bits are the exclusive or of both words.",
        "`convert_element_type(bitwise_xor(first, second), dtype)`.",
    ],
)


@right("random.floats")
def unit_floats(bits, dtype):
    info = np.finfo(np.dtype(dtype))
    fraction = shift_right_logical(bits, np.asarray(info.bits - info.nmant, get_aval(bits).dtype))
    return mul(convert_element_type(fraction, dtype), np.asarray(2.0**-info.nmant, dtype))


@right("random.floats", style="operators on the bits")
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
    "random.floats",
    name="The floats reach 1",
    hints=[
        "What does your function return if all bits are ones?",
        "A division by the largest number, or by 2**n after rounding, can give 1. How many bits has the fraction of a float?",
        "Keep only as many upper bits as the fraction has; then nothing is rounded, and the largest result is 1 - 2**-nmant.",
    ],
)
def unit_floats(bits, dtype):
    largest = float(np.iinfo(get_aval(bits).dtype).max)
    return convert_element_type(div(convert_element_type(bits, np.float64), largest), dtype)


mistake(
    "random.floats",
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


@right("random.remainder")
def remainder_of_pair(upper, lower, span):
    bits = 8 * span.dtype.itemsize
    half = np.asarray(2 ** (bits // 2), span.dtype)
    small = jnp.logical_and(span != 0, span <= half)
    times = rem(rem(upper, span), span)
    for _ in range(2):  # by 2**(n // 2), twice
        times = rem(mul(times, rem(half, span)), span)
    exact = rem(add(times, rem(lower, span)), span)
    return jnp.where(small, exact, rem(lower, span))


@right("random.remainder", style="bit by bit")
def remainder_of_pair(upper, lower, span):
    n = 8 * get_aval(span).dtype.itemsize
    kind = get_aval(span).dtype.type
    power = rem(jnp.ones_like(span), span)
    for _ in range(n):
        power = rem(mul(power, kind(2)), span)
    large = jnp.logical_or(jnp.equal(span, kind(0)), jnp.greater(span, kind(2 ** (n // 2))))
    power = jnp.where(large, kind(0), power)
    return rem(add(mul(rem(upper, span), power), rem(lower, span)), span)


@mistake(
    "random.remainder",
    name="The upper number does not count",
    hints=[
        "What does your function return for the upper number 1, the lower 0 and the span 10?",
        "`upper` counts 2**n times. What is the remainder of 2**n by the span?",
        "2**n is the square of `2**(n // 2)`: take the remainder of that, square it, and take the remainder again.",
    ],
)
def remainder_of_pair(upper, lower, span):
    return rem(lower, span)


@mistake(
    "random.remainder",
    name="The upper number counts once, not 2**n times",
    hints=[
        "What does your function return for the upper number 1, the lower 0 and the span 10? 2**32 ends with the digit 6.",
        "The upper number stands for `upper * 2**n`. Which factor is missing?",
        "`multiplier = rem(mul(m, m), span)` with `m = rem(half, span)`, where `half` is `2**(n // 2)`.",
    ],
)
def remainder_of_pair(upper, lower, span):
    return rem(add(rem(upper, span), rem(lower, span)), span)


@right("random.shuffle")
def shuffled(words, x, axis):
    for _ in range(rounds(jnp.size(x))):
        keys = split_words(words, (2,))
        words = keys[0]
        x = sort([random_bits(keys[1], 32, x.shape), x], axis)[1]
    return x


@right("random.shuffle", style="recursion, and places instead of elements")
def shuffled(words, x, axis):
    def again(words, x, left):
        if not left:
            return x
        words, own = split_words(words, (2,))
        order = jnp.argsort(random_bits(own, 32, jnp.shape(x)), axis)
        return again(words, jnp.take_along_axis(x, order, axis), left - 1)

    return again(words, x, rounds(jnp.size(x)))


mistake(
    "random.shuffle",
    {
        "words, own = split_words(words, (2,))": "_, x = sort((random_bits(words, 32, jnp.shape(x)), x), axis, num_keys=1)",
        "_, x = sort((random_bits(own, 32, jnp.shape(x)), x), axis, num_keys=1)": "words, _ = split_words(words, (2,))",
    },
    name="A key is used twice",
    hints=[
        "Which keys does a round need, and what is each of them used for?",
        "The key that makes the bits must not be the one that is split for the next round: used for two things, it ties them together.",
        "`words, own = split_words(words, (2,))`: `own` for the bits, and `words` only to be split again.",
    ],
)
mistake(
    "random.shuffle",
    {"words, own = split_words(words, (2,))": "own = split_words(words, (2,))[1]"},
    name="The split is not used",
    hints=[
        "Shuffle 2000 elements: how do the second round's bits differ from the first one's?",
        "`split_words` returns new keys and changes nothing. What happens to those that you do not keep?",
        "Give the first of the two new keys the name `words`, so that the next round splits that one.",
    ],
)

mistake(
    "random.shuffle",
    {
        "_, x = sort((random_bits(own, 32, jnp.shape(x)), x), axis, num_keys=1)": "bits = random_bits(own, 32, (jnp.shape(x)[axis],))\nx = jnp.take(x, jnp.argsort(bits), axis)"
    },
    fails="test_axes_of_a_shuffle",
)


@right("random.draw")
def drawn(words, logits, axis, shape, mode):
    logits = jnp.broadcast_to(logits, shape)
    return jnp.argmax(add(logits, gumbel_floats(words, tuple(shape), logits.dtype, mode)), axis)


@right("random.draw", style="the least of the negative")
def drawn(words, logits, axis, shape, mode):
    noise = gumbel_floats(words, (*shape,), jnp.asarray(logits).dtype, mode)
    return (-logits - noise).argmin(axis)


@mistake(
    "random.draw",
    name="No noise: always the most likely one",
    hints=[
        "Draw a hundred times from two equal logits. How often does each come out?",
        "The largest logit alone is always the same. What must be added, and in which shape?",
        "`gumbel_floats(words, tuple(shape), get_aval(logits).dtype, mode)`, added to the logits.",
    ],
)
def drawn(words, logits, axis, shape, mode):
    return jnp.argmax(jnp.broadcast_to(logits, shape), axis)


@mistake(
    "random.draw",
    name="Uniform noise instead of Gumbel's",
    hints=[
        "Draw many times from the probabilities 0.1 and 0.9. How often does the first come out?",
        "The trick works with one kind of noise only, which is made by two logarithms.",
        "`gumbel_floats` makes it.",
    ],
)
def drawn(words, logits, axis, shape, mode):
    dtype = get_aval(logits).dtype
    return jnp.argmax(uniform_floats(words, 0.0, 1.0, tuple(shape), dtype) + logits, axis)


@mistake("random.draw", fails="test_impossible_draws")
def drawn(words, logits, axis, shape, mode):
    logits = jnp.asarray(logits)
    noise = gumbel_floats(words, logits.shape, logits.dtype, mode)
    return jnp.argmax(jnp.broadcast_to(noise + logits, shape), axis)
