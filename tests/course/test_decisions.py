"""The decisions in docs/decisions are complete, listed, and about code that is there."""

import re
import subprocess

import pytest

from autograder.lessons import places

FOLDER = places.ROOT / "docs" / "decisions"
DECISIONS = sorted(FOLDER.glob("[0-9]*.md"))
PARTS = ["The question", "The decision", "Why", "What would change it"]
IDS = [path.stem for path in DECISIONS]


@pytest.fixture(scope="module")
def tracked():
    """The paths of all files but the documents'."""
    listed = subprocess.run(["git", "ls-files"], cwd=places.ROOT, capture_output=True, text=True)
    return [line for line in listed.stdout.splitlines() if not line.startswith("docs/")]


@pytest.mark.every
@pytest.mark.parametrize("path", DECISIONS, ids=IDS)
def test_a_decision_has_its_number_a_title_and_four_parts(path):
    text = path.read_text(encoding="utf-8")
    assert re.match(rf"# {int(path.name[:4])}\. \w", text)
    assert re.findall(r"^\*\*(.+?)\.\*\* \S", text, re.MULTILINE) == PARTS
    assert len(text.splitlines()) <= 25


def test_the_index_lists_every_decision_once():
    titles = {path.name: path.read_text().split("\n")[0].partition(". ")[2] for path in DECISIONS}
    wanted = [f"- [{name[:4]}]({name}) {title}" for name, title in titles.items()]
    index = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert [line for line in index.splitlines() if line.startswith("- ")] == wanted
    assert len({name[:4] for name in titles}) == len(titles)


@pytest.mark.every
@pytest.mark.parametrize("path", DECISIONS, ids=IDS)
def test_the_files_that_a_decision_names_are_there(path, tracked):
    named = re.findall(r"`([\w/]+\.(?:py|toml|txt)|\w+(?:/\w+)*/)`", path.read_text())
    assert [n for n in named if not any(f"/{n}" in f"/{file}" for file in tracked)] == []


@pytest.mark.every
@pytest.mark.parametrize("path", DECISIONS, ids=IDS)
def test_the_definitions_that_a_decision_names_are_there(path, tracked):
    for module, name in re.findall(r"`(\w+)\.(\w+)`", path.read_text(encoding="utf-8")):
        files = [places.ROOT / file for file in tracked if file.endswith(f"/{module}.py")]
        holds = [re.search(rf"\b{name}\b", file.read_text(encoding="utf-8")) for file in files]
        assert name == "py" or not files or any(holds), f"{module}.{name}"
