"""Runs the worked examples of one page: a program of its own, given a tree and the examples' texts.

    python run_examples.py TREE TEXTS NAME OUTPUTS        both are JSON

All run in one namespace, like the cells of a notebook. Of each, the outputs are those that nbformat
has for its cell: what it printed, the value of a last expression, the error that ended it.
"""

import ast
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

Output = dict[str, Any]


def main() -> None:
    """Run the texts, and write what came of them."""
    tree, texts, _, outputs = sys.argv[1:]
    sys.path.insert(0, tree)
    names: dict[str, Any] = {"__name__": "__main__"}
    found = [run(code, names) for code in json.loads(Path(texts).read_text(encoding="utf-8"))]
    Path(outputs).write_text(json.dumps(found), encoding="utf-8")


def run(code: str, names: dict[str, Any]) -> list[Output]:
    """Run one example; its outputs."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        last = list(outcome(code, names))
    text = printed.getvalue().splitlines(keepends=True)
    return [*([{"output_type": "stream", "name": "stdout", "text": text}] if text else []), *last]


def outcome(code: str, names: dict[str, Any]) -> list[Output]:
    """The value of the last expression or the error, as an output, if there is one."""
    try:
        body = ast.parse(code).body
        last = [ast.Expression(x.value) for x in body[-1:] if isinstance(x, ast.Expr)]
        exec(compile(ast.Module(body[: len(body) - len(last)], []), "<example>", "exec"), names)
        values = [eval(compile(x, "<example>", "eval"), names) for x in last]
        return [shown(value) for value in values if value is not None]
    except Exception as error:
        name = type(error).__name__
        traceback = [f"{name}: {error}"]  # its lines would be those of another machine
        return [
            {"output_type": "error", "ename": name, "evalue": str(error), "traceback": traceback}
        ]


def shown(value: object) -> Output:
    """A value as a notebook shows it."""
    data = {"text/plain": repr(value).splitlines(keepends=True)}
    return {"output_type": "execute_result", "execution_count": None, "metadata": {}, "data": data}


if __name__ == "__main__":
    main()
