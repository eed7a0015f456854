"""The capstones learn, alike on minijax and on JAX; and a student's own package is examined."""

import dataclasses
import functools
import json
import math
import re
import shutil
import subprocess
import sys

import pytest

from autograder.classroom.handouts import release
from autograder.lessons import manifest
from autograder.lessons.places import COURSE, SOLUTIONS
from autograder.lessons.problem import Problem
from autograder.student import (
    capstone,
    commands,
    contents,
    ending,
    ending_page,
    progress,
    workspace,
)

HERE = COURSE / "capstones"
LESSON = manifest.get("capstone")
PROGRAMS = ("digits", "characters", "heat")


def run(program, *options, folder=HERE, **settings):
    command = [sys.executable, "-B", str(folder / f"{program}.py"), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, **settings)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A program's output and what it saves: whole on minijax, a hundred steps on JAX."""
    folder = tmp_path_factory.mktemp("runs")

    @functools.cache
    def result(program, backend):
        saved = folder / f"{program}.{backend}.json"
        steps = ("--steps", "100") if backend == "jax" else ()
        done = run(program, "--backend", backend, "--save", str(saved), *steps)
        assert done.returncode == 0, done.stderr
        return done.stdout, json.loads(saved.read_text())

    return result


def apart(a, b):
    return max(abs(x - y) for x, y in zip(a[:100], b[:100], strict=True))


@pytest.mark.full  # those on minijax are compared with JAX's stored ones, and these with --full
@pytest.mark.parametrize("program", PROGRAMS)
def test_losses_on_minijax_and_on_jax_agree_for_a_hundred_steps(runs, program):
    assert apart(*(runs(program, backend)[1]["losses"] for backend in ("minijax", "jax"))) < 1e-6


@pytest.mark.parametrize("program", PROGRAMS)
def test_each_program_learns_and_says_how_long_it_took(runs, program):
    saved = runs(program, "minijax")[1]
    assert saved["losses"][-1] < 0.5 * saved["losses"][0]
    assert sorted(saved["times"]) == ["compile", "step", "trace"]
    assert all(seconds > 0 for seconds in saved["times"].values())


def test_at_least_96_percent_of_the_new_digits_are_read(runs):
    before, after = (float(x) for x in re.findall(r"([\d.]+)% of", runs("digits", "minijax")[0]))
    assert before < 30
    assert after >= 96


@pytest.mark.slow
def test_the_transformer_learns_that_there_are_words(runs):
    words = [
        len([word for word in re.findall(r"[a-z]+", text) if word in ("the", "to", "that", "I")])
        for text in re.split("step 1 of|After", runs("characters", "minijax")[0])[::2]
    ]
    assert words[0] + 3 < words[1]


def test_a_run_shows_how_it_goes_and_what_it_has_learned_so_far(runs):
    digits, characters = (runs(name, "minijax")[0] for name in ("digits", "characters"))
    assert re.findall(r"step (\d+) of 100", digits) == ["1", "20", "40", "60", "80", "100"]
    assert re.search(r"a \d, read as \d", digits)
    assert characters.count("Shall I compare thee") == 5  # before, three times on the way, after


@pytest.mark.slow
def test_a_prompt_is_continued():
    done = run("characters", "--steps", "2", "--prompt", "O Romeo ")
    assert re.search(r"^O Romeo .{20}", done.stdout, re.MULTILINE)
    done = run("digits", "--prompt", "O Romeo ")
    assert done.stderr == "This program writes no text. Leave --prompt out.\n"


def test_the_fit_finds_where_heat_cannot_pass(runs):
    found = re.findall(r"found +(\d+)", runs("heat", "minijax")[0])[-1]
    truth = re.findall(r"in truth +(\d+)", runs("heat", "minijax")[0])[-1]
    assert "1" in found
    assert all(abs(truth.find("1") + 2 - i) <= 4 for i, x in enumerate(found) if x in "123")


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_stored_losses_are_current(runs, program):
    stored = json.loads((HERE / f"{program}.json").read_text())
    assert stored["backend"] == "jax"
    assert capstone.difference(runs(program, "minijax")[1]["losses"], stored["losses"]) == ""


# ------------------------------------------------------------------------------------------
# What can be wrong is told in one sentence


def test_jax_may_be_missing(tmp_path):
    (tmp_path / "jax.py").write_text("raise ModuleNotFoundError('no', name='jax')")
    done = run("digits", "--backend", "jax", env={"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 1
    assert done.stderr == (
        "JAX is not installed. Take another backend, or run: "
        f'"{sys.executable}" -m pip install jax\n'
    )


def test_outside_of_a_workspace_there_is_no_package_of_ones_own():
    done = run("digits", "--backend", "mine")
    assert done.returncode == 1
    assert re.fullmatch(r"This is not a workspace. Make one with .*\n", done.stderr)
    with pytest.raises(Problem, match="not a workspace"):
        commands.check(workspace.Workspace(COURSE, own=False), "capstone", mine=False)


# ------------------------------------------------------------------------------------------
# A student's package


@pytest.fixture
def place(tmp_path):
    """A workspace in which all exercises are right."""
    made = contents.init(tmp_path / "work")
    shutil.rmtree(made.root / "minijax")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(SOLUTIONS / "minijax", made.root / "minijax", ignore=ignored)
    return made


@pytest.mark.slow
def test_a_workspace_holds_page_and_programs_and_its_skeletons_are_told(tmp_path):
    made = contents.init(tmp_path / "work")
    assert all((made.root / path).is_file() for path in LESSON.scripts)
    assert (made.root / "lessons" / LESSON.folder.name / "times.svg").is_file()
    done = run("digits", "--backend", "mine", folder=made.root / "capstones")
    assert done.returncode == 1
    assert re.fullmatch(
        r"minijax/core.py, line \d+: the exercise core\.\w+ is not done yet.\n", done.stderr
    )


@pytest.mark.slow
def test_a_right_package_passes_and_the_list_says_so(place, capsys):
    assert commands.check(place, "capstone", mine=False) == 0
    said = capsys.readouterr().out
    assert [re.search(f"^{x}: All \\d+ losses", said, re.MULTILINE) is None for x in PROGRAMS] == [
        False
    ] * 3
    assert "yours                               JAX's" in said
    assert "96.9% of 360 new digits are read correctly" in said
    assert "Shall I compare thee" in said
    page = (place.root / ending_page.NAME).read_text(encoding="utf-8")
    assert "Shall I compare thee" in page
    assert page.count("<svg") == 12 + 2 + 3
    assert not re.search(r'(src|href)="', page)  # it needs no other file
    progress.list_lessons(place)
    rows = capsys.readouterr().out.splitlines()
    assert next(row for row in rows if row.startswith("capstone")).endswith("yes")


WRONG = {  # by the exercise: what is right, and what is not
    "core.find_top_trace": ("if main.level > top.level else top", ""),
    "tracing.constant": ("if id(val) not in self.consts", "if True"),
}


@pytest.mark.slow
@pytest.mark.parametrize("exercise", WRONG)
def test_the_exercise_with_a_wrong_rule_is_named(place, capsys, exercise):
    module = place.file(manifest.get(exercise.partition(".")[0]))
    right, wrong = WRONG[exercise]
    assert right in module.read_text(encoding="utf-8")
    module.write_text(module.read_text(encoding="utf-8").replace(right, wrong), encoding="utf-8")
    assert commands.check(place, "capstone", mine=False) == 1
    said = capsys.readouterr().out
    assert f"{exercise} is not right: " in said
    assert f"Next: ./jaxprentice check {exercise}\n" in said
    assert not (place.root / ending_page.NAME).exists()


@pytest.mark.slow
def test_a_wrong_rule_that_is_no_exercise_names_the_lesson(place, capsys):
    module = place.root / "minijax" / "jvp.py"
    text = module.read_text(encoding="utf-8")
    module.write_text(text.replace("log(x), div(x_dot, x)", "log(x), mul(x_dot, x)"), "utf-8")
    assert commands.check(place, "capstone", mine=False) == 1
    assert "Your own minijax/jvp.py breaks it: The loss at step 2 is " in capsys.readouterr().out


def test_what_is_ones_own_is_counted_apart_from_what_was_given(place):
    lesson = manifest.get("pytrees")
    done = [exercise.id for exercise in lesson.exercises]
    place.remember("checked", "pytrees", {"of": place.fingerprint(lesson), "done": done})
    place.remember("given", "pytrees", done[:3])
    place.remember("ways", "pytrees", "blank")
    work = ending.work(place, lesson)
    assert [exercise.id for exercise in work.own] == done[3:]
    assert [exercise.id for exercise in work.given] == done[:3]
    source = place.source(lesson).decode()
    assert work.lines == sum(ending.lines_of(source, exercise) for exercise in work.own) > 10
    assert work.way == "blank"
    page = ending_page.text([], [work])
    assert f"<td>{len(done) - 3} of {len(done)}</td><td>3</td><td>blank</td>" in page


def test_lines_of_code_are_counted_without_docstring_and_comments():
    source = 'def f(x):\n    """Two.\n\n    Lines.\n    """\n    # Why.\n\n    return x\n'
    exercise = manifest.get("core").exercises[0]
    assert ending.lines_of(source, dataclasses.replace(exercise, target="f")) == 2


@pytest.mark.parametrize(
    ("got", "message"),
    [
        ([1.0, 2.0], ""),
        ([1.0, 2.0 + 1e-7], ""),
        ([1.0, 2.00001], "The loss at step 2 is 2.00001, and should be 2."),
        ([math.nan, 2.0], "The loss at step 1 is nan, and should be 1."),
    ],
)
def test_two_curves_part_where_a_loss_differs(got, message):
    assert capstone.difference(got, [1.0, 2.0]) == message


@pytest.mark.slow
def test_a_run_of_ones_own_says_which_exercises_ran_and_how_jax_does(place):
    done = run("own", folder=place.root / "capstones")  # in a workspace, one's own is taken
    assert re.search(r"^  jvp.py +.*JVPTrace.process_primitive \d", done.stdout, re.MULTILINE)
    assert re.search(r"^JAX  .* 0\.0000", done.stdout, re.MULTILINE)
    assert done.stdout.splitlines()[-1].startswith(("All 50 losses are equal", "No two of the 50"))


@pytest.mark.slow
def test_the_capstone_is_a_handout_of_its_own(tmp_path):
    made = release.release(LESSON, tmp_path)
    assert (made.folder / "capstones" / "own.py").is_file()
    done = run("digits", "--backend", "mine", "--steps", "2", folder=made.folder / "capstones")
    assert done.returncode == 0, done.stderr


def test_a_handout_that_can_run_the_programs_holds_them(tmp_path):
    assert release._to_run(manifest.get("grad")) == []
    release.fill(tmp_path / "custom", manifest.get("custom"))
    for folder in ("custom", "custom/tool/course"):
        assert all((tmp_path / folder / path).is_file() for path in LESSON.scripts)


# ------------------------------------------------------------------------------------------
# The comparison


def test_table_and_plot_show_every_run(monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))
    import compare

    times = {"trace": 0.01, "compile": 2.0, "step": 0.0005}
    runs = {
        ("digits", backend): {"times": times, "losses": [1.0, last]}
        for backend, last in (("minijax", 0.5), ("jax", 0.5 + 1e-9), ("mine", 0.6))
    }
    rows = compare.table(runs).splitlines()[1:]
    assert [row.split()[1] for row in rows] == ["minijax", "jax", "mine"]
    assert [row.split()[-1] for row in rows] == ["agree", "agree", "DIFFER"]
    assert rows[0].split()[2:5] == ["10.0", "2000.0", "0.50"]
    assert compare.plot(runs).count("<rect") == 1 + 9
    assert compare.plot(runs).count("500 us") + compare.plot(runs).count("0.5 ms") == 3
