"""Records what happens inside an interpreter while a program runs: each operation, step by step.

    with recording("minijax") as record:
        jvp(sin, (3.0,), (1.0,))
    record.document()  # plain data; docs/recordings.md describes it

Everything is observed from outside. For the time of the `with` block, wrappers take the place of
`bind`, of the functions that make an interpreter active, of the interpreters' methods and of the
rules in the tables. They tell what goes in and what comes out, whatever the package does between.
So a student's own package can be recorded, finished or not: an exercise that is still to do shows
up as what is missing. `drawing.py` makes texts and pages of a recording.

As a program of its own it records a given program (see `main`). It needs the standard library only,
since it runs with a student's package and nothing else of ours.
"""

import ast
import contextlib
import functools
import importlib
import inspect
import io
import json
import linecache
import re
import sys
import threading
import traceback
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

VERSION = 1
PACKAGES = ("minijax", "microjax")
LIMIT = 20_000  # steps in one recording; what happens afterwards is left out

# A text; a list of these; {"list": values} and {"dict": [[key, value], ...]} for Python's own; or
# {"box": class, "level": n, "parts": {name: value}}.
Value = Any


@dataclass(eq=False)  # two that say the same are two
class Step:
    """Something that began, maybe ended, and what happened between."""

    kind: str  # "operation", "rule", "interpreter", "box", "call" or "print"
    facts: dict[str, Any]
    inside: list["Step"] = field(default_factory=list)
    taker: Any = None  # the interpreter that took an operation
    raw: Any = None  # what it gave, before it was unboxed

    def plain(self) -> dict[str, Any]:
        """The step as plain data."""
        inside = {"inside": [step.plain() for step in self.inside]} if self.inside else {}
        return {"kind": self.kind, **self.facts, **inside}


class Recorder:
    """The steps of one recording, and where it is in them."""

    def __init__(self, package: str, limit: int = LIMIT) -> None:
        self.package = package
        self.steps: list[Step] = []
        self.open: list[Step] = []  # those that have not ended, the outermost first
        self.count, self.limit = 0, limit
        self.thread = threading.get_ident()
        self.asleep = False  # while values are shown: what their methods do is not the program's
        self.told: BaseException | None = None  # the error whose place is recorded
        self.bases: list[Any] = []  # where contexts hold the current interpreter: their first ones
        self.active: list[Any] = []  # and all that are active, from such a one upwards
        self.file: str | None = None  # of the program whose lines are noted
        self.sources: list[dict[str, Any]] = []  # of the functions that steps name
        self.memory: Memory | None = None  # if it is measured
        self.show = Shown(self.level_of)

    def document(self) -> dict[str, Any]:
        """Everything as plain data, ready for JSON."""
        return {
            "format": "jaxprentice-recording",
            "version": VERSION,
            "package": self.package,
            "cut": self.count > self.limit,
            "sources": self.sources,
            "steps": [step.plain() for step in self.steps],
        }

    @property
    def listens(self) -> bool:
        """Whether what happens now belongs into the recording."""
        return not self.asleep and threading.get_ident() == self.thread

    @contextlib.contextmanager
    def step(self, kind: str, facts: Callable[[], dict[str, Any]]) -> Iterator[Step]:
        """A step that lasts as long as the `with` block; errors that end it are noted once."""
        step = self.add(kind, facts)
        self.open.append(step)
        try:
            yield step
        except BaseException as error:
            self.note(step, error)
            raise
        finally:
            self.close(step)

    def close(self, step: Step) -> None:
        """End a step, and let go of the values that it held."""
        del self.open[self.open.index(step) :]
        step.taker = step.raw = None
        if self.memory:
            step.facts["memory"] = self.memory.held()

    def add(self, kind: str, facts: Callable[[], dict[str, Any]]) -> Step:
        """A new step inside the one that is open; above the limit it is counted, and not kept."""
        self.count += 1
        kept = self.count <= self.limit
        step = Step(kind, {**self.quietly(facts), **line_in(self.file)} if kept else {})
        if kept:
            (self.open[-1].inside if self.open else self.steps).append(step)
        return step

    def quietly(self, facts: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """What `facts` gives, computed without being recorded itself."""
        self.asleep = True
        try:
            return facts()
        finally:
            self.asleep = False

    def finish(self, step: Step, outs: Any, key: str = "results") -> None:
        """Note what a step gave."""
        if self.memory:
            self.measure(self.memory, outs)
        if self.count <= self.limit:
            step.facts.update(self.quietly(lambda: {key: self.show.several(outs)}))

    def measure(self, memory: "Memory", outs: Any) -> None:
        """Count new results; that may be the most that has been held during the open steps."""
        memory.add(outs)
        for step in self.open:
            step.facts["peak"] = max(memory.held(), step.facts.get("peak", 0))

    def note(self, step: Step, error: BaseException) -> None:
        """Note an error with the innermost step that it ended."""
        if error is self.told:
            step.facts["ended"] = True
            return
        self.told = error
        message = self.quietly(lambda: {"text": cut(str(error), 300)})["text"]
        step.facts["error"] = {"type": type(error).__name__, "message": message}
        if missing := exercise_of(error):
            step.facts["missing"] = missing

    # The wrappers

    def bound(self, bind: Callable[..., Any]) -> Callable[..., Any]:
        """In the place of `bind`: an operation begins."""

        @functools.wraps(bind)
        def recorded(op: Any, *args: Any, **params: Any) -> Any:
            if not self.listens:
                return bind(op, *args, **params)
            facts = functools.partial(self.operation, op, args, params)
            with self.step("operation", facts) as step:
                outs = bind(op, *args, **params)
                self.finish(step, outs)
                if step.taker is not None and not same(outs, step.raw):
                    self.finish(step, step.raw, "boxed")
                return outs

        return recorded

    def operation(self, primitive: Any, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """The facts of an operation that begins."""
        facts: dict[str, Any] = {
            "name": str(primitive),
            "operands": [self.show(x) for x in args],
            "active": [type_name(x) for x in self.interpreters()],
        }
        if params:
            facts["params"] = {name: cut(one_line(x), 80) for name, x in params.items()}
        if (dynamic := getattr(self.state("trace_state"), "dynamic_trace", None)) is not None:
            facts["dynamic"] = dynamic.level
        return facts

    def taken(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """In the place of an interpreter's method that applies an operation."""

        @functools.wraps(method)
        def recorded(taker: Any, primitive: Any, operands: Any, *rest: Any, **more: Any) -> Any:
            last = self.open[-1] if self.open else None
            apply = functools.partial(method, taker, primitive, operands, *rest, **more)
            if not self.listens or (last and last.taker is taker):  # it asks its base class
                return apply()
            if last and last.kind == "operation" and last.taker is None:
                self.take(last, taker, operands, method)
                last.raw = apply()
                return last.raw
            facts = functools.partial(self.operation, primitive, operands, {})
            with self.step("operation", facts) as step:  # asked without `bind`
                self.take(step, taker, operands, method)
                outs = apply()
                self.finish(step, outs)
                return outs

        return recorded

    def take(self, step: Step, taker: Any, operands: Any, method: Any) -> None:
        """Note who takes an operation, by which method, and as what it sees the operands."""
        step.taker = taker
        step.facts.update(interpreter=type_name(taker), level=self.level_of(taker))
        step.facts.update(self.source_of(method))
        seen = self.quietly(lambda: {"seen": [self.show(x) for x in operands]})
        if seen["seen"] != step.facts.get("operands"):
            step.facts.update(seen)

    def boxing(self, method: Callable[..., Any], how: str) -> Callable[..., Any]:
        """In the place of `pure` and `lift`: a step if the value comes out in a box."""

        @functools.wraps(method)
        def recorded(trace: Any, val: Any) -> Any:
            if not self.listens:
                return method(trace, val)
            self.asleep = True  # `lift` may call `pure`, and both are one step
            try:
                box = method(trace, val)
            except BaseException as error:
                self.asleep = False
                self.note(self.add("box", lambda: {"how": how, "value": self.show(val)}), error)
                raise
            finally:
                self.asleep = False
            if box is not val:
                facts = functools.partial(self.boxed, how, val, box)
                self.add("box", facts)
            return box

        return recorded

    def boxed(self, how: str, val: Any, box: Any) -> dict[str, Any]:
        """The facts of a value that was put into a box."""
        return {"how": how, "value": self.show(val), "results": [self.show(box)]}

    def ruled(self, table: str, primitive: Any, rule: Callable[..., Any]) -> Callable[..., Any]:
        """In the place of a rule."""

        @functools.wraps(rule)
        def recorded(*args: Any, **params: Any) -> Any:
            if not self.listens:
                return rule(*args, **params)
            with self.step("rule", lambda: self.rule_facts(table, primitive, rule, args)) as step:
                lines = lines_of(args)
                before = len(lines)
                outs = rule(*args, **params)
                self.finish(step, outs)
                if len(lines) > before:
                    step.facts["writes"] = [cut(x.strip(), 200) for x in lines[before:]]
                return outs

        recorded.rule_of = rule  # type: ignore[attr-defined]
        return recorded

    def rules(self, table: str, primitive: Any, rules: Any) -> Any:
        """In the place of a table's entry: a rule, or a list with one for each operand."""
        if isinstance(rules, list):
            return [self.rules(table, primitive, rule) for rule in rules]
        known = not callable(rules) or hasattr(rules, "rule_of")
        return rules if known else self.ruled(table, primitive, rules)

    def rule_facts(self, table: str, primitive: Any, rule: Any, args: Sequence[Any]) -> Any:
        """The facts of a rule that begins: its name, where it is, and its arguments."""
        operands = [self.show(x) for x in args]
        place = {**place_of(rule, self.folder()), **self.source_of(rule)}
        return {"table": table, "name": str(primitive), **place, "operands": operands}

    def source_of(self, function: Any) -> dict[str, int]:
        """The fact `source`: where in the document's `sources` a function's text is, if it has."""
        place = place_of(function, self.folder())
        if "file" not in place:
            return {}
        found = {**place, "text": text_of(code_of(function))}
        if found not in self.sources:
            self.sources.append(found)
        return {"source": self.sources.index(found)}

    def looked_up(self, get_rule: Callable[..., Any]) -> Callable[..., Any]:
        """In the place of `get_rule`, for rules that came into the tables meanwhile."""

        @functools.wraps(get_rule)
        def recorded(rules: Any, primitive: Any, *rest: Any) -> Any:
            rule = get_rule(rules, primitive, *rest)
            names = [name for _, name, table in self.tables() if table is rules]
            return self.rules(names[0] if names else "rules", primitive, rule)

        return recorded

    def activating(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """In the place of `new_main` and `set_interpreter`: an interpreter is active for a time."""

        @functools.wraps(function)
        @contextlib.contextmanager
        def recorded(interpreter: Any, *rest: Any, **more: Any) -> Iterator[Any]:
            self.observe(interpreter if isinstance(interpreter, type) else type(interpreter))
            if not self.listens:
                with function(interpreter, *rest, **more) as active:
                    yield active
                return
            facts = {"interpreter": type_name(interpreter)}
            with (
                self.step("interpreter", lambda: facts) as step,
                function(interpreter, *rest, **more) as active,
                self.known(interpreter),
            ):
                current = interpreter if active is None else active
                step.facts["level"] = self.level_of(current)
                step.facts["active"] = [type_name(x) for x in self.interpreters()]
                yield active

        return recorded

    # The interpreters

    def known(self, interpreter: Any) -> contextlib.AbstractContextManager[None]:
        """Remember an interpreter of a context for a time; a stack remembers its own."""
        return nothing() if isinstance(interpreter, type) else self.remembered(interpreter)

    @contextlib.contextmanager
    def watching(self, names: Sequence[str]) -> Iterator[None]:
        """Calls of functions, such as "minijax.tree.tree_flatten", are steps for a time."""
        calls: dict[FrameType, Step] = {}

        def noticed(frame: FrameType, event: str, value: Any) -> None:
            if event == "call" and self.listens and full_name(frame) in names:
                calls[frame] = self.add("call", functools.partial(self.called, frame))
                self.open.append(calls[frame])
            elif event == "return" and frame in calls:
                step = calls.pop(frame)
                if value is not None:
                    self.finish(step, [value])
                self.close(step)

        sys.setprofile(noticed if names else None)
        try:
            yield
        finally:
            sys.setprofile(None)

    def called(self, frame: FrameType) -> dict[str, Any]:
        """The facts of a call that begins."""
        code = frame.f_code
        number = code.co_argcount + code.co_kwonlyargcount
        given = [frame.f_locals[name] for name in code.co_varnames[:number]]
        if code.co_flags & inspect.CO_VARARGS:
            given += frame.f_locals[code.co_varnames[number]]
        name = code.co_qualname.rpartition("<locals>.")[2]
        operands = [self.show(x) for x in given]
        return {"name": name, "operands": operands, **self.source_of(code)}

    @contextlib.contextmanager
    def remembered(self, interpreter: Any) -> Iterator[None]:
        """Its place among those that are active is its level, until the block ends."""
        new = all(other is not interpreter for other in [*self.active, *self.bases])
        if new:
            self.active.append(interpreter)
        try:
            yield
        finally:
            if new:
                self.active.remove(interpreter)

    def interpreters(self) -> list[Any]:
        """Those that are active, the lowest first."""
        if (state := self.state("trace_state")) is not None:
            return [main.trace_type for main in state.stack]
        return self.active

    def level_of(self, interpreter: Any) -> int:
        """The level of a trace, of its `MainTrace`, or of an interpreter of a context."""
        main = getattr(interpreter, "main", interpreter)
        if hasattr(main, "level"):
            return int(main.level)
        return next((n for n, other in enumerate(self.active) if other is interpreter), 0)

    def state(self, name: str) -> Any:
        """The package's record of what is active, under one of its names."""
        return next((vars(m)[name] for m in self.modules() if name in vars(m)), None)

    # The package

    def modules(self) -> list[ModuleType]:
        """The modules of the package that are loaded."""
        inside = f"{self.package}."
        return [
            m for n, m in list(sys.modules.items()) if n == self.package or n.startswith(inside)
        ]

    def folder(self) -> Path:
        """The folder in which the package is."""
        return Path(sys.modules[self.package].__path__[0]).parent

    def tables(self) -> Iterator[tuple[ModuleType, str, dict[Any, Any]]]:
        """The tables of rules, with their modules and names."""
        for module in self.modules():
            for name, value in list(vars(module).items()):
                if TABLE.fullmatch(name) and type(value) is dict:
                    yield module, name, value

    def observe(self, cls: type) -> None:
        """Put wrappers around an interpreter's methods, if it is a class without them."""
        for base in cls.__mro__:
            for name, method in list(vars(base).items()):
                if name in METHODS and type(method) is FunctionType:
                    self.put(base, name, METHODS[name](self, method))

    def put(self, place: Any, name: str, wrapper: Any) -> None:
        """Set an attribute until the recording ends; what it wraps is put there only once."""
        before = vars(place)[name]
        if not hasattr(before, "recorder"):
            wrapper.recorder = self
            setattr(place, name, wrapper)
            self.undo.callback(setattr, place, name, before)

    def begin(self, undo: contextlib.ExitStack) -> None:
        """Put all wrappers in place."""
        self.undo = undo
        contexts = [vars(m)["context"] for m in self.modules() if "context" in vars(m)]
        self.bases = [x.interpreter for x in contexts]
        self.active = self.bases[:1]
        undo.callback(self.clean_up)
        for module in self.modules():
            for name, value in list(vars(module).items()):
                if isinstance(value, type) and {"Trace", "Interpreter"} & names_of(value):
                    self.observe(value)
                if type(value) is FunctionType and value.__name__ == name in FUNCTIONS:
                    self.replace(value, FUNCTIONS[name](self, value))
        for _, name, table in self.tables():
            for primitive, rules in table.items():
                table[primitive] = self.rules(name, primitive, rules)

    def replace(self, function: Any, wrapper: Any) -> None:
        """Exchange a function wherever the package's modules, or objects in them, hold it."""
        if hasattr(function, "recorder"):
            return
        wrapper.recorder = self
        for module in self.modules():
            for name, value in list(vars(module).items()):
                if value is function:
                    setattr(module, name, wrapper)
                elif isinstance(held := getattr(value, "__dict__", None), dict):
                    self.replace_in(held, function, wrapper)

    def replace_in(self, held: dict[str, Any], function: Any, wrapper: Any) -> None:
        """Exchange a function among what an object holds, until the recording ends."""
        for name in [name for name, value in held.items() if value is function]:
            held[name] = wrapper
            self.undo.callback(held.__setitem__, name, function)

    def clean_up(self) -> None:
        """Take the wrappers away, also from modules that were loaded meanwhile."""
        for module in self.modules():
            for name, value in list(vars(module).items()):
                if getattr(value, "recorder", None) is self and type(value) is FunctionType:
                    setattr(module, name, value.__wrapped__)  # type: ignore[attr-defined]
        for _, _, table in self.tables():
            for primitive, rules in table.items():
                table[primitive] = bare(rules)


TABLE = re.compile(r"\w+_rules|hlo_lowerings")
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "bind": Recorder.bound,
    "get_rule": Recorder.looked_up,
    "new_main": Recorder.activating,
    "set_interpreter": Recorder.activating,
}
METHODS: dict[str, Callable[..., Any]] = {
    "process_primitive": Recorder.taken,
    "interpret_op": Recorder.taken,
    "pure": functools.partial(Recorder.boxing, how="pure"),
    "lift": functools.partial(Recorder.boxing, how="lift"),
}


@contextlib.contextmanager
def recording(package: str, limit: int = LIMIT) -> Iterator[Recorder]:
    """Record what is done with a package, in this thread, for the time of a `with` block."""
    importlib.import_module(package)
    recorder = Recorder(package, limit)
    with contextlib.ExitStack() as undo:
        recorder.begin(undo)
        try:
            yield recorder
        finally:
            recorder.open.clear()


class Memory:
    """How many bytes the arrays take that operations made and that are still in use."""

    def __init__(self) -> None:
        self.arrays: dict[int, tuple[weakref.ref[Any], int]] = {}

    def add(self, outs: Any) -> None:
        """Count the arrays among these results, each once, as long as they are in use."""
        for x in outs if isinstance(outs, list | tuple) else [outs]:
            if owner_of(x) is None and hasattr(x, "nbytes") and hasattr(x, "__weakref__"):
                gone = functools.partial(self.forget, id(x))
                self.arrays.setdefault(id(x), (weakref.ref(x, gone), int(x.nbytes)))

    def forget(self, name: int, _: Any) -> None:
        """An array is gone."""
        self.arrays.pop(name, None)

    def held(self) -> int:
        """The bytes at this moment."""
        return sum(size for _, size in self.arrays.values())


nothing = contextlib.nullcontext


def full_name(frame: FrameType) -> str:
    """The function that a frame belongs to, by its module's name and its own."""
    return f"{frame.f_globals.get('__name__')}.{frame.f_code.co_name}"


def bare(rules: Any) -> Any:
    """A table's entry without wrappers."""
    return list(map(bare, rules)) if isinstance(rules, list) else getattr(rules, "rule_of", rules)


def names_of(cls: type) -> set[str]:
    """The names of a class and of those that it is made from."""
    return {base.__name__ for base in cls.__mro__}


def line_in(file: str | None) -> dict[str, int]:
    """The line of a program that is being evaluated, as the fact `at`.

    If it is in a function, the line that began it all is the fact `from`.
    """
    frame = sys._getframe() if file else None
    lines = []
    while frame is not None:
        if frame.f_code.co_filename == file:
            lines.append(frame.f_lineno)
        frame = frame.f_back
    at = {"at": lines[0]} if lines else {}
    return {**at, "from": lines[-1]} if len(lines) > 1 else at


def type_name(interpreter: Any) -> str:
    """The name of an interpreter's class."""
    cls = interpreter if isinstance(interpreter, type) else type(interpreter)
    return cls.__name__


def same(outs: Any, raw: Any) -> bool:
    """Whether two results, or two lists of results, are the same objects."""
    if isinstance(outs, list) and isinstance(raw, list | tuple):
        return len(outs) == len(raw) and all(a is b for a, b in zip(outs, raw, strict=True))
    return outs is raw


def exercise_of(error: BaseException) -> str:
    """The exercise that is still to do, if that is what an error says."""
    text = str(error) if type(error) is NotImplementedError else ""
    return text if re.fullmatch(r"[a-z]\w*\.[a-z]\w*", text) else ""


def place_of(rule: Any, folder: Path) -> dict[str, Any]:
    """A rule's own name, and its file and line if it is written in Python."""
    code = code_of(rule)
    rule = function_of(rule)
    if code is None:
        owner = type(rule).__module__.split(".")[0]
        return {"rule": f"{owner}.{getattr(rule, '__name__', type(rule).__name__)}"}
    file = Path(code.co_filename)
    shown = file.relative_to(folder).as_posix() if file.is_relative_to(folder) else file.name
    return {
        "rule": getattr(rule, "__qualname__", code.co_qualname),
        "file": shown,
        "line": code.co_firstlineno,
    }


def lines_of(args: Sequence[Any]) -> list[str]:
    """The lines to which a lowering adds its own: its first argument has them."""
    lines = getattr(args[0], "lines", None) if args else None
    return lines if isinstance(lines, list) else []


def function_of(rule: Any) -> Any:
    """A rule without the arguments that are given to it beforehand."""
    while isinstance(rule, functools.partial):
        rule = rule.func
    return rule


def code_of(rule: Any) -> CodeType | None:
    """A rule's code, if it is written in Python."""
    function = function_of(rule)
    return function if isinstance(function, CodeType) else getattr(function, "__code__", None)


def text_of(code: CodeType | None) -> str:
    """The text of a function as it is in its file, from the margin; nothing if it is not known."""
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :] if code else []
    return inspect.cleandoc("\n" + "".join(inspect.getblock(lines))) + "\n" if lines else ""


# ------------------------------------------------------------------------------------------
# Values as texts


class Shown:
    """Shows values: a call gives a text for a value, and for a box what is in it."""

    def __init__(self, level_of: Callable[[Any], int]) -> None:
        self.level_of = level_of
        self.names: dict[int, str] = {}  # of variables, by id
        self.kept: list[Any] = []  # so that no id is used twice

    def several(self, outs: Any) -> list[Value]:
        """One result, or each of several."""
        return [self(x) for x in outs] if isinstance(outs, list | tuple) else [self(outs)]

    def __call__(self, value: Any) -> Value:
        """A value as plain data, whatever its own methods do."""
        try:
            if isinstance(value, dict) and len(value) <= LONGEST:
                return {"dict": [[self(key), self(x)] for key, x in value.items()]}
            if isinstance(value, list | tuple):
                more = ["..."] if len(value) > LONGEST else []
                shown = [*map(self, value[:LONGEST]), *more]
                return {"list": shown} if isinstance(value, list) else shown
            owner = owner_of(value)
            return self.text(value) if owner is None else self.box(value, owner)
        except Exception as error:
            return f"<{type(value).__name__} that cannot be shown: {type(error).__name__}>"

    def box(self, value: Any, owner: Any) -> Value:
        """A tracer: its level, and the values in it by name."""
        held = {name: x for name, x in vars(value).items() if name not in NOT_SHOWN}
        if held.get("var", self) is None:  # a known value has no variable
            del held["var"]
        parts = {name: self.part(x) for name, x in held.items()}
        return {"box": type(value).__name__, "level": self.level_of(owner), "parts": parts}

    def part(self, value: Any) -> Value:
        """A value in a box; of a partial value what is known."""
        if hasattr(value, "is_known"):
            return self(value.const) if value.is_known else "unknown"
        return self(value)

    def text(self, value: Any) -> str:
        """A value that is not in a box."""
        kind = type(value).__name__
        if isinstance(value, float) and type(value) is float:
            return number(value)
        if hasattr(value, "str_short"):  # a type
            return ("~" if value.weak_type else "") + value.str_short(short_dtypes=True)
        if kind in ("Var", "Literal"):
            return self.atom(value, kind)
        if kind == "UndefPrimal":
            return f"unknown {self(value.aval)}"
        if isinstance(value, str):
            return cut(value, 60)
        if len(getattr(value, "_arrays", ())) > 1:  # a buffer on several devices
            return " | ".join(array(x) for x in pieces(value))
        if hasattr(value, "dtype") and hasattr(value, "shape"):
            return array(value)
        if kind == "JaxprEqn":
            outs, ins = (" ".join(map(self.text, x)) for x in (value.outvars, value.invars))
            return f"{outs} = {value.primitive} {ins}"
        if kind in ("Equation", "Jaxpr"):
            return cut(" ".join(str(value).split()), 80)
        if callable(value) and hasattr(value, "__qualname__"):
            return value.__qualname__.rpartition("<locals>.")[2]
        if hasattr(value, "device_kind"):
            return f"{value.platform}:{value.id}"
        return cut(one_line(value), 60)

    def atom(self, value: Any, kind: str) -> str:
        """A variable of a program, under a name of its own; a literal's value."""
        if kind == "Literal":
            return self(value.val)
        aval = getattr(value, "aval", None)
        if aval is None:  # microjax: its variables have names
            return str(value)
        if id(value) not in self.names:
            self.kept.append(value)
            self.names[id(value)] = letters(len(self.names))
        return f"{self.names[id(value)]}:{self(aval)}"


def owner_of(value: Any) -> Any:
    """The interpreter that a value belongs to, if it is a box."""
    return getattr(value, "_trace", getattr(value, "interpreter", None))


LONGEST = 20  # entries of a list that are shown
NOT_SHOWN = {"_trace", "interpreter", "aval", "recipe"}


def letters(number: int) -> str:
    """The variables' names in order: a to z, then aa and so on."""
    head, last = divmod(number, 26)
    return (letters(head - 1) if head else "") + chr(ord("a") + last)


def number(value: float) -> str:
    """A float with as many digits as one wants to read."""
    text = repr(value)
    return text if len(text) <= 8 else f"{value:.4g}"


def array(value: Any) -> str:
    """A small array by its values, a large one by its type."""
    import numpy as np

    if value.dtype.names or value.size > 12:
        return f"{value.dtype.name}[{','.join(map(str, value.shape))}]"
    host = np.asarray(value)
    if not host.shape and host.dtype.kind == "f":
        return number(float(host))
    return " ".join(np.array2string(host, precision=4, separator=", ").split())


def pieces(buffer: Any) -> list[Any]:
    """What each device has of a buffer; jaxlib would import jax for it, if there is one."""
    import numpy as np

    hidden = getattr(sys.modules.get("minijax.xla"), "jax_hidden", nothing)
    with hidden():
        return [np.asarray(piece) for piece in buffer._arrays]


def one_line(value: Any) -> str:
    """A value's `repr`, as one line: no addresses, dtypes and classes by their names alone."""
    text = re.sub(r" (object )?at 0x[0-9a-f]+", "", " ".join(repr(value).split()))
    text = re.sub(r"\bdtype\('(\w+)'\)", r"\1", text)
    return re.sub(r"<(?:\w+\.)+(\w+)>", r"\1", text)


def cut(text: str, length: int) -> str:
    """A text of bearable length."""
    return text if len(text) <= length else text[: length - 3] + "..."


# ------------------------------------------------------------------------------------------
# Recording a program


def record(
    source: str, name: str, *, watch: Sequence[str] = (), memory: bool = False
) -> dict[str, Any]:
    """Run a program's text and record it: the document, with the program and how it ended.

    What is recorded is the package that the program imports, of several the first one; besides,
    calls of the functions in `watch`, and the memory that arrays take.
    """
    modules = imported(source)
    wanted = [package for package in PACKAGES if package in {x.split(".")[0] for x in modules}]
    about: dict[str, Any] = {"program": source, "file": name}
    names = {"__name__": "__main__", "__file__": name}
    with contextlib.ExitStack() as stack:
        recorder = None
        try:
            if not wanted:
                raise ImportError(f"It has to import {' or '.join(PACKAGES)}, to be recorded.")
            code = compile(source, name, "exec")
            linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
            load(modules, wanted[0])
            recorder = stack.enter_context(recording(wanted[0]))
            recorder.file, recorder.memory = name, Memory() if memory else None
            stack.enter_context(recorder.watching(watch))
            stack.enter_context(contextlib.redirect_stdout(Printed(recorder)))
            exec(code, names)
            print(end="", flush=True)
        except (Exception, SystemExit) as error:
            about["error"] = error_facts(error, name)
    empty = {"format": "jaxprentice-recording", "version": VERSION, "steps": []}
    return {**(recorder.document() if recorder else empty), **about}


def load(modules: set[str], package: str) -> None:
    """Load what a program imports of a package, so that all of it is there to be watched."""
    for module in sorted(modules):
        if module.startswith(f"{package}."):
            with contextlib.suppress(ImportError):  # which the program will meet itself
                importlib.import_module(module)


def imported(source: str) -> set[str]:
    """The modules that a program imports, of which a text that is not Python has none."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except SyntaxError:
        return set(PACKAGES)  # which is told when it is compiled
    plain = [name.name for node in nodes if isinstance(node, ast.Import) for name in node.names]
    whole = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return {*plain, *whole}


def error_facts(error: BaseException, name: str) -> dict[str, Any]:
    """An error that ended the program, with the lines that led to it, without our own."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename != __file__ and "contextlib" not in frame[0]]
    facts = {
        "type": type(error).__name__,
        "message": cut(str(error), 1000),
        "frames": [{"file": f.filename, "line": f.lineno, "name": f.name} for f in own],
    }
    return {**facts, **({"missing": missing} if (missing := exercise_of(error)) else {})}


class Printed(io.TextIOBase):
    """What the program prints becomes steps, a line each."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.rest = ""

    def write(self, text: str) -> int:
        """Take a text as a program prints it."""
        *lines, self.rest = (self.rest + text).split("\n")
        for line in lines:
            self.recorder.add("print", functools.partial(dict, text=line))
        return len(text)

    def flush(self) -> None:
        """Take what was printed without an end of its line."""
        if self.rest:
            self.write("\n")


def main() -> None:
    """Record one program: `recorder.py FOLDER PROGRAM NAME DOCUMENT [OPTIONS]`, these as JSON."""
    folder, program, name, document, *options = sys.argv[1:]
    sys.path[:0] = [folder, str(Path(name).resolve().parent)]
    wishes = json.loads(options[0]) if options else {}
    found = record(Path(program).read_text(encoding="utf-8"), name, **wishes)
    Path(document).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):  # the command says it
        main()
