"""The archives of a release, unpacked in an empty folder without git, do what they promise."""

import os
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from command_lines import EXAMPLES

from autograder import cli
from autograder.lessons import places
from autograder.lessons.problem import Problem
from autograder.upkeep import archives


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """By name, the archives, unpacked."""
    folder = tmp_path_factory.mktemp("archives")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert cli.main(shlex.split(EXAMPLES["archives"])) == 0
    unpacked = {}
    for archive in folder.rglob("*.zip"):
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(folder)
        who = archive.stem.rpartition("-")[2]
        unpacked[who] = folder / archive.stem
    return unpacked


def run(where, *arguments, tools, **environment):
    """What the command in a folder prints, where nothing but Python and these tools are found."""
    tools.mkdir(exist_ok=True)
    for name in ("uv", "bwrap", "sh"):
        if (found := shutil.which(name)) and not (tools / name).exists():
            (tools / name).symlink_to(found)
    path = os.pathsep.join([str(tools), str(Path(sys.executable).resolve().parent)])
    done = subprocess.run(
        [sys.executable, str(where / "jaxprentice"), *arguments],
        cwd=where, env={**os.environ, "PATH": path, **environment},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_students_go_from_init_to_the_first_complete_lesson(made, tmp_path):
    run(made["students"], "init", str(tmp_path / "mine"), tools=tmp_path / "tools")
    own = tmp_path / "mine/microjax/interpreters.py"
    own.write_bytes((places.SOLUTIONS / "microjax/interpreters.py").read_bytes())
    said = run(tmp_path / "mine", "check", "interpreters", tools=tmp_path / "tools")
    assert "The lesson interpreters is complete." in said


@pytest.mark.slow
def test_instructors_go_from_demo_to_its_table(made, tmp_path):
    """With one lesson, and this `.venv`, to save time: the wrapper's own tests make one anew."""
    demo = made["instructors"] / "autograder/upkeep/demo.py"
    text = demo.read_text(encoding="utf-8")
    lessons = 'LESSONS = ("core", "jvp", "grad")'
    assert lessons in text
    demo.write_text(text.replace(lessons, 'LESSONS = ("duals",)'), encoding="utf-8")
    own = {"JAXPRENTICE_VENV": sys.prefix}
    said = run(made["instructors"], "demo", tools=tmp_path / "tools", **own)
    assert "All 8 submissions got what they deserve." in said


def test_students_get_nothing_that_grades(made):
    found = {path.relative_to(made["students"]).parts[:2] for path in made["students"].rglob("*")}
    assert not {part for part in found if part[-1] in ("hidden", "classroom", "instructor")}
    assert ("course", "lessons") in found


def test_outside_a_clone_it_is_one_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr(places, "ROOT", tmp_path)
    with pytest.raises(Problem, match="git finds no repository here"):
        archives.build(tmp_path / "out")
    assert not (tmp_path / "out").exists()
