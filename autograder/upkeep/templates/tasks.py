"""Checks of what lies beyond the exercises: `check newlesson.open` and `newlesson.repair`."""

from checking import exercise, yours

exercise("newlesson.open")

doubled = yours("open_newlesson.doubled")


def test_double():
    """FILL IN: a property of what the open task asks for, on random programs if it can be."""
    assert doubled(2.0) == 4.0


exercise("newlesson.repair")

tripled = yours("repair_newlesson.tripled")


def test_law():
    """FILL IN: the law that the program to repair must keep."""
    assert tripled(2.0) == 6.0
