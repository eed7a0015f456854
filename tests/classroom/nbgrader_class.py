"""A course directory of nbgrader, as tests use it: commands, feedback pages, formgrader."""

import contextlib
import multiprocessing
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from autograder.upkeep import demo

# A process that has imported nbgrader, and becomes a command when it forks: to start one anew takes
# two seconds. The demo and the term start theirs as an instructor does.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    ["nbgrader.apps.nbgraderapp", "autograder.classroom.nbgrader.autograde"]
)


def nbgrader(course, *arguments, **environment):
    """Run a command as an instructor would, without an activated environment."""
    environment = {**demo.environment(course), "PATH": os.defpath, **environment}
    with tempfile.TemporaryDirectory() as folder:
        said = [Path(folder, name) for name in ("stdout", "stderr")]
        process = FORKS.Process(target=_become, args=(course, arguments, environment, said))
        process.start()
        process.join()
        texts = [path.read_text(encoding="utf-8") for path in said]
        return subprocess.CompletedProcess(arguments, process.exitcode, *texts)


def _become(course, arguments, environment, said):
    for descriptor, path in enumerate(said, 1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), descriptor)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(course)
    sys.argv = ["nbgrader", *arguments]
    from nbgrader.apps.nbgraderapp import main

    sys.exit(main())


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
