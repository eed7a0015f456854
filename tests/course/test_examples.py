"""Worked examples run once on the reference, and what they left is kept as long as it is true."""

import dataclasses
import re

import pytest
import small_course

from autograder.lessons import (
    assemble,
    examples,
    explored,
    manifest,
    page,
    page_outputs,
    places,
    skeleton,
    traced,
)
from autograder.lessons.problem import Problem
from autograder.upkeep import sync

PAGE = """# Greeting people

```python exec="on" source="above" session="hello"
from toy import greet

name = "Ada"
```

{{ exercise hello.greet }}

```python exec="on" source="above" session="hello"
print("to", name)
greet(name)
```
"""
RAISING = """# Greeting people

```python exec="on" source="above" session="hello"RAISES
CODE
```
"""
FILE = "course/lessons/01_hello/lesson.md"


@pytest.fixture
def hello(monkeypatch, tmp_path):
    small_course.write(monkeypatch, tmp_path, {FILE: PAGE})
    return manifest.get("hello")


def test_they_run_in_order_and_the_value_of_a_last_expression_is_shown(hello):
    shown = [
        {"output_type": "stream", "name": "stdout", "text": ["to Ada\n"]},
        {
            "output_type": "execute_result",
            "execution_count": None,
            "metadata": {},
            "data": {"text/plain": ["'Hello,\\nAda:'"]},
        },
    ]
    assert examples.outputs(hello) == {3: [], 11: shown}


def test_what_they_left_is_kept_until_page_or_reference_change(hello, tmp_path, monkeypatch):
    runs, run = [], page_outputs.run
    monkeypatch.setattr(page_outputs, "_known", {})
    monkeypatch.setattr(page_outputs, "run", lambda *args: runs.append(1) or run(*args))
    first = examples.outputs(hello)
    assert (examples.outputs(hello), len(runs)) == (first, 1)
    reference = tmp_path / "solutions/toy/hello.py"
    reference.write_text(reference.read_text().replace("Hello", "Hallo"))
    assert "Hallo" in str(examples.outputs(hello)[11])
    page = hello.folder / "lesson.md"
    page.write_text(page.read_text().replace("Ada", "Grace"))
    assert "Grace" in str(examples.outputs(hello)[11])
    assert len(runs) == 3


def test_what_came_with_the_course_is_taken_without_a_run_until_it_is_of_another_program(
    monkeypatch, tmp_path
):
    def run(*job):
        raise Problem("It was run.")

    small_course.write(monkeypatch, tmp_path)
    sync.sync(check=False)
    monkeypatch.setattr(page_outputs, "_known", {})
    monkeypatch.setattr(page_outputs, "run", run)
    hello = manifest.get("hello")
    assert "stream" in str(examples.outputs(hello))
    file = tmp_path / "course/outputs/hello.json"
    file.write_text(file.read_text(encoding="utf-8").replace('"of": "', '"of": "other'))
    with pytest.raises(Problem, match="It was run"):
        examples.outputs(hello)


@pytest.mark.slow
@pytest.mark.parametrize("lesson", list(manifest.load().values()), ids=lambda lesson: lesson.id)
def test_what_is_kept_is_what_the_programs_of_the_page_leave_now(lesson, monkeypatch):
    """On this Python, and with these libraries; `sync` may have run on others.

    How many times as fast something is was measured, and is another number each time.
    """
    before = (places.ROOT / page_outputs.FOLDER / f"{lesson.id}.json").read_text(encoding="utf-8")
    monkeypatch.setattr(page_outputs.Place, "left", lambda place, run: run())
    makers = (examples.all_outputs, traced.all_outputs, explored.all_outputs)
    found = {place: left for make in makers for place, left in make(lesson).items()}
    now = page_outputs.text(found)
    assert MEASURED.sub("N times as fast", now) == MEASURED.sub("N times as fast", before)


MEASURED = re.compile(r"\d+ times as fast")


@pytest.mark.parametrize(
    ("raises", "code", "complaint"),
    [
        ("", "1 / 0", "should raise nothing, and raises ZeroDivisionError: division by zero."),
        ("KeyError", "1 / 0", "should raise KeyError, and raises ZeroDivisionError: division by"),
        ("KeyError", "1", "should raise KeyError, and raises nothing."),
        ("", "1 +", "should raise nothing, and raises SyntaxError: invalid syntax"),
    ],
)
def test_another_error_than_the_page_promises_is_told(hello, raises, code, complaint):
    promise = f' raises="{raises}"' if raises else ""
    page = RAISING.replace("RAISES", promise).replace("CODE", code)
    (hello.folder / "lesson.md").write_text(page)
    with pytest.raises(Problem, match="lesson.md, line 3: The example " + complaint):
        examples.outputs(hello)


def test_an_example_that_ends_python_is_told(hello):
    page = RAISING.replace("RAISES", "").replace("CODE", "import sys; sys.exit('gone')")
    (hello.folder / "lesson.md").write_text(page)
    with pytest.raises(Problem, match=r"lesson.md, line 1: An example fails \(gone\)"):
        examples.outputs(hello)


END = "\n## First sitting ends here\n"
DIVIDED = [x for x in manifest.load().values() if x.exercises and END in page.read(x)]


@pytest.mark.parametrize("lesson", DIVIDED, ids=lambda lesson: lesson.id)
def test_what_ends_the_first_sitting_runs_on_its_exercises_alone(lesson):
    before = page.read(lesson).partition(END)[0]
    about = examples._page(lesson)
    place = sum(example.line < before.count("\n") for example in about.examples)
    wanted, tree = [*examples.outputs(lesson).values()][place], half_done(lesson, before)
    half = dataclasses.replace(about, tree=tree, examples=about.examples[: place + 1])
    assert half.run()[place] == wanted


def half_done(lesson, before):
    """The tree of a lesson in which only the exercises of a part of its page are done."""
    done = {x.target for x in lesson.exercises if f"{{{{ exercise {x.id} }}}}" in before}
    solution = assemble.read_solution(lesson.module)
    pieces = skeleton.pieces(
        assemble.read_handout(lesson.module), [exercise.target for exercise in lesson.exercises]
    )
    module = "".join(
        f"{skeleton.definition(solution, target).rstrip()}\n" if target in done else text
        for target, text in pieces
    )
    return {**assemble.files_of(manifest.needed(lesson)), lesson.module: module}
