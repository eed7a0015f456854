"""Layout: text that is broken into lines where it must be.

A document is a string, a list of documents, or one of the three classes below. The idea is P.
Wadler's ("A prettier printer", 2003): say where a line may end, and let one function decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """The end of a line; or the text `flat`, if the group around it is laid out on one line."""

    flat: str = " "


@dataclass(frozen=True)
class Indent:
    """Lines that start inside start two columns further to the right."""

    doc: Document


@dataclass(frozen=True)
class Group:
    """Is on one line if the rest of the line has room for it; else each `Line` in it ends one.

    Groups inside are asked again, each for itself.
    """

    doc: Document


Document = str | list | Line | Indent | Group

SPACE = Group(Line())  # a space, unless the line is full already

WIDTH = 80


def layout(doc: Document) -> str:
    """The document as a string, in lines of 80 columns if groups allow it.

    >>> words = Group(["[", Indent([Line(""), "sesame", Line(), "open"]), Line(""), "]"])
    >>> layout(words)
    '[sesame open]'
    >>> print(layout(["-" * 70, words]).lstrip("-"))
    [
      sesame
      open
    ]
    """
    text: list[str] = []
    column = 0
    todo: list[tuple[Document, int, bool]] = [(doc, 0, False)]  # (what, indentation, on one line?)
    while todo:
        doc, indent, flat = todo.pop()
        if isinstance(doc, Line) and not flat:
            text.append("\n" + " " * indent)
            column = indent
        elif isinstance(doc, str | Line):
            text.append(doc if isinstance(doc, str) else doc.flat)
            column += len(text[-1])
        elif isinstance(doc, list):
            todo.extend((part, indent, flat) for part in reversed(doc))
        elif isinstance(doc, Indent):
            todo.append((doc.doc, indent + 2, flat))
        else:
            todo.append((doc.doc, indent, flat or fits(doc.doc, WIDTH - column)))
    return "".join(text)


def fits(doc: Document, room: int) -> bool:
    """Whether the document, on one line, is at most `room` wide; looks no further than that."""
    todo = [doc]
    while todo and room >= 0:
        doc = todo.pop()
        if isinstance(doc, str | Line):
            room -= len(doc if isinstance(doc, str) else doc.flat)
        elif isinstance(doc, list):
            todo.extend(reversed(doc))
        else:
            todo.append(doc.doc)
    return room >= 0


def joined(separator: Document, docs: Sequence[Document]) -> list[Document]:
    """The documents with the separator between them."""
    return [part for doc in docs for part in (separator, doc)][1:]
