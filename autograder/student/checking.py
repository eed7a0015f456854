"""What the files with checks import: whose checks they are, and what many of them make by hand.

A copy of this file is beside the checks, so it needs nothing of ours. It imports minijax and NumPy
where it makes something of them: the first lessons have neither.
"""

import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any


def exercise(name: str) -> None:
    """Begin a section: the checks from here to the next one belong to this exercise.

    The file keeps the names that were there before; `check_plugin.py` marks the checks by them.
    """
    checks = sys._getframe(1).f_globals
    checks.setdefault("_sections", []).append((name, frozenset(checks)))


def yours(name: str) -> Callable[..., Any]:
    """A function of a student's file, such as "open_jvp.hessian", looked up when it is called.

    So the checks of one file run while there is no other, and what is wrong is told where it is.
    """
    file, _, function = name.partition(".")

    def call(*args: Any, **options: Any) -> Any:
        return getattr(import_module(file), function)(*args, **options)

    return call


# ------------------------------------------------------------------------------------------
# What checks make by hand


def random_program(
    seed: int, inputs: int, length: int = 7, constants: Sequence[float] = (-1.0, 0.5)
) -> Callable[..., Any]:
    """A function that adds and multiplies its inputs and constants, some of them several times."""
    from microjax.interpreters import add, mul

    chance = random.Random(seed)
    steps = [(chance.choice([add, mul]), chance.random(), chance.random()) for _ in range(length)]

    def program(*xs: Any) -> Any:
        values = [*constants, *xs[:inputs]]
        for op, i, j in steps:
            values.append(op(values[int(i * len(values))], values[int(j * len(values))]))
        return add(values[-1], mul(values[-2], values[-3]))

    return program


@contextmanager
def noted() -> Iterator[tuple[Callable[[Any], Any], list[str]]]:
    """A function that boxes a value, and a list that gets the names of the operations on boxes.

    The operations are evaluated, and their results are in boxes, too, as `val`.
    """
    from minijax.core import Trace, Tracer, get_aval, new_main

    class Noting(Trace):
        def pure(self, val: Any) -> Any:
            return Box(self, val)

        def process_primitive(self, primitive: Any, tracers: Any, params: Any) -> Any:
            self.main.global_data.append(primitive.name)
            return self.pure(primitive.bind(*[t.val for t in tracers], **params))

    class Box(Tracer):
        def __init__(self, trace: Any, val: Any) -> None:
            self._trace, self.val, self.aval = trace, val, get_aval(val)

    with new_main(Noting, []) as main:
        yield Noting(main).pure, main.global_data


def operation(name: str = "toy", *, several: bool = False, **rules: Callable[..., Any]) -> Any:
    """A new primitive, with one result or several, and its rules: of `impl`, `jvp` and the like."""
    from minijax import core

    primitive = core.Primitive(name, multiple_results=several)
    for kind, rule in rules.items():
        getattr(core, f"{kind}_rules")[primitive] = rule
    return primitive


def typed(shape: tuple[int, ...] = (), dtype: Any = "float64", weak_type: bool = False) -> Any:
    """The type of an array: its abstract value."""
    import numpy as np
    from minijax.core import ShapedArray

    return ShapedArray(shape, np.dtype(dtype), weak_type)


def variables(count: int, *shape: int, dtype: Any = "float64") -> list[Any]:
    """As many variables, all with the same type."""
    from minijax.jaxpr import Var

    return [Var(typed(shape, dtype)) for _ in range(count)]


def names(program: Any) -> list[str]:
    """The operations of a program, in order."""
    return [eqn.primitive.name for eqn in program.eqns]


def run(program: Any, *args: Any) -> list[Any]:
    """What a closed program returns, as numbers and lists."""
    import numpy as np
    from minijax.jaxpr import eval_jaxpr

    outs = eval_jaxpr(program.jaxpr, program.consts, *args)
    return [np.asarray(out).tolist() for out in outs]
