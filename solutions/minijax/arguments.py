"""Which arguments a transformation is about, `argnums` and static ones; and what `has_aux` adds.

Plumbing for `grad`, `jacfwd`, `jit` and their relatives: no interpreter, only functions, places,
and the checks that what is differentiated are floats.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from minijax import dtypes
from minijax.core import ShapedArray, Value, Values, get_aval
from minijax.tree import NodeType, node_types, tree_flatten, tree_leaves, tree_map

# The function to transform ------------------------------------------------------------------------


def check_callable(fun: Any) -> None:
    """`TypeError` for what is not a function, and for functions whose result is not there at once.

    >>> check_callable(3)
    Traceback (most recent call last):
    TypeError: Expected a callable value, got 3.
    """
    if isinstance(fun, staticmethod):
        raise TypeError(f"staticmethod arguments are not supported, got {fun}. Use its function.")
    if not callable(fun):
        raise TypeError(f"Expected a callable value, got {fun}.")
    if inspect.isgeneratorfunction(fun):
        raise TypeError(f"Expected a function, got a generator function: {fun}.")


def in_place_of(
    fun: Callable[..., Any], name: str = "{}"
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator for what a transformation makes of `fun`: it gets the name, if `fun` has one.

    >>> @in_place_of(max, "best {}")
    ... def g(*args):
    ...     return max(args)
    >>> g.__name__
    'best max'
    """
    check_callable(fun)

    def decorate(transformed: Callable[..., Any]) -> Callable[..., Any]:
        transformed = functools.wraps(fun)(transformed)
        transformed.__name__ = name.format(getattr(fun, "__name__", "unnamed function"))
        transformed.__qualname__ = name.format(transformed.__qualname__)
        return transformed

    return decorate


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
    """A `TypeError`, as if Python missed an argument; the Jacobians raise `ValueError`."""
    needed = 1 + max([argnums] if isinstance(argnums, int) else argnums, default=-1)
    if needed > len(args):
        raise TypeError(f"argnums={argnums} needs {needed} arguments, and got {len(args)}.")


# What can be differentiated or transposed: floats, mostly -----------------------------------------


def check_real(holomorphic: bool) -> None:
    """`NotImplementedError` for `holomorphic=True`, which is for complex numbers."""
    if holomorphic:
        raise NotImplementedError("There are no complex numbers here: leave holomorphic out.")


def check_floats(what: str, tree: Any) -> None:
    """Only floats have derivatives; `what` names the transformation and the part of the call."""
    for leaf in tree_flatten(tree)[0]:
        dtype = get_aval(leaf).dtype
        if not dtypes.is_float(dtype):
            raise TypeError(
                f"{what} must be real-valued, but got {dtypes.short_name(dtype)}. Use floats, as "
                "in 3.0; an argument that must be an integer can be left out of argnums."
            )


def check_numbers(what: str, leaves: Values) -> None:
    """Integers may be results of forward mode, as they do not move; booleans may not, as in JAX."""
    check_floats(what, [x for x in leaves if get_aval(x).dtype.kind == "b"])


def check_not_empty(tree: Any) -> None:
    """A Jacobian is taken with respect to something."""
    if not tree_flatten(tree)[0]:
        raise ValueError("A Jacobian needs an argument that holds at least one array.")


def check_scalar(value: Value) -> None:
    """Raise `TypeError` for a value that has no gradient: only a single float has one."""
    leaves, tree = tree_flatten(value)
    if tree.node_class is not None:
        raise TypeError(f"Gradient only defined for scalar-output functions. Output was {value}.")
    aval = get_aval(leaves[0])
    if aval.shape:
        raise TypeError(
            f"Gradient only defined for scalar-output functions. Output had shape: {aval.shape}."
        )
    if not dtypes.is_float(aval.dtype):
        raise TypeError(f"grad requires real-valued outputs, but got {aval.dtype.name}.")


def check_one_kind(avals: Sequence[ShapedArray]) -> None:
    """`TypeError` unless these are all floats or all integers."""
    kinds = {"i" if aval.dtype.kind == "u" else aval.dtype.kind for aval in avals}
    if kinds not in ({"f"}, {"i"}):
        types = ", ".join(map(str, avals))
        raise TypeError(f"linear_transpose is for floats alone or integers alone, not {types}.")


# What a function returns besides its result (`has_aux`): anything, arrays or not ------------------


@dataclass(frozen=True, eq=False)
class Enclosed:
    """What is not an array, as a container without leaves: interpreters do not see it."""

    value: Any


node_types[Enclosed] = NodeType(lambda enclosed: ((), enclosed), lambda enclosed, _: enclosed)


def enclosing(fun: Callable[..., Any]) -> Callable[..., tuple[Any, Any]]:
    """`fun`, which returns a pair, with the second part fit for interpreters."""

    def fun_with_aux(*args: Any) -> tuple[Any, Any]:
        out, aux = fun(*args)
        return out, tree_map(lambda x: x if is_array(x) else Enclosed(x), aux)

    return fun_with_aux


def is_array(x: Any) -> bool:
    try:
        get_aval(x)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def disclosed(aux: Any) -> Any:
    """The second part as the function returned it, with arrays for tracers."""

    def is_enclosed(x: Any) -> bool:
        return isinstance(x, Enclosed)

    return tree_map(lambda x: x.value if is_enclosed(x) else x, aux, is_leaf=is_enclosed)


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
        if names and option == "donate_argnums":
            raise ValueError(f"Python knows no signature of {f}. Use donate_argnums.") from None
        return numbers, names
    check_names(names, parameters, option.replace("argnums", "argnames"))
    by_position = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    takes_any = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    if not takes_any and any(not -len(by_position) <= i < len(by_position) for i in numbers):
        raise ValueError(f"{option}={numbers} does not fit a function of {len(by_position)}.")
    either = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    if any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in parameters if p.name not in names):
        return numbers, names
    if numbers and not names:
        return numbers, tuple(either[number] for number in numbers)
    return numbers or tuple(either.index(name) for name in names if name in either), names


def check_names(
    names: Sequence[str], parameters: Collection[inspect.Parameter], option: str
) -> None:
    """The names of arguments must be strings, and the function must take such arguments."""
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{option} takes names of arguments, and {name!r} is not a string.")
    known = {p.name for p in parameters if p.kind not in (p.POSITIONAL_ONLY, p.VAR_POSITIONAL)}
    unknown = [name for name in names if name not in known]
    by_position = {p.name for p in parameters} - known
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters)
    if any(name in by_position or not takes_any for name in unknown):
        raise ValueError(f"{option}={unknown} does not fit: the function takes no such arguments.")


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


def donated_leaves(
    numbers: Sequence[int],
    names: Sequence[str],
    static: Static,
    args: Sequence[Any],
    kwargs: dict[str, Any],
) -> tuple[bool, ...]:
    """For each leaf of the arguments that are not static, whether it is donated."""
    given = {number + len(args) if number < 0 else number for number in numbers}
    fixed = {place for place, _ in static}
    flags = [(i in given, x) for i, x in enumerate(args) if i not in fixed]
    flags += [(k in names, kwargs[k]) for k in sorted(kwargs) if k not in fixed]
    return tuple(flag for flag, x in flags for _ in tree_leaves(x))
