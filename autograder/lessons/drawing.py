"""Tells recordings (autograder/recording): as lines for a terminal, and as steps (stepper.py).

A box is written as in the lessons: `[3.0 | 1.0]₁` for a box of level 1 with the parts 3.0 and 1.0.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autograder.lessons.said import VARIABLE, counted, listed, shortened, told, value, values

Step = dict[str, Any]


# ------------------------------------------------------------------------------------------
# Texts of the parts


def operation(step: Step) -> str:
    """An operation or a rule with its operands: `reduce_sum[axes=(0,)] [1., 2.]`."""
    params = ", ".join(f"{name}={text}" for name, text in step.get("params", {}).items())
    return " ".join([step["name"] + (f"[{params}]" if params else ""), *values(step["operands"])])


def brief(step: Step) -> str:
    """An operation as a sentence has it, without parameters that are long or say nothing."""
    params = step.get("params", {})
    named = {name: re.sub(r"^<function (.*)>$", r"\1", text) for name, text in params.items()}
    off = ("False", "None")
    short = {name: text for name, text in named.items() if len(text) <= 30 and text not in off}
    bare = operation({**step, "params": short, "operands": []})
    return " ".join([bare, *counted(values(step["operands"]))])


def called(step: Step) -> str:
    """A call of a function with its arguments: `rotate_left(1, 13)`."""
    return f"{step['name']}({', '.join(values(step['operands']))})"


def results(step: Step) -> str:
    """What a step gave; how it ended, if it gave nothing."""
    if "missing" in step:
        return f"missing: {step['missing']} is still to do"
    if "error" in step:
        return f"{step['error']['type']}: {step['error']['message']}"
    return ", ".join(counted(values(step["results"]))) if "results" in step else "nothing"


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
        if step["kind"] == "call" and "inside" not in step and "error" not in step:
            yield indent + called(step) + (f" -> {results(step)}" if "results" in step else "")
            continue
        for line in HEADS[step["kind"]](step):
            yield indent + line
        yield from lines(within(step), indent + "  ")
        if step["kind"] in ("operation", "call") and "results" in step:
            yield f"{indent}-> {results(step)}{unboxed(step)}"


def is_leaf(step: Step) -> bool:
    """Whether an operation was done without any other one, by one rule at most."""
    inner = within(step)
    further = [x for x in inner if x["kind"] != "rule" or "inside" in x]
    return "results" in step and len(inner) <= 1 and not further


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
    "call": lambda step: [f"{called(step)}{ended(step)}"],
    "round": lambda step: [
        f"round {step['number']}: {', '.join(values(step['operands']))} -> {results(step)}"
    ],
    "print": lambda step: [f"prints: {step['text']}"],
    "folded": lambda step: [f"... {step['count']} more inside"],
}


# ------------------------------------------------------------------------------------------
# Step by step


@dataclass(frozen=True)
class Scene:
    """Where a stepper is: the calls and interpreters that are active, and which have operations."""

    active: tuple[str, ...] = ()
    calls: tuple[Step, ...] = ()
    busy: tuple[tuple[int, Step], ...] = ()  # levels with their operations, the first one first


@dataclass(frozen=True)
class Moment:
    """One step of a stepper: what happens, and where."""

    text: str  # with `code` between backticks
    scene: Scene = Scene()  # what is active
    at: int | None = None  # the program's line that is being evaluated
    begun: int | None = None  # the line from which the program came there, if it did
    level: int | None = None  # of the interpreter that it is about
    source: int | None = None  # of the rule, or of the interpreter's method: its place in `sources`
    part: Sequence[int] | None = None  # the columns in its line of the expression
    rule_line: Sequence[int] | None = None  # the rule that asks for it, and the line there
    memory: int | None = None  # bytes that arrays take at the end of it
    peak: int | None = None  # and at most during it
    step: Step | None = None  # what it is about
    arrives: bool = True  # whether it begins here; it may end here too
    done: bool = False


def moments(steps: Sequence[Step], scene: Scene = Scene()) -> Iterator[Moment]:
    """The steps one after the other, as a stepper shows them."""
    for step in steps:
        facts = ("at", "part", "rule_line", "memory", "peak")
        known: dict[str, Any] = {name: step.get(name) for name in facts}
        known["begun"], known["step"] = step.get("from"), step
        now = replace(scene, active=tuple(step.get("active", scene.active)))
        for moment in MOMENTS[step["kind"]](step, now):
            missing = {name: x for name, x in known.items() if getattr(moment, name) is None}
            text = moment.text if step["kind"] == "print" else shortened(moment.text)
            yield replace(moment, text=text, **missing)


def of_interpreter(step: Step, scene: Scene) -> Iterator[Moment]:
    """An interpreter becomes active, and leaves."""
    level, name = step.get("level", 0), step["interpreter"]
    new = level + 1 == len(scene.active)  # in a context, one further down may be current again
    if new or "error" in step:
        about = f"`{name}` becomes active, at level {level}.{noted(step)}"
        yield Moment(about, scene, level=level)
    yield from moments(within(step), scene)
    before = replace(scene, active=scene.active[:level])
    if new and "ended" not in step and "error" not in step:
        yield Moment(f"`{name}` of level {level} ends.", before, level=level)


def of_operation(step: Step, scene: Scene) -> Iterator[Moment]:
    """An operation is taken; what its rule does follows, and the result at the end."""
    if "interpreter" not in step:
        yield Moment(f"`{brief(step)}` is not taken.{noted(step)}", scene)
        yield from moments(within(step), scene)
        return
    name, level = step["name"], step["level"]
    applied = rule_of(step)
    does = f"applies {called_rule(applied)}" if applied else "takes it"
    takes = f"`{brief(step)}` goes to level {level}, where `{step['interpreter']}` {does}."
    boxes = [boxing(x) for x in within(step) if x["kind"] == "box"]
    working = replace(scene, busy=(*scene.busy, (level, step)))
    inner = list(moments(within(step), working))
    out = f" Result: `{results(step)}`." if "results" in step else ""
    moment = Moment(
        " ".join([takes, *boxes]) + noted(step) + ("" if inner else out),
        working,
        level=level,
        source=(applied or step).get("source", step.get("source")),
        step=step,
        done=not inner,
    )
    yield moment
    yield from inner
    if inner and out:
        done = f"Level {level} is done with `{name}`.{out}"
        yield replace(moment, text=done, arrives=False, done=True)


def of_rule(step: Step, scene: Scene) -> Iterator[Moment]:
    """What a rule does; a rule that no operation asked for is told itself."""
    if step["table"] not in TOLD:
        if "error" in step:
            yield Moment(f"`{step['rule']}`{place(step)} fails.{noted(step)}", scene)
        yield from moments(within(step), scene)
        return
    moment = Moment("", scene, source=step.get("source"), arrives=False, done=True)
    about = f"The {TOLD[step['table']]} `{applied_to(step)}`, {called_rule(step)},"
    if step["table"] != "transpose_rules":
        yield replace(moment, text=about + written(step), arrives=True)
        return
    gets = f"{about} gets the cotangent {told(step['operands'][:1])}"
    inner = list(moments(within(step), scene))
    if not inner:
        yield replace(moment, text=f"{gets} and returns {returned(step)}.", arrives=True)
        return
    yield replace(moment, text=f"{gets}.", arrives=True, done=False)
    yield from inner
    yield replace(moment, text=f"The rule of `{applied_to(step)}` returns {returned(step)}.")


def applied_to(step: Step) -> str:
    """The equation that a rule runs for, without types; the operation if it is not recorded."""
    return VARIABLE.sub(r"\1", str(step.get("equation", step["name"])))


def returned(step: Step) -> str:
    """The cotangents that a transpose rule returns, each with its variable."""
    names = applied_to(step).partition(" = ")[2].split(" ")[1:]
    outs = step.get("results", [])
    if len(names) != len(outs):
        return told(outs)
    pairs = zip(names, outs, strict=True)
    return listed([f"{told([x])} for `{name}`" for name, x in pairs if x != "None"])


def written(step: Step) -> str:
    """The lines that a lowering writes."""
    lines = "\n".join(step.get("writes", []))
    if "\n" in lines:
        return f" writes: `{lines}`"
    return f" writes `{lines}`." if lines else " writes nothing."


def of_box(step: Step, scene: Scene) -> Iterator[Moment]:
    """A box that fails; others are told with their operation."""
    if "error" in step:
        yield Moment(f"`{step['how']}` fails on `{value(step['value'])}`.{noted(step)}")


def of_call(step: Step, scene: Scene) -> Iterator[Moment]:
    """A call of a function, what happens during it, and what it returns."""
    inside = replace(scene, calls=(*scene.calls, step))
    name = f"`{callee(step)}`"
    inner = list(moments(within(step), inside))
    moment = Moment("", inside, source=step.get("source"))
    given = told(step["operands"])
    if not inner and "results" in step:
        text = f"{name} gets {given} and returns {told(step['results'])}."
        yield replace(moment, text=text, done=True)
        return
    yield replace(moment, text=f"{name} is called with {given}.{noted(step)}")
    yield from inner
    if "results" in step:
        yield replace(moment, text=f"{name} returns {told(step['results'])}.", done=True)


def callee(step: Step) -> str:
    """The name of a function that is called."""
    return str(step["name"]).removesuffix(".__call__")


# Where a round's values are in its step, and what those after the carry are called.
IN_A_ROUND = (("operands", "row"), ("results", "y"))


def of_round(step: Step, scene: Scene) -> Iterator[Moment]:
    """A round of a loop: what it is given, and what it returns."""
    given, made = (carried(step, key, name) for key, name in IN_A_ROUND)
    level = scene.busy[-1][0] if scene.busy else None
    text = f"Round {step['number']} gets {given} and returns {made}."
    yield Moment(text, scene, level=level, done=True)


def carried(step: Step, key: str, other: str) -> str:
    """The carry in the values of a round, and what else there is."""
    count, shown = step["carry"], step[key]
    parts = {"the carry": shown[:count], f"the {other}": shown[count:]}
    return (
        " and ".join(f"{name} `{', '.join(values(x))}`" for name, x in parts.items() if x)
        or "nothing"
    )


def of_print(step: Step, scene: Scene) -> Iterator[Moment]:
    """A line that the program prints."""
    text = step["text"]
    several = "\n" in text
    yield Moment(
        f"The program prints:`{text}`" if several else f"The program prints `{text}`.", scene
    )


MOMENTS: dict[str, Callable[[Step, Scene], Iterator[Moment]]] = {
    "operation": of_operation,
    "rule": of_rule,
    "interpreter": of_interpreter,
    "box": of_box,
    "call": of_call,
    "round": of_round,
    "print": of_print,
    "folded": lambda step, scene: iter(()),
}


def called_rule(step: Step) -> str:
    """A rule by its name, or by that of the function which made it, and where it is."""
    name = step["rule"].partition(".<locals>")[0]
    return ("a lambda" if name == "<lambda>" else f"`{name}`") + place(step)


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


def ending(document: dict[str, Any]) -> str:
    """How the program ended."""
    error = document.get("error")
    if error is None:
        return "The program ran to its end."
    if "missing" in error:
        return f"The program ends at `{error['missing']}`, which is still to do."
    where = [f for f in error["frames"] if f["file"] == document["file"]]
    line = f" in line {where[-1]['line']}" if where else ""
    deeper = "" if where[-1:] == error["frames"][-1:] else raised_in(error)
    return f"The program ends{line} with {error['type']}: {error['message']}{deeper}"


def raised_in(error: dict[str, Any]) -> str:
    """The line of a module at which an error was raised; a module that cannot be read says it."""
    if error["type"] in ("SyntaxError", "ImportError", "ModuleNotFoundError"):
        return ""
    last = error["frames"][-1]
    return f" ({'/'.join(Path(last['file']).parts[-2:])}, line {last['line']})"
