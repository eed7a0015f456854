"""Checks of the newlesson lesson, for you to read and to run: `./jaxprentice check newlesson`."""

from checking import exercise

from PACKAGE.newlesson import first

exercise("newlesson.first")


def test_a_number():
    """FILL IN: a whole sentence; the command prints it after "This should hold:"."""
    assert first(3.0) == 6.0  # FILL IN: what the student's code returns is on the left
