"""Looks whether this machine has what the course needs, and says how to get what is missing."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from autograder.lessons import places
from autograder.lessons.problem import Problem
from autograder.student import workspace

OK, NOTE, WRONG = "ok", "note", "wrong"
ROOM = 1 << 30  # bytes that should be free
# Debian packages that some tests need, and the names of the command that each brings.
DEBIAN_PACKAGES = {
    "bubblewrap": ("bwrap",),
    "chromium": ("chromium", "chromium-browser", "google-chrome"),
    "npm": ("npm",),
}

Finding = tuple[str, str]  # how bad it is, and a sentence or two


def examine() -> int:
    """Print what was found; the exit status is 1 if something is wrong."""
    found = []
    for how, text in findings():
        print(f"{how:<6} {text}", flush=True)
        found.append(how)
    return 1 if WRONG in found else 0


def findings() -> Iterator[Finding]:
    """Everything that is worth saying, the basics first."""
    yield python()
    yield packages()
    yield xla()
    yield disk()
    yield place()
    if places.is_complete():
        yield from for_teachers()


def for_teachers() -> Iterator[Finding]:
    """What matters only where submissions are graded, and where the course is changed."""
    yield isolation()
    yield from rungs()
    if version_of("distributed") != "0":
        yield cluster()
    for name in DEBIAN_PACKAGES:
        if not has(name):
            yield NOTE, f"No {name}: some of `./jaxprentice test` is skipped. {install(name)}"


def install(package: str) -> str:
    """How to get a Debian package."""
    return f"On Debian: sudo apt install {package}"


NEWEST = (3, 14)  # of the Pythons on which the course is tested


def python() -> Finding:
    """Whether this Python is one that the pins were tried on."""
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] > NEWEST:
        return NOTE, f"Python {version} is newer than the versions that the course is tested on."
    return OK, f"Python {version}: {sys.executable}"


def packages() -> Finding:
    """Whether the student's packages are installed, and all that are here as locked."""
    needed = {x.name for x in _pins("student")}
    wanted = {x: version_of(x.name) for x in _pins("lock")}
    wanted = {x: version for x, version in wanted.items() if version != "0" or x.name in needed}
    other = [x.name for x, version in wanted.items() if version not in x.specifier]
    if other:
        remedy = "Delete the folder .venv, and the next command recreates it."
        return WRONG, f"Packages are not as pinned: {', '.join(other)}. {remedy}"
    return OK, f"{len(wanted)} packages, as pinned"


def _pins(name: str) -> list[Any]:
    """The lines of a file of `requirements/` that are for this machine, without hashes."""
    from packaging.requirements import Requirement

    text = (places.ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    found = [Requirement(line.partition(" --hash")[0]) for line in text.splitlines()]
    return [x for x in found if not x.marker or x.marker.evaluate()]


def version_of(package: str) -> str:
    """The installed version of a package, 0 where it is not there."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "0"


def xla() -> Finding:
    """Whether XLA starts; in a process of its own, for it may end the process."""
    code = "from jaxlib import xla_client as x; x.make_cpu_client()"
    started = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, check=False)
    if started.returncode:
        last = started.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        return WRONG, f"XLA does not start here: {last or f'exit status {started.returncode}'}."
    return OK, f"XLA starts (jaxlib {version_of('jaxlib')})"


def disk() -> Finding:
    """Whether there is room."""
    free = shutil.disk_usage(places.ROOT).free
    if free < ROOM:
        return WRONG, f"Only {free >> 20} MB are free on the disk. Make room."
    return OK, f"{free >> 30} GB free on the disk"


def place() -> Finding:
    """Which workspace this is, and whether it fits this copy."""
    here = workspace.find()
    if not here.own:
        return NOTE, "This is not a workspace. `./jaxprentice init DIR` makes one."
    version = here.identity.get("version")
    if version != places.VERSION:
        return (
            NOTE,
            f"The workspace {here.root} was made by version {version}; this is {places.VERSION}.",
        )
    return OK, f"The workspace is {here.root}"


def isolation() -> Finding:
    """How students' work would be isolated when it is graded here."""
    from autograder.sandbox import isolation

    try:
        level = isolation.choose()
    except Problem as problem:
        return NOTE, f"Strangers' work cannot be graded here (only instructors need to): {problem}"
    return OK, f"Isolation for grading: {level}, {isolation.MEANING[level]}"


def rungs() -> Iterator[Finding]:
    """Which levels of isolation this machine has, why not the others, and what else limits."""
    from autograder.sandbox import cgroup, isolation

    for level in isolation.LEVELS:
        reason = isolation.detect(level)
        text = "works here" if reason is None else f"is not available here: {reason}"
        yield (NOTE if reason else OK), f"The isolation {level!r} {text}."
    held = cgroup.held()
    if held:
        yield OK, f"Control groups limit {' and '.join(held)} of all that a submission starts."
    else:
        yield NOTE, f"No control groups can be made here: {_NO_GROUPS}"


def cluster() -> Finding:
    """Whether graders on several machines would speak to each other in private."""
    from distributed.security import Security

    security = Security()
    files = {security.tls_ca_file, security.tls_client_cert, security.tls_client_key} - {None}
    try:
        encrypts = security.get_connection_args("client").get("ssl_context") is not None
    except OSError as error:  # among them what is no certificate
        return WRONG, f"Dask's certificates in {', '.join(files)} cannot be used: {error}."
    if not encrypts or not security.require_encryption:
        return NOTE, f"Dask does not insist on encryption: {_NO_TLS}"
    key = security.tls_client_key
    if key and Path(key).stat().st_mode & 0o077:
        return WRONG, f"Others can read the key {key}. Run chmod 600 on it."
    return OK, f"Dask's connections are encrypted, with the certificate {security.tls_client_cert}"


_NO_TLS = (
    "grade --scheduler accepts no address without it. ./jaxprentice cluster makes what it needs."
)
_NO_GROUPS = (
    "limits then apply to each process alone. On a system with systemd: "
    "systemd-run --user --scope ./jaxprentice grade ..."
)


def has(package: str) -> bool:
    """Whether the command of a Debian package is there."""
    return any(shutil.which(command) for command in DEBIAN_PACKAGES[package])
