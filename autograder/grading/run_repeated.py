"""What runs in a worker where each call of a function is made several times.

A probe makes its functions and operands itself, so a second run of it has others. What is kept by
the identity of a function or an operand, what a call does to its operands, whether it swallows an
error, and in which state it leaves the package after one, is seen when the very same call is made
again, inside the probe.
"""

import contextlib
import functools
import importlib
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autograder.grading.in_worker import plain, replace
from autograder.grading.run_again import changed, doubled, error_name
from autograder.grading.suite import probe


class Failure(BaseException):
    """What no code expects, and none may catch."""


class Failing:
    """Functions that raise `error` when their work is done; `called` says whether one was."""

    def __init__(self, package: str) -> None:
        self.package = package
        self.error: BaseException = Failure()
        self.called = False
        # By the identity of a table: the rules that it had when it last failed, and failing ones.
        self.made: dict[int, tuple[dict[Any, Any], dict[Any, Any]]] = {}

    def operand(self, value: Any) -> Any:
        """A function that fails; anything else as it is."""
        return self.function(value) if isinstance(value, types.FunctionType) else value

    def function(self, value: Callable[..., Any]) -> Callable[..., Any]:
        """A function that does its work, and fails."""

        @functools.wraps(value)
        def fails(*args: Any, **kw: Any) -> Any:
            value(*args, **kw)
            self.called = True
            raise self.error

        return fails

    def of_table(self, table: dict[Any, Any]) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """A table's rules, and ones that fail: made once, for each call needs all hundred."""
        if id(table) not in self.made or self.made[id(table)][0] != table:
            failing = {key: self.function(rule) for key, rule in table.items()}
            self.made[id(table)] = dict(table), failing
        return self.made[id(table)]

    @functools.cached_property
    def tables(self) -> list[dict[Any, Any]]:
        """The tables of rules in the package."""
        modules = [x for name, x in sys.modules.items() if name.split(".")[0] == self.package]
        found = {
            id(table): table
            for module in modules
            for key, table in vars(module).items()
            if key.endswith(("_rules", "_lowerings")) and isinstance(table, dict)
        }
        return [*found.values()]

    @contextlib.contextmanager
    def rules(self) -> Iterator[None]:
        """Have every rule in the tables of the package fail."""
        kept = [(table, *self.of_table(table)) for table in self.tables]
        try:
            for table, _, failing in kept:
                table.update(failing)
            yield
        finally:
            for table, rules, _ in kept:
                table.update(rules)


def otherwise(value: Any) -> Any:
    """An operand with other numbers in it; itself if it has none, or is of another make."""
    with contextlib.suppress(Exception):
        return changed(value, doubled)
    return value


def held(value: Any, depth: int = 3) -> Any:
    """What an operand holds: entries of arrays, and of containers which objects they hold."""
    if isinstance(value, np.ndarray):
        return value.tobytes()
    if isinstance(value, dict):
        return [*map(id, value)], [held(x, depth - 1) for x in value.values()]
    if isinstance(value, (list, tuple)) and depth:
        return [held(x, depth - 1) for x in value]
    inside = vars(value).values() if depth and hasattr(value, "__dict__") else ()
    return id(value), [held(x, depth - 1) for x in inside if isinstance(x, (list, np.ndarray))]


def interpreters(package: str) -> list[tuple[Any, str, Any]]:
    """Where a package has its active interpreters and named axes: object, attribute, what it is."""
    modules = "interpreters", "contexts", "core", "axis_env"
    homes = (sys.modules.get(f"{package}.{name}") for name in modules)
    names = "context", "trace_state", "axis_env"
    states = [vars(home).get(name) for home in homes if home for name in names]
    return [
        (state, name, [*found] if isinstance(found, list) else found)
        for state in states
        for name in ("interpreter", "stack", "dynamic_trace", "frames")
        if (found := getattr(state, name, state)) is not state
    ]


def put_back(active: list[tuple[Any, str, Any]]) -> None:
    """Make these interpreters the active ones again."""
    for state, name, found in active:
        if isinstance(found, list):
            getattr(state, name)[:] = found
        else:
            setattr(state, name, found)


@functools.cache
def parts(promised: str) -> tuple[str, list[str]]:
    """The class that an annotation names, and what it has between brackets."""
    import ast

    node = ast.parse(promised, mode="eval").body
    if not isinstance(node, ast.Subscript):
        return ast.unparse(node), []
    inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return ast.unparse(node.value), [*map(ast.unparse, inner)]


def missing_kinds(promised: str, out: Any) -> Iterator[str]:
    """Where an annotation promises a list or a tuple that is not there, which of them."""
    name, inner = parts(promised)
    if name in ("list", "tuple") and not isinstance(out, {"list": list, "tuple": tuple}[name]):
        yield name
    elif name == "tuple" and len(inner) == len(out):
        for part, item in zip(inner, out, strict=True):
            yield from missing_kinds(part, item)


class Seen:
    """What is seen of a function beside what a probe sees."""

    MOST = 30  # calls of a probe that are made several times: some make hundreds

    def __init__(self, package: str, promised: str) -> None:
        self.package = package
        self.promised = promised  # the annotation of its result
        self.touched: set[int] = set()  # places of operands that changed
        self.errors: set[str] = set()  # what became of errors
        self.kinds: set[str] = set()  # promised, and not returned
        self.states: set[str] = set()  # what of the active interpreters is not as before
        self.calls = 0  # so far

    def is_enough(self) -> bool:
        """Whether this call, and all later ones, are made once."""
        self.calls += 1
        return self.calls > self.MOST

    @contextlib.contextmanager
    def call(self, operands: Sequence[Any]) -> Iterator[None]:
        """Look at operands and interpreters before and after a call."""
        before, active = [*map(held, operands)], interpreters(self.package)
        try:
            yield
        finally:
            self.touched.update(i for i, x in enumerate(map(held, operands)) if x != before[i])
            self.states.update(name for at, name, was in active if getattr(at, name) != was)
            put_back(active)  # further calls would each work inside what this one has left

    def facts(self) -> list[Any]:
        """All of it as plain data."""
        return [[*self.touched], [*self.errors], [*self.kinds], [*self.states]]


class Repeated:
    """A function each call of which is made again and again; the last one counts.

    Before that there are calls with functions that fail, one with other numbers, and one with the
    very same operands. Calls inside a call are made once. So is each call of a function that it
    returns. The first `own` operands may change.
    """

    raised = (KeyError, TypeError, NotImplementedError, Failure)

    seen: Seen  # of the calls from now on

    def __init__(self, function: Callable[..., Any], own: int, failing: Failing) -> None:
        self.function, self.own, self.failing = function, own, failing
        self.busy = False

    def __call__(self, *args: Any, **kw: Any) -> Any:
        """What the last of the calls returns."""
        if self.busy or self.seen.is_enough() or any(hasattr(x, "__next__") for x in args):
            return self.function(*args, **kw)
        self.busy = True
        try:
            self.fail_functions(args, kw)
            with contextlib.suppress(Exception):
                self.once(self.changed(otherwise, args), kw)
            with self.failing.rules():
                self.errors(args, kw, "rule")
            with contextlib.suppress(Exception):
                self.once(args, kw)
            out = self.once(args, kw)
            self.seen.kinds.update(missing_kinds(self.seen.promised, out))
            return self.followed(out, self.seen.promised)
        finally:
            self.busy = False

    def once(self, args: Sequence[Any], kw: dict[str, Any]) -> Any:
        """What a single call returns."""
        with self.seen.call(args[self.own :]):
            return self.function(*args, **kw)

    def changed(self, change: Callable[[Any], Any], args: Sequence[Any]) -> list[Any]:
        """The operands, but for the function's own, after a change."""
        return [*args[: self.own], *map(change, args[self.own :])]

    def fail_functions(self, args: Sequence[Any], kw: dict[str, Any]) -> None:
        """Calls with functions that raise an error, if it is given any."""
        given = self.changed(self.failing.operand, args)
        if any(x is not y for x, y in zip(given, args, strict=True)):
            self.errors(given, kw, "function")

    def errors(self, args: Sequence[Any], kw: dict[str, Any], what: str) -> None:
        """Note what becomes of each kind of error, if it is raised."""
        for kind in self.raised:
            error = self.failing.error = kind("again")
            self.failing.called = False
            came = self.became(error, args, kw, what)
            if self.failing.called and came:
                self.seen.errors.add(f"{what}: {came}")

    def became(self, error: BaseException, args: Sequence[Any], kw: Any, what: str) -> str:
        """What comes out of a call in which this error is raised: "" if it does itself."""
        try:
            self.once(args, kw)
        except BaseException as found:
            # Around a rule, an error of the same class may be raised that says more.
            same = type(found) is type(error) if what == "rule" else found is error
            return "" if same else "another"
        return "nothing"

    def followed(self, out: Any, promised: str) -> Any:
        """What the function returns, with functions of its module that do the same."""
        _, inner = parts(promised)
        if type(out) is tuple and len(inner) == len(out):
            return tuple(map(self.followed, out, inner))
        # `functools.wraps` changes its __module__, and not in which module it is written.
        own = getattr(self.function, "__globals__", None)
        if not isinstance(out, types.FunctionType) or out.__globals__ is not own:
            return out
        returned = Repeated(out, 0, self.failing)
        returned.seen = Seen(self.seen.package, inner[-1] if inner else "Any")
        returned.seen.kinds = self.seen.kinds
        return plain_function(returned)


def plain_function(repeated: Repeated) -> Callable[..., Any]:
    """A function that may be a method."""

    @functools.wraps(repeated.function)
    def again(*args: Any, **kw: Any) -> Any:
        return repeated(*args, **kw)

    return again


@contextlib.contextmanager
def repeating(module: str, target: str) -> Iterator[Repeated]:
    """Have each call of a function made again."""
    home = importlib.import_module(module)  # a probe may be what imports it first
    *owner, name = target.split(".")
    place = functools.reduce(lambda found, part: vars(found)[part], owner, home)
    function, failing = vars(place)[name], Failing(home.__name__.split(".")[0])
    repeated = Repeated(function, len(owner), failing)
    with contextlib.ExitStack() as undo:
        replace(home, {id(function): (function, plain_function(repeated))}, undo)
        yield repeated


@probe(uses=[repeating, error_name, plain])
def answers(mj: Any, module: str, target: str, promised: str, questions: list[Any]) -> list[Any]:
    """What each probe gives while each call of a function is made again, and what else is seen.

    The name and source of a probe come with its arguments.
    """
    found: list[Any] = []
    with repeating(module, target) as repeated:
        for name, source, args in questions:
            space: dict[str, Any] = {"np": np, "__name__": "probe"}
            exec(compile(source, "<probe>", "exec", dont_inherit=True), space)
            seen = repeated.seen = Seen(mj.__name__, promised)
            try:
                found.append(("value", [plain(space[name](mj, *args)), *seen.facts()]))
            except BaseException as error:
                found.append(("raised", error_name(mj, error), str(error), None, *seen.facts()))
    return found
