# title = "Answers with what the worker would not send"
# tries = "The grader reads what it cannot write again, takes that for a fault of the suite, and stops."
# says = ["writes to the grader's channel"]
import random
import sys

MIB = 1 << 20
wide = ["l", *["\xe9" * 100_000] * 6]  # more bytes than characters
arrays = ["l", *[["a", "int8", [MIB // 4], bytes(MIB // 4)]] * 5]
# One beyond each limit, at random: every answer ends the worker, and a new one begins.
beyond = [
    *("x" * 200_000, b"x" * (MIB + 1), wide, arrays, ["i", "f" * 2003]),
    *(["a", "int8", [MIB + 1], bytes(MIB + 1)], ["a", "float0", [MIB, MIB], b""]),
    *(["a", "float64", [2 * MIB, 0], b""], ["l", *[0] * 100_000]),
    ["d", *[[i, 0] for i in range(1_001)]],
]
sys.modules["wire"].encode = lambda value: random.choice(beyond)
