"""What was handed in, for a person to read: each exercise's function, and what was changed.

The text is never parsed here: nested deep enough, it could end the process that holds the
gradebook. Definitions are found by their first lines and their indentation.
"""

import difflib
import re
from collections.abc import Iterator

from autograder.classroom.course.settings import cell_name
from autograder.classroom.intake import written
from autograder.grading.result import Result, Verdict
from autograder.lessons import assemble
from autograder.lessons.manifest import Lesson

LINES = 600  # that are compared
SHOWN = 120  # lines of a comparison

Span = tuple[int, int]


def functions(source: str, lesson: Lesson) -> dict[str, str]:
    """The definition of each exercise by its cell's name, but for those that are not begun."""
    own, ours = _lines(source), _lines(assemble.skeleton_of(lesson))
    found = {}
    for exercise in lesson.exercises:
        text = _text(own, exercise.target)
        if text.strip() and text != _text(ours, exercise.target):
            found[cell_name(exercise.id)] = text
    return found


def changes(source: str, lesson: Lesson) -> dict[str, str]:
    """By cell how an exercise's definition differs from the skeleton's.

    The cell of the whole module has what was changed outside the exercises.
    """
    own, ours = _lines(source), _lines(assemble.skeleton_of(lesson))
    targets = {cell_name(exercise.id): exercise.target for exercise in lesson.exercises}
    found = {x: _diff(_text(ours, t), _text(own, t)) for x, t in targets.items()}
    last = cell_name(lesson.whole.id) if lesson.whole else list(targets)[-1]
    outside = _outside(*(_without(lines, list(targets.values())) for lines in (ours, own)))
    if outside:
        found[last] = f"{found.get(last, '')}\nOutside the exercises:\n{outside}".strip("\n")
    return {name: text for name, text in found.items() if text}


def with_lines(result: Result, source: bytes | None, lesson: Lesson) -> Result:
    """The result with the line of each exercise's definition in the module, where it has one."""
    lines = _lines((source or b"").decode())
    targets = {exercise.id: exercise.target for exercise in lesson.exercises}
    exercises: list[Verdict] = []
    for verdict in result["exercises"]:
        span = _span(lines, targets[verdict["id"]]) if verdict["id"] in targets else None
        exercises.append({**verdict, "line": span[0] + 1} if span else verdict)
    return {**result, "exercises": exercises}


def _lines(source: str) -> list[str]:
    """The lines as Python counts them, with all that is in them."""
    return re.split("\r\n|\r|\n", written.visible(source))


def _diff(ours: str, own: str) -> str:
    """The changed lines with one line around them."""
    if ours == own:
        return ""
    before, now = ours.split("\n"), own.split("\n")
    if len(now) > LINES:  # comparing takes time with the product of the lengths
        return f"(More than {LINES} lines: they are not compared.)"
    return _shortened(list(difflib.unified_diff(before, now, n=1, lineterm=""))[2:])


def _outside(ours: list[str], own: list[str]) -> str:
    """The lines that only one of the two has."""
    before, now = set(ours), set(own)
    gone = [f"-{line}" for line in ours if line not in now]
    return _shortened([*gone, *(f"+{line}" for line in own if line not in before)])


def _shortened(found: list[str]) -> str:
    more = [f"(and {len(found) - SHOWN} lines more)"] if len(found) > SHOWN else []
    return written.limited("\n".join([*found[:SHOWN], *more]))


def _without(lines: list[str], targets: list[str]) -> list[str]:
    """The lines outside these definitions."""
    inside = {i for target in targets for i in range(*(_span(lines, target) or (0, 0)))}
    return [line for i, line in enumerate(lines) if i not in inside and line.strip()]


def _text(lines: list[str], target: str) -> str:
    span = _span(lines, target)
    return "\n".join(lines[span[0] : span[1]]).rstrip() if span else ""


def _span(lines: list[str], target: str) -> Span | None:
    """The lines of a definition, with its decorators; of several the last, which counts."""
    within: Span = (0, len(lines))
    for name in target.split("."):
        spans = list(_named(lines, name, within))
        if not spans:
            return None
        outermost = min(indent for indent, _ in spans)  # a function may hold one of its own name
        within = [span for indent, span in spans if indent == outermost][-1]
    return within


def _named(lines: list[str], name: str, within: Span) -> Iterator[tuple[int, Span]]:
    head = re.compile(rf"(\s*)(?:async\s+def|def|class)\s+{re.escape(name)}\b")
    for i in range(*within):
        if found := head.match(lines[i]):
            start = i
            while start > within[0] and lines[start - 1].startswith(f"{found[1]}@"):
                start -= 1
            yield len(found[1]), (start, _end(lines, i, len(found[1]), within[1]))


def _end(lines: list[str], start: int, indent: int, last: int) -> int:
    """Where the lines that are indented further end; a text of several lines may be less so."""
    open_text = False
    end = start + 1
    for i in range(start, last):
        line = lines[i]
        less = line.strip() and len(line) - len(line.lstrip()) <= indent
        if i > start and not open_text and less and not line.lstrip().startswith(")"):
            break
        open_text ^= (line.count('"""') + line.count("'''")) % 2 == 1
        end = i + 1 if line.strip() else end
    return end
