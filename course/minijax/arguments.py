"""Which arguments of a function a transformation is about: `argnums`, and static ones.

Plumbing for `grad`, `jacfwd`, `jit` and their relatives: no interpreter, only functions and places.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

# The arguments to differentiate by: a number, or several ------------------------------------------

Argnums = int | Sequence[int]


def chosen_args(argnums: Argnums, args: Sequence[Any]) -> tuple[Any, ...]:
    """The arguments that `argnums` names."""
    numbers = [argnums] if isinstance(argnums, int) else argnums
    if any(not -len(args) <= i < len(args) for i in numbers):
        raise ValueError(f"argnums={argnums} does not fit a call with {len(args)} arguments.")
    return tuple(args[i] for i in numbers)


def function_of(
    f: Callable[..., Any], argnums: Argnums, args: Sequence[Any], kwargs: dict[str, Any]
) -> Callable[..., Any]:
    """`f` as a function of the arguments in `argnums` alone; the others keep their values."""
    numbers = [argnums] if isinstance(argnums, int) else argnums
    places = [i % len(args) for i in numbers]

    def f_of_chosen(*chosen: Any) -> Any:
        filled = dict(zip(places, chosen, strict=True))
        return f(*(filled.get(i, arg) for i, arg in enumerate(args)), **kwargs)

    return f_of_chosen


def check_enough_args(argnums: Argnums, args: Sequence[Any]) -> None:
    """A `TypeError`, as where Python misses an argument; the Jacobians raise `ValueError`."""
    needed = 1 + max([argnums] if isinstance(argnums, int) else argnums, default=-1)
    if needed > len(args):
        raise TypeError(f"argnums={argnums} needs {needed} arguments, and got {len(args)}.")


# Static arguments: Python sees their values, and each value has a program of its own --------------

Static = tuple[tuple[int | str, Any], ...]  # places (positions and keywords) with values


def static_places(
    f: Callable[..., Any],
    argnums: int | Sequence[int] | None,
    argnames: str | Sequence[str] | None,
    option: str = "static_argnums",
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The positions and the names of arguments; what is given as one counts as the other.

    `option` is the parameter of the transformation that says which ones, for the error.

    >>> static_places(lambda x, n: x, 1, None), static_places(lambda x, n: x, None, "n")
    (((1,), ('n',)), ((1,), ('n',)))
    """
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums or ())
    names = (argnames,) if isinstance(argnames, str) else tuple(argnames or ())
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):  # a builtin, for which Python knows no signature
        return numbers, names
    either = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    if any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in parameters if p.name not in names):
        return numbers, names
    if any(not -len(either) <= number < len(either) for number in numbers):
        raise ValueError(f"{option}={numbers} does not fit the {len(either)} arguments of f.")
    if numbers and not names:
        return numbers, tuple(either[number] for number in numbers)
    return numbers or tuple(either.index(name) for name in names if name in either), names


def split_static(
    numbers: Sequence[int], names: Sequence[str], args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[Static, tuple[list[Any], dict[str, Any]]]:
    """The static arguments with their places, and the others: those by position, those by name."""
    places = {number + len(args) if number < 0 else number for number in numbers}
    static: list[tuple[Any, Any]] = [(i, x) for i, x in enumerate(args) if i in places]
    static += [(name, x) for name, x in sorted(kwargs.items()) if name in names]
    try:
        hash(tuple(static))
    except TypeError as error:
        raise ValueError(f"Static arguments must be hashable: {error}.") from None
    positional = [x for i, x in enumerate(args) if i not in places]
    named = {name: x for name, x in kwargs.items() if name not in names}
    return tuple(static), (positional, named)


def without_static(f: Callable[..., Any], static: Static) -> Callable[..., Any]:
    """`f` as a function of the other arguments: a list of those by position, a dict by name."""

    def f_of_others(positional: list[Any], named: dict[str, Any]) -> Any:
        args = list(positional)
        for place, value in static:
            if isinstance(place, int):
                args.insert(place, value)
        fixed = {place: value for place, value in static if isinstance(place, str)}
        return f(*args, **named, **fixed)

    return f_of_others
