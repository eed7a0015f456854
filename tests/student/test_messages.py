"""Every complaint of the student's tool: how to provoke it, and its words.

Nothing is missing: a test reads the sentences out of the source and looks for each in the tests.
"""

import ast
import errno
import json
import os
import re
import shlex
import shutil
import sys
from types import SimpleNamespace

import pytest
import small_course
from student_course import solve

from autograder import cli
from autograder.lessons import manifest, places
from autograder.lessons.problem import REMEDIES, Problem
from autograder.sandbox import cgroup, isolation
from autograder.student import (
    capstone,
    checks,
    commands,
    doctor,
    extras,
    programs,
    progress,
    watching,
    workspace,
)
from autograder.upkeep import sync

ROOT = places.ROOT

END = """\
id = "end"
title = "The end"
minutes = 5
requires = []
scripts = ["capstones/end.py"]
"""


PAGE = """
[[task]]
id = "page"
title = "A page"
lessons = ["hello"]
after = "hello"
replaces = true
milestone = ""
"""


class Scene:
    """A workspace of the small course, the course itself, and ways to spoil both."""

    def __init__(self, work, course, monkeypatch):
        self.work, self.course, self.monkeypatch = work, course, monkeypatch

    def add_scripts(self):
        for folder in (self.course / "course", self.work):
            (folder / "capstones").mkdir(exist_ok=True)
        (self.course / "course/capstones/end.py").write_text("", encoding="utf-8")
        losses = self.course / "course/capstones/end.json"
        losses.write_text('{"losses": [1.0]}', encoding="utf-8")
        lesson = self.course / "course/lessons/04_end"
        lesson.mkdir()
        (lesson / "lesson.toml").write_text(END, encoding="utf-8")
        manifest._load.cache_clear()

    def add_scripts_without_losses(self):
        self.add_scripts()
        (self.course / "course/capstones/end.json").unlink()

    def add_tasks(self):
        folder = self.course / "course/lessons/03_bye"
        for name in ("open_bye.py", "repair_bye.py", "tasks.py"):
            (folder / name).write_text('"""A task.\n\nDo it.\n"""\n', encoding="utf-8")

    def add_package(self):
        (self.work / "minijax").mkdir()
        (self.work / "minijax/__init__.py").touch()

    def leave(self):
        self.monkeypatch.chdir(self.course)

    def no_jax_in_it(self):
        (self.work / "x.py").write_text("import toy\n", encoding="utf-8")

    def no_checks_in_file(self):
        (self.course / "course/lessons/01_hello/checks.py").write_text("", encoding="utf-8")

    def no_checks(self):
        (self.course / "course/lessons/01_hello/checks.py").unlink()

    def no_jax(self):
        (self.work / "x.py").write_text("import minijax\n", encoding="utf-8")
        self.monkeypatch.setattr(programs, "find_spec", lambda name: None)

    def a_handout(self):
        file = self.work / workspace.IDENTITY
        about = json.loads(file.read_text(encoding="utf-8"))
        file.write_text(json.dumps({**about, "lesson": "bye"}), encoding="utf-8")

    def no_solution(self):
        small_course.hand_out("toy/hello.py")

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

    def begun(self):
        with (self.work / "toy/hello.py").open("a", encoding="utf-8") as file:
            file.write("# mine\n")

    def a_page(self):
        folder = self.course / "course/nothing"
        folder.mkdir()
        (folder / "tasks.toml").write_text(PAGE, encoding="utf-8")
        (folder / "page_checks.py").write_text("from nothing.page import f\n", encoding="utf-8")
        cli.main(["way", "hello", "blank"])


LEAVES = "import minijax, os; os._exit(3)"
TABLE = [
    (Scene.nothing, "init other --way easy", "There is no 'easy' way. Give one of "),
    (Scene.a_handout, "way hello blank", "Your teacher chose the way for this handout. It"),
    (Scene.begun, "way hello blank", "You have begun hello, so toy/hello.py stays as it is. To"),
    (Scene.a_page, "give hello", "hello is a part of nothing/page.py, which is all your own."),
    (Scene.a_page, "hint page", "page is written from an empty page: no lesson, no hints, no"),
    (Scene.a_page, "check page", "nothing/page.py is missing. `./jaxprentice update` puts"),
    (Scene.no_jax_in_it, "run x.py --on jax", "x.py imports neither minijax nor jax, so"),
    (Scene.add_scripts, "check end", "capstones/end.py is missing. Copy it from a new"),
    (Scene.add_scripts_without_losses, "check end", "JAX's losses for end are missing. Get a"),
    (Scene.no_checks_in_file, "check hello", "The checks of hello do not run. Get a complete"),
    (Scene.no_checks, "check hello", "The lesson hello has no checks.py. Get a complete copy"),
    (Scene.add_tasks, "hint bye.open", "bye.open is an extra, and extras have no hints."),
    (Scene.nothing, "give hello.greet", "hello.greet is an exercise. Give its lesson, hello."),
    (Scene.nothing, "check between", "The lesson between has no exercises. See"),
    (Scene.add_tasks, "check bye.open", "tasks/open_bye.py is missing. `./jaxprentice update"),
    (Scene.nothing, "trace", 'Give a program: the name of a file, or -c "...".'),
    (Scene.nothing, "trace x.py", "There is no file x.py. Give the name of a program."),
    (Scene.add_package, f"trace -c '{LEAVES}'", "The program ended Python (status "),
    (Scene.nothing, "run toy/bye.py --on tpu", "A program cannot run on tpu. Write --on jax, or"),
    (Scene.browser_name, "run x.py", "There is no toy/hello.py. Rename "),
    (Scene.nothing, "update toy/helo.py", "The course has no file toy/helo.py. Name one such as"),
    (Scene.no_jax, "run x.py --on jax", "JAX is not installed with the course."),
    (Scene.a_handout, "update", "A handout is not updated. Ask your teacher for a new one."),
    (Scene.no_solution, "give hello", "This copy does not hold the solution of hello. Ask"),
    (Scene.nothing, "init toy", "toy exists and is not empty. Give a new folder for your"),
    (Scene.no_lessons, "init new", "This copy holds no lessons. Get a complete copy of the"),
    (Scene.two_names, "check hello", "hello (1).py and hello (2).py could be it. Rename one to"),
    (Scene.no_module, "check hello", "hello.py is missing. `./jaxprentice reset hello` puts"),
    (Scene.leave, "reset hello", "This is not a workspace. Make one with `./jaxprentice init"),
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
    assert cli.main(shlex.split(line)) == 1
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1
    assert "Traceback" not in said


@pytest.mark.every
@pytest.mark.parametrize("number", [*REMEDIES, errno.EIO])
def test_an_error_of_the_system_names_the_file_and_a_next_step(work, capsys, monkeypatch, number):
    def fails(place):
        raise OSError(number, os.strerror(number), "a/file.txt")

    monkeypatch.setattr(progress, "list_lessons", fails)
    assert cli.main(["list"]) == 1
    remedy = REMEDIES.get(number, "Fix that")
    want = f"a/file.txt: {os.strerror(number)}. {remedy}, then run the same command again.\n"
    assert capsys.readouterr().err == want


# ------------------------------------------------------------------------------------------
# Advice: what a command prints that has found something, and what to do next


class Finds(Scene):
    """What the student has done before a command, or what the machine is like."""

    def solve(self, *modules):
        for module in modules or ("hello",):
            solve(self.work, f"toy/{module}.py")

    def solve_both(self):
        self.solve("hello", "bye")
        cli.main(["check", "hello"])

    def endless_milestone(self):
        self.monkeypatch.setattr(extras, "PATIENCE", 0.3)
        self.add_tasks()
        file = self.course / "course/lessons/03_bye/milestone.py"
        file.write_text('"""A milestone."""\nwhile True: pass\n', encoding="utf-8")
        shutil.copytree(file.parent, self.work / "tasks")
        self.solve("bye")

    def breaks_together(self):
        self.solve("hello", "bye")
        lost = iter([["bye.bye"], []])
        self.monkeypatch.setattr(commands, "lost_against", lambda *reports: next(lost))

    def on_a_terminal(self):
        self.solve()
        self.monkeypatch.setattr(sys.stderr, "isatty", lambda: True)

    def write(self, text, file="toy/hello.py"):
        (self.work / file).write_text(text, encoding="utf-8")

    def broken(self):
        self.write("x = (")

    def foreign(self):
        self.write("import scipy\n")

    def not_python(self):
        def refuses(*arguments, **options):
            raise ValueError("null bytes")

        self.monkeypatch.setattr(checks, "compile", refuses, raising=False)

    def a_random_program(self):
        self.solve()
        file = self.course / "course/lessons/01_hello/checks.py"
        check = (
            '\n@pytest.mark.exercise("hello.grow")\ndef test_law():\n    """It holds."""\n'
            '    error = AssertionError("no")\n    error.add_note("x = 1")\n    raise error\n'
        )
        file.write_text(file.read_text(encoding="utf-8") + check, encoding="utf-8")

    def script(self, text, requires="[]"):
        toml = END.replace("requires = []", f"requires = {requires}")
        self.monkeypatch.setitem(globals(), "END", toml)
        self.add_scripts()
        for folder in (self.course / "course", self.work):
            (folder / "capstones/end.py").write_text(text, encoding="utf-8")

    def endless_script(self):
        self.monkeypatch.setattr(capstone, "PATIENCE", 0.3)
        self.script("while True: pass")

    def silent_script(self):
        self.script("raise SystemExit(1)")

    def another_loss(self, loss=2.0):
        save = f"open(sys.argv[-1], 'w').write('{{\"losses\": [{loss}]}}')"
        self.script(f"import os, sys\nos.path.exists('mark') and sys.exit(1)\n{save}", '["bye"]')

    def right_loss(self):
        self.another_loss(1.0)

    def right_loss_with_given(self):
        self.right_loss()
        cli.main(["give", "hello"])

    def one_file_alone(self):
        self.right_loss()
        (self.work / "mark").touch()

    def lacks_a_reference(self):
        self.another_loss()
        self.no_solution()

    def corrected(self):
        self.monkeypatch.setattr(places, "is_complete", lambda: True)
        self.write("# mine\n" + (self.work / "toy/hello.py").read_text(encoding="utf-8"))
        file = places.SOLUTIONS / "toy/hello.py"
        text = file.read_text(encoding="utf-8").replace("Greet somebody.", "Greet them.")
        file.write_text(text, encoding="utf-8")
        sync.sync(False)

    def recorded(self):
        document = {"steps": [], "cut": True, "file": "x", "error": {"missing": "hello.greet"}}
        self.monkeypatch.setattr(programs, "record", lambda place, program: document)

    def differs(self):
        self.write("import minijax\n", "x.py")
        ends = {"minijax": programs.End(["1"], "", "TypeError"), "jax": programs.End(["1"], "", "")}
        self.monkeypatch.setattr(programs, "need_jax", lambda: None)
        self.monkeypatch.setattr(programs, "ended", lambda place, file, on, options: ends[on])

    # Of `doctor` one finding each

    def only(self, name):
        finding = getattr(doctor, name)
        found = finding if name in ("rungs", "for_teachers") else lambda: iter([finding()])
        self.monkeypatch.setattr(doctor, "findings", found)

    def new_python(self):
        self.only("python")
        self.monkeypatch.setattr(doctor, "sys", SimpleNamespace(version_info=(3, 99, 0)))

    def other_packages(self):
        self.only("packages")
        shutil.copytree(ROOT / "requirements", self.course / "requirements")
        self.monkeypatch.setattr(doctor, "version_of", lambda package: "0")

    def no_xla(self):
        self.only("xla")
        ended = SimpleNamespace(returncode=1, stderr=b"no luck")
        self.monkeypatch.setattr(doctor.subprocess, "run", lambda *words, **options: ended)

    def no_room(self):
        self.only("disk")
        self.monkeypatch.setattr(doctor.shutil, "disk_usage", lambda at: SimpleNamespace(free=1))

    def old_workspace(self):
        self.only("place")
        identity = self.work / workspace.IDENTITY
        identity.write_text('{"version": "0.0"}', encoding="utf-8")

    def no_isolation(self):
        def refuses():
            raise Problem("Why.")

        self.only("isolation")
        self.monkeypatch.setattr(isolation, "choose", refuses)

    def rungs(self, held=()):
        self.only("rungs")
        reasons = {"namespaces": "why", "landlock": "why", "process": None}
        self.monkeypatch.setattr(isolation, "detect", reasons.get)
        self.monkeypatch.setattr(cgroup, "held", lambda: list(held))

    def control_groups(self):
        self.rungs(["memory", "pids"])

    def no_debian_packages(self):
        self.only("for_teachers")
        self.monkeypatch.setattr(doctor, "isolation", lambda: (doctor.OK, ""))
        self.monkeypatch.setattr(doctor, "rungs", lambda: iter([]))
        self.monkeypatch.setattr(doctor, "version_of", lambda package: "0")
        self.monkeypatch.setattr(doctor, "has", lambda package: False)

    def security(self, **said):
        self.only("cluster")
        files = dict.fromkeys(("tls_ca_file", "tls_client_cert", "tls_client_key"), "a/key.pem")
        about = {"get_connection_args": lambda role: {}, "require_encryption": True, **files}
        found = SimpleNamespace(**{**about, **said})
        self.monkeypatch.setattr("distributed.security.Security", lambda: found)

    def bad_certificate(self):
        def refuses(role):
            raise OSError("no certificate")

        self.security(get_connection_args=refuses)

    def certificate(self):
        (self.work / "key.pem").touch(0o600)
        encrypts = {"get_connection_args": lambda role: {"ssl_context": 1}}
        self.security(**encrypts, tls_client_key=str(self.work / "key.pem"))

    # Keys of `watch`

    def nothing_to_do(self):
        self.solve_both()
        cli.main(["check", "bye"])
        self.monkeypatch.setattr(watching, "events", lambda *where: iter([[], "h", "n", "q"]))


# What was done before, the command, and what it prints.
ADVICE = [
    (Finds.nothing, "check hello", ["Then: ./jaxprentice check hello.greet"]),
    (Finds.leave, "check hello", ["This is not a workspace, so ", "own with `init DIR`."]),
    (Finds.broken, "check hello", ["hello cannot be checked: ", "read line 1, column"]),
    (Finds.not_python, "check hello", ["Python cannot read the file: null bytes"]),
    (Finds.a_random_program, "check hello", ["The smallest program found that fails:", "x = 1"]),
    (Finds.solve_both, "check bye --mine", ["The result is the same with your own earlier"]),
    (Finds.breaks_together, "check bye --mine", ["earlier modules together break bye.bye."]),
    (Finds.endless_milestone, "check bye", ["It did not finish within 0.3 seconds."]),
    (Finds.nothing, "init new", ["Writing the lessons and their notebooks ..."]),
    (Finds.on_a_terminal, "list", ["Checking hello, which has changed ..."]),
    (Finds.nothing, "progress", ["Each exercise of a lesson: ./jaxprentice progress"]),
    (Finds.foreign, "check", ["toy/hello.py cannot be handed in as it is.", ", imports scipy, "]),
    (Finds.nothing, "progress --export x.json", ["x.json says which exercises are done. The page"]),
    (Finds.solve, "give hello", ["What you had is kept in .jaxprentice/backups/toy-hello-1.py."]),
    (Finds.corrected, "update", ["The course changed:", "To take the course's, with your"]),
    (Finds.endless_script, "check end", ["did not finish within 0.3 s", "Next: ./jaxprentice"]),
    (Finds.silent_script, "check end", ["It ended without a message."]),
    (Finds.another_loss, "check end", ["The loss at step 1 is 2, and should be 1."]),
    (Finds.right_loss, "check end", ["end: All 1 losses equal JAX's, digit for digit."]),
    (Finds.right_loss_with_given, "check end", ["`give` are not your own: 2 of hello."]),
    (Finds.one_file_alone, "check end", ["Each of your modules works among the reference's."]),
    (Finds.lacks_a_reference, "check end", ["check hello, whose reference is not in this copy."]),
    (Finds.recorded, "trace -c x", ["No operation was recorded.", "20000 steps are shown. Try"]),
    (Finds.recorded, "trace -c x", ["Next: ./jaxprentice check hello.greet"]),
    (Finds.differs, "run x.py --on jax", ["It ends differently.", "yours: TypeError"]),
    (Finds.new_python, "doctor", ["Python 3.99.0 is newer than the versions that the course is"]),
    (
        Finds.other_packages,
        "doctor",
        ["Packages are not as pinned: ", "Delete the folder .venv, and"],
    ),
    (Finds.no_xla, "doctor", ["XLA does not start here: no luck."]),
    (Finds.no_room, "doctor", ["Only 0 MB are free on the disk. Make room."]),
    (Finds.old_workspace, "doctor", ["The workspace ", " was made by version 0.0; this is "]),
    (Finds.no_isolation, "doctor", ["Strangers' work cannot be graded here (only instructors"]),
    (
        Finds.rungs,
        "doctor",
        [
            "note   The isolation 'landlock' is not available here: why.",
            "ok     The isolation 'process' works here.",
            "No control groups can be made here: limits then apply to each process",
        ],
    ),
    (Finds.control_groups, "doctor", ["memory and pids of all that a submission starts."]),
    (Finds.no_debian_packages, "doctor", ["No chromium: some of `./jaxprentice test` is skipped."]),
    (Finds.security, "doctor", ["Dask does not insist on encryption: grade --scheduler accepts"]),
    (Finds.bad_certificate, "doctor", ["Dask's certificates in a/key.pem cannot be used: no cert"]),
    (Finds.certificate, "doctor", ["Dask's connections are encrypted, with the certificate"]),
    (
        Finds.nothing_to_do,
        "watch",
        ["There is nothing to do. Press l for the list.", "There is no other exercise"],
    ),
]


@pytest.mark.parametrize(
    ("before", "line", "told"), ADVICE, ids=lambda x: getattr(x, "__name__", "")
)
def test_each_advice_is_printed_where_it_belongs(
    work, course, capsys, monkeypatch, before, line, told
):
    before(Finds(work, course, monkeypatch))
    capsys.readouterr()
    cli.main(shlex.split(line))
    said = "".join(capsys.readouterr())
    for words in told:
        assert words in said
    assert "Traceback" not in said


# ------------------------------------------------------------------------------------------
# Nothing is missing


def sentences(file):
    """The sentences in a file's code that are not docstrings: of each its longest sure piece."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    inner = {id(part) for x in ast.walk(tree) for part in parts_of(x)}
    for node in ast.walk(tree):
        if id(node) in inner or not isinstance(node, ast.JoinedStr | ast.Constant):
            continue
        parts = [node] if isinstance(node, ast.Constant) else node.values
        pieces = [x.value for x in parts if isinstance(getattr(x, "value", None), str)]
        pieces = [piece for text in pieces for piece in re.split(r"\{.*?\}", text)]
        text = " ".join(pieces)
        if is_sentence(text):
            yield max(pieces, key=len).strip()


def parts_of(node):
    """What is no text of its own: docstrings, and the parts of texts with values in them."""
    if isinstance(node, ast.JoinedStr):
        return [x for x in ast.walk(node) if x is not node]
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
        return [x.value for x in node.body[:1] if isinstance(x, ast.Expr)]
    return []


def is_sentence(text):
    """Whether a text is to be read: it ends as sentences do, or names what to run next."""
    ends = text.rstrip().endswith((".", "?", ":")) or re.search("/jaxprentice | pip ", text)
    return ends and len(text) < 300 and len(re.findall("[a-z]{2,}", text)) > 2 and "(.*" not in text


# What pytest, a notebook and a page of the site say has tests of its own.
OTHERS = ("in_browser.py", "check_plugin.py", "example_checks.py", "notebook_extension.py")


@pytest.mark.parametrize(
    "file",
    [x for x in sorted((ROOT / "autograder/student").glob("*.py")) if x.name not in OTHERS]
    + [ROOT / "jaxprentice"],
    ids=lambda file: file.name,
)
def test_no_sentence_is_without_a_test(file):
    texts = [x.read_text(encoding="utf-8") for x in (ROOT / "tests").rglob("test_*.py")]
    known = re.sub(r'"\s*\n\s*f?"', "", "\n".join(texts))
    found = [x for x in sentences(file) if x[:18] not in known and x[-18:] not in known]
    assert found == []
