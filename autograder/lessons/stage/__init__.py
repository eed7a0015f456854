"""Frames of a stage: what it shows at each step of a recording, as plain data.

`frames(moments)` says what is where, never at which pixel: the floors, which are the interpreters
and calls that are active, the highest first, each with the operation that it has and what its rule
has computed so far; and the columns of what the outermost interpreter makes. `stage.js` finds the
places, and moves what has the same key from one frame to the next.
"""

from collections.abc import Sequence
from typing import Any

from autograder.lessons import drawing
from autograder.lessons.drawing import Moment, Step
from autograder.lessons.stage.items import Item, is_tangent, items, readable, words

HEADS = {
    "pairs": ["Done so far", "Value", "Tangent"],
    "batch": ["Done so far", "f sees", "Really", "Axis"],
    "split": ["Now: values", "Later: a linear program"],
    "jaxpr": ["The program so far"],
    "values": ["Done so far", "Value"],
}
KINDS = {  # what interpreters make, by their classes; the first that is active counts
    "split": ("PartialEvalTrace", "LinearInterpreter"),
    "jaxpr": ("JaxprTrace", "StagingInterpreter", "JaxprInterpreter"),
    "batch": ("BatchTrace", "BatchInterpreter"),
    "pairs": ("JVPTrace", "JVPInterpreter"),
}


def frames(told: Sequence[Moment]) -> list[dict[str, Any]]:
    """The frame of each moment."""
    stage = Stage()
    made = [stage.frame(moment) for moment in told]
    if any(moment.memory for moment in told):  # the curve of memory is what these are about
        made = [{**frame, "columns": []} for frame in made]
    return made


class Stage:
    """What is on the stage after the moments up to now."""

    def __init__(self) -> None:
        self.benches: dict[int, list[Item]] = {}  # by level: what a rule has computed so far
        self.numbers: dict[int, int] = {}  # of operations, by the ids of their steps
        self.ground: tuple[str, ...] = ()
        self.kind, self.height = "", 0  # what is made; how many interpreters were active
        self.columns: list[dict[str, Any]] = []

    def frame(self, moment: Moment) -> dict[str, Any]:
        """The next frame."""
        self.begin(moment)
        step = moment.step or {}
        if step.get("kind") == "operation" and "level" in step:
            self.operation(moment, step)
        elif step.get("kind") == "rule":
            self.rule(step)
        busy = dict(moment.scene.busy)
        for level in [x for x in self.benches if x not in busy]:
            del self.benches[level]
        active = moment.scene.active or self.ground
        self.ground = active[:1]
        floors = [self.floor(n, name, busy.get(n), moment) for n, name in enumerate(active)]
        shown = [{**x, "cells": [{**y} for y in x["cells"]]} for x in self.columns]
        for column in self.columns:
            for cell in column["cells"]:
                cell.pop("lit", None)
        calls = [call(x, n, moment) for n, x in enumerate(moment.scene.calls)]
        return {"floors": [*calls[::-1], *floors[::-1]], "columns": shown}

    def begin(self, moment: Moment) -> None:
        """Columns for what the interpreters make, if others are active than before."""
        rises = len(moment.scene.active) > 1 >= self.height
        self.height = len(moment.scene.active)
        if self.height < 2 and self.columns:
            return
        kinds = (k for k, classes in KINDS.items() if {*classes} & {*moment.scene.active})
        kind = next(kinds, "values")
        writes = ("split", "jaxpr")
        new = kind != self.kind and (kind in writes or self.kind not in writes)
        if new or rises or not self.columns:
            self.kind = kind
            heads = HEADS[kind]
            if kind == "split" and {*KINDS["jaxpr"]} & {*moment.scene.active}:
                heads = [*HEADS["jaxpr"], heads[-1]]
            self.columns = [{"head": head, "cells": []} for head in heads]

    def operation(self, moment: Moment, step: Step) -> None:
        """An operation arrives, or is done: its result rises to the rule that asked for it."""
        level = step["level"]
        if moment.arrives:
            self.benches[level] = []
        if not moment.done or "results" not in step:
            return
        made = results(step)
        above = [(n, x) for n, x in moment.scene.busy if x is not step]
        if above:
            bench = self.benches.setdefault(above[-1][0], [])
            bench += [{**x, "cap": step["name"], "from": self.token(step)["key"]} for x in made]
        self.product(step, made, above[-1][0] if above else None)

    def product(self, step: Step, made: list[Item], above: int | None) -> None:
        """A row, or a line, of what the interpreter makes."""
        name = step["interpreter"]
        if self.kind in ("split", "jaxpr") and name in (*KINDS["split"], *KINDS["jaxpr"]):
            last = name in KINDS["split"] or self.kind == "jaxpr"
            self.line(-1 if last else 0, equation(step, made), made)
        elif self.kind == "split" and name not in KINDS["pairs"]:
            if above is None or step["level"] == 0:
                self.line(0, f"{applied(step)} = {' '.join(map(short, made))}", made)
        elif above is None and self.kind in ("pairs", "batch", "values") and made:
            self.row(step, made[0])

    def line(self, column: int, text: str, made: list[Item]) -> None:
        """A line at the end of a column, lit for this frame."""
        cells, column = self.columns[column]["cells"], column % len(self.columns)
        source = {"from": made[0]["key"]} if made else {}
        cells.append({"key": f"{column}.{len(cells)}", "text": text, "lit": True, **source})

    def row(self, step: Step, out: Item) -> None:
        """A row of the table of results."""
        cells = {
            "pairs": [words(x) for x in out.get("parts", [out, {"text": "0"}])[:2]],
            "batch": batch(out),
        }.get(self.kind, [words(out)])
        self.line(0, applied(step), [out])
        for n, text in enumerate(cells, 1):
            self.line(n, readable(text), [out])

    def rule(self, step: Step) -> None:
        """A lowering writes lines; a transpose rule returns cotangents."""
        if step["table"] == "hlo_lowerings":
            head, texts = "StableHLO", [hlo(x) for x in step.get("writes", [])]
        else:
            outs = [words(x) for x in items(step["results"], ids_of(step, "results"), "tangent")]
            head, texts = "Cotangents", [f"{step['name']}: {', '.join(outs)}"]
        if self.columns[-1]["head"] != head:
            self.columns = [*self.columns[-1:], {"head": head, "cells": []}]
            self.kind = "jaxpr" if head == "StableHLO" else "split"
        for text in texts:
            self.line(len(self.columns) - 1, text, [])

    def floor(self, level: int, name: str, step: Step | None, moment: Moment) -> dict[str, Any]:
        """An interpreter: what it does, the operation that it has, and its bench."""
        made: dict[str, Any] = {"level": level, "name": name, "row": [], "bench": []}
        if step is None:
            return made
        now = step is moment.step
        if now and moment.done:
            arrow = {"key": f"to{self.token(step)['key']}", "text": "→", "role": "plain"}
            made["row"] = [
                self.token(step),
                *([] if step.get("inside") and not moment.arrives else operands(step)),
                arrow,
                *results(step),
            ]
        else:
            opened = {} if now else {"open": True}
            made["row"] = [self.token(step), *({**x, **opened} for x in operands(step))]
            rule = drawing.rule_of(step)
            made["rule"] = rule["rule"].partition(".<locals>")[0] if rule and not now else ""
            made["bench"] = [] if now else [*self.benches.get(level, [])]
        made["state"] = "takes" if now else "waits"
        return made

    def token(self, step: Step) -> Item:
        """The operation itself."""
        number = self.numbers.setdefault(id(step), len(self.numbers))
        return {"key": f"op{number}", "text": step["name"], "role": "op"}


def call(step: Step, number: int, moment: Moment) -> dict[str, Any]:
    """A function that is called, as a floor: its arguments, or what it returned."""
    now = step is moment.step
    key = "results" if now and moment.done and "results" in step else "operands"
    name = step["name"].rpartition(".")[2] if "__" in step["name"] else step["name"]
    arrow = [{"key": f"back{number}", "text": "→", "role": "plain"}] if key == "results" else []
    title = {"__call__": "call"}.get(name, name)
    row = [*arrow, *items(step[key], ids_of(step, key))[:6]]
    return {
        "level": "ƒ",
        "name": title,
        "row": row,
        "bench": [],
        "state": "takes" if now else "waits",
    }


def operands(step: Step) -> list[Item]:
    """The operands as the interpreter saw them."""
    key = "seen" if "seen" in step else "operands"
    return items(step[key], ids_of(step, key))


def results(step: Step) -> list[Item]:
    """The results; a result of tangents only is a tangent."""
    given = operands(step)
    role = "tangent" if given and any(map(is_tangent, given)) else "value"
    return items(step["results"], ids_of(step, "results"), role)


def ids_of(step: Step, key: str) -> Any:
    """The numbers of a step's values."""
    return step.get("ids", {}).get(key)


def equation(step: Step, made: list[Item]) -> str:
    """An operation as an equation."""
    return readable_line(f"{' '.join(map(short, made))} = {applied(step)}")


def applied(step: Step) -> str:
    """An operation with its operands, if they are short."""
    text = " ".join([step["name"], *map(short, operands(step))])
    return text if len(text) <= 24 else str(step["name"])


def short(one: Item) -> str:
    """An item without its box."""
    parts = one.get("parts", ())
    return short(parts[-1]) if parts and "level" in one else words(one)


def batch(out: Item) -> list[str]:
    """The shape that the function sees, the real one, and the axis of the batch."""
    sizes = str(out.get("type", "")).strip("[]").split(",")
    axis = int(out["axis"]) if "axis" in out else None
    seen = [x for n, x in enumerate(sizes) if n != axis]
    return [f"[{','.join(seen)}]", f"[{','.join(sizes)}]", "none" if axis is None else str(axis)]


def hlo(line: str) -> str:
    """A line of StableHLO without its type."""
    return readable_line(line.partition(" : ")[0].replace("stablehlo.", ""))


def readable_line(text: str) -> str:
    """A line that is short enough for a column."""
    return text if len(text) <= 40 else f"{text[:39]}…"
