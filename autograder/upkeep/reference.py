"""Do the reference's own tests notice a slip in it?

As the hidden suites are tried with mutants of exercises, the tests in `tests/reference` are tried
with mutants of modules of `solutions/`, each in a copy of the repository. Only tests that call the
mutated function run, the quickest first, until one fails. Which test calls what is found out once
for each file of tests, and kept in `build/mutants`; delete that after large changes of the
reference. A mutant that does the same as the reference is listed with the reason, in
`tests/reference/equivalent.toml` or beside the lesson's suite, and not tried.
"""

import contextlib
import hashlib
import importlib.util
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from autograder.lessons import manifest, places, skeleton
from autograder.upkeep import mutants, touched
from autograder.upkeep.mutants import Mutant

TESTS = "tests/reference"
SAMPLE = 6  # mutants of a module, by lot, when there is little time
SEED = "JAXPRENTICE_SEED"  # draws the same lot again, from the same modules

# By test its seconds and functions, and by file of tests those of the import.
Touching = Mapping[str, tuple[float, list[str]]]


def modules(name: str) -> list[str]:
    """The modules of a file or folder below `solutions/`; none if there is nothing of this name."""
    files = sorted(places.SOLUTIONS.rglob("*.py"))
    found = [file.relative_to(places.SOLUTIONS).as_posix() for file in files]
    return [file for file in found if f"{file}/".startswith(f"{name.rstrip('/')}/")]


def run(chosen: Sequence[str], quick: bool) -> int:
    """Try mutants of these modules, or a few of each; print a line for each, and the survivors."""
    width = max(map(len, chosen))
    survivors: list[Mutant] = []
    seed = os.environ.get(SEED, str(random.randrange(10**6)))
    with copied() as copy:
        touching = ask_tests(copy)
        if quick:
            print(f"{SEED}={seed} draws these mutants again.")
        print(f"{'module':<{width}}  mutants  killed", flush=True)
        for module in chosen:
            made = make_mutants(module)
            lot = draw(made, f"{seed} {module}") if quick else made
            left = [x for x in lot if not is_killed(copy, module, x, touching)]
            tried = f"{len(lot)} of {len(made)}"
            print(f"{module:<{width}}  {tried:<7}  {len(lot) - len(left)}", flush=True)
            survivors += left
    for mutant in survivors:
        print(f"- {mutant.id} passes all tests that call it.\n{mutant.diff}")
    return int(bool(survivors))


def make_mutants(module: str) -> list[Mutant]:
    """All mutants of a module but the argued ones, by function; each keeps its docstring."""
    source = (places.SOLUTIONS / module).read_text(encoding="utf-8")
    without = argued()
    return [
        mutant
        for target in skeleton.functions(source)
        for mutant in mutants.mutants_of(source, target, f"{module}:{target}")
        if mutant.id not in without
    ]


def draw(made: Sequence[Mutant], seed: str) -> list[Mutant]:
    """A few of these mutants, by lot."""
    return random.Random(seed).sample(made, min(SAMPLE, len(made)))


def argued() -> set[str]:
    """The mutants that do as the reference does, by id: the list's own, and those of the suites."""
    found = {*mutants.read_argued(places.ROOT / TESTS / "equivalent.toml")}
    for lesson in manifest.load().values():
        targets = {exercise.id: exercise.target for exercise in lesson.exercises}
        ids = (mutant.split("/") for mutant in mutants.read_equivalent(lesson))
        found |= {f"{lesson.module}:{targets[exercise]}/{slip}" for exercise, slip in ids}
    return found


def is_killed(copy: Path, module: str, mutant: Mutant, touching: Touching) -> bool:
    """Run the tests that call the mutated function in the copy, with the mutant in it."""
    chosen = calling(mutant.exercise, touching)
    if not chosen:
        return False
    path = copy / "solutions" / module
    original = path.read_text(encoding="utf-8")
    _replace(path, mutant.source)
    try:
        return _fails(copy, chosen)
    finally:
        _replace(path, original)


def _replace(path: Path, source: str) -> None:
    """Write a module without its bytecode, which Python may take for that of the new text."""
    path.write_text(source, encoding="utf-8")
    Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)


def calling(function: str, touching: Touching) -> dict[str, float]:
    """The seconds of each test that calls a function, or whose file does when it is imported.

    If there is none, it may be called in processes that tests start: then the tests of the file
    that is named after the module.
    """
    own = [name for name, (_, called) in touching.items() if function in called]
    own = own or [f"{TESTS}/test_{Path(function.partition(':')[0]).stem}.py"]
    if not any("::" in name for name in own):
        own = [test for test in touching if test.partition("::")[0] in own]
    return {test: touching[test][0] for test in own if "::" in test}


def _fails(copy: Path, seconds: Mapping[str, float]) -> bool:
    """Does one of these tests fail, or not end?"""
    list_of_them = copy / "chosen.json"
    list_of_them.write_text(json.dumps(seconds), encoding="utf-8")
    files = sorted({test.partition("::")[0] for test in seconds})
    environment = {touched.CHOSEN: str(list_of_them)}
    return _pytest(copy, environment, 60 + 5 * sum(seconds.values()), "-x", *files) != 0


def _pytest(copy: Path, own: Mapping[str, str], limit: float | None, *args: str) -> int:
    """The exit status of pytest in the copy; -1 if it does not end in time."""
    path = os.pathsep.join(map(str, (copy, copy / "solutions", places.PACKAGE.parent)))
    environment = {**os.environ, "PYTHONPATH": path, **own}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # it starts in half of the time with it
    command = [sys.executable, "-m", "pytest", f"--rootdir={copy}", "-p", touched.__name__, *args]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(
        command, cwd=copy, env=environment, stdout=quiet, stderr=quiet, start_new_session=True
    )
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        return -1
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextlib.contextmanager
def copied() -> Iterator[Path]:
    """A copy of the repository to make slips in."""
    left = shutil.ignore_patterns(
        ".git", ".venv*", "build", "node_modules", "__pycache__", ".*cache"
    )
    with tempfile.TemporaryDirectory(prefix="jaxprentice-") as folder:
        yield Path(shutil.copytree(places.ROOT, Path(folder, "copy"), ignore=left, symlinks=True))


def ask_tests(copy: Path) -> Touching:
    """Which functions each test calls; a file of tests that was asked before is not asked again."""
    folder = places.ROOT / "build" / "mutants"
    folder.mkdir(parents=True, exist_ok=True)
    known: dict[str, tuple[float, list[str]]] = {}
    for file in sorted((copy / TESTS).glob("test_*.py")):
        text = hashlib.sha256(file.read_bytes()).hexdigest()[:12]
        path = folder / f"{file.stem}-{text}.json"
        if not path.exists():
            print(f"Asking {TESTS}/{file.name} once what its tests call", flush=True)
            own = {touched.NOTE: str(path), touched.SOLUTIONS: str(copy / "solutions")}
            _pytest(copy, own, None, f"{TESTS}/{file.name}")
        known |= json.loads(path.read_text(encoding="utf-8"))
    return known
