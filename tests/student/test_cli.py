"""The command as its users meet it: what it says, what it changes, how it ends."""

import ast
import inspect
import io
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap

import graded_course
import layers
import pytest
import small_course
import typer
from student_course import solve

from autograder import cli
from autograder.lessons import manifest, places
from autograder.lessons.problem import Problem
from autograder.student import (
    checks,
    commands,
    doctor,
    extras,
    names,
    progress,
    updating,
    workspace,
)
from autograder.upkeep import selftest

# ------------------------------------------------------------------------------------------
# How commands end


def one_sentence(text):
    assert text.endswith("\n")
    assert text.count("\n") == 1
    assert "Traceback" not in text
    return text.strip()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("chekc", "No such command 'chekc'. Did you mean 'check'? See `./jaxprentice --help`."),
        ("check --mien", "No such option"),
        ("give", "Missing argument 'LESSON'. See `./jaxprentice give --help`."),
        ("grade work --lesson hello", "Missing option '--out'."),
        ("grade work --lesson hello --out x --jobs many", "is not a valid int"),
        ("nbgrader start", "No such command 'start'. See `./jaxprentice nbgrader --help`."),
    ],
)
def test_wrong_usage_is_one_sentence_and_status_2(work, say, line, words):
    status, out, err = say(*line.split())
    assert (status, out) == (2, "")
    assert words in one_sentence(err)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("check helo", "There is no lesson or exercise 'helo'. Did you mean hello?"),
        ("hint Box.gro", "There is no lesson or exercise 'Box.gro'."),
        ("check zzz", "See `./jaxprentice list`."),
        (
            "hint hello.gret",
            "There is no lesson or exercise 'hello.gret'. Did you mean hello.greet",
        ),
        ("reset nothing", "There is no lesson 'nothing'."),
        ("init .", "exists and is not empty. Give a new folder"),
        ("grade nowhere --lesson hello --out x", "There is no folder nowhere."),
    ],
)
def test_problems_are_one_sentence_and_status_1(work, say, line, words):
    status, out, err = say(*line.split())
    assert (status, out) == (1, "")
    assert words in one_sentence(err)


def test_ctrl_c_is_one_line_and_status_130(work, say, monkeypatch):
    def interrupted(place):
        raise KeyboardInterrupt

    monkeypatch.setattr(progress, "list_lessons", interrupted)
    assert say("list") == (130, "", "Stopped.\n")


def test_the_help_lists_every_command_below_those_whom_it_is_for(say):
    _, out, _ = say("--help")
    assert say() == (2, "", out)
    students = out.partition("For students:")[2].partition("For instructors:")[0]
    assert re.findall(r"^  (\w+) ", students, re.MULTILINE)[:3] == ["init", "list", "check"]
    assert "grade" not in students
    for command in cli.app.registered_commands + cli.app.registered_groups:
        name = command.name or command.callback.__name__
        assert re.search(rf"^  {name} ", out, re.MULTILINE)


def imports(command):
    """What a command and its own commands import of this package, as statements."""
    found = set()
    for part in [command, *getattr(command, "commands", {}).values()]:
        if part.callback:  # a group has none
            text = textwrap.dedent(inspect.getsource(inspect.unwrap(part.callback)))
            nodes = ast.walk(ast.parse(text))
            found |= {ast.unparse(x) for x in nodes if isinstance(x, ast.ImportFrom)}
    return found


@pytest.mark.parametrize("layer", ["student", "instructor", "site", "dev"])
def test_every_command_has_a_layer_that_holds_what_it_imports(wrapper, layer):
    commands = typer.main.get_command(cli.app).commands
    of_layer = [x for name, x in commands.items() if wrapper.layer_of([name]) == layer]
    statements = sorted(set().union(*map(imports, of_layer)))
    assert statements
    code = layers.BLOCK.format(blocked=layers.others(layer)) + "\n".join(statements)
    done = subprocess.run([sys.executable, "-c", code], cwd=places.ROOT, check=False)
    assert done.returncode == 0


def test_cheap_commands_import_nothing_heavy():
    code = (
        "import sys; from autograder import cli; cli.main(['list']);"
        "print([x for x in ('pytest', 'numpy', 'rich', 'jaxlib', 'pydantic') if x in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=places.ROOT, capture_output=True, text=True, check=True
    )
    assert run.stdout.splitlines()[-1] == "[]"


# ------------------------------------------------------------------------------------------
# A workspace


def test_a_workspace_holds_skeletons_lessons_and_no_solution(work):
    files = {path.relative_to(work).as_posix() for path in work.rglob("*") if path.is_file()}
    assert {"jaxprentice", "README.md", "toy/__init__.py", "toy/hello.py"} <= files
    kinds = ("lesson.md", "checks.py", "hello.ipynb")
    assert {f"lessons/01_hello/{name}" for name in kinds} <= files
    texts = files - {updating.GIVEN}  # an archive of the others
    everything = "".join((work / name).read_text(encoding="utf-8") for name in texts)
    assert 'raise NotImplementedError("hello.greet")' in everything
    assert "return text + mark" not in everything
    text = (work / "lessons/01_hello/lesson.md").read_text(encoding="utf-8")
    assert not any(mark in text for mark in ("{{", "!!!", "???", "<div", "exec="))
    assert "Greet somebody." in text


def test_a_workspace_holds_the_glossary_and_the_pictures_of_its_lessons(course, say, tmp_path):
    (course / "course/glossary.md").write_text("# Words\n\n### Box { #box }\n", encoding="utf-8")
    folder = course / "course/lessons/01_hello"
    page = folder / "lesson.md"
    text = page.read_text(encoding="utf-8")
    links = "A [box](../../glossary.md#box), [bye](../03_bye/lesson.md), ![it](it.png).\n"
    page.write_text(text + links, encoding="utf-8")
    (folder / "it.png").write_bytes(b"a picture")
    (tmp_path / "other").mkdir()  # an empty folder is taken
    assert say("init", "other")[0] == 0
    made = tmp_path / "other/lessons/01_hello"
    assert (made / "it.png").read_bytes() == b"a picture"
    said = (made / "lesson.md").read_text(encoding="utf-8")
    assert "A [box](../../glossary.md#box), bye, ![it](it.png)." in said
    glossary = (made / "../../glossary.md").resolve().read_text(encoding="utf-8")
    assert glossary == "# Words\n\n### Box\n"


def test_init_is_all_or_nothing(course, say, tmp_path, monkeypatch):
    monkeypatch.setattr(workspace, "add_launcher", lambda folder, place, way: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        cli.main(["init", "work"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy"]


def test_a_workspace_is_found_from_a_folder_inside_it(work, monkeypatch):
    monkeypatch.chdir(work / "toy")
    assert workspace.find().root == work


def test_the_launcher_starts_the_copy_that_made_it_or_says_where_to_write_a_new_place(work, course):
    wrapper = course / "jaxprentice"
    command = [sys.executable, work / "jaxprentice", "check", "x"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "Write its new location" in one_sentence(run.stderr)
    wrapper.write_text("import os, sys; print(os.getcwd(), *sys.argv[1:])", encoding="utf-8")
    for folder, expected in ((work / "toy", work / "toy"), ("/", work)):
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        assert run.stdout == f"{expected} check x\n"


WINDOWS = "import os, runpy; os.name = 'nt'; runpy.run_path({launcher!r}, run_name='__main__')"


def test_on_windows_the_launcher_waits_for_the_command_and_passes_its_status_on(work, course):
    wrapper = course / "jaxprentice"
    wrapper.write_text("import sys; print(*sys.argv[1:]); sys.exit(7)", encoding="utf-8")
    code = WINDOWS.format(launcher=str(work / "jaxprentice"))
    run = subprocess.run(
        [sys.executable, "-c", code, "check", "x"], capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stdout, run.stderr) == (7, "check x\n", "")


def test_on_windows_ctrl_c_ends_the_launcher_without_a_traceback(work, course):
    (course / "jaxprentice").touch()
    stop = "import subprocess; subprocess.call = lambda command: exec('raise KeyboardInterrupt'); "
    code = stop + WINDOWS.format(launcher=str(work / "jaxprentice"))
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (130, "")


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_every_listing_can_be_printed_where_the_terminal_has_few_characters(
    work, monkeypatch, encoding
):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    solve(work, "toy/hello.py", ("return text + mark", "return '₁→é' + mark"))
    monkeypatch.setattr(sys, "stdout", stream)
    for line in (["check", "hello"], ["list"], ["progress"], ["hint"]):
        assert cli.main(line) in (0, 1)
    stream.flush()
    said = stream.buffer.getvalue().decode(encoding)
    assert {"utf-8": "₁→é", "cp1252": "1\\u2192é", "ascii": "1\\u2192\\xe9"}[encoding] in said


def test_a_spoilt_record_is_begun_anew(work, say):
    (work / ".jaxprentice" / "state.json").write_text("{", encoding="utf-8")
    assert say("hint", "hello.greet")[0] == 0
    record = json.loads((work / ".jaxprentice" / "state.json").read_text(encoding="utf-8"))
    assert record == {"hints": {"hello.greet": 1}}


# ------------------------------------------------------------------------------------------
# Checking


def test_an_untouched_lesson_says_what_to_do_first(work, say):
    status, out, _ = say("check")
    assert status == 1
    assert "to do  hello.greet" in out
    assert "Next: greet in toy/hello.py: Put the name behind the greeting" in out
    assert "Replace line 22, which raises NotImplementedError, with your code." in out
    line = (work / "toy/hello.py").read_text(encoding="utf-8").splitlines()[21]
    assert line == '    raise NotImplementedError("hello.greet")'


def test_a_wrong_exercise_is_explained(work, say):
    solve(work, "toy/hello.py", ("self.size += by", "self.size += 2 * by"))
    status, out, _ = say("check", "hello")
    assert status == 1
    assert "done           hello.greet" in out
    assert "not right yet  hello.grow" in out
    assert "This should hold: A box grows by one.\n    expected: 2\n    got:      3\n" in out
    assert "./jaxprentice hint hello.grow" in out
    assert say("check", "hello.greet")[0] == 0  # one exercise alone
    assert say("check", "hello.grow")[0] == 1


GROW_TO_DO = ("self.size += by\n        return self", 'raise NotImplementedError("hello.grow")')


def test_after_one_exercise_no_other_is_named_that_waits(monkeypatch, tmp_path):
    toml = small_course.HELLO_TOML.replace('id = "hello.greet"', 'id = "hello.first"', 1)
    third = toml.split("[[exercise]]")[1].replace("hello.first", "hello.last")
    third = third.replace('"greet"', '"Box.value"')
    text = f"{toml.replace('hello.greet', 'hello.first')}\n[[exercise]]{third}"
    small_course.write(monkeypatch, tmp_path, {"course/lessons/01_hello/lesson.toml": text})
    lesson = manifest.load()["hello"]
    assert [x.id for x in checks.ready(lesson, [])] == ["hello.first", "hello.last"]
    assert [x.id for x in checks.ready(lesson, ["hello.first"])] == ["hello.grow", "hello.last"]


def test_after_one_exercise_the_next_one_is_named_and_the_last_completes_the_lesson(work, say):
    solve(work, "toy/hello.py", GROW_TO_DO)
    status, out, _ = say("check", "hello.greet")
    assert status == 0
    assert "Done, 1 of 2. Next: hello.grow (toy/hello.py, line 41).\n" in out
    solve(work)
    status, out, _ = say("check", "hello.grow")
    assert status == 0
    assert "Greeting people\n  done  hello.greet" in out
    assert (
        "The lesson hello is complete. Next: ./jaxprentice check bye (0 of 1 done): Parting" in out
    )


def test_a_lesson_is_not_complete_by_what_was_right_in_an_older_file(work, say):
    solve(work, "toy/hello.py", GROW_TO_DO)
    say("check", "hello.greet")
    solve(work, "toy/hello.py", ("return text + mark", "return 0"))
    status, out, _ = say("check", "hello.grow")
    assert status == 1
    assert "hello.greet is not right yet." in out
    assert "complete" not in out
    solve(work)
    say("check", "hello")
    solve(work, "toy/hello.py", GROW_TO_DO)  # what is not there any more does not count
    assert "Done, 1 of 2. Next: hello.grow" in say("check", "hello.greet")[1]


def test_lists_and_progress_are_computed_from_the_files(work, say):
    solve(work)
    assert "2 of 2" in say("list")[1]
    assert "done   hello.greet\n  done   hello.grow" in say("progress", "hello")[1]
    assert "3.5 of 4.5 points" in say("progress")[1]
    say("reset", "hello")
    assert "0 of 2" in say("list")[1]
    assert (
        "\n[------------------------------] 0 of 3 exercises\n0 of 4.5 points" in say("progress")[1]
    )
    solve(work, "toy/hello.py", ("self.size += by", "self.size += 7"))
    assert re.search(r"^hello .* 1 of 2$", say("list")[1], re.MULTILINE)
    assert "done   hello.greet\n  to do  hello.grow" in say("progress", "hello")[1]
    out = say("progress", "--export", str(work / "done.json"))[1]
    assert "  hello 1 of 2; bye 0 of 1\n" in out
    assert "2 of 4.5 points" in out
    assert "Next: ./jaxprentice check hello.grow\n" in out
    assert "Ways through" in out  # the page of the site
    assert json.loads((work / "done.json").read_text()) == {"hello.greet": True}
    (work / "toy/hello.py").unlink()
    assert "0 of 2" in say("list")[1]


HELPER_IS_WRONG = ("return text + mark", "return 0")


@pytest.mark.parametrize(("by", "status"), [("by", "done"), ("7", "not right yet")])
def test_what_needs_a_wrong_helper_is_judged_with_a_right_one(work, say, by, status):
    file = places.COURSE / "lessons/01_hello/checks.py"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("assert Box", 'assert greet("Ada") and Box'), encoding="utf-8")
    solve(work, "toy/hello.py", HELPER_IS_WRONG, ("self.size += by", f"self.size += {by}"))
    told = f"{status}  hello.grow  A box that grows (judged with a right hello.greet)\n"
    result, out, _ = say("check", "hello.grow")
    assert result == (status != "done")
    assert told in out
    out = say("check", "hello")[1]
    assert "not right yet  hello.greet  A greeting\n" in out
    assert " hello.grow   A box that grows (judged with a right hello.greet)\n" in out
    assert "waits" not in out


def test_lines_are_those_of_the_students_file_where_a_right_helper_was_lent(work, say):
    shorter = ('text = f"""Hello,\n{name}"""\n    return text + mark', "return 0")
    solve(work, "toy/hello.py", shorter, ("self.size += by", "self.size += 1 / 0"))
    lines = (work / "toy/hello.py").read_text(encoding="utf-8").splitlines()
    out = say("check", "hello.grow")[1]
    assert f"toy/hello.py, line {lines.index('        self.size += 1 / 0') + 1}, in grow:" in out


def test_without_the_solution_an_exercise_that_waits_says_for_what(work, say):
    solve(work, "toy/hello.py", HELPER_IS_WRONG, ("self.size += by", "self.size += 7"))
    small_course.hand_out("toy/hello.py")
    status, out, _ = say("check", "hello.grow")
    assert status == 1
    assert "waits  hello.grow  A box that grows (for hello.greet)\n" in out
    assert "hello.grow needs hello.greet, which is not right yet." in out
    assert "Next: ./jaxprentice check hello.greet\n" in out


def test_a_complete_lesson_names_the_next_that_is_not(work, say):
    solve(work, "toy/bye.py")
    end = "The lesson bye is complete. Next: ./jaxprentice check hello (0 of 2 done): Greeting"
    assert end in say("check", "bye")[1]
    solve(work)
    say("check", "hello")
    assert "The lesson bye is complete. That was the last lesson." in say("check", "bye")[1]


def test_a_complete_lesson_whose_file_has_changed_is_not_next_if_it_still_is_complete(work, say):
    solve(work)
    solve(work, "toy/bye.py")
    say("check", "bye")
    file = work / "toy/bye.py"
    file.write_text(file.read_text(encoding="utf-8") + "\n# a note\n", encoding="utf-8")
    assert "The lesson hello is complete. That was the last lesson." in say("check", "hello")[1]
    file.write_text(file.read_text(encoding="utf-8").replace("return", "return 7 or"), "utf-8")
    end = "The lesson hello is complete. Next: ./jaxprentice check bye (0 of 1 done): Parting"
    assert end in say("check", "hello")[1]


def save_at(file, time):
    os.utime(file, (time, time))


def test_check_takes_the_file_that_was_saved_last_and_names_it(work, say):
    solve(work)
    solve(work, "toy/bye.py", ("Bye", "Ciao"))
    save_at(work / "toy/hello.py", 2_000_000_000)
    status, out, _ = say("check")
    assert out.startswith("toy/hello.py was saved last.\nGreeting people\n")
    assert "The lesson hello is complete." in out
    assert status == 0
    save_at(work / "toy/bye.py", 2_000_000_001)
    status, out, _ = say("check")
    assert out.startswith("toy/bye.py was saved last.\n")
    assert status == 1


def test_check_goes_on_once_it_has_said_that_a_lesson_is_complete(work, say):
    solve(work)
    assert "2 of 2" in say("list")[1]  # which does not say it
    assert "The lesson hello is complete." in say("check")[1]
    status, out, _ = say("check")
    assert status == 1
    assert "bye.bye" in out
    assert "hello.greet" not in out


LESSONS_NAMES = [
    *("1", "01_hello", "toy/hello.py", "./toy/hello.py", "{work}/toy/hello.py", "toy\\hello.py"),
    *("lessons/01_hello/", "lessons/01_hello/lesson.md"),
]


@pytest.mark.parametrize("name", LESSONS_NAMES)
def test_a_lesson_is_known_by_its_number_its_folder_and_its_files(work, say, monkeypatch, name):
    (work / "below").mkdir()
    for folder in (work, work / "below", work.parent):
        monkeypatch.chdir(folder)
        if folder == work.parent and "{work}" not in name:
            continue
        assert "to do  hello.greet" in say("check", name.format(work=work))[1]


def test_a_name_of_several_functions_means_the_one_of_the_lesson_at_hand():
    lessons = manifest.load()
    assert names.resolve("flat", lessons["jvp"])[1].id == "jvp.flat"
    assert names.resolve("flat", lessons["linearize"])[1].id == "linearize.flat"
    with pytest.raises(Problem, match=r"Did you mean .*jvp\.flat"):
        names.resolve("flat", lessons["core"])


def test_no_two_lessons_have_a_file_of_the_same_name():
    files = [x.module.rpartition("/")[2] for x in names.all_taught()]
    files += [task.target for x in names.all_taught() for task in extras.of(x)]
    assert len({*files}) == len(files)


@pytest.mark.parametrize("words", [["~/new"], ["~/new/"]])
def test_a_home_folder_is_written_out_where_the_shell_does_not(course, say, monkeypatch, words):
    monkeypatch.setenv("HOME", str(course.parent))
    assert say("init", *words)[0] == 0
    assert (course.parent / "new/jaxprentice").exists()
    monkeypatch.chdir(course.parent / "new")
    assert say("progress", "--export=~/done.json")[0] == 0
    assert (course.parent / "done.json").exists()


def test_a_lesson_does_not_depend_on_the_students_earlier_ones(work, say):
    (work / "toy/hello.py").write_text("1 / 0", encoding="utf-8")
    solve(work, "toy/bye.py")
    assert say("check", "bye")[0] == 0


def test_mine_names_the_earlier_lesson_that_breaks_it(work, say):
    before = (work / "toy/hello.py").read_text(encoding="utf-8")
    solve(work)
    solve(work, "toy/bye.py")
    assert say("check", "bye", "--mine")[0] == 0
    solve(work, "toy/hello.py", ("Hello,", "Hello;"))
    wrong, breaks = (work / "toy/hello.py").read_text(encoding="utf-8"), "breaks bye.bye."
    unwritten = "still has exercises to do, which bye.bye may need."
    for text, told in ((wrong, breaks), (before, unwritten), ("def (", breaks)):
        (work / "toy/hello.py").write_text(text, encoding="utf-8")
        status, out, _ = say("check", "bye", "--mine")
        assert status == 1
        assert f"Your own toy/hello.py {told}" in out
        assert "./jaxprentice check hello" in out


def test_a_deleted_module_can_be_had_again(work, say):
    (work / "toy/hello.py").unlink()
    assert say("reset", "hello")[0] == 0
    assert "hello.greet" in (work / "toy/hello.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["toy/hello (1).py", "hello.py.txt", "toy/hello - Copy (2).py"])
def test_a_name_that_a_browser_made_is_recognized_and_said(work, say, name):
    solve(work)
    (work / "toy/hello.py").rename(work / name)
    status, out, _ = say("check", "hello")
    assert status == 0
    assert out.startswith(f"There is no toy/hello.py, so {name} is checked. Rename it")


# ------------------------------------------------------------------------------------------
# Hints, solutions, progress


def test_each_hint_says_more_than_the_one_before(work, say):
    solve(work, "toy/hello.py", ("return text + mark", "return text"))
    assert "Stuck? ./jaxprentice hint hello.greet\n" in say("check")[1]
    said = [say("hint", "hello.greet")[1] for _ in range(4)]
    assert said[0] == "Hint 1 of 3 for hello.greet: Think of strings.\n"
    assert said[1].startswith("Hint 2 of 3")
    assert said[2].startswith("Hint 3 of 3")
    assert "There is no further hint. ./jaxprentice give hello puts the solution of" in said[2]
    assert said[3] == said[2]
    out = say("check")[1]
    assert "jaxprentice hint" not in out
    assert "./jaxprentice give hello" in out


def test_a_hint_needs_no_whole_name(work, say):
    assert say("hint")[1].startswith("Hint 1 of 3 for hello.greet")
    assert say("hint", "Box.grow")[1].startswith("Hint 1 of 3 for hello.grow")
    solve(work)
    assert say("hint", "hello")[1].startswith("Hint 2 of 3 for hello.grow")
    assert say("hint")[1].startswith("Hint 1 of 3 for bye.bye")  # the lesson after is next
    assert say("hint", "bye")[1].startswith("Hint 2 of 3 for bye.bye")


def test_a_hint_for_the_lesson_of_this_name_where_several_functions_have_it():
    place = workspace.find()
    assert commands.to_hint(place, "sum_jvp").id == "jvp.sum_rule"
    assert commands.to_hint(place, "jvp").lesson == "jvp"


def test_a_check_needs_no_whole_name_either():
    assert names.resolve("lift")[1].id == "duals.lift"
    assert names.resolve("vmap.reduce_sum_batch")[1].id == "vmap.reduce_sum_rule"
    assert names.resolve("jvp") == (manifest.get("jvp"), None)
    with pytest.raises(Problem, match=r"Did you mean .*jvp\.mul_rule"):  # two have this name
        names.resolve("mul_rule")


def test_give_takes_the_solution_and_keeps_the_students_file(work, say):
    (work / "toy/hello.py").write_text("# mine", encoding="utf-8")
    status, out, _ = say("give", "hello")
    assert status == 0
    kept = work / ".jaxprentice" / "backups" / "toy-hello-1.py"
    assert str(kept.relative_to(work)) in out
    assert kept.read_text(encoding="utf-8") == "# mine"
    assert say("check", "hello")[0] == 0


def test_what_was_given_is_marked_and_counts_as_given(work, say):
    solve(work, "toy/hello.py", GROW_TO_DO)
    say("give", "hello")
    assert re.search(r"^hello .* 2 of 2, 1 given$", say("list")[1], re.MULTILINE)
    assert "done   hello.greet\n  given  hello.grow" in say("progress", "hello")[1]
    out = say("progress")[1]
    assert "  hello 2 of 2, 1 given; bye 0 of 1\n" in out
    assert "2 of 3 exercises, 1 of them given\n" in out
    assert "2 of 4.5 points, according to the checks; 1.5 more were given.\n" in out
    solve(work, "toy/hello.py", ("self.size += by", "self.size = self.size + by"))
    assert "done   hello.greet\n  done   hello.grow" in say("progress", "hello")[1]
    say("reset", "hello")
    assert "given" not in say("list")[1]


def test_what_was_given_before_is_still_given_the_second_time(work, say):
    for _ in range(2):
        say("give", "hello")
        assert re.search(r"^hello .* 2 of 2, 2 given$", say("list")[1], re.MULTILINE)
    solve(work, "toy/bye.py")  # and what was given is not next
    assert say("check", "bye")[1].endswith("is complete. That was the last lesson.\n")


def test_what_is_given_is_noted_though_nobody_reads_that_it_is(work, say, monkeypatch):
    def unread(place, lesson, text, what):
        place.replace(lesson, text)
        raise BrokenPipeError

    with monkeypatch.context() as patch:
        patch.setattr(commands, "replace", unread)
        with pytest.raises(BrokenPipeError):
            progress.give(workspace.find(), manifest.get("hello"))
    assert re.search(r"^hello .* 2 of 2, 2 given$", say("list")[1], re.MULTILINE)


def test_progress_of_the_whole_course_fits_a_screen(work, capsys, monkeypatch):
    monkeypatch.undo()
    progress.show(workspace.find())
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "I. The idea in two evenings"
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 100


def test_reset_keeps_every_earlier_file(work, say):
    for number in (1, 2):
        (work / "toy/hello.py").write_text(f"# {number}", encoding="utf-8")
        assert say("reset", "hello")[0] == 0
    backups = sorted((work / ".jaxprentice" / "backups").iterdir())
    assert [path.read_text(encoding="utf-8") for path in backups] == ["# 1", "# 2"]


def test_outside_of_a_workspace_nothing_is_replaced(course, say):
    before = (course / "solutions/toy/hello.py").read_bytes()
    for line in ("give hello", "reset hello", "way hello blank", "update"):
        assert "not a workspace" in one_sentence(say(*line.split())[2])
    assert (course / "solutions/toy/hello.py").read_bytes() == before


def test_a_file_that_is_right_again_is_not_what_its_last_check_found(work, say):
    solve(work)
    assert say("check", "hello")[0] == 0
    solve(work, "toy/hello.py", ("return text + mark", "return mark"))
    assert say("check", "hello.greet")[0] == 1
    solve(work)
    assert "2 of 2" in say("list")[1]


# ------------------------------------------------------------------------------------------
# For instructors


@pytest.fixture
def handed_in(monkeypatch, tmp_path):
    """A class of four: right, half right, a link, nothing."""
    monkeypatch.chdir(tmp_path)
    # A folder of another name in each test: suites are modules, and stay imported.
    graded_course.write(monkeypatch, tmp_path / f"copy-{tmp_path.name}")
    work = tmp_path / "handed-in"
    for name in ("ann", "bob", "eve", "dan"):
        (work / name / "tiny").mkdir(parents=True)
    (work / "ann" / "tiny" / "numbers.py").write_text(graded_course.MODULE, encoding="utf-8")
    wrong = graded_course.changed("return 2.0 * np.asarray(x)", "return 3.0 * np.asarray(x)")
    (work / "bob" / "numbers.py").write_bytes(wrong)
    (work / "eve" / "tiny" / "numbers.py").symlink_to(work / "ann" / "tiny" / "numbers.py")
    return work


GRADE = ("grade", "handed-in", "--lesson", "tiny", "--out", "results", "--jobs", "1")
LOCAL = ("--jobs", "1", "--isolation", "process")


def test_grade_writes_a_result_each_and_a_table(handed_in, say, tmp_path):
    status, out, _ = say(*GRADE, "--isolation", "process")
    assert status == 0
    assert out.startswith("Isolation: process")
    rows = (tmp_path / "results" / "grades.csv").read_text(encoding="utf-8").splitlines()[1:]
    scores = {row.split(",")[0]: float(row.split(",")[2]) for row in rows}
    assert scores["ann"] == 6
    assert 0 < scores["bob"] < 6
    assert scores["eve"] == scores["dan"] == 0
    assert "ann  6 of 6" in out
    eve = json.loads((tmp_path / "results" / "eve.json").read_text(encoding="utf-8"))
    assert "link" in eve["remarks"][0]


@pytest.mark.parametrize(
    "odd", [["a\x1b[2Jb"], ["<img src=x onerror=alert(1)>", "\ufeffann"], ["Bob", "BOB"]]
)
def test_a_name_that_is_not_fit_for_a_file_stops_nobody_else(handed_in, say, tmp_path, odd):
    for name in odd:
        shutil.copytree(handed_in / "ann", handed_in / name)
    status, out, err = say(*GRADE, "--isolation", "process")
    assert status == 1
    assert "Not graded for their names: " in one_sentence(err)
    assert not {"\x1b", "\ufeff"} & set(out + err)
    graded = {path.stem for path in (tmp_path / "results").glob("*.json")}
    assert graded == {"ann", "bob", "eve", "dan"} - {name.casefold() for name in odd}
    assert "ann" in (tmp_path / "results" / "grades.csv").read_text(encoding="utf-8")


def seeds(folder):
    found = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")]
    return {result["seed"] for result in found}


def test_the_seed_is_drawn_once_and_kept_with_the_results(handed_in, say, tmp_path):
    def graded(out, *more):
        assert say("grade", "handed-in", "--lesson", "tiny", "--out", out, *LOCAL, *more)[0] == 0
        (seed,) = seeds(tmp_path / out)
        return seed

    first = graded("results")
    assert graded("results") == first
    assert graded("elsewhere") != first
    (tmp_path / "results" / "seed.txt").unlink()
    assert graded("results") == first  # the results know it, too
    assert graded("results", "--seed", "7") == 7
    assert graded("results") == 7


def test_a_suite_at_fault_gives_no_grades(handed_in, say, tmp_path):
    (places.SUITES / "tiny.py").write_text("1 / 0", encoding="utf-8")
    status, _, err = say(*GRADE, "--isolation", "process")
    assert status == 1
    assert "The hidden suite of tiny is at fault" in one_sentence(err)
    assert not (tmp_path / "results" / "grades.csv").exists()


# ------------------------------------------------------------------------------------------
# For maintainers


def test_sync_check_fails_when_a_generated_file_is_out_of_date(course, say):
    assert say("sync", "--check")[0] == 0
    (course / "course/map.svg").write_text("", encoding="utf-8")
    status, out, err = say("sync", "--check")
    assert status == 1
    assert "course/map.svg" in out
    assert "Run `./jaxprentice sync`" in one_sentence(err)


@pytest.mark.parametrize("missing", [["bubblewrap"], []])
def test_the_selftest_says_what_it_had_to_skip_and_fails_when_a_test_fails(
    monkeypatch, tmp_path, capfd, missing
):
    (tmp_path / "test_one.py").write_text("def test_one(): pass", encoding="utf-8")
    monkeypatch.setattr(doctor, "has", lambda name: name not in missing)
    monkeypatch.setattr(places, "ROOT", tmp_path)
    assert cli.main(["test", "-q", "test_one.py"]) == 0
    out = capfd.readouterr().out
    assert "1 passed" in out
    assert ("sudo apt install bubblewrap" in out) == bool(missing)
    (tmp_path / "test_one.py").write_text("def test_one(): assert 0", encoding="utf-8")
    assert cli.main(["test", "-q", "test_one.py"]) == 1


FLAGS = {
    (): [*selftest.IN_PARALLEL, "--choice"],
    ("-x", "--durations=9"): [*selftest.IN_PARALLEL, "--choice", "-x", "--durations=9"],
    ("--all",): [*selftest.IN_PARALLEL],
    ("--full",): [*selftest.IN_PARALLEL, "--full"],
    ("tests/student/test_cli.py", "-k", "x"): ["tests/student/test_cli.py", "-k", "x"],
    ("tests/student/test_cli.py::test_x",): ["tests/student/test_cli.py::test_x"],
    ("tests/student",): [*selftest.IN_PARALLEL, "tests/student"],
    ("-k", "x"): [*selftest.IN_PARALLEL, "-k", "x"],
    ("tests", "--pdb"): ["tests", "--pdb"],
}


@pytest.mark.parametrize("arguments", FLAGS)
def test_the_selftest_runs_in_parallel_where_that_pays(arguments):
    assert selftest.flags(arguments) == FLAGS[arguments]


@pytest.mark.parametrize(("folder", "few"), {"reference": "09", "student": "0"}.items())
def test_the_choice_has_the_first_case_and_of_the_reference_the_last(tmp_path, folder, few):
    shutil.copy(places.ROOT / "tests" / "conftest.py", tmp_path)
    (tmp_path / folder).mkdir()
    text = """
import pytest
ten = pytest.mark.parametrize("i", range(10))
@ten
def test_few(i): print(f"few{i}")
@ten
@pytest.mark.every
def test_all(i): print(f"all{i}")
@pytest.mark.slow
def test_slow(): print("slow")
"""
    (tmp_path / folder / "test_ten.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:warnings", "--choice"]
    environment = {name: os.environ[name] for name in os.environ if name != "PYTEST_ADDOPTS"}
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert sorted(re.findall(r"[a-z]+\d|slow", run.stdout)) == sorted(
        [*(f"few{i}" for i in few), *(f"all{i}" for i in range(10))]
    )
