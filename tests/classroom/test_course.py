"""`course.toml`: what it says reaches notebooks, points and results; a wrong entry has its line."""

import json
from datetime import datetime

import pytest
import result_documents
from nbformat.v4 import new_code_cell
from nbgrader.utils import compute_checksum

from autograder import cli
from autograder.classroom.course import notebooks
from autograder.classroom.course import settings as courses
from autograder.classroom.intake import reading
from autograder.classroom.nbgrader import directory, gradebook, regrading, submitted
from autograder.classroom.nbgrader import people as class_people
from autograder.grading.task import Edition, Task
from autograder.lessons import assemble, manifest, skeleton, tasks
from autograder.lessons.problem import Problem

ENTRY = """\
[students]
hints = 2

[[assignment]]
name = "ps1"
lessons = ["jvp", "core"]
due = 2030-05-18T12:00:00+02:00
points = { "core.full_raise" = 7 }
drop = ["jvp.sum_rule"]
question = 4
open = { jvp = 5 }

[[assignment]]
name = "resit"
lessons = ["core"]
"""


@pytest.fixture
def course(tmp_path):
    return written(tmp_path, ENTRY)


def written(folder, text):
    (folder / courses.FILE).write_text(text, encoding="utf-8")
    return courses.read(folder)


def test_an_assignment_has_its_lessons_in_order_with_its_own_points(course):
    ps1, resit = course.assignments.values()
    assert [lesson.id for lesson in ps1.lessons] == ["core", "jvp"]
    assert str(ps1.due) == "2030-05-18 10:00:00"
    core, jvp = (ps1.cells(lesson) for lesson in ps1.lessons)
    assert (core["core-full_raise"], core["core-question"]) == (7.0, 4.0)
    assert (jvp["jvp-sum_rule"], jvp["jvp-open"]) == (0.0, 5.0)
    usual = resit.cells(resit.lessons[0])
    assert usual["core-full_raise"] == manifest.find_exercise("core.full_raise").points
    assert not any("open" in name for name in usual)


def test_the_notebooks_have_these_points_and_two_hints(course):
    files = notebooks.texts(course.get("ps1"))
    assert sorted(files) == ["core.ipynb", "jvp.ipynb", "setup_core.py", "setup_jvp.py"]
    for lesson in course.get("ps1").lessons:
        cells = json.loads(files[f"{lesson.id}.ipynb"])["cells"]
        marks = [c["metadata"]["nbgrader"] for c in cells if "nbgrader" in c["metadata"]]
        graded = {mark["grade_id"]: mark["points"] for mark in marks if mark["grade"]}
        assert graded == course.get("ps1").cells(lesson)
        text = "".join("".join(cell["source"]) for cell in cells)
        assert "Hint 3" in text  # the toolbox is the second
        assert "Hint 4" not in text
        assert "(4 points; a person" in text
        assert "jaxprentice" not in text
        assert len({cell["id"] for cell in cells}) == len(cells)


def test_what_is_dropped_is_given_in_the_source(course, tmp_path):
    directory.write_source(tmp_path / "ps1", course.get("ps1"))
    jvp, core = ((tmp_path / f"ps1/minijax/{x}.py").read_text() for x in ("jvp", "core"))
    wanted = len(manifest.get("jvp").exercises) - 1
    assert jvp.count('raise NotImplementedError("jvp.') == wanted
    assert 'NotImplementedError("core.full_raise")' in core
    assert {"checks_core.py", "checks_jvp.py"} <= {x.name for x in (tmp_path / "ps1").iterdir()}


def test_a_result_is_scaled_and_what_is_dropped_leaves_it(course):
    lesson = course.get("ps1").lessons[1]
    parts = [result_documents.exercise(x.id, True, False) for x in manifest.get("jvp").graded]
    scaled = courses.with_points(result_documents.result("ada", *parts, lesson="jvp"), lesson)
    assert "jvp.sum_rule" not in [verdict["id"] for verdict in scaled["exercises"]]
    assert scaled["max_score"] == lesson.max_points
    assert scaled["score"] == pytest.approx(lesson.max_points / 2, abs=0.1)


@pytest.mark.parametrize("way", manifest.WAYS)
def test_a_class_gets_its_lessons_by_the_way_of_the_course(tmp_path, way):
    ps1 = written(tmp_path, ENTRY.replace("hints = 2", f'way = "{way}"')).get("ps1")
    (jvp,) = (lesson for lesson in ps1.lessons if lesson.id == "jvp")
    directory.write_source(tmp_path / "source", ps1, {})
    module = (tmp_path / "source/minijax/jvp.py").read_text(encoding="utf-8")
    assert ("# Toolbox:" in module) == (way == "guided")
    given = [exercise.id for exercise in jvp.exercises if not exercise.points]
    missing = {exercise.id for exercise in skeleton.missing(module.encode(), jvp)}
    every = {exercise.id for exercise in jvp.exercises}
    assert missing == (every - {*given} if way == "blank" else set())
    text = notebooks.texts(ps1)["jvp.ipynb"]
    assert ("**Toolbox**" in text, "Useful here:" in text) == (way == "guided", way != "guided")


@pytest.mark.parametrize(
    ("rule", "passed", "points"),
    [
        ("thirds", [True] * 5, 6.0),
        ("thirds", [False, *[True] * 8], 4.0),
        ("thirds", [False, False, *[True] * 8], 2.0),
        ("thirds", [*[False] * 8, True], 0.67),
        ("tests", [False, *[True] * 8], 5.33),
        ("none", [False, *[True] * 8], 0.0),
    ],
)
def test_a_course_chooses_what_an_exercise_with_a_failing_test_keeps(
    tmp_path, rule, passed, points
):
    lesson = written(tmp_path, f'partial = "{rule}"\n{ENTRY}').get("resit").lessons[0]
    verdict = result_documents.exercise("core.full_raise", *passed, points=6.0)
    for number, test in enumerate(verdict["tests"]):
        test["id"] = f"test_{number}"
    share = verdict["points"]
    verdict = courses.with_points(result_documents.result("ada", verdict), lesson)["exercises"][0]
    most = verdict["max_points"]
    assert verdict["points"] == pytest.approx(points * most / 6, abs=0.01)
    assert verdict["by_tests"] == pytest.approx(share * most / 6, abs=0.01)


def test_cases_of_one_test_are_one_promise_and_the_whole_module_has_its_share(tmp_path):
    lesson = written(tmp_path, ENTRY).get("resit").lessons[0]
    passed, ids = [False, False, *[True] * 6], ("core.full_raise", "core.whole")
    parts = [result_documents.exercise(x, *passed) for x in ids]
    kept = courses.with_points(result_documents.result("ada", *parts), lesson)["exercises"]
    shares = [verdict["points"] / verdict["max_points"] for verdict in kept]
    assert shares == pytest.approx([2 / 3, 3 / 4], abs=0.01)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('lessons = ["core"]', 'lessons = ["cor"]', "line 15: `lessons` names 'cor', which is not"),
        ('"core.full_raise" = 7', '"core.bnd" = 7', "line 8: `core.bnd` is not an exercise"),
        ('full_raise" = 7', 'full_raise" = 0', "line 8: `core.full_raise` should be a number ab"),
        ('drop = ["jvp.sum_rule"]', "drop = 3", "line 9: `drop` should be a list of texts"),
        ('drop = ["jvp.sum_rule"]', 'drop = ["jvp.whole"]', "line 9: `jvp.whole` is the whole"),
        ("open = { jvp = 5 }", "open = { jvp = '5' }", "line 11: `jvp` should be a number above 0"),
        ('name = "resit"', 'name = "ps1"', "line 14: `name` is the name of two assignments"),
        ("hints = 2", "hints = 4", "line 2: `hints` should be from 0 to 3"),
        ("hints = 2", 'way = "easy"', "line 2: `way` should be one of guided, contract, blank"),
        ("hints = 2", "way = 3", "line 2: `way` should be a text"),
        ("[students]", 'partial = "half"\n[students]', "line 1: `partial` should be one of tests"),
        ("hints = 2", "hint = 2", "line 2: `hint` is not known here"),
        ("12:00:00+02:00", "12:00:00", "line 7: `due` should say its time zone"),
        ("2030-05-18", "9999-12-31", "line 7: `due` should be in this century"),
        ("[students]", 'timezone = "Mars"\n[students]', "line 1: `timezone` should be a time zone"),
        ("[students]", '[at_once]\nshows = "all"\n[students]', "line 2: `shows` should be one of"),
        ("[students]", "[at_once]\nper_day = -1\n[students]", "line 2: `per_day` should be from 0"),
        ("[students]", "timezone = 1\n[students]", "line 1: `timezone` should be a time zone"),
        ("open = { jvp = 5 }", "open = { vmap = 5 }", "line 11: `vmap` is not a lesson of this"),
        ('lessons = ["core"]', 'lessons = [["core"]]', "`lessons` should be a list of texts"),
        ("question = 4", "question = inf", "line 10: `question` should be"),
        ("question = 4", "question = true", "line 10: `question` should be a number"),
        ("[students]", "[student]", "line 1: `student` is not known here"),
        ("[students]", "[students", "is not valid TOML"),
    ],
)
def test_a_wrong_entry_is_told_with_its_line(tmp_path, old, new, complaint):
    with pytest.raises(Problem) as error:
        written(tmp_path, ENTRY.replace(old, new))
    assert complaint in str(error.value)


@pytest.mark.parametrize(
    ("due", "utc", "said"),
    [
        ("2030-05-18T12:00:00", "2030-05-18 10:00:00", "Sat 2030-05-18 12:00 CEST"),
        ("2030-12-18T12:00:00", "2030-12-18 11:00:00", "Wed 2030-12-18 12:00 CET"),
        ("2030-05-18T12:00:00-04:00", "2030-05-18 16:00:00", "Sat 2030-05-18 18:00 CEST"),
    ],
)
def test_dates_are_in_the_time_zone_of_the_course_in_summer_and_winter(tmp_path, due, utc, said):
    text = 'timezone = "Europe/Berlin"\n' + ENTRY.replace("2030-05-18T12:00:00+02:00", due)
    course = written(tmp_path, text)
    assert str(course.get("ps1").due) == utc
    assert course.said(course.get("ps1").due) == said


@pytest.mark.parametrize(
    ("days", "hours", "words"),
    [
        (None, 1, "1 hour more for ps1, until Sat 2030-05-18 11:00 UTC."),
        (None, 36, "36 hours more for ps1, until Sun 2030-05-19 22:00 UTC."),
        (1, None, "1 day more for ps1, until Sun 2030-05-19 10:00 UTC."),
        (1, 24, "2 days more for ps1, until Mon 2030-05-20 10:00 UTC."),
    ],
)
def test_an_extension_is_of_days_or_hours_and_says_until_when(course, tmp_path, days, hours, words):
    directory._write_config(tmp_path, 0)
    with gradebook.opened(tmp_path) as book:
        book.add_assignment("ps1")
        book.add_student("ada")
    span = class_people.span(days, hours)
    assert next(class_people.extend(tmp_path, "ps1", ["ada"], span)) == f"ada has {words}"
    taken_back = class_people.extend(tmp_path, "ps1", ["ada"], class_people.span(0, None))
    assert next(taken_back) == "ada has no extension for ps1."


@pytest.mark.parametrize("given", [(None, None), (float("nan"), None), (None, -1), (9999, None)])
def test_an_extension_has_a_length(given):
    with pytest.raises(Problem, match="extension"):
        class_people.span(*given)


def test_without_the_file_each_lesson_is_an_assignment(tmp_path):
    names = [lesson.id for lesson in manifest.load().values() if lesson.exercises]
    assert list(courses.read(tmp_path).assignments) == names


def test_the_file_that_init_writes_can_be_read(tmp_path):
    course = written(tmp_path, courses.text([manifest.get("core"), manifest.get("jvp")]))
    assert list(course.assignments) == ["core", "jvp"]
    assert course.late == courses.Late()


@pytest.mark.parametrize(
    ("text", "taken"),
    [("def f(): pass\n", "def f(): pass\n"), (None, ""), ("", ""), (b"\xff", "cannot be read.")],
)
def test_the_open_task_is_taken_unless_it_is_as_it_was_given(tmp_path, text, taken):
    lesson = manifest.get("jvp")
    task = tasks.open_task(lesson)
    path = tmp_path / "tasks" / task.name
    path.parent.mkdir()
    content = task.text if text is None else text
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    found, said = submitted._open_task(tmp_path, [], lesson)
    assert found.endswith(taken)
    assert bool(found) == bool(taken)
    assert not said


def test_another_open_task_beside_the_one_that_counts_is_named(tmp_path):
    for name in ("tasks/open_jvp.py", "open_jvp (1).py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"# {name}\n")
    found = submitted._open_task(tmp_path, [], manifest.get("jvp"))
    assert found == ("# tasks/open_jvp.py\n", "Also submitted, and not looked at: open_jvp (1).py.")


# ------------------------------------------------------------------------------------------
# What a grade was made from


def surroundings(course, marks=("a", "b"), feedback=None):
    known = dict(zip(("core", "jvp"), marks, strict=True))
    return regrading.surroundings(known, course.get("ps1"), feedback or course.feedback, {})


def test_it_is_said_why_a_submission_is_graded_again(course, tmp_path):
    common = surroundings(course)
    core, answers = manifest.get("core"), {"core-question": "1"}
    one = {"core": Task(Edition(core, "process"), b"x")}
    other = {"core": Task(Edition(core, "process"), b"y")}
    on_own = {"core": Task(Edition(core, "process"), b"x", {"minijax/a.py": b"z"})}
    first = regrading.record("ada", one, answers, common)
    assert regrading.reasons(tmp_path, "ps1", "ada", first) != []
    regrading.write(tmp_path, "ps1", "ada", first)
    assert regrading.reasons(tmp_path, "ps1", "ada", first) == []
    for second, why in (
        (regrading.record("ada", other, answers, common), "another module"),
        (regrading.record("ada", on_own, answers, common), "other earlier modules"),
        (regrading.record("ada", one, {}, common), "other written answers"),
        (regrading.record("bob", one, answers, common), "another member"),
        ({**first, **surroundings(course, ("a", "c"))}, "other tests"),
        ({**first, **surroundings(course, feedback=courses.Feedback(True))}, "another policy"),
    ):
        (reason,) = regrading.reasons(tmp_path, "ps1", "ada", second)
        assert reason.startswith(why)
    assert regrading.of_other_points(tmp_path, course.get("ps1")) == {}
    regrading.write(tmp_path, "ps1", "ada", {**first, "points": "others"})
    assert regrading.of_other_points(tmp_path, course.get("ps1")) == {"ada": False}
    regrading.check_points(tmp_path, course.get("ps1"))  # nothing could be done about it
    (tmp_path / "submitted/ada/ps1").mkdir(parents=True)
    with pytest.raises(Problem, match="1 submission"):
        regrading.check_points(tmp_path, course.get("ps1"))


# ------------------------------------------------------------------------------------------
# Code to be read


def test_every_function_of_the_reference_is_found_as_it_is():
    for lesson in manifest.load().values():
        if lesson.exercises:
            found = reading.functions(assemble.read_solution(lesson.module), lesson)
            assert found.keys() == {courses.cell_name(e.id) for e in lesson.exercises}
            source = assemble.read_solution(lesson.module)
            for exercise in lesson.exercises:
                text = skeleton.definition(source, exercise.target)
                assert found[courses.cell_name(exercise.id)] == text.rstrip()


def test_untouched_functions_are_not_shown_and_helpers_are_told_with_the_whole():
    lesson = manifest.get("jvp")
    untouched = assemble.skeleton_of(lesson)
    assert reading.functions(untouched, lesson) == {}
    assert reading.changes(untouched, lesson) == {}
    changes = reading.changes(untouched + "\n\ndef helper(x):\n    return x\n", lesson)
    assert list(changes) == ["jvp-whole"]
    assert "+def helper(x):" in changes["jvp-whole"]


@pytest.mark.parametrize(
    "text", ["", "(" * 50_000, "def bind(\n" * 5_000, "\0" * 99, "class JVPTrace:" * 9_999]
)
def test_hostile_modules_are_read_in_no_time(text):
    lesson = manifest.get("jvp")
    reading.functions(text, lesson)
    reading.changes(text, lesson)


def test_code_is_shown_with_all_that_is_in_it():
    lesson = manifest.get("jvp")
    hidden = "def sum_jvp(a, b):\n    return a  # \u202e\u2066 b\u200b\r    return b\n"
    shown = reading.functions(hidden, lesson)["jvp-sum_rule"]
    assert shown.endswith("return a  # \\u202e\\u2066 b\\u200b\n    return b")
    assert "\\u202e" in reading.changes(hidden, lesson)["jvp-sum_rule"]


def test_changed_points_and_due_dates_reach_the_gradebook_and_nbgrader_knows_the_cell(
    course, tmp_path
):
    place = ("core-full_raise", "core", "ps1")
    about = {"grade": True, "solution": False, "locked": True, "grade_id": place[0], "points": 7}
    with gradebook.opened(tmp_path) as book:
        book.add_assignment("ps1")
        book.add_notebook("core", "ps1")
        book.add_grade_cell(*place, max_score=2, cell_type="code")
        book.add_source_cell(*place, cell_type="code", source="x", checksum="a")
        said = gradebook.follow(book, course)
        assert said == [
            "ps1 is due on Sat 2030-05-18 10:00 UTC now.",
            "ps1: core-full_raise has 7 points now.",
        ]
        assert gradebook.follow(book, course) == []
        kept = book.find_source_cell(*place).checksum
    assert kept == compute_checksum(new_code_cell("x", metadata={"nbgrader": about}))


# ------------------------------------------------------------------------------------------
# Groups

EARLY, LATE = datetime(2030, 1, 1), datetime(2030, 1, 2)


@pytest.mark.parametrize(
    ("ages", "counts", "tells"),
    [
        ({"ada": EARLY, "bob": LATE}, "bob", True),
        ({"ada": datetime.min, "bob": datetime.min}, "ada", False),
        ({"ada": datetime.min, "bob": EARLY}, "bob", True),
        ({"ada": LATE, "bob": LATE}, "ada", False),
        ({"ada": EARLY, "bob": EARLY, "cy": LATE}, "cy", True),
    ],
)
def test_a_group_has_one_submission_the_newest_or_the_first_members(ages, counts, tells):
    assert submitted._counts([*ages], ages) == counts
    assert submitted._tells(ages, counts) == tells


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ("ada", "id,nick,email ada,Ada,a@x", "Not used of {}: the columns nick."),
        ("ada bob cy", "id ada", "No longer in roster.csv, though grades stay: bob, cy."),
        ("", "id ada", "The course has 1 student."),
    ],
)
def test_what_a_class_list_leaves_out_is_said(course, tmp_path, before, now, said):
    (tmp_path / "nbgrader_config.py").touch()
    (tmp_path / "roster.csv").write_text(f"id {before}".replace(" ", "\n"))
    (tmp_path / "new.csv").write_text(now.replace(" ", "\n"))
    *_, last = class_people.take_roster(tmp_path, tmp_path / "new.csv")
    assert last == said.format(tmp_path / "new.csv")


def test_taking_a_group_apart_says_what_it_does(course, tmp_path):
    (tmp_path / "nbgrader_config.py").touch()
    made = [*class_people.group(tmp_path, "ps1", ["ada", "bob", "cy"])]
    assert made == ["ps1: ada, bob, cy", "`nbgrader autograde ps1` grades them together."]
    *left, said = class_people.group(tmp_path, "ps1", ["cy"])
    assert left == ["ps1: ada, bob"]
    assert said.startswith("ps1: cy is in no group any more. `nbgrader autograde ps1` grades each")
    (said,) = class_people.group(tmp_path, "ps1", ["ada"])
    assert said.startswith("ps1: ada, bob are in no group any more.")
    (said,) = class_people.group(tmp_path, "ps1", ["ada"])
    assert said == "ps1: ada is in no group. A group has two members or more."


def test_an_assignment_that_is_taken_out_is_named_until_it_is_removed(course, tmp_path):
    for name in ("ps1", "old"):
        (tmp_path / "source" / name).mkdir(parents=True)
    (said,) = directory.taken_out(tmp_path).values()
    assert said.startswith("old is no longer in course.toml, but in source/. Write it into")
    with gradebook.opened(tmp_path) as book:
        book.add_assignment("old")
    (said,) = directory.taken_out(tmp_path).values()
    assert "but in source/ and in the gradebook with 0 submissions, so `nbgrader export`" in said
    made = [f"{place}/ada/old" for place in ("autograded", "intake", "feedback")]
    for place in (*made, "results/old", ".jaxprentice/graded/old", "submitted/ada/old"):
        (tmp_path / place).mkdir(parents=True)
    assert directory.remove(tmp_path, "old").endswith("are still in submitted/.")
    assert directory.taken_out(tmp_path) == {}
    assert [path.name for path in (tmp_path / "source").iterdir()] == ["ps1"]
    there = [str(x.relative_to(tmp_path)) for x in tmp_path.rglob("old")]
    assert there == ["submitted/ada/old"]


def test_what_waits_for_a_release_is_named_as_after_an_assignment_is_written_back(course, tmp_path):
    for student in ("bob", "ada"):
        (tmp_path / "submitted" / student / "resit").mkdir(parents=True)
    (said,) = directory.waiting(tmp_path)
    assert said.startswith("resit is not released, and these have submitted: ada, bob. Run `nbg")


def test_an_assignment_that_is_written_back_is_new_and_has_no_grades(tmp_path, capsys):
    (tmp_path / "nbgrader_config.py").touch()
    written(tmp_path, ENTRY[ENTRY.index('[[assignment]]\nname = "resit"') :])
    for said in ("resit is new in source/, and has no grades.", "What students get is up to date."):
        assert cli.main(["nbgrader", "update", "--course", str(tmp_path)]) == 0
        assert said in capsys.readouterr().out
    (tmp_path / "source/resit/core.ipynb").unlink()
    assert cli.main(["nbgrader", "update", "--course", str(tmp_path)]) == 0
    assert "resit has been updated. Its submissions and grades have not" in capsys.readouterr().out


def test_a_time_that_was_taken_back_or_corrected_is_the_gradebooks_as_well(course, tmp_path):
    with gradebook.opened(tmp_path) as book:
        book.add_assignment("ps1")
        for student in ("ada", "bob", "cy"):
            book.add_student(student)
            book.add_submission("ps1", student, timestamp=LATE)
        gradebook.catch_up(book, course.get("ps1"), {"ada": None, "bob": EARLY})
        book.db.expire_all()
        times = [book.find_submission("ps1", x).timestamp for x in ("ada", "bob", "cy")]
    assert times == [None, EARLY, LATE]


def test_an_open_task_that_is_not_begun_is_no_failed_test_for_formgrader(course, tmp_path):
    with gradebook.opened(tmp_path) as book:
        book.add_assignment("ps1")
        book.add_notebook("jvp", "ps1")
        book.add_grade_cell("jvp-open", "jvp", "ps1", max_score=5, cell_type="code")
        book.add_student("ada")
        (notebook,) = book.add_submission("ps1", "ada").notebooks
        (grade,) = notebook.grades
        grade.auto_score, grade.needs_manual_grade = 0.0, False
        book.db.commit()
        assert notebook.failed_tests
        gradebook.catch_up(book, course.get("ps1"), {})
        book.db.expire_all()
        assert not notebook.failed_tests
        assert (grade.score, gradebook.is_unread(grade)) == (0.0, False)
