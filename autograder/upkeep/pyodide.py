"""What "Try it here" and "Change this" on pages are made of: Python for the browser, the checks.

What is another's comes from npm (`site/runner/`) and is kept in `build/runner`, which git ignores.
The checks are those of the command. Pages of the course's first part get it: these lessons need
nothing but Python.
"""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from importlib import metadata
from pathlib import Path, PurePath

from autograder.lessons import assemble, manifest, packing, page, places, skeleton
from autograder.lessons.manifest import Lesson
from autograder.upkeep import routes

PATIENCE = 300  # seconds for npm
PYODIDE = (
    "pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "pyodide-lock.json", "python_stdlib.zip",
)  # fmt: skip
AS_THEY_ARE = ("try.js", "change.js", "worker.js", "runner.css")
LEFT_OUT = '"Try it here" is left out of the pages'


def lessons() -> list[Lesson]:
    """The lessons that can be done on their pages."""
    return next(iter(routes.parts(list(manifest.load().values())).values()))


def invitation() -> str:
    """What the first page says of it, if the pages have it."""
    if not _is_there():
        return ""
    count = len(lessons())
    return f"**Nothing to install at first**: lessons 1 to {count} run here, in your browser."


# ------------------------------------------------------------------------------------------
# From npm


def prepare() -> None:
    """Fetch and bundle what comes from npm, unless it is there; without it, say what is missing."""
    if not lessons() or _folder().exists():
        return
    npm = shutil.which("npm")
    if not npm:
        print(f"{LEFT_OUT}: they need npm. {_REMEDY}")
        return
    try:
        _make(npm)
    except subprocess.TimeoutExpired:
        print(f"{LEFT_OUT}: npm took more than {PATIENCE} seconds. {_REMEDY}")
    except subprocess.CalledProcessError as error:
        print(f"{LEFT_OUT}: {_last_line(error.stderr)}. {_REMEDY}")


_REMEDY = "All else is there; with npm and a network, `./jaxprentice site build` adds it."


def _folder() -> Path:
    """Where the finished files are, by what they are made of."""
    made_of = b"".join(file.read_bytes() for file in sorted(_source().iterdir()))
    return places.ROOT / "build" / "runner" / sha256(made_of).hexdigest()[:16]


def _is_there() -> bool:
    """Whether pages get it. From files, without a server, browsers start no worker."""
    offline = os.environ.get("SITE_OFFLINE") == "true"  # what `site build --offline` sets
    return bool(lessons()) and not offline and _folder().exists()


def _source() -> Path:
    return places.ROOT / "site" / "runner"


def _make(npm: str) -> None:
    """Install in a folder of its own; the finished files get their name at the very end."""
    done = _folder()
    done.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="new-", dir=done.parent) as name:
        work, out = Path(name), Path(name, "out")
        shutil.copytree(_source(), work, dirs_exist_ok=True)
        _run(work, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
        options = ("--bundle", "--minify", "--format=esm", "--target=es2022", "--outdir=out")
        _run(work, str(work / "node_modules" / ".bin" / "esbuild"), "runner.js", *options)
        (out / "pyodide").mkdir()
        for file in PYODIDE:
            shutil.copy(work / "node_modules" / "pyodide" / file, out / "pyodide" / file)
        for file in AS_THEY_ARE:
            shutil.copy(work / file, out / file)
        if not done.exists():  # two builds at once make the same
            out.replace(done)


def _run(folder: Path, *command: str) -> None:
    subprocess.run(
        command, cwd=folder, check=True, capture_output=True, text=True, timeout=PATIENCE,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


def _last_line(text: str) -> str:
    told = [line.strip() for line in text.splitlines() if "A complete log" not in line]
    return next((line for line in reversed(told) if line.strip("- ")), "npm failed").rstrip(".")


# ------------------------------------------------------------------------------------------
# What is published


def assets() -> dict[str, bytes]:
    """All files by their path below `assets/runner/`; none if npm's part is missing."""
    if not _is_there():
        return {}
    folder = _folder()
    found = {x.relative_to(folder).as_posix(): x for x in folder.rglob("*") if x.is_file()}
    files = {path: file.read_bytes() for path, file in found.items()}
    files["checks.zip"] = packing.packed(_tool())
    files |= _hero()
    for lesson in lessons():
        files[f"{lesson.id}.zip"] = packing.packed(_course(lesson))
        files[f"{lesson.id}.json"] = json.dumps(work(lesson)).encode()
    return files


def _hero() -> dict[str, bytes]:
    """What the first screen and changed examples run: microjax in one file."""
    ours = [places.ROOT / f"site/hero/{name}.py" for name in ("hero", "change")]
    parts = [*ours, places.SOLUTIONS / "nothing/microjax.py"]
    if not all(file.exists() for file in parts):
        return {}
    worker = (places.ROOT / "site/hero/worker.js").read_bytes()
    packed = packing.packed((file.name, file.read_bytes()) for file in parts)
    return {"hero.zip": packed, "hero-worker.js": worker}


def add_to(markdown: str, lesson: Lesson) -> str:
    """The Markdown of a lesson's page with a place for the button under each exercise.

    It is unchanged if the lesson cannot be done on its page, or npm's part is missing.
    """
    if lesson not in lessons() or not _is_there():
        return markdown
    for exercise in lesson.exercises:
        command = page.command(exercise.id)
        data = f'data-lesson="{lesson.id}" data-exercise="{exercise.id}"'
        place = f'<div class="try-exercise" {data}></div>'
        markdown = markdown.replace(command, f"{command}\n{place}\n", 1)
    check = f"**Check your work**: `./jaxprentice check {lesson.id}`"
    markdown = markdown.replace(check, f"{check}, or on this page, below each exercise")
    return f'{markdown}\n\n<script type="module" src="../../assets/runner/try.js"></script>\n'


def work(lesson: Lesson) -> dict[str, object]:
    """A lesson's module in pieces, of which the exercises can be edited."""
    by_target = {exercise.target: exercise for exercise in lesson.exercises}
    pieces = [
        {"text": text, "exercise": by_target[target].id if target else ""}
        for target, text in skeleton.pieces(assemble.read_handout(lesson.module), [*by_target])
    ]
    titles = {exercise.id: exercise.title for exercise in lesson.exercises}
    names = {exercise.id: exercise.target for exercise in lesson.exercises}
    return {"module": lesson.module, "pieces": pieces, "titles": titles, "names": names}


# ------------------------------------------------------------------------------------------
# What the checks need in the browser

PACKAGES = ("pytest", "iniconfig", "pluggy", "packaging", "pygments")
# pytest colours with Pygments, whose hundreds of other lexers weigh more than all else together.
LEXERS = ("__init__.py", "_mapping.py", "diff.py", "python.py")
TOOL = (
    "__init__", "lessons/__init__", "lessons/assemble", "lessons/manifest", "lessons/module_rules",
    "lessons/places", "lessons/problem", "lessons/skeleton", "lessons/user_files",
    "grading/__init__", "grading/words",
    "grading/random_programs", "grading/random_steps", "grading/random_trees",
    "student/__init__", "student/cache", "student/check_plugin", "student/checks",
    "student/example_checks", "student/explain", "student/in_browser", "student/checking",
)  # fmt: skip


def _tool() -> Iterator[tuple[str, bytes]]:
    """The command's checks and explanations, and pytest as it is installed here."""
    for name in TOOL:
        yield f"autograder/{name}.py", (places.PACKAGE / f"{name}.py").read_bytes()
    for package in PACKAGES:
        for file in metadata.files(package) or []:
            if _is_wanted(file):
                yield file.as_posix(), Path(str(file.locate())).read_bytes()


def _is_wanted(file: PurePath) -> bool:
    """Is this a module, or what says which version a package has?"""
    if file.parts[:2] == ("pygments", "styles"):
        return file.name in ("__init__.py", "_mapping.py")
    if file.parts[:2] == ("pygments", "lexers"):
        return file.name in LEXERS
    return file.suffix == ".py" or file.name in ("METADATA", "entry_points.txt")


def _course(lesson: Lesson) -> Iterator[tuple[str, bytes]]:
    """What a handout of this lesson holds: solutions of the lessons before it, not its own."""
    for part in manifest.needed(lesson):
        for name in ("lesson.toml", "checks.py"):
            yield f"course/lessons/{part.folder.name}/{name}", (part.folder / name).read_bytes()
        for file in part.files:
            if file != lesson.module:
                yield f"solutions/{file}", assemble.read_solution(file).encode()
    yield f"course/{lesson.module}", assemble.read_handout(lesson.module).encode()
