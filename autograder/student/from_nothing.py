"""What is written from an empty page: its checks, and the card that says what it is.

The file is checked as it would be if it were a package: by its public names, and alone.
"""

import ast
import shutil
import symtable
import sys
import tempfile
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from autograder.lessons import manifest, module_rules, nothing, skeleton
from autograder.lessons.manifest import Exercise, Lesson
from autograder.lessons.nothing import Task
from autograder.lessons.problem import Problem
from autograder.student import checks, explain, extras, latest, table
from autograder.student.checks import DONE, Error, Report, Stub
from autograder.student.screen import print_lines
from autograder.student.workspace import Workspace


def named(place: Workspace, name: str | None) -> Task | None:
    """The task that a name means: its id, its file, or "nothing" for the one at hand."""
    known = nothing.all_tasks()
    last = Path(name or "").name.removesuffix(".py")
    if last == nothing.FOLDER and known:
        written = latest.saved(place)
        left = [task for task in known.values() if not is_done(place, task)]
        return written if isinstance(written, Task) else [*left, *known.values()][0]
    return known.get(last)


def check(place: Workspace, task: Task, lesson: Lesson | None = None) -> int:
    """Check one file, or what it has of a lesson; say what was found, and return the status."""
    report = run(place, task)
    asked = [x for x in task.parts if lesson is None or x.id == f"{task.id}.{lesson.id}"]
    if report.broken:
        print(f"{task.file} cannot be checked.")
        print_lines(explain.broken(report), "  ")
        return 1
    print(task.title)
    table.show(report)
    left = [x for x in asked if report.status(x) != DONE]
    wrong = next((x for x in left if report.failure(x)), None)
    if wrong and (failure := report.failure(wrong)):
        name = wrong.id.partition(".")[2]
        print(f"\nThe {name} lesson in {task.file} is not right yet.")
        print_lines(explain.explain(report, failure), "  ")
    if left:
        print()
        print_lines(next_step(task, source(place, task), left[0], wrong))
    elif report.complete:
        tell_end(place, task)
    elif lesson:
        print(f"\nThe lesson {lesson.id} is complete in {task.file}.")
    return 1 if left else 0


def next_step(task: Task, text: bytes, left: Exercise, wrong: Exercise | None) -> list[str]:
    """What to do now: change what is wrong, or write what is not there."""
    again = f"./jaxprentice check {task.file}"
    if wrong:
        return [f"Next: change {task.file}, then {again}"]
    lacking = [name for name in asked(task, left) if name not in defined(text)]
    return [
        f"Next: write {', '.join(lacking)} in {task.file}.",
        f"What they do is in {nothing.FOLDER}/{task.id}.md. Then: {again}",
    ]


def run(place: Workspace, task: Task) -> Report:
    """Check a task's file, and remember what was found for each lesson."""
    report = judge(task, source(place, task))
    found = {"of": _mark(place, task), "done": [] if report.broken else report.done}
    place.remember(nothing.FOLDER, task.id, found)
    for lesson in map(manifest.get, task.lessons):
        if place.page(lesson) == task:
            right = f"{task.id}.{lesson.id}" in report.done and not report.broken
            done = [exercise.id for exercise in lesson.exercises] if right else []
            place.remember("checked", lesson.id, {"of": place.fingerprint(lesson), "done": done})
    return report


def source(place: Workspace, task: Task) -> bytes:
    """What the student wrote; outside a workspace the empty page."""
    if not place.own:
        return task.begin.encode()
    try:
        return (place.root / task.file).read_bytes()
    except FileNotFoundError:
        raise Problem(
            f"{task.file} is missing. `./jaxprentice update` puts an empty page there."
        ) from None


def is_done(place: Workspace, task: Task) -> bool:
    """Whether all was right when the file was checked as it is now."""
    last = place.record.get(nothing.FOLDER, {}).get(task.id, {"of": "", "done": []})
    return len(last["done"]) == len(task.lessons) and last["of"] == _mark(place, task)


def _mark(place: Workspace, task: Task) -> str:
    """A hash of the student's file and of its checks."""
    file = place.root / task.file
    text = file.read_bytes() if file.is_file() else b""
    return sha256(text + task.checks_file.read_bytes()).hexdigest()


# ------------------------------------------------------------------------------------------
# The judge


def judge(task: Task, text: bytes) -> Report:
    """What the checks find in a file, by lesson."""
    lesson = manifest.get(task.after)
    if error := checks.unfit(task.file, text) or needs_others(task, text):
        return Report(lesson, task.parts, broken=error)
    with tempfile.TemporaryDirectory(prefix="check-") as name:
        folder = Path(name).resolve()
        checks.add_runner(folder)
        (folder / nothing.FOLDER).mkdir()
        shutil.copy(task.checks_file, folder / nothing.FOLDER)
        whole = skeleton.with_statement(text.decode(), "; ".join(map(stand_in, public(task))))
        (folder / task.file).write_bytes(whole.encode())
        words = [f"{nothing.FOLDER}/{task.checks_file.name}"]
        events, end = checks.watch(folder, words)
    report = checks.make_report(lesson, task.parts, events, end, {})
    return replace(report, stubs=not_begun(report))


def needs_others(task: Task, text: bytes) -> Error | None:
    """What a file imports that does not come with Python: it is to run alone."""
    for line, name in module_rules.imported(text):
        if name not in sys.stdlib_module_names:
            why = f"{task.file}, line {line}, imports {name[: module_rules.LONGEST]}."
            return Error(checks.REFUSED, f"{why} It must run alone, with Python and nothing else.")
    return None


def public(task: Task) -> list[str]:
    """The names that the checks take from the file."""
    wanted = f"{nothing.FOLDER}.{task.id}"
    for node in ast.parse(task.checks_file.read_bytes()).body:
        if isinstance(node, ast.ImportFrom) and node.module == wanted:
            return [alias.name for alias in node.names]
    return []


def asked(task: Task, part: Exercise) -> list[str]:
    """The public names that the checks of a part use."""
    section, used = "", set()
    for node in ast.parse(task.checks_file.read_bytes()).body:
        match node:
            case ast.Expr(ast.Call(ast.Name("exercise"), [ast.Constant(str(name))])):
                section = name
        if section == part.id:
            used |= {x.id for x in ast.walk(node) if isinstance(x, ast.Name)}
    return [name for name in public(task) if name in used]


def defined(text: bytes) -> set[str]:
    """The names that a file defines at its top level."""
    table = symtable.symtable(text.decode(), "", "exec")
    return {x.get_name() for x in table.get_symbols() if x.is_assigned() or x.is_imported()}


ABSENT = " is not there yet"


def stand_in(name: str) -> str:
    """A definition of a public name that holds until the file has its own, which comes later."""
    if name[0].isupper():
        return f"exec('class {name}: stand_in = True')"
    return f"exec('def {name}(*args, **kwargs): raise NameError(\"{name}{ABSENT}\")')"


def not_begun(report: Report) -> dict[str, Stub]:
    """The parts in which nothing is wrong, only not there: they are still to do."""
    wrong = {
        x.exercise for x in report.outcomes if x.error and not x.error.message.endswith(ABSENT)
    }
    return {x.id: Stub(1, alone=True) for x in report.exercises if x.id not in wrong}


# ------------------------------------------------------------------------------------------
# The end


def tell_end(place: Workspace, task: Task) -> None:
    """The card, and, now that it gives nothing away, where the course's own file is."""
    text = source(place, task)
    with tempfile.TemporaryDirectory(prefix="alone-") as name:
        (Path(name) / f"{task.id}.py").write_bytes(text)
        printed = extras.run(task.milestone, Path(name))
    print()
    print_lines(card(task, text))
    print()
    print_lines(printed, "    ")
    if task.solution.exists():
        print(f"\nThe course's own, to compare: {task.solution}")


def card(task: Task, text: bytes) -> list[str]:
    """What was written, in a frame."""
    rows = [
        task.title.upper(),
        f"{skeleton.lines_of_code(text.decode())} lines of code, from an empty page, by me",
        *(f"  {part.title}" for part in task.parts),
        f"{task.id}.py runs on its own: it needs Python, and nothing else",
    ]
    width = max(map(len, rows))
    edge = f"+{'-' * (width + 4)}+"
    return [edge, *(f"|  {row:<{width}}  |" for row in rows), edge]
