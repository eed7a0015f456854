"""Answers: read without being run. Known mistakes are recognised by behaviour only."""

import graded_course
import pytest
from graded_course import MISTAKES, MODULE, RIGHTS, changed, graded

from autograder.grading import answers
from autograder.lessons import manifest
from autograder.lessons.problem import Problem

needs_isolation = pytest.mark.isolated


@pytest.fixture
def lesson(monkeypatch, tmp_path):
    return graded_course.write(monkeypatch, tmp_path)


def test_mistakes_are_read_with_their_name_hints_and_source(lesson):
    first, second, *_ = answers.mistakes("tiny")
    assert (first.id, first.exercise) == ("tiny.double/it_is_squared", "tiny.double")
    assert (second.name, second.hints) == ("It is tripled", ("One.", "Two.", "Three."))
    assert second.source == "def double(x):\n    return 3.0 * np.asarray(x)\n"


def test_a_variant_is_the_reference_with_the_mistake_in_it(lesson):
    source = answers.variant_source(answers.mistakes("tiny")[1])
    assert source == MODULE.replace(
        '    """Twice x."""\n    return 2.0 * np.asarray(x)', "    return 3.0 * np.asarray(x)"
    )


def test_decorators_of_the_definition_stay(monkeypatch, tmp_path):
    text = MISTAKES.replace(")\ndef double(x):", ")\n@cached\ndef double(x):", 1)
    graded_course.write(monkeypatch, tmp_path, {"answers/tiny.py": text})
    assert answers.mistakes("tiny")[0].source.startswith("@cached\ndef double(x):")


def test_a_lesson_without_a_file_has_no_mistakes(lesson):
    assert answers.mistakes("other") == []


EDITS = """
exercise("tiny.double")

mistake({"2.0 *": "2.0 +"}, name="One is added", hints=["One.", "Two.", "Three."])

exercise("tiny.mean")

mistake({'raise TinyError("nothing there")': "x = [0.0]\\nreturn x"}, fails="test_mean_of_nothing")
"""


@pytest.fixture
def edited(monkeypatch, tmp_path):
    graded_course.write(monkeypatch, tmp_path, {"answers/tiny.py": MISTAKES + EDITS})


@pytest.fixture
def answered(monkeypatch, tmp_path):
    graded_course.write(monkeypatch, tmp_path, {"answers/tiny.py": MISTAKES + RIGHTS})


def test_right_and_unnamed_wrong_answers_are_no_known_mistakes(answered):
    assert len(answers.mistakes("tiny")) == 4
    assert [right.exercise for right in answers.rights("tiny")] == [
        *("tiny.double", "tiny.mean", "tiny.double")
    ]
    assert answers.rights("tiny")[1].style == "with Python's sum"
    assert [wrong.fails for wrong in answers.wrong("tiny")] == ["test_double"]


def test_an_edit_is_the_references_definition_with_pieces_exchanged(edited):
    named, unnamed = answers.mistakes("tiny")[-1], answers.wrong("tiny")[0]
    assert named.id == "tiny.double/one_is_added"
    assert named.source == "def double(x):\n    return 2.0 + np.asarray(x)\n"
    assert unnamed.source == (
        "def mean(x):\n    if not len(x):\n"
        "        x = [0.0]\n        return x\n"
        "    return np.sum(x) / len(x)\n"
    )
    assert MODULE.count(" / len(x)") == answers.variant_source(unnamed).count(" / len(x)") == 1


def test_the_first_right_answer_stands_in_for_a_students(answered):
    assert answers.siblings("tiny") == {
        "double": "def double(x):\n    return np.add(x, x)\n",
        "mean": RIGHTS[RIGHTS.index("def mean") : RIGHTS.rindex("\n\nexercise")],
    }


def test_right_answers_are_tried_in_turn(answered):
    first, second = answers.in_turn("tiny")
    assert [answer.exercise for answer in first] == ["tiny.double", "tiny.mean"]
    source = answers.variant_source(*first)
    assert "return np.add(x, x)" in source
    assert "sum(x) / float(len(x))" in source
    assert answers.variant_source(*second) == MODULE.replace(
        '    """Twice x."""\n    return 2.0 * np.asarray(x)', "    return np.multiply(x, 2.0)"
    )


WRONG = [
    ("def f(x): pass", "or @mistake"),
    ("@mistake\ndef f(x): pass", "write @mistake"),
    ("@mistake(name='N', hints=['a'])\ndef f(x): pass", "TEXT, TEXT, TEXT"),
    ("@mistake(name=open('x'), hints=[])\ndef f(x): pass", "write @mistake"),
    ("@mistake(name='N', fails='x')\ndef f(x): pass", "fails=TEST"),
    ("@mistake({'2.0': '3.0'}, fails='x')\ndef double(x): pass", "without @"),
    ("mistake(fails='x')", "{OLD: NEW}"),
    ("right({'2.0': '3.0'})", "write @right"),
    ("mistake({'asarray': '3', '(x)': ''}, fails='x')", "'.x.' is 2 times"),
    ("mistake({'size': '3'}, fails='x')", "'size' is 0 times"),
    ("@right(name='N')\ndef f(x): pass", "write @right"),
    ("@right(style=open('x'))\ndef double(x): pass", "write @right"),
    ("@right('tiny.double')\ndef double(x): pass", "write @right"),
    ("@right\ndef twice(x): pass", "tiny.double defines double, not twice"),
    ("@cached\ndef double(x): pass", "no @right"),
    ("exercise('tiny.dubble')\n@right\ndef f(x): pass", "tiny.double"),
    (MISTAKES + MISTAKES, "two mistakes"),
    ("def f(:", "line 3"),
]


@pytest.mark.parametrize(("text", "message"), WRONG, ids=[w[1] for w in WRONG])
def test_a_wrong_file_says_what_to_write(monkeypatch, tmp_path, text, message):
    text = f"exercise('tiny.double')\n\n{text}"
    graded_course.write(monkeypatch, tmp_path, {"answers/tiny.py": text})
    with pytest.raises(Problem, match=message):
        answers.mistakes("tiny")


def test_answers_are_below_their_exercise(monkeypatch, tmp_path):
    text = "@right\ndef double(x): pass"
    graded_course.write(monkeypatch, tmp_path, {"answers/tiny.py": text})
    with pytest.raises(Problem, match=r"line 2: write exercise\(.* above the answers to it"):
        answers.rights("tiny")


def test_the_file_is_never_run(monkeypatch, tmp_path):
    text = MISTAKES + "\nraise SystemExit('it was run')\n"
    graded_course.write(monkeypatch, tmp_path, {"answers/tiny.py": text})
    assert len(answers.mistakes("tiny")) == 4


def labels(result):
    found = {e["id"]: e["misconception"] for e in result["exercises"] if e["misconception"]}
    return {name: label["name"] for name, label in found.items()}


RECOGNISED = [
    ("return 2.0 * np.asarray(x)", "return np.asarray(x) ** 2", "tiny.double", "It is squared"),
    ("return 2.0 * np.asarray(x)", "return 2 * x + x", "tiny.double", "It is tripled"),
    ("/ len(x)", "/ (len(x) - 1)", "tiny.mean", "Divided by one less"),
]


@needs_isolation
@pytest.mark.parametrize(("old", "new", "exercise", "name"), RECOGNISED)
def test_a_mistake_is_recognised_by_what_it_does(lesson, old, new, exercise, name):
    assert labels(graded(lesson, changed(old, new))) == {exercise: name}


@needs_isolation
def test_a_mistake_is_recognised_where_it_shows_in_calls_that_are_made_again():
    known = answers.mistakes("interpreters")
    (mistake,) = [x for x in known if x.name == "Equal operands are treated as the same"]
    source = answers.variant_source(mistake).encode()
    result = graded(manifest.get("interpreters"), source, only=mistake.exercise)
    assert labels(result) == {mistake.exercise: mistake.name}


UNKNOWN = {
    "right": ("return 2.0 * np.asarray(x)", "return np.asarray(x) + x"),
    "wrong in another way": ("return 2.0 * np.asarray(x)", "return 2.5 * np.asarray(x)"),
    "a known mistake on some inputs only": (
        "return 2.0 * np.asarray(x)",
        "return (3.0 if x > 0 else 5.0) * np.asarray(x)",
    ),
    "exceptions alone": ("if not len(x)", "if False"),
    "not implemented": ("return 2.0", 'raise NotImplementedError("tiny.double")\n    return 2.0'),
}


@needs_isolation
@pytest.mark.parametrize("name", UNKNOWN)
def test_in_doubt_there_is_no_label(lesson, name):
    assert labels(graded(lesson, changed(*UNKNOWN[name]))) == {}


@needs_isolation
def test_two_mistakes_that_behave_alike_give_no_label(monkeypatch, tmp_path):
    twin = (
        MISTAKES
        + """
exercise("tiny.double")

@mistake(name="Thrice", hints=["One.", "Two.", "Three."])
def double(x):
    return np.asarray(x) * 3
"""
    )
    lesson = graded_course.write(monkeypatch, tmp_path, {"answers/tiny.py": twin})
    assert labels(graded(lesson, changed("2.0 * np", "3.0 * np"))) == {}


@needs_isolation
def test_one_wrong_value_is_too_little_for_a_label(monkeypatch, tmp_path):
    text = MISTAKES.replace("/ (len(x) - 1)", "/ (len(x) - (len(x) == 3))")
    lesson = graded_course.write(monkeypatch, tmp_path, {"answers/tiny.py": text})
    result = graded(lesson, changed("/ len(x)", "/ (len(x) - (len(x) == 3))"))
    assert result["exercises"][1]["class"] == "wrong_value"
    assert labels(result) == {}
