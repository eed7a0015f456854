"""The notebooks of a class: `nbgrader validate` runs their checks at once, and open tasks pass."""

import json
import subprocess
import sys

import nbformat
import pytest
from nbgrader.preprocessors import ComputeChecksums
from nbgrader.validator import Validator

from autograder.classroom.course.settings import Assignment
from autograder.classroom.nbgrader import directory
from autograder.classroom.nbgrader.autograde import Unchecked
from autograder.lessons import assemble, manifest, skeleton

LESSON = manifest.get("interpreters")
OPEN = Assignment(LESSON.id, (LESSON,), open={LESSON.id: 5.0})
SOLUTION = assemble.read_solution(LESSON.module)
# Runs check cells as a kernel does, and says how many processes that took.
CELLS = """
import json, subprocess, sys, types
import IPython
shell = types.SimpleNamespace(input_transformers_cleanup=[])
shell.events = types.SimpleNamespace(register=lambda *about: None)
IPython.get_ipython = lambda: shell
import setup_interpreters as setup
started, run = [], subprocess.run
subprocess.run = lambda *about, **more: started.append(about) or run(*about, **more)
found = {}
for name in sys.argv[1:]:
    failed, said = setup.validated(name) if setup.VALIDATING else setup.sessions([name])[name]
    found[name] = failed, "NotImplementedError" in said
keep = shell.input_transformers_cleanup
left = [keep[0]([x]) for x in ("x = 1", "check(1)")] if keep else []
print(json.dumps([len(started), found, left]))
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    around = tmp_path_factory.mktemp("around")
    (around / "conftest.py").write_text("raise ValueError")  # none of the assignment's
    folder = around / "source"
    directory.write_source(folder, OPEN)
    stub = skeleton.make_skeleton(SOLUTION, LESSON)
    half = SOLUTION.replace(SOLUTION[SOLUTION.index("def count_ops") :], "")
    (folder / LESSON.module).write_text(half + stub[stub.index("def count_ops") :])
    return folder


def checked(source, *names, **environment):
    done = subprocess.run(
        [sys.executable, "-c", CELLS, *names], cwd=source,
        env={"PATH": "", "PYTHONPATH": "", **environment}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_validated_checks_run_in_one_process_and_say_the_same(source):
    names = [exercise.id for exercise in LESSON.exercises]
    started, found, left = checked(source, *names, LESSON.id, NBGRADER_VALIDATING="1")
    assert started == 1
    wrong = {name for name, (failed, _) in found.items() if failed}
    assert wrong == {"interpreters.count_ops", LESSON.id}
    assert found["interpreters.count_ops"] == [True, True]
    assert left == [[], ["check(1)"]]  # a cell without checks does not run
    assert checked(source, names[-1])[1] == {names[-1]: [True, True]}


def released(source, **filled):
    """The notebook as nbgrader releases it, with some solution cells filled in."""
    book = nbformat.read(source / f"{LESSON.id}.ipynb", as_version=4)
    for step in (ComputeChecksums(), Unchecked()):
        book, _ = step.preprocess(book, {})
    for cell in book.cells:
        cell.source = filled.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
    return book


def test_an_open_task_is_no_failure_and_an_unanswered_question_is(source):
    kinds = {"question", "open"}
    failed = {cell.id for cell in Validator()._get_failed_cells(released(source))}
    assert {x for x in failed if x.rpartition("-")[2] in kinds} == {f"{LESSON.id}-question"}
    answered = released(source, **{f"{LESSON.id}-question": "Because."})
    assert not Validator()._get_failed_cells(answered)
