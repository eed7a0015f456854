"""What one submission may make the grader do, hold and give away."""

import graded_course
import msgpack
import pytest
from graded_course import MODULE, graded

from autograder.grading import answers, calls, generated, judging, retelling, submission
from autograder.grading.calls import Call
from autograder.grading.suite import Disagreement
from autograder.lessons import assemble, manifest
from autograder.sandbox.session import Probe, Reply, Session
from autograder.worker import wire

pytestmark = pytest.mark.isolated


# Memory ----------------------------------------------------------------------------------------


def calls_of(monkeypatch, tmp_path, source):
    """All calls of a submission of the tiny lesson, as they were kept."""
    lesson = graded_course.write(monkeypatch, tmp_path)
    kept = []

    def recognize(lesson, calls, level):
        kept.extend(call for group in calls.values() for call in group)
        return {}

    monkeypatch.setattr(submission, "recognize", recognize)
    graded(lesson, source.encode())
    return kept


def size(reply):
    return len(msgpack.packb(wire.encode(reply.value)))


def test_of_wrong_answers_only_so_much_is_kept(monkeypatch, tmp_path):
    monkeypatch.setattr(calls, "MOST_KEPT", 1000)
    source = MODULE.replace("return 2.0 * np.asarray(x)", "return ['wrong' * 100]")
    made = calls_of(monkeypatch, tmp_path, source)
    assert sum(size(call.got) for call in made if call.found is not None) <= 1000
    assert any(call.got.kind == "unsendable" for call in made)


def test_a_right_answer_is_kept_as_the_references(monkeypatch, tmp_path):
    made = calls_of(monkeypatch, tmp_path, MODULE)
    assert made
    assert all(call.got is call.want for call in made)


# Time ------------------------------------------------------------------------------------------


# Below zero: what a search has taken is counted in hundredths of a second, and may be none.
@pytest.mark.parametrize(("seconds", "shown"), [(15.0, True), (-1.0, False)])
def test_searches_for_the_smallest_program_end_with_their_time(monkeypatch, seconds, shown):
    monkeypatch.setattr(retelling, "SEARCH_SECONDS", seconds)
    (mistake,) = [m for m in answers.mistakes("jvp") if m.name == "Only the first operand counts"]
    result, searched = of_mul_rule(monkeypatch, answers.variant_source(mistake))
    assert bool(result["exercises"][0]["counterexample"]) is shown
    assert searched is shown


@pytest.mark.slow
def test_for_what_never_ends_no_smaller_program_is_looked_for(monkeypatch):
    right = assemble.read_solution("minijax/jvp.py")
    rule = "    from_x = apply_linear(lambda t: primitive.bind(t, y, **params), x_dot)"
    assert right.count(rule) == 1
    endless = right.replace(rule, "    while True: pass")
    result, searched = of_mul_rule(monkeypatch, endless)
    assert result["exercises"][0]["class"] == "does_not_terminate"
    assert not searched


def of_mul_rule(monkeypatch, source):
    """The result of a module's mul_rule, and whether it was asked about smaller programs."""
    result, asked = examined(monkeypatch, source, "jvp.mul_rule")
    return result, any(args[4] for probe, args in asked if probe == generated.OUTCOMES)


def examined(monkeypatch, source, only, **options):
    """The result of a module for jvp, and the probes that it was asked, with their arguments."""
    asked, call = [], Session.call

    def watched(self, probe, *args, **how):
        if self.budget < 1e9:  # the submission's
            asked.append((probe, args))
        return call(self, probe, *args, **how)

    monkeypatch.setattr(Session, "call", watched)
    return graded(manifest.get("jvp"), source.encode(), only=only, **options), asked


# Right answers of other exercises ----------------------------------------------------------------


def test_right_siblings_are_shown_whatever_a_module_looks_like(monkeypatch):
    done = "z = primitive.bind(x, y, **params)\n"
    undone = 'raise NotImplementedError("jvp.mul_rule")\n'
    source = assemble.read_solution("minijax/jvp.py").replace(done, undone)
    source = f"import ctypes, sys\nframe = sys._getframe()\n{source}"
    _, asked = examined(monkeypatch, source, "jvp.flat", shrink=False)
    assert any("bilinear_jvp" in x for _, args in asked for x in args if isinstance(x, dict))


# Points for nothing ------------------------------------------------------------------------------


def points(right, wants):
    """The points of an exercise with these tests, of which these are passed."""
    lesson = manifest.get("jvp")
    exercise = lesson.exercises[0]
    calls = [
        Call(test, Probe("p", ""), (), want, want, None, None, None)
        for test, answers in wants.items()
        for want in answers
    ]
    wrong = Disagreement("wrong_value", "No.")
    examined = judging.Examined(
        {test: None if test in right else wrong for test in wants},
        constants=judging.constant_answers({exercise.id: calls}),
    )
    verdict = judging.judge(exercise, list(wants), examined)
    return verdict["points"] / exercise.points


VALUE, ERROR = Reply("value", 3.0), Reply("raised", name="TypeError")
NAME, NONE = Reply("value", ["TypeError", "errors.TinyError"]), Reply("value", None)
YES, NO = Reply("value", True), Reply("value", "False")


@pytest.mark.parametrize(
    ("wants", "right", "share"),
    [
        ({"a": [VALUE], "b": [ERROR]}, "b", 0.0),
        ({"a": [VALUE], "b": [NAME]}, "b", 0.0),
        ({"a": [VALUE], "b": [NONE], "c": [ERROR]}, "bc", 0.0),
        ({"a": [YES], "b": [NO], "c": [NO]}, "bc", 0.0),
        ({"a": [YES], "b": [NO], "c": [NO]}, "ab", 2 / 3),
        ({"a": [VALUE], "b": [ERROR], "c": [VALUE]}, "ab", 2 / 3),
        ({"a": [VALUE, ERROR], "b": [VALUE]}, "a", 1 / 2),
        ({"a": [ERROR]}, "a", 1.0),
    ],
)
def test_errors_and_constants_count_beside_other_answers(wants, right, share):
    assert points(right, wants) == pytest.approx(share, abs=0.01)


COMPLEX_STEP = """


def complex_step(f, primals, tangents):
    h = 1e-30
    tangents = [np.zeros_like(p) if t is None else t for p, t in zip(primals, tangents)]
    out = f(*[np.asarray(p) + 1j * h * np.asarray(t) for p, t in zip(primals, tangents)])
    dtype = np.result_type(*primals)
    return np.asarray(f(*primals)), (out.imag / h).astype(dtype)


def bilinear_jvp(primitive, primals, tangents, **params):
    return complex_step(np.multiply, primals, tangents)


jvp_rules[mul_p] = functools.partial(bilinear_jvp, mul_p)
"""


def test_steps_along_the_imaginary_axis_are_no_rules():
    source = assemble.read_solution("minijax/jvp.py") + COMPLEX_STEP
    result = graded(manifest.get("jvp"), source.encode(), only="jvp.mul_rule", shrink=False)
    assert result["score"] < 0.15 * result["exercises"][0]["max_points"]
