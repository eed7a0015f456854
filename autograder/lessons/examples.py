"""What the worked examples of a lesson's page print, on the reference and on the skeleton.

The examples of a page run one after the other in a process of their own, on the tree of the lesson.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.lessons import assemble, manifest, page, page_outputs, run_examples
from autograder.lessons.manifest import Lesson
from autograder.lessons.page import Part
from autograder.lessons.run_examples import Output

PATIENCE = 300  # seconds for all examples of a page


@dataclass(frozen=True)
class _Page:
    """The examples of a lesson's page, the tree that they run on, and where outputs are kept."""

    examples: list[Part]
    codes: list[str]
    tree: dict[str, str]
    place: page_outputs.Place


def _page(lesson: Lesson) -> _Page:
    return _on(lesson, assemble.files_of(manifest.needed(lesson)), "")


def _fresh_page(lesson: Lesson) -> _Page:
    """The examples of a page, on the tree of one who has written nothing yet."""
    skeleton = {lesson.module: assemble.read_handout(lesson.module)} if lesson.exercises else {}
    return _on(lesson, {**assemble.files_of(manifest.needed(lesson)), **skeleton}, ".skeleton")


def _on(lesson: Lesson, tree: dict[str, str], kind: str) -> _Page:
    examples = [x for x in page.parts(page.read(lesson), lesson) if x.kind == "example"]
    codes = [page.code(example) for example in examples]
    runner = Path(run_examples.__file__).read_text(encoding="utf-8")
    place = page_outputs.place(lesson.id, f"examples/{lesson.id}{kind}", codes, tree, runner)
    return _Page(examples, codes, tree, place)


def all_outputs(lesson: Lesson) -> dict[page_outputs.Place, Any]:
    """What the examples of a page leave, for both who may run them."""
    pages = (_page(lesson), _fresh_page(lesson)) if lesson.has_page else ()
    return {about.place: _left(about, lesson) for about in pages if about.codes}


def outputs(lesson: Lesson) -> dict[int, list[Output]]:
    """What nbformat has below each example of the page, which is named by its line."""
    about = _page(lesson)
    found = _left(about, lesson)
    for example, left in zip(about.examples, found, strict=True):
        _check(example, left, lesson)
    return {example.line: left for example, left in zip(about.examples, found, strict=True)}


def needs(lesson: Lesson) -> dict[int, str]:
    """By line, the examples that raise an error on the skeleton, with the exercise that is missing.

    The exercise is "" if an example only misses what one above it should have defined.
    """
    about, works = _fresh_page(lesson), outputs(lesson)
    ids = {exercise.id for exercise in lesson.exercises}
    errors = {
        example.line: _error(left)
        for example, left in zip(about.examples, _left(about, lesson), strict=True)
    }
    return {
        line: error["evalue"] if error["evalue"] in ids else ""
        for line, error in errors.items()
        if error and not _error(works[line])
    }


def _left(about: _Page, lesson: Lesson) -> list[list[Output]]:
    """What each example leaves: as it is kept, else run now."""
    if not about.examples:
        return []
    found: list[list[Output]] = about.place.left(lambda: _run(about, lesson))
    return found


def _error(left: list[Output]) -> Output | None:
    return next((output for output in left if output["output_type"] == "error"), None)


def prepare(lessons: Sequence[Lesson]) -> None:
    """Run the examples of several lessons, as far as that is needed, on all processors.

    Threads only wait for processes: Python 3.11 fails when two of them parse code at a time.
    """
    pages = [(about, x) for x in lessons for about in (_page(x), _fresh_page(x))]
    todo = [(about, x) for about, x in pages if about.codes and about.place.read() is None]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda job: _left(*job), todo))


def _run(about: _Page, lesson: Lesson) -> list[list[Output]]:
    environment = {key: value for key, value in os.environ.items() if key != "XLA_FLAGS"}
    with tempfile.TemporaryDirectory(prefix="examples-") as folder:
        assemble.write_files(Path(folder), about.tree)
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-B", run_examples.__file__, folder],
                input=json.dumps(about.codes), env=environment, cwd=folder, timeout=PATIENCE,
                capture_output=True, text=True, encoding="utf-8", check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise page.problem(lesson, 1, f"The examples take over {PATIENCE} seconds.") from None
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["it gave no reason"])[-1]
        raise page.problem(lesson, 1, f"An example ends Python ({last}). Change it.")
    found: list[list[Output]] = json.loads(done.stdout)
    return found


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
