"""A lesson's notebook as an assignment has it: with its points, and with places for comments.

Before the grade cell of each exercise is a cell in which the intake shows the function that was
handed in: nbgrader lets a person comment on such cells only. The code that loads saved files anew
and runs checks is in a file beside the notebook, out of the way.

Under `nbgrader validate` that file lets only the checks run, all of them by one pytest: to start it
and to import the package takes most of the time.
"""

import json
from collections.abc import Iterator
from typing import Any

from autograder.classroom.course.settings import Assignment, cell_name
from autograder.lessons import notebook
from autograder.lessons.manifest import Lesson
from autograder.lessons.problem import Problem

Cell = dict[str, Any]
CODE = "-code"  # ends the names of the cells that show functions


def texts(assignment: Assignment) -> dict[str, str]:
    """The files that belong to the notebooks of an assignment, by name."""
    files: dict[str, str] = {}
    made = notebook.texts(assignment.lessons)
    for lesson, text in zip(assignment.lessons, made, strict=True):
        document = json.loads(text)
        files[f"setup_{lesson.id}.py"] = _take_setup(document, lesson, assignment)
        document["cells"] = list(_cells(document["cells"], lesson, assignment))
        _check_graded(document["cells"], lesson, assignment)
        text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
        files[f"{lesson.id}.ipynb"] = text
    return files


def checks_name(lesson: Lesson, assignment: Assignment) -> str:
    """The name of the file with a lesson's visible checks."""
    return "checks.py" if len(assignment.lessons) == 1 else f"checks_{lesson.id}.py"


_RUN = '''
VALIDATING = "NBGRADER_VALIDATING" in os.environ
EXERCISES = {exercises}
OPTIONS = ["-q", "--tb=short", "--rootdir=.", "--confcutdir=.", "-c", os.devnull]
OPTIONS += ["-p", "no:cacheprovider", "{checks}"]
SESSION = """
import contextlib, io, json, sys, pytest
options, names = json.loads(sys.argv[1])
owners, wrong = {{}}, {{name: [] for name in names}}

class ByExercise:
    def pytest_collection_modifyitems(self, items):
        marks = {{item.nodeid: item.get_closest_marker("exercise") for item in items}}
        owners.update({{test: mark.args[0] for test, mark in marks.items() if mark}})

    def pytest_runtest_logreport(self, report):
        if report.failed and owners.get(report.nodeid) in wrong:
            wrong[owners[report.nodeid]] += [report.head_line, report.longreprtext, ""]

said, chosen = io.StringIO(), [word for name in names for word in ("--exercise", name)]
with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
    status = pytest.main([*options, *chosen], plugins=[ByExercise()])
found = {{name: [bool(lines), chr(10).join(lines)] for name, lines in wrong.items()}}
if len(names) == 1 or status not in (0, 1):  # one exercise's, or no test has run
    found = {{name: [bool(status), said.getvalue()] for name in names}}
print()
print(json.dumps(found))
"""
known = {{}}  # whether the checks of an exercise failed, and what was said, while it is validated


def check(name):
    """Run an exercise's checks, or all of the lesson. A failure goes to stderr, for nbgrader."""
    failed, said = validated(name) if VALIDATING else sessions([name])[name]
    print(said, file=sys.stderr if failed else sys.stdout)


def validated(name):
    if not known:
        known.update(sessions(EXERCISES))
    if name in known:
        return known[name]
    wrong = [exercise for exercise in EXERCISES if known[exercise][0]]
    return bool(wrong), "The checks of these exercises fail: " + ", ".join(wrong)


def sessions(names):
    """Run the checks of these exercises in one process; if that dies, of each in its own."""
    command = [sys.executable, "-c", SESSION, json.dumps([OPTIONS, names])]
    alone = {{**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}}
    done = subprocess.run(command, capture_output=True, text=True, env=alone)
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    if len(names) > 1:
        return {{name: sessions([name])[name] for name in names}}
    return {{names[0]: [True, "The checks did not end. " + done.stdout + done.stderr]}}


def only_checks(lines):
    """Leave out the cells without checks: `nbgrader validate` looks at no other."""
    return lines if any(line.startswith("check(") for line in lines) else []


if VALIDATING:
    get_ipython().input_transformers_cleanup.append(only_checks)
else:
    {watch}'''


def _take_setup(document: dict[str, Any], lesson: Lesson, assignment: Assignment) -> str:
    """The text of a file that loads what was saved, and runs checks; the set-up cell imports it."""
    cell = next(cell for cell in document["cells"] if cell["cell_type"] == "code")
    cell["source"] = [
        f"# Run this cell first. Every cell after it uses {lesson.module} as you last saved it.\n",
        f"import setup_{lesson.id}",
    ]
    cell["metadata"] = {}
    asked = [exercise.id for exercise in lesson.exercises]
    run = _RUN.format(exercises=asked, checks=checks_name(lesson, assignment), watch=notebook.WATCH)
    return f"import json\nimport subprocess\n{notebook.loader(lesson)}\n{run}"


BY_COMMAND = ", and type `./jaxprentice run FILE`"  # a class has the notebook, and no command


def _cells(cells: list[Cell], lesson: Lesson, assignment: Assignment) -> Iterator[Cell]:
    """The cells, with this assignment's own."""
    exercises = {cell_name(exercise.id): exercise for exercise in lesson.exercises}
    checked = {name: exercise.id for name, exercise in exercises.items()}
    checked |= {cell_name(lesson.whole.id): lesson.id} if lesson.whole else {}
    for i, cell in enumerate(cells):
        name = cell.get("id", "")
        if name in checked:
            run = f"from setup_{lesson.id} import check\n", "\n", f'check("{checked[name]}")'
            cell["source"] = [*run]
        if cell["cell_type"] == "markdown":
            text = "".join(cell["source"]).replace(BY_COMMAND, "")
            cell["source"] = text.splitlines(keepends=True)
        if name in exercises:
            exercise = exercises[name]
            if not exercise.points:
                yield _markdown(f"{name}-given", "This function is given: nothing is to be done.")
            yield _shown(name + CODE, f"{exercise.target} of {lesson.module}")
        following = cells[i + 1] if i + 1 < len(cells) else {}
        if following.get("id") == f"{lesson.id}-question":
            cell["source"] = _asked(cell["source"], assignment.question)
        if name == f"{lesson.id}-question":
            cell["metadata"]["nbgrader"]["points"] = assignment.question
        if cell["source"] and "".join(cell["source"]).startswith("## Playground"):
            yield from _open_task(lesson, assignment)
        yield cell


def _asked(source: list[str], points: float) -> list[str]:
    """The text of the written question, with other points."""
    text = "".join(source)
    usual = f"({notebook.QUESTION_POINTS:g} points;"
    if usual not in text:
        raise Problem(f"The notebook does not say {usual!r}. Put it next to the written question.")
    return text.replace(usual, f"({points:g} points;").splitlines(keepends=True)


def _open_task(lesson: Lesson, assignment: Assignment) -> Iterator[Cell]:
    """The cell for the open task, whose points a person gives."""
    points = assignment.open.get(lesson.id)
    if points:
        name = f"{lesson.id}-open"
        files = [open_files(part)[0] for part in assignment.open_tasks(lesson)]
        listed = ", ".join(f"`{file}`" for file in files)
        where = f"Write it in {listed}."
        if len(files) > 1:
            where = f"Your instructor says which of these is yours, and only it counts: {listed}."
        text = f"## The open task\n\n{where} A person reads it and gives up to {points:g} points."
        yield _markdown(f"{name}-text", text)
        yield _shown(name, files[0] if len(files) == 1 else "your open task", points)


def open_files(lesson: Lesson) -> list[str]:
    """Where the open task of a lesson may be: below `tasks/`, beside the module, or on top."""
    name = f"open_{lesson.id}.py"
    return [f"tasks/{name}", f"{lesson.package}/{name}", name]


def _markdown(name: str, text: str) -> Cell:
    lines = text.splitlines(keepends=True)
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": lines}


def _shown(name: str, what: str, points: float | None = None) -> Cell:
    """A cell in which the intake shows a piece of what was handed in, for comments beside it."""
    about: dict[str, Any] = {
        "grade": points is not None,
        "grade_id": name,
        "locked": False,
        "schema_version": 3,
        "solution": True,
        "task": False,
    }
    if points is not None:
        about["points"] = points
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": name,
        "metadata": {"nbgrader": about},
        "outputs": [],
        "source": [f"# {what}\n", "### BEGIN SOLUTION\n", "### END SOLUTION"],
    }


def _check_graded(cells: list[Cell], lesson: Lesson, assignment: Assignment) -> None:
    """Complain about an exercise that the page forgets: it would have no grade cell."""
    marks = [cell["metadata"].get("nbgrader", {}) for cell in cells]
    graded = {mark["grade_id"] for mark in marks if mark.get("grade")}
    for exercise in lesson.exercises:
        if cell_name(exercise.id) not in graded:
            line = f"{{{{ exercise {exercise.id} }}}}"
            raise Problem(f"{lesson.folder / 'lesson.md'} has no line `{line}`. Add it.")
    odd = graded ^ set(assignment.cells(lesson))
    if odd:
        raise Problem(f"The notebook of {lesson.id} and its points do not both have {odd.pop()}.")
