"""Values as texts, and boxes with what is in them."""

import contextlib
import re
import sys
from collections.abc import Callable
from typing import Any

# A text; a list of these; {"list": values} and {"dict": [[key, value], ...]} for Python's own; or
# {"box": class, "level": n, "parts": {name: value}}.
Value = Any


class Shown:
    """Shows values: a call gives a text for a value, and for a box what is in it."""

    def __init__(self, level_of: Callable[[Any], int]) -> None:
        self.level_of = level_of
        self.names: dict[int, str] = {}  # of variables, by id
        self.kept: list[Any] = []  # so that no id is used twice

    def several(self, outs: Any) -> list[Value]:
        """One result, or each of several."""
        return [self(x) for x in outs] if isinstance(outs, list | tuple) else [self(outs)]

    def __call__(self, value: Any) -> Value:
        """A value as plain data, whatever its own methods do."""
        try:
            if isinstance(value, dict) and len(value) <= LONGEST:
                return {"dict": [[self(key), self(x)] for key, x in value.items()]}
            if isinstance(value, list | tuple):
                more = ["..."] if len(value) > LONGEST else []
                shown = [*map(self, value[:LONGEST]), *more]
                return {"list": shown} if isinstance(value, list) else shown
            owner = owner_of(value)
            return self.text(value) if owner is None else self.box(value, owner)
        except Exception as error:
            return f"<{type(value).__name__} that cannot be shown: {type(error).__name__}>"

    def box(self, value: Any, owner: Any) -> Value:
        """A tracer: its level, and the values in it by name."""
        parts = {name: self.part(x) for name, x in parts_of(value).items()}
        return {"box": type(value).__name__, "level": self.level_of(owner), "parts": parts}

    def part(self, value: Any) -> Value:
        """A value in a box; of a partial value what is known."""
        if hasattr(value, "is_known"):
            return self(value.const) if value.is_known else "unknown"
        return self(value)

    def text(self, value: Any) -> str:
        """A value that is not in a box."""
        kind = type(value).__name__
        if isinstance(value, float) and type(value) is float:
            return number(value)
        if hasattr(value, "str_short"):  # a type
            return ("~" if value.weak_type else "") + value.str_short(short_dtypes=True)
        if kind in ("Var", "Literal"):
            return self.atom(value, kind)
        if kind == "UndefPrimal":
            return f"unknown {self(value.aval)}"
        if isinstance(value, str):
            return cut(value, 60)
        if len(getattr(value, "_arrays", ())) > 1:  # a buffer on several devices
            return " | ".join(array(x) for x in pieces(value))
        if hasattr(value, "dtype") and hasattr(value, "shape"):
            return array(value)
        if kind == "JaxprEqn":
            outs, ins = (" ".join(map(self.text, x)) for x in (value.outvars, value.invars))
            return f"{outs} = {value.primitive} {ins}"
        if kind in ("Equation", "Jaxpr"):
            return cut(" ".join(str(value).split()), 80)
        if callable(value) and hasattr(value, "__qualname__"):
            return value.__qualname__.rpartition("<locals>.")[2]
        if hasattr(value, "device_kind"):
            return f"{value.platform}:{value.id}"
        return cut(one_line(value), 60)

    def atom(self, value: Any, kind: str) -> str:
        """A variable of a program, under a name of its own; a literal's value."""
        if kind == "Literal":
            return self(value.val)
        aval: Any = getattr(value, "aval", None)
        if aval is None:  # microjax: its variables have names
            return str(value)
        if id(value) not in self.names:
            self.kept.append(value)
            self.names[id(value)] = letters(len(self.names))
        return f"{self.names[id(value)]}:{self(aval)}"


class Identities:
    """Numbers for objects in the order in which they are met; of each its type, if it has one."""

    def __init__(self) -> None:
        self.types: list[str | None] = []
        self.numbers: dict[int, int] = {}
        self.kept: list[Any] = []  # so that no id is used twice

    def __call__(self, value: Any) -> Any:
        """A number, or a list of these; of a box its own and those of its parts; None for None."""
        if value is None:
            return None
        if isinstance(value, list | tuple):
            return [self(x) for x in value[:LONGEST]]
        number = self.number(value)
        if owner_of(value) is None:
            return number
        return {"id": number, "parts": {n: self(known(x)) for n, x in parts_of(value).items()}}

    def number(self, value: Any) -> int:
        """The number of an object, a new one if it is met for the first time."""
        if id(value) not in self.numbers:
            self.kept.append(value)
            self.numbers[id(value)] = len(self.types)
            self.types.append(type_of(value))
        return self.numbers[id(value)]


def parts_of(box: Any) -> dict[str, Any]:
    """What is in a box, by name, without what only tells where it belongs."""
    held = {name: x for name, x in vars(box).items() if name not in NOT_SHOWN}
    if held.get("var", box) is None:  # a known value has no variable
        del held["var"]
    return held


def known(value: Any) -> Any:
    """What is known of a partial value; any other is itself."""
    if not hasattr(value, "is_known"):
        return value
    return value.const if value.is_known else None


def type_of(value: Any) -> str | None:
    """The type of an array, of a tracer or of a variable, as a jaxpr has it."""
    aval: Any = getattr(value, "aval", None)
    if hasattr(aval, "str_short"):
        return ("~" if aval.weak_type else "") + aval.str_short(short_dtypes=True)
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return f"{value.dtype.name}[{','.join(map(str, value.shape))}]"
    return None


def owner_of(value: Any) -> Any:
    """The interpreter that a value belongs to, if it is a box."""
    return getattr(value, "_trace", getattr(value, "interpreter", None))


LONGEST = 20  # entries of a list that are shown
NOT_SHOWN = {"_trace", "interpreter", "aval", "recipe"}


def letters(number: int) -> str:
    """The variables' names in order: a to z, then aa and so on."""
    head, last = divmod(number, 26)
    return (letters(head - 1) if head else "") + chr(ord("a") + last)


def number(value: float) -> str:
    """A float with as many digits as one wants to read."""
    text = repr(value)
    return text if len(text) <= 8 else f"{value:.4g}"


def array(value: Any) -> str:
    """A small array by its values, a large one by its type."""
    import numpy as np

    if value.dtype.names or value.size > 12:
        return f"{value.dtype.name}[{','.join(map(str, value.shape))}]"
    host = np.asarray(value)
    if not host.shape and host.dtype.kind == "f":
        return number(float(host))
    return " ".join(np.array2string(host, precision=4, separator=", ").split())


def pieces(buffer: Any) -> list[Any]:
    """What each device has of a buffer; jaxlib would import jax for it, if there is one."""
    import numpy as np

    hidden = getattr(sys.modules.get("minijax.xla"), "jax_hidden", contextlib.nullcontext)
    with hidden():
        return [np.asarray(piece) for piece in buffer._arrays]


def one_line(value: Any) -> str:
    """A value's `repr`, as one line: no addresses, dtypes and classes by their names alone."""
    text = re.sub(r" (object )?at 0x[0-9a-f]+", "", " ".join(repr(value).split()))
    text = re.sub(r"\bdtype\('(\w+)'\)", r"\1", text)
    return re.sub(r"<(?:\w+\.)+(\w+)>", r"\1", text)


def cut(text: str, length: int) -> str:
    """A text of bearable length."""
    return text if len(text) <= length else text[: length - 3] + "..."
