"""How much memory the arrays of a program take while it runs."""

import functools
import weakref
from typing import Any

from autograder.recording.values import owner_of


class Memory:
    """How many bytes the arrays take that operations made and that are still in use."""

    def __init__(self) -> None:
        self.arrays: dict[int, tuple[weakref.ref[Any], int]] = {}

    def add(self, outs: Any) -> None:
        """Count the arrays among these results, each once, as long as they are in use."""
        for x in outs if isinstance(outs, list | tuple) else [outs]:
            if owner_of(x) is None and hasattr(x, "nbytes") and hasattr(x, "__weakref__"):
                gone = functools.partial(self.forget, id(x))
                self.arrays.setdefault(id(x), (weakref.ref(x, gone), int(x.nbytes)))

    def forget(self, name: int, _: Any) -> None:
        """An array is gone."""
        self.arrays.pop(name, None)

    def held(self) -> int:
        """The bytes at this moment."""
        return sum(size for _, size in self.arrays.values())
