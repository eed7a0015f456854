"""Archives as people get them: unpacked as `unzip` does, and run where little else is found."""

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


def unpack(archive, folder):
    """Unpack an archive below a folder, with the files' modes."""
    with zipfile.ZipFile(archive) as packed:
        for entry in packed.infolist():
            path = folder / entry.filename
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(packed.read(entry))
            path.chmod(entry.external_attr >> 16 & 0o777)


def released(folder):
    """The archives of a release, unpacked in a folder without git; by whom they are for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert cli.main(shlex.split(EXAMPLES["archives"])) == 0
    unpacked = {}
    for archive in folder.rglob("*.zip"):
        unpack(archive, folder)
        unpacked[archive.stem.rpartition("-")[2]] = folder / archive.stem
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
