"""A course directory of nbgrader, as tests use it: commands, feedback pages, formgrader."""

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from autograder.upkeep import demo


def nbgrader(course, *arguments, **environment):
    """Run a command as an instructor would, without an activated environment."""
    program = Path(sys.executable).with_name("nbgrader")
    return subprocess.run(
        [program, *arguments],
        cwd=course,
        env={**demo.environment(course), "PATH": os.defpath, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def run(course, *arguments):
    """Run a command that must succeed; its log."""
    done = nbgrader(course, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stderr


def feedback_page(course, lesson, student):
    """The path of a student's feedback."""
    return course / "feedback" / student / lesson.id / f"{lesson.id}.html"


@contextlib.contextmanager
def formgrader_of(course):
    """The address of a Jupyter server in the course, where formgrader is switched on."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    extension = {"nbgrader.server_extensions.formgrader": True}
    options = ["--no-browser", f"--port={port}", "--IdentityProvider.token=", "--allow-root"]
    with subprocess.Popen(
        [
            *(sys.executable, "-m", "jupyter_server", *options, f"--ServerApp.root_dir={course}"),
            f"--ServerApp.jpserver_extensions={extension}",
        ],
        cwd=course,
        env=demo.environment(course),
        stderr=subprocess.DEVNULL,
    ) as server:
        address = f"http://127.0.0.1:{port}/formgrader"
        for _ in range(600):
            with contextlib.suppress(OSError), urllib.request.urlopen(address):
                break
            time.sleep(0.1)
        yield address
        server.terminate()
