"""Describes the jaxprs of one program for its page: a process of its own, given a tree.

    python describe_jaxprs.py TREE PROGRAM NAME DESCRIPTION

The program leaves a dict, `programs`, with a title for each jaxpr. The description is JSON: the
`text` of each, and its parts with the names that the text has. If the tree has `minijax.jit`, every
equation also has its lines of StableHLO.
"""

import json
import sys
from pathlib import Path
from typing import Any

Described = dict[str, Any]


def main() -> None:
    """Run the program, and write what its jaxprs are."""
    tree, program, name, description = sys.argv[1:]
    sys.path.insert(0, tree)
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(Path(program).read_text(encoding="utf-8"), name, "exec"), names)
    found = [described(title, jaxpr) for title, jaxpr in names["programs"].items()]
    Path(description).write_text(json.dumps(found), encoding="utf-8")


def described(title: str, closed: Any) -> Described:
    """A jaxpr as data: variables are `{"name", "type"}`, literals are strings."""
    from minijax.jaxpr import JaxprPrinter, Var, open_jaxpr
    from minijax.layout import layout

    jaxpr = open_jaxpr(closed)
    printer = JaxprPrinter(jaxpr)
    printer.program(jaxpr)  # names everything in the order of the text

    def atom(x: Any) -> Any:
        if isinstance(x, Var):
            return {"name": printer.name(x), "type": x.aval.str_short(True)}
        return printer.atom(x)

    lines = lowered(jaxpr)
    return {
        "title": title,
        "text": str(jaxpr),
        "constants": [atom(x) for x in jaxpr.constvars],
        "inputs": [atom(x) for x in jaxpr.invars],
        "equations": [
            {
                "name": eqn.primitive.name,
                "params": layout(printer.params(eqn)),
                "operands": [atom(x) for x in eqn.invars],
                "results": [atom(x) for x in eqn.outvars],
                "hlo": hlo,
            }
            for eqn, hlo in zip(jaxpr.eqns, lines, strict=True)
        ],
        "outputs": [atom(x) for x in jaxpr.outvars],
    }


def lowered(jaxpr: Any) -> list[list[str]]:
    """For each equation, the lines to which minijax lowers it; none before the lesson on that."""
    try:
        from minijax.jit import lower_body
        from minijax.lowering import Emitter
    except ImportError:
        return [[] for _ in jaxpr.eqns]
    emitter = Emitter()
    names = {var: f"%const{i}" for i, var in enumerate(jaxpr.constvars)}
    names |= {var: f"%arg{i}" for i, var in enumerate(jaxpr.invars)}
    found = []
    for eqn in jaxpr.eqns:
        # A program of one equation, so that its lines are known from those of the others.
        reads = [var for var in dict.fromkeys(eqn.invars) if var in names]
        alone = jaxpr.replace(constvars=[], invars=reads, outvars=eqn.outvars, eqns=[eqn])
        before = len(emitter.lines)
        outs = lower_body(emitter, alone, [names[var] for var in reads])
        names.update(zip(eqn.outvars, outs, strict=True))
        found.append([line.strip() for line in emitter.lines[before:]])
    return found


if __name__ == "__main__":
    main()
