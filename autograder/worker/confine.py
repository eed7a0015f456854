"""What a worker does to itself before any of the student's code runs: limits, Landlock, seccomp.

All of it only takes rights away, needs no privileges, and cannot be undone by the code that comes
after. ctypes talks to the kernel, since no other library may be looked up in the sandbox.
The worker runs this file: import nothing of the repository here.
"""

import ctypes
import math
import os
import platform
import signal
import struct
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path


class Unavailable(Exception):
    """This machine does not have the kind of confinement that was asked for."""


def _call(number: int, *args: object) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    result = libc.syscall(ctypes.c_long(number), *args)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def _control(option: int, *args: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, *[ctypes.c_ulong(arg) for arg in [*args, 0, 0, 0, 0][:4]]) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


# ------------------------------------------------------------------------------------------
# Limits


def limit(limits: Mapping[str, int]) -> None:
    """Set resource limits by name, such as {"DATA": 1 << 30}; never above what holds already."""
    try:
        import resource
    except ImportError:  # Windows: only the time limits remain, and those are the grader's
        return
    for name, value in {**limits, "CORE": 0}.items():
        number = getattr(resource, f"RLIMIT_{name}", None)
        if number is not None:
            _, hard = resource.getrlimit(number)
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(number, (value, value))


def allow_cpu(seconds: float) -> None:
    """Let this process take so many seconds of CPU from now on, then SIGPROF ends it.

    Where code that comes after stops that timer, SIGXCPU follows, by a limit of whole seconds. It
    may be lifted as well, but not above the one that `limit` has set.
    """
    try:
        import resource
    except ImportError:
        return
    signal.setitimer(signal.ITIMER_PROF, seconds)
    most = math.ceil(time.process_time() + seconds)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard - 1)  # at `hard` it is SIGKILL
    resource.setrlimit(resource.RLIMIT_CPU, (most, hard))


def give_up_privileges() -> None:
    """Never gain rights again (setuid programs), drop root's, and die with the grader."""
    if sys.platform != "linux":
        return
    set_parent_death_signal, set_dumpable, set_no_new_privileges = 1, 4, 38
    header = struct.pack("=Ii", 0x20080522, 0)  # version 3 of capset, this process
    _call(126 if platform.machine() == "x86_64" else 91, header, bytes(24))
    _control(set_parent_death_signal, 9)
    _control(set_dumpable, 0)
    _control(set_no_new_privileges, 1)


def stay_on(processor: int | None) -> None:
    """Run on this processor only, with all threads to come."""
    if processor is not None:
        os.sched_setaffinity(0, {processor})


# ------------------------------------------------------------------------------------------
# Landlock: which files may be read and written; no TCP; no signals to processes outside

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446
_READ = 1 << 0 | 1 << 2 | 1 << 3  # execute (map a library), read files, read folders
_FILE_RIGHTS = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15  # those a rule for a file may give


def restrict_files(readable: Iterable[str], writable: Iterable[str]) -> None:
    """Let this process and all that it starts open only what lies under these paths."""
    if sys.platform != "linux":
        raise Unavailable("only Linux has Landlock")
    try:
        version = _call(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    except OSError as error:
        raise Unavailable("the kernel has no Landlock") from error
    rights = (1 << (13 if version < 2 else 14 if version < 3 else 15 if version < 5 else 16)) - 1
    network = 3 if version >= 4 else 0
    scope = 3 if version >= 6 else 0
    attributes = struct.pack("=QQQ", rights, network, scope)
    size = 8 if version < 4 else 16 if version < 6 else 24
    rules = _call(_CREATE, attributes[:size], ctypes.c_size_t(size), ctypes.c_uint32(0))
    for path in readable:
        _allow(rules, path, _READ)
    for path in writable:
        _allow(rules, path, rights)
    _call(_RESTRICT, ctypes.c_int(rules), ctypes.c_uint32(0))
    os.close(rules)


def _allow(rules: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there cannot be opened later either
    if not Path(path).is_dir():
        rights &= _FILE_RIGHTS
    attributes = struct.pack("=Qi", rights, place)
    _call(_ADD_RULE, ctypes.c_int(rules), ctypes.c_int(1), attributes, ctypes.c_uint32(0))
    os.close(place)


# ------------------------------------------------------------------------------------------
# seccomp: which system calls are allowed
#
# The list began as the one that container runtimes allow by default, and keeps of it what CPython,
# NumPy and XLA need, and what is harmless and usual. What is left out reaches other processes,
# takes memory that no limit counts, or tells what is in the kernel's cache of files, which outlasts
# a worker: fadvise64, preadv2, mincore, cachestat, getrusage (which counts reads from the disk).
# Each name stands with its numbers on x86_64 and on aarch64; - where there is no such call.

_CALLS = """
    read 0 63, write 1 64, readv 19 65, writev 20 66, pread64 17 67, pwrite64 18 68, lseek 8 62,
    open 2 -, openat 257 56, close 3 57, close_range 436 436, dup 32 23, dup2 33 -, dup3 292 24,
    pipe 22 -, pipe2 293 59, fcntl 72 25, ioctl 16 29, ftruncate 77 46, umask 95 166,
    stat 4 -, lstat 6 -, fstat 5 80, newfstatat 262 79, statx 332 291, access 21 -,
    faccessat 269 48, faccessat2 439 439, readlink 89 -, readlinkat 267 78, getdents64 217 61,
    getcwd 79 17, chdir 80 49, fchdir 81 50, mkdir 83 -, mkdirat 258 34, rmdir 84 -, unlink 87 -,
    unlinkat 263 35, rename 82 -, renameat 264 38, renameat2 316 276,
    poll 7 -, ppoll 271 73, select 23 -, pselect6 270 72, eventfd2 290 19, epoll_create1 291 20,
    epoll_ctl 233 21, epoll_wait 232 -, epoll_pwait 281 22, epoll_pwait2 441 441,
    mmap 9 222, munmap 11 215, mremap 25 216, mprotect 10 226, madvise 28 233, brk 12 214,
    futex 202 98, set_robust_list 273 99, set_tid_address 218 96, rseq 334 293, clone 56 220,
    exit 60 93, exit_group 231 94, gettid 186 178, getpid 39 172, getppid 110 173,
    sched_yield 24 124, sched_getaffinity 204 123, sched_setaffinity 203 122,
    sched_getparam 143 121, sched_getscheduler 145 120, sched_get_priority_max 146 125,
    sched_get_priority_min 147 126, getcpu 309 168,
    rt_sigaction 13 134, rt_sigprocmask 14 135, rt_sigreturn 15 139, rt_sigpending 127 136,
    rt_sigtimedwait 128 137, rt_sigsuspend 130 133, sigaltstack 131 132, pause 34 -,
    restart_syscall 219 128, kill 62 129, tgkill 234 131,
    clock_gettime 228 113, clock_getres 229 114, clock_nanosleep 230 115, nanosleep 35 101,
    gettimeofday 96 169, time 201 -, times 100 153, getitimer 36 102, setitimer 38 103, alarm 37 -,
    getuid 102 174, geteuid 107 175, getgid 104 176, getegid 108 177, getresuid 118 148,
    getresgid 120 150, getgroups 115 158, uname 63 160, sysinfo 99 179, getrandom 318 278,
    prlimit64 302 261, getrlimit 97 163, setrlimit 160 164, prctl 157 167, arch_prctl 158 -,
    seccomp 317 277
"""
# What a sealed worker keeps of them: computing, and its pipes. Nothing opens, asks for or maps a
# file, and nothing chooses the processor. XLA starts a thread for some programs.
_SEALED = """
    read write readv writev close
    mmap munmap mremap mprotect madvise brk futex set_robust_list rseq clone exit exit_group
    gettid getpid getppid sched_yield sched_getaffinity sched_getparam sched_getscheduler
    sched_get_priority_max sched_get_priority_min getcpu
    rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigsuspend sigaltstack
    pause restart_syscall kill tgkill poll ppoll select pselect6
    clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time times
    getitimer setitimer alarm getuid geteuid getgid getegid uname getrandom
    prlimit64 getrlimit setrlimit prctl arch_prctl
"""
_MACHINES = {"x86_64": (0xC000003E, 1), "aarch64": (0xC00000B7, 2)}  # number, column above

_SET_FILTER, _ALL_THREADS = 1, 1  # arguments of seccomp
# Calls that are allowed with these values of some arguments, counted from 0, and no others.
_ONLY: dict[str, dict[int, tuple[int, ...]]] = {
    "clone": {0: (0x3D0F00, 0x7D0F00)},  # a thread, as glibc and as musl start it
    "kill": {0: ()},  # abort() signals its own process, whose number is not known yet
    "tgkill": {0: ()},
    "prlimit64": {0: (0,)},  # the own process
    "sched_setaffinity": {0: (0,)},
    # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC: neither locks nor signals
    "fcntl": {1: (0, 1, 2, 3, 4, 1030)},
    # TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX
    "ioctl": {1: (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)},
    # MADV_NORMAL, DONTNEED, FREE, HUGEPAGE, NOHUGEPAGE, DONTDUMP: PAGEOUT empties the cache
    "madvise": {2: (0, 4, 8, 14, 15, 16)},
    # PR_SET_NAME, PR_GET_NAME, PR_SVE_GET_VL, PR_SME_GET_VL, PR_SET_VMA
    "prctl": {0: (15, 16, 51, 64, 0x53564D41)},
    "seccomp": {0: (_SET_FILTER,), 1: (_ALL_THREADS,)},  # the seal
}
# Calls that are refused with any of these bits in an argument: mappings that the limit on data does
# not count (MAP_SHARED, MAP_GROWSDOWN), or that are taken from others (MAP_LOCKED, MAP_HUGETLB).
_WITHOUT = {"mmap": (3, 0x1 | 0x100 | 0x2000 | 0x40000)}
_ANONYMOUS = 0x20  # the bit of such a mapping that is of no file

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, 16  # places in the kernel's description of a call
_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_PERMISSION, _NO_SUCH_CALL = 0x00050001, 0x00050026  # fail with EPERM, with ENOSYS
# From this number on a call is newer than Linux 5.0: libraries know kernels without it, and what to
# do there. One of them is clone3, whose flags a filter cannot see; callers fall back to clone.
_NEW = 424

Instruction = tuple[int, int, int, int]  # code, skip if true, skip if false, operand


def refuse_calls() -> None:
    """Refuse all system calls but those above: no processes, programs or sockets, among others."""
    _install(calls(1))


def seal() -> None:
    """Keep, for good and for threads that run already too, only the calls that computing takes."""
    _install(_SEALED.split())


def _install(kept: Collection[str]) -> None:
    """Refuse all system calls but those of these names to each thread of this process."""
    if sys.platform != "linux" or platform.machine() not in _MACHINES:
        raise Unavailable("there is no seccomp filter for this kind of machine")
    machine, column = _MACHINES[platform.machine()]
    program = [struct.pack("=HBBI", *step) for step in _filter(machine, column, kept)]
    code = ctypes.create_string_buffer(b"".join(program))
    pointer = struct.pack("@HP", len(program), ctypes.addressof(code))
    what = ctypes.c_uint(_SET_FILTER), ctypes.c_uint(_ALL_THREADS)
    try:
        odd = _call(calls(column)["seccomp"], *what, ctypes.create_string_buffer(pointer))
    except OSError as error:
        raise Unavailable("the kernel refuses seccomp filters") from error
    if odd:
        raise Unavailable("a thread keeps its system calls")


def _filter(machine: int, column: int, kept: Collection[str]) -> Iterator[Instruction]:
    yield (_LOAD, 0, 0, _MACHINE)
    yield (_JUMP_EQUAL, 1, 0, machine)
    yield (_RETURN, 0, 0, _KILL)
    yield (_LOAD, 0, 0, _NUMBER)
    for name, number in calls(column).items():
        if name in kept:
            rule = list(_rule(name, files="openat" in kept))
            yield (_JUMP_EQUAL, 0, len(rule), number)
            yield from rule
    yield (_JUMP_AT_LEAST, 0, 1, _NEW)
    yield (_RETURN, 0, 0, _NO_SUCH_CALL)
    yield (_RETURN, 0, 0, _PERMISSION)


def calls(column: int) -> dict[str, int]:
    """The allowed calls with their numbers on one kind of machine."""
    entries = [entry.split() for entry in _CALLS.split(",")]
    return {entry[0]: int(entry[column]) for entry in entries if entry[column] != "-"}


def _rule(name: str, files: bool) -> Iterator[Instruction]:
    """What the filter does with one of the calls; it ends in a verdict. May `files` be mapped?"""
    for argument, values in _ONLY.get(name, {}).items():
        checks = values or (os.getpid(),)
        yield (_LOAD, 0, 0, _ARGUMENTS + 8 * argument)
        for left, value in zip(reversed(range(len(checks))), checks, strict=True):
            yield (_JUMP_EQUAL, left + 1, 0, value)
        yield (_RETURN, 0, 0, _PERMISSION)
    if name in _WITHOUT:
        argument, bits = _WITHOUT[name]
        yield (_LOAD, 0, 0, _ARGUMENTS + 8 * argument)
        yield (_JUMP_BITS, 0, 1, bits)
        yield (_RETURN, 0, 0, _PERMISSION)
    if name == "mmap" and not files:
        yield (_JUMP_BITS, 1, 0, _ANONYMOUS)
        yield (_RETURN, 0, 0, _PERMISSION)
    yield (_RETURN, 0, 0, _ALLOW)
