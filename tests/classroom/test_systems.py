"""The registry of systems: the command, the guide and the tests take their lists from it."""

import sys

import pytest
import result_documents

from autograder import cli
from autograder.classroom import systems
from autograder.upkeep import sync

NEW = """
from autograder.classroom.systems.system import Collects, Exports, System

SYSTEM = System(
    "slate",
    Collects(lambda download, name: lambda entry: [], "ada/core.py", "a folder", "no note"),
    Exports(lambda *about: [("slate.txt", b"chalk")], "a", "b"),
)
"""


@pytest.fixture
def slate(tmp_path, monkeypatch):
    """A new system, which is one file."""
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "slate.py").write_text(NEW, encoding="utf-8")
    monkeypatch.setattr(systems, "__path__", [*systems.__path__, str(tmp_path / "more")])
    systems.load.cache_clear()
    yield
    systems.load.cache_clear()
    del sys.modules[f"{systems.__name__}.slate"]


def test_a_new_system_is_one_file(slate, tmp_path, capsys):
    folder = result_documents.write(tmp_path / "results")
    assert cli.main(["export", str(folder), "--format", "slate"]) == 0
    assert (folder / "exports" / "slate" / "slate.txt").read_text() == "chalk"
    for command in ("collect", "export"):
        assert cli.main([command, "--help"]) == 0
    assert capsys.readouterr().out.count(" or slate.") == 2
    pages = [sync.generated()[f"course/instructor/{page}.md"] for page in ("index", "term")]
    assert "| `slate` | a | b |" in pages[0]
    assert "| `slate` | a folder | `ada/core.py` | no note |" in pages[1]
