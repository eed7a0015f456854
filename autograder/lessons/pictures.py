"""Pictures beside a lesson's page: SVG files in few colors, which say in `desc` what they show.

A page shows one by `![](name.svg)`; its alternative text is the file's. On the site a picture is
part of the page, so that its colors follow the scheme. Everywhere else it is as it is in the file.
"""

import html
import re
from pathlib import Path

from autograder.lessons.problem import Problem

# The colors of all pictures; the site's style sheet says what each is in either scheme.
COLORS = {
    "#f6f7fb": "paper",
    "#ffffff": "box",
    "#e3e8f6": "cool",
    "#fbeedd": "warm",
    "#1b2440": "ink",
    "#33415c": "line",
    "#a03a12": "accent",
    "#c2622d": "accent",
    "#3f6fb5": "other",
}
LETTER = 16  # a picture's letters are as high as the text's, in CSS pixels, where there is room

_BARE = re.compile(r"!\[\]\(([\w-]+\.svg)\)")
_DESCRIPTION = re.compile(r"\s*<desc>(.*?)</desc>", re.DOTALL)
_TITLE = re.compile(r"\s*<title>.*?</title>", re.DOTALL)
_OPENING = re.compile(r'<svg [^>]*viewBox="0 0 (\d+) \d+"[^>]*font-size="(\d+)"[^>]*>')


def with_descriptions(text: str, folder: Path) -> str:
    """The page with the alternative text of each picture that has none."""
    return _BARE.sub(lambda found: f"![{description(folder / found[1])}]({found[1]})", text)


def description(file: Path) -> str:
    """What a picture shows, in a sentence or a few."""
    try:
        found = _DESCRIPTION.search(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise Problem(f"The page shows {file.name}, which is not in its folder. Add it.") from None
    if not found:
        raise Problem(f"The picture {file.name} does not say what it shows. Give it a <desc>.")
    return html.unescape(" ".join(found[1].split())).replace("[", r"\[").replace("]", r"\]")


def inlined(file: Path, words: str) -> str:
    """A picture as a part of a page; `words`, which may have entities, say what it shows."""
    svg = file.read_text(encoding="utf-8").strip()
    svg = _TITLE.sub("", _DESCRIPTION.sub("", svg))
    for color, name in COLORS.items():
        svg = svg.replace(color, f"var(--picture-{name})")
    # The ids of all pictures of a page are in one place there.
    svg = re.sub(r'(id="|url\(#)', rf"\g<1>{file.stem}-", svg)
    opening = _OPENING.match(svg)
    if not opening:
        raise Problem(f"The picture {file.name} has no viewBox from 0 0, or no font-size.")
    width = int(opening[1]) * LETTER // int(opening[2])
    svg = svg.replace(
        "<svg ", f'<svg aria-label="{words}" style="max-width: min({width}px, 100%)" ', 1
    )
    return f'<div class="picture" data-search-exclude>{svg}</div>'
