"""Random programs and the generated tests that hidden suites make of them."""

import itertools
import json
import re
import subprocess
import sys
import types

import graded_course
import jax
import minijax
import numpy as np
import pytest
from minijax.jaxpr import eval_jaxpr, typecheck_jaxpr

from autograder.grading import (
    answers,
    asking,
    generated,
    in_worker,
    laws,
    lending,
    random_programs,
    random_steps,
    random_trees,
    retelling,
    suite_run,
)
from autograder.grading.suite import Probe
from autograder.lessons import assemble, manifest, skeleton
from autograder.sandbox import session
from autograder.student import checks, explain
from autograder.upkeep import sample_class

jax.config.update("jax_enable_x64", True)

needs_isolation = pytest.mark.isolated
EVERYTHING = ("f", "xs", "ts", "cts", "batch", "in_axes")
SEEDS = [random_programs.make(str(seed)) for seed in range(2)]
MANY = list(itertools.chain(*SEEDS))


def defined(program, lib=minijax):
    """What a program's text defines, on minijax or on JAX."""
    names = {}
    exec(program.text(EVERYTHING).replace("from minijax", f"from {lib.__name__}"), names)
    return names


def leaves(out):
    return list(out) if isinstance(out, (tuple, list)) else [out]


@pytest.mark.parametrize("lib", [minijax, jax], ids=["minijax", "jax"])
def test_programs_are_what_numpy_made_of_them(lib):
    for program in MANY:
        names = defined(program, lib)
        want = [program.values[i] for i in program.results]
        f = jax.jit(names["f"]) if lib is jax else names["f"]
        for x, y in zip(leaves(f(*names["xs"])), want, strict=True):
            assert (x.shape, x.dtype) == (y.shape, y.dtype)
            np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-4)


@pytest.mark.slow
def test_derivatives_are_tame_and_those_of_jax():
    for program in MANY:
        names, jax_names = defined(program), defined(program, jax)
        got = leaves(minijax.jvp(names["f"], names["xs"], names["ts"])[1])
        jax_jvp = jax.jit(lambda xs, ts, f=jax_names["f"]: jax.jvp(f, xs, ts)[1])
        want = leaves(jax_jvp(names["xs"], names["ts"]))
        for x, y in zip(got, want, strict=True):
            assert (x.shape, x.dtype) == (y.shape, y.dtype)
            assert np.all(np.abs(y) < 2 * random_steps.LARGEST)
            np.testing.assert_allclose(x, y, rtol=1e-4, atol=generated.ATOL)


def test_batches_and_cotangents_fit():
    for program in MANY:
        names = defined(program)
        batched = leaves(minijax.vmap(names["f"], names["in_axes"])(*names["batch"]))
        for x, y in zip(batched, leaves(names["f"](*names["xs"])), strict=True):
            np.testing.assert_allclose(x[0], y, rtol=1e-4, atol=1e-4)
        cotangents = minijax.vjp(names["f"], *names["xs"])[1](names["cts"])
        assert [x.shape for x in cotangents] == [x.shape for x in names["xs"]]


def test_every_operation_comes_up():
    made = itertools.chain(*(random_programs.make(str(seed), 20) for seed in range(8)))
    used = {step.name for program in made for step in program.steps}
    assert used == set(random_programs.FIRST_CIRCLE)


def test_a_wanted_operation_is_in_every_program():
    for program in random_programs.make("seed", 20, using=["div", "log"]):
        assert {step.name for step in program.steps} & {"div", "log"}


def test_a_seed_makes_the_same_programs_again():
    texts = [[p.text(EVERYTHING) for p in random_programs.make(str(seed))] for seed in (0, 0, 1)]
    assert texts[0] == texts[1]
    assert not set(texts[0]) & set(texts[2])


def test_programs_are_data():
    for program in MANY:
        again = random_programs.from_data(json.loads(json.dumps(program.data())))
        assert again.text(EVERYTHING) == program.text(EVERYTHING)


def test_jaxprs_are_the_programs():
    for program in random_programs.make("jaxpr", 20, operations=random_programs.LAX):
        names = {}
        exec(program.text(["jaxpr", "xs"]), names)
        typecheck_jaxpr(names["jaxpr"])
        outs = eval_jaxpr(names["jaxpr"], [], *names["xs"])
        for x, i in zip(outs, program.results, strict=True):
            assert (x.shape, x.dtype) == (program.values[i].shape, program.values[i].dtype)
            np.testing.assert_allclose(x, program.values[i], rtol=1e-4, atol=1e-4)


def test_trees_are_those_of_jax_and_data():
    for tree in random_trees.make("0", 30):
        want = jax.tree.flatten(tree.content)
        leaves, structure = minijax.tree.flatten(tree.content)
        assert (leaves, str(structure)) == (want[0], str(want[1]))
        assert random_trees.from_data(json.loads(json.dumps(tree.data()))).text() == tree.text()


def test_dicts_of_trees_are_not_in_order():
    assert any(re.search("'d': [^{}]*'a': ", tree.text()) for tree in random_trees.make("0", 30))


def test_shrinking_a_tree_leaves_what_fails():
    for tree in random_trees.make("shrink", 30):
        if "[" in tree.text():
            found = random_programs.shrink(tree, lambda some: ["[" in t.text() for t in some])
            assert found.text() == "tree = []"


def test_shrinking_leaves_what_fails():
    for program in random_programs.make("shrink", 20, using=["div"]):
        found = random_programs.shrink(program, lambda some: ["lax.div" in p.text() for p in some])
        assert found.is_sound()
        assert len(found.steps) <= 2  # the other one where a denominator would be 0 without it


def test_shrinking_asks_a_limited_number_of_times():
    asked = []
    random_programs.shrink(MANY[0], lambda some: asked.append(some) or [True] * len(some), rounds=2)
    assert len(asked) <= 2


def test_stored_programs_are_used_again(tmp_path, monkeypatch):
    law = Probe("law", "def law(mj, f, xs): return f(*xs)")
    about = tmp_path, manifest.get("jvp"), "test_a", law
    first = generated.stored(*about, 7, {"using": ["mul"]})
    monkeypatch.setattr(generated, "_made", None)  # a later version makes others
    again = generated.stored(*about, 7, {"using": ["mul"]})
    assert [p.text() for p in again] == [p.text() for p in first]
    with pytest.raises(TypeError):
        generated.stored(*about, 8, {"using": ["mul"]})


# In the engine ------------------------------------------------------------------------------------


def source_of(mistake_name):
    (found,) = [m for m in answers.mistakes("jvp") if m.name == mistake_name]
    return answers.variant_source(found).encode()


def graded(source, **options):
    return graded_course.graded(manifest.get("jvp"), source, **options)


def only(result, name):
    (found,) = [e for e in result["exercises"] if e["id"] == name]
    return found


@pytest.fixture(scope="module")
def mistaken():
    """A submission whose product rule leaves a term out, and its result."""
    source = source_of("Only the first operand counts")
    return source, graded(source, only="jvp.mul_rule")


@needs_isolation
def test_a_failure_is_shown_as_the_smallest_program(mistaken):
    found = only(mistaken[1], "jvp.mul_rule")["counterexample"]
    assert found.splitlines()[0] == "import minijax as mj"
    assert found.count(" = ") == 3  # one operation, the arguments and the tangents
    assert found.endswith("print(repr(mj.jvp(f, xs, ts)))\n")


@needs_isolation
def test_the_smallest_program_is_looked_for_where_no_answer_was_shown(monkeypatch):
    asked = []
    call = session.Session.call

    def note(self, probe, *args, **options):
        if probe == generated.OUTCOMES and self.budget < 1e9:
            asked.append((len(args[1]), bool(args[2]), args[4]))  # programs, lent, one by one
        return call(self, probe, *args, **options)

    monkeypatch.setattr(session.Session, "call", note)
    result = graded(source_of("Only the first operand counts"), only="jvp.mul_rule")
    assert only(result, "jvp.mul_rule")["counterexample"]
    searches = [(number, lent) for number, lent, one_by_one in asked if one_by_one]
    assert len(searches) > 3
    assert [number for number, lent in searches if lent] == [1]  # does it hold for this exercise?


@needs_isolation
def test_a_program_that_others_fail_is_not_shown(monkeypatch):
    search = retelling.Retelling.differences

    def differences(self, test, chosen, lent=False):
        return [None] if lent else search(self, test, chosen)

    monkeypatch.setattr(retelling.Retelling, "differences", differences)
    result = graded(source_of("Only the first operand counts"), only="jvp.mul_rule")
    assert only(result, "jvp.mul_rule")["class"] == "wrong_value"
    assert only(result, "jvp.mul_rule")["counterexample"] is None


def test_a_law_is_shown_below_its_program():
    (program,) = random_programs.make("seed", number=1)
    law = Probe("law", "def law(mj, f, xs):\n    'Words.'\n    return mj.jit(f)(*xs)")
    shown = generated.Test(law, [program], {}, "minijax.jit").listing(program)
    start = f"import minijax as mj\n{program.text(['f', 'xs'])}\n"
    assert shown == f"{start}print(repr(mj.jit(f)(*xs)))\n"


@needs_isolation
def test_the_program_runs_and_shows_the_mistake(mistaken, tmp_path):
    source, result = mistaken
    program = only(result, "jvp.mul_rule")["counterexample"]
    printed = []
    for number, overlay in enumerate([{}, {"minijax/jvp.py": source}]):
        folder = tmp_path / str(number)
        assemble.write_tree(folder, manifest.get("jvp"), overlay)
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        printed.append(done.stdout)
    assert printed[0] != printed[1]


@needs_isolation
def test_what_is_expected_stays_hidden(mistaken):
    exercise = only(mistaken[1], "jvp.mul_rule")
    messages = [test["message"] or "" for test in exercise["tests"]]
    assert not any("expected [" in text or "array(" in text for text in messages)


@needs_isolation
def test_grades_and_programs_repeat(mistaken, tmp_path):
    source, first = mistaken
    results = [graded(source, only="jvp.mul_rule", programs=tmp_path) for _ in range(2)]
    for result in results:
        assert result["exercises"] == first["exercises"]
    assert [p.name for p in tmp_path.rglob("*.programs")] == [
        "test_products_in_programs.program_derivative.0.programs"
    ]
    other = graded(source, only="jvp.mul_rule", programs=tmp_path, seed=1)
    assert only(other, "jvp.mul_rule")["counterexample"] != only(first, "jvp.mul_rule")
    assert other["score"] == first["score"]


@needs_isolation
def test_a_stub_has_no_counterexample():
    lesson = manifest.get("jvp")
    untouched = skeleton.make_skeleton(assemble.read_solution(lesson.module), lesson)
    result = graded(untouched.encode(), only="jvp.mul_rule")
    assert only(result, "jvp.mul_rule")["class"] == "not_implemented"
    assert only(result, "jvp.mul_rule")["counterexample"] is None


@pytest.fixture
def asked(monkeypatch):
    """Who was asked with which siblings: (worker, targets asked for, targets shown) by turns.

    The whole module is asked for every target.
    """
    events, kept = [], []
    lesson = manifest.get("jvp")
    targets = {e.id: {e.target} for e in lesson.exercises}
    targets[lesson.whole.id] = set().union(*targets.values())
    answer = asking.Asking.answer

    def note(run, exercise, probe, args, *limits):
        got = answer(run, exercise, probe, args, *limits)
        shown = set().union(*(arg for arg in args if isinstance(arg, dict)))
        kept.append(run.session.worker)  # so that no two have the same id
        events.append((id(run.session.worker), targets[exercise], shown))
        return got

    monkeypatch.setattr(asking.Asking, "answer", note)
    return events


def of_kind(kind):
    (found,) = [x for x in sample_class.make(manifest.get("jvp")) if x.kind == kind]
    return found.source.encode()


@pytest.mark.slow
@needs_isolation
def test_nobody_is_asked_for_what_he_was_shown(asked):
    graded(of_kind("half"), shrink=False)
    assert any(shown for _, _, shown in asked)
    seen = {}
    for worker, wanted, shown in asked:
        seen.setdefault(worker, set()).update(shown)
        assert not wanted & seen[worker]


@needs_isolation
@pytest.mark.parametrize(("kind", "starts"), [("right", 1), ("untouched", 3), ("half", 1)])
def test_a_worker_is_kept_until_it_was_shown_what_is_asked(asked, kind, starts):
    graded(of_kind(kind), shrink=False)
    assert len({worker for worker, _, _ in asked}) == starts
    seen = set()
    for (before, _, shown), (after, wanted, _) in itertools.pairwise(asked):
        seen |= shown
        if before != after:
            assert wanted & seen
            seen.clear()


@needs_isolation
def test_what_is_wrong_is_asked_and_told_in_the_last_of_three_workers(monkeypatch):
    workers, start = [], session.Session._sealed
    monkeypatch.setattr(
        session.Session, "_sealed", lambda own: workers.append(own.budget) or start(own)
    )
    result = graded(source_of("Only the first operand counts"))
    (failed,) = [e for e in result["exercises"] if e["counterexample"] and e["id"] != "jvp.whole"]
    assert failed["id"] == "jvp.mul_rule"
    # The whole module and what is asked first; the siblings after a second try; the mistake itself.
    assert len([budget for budget in workers if budget == session.BUDGET_SECONDS]) == 3


@needs_isolation
def test_a_wrong_sibling_costs_a_law_nothing():
    graded_alone = graded(source_of("Only the first operand counts"), only="jvp.sum_rule")
    assert only(graded_alone, "jvp.sum_rule")["class"] is None


@pytest.mark.slow
@needs_isolation
def test_a_wrong_sibling_that_has_passed_its_own_tests_costs_the_others_nothing(monkeypatch):
    monkeypatch.setattr(lending.Lending, "_has_passed", lambda lent, target: True)
    name = "A difference moves with its second operand, not against it"
    result = graded(source_of(name), shrink=False)
    for name in ("jvp.mul_rule", "jvp.flat"):
        assert only(result, name)["points"] == only(result, name)["max_points"]


# Right siblings -----------------------------------------------------------------------------------

GRAFTED = """
from collections import namedtuple
from functools import partial

Kind = namedtuple("Kind", "make name")

def helper(x):
    return x + 1

def rule(x):
    return -helper(x)

class Box:
    def pure(self):
        return "wrong"
    lift = pure

rules = {"plain": rule, "partial": partial(rule, 2), "kind": Kind(rule, "box"), "other": helper}
"""


def test_siblings_stand_wherever_the_package_refers_to_them(monkeypatch):
    home, other = types.ModuleType("grafted.home"), types.ModuleType("grafted")
    exec(GRAFTED, vars(home))
    home.Box.__module__ = "grafted.home"
    other.exported = home.rule
    monkeypatch.setitem(sys.modules, "grafted", other)
    monkeypatch.setitem(sys.modules, "grafted.home", home)

    def answers():
        table, box = home.rules, home.Box()
        found = [home.rule(2), other.exported(2), table["plain"](2), table["partial"]()]
        return [*found, table["kind"].make(2), box.pure(), box.lift(), table["other"](2)]

    before = answers()
    siblings = {
        "rule": "rule = lambda x: 10 * helper(x)",
        "Box.pure": "def pure(self): return 'right'",
    }
    with in_worker.in_place("grafted.home", siblings):
        assert answers() == [30] * 5 + ["right", "right", 3]
    assert answers() == before == [-3] * 5 + ["wrong", "wrong", 3]


def test_the_exercises_own_answer_does_not_travel():
    generating = laws.Generating(0, None, True)
    run = suite_run.SuiteRun(manifest.get("jvp"), None, None, generating, None)
    law = Probe("law", "def law(mj, f, xs): return f(*xs)")
    test = run.laws.test("test", "jvp.mul_rule", law, {})
    sent = test.arguments(test.programs)[2]
    assert "sum_jvp" in sent
    assert "bilinear_jvp" not in sent


def test_a_program_that_fails_on_the_reference_is_a_fault_of_the_suite():
    test = generated.Test(Probe("law", "def law(mj, f): return f"), [], {}, "minijax.jvp")
    with pytest.raises(ValueError, match="on the reference"):
        test.check_reference(session.Reply("raised", name="TypeError"))


# In visible checks --------------------------------------------------------------------------------


def test_a_check_fails_with_the_smallest_program():
    @random_programs.for_programs(seed="visible", using=["mul"])
    def check(f, xs, want):
        assert random_programs.numbers(f(*xs)) == random_programs.numbers([x + 1 for x in want])

    with pytest.raises(AssertionError) as caught:
        check()
    (note,) = caught.value.__notes__
    assert note.count("\n    ") <= 2  # at most one step, and the result
    assert "xs = (np.array(" in note


def test_a_check_of_right_programs_passes():
    seen = []

    @random_programs.for_programs(seed="visible", number=4)
    def check(f, xs, ts, want):
        seen.append(len(ts))
        assert random_programs.numbers(f(*xs)) == random_programs.numbers(want)

    check()
    assert len(seen) == 4


def test_an_exercise_that_is_not_written_is_said_at_once():
    @random_programs.for_programs(seed="visible")
    def check(xs):
        raise NotImplementedError("jvp.flat")

    with pytest.raises(NotImplementedError) as caught:
        check()
    assert not hasattr(caught.value, "__notes__")


@pytest.mark.parametrize("got", [[1.1], [[1.0]], [1.0, 1.0], []])
def test_numbers_of_another_value_or_shape_differ(got):
    assert random_programs.numbers([1.00001]) == random_programs.numbers([1.0])
    assert random_programs.numbers(got) != random_programs.numbers([1.0])


def test_the_command_shows_program_got_and_expected():
    lesson, source = manifest.get("jvp"), source_of("Only the first operand counts")
    report = checks.run(lesson, {lesson.module: source})
    (found,) = [x for x in report.outcomes if x.error and x.error.program]
    text = "\n".join(explain.explain(report, found))
    assert re.search(r"expected: .*\n  got: .*\nThe smallest program found", text)
    assert text.count(" = ") == 3 + text.count("want = ")
