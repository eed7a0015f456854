"""Puts what the visible checks found into words for the student.

A failed check is told as its property, what was expected and what came, and where: the lines of
the check and of the student's file. Students never see the words of pytest and numpy.testing.
"""

import re
import textwrap

from autograder.grading.words import CUT, NO_RETURN, NO_YIELD, cut, missing, raises, tidy
from autograder.lessons import manifest
from autograder.lessons.manifest import Lesson
from autograder.student import checks
from autograder.student.checks import Error, Frame, Outcome, Report

NO_KEYBOARD = "and a check has no keyboard. Take it out; print() works."

RESET = "begins with a new skeleton, and keeps your file."

# ------------------------------------------------------------------------------------------
# What happened


def explain(report: Report, outcome: Outcome) -> list[str]:
    """A failed test in a few lines: the property, expected and got, and where."""
    error = outcome.error
    assert error
    if outcome.exercise == error.exercise:
        return [left_in(report, error.exercise)]
    return [
        f"This should hold: {outcome.title}",
        *labelled("  where ", outcome.case),
        *("  " + line for line in what_happened(error) if not misleads(report, outcome, line)),
        *smallest(error),
        *where(report, outcome),
        *printed(error),
    ]


def misleads(report: Report, outcome: Outcome, line: str) -> bool:
    """Whether a line suggests a `return` or a `yield`, and the exercise's function has some."""
    target = next((x.target for x in report.lesson.exercises if x.id == outcome.exercise), "")
    missing = report.lacking.get(target, (NO_RETURN, NO_YIELD))
    return line.strip() in (NO_RETURN, NO_YIELD) and line.strip() not in missing


def smallest(error: Error) -> list[str]:
    """The random program for which a check fails, to be copied and run."""
    rows = [row for row in error.program.splitlines() if row.strip()]
    return ["The smallest program found that fails:", *("    " + x for x in rows)] if rows else []


def left_in(report: Report, exercise_id: str) -> str:
    """A stub's line that is still in a function with code."""
    module, stub = report.lesson.module, report.stubs.get(exercise_id)
    line = f"line {stub.line} of {module}" if stub else f"a line of {module}"
    return f"There is code, but {line} still raises NotImplementedError. Remove that line."


def what_happened(error: Error) -> list[str]:
    """Expected and got where the failure tells them, else the failure's own words."""
    if found := sides(error):
        return compared(error, *found)
    if error.type == "AssertionError" and error.message:
        return conditions(error)
    return [f"but {raised(error)}", *no_return(error)]


def raised(error: Error) -> str:
    """An exception, or another end that a check did not expect."""
    if error.timed_out:
        return f"it does not end within {checks.LIMIT:g} seconds. Is there an endless loop?"
    if error.type == "Died":
        return f"{error.message}."
    if error.type == "SystemExit":
        return "it exits Python. Take out exit() or sys.exit()."
    if error.type == "BdbQuit":
        return f"it stops at breakpoint(), {NO_KEYBOARD}"
    if error.message.startswith("pytest: reading from stdin"):
        return f"it waits for input(), {NO_KEYBOARD}"
    if error.type == "ModuleNotFoundError" and (later := manifest.comes_later(error.message)):
        return f"it imports {later}."
    if found := re.match(r"module '((?:open|repair)_\w+)' has no attribute '(\w+)'", error.message):
        also = error.message[found.end() :]  # perhaps the name that was meant
        return f"there is no {found[2]} in tasks/{found[1]}.py{also or '.'}"
    return f"it {raises(error.type, error.message)}"


def no_return(error: Error) -> list[str]:
    """A hint for a tracer among atoms, and for a check that stumbles over a None or a box.

    `with` stumbles over a missing generator.
    """
    if found := re.match(r"unhashable type: '(\w*Tracer)'", error.message):
        return [f"(A {found[1]} is where a variable or a literal belongs: use its atom.)"]
    files = [frame.file for frame in error.frames]
    if is_of_a_box(error.message, files):
        return ["(The check compares what your code returned, but that is still in a box.)"]
    at_the_check = files and is_check(files[-1])
    hint = missing(error.message) if at_the_check else ""
    return [hint] if hint else []


def is_of_a_box(message: str, files: list[str]) -> bool:
    """Whether a line of a check applies an operator to a tracer, which an error speaks of."""
    operators = [i for i, file in enumerate(files) if file == "minijax/array.py"]
    tells = re.match(r"[=!]= of a |\w*Tracer<", message)
    return bool(tells and operators and is_check(files[max(operators[0] - 1, 0)]))


# ------------------------------------------------------------------------------------------
# Expected and got. The rule for the checks: `assert got == expected`.


def sides(error: Error) -> tuple[str, str] | None:
    """What a check compares with, and what the student's code gave, where the failure tells."""
    text = error.message
    if match := re.match(r"DID NOT RAISE (?:<class ')?(.*?)(?:'>)?$", text):
        return f"the exception {match[1]}", "no exception"
    if error.type != "AssertionError":
        return None
    if match := re.search(r"Expected regex: (.*)\n\s*Actual message: (.*)", text, re.DOTALL):
        return f"a message with {match[1]}", match[2]
    if error.compared and error.compared[0] in ("==", "is", "!=", "is not"):
        return sides_of(*error.compared)
    if match := re.search(r"ACTUAL: (.*?)\n? DESIRED: (.*)", text, re.DOTALL):
        got, expected = match.groups()  # numpy.testing's words
        return number(expected), number(got)
    return None


def sides_of(operator: str, left: str, right: str) -> tuple[str, str]:
    """Expected and got of a comparison: what the student's code gave stands on the left."""
    if operator in ("!=", "is not"):
        return f"anything but {right}", left
    if operator == "is" and tidy(left) == tidy(right):
        return f"the same object as {right}", f"another object, {left}"
    return right, left


def number(text: str) -> str:
    """NumPy's `array(2.5)` as a number."""
    return re.sub(r"^array\(([^\s,()\[\]]+)\)$", r"\1", text.strip())


def compared(error: Error, expected: str, got: str) -> list[str]:
    """Both sides, below the check's own words if it has some."""
    own, found, _ = error.message.partition("assert ")
    missing = got in ("None", "<class 'NoneType'>") and got != expected and of_a_call(error)
    alike = tidy(got) == tidy(expected) and error.differs
    return [
        *lines(own if found else ""),
        *labelled("expected: ", expected),
        *labelled("got:      ", got),
        *([f"          {NO_RETURN}"] if missing else []),
        *([f"          (They print alike, but {error.differs}.)"] if alike else []),
    ]


def of_a_call(error: Error) -> bool:
    """Whether the left side is what a function returned, and not a part or a variable."""
    code = error.frames[-1].code if error.frames else ""
    return re.match(r"\s*assert \w+\(.*\) (==|is) ", code, re.DOTALL) is not None


def conditions(error: Error) -> list[str]:
    """A condition that did not hold: pytest's ` + where False = f(2)` as sentences."""
    if error.compared:
        operator, left, right = error.compared
        own, begins, _ = error.message.partition("assert ")
        if begins and own.strip():
            return lines(own)
        return [f"but {cut(tidy(left))} {operator} {cut(tidy(right))} does not hold"]
    found = re.findall(r"^\s*\+\s+(?:where|and) +(.*?) = (.*)$", error.message, re.MULTILINE)
    functions = {value: name for value, name in found if re.match("<(?!.* object)", value)}
    told = []
    for value, expression in found:
        for function, name in functions.items():
            expression = expression.replace(function, name)
        told += [f"{expression} is {value}"] if value not in functions else []
    told = told or [line for line in error.message.splitlines() if line != "assert False"]
    missing = any("(None" in text for text in told)
    return [*lines("\n".join(told)), *([NO_RETURN] if missing else [])]


# ------------------------------------------------------------------------------------------
# Where


def where(report: Report, outcome: Outcome) -> list[str]:
    """The lines of the check, then the way through the student's file."""
    assert outcome.error
    frames = outcome.error.frames
    targets = {x.target.split(".")[-1] for x in report.exercises if x.id == outcome.exercise}
    in_checks = [frame for frame in frames if is_check(frame.file)]
    in_module = [frame for frame in frames if frame.file in report.files]
    chosen = [*in_checks[:1], *in_checks[-1:], *in_module[-3:]]
    chosen += [frame for frame in in_module if frame.name in targets][-1:]
    if outcome.error.type == "RecursionError":  # its last lines may all be given code
        written = {x.target.split(".")[-1] for x in report.lesson.exercises}
        chosen += [frame for frame in in_module if frame.name in written][-3:]
    return places([x for x in frames if x in chosen], frames, report)


def places(chosen: list[Frame], frames: tuple[Frame, ...], report: Report) -> list[str]:
    """The chosen lines, and the course's own function in which the last one went wrong, if so."""
    told = [text for frame in chosen for text in place(frame, report.lesson)]
    last = frames[-1] if frames else None
    if last and last not in chosen and last.file not in report.files:
        told.append(f"and there in the course's own {last.file}, in {last.name}.")
    return told


def is_check(file: str) -> bool:
    """Whether a file holds checks: of a lesson, of its tasks, or of what is from nothing."""
    return file in ("checks.py", "tasks.py") or file.endswith("_checks.py")


def place(frame: Frame, lesson: Lesson) -> list[str]:
    """A file, a line, and the code there; of a long import, how it begins."""
    file = frame.file
    if is_check(file) and "/" not in file:
        file = f"lessons/{lesson.folder.name}/{file}"
    elif "/" not in file:
        file = f"tasks/{file}"
    name = f", in {frame.name}" if frame.name.isidentifier() else ""
    code = lines(textwrap.dedent(frame.code))
    code = code[:1] if frame.code.lstrip().startswith(("from ", "import ")) else code
    return [f"{file}, line {frame.line}{name}:", *("    " + x for x in code[:4])]


def broken(report: Report, remedy: str = "") -> list[str]:
    """Why nothing could be checked, and the student's line where it went wrong.

    `remedy` says what to do if a name is gone: by default, how to begin anew in a workspace.
    """
    error, lesson = report.broken, report.lesson
    assert error
    if error.type == checks.REFUSED:
        return [error.message]
    in_module = [frame for frame in error.frames if frame.file in report.files]
    name = re.match("cannot import name '(.*?)'", error.message)
    if error.type == "ImportError" and name and not in_module:
        return [
            f"{lesson.module} has no {name[1]}, which the checks use. Was it renamed or removed?",
            remedy or f"`./jaxprentice reset {lesson.id}` {RESET}",
        ]
    what = f"{error.type}: {cut(error.message)}" if error.type == "SyntaxError" else raised(error)
    what = what[:1].upper() + what[1:]
    return [what, *places((in_module or list(error.frames))[-1:], error.frames, report)]


def printed(error: Error) -> list[str]:
    """What the student's code printed: printing is how people look for mistakes."""
    rows = [cut(row.rstrip()) for row in error.printed.splitlines() if row.strip()]
    end = " (only the end)" if len(rows) > 10 else ""
    return [f"Your code printed{end}:", *("    " + row for row in rows[-10:])] if rows else []


# ------------------------------------------------------------------------------------------
# Texts


def lines(text: str) -> list[str]:
    """The lines of a text that are not empty; the first ten."""
    rows = [row.rstrip() for row in cut(tidy(text)).splitlines() if row.strip()]
    return rows if len(rows) <= 10 else [*rows[:10], CUT]


def labelled(label: str, text: str) -> list[str]:
    """A text with a label, further lines below its beginning; nothing for no text."""
    first, *rest = lines(text) or [""]
    return [label + first, *(" " * len(label) + line for line in rest)] if first else []
