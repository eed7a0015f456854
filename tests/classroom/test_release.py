"""The handout of a lesson: what is in it, that it works alone, and that nothing secret gets out."""

import os
import re
import shutil
import stat
import subprocess
import sys
import tomllib

import archives
import layers
import pytest
import small_course

from autograder import cli
from autograder.classroom.handouts import leaks, release
from autograder.lessons import assemble, manifest, places
from autograder.student import names

CHECKS = """
import pytest
from toy.{lesson} import {name}


@pytest.mark.exercise("{lesson}.{name}")
def test_{name}():
    \"\"\"It says the name.\"\"\"
    assert "Ada" in {name}("Ada")
"""
GROW = '''

@pytest.mark.exercise("hello.grow")
def test_grow():
    """A box grows."""
    from toy.hello import Box

    assert Box().grow().size == 2
'''
SUITE = '''
@probe
def parted(toy, name):
    return toy.bye(name)


exercise("bye.bye")


def test_parting(student):
    """The parting is right."""
    for name in ("Grace", "Alan"):
        student.agrees(parted, name)
'''
MISTAKES = """
exercise("bye.bye")

@mistake(name="The greeting stays", hints=["First.", "Second hint.", "Say it again."])
def bye(name):
    parts = greet(name).split()
    return " ".join(["Bye", *parts])


@right
def bye(name):
    greeting = greet(name).partition(" ")
    return "Bye " + greeting[2]
"""
SOLUTION = 'return greet(name).replace("Hello", "Bye")'
CHECKS_FILE, PAGE = "course/lessons/03_bye/checks.py", "course/lessons/03_bye/lesson.md"


@pytest.fixture
def course(monkeypatch, tmp_path):
    """The small course with checks, a hidden suite, known mistakes, and what a handout copies."""
    files = {
        "course/lessons/01_hello/checks.py": CHECKS.format(lesson="hello", name="greet") + GROW,
        CHECKS_FILE: CHECKS.format(lesson="bye", name="bye"),
        "suites/bye.py": SUITE,
        "answers/bye.py": MISTAKES,
        "LICENSE": "A licence.",
        **{f"requirements/{x}.txt": "numpy\n" for x in ("student", "lock", "uv", "without")},
    }
    real = places.ROOT
    root = small_course.write(monkeypatch, tmp_path / "copy", files)
    shutil.copy(real / "jaxprentice", root)
    monkeypatch.setattr(places, "SUITES", root / "suites")
    monkeypatch.setattr(places, "ANSWERS", root / "answers")
    monkeypatch.chdir(tmp_path)
    return root


@pytest.fixture
def handout(course, tmp_path):
    """The handout of the last lesson, unpacked from its archive."""
    assert cli.main(["release", "bye", "--out", "out"]) == 0
    archives.unpack(tmp_path / "out" / "bye.zip", tmp_path / "home")
    return tmp_path / "home" / "bye"


# ------------------------------------------------------------------------------------------
# What is in it


def files(folder):
    return {
        p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()
    }


def test_it_holds_the_reference_before_the_lesson_and_its_skeleton(handout):
    held = files(handout)
    assert held["toy/hello.py"].decode() == small_course.HELLO
    assert held["toy/bye.py"].decode() == assemble.read_handout("toy/bye.py")
    assert b'NotImplementedError("bye.bye")' in held["toy/bye.py"]
    wanted = {"README.md", "jaxprentice", "bye.ipynb", "checks.py", "lessons/03_bye/lesson.md"}
    assert wanted <= held.keys()


def test_it_holds_nothing_of_a_later_lesson(course):
    made = release.release(manifest.get("hello"), course / "out")
    later = [name for name in files(made.folder) if "bye" in name or "between" in name]
    assert later == []
    assert made.publishes == []


def test_the_archive_is_the_folder_and_the_same_each_time(handout, tmp_path):
    assert files(handout) == files(tmp_path / "out" / "bye")
    assert [path.name for path in handout.parent.iterdir()] == ["bye"]
    assert stat.S_IMODE((handout / "jaxprentice").stat().st_mode) == 0o755
    assert stat.S_IMODE((handout / "tool" / "jaxprentice").stat().st_mode) == 0o755
    again = release.release(manifest.get("bye"), tmp_path / "again").archive
    assert again.read_bytes() == (tmp_path / "out" / "bye.zip").read_bytes()


def test_it_is_said_whose_solutions_are_published_and_what_exists_is_kept(capsys, handout):
    assert "With it you publish the solutions of: hello.\n" in capsys.readouterr().out
    assert cli.main(["release", "bye", "--out", "out"]) == 1
    assert "exists. Remove it, or give another folder" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------
# It works alone


@pytest.fixture
def run(handout):
    """Run the handout's command as on a student's machine: exit status and all that it said."""
    blocked = layers.others("student")
    assert {"nbgrader", "fastjsonschema", "hypothesis", "jax"} <= blocked
    code = layers.BLOCK.format(blocked=blocked) + "from autograder.cli import main\n"
    code += "sys.exit(main(sys.argv[1:]))"

    def start(*arguments):
        done = subprocess.run(
            [sys.executable, "-P", "-c", code, *arguments],
            cwd=handout, env={"PYTHONPATH": str(handout / "tool"), "PATH": "/usr/bin"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    return start


def test_given_modules_pass_and_stubs_are_reported(run, handout):
    assert run("check", "hello")[0] == 0
    status, said = run("check")
    assert status == 1
    assert "to do  bye.bye" in said
    text = (handout / "toy/bye.py").read_text(encoding="utf-8")
    stub = next(line for line in text.splitlines() if "raise NotImpl" in line)
    (handout / "toy/bye.py").write_text(text.replace(stub, f"    {SOLUTION}"), encoding="utf-8")
    status, said = run("check")
    assert status == 0
    assert "The lesson bye is complete. Hand in toy/bye.py." in said


def test_the_students_commands_work_and_no_others_are_there(run):
    said = run("--help")[1]
    assert "For students:" in said
    assert "For instructors:" not in said
    assert "No such command 'sync'." in run("sync")[1]
    assert "2 of 2" in run("list")[1]
    assert run("reset", "hello")[0] == 0
    assert run("give", "hello")[0] == 0
    assert "This copy does not hold the solution of bye." in run("give", "bye")[1]
    assert "Hint 3 of 3" in [run("hint", "bye.bye")[1] for _ in range(3)][-1]
    assert "ok     The workspace is" in run("doctor")[1]


# ------------------------------------------------------------------------------------------
# Nothing secret gets out

FENCE = "\n```python\n{}\n```\n"
LEAKS = {
    "the solution on the page": (PAGE, FENCE.format(SOLUTION), "the solution of bye.bye"),
    "a line of it in running text": (PAGE, f"Now `{SOLUTION}` does.", "the solution of bye.bye"),
    "the solution with a comment": (CHECKS_FILE, f"\n{SOLUTION}  # this\n", "the solution of"),
    "a hidden test": (
        CHECKS_FILE,
        "\ndef test_it(student):\n"
        '    for name in ("Grace", "Alan"):  # again\n\n        student.agrees(parted, name)\n',
        "test_parting of the hidden suite bye",
    ),
    "a short probe": (CHECKS_FILE, "\ndef parted(t):\n    return toy.bye(name)\n", "parted of the"),
    "a known mistake": (
        PAGE,
        FENCE.format("\n".join(MISTAKES.split("\n")[2:5])),
        "the known mistake bye.bye/the_greeting_stays",
    ),
    "another right answer": (
        PAGE,
        FENCE.format("\n".join(MISTAKES.split("\n")[8:])),
        "a known answer to bye.bye",
    ),
    "its name": (PAGE, "Beware: the mistake is that\n*The greeting\nstays*.", ""),
    "its hint": (PAGE, "\nYou could\nSay it again. And again.\n", "the known mistake bye.bye"),
}  # fmt: skip


@pytest.mark.parametrize(("path", "text", "what"), LEAKS.values(), ids=LEAKS)
def test_a_leak_is_refused_and_nothing_is_written(course, tmp_path, capsys, path, text, what):
    with (course / path).open("a", encoding="utf-8") as file:
        file.write(text)
    assert cli.main(["release", "bye", "--out", "out"]) == 1
    said = capsys.readouterr().err
    assert "The handout of bye would give away" in said
    assert what in said
    assert list((tmp_path / "out").iterdir()) == []


def test_a_file_of_a_later_lesson_is_a_leak(course, tmp_path):
    (tmp_path / "given" / "toy").mkdir(parents=True)
    (tmp_path / "given" / "toy" / "bye.py").write_text("")
    (tmp_path / "given" / "suites").mkdir()
    (tmp_path / "given" / "suites" / "x.toml").write_text("")
    found = {what for what, _ in leaks.find(tmp_path / "given", manifest.get("hello"))}
    assert found == {"a file of the lesson bye", "a file of suites"}


def test_the_code_that_a_lesson_gives_is_no_secret(course):
    assert small_course.WORDS in leaks._published(manifest.get("hello"))


@pytest.mark.parametrize(
    ("lesson", "name", "line", "leaks_out"),
    [
        ("hello", "bye", SOLUTION, True),
        ("hello", "other", SOLUTION, False),
        ("bye", "other", "return toy.bye(name)", False),  # everybody writes it
    ],
)
def test_one_line_counts_below_its_name(course, tmp_path, lesson, name, line, leaks_out):
    (tmp_path / "some").mkdir()
    (tmp_path / "some" / "x.py").write_text(f"def {name}(toy, name):\n    {line}\n")
    assert bool([*leaks.find(tmp_path / "some", manifest.get(lesson))]) == leaks_out


@pytest.mark.slow
@pytest.mark.sampled  # `release` looks for leaks whenever it releases
@pytest.mark.parametrize("lesson", names.all_taught(), ids=lambda lesson: lesson.id)
def test_the_course_can_be_released(lesson, tmp_path, monkeypatch):
    made = release.release(lesson, tmp_path)
    text = (made.folder / lesson.module).read_text(encoding="utf-8")
    assert all(f'NotImplementedError("{x.id}")' in text for x in lesson.exercises)
    secrets = {secret.what for secret in leaks.of(lesson)}
    assert {f"the solution of {x.id}" for x in lesson.exercises} <= secrets
    known = {p["id"] for p in manifests(made.folder)}
    assert known == {part.id for part in [*manifest.needed(lesson), *release._to_run(lesson)]}
    here = assemble.files_of(manifest.needed(lesson), [lesson.module])
    monkeypatch.setattr(places, "COURSE", made.folder / "tool" / "course")
    monkeypatch.setattr(places, "SOLUTIONS", made.folder / "tool" / "solutions")
    there = assemble.tree(manifest.get(lesson.id), [lesson.module])  # what `check` runs on
    assert there.keys() == here.keys()


def manifests(folder):
    for path in (folder / "tool/course/lessons").glob("*/lesson.toml"):
        yield tomllib.loads(path.read_text(encoding="utf-8"))


def test_a_handout_holds_every_module_that_a_students_command_imports(tmp_path):
    for file in release.MODULES:
        (tmp_path / "autograder" / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(places.PACKAGE / file, tmp_path / "autograder" / file)
    commands = (places.PACKAGE / "cli" / "students.py").read_text(encoding="utf-8")
    imports = sorted(set(re.findall(r"^ +(from autograder.*)$", commands, re.MULTILINE)))
    assert imports
    code = "\n".join(["import autograder.__main__", *imports])
    command = [sys.executable, "-P", "-c", code]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
