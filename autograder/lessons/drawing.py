"""Draws recordings (see recorder.py): as lines for a terminal, as a page with the site's stepper.

A box is written as in the lessons: `[3.0 | 1.0]₁` for a box of level 1 with the parts 3.0 and 1.0.
"""

import html
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autograder.lessons import places
from autograder.lessons.problem import Problem

Step = dict[str, Any]
Value = Any

SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


# ------------------------------------------------------------------------------------------
# Texts of the parts


def value(shown: Value) -> str:
    """A recorded value as a text."""
    if isinstance(shown, str):
        return shown
    if isinstance(shown, list):
        return f"({', '.join(map(value, shown))})"
    return f"[{' | '.join(map(value, shown['parts'].values()))}]" + str(shown["level"]).translate(
        SUBSCRIPTS
    )


def operation(step: Step) -> str:
    """An operation or a rule with its operands: `reduce_sum[axes=(0,)] [1., 2.]`."""
    params = ", ".join(f"{name}={text}" for name, text in step.get("params", {}).items())
    return " ".join([step["name"] + (f"[{params}]" if params else ""), *values(step["operands"])])


def results(step: Step) -> str:
    """What a step gave; how it ended, if it gave nothing."""
    if "missing" in step:
        return f"missing: {step['missing']} is still to do"
    if "error" in step:
        return f"{step['error']['type']}: {step['error']['message']}"
    return ", ".join(values(step["results"])) if "results" in step else "nothing"


def values(shown: Sequence[Value]) -> list[str]:
    """Several values as texts."""
    return [value(x) for x in shown]


def rule(step: Step) -> str:
    """A rule's name, with its file and line if it has some."""
    return step["rule"] + (f" ({step['file']}, line {step['line']})" if "file" in step else "")


def rule_of(step: Step) -> Step | None:
    """The rule that an interpreter applied to an operation, if it applied one."""
    for inner in within(step):
        if inner["kind"] == "interpreter":  # a rule may run under an interpreter further down
            return rule_of(inner)
        if inner["kind"] == "rule" and inner["table"] != "abstract_eval_rules":
            return inner
    return None


# ------------------------------------------------------------------------------------------
# What to show


def chosen(
    steps: Sequence[Step], *, level: int | None = None, only: Sequence[str] = ()
) -> list[Step]:
    """The steps, or only the operations that an interpreter at `level` took, or with these names.

    Inside an operation that is shown everything is.
    """
    if level is None and not only:
        return list(steps)
    found: list[Step] = []
    for step in steps:
        named = not only or step.get("name") in only
        if step["kind"] == "operation" and named and level in (None, step.get("level")):
            found.append(step)
        else:
            found += chosen(within(step), level=level, only=only)
    return found


def folded(steps: Sequence[Step], depth: int | None) -> list[Step]:
    """The steps down to a depth; below it only how many there are."""
    if depth is None:
        return list(steps)
    if depth == 0:
        count = sum(map(size, steps))
        return [{"kind": "folded", "count": count}] if count else []
    return [x if is_leaf(x) else {**x, "inside": folded(within(x), depth - 1)} for x in steps]


def within(step: Step) -> list[Step]:
    """The steps that happened during this one."""
    return step.get("inside", [])


def size(step: Step) -> int:
    """How many steps this is, with those inside."""
    return 1 + sum(map(size, within(step)))


# ------------------------------------------------------------------------------------------
# Lines for a terminal


def lines(steps: Sequence[Step], indent: str = "") -> Iterator[str]:
    """The steps as lines, each further to the right than the one in which it happened."""
    for step in steps:
        if step["kind"] == "operation" and is_leaf(step):
            yield f"{indent}{operation(step)} -> {results(step)}   {taker(step)}{computed(step)}"
            continue
        for line in HEADS[step["kind"]](step):
            yield indent + line
        yield from lines(within(step), indent + "  ")
        if step["kind"] == "operation" and "results" in step:
            yield f"{indent}-> {results(step)}{unboxed(step)}"


def is_leaf(step: Step) -> bool:
    """Whether an operation was done without any other one, by one rule at most."""
    inner = within(step)
    return "results" in step and (not inner or (len(inner) == 1 and is_last(inner[0])))


def is_last(step: Step) -> bool:
    """Whether this is a rule that did no further operation."""
    return step["kind"] == "rule" and "inside" not in step


def computed(step: Step) -> str:
    """The rule by which a leaf was computed, to be put behind it."""
    return f": {rule(step['inside'][0])}" if step.get("inside") else ""


def taker(step: Step) -> str:
    """Who took an operation."""
    if "interpreter" not in step:
        return "no interpreter took it"
    return f"level {step['level']}, {step['interpreter']}"


def unboxed(step: Step) -> str:
    """That a result was taken out of its box."""
    return f"   (unboxed: {', '.join(values(step['boxed']))})" if "boxed" in step else ""


def alone(step: Step) -> str:
    """A rule that no interpreter applied: a pass over a program did."""
    return f"{TOLD[step['table']]} {step['name']}, {rule(step)} -> {results(step)}"


def ended(step: Step) -> str:
    """What to say behind a step that an error ended."""
    return f"   {results(step)}" if "error" in step else ""


# The tables whose rules are applied to the equations of a program.
TOLD = {"transpose_rules": "transpose rule of", "hlo_lowerings": "lowering of"}

HEADS: dict[str, Callable[[Step], list[str]]] = {
    "operation": lambda step: [f"{operation(step)}   {taker(step)}{ended(step)}"],
    "rule": lambda step: [
        alone(step) if step["table"] in TOLD else f"by {rule(step)}{ended(step)}"
    ],
    "interpreter": lambda step: [
        f"with {step['interpreter']}, level {step.get('level', '?')}:{ended(step)}"
    ],
    "box": lambda step: [f"{step['how']}: {value(step['value'])} -> {results(step)}"],
    "print": lambda step: [f"prints: {step['text']}"],
    "folded": lambda step: [f"... {step['count']} more inside"],
}


# ------------------------------------------------------------------------------------------
# Step by step


@dataclass(frozen=True)
class Moment:
    """One step of a stepper: what happens, and the interpreters, the highest first."""

    text: str  # with `code` between backticks
    stack: tuple[str, ...] = ()
    at: int | None = None  # the program's line that is being evaluated


@dataclass(frozen=True)
class Scene:
    """Where a stepper is: the active interpreters, and what each is doing."""

    active: tuple[str, ...] = ()
    doing: tuple[tuple[int, str], ...] = ()  # level, and words for it; later ones count

    def now(self, step: Step) -> "Scene":
        """The scene of a step, which knows what was active."""
        return replace(self, active=tuple(step.get("active", self.active)))

    def with_words(self, level: int, words: str) -> "Scene":
        """The scene while the interpreter of this level does something."""
        return replace(self, doing=(*self.doing, (level, words)))

    def stack(self) -> tuple[str, ...]:
        """The interpreters as lines, the highest first."""
        words = dict(self.doing)
        rows = [f"level {n}: {name}" for n, name in enumerate(self.active)]
        return tuple(row + (f" ({words[n]})" if n in words else "") for n, row in enumerate(rows))[
            ::-1
        ]


def moments(steps: Sequence[Step], scene: Scene = Scene()) -> Iterator[Moment]:
    """The steps one after the other, as a stepper shows them."""
    for step in steps:
        for moment in MOMENTS[step["kind"]](step, scene.now(step)):
            yield moment if moment.at else replace(moment, at=step.get("at"))


def of_interpreter(step: Step, scene: Scene) -> Iterator[Moment]:
    """An interpreter becomes active, and leaves."""
    level, name = step.get("level", 0), step["interpreter"]
    new = level + 1 == len(scene.active)  # in a context, one further down may be current again
    if new or "error" in step:
        yield Moment(f"`{name}` becomes active, at level {level}.{noted(step)}", scene.stack())
    yield from moments(within(step), scene)
    before = replace(scene, active=scene.active[:level])
    if new and "ended" not in step and "error" not in step:
        yield Moment(f"`{name}` of level {level} ends.", before.stack())


def of_operation(step: Step, scene: Scene) -> Iterator[Moment]:
    """An operation is taken; what its rule does follows, and the result at the end."""
    if "interpreter" not in step:
        yield Moment(f"`{operation(step)}` is not taken.{noted(step)}", scene.stack())
        yield from moments(within(step), scene)
        return
    name, level = step["name"], step["level"]
    applied = rule_of(step)
    by = f", by `{applied['rule']}`" + place(applied) if applied else ""
    takes = f"`{operation(step)}` goes to level {level}, `{step['interpreter']}`{by}."
    boxes = [boxing(x) for x in within(step) if x["kind"] == "box"]
    inner = list(moments(within(step), scene.with_words(level, "waits for its rule")))
    told = scene.with_words(level, f"takes {name}").stack()
    out = f" Result: `{results(step)}`." if "results" in step else ""
    if not inner:
        yield Moment(" ".join([takes, *boxes]) + noted(step) + out, told)
        return
    yield Moment(" ".join([takes, *boxes]) + noted(step), told)
    yield from inner
    if out:
        yield Moment(f"Level {level} is done with `{name}`.{out}", told)


def of_rule(step: Step, scene: Scene) -> Iterator[Moment]:
    """What a rule does; a rule that no operation asked for is told itself."""
    if step["table"] in TOLD:
        where = f"`{step['rule']}`{place(step)}"
        yield Moment(
            f"The {TOLD[step['table']]} `{step['name']}`, {where}: `{results(step)}`.",
            scene.stack(),
        )
    elif "error" in step:
        yield Moment(f"`{step['rule']}`{place(step)} fails.{noted(step)}", scene.stack())
    yield from moments(within(step), scene)


def of_box(step: Step, scene: Scene) -> Iterator[Moment]:
    """A box that fails; others are told with their operation."""
    if "error" in step:
        yield Moment(f"`{step['how']}` fails on `{value(step['value'])}`.{noted(step)}")


def of_print(step: Step, scene: Scene) -> Iterator[Moment]:
    """A line that the program prints."""
    yield Moment(f"The program prints `{step['text']}`.", scene.stack())


MOMENTS: dict[str, Callable[[Step, Scene], Iterator[Moment]]] = {
    "operation": of_operation,
    "rule": of_rule,
    "interpreter": of_interpreter,
    "box": of_box,
    "print": of_print,
    "folded": lambda step, scene: iter(()),
}


def place(step: Step) -> str:
    """Where a rule is, in brackets; nothing for a function of NumPy's."""
    return f" ({step['file']}, line {step['line']})" if "file" in step else ""


def boxing(step: Step) -> str:
    """A box that an operation needs."""
    return f"`{step['how']}` boxes `{value(step['value'])}`: `{results(step)}`."


def noted(step: Step) -> str:
    """What is missing, or went wrong, as a sentence to be put behind others."""
    if "missing" in step:
        return f" Here `{step['missing']}` is missing: it is still to do."
    return f" Here it ends: {results(step)}." if "error" in step else ""


# ------------------------------------------------------------------------------------------
# Pages


def fragment(told: Sequence[Moment], label: str, program: Sequence[str] = ()) -> str:
    """A stepper as HTML, for a page that has the site's style sheet and script.

    The program, given as lines of HTML, is shown above the steps, with the line of each marked.
    """
    rows = "".join(map(item, told))
    lines = "".join(f'<span class="stepper-line">{line}\n</span>' for line in program)
    code = f'<div class="highlight"><pre tabindex="0"><code>{lines}</code></pre></div>\n'
    label = html.escape(label, quote=True)
    steps = f"{code if program else ''}<ol>\n{rows}\n</ol>"
    return f'<div class="stepper" data-label="{label}">\n{steps}\n</div>'


def item(moment: Moment) -> str:
    """A step as an item of the list."""
    boxes = "".join(f"<li>{coded(box)}</li>" for box in moment.stack)
    at = f' data-at="{moment.at}"' if moment.at else ""
    return f"<li{at}><p>{coded(moment.text)}</p>{f'<ul>{boxes}</ul>' if boxes else ''}</li>"


def tree(steps: Sequence[Step]) -> str:
    """The steps as HTML that folds, without any script."""
    rows = []
    for step in steps:
        leaf = step["kind"] == "operation" and is_leaf(step)
        inside = [] if leaf else within(step)
        if leaf:
            head = next(lines([step]))
        else:
            head = HEADS[step["kind"]](step)[0]
            head += f" -> {results(step)}" if "results" in step and step["kind"] != "box" else ""
        text = f"<code>{html.escape(head)}</code>"
        inner = f"<details open><summary>{text}</summary>{tree(inside)}</details>"
        rows.append(f"<li>{inner if inside else text}</li>")
    return f"<ul>{''.join(rows)}</ul>"


def coded(text: str) -> str:
    """A text as HTML, with code where it has backticks."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text))


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
details ul, .tree {{ list-style: none; margin: 0; padding-left: 1.2em; }}
</style>
<body class="md-typeset">
<h1>{title}</h1>
<p>{end}</p>
{stepper}
<h2>The same, as a tree</h2>
<div class="tree">{tree}</div>
<script>
{script}
</script>
"""


def page(document: dict[str, Any], steps: Sequence[Step]) -> str:
    """A recording as a page that needs no other file: the program, the stepper and the tree."""
    title = f"What {document['file']} does"
    return PAGE.format(
        title=html.escape(title),
        css=asset("course.css"),
        script=asset("stepper.js"),
        end=coded(ending(document)),
        stepper=fragment(
            list(moments(steps)), title, html.escape(document["program"]).splitlines()
        ),
        tree=tree(steps),
    )


def ending(document: dict[str, Any]) -> str:
    """How the program ended."""
    error = document.get("error")
    if error is None:
        return "The program ran to its end."
    if "missing" in error:
        return f"The program ends at `{error['missing']}`, which is still to do."
    where = [f for f in error["frames"] if f["file"] == document["file"]]
    line = f" in line {where[-1]['line']}" if where else ""
    return f"The program ends{line} with {error['type']}: {error['message']}"


def asset(name: str) -> str:
    """A file of the site's."""
    file = places.ASSETS / name
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise Problem(f"{file} is missing. Get a complete copy of the course.") from None
