"""The public surface: every name is JAX's, and is compared with it; `surface.toml` says what lacks.

Each table of comparisons counts for the names that its programs really read (`Recorder` looks),
and each table has a test of its own, here or in its module, which compares its results with JAX's.
"""

import importlib
import inspect
from types import ModuleType

import jax
import minijax
import numpy as np
import pmap_programs
import pytest
import test_arrays
import test_checkpoint
import test_differences
import test_libraries
import test_numpy
import test_primitives
import test_random
import test_windows
from expressions import expressions, rows_of, value_of
from minijax.absent import REASONS
from oracle import assert_same, signed_as_promised
from surface import PLACES, WITHOUT

NAMES = [(place, name) for place, names in PLACES.items() for name in names]
MISSING = [
    (place, name, parameter)
    for place, table in WITHOUT.items()
    for name, parameters in table.items()
    for parameter in parameters
]


def both(place):
    """The module of this name in minijax, and JAX's."""
    if place == "checkpoint_policies":  # a module in minijax only
        return [minijax.checkpoint_policies, jax.checkpoint_policies]
    return [importlib.import_module(f"{lib}.{place}".removesuffix(".")) for lib in LIBRARIES]


LIBRARIES = ("minijax", "jax")


# What is there ------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", PLACES)
def test_every_public_name_is_there_once_and_is_jaxs(place):
    ours, theirs = both(place)
    names = PLACES[place]
    assert names
    assert len(names) == len(set(names))
    assert [name for name in names if not hasattr(ours, name)] == []
    assert [name for name in names if not hasattr(theirs, name)] == []


@pytest.mark.parametrize("place", ["", "numpy", "lax", "tree_util"])
def test_a_package_shows_its_names_and_its_modules_only(place):
    ours, _ = both(place)
    rest = {name for name in dir(ours) if name[0] != "_"} - set(PLACES[place])
    assert [name for name in rest if not isinstance(getattr(ours, name), ModuleType)] == []


@pytest.mark.parametrize("place", ["", "numpy", "lax", "tree_util"])
def test_every_other_name_of_jax_is_missed_in_one_sentence(place):
    ours, theirs = both(place)
    absent = [n for n in dir(theirs) if n[0] != "_" and n not in dir(ours)]
    assert absent
    for name in absent:
        with pytest.raises(AttributeError) as caught:
            getattr(ours, name)
        where = ours.__name__
        reason = REASONS.get(f"{place}.{name}".removeprefix("."))
        why = f": {reason}." if reason else f". See what there is by dir({where})."
        assert str(caught.value) == f"{where} has no {name!r}{why}"


@pytest.mark.parametrize("path", REASONS)
def test_names_with_a_reason_are_absent_here_and_there_in_jax(path):
    place, _, name = path.rpartition(".")
    ours, theirs = both(place)
    assert hasattr(theirs, name) or importlib.import_module(f"jax.{path}")
    with pytest.raises(AttributeError, match=f"has no '{name}': "):
        getattr(ours, name)


def parameters(function, without):
    """Names, kinds and defaults of a function's parameters: what it must have without some.

    What stands behind a missing parameter can be given by name only. Where only the position
    counts, the name does not.
    """
    if isinstance(function, jax.numpy.ufunc):
        return [("", inspect.Parameter.POSITIONAL_ONLY, None)] * function.nin
    found, by_name = [], False
    for p in inspect.signature(function).parameters.values():
        if p.name in without:
            by_name = by_name or p.kind is not p.KEYWORD_ONLY
        elif p.kind is p.POSITIONAL_ONLY:
            found.append(("", p.kind, default(p)))
        elif p.kind is p.POSITIONAL_OR_KEYWORD and by_name:
            found.append((p.name, p.KEYWORD_ONLY, default(p)))
        else:
            found.append((p.name, p.kind, default(p)))
    return found


def default(parameter):
    """A default as text; an object that JAX keeps for itself counts as no default."""
    plain = (bool, int, float, str, tuple, type(None))
    is_plain = isinstance(parameter.default, plain)
    return repr(parameter.default) if is_plain else None


def has_signature(function):
    """Whether Python knows the parameters; it does not of some that are written in C++."""
    try:
        return bool(inspect.signature(function))
    except (TypeError, ValueError):
        return False


FUNCTIONS = [
    (place, name)
    for place, name in NAMES
    if place != "checkpoint_policies"  # they are called, by position, and by checkpoint only
    and callable(getattr(both(place)[0], name))
    and has_signature(getattr(both(place)[1], name, None))
    and not (
        isinstance(getattr(both(place)[0], name), type)
        and issubclass(getattr(both(place)[0], name), (Exception, np.generic))
    )
]


@signed_as_promised
@pytest.mark.parametrize(("place", "name"), FUNCTIONS, ids=map(".".join, FUNCTIONS))
def test_signatures_are_those_of_jax(place, name):
    ours, theirs = (getattr(module, name) for module in both(place))
    without = WITHOUT.get(place, {}).get(name, [])
    want = parameters(theirs, without)
    if want and want[-1][1] is inspect.Parameter.VAR_KEYWORD:
        assert parameters(ours, ())[: len(want) - 1] == want[:-1]
    else:
        assert parameters(ours, ()) == want


@signed_as_promised
@pytest.mark.parametrize(("place", "name", "parameter"), MISSING, ids=map(".".join, MISSING))
def test_a_parameter_that_is_missing_is_named(place, name, parameter):
    ours, theirs = (getattr(module, name) for module in both(place))
    assert isinstance(theirs, jax.numpy.ufunc) or parameter in inspect.signature(theirs).parameters
    with pytest.raises(TypeError) as caught:
        ours(**{parameter: None})
    assert str(caught.value).endswith(f"got an unexpected keyword argument '{parameter}'")


# What is compared ---------------------------------------------------------------------------------


class Recorder:
    """minijax or a module of it, which notes the names that a program reads."""

    def __init__(self, module=minijax, place="", seen=None):
        self.module, self.place = module, place
        self.seen = set() if seen is None else seen

    def __getattr__(self, name):
        value = getattr(self.module, name)
        self.seen.add((self.place, name))
        place = f"{self.place}.{name}".removeprefix(".")
        return Recorder(value, place, self.seen) if isinstance(value, ModuleType) else value


@pytest.mark.parametrize("text", expressions())
def test_expressions_give_what_they_give_in_jax(text):
    assert_same(value_of(text, minijax), value_of(text, jax), text, 1e-6, 1e-6)


def tables():
    """Programs of tables that are compared with JAX and name something, as functions of `lib`."""
    n, p, t = test_numpy, test_primitives, test_libraries
    for text in expressions():
        yield lambda lib, text=text: value_of(text, lib)
    for family in n.EXPRESSIONS:
        yield lambda lib, family=family: n.values_and_derivatives(lib, family)(n.X, n.I, n.J, n.B)
    for case in p.CASES:
        xs = case.make(case.shapes()[0], case.dtypes[0], 0)
        yield lambda lib, case=case, xs=xs: case.function(lib.lax, *xs)
    yield from test_differences.PROGRAMS.values()
    for f in pmap_programs.COLLECTIVES.values():
        yield lambda lib, f=f: f(pmap_programs.Library(lib, lib.vmap))
    yield from pmap_programs.ONE_DEVICE.values()
    for family in test_arrays.ROWS:
        yield lambda lib, family=family: test_arrays.answers(lib, family)
    yield from map(test_random.of_row, rows_of(test_random.ROWS))
    for program in test_windows.PROGRAMS.values():
        yield lambda lib, program=program: test_windows.everything(lib, program)
    yield lambda lib: test_windows.sizes(lib.lax, "SAME")
    for family in t.FAMILIES:
        yield lambda lib, family=family: t.all_of(lib, family)(t.X, t.I)
    yield from t.PROGRAMS.values()
    yield test_checkpoint.residuals_printed
    for policy in test_checkpoint.POLICIES:
        yield lambda lib, policy=policy: test_checkpoint.checkpointed(lib, policy)


@pytest.mark.slow
def test_every_public_name_is_read_by_a_program_that_is_compared_with_jax():
    recorder = Recorder()
    for program in tables():
        program(recorder)
    names = {(place, name) for place, name in NAMES if place != "typing"}  # for annotations only
    assert names - recorder.seen == set()
