"""`minijax.numpy`, continued: products that add up along axes, all by `dot_general`."""

from collections.abc import Sequence
from typing import Any

from minijax.array import array_methods
from minijax.core import Value, Values, get_aval
from minijax.lax import basic
from minijax.numpy.basic import dot, multiply, ndim, promote_dtypes, sum
from minijax.numpy.shapes import expand_dims, ravel

__all__ = ["einsum", "inner", "outer", "tensordot", "vdot"]

Axes = int | Sequence[int] | Sequence[Sequence[int]]


def contraction(a: Value, b: Value, contract: Any, batch: Any = ((), ())) -> Value:
    """`dot_general` in the common dtype."""
    a, b = promote_dtypes(a, b)
    numbers = (contract, batch)
    return basic.dot_general(a, b, numbers, preferred_element_type=get_aval(a).dtype)


def tensordot(a: Value, b: Value, axes: Axes = 2) -> Value:
    """The sum over the last `axes` axes of `a` and the first of `b`, or over the axes named."""
    if isinstance(axes, int):
        contract = list(range(ndim(a) - axes, ndim(a))), list(range(axes))
    else:
        first, second = ([x] if isinstance(x, int) else list(x) for x in axes)
        contract = [i % ndim(a) for i in first], [i % ndim(b) for i in second]
    return contraction(a, b, contract)


def inner(a: Value, b: Value) -> Value:
    """The sum over the last axis of both."""
    if not ndim(a) or not ndim(b):
        return multiply(a, b)
    return tensordot(a, b, (-1, -1))


def vdot(a: Value, b: Value) -> Value:
    """The inner product of all elements in order."""
    return dot(ravel(a), ravel(b))


def outer(a: Value, b: Value) -> Value:
    """Every element of `a` times every element of `b`."""
    return multiply(expand_dims(ravel(a), 1), expand_dims(ravel(b), 0))


def einsum(subscripts: str, /, *operands: Value) -> Value:
    """The sum of products that `subscripts` describe, such as `"ij,jk->ik"`; operands in order.

    Each operand's letters differ; there is no ellipsis.
    """
    terms, out = parse(subscripts, operands)
    x, letters = operands[0], terms[0]
    for i, (y, others) in enumerate(zip(operands[1:], terms[1:], strict=True), 2):
        x, letters = einsum_pair(x, letters, y, others, out + "".join(terms[i:]))
    x, letters = sum_out(x, letters, out)
    return basic.transpose(x, [letters.index(letter) for letter in out])


def parse(subscripts: str, operands: Values) -> tuple[list[str], str]:
    """The letters of each operand, and those of the result."""
    inputs, arrow, out = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if not arrow:
        out = "".join(sorted(c for c in set(inputs) - {","} if inputs.count(c) == 1))
    if "." in subscripts or any(len(set(term)) != len(term) for term in [*terms, out]):
        raise NotImplementedError("einsum takes no ellipsis, and each letter once an operand.")
    if [len(term) for term in terms] != [ndim(x) for x in operands]:
        raise ValueError(f"einsum {subscripts!r} does not fit the operands' numbers of axes.")
    return terms, out


def sum_out(x: Value, letters: str, wanted: str) -> tuple[Any, str]:
    """The sum over the axes whose letters nobody wants any more."""
    axes = [i for i, letter in enumerate(letters) if letter not in wanted]
    kept = "".join(letter for letter in letters if letter in wanted)
    return (sum(x, axes, get_aval(x).dtype), kept) if axes else (x, letters)


def einsum_pair(x: Value, x_letters: str, y: Value, y_letters: str, wanted: str) -> tuple[Any, str]:
    """Two operands become one: shared letters are batch axes if they are wanted, else summed."""
    x, x_letters = sum_out(x, x_letters, y_letters + wanted)
    y, y_letters = sum_out(y, y_letters, x_letters + wanted)
    shared = [letter for letter in x_letters if letter in y_letters]
    batch = [letter for letter in shared if letter in wanted]
    summed = [letter for letter in shared if letter not in wanted]
    pairs = [
        tuple(tuple(letters.index(c) for c in chosen) for letters in (x_letters, y_letters))
        for chosen in (summed, batch)
    ]
    rest = [c for c in x_letters + y_letters if c not in shared]
    return contraction(x, y, *pairs), "".join(batch + rest)


array_methods["dot"] = dot
