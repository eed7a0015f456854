"""Slips are made where a tired student makes them, each alone; one failing test decides."""

import ast

import graded_course
import pytest
from graded_course import graded

from autograder.grading import submission
from autograder.upkeep import mutants, slips

pytestmark = pytest.mark.isolated

# (what is written, one of the slips)
SLIPS = [
    ("return x - y", "return x + y"),
    ("return x - y", "return y - x"),
    ("return x - y", "return x"),
    ("return x * y", "return x / y"),
    ("return -x", "return x"),
    ("return x < y", "return x <= y"),
    ("return x is None", "return x is not None"),
    ("return x and y", "return x or y"),
    ("return x and y", "return y"),
    ("return x if y else 0.0", "return 0.0"),
    ("return x[1:]", "return x"),
    ("return x[1]", "return x[2]"),
    ("return True", "return False"),
    ("return f(x, y)", "return f(y, x)"),
    ("return f(x, axis=0)", "return f(x)"),
    ("return sorted(x)", "return x"),
    ("return (x, y)", "return (y, x)"),
    ("return (x, y)", "return (x,)"),
    ("return [a for a in x if a]", "return [a for a in x]"),
    ("return x.primal", "return x.tangent"),
    ("return self.pure(x)", "return self.lift(x)"),
    ("return x + 0.0", "return y + 0.0"),
    ("return x", "return None"),
    ("x += y", "x = y"),
    ("x += y", "pass"),
    ("x[0] = y", "pass"),
    ("if x:\n    f(x)", "if True:\n    f(x)"),
    ("for a in x:\n    continue", "for a in x:\n    pass"),
    ("with f(x):\n    g(y)", "if True:\n    g(y)"),
    ("try:\n    f(x)\nfinally:\n    g(y)", "if True:\n    f(x)\n    g(y)"),
    ("if x:\n    raise TypeError(y)", "if False:\n    raise TypeError(y)"),
]  # fmt: skip


def function(body):
    (node,) = ast.parse(
        f"def target(self, x, y):\n    {body.replace(chr(10), chr(10) + '    ')}"
    ).body
    return node


@pytest.mark.parametrize(("body", "slip"), SLIPS, ids=[f"{a} -> {b}" for a, b in SLIPS])
def test_a_slip_is_made(body, slip):
    made = [ast.unparse(mutated) for mutated in slips.mutations(function(body))]
    assert ast.unparse(function(slip)) in made


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("raise TypeError(f'{x + 1} is wrong')", ["pass"]),
        ("if x:\n    z = y + 1\n    raise TypeError(z)", None),
        ("a: dict[0, 1]", []),
        ("zip(a, b, strict=True)", ["pass", "zip(b, a, strict=True)"]),
        ("isinstance(a, (b, c))", ["pass"]),
    ],
)
def test_what_makes_texts_and_types_stays(body, left):
    made = [ast.unparse(mutated.body) for mutated in slips.mutations(function(body))]
    if left is None:
        assert len(made) == 3
        assert all("z = y + 1" in text for text in made)
    else:
        assert made == left


def test_the_function_itself_stays_as_it_was():
    node = function("return x - y")
    before = ast.dump(node)
    assert len(list(slips.mutations(node))) > 5
    assert ast.dump(node) == before


@pytest.fixture
def lesson(monkeypatch, tmp_path):
    return graded_course.write(monkeypatch, tmp_path)


def test_after_the_test_that_decides_no_more_tests_run(lesson):
    mutant = next(m for m in mutants.make_mutants(lesson) if m.exercise == "tiny.mean")
    source, asked = mutant.source.encode(), []

    def enough(exercise, calls):
        asked.append((exercise, len(calls)))
        return True

    result = graded(lesson, source, only="tiny.mean", shrink=False, enough=enough)
    failed = [t["message"] for e in result["exercises"] for t in e["tests"] if not t["passed"]]
    assert asked == [("tiny.mean", 1)]
    assert failed[1:] == ["The test did not run."] * (len(failed) - 1)


def test_the_line_of_an_error_does_not_tell_a_mutant_from_a_known_mistake(lesson, monkeypatch):
    said = {
        "mutant": "Line 7 of your file raises TypeError.",
        "mistake": "Line 12 of your file raises TypeError.",
        "other": "Line 7 of your file raises ValueError.",
    }

    def grade(task, **options):
        test = {"id": "test_mean", "class": "wrong_value", "message": said[task.source.decode()]}
        return {"exercises": [{"tests": [test]}]}

    monkeypatch.setattr(submission, "grade", grade)
    mutant, mistake, other = (mutants._tests(lesson, None, source) for source in said)
    assert mutant == mistake != other
