"""Notebooks are valid, repeatable, gradable by nbgrader, and free of the site's own syntax."""

import base64
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
import small_course

from autograder.lessons import assemble, manifest, notebook
from autograder.lessons.problem import Problem
from autograder.student import check_plugin, checks

PAGE = """# Greeting people { #top .big }

{{ lesson }}

!!! note "Mind this"
    A box.

    ```python title="x"
    a = {1: 2}
    ```

???+ question
    Why? See [the `map` part](../03_bye/lesson.md#top){ .external } and [this](https://a.example/b).

=== "Tab"

    Inside.

## A part

<div class="stepper" markdown>

1. One \\(x_{i=1}\\), `f[0](x){a=1}` and `#!python y`.

</div>

![A picture](box.svg){ width="300" }

{{ source toy/hello.py given }}

```python exec="on" source="above" session="hello"
a = 1  # markdown-exec: hide
print(a)
```

```python exec="on" html="on"
print("<svg>")
```

```python exec="on" source="above" raises="ValueError"
int("a")
```

{{ exercise hello.greet }}
{{ exercise hello.grow }}
"""


@pytest.fixture
def hello(monkeypatch, tmp_path):
    files = {"course/lessons/01_hello/lesson.md": PAGE, "course/lessons/01_hello/box.svg": "<svg/>"}
    small_course.write(monkeypatch, tmp_path, files)
    return manifest.get("hello")


def sources(made, kind):
    return ["".join(cell["source"]) for cell in made["cells"] if cell["cell_type"] == kind]


def test_examples_become_code_cells_and_hidden_ones_are_left_out(hello):
    setup, *code = sources(notebook.make(hello), "code")
    assert setup.startswith("# Run this cell first.")
    assert [cell for cell in code if "pytest" not in cell] == ["a = 1\nprint(a)", 'int("a")', ""]


def test_the_page_to_read_leaves_the_hints_to_the_command(hello):
    text = notebook.reading(hello, pages=())
    assert "./jaxprentice check hello.grow\n./jaxprentice hint hello.grow " in text
    assert not [hint for exercise in hello.exercises for hint in exercise.hints if hint in text]


def test_an_example_that_raises_does_not_stop_the_notebook(hello):
    tagged = [c["source"] for c in notebook.make(hello)["cells"] if "tags" in c["metadata"]]
    assert tagged == [['int("a")']]


def test_below_an_example_is_nothing_that_a_reader_is_to_guess(hello):
    file = hello.folder / "lesson.md"
    asked = 'result="guess" session="hello"\na = 1'
    file.write_text(file.read_text().replace('session="hello"\na = 1', asked))
    (cell,) = [c for c in notebook.make(hello)["cells"] if "a = 1" in "".join(c["source"])]
    assert (cell["cell_type"], cell["outputs"]) == ("code", [])


def test_below_an_example_is_what_the_reference_left_there_and_that_is_said(hello):
    made = notebook.make(hello)
    marked = [c for c in made["cells"] if "jaxprentice" in c["metadata"]]
    assert [cell["outputs"] for cell in marked] == [
        [{"output_type": "stream", "name": "stdout", "text": ["1\n"]}],
        [
            {
                "output_type": "error",
                "ename": "ValueError",
                "evalue": "invalid literal for int() with base 10: 'a'",
                "traceback": ["ValueError: invalid literal for int() with base 10: 'a'"],
            }
        ],
    ]
    assert {cell["metadata"]["jaxprentice"]["outputs"] for cell in marked} == {"reference"}
    assert "comes from the course's own solution" in sources(made, "markdown")[1]
    others = [c for c in made["cells"] if c["cell_type"] == "code" and c not in marked]
    assert not any(cell["outputs"] for cell in others)


def test_each_exercise_has_one_locked_grade_cell_with_its_points(hello):
    cells = [c for c in notebook.make(hello)["cells"] if "nbgrader" in c["metadata"]]
    assert [cell["metadata"]["nbgrader"] for cell in cells] == [
        {
            "grade": True,
            "grade_id": name,
            "locked": True,
            "points": points,
            "schema_version": 3,
            "solution": False,
            "task": False,
        }
        for name, points in [("hello-greet", 2.0), ("hello-grow", 1.5)]
    ]
    assert [cell["id"] for cell in cells] == ["hello-greet", "hello-grow"]


CHECKS = """\
import pytest

@pytest.mark.exercise("hello.greet")
def test_greeting():
    assert "hallo" == "hello"

@pytest.mark.exercise("hello.grow")
def test_growth():
    assert 2 == 2
"""


def test_a_check_cell_writes_to_stderr_when_a_check_fails_and_only_then(hello, tmp_path):
    # nbgrader validate calls a cell failed, and shows what it wrote, if that went to stderr.
    (tmp_path / "conftest.py").write_text(Path(check_plugin.__file__).read_text())
    (tmp_path / "checks.py").write_text(CHECKS)
    for helper in checks.HELPERS:
        shutil.copy(helper, tmp_path)
    greet, grow = (cell for cell in sources(notebook.make(hello), "code") if "pytest" in cell)
    wrong, right = (
        subprocess.run(
            [sys.executable, "-c", cell], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        for cell in (greet, grow)
    )
    assert "'hallo' == 'hello'" in wrong.stderr
    assert "1 failed" in wrong.stderr
    assert wrong.stdout == right.stderr == ""
    assert "1 passed" in right.stdout


def test_in_a_workspace_a_check_cell_runs_the_command_from_the_folder_of_the_package(
    hello, tmp_path
):
    place = tmp_path / "work"
    (place / "lessons" / "01_hello").mkdir(parents=True)
    (place / "toy").mkdir()
    (place / "jaxprentice").write_text("import sys\nprint(sys.argv[1:])")
    setup, *code = sources(notebook.make(hello, notebook.WORKSPACE), "code")
    check = next(cell for cell in code if "jaxprentice" in cell)
    done = subprocess.run(
        [sys.executable, "-c", CELLS_ALONE.format(cells=[setup, check])],
        cwd=place / "lessons" / "01_hello", capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "['check', 'hello.greet']"


CELLS_ALONE = """
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
for cell in {cells!r}:
    shell.run_cell(cell)
"""


def test_the_written_question_is_a_cell_that_a_person_grades(hello):
    asked = replace(hello, question="Why?")
    (cell,) = [c for c in notebook.make(asked)["cells"] if c.get("id") == "hello-question"]
    about = cell["metadata"]["nbgrader"]
    assert (cell["cell_type"], about["points"]) == ("markdown", notebook.QUESTION_POINTS)
    assert (about["grade"], about["solution"], about["locked"]) == (True, True, False)
    assert "Why?" in notebook.text(asked)
    assert "hello-question" not in notebook.text(hello)


def test_the_sites_own_syntax_becomes_plain_markdown(hello):
    text = "\n\n".join(sources(notebook.make(hello), "markdown"))
    assert text.startswith("# 1. Greeting people\n")
    assert "> **Mind this**\n>\n> A box.\n>\n> ```python\n> a = {1: 2}\n> ```\n" in text
    assert (
        "<details><summary><b>Question</b></summary>\n\n"
        "Why? See the `map` part and [this](https://a.example/b).\n\n</details>" in text
    )
    assert "**Tab**\n\nInside.\n" in text
    assert "\n1. One $x_{i=1}$, `f[0](x){a=1}` and `y`.\n" in text
    assert "![A picture](attachment:box.svg)\n" in text
    assert "```python\ndef given(x: int) -> int:\n" in text
    assert text.count("<summary><b>Hint ") == 6
    assert not re.search(r"^\s*(!!!|\?\?\?|===|<div|</div)", text, re.MULTILINE)


def test_sections_are_cells_of_their_own(hello):
    starts = [text.split("\n")[0] for text in sources(notebook.make(hello), "markdown")]
    assert starts == [
        "# 1. Greeting people",
        "## Before you begin",
        "## A part",
        "### Exercise: A greeting",
        "### Exercise: A box that grows",
        "## Playground",
    ]


CELLS = """
import pathlib, sys
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
sys.path.insert(0, "")
shell.run_cell(sys.stdin.read())
shell.run_cell("import toy as t; from toy import hello, bye; from toy.hello import LIMIT, box")
shell.run_cell("x = 3")
file = pathlib.Path("toy/hello.py")
file.write_text("LIMIT = 44\\nclass Box: pass\\nbox = Box()\\n")
shell.run_cell("print(x, hello.LIMIT, type(box) is hello.Box, t.bye.is_box(box), bye.is_box(box))")
file.write_text("LIMIT = ")
shell.run_cell("print(hello.LIMIT)")
file.write_text("class Box: pass\\nbox = 5\\n")
shell.run_cell("print(bye.is_box(box), box, hasattr(hello, 'LIMIT'))")
"""


def test_after_the_setup_cell_a_saved_edit_reaches_every_module(hello, tmp_path):
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy/__init__.py").write_text("from toy import bye\n")
    (tmp_path / "toy/hello.py").write_text("LIMIT = 3\nclass Box: pass\nbox = Box()\n")
    (tmp_path / "toy/bye.py").write_text(
        "from toy.hello import Box\n\n\ndef is_box(x):\n    return isinstance(x, Box)\n"
    )
    setup = sources(notebook.make(hello), "code")[0]
    command = [sys.executable, "-B", "-c", CELLS]
    done = subprocess.run(
        command, input=setup, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[0] == "3 44 True True True"
    assert "SyntaxError" in done.stdout + done.stderr
    assert done.stdout.splitlines()[-2:] == ["44", "False 5 False"]


# ------------------------------------------------------------------------------------------
# The small course's and the real lessons

REAL = [lesson for lesson in manifest.load().values() if lesson.exercises]


def test_the_whole_module_has_a_grade_cell_after_the_exercises(monkeypatch, tmp_path):
    manifest_path = "course/lessons/01_hello/lesson.toml"
    changed = small_course.HELLO_TOML.replace("requires = []", "requires = []\nwhole = 2.5")
    small_course.write(monkeypatch, tmp_path, {manifest_path: changed})
    cells = notebook.make(manifest.get("hello"))["cells"]
    graded = [cell for cell in cells if "nbgrader" in cell["metadata"]]
    assert [cell["id"] for cell in graded] == ["hello-greet", "hello-grow", "hello-whole"]
    assert graded[-1]["metadata"]["nbgrader"]["points"] == 2.5
    assert '"--exercise", "hello"' in "".join(graded[-1]["source"])


def check_with_nbgrader(lesson):
    """Validate against nbformat, and check each cell's metadata as nbgrader does."""
    from nbgrader.nbgraderformat import MetadataValidator

    read = nbformat.reads(notebook.text(lesson), as_version=4)
    nbformat.validate(read)
    assert len({cell["id"] for cell in read.cells}) == len(read.cells)
    validator = MetadataValidator()
    for cell in read.cells:
        validator.validate_cell(cell)
    validator.validate_nb(read)
    points = [c.metadata.nbgrader.points for c in read.cells if "nbgrader" in c.metadata]
    asked = [notebook.QUESTION_POINTS] if lesson.question else []
    assert points == [part.points for part in lesson.graded] + asked


def test_the_notebook_is_valid(hello):
    check_with_nbgrader(hello)


@pytest.mark.parametrize("lesson", REAL, ids=[x.id for x in REAL])
def test_a_real_notebook_is_valid(lesson):
    check_with_nbgrader(lesson)


def test_pictures_travel_inside_the_notebook(hello):
    (cell,) = [c for c in notebook.make(hello)["cells"] if "attachments" in c]
    assert base64.b64decode(cell["attachments"]["box.svg"]["image/svg+xml"]) == b"<svg/>"


def test_a_picture_that_is_missing_is_named(hello):
    (hello.folder / "box.svg").unlink()
    with pytest.raises(Problem, match=r"shows box\.svg, which is not in its folder"):
        notebook.make(hello)


@pytest.mark.slow
def test_a_fresh_notebook_runs_from_end_to_end_and_says_what_it_misses(tmp_path):
    from nbclient import NotebookClient

    lesson = manifest.get("duals")
    skeleton = {lesson.module: assemble.read_handout(lesson.module)}
    assemble.write_tree(tmp_path, lesson, skeleton)
    read = nbformat.reads(notebook.text(lesson), as_version=4)
    NotebookClient(read, resources={"metadata": {"path": str(tmp_path)}}).execute()
    code = [cell for cell in read.cells if cell.cell_type == "code"]
    failed = [c for c in code if any(x.output_type == "error" for x in c.outputs)]
    assert failed
    assert [
        c.source.partition("\n")[0] for c in failed if not c.source.startswith("# Needs ")
    ] == []
    assert [c for c in code if c.source.startswith("# Needs ") and c not in failed] == []
