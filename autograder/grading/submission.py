"""Grades: one submission of one lesson in, one result document out.

A hidden suite is ordinary pytest and runs here, in the trusted process. The student's code runs
only in isolated workers (`sandbox/session.py`); what comes back is data, which is compared with
what the reference answers to the same probe. Verdicts never cross the border, only values do.
"""

import contextlib
import hashlib
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from autograder.grading import review, suite, telling, under_pytest
from autograder.grading.fingerprint import versions
from autograder.grading.judging import Examined, causes_first, constant_answers, judge, recognize
from autograder.grading.laws import Generating
from autograder.grading.oracle import given, reference
from autograder.grading.rehearsal import rehearse
from autograder.grading.result import UNGRADED, Result
from autograder.grading.retelling import say_more
from autograder.grading.suite import Disagreement
from autograder.grading.suite_run import Enough, SuiteRun
from autograder.grading.task import Base, Task
from autograder.lessons import assemble, manifest, module_rules, skeleton
from autograder.lessons.manifest import Lesson
from autograder.lessons.problem import Problem
from autograder.sandbox.session import Reply, Session


def grade(
    task: Task,
    *,
    only: str | None = None,
    programs: Path | None = None,
    shrink: bool = True,
    enough: Enough | None = None,
) -> Result:
    """Grade one submission; returns its verdict, a result document (see `result.json`) of no name.

    With `only`, the id of an exercise, the tests of the others do not run, and the result is
    without them. `programs` is the folder that holds the generated programs, or will. Without
    `shrink`, no counterexamples are looked for, and no probe has more time than others. Once
    `enough` is true after a test that fails, no more tests run, and these count as not passed.
    Raises SuiteError when the hidden suite itself is broken. Whatever the submission does is a
    result, never an exception.
    """
    lesson, source, edition = task.edition.lesson, task.source, task.edition
    begin = time.monotonic()
    tests = under_pytest.collect(under_pytest.suite_of(lesson))
    under_pytest.check_suite(lesson, tests)
    if source is None:
        examined = _unexaminable(suite.NOT_IMPLEMENTED, f"The module {lesson.module} is missing.")
    else:
        generating = Generating(edition.seed, programs, shrink)
        rehearse(lesson, under_pytest.suite_of(lesson), edition.level, generating, only)
        examined = _examine_well(task, source, generating, only, enough)
    examined.properties = under_pytest.properties(under_pytest.suite_of(lesson))
    examined.random = under_pytest.on_random_programs(under_pytest.suite_of(lesson))
    wanted = [part for part in lesson.graded if only in (None, part.id)]
    verdicts = [judge(part, tests[part.id], examined, edition.expected) for part in wanted]
    # Where no test could run, the whole module is the cause.
    exercises = verdicts if examined.otherwise else causes_first(lesson, verdicts)
    return {
        "lesson": lesson.id,
        "student": "",
        "score": round(sum(exercise["points"] for exercise in exercises), 2),
        "max_score": lesson.max_points,
        "isolation": edition.level,
        "layers": list(examined.layers),
        "exercises": exercises,
        "remarks": examined.remarks,
        "review": examined.review,
        "submission_sha256": None if source is None else hashlib.sha256(source).hexdigest(),
        "versions": versions(),
        "seed": edition.seed,
        "seconds": round(time.monotonic() - begin, 3),
    }


def _examine_well(task: Task, *args: Any) -> Examined:
    """What came of a module, even if the grader fails on it: the suite has just gone well."""
    try:
        return _examine(task, *args)
    except (Problem, OSError):
        raise
    except Exception as error:
        found = _unexaminable(suite.CRASHED, telling.UNHANDLED)
        return replace(
            found, review=review.faults([f"{type(error).__name__} in {task.edition.lesson.id}"])
        )


def _examine(
    task: Task, source: bytes, generating: Generating, only: str | None, enough: Enough | None
) -> Examined:
    """Run the hidden suite of a lesson on a module."""
    lesson, level, base = task.edition.lesson, task.edition.level, task.base
    with opened(lesson, source, level, base) as session:
        loaded = _placed(session.load(), source)
        if loaded.kind != "value":
            found = _not_importable(loaded, lesson, source)
            return replace(found, review=review.notes(session.signs))
        assert session.worker is not None
        layers = session.worker.layers
        run = suite_run(lesson, session, generating, only, enough, source=source)
        under_pytest.run(under_pytest.suite_of(lesson), run)
        labels = _with_care(run, "recognize", recognize, lesson, run.calls.by_exercise, level)
        if generating.shrink:
            properties = under_pytest.properties(under_pytest.suite_of(lesson))
            _with_care(run, "say_more", say_more, run, properties)
    notes = [*review.notes(session.signs), *review.faults(run.unhandled)]
    constants = constant_answers(run.calls.by_exercise)
    return Examined(run.outcomes, labels or {}, [], notes, layers, constants)


def _with_care(run: SuiteRun, name: str, do: Callable[..., Any], *args: Any) -> Any:
    """What a function makes of a submission's answers; None if it fails, which is noted.

    Points do not depend on it. What the machine cannot do is not the submission's doing.
    """
    try:
        return do(*args)
    except (Problem, OSError):
        raise
    except Exception as error:
        run.unhandled.append(f"{type(error).__name__} in {name}")
        return None


@contextlib.contextmanager
def opened(
    lesson: Lesson, source: bytes, level: str, base: Base | None = None
) -> Iterator[Session]:
    """A session with the lesson's tree, in which `source` is the module, on a base of one's own."""
    with tempfile.TemporaryDirectory(prefix="jaxprentice-") as folder:
        own = assemble.completed({**(base or {}), lesson.module: source})
        assemble.write_files(Path(folder), {**_without_bytecode(given(lesson), own), **own})
        imports = under_pytest.imports(under_pytest.suite_of(lesson))
        with Session(Path(folder), lesson.module, level, imports=imports) as session:
            yield session


def _without_bytecode(files: assemble.Files, own: Base) -> assemble.Files:
    """The files but for bytecode of those that are replaced: Python would believe it."""
    names = {PurePosixPath(path).with_suffix("").as_posix() for path in own}
    return {
        path: content
        for path, content in files.items()
        if path.replace("__pycache__/", "").partition(".")[0] not in names
    }


def suite_run(
    lesson: Lesson,
    session: Session,
    generating: Generating,
    only: str | None = None,
    enough: Enough | None = None,
    *,
    source: bytes,
) -> SuiteRun:
    """A run of the lesson's suite on the module of a session, beside the reference."""
    oracle = reference(lesson, session.level)
    lines = telling.file_lines(source)
    return SuiteRun(lesson, session, oracle, generating, only, enough, lines)


def _unexaminable(kind: str, remark: str) -> Examined:
    return Examined(remarks=[remark], otherwise=Disagreement(kind, remark))


def _not_importable(reply: Reply, lesson: Lesson, source: bytes) -> Examined:
    """The remark about a module that cannot be imported; nothing else can be said of it."""
    if reply.kind == "raised" and reply.name == "NotImplementedError":
        return _unexaminable(suite.NOT_IMPLEMENTED, f"{lesson.module} cannot be imported yet.")
    if reply.kind == "timed_out":
        remark = f"The import of {lesson.module} does not terminate."
        return _unexaminable(suite.ENDLESS, remark)
    if reply.kind == "syntax_error":
        remark = f"{lesson.module}{_place(reply)} is no valid Python: {reply.message or 'error'}."
    elif reply.kind == "import_error":
        name = "an error" if not reply.name or "." in reply.name else reply.name
        remark = f"{lesson.module} cannot be imported: {name}{_place(reply)}."
        if name == "ModuleNotFoundError":
            remark = module_rules.import_complaint(source, lesson.module) or remark
            line = telling.file_lines(source)[(reply.line or 1) - 1]
            if later := manifest.comes_later(line):
                remark = f"{lesson.module}{_place(reply)} imports {later}."
        elif name == "PermissionError":
            remark = f"{remark} A module that is graded can open no files."
        elif name == "ImportError" and not _has_any_of(lesson, source):
            remark = f"{remark} It defines nothing of this lesson: is it a different lesson's file?"
    else:
        remark = f"The import of {lesson.module} ends the Python process."
    memory = reply.name == "MemoryError"
    return _unexaminable(suite.OUT_OF_MEMORY if memory else suite.CRASHED, remark)


def _has_any_of(lesson: Lesson, source: bytes) -> bool:
    """Does a file define any function that the lesson asks for?"""
    with contextlib.suppress(*module_rules.NOT_PARSED):
        defined = skeleton.defined_once(source.decode())
        return any(exercise.target in defined for exercise in lesson.exercises)
    return True  # whatever it is, that is not what is wrong with it


def _placed(reply: Reply, source: bytes) -> Reply:
    """The reply, without a line that the file does not have: code that ran may have made it up."""
    if reply.kind != "import_error":
        return reply
    return telling.reduced(reply, telling.file_lines(source), ())


def _place(reply: Reply) -> str:
    column = f", column {reply.column}" if reply.column else ""
    return f", line {reply.line}{column}" if reply.line else ""


# ------------------------------------------------------------------------------------------
# Submissions that no grader survives


def ungraded(task: Task) -> Result:
    """The result of a submission that ended the grader each time: for a person to look at."""
    result, source = grade(replace(task, source=None)), task.source
    for exercise in result["exercises"]:
        exercise["class"], exercise["message"] = suite.CRASHED, UNGRADED
        for test in exercise["tests"]:
            test["class"], test["message"] = suite.CRASHED, UNGRADED
    hashed = None if source is None else hashlib.sha256(source).hexdigest()
    look = ["The grader died each time when it graded this. Grade it again, or by hand."]
    return {**result, "remarks": [UNGRADED], "review": look, "submission_sha256": hashed}
