"""Archives as people get them: unpacked as `unzip` does, and run where little else is found."""

import contextlib
import io
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


def packed(files):
    """An archive of files, given by name as texts or bytes."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as made:
        for name, text in files.items():
            made.writestr(name, text)
    return content.getvalue()


def archive(path, files):
    """Write such an archive; its path."""
    path.write_bytes(packed(files))
    return path


def folder(path, files):
    """Write the files themselves, below a folder; its path."""
    for name, content in files.items():
        file = path / name
        if file.is_dir() or any(x.is_file() for x in file.parents):
            continue  # a file and a folder of one name are possible in an archive only
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def deepen(folder):
    """Make folders within it, deeper than calls, and than the longest path."""
    with contextlib.chdir(folder):
        for _ in range(3000):
            Path("a").mkdir()
            os.chdir("a")


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
