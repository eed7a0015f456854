"""Jaxprs of small programs in a lesson's folder, `jaxprs/NAME.py`, drawn for its page.

A program runs on the package as it is after the lesson, in a process of its own. Each of its jaxprs
becomes a table and a graph, which site/theme/assets/explorer.js brings to life; without that, and
in notebooks, there is the text.
"""

import functools
import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.lessons import assemble, describe_jaxprs, layered, manifest, page_outputs, traced
from autograder.lessons.describe_jaxprs import Described
from autograder.lessons.manifest import Lesson


@dataclass(frozen=True)
class Explored:
    """A program, and its jaxprs as describe_jaxprs.py describes them."""

    title: str
    program: str
    jaxprs: Sequence[Described]

    @property
    def text(self) -> str:
        """The jaxprs as text, each below its title."""
        return "\n\n".join(f"# {x['title']}\n{x['text']}" for x in self.jaxprs)

    @property
    def explorer(self) -> str:
        """The jaxprs as HTML, without empty lines, at which Markdown would end it."""
        label = html.escape(self.title.replace("`", ""), quote=True)
        shown = "\n".join(map(_jaxpr, self.jaxprs))
        jaxprs = f'<div class="explorer-jaxprs">\n{shown}\n</div>'
        return f'<div class="explorer" data-label="{label}">\n{jaxprs}\n</div>'


@functools.cache
def read(argument: str, lesson: Lesson) -> Explored:
    """The jaxprs that `{{ jaxpr "NAME" }}` asks for."""
    file = traced.program_file(argument, lesson, "jaxprs")
    return Explored(*traced.split(file), _output(file, lesson)[1])


def all_outputs(lesson: Lesson) -> dict[page_outputs.Place, list[Described]]:
    """The jaxprs of all programs in the lesson's folder."""
    return dict(_output(file, lesson) for file in sorted(lesson.folder.glob("jaxprs/*.py")))


def _output(file: Path, lesson: Lesson) -> tuple[page_outputs.Place, list[Described]]:
    """The jaxprs of a program, and where they are kept."""
    _, program = traced.split(file)
    tree, script = assemble.files_of(manifest.needed(lesson)), Path(describe_jaxprs.__file__)
    maker = script.read_text(encoding="utf-8")
    place = page_outputs.place(lesson.id, f"jaxprs/{lesson.id}-{file.name}", program, tree, maker)
    what = f"The program jaxprs/{file.name}"
    run = functools.partial(page_outputs.run, what, tree, str(script), program, file.name)
    return place, place.left(run)


# ------------------------------------------------------------------------------------------
# One jaxpr

Row = dict[str, Any]


def _jaxpr(about: Described) -> str:
    title = html.escape(about["title"])
    return (
        f'<section class="explorer-jaxpr" aria-label="{title}">\n'
        f'<p class="explorer-title">{title}</p>\n'
        f'<pre class="explorer-text"><code>{_block(about["text"])}</code></pre>\n'
        f'<div class="explorer-view" hidden>\n{_table(about)}\n{_graph(about)}\n</div>\n'
        "</section>"
    )


def _block(text: str) -> str:
    """A text for an element that keeps its lines, as one line: no Markdown ends it."""
    return html.escape(text).replace("\n", "&#10;")


def _names(atoms: Sequence[Any]) -> list[str]:
    """The names of the variables among some atoms."""
    return list(dict.fromkeys(x["name"] for x in atoms if isinstance(x, dict)))


def _facts(place: str, makes: Sequence[Any], uses: Sequence[Any]) -> str:
    """What the script needs of a row of the table, or a node of the graph."""
    return (
        f'data-place="{html.escape(place)}" data-makes="{" ".join(_names(makes))}" '
        f'data-uses="{" ".join(_names(uses))}"'
    )


# ------------------------------------------------------------------------------------------
# The table


def _table(about: Described) -> str:
    rows = "\n".join(_rows(about))
    head = "<tr><th>makes</th><th>operation</th><th>of</th></tr>"
    return f'<table class="explorer-table"><thead>{head}</thead><tbody>\n{rows}\n</tbody></table>'


def _rows(about: Described) -> Iterator[str]:
    for kind in ("constants", "inputs"):
        if about[kind]:
            what = kind if len(about[kind]) > 1 else kind[:-1]
            one = "an input" if kind == "inputs" else "a constant"
            yield _row(_facts(one, about[kind], []), _made(about[kind]), f"<i>{what}</i>", "")
    for number, eqn in enumerate(about["equations"], 1):
        yield from _equation(number, eqn)
    what = "outputs" if len(about["outputs"]) != 1 else "output"
    uses = _facts("output", [], about["outputs"])
    yield _row(uses, "", f"<i>{what}</i>", _used(about["outputs"]))


def _equation(number: int, eqn: Row) -> Iterator[str]:
    """The row of an equation; below it the programs in its parameters, and its StableHLO."""
    inner = "\n" in eqn["params"]
    short = "" if inner else f"<small>{_block(eqn['params'])}</small>"
    facts = _facts(f"equation {number} ({eqn['name']})", eqn["results"], eqn["operands"])
    name = eqn["name"].replace("_", "_<wbr>")  # where a long one may end a line
    yield _row(facts, _made(eqn["results"]), name + short, _used(eqn["operands"]))
    if inner:
        yield _wide("explorer-inner", eqn["params"])
    if eqn["hlo"]:
        yield _wide("explorer-hlo", "\n".join(eqn["hlo"]))


def _row(facts: str, *cells: str) -> str:
    return f"<tr {facts}>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _wide(kind: str, text: str) -> str:
    return f'<tr class="{kind}"><td colspan="3"><code>{_block(text)}</code></td></tr>'


def _made(variables: Sequence[Any]) -> str:
    """Variables where they get their values: buttons, which the script gives something to do."""
    return " ".join(
        f'<button type="button" data-var="{x["name"]}">{x["name"]}<small>:{x["type"]}</small>'
        "</button>"
        if x["name"] != "_"
        else f"<span>_<small>:{x['type']}</small></span>"
        for x in variables
    )


def _used(atoms: Sequence[Any]) -> str:
    return " ".join(
        f'<span data-var="{x["name"]}">{x["name"]}</span>' if isinstance(x, dict) else _literal(x)
        for x in atoms
    )


def _literal(text: str) -> str:
    number, _, type_ = html.escape(text).partition(":")
    return f"<span>{number}<small>:{type_}</small></span>"


# ------------------------------------------------------------------------------------------
# The graph

LETTER, HEIGHT, DROP = 7.6, 26, 52  # of a node: width of a letter, height, from layer to layer


def _graph(about: Described) -> str:
    boxes = list(_boxes(about))
    makers = {name: i for i, box in enumerate(boxes) for name in _names(box["makes"])}
    makers.pop("_", None)
    nodes = [_node(box, makers) for box in boxes]
    drawing = layered.draw(nodes)
    height = (max(drawing.layers) + 1) * DROP - DROP + HEIGHT + 4
    arrows = "".join(_arrow(boxes[s], boxes[t], w) for (s, t), w in drawing.ways.items())
    drawn = "".join(map(_box, boxes, nodes, drawing.middles, drawing.layers))
    size = f'viewBox="-2 -2 {drawing.width + 4:.0f} {height:.0f}" width="{drawing.width + 4:.0f}"'
    return (
        f'<div class="explorer-graph"><svg {size} role="img" '
        f'aria-label="The same as a graph, inputs at the top">{arrows}{drawn}</svg></div>'
    )


def _boxes(about: Described) -> Iterator[Row]:
    """The nodes: what each shows, makes and uses."""
    for kind in ("constants", "inputs"):
        for x in about[kind]:
            yield {"text": f"{x['name']}:{x['type']}", "makes": [x], "uses": [], "kind": kind}
    for eqn in about["equations"]:
        numbers = [x.partition(":")[0] for x in eqn["operands"] if isinstance(x, str)]
        text = " ".join([eqn["name"], *numbers])
        yield {"text": text, "makes": eqn["results"], "uses": eqn["operands"], "kind": "equation"}
    for x in about["outputs"]:
        text = x["name"] if isinstance(x, dict) else x
        yield {"text": f"out {text}", "makes": [], "uses": [x], "kind": "outputs"}


def _node(box: Row, makers: dict[str, int]) -> layered.Node:
    reads = [makers[name] for name in _names(box["uses"])]
    return layered.Node(len(box["text"]) * LETTER + 16, reads, last=box["kind"] == "outputs")


def _box(box: Row, node: layered.Node, middle: float, layer: int) -> str:
    x, y, round_ = middle - node.width / 2, layer * DROP, 4 if box["kind"] == "equation" else 13
    facts = _facts(box["text"], box["makes"], box["uses"])
    return (
        f'<g class="explorer-{box["kind"]}" {facts}>'
        f'<rect x="{x:.1f}" y="{y}" width="{node.width:.1f}" height="{HEIGHT}" rx="{round_}"/>'
        f'<text x="{middle:.1f}" y="{y + 18}">{html.escape(box["text"])}</text></g>'
    )


def _arrow(source: Row, target: Row, way: Sequence[tuple[float, int]]) -> str:
    """An arrow from a box to one that uses what it makes; it is bent between two layers only."""
    shared = [name for name in _names(source["makes"]) if name in _names(target["uses"])]
    (x, layer), *rest = way
    path = f"M{x:.1f} {layer * DROP + HEIGHT}"
    for x2, layer2 in rest:
        upper, lower = (layer2 - 1) * DROP + HEIGHT, layer2 * DROP
        middle = (upper + lower) / 2
        path += f"C{x:.1f} {middle} {x2:.1f} {middle} {x2:.1f} {lower}"
        if layer2 != way[-1][1]:
            path += f"V{lower + HEIGHT}"
        x = x2
    end = way[-1][1] * DROP
    return (
        f'<path data-vars="{" ".join(shared)}" d="{path}"/>'
        f'<path class="explorer-tip" data-vars="{" ".join(shared)}" '
        f'd="M{x - 4:.1f} {end - 6}h8l-4 6z"/>'
    )
