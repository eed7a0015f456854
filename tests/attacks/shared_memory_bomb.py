# title = "Takes memory that usual limits do not count"
# tries = "Shared mappings, mappings of /dev/zero and files in memory are nobody's data segment."
# stops = ["namespaces", "landlock"]
# only = "jvp.mul_rule"
# answer = "return fill()"
import ctypes
import mmap
import os
from contextlib import suppress


def fill():
    held = []
    libc = ctypes.CDLL(None)
    for _ in range(100):
        with suppress(OSError):
            held.append(mmap.mmap(-1, 1 << 26))
        with suppress(OSError):
            held.append(mmap.mmap(os.open("/dev/zero", os.O_RDWR), 1 << 26))
        descriptor = libc.memfd_create(b"x", 0)
        with suppress(OSError):
            os.ftruncate(descriptor, 1 << 26)
            held.append(mmap.mmap(descriptor, 1 << 26))
        libc.shmget(0, 1 << 26, 0o1600)
    for memory in held:
        memory[:] = b"x" * len(memory)
    return len(held) and carry_out("filled")
