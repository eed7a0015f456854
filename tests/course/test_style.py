"""The repository keeps its own rules: style, types, docstrings that run, nothing of one machine."""

import doctest
import importlib
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from autograder.lessons import places

TOOLS = {
    "lint": ["ruff", "check", "."],
    "format": ["ruff", "format", "--check", "."],
    "types": ["mypy"],
    "spelling": ["codespell"],
    "imports": ["lint-imports", "--no-cache", "--no-logo"],
}
TURNED_ROUND = {
    "worker.wire": "lessons.places",
    "lessons.places": "worker.wire",
    "worker.confine": "recording.values",
    "recording.steps": "lessons.problem",
    "sandbox.cgroup": "grading.results",
    "grading.results": "student.explain",
    "student.doctor": "classroom.report",
    "classroom.report": "upkeep.demo",
    "upkeep.demo": "cli.command",
    "cli.command": "cli.students",
    "cli.students": "cli.instructors",
    "grading.suite": "hidden",
    "grading.answers": "hidden.answers.jvp",
    "lessons.page": "hidden.suites.jvp",
}
MODULES = sorted(
    ".".join(path.relative_to(places.SOLUTIONS).with_suffix("").parts)
    for path in places.SOLUTIONS.rglob("*.py")
    if path.name != "__init__.py"
)


@pytest.mark.parametrize("command", TOOLS.values(), ids=TOOLS)
def test_the_code_passes(command):
    run = run_tool(command, places.ROOT)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.fixture
def copy(tmp_path):
    shutil.copy(places.ROOT / "pyproject.toml", tmp_path)
    skip = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(places.PACKAGE, tmp_path / "autograder", ignore=skip))


def test_every_import_that_is_turned_round_is_found(copy):
    for module, imported in TURNED_ROUND.items():
        with (copy / f"{module.replace('.', '/')}.py").open("a", encoding="utf-8") as file:
            file.write(f"\n\ndef later():\n    import autograder.{imported}\n")
    run = run_tool(TOOLS["imports"], copy.parent)
    wanted = [f"autograder.{a} -> autograder.{b} " for a, b in TURNED_ROUND.items()]
    assert [line for line in wanted if line not in run.stdout] == [], run.stdout
    assert run.returncode == 1


def test_a_room_without_a_place_in_the_order_is_found(copy):
    (copy / "attic").mkdir()
    (copy / "attic" / "__init__.py").touch()
    run = run_tool(TOOLS["imports"], copy.parent)
    assert run.returncode == 1
    assert "attic" in run.stdout


def run_tool(command, folder):
    tool = Path(sys.executable).with_name(command[0])
    return subprocess.run([tool, *command[1:]], cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_the_reference_are_true(name):
    importlib.import_module(name)
    assert doctest.testmod(sys.modules[name]).failed == 0


def tracked_files():
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=places.ROOT, capture_output=True, text=True
    )
    if listed.returncode:
        pytest.fail("This test reads the list of files from git. Run it in a git checkout.")
    return [places.ROOT / name for name in listed.stdout.split("\0") if name]


def test_no_file_names_a_folder_of_one_machine():
    here = re.compile(re.escape(str(Path.home()) + "/") + "|" + re.escape(f"{places.ROOT}/"))
    found = [path for path in tracked_files() if path.is_file() and here.search(text_of(path))]
    assert found == []


def test_no_file_holds_the_marks_of_a_merge():
    marks = re.compile(r"^(<{7} |>{7} )", re.MULTILINE)
    found = [path for path in tracked_files() if path.is_file() and marks.search(text_of(path))]
    assert found == []


def text_of(path):
    return path.read_bytes().decode("utf-8", "replace")


def test_the_changelog_begins_with_this_version():
    text = (places.ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## \[(.+?)\] - (.+)$", text, re.MULTILINE)
    assert newest[1] == places.VERSION.removesuffix(".dev0")
    assert (newest[2] == "in progress") == places.VERSION.endswith(".dev0")


def test_the_map_names_every_folder():
    text = (places.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w./]+)/`", text.partition("## To change")[0]))
    tracked = {path.relative_to(places.ROOT).parts for path in tracked_files()}
    folders = {parts[0] for parts in tracked if len(parts) > 1 and parts[0][0] != "."}
    folders |= {f"course/{parts[1]}" for parts in tracked if parts[0] == "course" and parts[2:]}
    assert folders - {name.partition("/NN")[0] for name in named} == {"course"}
    rooms = {parts[1] for parts in tracked if parts[0] == "autograder" and len(parts) > 2}
    in_order = re.search(r"in rooms: (.+?);", text)[1]
    assert rooms == {"hidden", *re.findall(r"`(\w+)`", in_order)}


def test_hosted_ci_runs_what_ci_runs_anywhere_on_the_oldest_python():
    flow = yaml.safe_load((places.ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    steps = flow["jobs"]["test"]["steps"]
    project = tomllib.loads((places.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (python,) = [step["with"]["python-version"] for step in steps if "with" in step]
    assert project["project"]["requires-python"] == f">={python}"
    assert steps[-1] == {"run": ".ci/run"}
    assert "secrets." not in str(flow)


def test_workflows_take_actions_by_their_commit():
    """A tag can be moved to another program; ORGANIZATION is the instructor's own."""
    flows = [path for path in tracked_files() if path.suffix == ".yml" and "jobs:" in text_of(path)]
    used = [x for path in flows for x in re.findall(r"uses: (.*)", text_of(path))]
    taken = [x for x in used if not x.startswith("ORGANIZATION/")]
    pinned = r"[\w-]+/[\w-]+@[0-9a-f]{40} # v[\d.]+"
    assert len(taken) >= 8
    assert [x for x in taken if not re.fullmatch(pinned, x)] == []
