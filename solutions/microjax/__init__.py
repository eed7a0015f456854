"""The public names of microjax.

Written by `./jaxprentice sync` from the lessons' `exports`: change those, not this file.
"""

import typing as _typing

from microjax.duals import DualNumber, JVPInterpreter, derivative, jvp, nth_order_derivative
from microjax.interpreters import (
    EvalInterpreter,
    Interpreter,
    Op,
    add,
    current_interpreter,
    mul,
    set_interpreter,
)
from microjax.staging import Equation, Jaxpr, Var, build_jaxpr, dce_jaxpr, eval_jaxpr, staged

__all__ = [
    "DualNumber",
    "Equation",
    "EvalInterpreter",
    "Interpreter",
    "JVPInterpreter",
    "Jaxpr",
    "Op",
    "Var",
    "add",
    "build_jaxpr",
    "current_interpreter",
    "dce_jaxpr",
    "derivative",
    "eval_jaxpr",
    "jvp",
    "mul",
    "nth_order_derivative",
    "set_interpreter",
    "staged",
]

if not _typing.TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        missing = f"microjax has no {name!r}."
        raise AttributeError(f"{missing} See what there is by dir(microjax).")
