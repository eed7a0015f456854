"""What of this machine a worker sees: variables, Python, its libraries and a few packages."""

import functools
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from autograder.lessons import module_rules, places


class NotIsolated(Exception):
    """The worker did not start as it should; the text says why."""


# Parts of Python that draw windows, speak to terminals, databases or networks: what they are linked
# to stays outside.
_NEEDLESS = ("_tkinter", "_curses", "_sqlite3", "_ssl", "_dbm", "_gdbm", "readline", "nis")
# The variables of every worker.
ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",
    "PYTHONHASHSEED": "0",
    "TF_CPP_MIN_LOG_LEVEL": "3",
}


def python_files() -> list[Path]:
    """Python's program, its shared library if it has one, and the standard library."""
    files = [Path(os.path.realpath(sys.executable)), Path(sysconfig.get_path("stdlib")).resolve()]
    library = Path(sysconfig.get_config_var("LIBDIR") or "", sysconfig.get_config_var("LDLIBRARY"))
    if library.suffix != ".a" and library.exists():
        shared = {library.absolute(), library.resolve()}
        files += [p for p in library.parent.glob("libpython3*.so*") if p.resolve() in shared]
    return files


@functools.cache
def libraries() -> tuple[str, ...]:
    """The system's libraries that Python and the packages are linked to, the loader included.

    The loader itself is asked: told to load all of them, it lists what that takes.
    """
    modules = Path(sysconfig.get_path("stdlib"), "lib-dynload").resolve().glob("*.so")
    wanted = [p for p in modules if not p.name.startswith(_NEEDLESS)]
    wanted += [path for top in packages() for path in top.rglob("*.so*") if path.is_file()]
    ask = {"LD_TRACE_LOADED_OBJECTS": "1", "LD_PRELOAD": ":".join(map(str, wanted))}
    command = [os.path.realpath(sys.executable)]
    said = subprocess.run(command, env=ask, capture_output=True, text=True, check=False).stdout
    lines = [line.split(" (")[0].split("=>")[-1].strip() for line in said.splitlines()]
    own = [*python_files(), *packages()]
    found = [x for x in lines if x.startswith("/") and not any(map(Path(x).is_relative_to, own))]
    if not _loaders_of(found):
        raise NotIsolated("the libraries that Python is linked to cannot be found")
    return tuple(found)


@functools.cache
def mapped() -> tuple[Path, ...]:
    """The files that workers map into memory: Python's program, libraries, the locale's tables."""
    ask = [os.path.realpath(sys.executable), "-I", "-S", "-c", _ASK_FOR_MAPS]
    said = subprocess.run(ask, env=ENVIRONMENT, capture_output=True, text=True, check=False).stdout
    started = [Path(line[line.index("/") :]) for line in said.splitlines() if "/" in line]
    foreign = foreign_packages()  # may hold thousands of folders, and no worker sees them
    python = [path for top in python_files() for path in _around(top, foreign)]
    tops = [*started, *packages(), *python, *map(Path, libraries()), copied_libraries()]
    files = {x.resolve() for top in tops for x in ([top] if top.is_file() else top.rglob("*.so*"))}
    return tuple(sorted(x for x in files if x.is_file()))


_ASK_FOR_MAPS = "print(open('/proc/self/maps').read())"


def loaders() -> list[str]:
    """The dynamic loader, which programs look for at one place only."""
    return _loaders_of(libraries())


def _loaders_of(libraries: Sequence[str]) -> list[str]:
    return [path for path in libraries if Path(path).name.startswith("ld-")]


@functools.cache
def copied_libraries() -> Path:
    """A folder with copies of the libraries: to mount each by itself takes far longer."""
    folder = tempfile.TemporaryDirectory(prefix="jaxprentice-")
    _folders.append(folder)
    for path in libraries():
        shutil.copyfile(path, Path(folder.name, Path(path).name))
    return Path(folder.name)


def foreign_packages() -> list[Path]:
    """Folders of installed packages that lie inside the standard or the system's library."""
    inside = [Path(sysconfig.get_path("stdlib")).resolve(), *Path("/usr/lib").glob("python3*")]
    names = ("site-packages", "dist-packages")
    return sorted({p / name for p in inside for name in names if (p / name).is_dir()})


def packages() -> Iterator[Path]:
    """The importable packages, with the folders of shared libraries that wheels put beside them."""
    for name in module_rules.PACKAGES:
        spec = importlib.util.find_spec(name)
        for place in (spec and spec.submodule_search_locations) or ():
            yield Path(place).resolve()
            libraries = Path(place).resolve().with_name(f"{name}.libs")
            if libraries.is_dir():
                yield libraries


@functools.cache
def readable() -> tuple[str, ...]:
    """What Landlock lets a worker read. Its rules cannot except a folder, so they go around it."""
    foreign = foreign_packages()
    system = [*map(Path, libraries()), Path("/etc/ld.so.cache")]
    devices = [Path("/dev/urandom"), Path("/dev/zero"), Path("/proc/cpuinfo")]
    files = [p for top in [*system, *python_files()] for p in _around(top.resolve(), foreign)]
    cpus = Path("/sys/devices/system/cpu")
    return tuple(map(str, dict.fromkeys([*files, *packages(), places.WORKER, *devices, cpus])))


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
def site() -> Path:
    """A folder from which the importable packages, and no others, can be imported."""
    folder = tempfile.TemporaryDirectory(prefix="jaxprentice-")
    _folders.append(folder)
    for path in packages():
        Path(folder.name, path.name).symlink_to(path)
    return Path(folder.name)


def folders() -> list[str]:
    """The folders of this process that are kept until it ends, for a process that outlives it."""
    return [folder.name for folder in _folders]


_folders: list[Any] = []  # kept until the process ends, and removed then
