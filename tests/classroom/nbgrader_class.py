"""A course directory of nbgrader, as tests use it: commands, feedback pages, formgrader."""

import contextlib
import json
import multiprocessing
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from autograder.classroom.course import settings
from autograder.classroom.nbgrader import directory
from autograder.upkeep import demo

# A process that has imported nbgrader, and becomes a command when it forks: to start one anew takes
# two seconds. The demo and the term start theirs as an instructor does.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    ["nbgrader.apps.nbgraderapp", "autograder.classroom.nbgrader.autograde"]
)


def nbgrader(course, *arguments, **environment):
    """Run a command as an instructor would, without an activated environment.

    What it gives has the seconds of computing that the command took, too.
    """
    environment = {**demo.environment(course), "PATH": os.defpath, **environment}
    with tempfile.TemporaryDirectory() as folder:
        said = [Path(folder, name) for name in ("stdout", "stderr", "seconds")]
        process = FORKS.Process(target=_become, args=(course, arguments, environment, said))
        process.start()
        process.join()
        *texts, seconds = (x.read_text(encoding="utf-8") if x.exists() else "" for x in said)
        done = subprocess.CompletedProcess(arguments, process.exitcode, *texts)
        done.seconds = float(seconds or "nan")
        return done


def _become(course, arguments, environment, said):
    for descriptor, path in enumerate(said[:2], 1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), descriptor)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(course)
    sys.argv = ["nbgrader", *arguments]
    from nbgrader.apps.nbgraderapp import main

    try:
        sys.exit(main())
    finally:
        said[2].write_text(f"{time.process_time()}")


def run(course, *arguments):
    """Run a command that must succeed; its log."""
    done = nbgrader(course, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stderr


def bare_course(folder, roster="", lesson=None):
    """A new course directory without sources; with a roster, and a lesson in `course.toml`."""
    folder.mkdir()
    directory._write_config(folder, 0)
    if roster:
        (folder / "roster.csv").write_text(roster)
    if lesson:
        (folder / "course.toml").write_text(settings.text([lesson]))
    return folder


def answer(folder, lesson, text, change=lambda notebook: notebook):
    """Answer the written question of a lesson, in the notebook of a submission."""
    path = folder / f"{lesson.id}.ipynb"
    notebook = json.loads(path.read_text())
    (cell,) = [x for x in notebook["cells"] if x["id"] == f"{lesson.id}-question"]
    cell["source"] = text
    path.write_text(json.dumps(change(notebook)))


def feedback_page(course, lesson, student):
    """The path of a student's feedback."""
    return course / "feedback" / student / lesson.id / f"{lesson.id}.html"


@contextlib.contextmanager
def formgrader_of(course):
    """The address of a Jupyter server in the course, where formgrader is switched on."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    extension = {"nbgrader.server_extensions.formgrader": True}
    command = [sys.executable, "-m", "jupyter_server", "--no-browser", f"--port={port}"]
    command += ["--IdentityProvider.token=", "--allow-root", f"--ServerApp.root_dir={course}"]
    command += [f"--ServerApp.jpserver_extensions={extension}"]
    environment = demo.environment(course)
    with subprocess.Popen(
        command, cwd=course, env=environment, stderr=subprocess.DEVNULL
    ) as server:
        address = f"http://127.0.0.1:{port}/formgrader"
        for _ in range(600):
            with contextlib.suppress(OSError), urllib.request.urlopen(address):
                break
            time.sleep(0.1)
        yield address
        server.terminate()
