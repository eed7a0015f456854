"""The package that is watched: its modules, its tables of rules, its active interpreters."""

import contextlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

TABLE = re.compile(r"\w+_rules|hlo_lowerings")


class Package:
    """A package by its name, and the interpreters that are active in it."""

    def __init__(self, name: str) -> None:
        self.name = name
        contexts = [vars(m)["context"] for m in self.modules() if "context" in vars(m)]
        self.bases = [x.interpreter for x in contexts]  # where contexts hold the current one
        self.active = self.bases[:1]  # all that are active, from the first of these upwards

    def modules(self) -> list[ModuleType]:
        """The modules of the package that are loaded."""
        inside = f"{self.name}."
        return [m for n, m in list(sys.modules.items()) if n == self.name or n.startswith(inside)]

    def folder(self) -> Path:
        """The folder in which the package is."""
        return Path(sys.modules[self.name].__path__[0]).parent

    def tables(self) -> Iterator[tuple[ModuleType, str, dict[Any, Any]]]:
        """The tables of rules, with their modules and names."""
        for module in self.modules():
            for name, value in list(vars(module).items()):
                if TABLE.fullmatch(name) and type(value) is dict:
                    yield module, name, value

    def known(self, interpreter: Any) -> contextlib.AbstractContextManager[None]:
        """Remember an interpreter of a context for a time; a stack remembers its own."""
        return (
            contextlib.nullcontext()
            if isinstance(interpreter, type)
            else self.remembered(interpreter)
        )

    @contextlib.contextmanager
    def remembered(self, interpreter: Any) -> Iterator[None]:
        """Its place among those that are active is its level, until the block ends."""
        new = all(other is not interpreter for other in [*self.active, *self.bases])
        if new:
            self.active.append(interpreter)
        try:
            yield
        finally:
            if new:
                self.active.remove(interpreter)

    def interpreters(self) -> list[Any]:
        """Those that are active, the lowest first."""
        if (state := self.state("trace_state")) is not None:
            return [main.trace_type for main in state.stack]
        return self.active

    def level_of(self, interpreter: Any) -> int:
        """The level of a trace, of its `MainTrace`, or of an interpreter of a context."""
        main = getattr(interpreter, "main", interpreter)
        if hasattr(main, "level"):
            return int(main.level)
        return next((n for n, other in enumerate(self.active) if other is interpreter), 0)

    def state(self, name: str) -> Any:
        """The package's record of what is active, under one of its names."""
        return next((vars(m)[name] for m in self.modules() if name in vars(m)), None)


def type_name(interpreter: Any) -> str:
    """The name of an interpreter's class."""
    cls = interpreter if isinstance(interpreter, type) else type(interpreter)
    return cls.__name__
