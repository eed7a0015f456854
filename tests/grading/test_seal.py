"""What a worker has left once it is sealed, before the first line of the submission."""

import ast
import errno
import os
import platform
from pathlib import Path

import graded_course
import pytest
from graded_course import MODULE, SUITE, graded
from test_isolation import CALL

from autograder.grading import under_pytest
from autograder.grading.suite import SuiteError
from autograder.lessons import places
from autograder.lessons.problem import Problem
from autograder.sandbox import isolation, launch, quiet, visible
from autograder.sandbox.session import Probe, Session
from autograder.worker import ahead


@pytest.fixture(params=("namespaces", "landlock"))
def level(request):
    if (reason := isolation.detect(request.param)) is not None:
        assert not reason.startswith("it does not hold")
        pytest.skip(reason)
    return request.param


@pytest.fixture
def asked(tmp_path):
    """Asks a package of these modules, on a rung, for what a function's body returns."""

    def ask(level, body, modules, imports=(), fresh=False):
        package = tmp_path / "thing"
        package.mkdir(exist_ok=True)
        for name, text in modules.items():
            (package / name).write_text(text)
        lines = "\n    ".join(body.strip().splitlines())
        probe = Probe("probe", f"def probe(thing):\n    {lines}")
        with Session(tmp_path, "thing/module.py", level, imports=imports) as session:
            session.load()
            return [session.call(probe, fresh=fresh) for _ in range(2)]

    return ask


ATTEMPTS = """
import os, select, socket, threading
def attempts():
    yield "open", lambda: os.open(os.__file__, os.O_RDONLY)
    yield "ask", lambda: os.stat(os.__file__)
    yield "list", lambda: os.listdir("/")
    yield "folder", lambda: os.getcwd()
    yield "seek", lambda: os.lseek(0, 0, 0)
    yield "copy", lambda: os.dup(0)
    yield "pipe", lambda: os.pipe()
    yield "choose a processor", lambda: os.sched_setaffinity(0, {0})
    yield "thread", lambda: threading.Thread(target=int).start()
    yield "look at the clock", lambda: threading.Event().wait(0.01)
    yield "wait", lambda: select.select([], [], [], 0.01)
    yield "chance", lambda: os.urandom(4)

def act(attempt):
    try:
        attempt()
        return True
    except (OSError, RuntimeError):
        return False

def done():
    return [name for name, attempt in attempts() if act(attempt)]
"""
FILES = {
    "__init__.py": "from thing.module import *\n",
    "module.py": f"{ATTEMPTS}\nfirst = done()\n",
}


def test_a_sealed_worker_has_no_files_from_its_first_line_on(asked, level):
    first, _ = asked(level, "return thing.module.first, thing.module.done()", FILES)
    left = ["thread", "look at the clock", "wait", "chance"]
    assert first.value == (left, left)


def errors_of(asked, level, call, *arguments):
    """The errors with which a system call with each of these arguments ends."""
    body = CALL.format([[call, *given] for given in arguments])
    reply, _ = asked(level, body, {"__init__.py": "", "module.py": ""}, imports=["ctypes"])
    return reply.value


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the number is that of x86_64")
def test_memory_of_no_file_is_all_that_can_be_mapped(asked, level):
    private, anonymous, shared = 0x2, 0x20, 0x1
    flags = [(private | anonymous, -1), (private, 0), (shared | anonymous, -1)]
    arguments = [(0, 4096, 1, flag, file, 0) for flag, file in flags]
    assert errors_of(asked, level, 9, *arguments) == [0, errno.EPERM, errno.EPERM]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the number is that of x86_64")
def test_filters_are_installed_for_all_threads_and_none_after_the_seal(asked, level, monkeypatch):
    arguments = [
        (operation, flags, 0) for operation, flags in [(1, 1), (1, 0), (1, 8), (0, 0), (2, 0)]
    ]
    assert errors_of(asked, level, 317, *arguments) == [errno.EPERM] * 5
    monkeypatch.setattr(launch, "SEALED", ())
    assert errors_of(asked, level, 317, *arguments) == [errno.EFAULT, *[errno.EPERM] * 4]


def test_what_is_imported_afresh_and_late_comes_from_memory(asked, level):
    module = """
count = 0
def late():
    import fractions
    from thing import other
    from numpy import fft
    return other.value + float(fractions.Fraction(1, 2)) + float(fft.fft([1.0])[0].real)
"""
    body = "thing.module.count += 1\nreturn thing.module.count, thing.module.late()"
    files = {
        "__init__.py": "from thing import module\n",
        "module.py": module,
        "other.py": "value = 1",
    }
    replies = asked(level, body, files, fresh=True)
    assert [reply.value for reply in replies] == [(1, 2.5), (1, 2.5)]


def test_a_module_that_is_not_there_is_an_import_error(asked, level):
    files = {"__init__.py": "from thing import module\n", "module.py": "import thing.nothing\n"}
    reply, _ = asked(level, "return 1", files)
    assert (reply.kind, reply.name, reply.line) == ("import_error", "ModuleNotFoundError", 1)


def test_without_a_seal_nothing_is_graded(monkeypatch, tmp_path, level):
    """The list of calls lacks seccomp's, so that a filter of the first kind is the last."""
    lesson = graded_course.write(monkeypatch, tmp_path)
    copy = tmp_path / "worker"
    copy.mkdir()
    for path in places.WORKER.glob("*.py"):
        text = path.read_text().replace('"seccomp": {0: (_SET_FILTER,)', '"seccomp": {0: (9,)')
        (copy / path.name).write_text(text)
    monkeypatch.setattr(places, "WORKER", copy)
    visible.readable.cache_clear()
    try:
        with pytest.raises(Problem, match="stopped working: the kernel refuses seccomp filters"):
            graded(lesson, MODULE.encode(), level=level)
    finally:
        visible.readable.cache_clear()


# What probes may import ---------------------------------------------------------------------------


@pytest.mark.isolated
def test_a_probe_that_imports_what_is_not_listed_is_a_fault_of_the_suite(monkeypatch, tmp_path):
    sly = SUITE.replace(
        "return tiny.double(x)", "return __import__('sq' + 'lite3') and tiny.double(x)"
    )
    lesson = graded_course.write(monkeypatch, tmp_path, {"suites/tiny.py": sly})
    with pytest.raises(SuiteError, match="double_of raises ModuleNotFoundError"):
        graded(lesson, MODULE.encode())


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


def test_what_suites_and_helpers_import_is_listed():
    for path in (*places.SUITES.glob("*.py"), *under_pytest._HELPERS):
        missing = set(imported(path)) - ahead.imports_in(path.read_text(encoding="utf-8"))
        assert not missing, f"A worker would lack what {path.name} imports: {missing}"


# What is left: processors and pages ---------------------------------------------------------------


def test_each_grader_has_a_processor_for_its_workers(asked, level, monkeypatch):
    body = "import os\nreturn sorted(os.sched_getaffinity(0))"
    reply, _ = asked(level, body, {"__init__.py": "", "module.py": ""})
    assert reply.value == [quiet.processor()]


def test_graders_share_a_processor_only_when_all_are_taken(monkeypatch):
    allowed = set(range(5001, 5005))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: allowed)
    before = len(quiet._claims)
    try:
        taken = [quiet._claimed.__wrapped__(0) for _ in range(5)]
    finally:
        while len(quiet._claims) > before:
            quiet._claims.pop().close()
    assert set(taken[:4]) == allowed
    assert taken[4] in allowed


def test_pages_of_libraries_are_in_memory_before_a_worker_starts(tmp_path):
    path = tmp_path / "library.so"
    path.write_bytes(bytes(64 * 4096))
    file = os.open(path, os.O_RDONLY)
    os.fsync(file)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    quiet.touch([path])
    try:
        assert len(os.preadv(file, [bytearray(1)], 63 * 4096, os.RWF_NOWAIT) * b"x") == 1
    except BlockingIOError:
        pytest.fail("the last page is not in memory")
    finally:
        os.close(file)


def test_all_that_a_worker_maps_is_kept_in_memory(asked, level, monkeypatch):
    """Asked of /proc while there is no seal, which is what a sealed worker has mapped."""
    kept = {path.name for path in visible.mapped()}
    monkeypatch.setattr(launch, "SEALED", ())
    monkeypatch.setattr(visible, "readable", lambda read=visible.readable: (*read(), "/proc"))
    bare = launch._bubblewrap
    monkeypatch.setattr(
        launch, "_bubblewrap", lambda tree: [*bare(tree)[:-1], "--proc", "/proc", "--"]
    )
    body = "return open('/proc/self/maps').read()"
    module = "import jaxlib.xla_client\n"
    reply, _ = asked(level, body, {"__init__.py": "", "module.py": module}, imports=["jaxlib"])
    mapped = {line.split(maxsplit=5)[5] for line in reply.value.splitlines() if "/" in line}
    assert {Path(x).name for x in mapped} - kept == set()
    assert any("jaxlib" in x for x in mapped)


def test_what_a_dataclass_is_made_of_is_compiled_once(asked):
    point = "import dataclasses\n\n@dataclasses.dataclass\nclass Point:\n    x: 'int'\n"
    files = {"__init__.py": "", "module.py": point, "other.py": point}
    body = """
from thing import module, other
first, second = module.Point, other.Point
same = first.__init__.__code__ is second.__init__.__code__
return [first(3).x, second(4).x, first(3) == second(3), same]
"""
    assert [reply.value for reply in asked("process", body, files)] == [[3, 4, False, True]] * 2
