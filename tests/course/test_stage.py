"""Frames of a stage: what is on the floors, and what the interpreter makes, step by step."""

import itertools
import json
import re

import pytest

from autograder.lessons import drawing, manifest, stage, traced
from autograder.lessons.stage.backward import items_of
from autograder.lessons.stage.items import item, items, keys, words

PROGRAMS = [
    (lesson.id, file.stem)
    for lesson in manifest.load().values()
    for file in sorted(lesson.folder.glob("traces/*.py"))
]


def frames_of(lesson, name):
    found = traced.read(f'"{name}"', manifest.load()[lesson])
    return stage.frames(list(drawing.moments(found.steps)))


def filled(changes):
    """Frames of which each said only what differs from the one before."""
    last = {}
    return [last := {**last, **x} for x in changes]


def column(frame, head):
    return [cell["text"] for x in frame["columns"] if x["head"] == head for cell in x["cells"]]


@pytest.mark.parametrize(("lesson", "name"), PROGRAMS)
def test_a_picture_has_no_repr_and_no_python_call(lesson, name):
    frames = frames_of(lesson, name)
    assert frames == json.loads(json.dumps(frames))
    assert filled(stage.changes(frames)) == frames
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
    *_, last = frames_of("linearize", "unzip")
    later = ["b = mul a -0.99", "c = mul b 3.0", "d = mul 0.1411 a", "e = add c d"]
    assert column(last, "Later: a linear program") == later
    assert column(last, "Residuals") == ["-0.99", "3.0", "0.1411"]
    assert column(last, "Now: values") == [
        "sin 3.0 = 0.1411",
        "cos 3.0 = -0.99",
        "mul 0.1411 3.0 = 0.4234",
    ]


def test_a_program_grows_by_the_line_that_is_lit_and_its_stablehlo_follows():
    frames = frames_of("capstone", "four-ways")
    lit = [[c["text"] for x in f["columns"] for c in x["cells"] if c.get("lit")] for f in frames]
    assert ["b:f64[] = sin a"] in lit
    assert column(frames[-1], "The program so far") == ["e:f64[] = sin d", "f:f64[] = mul e d"]
    assert column(frames[-1], "StableHLO") == ["%0 = sine %arg0", "%1 = multiply %0, %arg0"]


def chips(frame):
    return [(x["at"], x["text"]) for x in frame["chips"]]


def test_cotangents_run_back_along_the_arrows_and_a_fork_becomes_a_sum():
    frames = [x for x in frames_of("grad", "backward-pass") if x["graph"]]
    nodes = {x["name"]: (x["text"], x["layer"]) for x in frames[0]["graph"]["nodes"]}
    assert nodes == {"a": ("a", 0), "b": ("mul 3.0", 1), "c": ("mul 10.0", 2), "d": ("add", 3)}
    ways = {tuple(x["ends"]) for x in frames[0]["graph"]["ways"]}
    assert ways == {(0, 1), (1, 2), (1, 3), (2, 3)}
    assert chips(frames[0]) == [("d", "1.0"), ("c", "1.0"), ("b", "1.0")]
    seen = list(dict.fromkeys(tuple(chips(x)) for x in frames))
    assert seen[1][-2:] == (("b", "1.0"), ("b", "10.0"))
    assert seen[2][-1] == ("b", "11.0")
    assert seen[3][-1] == ("a", "33.0")
    (total,) = [x for x in frames[-1]["chips"] if x["at"] == "b"]
    assert total["cap"] == "1.0 + 10.0"
    assert {x["by"] for x in frames[-1]["chips"] if "by" in x} == {"b", "d"}


def test_a_cotangent_of_a_batch_meets_another_one():
    last = frames_of("grad", "vmap-of-grad")[-1]
    assert ("a", "[1.3818, 0.077]") in chips(last)


def test_a_cotangent_that_moves_itself_is_shown_by_its_value():
    pair = {"box": "JVPTracer", "level": 1, "parts": {"primal": "3.0", "tangent": "1.0"}}
    assert [x["text"] for x in items_of({"operands": [pair]}, "operands")] == ["3.0"]


def test_a_loop_shows_which_round_reads_and_makes_each_row():
    frames = frames_of("control", "grad-of-scan")
    rows = [x["row"] for f in frames for x in f["floors"] if x["row"] and x["level"] == 0]
    done = [row for row in rows if any(x.get("text") == "→" for x in row)]
    scans = [row for row in done if row[0]["text"] == "scan"]
    forwards, *_, back = [[x for x in row if "parts" in x] for row in scans]
    told = [[(p["cap"], p["text"]) for p in x["parts"]] for x in (forwards[-1], back[-1])]
    assert told == [
        [("round 1", "2"), ("2", "4"), ("3", "12")],
        [("3", "24"), ("2", "16"), ("round 1", "12")],
    ]


def test_rounds_of_a_loop_carry_their_values_on_the_bench_of_their_floor():
    benches = [
        [(x.get("cap"), x["text"]) for x in floor["bench"]]
        for frame in frames_of("control", "grad-of-scan")
        for floor in frame["floors"]
        if floor["level"] == 0 and any(x.get("cap") == "carry" for x in floor["bench"])
    ]
    told = list(dict.fromkeys(map(tuple, benches)))
    ahead = [("2.0", "2.0", "4.0", "2.0"), ("4.0", "3.0", "12.0", "4.0")]
    back = [("1.0", "4.0", "12.0", "4.0", "12.0"), ("4.0", "3.0", "4.0", "12.0", "16.0")]
    for *given, carry, y in [*ahead, *back]:
        rows = [("row", x) for x in given[1:]]
        round_ = [("carry", given[0]), *rows, (None, "→"), ("carry", carry), ("y", y)]
        assert tuple(round_) in told


def test_microjax_says_which_interpreter_is_current():
    named = [x["floors"][0]["name"] for x in frames_of("interpreters", "two-blocks")]
    ends = [name.partition(" · ") for name in named]
    assert {end for _, _, end in ends} == {"current"}
    assert [name for name, _, _ in ends] == [
        *["Outer"] * 2, *["Inner"] * 2, *["Outer"] * 2, *["EvalInterpreter"] * 3,
    ]  # fmt: skip


def test_staging_grows_a_program():
    last = frames_of("staging", "there-and-back")[-1]
    assert column(last, "The program so far") == ["v_2 = add v_1 3.0", "v_3 = mul v_1 v_2"]


def test_the_table_stays_when_the_interpreter_ends_that_it_is_about():
    last, _ = last_of("core", "two-interpreters", lower="WatchTrace", level=2)
    assert column(last, "Tangent") == ["[-0.99]"]


def test_a_rule_s_lines_are_told_but_not_those_of_an_exercise():
    found = traced.read('"jvp-of-jvp"', manifest.load()["jvp"])
    told = list(drawing.moments(found.steps))
    names = {found.sources[x.rule_line[0]].name for x in told if x.rule_line}
    assert names >= {"sin_jvp", "bilinear_jvp"}
    marked = re.findall(r'data-in="(\d+) (\d+)"', found.stepper)
    assert {found.sources[int(n)].name for n, _ in marked} >= {"sin_jvp"}
    assert "bilinear_jvp" not in {found.sources[int(n)].name for n, _ in marked}
    lines = {
        re.sub("<[^>]*>", "", found.sources[int(n)].text).splitlines()[int(line) - 1].strip()
        for n, line in marked
    }
    assert any("cos(x)" in x for x in lines)


def last_of(lesson, name, **values):
    found = traced.read(f'"{name}"', manifest.load()[lesson])
    for program, steps in found.cases:
        if all(f"\n{x} = {y}\n" in f"\n{program}" for x, y in values.items()):
            return stage.frames(list(drawing.moments(steps)))[-1], steps
    raise AssertionError(values)


def test_operations_move_between_now_and_later_with_what_is_known():
    keys_of = {}
    for x_known, y_known in itertools.product([True, False], repeat=2):
        frame, steps = last_of("linearize", "known", x_known=x_known, y_known=y_known)
        now, later = (
            {c["key"]: c["text"].split(" = ") for c in column_["cells"]}
            for column_ in (frame["columns"][0], frame["columns"][-1])
        )
        keys_of[x_known, y_known] = sorted([*now, *later])
        waits = 5 if not (x_known or y_known) else 3 if x_known else 4
        assert len(later) == (0 if x_known and y_known else waits)
        assert len(now) == 5 - len(later)
        kept = 0 if x_known == y_known else 2 if x_known else 1
        assert steps[-1]["text"] == f"{kept} residuals, {8 * kept} bytes"
    assert set(map(tuple, keys_of.values())) == {(0, 1, 2, 3, 4)}


def test_omnistaging_doubles_the_program_of_an_unrolled_loop():
    for rounds in (1, 4):
        for on, many in ((True, 2 * rounds), (False, rounds)):
            frame, _ = last_of("tracing", "unrolled", omnistaging=on, rounds=rounds)
            assert len(column(frame, "The program so far")) == many


@pytest.mark.parametrize(("lower", "level", "taker"), [
    ("WatchTrace", 2, "JVPTracer"), ("JVPTrace", 2, "WatchTracer"),
    ("WatchTrace", 1, "WatchTracer"), ("JVPTrace", 1, "JVPTracer"),
    ("WatchTrace", 0, "ArrayImpl"),
])  # fmt: skip
def test_the_operand_s_level_says_who_takes_the_sine(lower, level, taker):
    _, steps = last_of("core", "two-interpreters", lower=lower, level=level)
    assert steps[-1]["text"] == taker


def test_a_batch_axis_moves_the_axis_of_a_sum():
    found = traced.read('"axes"', manifest.load()["vmap"])
    notes = {}
    for program, steps in found.cases:
        frames = stage.frames(list(drawing.moments(steps)))
        ops = (x for f in frames for y in f["floors"] for x in y["row"] if x.get("cap"))
        notes[program.split("x_axis = ")[1][0]] = {x["cap"] for x in ops}
    assert notes == {"0": {"axes=(0,)", "axes=(1,)"}, "1": {"axes=(0,)"}}


def test_a_batch_is_sheets_along_its_axis():
    shown = {"box": "BatchTracer", "level": 1, "parts": {"val": "[1., 2.]", "batch_dim": "0"}}
    made = item(shown, {"id": 5, "parts": {"val": 3, "batch_dim": 4}})
    assert (made["rows"], made["axis"], made["level"]) == ([["1", "2"]], "0", 1)
    assert list(keys(made)) == ["5", "3"]


def test_values_are_short_texts():
    assert [
        x["text"] for x in items(["a:~f64[]", "{ lambda ; a. let in a }", "LoadedExecutable"])
    ] == ["a", "program", "executable"]
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


def test_what_is_known_is_not_left_for_later_although_its_value_is_a_variable():
    *_, last = frames_of("linearize", "two-programs")
    assert column(last, "The program so far") == ["f:f64[] = sin e"]
    assert column(last, "Later: a linear program") == ["h = mul f g"]


def test_an_equation_is_drawn_whole():
    assert item("d:f64[] = exp c:f64[]")["text"] == "d = exp c"
