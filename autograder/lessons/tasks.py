"""What a lesson has beyond its exercises: an open task, a module to repair, and a milestone.

Each is a small Python file in the lesson's folder. The first line of its docstring is its title,
the rest says what is asked. `tasks.py` there holds the checks of the first two.

They are files of their own, beside the module, because the module is what is graded: a grade would
be hard to read if half of it were extras, and a program to repair must not be able to break the
package. They cost no points unless the instructor gives some, and then a person grades them: a
hidden suite would fix the names and types that students are to design.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autograder.lessons import places, skeleton
from autograder.lessons.manifest import Lesson
from autograder.lessons.problem import Problem

KINDS = ("open", "repair")  # as in `./jaxprentice check jvp.open`


@dataclass(frozen=True)
class Task:
    """A file in a lesson's folder that begins with what it is for."""

    name: str  # of the file: "open_jvp.py"
    text: str  # the whole file
    title: str
    goal: str  # Markdown
    code: str  # what follows the docstring


def open_task(lesson: Lesson) -> Task:
    """The open task: a goal, and no function to fill in."""
    return _read(lesson, f"open_{lesson.id}.py")


def repair(lesson: Lesson) -> Task:
    """The program that fails a law."""
    return _read(lesson, f"repair_{lesson.id}.py")


def milestone(lesson: Lesson) -> Task:
    """The lines that run on the student's modules once the lesson is complete."""
    return _read(lesson, "milestone.py")


def exist(lesson: Lesson) -> bool:
    """Does the lesson have tasks? Lessons without exercises have none."""
    return (lesson.folder / "tasks.py").is_file()


def solution(task: Task) -> str:
    """The reference's text of a task's file; of a repair, only what changes is in `solutions`."""
    text = places.solution(f"tasks/{task.name}").read_text(encoding="utf-8")
    return _repaired(task.text, text) if task.name.startswith("repair_") else text


def _repaired(given: str, changes: str) -> str:
    """The given program, with the definitions of `changes` replacing its own, and their imports."""
    statements = ast.parse(changes).body
    imports = [ast.unparse(x) for x in statements if isinstance(x, ast.Import | ast.ImportFrom)]
    for target in _changed(statements):
        given = skeleton.replace_function(given, target, skeleton.definition(changes, target))
    start = ast.parse(given).body[0].end_lineno  # of what follows the docstring
    lines = given.splitlines()
    return "\n".join([*lines[:start], *imports, *lines[start:], ""])


def _changed(statements: Sequence[ast.stmt]) -> Iterator[str]:
    """The functions and methods that are defined, as "f" and "Class.f"."""
    for definition in statements:
        if isinstance(definition, ast.FunctionDef):
            yield definition.name
        elif isinstance(definition, ast.ClassDef):
            yield from (f"{definition.name}.{name}" for name in _changed(definition.body))


def _read(lesson: Lesson, name: str) -> Task:
    try:
        text = (lesson.folder / name).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise Problem(
            f"{lesson.folder.name}/{name} is missing. Write the lesson's {name}."
        ) from None
    module = ast.parse(text)
    title, _, goal = (ast.get_docstring(module) or "").partition("\n")
    if not title:
        raise Problem(f"{lesson.folder.name}/{name} has no docstring. Say there what it is for.")
    last = module.body[0].end_lineno
    code = "\n".join(text.splitlines()[last:]).strip() + "\n"
    return Task(name, text, title.rstrip("."), goal.strip() or title, code)
