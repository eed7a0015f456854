"""Runs Python as other users of this machine; needs root, and bubblewrap."""

import os
import pwd
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.lessons import places

only_root = pytest.mark.skipif(
    sys.platform != "linux" or os.getuid() != 0 or not all(map(shutil.which, ("bwrap", "setpriv"))),
    reason="needs root, and the Debian package bubblewrap",
)


def run_as(user, *arguments, cwd="/", **environment):
    """Run Python as a user (a name, or a number that nobody has); what it said.

    What it needs of root's home (Python, this repository) is shown to the user, and nothing else.
    """
    number = user if user.isdigit() else str(pwd.getpwnam(user).pw_uid)
    become = ["setpriv", "--reuid", number, "--regid", number, "--clear-groups"]
    home = Path.home().resolve()
    needed = {Path(p).resolve() for p in (sys.prefix, sys.base_prefix, places.ROOT)}
    view = ["bwrap", "--dev-bind", "/", "/", "--tmpfs", str(home), "--chdir", str(cwd)]
    hidden = sorted(path for path in needed if path.is_relative_to(home))
    for path in hidden:
        for parent in reversed(path.relative_to(home).parents[:-1]):
            view += ["--perms", "0755", "--dir", str(home / parent)]
        view += ["--bind", str(path), str(path)]
    if hidden:
        become = [*view, "--cap-add", "ALL", "--", *become]
    path = os.pathsep.join([str(places.ROOT), *sys.path])
    done = subprocess.run(
        [*become, sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": path, "HOME": "/nonexistent", **environment},
        cwd="/" if hidden else cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout
