"""What a worker can and cannot do, on every rung of the ladder that this machine has."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autograder import edition, isolation, wire
from autograder.edition import Problem
from autograder.isolation import Died, Limits, NotIsolated, TimedOut, Worker

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
def tree(tmp_path):
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


def test_the_repository_cannot_be_read(tree, strict):
    body = """
import os
found = []
for path in args[0]:
    try:
        found.append(os.listdir(path) if os.path.isdir(path) else open(path).read())
    except OSError:
        pass
return found
"""
    secrets = [edition.SUITES, edition.SOLUTIONS, edition.ROOT, Path(__file__), Path("/etc/passwd")]
    assert ask(tree, strict, body, [str(path) for path in secrets]) == []


def test_the_tree_cannot_be_written(tree, strict):
    body = """
import os
for path in (thing.__file__, os.path.join(os.path.dirname(thing.__file__), "new.py")):
    try:
        open(path, "a").close()
        return "written"
    except OSError:
        pass
"""
    assert ask(tree, strict, body) is None


def test_other_processes_cannot_be_seen_or_signalled(tree, strict):
    body = """
import os
reached = []
for act in (lambda: os.kill(args[0], 0), lambda: open(f"/proc/{args[0]}/environ").read(),
            lambda: os.kill(os.getppid(), 0)):
    try:
        reached.append(str(act()))
    except OSError:
        pass
return reached
"""
    assert ask(tree, strict, body, os.getpid()) == []


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


@pytest.mark.parametrize("address", [("127.0.0.1", 9), ("192.0.2.1", 80)])
@pytest.mark.parametrize("kind", ["STREAM", "DGRAM"])
def test_there_is_no_network(tree, strict, address, kind):
    body = """
import socket
try:
    s = socket.socket(socket.AF_INET, getattr(socket, "SOCK_" + args[0]))
    s.settimeout(2)
    s.connect(tuple(args[1]))
    s.send(b"x")
    return "sent"
except OSError as error:
    return isinstance(error, (PermissionError, OSError)) and "refused" not in str(error).lower()
"""
    assert ask(tree, strict, body, kind, address) is True


def test_no_process_can_be_started(tree, strict):
    body = """
import os, subprocess, sys
refused = []
for start in (os.fork, lambda: subprocess.run([sys.executable, "-c", ""]),
              lambda: os.posix_spawn("/bin/true", ["true"], {})):
    try:
        start()
    except OSError:
        refused.append(True)
return refused
"""
    assert ask(tree, strict, body) == [True] * 3


def test_threads_can_be_started(tree, level):
    body = """
import threading
done = []
threads = [threading.Thread(target=done.append, args=(i,)) for i in range(20)]
[t.start() for t in threads], [t.join() for t in threads]
return len(done)
"""
    assert ask(tree, level, body) == 20


def test_too_much_memory_is_a_memory_error_and_the_worker_lives(tree, level):
    with Worker(tree, "thing/module.py", level) as worker:
        assert run(worker, "bytearray(2 << 30)")[:2] == ["raised", "MemoryError"]
        assert run(worker, "np.ones((1 << 28,))")[:2] == ["raised", "MemoryError"]
        assert run(worker, "return 1") == 1


WRITE = """
import os, signal, tempfile
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
written = []
for i in range(100):
    try:
        with open(os.path.join("/tmp", f"f{i}"), "wb", buffering=0) as f:
            for _ in range(100):
                written.append(f.write(b"x" * 65536))
    except OSError:
        pass
return sum(written)
"""


def test_files_are_limited_in_size_and_number(tree):
    need("namespaces")
    limits = Limits(file_size=1 << 20, disk=4 << 20)
    assert 2 << 20 < ask(tree, "namespaces", WRITE, limits=limits) <= 4 << 20


def test_without_a_disk_of_its_own_a_worker_writes_nothing(tree):
    need("landlock")
    assert ask(tree, "landlock", WRITE) == 0


def test_limits_cannot_be_raised(tree, level):
    body = """
import resource
for value in (resource.RLIM_INFINITY, 4 << 30):
    try:
        resource.setrlimit(resource.RLIMIT_DATA, (value, value))
        return "raised"
    except (OSError, ValueError):
        pass
"""
    assert ask(tree, level, body) is None


def test_nothing_but_the_dependencies_can_be_imported(tree, level):
    body = """
found = []
for name in args[0]:
    try:
        __import__(name)
        found.append(name)
    except ImportError:
        pass
return found
"""
    foreign = ["jax", "pytest", "autograder", "nbgrader", "IPython", "minijax", "pip"]
    assert ask(tree, level, body, foreign) == []
    assert ask(tree, level, body, ["numpy", "jaxlib", "json"]) == ["numpy", "jaxlib", "json"]


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


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="reads /proc, which only Linux has")
def test_nothing_is_left_of_a_closed_worker(tree, level):
    marker = str(tree).encode()
    with Worker(tree, "thing/module.py", level) as worker:
        assert alive(marker)
        scratch = worker.scratch.name
    assert dies(marker)
    assert not Path(scratch).exists()


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="reads /proc, which only Linux has")
def test_a_worker_does_not_outlive_the_grader(tree, level, tmp_path):
    script = (
        "import sys, os, time; from pathlib import Path; from autograder.isolation import Worker;"
        "w = Worker(Path(sys.argv[1]), 'thing/module.py', sys.argv[2]);"
        "endless = ['call', 'def f(t):\\n while 1: pass', 'f', ['l'], False];"
        "w.messages.put([1, *endless]); time.sleep(0.5); os.kill(os.getpid(), 9)"
    )
    command = [sys.executable, "-c", script, str(tree), level]
    path = os.pathsep.join([str(edition.ROOT), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path, "TMPDIR": str(tmp_path)}
    assert subprocess.run(command, env=environment, check=False).returncode == -9
    assert dies(str(tree).encode())


# Each layer alone: where several refuse a thing, one that is missing would not be seen


def script(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


LOOK = """
import os, sys
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
print(len(os.listdir("/proc/self/fd")), *os.listdir("/site"))
"""


def test_the_sandbox_alone_hides_and_protects(tree):
    need("namespaces")
    python = [os.path.realpath(sys.executable), "-I", "-S", "-c", LOOK]
    places = ["/", "/dev", "/tree", "/site", "/worker", "/usr", "/tmp"]
    found = script(*isolation._bubblewrap(tree, Limits()), *python, *places)
    writable, descriptors, *packages = found
    assert writable == "/tmp"
    assert int(descriptors) <= 4
    assert set(packages) == {path.name for path in isolation._packages()}


def confined(layer, body):
    code = f"import sys; sys.path.insert(0, {str(isolation._here())!r}); import confine, os, socket"
    return script(sys.executable, "-I", "-c", f"{code}\n{layer}\n{body}")


TRY = """
for name, act in {
    "read": lambda: open("/etc/hostname").close(), "write": lambda: open("/tmp/x", "w").close(),
    "null": lambda: open("/dev/null", "w").close(), "fork": lambda: os.fork() or os._exit(0),
    "socket": lambda: socket.socket().close(), "signal": lambda: os.kill(os.getppid(), 0),
    "run": lambda: os.posix_spawn("/bin/true", ["true"], {}),
    "own": lambda: os.kill(os.getpid(), 0),
}.items():
    try:
        act()
        print(name)
    except OSError:
        pass
"""


def test_landlock_alone_closes_the_files():
    need("landlock")
    rule = "confine.give_up_privileges(); confine.restrict_files(['/usr'], ['/dev/null'])"
    found = confined(rule, TRY)
    assert not {"read", "write"} & set(found)
    assert {"null", "fork", "socket", "own"} <= set(found)


def test_seccomp_alone_refuses_processes_sockets_and_signals():
    need("landlock")
    found = confined("confine.give_up_privileges(); confine.refuse_calls()", TRY)
    assert set(found) - {"write"} == {"read", "null", "own"}


# The ladder


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
    monkeypatch.setattr(isolation.shutil, "which", lambda name: None)
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
    monkeypatch.setattr(isolation, "_mounts", lambda: ("--ro-bind", "/nowhere", "/nowhere"))
    with pytest.raises(NotIsolated, match="nowhere"):
        Worker(tree, "thing/module.py", "namespaces")
