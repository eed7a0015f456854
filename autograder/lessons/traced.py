"""Small programs in a lesson's folder, `traces/NAME.py`, recorded on the reference for its page.

A program runs on the package as it is after the lesson, in a process of its own. What is recorded
is drawn as the site's stepper, and as text for where there is none.
"""

import ast
import functools
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from autograder.lessons import assemble, drawing, manifest, recorder
from autograder.lessons.manifest import Lesson
from autograder.lessons.problem import Problem

PATIENCE = 120  # seconds for one program


@dataclass(frozen=True)
class Traced:
    """A program that was recorded, and what was recorded."""

    title: str
    program: str
    steps: Sequence[drawing.Step]

    @property
    def transcript(self) -> str:
        """Each operation as a line, further to the right than the one in which it happened."""
        return "\n".join(drawing.lines(self.steps))

    @property
    def stepper(self) -> str:
        """The stepper as HTML, without empty lines, at which Markdown would end it."""
        colored = highlight(self.program, PythonLexer(), HtmlFormatter(nowrap=True))
        told = list(drawing.moments(self.steps))
        return drawing.fragment(told, self.title.replace("`", ""), colored.splitlines())


@functools.cache
def read(argument: str, lesson: Lesson) -> Traced:
    """The recording that `{{ trace "NAME" }}` asks for."""
    file = program_file(argument, lesson, "traces")
    title, program = split(file)
    document = _record(program, file.name, lesson)
    if "error" in document or document["cut"]:
        end = "It has too many steps." if document.get("cut") else drawing.ending(document)
        raise Problem(f"The recording {file.stem} fails. {end}")
    return Traced(title, program, _tidy(document["steps"]))


def program_file(argument: str, lesson: Lesson, folder: str) -> Path:
    """The program that a directive names, in a folder beside the page."""
    name = re.fullmatch(r'"([\w-]+)"', argument)
    if not name:
        raise Problem('Give a name between quotation marks, as in {{ trace "jvp-of-jvp" }}.')
    return lesson.folder / folder / f"{name[1]}.py"


def split(file: Path) -> tuple[str, str]:
    """A program's title, the first line of its docstring, and the lines after it."""
    try:
        text = file.read_text(encoding="utf-8")
        docstring, *_ = ast.parse(text).body
        title = ast.literal_eval(docstring.value).splitlines()[0]  # type: ignore[attr-defined]
    except FileNotFoundError:
        name = f"{file.parent.name}/{file.name}"
        raise Problem(f"There is no {name} beside the page. Write it.") from None
    except (SyntaxError, ValueError, AttributeError):
        name = f"{file.parent.name}/{file.name}"
        raise Problem(f"{name} is not a program that begins with its title.") from None
    lines = text.splitlines()[docstring.end_lineno :]
    return title.rstrip("."), "\n".join(lines).strip() + "\n"


def _record(program: str, name: str, lesson: Lesson) -> dict[str, Any]:
    """The recording's document (docs/recordings.md)."""
    with tempfile.TemporaryDirectory(prefix="trace-") as folder:
        assemble.write_files(Path(folder), assemble.files_of(manifest.needed(lesson)))
        text, document = Path(folder, "program.txt"), Path(folder, "recording.json")
        text.write_text(program, encoding="utf-8")
        words = [recorder.__file__, folder, str(text), name, str(document)]
        try:
            subprocess.run(
                [sys.executable, "-P", "-B", *words], cwd=folder, stdin=subprocess.DEVNULL,
                capture_output=True, timeout=PATIENCE, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise Problem(f"The recording {name} takes over {PATIENCE} seconds.") from None
        if not document.exists():
            raise Problem(f"The program of the recording {name} ends Python. Change it.")
        found: dict[str, Any] = json.loads(document.read_text(encoding="utf-8"))
        return found


def _tidy(steps: Sequence[drawing.Step]) -> list[drawing.Step]:
    """The steps without the lines at which the reference has its rules; a text printed is one."""
    found: list[drawing.Step] = []
    for step in steps:
        if found and step["kind"] == found[-1]["kind"] == "print":
            found[-1]["text"] = f"{found[-1]['text']}\n{step['text']}".rstrip()
            continue
        found.append({key: x for key, x in step.items() if key not in ("file", "line")})
        if "inside" in step:
            found[-1]["inside"] = _tidy(step["inside"])
    return found
