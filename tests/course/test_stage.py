"""Frames of a stage: what is on the floors, and what the interpreter makes, step by step."""

import itertools
import json

import pytest

from autograder.lessons import drawing, manifest, stage, traced
from autograder.lessons.stage.items import item, items, keys, words

PROGRAMS = [
    (lesson.id, file.stem)
    for lesson in manifest.load().values()
    for file in sorted(lesson.folder.glob("traces/*.py"))
]


def frames_of(lesson, name):
    found = traced.read(f'"{name}"', manifest.load()[lesson])
    return stage.frames(list(drawing.moments(found.steps)))


def column(frame, head):
    return [cell["text"] for x in frame["columns"] if x["head"] == head for cell in x["cells"]]


def test_there_are_twenty_four_recordings():
    assert len(PROGRAMS) == 24


@pytest.mark.parametrize(("lesson", "name"), PROGRAMS)
def test_a_picture_has_no_repr_and_no_python_call(lesson, name):
    frames = frames_of(lesson, name)
    assert frames == json.loads(json.dumps(frames))
    on_floors = [x for f in frames for y in f["floors"] for x in [*y["row"], *y["bench"]]]
    texts = [x["text"] for x in on_floors if "text" in x]
    assert texts
    for text in texts:
        assert len(text) <= 30
        assert not {*"<>{}:"} & {*text.removeprefix("?: ")}, text


def test_operations_wait_on_their_floors_while_a_rule_binds_again():
    frames = frames_of("jvp", "jvp-of-jvp")
    rows = [[x["row"][0]["text"] for x in f["floors"] if x["row"]] for f in frames]
    assert ["sin", "mul", "neg"] in rows or ["sin", "cos", "neg"] in rows
    for frame in frames:
        assert [x["level"] for x in frame["floors"]] == list(range(len(frame["floors"])))[::-1]


def test_what_a_rule_computed_is_what_its_result_is_made_of():
    frames = frames_of("duals", "derivative-of-derivative")
    for before, after in itertools.pairwise(frames):
        for old, new in zip(before["floors"], after["floors"], strict=False):
            if old["level"] == new["level"] and len(old["bench"]) > 1 and not new["bench"]:
                made = {k for x in new["row"] for k in keys(x)}
                assert made & {k for x in old["bench"] for k in keys(x)}


def test_linearize_has_two_columns_and_only_the_linear_program_waits():
    last = frames_of("linearize", "unzip")[-1]
    later = ["b = mul a -0.99", "c = mul b 3.0", "d = mul 0.1411 a", "e = add c d"]
    assert column(last, "Later: a linear program") == later
    assert column(last, "Now: values")[:3] == [
        "sin 3.0 = 0.1411",
        "cos 3.0 = -0.99",
        "mul 0.1411 3.0 = 0.4234",
    ]


def test_a_program_grows_by_the_line_that_is_lit_and_its_stablehlo_follows():
    frames = frames_of("capstone", "four-ways")
    lit = [[c["text"] for x in f["columns"] for c in x["cells"] if c.get("lit")] for f in frames]
    assert ["b = sin a"] in lit
    assert column(frames[-1], "The program so far") == ["e = sin d", "f = mul e d"]
    assert column(frames[-1], "StableHLO") == ["%0 = sine %arg0", "%1 = multiply %0, %arg0"]


def test_a_batch_is_sheets_along_its_axis():
    shown = {"box": "BatchTracer", "level": 1, "parts": {"val": "[1., 2.]", "batch_dim": "0"}}
    made = item(shown, {"id": 5, "parts": {"val": 3, "batch_dim": 4}})
    assert (made["rows"], made["axis"], made["level"]) == ([["1", "2"]], "0", 1)
    assert list(keys(made)) == ["5", "3"]


def test_values_are_short_texts():
    assert [
        x["text"] for x in items(["a:~f64[]", "{ lambda ; a. let in a }", "LoadedExecutable"])
    ] == [
        "a",
        "program",
        "executable",
    ]
    assert [x["text"] for x in items(["float64[100]"] * 3)] == ["3 x f64[100]"]
    assert words(item([["1.0", "2.0"], "3.0"])) == "((1.0, 2.0), 3.0)"
    assert item(["True", "False"])["text"] == "● ○"


def test_a_value_on_devices_is_a_piece_on_each():
    made = item("[0.] | [0.1667]", 8)
    assert [(x["cap"], x["text"]) for x in made["parts"]] == [
        ("device 0", "0."),
        ("device 1", "0.1667"),
    ]


def test_the_same_object_has_the_same_key_and_equal_ones_have_not():
    one, other = items(["1.0", "1.0"], [4, 7])
    assert (one["key"], other["key"]) == ("4", "7")
