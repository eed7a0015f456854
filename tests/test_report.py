"""The class report: what it shows, and what it must not."""

import csv
import re

import pytest

from autograder import report
from autograder.edition import Problem


def exercise(name, points, kind=None, mistake=None):
    return {
        "id": name,
        "points": points,
        "max_points": 2.0,
        "tests": [],
        "class": kind,
        "message": "text of the submission",
        "misconception": mistake and {"name": mistake, "hints": []},
        "counterexample": "text of the submission",
    }


def result(student, *exercises, remarks=()):
    return {
        "lesson": "core",
        "student": student,
        "score": sum(e["points"] for e in exercises),
        "max_score": 2.0 * len(exercises),
        "isolation": "namespaces",
        "exercises": list(exercises),
        "remarks": list(remarks),
    }


CLASS = [
    result("ada", exercise("core.bind", 2.0), exercise("core.pure", 2.0)),
    result("bela", exercise("core.bind", 1.0, "wrong_value", "A < B"), exercise("core.pure", 2.0)),
    result(
        "<i>cy</i>", exercise("core.bind", 0.0, "does_not_terminate"), exercise("core.pure", 0.0)
    ),
]


@pytest.fixture
def page():
    return report.render(CLASS)


def rows(page, caption):
    """The rows of the table below a heading, as lists of texts."""
    table = re.search(rf"<h3>{caption}</h3>.*?<tbody>(.*?)</tbody>", page, re.DOTALL)[1]
    cells = [re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row) for row in table.split("</tr>")[:-1]]
    return [[re.sub(r"<.*?>", "", cell).strip() for cell in row] for row in cells]


def test_each_exercise_has_pass_rate_mean_and_reasons(page):
    assert rows(page, "Exercises") == [
        ["core.bind", "1 of 3", "", "50 %", "wrong value (1), does not terminate (1)"],
        ["core.pure", "2 of 3", "", "67 %", ""],
    ]


def test_named_mistakes_are_counted(page):
    assert rows(page, "Named mistakes") == [["core.bind", "A &lt; B", "1"]]


def test_an_endless_submission_needs_a_human_eye(page):
    why = "core.bind: does not terminate"
    assert rows(page, "Submissions that need a human eye") == [["&lt;i&gt;cy&lt;/i&gt;", why]]


def test_a_remark_of_the_engine_needs_a_human_eye():
    page = report.render([result("ada", exercise("core.bind", 2.0), remarks=["It tried X."])])
    assert rows(page, "Submissions that need a human eye") == [["ada", "It tried X."]]


def test_the_histogram_counts_full_points_apart(page):
    counts = {label: count for label, count, _ in rows(page, "Scores")}
    assert {label for label, count in counts.items() if count == "1"} == {
        "0 to 9 %",
        "70 to 79 %",
        "100 %",
    }


def test_students_are_listed_with_their_points_and_escaped(page):
    assert rows(page, "Grades") == [
        ["&lt;i&gt;cy&lt;/i&gt;", "0 / 4", "every exercise"],
        ["ada", "4 / 4", ""],
        ["bela", "3 / 4", "core.bind"],
    ]
    assert "<i>" not in page


def test_text_of_the_submission_is_not_shown(page):
    assert "text of the submission" not in page


def test_the_page_needs_no_other_file(page):
    assert not re.search(r"<(script|link|img|iframe)|url\(|https?:", page)


def test_the_table_has_a_line_for_each_exercise(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "_load", lambda folder: CLASS)
    assert report.write(tmp_path) == tmp_path / "report.html"
    with (tmp_path / "report.csv").open(newline="") as file:
        lines = list(csv.reader(file))
    assert len(lines) == 7
    assert lines[3] == ["core", "bela", "core.bind", "1.0", "2.0", "wrong_value", "A < B"]


@pytest.mark.parametrize("name", ["=1+1", "@x", "-2", "+2"])
def test_a_name_like_a_formula_is_kept_from_spreadsheets(tmp_path, monkeypatch, name):
    found = [result(name, exercise("core.bind", 2.0))]
    monkeypatch.setattr(report, "_load", lambda folder: found)
    report.write(tmp_path)
    assert f"core,'{name},core.bind" in (tmp_path / "report.csv").read_text()


def test_a_folder_without_results_is_a_problem(tmp_path):
    with pytest.raises(Problem, match="There are no results"):
        report.write(tmp_path)
