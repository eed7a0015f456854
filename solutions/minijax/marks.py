"""Lists in parts: values of which something holds, and the others.

The values that a rule gets are of two kinds: some move, or have a batch axis, or are known, and
the others are not. `Marks` say which, and the functions here take such lists apart and join them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from minijax.core import NotMapped

Marks = tuple[bool, ...]  # whether something holds, of each input or each result of a program


def groups(xs: Sequence[Any], *sizes: int) -> list[Any]:
    """`xs` cut into parts of these sizes, and what is left as the last part.

    >>> groups("abcdef", 1, 3)
    ['a', 'bcd', 'ef']
    """
    ends = list(itertools.accumulate(sizes))
    return [xs[start:end] for start, end in zip([0, *ends], [*ends, len(xs)], strict=True)]


def chosen(xs: Iterable[Any], marks: Iterable[bool]) -> list[Any]:
    """Those of `xs` that are marked."""
    return list(itertools.compress(xs, marks))


def filled(
    marks: Iterable[bool], marked: Iterable[Any], others: Iterable[Any] | None = None
) -> list[Any]:
    """One list again: from `marked` if there is a mark, and otherwise from `others`, or None.

    Too few values raise `ValueError`.

    >>> filled((True, False, True), "ac"), filled((True, False, True), "ac", "b")
    (['a', None, 'c'], ['a', 'b', 'c'])
    """
    marks, yes = tuple(marks), iter(marked)
    no = itertools.repeat(None) if others is None else iter(others)
    try:
        return [next(yes if mark else no) for mark in marks]
    except StopIteration:
        raise ValueError(
            f"There are too few values for the places with these marks: {marks}."
        ) from None


def either(a: Iterable[bool], b: Iterable[bool]) -> Marks:
    """The marks of both; the shorter one is filled up with False."""
    return tuple(x or y for x, y in itertools.zip_longest(a, b, fillvalue=False))


def opposite(marks: Iterable[bool]) -> Marks:
    return tuple(not mark for mark in marks)


def moving(tangents: Iterable[Any]) -> Marks:
    return tuple(t is not None for t in tangents)


def mapped(dims: Iterable[Any]) -> Marks:
    return tuple(not isinstance(dim, NotMapped) for dim in dims)
