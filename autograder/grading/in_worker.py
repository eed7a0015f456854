"""Helpers for probes. Their text travels (see `suite.probe`), and runs in a worker."""

import contextlib
import functools
import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

# ------------------------------------------------------------------------------------------
# Right siblings


@contextlib.contextmanager
def in_place(module: str, siblings: dict[str, str]) -> Iterator[Any]:
    """The module, while right definitions are in the places of their targets.

    They replace the student's wherever the package refers to them: in modules, in tables of rules
    and in classes. `siblings` maps targets, such as "JVPTrace.pure", to definitions.
    """
    home = importlib.import_module(module)
    with contextlib.ExitStack() as undo:
        graft(home, siblings, undo)
        yield home


def graft(home: Any, siblings: dict[str, str], undo: contextlib.ExitStack) -> None:
    """Put definitions in their targets' places until `undo`."""
    changes: dict[int, tuple[Any, Any]] = {}  # by the identity of what is replaced
    for target, definition in siblings.items():
        *owner, name = target.split(".")
        made: dict[str, Any] = {}
        exec(definition, vars(home), made)
        place = functools.reduce(lambda found, part: vars(found)[part], owner, home)
        if name not in vars(place):  # the student has deleted it
            setattr(place, name, made[name])
            undo.callback(delattr, place, name)
        else:
            changes[id(vars(place)[name])] = vars(place)[name], made[name]
    replace(home, changes, undo)


def replace(home: Any, changes: dict[int, tuple[Any, Any]], undo: contextlib.ExitStack) -> None:
    """Put the second of each pair in the first one's places until `undo`."""
    for entries, holder in list(holders(home)) if changes else []:
        # There are more than ten thousand values: almost none is looked at twice.
        found = [
            (key, value)
            for key, value in entries.items()
            if id(value) in changes
            or (isinstance(value, (functools.partial, tuple)) and type(value) is not tuple)
        ]
        for key, value in found:
            changed = with_new(value, changes)
            if changed is not value:
                put(undo, entries, holder, key, changed)


def with_new(value: Any, changes: dict[int, tuple[Any, Any]]) -> Any:
    """What takes the place of a value; the same in a partial function and in a namedtuple."""

    def new(x: Any) -> Any:
        return changes[id(x)][1] if id(x) in changes else x

    if isinstance(value, functools.partial) and id(value.func) in changes:
        return functools.partial(new(value.func), *value.args, **value.keywords)
    if hasattr(type(value), "_make") and any(id(x) in changes for x in value):
        return type(value)._make(map(new, value))
    return new(value)


def holders(home: Any) -> Iterator[tuple[Any, Any]]:
    """What may hold a reference to a function: modules, tables of rules, and classes."""
    package = home.__name__.split(".")[0]
    for name, found in list(sys.modules.items()):
        if name.split(".")[0] == package:
            yield vars(found), found
            tables = [x for key, x in vars(found).items() if not key.startswith("__")]
            yield from ((table, None) for table in tables if isinstance(table, dict))
    for found in list(vars(home).values()):
        if isinstance(found, type) and found.__module__ == home.__name__:
            yield vars(found), found


def put(undo: contextlib.ExitStack, entries: Any, holder: Any, key: Any, value: Any) -> None:
    """Set an entry of a table, or an attribute, until `undo`."""
    old = entries[key]
    if holder is None:
        entries[key] = value
        undo.callback(entries.__setitem__, key, old)
    else:
        setattr(holder, key, value)
        undo.callback(setattr, holder, key, old)


# ------------------------------------------------------------------------------------------
# An interpreter that watches


@contextlib.contextmanager
def watching(note: Callable[[Any, dict[str, Any]], Any] | None = None) -> Iterator[Any]:
    """An interpreter that evaluates; gives `box`, which boxes an array, and the list of its notes.

    It notes the name of each primitive that it is given, or `note(primitive, params)`. What a box
    holds is its `val`.
    """
    from minijax.core import Trace, Tracer, get_aval, new_main, trace_state

    class Box(Tracer):
        def __init__(self, trace: Any, val: Any) -> None:
            self._trace, self.val = trace, val

        @property
        def aval(self) -> Any:  # type: ignore[override]
            return get_aval(self.val)

    class Watch(Trace):
        def pure(self, val: Any) -> Any:
            return Box(self, val)

        lift = pure

        def process_primitive(self, primitive: Any, tracers: Any, params: Any) -> Any:
            self.main.global_data.append(note(primitive, params) if note else primitive.name)
            dynamic = trace_state.dynamic_trace
            trace_state.dynamic_trace = None if dynamic is self.main else dynamic
            try:
                out = primitive.bind(*[tracer.val for tracer in tracers], **params)
            finally:
                trace_state.dynamic_trace = dynamic
            return [Box(self, x) for x in out] if primitive.multiple_results else Box(self, out)

    with new_main(Watch, []) as main:
        yield lambda x: Box(Watch(main), x), main.global_data


# ------------------------------------------------------------------------------------------
# Values of many kinds


def of_all_kinds() -> list[Any]:
    """Objects that can be hashed, which code that passes values on has no reason to look into."""

    class Number(float):
        """Like NumPy's floats, a float that is not only a float."""

    class Whole(int):
        """The same of an int."""

    simple: list[Any] = [2, True, None, NotImplemented, ..., "text", b"", (1.5, 2), (), frozenset()]
    return [Number(1.5), np.float64(0.5), Whole(3), *simple, object(), -0.0, float("nan")]


def odd() -> Any:
    """An object that no code may ask anything."""

    class Odd:
        __hash__ = None  # type: ignore[assignment]

        def __eq__(self, other: object) -> bool:
            raise AssertionError("compared")

        def __bool__(self) -> bool:
            raise AssertionError("looked at")

    return Odd()


# ------------------------------------------------------------------------------------------
# Plain data


def plain(x: Any) -> Any:
    """A result with all arrays as NumPy's."""
    if isinstance(x, (list, tuple)):
        return type(x)(map(plain, x))
    if isinstance(x, dict):
        return {key: plain(value) for key, value in x.items()}
    return np.asarray(x) if hasattr(x, "__array__") else x


# ------------------------------------------------------------------------------------------
# Programs


def one_program(home: Any, name: str, args: Sequence[Any], make: Callable[[], Any]) -> Any:
    """What `make` returns for this name and arguments like these: one object for all questions.

    So an answer is asked about the same program with other flags. It is kept in the module `home`,
    and is made anew when the package is imported anew.
    """
    kept = vars(home).setdefault("_asked_about", {})
    types = [(type(x).__name__, np.shape(x), str(np.asarray(x).dtype)) for x in args]
    key = (name, *types)
    if key not in kept:
        kept[key] = make()
    return kept[key]


# ------------------------------------------------------------------------------------------
# Random programs of Part I


def grown(mj: Any, seed: int, inputs: Sequence[Any], length: int = 12) -> Any:
    """The last value of a random program of sums and products, in which operands repeat."""
    import random

    chance, values = random.Random(seed), list(inputs)
    for _ in range(length):
        constant = chance.choice([0.5, -1.0, 2.0, 0.0])
        x, y = (chance.choice([*values, *values[-3:], constant]) for _ in range(2))
        values.append(chance.choice([mj.add, mj.mul])(x, y))
    return values[-1]
