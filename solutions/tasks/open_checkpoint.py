"""A long way with a light pack.

Write `long(step, n)`: the function that applies `step` to an array n times, where `step` keeps the
shape. With √n parts and a checkpoint for each, a gradient holds about 2 √n arrays at a time. Yours
holds only one more when n is doubled, and computes each step at most 1 + log2(n) / 2 times, on
average. The values, and the derivatives of any order, are those of the plain loop.
"""

from minijax import checkpoint


def long(step, n):
    """The function that applies `step` n times.

    Going back, the second half comes first, with one array in store, the state in the middle. Then
    it is forgotten, and the first half is computed again in the same way, from the start.
    """
    if n == 1:
        return step
    first, second = long(step, n // 2), long(step, n - n // 2)
    return lambda x: second(checkpoint(first)(x))
