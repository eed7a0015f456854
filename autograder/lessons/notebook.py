"""Notebooks: the lesson page as a Jupyter notebook, with a graded cell for each exercise.

Running text becomes Markdown cells. Worked examples become code cells, with what the reference left
below them. nbgrader takes the points from the locked cells; the student's code stays in the module.

A notebook travels alone, so pictures are attached to it, and its name is the lesson's id, as that
of nbgrader's assignment. Its first cell imports the whole package afresh when one of its files has
changed: `%autoreload` would load that file only, and the others would keep the old rules. It ends
with a question that a person grades, for tests cannot see whether an idea was understood.
"""

import base64
import json
import re
import textwrap
from collections.abc import Container, Iterator, Sequence
from typing import Any

from autograder.lessons import examples, page, tasks, terms
from autograder.lessons.manifest import GUIDED, Exercise, Lesson, Whole
from autograder.lessons.page import Part
from autograder.lessons.problem import Problem
from autograder.lessons.run_examples import Output

Cell = dict[str, Any]


# ------------------------------------------------------------------------------------------
# The notebook


# How the checks of an exercise are run in the folder of the package: where `checks.py` is there
# too, and in a workspace.
BESIDE = (
    '[sys.executable, "-m", "pytest", "-q", "--tb=short", "--rootdir=.", "checks.py", '
    '"--exercise", "{id}"]'
)
WORKSPACE = '[sys.executable, "jaxprentice", "check", "{id}"]'


def make(lesson: Lesson, command: str = BESIDE) -> dict[str, Any]:
    """The lesson's notebook, as nbformat 4.5 has it; the same lesson gives the same notebook."""
    cells = list(_cells(lesson, command))
    cells[1:1] = _setup(lesson)  # behind the title, so that it is there when the first example is
    for number, cell in enumerate(cells, 1):
        cell.setdefault("id", f"cell-{number}")
        if cell["cell_type"] == "markdown":
            _attach_pictures(cell, lesson)
    return {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def text(lesson: Lesson, command: str = BESIDE) -> str:
    """The text of the notebook's file."""
    return json.dumps(make(lesson, command), indent=1, ensure_ascii=False) + "\n"


def texts(lessons: Sequence[Lesson], command: str = BESIDE) -> list[str]:
    """The texts of several; their examples, which take the time, run on all processors."""
    examples.prepare(lessons)
    return [text(lesson, command) for lesson in lessons]


def _cells(lesson: Lesson, command: str) -> Iterator[Cell]:
    prose = ""  # waits for more, so that text and definitions between two code cells stay together
    outputs, needs = examples.outputs(lesson), examples.needs(lesson)
    for part in page.parts(page.read(lesson), lesson):
        if part.kind == "example" and " source=" not in part.argument:
            continue  # the page shows only what it prints, such as a picture
        if part.kind not in ("example", "exercise"):
            prose += _prose(part, lesson)
            continue
        yield from _markdown(prose)
        prose = ""
        if part.kind == "example":
            yield _example(part, outputs[part.line], needs.get(part.line))
        else:
            yield from _exercise(part, lesson, command)
    yield from _markdown(prose)
    if lesson.whole:
        yield from _whole(lesson, lesson.whole, command)
    if lesson.question:
        yield from _question(lesson)
    yield from _markdown("## Playground\n\nTry things out here; this cell is not graded.")
    yield _code("")


_PICTURE = re.compile(r"(?<=\]\()(?P<file>[\w-]+\.(?P<kind>svg|png))(?=\))")
_MIME = {"svg": "image/svg+xml", "png": "image/png"}


def _attach_pictures(cell: Cell, lesson: Lesson) -> None:
    """Put the pictures of a cell into it: a notebook travels without the files beside the page."""
    source = "".join(cell["source"])
    pictures = {found["file"]: _MIME[found["kind"]] for found in _PICTURE.finditer(source)}
    if pictures:
        cell["source"] = _PICTURE.sub(r"attachment:\g<file>", source).splitlines(keepends=True)
        cell["attachments"] = {
            file: {mime: base64.b64encode(_picture(lesson, file)).decode()}
            for file, mime in pictures.items()
        }


def _picture(lesson: Lesson, file: str) -> bytes:
    try:
        return (lesson.folder / file).read_bytes()
    except FileNotFoundError:
        raise Problem(
            f"The page of {lesson.id} shows {file}, which is not in its folder. Add the picture."
        ) from None


# ------------------------------------------------------------------------------------------
# Parts of the page


def _prose(part: Part, lesson: Lesson) -> str:
    if part.kind == "lesson":
        facts = [*page.facts(lesson), *page.about_examples(lesson, "Run their cells in order.")]
        rows = "".join(f"    - {row}\n" for row in facts)
        return f'!!! abstract "This lesson"\n\n{rows}\n'
    if part.kind == "source":
        return page.fenced(page.source(part.argument), "python")
    if part.kind in ("trace", "jaxpr"):
        return page.as_text(part, lesson)
    if part.kind == "tasks":
        program = page.fenced(tasks.repair(lesson).code, "python")
        return page.about_tasks(lesson, dict.fromkeys(tasks.KINDS, ""), program)
    return part.raw


def _example(part: Part, outputs: list[Output], needs: str | None) -> Cell:
    """An example, and what the reference prints, unless a reader is to guess it.

    `needs` says why it cannot run yet, if so.
    """
    what = needs or "what a cell above defines"
    missing = "" if needs is None else f"# Needs {what}, and maybe more.\n"
    cell = _code(missing + page.code(part))
    cell["outputs"] = [] if 'result="guess"' in part.argument else outputs
    cell["metadata"]["jaxprentice"] = {"outputs": "reference"}
    if missing or "raises=" in part.argument:
        cell["metadata"]["tags"] = ["raises-exception"]
    return cell


def reading(lesson: Lesson, pages: Container[str]) -> str:
    """The page in plain Markdown, each example followed by what the reference prints."""
    outputs, whole, seen = examples.outputs(lesson), page.read(lesson), set[str]()
    text = ""
    for part in page.parts(whole, lesson):
        if part.kind == "text":
            text += terms.link_first(part.raw, whole, seen)
        elif part.kind in ("trace", "jaxpr"):
            text += page.as_text(part, lesson)
        elif part.kind == "exercise":
            text += _asked(part.argument, lesson)
        elif part.kind != "example":
            text += page.expanded(part, lesson)
        elif " source=" in part.argument:
            text += page.fenced(page.code(part), "python") + _printed(outputs[part.line])
    return plain(text, pages)


def _asked(exercise_id: str, lesson: Lesson) -> str:
    """An exercise without its hints, which nothing folds away in a text: the command has them."""
    exercise = page.own_exercise(exercise_id, lesson)
    hint = f"./jaxprentice hint {exercise.id}    # one more each time\n"
    return page.asked(exercise, lesson, page.command(exercise.id, hint)) + "\n"


def _printed(outputs: list[Output]) -> str:
    """What an example printed, as a block of Markdown that says whose output it is."""
    lines = [line for output in outputs for line in _lines(output)]
    if not "".join(lines).strip():
        return ""
    return "\nThe course's own solution prints:\n\n" + page.fenced("".join(lines), "text")


def _lines(output: Output) -> list[str]:
    if output["output_type"] == "error":
        return output["traceback"]
    return output["text"] if output["output_type"] == "stream" else output["data"]["text/plain"]


def _exercise(part: Part, lesson: Lesson, command: str) -> Iterator[Cell]:
    exercise = page.own_exercise(part.argument, lesson)
    blocks = [
        page.heading(exercise),
        *page.specification(exercise, lesson),
        *(page.toolbox(exercise) if lesson.way == GUIDED else ()),
        *page.hints(exercise, lesson.way),
    ]
    yield from _markdown("\n\n".join(blocks))
    yield _check(exercise.id, exercise, command)


def _whole(lesson: Lesson, whole: Whole, command: str) -> Iterator[Cell]:
    """The cell for the points of the whole module; it runs the visible checks of all exercises."""
    yield from _markdown(f"## {whole.title}\n\n{page.about_whole(lesson, whole)}")
    yield _check(lesson.id, whole, command)


# `nbgrader validate` takes a cell as failed, and shows its text, when it writes to stderr. The
# status of a `!command` it does not see.
_CHECK = """\
import subprocess
import sys

command = {command}
done = subprocess.run(command, capture_output=True, text=True)
print(done.stdout + done.stderr, file=sys.stderr if done.returncode else sys.stdout)
"""


def _check(checked: str, graded: Exercise | Whole, command: str) -> Cell:
    """The locked cell that runs the visible checks, and into which nbgrader writes the grade."""
    name = graded.id.replace(".", "-")
    cell = _code(_CHECK.format(command=command.format(id=checked)))
    cell["id"] = name
    cell["metadata"]["nbgrader"] = _about(name, graded.points)
    return cell


def _about(name: str, points: float) -> dict[str, Any]:
    """What nbgrader knows of a locked grade cell."""
    return {
        "grade": True,
        "grade_id": name,
        "locked": True,
        "points": points,
        "schema_version": 3,
        "solution": False,
        "task": False,
    }


QUESTION_POINTS = 3.0


def _question(lesson: Lesson) -> Iterator[Cell]:
    """The written question, and the cell for its answer, whose points a person gives."""
    yield from _markdown(
        f"## In your own words\n\n{lesson.question.strip()}\n\n"
        f"Write a few sentences ({QUESTION_POINTS:g} points; a person reads them)."
    )
    (cell,) = _markdown("Your answer.")
    cell["id"] = f"{lesson.id}-question"
    cell["metadata"]["nbgrader"] = _about(cell["id"], QUESTION_POINTS) | {
        "locked": False,
        "solution": True,
    }
    yield cell


def _setup(lesson: Lesson) -> Iterator[Cell]:
    yield from _markdown(
        f"## Before you begin\n\nYou write your code in `{lesson.module}`. Run the next cell "
        "first: from then on, each cell that you run uses the file as you last saved it. Output "
        "that is below an example before you run it comes from the course's own solution. A cell "
        "that begins with `# Needs` raises an error until you have written that exercise, or some "
        "after it; all others run already. *Run All* passes over these errors."
    )
    first = f"# Run this cell first. Every cell that you run after it uses {lesson.module} as you"
    cell = _code(f"{first} last saved it.\n{loader(lesson)}\n\n{WATCH}")
    cell["metadata"]["jupyter"] = {"source_hidden": True}
    yield cell


def _code(source: str) -> Cell:
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": source.strip("\n").splitlines(keepends=True),
    }


def _markdown(source: str) -> Iterator[Cell]:
    """One cell for each section of the text; none for an empty text."""
    for section in _sections(plain(source)):
        lines = section.strip("\n").splitlines(keepends=True)
        yield {"cell_type": "markdown", "metadata": {}, "source": lines}


def _sections(source: str) -> Iterator[str]:
    """The text cut before each heading of the second level."""
    section = ""
    for _, block in page.blocks(source):
        if block.startswith("## ") and section.strip():
            yield section
            section = ""
        section += block
    if section.strip():
        yield section


# ------------------------------------------------------------------------------------------
# The set-up cell


def loader(lesson: Lesson) -> str:
    """The code that loads the saved files of a lesson's package; `WATCH` has it run."""
    return _LOADER.replace("PACKAGE", lesson.package)


WATCH = 'get_ipython().events.register("pre_run_cell", UseSavedFiles())\n'

# Not %autoreload: it loads only the changed file again, and what the other files took from it
# before (the primitives, the tables of rules) no longer fits.
_LOADER = '''\
import importlib
import os
import sys
from pathlib import Path

from IPython import get_ipython

# Work in the folder that holds PACKAGE: the notebook's own, or one around it.
here = Path.cwd()
os.chdir(next((x for x in (here, *here.parents) if (x / "PACKAGE").is_dir()), here))


class UseSavedFiles:
    """Before a cell runs: if a file of PACKAGE has changed, load PACKAGE afresh, all of it."""

    plain = (bool, int, float, complex, str, bytes, tuple, type(None))

    def __init__(self):
        self.seen = {}

    def __call__(self, info=None):
        saved = {file: file.stat().st_mtime_ns for file in Path("PACKAGE").rglob("*.py")}
        if saved != self.seen:
            self.load()
            self.seen = saved

    def load(self):
        # No module may stay: it would go on with the old ones, and the two do not mix.
        old = self.forget()
        try:
            self.renew(old)
        except BaseException:
            self.forget()
            sys.modules.update(old)
            raise

    def forget(self):
        return {x: sys.modules.pop(x) for x in list(sys.modules) if x.split(".")[0] == "PACKAGE"}

    def renew(self, old):
        homes = {id(value): (x, name) for x in old for name, value in vars(old[x]).items()}
        names = get_ipython().user_ns
        for name, value in list(names.items()):
            if any(value is module for module in old.values()):
                names[name] = importlib.import_module(value.__name__)
            elif id(value) in homes and not isinstance(value, self.plain):
                home, attribute = homes[id(value)]
                names[name] = getattr(importlib.import_module(home), attribute, value)
'''


# ------------------------------------------------------------------------------------------
# The site's Markdown as Jupyter shows it

_BOX = re.compile(r'(?:!!!|\?\?\?\+?|===)\s+([\w ]*?)\s*(?:"(.*)")?\s*')
_ATTRIBUTES = r'\{:?\s*(?:[#.][^\s}]+|[\w-]+="?[^\s"}]+"?)(?:\s+[^}]*)?\}'
_INLINE = re.compile(
    rf"(?P<code>(?<!`)(?P<ticks>`+)(?!`).*?[^`](?P=ticks)(?!`))(?:{_ATTRIBUTES})?"
    rf"|(?<!!)\[(?P<label>(?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:)(?P<page>[^)]*)\)(?:{_ATTRIBUTES})?"
    r"|\\\((?P<formula>.+?)\\\)"
    rf"|(?<=\)){_ATTRIBUTES}"
)


def plain(source: str, pages: Container[str] = ()) -> str:
    """Markdown without what only the site understands.

    Boxes become quotations, folded boxes stay folded, attributes and wrapping elements go, links
    to other pages than `pages` become plain text.
    """
    result = ""
    blocks = list(page.blocks(source))
    while blocks:
        _, block = blocks.pop(0)
        box = _BOX.fullmatch(block.rstrip("\n"))
        if box:
            result += _box(block, box, plain(_take_body(blocks), pages))
        elif page.is_fenced(block):
            result += re.sub(r"^(\s*(?:`{3,}|~{3,})\w*)[^\n]*", r"\1", block)
        else:
            result += _plain_line(block, pages)
    return result


def _take_body(blocks: list[tuple[int, str]]) -> str:
    """Take the indented blocks that follow a box's first line, without their indentation."""
    body = ""
    while blocks and (blocks[0][1].startswith("    ") or not blocks[0][1].strip()):
        body += blocks.pop(0)[1]
    return textwrap.dedent(body).strip("\n")


def _box(opening: str, box: re.Match[str], body: str) -> str:
    kind = box[1].split(" ")[0]
    title = box[2] if box[2] is not None else kind.capitalize()
    if opening.startswith("???"):
        return f"<details><summary><b>{title}</b></summary>\n\n{body}\n\n</details>\n\n"
    content = f"**{title}**\n\n{body}\n" if title else f"{body}\n"
    if opening.startswith("==="):
        return f"{content}\n"
    return textwrap.indent(content, "> ", lambda line: True).replace("> \n", ">\n") + "\n"


def _plain_line(line: str, pages: Container[str]) -> str:
    if re.fullmatch(rf"\s*(?:{_ATTRIBUTES}|</?(?:div|step-viewer|figure)\b[^>]*>)\s*", line):
        return ""
    if line.startswith("#"):
        line = re.sub(rf"[ \t]+{_ATTRIBUTES}[ \t]*$", "", line, flags=re.MULTILINE)
    return _INLINE.sub(lambda found: _plain_inline(found, pages), line)


def _plain_inline(found: re.Match[str], pages: Container[str]) -> str:
    if found["code"]:
        return re.sub(r"^(`+)#!\w+ ", r"\1", found["code"])
    if found["formula"]:
        return f"${found['formula']}$"
    if found["page"] and found["page"].partition("#")[0] in pages:
        return f"[{found['label']}]({found['page']})"
    return found["label"] or ""
