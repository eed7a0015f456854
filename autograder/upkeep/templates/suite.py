"""Hidden tests of the newlesson lesson: FILL IN: what they cover, in a sentence."""

from typing import TYPE_CHECKING

import numpy as np
import pytest

from autograder.grading.suite import exercise, probe

if TYPE_CHECKING:  # imported by each probe that reads it
    from PACKAGE.newlesson import first

exercise("newlesson.first")


# FILL IN: your probes. Only a probe's text is sent; it calls the exercise and returns plain data.
@probe
def first_of(mj, x):
    """What the submission's function returns."""
    return first(x)


@pytest.mark.keeps("what is returned")  # FILL IN: words of each sentence of the contract
def test_a_number(student):
    """FILL IN: the property, as the student reads it when the test fails; it gives nothing away."""
    student.agrees(first_of, 3.0)


def test_an_array(student):
    """FILL IN: another property; values that no lazy answer gets right by chance."""
    student.agrees(first_of, np.array([1.0, -2.5, 4.0]))
