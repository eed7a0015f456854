# title = "Answers with more than a message may hold"
# tries = "Large arrays, long texts, deep lists and numbers of a million digits."
# answer = "return more()"
# reported = "wrong_type_or_exception"
import itertools

count = itertools.count()


def more():
    import numpy as np

    deep = []
    for _ in range(5000):
        deep = [deep]
    choices = (np.zeros(1 << 22), "x" * 1_000_000, deep, 1 << 1_000_000, [0] * 200_000)
    return choices[next(count) % len(choices)]
