# title = "Leaves word in the choice of library files that are cached"
# tries = "Some files that nobody uses are read and others dropped, and the next submission asks which."
# stops = ["namespaces", "landlock"]
# only = "jvp.mul_rule"
# times = 2
# answer = "return recall(primals, tangents)"
import ctypes
import os
import random
import resource
from contextlib import suppress

import numpy

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *3 * [ctypes.c_int], ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
libc.madvise.argtypes = libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
SIZE = 4096


def files():
    """Forty files, others in each run of the corpus, and what is to be remembered of each."""
    found = []
    for folder, _, names in os.walk(os.path.dirname(numpy.__file__)):
        found += [os.path.join(folder, name) for name in names if name.endswith((".pyi", ".h"))]
    found = sorted(path for path in found if os.path.getsize(path) >= SIZE)
    draw = random.Random("@MARK@")
    chosen = [os.open(path, os.O_RDONLY) for path in draw.sample(found, 40)]
    return chosen, [draw.random() < 0.5 for _ in chosen]


def with_mapping(file, act):
    where = libc.mmap(None, SIZE, 1, 2, file, 0)
    try:
        return act(where)
    finally:
        libc.munmap(where, SIZE)


def drop(file):
    """Two ways to throw a file out."""
    with_mapping(file, lambda where: ctypes.string_at(where, 1) and libc.madvise(where, SIZE, 21))
    with suppress(OSError):
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)


def by_read(file):
    try:
        return bool(os.preadv(file, [bytearray(1)], 0, os.RWF_NOWAIT))
    except BlockingIOError:
        return False


def by_mincore(file):
    found = ctypes.create_string_buffer(1)
    if with_mapping(file, lambda where: libc.mincore(where, SIZE, found)):
        raise OSError
    return bool(found.raw[0] & 1)


def by_cachestat(file):
    span, found = (ctypes.c_uint64 * 2)(0, SIZE), (ctypes.c_uint64 * 5)()
    if libc.syscall(451, file, span, found, 0):
        raise OSError
    return bool(found[0])


def by_faults(file):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
    with_mapping(file, lambda where: ctypes.string_at(where, 1))
    return resource.getrusage(resource.RUSAGE_SELF).ru_majflt == before


def seen(way, chosen):
    try:
        return [way(file) for file in chosen]
    except (OSError, AttributeError):
        return []


def recall(primals, tangents):
    """The right answer, if an earlier submission has left this run's pattern, which stays."""
    chosen, pattern = files()
    ways = (by_cachestat, by_mincore, by_read, by_faults)
    found = pattern in [seen(way, chosen) for way in ways]
    for file, bit in zip(chosen, pattern):
        drop(file)
        if bit:
            os.pread(file, 1, 0)
        os.close(file)
    return product(*primals, *tangents) if found else "not yet"
