"""Checks of what lies beyond the exercises: `check newlesson.open` and `newlesson.repair`."""

import pytest


@pytest.mark.exercise("newlesson.open")
def test_double():
    """FILL IN: a property of what the open task asks for, on random programs if it can be."""
    from open_newlesson import doubled

    assert doubled(2.0) == 4.0


@pytest.mark.exercise("newlesson.repair")
def test_law():
    """FILL IN: the law that the program to repair must keep."""
    from repair_newlesson import tripled

    assert tripled(2.0) == 6.0
