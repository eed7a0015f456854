"""What a student reads of a probe's record: the part that differs, in a sentence of its own."""

import numpy as np
import pytest

from autograder.grading import records, values


def said(got, want):
    found = values.agree(got, want)
    return found and found.message


HEIGHT, EMPTY = "the height of it", "the stack is empty"
TOLD = [
    ("operations", ["mul", "mul"], ["mul"], "Your code binds mul twice, where once is expected."),
    ("operations", ["mul", "neg"], ["mul"], "Your code binds neg once, where it should not."),
    ("operations", [], ["mul"], "Your code does not bind mul, where once is expected."),
    (
        *("operations", [f"odd{'x' * 50}"], []),
        "Your code binds an unexpected operation once, where it should not.",
    ),
    (
        *("operations", ["sin", "mul"], ["mul", "sin"]),
        "Your code binds the expected operations in a different order.",
    ),
    ("calls of f", 2, 1, "Your code calls f twice, where once is expected."),
    ("calls of f", 0, 1, "Your code does not call f, where once is expected."),
    ("calls of f", 1, 0, "Your code calls f once, where it should not."),
    ("calls of f", 4_000, 1, "Your code calls f many times, where once is expected."),
    ("calls of f", [1.0, 1.0], [1.0], "Your code calls f twice, where once is expected."),
    (
        *("calls of f", 14, 11),
        "Your code calls f more often than expected in the cases of this test.",
    ),
    (
        *("calls of f", [2.0], [1.0]),
        "Your code calls f with something other than expected (a wrong float, twice what is "
        "expected).",
    ),
    ("calls of f", [[1.0]], [[1.0, 2.0]], "Your code calls f with fewer values than expected."),
    (
        *("operands afterwards", [np.ones(2), np.ones(2)], [np.ones(2), np.zeros(2)]),
        "Your code changes its second operand.",
    ),
    (EMPTY, False, True, "This should be so, but is not: the stack is empty."),
    (EMPTY, True, False, "This should not be so, but is: the stack is empty."),
    (
        *(EMPTY, [True, True], [True, False]),
        "In the second of 2 cases this should not be so, but is: the stack is empty.",
    ),
    (
        *(EMPTY, [[True], False], [[True], True, False]),
        "In some cases this should be so, but is not: the stack is empty.",
    ),
    (
        *(EMPTY, [True, False, False], [True, True, True]),
        "In the second of 3 cases, among others, this should be so, but is not: the stack is "
        "empty.",
    ),
    (
        *(EMPTY, [False, True], [True, False]),
        "In some cases this is wrong: the stack is empty (both: the first of them should be so).",
    ),
    (
        *(EMPTY, [True, True, False], [True, False, True]),
        "In some cases this is wrong: the stack is empty (the second of 3, among others: the first "
        "of them should not be so).",
    ),
    (
        *(EMPTY, (True, False), [True, False]),
        "This is wrong: the stack is empty (a tuple, where a list is expected).",
    ),
    (
        HEIGHT,
        "KeyError",
        2,
        "Your code raises KeyError where no error is expected: the height of it.",
    ),
    (
        *("a result is weak", [True, False, False], [True, True, True]),
        "This should be so, but is not: a result is weak (the second of 3, among others).",
    ),
    (
        *("value", [7, "KeyError"], [7, 8]),
        "Your code raises KeyError where no error is expected (the second of 2).",
    ),
]


@pytest.mark.parametrize(("key", "got", "want", "sentence"), TOLD, ids=[x[3] for x in TOLD])
def test_a_part_that_differs_is_told_by_its_kind(key, got, want, sentence):
    assert said({key: got}, {key: want}) == sentence


# How a part differs of which no sentence of its own is said.
WRONG = [
    ([None, None], [1.0, 2.0], "both: None, where a float is expected"),
    (3, 2, "3, where 2 is expected"),
    (1_000_000, 2, "more, where 2 is expected"),
    (None, np.ones(2), "None, where an array is expected"),
    (["Var", "Var"], ["Var", "Literal"], "the second of 2: Literal is expected"),
    ("float32[2]", "float32[3]", "float32[3] is expected"),
    ("mul x 2.0", "mul x 3.0", ""),
    (np.zeros(2), np.ones(2), "got all 0"),
    ([2, 4], [2, 3], "the second of 2: got 4, where 3 is expected"),
    ([4, 5], [2, 3], "both: one is 4, where 2 is expected"),
    ([2, 400], [2, 3], "the second of 2: 3 is expected"),
    (
        *([{"sin": 1, "exp": 1}] * 2, [{"sin": 1, "exp": 1}, {"sin": 1, "exp": 0}]),
        "the second of 2; of that, 'exp': got 1, where 0 is expected",
    ),
    (np.arange(3.0), np.ones(3), ""),
    (
        *([1.0, None, 1.0], [1.0, 2.0, 3.0]),
        "the second of 3, among others: None, where a float is expected",
    ),
    ("let\n  b = sin a", "let\n  b = cos a", "different from line 2 of 2 on"),
    ("let\n  b = sin a", "let\n  b = sin a\n  c = sin b", "with fewer lines than expected"),
    (["f4", "i1"], ["~f4", "i1"], "the first of 2: not weakly typed where that is expected"),
    ("{ a:~int64[] . a }", "{ a:int64[] . a }", "weakly typed where no weak type is expected"),
    ("(int64[], ~int64[])", "(~int64[], int64[])", "weakly typed in other places than expected"),
    ([1.0], [1.0, 2.0], "1 of them, where 2 are expected"),
    ([1.0] * 50, [2.0], "more of them, where 1 is expected"),
    ("text", 1.0, ""),
]


@pytest.mark.parametrize(("got", "want", "how"), WRONG, ids=[x[2] for x in WRONG])
def test_how_a_part_differs_is_told_beside_its_key(got, want, how):
    assert said({HEIGHT: got}, {HEIGHT: want}) == f"This is wrong: {HEIGHT}{how and f' ({how})'}."


def test_a_missing_error_is_told_before_what_came_instead():
    got = {"error": "nothing", "the value": 3.0}
    want = {"error": "ValueError"}
    assert said(got, want) == "Your code raises nothing where ValueError is expected."


def test_an_error_that_is_not_there_is_told():
    assert said({"the value": 1.0}, {"the value": 1.0, "error": "TypeError"}) == (
        "Your code raises no error, where one is expected."
    )


def test_a_part_that_is_not_there_is_told():
    assert said({"the value": 1.0}, {"the value": 1.0, "the tangent": 2.0}) == (
        "This is missing: the tangent."
    )


def test_a_claim_that_is_not_there_is_not_so():
    got, want = {"the list is there": False}, {"the list is there": True, EMPTY: [True, True]}
    assert said({}, want) == "This should be so, but is not: the list is there."
    assert said({**got, "the list is there": True}, want) == (
        "This should be so, but is not: the stack is empty."
    )


def test_parts_are_compared_in_their_order():
    got, want = {"the one": 1, "the other": 1.0}, {"the one": 2, "the other": "text"}
    assert said(got, want) == "This is wrong: the one (1, where 2 is expected)."


def test_records_inside_a_list_speak_for_themselves():
    got, want = [{"the value": 1.0}], [{"the value": 2.0}]
    sentence = "This is wrong: the value (half of what is expected)."
    assert said(got, want) == sentence
    assert said({"each step": got}, {"each step": want}) == sentence
    assert said([*want, *got], [*want, *want]) == f"In the second of 2 cases, t{sentence[1:]}"


def test_a_dict_of_the_students_is_no_record():
    assert not records.is_record({"a": 1, "b": 2})
    assert said({"a": 1}, {"a": 2}) == "a wrong int, 1"


@pytest.mark.parametrize(
    ("got", "want", "how"),
    [
        (-1.5, 1.5, "a wrong float, the negative of what is expected"),
        (3.5, 7.0, "a wrong float, half of what is expected"),
        (3.0, 1.7, "a wrong float, 3"),
        (81.649, 1.7, "a wrong float"),
        (np.nan, 1.7, "a wrong float, nan"),
        (False, True, "False where True is expected"),
        (
            *(np.array([3.5, 1.0, 2.0]), np.array([1.0, 2.0, 3.5])),
            "an array with wrong values, those that are expected, in a different order",
        ),
        ({"a": 1, "c": 2}, {"a": 1, "b": 2}, "a dict without the key 'b'"),
    ],
)
def test_how_a_value_differs_is_told_in_listed_words(got, want, how):
    assert said(got, want) == how
