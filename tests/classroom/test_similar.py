"""Shared code: copies are found whatever their names are; what everybody gets does not count."""

import random

import pytest

from autograder import cli
from autograder.grading import answers
from autograder.lessons import assemble, manifest, skeleton

pytest.importorskip("copydetect", reason="the instructor's layer is of an older lock file")
from autograder.classroom.reports import similar

LESSON = manifest.get("jvp")
KNOWN = [*answers.rights(LESSON.id), *answers.mistakes(LESSON.id)]
UNTOUCHED = assemble.skeleton_of(LESSON)


def student(number):
    """A module of right and wrong answers, chosen by chance."""
    chance, source = random.Random(number), UNTOUCHED
    for exercise in LESSON.exercises:
        own = [answer.source for answer in KNOWN if answer.exercise == exercise.id]
        source = skeleton.replace_function(source, exercise.target, chance.choice(own))
    return source


@pytest.fixture(scope="module")
def sources():
    made = {f"s{i:02}": student(i) for i in range(16)}
    renamed = made["s03"].replace("primals_out", "ys").replace("tangents_out", "moved")
    made["copy"] = renamed.replace("x_dot", "t").replace("primals", "values")
    made["twin"] = made["s05"].replace("\n\n", "\n\n\n")
    made["thief"] = assemble.read_solution(LESSON.module)
    made["untouched"] = made["idle"] = UNTOUCHED
    return made


@pytest.fixture(scope="module")
def found(sources):
    return similar.compare(sources, LESSON)


def test_copies_and_the_published_solution_are_named_and_others_are_not(found):
    named = {(pair.first, pair.second): pair for pair in found.pairs}
    assert ("copy", "s03") in named
    assert [(x.student, x.number) for x in found.equal] == [("s05, twin", 2)]
    assert named["copy", "s03"].share > 0.95
    assert len(named) <= 4
    assert (found.reference[0].first, found.reference[0].share) == ("thief", 1.0)
    assert found.count == 19
    assert not any("idle" in names for names in named)  # what nobody has written
    # The threshold is above what the class shares anyway.
    assert found.percentiles[50] < found.percentiles[90] <= found.percentiles[99]
    assert found.threshold >= similar.HIGH


def test_single_functions_that_are_the_same_are_listed(found, sources):
    assert all(len(x.students) > 1 for x in found.same)
    assert any("s05, twin" in x.students for x in found.same)  # which are one
    assert any("s05, twin" not in x.students for x in found.same)
    assert all(x.published == ("thief" in x.students) for x in found.same if "thief" in x.students)
    assert len([x for x in similar.told(found) if " is the same" in x]) == similar.TOLD
    left = len(found.same) - similar.TOLD
    assert left > 0
    assert f"    and {left} more of these: see the page" in similar.told(found)


def test_a_group_is_compared_once(tmp_path):
    for name in ("ada", "bob", "cy"):
        folder = tmp_path / "intake" / name / "ps1" / "minijax"
        folder.mkdir(parents=True)
        (folder / "jvp.py").write_text(student(1))
    (tmp_path / "groups.csv").write_text("ps1,bob,ada\n")
    sources = similar.from_intake(tmp_path, "ps1", LESSON)
    assert sorted(sources) == ["bob + ada", "cy"]


def test_the_page_shows_both_functions_as_text(sources, tmp_path, capsys):
    for name, tangents in (("s01", "ts"), ("s02", "ts"), ("s03", "moved")):
        folder = tmp_path / name / "minijax"
        folder.mkdir(parents=True)
        text = sources["s01"].replace("zip(", "zip(*'<script>'), (").replace("tangents", tangents)
        (folder / "jvp.py").write_text(text)
    assert cli.main(["similar", str(tmp_path), "--lesson", "jvp"]) == 0
    assert "s01, s02: the same functions" in capsys.readouterr().out
    page = (tmp_path / "similar-jvp.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;" in page
    assert "<script>" not in page
    assert 'class="two"' in page


def test_names_of_folders_do_not_play_with_the_terminal(tmp_path):
    for name in ("ada", "\x1b[31mbela\x07"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "jvp.py").write_text(student(1))
    found = similar.compare(similar.from_submissions(tmp_path, LESSON), LESSON)
    assert all(line.isprintable() for line in similar.told(found))
    assert found.count == 2
