"""Chooses among random programs those that have every kind of step between them.

A mistake in one kind of step (an operation on float32, on a literal, on one value twice) is found
by programs that have this kind. By chance alone ten programs have a fifth of the kinds in common
with ten others, and whether a mistake is found depends on the seed.
"""

from collections.abc import Iterator, Sequence

from autograder.grading import random_programs
from autograder.grading.random_programs import Program
from autograder.grading.random_steps import Step

POOL = 16  # programs that are made for each that is chosen
Kind = tuple[str, object]


def make(seed: str, number: int = 12, **recipe: object) -> list[Program]:
    """So many programs; `recipe` is for `random_programs.make`."""
    pool = random_programs.make(seed, POOL * number, **recipe)  # type: ignore[arg-type]
    return covering(pool, number)


def covering(pool: Sequence[Program], number: int) -> list[Program]:
    """So many of the programs, each with the most kinds that those before it do not have."""
    left = {i: frozenset(kinds(program)) for i, program in enumerate(pool)}
    seen: set[Kind] = set()
    chosen = []
    for _ in range(number):
        best = max(left, key=lambda i: (len(left[i] - seen), -i))
        seen |= left.pop(best)
        chosen.append(pool[best])
    return chosen


def kinds(program: Program) -> Iterator[Kind]:
    """The kinds of a program's inputs, results and steps."""
    yield "inputs", len(program.inputs)
    yield "results", len(program.results)
    yield from (("axis", x.axis) for x in program.inputs)
    for step in program.steps:
        yield from ((step.name, kind) for kind in _kinds_of_step(program, step))


def _kinds_of_step(program: Program, step: Step) -> Iterator[object]:
    operands, params = [program.values[i] for i in step.operands], dict(step.params)
    yield from (x.dtype.name for x in operands)
    yield len({x.shape for x in operands}), len(set(step.operands))
    yield params.get("symbol")
    # What a number makes of an array depends on the types of both.
    yield type(params.get("value")).__name__, *(x.dtype.name for x in operands)
