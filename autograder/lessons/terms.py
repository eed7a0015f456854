"""Links the words of the glossary where a lesson page uses them first, and says what they mean.

A word that the page links by hand, anywhere, is left to the author. So is a word whose entry is
marked `.common`, since it is an ordinary English word, too: `### Rule { #rule .common }`.
"""

import functools
import re
from pathlib import Path

from autograder.lessons import places

_ENTRY = re.compile(
    r"^### (?P<term>[^{\n]+?) \{ #(?P<anchor>[\w-]+)(?P<marks>[^}]*)\}", re.MULTILINE
)
# What is no running text: code, formulas, links and pictures, tags, headings, titles of boxes.
_APART = (
    r"^ *(?P<fence>`{3,}|~{3,}).*?^ *(?P=fence) *$|`+[^`]+`+|\$\$.*?\$\$|\$[^$\n]+\$"
    r"|!?\[(?:[^\[\]]|\[[^\]]*\])*\]\([^)]*\)|<[^>]+>|^ *#[^\n]*|^ *(?:!!!|\?\?\?)[^\n]*"
)


def link_first(text: str, whole: str, seen: set[str]) -> str:
    """A piece of running text of the page `whole`, with the terms linked that are not in `seen`.

    Their anchors are added to `seen`.
    """
    terms = {
        term: anchor
        for term, anchor in _terms(places.COURSE / "glossary.md").items()
        if anchor not in seen and f"glossary.md#{anchor})" not in whole
    }
    if not terms:
        return text
    longest = sorted(map(re.escape, terms), key=len, reverse=True)
    pattern = rf"{_APART}|\b(?P<term>{'|'.join(longest)})(?P<end>s?)\b"

    def linked(found: re.Match[str]) -> str:
        anchor = terms.get((found["term"] or "").lower())
        if anchor is None or anchor in seen:
            return found[0]
        seen.add(anchor)
        return f"[{found[0]}](../../glossary.md#{anchor})"

    return re.sub(pattern, linked, text, flags=re.MULTILINE | re.DOTALL | re.IGNORECASE)


def anchored(glossary: str) -> str:
    """The glossary with an HTML anchor above each entry that Markdown names differently.

    Outside the site, Markdown makes an anchor of a heading's words: "Dual number" is `dual-number`.
    """

    def entry(found: re.Match[str]) -> str:
        own = re.sub(r"[^\w-]", "", found["term"].lower().replace(" ", "-"))
        anchor = "" if own == found["anchor"] else f'<a id="{found["anchor"]}"></a>\n\n'
        return anchor + found[0]

    return _ENTRY.sub(entry, glossary)


def definitions() -> dict[str, str]:
    """The first sentence of each entry, in Markdown without links, by the entry's anchor."""
    file = places.COURSE / "glossary.md"
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    found = {}
    for entry in _ENTRY.finditer(text):
        paragraph = text[entry.end() :].strip().partition("\n\n")[0]
        unlinked = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(paragraph.split()))
        found[entry["anchor"]] = re.split(r"(?<=[.!?]) (?=[A-Z`*])", unlinked)[0]
    return found


@functools.cache
def _terms(glossary: Path) -> dict[str, str]:
    """The anchor of each term, in small letters, that is linked wherever it is used first."""
    text = glossary.read_text(encoding="utf-8") if glossary.is_file() else ""
    return {
        entry["term"].lower(): entry["anchor"]
        for entry in _ENTRY.finditer(text)
        if ".common" not in entry["marks"]
    }
