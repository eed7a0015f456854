"""The visible checks: what a student is told about right, wrong, unwritten and hostile work."""

import subprocess
import sys
import time
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest
import small_course
from student_course import BYE_CHECKS

from autograder.lessons import assemble, manifest, module_rules, skeleton
from autograder.student import cache, check_plugin, checks, commands, explain
from autograder.student.checks import DONE, NOT_RUN, TO_DO, WAITS, WRONG, Error, Frame

CHECKS = '''
import numpy as np
import pytest
from checking import exercise
from toy.hello import Box, greet

exercise("hello.greet")


def test_colon():
    """The greeting ends in a colon."""
    assert greet("Ada") == "Hello,\\nAda:"


def test_mark():
    """The greeting ends in the mark."""
    assert greet("Ada", mark="!") == "Hello,\\nAda!"


exercise("hello.grow")


def test_grow():
    """A box grows by what is asked for."""
    np.testing.assert_allclose(Box().grow(2).size, 3)


@pytest.mark.parametrize("by", ["2", None])
def test_text(by):
    """A box cannot grow by what is no number."""
    with pytest.raises(TypeError, match="unsupported operand"):
        Box().grow(by)
'''


@pytest.fixture
def lesson(monkeypatch, tmp_path):
    """The lesson `hello` of the small course, with checks."""
    small_course.write(monkeypatch, tmp_path, {"course/lessons/01_hello/checks.py": CHECKS})
    return manifest.load()["hello"]


def run(lesson, *changes, only=None):
    """Check the reference with some texts in it replaced."""
    source = small_course.HELLO
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    return checks.run(lesson, {lesson.module: source.encode()}, only)


def statuses(report):
    return [report.status(exercise) for exercise in report.exercises]


def said(report):
    """What the student reads about the first exercise that is wrong."""
    failures = [f for exercise in report.exercises if (f := report.failure(exercise))]
    return "\n".join(explain.explain(report, failures[0]))


def test_the_reference_is_done_and_the_skeleton_is_to_do(lesson):
    report = run(lesson)
    assert statuses(report) == [DONE, DONE]
    assert report.complete
    source = skeleton.make_skeleton(small_course.HELLO, lesson)
    report = checks.run(lesson, {lesson.module: source.encode()})
    assert statuses(report) == [TO_DO, TO_DO]
    assert not report.complete


def test_one_exercise_can_be_checked_alone(lesson):
    report = run(lesson, ("text + mark", "text"), only=lesson.exercises[1])
    assert statuses(report) == [DONE]
    assert [x.id for x in report.exercises] == ["hello.grow"]


def test_a_wrong_value_shows_property_sides_and_places(lesson):
    report = run(lesson, ("return text + mark", "return text + '!'"))
    assert statuses(report) == [WRONG, DONE]
    assert said(report).splitlines() == [
        "This should hold: The greeting ends in a colon.",
        "  expected: 'Hello,\\nAda:'",
        "  got:      'Hello,\\nAda!'",
        "lessons/01_hello/checks.py, line 12, in test_colon:",
        '    assert greet("Ada") == "Hello,\\nAda:"',
    ]


AT = "object at 0x"


def sides(expected, got):
    return [f"expected: {expected}", f"got:      {got}"]


@pytest.mark.parametrize(
    ("message", "compared", "told"),
    [
        ("assert 0", ("==", "1", "2"), sides("2", "1")),
        ("assert 0", ("is", "<class 'tuple'>", "<class 'list'>"), sides("list", "tuple")),
        ("assert 0", ("is", "[1]", "[1]"), sides("the same object as [1]", "another object, [1]")),
        (
            "assert 0",
            ("is", f"<x.A {AT}9>", f"<x.A {AT}8>"),
            sides("the same object as <A object>", "another object, <A object>"),
        ),
        ("assert 0", ("!=", "3", "3"), sides("anything but 3", "3")),
        ("assert 3 < 2", ("<", "3", "2"), ["but 3 < 2 does not hold"]),
        ("1 ran, not 0.\nassert 1 <= 0", ("<=", "1", "0"), ["1 ran, not 0."]),
        (
            "assert False\n +  where False = isinstance(2, int)\n +    and   2 = f(1)",
            None,
            ["isinstance(2, int) is False", "f(1) is 2"],
        ),
        (
            "assert 0\n + where False = <ufunc 'isnan'>(2)\n + where <ufunc 'isnan'> = np.isnan",
            None,
            ["np.isnan(2) is False"],
        ),
    ],
)
def test_a_comparison_is_told_in_words_with_what_the_student_gave_on_its_left(
    message, compared, told
):
    error = Error("AssertionError", message, compared=compared)
    assert explain.what_happened(error) == told


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("assert f(2) == 3", True),
        ("assert f(2)[1] == 3", False),
        ("assert table.get(x) == 3", False),
    ],
)
def test_a_none_that_no_function_returned_suggests_nothing(code, told):
    frames = (Frame("checks.py", 1, "test_f", code),)
    error = Error("AssertionError", "assert None == 3", compared=("==", "None", "3"), frames=frames)
    assert ("(None: is a `return` missing?)" in " ".join(explain.what_happened(error))) is told


def test_a_with_block_that_stumbles_over_none_suggests_a_yield():
    frames = (Frame("checks.py", 1, "test_block", "with block():"),)
    error = Error("TypeError", "'NoneType' object is not an iterator", frames=frames)
    assert explain.no_return(error) == ["(None: is the `yield` missing?)"]


def test_a_long_value_is_cut_with_a_sign(lesson):
    text = said(run(lesson, ("return text + mark", "return text * 10_000")))
    got = next(line for line in text.splitlines() if "got:" in line)
    assert got.endswith(" ... (cut)")
    assert len(got) < 500


def test_many_lines_are_cut_with_a_sign():
    assert explain.lines("x\n" * 100) == ["x"] * 10 + ["... (cut)"]


Point = namedtuple("Point", "x y")


@dataclass
class Alike:
    """What prints the same whatever it holds, and is compared by that."""

    held: object

    def __repr__(self):
        return "Alike"


@pytest.mark.parametrize(
    ("got", "want", "told"),
    [
        (
            [1, Alike((2, Alike([])))],
            [1, Alike((2, Alike(())))],
            "[1].held[1].held is of the class list, not tuple",
        ),
        (Alike(None), Alike(()), ".held is of the class NoneType, not tuple"),
        ({"k": Alike(Alike(1))}, {"k": Alike(1)}, "['k'].held is of the class Alike, not int"),
        ([object()], [object()], "[0] is a different object"),
        (Point(1, np.ones(2)), (1, np.ones(2)), "it is of the class Point, not tuple"),
        ([np.ones(2)], [np.ones(2)], "[0] is a different object"),
        (float("nan"), float("nan"), "it is a different object"),
    ],
)
def test_of_sides_that_print_alike_it_is_said_where_they_differ(got, want, told):
    assert check_plugin.differs(got, want) == told
    same = ("==", f"<x.A {AT}9>", f"<x.A {AT}8>")
    for compared, more in (
        (same, [f"          (They print alike, but {told}.)"]),
        (("==", "1", "2"), []),
    ):
        error = Error("AssertionError", "assert 0", compared=compared, differs=told)
        assert explain.what_happened(error)[2:] == more


NONE = "got:      None\n            (None: is a `return` missing?)"
LOG = "Evaluation rule for 'log' not implemented"  # which is the id of no exercise
ALIKE = "return type('A', (str,), {'__eq__': lambda *_: False})(text + mark)"


GREET, GROW = "return text + mark", "self.size += by"
WHOLE = f"{GROW}\n        return self"  # what `grow` does


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (GROW, "self.size += by + 1", "\n  expected: 3\n  got:      4\n"),
        (
            GROW,
            "self.size += int(by)",
            "\n  where by = '2'\n  expected: the exception TypeError\n  got:      no exception\n",
        ),
        (
            GROW,
            "self.size += int([]) if by == '2' else by",
            "\n  expected: a message with 'unsupported operand'\n  got:      \"int() arg",
        ),
        ("        return self\n", "", "no attribute 'size'\n  (None: is a `return` missing?)"),
        (GREET, "return None", "got:      None\nlessons/01_hello"),  # nothing is suggested
        (GREET, "print(*range(99), sep='\\n'); return text", "(only the end):\n    89\n"),
        (GREET, "text + mark", NONE),
        (GREET, "pass", NONE),
        (GREET, ALIKE, "(They print alike, but it is of the class A, not str.)"),
        (GREET, "import numpy as n; return (n.float64(0.5), n.array(3))", "got:      (0.5, 3)"),
        (GREET, "import numpy as n; return n.float32(0.5)", "got:      np.float32(0.5)"),
        (GREET, "return object()", "got:      <object object>"),
        (GREET, "return text + markk", "toy/hello.py, line 25, in greet:\n    return text + markk"),
        (
            GREET,
            "return text + mrak",
            "raises NameError: name 'mrak' is not defined. Did you mean 'mark'?",
        ),
        (GREET, "return text.upper_()", "no attribute 'upper_'. Did you mean 'upper'?"),
        (GREET, "return text + qqqqqq", "name 'qqqqqq' is not defined\n"),
        (GREET, "print('was here'); return text", "Your code printed:\n    was here"),
        (GREET, "import sys; sys.exit()", "but it exits Python. Take out exit() or sys.exit()."),
        (GREET, "input()", "but it waits for input(), and a check has no keyboard. Take it out;"),
        (GREET, "breakpoint()", "but it stops at breakpoint(), and a check has no keyboard."),
        (GREET, "assert name == 1", "but it raises AssertionError\n"),
        (GREET, "raise NotImplementedError", "but it raises NotImplementedError\n"),
        (GREET, f'raise NotImplementedError("{LOG}")', f"but it raises NotImplementedError: {LOG}"),
        (
            GREET,
            "text += mark\n    raise NotImplementedError('hello.greet')",
            "line 26 of toy/hello.py still raises NotImplementedError. Remove",
        ),
    ],
)
def test_what_is_wrong_with_a_function_is_told_in_plain_words(lesson, old, new, words):
    text = said(run(lesson, (old, new)))
    assert words in text
    assert "egex" not in text  # which is pytest's word


IMPORT = "import functools"


@pytest.mark.parametrize(
    ("old", "new", "first", "place"),
    [
        (GREET, "return text +", "Python cannot read line 25, column", "line 25"),
        ("    " + GREET, GREET, "line 25, column 1: 'return' outside", "line 25"),
        (GREET, "break", "line 25, column 5: 'break' outside loop", "line 25"),
        (IMPORT, f"{IMPORT}\nfunctools.nothing", "It raises AttributeError: ", "line 4"),
        (IMPORT, f"from heapq import Boxes\n{IMPORT}", "ImportError: cannot import", "line 3"),
        (IMPORT, f"import toy.between\n{IMPORT}", "which comes with lesson 2", "line 3"),
    ],
)
def test_a_module_that_is_not_python_or_cannot_be_imported_says_where(
    lesson, old, new, first, place
):
    report = run(lesson, (old, new))
    assert first in explain.broken(report)[0]
    assert explain.broken(report)[1] == f"toy/hello.py, {place}:"
    assert statuses(report) == [NOT_RUN, NOT_RUN]


@pytest.mark.parametrize("package", ["scipy", "jax", "pytest", "jax.numpy", "autograder"])
@pytest.mark.parametrize("line", ["import {}", "from {} import x", "def f():\n    import {}"])
def test_an_import_that_a_class_does_not_have_is_refused_by_name(lesson, package, line):
    source = f"{small_course.HELLO}\n{line.format(package)}\n"
    report = checks.run(lesson, {lesson.module: source.encode()})
    (text,) = explain.broken(report)
    assert f", imports {package.split('.')[0]}, which is not there when it is graded." in text
    assert "It may import toy, numpy, jaxlib, ml_dtypes, and all that comes with Python." in text


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    import scipy\nexcept ImportError:\n    scipy = None",
        "try:\n    import scipy\nexcept (ValueError, ModuleNotFoundError):\n    scipy = None",
        "try:\n    import scipy\nexcept:\n    scipy = None",
        "import typing\nif typing.TYPE_CHECKING:\n    import scipy",
        "import numpy.linalg, bisect\nfrom ml_dtypes import bfloat16\nfrom . import hello",
    ],
)
def test_what_a_module_can_do_without_is_not_refused(lesson, text):
    source = f"{small_course.HELLO}\n{text}\n"
    assert checks.run(lesson, {lesson.module: source.encode()}).complete


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (b"# \xe9\n", "not a text in UTF-8: look at the byte in line 1, column 3. Save it"),
        (b"# -*- coding: utf-7 -*-\n", "names an encoding other than UTF-8 in its first lines"),
        (b"#" * (module_rules.LIMIT + 1), "toy/hello.py is larger than 256 KiB."),
        (b"\0", "toy/hello.py is not a text file: the byte in line 1, column 1, is 0."),
    ],
)
def test_what_the_intake_does_not_take_is_not_complete_at_home(lesson, source, words):
    report = checks.run(lesson, {lesson.module: source + small_course.HELLO.encode()})
    (text,) = explain.broken(report)
    assert words in text


@pytest.mark.parametrize(
    "text",
    [
        "open(__file__)",
        "import io; io.open(__file__)",
        "from pathlib import Path; Path(__file__).read_text()",
        "from pathlib import Path; Path('new.txt').write_text('')",
    ],
)
def test_a_module_opens_no_file(lesson, text):
    source = f"{small_course.HELLO}\n{text}\n"
    report = checks.run(lesson, {lesson.module: source.encode()})
    first, place, *_ = explain.broken(report)
    assert first == "It raises PermissionError: a module that is graded can open no files"
    assert place.startswith("toy/hello.py, line 44")


def test_a_name_of_given_code_that_is_gone_is_named(lesson):
    text = "\n".join(explain.broken(run(lesson, ("class Box", "class Boxes"))))
    assert "toy/hello.py has no Box, which the checks use. Was it renamed or removed?" in text
    assert "`./jaxprentice reset hello`" in text


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ([("def greet(", "def great(")], [TO_DO, DONE]),
        # To do, even if another exercise is met first.
        ([(WHOLE, "raise NotImplementedError('hello.grow')"), (GREET, "return 0")], [WRONG, TO_DO]),
        # It waits for the one that it calls and that is not written.
        ([(GROW, "raise NotImplementedError('hello.greet')")], [DONE, WAITS]),
    ],
)
def test_what_is_not_written_is_to_do_and_the_others_are_judged(lesson, changes, found):
    assert statuses(run(lesson, *changes)) == found


@pytest.mark.parametrize("only", [None, 1])
def test_an_exercise_waits_for_those_that_it_comes_after(lesson, only):
    wrong = [("return text + mark", "return text"), ("self.size += by", "self.size += 7")]
    report = run(lesson, *wrong, only=lesson.exercises[only] if only else None)
    assert report.status(lesson.exercises[1]) == WAITS
    assert report.waits_for(lesson.exercises[1]) == ["hello.greet"]
    assert report.failure(lesson.exercises[1]) is None


def test_an_exercise_needs_also_what_those_before_it_need(monkeypatch, tmp_path):
    third = small_course.HELLO_TOML.partition("[[exercise]]")[2].partition("[[exercise]]")[0]
    third = third.replace("hello.greet", "hello.third").replace('"greet"', '"given"')
    toml = f'{small_course.HELLO_TOML}\n[[exercise]]{third}\nafter = ["hello.grow"]\n'
    small_course.write(monkeypatch, tmp_path, {"course/lessons/01_hello/lesson.toml": toml})
    third_exercise = manifest.load()["hello"].exercises[2]
    assert [x.id for x in manifest.needs(third_exercise)] == ["hello.greet", "hello.grow"]


def test_a_tracer_among_atoms_is_told_as_that():
    text = explain.what_happened(Error("TypeError", "unhashable type: 'JaxprTracer'"))
    assert text[1].startswith("(A JaxprTracer is where a variable or a literal belongs")


@pytest.mark.parametrize("name", ["checks.py", "minijax/vmap.py"])
@pytest.mark.parametrize(
    "message", ["== of a BatchTracer is not defined", "BatchTracer<float64[]> was used outside"]
)
def test_a_check_that_compares_a_box_says_so_and_the_students_own_line_does_not(name, message):
    frames = [
        Frame("checks.py", 1, "test_f", "assert f(2.0) == 2.0"),
        Frame(name, 2, "f", "x == y"),
    ]
    frames.append(Frame("minijax/array.py", 3, "operator", "return forward(self, other)"))
    hint = explain.no_return(Error("TypeError", message, frames=tuple(frames)))
    assert ("still in a box" in "".join(hint)) == (name == "checks.py")


def test_an_interpreter_that_is_left_current_fails_no_check_of_another_exercise():
    duals = manifest.get("duals")
    text = assemble.read_solution(duals.module).replace(
        "        with set_interpreter(self.prev_interpreter):\n            ",
        "        set_interpreter(self.prev_interpreter).__enter__()\n        ",
    )
    report = checks.run(duals, {duals.module: text.encode()})
    assert report.status(duals.exercises[0]) == checks.DONE
    assert report.status(duals.exercises[2]) == checks.WRONG


def test_a_recursion_shows_the_students_line_among_given_code(lesson):
    frames = [Frame("checks.py", 1, "test_colon", "greet()"), Frame(lesson.module, 5, "greet", "a")]
    frames += [Frame(lesson.module, row, f"given{row}", "b") for row in range(10, 20)]
    error = Error("RecursionError", "", frames=tuple(frames))
    outcome = checks.Outcome("t", "hello.grow", "It holds.", "", False, error)
    text = explain.explain(checks.Report(lesson, lesson.exercises, (outcome,)), outcome)
    assert "toy/hello.py, line 5, in greet:" in text


def test_the_courses_own_code_is_named_and_not_quoted(monkeypatch, tmp_path):
    changes = {
        "course/lessons/03_bye/checks.py": BYE_CHECKS,
        "solutions/toy/hello.py": small_course.HELLO.replace("return text + mark", "return 1 / 0"),
    }
    small_course.write(monkeypatch, tmp_path, changes)
    lesson = manifest.load()["bye"]
    text = said(checks.run(lesson, {lesson.module: small_course.BYE.encode()}))
    assert "toy/bye.py, line 8, in bye:" in text
    assert text.endswith("and there in the course's own toy/hello.py, in greet.")
    assert "1 / 0" not in text


@pytest.fixture
def hurry(monkeypatch):
    """Short time limits."""
    monkeypatch.setattr(checks, "LIMIT", 1.0)
    monkeypatch.setattr(checks, "PATIENCE", 1.0)


@pytest.mark.parametrize(
    "loop",
    [
        "while True: pass",
        "while True:\n        try:\n            while True: pass\n        except Exception: pass",
    ],
)
def test_a_loop_without_end_is_said_and_the_others_are_checked(lesson, hurry, loop):
    start = time.monotonic()
    report = run(lesson, ("return text + mark", loop))
    assert statuses(report) == [WRONG, DONE]
    assert "but it does not end within 1 seconds. Is there an endless loop?" in said(report)
    assert time.monotonic() - start < 6


def test_to_wait_for_a_processor_is_no_endless_loop(lesson, hurry):
    report = run(lesson, ("return text + mark", "import time; time.sleep(1.5); return text + mark"))
    assert statuses(report) == [DONE, DONE]


def test_a_loop_that_swallows_everything_is_ended_from_outside(lesson, hurry):
    loop = "while True:\n        try: input\n        except BaseException: pass".replace(
        "input", "[x for x in range(10**9)]"
    )
    report = run(lesson, ("return text + mark", loop))
    assert report.status(report.exercises[0]) == WRONG
    assert "does not end" in said(report)


def test_a_process_that_dies_names_the_test(lesson):
    report = run(lesson, ("return text + mark", "import os; os._exit(77)"))
    assert statuses(report) == [WRONG, WAITS]
    assert "but Python was stopped, by exit() or by a crash (status 77)." in said(report)


@pytest.mark.parametrize("end", ["exit()", "__import__('os')._exit(0)"])
def test_a_module_that_ends_python_on_import_is_said(lesson, end):
    report = run(lesson, ("import functools", f"import functools\n{end}"))
    assert explain.broken(report)[0].startswith("Python was stopped")


def test_the_check_stands_before_the_students_lines_also_where_it_is_called_back(lesson):
    line = '    assert greet("Ada") == "Hello,\\nAda:"'
    path = lesson.folder / "checks.py"
    text = path.read_text(encoding="utf-8")
    back = '    assert greet(lambda: 1 / 0) == "Hello,\\nAda:"'
    path.write_text(text.replace(line, back), encoding="utf-8")
    places = [x for x in said(run(lesson, ("{name}", "{name()}"))).splitlines() if ", line " in x]
    assert [x.split(",")[0] for x in places] == ["lessons/01_hello/checks.py", "toy/hello.py"]


def test_a_recursion_without_end_is_shown_at_once(lesson):
    start = time.monotonic()
    text = said(run(lesson, ("return text + mark", "return greet(name + 'x')")))
    assert "raises RecursionError" in text
    assert text.count("toy/hello.py") <= 4
    assert time.monotonic() - start < 5


def test_no_path_of_the_temporary_folder_is_shown(lesson):
    report = run(lesson, ("class Box", "class Bux"))
    assert report.broken.type == "ImportError"
    assert "(toy/hello.py)" in report.broken.message


def test_what_lies_beside_the_checks_is_no_line_of_the_students(lesson, tmp_path):
    checks.add_checks(tmp_path, lesson)
    checks.add_examples(tmp_path, lesson)
    beside = {path.name for path in tmp_path.glob("*.py")} - {"checks.py"}
    assert beside == set(check_plugin.OURS)


def test_the_students_own_pytest_settings_change_nothing(lesson, monkeypatch):
    monkeypatch.setenv("PYTEST_ADDOPTS", "--no-such-option")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    assert run(lesson).complete


@pytest.mark.parametrize(
    ("more", "exercise", "statuses", "words"),
    [
        ("greet = str", "hello.grow", [0], "3 passed"),
        ("greet = str", "hello.greet", [1], "2 failed"),
        ("", "hello.gret", [4], "no checks"),
        # What is not taken when it is handed in:
        ("import scipy", "hello.grow", [2, 3, 4], "line 43, imports scipy, which is not there"),
        ("#" * module_rules.LIMIT, "hello.grow", [2, 3, 4], "toy/hello.py is larger than 256 KiB."),
        ("open(__file__)", "hello.grow", [2, 3, 4], "a module that is graded can open no files"),
    ],
)
def test_plain_pytest_beside_the_notebook_runs_one_exercise(
    lesson, tmp_path, more, exercise, statuses, words
):
    """It is what the cell runs that `nbgrader validate` runs."""
    source = small_course.HELLO + more
    assemble.write_tree(tmp_path / "notebook", lesson, {lesson.module: source})
    checks.add_checks(tmp_path / "notebook", lesson)
    command = [sys.executable, "-m", "pytest", "-q", "checks.py", "--exercise", exercise]
    done = subprocess.run(
        command, cwd=tmp_path / "notebook", capture_output=True, text=True, check=False
    )
    assert done.returncode in statuses
    assert words in done.stdout + done.stderr


def test_the_first_feedback_comes_soon(lesson):
    start = time.monotonic()
    run(lesson)
    assert time.monotonic() - start < 5  # 0.5 s on a quiet machine


# ------------------------------------------------------------------------------------------
# The examples in docstrings

GREET_EXAMPLE = """    Give the greeting with its mark.

    >>> print(greet("Ada", mark="?"))
    Hello,
    Ada?
    >>> greet("Ada", mark=3)
    Traceback (most recent call last):
    TypeError: the message is up to the one who writes the function
"""
GROW_EXAMPLE = '''        """Grow, and return the box.

        >>> Box().grow(len(greet("Grace"))).size
        14
        """
'''
WITH_EXAMPLES = small_course.HELLO.replace(
    "    Give the greeting with its mark.\n", GREET_EXAMPLE
).replace('        """Grow, and return the box."""\n', GROW_EXAMPLE)


@pytest.fixture
def with_examples(lesson, tmp_path):
    """The same lesson, whose docstrings have examples; that of `grow` uses `greet`."""
    file = tmp_path / "solutions" / lesson.module
    file.write_text(WITH_EXAMPLES, encoding="utf-8")
    return lesson


def test_examples_in_docstrings_are_checks_too(with_examples):
    report = run(with_examples)
    assert statuses(report) == [DONE, DONE]
    assert [len(report.of(exercise.id)) for exercise in report.exercises] == [3, 4]
    assert commands.count(report) == "7 visible checks."
    uses = [outcome.uses for outcome in report.outcomes if outcome.uses is not None]
    assert uses == [(), ("hello.greet",)]


def test_an_example_that_is_not_true_or_raises_is_explained(with_examples):
    report = run(with_examples, ("return text + mark", 'return text + mark.replace("?", ";")'))
    assert statuses(report) == [WRONG, DONE]
    assert said(report) == (
        "This should hold: The examples in the docstring are true.\n"
        '  >>> print(greet("Ada", mark="?"))\n'
        "  expected: Hello,\n"
        "            Ada?\n"
        "  got:      Hello,\n"
        "            Ada;"
    )
    report = run(with_examples, ("return text + mark", "return text + {':': ':', '!': '!'}[mark]"))
    assert "but it raises KeyError: '?'" in said(report)


def test_an_example_does_not_count_while_what_it_uses_is_not_known_to_be_right(with_examples):
    wrong = ("return text + mark", "return text * 2 + mark")
    (_, grow) = with_examples.exercises
    report = run(with_examples, wrong)
    assert all(outcome.passed for outcome in report.of(grow.id))
    assert commands.count(report) == "7 visible checks."  # as many as if all is right
    stub = ("    return text + mark", '    raise NotImplementedError("hello.greet")')
    assert all(outcome.passed for outcome in run(with_examples, stub).of(grow.id))


def test_an_example_counts_where_what_it_uses_is_right(with_examples):
    report = run(
        with_examples, ("self.size += by", "self.size += by if by in (1, 2, '2', None) else 5")
    )
    assert statuses(report) == [DONE, WRONG]
    assert "expected: 14" in said(report)


def test_examples_are_those_of_the_course_whatever_the_student_made_of_the_docstring(with_examples):
    source = small_course.HELLO.replace("Greet somebody.", ">>> 1\n    2\n")
    report = checks.run(with_examples, {with_examples.module: source.encode()})
    assert statuses(report) == [DONE, DONE]


# ------------------------------------------------------------------------------------------
# The course's own bytecode


def test_bytecode_is_kept_and_used(lesson, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    given = {"toy/given.py": "x = 1\n"}
    for value in (1, 2):  # the second time what is kept is taken, without a look at the source
        folder = tmp_path / f"tree{value}"
        assemble.write_files(folder, {"toy/given.py": f"x = {value}\n"})
        cache.add_bytecode(folder, given)
        found = subprocess.run(
            [sys.executable, "-B", "-c", "from toy import given; print(given.x, given.__file__)"],
            cwd=folder, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert found.stdout.split() == ["1", str(folder / "toy/given.py")]


def test_without_a_cache_folder_checks_run_all_the_same(lesson, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert run(lesson).complete
