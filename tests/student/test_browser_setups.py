"""The course in a browser, with nothing installed: both set-ups use the course's own pins.

Neither service can be reached from here; what is tested is all that the files name.
"""

import json
import os
import re
import shlex
import tomllib

import typer

from autograder import cli
from autograder.lessons import places


def commands():
    return typer.main.get_command(cli.app).commands


def test_the_container_makes_a_workspace_by_the_wrapper():
    about = json.loads((places.ROOT / ".devcontainer/devcontainer.json").read_text("utf-8"))
    wrapper, *words = shlex.split(about["onCreateCommand"])
    assert (places.ROOT / wrapper).is_file()
    assert commands()[words[0]].make_context(words[0], words[1:], resilient_parsing=True)
    settings = about["customizations"]["vscode"]["settings"]
    assert all(words[1] in path for path in settings["python.analysis.extraPaths"])
    version = re.search(r"python:(\d+)\.(\d+)", about["image"])
    project = tomllib.loads((places.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    oldest = re.search(r"(\d+)\.(\d+)", project["project"]["requires-python"])
    assert tuple(map(int, version.groups())) >= tuple(map(int, oldest.groups()))


def test_binder_installs_by_the_lock_file_of_the_course():
    folder = places.ROOT / ".binder"
    lines = (folder / "postBuild").read_text(encoding="utf-8").splitlines()
    (script,) = [line.split()[1:] for line in lines if line.startswith("sh ")]
    assert (places.ROOT / script[0]).is_file()
    assert (places.ROOT / "requirements" / f"{script[1]}.txt").is_file()
    assert (folder / "runtime.txt").read_text(encoding="utf-8") == "python-3.11\n"
    assert os.access(folder / "postBuild", os.X_OK)
    assert "\npython3 jaxprentice init my-jax\n" in (folder / "postBuild").read_text("utf-8")
