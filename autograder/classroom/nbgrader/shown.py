"""A submission's notebook as a person reads it in formgrader: what was asked for, and its answers.

The lesson's text is left out, thirty screens of it, and the statements of exercises are folded.
Formulas are MathML, so that nothing has to be loaded from elsewhere to read them.
"""

import html
import re
from typing import Any

from jinja2 import DictLoader
from latex2mathml.converter import convert
from markupsafe import Markup
from nbconvert.exporters import HTMLExporter

from autograder.classroom.intake import written

Cell = dict[str, Any]


def load_nothing() -> None:
    """Let formgrader's pages do without MathJax, which their template loads from elsewhere.

    That is no setting of nbconvert's, but templates that come first take the places of its own.
    """
    empty = DictLoader({"mathjax.html.j2": "{% macro mathjax() %}{% endmacro %}"})
    HTMLExporter.class_traits()["extra_loaders"].default_args = ([empty],)


def for_a_person(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook with nbgrader's cells, each after what it was asked for by."""
    cells: list[Cell] = []
    for before, cell in zip([None, *notebook["cells"]], notebook["cells"], strict=False):
        about = cell["metadata"].get("nbgrader")
        if about:
            by_hand = about.get("grade") and about.get("solution")
            if (
                before
                and before["cell_type"] == "markdown"
                and "nbgrader" not in before["metadata"]
            ):
                cells.append(_statement(before, folded=not by_hand))
            if cell["cell_type"] == "markdown":  # what a student wrote in words
                cell = {**cell, "source": str(formulas("".join(cell["source"])))}
            cells.append(cell)
    return {**notebook, "cells": cells}


def _statement(cell: Cell, *, folded: bool) -> Cell:
    """What was asked for, without hints; folded below its title if it is only to be looked up."""
    text = "".join(cell["source"]).partition("<details>")[0]
    title, _, rest = text.strip().partition("\n")
    body = formulas(written.harmless(rest if folded else text))
    summary = html.escape(re.sub(r"^#+\s*", "", title), quote=False)
    page = f"<details><summary>{summary}</summary>{body}</details>" if folded else body
    return {"cell_type": "markdown", "id": cell["id"], "metadata": {}, "source": str(page)}


# ------------------------------------------------------------------------------------------
# Formulas

_FORMULA = re.compile(r'<span class="tex2jax_process">(.*?)</span>', re.DOTALL)


def formulas(page: str) -> str:
    """Harmless HTML with its formulas as MathML."""
    return Markup(_FORMULA.sub(lambda found: _mathml(html.unescape(found[1])), page))


def _mathml(formula: str) -> str:
    shown = formula.startswith(("$$", "\\begin"))
    try:
        return convert(formula.strip("$"), display="block" if shown else "inline")
    except Exception:  # not mathematics after all
        return f"<code>{html.escape(formula)}</code>"
