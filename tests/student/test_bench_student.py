"""`bench student` measures each lesson, and its report has the shape that readers rely on."""

import json

import pytest

from benchmarks import student


@pytest.mark.full
def test_a_lesson_is_measured_untouched_and_solved(tmp_path, capsys):
    report = tmp_path / "report.json"
    student.main(["interpreters"], rounds=1, report=report)
    rows = json.loads(report.read_text(encoding="utf-8"))["rows"]
    names = [row["name"] for row in rows]
    assert names == ["check interpreters, untouched", "check interpreters, solved"]
    assert all(row["seconds"] > 0 and row["cpu"] > 0 for row in rows)
    assert len([line for line in capsys.readouterr().out.splitlines() if "reached" in line]) == 2
