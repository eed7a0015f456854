"""Control groups: a limit on memory and on processes that counts everything a worker starts.

Not every user may make groups, so they are taken where they can be had and never demanded. Version
2 of the kernel's groups is one tree of folders, version 1 a tree for each controller; a group is a
folder, and writing to its files is all there is to it.

Sources: cgroups(7); Documentation/admin-guide/cgroup-v2.rst of the kernel.
"""

import contextlib
import functools
import itertools
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

PREFIX = "jaxprentice-"
# The file that holds a controller's limit, in version 2 and in version 1.
_FILES = {"memory": ("memory.max", "memory.limit_in_bytes"), "pids": ("pids.max", "pids.max")}
_numbers = itertools.count()


class Group:
    """The folders that together are one worker's group; `paths` may be empty."""

    def __init__(self, limits: Mapping[str, int]) -> None:
        name = f"{PREFIX}{os.getpid()}-{next(_numbers)}"
        self.paths: list[Path] = []
        try:
            for controllers, parent in places().items():
                self.paths.append(parent / name)
                _make(parent / name, {c: limits[c] for c in controllers})
        except OSError:  # it could be had a moment ago
            self.close()

    def command(self) -> list[str]:
        """What to put before a command so that it runs in this group."""
        if not self.paths:
            return []
        enter = 'while [ "$1" != -- ]; do echo 0 > "$1"; shift; done; shift; exec "$@"'
        return ["/bin/sh", "-ec", enter, "sh", *(str(p / "cgroup.procs") for p in self.paths), "--"]

    def close(self) -> None:
        """Kill what is left in the group, and remove it."""
        for path in self.paths:
            _kill(path)
            remove(path)
        self.paths = []


def _make(path: Path, limits: Mapping[str, int]) -> None:
    path.mkdir()
    for controller, limit in limits.items():
        new, old = (path / name for name in _FILES[controller])
        (new if new.exists() else old).write_text(str(limit))
    swap = path / "memory.swap.max"
    if "memory" in limits and swap.exists():
        swap.write_text("0")


def _kill(path: Path) -> None:
    """End every process of the group, even those that are being started."""
    with contextlib.suppress(OSError):
        (path / "cgroup.kill").write_text("1")
        return
    for _ in range(100):
        for number in _processes(path):
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, 9)
        if not _processes(path):
            return
        time.sleep(0.01)


def _processes(path: Path) -> list[int]:
    try:
        return [int(line) for line in (path / "cgroup.procs").read_text().split()]
    except OSError:
        return []


def remove(path: Path) -> None:
    """Remove a group whose processes have ended."""
    for _ in range(100):  # the kernel takes a moment to forget the dead
        try:
            path.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.01)
        else:
            return


# ------------------------------------------------------------------------------------------
# Where groups can be made


@functools.cache
def places() -> dict[tuple[str, ...], Path]:
    """The folders in which a worker's groups can be made, by the controllers that hold there.

    The folder of version 2 may have none of the two: a group still ends with all its processes.
    """
    found: dict[tuple[str, ...], Path] = {}
    wanted = set(_FILES)
    for controllers, top, own in trees():
        new = not controllers
        # Below a group that holds processes limits cannot be set: there the ones above are tried.
        above = [x for x in (top / own).parents if x.is_relative_to(top)] if new else []
        for folder in [top / own, *above]:
            usable = tuple(sorted(wanted & (_enabled(folder) if new else set(controllers))))
            if (usable or new) and _works(folder, usable):
                found[usable] = folder
                wanted -= set(usable)
                break
    for folder in found.values():
        _sweep(folder)
    return found


def held() -> list[str]:
    """The controllers that hold here, sorted by name."""
    return sorted(itertools.chain.from_iterable(places()))


def trees() -> Iterator[tuple[set[str], Path, str]]:
    """The mounted trees: (controllers of version 1, or none for version 2; its top; our place)."""
    try:
        mounts = Path("/proc/self/mounts").read_text().splitlines()
        own = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:  # not Linux
        return
    kinds = [line.split()[:4] for line in mounts]
    for line in own:
        _, names, place = line.split(":", 2)
        controllers = set(filter(None, names.split(",")))
        for _, top, kind, options in kinds:
            old = kind == "cgroup" and controllers and controllers <= set(options.split(","))
            if old or (kind == "cgroup2" and not controllers):
                yield controllers, Path(top), place.lstrip("/")
                break


def _enabled(folder: Path) -> set[str]:
    """The controllers that the groups in a folder of version 2 have; switched on if possible."""
    control = folder / "cgroup.subtree_control"
    for name in _FILES:
        with contextlib.suppress(OSError):
            if name not in control.read_text().split():
                control.write_text(f"+{name}")
    try:
        return set(control.read_text().split())
    except OSError:
        return set()


def _works(folder: Path, controllers: tuple[str, ...]) -> bool:
    """Can a group be made here, limited, and entered? Tries it out."""
    path = folder / f"{PREFIX}{os.getpid()}-proof"
    child = 0
    try:
        _make(path, {name: {"memory": 1 << 30, "pids": 1000}[name] for name in controllers})
        child = os.posix_spawn("/bin/sleep", ["sleep", "5"], {})
        (path / "cgroup.procs").write_text(str(child))
        return child in _processes(path)
    except OSError:
        return False
    finally:
        if child:
            os.kill(child, 9)
            os.waitpid(child, 0)
        remove(path)


def _sweep(folder: Path) -> None:
    """Remove the empty groups that a grader left behind which was killed."""
    for path in folder.glob(f"{PREFIX}*"):
        number = path.name.removeprefix(PREFIX).partition("-")[0]
        if number.isdigit() and not Path("/proc", number).exists():
            with contextlib.suppress(OSError):
                path.rmdir()
