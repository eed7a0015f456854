"""What a student reads about a failing hidden test: its property, a sentence that stands alone."""

import ast
import re

import pytest

from autograder.lessons import places

SEQUEL = (
    "The same", "So", "Also", "And", "But", "Or", "Nor", "Neither", "Again", "Too", "Then",
    "It", "Its", "They", "Their", "This", "These", "That", "Those", "Others", "Otherwise", "Such",
    "Both together",
)  # fmt: skip


def properties(suite):
    """The first line of each test's docstring, by the test's name."""
    tests = [x for x in ast.parse(suite.read_text(encoding="utf-8")).body if named_test(x)]
    return {x.name: (ast.get_docstring(x) or "").partition("\n")[0] for x in tests}


def named_test(node):
    return isinstance(node, ast.FunctionDef) and node.name.startswith("test_")


def is_alone(text):
    """Can a sentence be read without the one before?"""
    begins = re.match(rf"({'|'.join(SEQUEL)})\b", text)
    ends = re.search(r"\b(too|as well)\.$", text)
    return not begins and not ends and len(text.split()) > 3 and text.endswith(".")


@pytest.mark.parametrize("suite", sorted(places.SUITES.glob("*.py")), ids=lambda x: x.stem)
def test_a_property_can_be_read_alone(suite):
    assert [x for x in properties(suite).items() if not is_alone(x[1])] == []
