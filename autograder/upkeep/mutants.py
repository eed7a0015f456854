"""Mutants: the reference with one small slip in one exercise, to try the hidden suites with.

A suite that is worth its name notices each of them. The slips are made on the syntax tree: for
every node of an exercise's body, `slips` says what a tired student might have written instead. A
few mutants are no mistakes at all, because the changed program does the same; those are listed in
`suites/<lesson>.equivalent.toml`, each with the reason.
"""

from __future__ import annotations

import ast
import copy
import difflib
import functools
import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.grading import answers, judging, pool, submission
from autograder.grading.calls import Call
from autograder.grading.task import Task
from autograder.lessons import assemble, manifest, places, skeleton
from autograder.lessons.manifest import Exercise, Lesson
from autograder.lessons.problem import Problem
from autograder.sandbox import session


@dataclass(frozen=True)
class Mutant:
    """The reference's module with one slip in it."""

    id: str  # "jvp.mul_rule/1f09ab34": the exercise, and a hash of the mutated function
    exercise: str
    source: str  # the whole module
    diff: str  # the lines that differ, of the function as Python prints it


def make_mutants(lesson: Lesson) -> list[Mutant]:
    """All mutants of a lesson, exercise by exercise, in a fixed order."""
    reference = assemble.read_solution(lesson.module)
    return [mutant for exercise in lesson.exercises for mutant in _mutants_of(reference, exercise)]


def _mutants_of(reference: str, exercise: Exercise) -> Iterator[Mutant]:
    tree = _parsed(skeleton.definition(reference, exercise.target))
    original = ast.unparse(tree)
    seen = {original}
    for mutated in mutations(tree):
        text = ast.unparse(mutated)
        if text not in seen:
            seen.add(text)
            name = f"{exercise.id}/{hashlib.sha256(text.encode()).hexdigest()[:8]}"
            source = skeleton.replace_function(reference, exercise.target, text)
            yield Mutant(name, exercise.id, source, _diff(original, text))


def _parsed(definition: str) -> ast.FunctionDef:
    """The syntax tree of a function without docstring and annotations; comments are lost.

    So a mutant keeps its name when only types or words change.
    """
    indent = len(definition) - len(definition.lstrip())
    module = ast.parse("\n".join(line[indent:] for line in definition.splitlines()))
    (function,) = module.body
    assert isinstance(function, ast.FunctionDef)
    function.body = skeleton.code(function)
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.FunctionDef):
            node.returns = None
    return function


def _diff(old: str, new: str) -> str:
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), n=0, lineterm="")
    return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))


def read_equivalent(lesson: Lesson) -> dict[str, str]:
    """By id, the mutants of a lesson that do the same as the reference, and why they do."""
    path = places.SUITES / f"{lesson.id}.equivalent.toml"
    if not path.is_file():
        return {}
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("mutant", [])
    for entry in entries:
        if set(entry) != {"id", "diff", "why"} or not entry["why"].strip():
            raise Problem(f"{path.name}: each [[mutant]] has id, diff and why, and nothing else.")
    return {entry["id"]: entry["why"] for entry in entries}


# ------------------------------------------------------------------------------------------
# Trying a suite


@dataclass(frozen=True)
class Outcome:
    """What the suite made of a mutant: whether a test of its exercise failed, and the label."""

    mutant: Mutant
    killed: bool
    label: str | None
    label_is_right: bool


def try_out(
    lesson: Lesson, mutants: list[Mutant], crew: pool.Crew, level: str | None = None
) -> Iterator[Outcome]:
    """Grade mutants of a lesson; what was graded before, with the same suite, is remembered.

    Outcomes come as they are known. An interrupted run goes on where it stopped.
    """
    memory = Memory(lesson)
    for mutant in mutants:
        if mutant.id in memory.known:
            yield Outcome(mutant, **memory.known[mutant.id])
    todo = [mutant for mutant in mutants if mutant.id not in memory.known]
    for mutant, found in crew.each(functools.partial(_grade, lesson.id, level), todo):
        memory.keep(mutant.id, found)
        yield Outcome(mutant, **found)


def _grade(lesson_id: str, level: str | None, mutant: Mutant) -> dict[str, Any]:
    lesson, source = manifest.get(lesson_id), mutant.source.encode()
    task = Task.of(lesson, source, level)

    def unlike_mistakes(exercise: str, calls: Sequence[Call]) -> bool:
        """Whether it has no label, whatever the other tests say."""
        return not any(judging.like(lesson, exercise, calls, task.edition.level))

    only = mutant.exercise
    result = submission.grade(task, only=only, enough=unlike_mistakes, shrink=False)
    (exercise,) = result["exercises"]
    label = exercise["misconception"] and exercise["misconception"]["name"]
    return {
        "killed": exercise["points"] < exercise["max_points"],
        "label": label,
        "label_is_right": label is None or _behaves_as(lesson, level, mutant, label),
    }


def _behaves_as(lesson: Lesson, level: str | None, mutant: Mutant, label: str) -> bool:
    """Does the mutant do as the known mistake does in all tests of the lesson, of any exercise?"""
    mistake = _mistaken(lesson.id, mutant.exercise, label)
    return _tests(lesson, level, mutant.source) == _tests(lesson, level, mistake)


@functools.lru_cache(maxsize=100)
def _tests(lesson: Lesson, level: str | None, source: str) -> list[tuple[str, str | None, str]]:
    """What comes of each test of each exercise; of a known mistake it is asked again and again.

    The line of an error is left out: it is a matter of layout.
    """
    result = submission.grade(Task.of(lesson, source.encode(), level), shrink=False)
    tests = [test for exercise in result["exercises"] for test in exercise["tests"]]
    return [(t["id"], t["class"], _LINE.sub("", t["message"] or "")) for t in tests]


_LINE = re.compile(r"\bLine \d+\b")


def _mistaken(lesson_id: str, exercise: str, label: str) -> str:
    mistakes = answers.mistakes(lesson_id)
    (found,) = [m for m in mistakes if (m.exercise, m.name) == (exercise, label)]
    return answers.variant_source(found)


class Memory:
    """Outcomes on the disk, one in a line; those of another suite or reference do not count."""

    def __init__(self, lesson: Lesson) -> None:
        folder = places.COURSE.parent / "build" / "audit"
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"mutants-{lesson.id}-{_fingerprint(lesson)}.jsonl"
        for old in folder.glob(f"mutants-{lesson.id}-*.jsonl"):
            if old != self.path:
                old.unlink()
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        self.known: dict[str, dict[str, Any]] = dict(map(json.loads, filter(_is_whole, lines)))

    def keep(self, mutant: str, found: dict[str, Any]) -> None:
        """Add an outcome."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([mutant, found]) + "\n")


def _is_whole(line: str) -> bool:
    """Was the line written to its end?"""
    return line.endswith("]")


def _fingerprint(lesson: Lesson) -> str:
    """A hash of everything that an outcome depends on, but for the mutant itself.

    That is code: a better docstring, or a later lesson, does not make what is known worthless.
    """
    grader = [
        *(places.PACKAGE / "grading").glob("*.py"),
        *places.WORKER.glob("*.py"),
        Path(session.__file__),
        Path(__file__),
    ]
    files = [
        places.SUITES / f"{lesson.id}.py",
        places.ANSWERS / f"{lesson.id}.py",
        *sorted(grader),
    ]
    texts = [path.read_text(encoding="utf-8") for path in files if path.is_file()]
    code = "\0".join(map(_without_docstrings, [*texts, *assemble.tree(lesson).values()]))
    return hashlib.sha256(code.encode()).hexdigest()[:12]


def _without_docstrings(source: str) -> str:
    """A module as Python understands it: without comments, docstrings and layout."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, skeleton.Documented):
            node.body = skeleton.code(node)
    return ast.dump(tree)


# ------------------------------------------------------------------------------------------
# One slip at a time


def mutations(function: ast.FunctionDef) -> Iterator[ast.FunctionDef]:
    """Copies of a function, each with one slip in its body."""
    names = [arg.arg for arg in (*function.args.args, *function.args.kwonlyargs)]
    for node in _body_nodes(function):
        for new in slips(node, names):
            yield _with(function, node, new)


def _body_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes whose change may change behaviour: no annotations, nothing that makes an error."""
    todo: list[ast.AST] = [*reversed(function.body)]
    while todo:
        node = todo.pop()
        yield node
        hidden = _hidden_fields(node)
        children = [
            child
            for name, value in ast.iter_fields(node)
            if name not in hidden
            for child in (value if isinstance(value, list) else [value])
            if isinstance(child, ast.AST)
        ]
        todo.extend(reversed(children))


def _hidden_fields(node: ast.AST) -> tuple[str, ...]:
    match node:
        case ast.If(body=[*_, ast.Raise()]):
            return ("body",)
        case ast.keyword(arg="strict"):  # of zip: it only ever complains
            return ("value",)
        case ast.Call(func=ast.Name("isinstance")):  # the order of the classes says nothing
            return ("args",)
    return _HIDDEN.get(type(node), ())


_HIDDEN: Mapping[type, tuple[str, ...]] = {
    ast.Raise: ("exc", "cause"),
    ast.AnnAssign: ("annotation",),
    ast.FunctionDef: ("returns", "args", "decorator_list"),
    ast.JoinedStr: ("values",),
}


def _with(function: ast.FunctionDef, old: ast.AST, new: ast.AST) -> ast.FunctionDef:
    """A copy of the function with `new` instead of `old`."""
    memo: dict[int, object] = {}
    copied = copy.deepcopy(function, memo)
    replacement = copy.deepcopy(new)

    class Exchange(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return replacement if node is memo[id(old)] else self.generic_visit(node)

    mutated = ast.fix_missing_locations(Exchange().visit(copied))
    assert isinstance(mutated, ast.FunctionDef)
    return mutated


def slips(node: ast.AST, parameters: list[str]) -> Iterator[ast.AST]:
    """What might have been written instead of a node; `parameters` are the function's own."""
    match node:
        case ast.stmt():
            yield from _statement_slips(node)
        case ast.Name(ctx=ast.Load()) | ast.Attribute(ctx=ast.Load()):
            yield from _name_slips(node, parameters)
        case ast.Call():
            yield from _call_slips(node)
        case ast.Constant(value):
            yield from map(ast.Constant, _other_constants(value))
        case ast.Tuple(elts, ast.Load()) | ast.List(elts, ast.Load()):
            yield from _sequence_slips(node, elts)
        case ast.comprehension(ifs=ifs):
            yield from (_without(node, "ifs", i) for i in range(len(ifs)))
        case ast.expr() | ast.Slice():
            yield from _operator_slips(node)


def _operator_slips(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.BinOp(left, op, right):
            yield from (ast.BinOp(left, other(), right) for other in _OPERATORS.get(type(op), ()))
            yield from (left, right)
            if not isinstance(op, _COMMUTATIVE):
                yield ast.BinOp(right, op, left)
        case ast.UnaryOp(_, operand):
            yield operand
        case ast.BoolOp(op, values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
            yield from (_without(node, "values", i) for i in range(len(values)))
        case ast.Compare(left, [op], [right]):
            others = _COMPARISONS.get(type(op), ())
            yield from (ast.Compare(left, [other()], [right]) for other in others)
        case ast.IfExp(_, body, orelse):
            yield from (body, orelse)
        case ast.Slice(lower, upper, step):
            yield from (ast.Slice(None, upper, step), ast.Slice(lower, None, step))
        case ast.Subscript(value, ast.Slice(), ast.Load()):
            yield value


def _name_slips(node: ast.AST, parameters: list[str]) -> Iterator[ast.AST]:
    """Another parameter of the same function, or a name that is easily taken for this one."""
    match node:
        case ast.Name(name) if name in parameters:
            others = [other for other in parameters if other not in (name, "self")]
            yield from (ast.Name(other, ast.Load()) for other in others)
        case ast.Name(name) if name in _CONFUSED:
            yield ast.Name(_CONFUSED[name], ast.Load())
        case ast.Attribute(value, name) if name in _CONFUSED:
            yield ast.Attribute(value, _CONFUSED[name], ast.Load())


_OPERATORS: Mapping[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
}

_COMMUTATIVE = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr)  # of numbers, at least
_SYMMETRIC = ("add", "mul", "bitwise_and", "bitwise_or", "bitwise_xor")  # their functions in `lax`

_COMPARISONS: Mapping[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}

# Names of which one is easily written for the other.
_PAIRS = (
    *(("primal", "tangent"), ("primals", "tangents"), ("pure", "lift"), ("val", "aval")),
    *(("sin_p", "cos_p"), ("add_p", "sub_p"), ("mul_p", "add_p"), ("gt_p", "lt_p")),
    *(("invars", "outvars"), ("full_raise", "full_lower"), ("min", "max"), ("any", "all")),
    *(("in_axes", "out_axes"), ("append", "extend"), ("in_avals", "out_avals")),
)
_CONFUSED = dict((*_PAIRS, *((b, a) for a, b in reversed(_PAIRS))))


def _other_constants(value: object) -> tuple[int | float, ...]:
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int):
        return (value + 1, -value) if value else (1,)
    return (value + 1.0,) if isinstance(value, float) else ()


def _without(node: ast.AST, field: str, i: int) -> ast.AST:
    """The node with one entry less in a list; a Boolean operation with a single one is that one."""
    left_over = [x for j, x in enumerate(getattr(node, field)) if j != i]
    if isinstance(node, ast.BoolOp) and len(left_over) == 1:
        return left_over[0]
    return type(node)(**{**dict(ast.iter_fields(node)), field: left_over})


def _swapped(node: ast.AST, field: str, i: int) -> ast.AST:
    """The node with entries `i` and `i + 1` of a list exchanged."""
    entries = list(getattr(node, field))
    entries[i : i + 2] = entries[i : i + 2][::-1]
    return type(node)(**{**dict(ast.iter_fields(node)), field: entries})


def _call_slips(call: ast.Call) -> Iterator[ast.AST]:
    """Arguments exchanged or forgotten; `f(x)` forgotten around x."""
    if ast.unparse(call.func) == "isinstance":
        return
    plain = not any(isinstance(arg, ast.Starred) for arg in call.args)
    if len(call.args) == 1 and plain and not call.keywords:
        yield call.args[0]
    if plain and ast.unparse(call.func) not in _SYMMETRIC:
        yield from (_swapped(call, "args", i) for i in range(len(call.args) - 1))
    for i, keyword in enumerate(call.keywords):
        if keyword.arg not in ("strict", None):
            yield _without(call, "keywords", i)


def _sequence_slips(node: ast.AST, elts: list[ast.expr]) -> Iterator[ast.AST]:
    yield from (_swapped(node, "elts", i) for i in range(len(elts) - 1))
    yield from (_without(node, "elts", i) for i in range(len(elts)) if len(elts) > 1)


def _statement_slips(node: ast.stmt) -> Iterator[ast.AST]:
    match node:
        case ast.Return(value) if value is not None:
            if not (isinstance(value, ast.Constant) and value.value is None):
                yield ast.Return(ast.Constant(None))
        case ast.If(_, body, orelse):
            yield from (ast.If(ast.Constant(x), body, orelse) for x in (True, False))
        case ast.While(body=body, orelse=orelse):
            yield ast.While(ast.Constant(False), body, orelse)
        case ast.With(items, body) if all(item.optional_vars is None for item in items):
            yield ast.If(ast.Constant(True), body, [])
        case ast.Try(body, _, _, finalbody) if finalbody:
            yield ast.If(ast.Constant(True), [*body, *finalbody], [])
        case ast.AugAssign(target, _, value):
            yield ast.Assign([target], value)
            yield ast.Pass()
        case ast.Expr(ast.Yield()):
            return
        case ast.Expr() | ast.Raise() | ast.Continue() | ast.Break():
            yield ast.Pass()
        case ast.Assign([ast.Subscript() | ast.Attribute()], _):
            yield ast.Pass()
