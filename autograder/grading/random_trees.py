"""Random trees for generated tests of the `pytrees` lesson: containers of numbers, as plain data.

They have what `random_programs.py` asks of a program: text, data, a size, and smaller ones. Where
a copy of that file goes, a copy of this one goes too.
"""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

KEYS = "bdac"  # not in order, so that a dict is seen to be sorted


@dataclass(frozen=True)
class Tree:
    """Tuples, lists, dicts, None and numbers, in each other."""

    content: Any

    @property
    def size(self) -> tuple[int, int]:
        """How many containers and leaves there are, and how long the text is."""
        return count(self.content), len(repr(self.content))

    def text(self, names: Iterable[str] = ("tree",)) -> str:
        """Python that defines what is named: `tree`, and `other` with other numbers in it."""
        writers = {"tree": self.content, "other": with_numbers(self.content, iter(range(10, 999)))}
        return "\n".join(f"{name} = {writers[name]!r}" for name in names)

    def data(self) -> Any:
        """The tree as JSON has it, which has no tuples."""
        return as_data(self.content)

    def smaller(self) -> list["Tree"]:
        """Trees that are a little simpler, the simplest first."""
        found = [Tree(content) for content in simpler(self.content)]
        return sorted((tree for tree in found if tree.size < self.size), key=lambda t: t.size)


def children_of(x: Any) -> list[Any]:
    """What is in a container, in its own order; nothing for a leaf."""
    if isinstance(x, dict):
        return list(x.values())
    return list(x) if isinstance(x, (tuple, list)) else []


def with_children(x: Any, children: Iterable[Any]) -> Any:
    """A container like `x` with other contents, or with fewer."""
    if isinstance(x, dict):
        return dict(zip(x, children, strict=False))
    return type(x)(children)


def count(x: Any) -> int:
    """How many containers and leaves there are."""
    return 1 + sum(map(count, children_of(x)))


def with_numbers(x: Any, numbers: Iterator[int]) -> Any:
    """The containers of `x`, with these numbers as its leaves."""
    if isinstance(x, (tuple, list, dict)):
        return with_children(x, [with_numbers(child, numbers) for child in children_of(x)])
    return None if x is None else float(next(numbers))


def simpler(x: Any) -> Iterator[Any]:
    """A child instead of its container, a child less, or a child simpler."""
    children = children_of(x)
    yield from children
    for i, child in enumerate(children):
        rest = children[:i], children[i + 1 :]
        if isinstance(x, dict):
            yield {key: value for j, (key, value) in enumerate(x.items()) if j != i}
        else:
            yield with_children(x, [*rest[0], *rest[1]])
        yield from (with_children(x, [*rest[0], new, *rest[1]]) for new in simpler(child))


def as_data(x: Any) -> Any:
    """A tree in JSON: a container is a list of its class and its contents."""
    if isinstance(x, (tuple, list, dict)):
        keys = list(x) if isinstance(x, dict) else []
        return [type(x).__name__, keys, [as_data(child) for child in children_of(x)]]
    return x


def from_data(data: Any) -> Tree:
    """The tree that `data` was made of."""
    return Tree(_content(data))


def _content(data: Any) -> Any:
    if not isinstance(data, list):
        return data
    name, keys, children = data
    found = [_content(child) for child in children]
    return dict(zip(keys, found, strict=True)) if name == "dict" else as_container(name, found)


def as_container(name: str, children: list[Any]) -> Any:
    """A tuple, or a list."""
    return tuple(children) if name == "tuple" else children


def make(seed: str, number: int = 20, *, depth: int = 3) -> list[Tree]:
    """So many trees of up to so many containers in each other."""
    rng = random.Random(seed)
    contents = (grown(rng, depth) for _ in range(number))
    return [Tree(with_numbers(content, iter(range(1, 999)))) for content in contents]


def grown(rng: random.Random, depth: int) -> Any:
    """A container with up to three children, or, further down, a leaf."""
    kinds = ("tuple", "list", "dict", "dict") if depth == 3 else ("tuple", "list", "dict", "leaf")
    kind = kinds[int(rng.random() * len(kinds))] if depth else "leaf"
    if kind == "leaf":
        return None if rng.random() < 0.1 else 0.0
    children = [grown(rng, depth - 1) for _ in range(int(rng.random() * 4))]
    if kind == "dict":
        first = int(rng.random() * 2)
        return dict(zip(KEYS[first:], children, strict=False))
    return as_container(kind, children)
