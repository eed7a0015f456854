"""The intermediate representation: programs as data, and how they are printed.

`minijax.jaxpr` runs programs, and checks their types.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
import string
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from minijax.core import Primitive, ShapedArray, Value
from minijax.layout import SPACE, Document, Group, Indent, Line, joined, layout

# For finding mistakes: every program that is made is type-checked at once. It can be switched on
# before Python starts, by the environment variable of JAX's flag, or later by this attribute.
checks = SimpleNamespace(enabled=os.environ.get("JAX_ENABLE_CHECKS") in ("1", "true", "True"))
checks.check = None  # the type checker, which minijax.jaxpr puts here


@dataclass(eq=False, slots=True)
class Var:
    """A variable: a place in a program, known by identity, with a type."""

    aval: ShapedArray


@dataclass(eq=False)
class Literal:
    """A 0-d constant, written into the program itself; a weakly typed one is a Python number."""

    val: Any
    aval: ShapedArray

    def __post_init__(self) -> None:
        if self.aval.weak_type:
            number = np.asarray(self.val).item()
            self.val = number if np.asarray(number).dtype == self.aval.dtype else self.val


Atom = Var | Literal


@dataclass(eq=False, repr=False, slots=True)
class JaxprEqn:
    """One line of a program: `outvars = primitive[params] invars`."""

    invars: list[Atom]
    outvars: list[Var]
    primitive: Primitive
    params: dict[str, Any]

    def replace(self, **changes: Any) -> JaxprEqn:
        """A copy in which the named parts are replaced."""
        return dataclasses.replace(self, **changes)

    def __repr__(self) -> str:
        return print_equation(self)


@dataclass(eq=False, repr=False)
class Jaxpr:
    """A program: constants and inputs, equations in order, and outputs."""

    constvars: list[Var]
    invars: list[Var]
    outvars: list[Atom]
    eqns: list[JaxprEqn]
    cache: dict[Hashable, Any] = field(default_factory=dict)  # see `jaxpr.kept`

    def replace(self, **changes: Any) -> Jaxpr:
        """A copy in which the named parts are replaced; cached results are not copied."""
        return dataclasses.replace(self, **{"cache": {}, **changes})

    def __repr__(self) -> str:
        return print_jaxpr(self)


@dataclass(eq=False, repr=False)
class ClosedJaxpr:
    """A program together with the values of its constants."""

    jaxpr: Jaxpr
    consts: list[Any]

    def __post_init__(self) -> None:
        if checks.enabled:
            checks.check(self.jaxpr)

    literals = property(lambda self: self.consts, doc="JAX's other name for `consts`.")
    in_avals = property(
        lambda self: [v.aval for v in self.jaxpr.invars], doc="The types of the inputs."
    )
    out_avals = property(
        lambda self: [v.aval for v in self.jaxpr.outvars], doc="The types of the outputs."
    )
    eqns = property(lambda self: self.jaxpr.eqns, doc="The equations of the program.")

    def replace(self, **changes: Any) -> ClosedJaxpr:
        """A copy in which the named parts, the program or its constants, are replaced."""
        return dataclasses.replace(self, **changes)

    def __repr__(self) -> str:
        return str(self.jaxpr)


def open_jaxpr(jaxpr: Jaxpr | ClosedJaxpr) -> Jaxpr:
    return jaxpr.jaxpr if isinstance(jaxpr, ClosedJaxpr) else jaxpr


def inner_jaxprs(params: Mapping[str, Any]) -> Iterator[Jaxpr]:
    """The programs among the parameters of an equation, alone or in tuples."""
    for value in params.values():
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Jaxpr | ClosedJaxpr):
                yield open_jaxpr(part)


# Printing ---------------------------------------------------------------------------------------

# What JAX prints of an equation's parameters, if it does not print them all as they are. It leaves
# out what the type of the result says already, and shows a few that carry no information here.
Params = dict[str, Any]
printed_params: dict[str, Callable[[Params], Params]] = {
    "broadcast_in_dim": lambda p: {k: v for k, v in p.items() if k != "shape" and v != ()},
    "dot_general": lambda p: {
        **{k: v for k, v in p.items() if v is not None},
        "dimension_numbers": tuple(tuple(map(list, pair)) for pair in p["dimension_numbers"]),
    },
    "iota": lambda p: {**p, "sharding": None},
    "reduce_sum": lambda p: {**p, "out_sharding": None},
    "reshape": lambda p: {**p, "dimensions": None, "sharding": None},
}


def print_jaxpr(jaxpr: Jaxpr) -> str:
    """The program as a string, as JAX prints it.

    >>> x, y = (Var(ShapedArray((2,), np.dtype(float))) for _ in range(2))
    >>> two = Literal(2.0, ShapedArray((), np.dtype(float)))
    >>> print(print_jaxpr(Jaxpr([], [x], [y], [JaxprEqn([x, two], [y], Primitive("mul"), {})])))
    { lambda ; a:f64[2]. let b:f64[2] = mul a 2.0:f64[] in (b,) }
    """
    printer = JaxprPrinter(jaxpr)
    shared = [
        [f"let {name} = ", printer.program(inner), " in", Line()]
        for inner, name in printer.shared.items()
    ]
    return layout([*shared, printer.program(jaxpr)])


def print_equation(eqn: JaxprEqn) -> str:
    """One line of a program, with names of its own."""
    alone = Jaxpr([], [], list(eqn.outvars), [eqn])
    return layout(JaxprPrinter(alone).equation(eqn)).rstrip()


class JaxprPrinter:
    """Makes documents of programs; every variable has one name in all of them."""

    def __init__(self, jaxpr: Jaxpr) -> None:
        self.shared = shared_jaxprs(jaxpr)
        taken = set(self.shared.values())
        self.fresh = (name for n in itertools.count() if (name := letters(n)) not in taken)
        self.names = dict.fromkeys(unused_variables(jaxpr), "_")

    def name(self, var: Var) -> str:
        if var not in self.names:
            self.names[var] = next(self.fresh)
        return self.names[var]

    def atom(self, atom: Atom) -> str:
        if isinstance(atom, Var):
            return self.name(atom)
        value = np.asarray(atom.val)
        return f"{'[...]' if value.shape else value.item()}:{atom.aval.str_short(True)}"

    def typed(self, atom: Atom) -> str:
        if isinstance(atom, Var):
            return f"{self.name(atom)}:{atom.aval.str_short(True)}"
        return self.atom(atom)

    def program(self, jaxpr: Jaxpr) -> Document:
        consts, inputs = self.binders(jaxpr.constvars), self.binders(jaxpr.invars)
        body = joined(Line("; "), [self.equation(eqn) for eqn in jaxpr.eqns])
        outs = Indent(joined([",", SPACE], [self.atom(x) for x in jaxpr.outvars]))
        end = ",)" if len(jaxpr.outvars) == 1 else ")"
        head = ["{ lambda ", consts, "; ", inputs, ". let"]
        return Group([Indent([*head, Indent([Line(), body]), Line(), "in (", outs, end]), " }"])

    def equation(self, eqn: JaxprEqn) -> Document:
        if eqn.primitive.name == "jit":
            self.name_alike(eqn)
        results = [self.binders(eqn.outvars), " = "] if eqn.outvars else []
        operands = Indent(joined(SPACE, [self.atom(x) for x in eqn.invars]))
        return [*results, eqn.primitive.name, self.params(eqn), " ", operands]

    def binders(self, variables: Sequence[Var]) -> Document:
        return Indent(joined(SPACE, [self.typed(var) for var in variables]))

    def params(self, eqn: JaxprEqn) -> Document:
        """The parameters in alphabetical order, but the name of a function before all others."""
        shown = printed_params.get(eqn.primitive.name, dict)(eqn.params)
        if not shown:
            return ""
        keys = sorted(shown, key=lambda key: (key != "name", key))
        parts = joined(Line(), [[f"{key}=", self.value(shown[key])] for key in keys])
        return Group(["[", Indent([Line(""), parts]), Line(""), "]"])

    def value(self, value: Value) -> Document:
        """A parameter's value, which may be a program, or a tuple of them."""
        if isinstance(value, Jaxpr | ClosedJaxpr):
            jaxpr = open_jaxpr(value)
            return self.shared.get(jaxpr) or self.program(jaxpr)
        if isinstance(value, tuple) and value and isinstance(value[0], Jaxpr | ClosedJaxpr):
            parts = joined(Line(), [self.value(part) for part in value])
            return Group([Indent(["(", Line(""), parts]), Line(""), ")"])
        return str(value)

    def name_alike(self, eqn: JaxprEqn) -> None:
        """Give inputs and results of a called program the names that they have outside."""
        jaxpr = open_jaxpr(eqn.params["jaxpr"])
        if jaxpr in self.shared:
            return
        for inside, outside in ((jaxpr.invars, eqn.invars), (jaxpr.outvars, eqn.outvars)):
            given: set[Atom] = set()
            for inner, outer in zip(inside, outside, strict=False):
                if not isinstance(inner, Var) or not isinstance(outer, Var):
                    continue
                if inner not in self.names and outer not in given:
                    given.add(outer)
                    self.names[inner] = self.name(outer)


def letters(n: int) -> str:
    """The names a, b, ..., z, ba, bb, ...: numbers whose 26 digits are the letters.

    >>> letters(0), letters(25), letters(26), letters(27)
    ('a', 'z', 'ba', 'bb')
    """
    text = string.ascii_lowercase[n % 26]
    while n := n // 26:
        text = string.ascii_lowercase[n % 26] + text
    return text


def unused_variables(jaxpr: Jaxpr) -> list[Var]:
    """The results of equations that nothing reads."""
    used = {*jaxpr.outvars, *(atom for eqn in jaxpr.eqns for atom in eqn.invars)}
    return [var for eqn in jaxpr.eqns for var in eqn.outvars if var not in used]


def shared_jaxprs(top: Jaxpr) -> dict[Jaxpr, str]:
    """Programs to print first, under a name: those called more than once, and long ones."""
    uses: Counter[Jaxpr] = Counter()
    names: dict[Jaxpr, str] = {}
    todo = deque([top])
    while todo:
        jaxpr = todo.popleft()
        is_long = jaxpr is not top and len(jaxpr.eqns) > 10
        uses[jaxpr] += 2 if is_long else 1
        for eqn in jaxpr.eqns:
            for inner in inner_jaxprs(eqn.params):
                todo.append(inner)
                if "name" in eqn.params:
                    names.setdefault(inner, eqn.params["name"].strip("<>"))
    shared = [jaxpr for jaxpr, count in uses.items() if count > 1]
    unique = unique_names([names.get(jaxpr, "jaxpr") for jaxpr in shared])
    return dict(zip(shared, unique, strict=True))


def unique_names(names: Sequence[str]) -> Iterator[str]:
    """The names, with a number after the second and later ones of a kind.

    >>> list(unique_names(["f", "g", "f", "f"]))
    ['f', 'g', 'f1', 'f2']
    """
    counts: Counter[str] = Counter()
    for name in names:
        before = counts[name]
        counts[name] += 1
        if before:
            name = f"{name}{before}"
            counts[name] += 1
        yield name
