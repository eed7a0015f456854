"""Starts a worker on a rung of the ladder: its command, its settings, its variables."""

import functools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from autograder.lessons import places
from autograder.sandbox import quiet, visible
from autograder.sandbox.visible import NotIsolated

# What a worker does to itself on each rung; only on the rung `landlock` nothing may be missing.
LAYERS: dict[str, tuple[str, ...]] = {
    "namespaces": ("landlock", "seccomp"),
    "landlock": ("landlock", "seccomp"),
    "process": ("seccomp",),
}
SEALED = ("namespaces", "landlock")  # where a worker gives up files before the submission runs


def launch(
    level: str, tree: Path, about: dict[str, Any], scratch: str, prefix: Sequence[str] = ()
) -> subprocess.Popen[bytes]:
    """Start a worker for the package in `tree` on a rung.

    `about` says what `module` is the submission's, what probes may import, and the limits.
    `prefix` is what the command is to be run by.
    """
    if level == "namespaces":
        command = [*_bubblewrap(tree.resolve()), *_python("/worker/worker.py")]
        paths = {"tree": "/tree", "site": "/site", "scratch": "/tmp"}
        readable = ["/"]
    else:
        command = _python(str(places.WORKER / "worker.py"))
        command = [*(_keeper() if level == "process" else []), *command]
        paths = {"tree": str(tree.resolve()), "site": str(visible.site()), "scratch": scratch}
        readable = [paths["tree"], *visible.readable(), str(visible.site())]
    # A file takes memory of the kernel, an empty one as well, and no limit counts it.
    files: dict[str, Any] = {"readable": readable, "writable": [os.devnull]}
    layers = LAYERS[level]
    must = layers if level == "landlock" else ()
    settings = {**paths, **files, **about, "layers": layers, "must": must}
    settings |= {"seal": level in SEALED, "processor": quiet.processor()}
    if level in SEALED:
        quiet.touch(visible.mapped())
    return subprocess.Popen(
        [*prefix, *command, json.dumps(settings)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        env=_environment(paths["scratch"]),
        cwd=scratch,
        start_new_session=True,
    )


def _python(script: str) -> list[str]:
    # -I: no variables, no user folder; -S: no site-packages.
    return [os.path.realpath(sys.executable), "-I", "-S", "-X", "utf8", script]


def _keeper() -> list[str]:
    """What ends all that a worker started, where there is no namespace to do it."""
    return _python(str(Path(__file__).with_name("keeper.py"))) if sys.platform == "linux" else []


def _environment(scratch: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}  # Windows
    own = {"XLA_FLAGS": xla_flags(), "HOME": scratch, "TMPDIR": scratch}
    return {**visible.ENVIRONMENT, **own, **kept}


@functools.cache
def xla_flags() -> str:
    """What makes XLA compile in a third of the time: a graded program runs once, and for no time.

    A flag that XLA does not know ends the process, and one of these was there in 0.10 only.
    """
    flags = "--xla_backend_optimization_level=0 --xla_cpu_parallel_codegen_split_count=1"
    emitters = " --xla_cpu_use_fusion_emitters=false"
    return flags + emitters * metadata.version("jaxlib").startswith("0.10.")


def _bubblewrap(tree: Path) -> list[str]:
    program = shutil.which("bwrap")
    if program is None:
        raise NotIsolated("bubblewrap is not installed (Debian package: bubblewrap)")
    flags = ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    flags += ["--uid", "65534", "--gid", "65534", "--hostname", "worker", "--chdir", "/"]
    flags += ["--dev", "/dev", "--dir", "/tmp"]
    flags += ["--ro-bind", "/proc/cpuinfo", "/proc/cpuinfo"]  # XLA reads it
    flags += _mounts()
    flags += ["--ro-bind", str(places.WORKER), "/worker", "--ro-bind", str(tree), "/tree"]
    return [program, *flags, "--remount-ro", "/dev", "--remount-ro", "/", "--"]


@functools.cache
def _mounts() -> tuple[str, ...]:
    """Python, its libraries and the importable packages, read-only; nothing else of this disk."""
    flags = ["--ro-bind", str(visible.copied_libraries()), "/libraries"]
    flags += ["--setenv", "LD_LIBRARY_PATH", "/libraries"]
    for loader in visible.loaders():
        flags += ["--ro-bind", os.path.realpath(loader), loader]
    for path in visible.python_files():
        flags += ["--ro-bind", str(path), str(path)]
    for path in visible.foreign_packages():
        flags += ["--tmpfs", str(path), "--remount-ro", str(path)]
    for path in visible.packages():
        flags += ["--ro-bind", str(path), f"/site/{path.name}"]
    return tuple(flags)
