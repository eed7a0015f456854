"""What the capstones share: the choice of the backend, the training loop, and its times.

A capstone is a function from the module `jax` to a `Task`. Whether that module is JAX, the course's
minijax or the student's own is decided here and nowhere else.
"""

import argparse
import functools
import importlib
import importlib.util
import json
import subprocess
import sys
import tempfile
import time
import tomllib
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import show

HERE = Path(__file__).resolve().parent
WORKSPACE = HERE.parent  # where the student's package is, next to this folder
IDENTITY = WORKSPACE / ".jaxprentice" / "workspace.json"

Tree = Any
BACKENDS = ("minijax", "jax", "mine")
INSTALL = f'"{sys.executable}" -m pip install jax'


@dataclass(frozen=True)
class Task:
    """Something to be learned."""

    state: Tree  # what a step changes: parameters, and what the optimizer remembers
    step: Callable[..., tuple[Tree, Any]]  # (state, *batch) -> (state, loss); it will be jitted
    batch: Callable[[int], tuple[Any, ...]]  # the arrays of a step, by its number
    steps: int
    show: Callable[[Tree], str]  # what a state can do, in words
    samples: int = 0  # how many times that is shown on the way
    prompted: Callable[[Tree, str], str] | None = None  # goes on with a text, for `--prompt`
    pictures: Callable[[Tree], list[tuple[str, Any]]] | None = None  # titles, and shades 0 to 1


@dataclass(frozen=True)
class Run:
    """The outcome of a training run. Times are in seconds."""

    losses: list[float]
    trace: float  # from Python function to program
    compile: float  # from program to machine code, with the first step
    step: float  # the median of all further steps
    state: Tree


# ------------------------------------------------------------------------------------------
# The command line


def main(make: Callable[[ModuleType], Task], about: str) -> None:
    """Train what `make` describes, on the backend that the command line names."""
    options = _options(about)
    try:
        jax = load(options.backend)
        task = make(jax)
        if options.prompt and not task.prompted:
            raise Unavailable("This program writes no text. Leave --prompt out.")
        print(f"Before: {task.show(task.state)}")
        run = train(jax, task, options.steps or task.steps, show.Progress)
        print(f"After {len(run.losses)} steps: {task.show(run.state)}")
        if options.prompt and task.prompted:
            print(f"Your prompt, continued: {task.prompted(run.state, options.prompt)}")
        _tell(jax, task, run, options)
    except Exception as error:
        if options.backend != "mine" or isinstance(error, Unavailable):
            raise _ending(error) from None
        sys.exit(_place(error))


def _tell(jax: ModuleType, task: Task, run: Run, options: argparse.Namespace) -> None:
    """Say what the run took, and how it compares."""
    print(f"loss {run.losses[0]:.6f} -> {run.losses[-1]:.6f}")
    print(f"trace {run.trace:.3f} s, compile {run.compile:.3f} s, step {run.step * 1e3:.3f} ms")
    if options.save:
        options.save.write_text(as_json(run, options.backend, task), encoding="utf-8")
    elif options.backend == "mine":
        print(f"\nYour own functions in one trace, by number of calls:\n{own_calls(jax, task)}")
        print(f"\nYour JAX next to JAX:\n{beside_jax(run, task)}")


def _options(about: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=about)
    here = "mine" if IDENTITY.is_file() else "minijax"
    parser.add_argument("--backend", choices=BACKENDS, default=here)
    parser.add_argument("--steps", type=int, metavar="N", help="only so many steps")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write losses and times there")
    parser.add_argument("--prompt", metavar="TEXT", help="a text that the model continues")
    options = parser.parse_args()
    if options.steps is not None and options.steps < 2:
        parser.error("--steps should be 2 or more: the first step is the one that compiles")
    return options


def as_json(run: Run, backend: str, task: Task) -> str:
    """Losses, times, and what was learned, as they are stored."""
    times = {name: round(getattr(run, name), 6) for name in ("trace", "compile", "step")}
    pictures = task.pictures(run.state) if task.pictures else []
    learned = {"shown": task.show(run.state), "pictures": pictures}
    return json.dumps({"backend": backend, "times": times, "losses": run.losses, **learned}) + "\n"


def _ending(error: Exception) -> BaseException:
    return SystemExit(str(error)) if isinstance(error, Unavailable) else error


def _place(error: Exception) -> str:
    """An error of the student's package in one sentence, with the line that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if Path(f.filename).is_relative_to(WORKSPACE / "minijax")]
    at = f"{Path(own[-1].filename).relative_to(WORKSPACE)}, line {own[-1].lineno}: " if own else ""
    if isinstance(error, NotImplementedError):
        return f"{at}the exercise {error} is not done yet."
    return f"{at}{type(error).__name__}: {str(error).partition(chr(10))[0]}"


def own_calls(jax: ModuleType, task: Task) -> str:
    """Which exercises of the student's package ran while a step was traced, and how many times."""
    step = jax.jit(functools.partial(task.step))  # a function that was never traced
    with show.counted(WORKSPACE / "minijax") as calls:
        jax.make_jaxpr(step)(task.state, *task.batch(0))
    return show.who_ran(calls, _written_by_student())


def _written_by_student() -> Callable[[str, str], bool]:
    """Is a function an exercise? The course's manifests name them by module and dotted path."""
    written = set()
    for file in (_copy() / "course" / "lessons").glob("*/lesson.toml"):
        lesson = tomllib.loads(file.read_text(encoding="utf-8"))
        module = lesson.get("module", "").rpartition("/")[2]
        written |= {(module, exercise["target"]) for exercise in lesson.get("exercise", [])}
    return lambda file, name: (file, name) in written


def beside_jax(run: Run, task: Task) -> str:
    """The run next to the same one on JAX, in a process of its own, or why there is none."""
    if importlib.util.find_spec("jax") is None:
        return f"JAX is not installed. This adds the comparison: {INSTALL}"
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder, "run.json")
        command = [sys.executable, sys.argv[0], "--backend", "jax", "--save", str(saved)]
        command += ["--steps", str(len(run.losses))]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return f"JAX did not run: {(done.stderr.strip().splitlines() or [''])[-1]}"
        other = json.loads(saved.read_text(encoding="utf-8"))
    return show.beside("yours", json.loads(as_json(run, "mine", task)), other)


# ------------------------------------------------------------------------------------------
# Backends


class Unavailable(Exception):
    """A backend that is not there; the text says what to do."""


def load(backend: str) -> ModuleType:
    """The module that the programs call `jax`."""
    if backend == "jax":
        problem = f"JAX is not installed. Take another backend, or run: {INSTALL}"
        jax = _import("jax", problem)
        jax.config.update("jax_enable_x64", True)
    else:
        sys.path.insert(0, str(_own() if backend == "mine" else _reference()))
        script = Path(sys.argv[0]).name
        problem = f"This Python lacks numpy or jaxlib. Run `./jaxprentice run capstones/{script}`."
        jax = _import("minijax", problem)
    for name in ("numpy", "lax"):
        importlib.import_module(f"{jax.__name__}.{name}")
    return jax


def _import(name: str, problem: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in (name, "numpy", "jaxlib"):
            raise
        raise Unavailable(problem) from None


def _own() -> Path:
    if not IDENTITY.is_file():
        raise Unavailable(
            "This is not a workspace. Make one with `./jaxprentice init DIR`, and run the script "
            "in DIR/capstones."
        )
    return WORKSPACE


def _copy() -> Path:
    """The copy of the course that this folder belongs to, or was made by."""
    if not IDENTITY.is_file():
        return WORKSPACE.parent
    return WORKSPACE / json.loads(IDENTITY.read_text(encoding="utf-8"))["copy"]


def _reference() -> Path:
    folder = _copy() / "solutions"
    if not (folder / "minijax" / "__init__.py").is_file():
        raise Unavailable(
            "This copy of the course does not hold the whole reference. Take --backend mine."
        )
    return folder


# ------------------------------------------------------------------------------------------
# Training


def train(
    jax: ModuleType, task: Task, steps: int, shown: Callable[[int], Any] = lambda _: None
) -> Run:
    """Run so many steps; `float` waits for each result, so that the times are whole."""
    step, state, progress = jax.jit(task.step), task.state, shown(steps)
    trace, _ = _timed(lambda: jax.make_jaxpr(step)(state, *task.batch(0)))
    losses, times = [], []
    for number in range(steps):
        batch = task.batch(number)
        seconds, (state, loss) = _timed(
            lambda state=state, batch=batch: _waited(step, state, batch)
        )
        losses.append(loss)
        times.append(seconds)
        if progress:
            progress(number + 1, loss)
            if task.samples and (number + 1) % (steps // (task.samples + 1) or steps) == 0:
                progress.say(task.show(state) if number + 1 < steps else "")
    return Run(losses, trace, times[0], float(np.median(times[1:])), state)


def _waited(step: Callable[..., Any], state: Tree, batch: tuple[Any, ...]) -> tuple[Tree, float]:
    state, loss = step(state, *batch)
    return state, float(loss)


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    value = call()
    return time.perf_counter() - start, value


def adam(jax: ModuleType, loss: Callable[..., Any], rate: float) -> Callable[..., Any]:
    """A step of Adam (Kingma and Ba, 2015) for a state from `adam_state`."""
    jnp, tree = jax.numpy, jax.tree

    def step(state: Tree, *batch: Any) -> tuple[Tree, Any]:
        params, means, squares, count = state
        value, grads = jax.value_and_grad(loss)(params, *batch)
        means = tree.map(lambda m, g: 0.9 * m + 0.1 * g, means, grads)
        squares = tree.map(lambda s, g: 0.99 * s + 0.01 * g * g, squares, grads)
        count = count + 1.0
        scale = rate * jnp.sqrt(1.0 - 0.99**count) / (1.0 - 0.9**count)
        params = tree.map(
            lambda p, m, s: p - scale * m / (jnp.sqrt(s) + 1e-8), params, means, squares
        )
        return (params, means, squares, count), value

    return step


def adam_state(jax: ModuleType, params: Tree) -> Tree:
    """Parameters with Adam's memory: means of the gradients and of their squares, and a count."""
    zeros = [jax.tree.map(np.zeros_like, params) for _ in range(2)]
    return (params, *zeros, np.float64(0.0))
