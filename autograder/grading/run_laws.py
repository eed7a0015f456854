"""What runs in a worker for a generated test: a law, on programs given as text."""

from typing import Any

import numpy as np

from autograder.grading.in_worker import in_place, plain
from autograder.grading.suite import probe


@probe(uses=[in_place, plain])
def outcomes(
    mj: Any, law: list[Any], texts: list[str], siblings: dict[str, str], module: str, catch: bool
) -> list[Any]:
    """What a law gives on each of some programs, with right siblings in place.

    `law` is its name, source and parameters. `siblings` maps targets in `module` to definitions.
    With `catch` an exception is what came of one program; without, of all.
    """
    name, source, parameters = law
    space: dict[str, Any] = {"np": np}
    exec(source, space)
    found: list[Any] = []
    with in_place(module, siblings):
        for text in texts:
            try:
                defined: dict[str, Any] = {}
                exec(text, defined)
                given = [defined[parameter] for parameter in parameters]
                found.append(("value", plain(space[name](mj, *given))))
            except Exception as error:
                if not catch:
                    raise
                found.append(("raised", type(error).__name__, str(error)))
    return found
