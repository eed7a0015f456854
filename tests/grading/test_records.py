"""What a student reads of a probe's record: the part that differs, in a sentence of its own."""

import numpy as np
import pytest

from autograder.grading import records, values


def said(got, want):
    found = values.agree(got, want)
    return found and found.message


@pytest.mark.parametrize(
    ("got", "want", "sentence"),
    [
        (["mul", "mul"], ["mul"], "Your code binds mul twice, where once is expected."),
        (["mul", "neg"], ["mul"], "Your code binds neg once, where it should not."),
        ([], ["mul"], "Your code does not bind mul, where once is expected."),
        (
            [f"odd{'x' * 50}"],
            [],
            "Your code binds an unexpected operation once, where it should not.",
        ),
        (
            ["sin", "mul"],
            ["mul", "sin"],
            "Your code binds the expected operations in a different order.",
        ),
    ],
)
def test_operations_are_counted_by_name(got, want, sentence):
    assert said({"operations": got}, {"operations": want}) == sentence


@pytest.mark.parametrize(
    ("got", "want", "sentence"),
    [
        (2, 1, "Your code calls f twice, where once is expected."),
        (0, 1, "Your code does not call f, where once is expected."),
        (1, 0, "Your code calls f once, where it should not."),
        (4_000, 1, "Your code calls f many times, where once is expected."),
        ([1.0, 1.0], [1.0], "Your code calls f twice, where once is expected."),
        ([2.0], [1.0], "Your code calls f with something other than expected (a wrong float)."),
    ],
)
def test_calls_are_counted(got, want, sentence):
    assert said({"calls of f": got}, {"calls of f": want}) == sentence


def test_an_operand_that_changes_is_named_by_its_place():
    before, after = [np.ones(2), np.zeros(2)], [np.ones(2), np.ones(2)]
    changed = said({"operands afterwards": after}, {"operands afterwards": before})
    assert changed == "Your code changes its second operand."


@pytest.mark.parametrize(
    ("got", "want", "sentence"),
    [
        (False, True, "This should be so, but is not: the stack is empty."),
        (True, False, "This should not be so, but is: the stack is empty."),
        (
            [True, True],
            [True, False],
            "In some cases this is wrong: the stack is empty.",
        ),
        (
            (True, False),
            [True, False],
            "This is wrong: the stack is empty (a tuple, where a list is expected).",
        ),
    ],
)
def test_a_claim_is_told_as_a_claim(got, want, sentence):
    assert said({"the stack is empty": got}, {"the stack is empty": want}) == sentence


@pytest.mark.parametrize(
    ("got", "want", "sentence"),
    [
        (3, 2, "This is wrong: the height of it (3, where 2 is expected)."),
        (1_000_000, 2, "This is wrong: the height of it (more, where 2 is expected)."),
        ("KeyError", 2, "Your code raises KeyError where no error is expected."),
        (None, np.ones(2), "This is wrong: the height of it (None, where an array is expected)."),
        (np.zeros(2), np.ones(2), "This is wrong: the height of it."),
        ([1.0], [1.0, 2.0], "This is wrong: the height of it (1 of them, where 2 are expected)."),
        ([1.0] * 50, [2.0], "This is wrong: the height of it (more of them, where 1 is expected)."),
        ("text", 1.0, "This is wrong: the height of it."),
    ],
)
def test_other_parts_are_told_by_name(got, want, sentence):
    assert said({"the height of it": got}, {"the height of it": want}) == sentence


def test_a_missing_error_is_told_before_what_came_instead():
    got = {"error": "nothing", "the value": 3.0}
    want = {"error": "ValueError"}
    assert said(got, want) == "Your code raises nothing where ValueError is expected."


def test_a_part_that_is_not_there_is_told():
    assert said({"the value": 1.0}, {"the value": 1.0, "the tangent": 2.0}) == (
        "This is missing: the tangent."
    )


def test_parts_are_compared_in_their_order():
    got, want = {"the one": 1, "the other": 1.0}, {"the one": 2, "the other": "text"}
    assert said(got, want) == "This is wrong: the one (1, where 2 is expected)."


def test_records_inside_a_list_speak_for_themselves():
    got, want = [{"the value": 1.0}], [{"the value": 2.0}]
    assert said(got, want) == "This is wrong: the value."
    assert said({"each step": got}, {"each step": want}) == "This is wrong: the value."


def test_a_dict_of_the_students_is_no_record():
    assert not records.is_record({"a": 1, "b": 2})
    assert said({"a": 1}, {"a": 2}) == "a wrong int"
