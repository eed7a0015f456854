"""Every command with every kind of bad argument and bad file: one sentence, and nothing is written.

The table is made from the commands themselves: a parameter that is a path, a number or a name gets
what can be wrong with one. And it is made from what each command opens when all is well: in the
place of each such file lies what can be wrong with a file. A new command needs a line that works,
in `GOOD`; what it does then is in the table.
"""

import contextlib
import ctypes
import os
import shutil
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import click
import graded_course
import pytest
import result_documents
import small_course
from command_lines import COMMANDS
from student_course import BYE_CHECKS, HELLO_CHECKS

from autograder import cli
from autograder.classroom.nbgrader import directory, gradebook
from autograder.grading import result_files
from autograder.lessons import places, user_files
from autograder.upkeep import sync

LEAVES = {name: x for name, x in COMMANDS.items() if not hasattr(x, "commands")}

# By command where it runs, and arguments with which it works.
WORK, CLASS = "work", "class"
LINES = {
    "init": (".", "folder=new"),
    "list": (WORK, ""),
    "check": (WORK, "name=hello"),
    "watch": (WORK, "name=hello"),
    "hint": (WORK, "name=hello.greet"),
    "trace": (WORK, "file=program.py"),
    "run": (WORK, "file=program.py"),
    "give": (WORK, "name=hello"),
    "reset": (WORK, "name=hello"),
    "way": (WORK, "name=hello way=blank"),
    "update": (WORK, "files=toy/hello.py"),
    "progress": (WORK, "export=done.json"),
    "doctor": (WORK, ""),
    "nbgrader init": (".", "folder=new lessons=tiny"),
    "nbgrader update": (CLASS, "names=tiny"),
    "nbgrader roster": (CLASS, "file=../class.csv"),
    "nbgrader extend": (CLASS, "assignment=tiny students=ada days=3 hours=1"),
    "nbgrader late-days": (CLASS, ""),
    "nbgrader group": (CLASS, "assignment=tiny students=ada"),
    "nbgrader section": (CLASS, "section=monday students=ada"),
    "nbgrader variants": (CLASS, "assignment=tiny"),
    "nbgrader read": (CLASS, "assignment=tiny"),
    "release": (".", "lesson=tiny out=handouts folder=class"),
    "grade": (
        ".",
        "submissions=submissions lesson=tiny out=results isolation=process folder=class",
    ),
    "collect": (
        ".",
        "download=download system=gradescope lesson=tiny roster=class.csv "
        "out=collected folder=class",
    ),
    "return": (".", "lesson=tiny out=pages.zip collected=collected results=results"),
    "report": (".", "folder=results"),
    "similar": (".", "submissions=submissions lesson=tiny out=similar"),
    "export": (".", "folder=results format_name=csv out=exports"),
    "cluster": (".", ""),
    "demo": (".", ""),
    "archives": (".", "out=archives"),
    "new": (".", "lesson=fusion"),
    "sync": (".", ""),
    "audit": (".", "what=tiny"),
    "bench": (".", "name=reference"),
    "test": (".", ""),
    "site build": (".", ""),
    "site serve": (".", ""),
}
GOOD = {
    name: (where, dict(word.split("=") for word in given.split()))
    for name, (where, given) in LINES.items()
}
OUTPUTS = {"out", "export", "html", "init folder", "nbgrader init folder"}  # paths to be written
# Anything may be said there.
FREE = {"run options", "trace code", "trace only", "nbgrader section section"}
# What ends well all the same, and why.
FINE = {
    **dict.fromkeys(
        [
            f"{command} {file} {kind}"
            for command in ("run", "trace")
            for file in ("file", "< work/program.py")
            for kind in ("empty", "cut", "deep", "digits")
        ],
        "a text, on which Python has its own word",
    ),
    "check < work/*.py *": "what is wrong with it is what `check` says",
    "hint < work/*.py *": "which lesson it is about is read from what was saved last",
    "give < work/toy/hello.py *": "it is kept as it is",
    "reset < work/toy/hello.py *": "the same",
    "way < work/toy/hello.py missing": "then there is nothing to be kept",
    "update < work/[!.]*": "what is the student's stays",
    "list < work/*.py *": "then nothing of it is done",
    "progress < work/*.py *": "the same",
    "* < work/.jaxprentice/*": "what is not known is found out again",
    "* < class/course.toml missing": "then each lesson is an assignment",
    "* < class/gradebook.db missing": "it is made, as nbgrader does",
    "* < class/gradebook.db empty": "the same",
    "* < class/roster.csv missing": "a class can be without one",
    "* < class/groups.csv missing": "the same",
    "nbgrader roster < class/roster.csv *": "the class list takes its place",
    "* < *.csv cut": "it is a table all the same",
    "* < class/groups.csv empty": "the same",
    "* < class/groups.csv digits": "the same",
    "collect < collected/collected.csv missing": "it is made",
    "return < results/students/ada.html *": "a page is packed as it is",
    "grade < results/*.json *": "what cannot be read is graded again",
    "grade < results/seed.txt missing": "the results know it, too",
    "grade < results/seed.txt cut": "it is a number all the same",
    "* empty name": "as if it was left out",
    "nbgrader group students unknown": "one alone is taken out of groups",
    "collect folder empty": "no course directory is needed",
    "return folder empty": "the same",
}


# ------------------------------------------------------------------------------------------
# A small course, and a class in it

METADATA = """\
submission_1:
  :submitters:
  - :name: Ada
    :sid: ada
  :created_at: 2026-03-01 10:00:00.123456000 Z
"""
COURSE = '[[assignment]]\nname = "tiny"\nlessons = ["tiny"]\nvariants = 2\nseed = "x"\n'
NAMES = ("double", "mean", "spread")
PAGE = "# Numbers\n\n{{ lesson }}\n\n" + "".join(f"{{{{ exercise tiny.{x} }}}}\n\n" for x in NAMES)
TEXTS = {
    "class.csv": "id,first name\nada,Ada\nbob,Bob\n",
    "submissions/ada/numbers.py": graded_course.MODULE,
    "download/submission_1/numbers.py": graded_course.MODULE,
    "download/submission_metadata.yml": METADATA,
    "class/course.toml": COURSE,
    "class/roster.csv": "id,first_name\nada,Ada\n",
    "class/groups.csv": "tiny,ada,bob\n",
    "results/students/ada.html": "Well done.",
    "results/students/.made-by-jaxprentice": "",
    "work/program.py": "a = 1\n",
}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """The folder with all that the commands of the table need."""
    patch = pytest.MonkeyPatch()
    root = tmp_path_factory.mktemp("bad")
    files = {
        **{
            f"course/lessons/04_tiny/{name}": text
            for name, text in (
                ("lesson.toml", graded_course.TOML),
                ("lesson.md", PAGE),
                ("checks.py", ""),
            )
        },
        **{name: text for name, text in graded_course.FILES.items() if "lessons" not in name},
        "course/lessons/01_hello/checks.py": HELLO_CHECKS,
        "course/lessons/03_bye/checks.py": BYE_CHECKS,
    }
    small_course.write(patch, root / "the-course", files)
    for name in ("SUITES", "ANSWERS"):
        patch.setattr(places, name, root / "the-course" / name.lower())
    sync.sync(False)
    folder = root / "world"
    for name, text in TEXTS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    fill(folder, patch)
    shutil.copytree(folder, root / "as made", symlinks=True)
    yield folder
    patch.undo()


def fill(folder, patch):
    """Add what the course makes itself: a workspace, a gradebook, results."""
    patch.chdir(folder)
    program = Path("work/program.py").read_bytes()
    shutil.rmtree("work")
    assert cli.main(["init", "work"]) == 0
    Path("work/program.py").write_bytes(program)
    directory._write_config(folder / "class", 1)
    with gradebook.opened(folder / "class") as book:
        book.add_assignment("tiny")
        book.add_student("ada")
    exercise = result_documents.exercise("tiny.double", True)
    result_files.write(result_documents.result("ada", exercise, lesson="tiny"), folder / "results")
    (folder / "results" / "seed.txt").write_text("5\n", encoding="utf-8")
    assert cli.main(line("collect")) == 0


def line(command, **changed):
    """The command line with its good arguments, some of them changed."""
    words = command.split()
    given = {**GOOD[command][1], **changed}
    for param in LEAVES[command].params:
        if param.name in given:
            named = isinstance(param, click.Option)
            words += [param.opts[-1], given[param.name]] if named else [given[param.name]]
    return words


def snapshot(folder):
    """What is in a folder, but for locks and the record of a workspace."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.name not in (".lock", "state.json"):  # what was checked is remembered
            large = path.is_file() and path.stat().st_size > 2**20
            found[path] = path.read_bytes() if path.is_file() and not large else path.is_symlink()
    return found


@contextlib.contextmanager
def bound_by_permissions():
    """Let permissions count for root, too, who may read and write everything."""
    if sys.platform != "linux" or os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    head = (ctypes.c_uint32 * 2)(0x20080522, 0)
    before, now = (ctypes.c_uint32 * 6)(), (ctypes.c_uint32 * 6)()
    assert libc.capget(head, before) == libc.capget(head, now) == 0
    now[0] &= ~0b110  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH
    assert libc.capset(head, now) == 0
    try:
        yield
    finally:
        assert libc.capset(head, before) == 0


# ------------------------------------------------------------------------------------------
# What can be wrong

DEEP = {".toml": b"a = " + b"[" * 100_000, ".csv": b"id\n" + b"x" * 200_000}
DIGITS = {".toml": b"a = " + b"9" * 5000, ".yml": b"a: " + b"9" * 5000}


def lock(path):
    path.chmod(0)


def put(content):
    def make(path):
        remove(path)
        path.write_bytes(content)

    return make


def remove(path):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def make_folder(path):
    remove(path)
    path.mkdir()


def make_loop(path):
    remove(path)
    path.symlink_to(path.name)


def make_huge(path):
    put(b"")(path)
    os.truncate(path, user_files.LIMIT + 1)


def bad_files(good):
    """What may lie in the place of a file whose content is `good`."""
    kind = good.suffix
    content = good.read_bytes() if good.is_file() else b"1"
    texts = {
        "cut": put(content[: len(content) // 2]),
        "deep": put(DEEP.get(kind, b"[" * 100_000)),
        "digits": put(DIGITS.get(kind, b"9" * 5000)),
        "huge": make_huge,
    }
    return {
        "missing": remove,
        "folder": make_folder,
        "empty": put(b""),
        "binary": put(bytes(range(255, 0, -1)) * 4),
        "locked": lock,
        "loop": make_loop,
        **({} if kind == ".db" else texts),
    }


BAD_FOLDERS = {
    "missing": remove,
    "file": put(b"x"),
    "empty": make_folder,
    "locked": lock,
    "loop": make_loop,
}
BAD_NUMBERS = {
    "empty": "",
    "word": "many",
    "negative": "-1",
    "digits": "9" * 5000,
    "nan": "nan",
    "endless": "inf",
}
BAD_NAMES = {
    "empty name": "",
    "outside": "../tiny",
    "long": "x" * 5000,
    "unknown": "no such",
    "odd": "a\x1b[2Jb",
    "bytes": "\udcff",
}


def kind_of(command, param):
    """What a parameter is: "number", "name", or a path to be written or read."""
    if isinstance(param.type, click.types.IntParamType | click.types.FloatParamType):
        return "number"
    if not isinstance(param.type, click.Path):
        return "free" if f"{command} {param.name}" in FREE else "name"
    if param.name in OUTPUTS or f"{command} {param.name}" in OUTPUTS:
        return "output"
    return "input"


def bad_arguments(command):
    """The cases of a command's arguments: name, bad value, and what makes a bad path."""
    for param in LEAVES[command].params:
        if getattr(param, "is_flag", False) or param.name == "help":
            continue
        kind = kind_of(command, param)
        file = "FILE" in (param.metavar or "")
        if kind in ("number", "name"):
            for name, value in (BAD_NUMBERS if kind == "number" else BAD_NAMES).items():
                yield f"{command} {param.name} {name}", {param.name: value}, None
        elif kind == "output":
            for name, value, make in bad_places(file):
                yield f"{command} {param.name} {name}", {param.name: value}, make
        elif kind == "input":
            good = Path(GOOD[command][1].get(param.name, "none"))
            for name, make in (bad_files(good) if file else BAD_FOLDERS).items():
                yield f"{command} {param.name} {name}", {param.name: f"bad{good.suffix}"}, make
            yield f"{command} {param.name} long", {param.name: "x" * 5000}, None


def bad_places(file):
    """Paths at which nothing can be written."""
    yield "below a file", "bad/x", put(b"x")
    yield "locked", "bad/x", lambda path: (make_folder(path), lock(path))
    yield "loop", "bad", make_loop
    yield "long", "x" * 5000, None
    yield ("folder", "bad", make_folder) if file else ("file", "bad", put(b"x"))


# ------------------------------------------------------------------------------------------
# The table


def test_every_command_has_a_line_that_works():
    assert GOOD.keys() == LEAVES.keys()


@pytest.fixture
def attempt(world, monkeypatch, capfd):
    """Run a line after something was made bad; what is wrong with how that ended."""

    def run(name, command, words, path=None, make=None):
        monkeypatch.chdir(world / GOOD[command][0])
        if make:
            if make is lock and not path.exists():
                put(b"x")(path)
            make(path)
        before = snapshot(world)
        capfd.readouterr()
        try:
            with bound_by_permissions():
                status = cli.main(words)
        except Exception as error:
            return restore(f"{name}: {type(error).__name__}: {error}"[:300])
        err = capfd.readouterr().err
        changed = snapshot(world) != before
        fine = any(fnmatchcase(name, pattern) for pattern in FINE)
        return restore(complaint(name, status, err, changed, fine))

    def restore(told):
        monkeypatch.chdir(world.parent)
        for path in world.rglob("*"):
            if not path.is_symlink() and path.stat().st_mode & 0o700 == 0:
                path.chmod(0o700)
        made = world.parent / "as made"
        if snapshot(world) != {world / x.relative_to(made): y for x, y in as_made.items()}:
            shutil.rmtree(world)
            shutil.copytree(made, world, symlinks=True)
        return [told] if told else []

    as_made = snapshot(world.parent / "as made")
    return run


def complaint(name, status, err, changed, fine):
    """What is wrong with the end of a command; nothing if it is one sentence."""
    if "Traceback" in err:
        return f"{name}: {err[-300:]}"
    if fine:
        return ""
    sentence = err.count("\n") == 1 and err.rstrip().endswith((".", "?")) and len(err) < 1000
    sentence &= "is larger than" in err or not name.endswith(" huge")
    if status == 0 or not sentence or changed:
        return f"{name}: status {status}, changed {changed}: {err[:400]!r}"
    return ""


@pytest.mark.parametrize("command", [name for name in GOOD if any(bad_arguments(name))])
def test_a_bad_argument_is_one_sentence(world, attempt, command):
    found = []
    for name, changed, make in bad_arguments(command):
        path = world / GOOD[command][0] / next(iter(changed.values())).partition("/")[0]
        found += attempt(name, command, line(command, **changed), path, make)
    assert not found, "\n".join(found)


# ------------------------------------------------------------------------------------------
# What commands open

# They open what is the course's own, or what the commands above open as well.
OWN = {
    *("init", "nbgrader init", "watch", "doctor", "demo", "cluster", "archives", "new", "sync"),
    *("audit", "bench", "test", "site build", "site serve"),
}
# What is read without following links, so that its name alone is seen.
ELSEWHERE = {"collect": {"download/submission_metadata.yml"}}
# `update` reads all files of a workspace, and treats them like these.
ALIKE, STATE = {"work/toy/hello.py", "work/README.md"}, "/.jaxprentice/"
opened: set[str] | None = None


def note(event, arguments):
    """Note what is opened to be read, while that is asked for."""
    if opened is not None and event in ("open", "sqlite3.connect"):
        path, _, flags = (*arguments, 0, 0)[:3]
        if isinstance(path, str) and not (flags or 0) & (os.O_WRONLY | os.O_RDWR):
            opened.add(os.path.abspath(path.removeprefix("file:")))  # noqa: PTH100


sys.addaudithook(note)


@pytest.fixture
def files_of(world, monkeypatch):
    """The files of the user's that a command opens when all is well."""

    def find(command):
        global opened
        monkeypatch.chdir(world / GOOD[command][0])
        opened = set()
        try:
            cli.main(line(command))
        finally:
            found, opened = opened, None
        made = world.parent / "as made"
        files = {os.path.relpath(path, world) for path in found}
        found = {x for x in files if x[:2] != ".." and (made / x).is_file()}
        found |= ELSEWHERE.get(command, set())
        return sorted(x for x in found if command != "update" or x in ALIKE or STATE in x)

    return find


@pytest.mark.parametrize("command", [name for name in GOOD if name not in OWN])
def test_a_bad_file_is_one_sentence(world, attempt, files_of, command):
    found = []
    for file in files_of(command):
        kinds = bad_files(world / file)
        if any(fnmatchcase(f"{command} < {file} *", pattern) for pattern in FINE):
            kinds = {kind: kinds[kind] for kind in ("folder", "binary", "locked", "loop")}
        for kind, make in kinds.items():
            name = f"{command} < {file} {kind}"
            found += attempt(name, command, line(command), world / file, make)
    assert not found, "\n".join(found)


# ------------------------------------------------------------------------------------------
# Where the command starts


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["grade", "submissions", "--course", "nowhere"], "Directory 'nowhere' does not exist."),
        (
            ["grade", "submissions", "--seed", "9" * 5000],
            "9... is too large; give at most 18 digits.",
        ),
        (["grade", "submissions", "--lesson", "../tiny"], "There is no lesson '../tiny'."),
        (["nbgrader", "section", "a", "b", "--course", "class.csv"], "is a file."),
    ],
)
def test_the_same_is_said_by_the_command_that_users_start(world, words, said):
    needed = [] if words[0] != "grade" else ["--lesson", "tiny", "--out", "new"]
    command = [sys.executable, "-P", "-m", "autograder", *words[:2], *needed, *words[2:]]
    environment = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[2])}
    run = subprocess.run(
        command, cwd=world, env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode in (1, 2)
    assert run.stderr.count("\n") == 1
    assert said in run.stderr
    assert not (world / "new").exists()
