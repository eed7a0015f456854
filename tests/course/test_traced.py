"""Pages show recordings of real runs, in each lesson; none is broken or tells a solution."""

import dataclasses
import re
import shutil

import pytest

from autograder.lessons import drawing, manifest, places, stepper, traced
from autograder.lessons.problem import Problem

LESSONS = [x for x in manifest.load().values() if x.has_page]
TRACE = re.compile(r'^\{\{ trace "([\w-]*)"(?: folded)? \}\}$', re.MULTILINE)
ASKED = {x.id: TRACE.findall((x.folder / "lesson.md").read_text("utf-8")) for x in LESSONS}


@pytest.fixture
def lesson(tmp_path):
    """A lesson of Part I, in a copy of its folder."""
    known = manifest.load()
    for name in ("interpreters", "duals"):
        shutil.copytree(known[name].folder, tmp_path / known[name].folder.name)
    return dataclasses.replace(known["duals"], folder=tmp_path / known["duals"].folder.name)


def read(lesson, source):
    (lesson.folder / "traces" / "program.py").write_text(source, encoding="utf-8")
    traced.read.cache_clear()
    return traced.read('"program"', lesson)


def test_each_lesson_has_a_stepper_and_each_program_a_page():
    pages = {x.id for x in LESSONS if x.id != "capstone"}
    assert {name for name, asked in ASKED.items() if asked} >= pages
    index = (places.COURSE / "index.md").read_text(encoding="utf-8")
    for lesson in LESSONS:
        programs = {file.stem for file in (lesson.folder / "traces").glob("*.py")}
        unused = programs - {*ASKED[lesson.id]}
        assert all(f'{{{{ trace "{name}" }}}}' in index for name in unused)


def test_a_rule_is_shown_as_students_get_it():
    found = traced.read('"jvp-of-jvp"', manifest.load()["jvp"])
    codes = {x.name: re.sub("<[^>]*>", "", x.text) for x in found.sources}
    assert "cos(x)" in codes["sin_jvp"]
    assert codes["bilinear_jvp"].count("\n") == 5
    assert "add_tangents" not in codes["bilinear_jvp"]
    about = {x.name: x.about for x in found.sources}
    assert "An exercise" in about["bilinear_jvp"]
    assert about["sin_jvp"] == ""


WATCHED = '''"""A title.

watch = ["microjax.duals.derivative"]
{}
"""
from microjax import derivative, mul
print(derivative(lambda x: mul(x, x), 3.0))
'''


def test_calls_that_are_watched_are_steps(lesson):
    found = read(lesson, WATCHED.format(""))
    assert found.title == "A title"
    first, *_, last = found.transcript.splitlines()
    assert first == "derivative(<lambda>, 3.0)"
    assert last == "prints: 6.0"
    assert "\n-> 6.0\n" in found.transcript


def test_what_is_not_wanted_is_left_out(lesson):
    whole = read(lesson, WATCHED.format("")).transcript
    assert "add_" in whole or "mul 3.0 1.0" in whole
    hidden = read(lesson, WATCHED.format('hide = ["JVPInterpreter"]')).transcript
    assert hidden.splitlines() == ["derivative(<lambda>, 3.0)", "-> 6.0", "prints: 6.0"]
    ground = read(lesson, WATCHED.format("level = 0")).transcript
    assert "level 0" in ground
    assert "level 1" not in ground


def test_a_stepper_says_what_to_look_for(lesson):
    found = read(lesson, WATCHED.format('look = "Watch `mul`."')).stepper
    assert found.index("<p>Watch <code>mul</code>.</p>") < found.index("<pre")
    for file in places.COURSE.glob("lessons/*/traces/*.py"):
        assert "\nlook = " in file.read_text(encoding="utf-8"), file


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (WATCHED.replace("duals.derivative", "duals.jvp_of_nothing"), "which is not called"),
        (WATCHED.replace("watch", "wotch"), "there may be watch, memory, level, hide, look"),
        (WATCHED.replace("watch =", "watch"), "no TOML"),
        (WATCHED.replace("3.0)", "3)"), "fails. The program ends in line 2 with TypeError"),
        ("print(1)", "not a program that begins with its title"),
    ],
)
def test_a_broken_recording_says_what_is_wrong(lesson, source, words):
    with pytest.raises(Problem, match=re.escape(words)):
        read(lesson, source.format(""))


def test_what_happens_several_times_in_a_row_is_one_block_of_the_text():
    text = traced.read('"memory"', manifest.load()["checkpoint"]).transcript
    assert text.count("remat2[") == 4  # forwards and backwards, kept and not kept
    assert text.count("\n(6 times in a row)\n") == 4


def test_memory_rises_forwards_and_a_checkpoint_keeps_less():
    found = traced.read('"memory"', manifest.load()["checkpoint"])
    told = list(drawing.moments(found.steps))
    (middle,) = [n for n, x in enumerate(told[:-1]) if x.text.startswith("The program prints")]
    assert told[middle].memory is None
    kept, forgot = (max(x.peak or 0 for x in part) for part in (told[:middle], told[middle:]))
    assert kept > 1.5 * forgot > 6_000_000
    assert "MB now" in found.stepper
    assert found.stepper.count("<polyline") == 2
    assert stepper.curve([drawing.Moment("nothing was measured")]) == ""


def test_contexts_have_one_ground_and_the_rule_waits():
    found = traced.read('"linearize"', manifest.load()["stackless"])
    scenes = [moment.scene for moment in drawing.moments(found.steps)]
    (active,) = {x.active for x in scenes if [level for level, _ in x.busy] == [2, 1, 0]}
    assert active == ("EvalInterpreter", "LinearInterpreter", "JVPInterpreter")
    assert max(len(x.active) for x in scenes) == 3
