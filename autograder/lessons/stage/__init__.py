"""Frames of a stage: what it shows at each step of a recording, as plain data.

`frames(moments)` says what is where, never at which pixel: the floors, which are the interpreters
and calls that are active, the highest first, each with the operation that it has and what its rule
has computed so far; and the columns of what the outermost interpreter makes. `stage.js` finds the
places, and moves what has the same key from one frame to the next.
"""

import re
from collections.abc import Sequence
from typing import Any

from autograder.lessons import drawing
from autograder.lessons.drawing import Moment, Step
from autograder.lessons.stage.backward import Pass, passes
from autograder.lessons.stage.items import (
    OPAQUE,
    Item,
    ids_of,
    is_tangent,
    item,
    items,
    numbered,
    readable,
    words,
)

HEADS = {
    "pairs": ["Done so far", "Value", "Tangent"],
    "batch": ["Done so far", "f sees", "Really", "Axis"],
    "split": ["Now: values", "Residuals", "Later: a linear program"],
    "jaxpr": ["The program so far"],
    "values": ["Done so far", "Value"],
}
KINDS = {  # what interpreters make, by their classes; the first that is active counts
    "split": ("PartialEvalTrace", "LinearInterpreter"),
    "jaxpr": ("JaxprTrace", "StagingInterpreter", "JaxprInterpreter"),
    "batch": ("BatchTrace", "BatchInterpreter"),
    "pairs": ("JVPTrace", "JVPInterpreter"),
}

NOTES = {"axes": "axes={}", "length": "{} rounds", "axis_size": "{} at once"}  # of parameters


def frames(told: Sequence[Moment]) -> list[dict[str, Any]]:
    """The frame of each moment."""
    stage = Stage(passes(told))
    made = [stage.frame(moment) for moment in told]
    if any(moment.memory for moment in told):  # the curve of memory is what these are about
        made = [{**frame, "columns": []} for frame in made]
    return made


def changes(made: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of each frame what differs from the one before it: so the stage's script reads them."""
    before = [{}, *made]
    return [
        {key: x for key, x in frame.items() if key not in last or last[key] != x}
        for last, frame in zip(before, made, strict=False)
    ]


class Stage:
    """What is on the stage after the moments up to now."""

    def __init__(self, passes: Sequence[Pass] = ()) -> None:
        self.passes = passes
        self.back: Pass | None = None  # the way back that is being gone
        self.benches: dict[int, list[Item]] = {}  # by level: what a rule has computed so far
        self.numbers: dict[int, int] = {}  # of operations, by the ids of their steps
        self.ground: tuple[str, ...] = ()
        self.kind, self.height = "", 0  # what is made; how many interpreters were active
        self.columns: list[dict[str, Any]] = []
        self.lines = 0  # how many there have been

    def frame(self, moment: Moment) -> dict[str, Any]:
        """The next frame."""
        self.begin(moment)
        step = moment.step or {}
        if step.get("kind") == "operation" and "level" in step:
            self.operation(moment, step)
        elif step.get("kind") == "rule" and step["table"] == "hlo_lowerings":
            self.lowering(step)
        elif step.get("kind") == "round" and moment.scene.busy:
            self.round(moment, step)
        elif step.get("kind") == "call" and moment.done and self.kind in ("pairs", "values"):
            self.call(step)
        busy = dict(moment.scene.busy)
        for level in [x for x in self.benches if x not in busy]:
            del self.benches[level]
        active = moment.scene.active or self.ground
        self.ground = active[:1]
        floors = [self.floor(n, name, busy.get(n), moment) for n, name in enumerate(active)]
        if self.ground == ("EvalInterpreter",):  # microjax has one current interpreter
            here = [x for x in floors if x.get("state") != "waits"]
            here[-1]["name"] += " · current"
        shown = [{**x, "cells": [{**y} for y in x["cells"]]} for x in self.columns]
        for column in self.columns:
            for cell in column["cells"]:
                cell.pop("lit", None)
        calls = [call(x, n, moment) for n, x in enumerate(moment.scene.calls)]
        made = {"floors": [*calls[::-1], *floors[::-1]], "columns": shown}
        if back := self.way_back(moment, step):
            return {**made, "columns": [], **back.frame(moment)}
        return {**made, "graph": None, "transposed": "", "chips": []}

    def way_back(self, moment: Moment, step: Step) -> Pass | None:
        """The backward pass that is being gone: from its first rule on, until something else."""
        self.back = next((x for x in self.passes if id(step) in x.equations), self.back)
        new = step.get("kind") == "interpreter" and "becomes active" in moment.text
        if new or step.get("table") == "hlo_lowerings":
            self.back = None
        return self.back

    def begin(self, moment: Moment) -> None:
        """Columns for what the interpreters make, if others are active than before."""
        before, self.height = self.height, len(moment.scene.active)
        rises = self.height > 1 >= before
        works = self.height > before or (moment.step or {}).get("kind") == "operation"
        if self.columns and (self.height < 2 or not works):
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
            kept = {} if rises else {x["head"]: x for x in self.columns}
            self.columns = [kept.get(head, {"head": head, "cells": []}) for head in heads]

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
            own = any(x.get("level") == step["level"] for x in made)  # or it belongs further down
            if own or name == "StagingInterpreter":
                later = name in KINDS["split"] or self.kind == "jaxpr"
                self.equation(-1 if later else 0, step, made)
        elif self.kind == "split" and name not in KINDS["pairs"] and self.height > 1:
            if above is None or step["level"] == 0:
                self.line(0, f"{applied(step)} = {' '.join(map(short, made))}", made)
        elif above is None and self.kind in ("pairs", "batch", "values") and made:
            self.row(step, made[0])

    def equation(self, column: int, step: Step, made: list[Item]) -> None:
        """An equation of a program; what it needs of the values that are known is kept."""
        typed = self.columns[column]["head"] == HEADS["jaxpr"][0]
        names = " ".join(typed_name(x) if typed else short(x) for x in made)
        self.line(column, readable_line(f"{names} = {applied(step)}"), made)
        middle: dict[str, Any] = self.columns[-2] if len(self.columns) > 1 else {"head": ""}
        if middle["head"] == "Residuals" and column == -1:
            kept = {x["from"] for x in middle["cells"]}
            for x in map(opened, operands(step)):
                if "tip" not in x and x["key"] not in kept:
                    cell = {"key": f"kept{x['key']}", "text": readable(short(x)), "lit": True}
                    middle["cells"].append({**cell, "from": x["key"]})

    def round(self, moment: Moment, step: Step) -> None:
        """A round of a loop is on the bench of its floor: the carry goes in and comes out."""
        count, bench = step["carry"], list[Item]()
        for key, name in drawing.IN_A_ROUND:
            pairs = numbered(step[key], ids_of(step, key))
            for n, (x, number) in enumerate(pairs):
                bench.append({**item(x, number), "cap": "carry" if n < count else name})
            bench.append({"key": "toround", "text": "→", "role": "plain"})
        self.benches[moment.scene.busy[-1][0]] = bench[:-1]

    def line(self, column: int, text: str, made: list[Item]) -> None:
        """A line at the end of a column, lit for this frame.

        Its key is its number in whatever column: in a different case it may be in a different one.
        """
        source = {"from": made[0]["key"]} if made else {}
        self.columns[column]["cells"].append(
            {"key": self.lines, "text": text, "lit": True, **source}
        )
        self.lines += 1

    def row(self, step: Step, out: Item) -> None:
        """A row of the table of results."""
        cells = {
            "pairs": [words(x) for x in out.get("parts", [out, {"text": "0"}])[:2]],
            "batch": batch(out),
        }.get(self.kind, [words(out)])
        self.line(0, applied(step), [out])
        for n, text in enumerate(cells, 1):
            self.line(n, readable(text), [out])

    def call(self, step: Step) -> None:
        """A row for a function that returned: its name, and what it returned if that is short."""
        made = items(step.get("results", ()), ids_of(step, "results"))
        alone = made[0] if len(made) == 1 else {}
        inner = made if "level" in alone or "parts" not in alone else alone["parts"]
        told = [words(x) for x in inner if words(x) not in OPAQUE]
        texts = [title_of(step), readable(" ".join(told)), *[""] * len(self.columns)]
        for n in range(len(self.columns)):
            self.line(n, texts[n], made)

    def lowering(self, step: Step) -> None:
        """A lowering writes lines of StableHLO."""
        if self.columns[-1]["head"] != "StableHLO":
            self.columns = [*self.columns[:1], {"head": "StableHLO", "cells": []}]
            self.kind = "jaxpr"
        for line in step.get("writes", []):
            self.line(-1, hlo(line), [])

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
                *([] if step.get("inside") and not moment.arrives else in_rounds(step, "operands")),
                arrow,
                *in_rounds(step, "results"),
            ]
        else:
            opened = {} if now else {"open": True}
            made["row"] = [
                self.token(step),
                *({**x, **opened} for x in in_rounds(step, "operands")),
            ]
            rule = drawing.rule_of(step)
            made["rule"] = rule["rule"].partition(".<locals>")[0] if rule and not now else ""
            made["bench"] = [] if now else [*self.benches.get(level, [])]
        made["state"] = "takes" if now else "waits"
        return made

    def token(self, step: Step) -> Item:
        """The operation itself."""
        number = self.numbers.setdefault(id(step), len(self.numbers))
        params = step.get("params", {})
        notes = [note.format(params[name]) for name, note in NOTES.items() if name in params]
        cap = {"cap": notes[0]} if notes else {}
        return {"key": f"op{number}", "text": step["name"], "role": "op", **cap}


def call(step: Step, number: int, moment: Moment) -> dict[str, Any]:
    """A function that is called, as a floor: its arguments, or what it returned."""
    now = step is moment.step
    key = "results" if now and moment.done and "results" in step else "operands"
    arrow = [{"key": f"back{number}", "text": "→", "role": "plain"}] if key == "results" else []
    row = [*arrow, *items(step[key], ids_of(step, key))[:6]]
    return {
        "level": "ƒ",
        "name": title_of(step),
        "row": row,
        "bench": [],
        "state": "takes" if now else "waits",
    }


def title_of(step: Step) -> str:
    """The name of a function that is called, on its floor."""
    return drawing.callee(step).removeprefix("Jitted.")


def operands(step: Step) -> list[Item]:
    """The operands as the interpreter saw them."""
    key = "seen" if "seen" in step else "operands"
    return items(step[key], ids_of(step, key))


def results(step: Step) -> list[Item]:
    """The results; a result of tangents only is a tangent."""
    given = operands(step)
    role = "tangent" if given and any(map(is_tangent, given)) else "value"
    return items(step["results"], ids_of(step, "results"), role)


def in_rounds(step: Step, key: str) -> list[Item]:
    """Operands or results; of a loop over rows, those that it reads and makes as one a round."""
    made = operands(step) if key == "operands" else results(step)
    params = step.get("params", {})
    if step["name"] != "scan" or not params["length"].isdigit():
        return made
    whole = int(params["num_carry"]) + (key == "operands") * int(params["num_consts"])
    times = [*range(1, int(params["length"]) + 1)]
    times = times[::-1] if params["reverse"] == "True" else times
    return [*made[:whole], *(rows_of(x, times) for x in made[whole:])]


def rows_of(one: Item, times: Sequence[int]) -> Item:
    """An array as its rows, each with the round that reads or makes it, and so in boxes."""
    if "parts" in one:
        return {**one, "parts": [rows_of(x, times) for x in one["parts"]]}
    rows = one.get("rows", [])
    texts = rows[0] if len(rows) == 1 else [" ".join(row) for row in rows]
    if "level" in one or len(texts) != len(times):
        return one
    parts = [
        {"key": f"{one['key']}.{n}", "text": text, "role": one["role"], "cap": str(time)}
        for n, (text, time) in enumerate(zip(texts, times, strict=True))
    ]
    parts[times.index(1)]["cap"] = "round 1"
    return {"key": one["key"], "role": one["role"], "parts": parts}


def typed_name(one: Item) -> str:
    """A variable with its type, as a program has it."""
    variable = opened(one)
    return f"{short(one)}:{variable['tip']}" if "tip" in variable else short(one)


def opened(one: Item) -> Item:
    """What is in a box, and in the boxes in it."""
    parts = one.get("parts", ())
    return opened(parts[0]) if parts and "level" in one else one


def applied(step: Step) -> str:
    """An operation with its operands, if they are short."""
    text = " ".join([step["name"], *map(short, operands(step))])
    return text if len(text) <= 24 else str(step["name"])


def short(one: Item) -> str:
    """An item without its box."""
    return words(opened(one))


def batch(out: Item) -> list[str]:
    """The shape that the function sees, the real one, and the axis of the batch."""
    sizes = str(out.get("type", "")).strip("[]").split(",")
    axis = int(out["axis"]) if "axis" in out else None
    seen = [x for n, x in enumerate(sizes) if n != axis]
    return [f"[{','.join(seen)}]", f"[{','.join(sizes)}]", "none" if axis is None else str(axis)]


def hlo(line: str) -> str:
    """A line of StableHLO without its type."""
    text = line.partition(" : ")[0].partition(" across ")[0].replace("stablehlo.", "")
    return readable_line(re.sub(r"dense<0x0+>", "dense<0>", text))


def readable_line(text: str) -> str:
    """A line that is short enough for a column."""
    return text if len(text) <= 40 else f"{text[:39]}…"
