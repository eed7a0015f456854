"""What mkdocs does for this course beyond its plugins; mkdocs.yml names this file.

- Lessons with a page are published at /lessons/<id>/ and listed in the menu, and each can be
  downloaded: as a notebook, and as the handout that `release` makes.
- A lesson's page is expanded (autograder/lessons/page.py), and has below each worked example what
  it prints (autograder/lessons/examples.py).
- Formulas become MathML while the site is built, so that pages need no script for them.

Zensical, the theme's successor, reads `mkdocs.yml` and builds the pages, but version 0.0.73 runs no
hooks: directives stay as text, formulas are not MathML, and 381 links of such pages lead nowhere.
"""

import functools
import html
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

from latex2mathml.converter import convert
from markdown import markdown as to_html
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
HERO = ROOT / "site" / "hero"
sys.path[:0] = [str(ROOT), str(ROOT / "site")]

# Found through the line above.
import drawn  # noqa: E402

from autograder.classroom.handouts import release  # noqa: E402
from autograder.lessons import examples, manifest, notebook, nothing, pictures, terms  # noqa: E402
from autograder.lessons.page import check, complete, expand, expanded, fenced, parts, shown  # noqa: E402
from autograder.lessons.places import SOLUTIONS  # noqa: E402
from autograder.lessons.problem import Problem  # noqa: E402
from autograder.upkeep import api, pyodide, routes, site  # noqa: E402

_LESSONS: dict[str, list[str]] = {"Lessons": []}  # where mkdocs.yml wants the parts in the menu


# ------------------------------------------------------------------------------------------
# Lessons: menu and addresses


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the lessons into the menu."""
    try:
        sources = {lesson.id: source for source, lesson in _published().items()}
        entries = [
            {part: [entry for lesson in lessons for entry in _menu(lesson, sources)]}
            for part, lessons in routes.parts(list(manifest.load().values())).items()
        ]
    except Problem as error:
        raise PluginError(str(error)) from None
    if config.nav and _LESSONS in config.nav:
        place = config.nav.index(_LESSONS)
        config.nav[place : place + 1] = entries
    if config.nav and not _has_reference():
        config.nav = [entry for entry in config.nav if [*entry.values()] != ["api/index.md"]]
    if not config.repo_url:
        config.edit_uri = None
    return config


def _menu(lesson: manifest.Lesson, sources: dict[str, str]) -> list[dict[str, str]]:
    """A lesson in the menu, and what is written from nothing after it."""
    page = nothing.after(lesson)
    more = [{page.title: f"{nothing.FOLDER}/{page.id}.md"}] if page else []
    return [{routes.titled(lesson): sources[lesson.id]}, *more]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Publish lessons under their ids, with notebooks; leave out folders of given code."""
    folders = {lesson.folder.name: lesson.id for lesson in _published().values()}
    for file in list(files):
        parts = file.src_uri.split("/")
        if parts[0] != "lessons" or len(parts) < 3:
            continue
        if parts[1] in folders:
            _move(file, folders[parts[1]], "/".join(parts[2:]))
        else:
            files.remove(file)
    _add_notebooks(files, config)
    _add_handouts(files, config)
    files.append(File.generated(config, "assets/exercises.js", content=_exercises()))
    if _has_reference():
        _add_reference(files, config)
    files.append(File.generated(config, "assets/course.css", content=site.style()))
    files.append(File.generated(config, "assets/hero.js", content=(HERO / "hero.js").read_text()))
    if not config.extra["offline"]:  # a page from a folder may start no Python
        for path, content in pyodide.assets().items():
            files.append(File.generated(config, f"assets/runner/{path}", content=content))
    return files


def _add_reference(files: Files, config: MkDocsConfig) -> None:
    sys.path.insert(0, str(SOLUTIONS))
    for name, text in api.pages().items():
        level = InclusionLevel.INCLUDED if name == "index.md" else InclusionLevel.NOT_IN_NAV
        files.append(File.generated(config, f"api/{name}", content=text, inclusion=level))


def _has_reference() -> bool:
    """Is this a course of minijax?"""
    return any(lesson.package == "minijax" for lesson in _published().values())


def _exercises() -> str:
    """The names of each lesson's exercises, for progress.js."""
    taught = (lesson for lesson in _published().values() if lesson.exercises)
    names = {x.id: [e.id.removeprefix(f"{x.id}.") for e in x.exercises] for x in taught}
    return f"window.jaxprentice = {{ exercises: {json.dumps(names)} }};\n"


def _add_notebooks(files: Files, config: MkDocsConfig) -> None:
    lessons = [lesson for lesson in _published().values() if lesson.exercises]
    try:
        texts = notebook.texts(lessons, notebook.WORKSPACE)
    except Problem as error:
        raise PluginError(str(error)) from None
    for lesson, text in zip(lessons, texts, strict=True):
        _add(files, config, lesson, f"{lesson.id}.ipynb", text)


def _add_handouts(files: Files, config: MkDocsConfig) -> None:
    """Each lesson as `release` hands it out: what a lone reader needs to do it."""
    for lesson in _published().values():
        with tempfile.TemporaryDirectory(prefix="jaxprentice-site-") as folder:
            try:
                packed = release.archive(lesson, Path(folder))
            except Problem as error:
                raise PluginError(str(error)) from None
        _add(files, config, lesson, f"{lesson.id}.zip", packed)


def _add(
    files: Files, config: MkDocsConfig, lesson: manifest.Lesson, name: str, content: str | bytes
) -> None:
    """Publish a file beside a lesson's page."""
    source = f"lessons/{lesson.folder.name}/{name}"
    shown = InclusionLevel.INCLUDED
    file = File.generated(config, source, content=content, inclusion=shown)
    _move(file, lesson.id, name)
    files.append(file)


def _move(file: File, lesson_id: str, name: str) -> None:
    file.dest_uri = f"lessons/{lesson_id}/{'index.html' if name == 'lesson.md' else name}"


def _published() -> dict[str, manifest.Lesson]:
    return {_source(x): x for x in manifest.load().values() if x.has_page}


def _source(lesson: manifest.Lesson) -> str:
    return f"lessons/{lesson.folder.name}/lesson.md"


# ------------------------------------------------------------------------------------------
# Pages


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Expand a lesson's page."""
    source = page.file.src_uri
    if lesson := _published().get(source):
        return _expand(markdown, lesson, config)
    if source == "gallery.md":
        return drawn.FENCE.sub(drawn.figure, markdown)
    return _home(markdown, config) if source == "index.md" else markdown


def on_page_content(content: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn formulas into MathML."""
    try:
        content = _MAP.sub(_inlined, content)
        if lesson := _published().get(page.file.src_uri):
            content = _PICTURE.sub(lambda x: _picture(x, lesson), content)
        content = _FORMULA.sub(_mathml, content)
        content = _PUNCTUATED.sub(_UNBROKEN, content)
        content = _COMMANDS.sub(lambda code: _FLAG.sub(_UNBROKEN, code[0]), content)
        content = _CELL.sub(_cell, content)
        content = _CODE.sub(_code, content)
        content = _PLAIN.sub(r"\1", content)
        return _TERM.sub(_defined, content)
    except (ValueError, Problem) as error:
        raise PluginError(f"{page.file.src_uri}: {error}") from None


_PICTURE = re.compile(r'<p><img alt="([^"]*)" src="(?:[^"]*/)?([\w-]+\.svg)" ?/?></p>')


def _picture(found: re.Match[str], lesson: manifest.Lesson) -> str:
    return pictures.inlined(lesson.folder / found[2], found[1])


_MAP = re.compile(r'<p><img [^>]*src="[^"]*map\.svg"[^>]*></p>')


def _inlined(_: re.Match[str]) -> str:
    """The map as part of the page, so that its links can be followed; it scrolls on a phone."""
    picture = (ROOT / "course" / "map.svg").read_text(encoding="utf-8")
    return f'<div class="course-map" tabindex="0">{picture}</div>'


# Names and spaces in code have the colour of all text: a span for each is a sixth of a page.
_PLAIN = re.compile(r'<span class="[nw]">([^<]*)</span>')

_TERM = re.compile(r'<a (?=href="[^"]*glossary(?:/|\.html|/index\.html)#(?P<anchor>[\w-]+)")')


def _defined(link: re.Match[str]) -> str:
    """A link to the glossary with the first sentence of the entry, for terms.js."""
    text = html.escape(_definitions().get(link["anchor"], ""))
    return f'<a class="term" data-definition="{text}" ' if text else link[0]


@functools.cache
def _definitions() -> dict[str, str]:
    options = {"pymdownx.arithmatex": {"generic": True}}
    found = {}
    for anchor, sentence in terms.definitions().items():
        text = to_html(sentence, extensions=[*options], extension_configs=options)
        found[anchor] = _FORMULA.sub(_mathml, text).removeprefix("<p>").removesuffix("</p>")
    return found


def _home(markdown: str, config: MkDocsConfig) -> str:
    """The home page with its recorded program, and with how the course is tried and obtained."""
    markdown = markdown.replace("{{ obtain }}", _obtain(config.repo_url))
    if _HERO in markdown:
        markdown = markdown.replace(_HERO, _hero(live=not config.extra["offline"]))
    markdown = markdown.replace(
        "{{ try }}", "" if config.extra["offline"] else pyodide.invitation()
    )
    lesson = manifest.load().get("capstone")  # it has every module
    try:
        if not lesson:
            return markdown
        pieces = parts(markdown, lesson)
        return "".join(expanded(x, lesson) if x.kind == "trace" else x.raw for x in pieces)
    except Problem as error:
        raise PluginError(str(error)) from None


def _hero(live: bool) -> str:
    """The function that a reader changes, with what microjax made of it when the site was built."""
    microjax = SOLUTIONS / "nothing" / "microjax.py"
    asked = f"import hero; print(hero.table({_EXAMPLE!r}))"
    paths = os.pathsep.join([str(HERO), str(microjax.parent)])
    ran = subprocess.run(
        [sys.executable, "-c", asked],
        env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    made = json.loads(ran.stdout)
    place = made["at"].index(2.0)
    live = live and bool(pyodide.invitation())
    facts = {name: made[name][place] for name in ("at", "value", "derivative", "batch")}
    facts |= {"program": made["program"], "place": place, "last": len(made["at"]) - 1}
    facts |= {"table": ran.stdout.strip(), "text": _EXAMPLE, "locked": "" if live else "readonly"}
    facts["note"] = "Move x." + (" Change f." if live else " On the course's site f changes, too.")
    facts["batch"] = f"[{', '.join(f'{x:g}' for x in facts['batch'])}]"  # as hero.js shows it
    texts = {name: f"{x:g}" if isinstance(x, float) else str(x) for name, x in facts.items()}
    screen = (HERO / "hero.html").read_text(encoding="utf-8")
    return screen.format_map({name: html.escape(text) for name, text in texts.items()})


_HERO = "{{ hero }}"
_EXAMPLE = "x * (x + 3)"  # what the first screen begins with


def _obtain(repository: str | None) -> str:
    if not repository:
        return ""
    address = repository.rstrip("/")
    name = address.rpartition("/")[2].removesuffix(".git")
    archive = f"{address.removesuffix('.git')}/archive/refs/heads/main.zip"
    return (
        f"```sh\ngit clone {address}\ncd {name}\n```\n\n"
        f"Without git, unpack [the archive]({archive})."
    )


def _expand(markdown: str, lesson: manifest.Lesson, config: MkDocsConfig) -> str:
    try:
        markdown = complete(markdown, lesson)
        check(markdown, lesson)
        page = _with_outputs(expand(markdown, lesson), lesson)
        return page if config.extra["offline"] else pyodide.add_to(page, lesson)
    except Problem as error:
        raise PluginError(str(error)) from None


# ------------------------------------------------------------------------------------------
# Worked examples

_FENCE = re.compile(
    r'^(?P<indent> *)(?P<ticks>`{3,})python (?=[^\n]*exec="on")(?:[^\n]*(?P<guess>result="guess"))?'
    r'(?:[^\n]*change="(?P<change>[^"\n]+)")?[^\n]*\n(?P<code>.*?)^(?P=indent)(?P=ticks) *$'
    r"(?(guess)\n\n(?P<answer>(?:[^\n]+\n)+))",
    re.MULTILINE | re.DOTALL,
)


def _with_outputs(markdown: str, lesson: manifest.Lesson) -> str:
    """The page with what each example prints, and the error that ends it, below the example.

    What a reader is asked to guess is folded, together with the paragraph below it.
    """
    outputs, codes = iter(examples.outputs(lesson).values()), list[str]()

    def shown_with(fence: re.Match[str]) -> str:
        codes.append(shown(fence["code"]))
        return _with_output(fence, next(outputs)) + _to_change(fence["change"], codes)

    return _FENCE.sub(shown_with, markdown)


def _to_change(wish: str | None, codes: list[str]) -> str:
    """What a reader may change in the last of these examples; try.js puts a button there."""
    if not wish:
        return ""
    data = html.escape(json.dumps(codes))
    return f'\n\n<div class="change-this" data-codes="{data}"><p>{html.escape(wish)}</p></div>\n'


def _with_output(fence: re.Match[str], left: list[examples.Output]) -> str:
    indent, ticks = fence["indent"], fence["ticks"]
    told = ("".join(x.get("text", x.get("traceback", []))) for x in left)
    printed = "".join(told).rstrip("\n")
    code = re.sub(f"^{indent}", "", shown(fence["code"]), flags=re.MULTILINE)
    code = re.sub(r"\n{3,}", "\n\n", code)  # what a file has between definitions is much on a page
    lines = [f"{ticks}python", *code.splitlines(), ticks]
    output = fenced(printed, "text").splitlines() if printed.strip() else []
    if fence["guess"]:
        told = "\n".join([*output, "", fence["answer"]])
        fold = f'??? question "Guess first, then look"\n\n{textwrap.indent(told, "    ")}'
        output = [*fold.splitlines(), ""]
    lines += ["", *output] if output else []
    return "\n".join(indent + line if line else "" for line in lines)


# ------------------------------------------------------------------------------------------
# Formulas

_FORMULA = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\s*\\[(\[](?P<latex>.*?)\\[)\]]\s*</(?P=tag)>',
    re.DOTALL,
)


# Browsers may end a line between a formula and what follows, after the hyphens of a flag, at the
# spaces of an expression and, where a name is longer than the line, anywhere in it.
_UNBROKEN = r'<span class="course-unbroken">\g<0></span>'
_COMMANDS = re.compile(r'<div class="language-sh highlight">.*?</div>', re.DOTALL)
_FLAG = re.compile(r"(?<![\w-])--?\w[\w-]*")
_CODE = re.compile(r"<code>([^<\n]*)</code>")
_SHORT = 16  # characters that are kept together
_CELL = re.compile(r"<td\b.*?</td>", re.DOTALL)
_NAME = re.compile(r"(?<=>)[^<>]{10,}(?=</(?:code|a)>)")
_LONG_WORD = re.compile(r"[^<>\s]{34,}")  # what does not fit a phone
_JOINT = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[^\W_][_/(=])(?=[^\W_])|(?<=[\w)]\.)(?=\w{5})")


def _cell(cell: re.Match[str]) -> str:
    return _NAME.sub(_jointed, cell[0])


def _code(code: re.Match[str]) -> str:
    text = code[1]
    if " " in text and len(html.unescape(text)) <= _SHORT:
        return _UNBROKEN.replace(r"\g<0>", code[0])
    joined = _LONG_WORD.sub(_jointed, _FLAG.sub(_UNBROKEN, text))
    return f"<code>{joined}</code>"


def _jointed(name: re.Match[str]) -> str:
    """A name that may go on in the next line after each of its parts."""
    return _JOINT.sub("<wbr>", name[0])


_PUNCTUATED = re.compile(r"\(?<math\b(?:(?!</?math\b).)*</math>[,.;:)?!]+", re.DOTALL)


def _mathml(formula: re.Match[str]) -> str:
    latex = html.unescape(formula["latex"]).strip()
    if formula["tag"] == "span":
        return _converted(latex, "inline")
    parts = re.split(r"(?:\\qquad\s*)+", latex)
    return f'<div class="course-math">{"".join(_converted(x, "block") for x in parts)}</div>'


def _converted(latex: str, display: str) -> str:
    mathml = _spaced(convert(latex.strip(), display=display))
    unknown = re.search(r"\\[A-Za-z]+", mathml)
    if unknown:
        raise ValueError(f"the formula {latex} uses {unknown[0]}, which cannot be shown")
    return mathml


def _spaced(mathml: str) -> str:
    """With a space on both sides of a function's name: browsers set none, "2cosx".

    An infinity is a number: as the operator that the converter makes of it, it has spaces.
    """
    space = '<mspace width="0.17em"/>'
    mathml = re.sub("<mo>(&#x0221E;|∞)</mo>", r"<mn>\1</mn>", mathml)
    mathml = re.sub(r"(<mi>[a-z]{2,}</mi>)(?=<m(?:i|n|frac|msub)\b)", rf"\1{space}", mathml)
    return re.sub(r"(?<=</m[in]>)(?=<mi>[a-z]{2,}</mi>)", space, mathml)
