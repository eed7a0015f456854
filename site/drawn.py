"""Drawings of what the gallery's programs print: their pictures of letters, and their numbers.

A picture of letters becomes points, or cells that are as dark as the letter is dense; a column of
numbers becomes a curve. What else is printed stays text. The drawing takes from the printed text
only, which is what a test compares on both libraries.
"""

import html
import itertools
import math
import re
from collections.abc import Iterator

FENCE = re.compile(r"``` \{ \.text \.drawn \}\n(.*?)\n```", re.DOTALL)
_NUMBER = re.compile(r"(?P<label>[a-z -]*?) +(?P<value>\d+\.\d+)(?P<unit>(?: [a-z]+)?)")
_DENSE = " .:*#"  # from light to dark
_WIDE, _HIGH = 6, 11  # of a letter, in the drawing's units


def figure(fence: re.Match[str]) -> str:
    """What a program prints, drawn, as HTML for a page in Markdown."""
    return f'<figure class="drawn">{"".join(_parts(fence[1]))}</figure>'


def _parts(printed: str) -> Iterator[str]:
    for kind, group in itertools.groupby(printed.split("\n"), _kind):
        lines = list(group)
        if kind == "numbers" and len(lines) > 2:
            yield _curve(lines)
        elif kind == "letters" and any(map(str.strip, lines)):
            yield _letters(lines)
        elif text := "\n".join(lines).strip("\n"):
            yield f"<pre>{html.escape(text).replace(chr(10), '&#10;')}</pre>"


def _kind(line: str) -> str:
    """What a line belongs to: a picture of letters, a column of numbers, or text."""
    if not set(line) - {*_DENSE, "o", "@"}:
        return "letters"
    return "numbers" if _NUMBER.fullmatch(line) else "text"


def _svg(kind: str, width: float, height: float, about: str, content: str) -> str:
    label = html.escape(about, quote=True)
    start = (
        f'<svg class="{kind}" viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{label}"'
    )
    return f"{start}>{content}</svg>"


# Pictures of letters ------------------------------------------------------------------------------


def _letters(lines: list[str]) -> str:
    marks = [
        (letter, (column + 0.5) * _WIDE, (row + 0.5) * _HIGH)
        for row, line in enumerate(lines)
        for column, letter in enumerate(line)
        if letter != " "
    ]
    left, top = (min(mark[axis] for mark in marks) - _HIGH for axis in (1, 2))
    right, bottom = (max(mark[axis] for mark in marks) + _HIGH for axis in (1, 2))
    marks = [(letter, x - left, y - top) for letter, x, y in marks]
    size = right - left, bottom - top
    if not {letter for letter, _, _ in marks} - {*_DENSE}:
        return _svg(
            "cells", *size, "The density that the program prints.", "".join(map(_cell, marks))
        )
    points = "".join(
        f'<circle class="{_NAMES[letter]}" cx="{x:g}" cy="{y:g}" r="{_RADII[letter]}"/>'
        for letter, x, y in marks
    )
    return _svg("points", *size, "The points that the program prints.", points + _orbit(marks))


_NAMES = {"o": "seen", "*": "found", "@": "centre"}
_RADII = {"o": 2.6, "*": 2.6, "@": 6}
Mark = tuple[str, float, float]


def _cell(mark: Mark) -> str:
    letter, x, y = mark
    place = f'x="{x - _WIDE / 2:g}" y="{y - _HIGH / 2:g}" width="{_WIDE}" height="{_HIGH}"'
    return f'<rect {place} opacity="{_DENSE.index(letter) / (len(_DENSE) - 1):g}"/>'


def _orbit(marks: list[Mark]) -> str:
    """A planet that goes around the centre, if there is one: from point to point in equal times."""
    centre = next(((x, y) for letter, x, y in marks if letter == "@"), None)
    if centre is None:
        return ""
    places = [(x, y) for letter, x, y in marks if letter == "o"]
    places.sort(key=lambda at: -math.atan2(at[1] - centre[1], at[0] - centre[0]))
    xs, ys = (
        ";".join(f"{value:g}" for value in axis) for axis in zip(*places, places[0], strict=True)
    )
    moves = "".join(
        f'<animate attributeName="{name}" dur="8s" repeatCount="indefinite" values="{values}"/>'
        for name, values in (("cx", xs), ("cy", ys))
    )
    return f'<circle class="planet" r="4">{moves}</circle>'


# Columns of numbers -------------------------------------------------------------------------------


def _curve(lines: list[str]) -> str:
    """The numbers over their order, with the first and the last written.

    The scale is logarithmic, unless one of them has no logarithm.
    """
    found = [number for line in lines if (number := _NUMBER.fullmatch(line))]
    values = [float(number["value"]) for number in found]
    label, unit = found[0]["label"], found[0]["unit"]
    width, height = 340, 116
    scale = ", logarithmic" if min(values) > 0 else ""
    logs = [math.log(value) if scale else value for value in values]
    low, high = min(logs), max(logs)
    span = high - low or 1.0
    at = [
        (80 + i * (width - 160) / (len(logs) - 1), 14 + (high - y) / span * (height - 40))
        for i, y in enumerate(logs)
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in at)
    (x0, y0), (x1, y1) = at[0], at[-1]
    ends = (
        f'<text x="{x0 - 7:.1f}" y="{y0 + 4:.1f}" text-anchor="end">{values[0]:g}{unit}</text>'
        f'<text x="{x1 + 7:.1f}" y="{y1 + 4:.1f}">{values[-1]:g}{unit}</text>'
        f'<text x="{width / 2}" y="{height - 8}" text-anchor="middle">{label}{scale}</text>'
    )
    about = f"{label}: " + ", ".join(f"{value:g}{unit}" for value in values)
    return _svg("curve", width, height, about, f'<polyline points="{line}"/>{dots}{ends}')
