"""What is printed where: in colour only on terminals that want it, and never by colour alone."""

import os
import sys
from collections.abc import Iterable, Sequence

PLAIN = "JAXPRENTICE_PLAIN"  # set by --plain, and for good by who wants it always
IN_ASCII = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")


def can_show(text: str) -> bool:
    """Whether the terminal knows the characters of a text."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def printable(text: str) -> str:
    """The text, with characters that the terminal does not know replaced."""
    if can_show(text):
        return text
    encoding = sys.stdout.encoding or "ascii"
    return text.translate(IN_ASCII).encode(encoding, "backslashreplace").decode(encoding)


def print_lines(lines: Iterable[str], indent: str = "") -> None:
    """Print lines, as the terminal can show them."""
    for line in lines:
        print(printable(indent + line))


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """A line for each row, with the cells of a column below each other.

    Not by rich, which folds or cuts what is wider than the terminal, and 80 characters in a pipe.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ([cell.ljust(w) for cell, w in zip(row, widths, strict=True)] for row in rows)
    return ["  ".join(cells).rstrip() for cells in padded]


def is_plain() -> bool:
    """Whether texts are wanted that a screen reader reads well."""
    return bool(os.environ.get(PLAIN))


def has_colours() -> bool:
    """Whether standard output is a terminal that wants colours."""
    unwanted = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or is_plain()
    return sys.stdout.isatty() and not unwanted


def coloured(text: str, colour: str) -> str:
    """The text in a colour, by its number in ANSI's list, where there are colours."""
    return f"\033[{colour}m{text}\033[0m" if has_colours() else text


WIDTH = 30  # of a progress bar


def bar(done: int, count: int) -> str:
    """A progress bar without its ends."""
    full = WIDTH * done // count if count else 0
    return "#" * full + "-" * (WIDTH - full)
