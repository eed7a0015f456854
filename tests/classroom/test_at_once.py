"""What systems show as soon as something is handed in: their archives are run as they run them."""

import json
import re
import zipfile

import graded_course
import pytest
import result_documents
import yaml
from test_exports import FORGETFUL, both, exported, load, run_autograder

from autograder.classroom.reports import exports
from autograder.classroom.systems import at_once, github, gradescope, prairielearn
from autograder.grading import result_files
from autograder.lessons import assemble, manifest, skeleton

CHECKS = '''
import pytest
import tiny


@pytest.mark.exercise("tiny.double")
def test_double():
    """Two is doubled to four."""
    assert tiny.double(2.0) == 4.0


@pytest.mark.exercise("tiny.mean")
def test_mean():
    """The mean of one and three is two."""
    assert tiny.mean([1.0, 3.0]) == 2.0
'''
HIDDEN = re.compile(r"hidden/|solutions/tiny/numbers")
UNWRITTEN = "def find_top_trace(args):\n    raise NotImplementedError('core.find_top_trace')\n"
TRIPLED = graded_course.changed("2.0 * np", "3.0 * np")


def archive_of(monkeypatch, root, form, shows, per_day=0):
    """The archive that is exported for a course with such a choice."""
    checks = root / "course/lessons/01_tiny/checks.py"
    checks.parent.mkdir(parents=True)
    checks.write_text(CHECKS, encoding="utf-8")
    chosen = f'\n[at_once]\nshows = "{shows}"\nper_day = {per_day}\n'
    (found,) = exported(monkeypatch, root, form, chosen).glob("*.zip")
    return found


def held_by(archive):
    with zipfile.ZipFile(archive) as opened:
        return [name for name in opened.namelist() if HIDDEN.search(name)]


@both
@pytest.mark.isolated
def test_counts_are_points_and_numbers_of_tests_and_no_reason_and_gradescope_keeps_a_limit(
    tmp_path, monkeypatch, form, run
):
    archive = archive_of(monkeypatch, tmp_path, form, "counts", per_day=1)
    document, tests = run(archive, tmp_path, TRIPLED)
    assert tests == [(0, 10, "0 of 3 tests passed."), (7, 7, "3 of 3 tests passed.")]
    assert not re.search("tripled|doubled|Hint|does not hold", json.dumps(document))
    assert held_by(archive)
    if form == "gradescope":
        assert document["extra_data"] == {"tested": True}
        told = json.dumps(metadata((25, 9, "7.0", True)))
        (tmp_path / "machine/submission_metadata.json").write_text(told, encoding="utf-8")
        assert run_autograder(tmp_path / "machine").returncode == 0
        document = load(tmp_path / "machine/results/results.json")
        assert document["score"] == 7.0
        assert document["output"].startswith("This was not tested: the limit is 1 per day.")


@both
@pytest.mark.parametrize(
    ("source", "points", "said"),
    [
        (TRIPLED, [0, 7], "This should hold: Two is doubled to four."),
        (FORGETFUL.replace(b"3.0 * np", b"2.0 * np"), [10, 7], "1 of 1 tests passed."),
        (b"def double(:\n", [0, 0], "Python cannot read line 1"),
    ],
    ids=["wrong", "wrong for hidden tests alone", "unreadable"],
)
def test_visible_checks_alone_need_nothing_hidden_and_are_no_grade(
    tmp_path, monkeypatch, form, run, source, points, said
):
    archive = archive_of(monkeypatch, tmp_path, form, "checks")
    assert held_by(archive) == []
    document, tests = run(archive, tmp_path, source)
    assert [x[:2] for x in tests] == list(zip(points, [10, 7], strict=True))
    assert said in tests[0][2]
    assert document["output"].startswith(at_once.NOT_A_GRADE)
    assert (said in document["output"]) == (points == [0, 0])  # it is the whole module's


def test_an_exercise_that_waits_for_another_says_for_which():
    lesson = manifest.get("core")
    source = assemble.read_solution(lesson.module)
    stub = next(x for x in lesson.exercises if x.id == "core.find_top_trace")
    without = skeleton.replace_function(source, stub.target, UNWRITTEN).encode()
    said = {x["id"]: x["message"] or "" for x in at_once.checked(lesson, without, "")["exercises"]}
    assert said["core.find_top_trace"].startswith("This exercise is not begun.")
    assert said["core.counted"].startswith("This exercise needs core.find_top_trace first.")


def test_a_missing_module_costs_no_attempt_in_prairielearn():
    found = at_once.checked(manifest.get("core"), None, "Nothing was handed in.")
    assert prairielearn.document(found)["format_errors"] == ["Nothing was handed in."]


# ------------------------------------------------------------------------------------------
# How often a day


def metadata(*earlier):
    """What Gradescope tells of a submission at noon, and of earlier ones."""
    return {
        "created_at": "2026-11-25T12:00:00.000000-08:00",
        "previous_submissions": [
            {
                "submission_time": f"2026-11-{day}T{hour:02}:00:00.000000-08:00",
                "score": score,
                "results": {"score": score, "extra_data": {"tested": True} if tested else None},
            }
            for day, hour, score, tested in earlier
        ],
    }


@pytest.mark.parametrize(
    ("earlier", "waits"),
    [
        ([], False),
        ([(25, 9, "3.0", True)], False),
        ([(25, 9, "3.0", True), (25, 10, "4.0", True)], True),
        ([(24, 11, "3.0", True), (25, 10, "4.0", True)], False),
        ([(24, 13, "3.0", True), (25, 10, "4.0", True)], True),
        ([(25, 9, "3.0", True), (25, 10, "0.0", False)], False),
    ],
)
def test_only_so_many_submissions_of_24_hours_are_tested(tmp_path, earlier, waits):
    path = tmp_path / "submission_metadata.json"
    path.write_text(json.dumps(metadata(*earlier)), encoding="utf-8")
    found = gradescope.too_many(tmp_path, 2)
    assert bool(found) == waits
    if found:
        assert found["score"] == 4.0
        hour = earlier[-2][1]
        assert f"from 2026-11-{earlier[-2][0] + 1} {hour:02}:00 UTC-08:00. The" in found["output"]
    assert gradescope.too_many(tmp_path, 0) is None


@pytest.mark.parametrize("text", ["[]", "{}", '{"created_at": "now", "previous_submissions": []}'])
def test_metadata_of_another_form_limits_nothing(tmp_path, text):
    (tmp_path / "submission_metadata.json").write_text(text, encoding="utf-8")
    assert gradescope.too_many(tmp_path, 1) is None


def test_prairielearn_gets_the_minutes_between_two_submissions(tmp_path, monkeypatch):
    archive = archive_of(monkeypatch, tmp_path, "prairielearn", "full", per_day=3)
    with zipfile.ZipFile(archive) as opened:
        entry = json.loads(opened.read("assessment/question.json"))
    assert entry["gradeRateMinutes"] == 480


# ------------------------------------------------------------------------------------------
# GitHub

WRONG = result_documents.result("ada", result_documents.exercise("core.full_raise", True, False))


def test_githubs_marks_have_reasons_counts_or_nothing():
    full, counts, checks = (
        "\n".join(github.annotations(WRONG, x)) for x in ("full", "counts", "checks")
    )
    assert "1 of 2 tests passed" in full
    assert "does not hold" in full
    assert "1 of 2 tests passed" in counts
    assert "does not hold" not in counts
    assert checks == "::notice title=core::This is submitted."


def test_githubs_workflow_for_visible_checks_runs_the_handouts_command(tmp_path, monkeypatch):
    (tmp_path / "course.toml").write_text(
        '[at_once]\nshows = "checks"\n[[assignment]]\nname = "core"\nlessons = ["core"]\n'
    )
    result_files.write(WRONG, tmp_path)
    made = exports.export(tmp_path, "github")
    steps = yaml.safe_load((made / "classroom.yml").read_text())["jobs"]["check"]["steps"]
    assert steps[-1]["run"] == "./jaxprentice --plain check"
    assert [path.name for path in (made / "core").iterdir()] == ["ada.txt"]
