"""The ladder of isolation: how a worker process is started so that it can harm and learn nothing.

Three rungs, best first. `namespaces`: bubblewrap gives the worker its own user, mount, process,
network and ipc namespaces, in which nothing lies but Python, NumPy and the tree under test;
seccomp and limits come inside, and Landlock where the kernel has it. `landlock`: the same without
namespaces, so the files of this machine are there but cannot be opened. `process`: limits (and
seccomp, where the kernel has it), for work that one trusts. A rung is proved by running it, never
by a version number.
"""

import contextlib
import functools
import importlib.util
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from autograder.lessons import module_rules, places
from autograder.lessons.problem import Problem
from autograder.sandbox import cgroup, quiet
from autograder.worker import wire

LEVELS = ("namespaces", "landlock", "process")
MEANING = {
    "namespaces": "a sandbox of its own (bubblewrap), without files, network or other processes",
    "landlock": "no files but its own, no network and no new processes (Landlock, seccomp)",
    "process": "limits on time and memory only; not for strangers' work",
}

# What the worker may import besides the standard library: the run-time dependencies of minijax,
# and msgpack. Whatever else is installed beside them (jax, the autograder's tools) is not there.
# Parts of Python that draw windows, speak to terminals, databases or networks: what they are linked
# to stays outside.
_NEEDLESS = ("_tkinter", "_curses", "_sqlite3", "_ssl", "_dbm", "_gdbm", "readline", "nis")
_ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",
    "PYTHONHASHSEED": "0",
    "TF_CPP_MIN_LOG_LEVEL": "3",
}


@dataclass(frozen=True)
class Limits:
    """What a worker may use; sizes in bytes.

    `memory` is for data that can be written. What is made read-only afterwards counts for the
    address space alone, in which XLA also has its threads.
    `cpu_seconds` are for the whole life of the worker, None for no limit.
    """

    memory: int = 1 << 30
    address_space: int = field(default_factory=lambda: (2 << 30) + _processors() * (64 << 20))
    stack: int = 8 << 20
    file_size: int = 8 << 20
    open_files: int = 128
    cpu_seconds: int | None = 120
    threads: int = field(default_factory=lambda: max(512, 16 * _processors()))

    def by_name(self) -> dict[str, int]:
        """The limits as the `resource` module names them."""
        limits = {
            "DATA": self.memory,
            "AS": self.address_space,
            "STACK": self.stack,
            "FSIZE": self.file_size,
            "NOFILE": self.open_files,
        }
        if self.cpu_seconds is not None:
            limits["CPU"] = self.cpu_seconds
        if sys.platform == "linux":  # where it counts all threads of the user, see `Worker._watch`
            limits["NPROC"] = _threads_of_user() + 16 * self.threads
        return limits

    def by_controller(self) -> dict[str, int]:
        """The limits of a control group; memory there counts files and libraries as well."""
        return {"memory": self.memory + (256 << 20), "pids": self.threads}


def _processors() -> int:
    return os.cpu_count() or 1


@functools.cache
def _threads_of_user() -> int:
    """About how many threads this user has, other programs' too; a few more start meanwhile."""
    count = 500
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if process.stat().st_uid == os.getuid():
                count += sum(1 for _ in (process / "task").iterdir())
    return count


# ------------------------------------------------------------------------------------------
# Choosing a rung


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


# ------------------------------------------------------------------------------------------
# A running worker


class NotIsolated(Exception):
    """The worker did not start as it should; the text says why."""


class Died(Exception):
    """The worker is gone."""


class Nonsense(Died):
    """What came from the worker is nothing that a worker writes."""


class TimedOut(Exception):
    """The worker did not answer in time, and was killed."""


# What a worker does to itself on each rung; only on the rung `landlock` nothing may be missing.
_LAYERS: dict[str, tuple[str, ...]] = {
    "namespaces": ("landlock", "seccomp"),
    "landlock": ("landlock", "seccomp"),
    "process": ("seccomp",),
}
SEALED = ("namespaces", "landlock")  # where a worker gives up files before the submission runs
_LISTEN, _STOP = "listen", "stop"  # instead of messages, which are lists
_BETWEEN_COUNTS = 0.05  # seconds


@dataclass
class Worker:
    """One worker process. Whatever it started is dead when it is closed."""

    tree: Path
    module: str
    level: str
    limits: Limits = field(default_factory=Limits)
    imports: tuple[str, ...] = ()  # what the probes may import
    layers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.scratch = tempfile.TemporaryDirectory(prefix="jaxprentice-")
        self.number = 0
        self.group = cgroup.Group(self.limits.by_controller())
        try:
            self.process = self._launch()
        except BaseException:
            self._remove()
            raise
        # A thread of its own does the talking: not every system's pipes know time limits.
        self.messages: SimpleQueue[Any] = SimpleQueue()
        self.answers: SimpleQueue[Any] = SimpleQueue()
        self.talker = threading.Thread(target=self._talk, daemon=True)
        self.talker.start()
        self.closed = threading.Event()
        self.watcher = threading.Thread(target=self._watch, daemon=True)
        if sys.platform == "linux" and "pids" not in cgroup.held():
            self.watcher.start()
        try:
            self._greet()
        except BaseException:
            self.close()
            raise

    def _launch(self) -> subprocess.Popen[bytes]:
        limits, prefix = self.limits.by_name(), self.group.command()
        about = {"module": self.module, "imports": self.imports, "limits": limits}
        return launch(self.level, self.tree, about, self.scratch.name, prefix)

    def _greet(self) -> None:
        """Wait until the worker says that it is confined."""
        try:
            hello = self._exchange(_LISTEN, 60)
        except TimedOut:
            raise NotIsolated("the worker did not start in time") from None
        except Died:
            assert self.process.stderr is not None
            said = self.process.stderr.read(2000).decode(errors="replace").strip()
            raise NotIsolated(said.splitlines()[-1] if said else "the worker died") from None
        if hello[0] != "ready":
            raise NotIsolated(hello[1])
        self.layers = tuple(hello[1])

    def ask(self, request: list[Any], seconds: float, patience: float = 0.0) -> list[Any]:
        """Send a request and wait for the reply; after TimedOut or Died, close the worker.

        The worker may take so many `seconds` of CPU, its threads included, so that what else the
        machine does decides nothing. By the clock it has ten times as much, and `patience` seconds.
        """
        self.number += 1
        cpu = math.ceil(seconds)
        reply = self._exchange(
            [self.number, cpu, *request], 10 * seconds + patience if patience else seconds
        )
        if type(reply) is not list or len(reply) < 2 or reply[0] != self.number:
            raise Nonsense
        return reply[1:]

    def _exchange(self, message: Any, seconds: float) -> Any:
        self.messages.put(message)
        try:
            answer = self.answers.get(timeout=seconds)
        except Empty:
            raise TimedOut from None
        if isinstance(answer, (OSError, EOFError)):
            raise Died from answer
        if isinstance(answer, Exception):
            raise Nonsense from answer
        try:
            return wire.unpack(answer)
        except (wire.Malformed, MemoryError) as error:
            raise Nonsense from error

    def _talk(self) -> None:
        """Send each message, and receive its answer, until something goes wrong.

        The answer is unpacked by the thread that waits for it, so that it knows what that took.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            while (message := self.messages.get()) != _STOP:
                if message != _LISTEN:
                    wire.send(self.process.stdin.fileno(), message)
                self.answers.put(wire.receive_text(self.process.stdout.fileno()))
        except (OSError, EOFError, ValueError, MemoryError, wire.Malformed) as error:
            self.answers.put(error)

    def _watch(self) -> None:
        """End the worker once it has too many threads, where no control group limits them.

        RLIMIT_NPROC counts all threads of a user, so it is far above the number that one worker may
        have: else a worker that takes all of them would leave none to the workers beside it.
        """
        while not self.closed.wait(_BETWEEN_COUNTS):
            with contextlib.suppress(OSError):  # it has just ended
                if _threads_of(self.process.pid) > self.limits.threads:
                    keeper = self.level == "process"  # which sweeps
                    (self.process.terminate if keeper else self.process.kill)()

    def spent(self) -> float:
        """The seconds of CPU that it has taken so far; by the clock where that cannot be told."""
        try:
            return _cpu_of(self.process.pid)
        except OSError:
            return time.monotonic()

    def exit_status(self) -> int | None:
        """How the worker ended: its exit status, less than 0 for a signal, None if it has not."""
        try:
            status = self.process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return None
        return 128 - status if status > 128 else status  # bubblewrap tells signals so

    def close(self) -> None:
        """Kill the worker and everything that it started."""
        self.messages.put(_STOP)
        self.closed.set()
        if self.watcher.is_alive():
            self.watcher.join()
        if self.level == "process" and hasattr(os, "killpg"):
            self.process.terminate()  # the keeper sweeps
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=6)
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        self._remove()
        # The thread may still read: if its pipe were closed, and the next worker got a pipe of the
        # same number, it would read that one.
        self.talker.join(timeout=5)
        if self.talker.is_alive():
            return
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe is not None
            with contextlib.suppress(OSError):
                pipe.close()

    def _remove(self) -> None:
        self.group.close()
        self.scratch.cleanup()

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _cpu_of(process: int) -> float:
    """The seconds of CPU of a process, its descendants, and those that it has waited for."""
    ticks = sum(sum(map(int, about[11:15])) for about in _family(process))
    return ticks / os.sysconf("SC_CLK_TCK")


def _threads_of(process: int) -> int:
    """The threads of a process and its descendants."""
    return sum(int(about[17]) for about in _family(process))


def _family(process: int) -> Iterator[list[str]]:
    """What the kernel says of a process and of its descendants: proc(5), `stat` from field 3 on."""
    yield _told(f"/proc/{process}/stat").rpartition(")")[2].split()
    for child in _told(f"/proc/{process}/task/{process}/children").split():
        with contextlib.suppress(OSError):  # it has just ended
            yield from _family(int(child))


def _told(path: str) -> str:
    """What a file of /proc says. Each probe has several read, and a Path takes twice the time.

    A process may have given itself a name that is not valid text.
    """
    with open(path, errors="replace") as file:  # noqa: PTH123
        return file.read()


# ------------------------------------------------------------------------------------------
# Starting one


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
        paths = {"tree": str(tree.resolve()), "site": str(_site()), "scratch": scratch}
        readable = [paths["tree"], *_readable(), str(_site())]
    # A file takes memory of the kernel, an empty one as well, and no limit counts it.
    files: dict[str, Any] = {"readable": readable, "writable": [os.devnull]}
    layers = _LAYERS[level]
    must = layers if level == "landlock" else ()
    settings = {**paths, **files, **about, "layers": layers, "must": must}
    settings |= {"seal": level in SEALED, "processor": quiet.processor()}
    if level in SEALED:
        quiet.touch(_mapped())
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
    return {**_ENVIRONMENT, "XLA_FLAGS": _xla_flags(), **kept, "HOME": scratch, "TMPDIR": scratch}


@functools.cache
def _xla_flags() -> str:
    """What makes XLA compile in half the time: a graded program runs once, and for no time.

    A flag that XLA does not know ends the process, and one of these was there in 0.10 only.
    """
    flags = "--xla_backend_optimization_level=0"
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
    flags = ["--ro-bind", str(_copied_libraries()), "/libraries"]
    flags += ["--setenv", "LD_LIBRARY_PATH", "/libraries"]
    for loader in _loaders():
        flags += ["--ro-bind", os.path.realpath(loader), loader]
    for path in _python_files():
        flags += ["--ro-bind", str(path), str(path)]
    for path in _foreign_packages():
        flags += ["--tmpfs", str(path), "--remount-ro", str(path)]
    for path in _packages():
        flags += ["--ro-bind", str(path), f"/site/{path.name}"]
    return tuple(flags)


def _python_files() -> list[Path]:
    """Python's program, its shared library if it has one, and the standard library."""
    files = [Path(os.path.realpath(sys.executable)), Path(sysconfig.get_path("stdlib")).resolve()]
    library = Path(sysconfig.get_config_var("LIBDIR") or "", sysconfig.get_config_var("LDLIBRARY"))
    if library.suffix != ".a" and library.exists():
        shared = {library.absolute(), library.resolve()}
        files += [p for p in library.parent.glob("libpython3*.so*") if p.resolve() in shared]
    return files


@functools.cache
def _libraries() -> tuple[str, ...]:
    """The system's libraries that Python and the packages are linked to, the loader included.

    The loader itself is asked: told to load all of them, it lists what that takes.
    """
    modules = Path(sysconfig.get_path("stdlib"), "lib-dynload").resolve().glob("*.so")
    wanted = [p for p in modules if not p.name.startswith(_NEEDLESS)]
    wanted += [path for top in _packages() for path in top.rglob("*.so*") if path.is_file()]
    ask = {"LD_TRACE_LOADED_OBJECTS": "1", "LD_PRELOAD": ":".join(map(str, wanted))}
    command = [os.path.realpath(sys.executable)]
    said = subprocess.run(command, env=ask, capture_output=True, text=True, check=False).stdout
    lines = [line.split(" (")[0].split("=>")[-1].strip() for line in said.splitlines()]
    own = [*_python_files(), *_packages()]
    found = [x for x in lines if x.startswith("/") and not any(map(Path(x).is_relative_to, own))]
    if not _loaders_of(found):
        raise NotIsolated("the libraries that Python is linked to cannot be found")
    return tuple(found)


@functools.cache
def _mapped() -> tuple[Path, ...]:
    """The files that workers map into memory: Python's program, libraries, the locale's tables."""
    ask = [os.path.realpath(sys.executable), "-I", "-S", "-c", _ASK_FOR_MAPS]
    said = subprocess.run(ask, env=_ENVIRONMENT, capture_output=True, text=True, check=False).stdout
    started = [Path(line[line.index("/") :]) for line in said.splitlines() if "/" in line]
    tops = [*started, *_packages(), *_python_files(), *map(Path, _libraries()), _copied_libraries()]
    files = {x.resolve() for top in tops for x in ([top] if top.is_file() else top.rglob("*.so*"))}
    return tuple(sorted(x for x in files if x.is_file()))


_ASK_FOR_MAPS = "print(open('/proc/self/maps').read())"


def _loaders() -> list[str]:
    """The dynamic loader, which programs look for at one place only."""
    return _loaders_of(_libraries())


def _loaders_of(libraries: Sequence[str]) -> list[str]:
    return [path for path in libraries if Path(path).name.startswith("ld-")]


@functools.cache
def _copied_libraries() -> Path:
    """A folder with copies of the libraries: to mount each by itself takes far longer."""
    folder = tempfile.TemporaryDirectory(prefix="jaxprentice-")
    _folders.append(folder)
    for path in _libraries():
        shutil.copyfile(path, Path(folder.name, Path(path).name))
    return Path(folder.name)


def _foreign_packages() -> list[Path]:
    """Folders of installed packages that lie inside the standard or the system's library."""
    inside = [Path(sysconfig.get_path("stdlib")).resolve(), *Path("/usr/lib").glob("python3*")]
    names = ("site-packages", "dist-packages")
    return sorted({p / name for p in inside for name in names if (p / name).is_dir()})


def _packages() -> Iterator[Path]:
    """The importable packages, with the folders of shared libraries that wheels put beside them."""
    for name in module_rules.PACKAGES:
        spec = importlib.util.find_spec(name)
        for place in (spec and spec.submodule_search_locations) or ():
            yield Path(place).resolve()
            libraries = Path(place).resolve().with_name(f"{name}.libs")
            if libraries.is_dir():
                yield libraries


@functools.cache
def _readable() -> tuple[str, ...]:
    """What Landlock lets a worker read. Its rules cannot except a folder, so they go around it."""
    foreign = _foreign_packages()
    system = [*map(Path, _libraries()), Path("/etc/ld.so.cache")]
    devices = [Path("/dev/urandom"), Path("/dev/zero"), Path("/proc/cpuinfo")]
    files = [p for top in [*system, *_python_files()] for p in _around(top.resolve(), foreign)]
    cpus = Path("/sys/devices/system/cpu")
    return tuple(map(str, dict.fromkeys([*files, *_packages(), places.WORKER, *devices, cpus])))


def _around(folder: Path, holes: list[Path]) -> Iterator[Path]:
    """Paths that together are `folder` without `holes`."""
    if folder in holes:
        return
    if not any(hole.is_relative_to(folder) for hole in holes):
        yield folder
        return
    for child in folder.iterdir():
        yield from _around(child, holes)


@functools.cache
def _site() -> Path:
    """A folder from which the importable packages, and no others, can be imported."""
    folder = tempfile.TemporaryDirectory(prefix="jaxprentice-")
    _folders.append(folder)
    for path in _packages():
        Path(folder.name, path.name).symlink_to(path)
    return Path(folder.name)


def folders() -> list[str]:
    """The folders of this process that are kept until it ends, for a process that outlives it."""
    return [folder.name for folder in _folders]


_folders: list[Any] = []  # kept until the process ends, and removed then
