"""What takes the place of a package's functions, methods and rules, and tells what they did."""

import contextlib
import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from autograder.recording import rounds
from autograder.recording.package import type_name
from autograder.recording.sources import place_of
from autograder.recording.steps import Record, Step
from autograder.recording.values import cut, one_line

Function = Callable[..., Any]


def bound(record: Record, bind: Function) -> Function:
    """In the place of `bind`: an operation begins."""

    @functools.wraps(bind)
    def recorded(op: Any, *args: Any, **params: Any) -> Any:
        if not record.listens:
            return bind(op, *args, **params)
        facts = functools.partial(operation, record, op, args, params)
        with record.step("operation", facts) as step:
            outs = bind(op, *args, **params)
            record.finish(step, outs)
            if step.taker is not None and not same(outs, step.raw):
                record.finish(step, step.raw, "boxed")
            return outs

    return recorded


def operation(
    record: Record, primitive: Any, args: Sequence[Any], params: Mapping[str, Any]
) -> dict[str, Any]:
    """The facts of an operation that begins."""
    facts: dict[str, Any] = {
        "name": str(primitive),
        "operands": [record.show(x) for x in args],
        "active": [type_name(x) for x in record.package.interpreters()],
    }
    if params:
        facts["params"] = {name: cut(one_line(x), 80) for name, x in params.items()}
    if (dynamic := getattr(record.package.state("trace_state"), "dynamic_trace", None)) is not None:
        facts["dynamic"] = dynamic.level
    return record.identify(facts, operands=args)


def taken(record: Record, method: Function) -> Function:
    """In the place of an interpreter's method that applies an operation."""

    @functools.wraps(method)
    def recorded(taker: Any, primitive: Any, operands: Any, *rest: Any, **more: Any) -> Any:
        last = record.open[-1] if record.open else None
        apply = functools.partial(method, taker, primitive, operands, *rest, **more)
        if not record.listens or (last and last.taker is taker):  # it asks its base class
            return apply()
        if last and last.kind == "operation" and last.taker is None:
            take(record, last, taker, operands, method)
            last.raw = appended(record, last, taker, apply)
            return last.raw
        facts = functools.partial(operation, record, primitive, operands, {})
        with record.step("operation", facts) as step:  # asked without `bind`
            take(record, step, taker, operands, method)
            outs = appended(record, step, taker, apply)
            record.finish(step, outs)
            return outs

    return recorded


def take(record: Record, step: Step, taker: Any, operands: Any, method: Any) -> None:
    """Note who takes an operation, by which method, and as what it sees the operands."""
    step.taker = taker
    step.facts.update(interpreter=type_name(taker), level=record.package.level_of(taker))
    step.facts.update(record.source_of(method))
    seen = record.quietly(lambda: {"seen": [record.show(x) for x in operands]})
    if seen["seen"] != step.facts.get("operands"):
        step.facts.update(seen)
        record.identify(step.facts, seen=operands)


def appended(record: Record, step: Step, taker: Any, apply: Function) -> Any:
    """What `apply` gives; the equations that it adds to the interpreter's program are noted."""
    eqns = equations_of(taker)
    before = len(eqns)
    outs = apply()
    if len(eqns) > before:
        step.facts.update(record.quietly(lambda: {"appends": record.show(eqns[before:])["list"]}))
    return outs


def equations_of(taker: Any) -> list[Any]:
    """The equations of the program that an interpreter writes, if it writes one."""
    holder = getattr(getattr(taker, "main", None), "global_data", taker)
    method = inspect.unwrap(getattr(type(taker), "interpret_op", equations_of))
    around = inspect.getclosurevars(method).nonlocals  # of a class that is made in a function
    found = getattr(holder, "eqns", getattr(holder, "equations", around.get("equations")))
    return found if isinstance(found, list) else []


def boxing(record: Record, method: Function, how: str) -> Function:
    """In the place of `pure` and `lift`: a step if the value comes out in a box."""

    @functools.wraps(method)
    def recorded(trace: Any, val: Any) -> Any:
        if not record.listens:
            return method(trace, val)
        record.asleep = True  # `lift` may call `pure`, and both are one step
        try:
            box = method(trace, val)
        except BaseException as error:
            record.asleep = False
            record.note(record.add("box", lambda: {"how": how, "value": record.show(val)}), error)
            raise
        finally:
            record.asleep = False
        if box is not val:
            facts = functools.partial(boxed, record, how, val, box)
            record.add("box", facts)
        return box

    return recorded


def boxed(record: Record, how: str, val: Any, box: Any) -> dict[str, Any]:
    """The facts of a value that was put into a box."""
    facts = {"how": how, "value": record.show(val), "results": [record.show(box)]}
    return record.identify(facts, value=[val], results=[box])


def ruled(record: Record, table: str, primitive: Any, rule: Function) -> Function:
    """In the place of a rule."""

    @functools.wraps(rule)
    def recorded(*args: Any, **params: Any) -> Any:
        if not record.listens:
            return rule(*args, **params)
        with record.step("rule", lambda: rule_facts(record, table, primitive, rule, args)) as step:
            lines = lines_of(args)
            before = len(lines)
            outs = rule(*args, **params)
            if table == "impl_rules":
                rounds.note(record, primitive, args, params)
            record.finish(step, outs)
            if len(lines) > before:
                step.facts["writes"] = [cut(x.strip(), 200) for x in lines[before:]]
            return outs

    recorded.rule_of = rule  # type: ignore[attr-defined]
    return recorded


def entry(record: Record, table: str, primitive: Any, rule: Any) -> Any:
    """In the place of a table's entry: a rule, or a list with one for each operand."""
    if isinstance(rule, list):
        return [entry(record, table, primitive, x) for x in rule]
    known = not callable(rule) or hasattr(rule, "rule_of")
    return rule if known else ruled(record, table, primitive, rule)


def rule_facts(record: Record, table: str, primitive: Any, rule: Any, args: Sequence[Any]) -> Any:
    """The facts of a rule that begins: its name, where it is, and its arguments."""
    operands = [record.show(x) for x in args]
    place = {**place_of(rule, record.package.folder()), **record.source_of(rule)}
    facts = {"table": table, "name": str(primitive), **place, "operands": operands}
    if table == "transpose_rules":
        facts.update(equation_for(record, primitive))
    return record.identify(facts, operands=args)


def equation_for(record: Record, primitive: Any) -> dict[str, Any]:
    """The fact `equation`: which one a rule runs for, if a function that led here holds it."""
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        for held in list(frame.f_locals.values()):
            if type(held).__name__ == "JaxprEqn" and held.primitive is primitive:
                return {"equation": record.show(held)}
    return {}


def looked_up(record: Record, get_rule: Function) -> Function:
    """In the place of `get_rule`, for rules that came into the tables meanwhile."""

    @functools.wraps(get_rule)
    def recorded(rules: Any, primitive: Any, *rest: Any) -> Any:
        rule = get_rule(rules, primitive, *rest)
        names = [name for _, name, table in record.package.tables() if table is rules]
        return entry(record, names[0] if names else "rules", primitive, rule)

    return recorded


def activating(record: Record, function: Function) -> Function:
    """In the place of `new_main` and `set_interpreter`: an interpreter is active for a time."""

    @functools.wraps(function)
    @contextlib.contextmanager
    def recorded(interpreter: Any, *rest: Any, **more: Any) -> Iterator[Any]:
        record.meet(interpreter if isinstance(interpreter, type) else type(interpreter))
        if not record.listens:
            with function(interpreter, *rest, **more) as active:
                yield active
            return
        facts = {"interpreter": type_name(interpreter)}
        with (
            record.step("interpreter", lambda: facts) as step,
            function(interpreter, *rest, **more) as active,
            record.package.known(interpreter),
        ):
            current = interpreter if active is None else active
            step.facts["level"] = record.package.level_of(current)
            step.facts["active"] = [type_name(x) for x in record.package.interpreters()]
            yield active

    return recorded


def same(outs: Any, raw: Any) -> bool:
    """Whether two results, or two lists of results, are the same objects."""
    if isinstance(outs, list) and isinstance(raw, list | tuple):
        return len(outs) == len(raw) and all(a is b for a, b in zip(outs, raw, strict=True))
    return outs is raw


def lines_of(args: Sequence[Any]) -> list[str]:
    """The lines to which a lowering adds its own: its first argument has them."""
    lines = getattr(args[0], "lines", None) if args else None
    return lines if isinstance(lines, list) else []


FUNCTIONS: dict[str, Callable[[Record, Function], Function]] = {
    "bind": bound,
    "get_rule": looked_up,
    "new_main": activating,
    "set_interpreter": activating,
}
METHODS: dict[str, Callable[[Record, Function], Function]] = {
    "process_primitive": taken,
    "interpret_op": taken,
    "pure": functools.partial(boxing, how="pure"),
    "lift": functools.partial(boxing, how="lift"),
}
