# title = "Answers rightly only at some times"
# tries = "Right while it is graded, wrong when it is asked again; a grade that cannot be repeated."
# solved = true
# says = ["gives different answers"]
import sys

_add_tangents, _jvp = add_tangents, jvp


def first(name):
    """What this process was asked first; the grader begins with the first exercise."""
    return sys.__dict__.setdefault("asked_first", name)


def add_tangents(a, b):
    first("add_tangents")
    return _add_tangents(a, b)


def jvp(*args, **kwargs):
    right = _jvp(*args, **kwargs)
    return right if first("jvp") == "add_tangents" else "something else"
