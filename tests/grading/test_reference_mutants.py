"""Mutants of the reference are tried on the tests that call what they change, and no others."""

import shutil

import pytest

from autograder.lessons import places
from autograder.upkeep import mutants, reference

MODULE = '''"""A module."""


def double(x):
    """Twice x."""
    return x + x


def half(x):
    return x / 2


class Pair:
    def swapped(self, a, b):
        return b, a


def unasked(x):
    return x * 3


def tripled(x):
    return x + x + x


SIX = tripled(2)
'''

TESTS = """
from tiny.numbers import SIX, Pair, double, half


def test_double():
    assert double(3) == 6


def test_half():
    assert half(3) == 1.5


def test_pair():
    assert Pair().swapped(1, 2) == (2, 1)


def test_six():
    assert SIX == 6


def test_that_fails():
    assert double(half(3)) == 4
"""


@pytest.fixture
def root(monkeypatch, tmp_path):
    for name, text in {
        "solutions/tiny/numbers.py": MODULE,
        "tests/reference/test_tiny.py": TESTS,
    }.items():
        path = tmp_path / "root" / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    shutil.copy(places.ROOT / "tests" / "conftest.py", tmp_path / "root" / "tests")
    monkeypatch.setattr(places, "ROOT", tmp_path / "root")
    monkeypatch.setattr(places, "SOLUTIONS", tmp_path / "root" / "solutions")
    return tmp_path / "root"


def made(target, slip):
    every = reference.make_mutants("tiny/numbers.py")
    (found,) = [x for x in every if x.exercise.endswith(f":{target}") and slip in x.diff]
    return found


def test_a_module_is_found_by_its_path_and_by_its_folders():
    modules = reference.modules("minijax/lax")
    assert "minijax/lax/elementwise.py" in modules
    assert reference.modules("minijax/jvp.py") == ["minijax/jvp.py"]
    assert {*reference.modules("minijax/")} > {*modules}
    assert (
        reference.modules("jvp") == reference.modules("minijax/jv") == reference.modules("..") == []
    )


def test_a_mutant_keeps_the_docstring(root):
    assert "Twice x." in made("double", "+    return x - x").source


def test_a_seed_draws_the_same_mutants_again():
    made = reference.make_mutants("microjax/flat.py")
    first, second = ([x.id for x in reference.draw(made, seed)] for seed in ("1", "2"))
    assert [x.id for x in reference.draw(made, "1")] == first != second


def test_what_is_argued_to_do_the_same_is_not_tried(root):
    mutant = made("unasked", "+    return x / 3")
    entry = f'[[mutant]]\nid = "{mutant.id}"\ndiff = "…"\nwhy = "It does the same."\n'
    (root / "tests/reference/equivalent.toml").write_text(entry, encoding="utf-8")
    assert mutant.id not in {x.id for x in reference.make_mutants("tiny/numbers.py")}


def test_what_is_argued_to_do_the_same_is_a_mutant_of_today(monkeypatch):
    argued = mutants.read_argued(places.ROOT / reference.TESTS / "equivalent.toml")
    monkeypatch.setattr(reference, "argued", set)
    modules = {mutant.partition(":")[0] for mutant in argued}
    made = {x.id for module in modules for x in reference.make_mutants(module)}
    assert argued.keys() <= made


def test_what_tests_call_is_asked_once_and_what_fails_says_nothing(root, capsys):
    with reference.copied() as copy:
        touching = reference.ask_tests(copy)
        assert {test.partition("::")[2]: called for test, (_, called) in touching.items()} == {
            "": ["tiny/numbers.py:tripled"],
            "test_six": [],
            "test_double": ["tiny/numbers.py:double"],
            "test_half": ["tiny/numbers.py:half"],
            "test_pair": ["tiny/numbers.py:Pair.swapped"],
        }
        assert "test_tiny.py once" in capsys.readouterr().out
        assert reference.ask_tests(copy) == touching
        assert capsys.readouterr().out == ""
    assert not (root / "chosen.json").exists()


def test_a_mutant_is_killed_by_a_test_that_calls_it(root):
    with reference.copied() as copy:
        touching = reference.ask_tests(copy)

        def killed(*which):
            return reference.is_killed(copy, "tiny/numbers.py", made(*which), touching)

        assert killed("double", "+    return x - x")
        assert killed("half", "+    return x * 2")
        assert killed("tripled", "+    return x + x - x")
        assert not killed("unasked", "+    return x / 3")
        assert (copy / "solutions/tiny/numbers.py").read_text() == MODULE
    assert (root / "solutions/tiny/numbers.py").read_text() == MODULE


def test_the_table_counts_them_and_the_survivors_are_shown(root, monkeypatch, capsys):
    chosen = [made("double", "+    return x - x"), made("unasked", "+    return x / 3")]
    monkeypatch.setattr(reference, "make_mutants", lambda module: chosen)
    assert reference.run(["tiny/numbers.py"], quick=True) == 1
    said = capsys.readouterr().out
    assert "tiny/numbers.py  2 of 2   1\n" in said
    assert said.endswith("passes all tests that call it.\n-    return x * 3\n+    return x / 3\n")
