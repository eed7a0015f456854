"""Grades on the student's own base: a slip in an earlier module costs points, and that is told."""

import pytest
from graded_course import graded

from autograder import cli
from autograder.classroom.intake import own_base
from autograder.grading import result_files
from autograder.lessons import assemble, manifest, skeleton

pytestmark = [pytest.mark.slow, pytest.mark.isolated]

LESSON, EARLIER = manifest.get("duals"), manifest.get("interpreters")


def hand_in(folder, earlier):
    for lesson, source in ((EARLIER, earlier), (LESSON, assemble.read_solution(LESSON.module))):
        if source is not None:
            path = folder / lesson.module
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source)


def test_a_slip_in_an_earlier_module_costs_points_only_on_the_own_base(tmp_path, capsys):
    right = assemble.read_solution(EARLIER.module)
    hand_in(tmp_path / "work" / "ada", right)
    hand_in(tmp_path / "work" / "bob", skeleton.make_skeleton(right, EARLIER))
    hand_in(tmp_path / "work" / "cy", None)
    assert own_base.bases(tmp_path / "work", LESSON).keys() == {"ada", "bob"}
    out = tmp_path / "out"
    command = ["grade", str(tmp_path / "work"), "--lesson", LESSON.id, "--out", str(out)]
    assert cli.main([*command, "--own-base", "--jobs", "1"]) == 0
    shown = [x.split()[0] for x in capsys.readouterr().out.splitlines() if " of 24" in x]
    assert sorted(shown) == ["ada", "bob", "cy"]
    scores = {path.stem: result_files.read(path)["score"] for path in result_files.paths(out)}
    assert scores["ada"] == scores["cy"] == LESSON.max_points
    assert scores["bob"] < LESSON.max_points / 2
    (note,) = result_files.read(out / "bob.json")["notes"]
    credit = f"On the course's own earlier modules: {LESSON.max_points:g} points."
    assert note == f"Graded on {EARLIER.module}. {credit}"
    assert [result["student"] for result in result_files.by_lesson(out)[LESSON.id]] == sorted(
        scores
    )


# What an earlier module begins with, and what its author is told.
SLIPS = {
    "def bind(:": "interpreters.py, line 1, is no valid Python: invalid syntax.",
    "import pandas": "interpreters.py, line 1, imports pandas, which is not there",
    "1 / 0": "duals.py cannot be imported on your own microjax/interpreters.py",
}


def test_an_earlier_module_that_cannot_be_imported_is_blamed(tmp_path):
    for number, slip in enumerate(SLIPS):
        source = f"{slip}\n{assemble.read_solution(EARLIER.module)}"
        hand_in(tmp_path / "work" / f"s{number}", source)
    command = ["grade", str(tmp_path / "work"), "--lesson", LESSON.id, "--own-base", "--jobs", "1"]
    assert cli.main([*command, "--out", str(tmp_path / "out")]) == 0
    for number, told in enumerate(SLIPS.values()):
        result = result_files.read(tmp_path / "out" / f"s{number}.json")
        (remark,) = result["remarks"]
        assert told in remark
        assert {x["message"] for x in result["exercises"]} == {remark}


# What a hostile module of one's own does when it is imported, and what the instructor reads of it.
HOSTILE = {
    "speaks for the worker": (
        """
import contextlib, os
for descriptor in range(3, 9):
    with contextlib.suppress(OSError):
        os.write(descriptor, b"This is no reply.")
""",
        "Something in the module writes to the grader's channel.",
    ),
    "ends the worker": ("import os\nos._exit(0)", "The module ends the process that runs it."),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_earlier_module_of_ones_own_is_reported_and_earns_nothing(name):
    code, sentence = HOSTILE[name]
    right = assemble.read_solution(EARLIER.module)
    base = {EARLIER.module: f"{right}\n{code}\n".encode()}
    module = assemble.read_solution(LESSON.module).encode()
    result = graded(LESSON, module, base=base)
    assert (result["score"], result["review"]) == (0, [sentence])


def test_an_earlier_module_is_taken_by_the_rules_for_every_module(tmp_path):
    work = tmp_path / "work"
    hand_in(work / "ada", assemble.read_solution(EARLIER.module))
    for student, source in {"bob": b"\xff\xfe no text", "cy": b"# " + bytes(300_000)}.items():
        hand_in(work / student, None)
        (work / student / EARLIER.module).write_bytes(source)
    hand_in(work / "dan", None)
    (work / "dan" / EARLIER.module).symlink_to(work / "ada" / EARLIER.module)
    assert own_base.bases(work, LESSON).keys() == {"ada"}


LOOKS = """
import os
for path in (os.__file__, "/etc/passwd", "/proc/self/status"):
    try:
        open(path).close()
    except OSError:
        continue
    os._exit(7)
"""


def test_an_earlier_module_of_ones_own_is_sealed_too():
    right = assemble.read_solution(EARLIER.module)
    module = assemble.read_solution(LESSON.module).encode()
    for code in ("import ctypes", LOOKS):
        base = {EARLIER.module: f"{right}\n{code}\n".encode()}
        result = graded(LESSON, module, base=base)
        assert (result["score"], result["review"]) == (LESSON.max_points, [])
