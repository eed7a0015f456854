"""What a submission's notebook holds: the answers in it, and why there may be none.

A broken notebook stops nothing, for the graded file is the module. But no answer is lost without a
word: if the notebook is not the one that was asked for, a person is to look for the answer.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.classroom.intake import files, written
from autograder.lessons import manifest
from autograder.lessons.manifest import Lesson

LIMIT = 8 * 1024 * 1024


@dataclass(frozen=True)
class Answers:
    """The answers of a notebook, by the names of their cells."""

    texts: Mapping[str, str] = field(default_factory=dict)
    remark: str = ""  # why there is none to the written question, or which file was taken
    odd: bool = False  # may a person find one all the same?


def take(root: Path, inside: list[str], lesson: Lesson) -> Answers:
    """The answers in the submission in the folder or archive root/inside."""
    name = f"{lesson.id}.ipynb"
    try:
        content, said = files.take(root, inside, name, LIMIT)
    except files.Missing:
        if any(x.name != name for x in Path(root, *inside).glob("*.ipynb")):
            return _odd(f"{name} is missing, and another notebook was submitted.")
        return Answers(remark=f"{name} is missing, so there is no answer to the written question.")
    except files.Refused as refused:
        return _odd(str(refused))
    except Exception:
        return _odd(f"{name} cannot be read.")
    try:
        found = texts(json.loads(content))
    except Exception:  # nbformat and json raise many kinds
        return _odd(f"{name} is not a notebook that can be read.")
    if lesson.question and f"{lesson.id}-question" not in found:
        return _odd(_without_question(name, found), found)
    return Answers(found, said)


def _odd(why: str, found: Mapping[str, str] | None = None) -> Answers:
    more = "So no answer to the written question was found. A person looks for one."
    return Answers(found or {}, f"{why} {more}", odd=True)


def _without_question(name: str, found: Mapping[str, str]) -> str:
    """Why a notebook has no cell for the answer."""
    others = [x for x in manifest.load() if any(cell.startswith(f"{x}-") for cell in found)]
    if others and name.removesuffix(".ipynb") not in others:
        return f"{name} is the notebook of another lesson, {others[0]}."
    return f"{name} has no cell for the written question any more."


def texts(notebook: dict[str, Any]) -> dict[str, str]:
    """The texts of a notebook's nbgrader cells by grade_id.

    Of cells with the same grade_id the last counts, as in nbgrader. Raises anything for what is no
    notebook.
    """
    return dict(filter(None, map(_answer, _cells(notebook))))


def _cells(notebook: dict[str, Any]) -> list[Any]:
    """The cells of a notebook; up to nbformat 3 they are in worksheets."""
    sheets = [notebook] if "cells" in notebook else notebook["worksheets"]
    return [cell for sheet in sheets for cell in sheet["cells"]]


def _answer(cell: Any) -> tuple[str, str] | None:
    try:
        name, source = cell["metadata"]["nbgrader"]["grade_id"], cell["source"]
        text = source if isinstance(source, str) else "".join(source)
    except (KeyError, TypeError):
        return None
    if not isinstance(name, str):
        return None
    return name, text.encode("utf-8", "replace").decode()  # half a surrogate pair cannot be written


def rebuild_notebook(release: Mapping[str, Any], answers: Mapping[str, str]) -> dict[str, Any]:
    """The released notebook with a student's answers in its solution cells, and nothing else.

    Answers in words come as harmless HTML. An answer that is not given stays as it was released:
    nbgrader compares the two, and then asks for no points.
    """
    notebook = json.loads(json.dumps(release))
    for cell in notebook["cells"]:
        about = cell["metadata"].get("nbgrader", {})
        answer = answers.get(about.get("grade_id"))
        if about.get("solution") and answer not in (None, "".join(cell["source"])):
            code = cell["cell_type"] == "code"
            shown = written.limited(written.visible(answer)) if code else written.harmless(answer)
            cell["source"] = shown
    return notebook
