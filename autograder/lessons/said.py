"""Recorded values as texts: as a terminal shows them, and as a sentence has them."""

import collections
import itertools
import re
from collections.abc import Sequence
from typing import Any

Value = Any

SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def value(shown: Value) -> str:
    """A recorded value as a text."""
    if isinstance(shown, str):
        short = re.sub(r"^\{ lambda .*\.\.\.$", "{ lambda ... }", shown)  # a program that was cut
        return re.sub(r"^PyTreeDef\((.*)\)$", r"\1", short)
    if isinstance(shown, list):
        return f"({', '.join(map(value, shown))}{',' * (len(shown) == 1)})"
    if "list" in shown:
        return f"[{', '.join(map(value, shown['list']))}]"
    if "dict" in shown:
        return f"{{{', '.join(f'{value(key)}: {value(x)}' for key, x in shown['dict'])}}}"
    return f"[{' | '.join(map(value, shown['parts'].values()))}]" + str(shown["level"]).translate(
        SUBSCRIPTS
    )


def values(shown: Sequence[Value]) -> list[str]:
    """Several values as texts."""
    return [value(x) for x in shown]


def counted(texts: Sequence[str]) -> list[str]:
    """The texts, with three or more equal ones in a row as one: `float64[100] (5 times)`."""
    runs = ((text, len(list(same))) for text, same in itertools.groupby(texts))
    return [x for text, n in runs for x in ([f"{text} ({n} times)"] if n > 2 else [text] * n)]


VARIABLE = re.compile(r"\b([a-z]+(?:_\d+)?):~?\w+\[[^\]]*\]")
OPAQUE = {  # what has no text that says anything to a reader
    r"\{ lambda .*|.*->.*": "a program",
    r"LoadedExecutable": "an executable",
    r"ResultHandler|None|frozenset\(\)": "",
    r"<.*>": "a function",
}


def told(shown: Sequence[Value]) -> str:
    """Values as a sentence has them: no `repr`, and nothing of what says nothing."""
    parts = collections.Counter(filter(None, itertools.chain(*map(phrases, shown))))
    return listed([several(x, n) for x, n in parts.items()]) or "nothing"


def several(part: str, count: int) -> str:
    """Equal parts of a sentence as one: "2 programs"; a value is said once."""
    return part if count == 1 or "`" in part else f"{count} {part.partition(' ')[2]}s"


def listed(parts: Sequence[str]) -> str:
    """Several parts of a sentence as one."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def phrases(shown: Value) -> list[str]:
    """A value as code, or as words if it has no text; of a container with such values each."""
    if isinstance(shown, str):
        words = (x for known, x in OPAQUE.items() if re.fullmatch(known, shown, re.DOTALL))
        return [next(words, f"`{value(shown)}`")]
    if isinstance(shown, list) or "list" in shown:
        parts = shown if isinstance(shown, list) else shown["list"]
        inner = [x for part in parts for x in phrases(part)]
        opaque = any(not x.startswith("`") for x in inner)
        return inner if opaque or not parts else [f"`{value(shown)}`"]
    return [] if shown == {"dict": []} else [f"`{value(shown)}`"]


def shortened(text: str) -> str:
    """A sentence whose variables have no types, and whose arrays are not padded."""
    text = VARIABLE.sub(r"\1", text).replace("[unknown | ", "[")
    return re.sub(r"(?<=\[) +| +(?=[\],])", "", text)
