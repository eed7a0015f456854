"""What a worker may use: time, memory, files, threads."""

import contextlib
import functools
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path


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
