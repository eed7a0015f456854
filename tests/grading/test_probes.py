"""What travels with a probe: helpers, and right answers to other exercises."""

import contextlib
import functools
import importlib
import math
import re
from typing import TYPE_CHECKING

import graded_course
import pytest
from graded_course import MODULE, RIGHTS, SUITE, changed

from autograder.grading import in_worker
from autograder.grading.suite import SuiteError, probe

if TYPE_CHECKING:
    from fractions import Fraction


class Numbers:
    """A helper that uses another one as its base, and a module."""

    start: "Anything" = 2.0  # noqa: F821

    def root(self):
        return math.sqrt(self.start)


@functools.cache
def sixteen():
    """A helper that is not a plain function any more."""
    return 16.0


class More(Numbers):
    """A helper with a base, which uses another one."""

    start = sixteen()


@contextlib.contextmanager
def at_hand(n):
    """A helper with a decorator, which calls itself."""
    if n:
        with at_hand(n - 1) as found:
            yield found + 1
    else:
        yield 0


def missing():
    return re.sub(TEXT, "", "")  # noqa: F821


@probe(uses=[More, at_hand])
def with_helpers(mj, n: "Anything"):  # noqa: F821
    with at_hand(n) as found:
        return More().root() + found


def answer_of(probe, *args):
    """What a worker does with a probe: it knows NumPy and the text."""
    import numpy as np

    exec(probe.source, namespace := {"np": np, "__name__": "probe"})
    return namespace[probe.name](None, *args)


def test_helpers_travel_with_what_they_use():
    assert answer_of(with_helpers, 3) == 7.0


@probe
def third(mj):
    """Reads a name that is imported for type checkers only."""
    return str(Fraction(1, 3))


def test_a_probe_imports_what_its_suite_only_names():
    assert answer_of(third) == "1/3"
    assert "Fraction" not in globals()
    assert "Fraction" not in with_helpers.source


def alone(mj):
    return More().root()


def test_a_probe_brings_nothing_that_it_does_not_name():
    with pytest.raises(NameError, match=r"alone uses More from outside\. .*list it in `uses`"):
        probe(alone)


def test_a_helper_that_lacks_a_name_is_refused():
    with pytest.raises(NameError, match="missing uses TEXT"):
        probe(uses=[missing])(alone)


# Right siblings -----------------------------------------------------------------------------------

SPREAD = """
from autograder.grading.in_worker import in_place
from autograder.grading.suite import exercise, probe, siblings


@probe(uses=[in_place])
def spread_of(tiny, siblings, x):
    with in_place("tiny.numbers", siblings) as module:
        return module.spread(np.array(x)), sorted(siblings)
"""
BOTH = 'siblings("tiny.double", "tiny.mean")'
STUBS = MODULE.replace(
    "return 2.0 * np.asarray(x)", 'raise NotImplementedError("tiny.double")'
).replace("if not len(x):", 'raise NotImplementedError("tiny.mean")\n    if not len(x):')

needs_isolation = pytest.mark.isolated


def graded(monkeypatch, tmp_path, source, brought=BOTH):
    """The result for a module, where a test of `spread` brings right siblings along."""
    begin = SUITE.index("@probe\ndef spread_of")
    end = SUITE.index("exercise(", begin)
    suite = SUITE[:begin] + SUITE[end:].replace("spread_of, ", f"spread_of, {brought}, ")
    suite = suite.replace("from autograder.grading.suite import exercise, probe\n", SPREAD)
    changes = {"suites/tiny.py": suite, "answers/tiny.py": RIGHTS}
    lesson = graded_course.write(monkeypatch, tmp_path, changes)
    return graded_course.graded(lesson, source)


@needs_isolation
def test_an_exercise_is_tested_with_right_siblings_in_place(monkeypatch, tmp_path):
    result = graded(monkeypatch, tmp_path, STUBS.encode())
    assert [e["points"] for e in result["exercises"]] == [0.0, 0.0, 1.0]
    wrong = changed("double(x) - mean(x)", "double(x) + mean(x)")
    assert graded(monkeypatch, tmp_path, wrong)["exercises"][2]["points"] == 0.0


@needs_isolation
def test_no_probe_brings_the_answer_that_it_asks_for(monkeypatch, tmp_path):
    with pytest.raises(SuiteError, match=r"tiny\.spread brings the answer"):
        graded(monkeypatch, tmp_path, MODULE.encode(), 'siblings("tiny.spread")')


def test_siblings_leave_no_trace():
    """Modules, tables, classes and namedtuples are afterwards as they were."""
    import minijax
    from minijax import core

    jvp = importlib.import_module("minijax.jvp")
    before = dict(core.jvp_rules), jvp.JVPTrace.pure, jvp.add_tangents
    changes = {
        "add_tangents": "def add_tangents(a, b): return 1.0",
        "JVPTrace.pure": "def pure(self, val): return 2.0",
        "bilinear_jvp": "def bilinear_jvp(primitive, primals, tangents): return 3.0, 4.0",
        "another": "def another(): return 5.0",
    }
    with in_worker.in_place("minijax.jvp", changes) as module:
        assert module is jvp
        assert (jvp.add_tangents(2.0, 3.0), jvp.JVPTrace.pure(None, 0.0)) == (1.0, 2.0)
        assert jvp.another() == 5.0
        assert minijax.jvp(lambda x: x * x, (7.0,), (1.0,)) == (3.0, 4.0)
    assert before == (dict(core.jvp_rules), jvp.JVPTrace.pure, jvp.add_tangents)
    assert not hasattr(jvp, "another")
