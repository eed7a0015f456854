"""Lesson pages: expands the directives in `course/lessons/*/lesson.md` to Markdown for the site.

    {{ lesson }}                        the lesson's facts
    {{ source minijax/core.py Trace }}  a definition of the reference, without any solution
    {{ exercise core.full_raise }}      an exercise: contract, toolbox, command, hints
    {{ trace "jvp-of-jvp" }}            what happens while traces/jvp-of-jvp.py runs, step by step
    {{ jaxpr "tangents" }}              the jaxprs of jaxprs/tangents.py as tables and graphs
    {{ jaxpr "tangents" folded }}       the same, below a line to unfold; recordings, sources too
    {{ tasks }}                         the open task and the module to repair
    {{ milestone }}                     what runs on the student's modules after this lesson

A directive is alone on its line, outside code blocks.
"""

import ast
import itertools
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from autograder.lessons import (
    assemble,
    explored,
    manifest,
    pictures,
    places,
    references,
    skeleton,
    tasks,
    terms,
    traced,
)  # fmt: skip
from autograder.lessons.manifest import GUIDED, Exercise, Lesson, Whole
from autograder.lessons.problem import Problem


@dataclass(frozen=True)
class Part:
    """A piece of a lesson page: running text, a worked example or a directive."""

    kind: str  # "text", "example" or the name of a directive
    raw: str  # as it is in the file
    line: int
    argument: str = ""  # of a directive; of an example, the opening line of its fence
    folded: bool = False


# ------------------------------------------------------------------------------------------
# The page


def read(lesson: Lesson) -> str:
    """The text of the lesson's page, complete."""
    try:
        text = (lesson.folder / "lesson.md").read_text(encoding="utf-8")
    except FileNotFoundError:
        raise Problem(f"{_path(lesson)} is missing. Write the lesson's page.") from None
    return complete(text, lesson)


def complete(text: str, lesson: Lesson) -> str:
    """The page with its number, the texts of its pictures, and its milestone as an example."""
    text = pictures.with_descriptions(text, lesson.folder)
    numbered = re.sub(r"^# ", f"# {lesson.number}. ", text, count=1, flags=re.MULTILINE)
    return _MILESTONE.sub(lambda _: _milestone(lesson), numbered)


_MILESTONE = re.compile(r"^\{\{ milestone \}\}$", re.MULTILINE)


def _milestone(lesson: Lesson) -> str:
    """The last section of a page: what can be run now, and could not before."""
    milestone = tasks.milestone(lesson)
    opening = f'python exec="on" source="above" result="text" session="{lesson.id}"'
    return f"## Milestone\n\n{milestone.goal}\n\n{fenced(milestone.code, opening)}"


def expand(text: str, lesson: Lesson) -> str:
    """The page's Markdown with all directives expanded."""
    text = folded(_OPENING.sub(_opening, text))
    found, seen = list(parts(text, lesson)), set[str]()
    return "".join(
        terms.link_first(expanded(part, lesson), text, seen)
        if part.kind == "text"
        else expanded(part, lesson)
        for part in found
    )


GOALS = re.compile(
    r"^## (What you will be able to do)\n\n(.*?)(?=^\{\{|^#)", re.MULTILINE | re.DOTALL
)
_OPENING = re.compile(GOALS.pattern + r"\{\{ lesson \}\}\n", re.MULTILINE | re.DOTALL)


def _opening(found: re.Match[str]) -> str:
    """Goals and facts as one line that is unfolded: the goals go on in the box of the facts."""
    goals = f"**{found[1]}**\n\n{found[2]}"
    return f"{{{{ lesson }}}}\n{textwrap.indent(goals, '    ')}"


_LOOKED_UP = re.compile(
    r"^## (How real JAX does it|Further reading)\n\n(.*?)(?=^\{\{|^#|\Z)", re.MULTILINE | re.DOTALL
)


def folded(text: str) -> str:
    """The page with the sections that one looks things up in as lines to unfold."""
    return _LOOKED_UP.sub(_fold, text)


def _fold(found: re.Match[str]) -> str:
    content = references.linked(found[0]).partition("\n\n")[2]
    return f'??? abstract "{found[1]}"\n\n{textwrap.indent(content, "    ")}\n'


def check(text: str, lesson: Lesson) -> None:
    """Complain unless each exercise of the lesson stands on the page exactly once."""
    shown = [part.argument for part in parts(text, lesson) if part.kind == "exercise"]
    for exercise in lesson.exercises:
        if shown.count(exercise.id) != 1:
            raise Problem(
                f"{_path(lesson)}: the exercise {exercise.id} is shown {shown.count(exercise.id)} "
                f"times. Write {{{{ exercise {exercise.id} }}}} once."
            )


def expanded(part: Part, lesson: Lesson) -> str:
    """The Markdown of one part."""
    if part.kind == "text":
        return references.linked(part.raw)
    if part.kind == "example":
        return part.raw
    try:
        made = _DIRECTIVES[part.kind](part.argument, lesson) + "\n"
        return _unfolding(made, _UNFOLDS[part.kind]) if part.folded else made
    except Problem as error:
        raise problem(lesson, part.line, str(error)) from None


_UNFOLDS = {
    "source": "See this function",
    "trace": "Watch it, step by step",
    "jaxpr": "See the programs, as tables and graphs",
}


def _unfolding(made: str, summary: str) -> str:
    head = f'<details class="note" markdown>\n<summary>{summary}</summary>'
    return f"{head}\n\n{made}\n</details>\n"


def _lesson(argument: str, lesson: Lesson) -> str:
    if argument:
        raise Problem("The directive {{ lesson }} takes no argument. Remove it.")
    checked = f"**Check your work**: `./jaxprentice check {lesson.id}`{_where(lesson)}"
    rows = [*facts(lesson), checked]
    if lesson.exercises:
        rows.append(f"**As a notebook**: {_download(f'{lesson.id}.ipynb')}")
    rows += about_examples(lesson)
    rows.append(
        f"**Download this lesson**: {_download(f'{lesson.id}.zip')}, a folder with this page, "
        "the modules, the checks, and the command that runs them. It needs Python; its first "
        "command installs the packages"
    )
    items = "".join(f"    - {row}\n" for row in rows)
    return f'??? abstract "{_in_short(lesson)}"\n\n{items}'


def _in_short(lesson: Lesson) -> str:
    """The line that is seen of the facts before they are unfolded."""
    worth = f", {lesson.max_points:g} points" if lesson.exercises else ""
    return f"About {lesson.minutes} minutes in two sittings{worth}: goals, downloads, checks"


def _download(file: str) -> str:
    """A link to a file beside the page."""
    return f'[{file}]({file}){{: download="{file}" }}'


def _where(lesson: Lesson) -> str:
    """Where a lesson is done that no page can run."""
    if not lesson.exercises or all(x.package != "minijax" for x in manifest.needed(lesson)):
        return ""
    return " on [your own machine](../../index.md#how-to-start), because this lesson needs NumPy"


def _source(argument: str, lesson: Lesson) -> str:
    file = argument.partition(" ")[0]
    return fenced(source(argument), f'python title="{file}"')


def _exercise(argument: str, lesson: Lesson) -> str:
    exercise = own_exercise(argument, lesson)
    return asked(exercise, lesson, command(exercise.id), *hints(exercise, lesson.way))


def asked(exercise: Exercise, lesson: Lesson, *after: str) -> str:
    """An exercise with its anchor and contract, and what comes after these."""
    blocks = [
        heading(exercise) + f" {{ #{exercise.id} }}",
        *specification(exercise, lesson),
        *(toolbox(exercise) if lesson.way == GUIDED else ()),
        *after,
    ]
    return "\n".join(f"{block.rstrip()}\n" for block in blocks)


def _trace(argument: str, lesson: Lesson) -> str:
    found = traced.read(argument, lesson)
    text = textwrap.indent(fenced(found.transcript, "text"), "    ")
    note = f'??? note "The same as text"\n\n{text}'
    return f"{found.stepper}\n\n<section markdown data-search-exclude>\n\n{note}\n</section>"


def _jaxpr(argument: str, lesson: Lesson) -> str:
    found = explored.read(argument, lesson)
    return f"{fenced(found.program, 'python')}\n{found.explorer}\n"


def as_text(part: Part, lesson: Lesson) -> str:
    """A program and its recording, or its jaxprs, where there is no stepper and no explorer."""
    try:
        if part.kind == "trace":
            recorded = traced.read(part.argument, lesson)
            about = f"{recorded.title}. What the course's own solution does, operation by operation"
            program, text = recorded.program, recorded.transcript
        else:
            found = explored.read(part.argument, lesson)
            about, program, text = found.title, found.program, found.text
    except Problem as error:  # told with the page's line
        raise problem(lesson, part.line, str(error)) from None
    return f"{fenced(program, 'python')}\n{about}:\n\n{fenced(text, 'text')}"


def _tasks(argument: str, lesson: Lesson) -> str:
    if argument:
        raise Problem("The directive {{ tasks }} takes no argument. Remove it.")
    commands = {kind: command(f"{lesson.id}.{kind}") for kind in tasks.KINDS}
    program = textwrap.indent(fenced(tasks.repair(lesson).code, "python").rstrip(), "    ")
    return about_tasks(lesson, commands, f'??? note "The program to repair"\n\n{program}')


_DIRECTIVES = {
    "lesson": _lesson,
    "source": _source,
    "exercise": _exercise,
    "trace": _trace,
    "jaxpr": _jaxpr,
    "tasks": _tasks,
}


# ------------------------------------------------------------------------------------------
# What page and notebook share


def facts(lesson: Lesson) -> list[str]:
    """The rows of the facts box, as Markdown; each is short."""
    known = manifest.load()
    before = ", ".join(_link(known[name], lesson) for name in lesson.requires)
    count = len(lesson.exercises)
    apart = sum(exercise.points for exercise in lesson.exercises)
    points = f"**Points**: {apart:g}, in {count} exercise{'s' if count > 1 else ''}"
    points += f", and {lesson.whole.points:g} for the whole module" if lesson.whole else ""
    scripts = ", ".join(f"`{path}`" for path in lesson.scripts if path.endswith(".py"))
    return [
        f"**Time**: about {lesson.minutes} minutes",
        *([points] if lesson.exercises else []),
        f"**Before this lesson**: {before or 'no other lesson'}",
        f"**You write**: `{lesson.module}`" if lesson.module else f"**You run**: {scripts}",
    ]


def about_examples(lesson: Lesson, where: str = "") -> list[str]:
    """The row, if there is one, on where the page's examples run; `where` is for readers of one."""
    if not lesson.exercises:
        return []
    where = where or (
        "Run the notebook's cells, or copy examples into a file of your own next to the folder "
        f"`{lesson.package}`, each after those that it builds on, and run it with `./jaxprentice "
        "run FILE`."
    )
    return [
        f"**Examples**: they run on your own code once your exercises are done. {where} Every "
        "output on this page comes from the course's own solution."
    ]


def source(argument: str) -> str:
    """The definition that `FILE NAME` names, as students get it, with how its docstrings begin."""
    file, _, name = argument.partition(" ")
    if not name:
        raise Problem("Give a file and a name, as in {{ source minijax/core.py Trace }}.")
    return _brief(textwrap.dedent(skeleton.definition(assemble.read_handout(file), name)))


def _brief(code: str) -> str:
    """Code whose docstrings are their first paragraphs: the page says the rest."""
    lines = code.splitlines()
    named = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    found = [x for x in ast.walk(ast.parse(code)) if isinstance(x, named) and ast.get_docstring(x)]
    for node in sorted(found, key=lambda x: -x.lineno):
        begin, end = node.body[0].lineno - 1, node.body[0].end_lineno
        blank = next((n for n in range(begin, end or begin) if not lines[n].strip()), None)
        if blank is not None:
            last = lines[blank - 1]
            lines[blank - 1 : end] = [last, " " * node.body[0].col_offset + '"""']
            if len(last) + 3 <= 100:
                lines[blank - 1 : blank + 1] = [last + '"""']
    return "\n".join(lines)


def own_exercise(exercise_id: str, lesson: Lesson) -> Exercise:
    """The exercise of this lesson that a directive names."""
    known = {exercise.id: exercise for exercise in lesson.exercises}  # a course has its own points
    exercise = known.get(exercise_id) or manifest.find_exercise(exercise_id)
    if exercise.lesson != lesson.id:
        raise Problem(f"{exercise_id} belongs to the lesson {exercise.lesson}. Show it there.")
    return exercise


def heading(exercise: Exercise) -> str:
    """The heading above an exercise."""
    return f"### Exercise: {exercise.title}"


def specification(exercise: Exercise, lesson: Lesson) -> list[str]:
    """An exercise's facts and its docstring, as blocks of Markdown."""
    what = f"Write `{exercise.target}` in `{lesson.module}`"
    blocks = [
        f"{what} ({exercise.points:g} point{'' if exercise.points == 1 else 's'}, "
        f"about {exercise.minutes} minutes, difficulty\xa0{exercise.difficulty}\xa0of\xa03)."
    ]
    if exercise.after:
        links = ", ".join(f"[{name}](#{name})" for name in exercise.after)
        blocks.append(f"It uses {links}.")
    doc = skeleton.docstring(assemble.read_solution(lesson.module), exercise.target)
    return [*blocks, doctests_fenced(doc or "")]


def toolbox(exercise: Exercise) -> list[str]:
    """The given code that is useful in an exercise, as a block of Markdown if there is any."""
    items = "".join(f"- {tool}\n" for tool in exercise.toolbox)
    return [f"**Toolbox**\n\n{items}"] if items else []


def hints(exercise: Exercise, way: str) -> list[str]:
    """A folded box for each hint; unless the toolbox is shown, it is the second."""
    texts = enumerate(exercise.helps(way), 1)
    return [f'??? tip "Hint {i}"\n\n{textwrap.indent(x.strip(), "    ")}\n' for i, x in texts]


def command(name: str, then: str = "") -> str:
    """The block with the command that checks an exercise or a task, and maybe a second command."""
    return fenced(f"./jaxprentice check {name}\n{then}", "sh")


def about_tasks(lesson: Lesson, commands: Mapping[str, str], program: str) -> str:
    """The section on the open task and the module to repair, with how each of them is checked.

    `program` shows that module.
    """
    task, repair = tasks.open_task(lesson), tasks.repair(lesson)
    blocks = [
        "## Beyond the exercises",
        "Both are extras: they earn no points, and no solution is shown.",
        f"### Open task: {task.title} {{ #{lesson.id}.open }}",
        task.goal,
        f"Write it in `tasks/{task.name}`. You decide which other functions you need.",
        commands["open"],
        f"### Repair: {repair.title} {{ #{lesson.id}.repair }}",
        repair.goal,
        f"The program is `tasks/{repair.name}`:",
        program,
        commands["repair"],
    ]
    return "\n\n".join(block.strip() for block in blocks if block.strip()) + "\n"


def about_whole(lesson: Lesson, whole: Whole) -> str:
    """What a student is told about the points of the whole module."""
    return (
        f"The last {whole.points:g} points are for `{lesson.module}` as a whole. Its tests run "
        "your own functions together, so they count once all exercises are done."
    )


def fenced(code: str, language: str) -> str:
    """A code block; its fence is longer than any in the code."""
    longest = max(map(len, re.findall(r"`{3,}", code)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{code.rstrip()}\n{fence}\n"


def _link(other: Lesson, lesson: Lesson) -> str:
    if not other.has_page:
        return f"{other.title} (given)"
    return f"[{other.title}](../{other.folder.name}/lesson.md)"


def doctests_fenced(doc: str) -> str:
    """A docstring as Markdown, its sessions of the Python prompt as code blocks."""
    paragraphs = re.split(r"\n\s*\n", doc.strip())
    blocks = [fenced(text, "pycon") if text.startswith(">>> ") else text for text in paragraphs]
    return "\n\n".join(block.rstrip() for block in blocks)


# ------------------------------------------------------------------------------------------
# Reading a page

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_DIRECTIVE = re.compile(r"(\s*)\{\{(.*)\}\}\s*")
_EXAMPLE = re.compile(r"`{3,}python\b.*\bexec=\"on\"")


def parts(text: str, lesson: Lesson) -> Iterator[Part]:
    """The pieces of a page in order; their `raw` texts together are the page."""
    pieces = (_part(raw, line, lesson) for line, raw in blocks(text))
    for kind, group in itertools.groupby(pieces, key=lambda part: part.kind):
        if kind != "text":
            yield from group
            continue
        run = list(group)
        yield Part("text", "".join(part.raw for part in run), run[0].line)


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """Each line, and each code block as a whole, with the number of its first line."""
    lines = text.splitlines(keepends=True)
    start = 0
    while start < len(lines):
        end = start + 1
        if fence := _FENCE.match(lines[start]):
            closing = re.compile(rf"\s*{fence[1]}{fence[1][0]}*\s*")
            while end < len(lines) and not closing.fullmatch(lines[end]):
                end += 1
            end = min(end + 1, len(lines))
        yield start + 1, "".join(lines[start:end])
        start = end


def code(example: Part) -> str:
    """The text of a worked example, without its fence and the marks of lines that are not shown."""
    lines = "".join(example.raw.splitlines(keepends=True)[1:-1])
    return re.sub(r"[ \t]*# markdown-exec: hide$", "", lines, flags=re.MULTILINE)


def shown(code: str) -> str:
    """The lines of a worked example that are shown."""
    return re.sub(r"^[^\n]*# markdown-exec: hide\n", "", code, flags=re.MULTILINE)


def is_fenced(block: str) -> bool:
    """Is this block of `blocks` a code block?"""
    return _FENCE.match(block) is not None


def _part(raw: str, line: int, lesson: Lesson) -> Part:
    if _EXAMPLE.match(raw):
        return Part("example", raw, line, raw.partition("\n")[0])
    directive = _DIRECTIVE.fullmatch(raw)
    if not directive:
        return Part("text", raw, line)
    kind, _, argument = " ".join(directive[2].split()).partition(" ")
    if kind not in _DIRECTIVES:
        known = ", ".join(_DIRECTIVES)
        raise problem(lesson, line, f"There is no directive {kind!r}. Known are {known}.")
    if directive[1]:
        raise problem(lesson, line, f"The directive {kind} is indented. Begin the line with it.")
    name, folds, _ = argument.partition(" folded")
    return Part(kind, raw, line, name, bool(folds))


def problem(lesson: Lesson, line: int, text: str) -> Problem:
    """The error for a line of a page."""
    return Problem(f"{_path(lesson)}, line {line}: {text}")


def _path(lesson: Lesson) -> str:
    return places.shown(lesson.folder / "lesson.md")
