"""What the tests of the command share: checks of the small course, and lessons to be solved."""

import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader

import pytest
import small_course

from autograder import cli
from autograder.lessons import places
from autograder.upkeep import sync

HELLO_CHECKS = '''
import pytest
from toy.hello import Box, greet


@pytest.mark.exercise("hello.greet")
def test_greet():
    """The greeting ends in a colon."""
    assert greet("Ada") == "Hello,\\nAda:"


@pytest.mark.exercise("hello.grow")
def test_grow():
    """A box grows by one."""
    assert Box().grow().size == 2
'''

BYE_CHECKS = '''
import pytest
from toy.bye import bye


@pytest.mark.exercise("bye.bye")
def test_bye():
    """The parting names the person."""
    assert bye("Ada") == "Bye,\\nAda:"
'''


def make_course(top, files):
    """Write the small course with these files and everything generated, and a workspace; `top`."""
    with pytest.MonkeyPatch.context() as patch:
        small_course.write(patch, top / "copy", files)
        sync.sync(False)
        assert cli.main(["init", str(top / "work")]) == 0
    return top


def solve(work, module="toy/hello.py", *changes):
    """Put the reference in the student's place, with some texts in it replaced."""
    text = (places.SOLUTIONS / module).read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (work / module).write_text(text, encoding="utf-8")


def load_wrapper(file):
    """The wrapper as a module; no bytecode is left beside it."""
    loader = SourceFileLoader("wrapper", str(file))
    module = module_from_spec(spec_from_loader("wrapper", loader))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "dont_write_bytecode", True)
        loader.exec_module(module)
    return module
