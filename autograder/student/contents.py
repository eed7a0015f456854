"""What is in a new workspace: the files by path, and `init`, which writes them.

A handout has some of them too.
"""

import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from autograder.lessons import (
    assemble,
    manifest,
    notebook,
    nothing,
    places,
    tasks,
    terms,
    user_files,
)
from autograder.lessons.manifest import CONTRACT, Lesson
from autograder.lessons.problem import Problem
from autograder.student import checks, workspace
from autograder.student.workspace import Workspace

Files = dict[str, str | bytes]

PAGES = ("glossary.md", "path.md", "gallery.md")
GLOSSARY = "../../glossary.md"  # where lessons find it, in the course and in a workspace

README = """\
# My own JAX

Read `lessons/{first}/lesson.md`, or open the notebook next to it in Jupyter, which has the same
text with code to run. Write the functions that it asks for, and check whether they are right:

    ./jaxprentice list             all lessons, and how far you are
    ./jaxprentice check            check the file that you saved last
    ./jaxprentice watch            the same, each time you save a file; it tells you its keys
    ./jaxprentice hint             a hint for the next exercise, then a better one
    ./jaxprentice trace FILE       see what a program does inside your own interpreters
    ./jaxprentice run FILE         run a program on your own JAX (--on jax: and compare with JAX)
    ./jaxprentice reset LESSON     begin a lesson again (your file is kept)
    ./jaxprentice way LESSON WAY   more or less help with a lesson: guided, contract, blank
    ./jaxprentice update           get corrected pages and new lessons (your work stays)

Each command says more with `--help`. In `tasks/` are the open tasks and the programs to repair, in
`nothing/` what you write from an empty page: `./jaxprentice check nothing`.
In Jupyter, `%load_ext jaxprentice` gives `%check`, `%hint` and `%trace`. Only `--on jax` needs JAX,
which you install yourself; the command says how.

`path.md` shows shorter ways through the lessons, `glossary.md` explains their words, and
`gallery.md` has programs that run on your JAX when it is done: `capstones/gallery/`. At the end,
`./jaxprentice check capstone` trains three models on it, and makes a page to send to a friend.

On Windows, write `python jaxprentice ...`.
"""


def init(folder: Path, way: str = CONTRACT) -> Workspace:
    """Write a workspace at `folder`, new or empty: whole, or not at all."""
    workspace.check_way(way)
    folder = folder.absolute()
    if user_files.is_there(folder) and (not folder.is_dir() or any(folder.iterdir())):
        raise Problem(f"{folder} exists and is not empty. Give a new folder for your work.")
    print("Writing the lessons and their notebooks ...", flush=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        assemble.write_files(new, files(way))
        workspace.add_launcher(new, str(places.ROOT), way=way)
        new.chmod(0o755)
        if folder.exists():
            folder.rmdir()
        new.rename(folder)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    return Workspace(folder, own=True)


def files(way: str, chosen: Callable[[Lesson], str] | None = None) -> Files:
    """All files of a workspace but its record; `chosen` says which lessons go another way."""
    readable = [lesson for lesson in manifest.load().values() if lesson.has_page]
    if not readable:
        raise Problem("This copy holds no lessons. Get a complete copy of the course.")
    taught = [lesson for lesson in readable if lesson.exercises]
    found: Files = {**assemble.handout({lesson.package for lesson in readable})}
    for lesson in taught:
        its_way = chosen(lesson) if chosen else way
        found[lesson.module] = workspace.skeleton(lesson, its_way)
        if workspace.page_of(lesson, its_way):
            del found[lesson.module]
    found["README.md"] = README.format(first=readable[0].folder.name)
    found["jaxprentice"] = workspace.LAUNCHER
    for part in (blank_pages(), gallery(), settings(), *(page(x, readable) for x in PAGES)):
        found |= part
    for lesson in readable:
        found |= {**task_files(lesson), **reading(lesson), **workspace.scripts(lesson)}
    books = notebook.texts(taught, notebook.WORKSPACE)
    for lesson, book in zip(taught, books, strict=True):
        found[f"lessons/{lesson.folder.name}/{lesson.id}.ipynb"] = book
    return found


def copies(files: Iterable[Path], folder: str) -> Files:
    """Files that are in a folder as they are."""
    return {f"{folder}{file.name}": file.read_bytes() for file in files}


def task_files(lesson: Lesson) -> Files:
    """The files of a lesson's tasks, which students change."""
    if not tasks.exist(lesson):
        return {}
    return {f"tasks/{x.name}": x.text for x in (tasks.open_task(lesson), tasks.repair(lesson))}


def blank_pages() -> Files:
    """The empty pages of what is written from nothing, with what to read and the checks."""
    found: Files = {}
    for task in nothing.all_tasks().values():
        text = task.page_file.read_text(encoding="utf-8")
        found |= {task.file: task.begin, f"{nothing.FOLDER}/{task.id}.md": notebook.plain(text)}
        found |= copies([task.checks_file], f"{nothing.FOLDER}/")
    return found


def page(name: str, lessons: Sequence[Lesson] = ()) -> Files:
    """A page of the course in plain Markdown; it links to itself and to some lessons."""
    file = places.COURSE / name
    if not file.exists():
        return {}
    links = ["", *(f"lessons/{lesson.folder.name}/lesson.md" for lesson in lessons)]
    return {name: notebook.plain(terms.anchored(file.read_text(encoding="utf-8")), pages=links)}


def gallery() -> Files:
    """The programs of the gallery, to run, and the map that the page about routes shows."""
    chart = places.COURSE / "map.svg"
    programs = (places.COURSE / "capstones/gallery").glob("*.py")
    return {**copies(programs, "capstones/gallery/"), **copies([chart] * chart.exists(), "")}


def reading(lesson: Lesson) -> Files:
    """A lesson to read: its page in plain Markdown with its pictures, and its checks."""
    folder = f"lessons/{lesson.folder.name}/"
    text = notebook.reading(lesson, pages=[GLOSSARY])
    beside = [x for kind in ("svg", "png") for x in lesson.folder.glob(f"*.{kind}")]
    beside += [lesson.folder / "checks.py"] if lesson.exercises else []
    beside += [lesson.folder / "tasks.py"] if tasks.exist(lesson) else []
    return {f"{folder}lesson.md": text, **copies(beside, folder)}


# ------------------------------------------------------------------------------------------
# What editors and notebooks find

# Each lesson has a file of this name: with pytest's usual way to import, all would be one module.
PYTEST = """\
[pytest]
addopts = --import-mode=importlib --continue-on-collection-errors
python_files = checks.py tasks.py
pythonpath = . tasks lessons
testpaths = lessons
"""
VSCODE = {
    "python.analysis.extraPaths": [".", "tasks"],
    "python.autoComplete.extraPaths": [".", "tasks"],
    "python.defaultInterpreterPath": sys.executable,
    "python.testing.pytestEnabled": True,
    "python.testing.unittestEnabled": False,
    "python.testing.autoTestDiscoverOnSaveEnabled": True,
}
PYCHARM_MODULES = """\
<?xml version="1.0" encoding="UTF-8"?>
<project version="4">
  <component name="ProjectModuleManager">
    <modules>
      <module fileurl="file://$PROJECT_DIR$/.idea/jax.iml" filepath="$PROJECT_DIR$/.idea/jax.iml" />
    </modules>
  </component>
</project>
"""
PYCHARM_MODULE = """\
<?xml version="1.0" encoding="UTF-8"?>
<module type="PYTHON_MODULE" version="4">
  <component name="NewModuleRootManager">
    <content url="file://$MODULE_DIR$">
      <sourceFolder url="file://$MODULE_DIR$" isTestSource="false" />
      <sourceFolder url="file://$MODULE_DIR$/tasks" isTestSource="false" />
    </content>
    <orderEntry type="inheritedJdk" />
    <orderEntry type="sourceFolder" forTests="false" />
  </component>
  <component name="TestRunnerService">
    <option name="PROJECT_TEST_RUNNER" value="py.test" />
  </component>
</module>
"""


def settings() -> Files:
    """By these VS Code and PyCharm resolve `minijax` to the workspace, and find the checks."""
    return {
        **extension(),
        **copies(checks.HELPERS, "lessons/"),
        ".vscode/settings.json": json.dumps(VSCODE, indent=4) + "\n",
        ".idea/modules.xml": PYCHARM_MODULES,
        ".idea/jax.iml": PYCHARM_MODULE,
        "pytest.ini": PYTEST,
        "conftest.py": checks.PLUGIN.read_bytes(),
    }


def extension() -> Files:
    """What `%load_ext jaxprentice` loads."""
    return {"jaxprentice.py": Path(__file__).with_name("notebook_extension.py").read_bytes()}
