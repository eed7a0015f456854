"""A skeleton lacks the exercises' bodies and nothing else, and can be filled in again."""

import ast
import dataclasses
import subprocess
import sys

import pytest
import small_course

from autograder.lessons import assemble, manifest, skeleton
from autograder.lessons.problem import Problem


@pytest.fixture
def hello(monkeypatch, tmp_path):
    small_course.write(monkeypatch, tmp_path)
    return manifest.get("hello")


def with_target(lesson, target):
    """A lesson with one exercise, whose target is this."""
    exercise = dataclasses.replace(lesson.exercises[0], target=target, todo="Do it.")
    return dataclasses.replace(lesson, exercises=(exercise,))


STUB = '    # TODO(hello.greet): Do it.\n    raise NotImplementedError("hello.greet")\n'


def test_decorators_signature_docstring_and_comments_above_stay(hello):
    made = skeleton.make_skeleton(small_course.HELLO, hello)
    assert made == small_course.HELLO.replace(
        '''    # This comment gives the solution away.
    text = f"""Hello,
{name}"""
    return text + mark
    # And so does this one.
''',
        """    # TODO(hello.greet): Put the name behind the greeting, and the mark behind the name.
    raise NotImplementedError("hello.greet")
""",
    ).replace(
        """        self.size += by
        return self
""",
        """        # TODO(hello.grow): Add to the size.
        raise NotImplementedError("hello.grow")
""",
    )


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(x): return x\n", "def f(x):\n" + STUB),
        ("def f(x): 'Doc.'; return x\n", "def f(x):\n    'Doc.'\n" + STUB),
        ("def f(x):\n    'Doc.'; return x\n", "def f(x):\n    'Doc.'\n" + STUB),
        ("def f(x):  # noqa\n    # Secret.\n    return x\n", "def f(x):  # noqa\n" + STUB),
        (
            "def f(x):\n    'Doc.'  # noqa\n\n    return x\n",
            "def f(x):\n    'Doc.'  # noqa\n" + STUB,
        ),
        (
            "def f(x=lambda y: {1: y}) -> {}[1:2]:\n    return x",
            "def f(x=lambda y: {1: y}) -> {}[1:2]:\n" + STUB[:-1],
        ),
        (
            "@d(\n    1,\n)\n@e\ndef f(x):\n    return x\n\n\ny = 1\n",
            "@d(\n    1,\n)\n@e\ndef f(x):\n" + STUB + "\n\ny = 1\n",
        ),
        (
            "def f(x):\n    return x\n\n# About g.\ndef g(): 1\n",
            "def f(x):\n" + STUB + "\n# About g.\ndef g(): 1\n",
        ),
        (
            "def f(x):\n    return x\n\n    # Secret.\n\n\ny = 1\n",
            "def f(x):\n" + STUB + "\n\ny = 1\n",
        ),
        ('def f(x):\n    "Größe: ∂x"; return x\n', 'def f(x):\n    "Größe: ∂x"\n' + STUB),
    ],
)
def test_the_stub_of_an_odd_function(hello, source, expected):
    assert skeleton.make_skeleton(source, with_target(hello, "f")) == expected


def test_a_long_todo_is_wrapped(hello):
    exercise = dataclasses.replace(hello.exercises[1], todo="word " * 60)
    made = skeleton.make_skeleton(
        small_course.HELLO, dataclasses.replace(hello, exercises=(exercise,))
    )
    lines = [line for line in made.splitlines() if line.startswith("        # ")]
    assert max(map(len, lines)) <= 100
    assert (
        " ".join(line.strip()[2:] for line in lines) == "TODO(hello.grow): " + "word " * 59 + "word"
    )


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("lost", "no definition of 'lost' in toy/hello.py"),
        ("Box", "is a class. Name one of its methods"),
        ("greet.text", "no definition of 'greet.text'"),
    ],
)
def test_a_target_must_be_one_function(hello, target, message):
    with pytest.raises(Problem, match=message):
        skeleton.make_skeleton(small_course.HELLO, with_target(hello, target))


def test_a_target_defined_twice_is_refused(hello):
    with pytest.raises(Problem, match="'f' is defined 2 times"):
        skeleton.make_skeleton("def f(): 1\ndef f(): 2\n", with_target(hello, "f"))


@pytest.mark.parametrize("indent", ["", "    ", "        "])
def test_a_replacement_may_have_any_indentation(indent):
    rows = ["def grow(self):", '    """One.', "", "    Two.", '    """', '    return """a']
    new = "\n".join(indent + row if row else "" for row in rows) + '\n    b\n"""'
    made = skeleton.replace_function(small_course.HELLO, "Box.grow", new)
    box = made[made.index("    def grow") :]
    assert box == (
        '    def grow(self):\n        """One.\n\n        Two.\n        """\n'
        '        return """a\n    b\n"""\n'
    )


@pytest.mark.parametrize("new", ["def other(): 1", "x = 1", "def grow(: 1", "def grow(): 1\nx = 1"])
def test_a_replacement_defines_the_target_and_nothing_else(new):
    with pytest.raises(Problem):
        skeleton.replace_function(small_course.HELLO, "Box.grow", new)


def test_contains_knows_names_from_their_beginnings():
    assert skeleton.contains("Box", "Box.grow")
    assert skeleton.contains("Box.grow", "Box.grow")
    assert not skeleton.contains("Box", "Boxes")
    assert not skeleton.contains("Box.grow", "Box")


# ------------------------------------------------------------------------------------------
# The real lessons

REAL = [lesson for lesson in manifest.load().values() if lesson.module]
each_lesson = pytest.mark.parametrize("lesson", REAL, ids=[x.id for x in REAL])


@each_lesson
def test_filling_every_exercise_in_gives_the_reference_back(lesson):
    reference = assemble.read_solution(lesson.module)
    source = skeleton.make_skeleton(reference, lesson)
    for exercise in lesson.exercises:
        assert skeleton.definition(source, exercise.target) in source
        filled = skeleton.replace_function(
            source, exercise.target, skeleton.definition(reference, exercise.target)
        )
        assert filled != source
        source = filled
    assert source == reference


@each_lesson
def test_the_skeleton_imports_beside_the_lessons_before_it(lesson, tmp_path):
    source = skeleton.make_skeleton(assemble.read_solution(lesson.module), lesson)
    assemble.write_tree(tmp_path, lesson, {lesson.module: source})
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import {lesson.module_name}"
    subprocess.run([sys.executable, "-I", "-W", "error", "-c", code], check=True)


@each_lesson
def test_the_skeleton_is_as_ruff_formats_it(lesson):
    source = skeleton.make_skeleton(assemble.read_solution(lesson.module), lesson)
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", "100", "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=True)
    assert done.stdout == source


@each_lesson
def test_no_line_of_a_solution_is_left(lesson):
    reference = assemble.read_solution(lesson.module)
    made = skeleton.make_skeleton(reference, lesson)
    for exercise in lesson.exercises:
        body = ast.parse(skeleton.definition(made, exercise.target).strip()).body[0].body
        assert [type(node) for node in body if not isinstance(node, ast.Expr)] == [ast.Raise]
