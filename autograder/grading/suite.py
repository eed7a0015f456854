"""What hidden suites are written with: probes, and the comparison of what they return.

    from autograder.grading.suite import exercise, probe

    exercise("jvp.sin_rule")

    @probe
    def sine_at_three(mj):
        return mj.jvp(mj.numpy.sin, (3.0,), (1.0,))

    def test_sine(student):
        \"\"\"The derivative of sin at 3 is right.\"\"\"
        student.agrees(sine_at_three)

The probe runs in the workers that hold the student's tree and the reference's; the test runs here,
and compares. The first line of a test's docstring is what the student reads when it fails.

A probe may bring helpers along, and right answers to other exercises, which it puts in place:

    @probe(uses=[in_place])
    def two_rules(mj, siblings, x):
        with in_place("minijax.jvp", siblings) as module:
            return module.bilinear_jvp(mul_p, (x, x), (1.0, None))

    student.agrees(two_rules, siblings("jvp.sum_rule"), 3.0)
"""

import ast
import builtins
import copy
import dis
import functools
import inspect
import sys
import textwrap
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.sandbox.session import Probe

NOT_IMPLEMENTED = "not_implemented"
WRONG_VALUE = "wrong_value"
WRONG_SHAPE = "wrong_shape_or_dtype"
WRONG_TYPE = "wrong_type_or_exception"
ENDLESS = "does_not_terminate"
CRASHED = "crashed"
OUT_OF_MEMORY = "out_of_memory"
CLASSES = (
    *(NOT_IMPLEMENTED, WRONG_VALUE, WRONG_SHAPE, WRONG_TYPE),
    *(ENDLESS, CRASHED, OUT_OF_MEMORY),
)


class SuiteError(Exception):
    """A hidden suite is at fault, not the submission: no grade may be given before its repair."""


class Disagreement(Exception):
    """The submission does not answer as the reference does.

    `kind` is one of CLASSES. `message` tells the student what differs without telling what was
    expected; `expected` adds that, for courses whose policy allows it. `program` is the smallest
    generated program on which it was found, if the test has generated ones. `places` say which
    parts of a list differ, from the outside in.
    """

    places: tuple[str, ...] = ()

    def __init__(self, kind: str, message: str, expected: str = "", program: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.expected = expected
        self.program = program


# ------------------------------------------------------------------------------------------
# Sections and probes

SECTIONS = "__exercises__"  # of a suite's module: the lines where sections begin, and of what


def exercise(name: str) -> None:
    """Begin a section of a suite: the tests from here to the next one belong to this exercise."""
    suite = sys._getframe(1)
    suite.f_globals.setdefault(SECTIONS, []).append((suite.f_lineno, name))


@dataclass(frozen=True)
class Siblings:
    """Stands among a probe's arguments for right definitions, by target, of these exercises."""

    exercises: tuple[str, ...]


def siblings(*exercises: str) -> Siblings:
    """Right answers to some exercises, for a probe that asks for a different one.

    The probe gets a dict that `in_place` takes. The definitions are the first right ones of the
    lesson's file in `hidden/answers`.
    """
    return Siblings(exercises)


Helper = Callable[..., Any]  # a function or a class

# Annotations stay text: the names in them are not there.
_FIRST_LINE = "from __future__ import annotations"


def probe(function: Callable[..., Any] | None = None, *, uses: Sequence[Helper] = ()) -> Any:
    """Make a probe of a function at the top of a suite.

    The function may use its arguments, built-in names, `np`, what it or the suite's `if
    TYPE_CHECKING` imports, and the helpers that `uses` lists: only texts are sent. A helper is a
    function or a class at the top of a module, and brings along what it uses of that module:
    functions, classes and imported modules.
    """
    if function is None:
        return functools.partial(probe, uses=uses)
    if function.__qualname__ != function.__name__:
        raise TypeError(f"The probe {function.__qualname__} must be at the top of its module.")
    texts: dict[str, str] = {}
    for helper in uses:
        _pack(helper, texts)
    own = _text(function, decorated=False)
    foreign = sorted(_free_names(own) - texts.keys())
    if foreign:
        raise NameError(
            f"The probe {function.__name__} uses {', '.join(foreign)} from outside. "
            "Pass it as an argument, list it in `uses`, or import it inside the probe."
        )
    return Probe(function.__name__, "\n\n".join([_FIRST_LINE, *texts.values(), own]))


def _pack(helper: Helper, texts: dict[str, str]) -> None:
    """Add a helper's text to `texts`, and what it uses of its module before it."""
    if helper.__name__ in texts:
        return
    texts[helper.__name__] = ""  # it may call itself
    text = _text(helper)
    home = vars(sys.modules[helper.__module__])
    for name in sorted(_free_names(text)):
        value = inspect.unwrap(home.get(name))  # type: ignore[arg-type]
        if isinstance(value, types.ModuleType):
            texts[name] = f"import {value.__name__} as {name}"
        elif isinstance(value, types.FunctionType | type) and value.__name__ == name:
            _pack(value, texts)
        else:
            raise NameError(f"The helper {helper.__name__} uses {name}. Import it inside.")
    del texts[helper.__name__]
    texts[helper.__name__] = text


def _text(thing: Helper, decorated: bool = True) -> str:
    """The text of a function's or a class's definition."""
    definition = ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0]
    if not decorated:
        assert isinstance(definition, ast.FunctionDef)
        definition.decorator_list = []
    text = ast.unparse(definition)
    imports = _imports("".join(inspect.findsource(inspect.unwrap(thing))[0]))
    wanted = imports.keys() & _free_names(text) if imports else set()
    if isinstance(definition, ast.FunctionDef) and wanted:
        start = ast.get_docstring(definition) is not None
        definition.body[start:start] = [imports[name] for name in imports if name in wanted]
        return ast.unparse(definition)
    return text


@functools.cache
def _imports(suite: str) -> dict[str, ast.stmt]:
    """The imports below a suite's `if TYPE_CHECKING`, by name: there, but not here.

    What is tested must not be imported where grades are given. So each text imports it that needs
    it, and the suite only says from where.
    """
    found: dict[str, ast.stmt] = {}
    guarded = [node for node in ast.parse(suite).body if isinstance(node, ast.If)]
    guarded = [node for node in guarded if ast.unparse(node.test) == "TYPE_CHECKING"]
    for statement in (statement for node in guarded for statement in node.body):
        assert isinstance(statement, ast.Import | ast.ImportFrom)
        for name in statement.names:
            one = copy.copy(statement)
            one.names = [name]
            found[name.asname or name.name] = one
    return found


def _free_names(text: str) -> set[str]:
    """The names from outside that a text reads, but for built-ins and `np`."""
    return set(_read_in(compile(f"{_FIRST_LINE}\n{text}", "<probe>", "exec")))


def _read_in(code: types.CodeType) -> Iterator[str]:
    """The global names that a piece of code reads."""
    steps = list(dis.get_instructions(code))
    known = {"np", "__annotations__", *dir(builtins)}
    known |= {step.argval for step in steps if step.opname == "STORE_NAME"}
    for step in steps:
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME") and step.argval not in known:
            yield step.argval
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _read_in(constant)
