"""Named axes: which mapped axes of a program have a name, their sizes, and who maps them.

A function inside `vmap(f, axis_name="i")` or `pmap(f, axis_name="i")` sees a single example. By the
name it can refer to the axis along which all examples lie: to their sum, or to its own position
among them. Which names can be used, and what they mean, depends on the transformations that are
active: an environment, as for variables, and one for each thread.

Batching rules pass the size of the mapped axis on. It is an `AxisSize`, an `int` with a name, so
none of them had to change for names. A call primitive goes to the `vmap` whose name its program
uses, even if no operand is batched.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from minijax.core import MainTrace, Primitive, Value, find_top_trace, full_lower, full_raise


class AxisSize(int):
    """The size of a mapped axis. It is an int that knows the name of the axis, if it has one.

    Code that hands the size of a batch on, as batching rules do, hands on the name with it.

    >>> AxisSize(3, "i") + 1, AxisSize(3, "i").name
    (4, 'i')
    """

    name: Any

    def __new__(cls, size: int, name: Any = None) -> AxisSize:
        axis_size = super().__new__(cls, size)
        axis_size.name = name
        return axis_size


def name_of(axis_size: int) -> Any:
    """The name of the axis of this size; None if it has none."""
    return getattr(axis_size, "name", None)


@dataclass(frozen=True, eq=False)
class AxisFrame:
    """A name, the size of its axis, and the interpreter that maps it; None: devices do."""

    name: Any
    size: int
    main: MainTrace | None


class AxisEnv(threading.local):
    """The axes with names in this thread, the innermost last."""

    def __init__(self) -> None:
        self.frames: tuple[AxisFrame, ...] = ()


axis_env = AxisEnv()


@contextmanager
def mapped_axis(axis_size: int, main: MainTrace | None) -> Iterator[None]:
    """The name of this axis, if it has one, can be used in a `with` block."""
    previous, name = axis_env.frames, name_of(axis_size)
    if name is not None:
        axis_env.frames = (*previous, AxisFrame(name, int(axis_size), main))
    try:
        yield
    finally:
        axis_env.frames = previous


def axis_frame(name: Any) -> AxisFrame:
    """What `name` means here; the innermost axis of that name counts.

    >>> with mapped_axis(AxisSize(3, "i"), None):
    ...     axis_frame("i").size
    3
    >>> axis_frame("i")
    Traceback (most recent call last):
    NameError: unbound axis name: i. Use it inside vmap or pmap with axis_name='i'.
    """
    for frame in reversed(axis_env.frames):
        if frame.name == name:
            return frame
    raise NameError(
        f"unbound axis name: {name}. Use it inside vmap or pmap with axis_name={name!r}."
    )


def axis_sizes() -> tuple[tuple[Any, int], ...]:
    """The names that can be used, with sizes: a program that was traced here depends on them."""
    return tuple((frame.name, frame.size) for frame in axis_env.frames)


class AxisPrimitive(Primitive):
    """A primitive that concerns the interpreters that map certain axes, even without operands.

    The sum of a constant over all examples depends on how many there are, although the constant is
    in no box.
    """

    def names(self, params: dict[str, Any]) -> Collection[Hashable]:
        """The names of the axes that this use of the primitive is about."""
        raise NotImplementedError(f"{type(self).__name__} must define names.")

    def bind(self, *args: Value, **params: Any) -> Value:
        """Like `core.bind`; the interpreters that map the axes count, as operands do."""
        mains = [axis_frame(name).main for name in self.names(params)]
        candidates = [find_top_trace(args).main, *(main for main in mains if main is not None)]
        top = max(candidates, key=lambda main: main.level)
        trace = top.trace_type(top)
        outs = trace.process_primitive(self, [full_raise(trace, arg) for arg in args], params)
        return [full_lower(out) for out in outs] if self.multiple_results else full_lower(outs)
