"""What a failure says first, and what it says only where it is so."""

import dataclasses

import pytest

from autograder.grading import generated, judging, random_programs, retelling, strata, suite, words
from autograder.grading.random_programs import FIRST_CIRCLE
from autograder.grading.suite import Disagreement
from autograder.lessons import manifest
from autograder.sandbox.session import Probe


def verdict(name, kind):
    """The verdict on an exercise with one test, which fails if there is a kind of failure."""
    message = "Your code does not terminate." if kind else None
    test = {"id": f"test_{name}", "passed": not kind, "class": kind, "message": message}
    return {"id": name, "tests": [test], "class": kind, "message": message}


def first_words(*verdicts):
    found = judging.causes_first(manifest.get("core"), list(verdicts))
    return {x["id"]: [test["message"] for test in x["tests"]] for x in found}


def test_the_exercise_that_is_the_cause_is_said_first():
    said = first_words(
        verdict("core.find_top_trace", suite.ENDLESS), verdict("core.counted", suite.ENDLESS)
    )
    assert said["core.counted"] == [
        "Repair core.find_top_trace first: this exercise needs it. Your code does not terminate."
    ]
    assert said["core.find_top_trace"] == ["Your code does not terminate."]


@pytest.mark.parametrize("kind", [None, suite.NOT_IMPLEMENTED])
def test_an_exercise_that_is_right_or_not_there_is_no_cause(kind):
    said = first_words(verdict("core.find_top_trace", kind), verdict("core.counted", suite.ENDLESS))
    assert said["core.counted"] == ["Your code does not terminate."]


@pytest.mark.parametrize(
    ("source", "hints"),
    [
        ("def f(x):\n    x + 1\n", {words.NO_RETURN, words.NO_YIELD}),
        ("def f(x):\n    return\n", {words.NO_RETURN, words.NO_YIELD}),
        ("def f(x):\n    return x\n", {words.NO_YIELD}),
        ("def f(x):\n    def g():\n        return x\n    g()\n", {words.NO_RETURN, words.NO_YIELD}),
        ("def f(x):\n    yield x\n", {words.NO_RETURN}),
        ("def g(x):\n    pass\n", set()),
    ],
)
def test_a_missing_return_is_told_only_where_none_is(source, hints):
    assert words.lacking(source).get("f", set()) == hints


def law(source):
    return generated.Test(Probe("law", source), [], {}, "minijax.core")


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("def law(mj, f, xs):\n    return f(*xs)", "f(*xs)"),
        (
            'def law(mj, f, xs):\n    """The value.\n\n    >>> f(*xs)\n    """\n    y = f(*xs)',
            "f(*xs)",
        ),
        ("def law(mj, f, xs):\n    y = f(*xs)\n    return y", ""),
        ('def law(mj, f, xs):\n    return {"value": f(*xs)}', ""),
    ],
)
def test_a_law_says_what_a_student_can_run(source, shown):
    assert law(source).shown == shown


def test_what_is_printed_is_what_the_listing_prints():
    printing = law("def law(mj, f, xs):\n    return f(*xs)").printing
    assert printing.law.source == "def printed(mj, f, xs):\n    return repr(f(*xs))"


@pytest.mark.parametrize("is_visible", [True, False])
def test_a_program_is_shown_only_if_what_it_prints_differs(monkeypatch, is_visible):
    def differences(self, test, chosen):
        found = is_visible or test.law.name != "printed"
        return [Disagreement(suite.WRONG_VALUE, "a wrong value")] * len(chosen) if found else [None]

    monkeypatch.setattr(retelling.Retelling, "differences", differences)
    asking = retelling.Retelling.__new__(retelling.Retelling)
    test = law("def law(mj, f, xs):\n    return f(*xs)")
    chosen = dataclasses.replace(test, programs=random_programs.make("seed", 2))
    more = asking._smallest(chosen)
    assert more.found.message == "a wrong value"
    assert more.found.program.endswith("print(repr(f(*xs)))\n") is is_visible


def test_with_every_seed_there_is_every_operation_in_both_dtypes():
    for seed in ("0", "1", "2"):
        found = {kind for program in strata.make(seed) for kind in strata.kinds(program)}
        assert {name for name, _ in found} >= set(FIRST_CIRCLE)
        numbers = [("neg", dtype) for dtype in ("float32", "float64")]
        assert set(numbers) <= found


def test_the_programs_that_are_chosen_have_more_kinds_than_others():
    pool = random_programs.make("seed", 60)
    chosen = strata.covering(pool, 6)
    kinds = [{kind for p in some for kind in strata.kinds(p)} for some in (chosen, pool[:6])]
    assert len(kinds[0]) > 1.3 * len(kinds[1])
    assert len(chosen) == len({id(program) for program in chosen}) == 6
