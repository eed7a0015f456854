"""Runs a worker where no namespace does it: when the worker ends, all that it started ends too.

A process that leaves its group and its session, and whose parent ends, is given to the nearest
process that has asked for such orphans. This one asks. It is started with the worker's command,
runs none of the student's code, and gives the worker's exit status on (a signal as 128 + signal).
"""

import contextlib
import os
import signal
import sys
import time
from pathlib import Path
from typing import NoReturn

_SECONDS = 5.0  # for the sweep; what still forks after that is stronger than this


def main(command: list[str]) -> NoReturn:
    """Run the command, and end with it or when the grader says so, leaving nothing."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    adopt_orphans()
    status = 1
    try:
        child = os.posix_spawn(command[0], command, dict(os.environ))
        _close_channels()
        while (found := os.wait())[0] != child:
            pass
        status = os.waitstatus_to_exitcode(found[1])
    finally:
        sweep()
    sys.exit(128 - status if status < 0 else status)


def adopt_orphans() -> None:
    """Become the parent of all descendants whose own parent ends, and end with the grader."""
    import ctypes

    set_parent_death_signal, set_child_subreaper = 1, 36
    control = ctypes.CDLL(None).prctl
    control(set_child_subreaper, ctypes.c_ulong(1))
    control(set_parent_death_signal, ctypes.c_ulong(signal.SIGTERM))


def _close_channels() -> None:
    """Leave the pipes to the worker alone: the grader must see when it is gone."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)


def sweep() -> None:
    """Kill children until there are none; those of the dead become ours, and follow."""
    listing = Path(f"/proc/self/task/{os.getpid()}/children")
    end = time.monotonic() + _SECONDS
    while time.monotonic() < end:
        for number in listing.read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(number), signal.SIGKILL)
        try:
            os.wait()
        except ChildProcessError:
            return


if __name__ == "__main__":
    main(sys.argv[1:])
