# title = "Answers with arrays that lie about shape and dtype"
# tries = "An array of a subclass claims the shape that is expected; others hold objects or fields."
# answer = "return strange()"
import itertools

import numpy as np

count = itertools.count()


class Liar(np.ndarray):
    """Claims to be a number."""

    shape = ()
    dtype = np.dtype("float64")


def strange():
    record = np.zeros(3, [("x", "f8"), ("y", "O")])
    choices = (np.zeros(3).view(Liar), np.array([None]), record, np.ma.masked_all(3), np.matrix(1))
    return choices[next(count) % len(choices)]
