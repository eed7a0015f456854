"""Grading: the right points, classes and messages, whatever the submission is or tries."""

import json
import os
import subprocess
import sys

import graded_course
import jsonschema
import pytest
from graded_course import MODULE, SUITE, changed, exercise, graded

from autograder.grading import agreement, asking, calls, oracle, result_files, submission, telling
from autograder.grading.suite import SuiteError
from autograder.grading.task import Task
from autograder.lessons import assemble, manifest, places
from autograder.lessons.problem import Problem
from autograder.sandbox import isolation, session
from autograder.worker import wire

pytestmark = pytest.mark.isolated


@pytest.fixture
def lesson(monkeypatch, tmp_path):
    monkeypatch.setattr(session, "LEAST_SECONDS", 0.3)
    monkeypatch.setattr(session, "IMPORT_SECONDS", 1.0)
    return graded_course.write(monkeypatch, tmp_path)


def points(result):
    return {e["id"].partition(".")[2]: e["points"] for e in result["exercises"]}


def stubbed(*names):
    text = MODULE
    for name in names:
        head = f"def {name}(x):\n"
        text = text.replace(head, f'{head}    raise NotImplementedError("tiny.{name}")\n')
    return text


# Honest submissions


def test_the_reference_has_full_points(lesson):
    result = graded(lesson, MODULE.encode())
    assert (result["score"], result["max_score"]) == (6, 6)
    assert {e["class"] for e in result["exercises"]} == {None}
    assert {e["message"] for e in result["exercises"]} == {None}
    assert result["isolation"] == isolation.choose()


def test_a_function_that_is_not_there_costs_no_other_its_points(lesson):
    blank = MODULE[: MODULE.index("def mean")] + MODULE[MODULE.index("def spread") :]
    result = graded(lesson, blank.encode())
    assert points(result) == points(graded(lesson, stubbed("mean").encode()))
    assert points(result)["double"] == 3
    assert exercise(result, "mean")["class"] == "not_implemented"
    empty = graded(lesson, b"x = 1\n")
    assert (empty["score"], {e["class"] for e in empty["exercises"]}) == (0, {"not_implemented"})


def test_settings_that_somebody_has_for_pytest_change_no_grade(lesson, monkeypatch):
    monkeypatch.setenv("PYTEST_ADDOPTS", "--no-such-option")
    monkeypatch.setenv("PYTEST_PLUGINS", "no_such_plugin")
    assert graded(lesson, MODULE.encode())["score"] == 6
    assert os.environ["PYTEST_ADDOPTS"] == "--no-such-option"


def test_the_whole_module_counts_with_the_students_own_functions(monkeypatch, tmp_path):
    files = {"course/lessons/01_tiny/lesson.toml": graded_course.WHOLE_TOML}
    files["suites/tiny.py"] = graded_course.WHOLE_SUITE
    lesson = graded_course.write(monkeypatch, tmp_path, files)
    result = graded(lesson, MODULE.encode())
    assert (result["score"], result["max_score"]) == (8, 8)
    result = graded(lesson, stubbed("mean").encode())
    assert points(result) == {"double": 3, "mean": 0, "spread": 0, "whole": 0}
    assert exercise(result, "whole")["class"] == "not_implemented"
    assert "This needs tiny.mean" in exercise(result, "whole")["message"]
    result = graded(lesson, changed("2.0 * np", "2.5 * np"))
    assert points(result)["whole"] == 0
    wrong_for_one = changed("if not len(x)", "if len(x) == 1: return 0.0\n    if not len(x)")
    assert points(graded(lesson, wrong_for_one))["whole"] == 1


def test_no_right_answer_is_lent_to_the_whole_module(monkeypatch, tmp_path):
    lending = graded_course.WHOLE_SUITE.replace(
        "student.agrees(all_of, [4.0])", 'student.agrees(lent, siblings("tiny.mean"))'
    ).replace(
        "import exercise, probe\n",
        "import exercise, probe, siblings\n\n\n@probe\ndef lent(tiny, siblings):\n    return 1\n",
    )
    files = {"course/lessons/01_tiny/lesson.toml": graded_course.WHOLE_TOML}
    files["suites/tiny.py"] = lending
    lesson = graded_course.write(monkeypatch, tmp_path, files)
    with pytest.raises(SuiteError, match=r"tiny.whole brings the answer to it along"):
        graded(lesson, MODULE.encode())


def test_results_follow_the_published_schema(lesson, tmp_path):
    schema = json.loads(result_files.SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    for source in (MODULE.encode(), stubbed("double").encode(), b"(", None):
        result = {**graded(lesson, source), "student": "ada"}
        path = result_files.write(result, tmp_path / "out")
        assert result_files.read(path) == result


def test_partial_credit_is_the_share_of_the_tests(lesson):
    result = graded(lesson, changed("if not len(x)", "if False"))
    assert points(result) == {"double": 3, "mean": 1.33, "spread": 1}
    assert result["score"] == 5.33
    assert [t["passed"] for t in exercise(result, "mean")["tests"]] == [True, True, False]


def test_untouched_exercises_are_named_as_such(lesson):
    result = graded(lesson, stubbed("double").encode())
    assert points(result) == {"double": 0, "mean": 2, "spread": 0}
    assert exercise(result, "double")["class"] == "not_implemented"
    assert exercise(result, "double")["message"] == "This is not implemented yet."
    assert "needs tiny.double" in exercise(result, "spread")["message"]


CLASSES = [
    ("2.0 * np.asarray(x)", "3.0 * np.asarray(x)", "wrong_value"),
    ("2.0 * np.asarray(x)", "np.array([2.0 * x])", "wrong_shape_or_dtype"),
    ("2.0 * np.asarray(x)", "np.float32(2 * x)", "wrong_shape_or_dtype"),
    ("2.0 * np.asarray(x)", "[2.0 * x]", "wrong_type_or_exception"),
    ("2.0 * np.asarray(x)", "str(2.0 * x)", "wrong_type_or_exception"),
    ("2.0 * np.asarray(x)", "x.double", "wrong_type_or_exception"),
    ("2.0 * np.asarray(x)", "double(x)", "does_not_terminate"),
    ("return 2.0 * np.asarray(x)", "while True: pass", "does_not_terminate"),
    ("2.0 * np.asarray(x)", "np.ones(1 << 40)", "out_of_memory"),
    ("return 2.0 * np.asarray(x)", "__import__('os').abort()", "crashed"),
]


@pytest.mark.parametrize(("old", "new", "kind"), CLASSES, ids=[c[1] for c in CLASSES])
def test_failures_are_classified(lesson, old, new, kind):
    result = graded(lesson, changed(old, new))
    assert exercise(result, "double")["class"] == kind
    assert exercise(result, "double")["points"] == 0
    assert exercise(result, "mean")["points"] == 2


def test_the_message_names_the_property_and_no_expected_value(lesson):
    result = graded(lesson, changed("2.0 * np", "3.0 * np"))
    message = exercise(result, "double")["message"]
    assert message.startswith("This does not hold yet: A number is doubled. Your code returns")
    assert "3" not in message
    assert "-8" not in json.dumps(result["exercises"])


TOLD = {
    "raise KeyError('no <b>such</b> thing')": "Line 10 of your file raises KeyError: 'no b such",
    "return x + None": "TypeError: unsupported operand type(s) for +: 'float' and 'NoneType'.",
    "return doubble(x)": "raises NameError: name 'doubble' is not defined",
    "import scipy": "raises ModuleNotFoundError: No module named 'scipy'",
    "return [x]": "Your code returns a list where a scalar is expected.",
    "return None": "Your code returns None where a scalar is expected.",
    "2.0 * x": "Your code returns None where a scalar is expected (None: is a `return` missing?).",
    "return np.float32(2.0 * x)": "Your code returns dtype float32 where float64 is expected.",
    "return np.full(2, 2.0 * x)": "Your code returns shape (2,) where () is expected.",
    "return np.asarray(x)": "Your code returns a wrong value, half of what is expected.",
}


@pytest.mark.parametrize("body", TOLD)
def test_the_message_says_what_differs(lesson, body):
    source = changed("return 2.0 * np.asarray(x)", body)
    result = graded(lesson, source, only="tiny.double")
    assert TOLD[body] in exercise(result, "double")["message"]


def test_expected_values_are_shown_where_the_policy_allows_it(lesson):
    source = changed("2.0 * np", "3.0 * np")
    result = graded(lesson, source, expected=True)
    assert exercise(result, "double")["message"].endswith("a wrong value. Expected 3.")


def test_errors_of_the_package_are_told_apart_by_their_class(lesson):
    right = changed('TinyError("nothing there")', 'TinyError("another text")')
    assert graded(lesson, right)["score"] == 6
    wrong = changed('TinyError("nothing there")', 'ValueError("nothing there")')
    result = graded(lesson, wrong)
    assert "raises ValueError: nothing there. Another error" in exercise(result, "mean")["message"]


SPOILT = {
    "a wrong answer": "    if _broken or len(x) == 3:\n        return _broken.append(1)\n",
    "an exercise that is not there": "    if len(x) == 3:\n        _broken.append(1)\n"
    '        raise NotImplementedError("tiny.mean")\n    if _broken: return 7.0\n',
}


@pytest.mark.parametrize("first", SPOILT)
def test_a_probe_that_goes_wrong_does_not_spoil_the_next(lesson, first):
    source = changed("    if not len(x):\n", f"{SPOILT[first]}    if not len(x):\n")
    result = graded(lesson, source + b"\n\n_broken = []\n")
    assert [t["passed"] for t in exercise(result, "mean")["tests"]] == [False, True, True]


def test_an_untouched_exercise_costs_no_import_for_each_probe(lesson, monkeypatch):
    asked = []
    call = session.Session.call
    note = lambda *args, **how: asked.append(how["fresh"]) or call(*args, **how)  # noqa: E731
    graded(lesson, MODULE.encode())
    monkeypatch.setattr(session.Session, "call", note)
    graded(lesson, stubbed("double", "mean", "spread").encode())
    assert asked.count(True) == 3


def test_only_the_submission_is_compiled_in_the_worker(lesson):
    files = oracle.given(lesson)
    compiled = {path for path in files if path.endswith(".pyc")}
    assert len(compiled) == len(files) - len(compiled) > 0
    assert not any("numbers" in path for path in files)


# Submissions that cannot be examined


def test_a_missing_module_has_no_points_and_a_remark(lesson):
    result = graded(lesson, None)
    assert result["score"] == 0
    assert result["remarks"] == ["The module tiny/numbers.py is missing."]
    assert result["submission_sha256"] is None


UNREADABLE = [
    (b"x = 1\ny = (2,\n", "tiny/numbers.py, line 2, column 5 is no valid Python: '(' was never"),
    (b"x = 1\n  y = 2\n", "line 2"),
    (b"\xff\xfe\x00", "no valid Python"),
    (b"x = '\xe9'\n", "no valid Python"),
    (b"x = 1\0\n", "no valid Python"),
    (b"\n\n1 / 0\n", "tiny/numbers.py cannot be imported: ZeroDivisionError, line 3."),
    (b"import jax\n", "line 1, imports jax, which is not there when it is graded. It may import"),
    (b"__import__('jax')\n", "cannot be imported: ModuleNotFoundError, line 1."),
    (b"open('x')\n", "PermissionError, line 1. A module that is graded can open no files."),
    (b"while True: pass\n", "does not terminate"),
    (b"import sys\nsys.exit(0)\n", "cannot be imported: SystemExit, line 2."),
    (
        b"from tiny.numbers import twice\n",
        "cannot be imported: ImportError, line 1. It defines nothing of this lesson",
    ),
    (b"import os\nos._exit(0)\n", "ends the Python process"),
    (b"raise type('ProbeText', (Exception,), {})('leak')\n", "cannot be imported: Exception"),
    (b"(" * 5000, "no valid Python"),
]


@pytest.mark.parametrize(("source", "remark"), UNREADABLE, ids=[str(u[0][:30]) for u in UNREADABLE])
def test_a_module_that_cannot_be_imported_says_where(lesson, source, remark):
    result = graded(lesson, source)
    assert result["score"] == 0
    assert remark in result["remarks"][0]
    assert "leak" not in json.dumps(result)
    assert not any(t["passed"] for e in result["exercises"] for t in e["tests"])


def test_a_module_of_a_later_lesson_is_named_with_it():
    lesson = manifest.get("core")
    result = submission.grade(Task.of(lesson, b"import minijax.lax.shapes\n", "process"))
    where = "minijax/core.py, line 1 imports minijax/lax/shapes.py, which comes with lesson"
    assert where in result["remarks"][0]


def test_no_exercise_is_the_cause_where_the_module_cannot_be_read():
    result = graded(manifest.get("duals"), b"x = (")
    assert {e["message"] for e in result["exercises"]} == {*result["remarks"]}
    assert len(result["remarks"]) == 1


@pytest.mark.slow
def test_after_two_time_outs_the_rest_of_an_exercise_is_not_run(lesson, monkeypatch):
    starts = []
    start = session.Session._start
    monkeypatch.setattr(session.Session, "_start", lambda s: starts.append(s) or start(s))
    source = changed("return 2.0", "while True: pass\n    return 2.0")
    result = graded(lesson, source)
    kinds = [test["class"] for test in exercise(result, "double")["tests"]]
    assert kinds == ["does_not_terminate"] * 3
    assert exercise(result, "mean")["points"] == 2
    # the first worker, and one more after each death of double
    (own,) = {s for s in starts if starts.count(s) > 1}
    assert starts.count(own) == 1 + asking.DEATHS


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, which only Linux has")
def test_what_takes_long_has_more_time_until_that_was_in_vain_once(lesson, monkeypatch):
    begin = "import time; end = time.process_time() + "
    wait = "\n    while time.process_time() < end: pass\n    return 2.0"
    source = changed("    return 2.0", f"    {begin}0.5{wait}")
    assert graded(lesson, source, only="tiny.double")["score"] == 3
    assert graded(lesson, source, only="tiny.double", shrink=False)["score"] == 0
    monkeypatch.setattr(session, "BUDGET_SECONDS", 1.0)
    assert graded(lesson, source, only="tiny.double")["score"] in (1, 2)  # of 3


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, which only Linux has")
def test_the_clock_decides_nothing_while_a_worker_waits_for_a_processor(lesson, monkeypatch):
    monkeypatch.setattr(session, "LEAST_SECONDS", 0.1)

    def score_after(seconds):
        late = changed("    return 2.0", f"    import time; time.sleep({seconds})\n    return 2.0")
        return graded(lesson, late, only="tiny.double")["score"]

    assert score_after(1.5) == 3
    monkeypatch.setattr(session, "PATIENCE", 0.2)
    assert score_after(30) == 0  # far beyond what a busy machine keeps the grader from looking


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, which only Linux has")
def test_a_submission_cannot_sleep_before_each_of_its_answers(lesson, monkeypatch):
    source = changed("    return 2.0", "    import time; time.sleep(0.4)\n    return 2.0")
    assert graded(lesson, source, only="tiny.double")["score"] == 3
    monkeypatch.setattr(session, "PAUSES", 0.5)
    result = graded(lesson, source, only="tiny.double")
    assert exercise(result, "double")["class"] == "does_not_terminate"
    monkeypatch.setattr(session, "PATIENCE", 0.1)  # whoever stops the grader takes nobody's points
    assert graded(lesson, MODULE.encode(), only="tiny.double")["score"] == 3


def test_a_submission_has_a_budget(lesson, monkeypatch):
    monkeypatch.setattr(session, "BUDGET_SECONDS", -1.0)  # a clock may say that nothing was spent
    result = graded(lesson, MODULE.encode())
    assert result["score"] == 0
    assert exercise(result, "mean")["class"] == "does_not_terminate"


FORGED = [
    ["raised", "the text of a probe", "", None],
    ["raised", "print", "", None],
    ["raised", "errors.the text of a probe", "", None],
    ["raised", "ValueError", 1, None],
    ["raised", "ValueError", "x" * 2_001, None],
    ["import_error", "the text of a probe", "", 1],
    ["syntax_error", 1, 1, 1],
    ["verdict", "passed"],
    ["value"],
    [],
]


@pytest.mark.parametrize("reply", FORGED, ids=lambda x: repr(x)[:40])
def test_a_forged_reply_is_no_reply(reply):
    with pytest.raises(wire.Malformed):
        session.read_reply(reply)


# What a person should look at


ODD = {
    "": [],
    "import ctypes, os, random\n": [],
    "double = lambda x: __import__('o' + 's')._exit(0)": [
        "The module ends the process that runs it."
    ],
    "import os\nos.write(4, b'xxxxyyyy')": [
        "Something in the module writes to the grader's channel."
    ],
}


@pytest.mark.parametrize("code", ODD)
def test_signs_of_tampering_are_told_to_the_instructor_alone(lesson, code):
    result = graded(lesson, MODULE.encode() + code.encode())
    assert result["review"] == ODD[code]
    shown = [result["remarks"], *(e["message"] for e in result["exercises"])]
    assert not any(note in str(shown) for note in result["review"])


# Suites that are at fault


def broken(old, new):
    assert old in SUITE
    return {"suites/tiny.py": SUITE.replace(old, new)}


TWIN = """
class TestAgain:
    def test_mean(self, student):
        pass
"""

FAULTS = [
    ("student.agrees(double_of, x)", "student.agrees(double_of, undefined)", "NameError"),
    ("student.agrees(double_of, x)", "assert False", "AssertionError"),
    ("student.raises(mean_of, [])", "student.agrees(mean_of, [])", "mean_of raises errors.Tiny"),
    ("student.raises(mean_of, [])", "student.raises(mean_of, [1.0])", "should raise an error"),
    ("return tiny.double(x)", "return tiny.double", "not plain data"),
    ("return tiny.double(x)", "return tiny.no_such_function(x)", "AttributeError"),
    ("return tiny.double(x)", "return tiny.nothing_of_the_kind or undefined(x)", "undefined"),
    ("import pytest", "import pytest\n\n1 / 0", "ZeroDivisionError"),
    ('exercise("tiny.spread")', 'exercise("tiny.unknown")', "tiny.unknown"),
    ("def test_mean_of_two(", "def not_a_test(", None),
    ('exercise("tiny.double")', "", "in no section"),
    ("student.agrees(spread_of, [1.0, 2.0, 6.0])", f"pass\n{TWIN}", "two tests"),
]


@pytest.mark.parametrize(("old", "new", "text"), FAULTS, ids=[f[1] for f in FAULTS])
def test_a_fault_of_the_suite_is_loud(monkeypatch, tmp_path, old, new, text):
    lesson = graded_course.write(monkeypatch, tmp_path, broken(old, new))
    if text is None:
        assert graded(lesson, MODULE.encode())["score"] == 6
        return
    with pytest.raises(SuiteError, match=text):
        graded(lesson, MODULE.encode())


def test_a_fault_of_the_suite_is_found_before_a_submission_runs(monkeypatch, tmp_path):
    lesson = graded_course.write(monkeypatch, tmp_path, broken(*FAULTS[0][:2]))
    monkeypatch.setattr(submission, "_examine", lambda *args: pytest.fail("it runs"))
    for _ in range(2):  # it is not forgotten
        with pytest.raises(SuiteError, match="NameError"):
            graded(lesson, MODULE.encode())


# What happens once a reply has been read belongs to the submission

TRIPLED = changed("2.0 * np", "3.0 * np")


def failing(place, name, monkeypatch, error=TypeError):
    """Let a function of the grader fail with the answer 4.5, which only TRIPLED gives."""
    working = getattr(place, name)

    def fails(*args, **options):
        if "4.5" in repr(args):
            raise error("unforeseen")
        return working(*args, **options)

    monkeypatch.setattr(place, name, fails)


@pytest.mark.parametrize(
    ("place", "name"),
    [(agreement, "compare"), (wire, "encode"), (calls.Calls, "keep")],
    ids=lambda x: str(x),
)
def test_what_goes_wrong_with_an_answer_is_its_submissions(lesson, monkeypatch, place, name):
    failing(place, name, monkeypatch)
    result = graded(lesson, TRIPLED)
    assert points(result) == {"double": 0, "mean": 2, "spread": 0}
    first = exercise(result, "double")["tests"][0]
    assert first["message"] == telling.UNHANDLED
    (note,) = result["review"]
    assert "TypeError in test_double[1.5]" in note
    assert "unforeseen" not in json.dumps(result)
    assert graded(lesson, MODULE.encode())["score"] == 6


@pytest.mark.parametrize("name", ["recognize", "say_more"])
def test_points_do_not_depend_on_what_is_said(lesson, monkeypatch, name):
    def fails(*args):
        raise RecursionError

    monkeypatch.setattr(submission, name, fails)
    result = graded(lesson, TRIPLED)
    assert points(result) == {"double": 0, "mean": 2, "spread": 0}
    assert f"RecursionError in {name}" in result["review"][0]


@pytest.mark.parametrize("error", [MemoryError, SuiteError])
def test_what_goes_wrong_around_the_tests_is_the_submissions_as_well(lesson, monkeypatch, error):
    def fails(*args):
        raise error("unforeseen")

    graded(lesson, MODULE.encode())  # the suite has gone well
    monkeypatch.setattr(session, "read_reply", fails)
    result = graded(lesson, MODULE.encode())
    assert (result["score"], result["remarks"]) == (0, [telling.UNHANDLED])
    assert f"{error.__name__} in tiny" in result["review"][0]
    assert "unforeseen" not in json.dumps(result)


@pytest.mark.parametrize("error", [Problem, OSError])
def test_what_the_machine_cannot_do_is_nobodys_fault(lesson, monkeypatch, error):
    failing(agreement, "compare", monkeypatch, error)
    with pytest.raises(error, match="unforeseen"):
        graded(lesson, TRIPLED)


def test_a_missing_suite_is_loud(monkeypatch, tmp_path):
    lesson = graded_course.write(monkeypatch, tmp_path)
    (tmp_path / "suites" / "tiny.py").unlink()
    with pytest.raises(SuiteError, match="no hidden suite"):
        graded(lesson, MODULE.encode())


def test_grading_leaves_nothing_beside_the_suite(lesson):
    graded(lesson, MODULE.encode())
    assert [path.name for path in places.SUITES.iterdir()] == ["tiny.py"]


# Results on the disk


def test_results_are_written_whole_and_tabled(lesson, tmp_path):
    out = tmp_path / "out"
    for student in ("Comma, with", "ada"):
        result_files.write({**graded(lesson, None), "student": student}, out)
    lines = result_files.grades_csv(out).read_text().splitlines()
    assert lines[0].startswith("student,lesson,score,max_score,isolation,tiny.double,")
    assert lines[1].startswith('"Comma, with",tiny,0')
    names = sorted(path.name for path in out.iterdir())
    assert names == ["Comma, with.json", "ada.json", "grades.csv"]


@pytest.mark.parametrize("student", ["../eve", "a/b", "..", "", "a\0b", "x" * 300])
def test_a_student_cannot_name_another_file(lesson, tmp_path, student):
    with pytest.raises(Problem, match="cannot name a file"):
        result_files.write({**graded(lesson, None), "student": student}, tmp_path / "out")


# Under plain pytest


BROKEN = "\n\ndef bind(op, *args):\n    return 1.0\n"


@pytest.mark.parametrize(("more", "status"), [("", 0), (BROKEN, 1)])
def test_a_suite_runs_under_plain_pytest(tmp_path, more, status):
    file = tmp_path / "mine.py"
    file.write_text(assemble.read_solution("microjax/interpreters.py") + more, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--submission", file]
    command.append(places.SUITES / "interpreters.py")
    run = subprocess.run(command, cwd=places.ROOT, capture_output=True, text=True)
    assert run.returncode == status, run.stdout
