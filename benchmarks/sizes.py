"""How long the functions of the reference are, in statements, beside those of our models.

A statement is what Python's grammar calls so: an `if` counts as one, and so does each line in it.
Docstrings do not count. A function inside another counts for both: the outer one has it all.
Lines of code are those that hold more than comments and docstrings.
"""

import ast
import importlib.util
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.lessons import manifest, places, skeleton

LIMIT = 25
FIRST_CIRCLE = (4, 12)  # the numbers of the lessons from core to grad

# Autodidax, https://docs.jax.dev/en/latest/autodidax.html (docs/autodidax.py in jax-ml/jax): the
# median was counted in the same way, once, as its text is not a package that could be read here.
AUTODIDAX_MEDIAN = 4


@dataclass(frozen=True)
class Sizes:
    """The functions of one file, and their numbers of statements."""

    name: str
    lines: int
    code: int  # lines of code
    functions: dict[str, int]

    @property
    def row(self) -> str:
        """A line of the table."""
        longest = max(self.functions, key=lambda name: self.functions[name])
        median = statistics.median(self.functions.values())
        largest = f"{self.functions[longest]} ({longest})"
        counts = f"{self.lines:>6}{self.code:>6}{len(self.functions):>11}{median:>8g}"
        return f"{self.name:<36}{counts}  {largest}"


def sizes(name: str, path: Path) -> Sizes:
    """The functions and methods of a file, by their qualified names."""
    text = path.read_text(encoding="utf-8")
    found = {name: statements(node) for name, node in functions(ast.parse(text))}
    return Sizes(name, len(text.splitlines()), skeleton.lines_of_code(text), found)


def functions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """All functions below a node, with their qualified names."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            if isinstance(child, ast.FunctionDef):
                yield prefix + child.name, child
            yield from functions(child, f"{prefix}{child.name}.")
        else:
            yield from functions(child, prefix)


def statements(function: ast.FunctionDef) -> int:
    """The statements in the body of a function, without docstrings and without its own line."""
    inside = [node for node in ast.walk(function) if isinstance(node, ast.stmt)]
    return len(inside) - 1 - sum(1 for _ in skeleton.docstrings(function))


def reference() -> list[Sizes]:
    """Every file of the reference that holds functions, in the order of the lessons."""
    files = dict.fromkeys(file for lesson in manifest.load().values() for file in lesson.files)
    found = [sizes(file, places.SOLUTIONS / file) for file in files]
    return [each for each in found if each.functions]


def models() -> list[Sizes]:
    """Files of other projects that are installed here, and that the reference learns from."""
    spec = importlib.util.find_spec("autograd")
    folder = Path(spec.origin).parent if spec and spec.origin else None
    names = ("core.py", "tracer.py") if folder else ()
    return [sizes(f"autograd/{name}", folder / name) for name in names if folder]


def main() -> int:
    """Print the table; the exit status is 1 where a function of the reference is too long."""
    columns = f"{'lines':>6}{'code':>6}{'functions':>11}{'median':>8}"
    print(f"{'file':<36}{columns}  largest, in statements")
    ours = reference()
    for each in [*ours, *models()]:
        print(each.row)
    every = [n for each in ours for n in each.functions.values()]
    known = manifest.load().values()
    taught = {x.module for x in known if FIRST_CIRCLE[0] <= x.number <= FIRST_CIRCLE[1]}
    code = sum(each.code for each in ours if each.name in taught)
    print(f"\nThe {len(taught)} modules of the lessons from core to grad: {code} lines of code.")
    print(f"The reference: median {statistics.median(every):g}, largest {max(every)}.")
    print(f"Autodidax, counted once: median {AUTODIDAX_MEDIAN}.")
    return int(max(every) > LIMIT)


if __name__ == "__main__":
    raise SystemExit(main())
