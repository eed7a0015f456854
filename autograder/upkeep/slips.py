"""What a tired student might have written instead: one slip at a time, on the syntax tree."""

import ast
import copy
from collections.abc import Iterator, Mapping


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
