"""What the worked examples of a lesson's page print, on the reference and on the skeleton.

The examples of a page run one after the other in a process of their own, on the tree of the lesson.
"""

import json
import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autograder.lessons import assemble, manifest, page, page_outputs, run_examples
from autograder.lessons.manifest import Lesson
from autograder.lessons.page import Part
from autograder.lessons.problem import Problem
from autograder.lessons.run_examples import Output


@dataclass(frozen=True)
class _Page:
    """The examples of a lesson's page, and the tree that they run on."""

    lesson: Lesson
    examples: list[Part]
    tree: dict[str, str]
    kind: str = ""  # of the tree, in the name under which it is kept what they leave

    @property
    def place(self) -> page_outputs.Place:
        """Where it is kept what they leave."""
        runner = Path(run_examples.__file__).read_text(encoding="utf-8")
        name = f"examples/{self.lesson.id}{self.kind}"
        return page_outputs.place(self.lesson.id, name, self.codes, self.tree, runner)

    @property
    def codes(self) -> list[str]:
        """The texts of the examples."""
        return [page.code(example) for example in self.examples]

    def run(self) -> list[list[Output]]:
        """What each example leaves, run now."""
        script, codes = run_examples.__file__, json.dumps(self.codes)
        try:
            found: list[list[Output]] = page_outputs.run("An example", self.tree, script, codes)
        except Problem as error:
            raise page.problem(self.lesson, 1, str(error)) from None
        return found


def _page(lesson: Lesson) -> _Page:
    examples = [x for x in page.parts(page.read(lesson), lesson) if x.kind == "example"]
    return _Page(lesson, examples, assemble.files_of(manifest.needed(lesson)))


def _left(about: _Page) -> list[list[Output]]:
    """What each example leaves: as it is kept, else run now."""
    found: list[list[Output]] = about.place.left(about.run) if about.examples else []
    return found


def all_outputs(lesson: Lesson) -> dict[page_outputs.Place, Any]:
    """What the examples of a page leave, for both who may run them."""
    if not lesson.has_page or not (about := _page(lesson)).examples:
        return {}
    fresh = _fresh(about)
    return {about.place: _left(about), fresh.place: _missing(about, fresh)}


def outputs(lesson: Lesson) -> dict[int, list[Output]]:
    """What nbformat has below each example of the page, which is named by its line."""
    about = _page(lesson)
    found = _left(about)
    for example, left in zip(about.examples, found, strict=True):
        _check(example, left, lesson)
    return {example.line: left for example, left in zip(about.examples, found, strict=True)}


def needs(lesson: Lesson) -> dict[int, str]:
    """By line, the examples that raise an error on the skeleton, with the exercise that is missing.

    The exercise is "" if an example only misses what one above it should have defined.
    """
    about = _page(lesson)
    missing = _missing(about, _fresh(about))
    return {about.examples[int(number)].line: name for number, name in missing.items()}


def _fresh(about: _Page) -> _Page:
    """The same examples, on the tree of one who has written nothing yet."""
    lesson = about.lesson
    skeleton = {lesson.module: assemble.read_handout(lesson.module)} if lesson.exercises else {}
    return replace(about, tree={**about.tree, **skeleton}, kind=".skeleton")


def _missing(about: _Page, fresh: _Page) -> dict[str, str]:
    """By their number, as a text, the examples that only fail on the skeleton, and what they miss.

    Of a page that is kept this is one line of a file.
    """
    ids = {exercise.id for exercise in about.lesson.exercises}

    def compared() -> dict[str, str]:
        pairs = zip(map(_error, fresh.run()), map(_error, _left(about)), strict=True)
        return {
            str(i): error["evalue"] if error["evalue"] in ids else ""
            for i, (error, announced) in enumerate(pairs)
            if error and not announced
        }

    found: dict[str, str] = fresh.place.left(compared) if fresh.examples else {}
    return found


def _error(left: list[Output]) -> Output | None:
    return next((output for output in left if output["output_type"] == "error"), None)


def prepare(lessons: Sequence[Lesson]) -> None:
    """Run the examples of several lessons, as far as that is needed, on all processors.

    Threads only wait for processes: Python 3.11 fails when two of them parse code at a time.
    """
    pages = [(about, _fresh(about)) for about in map(_page, lessons)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda both: (_left(both[0]), _missing(*both)), pages))


_RAISES = re.compile(r'\braises="(\w+)"')


def _check(example: Part, left: list[Output], lesson: Lesson) -> None:
    """Complain unless the example raises the error that it promises, and no other."""
    promised = _RAISES.search(example.argument)
    error = _error(left)
    if (promised and promised[1]) != (error and error["ename"]):
        found = "".join(error["traceback"]) if error else "nothing"
        wanted = promised[1] if promised else "nothing"
        text = f"The example should raise {wanted}, and raises {found}"
        raise page.problem(lesson, example.line, f"{text.rstrip('.')}. Correct the example.")
