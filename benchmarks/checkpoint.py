"""What `checkpoint` saves, and what it costs.

`./jaxprentice bench checkpoint` takes the gradient of a deep network, written as a loop and as a
`scan`, with several policies. It prints the bytes that the forward pass keeps, the operations of
the gradient (as `costs.cost` counts them), and the working memory that XLA plans for
it, beside what it plans for JAX. Nothing here is a time; the figures are the same on each run.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import minijax
import numpy as np
from minijax import xla
from minijax.costs import cost
from minijax.linearize import linearize_tree

from benchmarks import _measure as measure
from benchmarks._programs import normal

REPORT = Path(__file__).resolve().parent.parent / "build" / "bench" / "checkpoint.json"

LAYERS, BATCH, WIDTH = 32, 256, 128
POLICIES = ("nothing_saveable", "dots_saveable", "everything_saveable")

Program = Callable[..., Any]


@dataclass(frozen=True)
class Row:
    """What one program needs with one policy."""

    name: str
    kept: int  # bytes between the forward and the backward pass, parameters and inputs included
    flops: float  # of value and gradient
    memory: int  # bytes that XLA plans besides arguments and results
    memory_of_jax: int


def layer(lib: ModuleType, policy: str | None) -> Program:
    """One layer; `policy` is None for no checkpoint at all."""

    def f(x: Any, w: Any) -> Any:
        return lib.numpy.tanh(lib.numpy.sin(x @ w))

    return (
        f if policy is None else lib.checkpoint(f, policy=getattr(lib.checkpoint_policies, policy))
    )


def loop(lib: ModuleType, policy: str | None) -> Program:
    """All layers in a Python loop, each with a checkpoint of its own."""
    f = layer(lib, policy)

    def loss(weights: Any, x: Any) -> Any:
        for i in range(LAYERS):
            x = f(x, weights[i])
        return lib.numpy.sum(x)

    return loss


def scan(lib: ModuleType, policy: str | None) -> Program:
    """All layers as one `scan`, with a checkpoint around the step."""
    f = layer(lib, policy)

    def loss(weights: Any, x: Any) -> Any:
        last, _ = lib.lax.scan(lambda x, w: (f(x, w), None), x, weights)
        return lib.numpy.sum(last)

    return loss


def arguments() -> tuple[Any, ...]:
    return normal(LAYERS, WIDTH, WIDTH) * np.float32(WIDTH**-0.5), normal(BATCH, WIDTH)


def kept_bytes(f: Program, args: Sequence[Any]) -> int:
    """The size of the residuals; an array that is kept for two purposes counts once."""
    consts = linearize_tree(f, args, has_aux=False).program.consts
    return sum(x.nbytes for x in {id(x): np.asarray(x) for x in consts}.values())


def planned_memory(f: Program, args: Sequence[Any]) -> int:
    """What XLA sets aside for the compiled program, in bytes."""
    text = minijax.jit(f).lower(*args).as_text()
    executable = xla.compile_text(text, (xla.current_device(),), [])
    return executable.loaded.get_compiled_memory_stats().temp_size_in_bytes


def planned_memory_of_jax(f: Program, args: Sequence[Any]) -> int:
    return jax.jit(f).lower(*args).compile().memory_analysis().temp_size_in_bytes


def row(name: str, make: Callable[[ModuleType, str | None], Program], policy: str | None) -> Row:
    f, args = make(minijax, policy), arguments()
    gradient, gradient_of_jax = minijax.grad(f), jax.grad(make(jax, policy))
    return Row(
        f"{name}, {policy or 'no checkpoint'}",
        kept_bytes(f, args),
        cost(minijax.value_and_grad(f))(*args).flops,
        planned_memory(gradient, args),
        planned_memory_of_jax(gradient_of_jax, args),
    )


def table(rows: Sequence[Row]) -> str:
    """One line for each row; sizes in MiB, operations in millions."""
    lines = [f"{'':30} {'kept':>9} {'flops':>9} {'XLA':>9} {'JAX in XLA':>11}"]
    for r in rows:
        kept, memory, other = (f"{n / 2**20:.2f}" for n in (r.kept, r.memory, r.memory_of_jax))
        lines.append(f"{r.name:30} {kept:>9} {r.flops / 1e6:>9.0f} {memory:>9} {other:>11}")
    return "\n".join([*lines, "kept, XLA, JAX: MiB; flops: millions"])


def main(report: Path = REPORT) -> None:
    """Print the table and write the report."""
    programs = (("loop", loop), ("scan", scan))
    rows = [row(name, make, policy) for name, make in programs for policy in (None, *POLICIES)]
    print(table(rows))
    measure.write_json(report, {"rows": [asdict(r) for r in rows]})
    print(f"The figures are in {report}.")


if __name__ == "__main__":
    main()
