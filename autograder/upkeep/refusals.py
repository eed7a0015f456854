"""What minijax refuses, as the tables of a page: read off the code that refuses it."""

import ast
import itertools
import runpy
from collections.abc import Iterator
from pathlib import Path

from autograder.lessons import places

REFERENCE = places.SOLUTIONS / "minijax"


def names() -> str:
    """The names of JAX that minijax does not have for a reason, with the reason."""
    reasons = runpy.run_path(str(REFERENCE / "absent.py"))["REASONS"]
    rows = ["| not here | why, and what to do instead |", "|---|---|"]
    for reason, found in itertools.groupby(reasons, key=lambda name: reasons[name]):
        listed = ", ".join(f"`jax.{name}`" for name in found)
        rows.append(f"| {listed} | {reason[0].upper()}{reason[1:]}. |")
    return "\n".join([*rows, ""])


def cases() -> str:
    """The sentences with which functions of minijax refuse what JAX's take, by module.

    One that begins with a name of the user's is about a rule that he has still to write.
    """
    rows = ["| module | what it says |", "|---|---|"]
    for file in sorted(REFERENCE.rglob("*.py")):
        module = ".".join(file.relative_to(REFERENCE.parent).with_suffix("").parts)
        sentences = dict.fromkeys(text for text in _sentences(file) if text[0].isalpha())
        rows += [f"| `{module}` | {sentence} |" for sentence in sentences]
    return "\n".join([*rows, ""])


def _sentences(file: Path) -> Iterator[str]:
    """What the errors that say "not implemented" tell; a value that only a call knows is "…"."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.Call(ast.Name("NotImplementedError"), [ast.Constant(str() as text)]):
                yield text
            case ast.Call(ast.Name("NotImplementedError"), [ast.JoinedStr(parts)]):
                yield "".join(str(x.value) if isinstance(x, ast.Constant) else "…" for x in parts)
