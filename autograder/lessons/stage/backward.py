"""The way back: the equations that are transposed as a graph, and cotangents that run through it.

A pass is the list of transpose rules that one backward pass runs, in this order; rules inside the
rule of a call or of a loop are that rule's own. The graph's arrows lead from operands to results,
and a cotangent runs the other way. Two that arrive at one variable are added: a fork becomes a sum.
"""

import functools
from collections.abc import Iterator, Sequence
from typing import Any

from autograder.lessons import layered
from autograder.lessons.drawing import Moment, Step, applied_to, within
from autograder.lessons.stage.items import Item, ids_of, item, items, numbered, words

NODE = 86.0  # the width that the layout gives every node; only their order and distances matter


def passes(told: Sequence[Moment]) -> list["Pass"]:
    """The backward passes of a recording."""
    rules = list({id(x.step): x.step for x in told if is_transpose(x.step)}.values())
    nested = {id(y) for x in rules if x for y in every(within(x))}
    found: list[Pass] = []
    for step in rules:
        if step is None or id(step) in nested:
            continue
        if not found or {*Equation(step).outs} & found[-1].made:
            found.append(Pass())
        found[-1].add(step)
    return found


def is_transpose(step: Step | None) -> bool:
    """Whether a step is a transpose rule whose equation is known."""
    return bool(step and step.get("table") == "transpose_rules" and "equation" in step)


def every(steps: Sequence[Step]) -> Iterator[Step]:
    """All steps, with those inside."""
    for step in steps:
        yield step
        yield from every(within(step))


class Equation:
    """An equation that is transposed: its results, its operation, its operands and which count."""

    def __init__(self, step: Step) -> None:
        outs, _, right = applied_to(step).partition(" = ")
        self.outs = outs.split(" ")
        self.name, *self.ins = right.split(" ")
        given = step["operands"][1:]
        linear = [isinstance(x, str) and x.startswith("unknown") for x in given]
        self.linear = [x for x, yes in zip(self.ins, linear, strict=False) if yes]
        known = [words(x) for x, yes in zip(items(given), linear, strict=False) if not yes]
        short = [x for x in known if len(x) <= 8][:1]
        self.text = " ".join([self.name, *short])


class Pass:
    """One backward pass: its graph, and where its cotangents are."""

    def __init__(self) -> None:
        self.equations: dict[int, Equation] = {}  # by step, the last one first
        self.made: set[str] = set()
        self.at = ""  # the result whose equation is transposed
        self.chips: dict[str, list[Item]] = {}  # by variable

    def add(self, step: Step) -> None:
        """One equation more."""
        equation = Equation(step)
        self.equations[id(step)] = equation
        self.made |= {*equation.outs}

    @functools.cached_property
    def variables(self) -> list[str]:
        """The variables, each after those that it is made from."""
        equations = list(self.equations.values())[::-1]
        made = [x.outs[0] for x in equations]
        used = [v for x in equations for v in x.linear]
        return [*dict.fromkeys(v for v in used if v not in self.made), *made]

    @functools.cached_property
    def drawn(self) -> dict[str, Any]:
        """Nodes and arrows with their places: a layer, and how far across it, from 0 to 1."""
        maker = {v: x for x in self.equations.values() for v in x.outs}
        place = {v: n for n, v in enumerate(self.variables)}
        place |= {v: place[x.outs[0]] for v, x in maker.items()}
        reads = [[place[u] for u in maker[v].linear] if v in maker else [] for v in self.variables]
        plan = layered.draw([layered.Node(NODE, x) for x in reads])
        across = [round(x / plan.width, 3) for x in plan.middles]
        nodes = [
            {"name": v, "text": maker[v].text if v in maker else v, "layer": layer, "across": x}
            for v, layer, x in zip(self.variables, plan.layers, across, strict=True)
        ]
        ways = [
            {"way": [[layer, round(x / plan.width, 3)] for x, layer in way], "ends": list(ends)}
            for ends, way in plan.ways.items()
        ]
        return {"nodes": nodes, "ways": ways, "widest": round(plan.width / NODE, 2)}

    def frame(self, moment: Moment) -> dict[str, Any]:
        """The graph after one moment more."""
        step = moment.step or {}
        if equation := self.equations.get(id(step)):
            self.transpose(step, equation, moment.done)
        elif moment.done and step.get("kind") == "operation":
            self.merge(step)
        chips = [{**x, "at": v} for v, there in self.chips.items() for x in there]
        return {"graph": self.drawn, "transposed": self.at, "chips": chips}

    def transpose(self, step: Step, equation: Equation, done: bool) -> None:
        """A rule begins with the cotangent of a result, and ends with one for each operand."""
        self.at = equation.outs[0]
        if not self.chips.get(self.at):
            self.chips[self.at] = cotangents(step, "operands")[:1]
        if not done:
            return
        arriving = zip(equation.ins, step.get("results", ()), strict=False)
        chips = iter(cotangents(step, "results"))
        for variable, shown in arriving:
            if shown != "None":
                made = {**next(chips), "from": self.chips[self.at][0]["key"], "by": self.at}
                there = self.chips.setdefault(variable, [])
                there.append({**made, "key": f"{made['key']}.{variable}{len(there)}"})

    def merge(self, step: Step) -> None:
        """Two cotangents of a variable that an operation has added are one."""
        given = {x["id"] for x in items_of(step, "operands")}
        for variable, there in self.chips.items():
            if len(there) > 1 and {x["id"] for x in there} <= given:
                (total,) = items_of(step, "results")
                parts = " + ".join(x["text"] for x in there)
                parts = parts if len(parts) <= 16 else "two are added"
                self.chips[variable] = [{**there[0], **total, "key": there[0]["key"], "cap": parts}]


def cotangents(step: Step, key: str) -> list[Item]:
    """What a rule is given or returns, as chips."""
    return [{**x, "role": "tangent"} for x in items_of(step, key)]


def items_of(step: Step, key: str) -> list[Item]:
    """Values as chips with short texts; `id` is the object, whatever box it is seen in."""
    pairs = numbered(step.get(key, []), ids_of(step, key))
    made = [item(x, n) for x, n in pairs if x != "None"]
    return [{"key": x["key"], "id": x["key"], "text": cut(bare(x))} for x in made]


def bare(one: Item) -> str:
    """A value without its boxes: of a pair with a tangent, the value."""
    return bare(one["parts"][0]) if "level" in one and "parts" in one else words(one)


def cut(text: str) -> str:
    """A text that fits below a node."""
    return text if len(text) <= 16 else f"{text[:15]}…"
