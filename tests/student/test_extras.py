"""What a lesson has beyond its exercises, in a workspace and in a handout."""

import json

import pytest
import small_course
from student_course import BYE_CHECKS, make_course, solve

from autograder.lessons import manifest, places
from autograder.student import workspace

TASKS = '''
from checking import exercise, yours

exercise("bye.open")
bye_all = yours("open_bye.bye_all")


def test_all():
    """Each person is named."""
    assert bye_all(["Ada"]) == ["Bye,\\nAda:"]


exercise("bye.repair")
loud_bye = yours("repair_bye.loud_bye")


def test_loud():
    """A loud parting is in capitals."""
    assert loud_bye("Ada") == "BYE,\\nADA:"
'''
OPEN = '"""Parting from all.\n\nWrite `bye_all(names)`.\n"""\n\nfrom toy import bye\n'
REPAIR = '"""A low voice.\n\n`loud_bye` shouts.\n"""\n\nfrom toy import bye\n\n\n'
REPAIR += "def loud_bye(name):\n    return bye(name)\n"
MILESTONE = '"""You can part from anybody."""\n\nfrom toy import bye\n\nprint(bye("Grace"))\n'
TOOLBOX = 'hints = ["One.", "Two.", "Three."]\ntoolbox = ["`greet(name)`: a greeting"]'


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The small course, whose last lesson has tasks and a milestone, and a workspace."""
    folder = "course/lessons/03_bye"
    toml = small_course.BYE_TOML.replace('hints = ["One.", "Two.", "Three."]', TOOLBOX)
    files = {
        "course/lessons/01_hello/checks.py": "",
        "course/hidden_tests.json": json.dumps({"bye.bye": 4, "hello.greet": 7}),
        f"{folder}/lesson.toml": toml,
        f"{folder}/checks.py": BYE_CHECKS,
        f"{folder}/tasks.py": TASKS,
        f"{folder}/open_bye.py": OPEN,
        f"{folder}/repair_bye.py": REPAIR,
        f"{folder}/milestone.py": MILESTONE,
        "solutions/tasks/open_bye.py": f"{OPEN}SECRET = 1\n",
    }
    return make_course(tmp_path_factory.mktemp("extras"), files)


def test_a_workspace_holds_the_tasks_and_no_solution_of_them(work):
    assert {path.name for path in (work / "tasks").iterdir()} == {"open_bye.py", "repair_bye.py"}
    assert (work / "tasks/open_bye.py").read_text(encoding="utf-8") == OPEN
    texts = [p.read_bytes() for p in work.rglob("*") if p.is_file()]
    assert not any(b"SECRET" in text for text in texts)


def test_a_complete_lesson_shows_its_milestone_and_the_tasks_apart(work, say):
    assert "Milestone" not in say("check", "bye")[1]
    solve(work, "toy/bye.py")
    status, out, _ = say("check", "bye")
    assert status == 0
    assert "  1 visible check.\n" in out
    assert "Milestone: You can part from anybody.\n    Bye,\n    Grace:\n" in out
    assert "Extra, without points:\n  to do  bye.open  Parting from all: tasks/open_bye.py" in out
    (work / "tasks/repair_bye.py").write_text(REPAIR.replace("bye(name)\n", "bye(name).upper()\n"))
    again = say("check", "bye")[1]
    assert "  done  bye.repair  A low voice: tasks/repair_bye.py\n" in again
    assert "Milestone" not in again
    assert "1 of 1" in say("list")[1]


def test_a_milestone_that_fails_says_so_and_the_lesson_stays_complete(work, say):
    solve(work, "toy/bye.py")
    file = places.COURSE / "lessons/03_bye/milestone.py"
    file.write_text('"""It ends."""\n\n1 / 0\n', encoding="utf-8")
    status, out, _ = say("check", "bye.bye")
    assert status == 0
    assert "    It does not run yet: ZeroDivisionError: division by zero\n" in out


def test_a_task_is_checked_alone_on_the_students_module(work, say):
    solve(work, "toy/bye.py")
    status, out, _ = say("check", "bye.repair")
    assert status == 1
    assert "This should hold: A loud parting is in capitals." in out
    assert "Next: change tasks/repair_bye.py, then ./jaxprentice check bye.repair\n" in out
    solution = f"{OPEN}\n\ndef bye_all(names):\n    return [bye(name) for name in names]\n"
    (work / "tasks/open_bye.py").write_text(solution, encoding="utf-8")
    assert say("check", "bye.open")[0] == 0
    solve(work, "toy/bye.py", ("Bye", "Ciao"))
    assert say("check", "bye.open")[0] == 1


def test_in_a_class_the_number_of_hidden_tests_is_said(work, say, monkeypatch):
    solve(work, "toy/bye.py")
    monkeypatch.setattr(places, "is_handout", lambda: True)
    assert "1 visible check; 4 hidden tests will grade it." in say("check", "bye")[1]


def test_an_open_task_is_to_do_or_its_function_is_not_there_or_it_cannot_be_read(work, say):
    solve(work, "toy/bye.py")
    status, out, _ = say("check", "bye.open")
    assert status == 1
    assert out.startswith("  to do  bye.open  Parting from all\n")
    assert "cannot import" not in out
    assert "Next: write it in tasks/open_bye.py\n" in out
    for text, told in (
        ("bye_al = 1\n", "there is no bye_all in tasks/open_bye.py. Did you mean 'bye_al'?"),
        ("def (", "bye.open cannot be checked.\n  SyntaxError: Python cannot read line 1"),
    ):
        (work / "tasks/open_bye.py").write_text(text, encoding="utf-8")
        status, out, _ = say("check", "bye.open")
        assert status == 1
        assert told in out
        assert "tasks/open_bye.py" in out


def test_the_toolbox_is_beside_the_first_failure(work, say):
    say("way", "bye", "guided")
    solve(work, "toy/bye.py", ("Bye", "Ciao"))
    out = say("check", "bye")[1]
    assert "\n  Toolbox:\n      greet(name): a greeting\n" in out
    assert "Milestone" not in out
    assert "Hint 2 of 3 for bye.bye: Two." in say("hint", "bye")[1] + say("hint", "bye")[1]


def test_without_the_toolbox_it_is_the_second_hint(work, say):
    solve(work, "toy/bye.py", ("Bye", "Ciao"))
    assert "Toolbox" not in say("check", "bye")[1]
    told = [say("hint", "bye")[1].splitlines() for _ in range(4)]
    assert told[1] == ["Hint 2 of 4 for bye.bye: Useful here:", "- `greet(name)`: a greeting"]
    assert [rows[0][-4:] for rows in told] == ["One.", "ere:", "Two.", "ree."]


def test_the_lesson_of_a_handout_comes_first(work, say):
    identity = work / workspace.IDENTITY
    about = json.loads(identity.read_text(encoding="utf-8"))
    identity.write_text(json.dumps({**about, "lesson": "bye"}), encoding="utf-8")
    assert say("check")[1].startswith("Parting\n") or "bye.bye" in say("check")[1]


def test_the_numbers_of_hidden_tests_are_those_of_the_suites():
    counts = json.loads((places.COURSE / "hidden_tests.json").read_text(encoding="utf-8"))
    known = {part.id for lesson in manifest.load().values() for part in lesson.graded}
    assert counts.keys() == known
    assert counts["duals.mixed"] == section("duals", "mixed").count("\ndef test_")
    assert counts["core.get_aval"] > section("core", "get_aval").count("\ndef test_")


def section(lesson, exercise):
    """The part of a suite that is about an exercise."""
    text = (places.SUITES / f"{lesson}.py").read_text(encoding="utf-8")
    return text.partition(f'\nexercise("{lesson}.{exercise}")')[2].partition("\nexercise(")[0]
