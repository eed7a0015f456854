"""Small programs in a lesson's folder, `traces/NAME.py`, recorded on the reference for its page.

A program runs on the package as it is after the lesson, in a process of its own. What is recorded
is drawn as the site's stepper, and as text for where there is none. A program's docstring begins
with a title; what follows is TOML and says what to record and to show (see `Wishes`).
"""

import ast
import functools
import itertools
import json
import re
import textwrap
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from autograder.lessons import assemble, drawing, manifest, page_outputs, skeleton, stepper
from autograder.lessons.manifest import Lesson
from autograder.lessons.problem import Problem
from autograder.recording import SCRIPT

# Facts of steps that nothing on a page draws yet.
UNSEEN = ("appends",)
DEVICES = "--xla_force_host_platform_device_count=4"  # for programs with `pmap`


@dataclass(frozen=True)
class Wishes:
    """What to record of a program besides its operations, and what to show of the recording."""

    watch: Sequence[str] = ()  # functions whose calls are recorded: "minijax.tree.tree_flatten"
    memory: bool = False  # whether to note the bytes that arrays take
    level: int | None = None  # show operations that this level takes, and what is printed
    hide: Sequence[str] = ()  # names, kinds and tables of steps that are left out; parameters too
    look: str = ""  # what to look for, shown above the program
    after: str = ""  # the lesson after which it runs, if not this one
    choices: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # what a reader changes


@dataclass(frozen=True)
class Traced:
    """A program that was recorded, and what was recorded; once for each choice of a reader."""

    title: str
    look: str
    program: str
    steps: Sequence[drawing.Step]
    sources: Sequence[stepper.Source]
    choices: Mapping[str, Sequence[str]]
    cases: Sequence[tuple[str, Sequence[drawing.Step]]]  # program and steps, one as above

    @property
    def transcript(self) -> str:
        """Each operation as a line, further to the right than the one in which it happened."""
        return "\n".join(_folded([*drawing.lines([step])] for step in self.steps))

    @property
    def stepper(self) -> str:
        """The stepper as HTML, without empty lines, at which Markdown would end it."""
        told = [
            (_colored(program).splitlines(), list(drawing.moments(steps)))
            for program, steps in self.cases
        ]
        title = self.title.replace("`", "")
        if self.choices:
            start = [program for program, _ in self.cases].index(self.program)
            return stepper.with_choices(told, title, self.look, self.choices, start)
        return stepper.fragment(told[0][1], title, told[0][0], self.sources, self.look)


def _folded(blocks: Iterable[list[str]]) -> Iterator[str]:
    """Their lines, and of equal blocks in a row only one, with how many they are."""
    for block, same in itertools.groupby(blocks):
        yield from block
        if (count := len([*same])) > 1:
            yield f"({count} times in a row)"


def _colored(code: str) -> str:
    """A program as HTML."""
    return str(highlight(code, PythonLexer(), HtmlFormatter(nowrap=True)))


@functools.cache
def read(argument: str, lesson: Lesson) -> Traced:
    """The recording that `{{ trace "NAME" }}` asks for."""
    file = program_file(argument, lesson, "traces")
    title, program = split(file)
    wishes = _wishes(file)
    shown = _output(file, lesson)[1]
    programs = list(_cases(program, wishes.choices, file.name))
    cases = [(text, x["steps"]) for text, x in zip(programs, shown, strict=True)]
    if program not in programs:
        raise Problem(f"traces/{file.name}: what it says itself has to be one of its choices.")
    own = programs.index(program)
    sources = [_source(x) for x in shown[own]["sources"]]
    choices = {name: [*map(str, values)] for name, values in wishes.choices.items()}
    return Traced(title, wishes.look, *cases[own], sources, choices, cases)


def _cases(program: str, choices: Mapping[str, Sequence[Any]], name: str) -> Iterator[str]:
    """The program for each choice: `name = value` in its line, for all values of all names."""
    for values in itertools.product(*choices.values()):
        text = program
        for variable, value in zip(choices, values, strict=True):
            line = f"{variable} = {value}"
            text, count = re.subn(rf"^{variable} = .*$", line, text, flags=re.MULTILINE)
            if count != 1:
                raise Problem(f"traces/{name}: there has to be one line that begins {variable} =.")
        yield text


def all_outputs(lesson: Lesson) -> dict[page_outputs.Place, list[dict[str, Any]]]:
    """What is shown of all recordings in the lesson's folder."""
    return dict(_output(file, lesson) for file in sorted(lesson.folder.glob("traces/*.py")))


def _output(file: Path, lesson: Lesson) -> tuple[page_outputs.Place, list[dict[str, Any]]]:
    """What is shown of a recording, and where that is kept."""
    tree = assemble.files_of(manifest.needed(_after(file, lesson)))
    files = [*sorted(SCRIPT.parent.glob("*.py")), Path(__file__)]
    makers = [x.read_text(encoding="utf-8") for x in files]
    program = file.read_text(encoding="utf-8") if file.exists() else ""
    place = page_outputs.place(lesson.id, f"traces/{lesson.id}-{file.name}", program, tree, makers)
    return place, place.left(lambda: _shown(file, lesson))


def _after(file: Path, lesson: Lesson) -> Lesson:
    """The lesson after which a program runs."""
    return manifest.get(_wishes(file).after or lesson.id) if file.exists() else lesson


def _shown(file: Path, lesson: Lesson) -> list[dict[str, Any]]:
    """For each case the steps that the wishes leave, and the functions' texts."""
    wishes = _wishes(file)
    programs = _cases(split(file)[1], wishes.choices, file.name)
    return [_shown_of(program, file, lesson, wishes) for program in programs]


def _shown_of(program: str, file: Path, lesson: Lesson, wishes: Wishes) -> dict[str, Any]:
    document = _record(program, file.name, _after(file, lesson), wishes)
    if "error" in document or document["cut"]:
        end = "It has too many steps." if document.get("cut") else drawing.ending(document)
        raise Problem(f"The recording {file.stem} fails. {end}")
    known = _called(document["steps"])
    if missed := {x.rpartition(".")[2] for x in wishes.watch} - known:
        raise Problem(f"The recording {file.stem} watches {min(missed)}, which is not called.")
    steps = _tidy(_at_level(wishes.level, _without(wishes.hide, document["steps"])))
    return {"steps": steps, "sources": document["sources"]}


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


def _wishes(file: Path) -> Wishes:
    """What a program's docstring says below its title."""
    docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    try:
        return Wishes(**tomllib.loads(docstring.partition("\n")[2]))
    except tomllib.TOMLDecodeError as error:
        raise Problem(f"traces/{file.name}: below the title is no TOML: {error}.") from None
    except TypeError:
        known = ", ".join(x.name for x in fields(Wishes))
        raise Problem(f"traces/{file.name}: below the title there may be {known}.") from None


def _record(program: str, name: str, lesson: Lesson, wishes: Wishes) -> dict[str, Any]:
    """The recording's document (docs/recordings.md)."""
    options = json.dumps({"watch": wishes.watch, "memory": wishes.memory})
    what, tree = f"The recording {name}", assemble.files_of(manifest.needed(lesson))
    found: dict[str, Any] = page_outputs.run(
        what, tree, str(SCRIPT), program, name, options, xla_flags=DEVICES
    )
    return found


def _called(steps: Sequence[drawing.Step]) -> set[str]:
    """The functions whose calls were recorded."""
    inner = (_called(drawing.within(step)) for step in steps)
    return {x["name"].rpartition(".")[2] for x in steps if x["kind"] == "call"}.union(*inner)


def _without(hidden: Sequence[str], steps: Sequence[drawing.Step]) -> list[drawing.Step]:
    """The steps that are not left out, with the parameters and the inner steps that are not."""
    found = []
    for step in steps:
        about = {step["kind"], step.get("table"), step.get("name"), step.get("interpreter")}
        if about & {*hidden}:
            continue
        shown = {key: value for key, value in step.items() if key not in UNSEEN}
        if "params" in step:
            shown["params"] = {x: text for x, text in step["params"].items() if x not in hidden}
        if "inside" in step:
            shown["inside"] = _without(hidden, step["inside"])
        found.append(shown)
    return found


def _at_level(level: int | None, steps: Sequence[drawing.Step]) -> list[drawing.Step]:
    """The operations that an interpreter of this level takes, and what is printed; all if None."""
    if level is None:
        return list(steps)
    found: list[drawing.Step] = []
    for step in steps:
        wanted = step["kind"] == "print" or step.get("level") == level
        found += [step] if wanted else _at_level(level, drawing.within(step))
    return found


def _source(found: Mapping[str, Any]) -> stepper.Source:
    """A function's text as students get it: of an exercise what is given, so nothing leaks."""
    name, file = found["rule"], found["file"]
    try:
        handout = assemble.read_handout(file)
    except Problem:  # the program's own function
        return stepper.Source(name, _colored(found["text"]))
    if _flat(found["text"]) in _flat(handout):
        return stepper.Source(name, _colored(found["text"]))
    outer = name.partition(".<locals>")[0]
    text = _opening(textwrap.dedent(skeleton.definition(handout, outer)))
    about = "<p>An exercise. <code>./jaxprentice trace --html</code> shows your own code here.</p>"
    return stepper.Source(outer, _colored(text), about)


def _opening(text: str) -> str:
    """A definition down to the first line of its docstring."""
    (node,) = ast.parse(text).body
    assert isinstance(node, ast.FunctionDef)
    lines, title = text.splitlines(), (ast.get_docstring(node) or "").partition("\n")[0]
    return "\n".join([*lines[: node.body[0].lineno - 1], f'    """{title}"""', "    ..."])


def _flat(text: str) -> str:
    """A text without indentation."""
    return "\n".join(line.strip() for line in text.strip().splitlines())


def _one_print(one: drawing.Step, other: drawing.Step) -> bool:
    """Whether two steps are lines of one text that the program prints."""
    return one["kind"] == other["kind"] == "print" and one.get("at") == other.get("at")


def _tidy(steps: Sequence[drawing.Step]) -> list[drawing.Step]:
    """The steps without the lines at which the reference has its rules; a text printed is one."""
    found: list[drawing.Step] = []
    for step in steps:
        if found and _one_print(found[-1], step):
            found[-1]["text"] = f"{found[-1]['text']}\n{step['text']}".rstrip()
            continue
        found.append({key: x for key, x in step.items() if key not in ("file", "line")})
        if step.get("inside"):
            found[-1]["inside"] = _tidy(step["inside"])
    return found
