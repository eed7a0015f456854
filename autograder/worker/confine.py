"""What a worker does to itself before any of the student's code runs: limits, Landlock, seccomp.

All of it only takes rights away, needs no privileges, and cannot be undone by the code that comes
after. ctypes talks to the kernel, since no other library may be looked up in the sandbox.
The worker runs this file: import nothing of the repository here.
"""

import ctypes
import math
import os
import platform
import struct
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
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


def allow_cpu(seconds: int) -> None:
    """Let this process take so many seconds of CPU from now on, then SIGXCPU ends it.

    Code that comes after may lift this limit, but not above the one that `limit` has set.
    """
    try:
        import resource
    except ImportError:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = math.ceil(used.ru_utime + used.ru_stime) + seconds
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    most = (
        most if hard == resource.RLIM_INFINITY else min(most, hard - 1)
    )  # at `hard` it is SIGKILL
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
# seccomp: which system calls are refused. A process needs threads, and nothing more of its kind.
# The last lines are for what Landlock does not see: rights, owners, times and attributes of files,
# and what touches other processes of the same user without a signal.

_X86_64 = """
    fork 57, vfork 58, execve 59, execveat 322, socket 41, ptrace 101, process_vm_readv 310,
    process_vm_writev 311, kcmp 312, tkill 200, rt_sigqueueinfo 129, rt_tgsigqueueinfo 297,
    pidfd_open 434, pidfd_send_signal 424, pidfd_getfd 438, unshare 272, setns 308, mount 165,
    umount2 166, pivot_root 155, chroot 161, bpf 321, perf_event_open 298, userfaultfd 323,
    io_uring_setup 425, memfd_create 319, memfd_secret 447, open_by_handle_at 304, shmget 29,
    msgget 68, semget 64, add_key 248, request_key 249, keyctl 250, init_module 175,
    finit_module 313, kexec_load 246,
    chmod 90, fchmod 91, fchmodat 268, fchmodat2 452, chown 92, fchown 93, lchown 94, fchownat 260,
    utime 132, utimes 235, futimesat 261, utimensat 280, setxattr 188, lsetxattr 189, fsetxattr 190,
    removexattr 197, lremovexattr 198, fremovexattr 199, setxattrat 463, removexattrat 466,
    file_setattr 469, inotify_init 253, inotify_init1 294, fanotify_init 300, mq_open 240,
    setpriority 141, ioprio_set 251, sched_setparam 142, sched_setscheduler 144, sched_setattr 314,
    migrate_pages 256, move_pages 279
"""
_AARCH64 = """
    execve 221, execveat 281, socket 198, ptrace 117, process_vm_readv 270,
    process_vm_writev 271, kcmp 272, tkill 130, rt_sigqueueinfo 138, rt_tgsigqueueinfo 240,
    pidfd_open 434, pidfd_send_signal 424, pidfd_getfd 438, unshare 97, setns 268, mount 40,
    umount2 39, pivot_root 41, chroot 51, bpf 280, perf_event_open 241, userfaultfd 282,
    io_uring_setup 425, memfd_create 279, memfd_secret 447, open_by_handle_at 265, shmget 194,
    msgget 186, semget 190, add_key 217, request_key 218, keyctl 219, init_module 105,
    finit_module 273, kexec_load 104,
    fchmod 52, fchmodat 53, fchmodat2 452, fchownat 54, fchown 55, utimensat 88, setxattr 5,
    lsetxattr 6, fsetxattr 7, removexattr 14, lremovexattr 15, fremovexattr 16, setxattrat 463,
    removexattrat 466, file_setattr 469, inotify_init1 26, fanotify_init 262, mq_open 180,
    setpriority 140, ioprio_set 30, sched_setparam 118, sched_setscheduler 119, sched_setattr 274,
    migrate_pages 238, move_pages 239
"""
# Calls that are refused for some arguments only.
_SPECIAL = (
    *("clone", "clone3", "kill", "tgkill", "mmap", "fcntl", "ioctl", "prlimit64"),
    "sched_setaffinity",
)
# Machine: its number in the kernel, the refused calls, the numbers of the special ones.
_MACHINES = {
    "x86_64": (0xC000003E, _X86_64, (56, 435, 62, 234, 9, 72, 16, 302, 203)),
    "aarch64": (0xC00000B7, _AARCH64, (220, 435, 129, 131, 222, 25, 29, 261, 122)),
}

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
# Places in the kernel's description of a call.
_NUMBER, _MACHINE, _FIRST_ARGUMENT, _SECOND_ARGUMENT, _FOURTH_ARGUMENT = 0, 4, 16, 24, 40
_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_PERMISSION, _NO_SUCH_CALL = 0x00050001, 0x00050026  # fail with EPERM, with ENOSYS
_CLONE_THREAD = 0x10000
_MAP_SHARED = 1
# fcntl's F_SETOWN, F_SETSIG, F_SETOWN_EX and ioctl's FIOSETOWN, SIOCSPGRP, TIOCSTI: a file that
# sends signals to another process, or types into its terminal.
_OWNED_BY = {"fcntl": (8, 10, 15), "ioctl": (0x8901, 0x8902, 0x5412)}

Instruction = tuple[int, int, int, int]  # code, skip if true, skip if false, operand


def refuse_calls() -> None:
    """Refuse new processes, programs, sockets, and whatever reaches into other processes."""
    if sys.platform != "linux" or platform.machine() not in _MACHINES:
        raise Unavailable("there is no seccomp filter for this kind of machine")
    machine, refused, special = _MACHINES[platform.machine()]
    numbers = [int(entry.split()[1]) for entry in refused.split(",")]
    known = dict(zip(_SPECIAL, special, strict=True))
    program = [struct.pack("=HBBI", *step) for step in _filter(machine, numbers, known)]
    code = ctypes.create_string_buffer(b"".join(program))
    pointer = struct.pack("@HP", len(program), ctypes.addressof(code))
    description = ctypes.create_string_buffer(pointer)
    set_seccomp, mode_filter = 22, 2
    try:
        _control(set_seccomp, mode_filter, ctypes.addressof(description))
    except OSError as error:
        raise Unavailable("the kernel refuses seccomp filters") from error


def _filter(
    machine: int, refused: Sequence[int], special: Mapping[str, int]
) -> Iterator[Instruction]:
    yield (_LOAD, 0, 0, _MACHINE)
    yield (_JUMP_EQUAL, 1, 0, machine)
    yield (_RETURN, 0, 0, _KILL)
    yield (_LOAD, 0, 0, _NUMBER)
    yield (_JUMP_AT_LEAST, 0, 1, 0x40000000)  # another way to count calls, on x86_64
    yield (_RETURN, 0, 0, _PERMISSION)
    for number in refused:
        yield (_JUMP_EQUAL, 0, 1, number)
        yield (_RETURN, 0, 0, _PERMISSION)
    yield (
        _JUMP_EQUAL,
        0,
        1,
        special["clone3"],
    )  # its flags cannot be seen here; callers fall back to clone
    yield (_RETURN, 0, 0, _NO_SUCH_CALL)
    yield from _unless(special["clone"], _FIRST_ARGUMENT, (_JUMP_BITS, 1, 0, _CLONE_THREAD))
    for name in ("kill", "tgkill"):  # abort() signals its own process
        yield from _unless(special[name], _FIRST_ARGUMENT, (_JUMP_EQUAL, 1, 0, os.getpid()))
    for name in ("prlimit64", "sched_setaffinity"):  # 0 is the own process
        yield from _unless(special[name], _FIRST_ARGUMENT, (_JUMP_EQUAL, 1, 0, 0))
    # The limit on memory does not count what is shared.
    yield from _unless(special["mmap"], _FOURTH_ARGUMENT, (_JUMP_BITS, 0, 1, _MAP_SHARED))
    for name, commands in _OWNED_BY.items():
        for command in commands:
            yield from _refuse_if(special[name], command)
    yield (_RETURN, 0, 0, _ALLOW)


def _refuse_if(number: int, command: int) -> Iterator[Instruction]:
    """Refuse call `number` with this second argument, and leave the number to what follows."""
    yield (_JUMP_EQUAL, 0, 4, number)
    yield (_LOAD, 0, 0, _SECOND_ARGUMENT)
    yield (_JUMP_EQUAL, 0, 1, command)
    yield (_RETURN, 0, 0, _PERMISSION)
    yield (_LOAD, 0, 0, _NUMBER)


def _unless(number: int, argument: int, test: Instruction) -> Iterator[Instruction]:
    """Refuse call `number` unless the test of this argument jumps over the refusal."""
    yield (_JUMP_EQUAL, 0, 4, number)
    yield (_LOAD, 0, 0, argument)
    yield test
    yield (_RETURN, 0, 0, _PERMISSION)
    yield (_RETURN, 0, 0, _ALLOW)
