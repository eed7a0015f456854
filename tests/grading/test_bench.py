"""The benchmarks: they run, and their reports have the shape that readers rely on. Not speed."""

import gc
import json
import os
import subprocess
import sys
import threading
import tracemalloc
from datetime import date
from pathlib import Path

import graded_course
import pytest
from graded_course import graded

from autograder.cli import main
from autograder.lessons import assemble, manifest
from autograder.lessons.problem import Problem
from autograder.upkeep import bench
from benchmarks import _cost as cost
from benchmarks import _measure as measure
from benchmarks import grading, reference, start, term
from benchmarks._memory import Growth
from benchmarks._programs import Sizes

TINY = Sizes(
    equations=8, widths=(3, 4, 2), batch=2, small_widths=(3, 4, 1), small_batch=2, examples=2,
    vocabulary=5, model=4, heads=2, length=3, sequences=2, blocks=1,
)  # fmt: skip
ONE_ROUND = measure.Effort(seconds=0.0, least_rounds=1, sample=0.0)


@pytest.mark.full
@pytest.mark.slow
def test_every_row_is_measured_and_reported(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(reference, "Sizes", lambda: TINY)
    monkeypatch.setattr(reference, "Effort", lambda: ONE_ROUND)
    reference.main(report=tmp_path / "report.json")
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert {"python", "jax", "jaxlib", "numpy", "autograd"} == set(report["versions"])
    assert report["machine"]["cores"] >= 1
    assert [row["name"] for row in report["rows"]] == [row.name for row in reference.ROWS]
    table = capsys.readouterr().out.splitlines()[1:-1]
    for line, row in zip(table, report["rows"], strict=True):
        assert line.startswith(row["name"])
        assert line.endswith(" reached" if row["reached"] else " not reached")
        assert row["rounds"] == 1
        assert row["ratio"] == row["quartiles"][0] == row["ours"] / row["other"] > 0


@pytest.mark.slow
def test_both_libraries_compute_the_same():
    import minijax
    import numpy as np

    kinds = ("dispatch", "training", "per-example", "eager")
    for row in [row for row in reference.ROWS if row.name.startswith(kinds)]:
        ours, other = row.prepare(minijax, TINY)(), row.prepare(reference.module("jax"), TINY)()
        leaves = [minijax.tree.leaves(ours), reference.jax.tree.leaves(other)]
        for x, y in zip(*leaves, strict=True):
            np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-4, atol=1e-6)


def test_the_program_to_trace_has_as_many_equations_as_its_row_says():
    traced = reference.trace_chain(reference.jax, Sizes())()
    assert len(traced.eqns) == 1000


def test_figures_summarise_the_rounds():
    figure = measure.figure("row", "jax", 0.5, [(1.0, 2.0), (2.0, 4.0), (3.0, 4.0)])
    assert (figure.ours, figure.other, figure.ratio, figure.rounds) == (2.0, 4.0, 0.5, 3)
    assert figure.is_reached
    assert figure.quartiles == (0.5, 0.6875)


def test_quick_operations_are_repeated():
    assert measure.repetitions(lambda: None, lambda f, n: 0.003, measure.Effort(sample=0.01)) == 4


def test_an_unknown_benchmark_is_told_with_those_there_are(capsys):
    assert main(["bench", "nothing"]) == 1
    every = ", ".join(bench.names())
    assert capsys.readouterr().err == f"There is no benchmark 'nothing'. There are: {every}.\n"


def test_each_benchmark_is_a_process_of_its_own(monkeypatch, capfd, tmp_path):
    folder = tmp_path / "measured"
    folder.mkdir()
    (folder / "_shared.py").write_text("raise SystemExit(7)")
    (folder / "fine.py").write_text("import minijax; print('fine', __name__)")
    (folder / "wrong.py").write_text("raise SystemExit(3)")
    monkeypatch.setattr(bench, "ROOT", tmp_path)
    monkeypatch.setattr(bench, "FOLDER", folder)
    assert main(["bench", "fine"]) == 0
    assert capfd.readouterr().out == "fine __main__\n"
    assert main(["bench"]) == 3


# Grading -----------------------------------------------------------------------------------------

needs_isolation = pytest.mark.isolated


@pytest.mark.parametrize("name", grading.LESSONS)
def test_a_class_is_mixed_and_everybody_differs(name):
    made = grading.make_class(manifest.get(name), 40)
    assert made == grading.make_class(manifest.get(name), 40)
    bodies = [source.rpartition("\n# ")[0] for _, source in made]
    assert sorted(bodies.count(body) for body in set(bodies))[-3:] == [10, 10, 10]
    assert len({source for _, source in made}) == len({student for student, _ in made}) == 40
    assert not any("while True" in source for _, source in made)


def fake(name, size, scores):
    """A grader that is measured like others, and has these scores."""

    def commands(folder, lesson, jobs):
        yield [sys.executable, "-c", "print(sum(range(1_000_000)))"]

    return grading.Grader(name, size, lambda *_: None, commands, lambda *_: scores)


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(grading, "LESSONS", ("jvp",))
    sizes = grading.Sizes(ours=2, batch=2, single=1, memory=10)
    monkeypatch.setattr(grading, "Sizes", lambda: sizes)
    monkeypatch.setattr(grading.memory, "grown", lambda lesson, jobs: Growth((90.0,) * 10))


NAMES = [(grader.name, grader.size) for grader in grading.GRADERS]
JVP = manifest.get("jvp")
SCORES = {student: JVP.max_points for student, _ in grading.make_class(JVP, 2)}


def test_every_grader_is_measured_and_reported(quick, tmp_path, capsys):
    first = dict(list(SCORES.items())[:1])
    graders = [fake(name, size, first if size == "single" else SCORES) for name, size in NAMES]
    grading.main(report=tmp_path / "report.json", graders=graders)
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert [row["grader"] for row in report["rows"]] == [name for name, _ in NAMES]
    for row in report["rows"]:
        assert row["per_minute"] == pytest.approx(60 * row["submissions"] / row["seconds"])
    assert report["aims"][-1]["reached"] is True
    assert len(report["aims"]) == 5
    table = capsys.readouterr().out
    assert all(f"jvp: {name}" in table for name, _ in NAMES)


def test_graders_that_disagree_are_complained_about(quick, tmp_path):
    other = dict.fromkeys(SCORES, 0.5)
    graders = [fake(name, "ours", other if name == grading.BATCH else SCORES) for name, _ in NAMES]
    with pytest.raises(Problem, match="nbgrader, one batch has 2 scores for 2 submissions"):
        grading.main(report=tmp_path / "report.json", graders=graders)


@needs_isolation
@pytest.mark.slow
def test_nbgrader_as_it_is_and_with_our_grader_agree_with_grade():
    names = [grading.ENGINE, grading.COURSE, grading.BATCH]
    graders = [x for x in grading.GRADERS if x.name in names]
    jobs = grading.make_class(JVP, 4)
    rows = [grading.measured(x, JVP, jobs) for x in graders]
    grading.check_scores(rows, JVP)
    assert [sorted(row.scores) for row in rows] == [sorted(dict(jobs))] * 3
    assert all(len(grading._right(row, JVP)) == 1 for row in rows)


def test_the_cost_of_a_command_counts_what_it_leaves_behind(tmp_path):
    spin = f"{sys.executable} -c 'while True: pass'"
    command = ["/bin/sh", "-c", f"{spin} & sleep 1; kill -9 $!"]
    found = cost.of(command, tmp_path, dict(os.environ), tmp_path / "log")
    assert found.seconds >= 1
    assert found.cpu is None or found.cpu > 0.02


def test_what_a_newcomer_waits_for_is_kept_with_its_date_and_shown_by_the_next_run(
    monkeypatch, tmp_path, capsys
):
    def taken(step, clone, before):
        return cost.Row(step.name, 2.0, 1.0, step.aim, step.of_cpu, before.get(step.name))

    monkeypatch.setattr(start, "taken", taken)
    by_clock, by_cpu = start.Step("slow", "x", 1.5), start.Step("quick", "y", 1.5, of_cpu=True)
    for _ in range(2):
        capsys.readouterr()
        start.main((by_clock, start.Step("", "z"), by_cpu), tmp_path / "start.json")
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:-1]]
    assert rows == [
        ["clone", "2.0", "1.0", "2.0"],
        ["slow", *("2.0", "1.0", "2.0", "1.5", "clock", "not", "reached")],
        ["quick", *("2.0", "1.0", "1.0", "1.5", "CPU", "reached")],
    ]
    kept = json.loads((tmp_path / "start.json").read_text())
    assert date.fromisoformat(kept["date"])


def test_a_terms_costs_are_kept_with_their_date_and_shown_by_a_run_of_another_class(
    monkeypatch, tmp_path, capsys
):
    monkeypatch.setattr(
        term, "measured", lambda lesson, number: [term.Row("grade", number, 60.0, 30.0, 1.0)]
    )
    for number in ("10", "20"):
        capsys.readouterr()
        term.main([number], tmp_path / "term.json")
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if "grade" in line]
    assert rows == [
        ["grade", "20", "1.00", "0.50", "1.00", "1.0"],
        ["grade", "2000", "100.00", "50.00", "100.00", "100.0"],
    ]
    assert date.fromisoformat(json.loads((tmp_path / "term.json").read_text())["date"])


@pytest.mark.parametrize("body", [start.ENDLESS, start.PRINTING])
def test_the_submission_that_is_waited_for_never_ends(tmp_path, body):
    made = tmp_path / "my-jax/minijax/jvp.py"
    made.parent.mkdir(parents=True)
    made.write_text(assemble.read_handout("minijax/jvp.py"), encoding="utf-8")
    subprocess.run(["/bin/sh", "-ec", start.endless(body)], cwd=tmp_path, check=True)
    assert f"    {body}\n" in (tmp_path / start.IN / "ada/jvp.py").read_text()


def test_growing_memory_is_not_flat():
    assert Growth(tuple(range(100, 110))).ratio == pytest.approx(108.5 / 102.5)
    assert Growth((10.0, 20.0, *[100.0] * 18)).ratio == 1.0


@needs_isolation
@pytest.mark.slow
def test_grading_leaves_nothing_in_memory(monkeypatch, tmp_path):
    lesson = graded_course.write(monkeypatch, tmp_path)

    def grade_some(first):
        for number in range(first, first + 5):
            source = f"{graded_course.MODULE}# {number} {'x' * 200_000}\n"
            graded(lesson, source.encode())
        gc.collect()
        files = len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").exists() else 0
        return tracemalloc.get_traced_memory()[0], files, threading.active_count()

    tracemalloc.start()
    try:
        before, after = grade_some(0), grade_some(5)
    finally:
        tracemalloc.stop()
    assert after[1:] == before[1:]
    assert after[0] - before[0] < 500_000  # one submission that stays would be 200,000 at least
