"""Every complaint of the student's tool: how to provoke it, and its words.

The table is complete: a test reads the complaints out of the source and looks for each one here.
"""

import ast
import errno
import json
import os
import shutil

import pytest

from autograder import cli
from autograder.lessons import manifest, places
from autograder.student import commands, programs, workspace

END = """\
id = "end"
title = "The end"
minutes = 5
requires = []
scripts = ["capstones/end.py"]
"""


class Scene:
    """A workspace of the small course, the course itself, and ways to spoil both."""

    def __init__(self, work, course, monkeypatch):
        self.work, self.course, self.monkeypatch = work, course, monkeypatch

    def add_scripts(self):
        for folder in (self.course / "course", self.work):
            (folder / "capstones").mkdir(exist_ok=True)
        (self.course / "course/capstones/end.py").write_text("", encoding="utf-8")
        lesson = self.course / "course/lessons/04_end"
        lesson.mkdir()
        (lesson / "lesson.toml").write_text(END, encoding="utf-8")
        manifest._load.cache_clear()

    def add_tasks(self):
        folder = self.course / "course/lessons/03_bye"
        for name in ("open_bye.py", "repair_bye.py", "tasks.py"):
            (folder / name).write_text('"""A task.\n\nDo it.\n"""\n', encoding="utf-8")

    def add_package(self):
        (self.work / "minijax").mkdir()
        (self.work / "minijax/__init__.py").touch()

    def leave(self):
        self.monkeypatch.chdir(self.course)

    def leave_with_scripts(self):
        self.add_scripts()
        self.leave()

    def no_checks_in_file(self):
        (self.course / "course/lessons/01_hello/checks.py").write_text("", encoding="utf-8")

    def no_checks(self):
        (self.course / "course/lessons/01_hello/checks.py").unlink()

    def no_jax(self):
        self.monkeypatch.setattr(programs, "find_spec", lambda name: None)

    def not_a_text(self):
        (self.work / "x.py").write_bytes(b"\xff")

    def a_handout(self):
        file = self.work / workspace.IDENTITY
        about = json.loads(file.read_text(encoding="utf-8"))
        file.write_text(json.dumps({**about, "lesson": "bye"}), encoding="utf-8")

    def no_solution(self):
        (places.SOLUTIONS / "toy/hello.py").unlink()

    def no_skeleton(self):
        self.no_solution()
        (places.COURSE / "toy/hello.py").unlink()

    def no_lessons(self):
        shutil.rmtree(places.COURSE / "lessons")
        manifest._load.cache_clear()

    def two_names(self):
        shutil.copy(self.work / "toy/hello.py", self.work / "toy/hello (1).py")
        (self.work / "toy/hello.py").rename(self.work / "hello (2).py")

    def browser_name(self):
        (self.work / "toy/hello.py").rename(self.work / "hello (2).py")
        (self.work / "x.py").write_text("import toy", encoding="utf-8")

    def no_module(self):
        (self.work / "toy/hello.py").unlink()

    def nothing(self):
        pass


LEAVES = "import minijax, os; os._exit(3)"
NO_WORKSPACE = "This is not a workspace. Make one with `./jaxprentice init DIR`, and "
TABLE = [
    (Scene.leave_with_scripts, ["check", "end"], NO_WORKSPACE + "run this there."),
    (Scene.add_scripts, ["check", "end"], "capstones/end.py is missing. Copy it from a new"),
    (Scene.no_checks_in_file, ["check", "hello"], "The checks of hello do not run. Get a complete"),
    (Scene.no_checks, ["check", "hello"], "The lesson hello has no checks.py. Get a complete copy"),
    (Scene.add_tasks, ["hint", "bye.open"], "bye.open is an extra, and extras have no hints."),
    (Scene.nothing, ["give", "hello.greet"], "hello.greet is an exercise. Give its lesson, hello."),
    (Scene.nothing, ["check", "between"], "The lesson between has no exercises. See"),
    (Scene.add_tasks, ["check", "bye.open"], "tasks/open_bye.py is missing. `./jaxprentice update"),
    (Scene.nothing, ["trace"], 'Give a program: the name of a file, or -c "...".'),
    (Scene.nothing, ["trace", "x.py"], "There is no file x.py. Give the name of a program."),
    (Scene.not_a_text, ["run", "x.py"], "x.py is not a text in UTF-8. Give the name of a program."),
    (Scene.add_package, ["trace", "-c", LEAVES], "The program ended Python (status "),
    (Scene.nothing, ["run", "toy/bye.py", "--on", "tpu"], "There is no tpu to run it on. Write"),
    (Scene.browser_name, ["run", "x.py"], "There is no toy/hello.py. Rename "),
    (Scene.nothing, ["update", "toy/helo.py"], "The course has no file toy/helo.py. Name one such"),
    (Scene.no_jax, ["run", "toy/bye.py", "--on", "jax"], "JAX is not installed beside the course."),
    (Scene.leave, ["update"], NO_WORKSPACE + "run this there."),
    (Scene.a_handout, ["update"], "A handout is not updated. Ask your teacher for a new one."),
    (Scene.no_solution, ["give", "hello"], "This copy does not hold the solution of hello. Ask"),
    (Scene.no_skeleton, ["reset", "hello"], "toy/hello.py is missing. Get a complete copy, or run"),
    (Scene.nothing, ["init", "toy"], "toy exists and is not empty. Give a new folder for your"),
    (Scene.no_lessons, ["init", "new"], "This copy holds no lessons. Get a complete copy of the"),
    (Scene.two_names, ["check", "hello"], "hello (2).py could be it. Rename one to hello.py."),
    (Scene.no_module, ["check", "hello"], "hello.py is missing. `./jaxprentice reset hello` puts"),
    (Scene.leave, ["reset", "hello"], NO_WORKSPACE + "work there."),
]


@pytest.mark.every
@pytest.mark.parametrize(
    ("spoil", "line", "words"), TABLE, ids=lambda x: getattr(x, "__name__", "")
)
def test_each_complaint_is_one_sentence_with_a_next_step(
    work, course, capsys, monkeypatch, spoil, line, words
):
    spoil(Scene(work, course, monkeypatch))
    capsys.readouterr()
    assert cli.main(line) == 1
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1
    assert "Traceback" not in said


@pytest.mark.every
@pytest.mark.parametrize("number", [*cli.REMEDIES, errno.EIO])
def test_an_error_of_the_system_names_the_file_and_a_next_step(work, capsys, monkeypatch, number):
    def fails(place):
        raise OSError(number, os.strerror(number), "a/file.txt")

    monkeypatch.setattr(commands, "list_lessons", fails)
    assert cli.main(["list"]) == 1
    remedy = cli.REMEDIES.get(number, "Set that right")
    want = f"a/file.txt: {os.strerror(number)}. {remedy}, then run the same command again.\n"
    assert capsys.readouterr().err == want


def complaints():
    """The texts of all Problems in the source, with a mark where a value is put in."""
    for file in sorted((places.PACKAGE / "student").glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Problem":
                (text,) = node.args
                parts = text.values if isinstance(text, ast.JoinedStr) else [text]
                yield [part.value for part in parts if isinstance(part, ast.Constant)]


def test_the_table_has_every_complaint():
    every = list(complaints())
    assert len(every) == len(TABLE)
    assert [parts for parts in every if not any(begins(row[2], parts) for row in TABLE)] == []


def begins(words, parts):
    """Whether a row's words are the beginning of a complaint, or a piece of it."""
    sure = max(parts, key=len).strip()
    return sure[:18] in words or words[-18:] in sure
