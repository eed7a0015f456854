"""What a student is told is made of a closed vocabulary, and of facts that the grader knows."""

import json
import math

import graded_course
import numpy as np
import pytest
import test_probes
from graded_course import changed
from hypothesis import given
from hypothesis import strategies as st
from test_probes import STUBS, graded

from autograder.grading import compare, package_code, suite, telling
from autograder.grading import values as comparison
from autograder.sandbox.session import Reply

needs_isolation = pytest.mark.isolated
MARK = 81649  # a number that nobody asked for: to read it in a message is to read the submission

# By what a submission that is not plain Python could write its own text
LEAKS = {
    "a shape": f"return np.zeros((3, 0, {MARK}))",
    "many axes": "return np.zeros([0, *[9] * 15], [('float0', 'V')])",
    "a length": f"return [0] * {MARK}",
    "a line": f'exec(compile("\\n" * {MARK - 1} + "y", __file__, "exec"))',
    "a text": f'raise ValueError("the text " + "{MARK}")',
    "a name": f'raise NameError("name \'_" + "{MARK}" + "\' is not defined")',
    "an operator": f'raise TypeError("unsupported operand type(s) for " + '
    f"\"{MARK}\"[:3] + \": 'int' and 'int'\")",
    "a class": f'raise type("C" + "{MARK}", (Exception,), {{}})()',
    "a key": f"return {{{MARK}: 1, 'm{MARK}': 2}}",
    "a missing key": f'return {{}}["the key " + "{MARK}"]',
}


@needs_isolation
@pytest.mark.parametrize("body", LEAKS.values(), ids=list(LEAKS))
def test_what_a_submission_chooses_freely_is_not_repeated(monkeypatch, tmp_path, body):
    lesson = graded_course.write(monkeypatch, tmp_path)
    source = changed("return 2.0 * np.asarray(x)", body)
    told = json.dumps(graded_course.graded(lesson, source, only="tiny.double"))
    sha, _, rest = told.partition("submission_sha256")
    assert str(MARK) not in sha, rest
    assert str(MARK)[:3] + ":" not in sha
    assert "9, 9, 9, 9, 9" not in sha


values = st.recursive(
    st.none()
    | st.integers(MARK)
    | st.floats(MARK)
    | st.just("x" * 30)
    | st.builds(
        np.zeros,
        st.lists(st.sampled_from([0, 1, 13, 14, 50]), max_size=6).filter(
            lambda shape: math.prod(shape) < MARK
        ),
    )
    | st.sampled_from([np.dtype(x).type(0) for x in ("int8", "float16", "complex64")]),
    lambda x: st.lists(x) | st.tuples(x) | st.dictionaries(st.text(), x),
    max_leaves=5,
)
names = st.sampled_from(["ValueError", "KeyError", "errors.Own", "RecursionError", "MemoryError"])
replies = st.builds(Reply, st.just("value"), values) | st.builds(
    Reply, st.just("raised"), st.none(), names, st.text() | st.just("tiny.mean"),
    st.none() | st.integers(0, 999_999),
)  # fmt: skip
WANTED = [1.0, np.zeros((2, 3)), [1, (2, 3)], {"a": 1.0, "b": np.float32(1)}, None, "x"]


LONG = [0] * MARK


@pytest.mark.parametrize(("got", "want"), [(LONG, [1]), (tuple(LONG), ()), ([0] * 12, [0] * 13)])
def test_the_length_of_what_is_long_is_not_told(got, want):
    assert str(len(got)) not in comparison.agree(got, want).message


@given(replies, st.sampled_from(WANTED))
def test_no_number_or_word_of_an_answer_is_repeated(got, want):
    """Of a worker that knows answers, one of eight sentences is said."""
    reduced = telling.reduced(got, ["x = 1"] * 40, {"tiny.mean"})
    found = compare.compare(reduced, Reply("value", want), {"tiny.mean", "tiny.double"})
    if found is None:
        return
    numbers = {int(n) for n in "".join(c if c.isdigit() else " " for c in found.message).split()}
    assert numbers <= {*range(41), 64, 32}  # sizes, lines, widths of dtypes
    assert "xx" not in found.message
    assert len(found.message) < 200
    said = telling.told(telling.by_kind(found, "tiny.double"), "tiny.double", "It holds.")
    short = said.message.removeprefix("This does not hold yet: It holds. ")
    needs = "This needs another exercise, which is not implemented yet."
    assert short in {*telling.KINDS.values(), needs}
    assert not said.expected
    assert not said.program


PLACE = 'raise ValueError("no such thing", other) or [1, 2].sizes(x - None)\n    "in the next line"'


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("no such thing", True),
        ("'no such thing'", True),  # as KeyError has it
        ("in the next line", True),
        ("no such", False),
        ("something else", False),
        ("output array is read-only", True),
        ("unsupported operand type(s) for -: 'float' and 'NoneType'", True),
        ("unsupported operand type(s) for abc: 'float' and 'NoneType'", False),
        ("'list' object has no attribute 'sizes'", True),
        ("'list' object has no attribute 'leak'", False),
        ("'Leak' object has no attribute 'sizes'", False),
        ("name 'other' is not defined", True),
        ("name 'another' is not defined", False),
        ("too many values to unpack (expected 2)", True),
        ("too many values to unpack (expected 81649)", False),
    ],
)
def test_a_text_is_repeated_if_python_says_it_or_its_line_has_it(message, shown):
    assert telling.may_be_repeated(message, PLACE) is shown


def test_of_a_long_line_only_the_beginning_counts():
    assert not telling.may_be_repeated("leak", " " * 8 + "x = 1; " * 20 + '"leak"')


@pytest.mark.parametrize("line", [0, 41, 987_654])
def test_a_line_that_the_file_does_not_have_is_not_named(line):
    got = telling.reduced(Reply("raised", None, "ValueError", "", line), ["x"] * 40, ())
    assert got.line is None


FILE = ["def double(x):", "    return given(x)", "", "def given(x):", "    return x.name"]


@pytest.fixture
def around(monkeypatch, tmp_path):
    lesson = graded_course.write(monkeypatch, tmp_path)
    given = 'def given(x):\n    raise TypeError(f"Argument {x} is not a valid {type(x)}")\n'
    tree = {"tiny/__init__.py": given}
    monkeypatch.setattr(package_code.assemble, "tree", lambda lesson: tree)
    monkeypatch.setattr(package_code.assemble, "read_solution", lambda path: "\n".join(FILE))
    package_code._sentences.cache_clear()
    yield package_code.PackageCode(lesson, FILE)
    package_code._sentences.cache_clear()


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("Argument None is not a valid JAX type", "Argument None is not a valid ..."),
        (f"Argument {MARK} is not a valid name.", "Argument ... is not a valid name"),
        (f"f{MARK}() takes 1 positional argument but 2 were given",
         "... takes 1 positional argument but 2 were given"),
        ("a text of the submission's own", ""),
    ],
)  # fmt: skip
def test_a_sentence_of_the_package_is_repeated_with_gaps(around, message, said):
    got = Reply("raised", None, "TypeError", message)
    reduced = telling.reduced(got, FILE, (), around)
    assert reduced.message == said
    found = compare.compare(reduced, Reply("value", 1.0))
    text = f": {said.removesuffix('.')}" if said else ""
    assert found.message.startswith(
        f"With what your code returns, the code around it raises TypeError{text}"
    )


def test_lists_that_do_not_fit_each_other_are_told_without_zip(around):
    got = Reply("raised", None, "ValueError", "zip() argument 2 is shorter than argument 1")
    found = compare.compare(telling.reduced(got, FILE, (), around), Reply("value", 1.0))
    assert "finds two lists of different lengths, such as values and their types." in found.message


def test_the_line_that_is_named_is_not_in_given_code(around):
    got = Reply("raised", None, "AttributeError", "", 5, None, (1, 2, 5))
    assert telling.reduced(got, FILE, ()).line == 5
    assert telling.reduced(got, FILE, (), around).line == 2


# Where right definitions were shown ---------------------------------------------------------------

NARROW = changed("double(x) - mean(x)", "(double(x) - mean(x))[:, None]").decode()


def message(result):
    return result["exercises"][2]["message"].removeprefix(
        "This does not hold yet: The spread is right. "
    )


@pytest.fixture
def lending(monkeypatch):
    """A test of `spread` brings right definitions along, and its probe does not return them."""
    spread = test_probes.SPREAD.replace(", sorted(siblings)", "")
    monkeypatch.setattr(test_probes, "SPREAD", spread)


@needs_isolation
@pytest.mark.usefixtures("lending")
def test_a_worker_that_was_shown_answers_says_the_kind_alone(monkeypatch, tmp_path):
    source = STUBS.replace("double(x) - mean(x)", "(double(x) - mean(x))[:, None]")
    result = graded(monkeypatch, tmp_path, source.encode())
    assert message(result) == telling.KINDS[suite.WRONG_SHAPE]


@needs_isolation
@pytest.mark.usefixtures("lending")
def test_it_is_asked_again_with_nothing_shown_for_a_fuller_message(monkeypatch, tmp_path):
    result = graded(monkeypatch, tmp_path, NARROW.encode())
    assert message(result).startswith("Your code returns shape (3, 1) where (3,) is expected")


# How much is said ---------------------------------------------------------------------------------


def test_the_bits_are_counted_from_the_vocabulary(monkeypatch):
    before = dict(telling.bits(100, 5))
    kinds = "kind of the difference, after right definitions were shown"
    assert before[kinds] == 3.0
    monkeypatch.setattr(comparison, "SMALL", 2 * comparison.SMALL)
    monkeypatch.setattr(telling, "MOST_LINES", 2 * telling.MOST_LINES)
    after = dict(telling.bits(100, 5))
    assert after["shape"] > before["shape"] + 3
    assert after["error with its line and text"] == pytest.approx(
        before["error with its line and text"] + 1
    )


@pytest.mark.parametrize(
    ("got", "want", "said"),
    [
        ([], "ValueError", "Your code raises nothing where ValueError is expected."),
        (None, "ValueError", "Your code raises nothing where ValueError is expected."),
        (["KeyError"], ["ValueError"], "Your code raises KeyError where ValueError is expected."),
        ("TypeError", np.ones(3), "Your code raises TypeError where no error is expected."),
        (
            *((1, "TypeError"), (1, 2.0)),
            "Your code raises TypeError where no error is expected (the second of 2).",
        ),
    ],
)
def test_an_error_in_an_answer_is_told_as_an_error(got, want, said):
    assert compare.compare(Reply("value", got), Reply("value", want)).message == said


def test_an_error_that_does_not_come_is_told_with_its_name():
    found = compare.compare(Reply("value", [1]), Reply("raised", name="ValueError"))
    assert found.message == (
        "Your code raises nothing, and returns a list, where ValueError is expected."
    )


def test_names_in_what_was_expected_keep_their_capitals():
    found = compare.compare(Reply("value", {"a": 1}), Reply("value", {"JVPTrace": 1}))
    assert found.expected == "Expected ['JVPTrace']."
