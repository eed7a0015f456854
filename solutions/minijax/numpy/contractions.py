"""`minijax.numpy`, continued: products that add up along axes, all by `dot_general`."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from minijax import dtypes
from minijax.array import array_methods
from minijax.core import Value, Values, get_aval
from minijax.lax import basic
from minijax.lax.basic import check_precision
from minijax.lax.shapes import broadcasted_iota
from minijax.numpy.basic import as_product, dot, multiply, positive, product, product_type, sum
from minijax.numpy.elementwise import equal, where
from minijax.numpy.making import ndim, shape, zeros_like
from minijax.numpy.reductions import any
from minijax.numpy.shapes import expand_dims, one_axis, ravel, squeeze

__all__ = ["einsum", "inner", "outer", "tensordot", "vdot"]

Axes = int | Sequence[int] | Sequence[Sequence[int]]


def tensordot(
    a: Value, b: Value, axes: Axes = 2, *, precision: Any = None, preferred_element_type: Any = None
) -> Value:
    """The sum over the last `axes` axes of `a` and the first of `b`, or over the axes named.

    It is computed in `preferred_element_type`, or in the operands' common dtype. `precision`
    changes nothing on the CPU.
    """
    if isinstance(axes, int):
        if axes > min(ndim(a), ndim(b)):
            raise TypeError(f"tensordot over {axes} axes of operands with {ndim(a)} and {ndim(b)}.")
        contract = list(range(ndim(a) - axes, ndim(a))), list(range(axes))
    else:
        if len(axes) != 2:
            raise TypeError("tensordot takes the axes of both operands, or how many.")
        first, second = ([x] if isinstance(x, int) else list(x) for x in axes)
        if len(first) != len(second):
            raise TypeError(f"tensordot takes as many axes of one operand as of the other: {axes}.")
        contract = [one_axis(i, ndim(a)) for i in first], [one_axis(i, ndim(b)) for i in second]
    return product(a, b, (contract, ((), ())), precision, preferred_element_type)


def inner(
    a: Value, b: Value, *, precision: Any = None, preferred_element_type: Any = None
) -> Value:
    """The sum over the last axis of both; the other parameters are as in `dot`."""
    options = {"precision": precision, "preferred_element_type": preferred_element_type}
    if not ndim(a) or not ndim(b):
        return dot(a, b, **options)
    return tensordot(a, b, (-1, -1), **options)


def vdot(a: Value, b: Value, *, precision: Any = None, preferred_element_type: Any = None) -> Value:
    """The inner product of all elements in order; the other parameters are as in `dot`."""
    options = {"precision": precision, "preferred_element_type": preferred_element_type}
    return dot(ravel(a), ravel(b), **options)


def outer(a: Value, b: Value) -> Value:
    """Every element of `a` times every element of `b`."""
    return multiply(expand_dims(ravel(a), 1), expand_dims(ravel(b), 0))


def einsum(
    subscripts: Any,
    /,
    *operands: Value,
    optimize: str | bool | Sequence[Sequence[int]] | None = "auto",
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Value:
    """The sum of products that `subscripts` describe, such as `"ij,jk->ik"`; operands in order.

    Three dots stand for any number of axes, which broadcast. Instead of letters there may be lists:
    `einsum(x, [0, 1], y, [1, 2], [0, 2])`. It is computed in `preferred_element_type`, or in the
    operands' common dtype. `optimize` and `precision` change nothing here.
    """
    check_precision(precision)
    if not isinstance(subscripts, str):
        subscripts, operands = from_lists(subscripts, *operands)
    operands = tuple(map(positive, operands))
    check_path(optimize, len(operands))
    terms, out = parse(subscripts, operands)
    dtype, weak_type = product_type(preferred_element_type, *operands)
    x, letters, *rest = fitted(operands, terms)
    for i, (y, others) in enumerate(zip(rest[::2], rest[1::2], strict=True), 2):
        x, letters = einsum_pair(x, letters, y, others, out + "".join(rest[2 * i - 1 :: 2]), dtype)
    x, letters = sum_out(x, letters, out, dtype)
    found = basic.transpose(x, [letters.index(letter) for letter in out])
    return as_product(found, dtype, weak_type)


def check_path(optimize: Any, number: int) -> None:
    """JAX's errors for a list of steps: operands that are not there, too many at once, none joined.

    Names of methods say how to find an order. Here the order is always from left to right.
    """
    if optimize is None or isinstance(optimize, str | bool):
        return
    for places in optimize:
        if max(places) >= number:
            raise IndexError(f"einsum's optimize joins operands {places}, and there are {number}.")
        if len(places) > 2:
            raise NotImplementedError(f"einsum joins two operands at a time, not {places}.")
        number -= len(places) - 1
    if number > 1:
        raise ValueError(f"einsum's optimize={optimize} leaves {number} operands: join them, too.")


def from_lists(*args: Any) -> tuple[str, tuple[Value, ...]]:
    """The form with lists of labels, as the form with letters."""
    operands, lists = args[: len(args) // 2 * 2 : 2], [*args[1::2], *args[-1:][: len(args) % 2]]
    if not all(isinstance(labels, list | tuple) for labels in lists):
        raise TypeError("einsum takes subscripts as a string, or lists of labels for the operands.")
    labels = sorted({label for term in lists for label in term if label is not ...})
    letters = {label: chr(ord("A") + i) for i, label in enumerate(labels)} | {...: "..."}
    terms = ["".join(letters[label] for label in term) for term in lists]
    return "->".join([",".join(terms[: len(operands)]), *terms[len(operands) :]]), operands


def parse(subscripts: str, operands: Values) -> tuple[list[str], str]:
    """The letters of each operand, and those of the result; for dots, letters of their own."""
    inputs, arrow, out = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(operands):
        raise ValueError(f"einsum {subscripts!r} takes {len(terms)} operands, not {len(operands)}.")
    hidden = [
        ndim(x) - len(term.replace("...", "")) for x, term in zip(operands, terms, strict=True)
    ]
    dots = [chr(0x2460 + i) for i in reversed(range(max(hidden)))]  # the last axis has the first
    terms = [
        term.replace("...", "".join(dots[len(dots) - count :]))
        if count > 0
        else term.replace("...", "")
        for term, count in zip(terms, hidden, strict=True)
    ]
    if not arrow:
        named = sorted({c for c in "".join(terms) if "".join(terms).count(c) == 1} - set(dots))
        out = "..." + "".join(named)
    out = out.replace("...", "".join(dots))
    if "." in "".join([out, *terms]) or [len(term) for term in terms] != [*map(ndim, operands)]:
        raise ValueError(f"einsum {subscripts!r} does not fit the operands' numbers of axes.")
    if len(set(out)) != len(out) or not set(out) <= set("".join(terms)):
        raise ValueError(f"einsum {subscripts!r}: the result needs letters of operands, each once.")
    return terms, out


def fitted(operands: Values, terms: Sequence[str]) -> list[Any]:
    """Each operand and its letters: every letter once, and no axis of length 1 to be stretched."""
    sizes: dict[str, int] = {}
    for x, term in zip(operands, terms, strict=True):
        for letter, n in zip(term, shape(x), strict=True):
            known = sizes.setdefault(letter, n)
            if 1 not in (n, known) and n != known:
                raise ValueError(f"einsum got the lengths {known} and {n} for the same letter.")
            sizes[letter] = n if known == 1 else known
    pairs: list[Any] = []
    for x, term in zip(operands, terms, strict=True):
        short = [i for i, n in enumerate(shape(x)) if n != sizes[term[i]]]
        kept = "".join(letter for i, letter in enumerate(term) if i not in short)
        pairs += diagonal(squeeze(x, short), kept)
    return pairs


def diagonal(x: Value, letters: str) -> tuple[Value, str]:
    """The elements with the same index along all axes of the same letter, as one axis."""
    for last, letter in reversed([*enumerate(letters)]):
        first = letters.index(letter)
        if first < last:
            ours, theirs = (broadcasted_iota(np.int64, shape(x), i) for i in (first, last))
            x = where(equal(ours, theirs), x, zeros_like(x))
            x = any(x, last) if get_aval(x).dtype.kind == "b" else sum(x, last, get_aval(x).dtype)
            letters = letters[:last] + letters[last + 1 :]
    return x, letters


def sum_out(x: Value, letters: str, wanted: str, dtype: np.dtype) -> tuple[Any, str]:
    """The sum over the axes whose letters are not needed any more, in `dtype` or a wider one."""
    axes = [i for i, letter in enumerate(letters) if letter not in wanted]
    kept = "".join(letter for letter in letters if letter in wanted)
    wide, _ = dtypes.result_type((get_aval(x).dtype, False), (dtype, False))
    return (sum(x, axes, wide), kept) if axes else (x, letters)


def einsum_pair(
    x: Value, x_letters: str, y: Value, y_letters: str, wanted: str, dtype: np.dtype
) -> tuple[Any, str]:
    """Two operands become one: shared letters are batch axes if they are wanted, else summed."""
    x, x_letters = sum_out(x, x_letters, y_letters + wanted, dtype)
    y, y_letters = sum_out(y, y_letters, x_letters + wanted, dtype)
    shared = [letter for letter in x_letters if letter in y_letters]
    batch = [letter for letter in shared if letter in wanted]
    summed = [letter for letter in shared if letter not in wanted]
    pairs = [
        tuple(tuple(letters.index(c) for c in chosen) for letters in (x_letters, y_letters))
        for chosen in (summed, batch)
    ]
    rest = [c for c in x_letters + y_letters if c not in shared]
    out = basic.dot_general(x, y, pairs, None, dtype)
    return out, "".join(batch + rest)


array_methods["dot"] = dot
