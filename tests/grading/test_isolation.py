"""What a worker can and cannot do, on every rung of the ladder that this machine has."""

import contextlib
import errno
import os
import platform
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest
from accounts import only_root, run_as

from autograder.lessons import places
from autograder.lessons.problem import Problem
from autograder.sandbox import cgroup, isolation, launch, visible
from autograder.sandbox.limits import Limits
from autograder.sandbox.visible import NotIsolated
from autograder.sandbox.worker import Died, Nonsense, TimedOut, Worker
from autograder.worker import confine, wire

STRICT = ("namespaces", "landlock")


def need(level):
    reason = isolation.detect(level)
    if reason is not None:
        assert isolation.detect("process") is None, "not even a worker without isolation starts"
        assert not reason.startswith(("it does not hold", "the worker"))
        pytest.skip(f"no isolation {level!r}: {reason}")


@pytest.fixture(params=isolation.LEVELS)
def level(request):
    need(request.param)
    return request.param


@pytest.fixture(params=STRICT)
def strict(request):
    need(request.param)
    return request.param


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A package to ask, without the seal, which hides what the layers below it refuse."""
    list(map(isolation.detect, isolation.LEVELS))
    monkeypatch.setattr(launch, "SEALED", ())
    package = tmp_path / "tree" / "thing"
    package.mkdir(parents=True)
    package.joinpath("__init__.py").write_text("from thing.module import value\n")
    package.joinpath("module.py").write_text("value = 7\n")
    return package.parent


def run(worker, body, *args, seconds=20):
    """The reply of a probe with this body."""
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    source = f"def probe(thing, *args):\n{lines}"
    reply = worker.ask(["call", source, "probe", wire.encode(list(args)), False], seconds)
    return wire.decode(reply[1]) if reply[0] == "value" else reply


def ask(tree, level, body, *args, limits=None):
    with Worker(tree, "thing/module.py", level, limits or Limits()) as worker:
        return run(worker, body, *args)


IMPORTS = "import fcntl, mmap, os, resource, signal, socket, subprocess, sys"


def attempts(acts):
    """The body of a probe that tells which of these statements are not refused."""
    lines = [IMPORTS, "done = []"]
    for name, act in acts.items():
        lines += ["try:", f"    {act}", f"    done.append({name!r})"]
        lines += ["except (OSError, ValueError, ImportError) as error:"]
        lines += [f"    done += [{name!r}] * isinstance(error, ConnectionRefusedError)"]
    return "\n".join([*lines, "return done"])


def test_a_worker_imports_the_tree_and_answers(tree, level):
    with Worker(tree, "thing/module.py", level) as worker:
        assert worker.ask(["import"], 20) == ["value", None]
        assert run(worker, "return thing.value + args[0]", 1) == 8
        assert run(worker, "return np.float32(2)") == 2


def test_the_worker_says_which_layers_hold(tree, strict):
    with Worker(tree, "thing/module.py", strict) as worker:
        assert "limits" in worker.layers
        assert strict == "namespaces" or worker.layers == ("limits", "landlock", "seccomp")


def test_prints_and_input_go_nowhere(tree, level):
    body = """
import os, sys
print("x" * 1_000_000)
os.write(1, b"garbage"), os.write(2, b"garbage")
return sys.stdin.read()
"""
    assert ask(tree, level, body) == ""


SOCKET = "s = socket.socket(socket.AF_INET, socket.SOCK_{}); s.settimeout(2); s.connect({}); "
OUTSIDE = {
    **{f"reads file {i}": f"open(args[2][{i}]).read()" for i in range(2)},
    **{f"lists folder {i}": f"os.listdir(args[3][{i}])" for i in range(3)},
    "changes the tree": "open(thing.__file__, 'a')",
    "adds to the tree": "open(os.path.join(os.path.dirname(thing.__file__), 'new.py'), 'a')",
    "writes a file": "open('/tmp/f', 'wb', buffering=0).write(b'x' * 65536)",
    "finds the grader": "os.kill(args[0], 0)",
    "reads its variables": "open(f'/proc/{args[0]}/environ').read()",
    "finds its parent": "os.kill(os.getppid(), 0)",
    **{
        f"sends a {kind} to {address[0]}": SOCKET.format(kind, address) + "s.send(b'x')"
        for kind in ("STREAM", "DGRAM")
        for address in (("127.0.0.1", 9), ("192.0.2.1", 80))
    },
    "starts a process": "os.fork() or os._exit(0)",
    "runs Python": "subprocess.run([sys.executable, '-c', ''])",
    "runs a program": "os.posix_spawn('/bin/true', ['true'], {})",
    "takes shared memory": "mmap.mmap(-1, 1 << 20)",
    "takes memory of a device": "mmap.mmap(os.open('/dev/zero', os.O_RDWR), 1 << 20)",
    "limits": "resource.prlimit(args[0], resource.RLIMIT_NOFILE)",
    "cores": "os.sched_setaffinity(args[0], {0})",
    "priority": "os.setpriority(os.PRIO_PROCESS, args[0], 5)",
    "owner": "fcntl.fcntl(os.pipe()[0], fcntl.F_SETOWN, args[0])",
    "signal": "fcntl.fcntl(os.pipe()[0], 10, signal.SIGKILL)",
    "rights": "os.chmod(args[1], 0o777)",
    "times": "os.utime(args[1])",
    "attributes": "os.setxattr(args[1], 'user.x', b'x')",
    "own limits": "resource.prlimit(0, resource.RLIMIT_NOFILE)",
    "own descriptors": "fcntl.fcntl(os.pipe()[0], fcntl.F_GETFD)",
}


def test_what_reaches_outside_the_worker_is_refused(tree, strict, tmp_path):
    """No files, no network, no other processes, no memory that no limit counts."""
    (tmp_path / "file").write_text("")
    files, folders = [__file__, "/etc/passwd"], [places.SUITES, places.SOLUTIONS, places.ROOT]
    arguments = os.getpid(), str(tmp_path / "file"), files, [*map(str, folders)]
    found = ask(tree, strict, attempts(OUTSIDE), *arguments)
    assert found == ["own limits", "own descriptors"]


def test_limits_cannot_be_raised(tree, level):
    values = ("resource.RLIM_INFINITY", "4 << 30")
    acts = {x: f"resource.setrlimit(resource.RLIMIT_DATA, ({x}, {x}))" for x in values}
    assert ask(tree, level, attempts(acts)) == []


def test_nothing_but_the_dependencies_can_be_imported(tree, level):
    foreign = ["jax", "pytest", "autograder", "nbgrader", "IPython", "minijax", "pip"]
    own = ["numpy", "jaxlib", "json"]
    acts = {name: f"import {name}" for name in [*foreign, *own]}
    assert ask(tree, level, attempts(acts)) == own


def test_the_graders_environment_does_not_reach_the_worker(tree, level, monkeypatch):
    monkeypatch.setenv("JAXPRENTICE_SECRET", "hidden")
    assert "hidden" not in ask(tree, level, "import os\nreturn str(dict(os.environ))")


def test_no_open_file_of_the_grader_reaches_the_worker(tree, level, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    body = """
import os
found = []
for fd in range(3, 200):
    try:
        found.append(os.path.basename(os.readlink(f"/proc/self/fd/{fd}")))
    except OSError:
        pass
return found
"""
    with secret.open() as file:
        os.set_inheritable(file.fileno(), True)
        assert "secret" not in ask(tree, level, body)


def test_too_much_memory_is_a_memory_error_and_the_worker_lives(tree, level):
    with Worker(tree, "thing/module.py", level) as worker:
        assert run(worker, "bytearray(2 << 30)")[:2] == ["raised", "MemoryError"]
        assert run(worker, "np.ones((1 << 28,))")[:2] == ["raised", "MemoryError"]
        assert run(worker, "return 1") == 1


XLA = '''
import jaxlib.xla_client as xc
client = xc.make_cpu_client()
text = """module @m { func.func public @main(%x: tensor<f64>) -> tensor<f64> {
  %y = stablehlo.sine %x : tensor<f64>
  return %y : tensor<f64> } }"""
devices = xc.DeviceList(tuple(client.devices()[:1]))
client.compile_and_load(text, devices, xc.CompileOptions())
return client.platform
'''


def test_xla_compiles_inside(tree, level):
    assert ask(tree, level, XLA) == "cpu"


def test_a_worker_that_does_not_answer_is_given_up_in_time(tree, level):
    with Worker(tree, "thing/module.py", level) as worker:
        begin = time.monotonic()
        with pytest.raises(TimedOut):
            run(worker, "while True: pass", seconds=0.5)
    assert time.monotonic() - begin < 5


@pytest.mark.parametrize("body", ["import os; os._exit(0)", "import os; os.abort()"])
def test_a_worker_that_ends_is_noticed(tree, level, body):
    with Worker(tree, "thing/module.py", level) as worker, pytest.raises(Died):
        run(worker, body)


def dies(marker):
    """Is the process with this argument gone soon? The kernel takes a moment."""
    end = time.monotonic() + 10
    while alive(marker) and time.monotonic() < end:
        time.sleep(0.02)
    return not alive(marker)


def alive(marker):
    listing = [p for p in Path("/proc").iterdir() if p.name.isdigit()]
    found = []
    for process in listing:
        try:
            found.append(marker in process.joinpath("cmdline").read_bytes())
        except OSError:
            continue
    return any(found)


KEY = 0x6A7870  # of a segment of shared memory that a worker asks for
LEAVE = f"""
import contextlib, ctypes, os, tempfile, threading, time
from multiprocessing import shared_memory
def daemon():
    if os.fork() == 0:
        os.setsid()
        time.sleep(60)
for leave in (daemon, lambda: tempfile.mkstemp(prefix=args[0]),
              lambda: shared_memory.SharedMemory(args[0], create=True, size=4096)):
    with contextlib.suppress(OSError):
        leave()
ctypes.CDLL(None).shmget({KEY}, 4096, 0o1666)
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
"""
ENDINGS = ("return 1", "os._exit(0)", "os.abort()", "while True: pass")


def leave(tree, level, mark, ending):
    """Start a worker that leaves what it can and ends in one of four ways, and close it."""
    with Worker(tree, "thing/module.py", level) as worker, contextlib.suppress(Died, TimedOut):
        assert alive(str(tree).encode())
        run(worker, f"{LEAVE}{ending}", mark, seconds=0.2 if "while" in ending else 20)


def left(tree, mark):
    """What there is of workers of this tree: by each place, its number or names."""
    own = f"{cgroup.PREFIX}{os.getpid()}-*"
    named = [path for folder in ("/dev/shm", "/tmp") for path in Path(folder).glob(f"*{mark}*")]
    segments = [x for x in Path("/proc/sysvipc/shm").read_text().split() if x == str(KEY)]
    return {
        "processes": alive(str(tree).encode()),
        "children": [x.read_text() for x in Path("/proc/self/task").glob("*/children")],
        "control groups": [x for top in cgroup.places().values() for x in top.glob(own)],
        "temporary files": sorted(Path(tempfile.gettempdir()).iterdir()),
        "shared memory": [*named, *segments],
        "open files": len([*Path("/proc/self/fd").iterdir()]),
        "threads": threading.active_count(),
    }


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="reads /proc, which only Linux has")
@pytest.mark.parametrize("count", [4, pytest.param(1000, marks=pytest.mark.full)])
def test_nothing_is_left_of_many_workers(tree, level, count, tmp_path, monkeypatch):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    mark = f"jxp{secrets.token_hex(5)}"
    leave(tree, level, mark, ENDINGS[0])  # the folders that last as long as the grader are made
    assert dies(str(tree).encode())
    before = left(tree, mark)
    for number in range(count):
        leave(tree, level, mark, ENDINGS[number % len(ENDINGS)])
    assert dies(str(tree).encode())
    assert left(tree, mark) == before
    assert not before["processes"]
    assert not before["shared memory"]


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="reads /proc, which only Linux has")
def test_a_worker_does_not_outlive_the_grader(tree, level, tmp_path):
    script = (
        "import sys, os, time; from pathlib import Path;"
        "from autograder.sandbox.worker import Worker;"
        "w = Worker(Path(sys.argv[1]), 'thing/module.py', sys.argv[2]);"
        "endless = ['call', 'def f(t):\\n while 1: pass', 'f', ['l'], False];"
        "w.messages.put([1, 60, *endless]); time.sleep(0.5); os.kill(os.getpid(), 9)"
    )
    command = [sys.executable, "-c", script, str(tree), level]
    path = os.pathsep.join([str(places.ROOT), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path, "TMPDIR": str(tmp_path)}
    assert subprocess.run(command, env=environment, check=False).returncode == -9
    assert dies(str(tree).encode())


# Going over each limit

BURN = """
import signal, threading
signal.setitimer(signal.ITIMER_PROF, 0)
signal.signal(signal.SIGXCPU, signal.SIG_IGN)
try:
    import resource
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (hard, hard))
except Exception:
    pass
while True:
    pass
"""


def ended(worker, cpu, body):
    """How a worker ends that may take so many seconds of CPU for this probe."""
    source = "def probe(thing):\n" + "\n".join(f"    {line}" for line in body.splitlines())
    with pytest.raises(Died):
        worker._exchange([1, cpu, "call", source, "probe", ["l"], False], 60)
    return worker.exit_status()


TAKE = "import time; end = time.process_time() + 0.7\nwhile time.process_time() < end: pass"
STOP = "import signal; signal.setitimer(signal.ITIMER_PROF, 0)\nwhile True: pass"


@pytest.mark.parametrize(
    ("body", "cpu", "most", "number"),
    [
        (TAKE, 0.4, 120, signal.SIGPROF),
        (STOP, 0.3, 120, signal.SIGXCPU),
        (BURN, 1, 2, signal.SIGKILL),
    ],
    ids=["a probe's limit", "stops its timer", "lifts its limit"],
)
def test_a_probe_may_take_only_so_much_cpu(tree, level, body, cpu, most, number):
    with Worker(tree, "thing/module.py", level, Limits(cpu_seconds=most)) as worker:
        assert ended(worker, cpu, body) == -number


THREADS = """
import threading, time
threading.stack_size(65536)
count = 0
try:
    while count < 5000:
        threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
        count += 1
except RuntimeError:
    pass
return count
"""


def test_threads_are_limited_in_number(tree, level):
    if "pids" not in cgroup.held():
        pytest.skip("no control group for processes")
    assert 20 <= ask(tree, level, THREADS, limits=Limits(threads=60)) < 60


def test_threads_are_limited_without_control_groups(tree, level, monkeypatch):
    monkeypatch.setattr(cgroup, "places", dict)
    with pytest.raises(Died):
        ask(tree, level, THREADS.replace("return count", "time.sleep(30)"))
    assert ask(tree, level, "return 1") == 1


def test_a_worker_may_take_no_threads_from_those_beside_it(tree, level, monkeypatch):
    monkeypatch.setattr(cgroup, "places", dict)
    with Worker(tree, "thing/module.py", level) as greedy:
        with contextlib.suppress(Died):
            run(greedy, THREADS)
        assert ask(tree, level, XLA) == "cpu"


OPEN = """
import os
held = []
try:
    while len(held) < 5000:
        held.append(os.open(os.devnull, os.O_RDONLY))
except OSError:
    pass
return len(held)
"""


def test_open_files_are_limited_in_number(tree, level):
    assert 20 < ask(tree, level, OPEN, limits=Limits(open_files=60)) < 60


CALL = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
found = []
for call in {}:
    ctypes.set_errno(0)
    libc.syscall(*map(ctypes.c_long, call))
    found.append(ctypes.get_errno())
return found
"""
MMAP, MADVISE, FCNTL, PRCTL, IOCTL, CLONE = 9, 28, 72, 157, 16, 56
NUMBERS = {
    "socketpair": 53, "sendto": 44, "flock": 73, "getrusage": 98, "mincore": 27, "fadvise64": 221,
    "readahead": 187, "preadv2": 327, "cachestat": 451, "memfd_create": 319, "setsid": 112,
    "inotify_init1": 294, "statfs": 137, "process_madvise": 440,
}  # fmt: skip
CALLS = {
    **{name: [number] + [0] * 6 for name, number in NUMBERS.items()},
    # Calls that are allowed with other arguments.
    "a stack that grows": [MMAP, 0, 4096, 3, 0x122, -1, 0],
    "huge pages": [MMAP, 0, 4096, 3, 0x40022, -1, 0],
    "empties the cache": [MADVISE, 0, 0, 21],
    "a lock": [FCNTL, 0, 6, 0],
    "a signal for each write": [FCNTL, 0, 8, 0],
    "lives longer than the grader": [PRCTL, 1, 0, 0, 0, 0],
    "its memory can be read": [PRCTL, 4, 1, 0, 0, 0],
    "types into the terminal": [IOCTL, 0, 0x5412, 0],
    "a process": [CLONE, 17, 0, 0, 0, 0],
    "a network of its own": [CLONE, 0x403D0F00, 0, 0, 0, 0],
}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers are those of x86_64")
def test_calls_are_allowed_by_list_and_by_their_arguments(tree, level):
    expected = [errno.ENOSYS if call[0] >= 424 else errno.EPERM for call in CALLS.values()]
    found = ask(tree, level, CALL.format([*CALLS.values()]))
    assert dict(zip(CALLS, found, strict=True)) == dict(zip(CALLS, expected, strict=True))


@pytest.mark.parametrize("machine", confine._MACHINES)
def test_the_list_fits_each_kind_of_machine(machine):
    _, column = confine._MACHINES[machine]
    calls = confine.calls(column)
    assert len(set(calls.values())) == len(calls)
    assert {*confine._ONLY, *confine._WITHOUT} <= calls.keys()
    assert set(confine._SEALED.split()) < confine.calls(1).keys()
    assert len(list(confine._filter(*confine._MACHINES[machine], calls))) < 4096


def test_a_sandbox_holds_nothing_of_the_system_but_libraries(tree):
    need("namespaces")
    body = """
import os
return [sorted(os.listdir(x)) for x in ("/", "/usr", "/proc", "/etc") if os.path.exists(x)], \
    [name for name in os.listdir("/libraries") if ".so" not in name]
"""
    (top, *others), odd = ask(tree, "namespaces", body)
    assert {"libraries", "site", "tree", "worker"} <= set(top)
    assert ["cpuinfo"] in others
    assert not odd


def test_memory_is_bounded_in_all_ways(tree, level, monkeypatch):
    """Also what is made read-only afterwards, which is no data any more."""
    monkeypatch.setattr(cgroup, "places", dict)
    body = """
import ctypes, mmap
held = []
protect = ctypes.CDLL(None).mprotect
protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
try:
    while len(held) < 100:
        held.append(mmap.mmap(-1, 1 << 26, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
        protect(ctypes.addressof(ctypes.c_char.from_buffer(held[-1])), 1 << 26, 1)
except OSError:
    pass
return len(held) << 26
"""
    limits = Limits()
    assert ask(tree, level, body, limits=limits) < limits.address_space < 100 << 26


FORGED = {
    "huge": b"\xff\xff\xff\xff",
    "deep": (50_001).to_bytes(4, "big") + b"\x91" * 50_000 + b"\x90",
    "nonsense": b"\0\0\0\1\xc1",
    "another number": b"\0\0\0\4\x93\x63\x01\x01",
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_messages_are_told_from_a_death(tree, level, name):
    body = """
import os
for descriptor in range(3, 64):
    try:
        os.write(descriptor, args[0])
    except OSError:
        pass
"""
    with Worker(tree, "thing/module.py", level) as worker, pytest.raises(Nonsense):
        run(worker, body, FORGED[name])


# What a submission starts where nothing refuses it


DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for descriptor in range(0, 64) if args[1] else ():
            try:
                os.close(descriptor)
            except OSError:
                pass
        time.sleep(300)
    os._exit(0)
os.wait()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="orphans are adopted on Linux only")
@pytest.mark.parametrize("closes", [True, False], ids=["closes pipes", "holds pipes"])
@pytest.mark.parametrize("means", ["keeper", "group"])
def test_a_daemon_ends_with_its_worker(tree, monkeypatch, means, closes):
    need("process")
    monkeypatch.setitem(launch.LAYERS, "process", ())
    if means == "keeper":
        monkeypatch.setattr(cgroup, "places", dict)
    elif cgroup.places():
        monkeypatch.setattr(launch, "_keeper", list)
    else:
        pytest.skip("no control groups here")
    marker = str(tree).encode()
    with Worker(tree, "thing/module.py", "process") as worker:
        run(worker, DAEMON, "", closes)
        worker.process.kill() if means == "group" else None
        time.sleep(0.1)
        assert alive(marker)
    assert dies(marker)


FORKS = """
import os, time
for _ in range(2000):
    try:
        if os.fork() == 0:
            os.setsid()
    except OSError:
        time.sleep(0.01)
time.sleep(60)
"""


def test_a_fork_bomb_is_contained_and_swept(tree, monkeypatch):
    need("process")
    if "pids" not in cgroup.held():
        pytest.skip("no control group for processes")
    monkeypatch.setitem(launch.LAYERS, "process", ())
    with Worker(tree, "thing/module.py", "process", Limits(threads=40)) as worker:
        with pytest.raises(TimedOut):
            run(worker, FORKS, seconds=1)
        (most,) = [p for p in worker.group.paths if (p / "pids.max").exists()]
        assert int((most / "pids.current").read_text()) <= 40
    assert dies(str(tree).encode())


# Each layer alone: where several refuse a thing, one that is missing would not be seen


def script(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


LOOK = """
import os, sys
def is_open(descriptor):
    try:
        return bool(os.fstat(descriptor))
    except OSError:
        return False
for path in sys.argv[1:]:
    try:
        open(path + "/new", "w").close()
        print(path)
    except OSError:
        pass
for path in filter(os.path.isdir, [*sys.path, "/usr/lib/python3"]):
    for name in os.listdir(path):
        if name.endswith("-packages"):
            print(*os.listdir(os.path.join(path, name)))
print(sum(is_open(i) for i in range(3, 200)), *os.listdir("/site"))
"""


def test_the_sandbox_alone_hides_and_protects(tree):
    need("namespaces")
    python = [os.path.realpath(sys.executable), "-I", "-S", "-c", LOOK]
    places = ["/", "/dev", "/tree", "/site", "/worker", "/usr", "/tmp"]
    found = script(*launch._bubblewrap(tree), *python, *places)
    descriptors, *packages = found  # none of the places is writable
    assert int(descriptors) == 0
    assert set(packages) == {path.name for path in visible.packages()}


def confined(layer):
    """What of TRY is not refused where only this is done before."""
    code = f"{IMPORTS}\nsys.path.insert(0, {str(places.WORKER)!r}); import confine\n{layer}\n"
    body = attempts(TRY).replace("return done", "print(*done)")
    return set(script(sys.executable, "-I", "-c", code + body))


TRY = {
    "read": "open('/etc/hostname').close()",
    "write": "open('/tmp/x', 'w').close()",
    "null": "open('/dev/null', 'w').close()",
    "fork": "os.fork() or os._exit(0)",
    "socket": "socket.socket().close()",
    "signal": "os.kill(os.getppid(), 0)",
    "run": "os.posix_spawn('/bin/true', ['true'], {})",
    "own": "os.kill(os.getpid(), 0)",
}


def test_landlock_alone_closes_the_files():
    need("landlock")
    rule = "confine.give_up_privileges(); confine.restrict_files(['/usr'], ['/dev/null'])"
    found = confined(rule)
    assert not {"read", "write"} & found
    assert {"null", "fork", "socket", "own"} <= found


def test_seccomp_alone_refuses_processes_sockets_and_signals():
    need("landlock")
    found = confined("confine.give_up_privileges(); confine.refuse_calls()")
    assert found - {"write"} == {"read", "null", "own"}


# The ladder


NOBODY = "12345"  # nobody with this number exists, and none needs to
RUNGS = """
from autograder.sandbox import isolation
print({level: isolation.detect(level) for level in isolation.LEVELS})
"""
HOLD = "cannot or network or refused or limited or forged or left or outlive or may or says"


@only_root
def test_an_ordinary_user_has_the_same_rungs():
    own = {level: isolation.detect(level) for level in isolation.LEVELS}
    assert run_as(NOBODY, "-c", RUNGS) == f"{own}\n"


@pytest.mark.slow
@only_root
def test_the_rungs_hold_for_an_ordinary_user_as_well():
    """Many of the tests above, run as somebody without rights."""
    flags = ["-q", "-x", "-p", "no:cacheprovider", "--rootdir", str(places.ROOT), "-k", HOLD]
    said = run_as(NOBODY, "-m", "pytest", *flags, __file__)
    assert int(re.search(r"(\d+) passed", said)[1]) > 34, said
    assert "failed" not in said


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_systems_other_than_linux_have_the_last_rung_only(monkeypatch, system):
    isolation.detect.cache_clear()
    monkeypatch.setattr(isolation.sys, "platform", system)
    try:
        for level in STRICT:
            assert "only Linux" in isolation.detect(level)
        with pytest.raises(Problem, match="--isolation process") as caught:
            isolation.choose()
        assert "Grade on Linux" in str(caught.value)
        assert "read and change what you can" in str(caught.value)
    finally:
        isolation.detect.cache_clear()


def test_the_proof_can_fail(tree):
    """The same proof on the lowest rung finds what is not refused there."""
    need("process")
    with Worker(tree, "thing/module.py", "process") as worker:
        arguments = isolation._proof_arguments()
        reply = worker.ask(["call", isolation._PROOF, "proof", arguments, False], 20)
    assert "file" not in wire.decode(reply[1])


def test_without_bubblewrap_the_next_rung_is_taken(monkeypatch):
    need("landlock")
    isolation.detect.cache_clear()
    monkeypatch.setattr(launch.shutil, "which", lambda name: None)
    try:
        assert "Debian package: bubblewrap" in isolation.detect("namespaces")
        assert isolation.choose() == "landlock"
    finally:
        isolation.detect.cache_clear()


def test_strangers_work_is_refused_where_only_limits_are_left(monkeypatch):
    nothing = {"namespaces": "no bubblewrap", "landlock": "no Landlock", "process": None}
    monkeypatch.setattr(isolation, "detect", nothing.get)
    with pytest.raises(Problem, match="--isolation process"):
        isolation.choose()
    assert isolation.choose("process") == "process"
    with pytest.raises(Problem, match="no Landlock"):
        isolation.choose("landlock")
    with pytest.raises(Problem, match="Give one of"):
        isolation.choose("perfect")


def test_a_sandbox_that_cannot_start_says_why(tree, monkeypatch):
    need("namespaces")
    monkeypatch.setattr(launch, "_mounts", lambda: ("--ro-bind", "/nowhere", "/nowhere"))
    with pytest.raises(NotIsolated, match="nowhere"):
        Worker(tree, "thing/module.py", "namespaces")
