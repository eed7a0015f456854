"""A skeleton lacks the exercises' bodies and nothing else, and can be filled in again."""

import ast
import dataclasses
import subprocess
import sys

import imports
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


STUB = '    raise NotImplementedError("hello.greet")\n'


def test_decorators_signature_docstring_and_comments_above_stay(hello):
    made = skeleton.make_skeleton(small_course.HELLO, hello)
    assert made == small_course.HELLO.replace(
        '''    # This comment gives the solution away.
    text = f"""Hello,
{name}"""
    return text + mark
    # And so does this one.
''',
        """    raise NotImplementedError("hello.greet")
""",
    ).replace(
        """        self.size += by
        return self
""",
        """        raise NotImplementedError("hello.grow")
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


def test_a_guided_stub_has_the_toolbox_and_what_to_do(hello):
    tools = ("`grow(by)`: makes it larger",)
    exercise = dataclasses.replace(hello.exercises[1], toolbox=tools)
    guided = dataclasses.replace(hello, exercises=(exercise,), way=manifest.GUIDED)
    rows = skeleton.make_skeleton(small_course.HELLO, guided).splitlines()
    end = rows.index('        raise NotImplementedError("hello.grow")')
    assert [row.strip() for row in rows[end - 3 : end]] == [
        "# Toolbox:",
        "# - grow(by): makes it larger",
        "# TODO(hello.grow): Add to the size.",
    ]


def test_a_long_todo_is_wrapped(hello):
    exercise = dataclasses.replace(hello.exercises[1], todo="word " * 60)
    made = skeleton.make_skeleton(
        small_course.HELLO, dataclasses.replace(hello, exercises=(exercise,), way=manifest.GUIDED)
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


def test_lines_of_code_hold_no_words_only():
    source = '"""Words.\n\nMore."""\n\nX = """text\nof two lines"""  # words\n\n# Words.\n'
    function = "def f():\n    'Words.'\n\n    return (\n        X\n    )\n"
    assert skeleton.lines_of_code(source + function) == 6


# ------------------------------------------------------------------------------------------
# The blank way


def blank(lesson):
    return dataclasses.replace(lesson, way=manifest.BLANK)


def test_in_the_blank_way_the_exercises_are_not_there(hello):
    made = skeleton.make_skeleton(small_course.HELLO, blank(hello))
    assert skeleton.functions(made) == ["given", "Box.value"]
    assert "def greet" not in made
    assert [x.id for x in skeleton.missing(made.encode(), hello)] == ["hello.greet", "hello.grow"]


def test_what_is_not_there_is_to_do_and_lines_keep_their_numbers(hello):
    made = skeleton.make_skeleton(small_course.HELLO, blank(hello))
    whole = skeleton.completed(made.encode(), hello).decode()
    assert len(whole.splitlines()) == len(made.splitlines())
    names = {}
    exec(compile(whole, "hello.py", "exec"), names)
    with pytest.raises(NotImplementedError, match=r"^hello\.greet$"):
        names["greet"]("Ada", mark="!")
    with pytest.raises(NotImplementedError, match=r"^hello\.grow$"):
        names["Box"]().grow(2)


@pytest.mark.parametrize(
    "source",
    [
        small_course.HELLO,
        "class Box:\n    def grow(self):\n        pass\n\n\ndef greet():\n    pass\n",
        "def greet(:\n",
    ],
)
def test_a_module_that_has_all_or_is_not_python_stays_as_it_is(hello, source):
    assert skeleton.completed(source.encode(), hello) == source.encode()


@pytest.mark.parametrize(
    ("source", "calls"),
    [
        ("", ["greet()"]),
        ("# Empty.\n", ["greet()"]),
        ('"""Doc."""\nfrom __future__ import annotations  # yes\nx = greet\n', ["x()"]),
        ("@print\ndef other(): pass\n", ["greet()"]),
        ("class Box: ...\n", ["greet()", "Box().grow()"]),
        ("class Box:\n    @property\n    def size(self): return 1\n", ["Box().grow()"]),
        ("class Box:\n    '''Doc.'''\n    more = grow\n", ["Box().more()"]),
    ],
)
def test_stand_ins_find_a_place_in_any_module(hello, source, calls):
    names = {}
    exec(skeleton.completed(source.encode(), hello).decode(), names)
    for call in calls:
        with pytest.raises(NotImplementedError):
            eval(call, names)


@pytest.mark.parametrize(
    "source", ["x = greet\n", "import sys; x = greet\n", "'Doc.'\nx = greet\n"]
)
def test_stand_ins_are_there_from_the_first_statement_on_in_its_line(hello, source):
    whole = skeleton.completed(source.encode(), hello).decode()
    names = {}
    exec(whole, names)
    assert whole.count("\n") == source.count("\n")
    with pytest.raises(NotImplementedError):
        names["x"]()


def test_what_is_written_anywhere_replaces_its_stand_in(hello):
    source = b"import sys\nif sys:\n    greet = len\n"
    names = {}
    exec(skeleton.completed(source, hello).decode(), names)
    assert names["greet"]("Ada") == 3


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
def test_the_skeleton_imports_beside_the_lessons_before_it_and_so_does_a_blank_module(
    lesson, tmp_path
):
    """The blank one with its stand-ins."""
    reference = assemble.read_solution(lesson.module)
    empty = skeleton.make_skeleton(reference, blank(lesson)).encode()
    found = {
        "skeleton": skeleton.make_skeleton(reference, lesson),
        **{name: skeleton.completed(empty, lesson, x) for name, x in (("a", "; "), ("b", "\n"))},
    }
    for name, source in found.items():
        assemble.write_tree(tmp_path / name, lesson, {lesson.module: source})
    imports.each_first([(tmp_path / x, lesson.module_name) for x in found], "-W", "error")


@each_lesson
@pytest.mark.parametrize("way", manifest.WAYS)
def test_the_skeleton_is_as_ruff_formats_it(lesson, way):
    lesson = dataclasses.replace(lesson, way=way)
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
