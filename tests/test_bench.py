"""The benchmarks: they run, and their reports have the shape that readers rely on. Not speed."""

import json

import pytest

from autograder import bench
from autograder.cli import main
from benchmarks import _measure as measure
from benchmarks import control, reference
from benchmarks._programs import Sizes

TINY = Sizes(
    equations=8, widths=(3, 4, 2), batch=2, small_widths=(3, 4, 1), small_batch=2, examples=2,
    vocabulary=5, model=4, heads=2, length=3, sequences=2, blocks=1,
)  # fmt: skip
ONE_ROUND = measure.Effort(seconds=0.0, least_rounds=1, sample=0.0)


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


def test_both_libraries_compute_the_same():
    import minijax
    import numpy as np

    for row in reference.ROWS:
        if row.name.startswith(("dispatch", "training", "per-example", "eager")):
            ours, other = row.prepare(minijax, TINY)(), row.prepare(reference.module("jax"), TINY)()
            leaves = [minijax.tree.leaves(ours), reference.jax.tree.leaves(other)]
            for x, y in zip(*leaves, strict=True):
                np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-4, atol=1e-6)


def test_both_libraries_compute_the_same_loops():
    import minijax
    import numpy as np

    sizes = control.Sizes(iterations=5, steps=4, width=3)
    for row in control.ROWS:
        ours, other = row.prepare(minijax, sizes)(), row.prepare(reference.module("jax"), sizes)()
        leaves = [minijax.tree.leaves(ours), reference.jax.tree.leaves(other)]
        for x, y in zip(*leaves, strict=True):
            np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-5)


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
