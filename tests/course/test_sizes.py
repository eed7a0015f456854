"""The reference is made of small functions, and the count is right."""

import ast

import pytest

from autograder.lessons import skeleton
from benchmarks import sizes

COUNTED = {
    "def f():\n    return 1": {"f": 1},
    'def f():\n    "words"\n    x = 1\n    if x:\n        return x': {"f": 3},
    "class A:\n    def f(self):\n        def g():\n            return 1\n        return g": {
        "A.f": 3,
        "A.f.g": 1,
    },
    "if True:\n    def f():\n        for x in []:\n            pass": {"f": 2},
}


@pytest.mark.parametrize("source", COUNTED)
def test_statements_are_counted_without_docstrings(source):
    found = {name: sizes.statements(node) for name, node in sizes.functions(ast.parse(source))}
    assert found == COUNTED[source]


def test_lines_of_code_hold_no_words_only():
    source = '"""Words.\n\nMore."""\n\nX = """text\nof two lines"""  # words\n\n# Words.\n'
    function = "def f():\n    'Words.'\n\n    return (\n        X\n    )\n"
    assert skeleton.lines_of_code(source + function) == 6


def test_no_function_of_the_reference_is_long():
    files = sizes.reference()
    assert len(files) > 50
    for each in files:
        assert {name: n for name, n in each.functions.items() if n > sizes.LIMIT} == {}, each.name
