"""Random programs for generated tests: made, written as text and shrunk, all as plain data.

A program is a list of steps: the name of an operation, the places of its operands, parameters.
It is well typed by construction, for each step is evaluated by NumPy when it is chosen; and it is
tame there: no value is large, and none stands near a jump or a pole, where rounding would decide.
Its text is Python that runs on minijax and, but for the imports, on JAX; the text is what runs, so
what a student reads is what failed.

What programs are made of is in `random_steps.py`. These two files need NumPy and nothing else:
copies of them are beside a lesson's visible checks, which use what is below "In visible checks".
"""

import functools
import inspect
import itertools
import random
import string
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

if __name__ == "random_programs":  # a copy beside checks
    import random_steps  # type: ignore[import-not-found]
else:
    from autograder.grading import random_steps

FIRST_CIRCLE, LAX = random_steps.FIRST_CIRCLE, random_steps.LAX
# All but comparisons, and float32, in which slopes have too few digits.
SMOOTH = [x for x in FIRST_CIRCLE if x not in ("gt", "lt", "convert_element_type")]

STEP = 1e-3  # of the difference quotients that tell slopes
NEAR = (STEP, -STEP, STEP / 4, -STEP / 4)

NAMES = string.ascii_lowercase.replace("f", "")
IMPORTS = {"np": "import numpy as np", "lax": "from minijax import lax"}


# Programs ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Program:
    """Inputs, steps that each add a value, and the places of the results."""

    inputs: tuple[random_steps.Input, ...]
    steps: tuple[random_steps.Step, ...]
    results: tuple[int, ...]

    @property
    def size(self) -> tuple[int, int, int, int]:
        """What makes a program hard to read, the worst first."""
        elements = sum(x.value.size for x in self.inputs)
        narrow = sum(not is_wide(x.value) for x in self.inputs)
        return len(self.steps), len(self.inputs) + len(self.results), elements, narrow

    def evaluate(self, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        """All values, inputs first. Raises Unfit where operands do not fit or are not tame."""
        values = [random_steps.tame(x) for x in arguments]
        for step in self.steps:
            values.append(step.evaluate(values))
        return values

    @functools.cached_property
    def values(self) -> list[np.ndarray]:
        """All values for the inputs' own values."""
        return self.evaluate([x.value for x in self.inputs])

    @functools.cached_property
    def everywhere(self) -> list[list[np.ndarray]]:
        """All values wherever a test will evaluate the program, and nearby. Raises Unfit."""
        first, second = ([getattr(x, name) for x in self.inputs] for name in ("value", "other"))
        mixed = [x.value if x.axis is None else x.other for x in self.inputs]
        near = [
            [(x + h * t).astype(x.dtype) for x, t in zip(first, second, strict=True)] for h in NEAR
        ]
        return [self.values, *(self.evaluate(xs) for xs in (second, mixed, *near))]

    def followed_by(self, step: random_steps.Step) -> "Program":
        """The program with another step, which alone is evaluated. Raises Unfit."""
        longer = replace(self, steps=(*self.steps, step))
        return longer.known([[*values, step.evaluate(values)] for values in self.everywhere])

    def known(self, everywhere: list[list[np.ndarray]]) -> "Program":
        """The program itself, whose values have been found before."""
        self.__dict__.update(everywhere=everywhere, values=everywhere[0])
        return self

    def is_sound(self) -> bool:
        """Is the program well typed, tame wherever a test will evaluate it, and has it a batch?"""
        try:
            steady = all(self.is_steady(place) for place in range(len(self.everywhere[0])))
        except (random_steps.Unfit, ValueError):
            return False
        return steady and any(x.axis is not None for x in self.inputs)

    def is_steady(self, place: int) -> bool:
        """Is a value's slope moderate, and the same in a smaller neighbourhood?"""
        first, _, _, *near = (values[place] for values in self.everywhere)
        ahead, behind, nearer_ahead, nearer_behind = (x.astype(float) for x in near)
        coarse, fine = (ahead - behind) / (2 * STEP), (nearer_ahead - nearer_behind) / (STEP / 2)
        if not (np.abs(coarse) < random_steps.LARGEST).all():
            return False
        return not is_wide(first) or bool(
            (np.abs(coarse - fine) <= 1e-3 * (1 + np.abs(fine))).all()
        )

    # --- as text ---

    def text(self, names: Iterable[str] = ("f", "xs")) -> str:
        """Python that imports what it needs, and defines what is named.

        `f` is the program; `xs` its arguments, `ts` tangents for them, `cts` cotangents for the
        results; `batch` arguments with two examples each, along `in_axes`. `jaxpr` is the program
        as a jaxpr, where its operations are of `LAX`.
        """
        writers = {
            "f": self.function,
            "xs": lambda: f"xs = {tuple_of(x.value for x in self.inputs)}",
            "ts": lambda: f"ts = {tuple_of(x.other for x in self.inputs)}",
            "cts": self.cotangents,
            "batch": self.batch,
            "jaxpr": self.jaxpr,
            "in_axes": lambda: f"in_axes = {tuple(x.axis for x in self.inputs)}",
        }
        text = "\n".join(writers[name]() for name in names)
        imports = [line for word, line in IMPORTS.items() if f"{word}." in text]
        return "\n".join([*imports, "", text])

    def function(self) -> str:
        """The text of `f`."""
        lines = [f"def f({', '.join(NAMES[: len(self.inputs)])}):"]
        for place, step in enumerate(self.steps, len(self.inputs)):
            given = [NAMES[i] for i in step.operands]
            written = random_steps.OPERATIONS[step.name].text.format(*given, **dict(step.params))
            lines.append(f"    {NAMES[place]} = {written}")
        return "\n".join([*lines, f"    return {', '.join(NAMES[i] for i in self.results)}\n"])

    def jaxpr(self) -> str:
        """The text of a jaxpr, with the classes of `minijax.jaxpr`."""
        primitives = sorted({f"{step.name}_p" for step in self.steps})
        lines = [
            f"from minijax.core import {', '.join(['ShapedArray', *primitives])}",
            "from minijax.jaxpr import Jaxpr, JaxprEqn, Var\n",
        ]
        for name, x in zip(NAMES, self.values, strict=False):
            lines.append(f"{name} = Var(ShapedArray({x.shape}, np.dtype({x.dtype.name!r})))")
        lines.append("eqns = [")
        for place, step in enumerate(self.steps, len(self.inputs)):
            operands = ", ".join(NAMES[i] for i in step.operands)
            params = random_steps.OPERATIONS[step.name].params.format(**dict(step.params))
            lines.append(f"    JaxprEqn([{operands}], [{NAMES[place]}], {step.name}_p, {params}),")
        outs = ", ".join(NAMES[i] for i in self.results)
        return "\n".join(
            [
                *lines,
                "]",
                f"jaxpr = Jaxpr([], [{', '.join(NAMES[: len(self.inputs)])}], [{outs}], eqns)",
            ]
        )

    def batch(self) -> str:
        """Two examples of each argument in one array; one of those that are the same for all."""
        arrays = [
            x.value if x.axis is None else np.stack([x.value, x.other], x.axis) for x in self.inputs
        ]
        return f"batch = {tuple_of(arrays)}"

    def cotangents(self) -> str:
        """A cotangent for each result."""
        outs = [self.values[i] for i in self.results]
        arrays = [np.full(x.shape, 0.5 + i, x.dtype) for i, x in enumerate(outs)]
        return f"cts = {array_text(arrays[0]) if len(arrays) == 1 else tuple_of(arrays)}"

    # --- as data, and smaller ---

    def data(self) -> dict[str, Any]:
        """The program as JSON has it."""
        inputs = [
            [x.value.dtype.name, x.value.tolist(), x.other.tolist(), x.axis] for x in self.inputs
        ]
        steps = [[step.name, list(step.operands), dict(step.params)] for step in self.steps]
        return {"inputs": inputs, "steps": steps, "results": list(self.results)}

    def smaller(self) -> list["Program"]:
        """Programs that are a little simpler and still sound, the simplest first."""
        found = [pruned(p) for p in (*_fewer_results(self), *_fewer_steps(self))]
        found += _simpler_inputs(self)
        simpler = [p for p in found if p.size < self.size and p.is_sound()]
        return sorted(simpler, key=lambda p: p.size)


def from_data(data: dict[str, Any]) -> Program:
    """The program that `data` was made of."""
    inputs = [
        random_steps.Input(np.array(x, dtype), np.array(t, dtype), axis)
        for dtype, x, t, axis in data["inputs"]
    ]
    steps = [
        random_steps.Step(name, tuple(operands), tuple(params_of(params).items()))
        for name, operands, params in data["steps"]
    ]
    return Program(tuple(inputs), tuple(steps), tuple(data["results"]))


def params_of(data: dict[str, Any]) -> dict[str, Any]:
    """Parameters as they were before they became JSON; an array's value stays a list."""
    return {key: x if key == "value" else as_tuples(x) for key, x in data.items()}


def as_tuples(value: Any) -> Any:
    """Lists become tuples, as `lax` wants them."""
    return tuple(map(as_tuples, value)) if isinstance(value, (list, tuple)) else value


def is_wide(x: np.ndarray) -> bool:
    """Has a value enough digits for difference quotients?"""
    return x.dtype == np.float64


def tuple_of(arrays: Iterable[np.ndarray]) -> str:
    """The text of a tuple of arrays."""
    texts = [array_text(x) for x in arrays]
    return f"({', '.join(texts)}{',' * (len(texts) == 1)})"


def array_text(x: np.ndarray) -> str:
    """The text of an array."""
    dtype = "" if is_wide(x) else f", {x.dtype.name!r}"
    return f"np.array({x.tolist()}{dtype})"


# Making ------------------------------------------------------------------------------------------


def make(
    seed: str,
    number: int = 10,
    *,
    operations: Sequence[str] = FIRST_CIRCLE,
    using: Sequence[str] = (),
    dtypes: Sequence[str] = ("float64", "float64", "float32"),
    steps: int = 6,
    results: int = 3,
) -> list[Program]:
    """So many programs of up to so many steps and results.

    Each has a step of `using`, if that names some.
    """
    rng = random.Random(seed)
    made: list[Program] = []
    while len(made) < number:
        length = 1 + int(rng.random() * steps)
        program = make_one(rng, operations, using, dtypes, length, results)
        if program is not None:
            made.append(program)
    return made


def make_one(
    rng: random.Random,
    operations: Sequence[str],
    using: Sequence[str],
    dtypes: Sequence[str],
    length: int,
    results: int,
) -> Program | None:
    """A program; None if no step of `using` could be placed."""
    count = random_steps.pick(rng, (1, 2, 2, 3))
    inputs = [random_steps.make_input(rng, dtypes) for _ in range(count)]
    if all(x.axis is None for x in inputs):
        inputs[0] = replace(inputs[0], axis=0)
    program = Program(tuple(inputs), (), ())
    wanted = int(rng.random() * length)  # where the step of `using` goes
    for number in range(length):
        names = using if using and number == wanted else operations
        program = with_step(rng, program, names) or program
    program = with_numbers(program)
    read = {i for step in program.steps for i in step.operands}
    unread = [i for i in random_steps.floats(program.values) if i not in read]
    last = [i for i in unread if i >= len(program.inputs)]
    whole = replace(program, results=tuple(last[-results:])).known(program.everywhere)
    found = pruned(whole)
    has_it = not using or any(step.name in using for step in found.steps)
    return found if last and has_it and found.is_sound() else None


def with_numbers(program: Program) -> Program:
    """The program with numbers made of booleans that no step reads."""
    read = {i for step in program.steps for i in step.operands}
    places = [i for i, x in enumerate(program.values) if x.dtype == bool and i not in read]
    for i in places:
        step = random_steps.Step("convert_element_type", (i,), (("dtype", "float64"),))
        program = program.followed_by(step)
    return program


def with_step(rng: random.Random, program: Program, names: Sequence[str]) -> Program | None:
    """The program with another step, of these names; None if nothing was found that fits."""
    for _ in range(20):
        name = random_steps.pick(rng, names)
        drawn = random_steps.OPERATIONS[name].draw(rng, program.values)
        if drawn is not None:
            operands, params = drawn
            step = random_steps.Step(name, tuple(operands), tuple(params.items()))
            try:
                longer = program.followed_by(step)
            except (random_steps.Unfit, ValueError):
                continue
            if longer.is_steady(-1):
                return longer
    return None


# Shrinking ---------------------------------------------------------------------------------------


def pruned(program: Program) -> Program:
    """The program without the steps and inputs that no result needs."""
    needed = set(program.results)
    first = len(program.inputs)
    for place, step in reversed([*enumerate(program.steps, first)]):
        needed |= set(step.operands) if place in needed else set()
    kept = sorted(needed)
    steps = [program.steps[i - first] for i in kept if i >= first]
    smaller = Program(
        tuple(program.inputs[i] for i in kept if i < first),
        tuple(replace(s, operands=tuple(map(kept.index, s.operands))) for s in steps),
        tuple(map(kept.index, program.results)),
    )
    if "everywhere" not in program.__dict__:
        return smaller
    return smaller.known([[values[i] for i in kept] for values in program.everywhere])


def _fewer_results(program: Program) -> Iterator[Program]:
    if len(program.results) > 1:
        yield from (replace(program, results=(i,)) for i in program.results)


def _fewer_steps(program: Program) -> Iterator[Program]:
    """A step is left out: its value is one of its operands'."""
    first = len(program.inputs)
    for place, step in enumerate(program.steps, first):
        for operand in sorted(set(step.operands)):
            moved = [operand if i == place else i for i in range(first + len(program.steps))]
            steps = [
                replace(s, operands=tuple(moved[i] for i in s.operands)) for s in program.steps
            ]
            results = tuple(dict.fromkeys(moved[i] for i in program.results))
            yield replace(program, steps=tuple(steps), results=results)


def _simpler_inputs(program: Program) -> Iterator[Program]:
    """Arguments become their first number, or float64: all of them, or some."""
    for simpler in (first_number, widest):
        new = [*map(simpler, program.inputs)]
        for chosen in itertools.product([True, False], repeat=len(new)):
            both = zip(chosen, new, program.inputs, strict=True)
            yield replace(program, inputs=tuple(x if yes else old for yes, x, old in both))


def first_number(x: random_steps.Input) -> random_steps.Input:
    """An argument that is one number."""
    value, other = (np.reshape(y, -1)[:1].reshape(()) for y in (x.value, x.other))
    return random_steps.Input(value, other, None if x.axis is None else 0)


def widest(x: random_steps.Input) -> random_steps.Input:
    """An argument in float64."""
    return replace(x, value=x.value.astype(np.float64), other=x.other.astype(np.float64))


ROUNDS = 12  # of a search, with so many smaller programs in each
CANDIDATES = 30


def shrink(program: Any, fails: Callable[[list[Any]], Iterable[bool]], rounds: int = ROUNDS) -> Any:
    """The smallest program (or tree) found for which `fails` holds, as it does for this one.

    `fails` says of each of some programs whether it holds; it is asked once in each round.
    """
    for _ in range(rounds):
        candidates = program.smaller()[:CANDIDATES]
        verdicts = fails(candidates) if candidates else ()
        failing = (p for p, bad in zip(candidates, verdicts, strict=False) if bad)
        found = next(failing, None)
        if found is None:
            break
        program = found
    return program


# In visible checks --------------------------------------------------------------------------------


def for_programs(make: Callable[..., list[Any]] = make, *, seed: str, **recipe: Any) -> Any:
    """Make a check of random programs of a function that takes parts of one (see `Program.text`).

    `want` is what NumPy gives for the results. Where the check fails, it fails with the smallest
    program that was found, and the error has that program's text as a note.
    """

    def decorate(check: Callable[..., None]) -> Callable[[], None]:
        def check_programs() -> None:
            for program in make(seed, **recipe):
                error = error_of(check, program)
                if error is not None:
                    show_smallest(check, program, type(error))

        check_programs.__doc__, check_programs.__name__ = check.__doc__, check.__name__
        return check_programs

    return decorate


def error_of(check: Callable[..., None], program: Any) -> Exception | None:
    """What a check raises for a program; exercises that are not written yet go through."""
    try:
        run(check, program)
    except NotImplementedError:
        raise
    except Exception as error:
        return error
    return None


def show_smallest(check: Callable[..., None], program: Any, kind: type) -> None:
    """Fail with the smallest program for which a check raises such an error."""

    def fails(candidates: list[Any]) -> Iterator[bool]:
        return (type(error_of(check, candidate)) is kind for candidate in candidates)

    found = shrink(program, fails)
    try:
        run(check, found)
    except Exception as error:
        names = [name for name in inspect.signature(check).parameters if name != "want"]
        error.add_note(found.text(names))
        raise


def run(check: Callable[..., None], program: Any) -> None:
    """Call a check with the parts of a program that it names."""
    wanted = list(inspect.signature(check).parameters)
    space: dict[str, Any] = {}
    exec(program.text([name for name in wanted if name != "want"]), space)
    if "want" in wanted:
        space["want"] = [program.values[i] for i in program.results]
    check(*[space[name] for name in wanted])


@dataclass(eq=False)
class Numbers:
    """Arrays that equal others of the same shapes within rounding, and are printed short."""

    arrays: list[np.ndarray]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Numbers) or len(self.arrays) != len(other.arrays):
            return False
        pairs = [*zip(self.arrays, other.arrays, strict=True)]
        return all(x.shape == y.shape and np.allclose(x, y, 1e-3, 1e-3) for x, y in pairs)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return ", ".join(repr(np.round(x.astype(float), 4).tolist()) for x in self.arrays)


def numbers(out: Any) -> Numbers:
    """The results of a program, one or several, to be compared."""
    return Numbers([np.asarray(x) for x in results_of(out)])


def results_of(out: Any) -> list[Any]:
    """The list of the results of a program, which gives a tuple of several."""
    return list(out) if isinstance(out, (tuple, list)) else [out]


def slope(f: Callable[..., Any], xs: Sequence[Any], ts: Sequence[Any]) -> list[Any]:
    """How the results of `f` move when its arguments move along `ts`: a difference quotient."""
    ahead, behind = (
        results_of(f(*[x + step * t for x, t in zip(xs, ts, strict=True)]))
        for step in (1e-4, -1e-4)
    )
    return [(x - y) / 2e-4 for x, y in zip(ahead, behind, strict=True)]
