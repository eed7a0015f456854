"""The ladder of isolation: how a worker process is started so that it can harm and learn nothing.

Three rungs, best first. `namespaces`: bubblewrap gives the worker its own user, mount, process,
network and ipc namespaces, in which nothing lies but Python, NumPy and the tree under test;
seccomp and limits come inside, and Landlock where the kernel has it. `landlock`: the same without
namespaces, so the files of this machine are there but cannot be opened. `process`: limits (and
seccomp, where the kernel has it), for work that one trusts. A rung is proved by running it, never
by a version number.
"""

import functools
import sys
import tempfile
from pathlib import Path
from typing import Any

from autograder.lessons import places
from autograder.lessons.problem import Problem
from autograder.sandbox.visible import NotIsolated
from autograder.sandbox.worker import Died, Worker
from autograder.worker import wire

LEVELS = ("namespaces", "landlock", "process")
MEANING = {
    "namespaces": "a sandbox of its own (bubblewrap), without files, network or other processes",
    "landlock": "no files but its own, no network and no new processes (Landlock, seccomp)",
    "process": "limits on time and memory only; not for strangers' work",
}


def choose(level: str | None = None) -> str:
    """The rung that was asked for, or the best that strangers' work may run on.

    Raises Problem where this machine does not have it.
    """
    if level is None:
        for name in ("namespaces", "landlock"):
            if detect(name) is None:
                return name
        reasons = "; ".join(dict.fromkeys(f"{detect(x)}" for x in ("namespaces", "landlock")))
        remedy = "Install the Debian package bubblewrap"
        if sys.platform != "linux":
            remedy = "Grade on Linux (a virtual machine or a container will do)"
        raise Problem(
            f"This machine cannot isolate strangers' code: {reasons}. {remedy}, or give "
            "`--isolation process` for work that you trust: then only time and memory are "
            "limited, and the code can read and change what you can."
        )
    if level not in LEVELS:
        raise Problem(f"There is no isolation {level!r}. Give one of: {', '.join(LEVELS)}.")
    reason = detect(level)
    if reason is not None:
        raise Problem(f"The isolation {level!r} does not work here: {reason}. Choose another.")
    return level


@functools.cache
def detect(level: str) -> str | None:
    """Why this rung does not work on this machine, or None where it does. Tries it out."""
    if level != "process" and sys.platform != "linux":
        return "only Linux has the means (namespaces, Landlock, seccomp)"
    with tempfile.TemporaryDirectory(prefix="jaxprentice-") as folder:
        package = Path(folder, "proof")
        package.mkdir()
        package.joinpath("__init__.py").write_text("from proof.module import *\n")
        package.joinpath("module.py").write_text("")
        # A second time: where memory is short, a worker may be killed before it speaks.
        return _try_out(level, Path(folder)) and _try_out(level, Path(folder))


def _try_out(level: str, tree: Path) -> str | None:
    """What a worker on this rung lacks, or None."""
    try:
        with Worker(tree, "proof/module.py", level, imports=("socket",)) as worker:
            found = worker.ask(["call", _PROOF, "proof", _proof_arguments(), False], 20)
    except NotIsolated as error:
        return str(error)
    except Died:
        return "the worker died"
    wanted = ["value", wire.encode(["file", "process", "network", "seal"])]
    return None if found == wanted or level == "process" else f"it does not hold: {found}"


# Run in the worker: says which of four things are refused there.
_PROOF = """
def proof(package, path):
    import os, socket
    refused = []
    try:
        open(path).close()
    except OSError:
        refused.append("file")
    try:
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
    except OSError:
        refused.append("process")
    try:
        with socket.socket() as line:
            line.connect(("127.0.0.1", 9))
    except PermissionError:
        refused.append("network")
    except OSError:
        pass
    try:
        os.stat(os.__file__)
    except OSError:
        refused.append("seal")
    return refused
"""


def _proof_arguments() -> Any:
    return wire.encode([str(Path(places.__file__).resolve())])
