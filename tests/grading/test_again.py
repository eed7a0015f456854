"""What was answered rightly is asked again: nothing may stay from one call to the next."""

import graded_course
import pytest
from graded_course import MODULE, SUITE, changed, exercise, graded

from autograder.grading.run_repeated import Failing, Repeated, Seen

pytestmark = pytest.mark.isolated


@pytest.fixture
def lesson(monkeypatch, tmp_path):
    return graded_course.write(monkeypatch, tmp_path)


def test_a_right_answer_is_asked_again_and_keeps_its_points(lesson):
    assert graded(lesson, MODULE.encode())["score"] == 6


KEPT = {
    "types": "_kept[type(x)] = x\n    return 2.0 * np.asarray(x) + (len(_kept) - 1)",
    "values": "_kept[x] = x\n    return 2.0 * np.asarray(x) + (len(_kept) > 3)",
}


@pytest.mark.parametrize("how", KEPT)
def test_what_stays_from_one_call_to_the_next_costs_points(lesson, how):
    source = changed("return 2.0 * np.asarray(x)", KEPT[how]) + b"\n\n_kept = {}\n"
    found = exercise(graded(lesson, source), "double")
    assert found["points"] < 3
    assert "left over from one call to the next" in str(found["tests"])


def test_an_argument_that_is_changed_costs_points(lesson, monkeypatch, tmp_path):
    suite = SUITE.replace("tiny.mean(np.array(x))", "tiny.mean(x)")
    lesson = graded_course.write(monkeypatch, tmp_path, {"suites/tiny.py": suite})
    assert graded(lesson, MODULE.encode())["score"] == 6
    total = "    total = sum(x)\n    x.reverse()\n    return np.float64(total / len(x))"
    found = exercise(graded(lesson, changed("    return np.sum(x) / len(x)", total)), "mean")
    assert found["points"] < 2
    assert "changes an argument" in str(found["tests"])


# An exercise that takes a function, whose probe makes the function and the list itself.
CALLING = """

def spread(f: object, xs: list[float]) -> list[float]:
    \"\"\"What f returns for each of xs.\"\"\"
    return [f(x) for x in xs]
"""
CALLED = """
def spread_of(tiny, x):
    calls = []

    def f(x):
        calls.append(x)
        return 2.0 * x

    found = {"value": list(tiny.spread(f, [*x])), "calls of f": len(calls)}
    return {**found, "further calls": True} if len(calls) > len(x) else found
"""

WRONG_CALLS = {
    "not when the same call is made again": "return _kept.setdefault(f, [f(x) for x in xs])",
    "changes an argument": "return [f(xs.pop(0)) for _ in range(len(xs))]",
    "an argument, which": "xs.append('')\n    return [f(x) for x in xs[:-1]]",  # and fails then
    "should return a list": "return tuple(f(x) for x in xs)",
    "raises nothing": "import contextlib\n    with contextlib.suppress(KeyError):\n        "
    "return [f(x) for x in xs]\n    return []",
    "raises a different error": "try:\n        return [f(x) for x in xs]\n    "
    "except BaseException as e:\n        raise ValueError from e",
}


@pytest.mark.parametrize("message", WRONG_CALLS)
def test_what_a_call_does_beside_its_answer_costs_points(monkeypatch, tmp_path, message):
    module = MODULE.partition("\n\ndef spread")[0] + CALLING
    suite = SUITE.replace(
        "def spread_of(tiny, x):\n    return tiny.spread(np.array(x))\n", CALLED.lstrip()
    )
    files = {"suites/tiny.py": suite, "solutions/tiny/numbers.py": module}
    lesson = graded_course.write(monkeypatch, tmp_path, files)
    assert graded(lesson, module.encode())["score"] == 6
    wrong = module.replace("return [f(x) for x in xs]", WRONG_CALLS[message]) + "\n\n_kept = {}\n"
    found = exercise(graded(lesson, wrong.encode()), "spread")
    assert found["points"] == 0
    assert message in str(found["tests"])


def test_interpreters_and_names_of_axes_that_a_call_leaves_are_seen_and_put_back():
    from minijax.axis_env import axis_env
    from minijax.core import trace_state

    before = axis_env.frames, [*trace_state.stack]
    for leave, place in (
        (lambda: setattr(axis_env, "frames", ("i",)), "frames"),
        (lambda: trace_state.stack.append(trace_state.stack[0]), "stack"),
    ):
        seen = Seen("minijax", "Any")
        with seen.call([]):
            leave()
        assert seen.states == {place}
        assert (axis_env.frames, trace_state.stack) == before


def test_only_the_first_calls_of_a_probe_are_made_again():
    made = []
    repeated = Repeated(made.append, 0, Failing("minijax"))
    repeated.seen = Seen("minijax", "Any")
    for number in range(Seen.MOST + 10):
        repeated(number)
    assert set(made) == {*range(Seen.MOST + 10)}
    assert {x for x in made if made.count(x) > 1} == {*range(Seen.MOST)}
