"""Random well-typed programs, as data: what the laws of `test_laws.py` are checked on.

A program is a list of steps (name of an operation, places of its operands, parameters). Its text is
Python that runs on minijax and on JAX alike, and that text is what runs: so a counterexample can be
copied from a report into a file.
"""

import itertools
from dataclasses import dataclass
from typing import Any

import minijax
import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

SHAPES = [(), (3,), (2, 3), (0, 3), (1, 3)]
FLOATS = ["float64", "float32"]

UNARY = (
    *("neg", "sin", "cos", "exp", "log"),
    *("tanh", "sqrt", "rsqrt", "log1p", "expm1", "square", "logistic", "abs", "sign"),
)
BINARY = ("mul", "add", "sub", "div", "max", "min")
COMPARISONS = ("gt", "lt", "ge", "le")
REDUCTIONS = ("reduce_sum", "reduce_max", "reduce_min", "reduce_prod")

# name -> how the step is written; {0} and {1} are the operands, the others are parameters
TEMPLATES = {
    **{name: f"lax.{name}({{0}})" for name in UNARY},
    **{name: f"lax.{name}({{0}}, {{1}})" for name in (*BINARY, *COMPARISONS)},
    **{name: f"lax.{name}({{0}}, {{axes}})" for name in REDUCTIONS},
    "integer_pow": "lax.integer_pow({0}, {y})",
    "select_n": "lax.select_n({0}, {1}, {2})",
    "reshape": "lax.reshape({0}, {shape})",
    "squeeze": "lax.squeeze({0}, {axes})",
    "rev": "lax.rev({0}, {axes})",
    "cumsum": "lax.cumsum({0}, {axis}, {reverse})",
    "concatenate": "lax.concatenate([{0}, {1}], {axis})",
    "slice": "lax.slice({0}, {start}, {limit}, {strides})",
    "pad": "lax.pad({0}, np.array(0.5, {dtype!r}), {config})",
    "sort": "lax.sort({0}, {axis})",
    "argmax": "lax.convert_element_type(lax.{find}({0}, {axis}, 'int32'), {dtype!r})",
    "take": (
        "lax.gather({0}, np.array({rows}), lax.GatherDimensionNumbers({offset}, (0,), (0,)), "
        "{sizes}, mode={mode!r})"
    ),
    "scatter_add": (
        "lax.scatter_add({0}, np.array({rows}), lax.gather({0}, np.array({rows}), "
        "lax.GatherDimensionNumbers({offset}, (0,), (0,)), {sizes}, mode='clip'), "
        "lax.ScatterDimensionNumbers({offset}, (0,), (0,)), mode='drop')"
    ),
    "dynamic_slice": "lax.dynamic_slice({0}, {starts}, {sizes})",
    "dynamic_update_slice": "lax.dynamic_update_slice({0}, {1}, {starts})",
    "transpose": "lax.transpose({0}, {permutation})",
    "broadcast_in_dim": "lax.broadcast_in_dim({0}, {shape}, {axes})",
    "convert_element_type": "lax.convert_element_type({0}, {dtype!r})",
    "dot_general": "lax.dot_general({0}, {1}, (({x_axes}, {y_axes}), ({x_batch}, {y_batch})))",
    "operator": "{0} {symbol} {1}",
    "with_literal": "{0} {symbol} {value}",
    "literal_with": "{value} {symbol} {0}",
    "constant": "np.linspace(0.5, 1.5, {size}, dtype={dtype!r}).reshape({shape})",
}


@dataclass(frozen=True)
class Type:
    """The type of a value: its shape and the name of its dtype."""

    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True)
class Program:
    """Types of the inputs, steps that each add a value (a call: several), and places of results."""

    inputs: tuple[Type, ...]
    steps: tuple[tuple[str, tuple[int, ...], dict[str, Any]], ...]
    results: tuple[int, ...]

    def __repr__(self) -> str:
        sample = ", ".join(f"np.full({t.shape}, 1.5, {t.dtype!r})" for t in self.inputs)
        head = "import numpy as np\nfrom minijax import jit, lax  # or from jax\n"
        return f"\n{head}{self.source('f')}\nprint(f({sample}))\n"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """How Hypothesis prints a counterexample."""
        printer.text(repr(self))

    def source(self, name: str) -> str:
        """The text of a function of this name."""
        names = [f"{name}{i}" for i in range(len(self.inputs))]
        lines = [f"def {name}({', '.join(names)}):"]
        for number, (operation, operands, params) in enumerate(self.steps):
            given = [names[i] for i in operands]
            if operation == "call":
                inner = f"{name}_{number}_"
                outs = [f"{inner}r{i}" for i in range(len(params["program"].results))]
                text = "@jit\n" + params["program"].source(inner)
                lines += [f"    {line}" for line in text.splitlines()]
                lines.append(f"    {', '.join(outs)}, = {inner}({', '.join(given)})")
            else:
                outs = [f"{name}{len(names)}"]
                lines.append(f"    {outs[0]} = {TEMPLATES[operation].format(*given, **params)}")
            names += outs
        return "\n".join([*lines, f"    return [{', '.join(names[i] for i in self.results)}]"])

    def on(self, lib: Any) -> Any:
        """The program as a function, on `minijax`, on `jax` or on what has their names."""
        space = {"np": np, "lax": lib.lax, "jit": lib.jit}
        exec(self.source("f"), space)
        return space["f"]

    def arguments(self, seed: int = 0) -> list[np.ndarray]:
        """Arrays for the inputs: floats between 0.5 and 2, integers from 0 to 6."""
        rng = np.random.default_rng(seed)
        return [
            np.asarray(rng.uniform(0.5, 2.0, t.shape), t.dtype)
            if t.dtype in FLOATS
            else np.asarray(rng.integers(0, 7, t.shape)).astype(t.dtype)
            for t in self.inputs
        ]

    @property
    def tolerance(self) -> float:
        return 2e-4 if "float32" in self.source("f") + str(self.inputs) else 1e-9


# Generating -------------------------------------------------------------------------------------


def floats(types: list[Type]) -> list[int]:
    return [i for i, t in enumerate(types) if t.dtype != "bool"]


def fit(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether a strict operation takes operands of these shapes."""
    if not a or not b:
        return True
    return len(a) == len(b) and all(m == n or 1 in (m, n) for m, n in zip(a, b, strict=True))


@st.composite
def programs(
    draw: Any, depth: int = 1, inputs: tuple[Type, ...] = (), names: tuple[str, ...] | None = None
) -> Program:
    """A program of up to twelve steps, and fewer inside a call; of the steps in `names`, or of all.

    Its results are mostly all values that no step reads, so that every step matters.
    """
    type_strategy = st.builds(Type, st.sampled_from(SHAPES), st.sampled_from(FLOATS))
    inputs = inputs or tuple(draw(st.lists(type_strategy, min_size=1, max_size=3)))
    types, steps = list(inputs), []
    choice = names or (*GENERATORS, *FIRST_CIRCLE, *FIRST_CIRCLE)
    choice += ("call",) * (4 if depth else 0)
    for name in draw(st.lists(st.sampled_from(choice), min_size=1, max_size=12 if depth else 4)):
        step = draw_step(draw, name, types, depth, names)
        if step is not None:
            steps.append(step)
            types += types_after(step, types)
    read = {i for _, operands, _ in steps for i in operands}
    results = [i for i in range(len(types)) if i not in read]
    if draw(st.integers(0, 3)) == 3:
        results = [draw(st.sampled_from(range(len(types))))] * 2
    return Program(inputs, tuple(steps), tuple(results))


def draw_step(draw: Any, name: str, types: list[Type], depth: int, names: Any) -> Any:
    """A step; None where no operands fit."""
    if name == "call":
        number = draw(st.integers(1, 2))
        places = [draw(st.sampled_from(floats(types)[::-1])) for _ in range(number)]
        inner = draw(programs(depth - 1, tuple(types[i] for i in places), names))
        return name, tuple(places), {"program": inner}
    made = GENERATORS[name](draw, types)
    return made and (name, tuple(made[0]), made[1])


def types_after(step: Any, types: list[Type]) -> list[Type]:
    """The types of a step's values, found by running it."""
    name, operands, params = step
    inputs, number = tuple(types[i] for i in operands), len(operands)
    values = len(params["program"].results) if name == "call" else 1
    results = tuple(range(number, number + values))
    alone = Program(inputs, ((name, tuple(range(number)), params),), results)
    outs = minijax.make_jaxpr(alone.on(minijax))(*alone.arguments()).out_avals
    return [Type(aval.shape, aval.dtype.name) for aval in outs]


def one(draw: Any, types: list[Type], where: Any = lambda t: t.dtype != "bool") -> Any:
    """The place of a value, a late one rather than an early one; None if there is none."""
    places = [i for i, t in enumerate(types) if where(t)]
    return draw(st.sampled_from(places[::-1])) if places else None


def unary(draw, types):
    return [one(draw, types)], {}


def binary(draw, types):
    i = one(draw, types)
    x = types[i]
    j = one(draw, types, lambda t: t.dtype == x.dtype and fit(x.shape, t.shape))
    return [i, j], {}


def reduction(draw, types):
    i = one(draw, types)
    rank = len(types[i].shape)
    return [i], {"axes": tuple(k for k in range(rank) if draw(st.booleans()))}


def integer_pow(draw, types):
    return [one(draw, types)], {"y": draw(st.sampled_from([2, 3]))}


def select_n(draw, types):
    """A choice between two values of one type, for each element or for all at once."""
    i = one(draw, types, lambda t: t.dtype == "bool")
    if i is None:
        return None
    j = one(draw, types, lambda t: t.dtype != "bool" and types[i].shape in ((), t.shape))
    if j is None:
        return None
    return [i, j, one(draw, types, lambda t: t == types[j])], {}


def reshape(draw, types):
    """All in one axis, or with a new axis of length 1 at the end."""
    i = one(draw, types)
    flat = (int(np.prod(types[i].shape)),)
    return [i], {"shape": draw(st.sampled_from([flat, (*flat, 1)]))}


def squeeze(draw, types):
    i = one(draw, types, lambda t: t.dtype != "bool" and 1 in t.shape)
    return None if i is None else ([i], {"axes": (types[i].shape.index(1),)})


def some_axis(draw, types):
    """A value that has axes, and one of them; None where there is none."""
    i = one(draw, types, lambda t: t.dtype != "bool" and t.shape != ())
    return None if i is None else (i, draw(st.integers(0, len(types[i].shape) - 1)))


def with_size(t: Type, axis: int, size: int) -> Type:
    return Type((*t.shape[:axis], size, *t.shape[axis + 1 :]), t.dtype)


def rev(draw, types):
    found = some_axis(draw, types)
    return found and ([found[0]], {"axes": (found[1],)})


def cumsum(draw, types):
    found = some_axis(draw, types)
    return found and ([found[0]], {"axis": found[1], "reverse": draw(st.booleans())})


def concatenate(draw, types):
    found = some_axis(draw, types)
    if found is None:
        return None
    i, axis = found
    x = types[i]

    def fits(t: Type) -> bool:
        return len(t.shape) == len(x.shape) and with_size(t, axis, x.shape[axis]) == x

    return [i, one(draw, types, fits)], {"axis": axis}


def slice_(draw, types):
    """Leave out the first element along one axis, or every second one."""
    found = some_axis(draw, types)
    if found is None or types[found[0]].shape[found[1]] == 0:
        return None
    i, axis = found
    shape, step = types[i].shape, draw(st.sampled_from([1, 2]))
    start = [int(k == axis and step == 1) for k in range(len(shape))]
    strides = [step if k == axis else 1 for k in range(len(shape))]
    return [i], {"start": start, "limit": list(shape), "strides": strides}


def pad(draw, types):
    """Put elements before, after and between those along one axis."""
    found = some_axis(draw, types)
    if found is None:
        return None
    i, axis = found
    low, high, interior = draw(st.sampled_from([(1, 0, 0), (0, 2, 0), (1, 1, 1), (-1, 1, 0)]))
    shape = types[i].shape
    if not shape[axis]:
        return None
    config = [(low, high, interior) if k == axis else (0, 0, 0) for k in range(len(shape))]
    return [i], {"config": config, "dtype": types[i].dtype}


def sort(draw, types):
    found = some_axis(draw, types)
    return found and ([found[0]], {"axis": found[1]})


def argmax(draw, types):
    """The place of the largest or smallest element along an axis, as a number of the same dtype."""
    found = some_axis(draw, types)
    if found is None or types[found[0]].shape[found[1]] == 0:
        return None
    i, axis = found
    find = draw(st.sampled_from(["argmax", "argmin"]))
    return [i], {"find": find, "axis": axis, "dtype": types[i].dtype}


def some_rows(draw, types):
    """A value, and rows of it as gather wants them: one of them may lie outside."""
    i = one(draw, types, lambda t: t.dtype != "bool" and t.shape != () and 0 not in t.shape)
    if i is None:
        return None
    n, *rest = types[i].shape
    rows = draw(st.lists(st.tuples(st.integers(0, n)), min_size=1, max_size=3))
    offset = tuple(range(1, len(rest) + 1))
    return i, {"rows": [list(row) for row in rows], "offset": offset, "sizes": (1, *rest)}


def take(draw, types):
    found = some_rows(draw, types)
    if found is None:
        return None
    i, params = found
    mode = draw(st.sampled_from(["clip", "fill"]))
    if mode == "fill":  # what lies outside is NaN, and never equal
        params["rows"] = [[min(row, types[i].shape[0] - 1)] for (row,) in params["rows"]]
    return [i], {**params, "mode": mode}


def scatter_add(draw, types):
    found = some_rows(draw, types)
    return found and ([found[0]], found[1])


def dynamic_slice(draw, types):
    """A window that may begin outside, and is moved inside then."""
    i = one(draw, types, lambda t: t.dtype != "bool" and t.shape != ())
    if i is None:
        return None
    sizes = tuple(draw(st.integers(min(n, 1), n)) for n in types[i].shape)
    return [i], {"starts": tuple(draw(st.integers(0, 3)) for _ in sizes), "sizes": sizes}


def dynamic_update_slice(draw, types):
    i = one(draw, types, lambda t: t.dtype != "bool" and t.shape != ())
    if i is None:
        return None
    x = types[i]

    def fits(t: Type) -> bool:
        shapes = zip(t.shape, x.shape, strict=False)
        same_rank = t.dtype == x.dtype and len(t.shape) == len(x.shape)
        return same_rank and all(m <= n for m, n in shapes)

    starts = tuple(draw(st.integers(0, 3)) for _ in x.shape)
    return [i, one(draw, types, fits)], {"starts": starts}


def transpose(draw, types):
    """Another order of the axes (for the same one, JAX makes a difference that says nothing)."""
    i = one(draw, types, lambda t: t.dtype != "bool" and len(t.shape) > 1)
    if i is None:
        return None
    order = draw(st.permutations(range(len(types[i].shape))).filter(lambda p: p != sorted(p)))
    return [i], {"permutation": tuple(order)}


def broadcast_in_dim(draw, types):
    """Put a new axis somewhere, and stretch some axes of length 1."""
    i = one(draw, types, lambda t: t.dtype != "bool" and len(t.shape) < 3)
    if i is None:
        return None
    shape = [draw(st.sampled_from([1, 2])) if n == 1 else n for n in types[i].shape]
    new = draw(st.integers(0, len(shape)))
    shape.insert(new, draw(st.sampled_from([1, 2, 3])))
    axes = tuple(k for k in range(len(shape)) if k != new)
    return [i], {"shape": tuple(shape), "axes": axes}


def convert_element_type(draw, types):
    return [one(draw, types, lambda t: True)], {"dtype": draw(st.sampled_from(FLOATS))}


def dot_general(draw, types):
    """Contract up to one axis of each operand, and share up to one as a batch."""
    i = one(draw, types)
    x = types[i]
    j = one(draw, types, lambda t: t.dtype == x.dtype and len(t.shape) + len(x.shape) < 5)
    if j is None:
        return None
    y = types[j]
    pairs = [(a, b) for a, m in enumerate(x.shape) for b, n in enumerate(y.shape) if m == n]
    chosen = draw(st.lists(st.sampled_from(pairs), max_size=2)) if pairs else []
    if len({a for a, _ in chosen}) + len({b for _, b in chosen}) < 2 * len(chosen):
        chosen = chosen[:1]
    contract, batch = chosen[:1], chosen[1:]
    params = {"x_axes": [a for a, _ in contract], "y_axes": [b for _, b in contract]}
    return [i, j], {**params, "x_batch": [a for a, _ in batch], "y_batch": [b for _, b in batch]}


def operator(draw, types):
    """An infix operator, which promotes and broadcasts as NumPy's do."""

    def fits(t: Type) -> bool:
        pairs = itertools.zip_longest(types[i].shape[::-1], t.shape[::-1], fillvalue=1)
        return t.dtype != "bool" and all(m == n or 1 in (m, n) for m, n in pairs)

    i = one(draw, types)
    return [i, one(draw, types, fits)], {"symbol": draw(st.sampled_from("+-*"))}


def with_literal(draw, types):
    i = one(draw, types)
    value = draw(st.sampled_from([2.0, 0.1, 3, -1.5]))
    return [i], {"symbol": draw(st.sampled_from("+-*/")), "value": value}


def literal_with(draw, types):
    i = one(draw, types)
    value = draw(st.sampled_from([2.0, 0.1, 3, -1.5]))
    return [i], {"symbol": draw(st.sampled_from("+-*")), "value": value}


def constant(draw, types):
    shape, dtype = draw(st.sampled_from(SHAPES)), draw(st.sampled_from(FLOATS))
    return [], {"size": int(np.prod(shape)), "shape": shape, "dtype": dtype}


# The simple ones first: Hypothesis puts an earlier one in place of a later one where it can.
GENERATORS = {
    "neg": unary,
    "mul": binary,
    "operator": operator,
    "with_literal": with_literal,
    "literal_with": literal_with,
    "broadcast_in_dim": broadcast_in_dim,
    "transpose": transpose,
    "dot_general": dot_general,
    "convert_element_type": convert_element_type,
    "constant": constant,
    **dict.fromkeys(REDUCTIONS, reduction),
    **dict.fromkeys((*BINARY, *COMPARISONS), binary),
    "select_n": select_n,
    "reshape": reshape,
    "squeeze": squeeze,
    "rev": rev,
    "cumsum": cumsum,
    "concatenate": concatenate,
    "slice": slice_,
    "pad": pad,
    "integer_pow": integer_pow,
    "sort": sort,
    "argmax": argmax,
    "take": take,
    "scatter_add": scatter_add,
    "dynamic_slice": dynamic_slice,
    "dynamic_update_slice": dynamic_update_slice,
    **dict.fromkeys(UNARY, unary),
}


# The primitives of lessons 4 to 12, which are drawn more often.
FIRST_CIRCLE = (
    *("add", "sub", "mul", "div", "sin", "cos", "exp", "log", "gt", "lt", "reduce_sum"),
    *("transpose", "transpose", "broadcast_in_dim", "convert_element_type", "dot_general"),
)


# Programs of integers and booleans ----------------------------------------------------------------

INTEGERS = ["int32", "int64", "int8", "uint8", "bool"]
SYMBOLS = ["+", "-", "*", "//", "%", "&", "|", "^", "<", ">=", "==", "!="]


@st.composite
def integer_programs(draw: Any) -> Program:
    """A program of operators and functions that are exact; results are all values."""
    shape = draw(st.sampled_from([(), (3,), (2, 3)]))
    dtypes = draw(st.lists(st.sampled_from(INTEGERS), min_size=1, max_size=3))
    inputs = tuple(Type(shape, dtype) for dtype in dtypes)
    types, steps = list(inputs), []
    for _ in range(draw(st.integers(1, 8))):
        step = draw_integer_step(draw, types)
        try:
            types += types_after(step, types)
        except TypeError:  # a minus between booleans, for one
            continue
        steps.append(step)
    return Program(inputs, tuple(steps), tuple(range(len(types))))


def draw_integer_step(draw: Any, types: list[Type]) -> Any:
    i, j = (draw(st.sampled_from(range(len(types)))) for _ in range(2))
    kind = draw(st.sampled_from(["operator", "with_literal", "literal_with", "function"]))
    if kind == "function" and types[i].shape:
        name = draw(st.sampled_from(["sort", "cumsum", "rev", "argmax"]))
        axis, dtype = draw(st.integers(0, len(types[i].shape) - 1)), types[i].dtype
        more = {"axis": axis, "axes": (axis,), "reverse": False, "find": "argmax", "dtype": dtype}
        return name, (i,), more
    symbol = draw(st.sampled_from(SYMBOLS))
    if kind in ("operator", "function"):
        return "operator", (i, j), {"symbol": symbol}
    return kind, (i,), {"symbol": symbol, "value": draw(st.sampled_from([2, 3, 5, True]))}


# Leaving out what no two computers agree on -------------------------------------------------------


class Careful:
    """`minijax.lax`, which gives a program up where rounding alone could decide its result."""

    def __getattr__(self, name: str) -> Any:
        if name[0].isupper():  # GatherDimensionNumbers
            return getattr(minijax.lax, name)

        def checked(*args: Any, **kwargs: Any) -> Any:
            if name in ("max", "min", *COMPARISONS):
                assume(np.all(np.abs(np.subtract(*args)) > 1e-2))
            if name in ("log", "sqrt", "rsqrt"):
                assume(np.all(args[0] > 0.1))
            if name == "log1p":
                assume(np.all(args[0] > -0.9))
            if name in ("abs", "sign"):
                assume(np.all(np.abs(args[0]) > 1e-2))
            if name in ("sort", "argmax", "argmin"):
                sorted_ = np.sort(np.asarray(args[0], float), args[1])
                assume(np.all(np.diff(sorted_, axis=args[1]) > 1e-2))
            if name == "div":
                assume(np.all(np.abs(args[1]) > 0.1))
            out = getattr(minijax.lax, name)(*args, **kwargs)
            assume(np.all(np.abs(np.asarray(out, float)) < 100))
            return out

        return checked


class CarefulLib:
    lax = Careful()
    jit = staticmethod(lambda f: f)


def assume_tame(program: Program, *arguments: Any) -> None:
    """Go on only if the program computes moderate numbers, far from jumps and poles."""
    for out in program.on(CarefulLib)(*arguments):
        assume(np.all(np.abs(np.asarray(out, float)) < 100))
