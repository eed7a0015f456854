"""Recordings as HTML: the site's stepper, and a page that needs no other file."""

import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.lessons import places, stage
from autograder.lessons.drawing import Moment, Step, ending, lines, moments
from autograder.lessons.problem import Problem

# What a recording is shown with, of the site.
STYLES = (
    *(f"styles/{name}.css" for name in ("1-base", "3-code", "5-recorded")),
    "theme/assets/stage.css",
)
SCRIPTS = ("theme/assets/stage.js", "theme/assets/stepper.js")
CODE = '<div class="highlight"><pre tabindex="0"><code>{}</code></pre></div>'


@dataclass(frozen=True)
class Source:
    """The text of a rule, or of another function that a step names."""

    name: str
    text: str  # as HTML
    about: str = ""  # what else to say of it, as HTML


def sources(document: Mapping[str, Any]) -> list[Source]:
    """The functions that a recording names, as they are in their files."""
    return [Source(x["rule"], html.escape(x["text"])) for x in document.get("sources", [])]


def fragment(
    told: Sequence[Moment],
    label: str,
    program: Sequence[str] = (),
    rules: Sequence[Source] = (),
    look: str = "",
) -> str:
    """A stepper as HTML, for a page that has the site's style sheet and script.

    The program, given as lines of HTML, is shown above the steps, with the line of each marked;
    above it what to look for, and below the steps the rules that they name.
    """
    parts = [
        CODE.format(lines_of(program)) if program else "",
        curve(told),
        f"<ol>\n{items(told, rules)}\n</ol>",
        rule_list(told, rules),
        picture(stage.changes(stage.frames(told))),
    ]
    return section(label, look, parts)


def with_choices(
    told: Sequence[tuple[Sequence[str], Sequence[Moment]]],
    label: str,
    look: str,
    choices: Mapping[str, Sequence[str]],
    start: int,
) -> str:
    """A stepper of a program that a reader changes: by name what each choice may be.

    Without the script there is the case that is the file itself, number `start`.
    """
    cases = [case(*x) for x in told]
    first = [CODE.format(cases[start]["program"]), f"<ol>\n{cases[start]['items']}\n</ol>"]
    data = {"choices": choices, "start": start, "cases": cases}
    return section(label, look, [*first, picture(data)])


def case(program: Sequence[str], told: Sequence[Moment]) -> dict[str, Any]:
    """One of the programs that a reader may choose."""
    frames = stage.changes(stage.frames(told))
    return {"program": lines_of(program), "items": items(told), "frames": frames}


def section(label: str, look: str, parts: Sequence[str]) -> str:
    """A stepper around its parts, with its title and what to look for."""
    inside = "\n".join(filter(None, [f"<p>{coded(look)}</p>" if look else "", *parts]))
    # A section, not a div: for the search, what it leaves out ends with the first such tag.
    label = html.escape(label, quote=True)
    start = f'<section class="stepper" data-search-exclude data-label="{label}">'
    return f"{start}\n{inside}\n</section>"


def lines_of(code: Sequence[str]) -> str:
    """Lines of HTML, each by itself, so that it can be marked."""
    return "".join(f'<span class="stepper-line">{line}\n</span>' for line in code)


def picture(data: Any) -> str:
    """What the stage draws, for its script."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    return f'<script type="application/json">{text.replace("<", chr(92) + "u003c")}</script>'


def items(told: Sequence[Moment], rules: Sequence[Source] = ()) -> str:
    """The steps as items of a list; they name the code that is there."""
    return "".join(item(moment, rules) for moment in told)


def item(moment: Moment, rules: Sequence[Source] = ()) -> str:
    """A step as an item of the list.

    `data-in` is the rule that asks for the operation, if its whole text is there, and its line.
    """
    number, line = moment.rule_line or (len(rules), 0)
    inner = number < len(rules) and not rules[number].about
    facts = {
        "at": moment.at,
        "from": moment.begun,
        "part": " ".join(map(str, moment.part)) if moment.part else None,
        "level": moment.level,
        "rule": moment.source if rules else None,
        "in": f"{number} {line}" if inner else None,
    }
    marks = "".join(f' data-{name}="{x}"' for name, x in facts.items() if x is not None)
    return f"<li{marks}><p>{coded(moment.text + memory(moment))}</p></li>"


def memory(moment: Moment) -> str:
    """What arrays hold after a step, and at most during it, as a sentence."""
    if moment.memory is None:
        return ""
    more = (moment.peak or 0) > moment.memory
    most = f", and held up to {size_of(moment.peak)} during this step" if more else ""
    return f" Arrays hold {size_of(moment.memory)} now{most}."


def rule_list(told: Sequence[Moment], rules: Sequence[Source]) -> str:
    """The text of each rule that a step names, to be opened."""
    used = {moment.source for moment in told} | {x.rule_line[0] for x in told if x.rule_line}
    rows = "\n".join(f"{rule_item(n, x)}" for n, x in enumerate(rules) if n in used)
    return f'<div class="stepper-rules">\n{rows}\n</div>' if rows else ""


def rule_item(number: int, rule: Source) -> str:
    """A rule's text."""
    name = html.escape(rule.name.replace(".<locals>", ""))
    text = lines_of(rule.text.strip().splitlines())
    head = f"<summary>The code: <code>{name}</code></summary>{rule.about}"
    return f'<details data-rule="{number}">{head}{CODE.format(text)}</details>'


def curve(told: Sequence[Moment]) -> str:
    """The memory at each step, if it was measured: what is held afterwards, and at most."""
    peaks = [moment.peak or moment.memory or 0 for moment in told]
    most = max(peaks, default=0)
    if not most:
        return ""
    about = (
        "What arrays hold after each step (the area), and at most during it (the dashed line): "
        f"up to {size_of(most)}."
    )
    held = [moment.memory or 0 for moment in told]
    lines = "".join(polyline(x, most) for x in (peaks, held))
    box = f'viewBox="0 0 {len(told)} 40" preserveAspectRatio="none"'
    picture = f'<svg {box} role="img" aria-label="{about}">{lines}</svg>'
    return f'<figure class="stepper-curve">{picture}<figcaption>{about}</figcaption></figure>'


def polyline(heights: Sequence[int], most: int) -> str:
    """A line with a step for each height, down to the axis at both ends."""
    points = [
        f"{n} {y} {n + 1} {y}" for n, y in enumerate(round(40 - 38 * x / most, 1) for x in heights)
    ]
    return f'<polyline points="0 40 {" ".join(points)} {len(heights)} 40"/>'


def size_of(count: int | None) -> str:
    """A number of bytes as one reads it."""
    number = count or 0
    return f"{number / 1e6:.3g}\xa0MB" if number >= 1e6 else f"{number / 1e3:.3g}\xa0kB"


def coded(text: str) -> str:
    """A text as HTML, with code where it has backticks; code of several lines is a block."""
    return re.sub(r"`([^`]*)`", lambda code: _code(code[1]), html.escape(text))


def _code(text: str) -> str:
    lines = text.replace("\n", "&#10;")  # an empty line would end the HTML in Markdown
    block = ' class="stepper-block"' if lines != text else ""
    return f"<code{block}>{lines}</code>"


PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
:root {{ --md-default-bg-color: #fff; color-scheme: light; }}
{css}
body {{ color: #1d2329; font: 16px/1.5 system-ui, sans-serif; margin: 1em auto; max-width: 60rem;
  padding: 0 1em; }}
code, pre {{ font-family: ui-monospace, monospace; overflow-wrap: anywhere; }}
pre {{ background: #f4f6f7; overflow-x: auto; padding: .8em; }}
.stepper summary {{ list-style: none; position: relative; }}
.stepper summary::before {{ position: absolute; }}
.md-typeset .stepper pre > code {{ background: none; display: block; }}
</style>
<body class="md-typeset">
<h1>{title}</h1>
<p>{end}</p>
{stepper}
<h2>The same, as text</h2>
<pre>{text}</pre>
<script>
{script}
</script>
"""


def page(document: dict[str, Any], steps: Sequence[Step]) -> str:
    """A recording as a page that needs no other file: the program, the stepper and a text."""
    title = f"What {document['file']} does"
    return PAGE.format(
        title=html.escape(title),
        css="".join(map(asset, STYLES)),
        script="".join(map(asset, SCRIPTS)),
        end=coded(ending(document)),
        stepper=fragment(
            list(moments(steps)),
            title,
            html.escape(document["program"]).splitlines(),
            sources(document),
        ),
        text=html.escape("\n".join(lines(steps))),
    )


def asset(name: str) -> str:
    """A file of the site's."""
    file = places.SITE / name
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise Problem(f"{file} is missing. Get a complete copy of the course.") from None
