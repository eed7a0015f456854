"""Where wrappers are put for the time of a recording, and how they are taken away."""

import contextlib
import importlib
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from autograder.recording import wrappers
from autograder.recording.package import Package
from autograder.recording.steps import LIMIT, Record


@contextlib.contextmanager
def recording(package: str, limit: int = LIMIT) -> Iterator[Record]:
    """Record what is done with a package, in this thread, for the time of a `with` block."""
    importlib.import_module(package)
    record = Record(Package(package), limit)
    with contextlib.ExitStack() as undo:
        Patches(record, undo).begin()
        try:
            yield record
        finally:
            record.open.clear()


class Patches:
    """The wrappers of one recording; `undo` takes them away."""

    def __init__(self, record: Record, undo: contextlib.ExitStack) -> None:
        self.record, self.package, self.undo = record, record.package, undo
        record.meet = self.observe

    def begin(self) -> None:
        """Put all wrappers in place."""
        self.undo.callback(self.clean_up)
        for module in self.package.modules():
            for name, value in list(vars(module).items()):
                if isinstance(value, type) and {"Trace", "Interpreter"} & names_of(value):
                    self.observe(value)
                if type(value) is FunctionType and value.__name__ == name in wrappers.FUNCTIONS:
                    self.replace(value, wrappers.FUNCTIONS[name](self.record, value))
        for _, name, table in self.package.tables():
            for primitive, rules in table.items():
                table[primitive] = wrappers.entry(self.record, name, primitive, rules)

    def observe(self, cls: type) -> None:
        """Put wrappers around an interpreter's methods, if it is a class without them."""
        for base in cls.__mro__:
            for name, method in list(vars(base).items()):
                if name in wrappers.METHODS and type(method) is FunctionType:
                    self.put(base, name, wrappers.METHODS[name](self.record, method))

    def put(self, place: Any, name: str, wrapper: Any) -> None:
        """Set an attribute until the recording ends; what it wraps is put there only once."""
        before = vars(place)[name]
        if not hasattr(before, "recorder"):
            wrapper.recorder = self.record
            setattr(place, name, wrapper)
            self.undo.callback(setattr, place, name, before)

    def replace(self, function: Any, wrapper: Any) -> None:
        """Exchange a function wherever the package's modules, or objects in them, hold it."""
        if hasattr(function, "recorder"):
            return
        wrapper.recorder = self.record
        for module in self.package.modules():
            for name, value in list(vars(module).items()):
                if value is function:
                    setattr(module, name, wrapper)
                elif isinstance(held := getattr(value, "__dict__", None), dict):
                    self.replace_in(held, function, wrapper)

    def replace_in(self, held: dict[str, Any], function: Any, wrapper: Any) -> None:
        """Exchange a function among what an object holds, until the recording ends."""
        for name in [name for name, value in held.items() if value is function]:
            held[name] = wrapper
            self.undo.callback(held.__setitem__, name, function)

    def clean_up(self) -> None:
        """Take the wrappers away, also from modules that were loaded meanwhile."""
        for module in self.package.modules():
            for name, value in list(vars(module).items()):
                if getattr(value, "recorder", None) is self.record and type(value) is FunctionType:
                    setattr(module, name, value.__wrapped__)  # type: ignore[attr-defined]
        for _, _, table in self.package.tables():
            for primitive, rules in table.items():
                table[primitive] = bare(rules)


def bare(rules: Any) -> Any:
    """A table's entry without wrappers."""
    return list(map(bare, rules)) if isinstance(rules, list) else getattr(rules, "rule_of", rules)


def names_of(cls: type) -> set[str]:
    """The names of a class and of those that it is made from."""
    return {base.__name__ for base in cls.__mro__}
