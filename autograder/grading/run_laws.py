"""What runs in a worker for a generated test: a law, on programs given as text.

The text of this file is sent as a probe (see `generated.py`), so it uses nothing of this package.
"""

import contextlib
import functools
import importlib
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np


def outcomes(
    mj: Any, law: list[Any], texts: list[str], siblings: dict[str, str], module: str, catch: bool
) -> list[Any]:
    """What a law gives on each of some programs, with right siblings in place.

    `law` is its name, source and parameters. `siblings` maps targets in `module` to definitions.
    With `catch` an exception is what came of one program; without, of all.
    """
    name, source, parameters = law
    space: dict[str, Any] = {"np": np}
    exec(source, space)
    found: list[Any] = []
    with contextlib.ExitStack() as undo:
        for target, definition in siblings.items():
            graft(importlib.import_module(module), target, definition, undo)
        for text in texts:
            try:
                defined: dict[str, Any] = {}
                exec(text, defined)
                given = [defined[parameter] for parameter in parameters]
                found.append(("value", plain(space[name](mj, *given))))
            except Exception as error:
                if not catch:
                    raise
                found.append(("raised", type(error).__name__, str(error)))
    return found


def plain(x: Any) -> Any:
    """A result with NumPy's arrays in place of other ones."""
    if isinstance(x, (list, tuple)):
        return type(x)(map(plain, x))
    if isinstance(x, dict):
        return {key: plain(value) for key, value in x.items()}
    return np.asarray(x) if hasattr(x, "__array__") else x


def graft(home: Any, target: str, definition: str, undo: contextlib.ExitStack) -> None:
    """Put a definition in a target's place, wherever the package refers to it, until `undo`."""
    old: Any = home
    for part in target.split("."):
        old = vars(old)[part]
    made: dict[str, Any] = {}
    exec(definition, vars(home), made)
    new = made[target.rsplit(".", maxsplit=1)[-1]]
    for entries, owner in list(holders(home)):
        for key, value in list(entries.items()):
            changed = with_new(value, old, new)
            if changed is not value:
                put(entries, owner, key, changed)
                undo.callback(put, entries, owner, key, value)


def with_new(value: Any, old: Any, new: Any) -> Any:
    """`new` where `value` is `old`; the same in a partial function and in a namedtuple."""
    if isinstance(value, functools.partial) and value.func is old:
        return functools.partial(new, *value.args, **value.keywords)
    if hasattr(type(value), "_make") and any(x is old for x in value):
        return type(value)._make(new if x is old else x for x in value)
    return new if value is old else value


def holders(home: Any) -> Iterator[tuple[Any, Any]]:
    """What a reference to a function may stand in: modules, tables of rules, and classes."""
    package = home.__name__.split(".")[0]
    for name, found in list(sys.modules.items()):
        if name.split(".")[0] == package:
            yield vars(found), found
            tables = [x for key, x in vars(found).items() if not key.startswith("__")]
            yield from ((table, None) for table in tables if isinstance(table, dict))
    for found in list(vars(home).values()):
        if isinstance(found, type) and found.__module__ == home.__name__:
            yield vars(found), found


def put(entries: Any, owner: Any, key: Any, value: Any) -> None:
    """Set an entry of a table, or an attribute."""
    if owner is None:
        entries[key] = value
    else:
        setattr(owner, key, value)
