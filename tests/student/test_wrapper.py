"""The wrapper: first start, later starts, and every way in which the set-up can go wrong.

The real wrapper runs here with the real uv, in a small repository of its own, whose two packages
come from a folder.
"""

import ast
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from student_course import load_wrapper

ROOT = Path(__file__).resolve().parents[2]
UV = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
COMMAND = """
import json, sys, tiny
print(json.dumps({"arguments": sys.argv[1:], "tiny": tiny.VERSION, "path": sys.path[0]}))
sys.exit(int(sys.argv[2]) if sys.argv[1] == "exit" else 0)
"""


def make_wheel(folder, name, version, files):
    """A package; the line that locks it."""
    info = f"{name}-{version}.dist-info"
    wheel = folder / f"{name}-{version}-py3-none-any.whl"
    files = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in files.items():
            entry = zipfile.ZipInfo(path)
            entry.external_attr = 0o100755 << 16
            archive.writestr(entry, text)
        archive.writestr(f"{info}/RECORD", "".join(f"{x},,\n" for x in (*files, f"{info}/RECORD")))
    return f"{name}=={version} --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}"


def make_repository(root):
    """The wrapper, a command, and a lock of two packages, of which students need one."""
    for folder in ("requirements", "wheels", "autograder"):
        (root / folder).mkdir(parents=True)
    tiny = [make_wheel(root / "wheels", "tiny", x, {"tiny.py": f"VERSION = '{x}'"}) for x in "12"]
    more = make_wheel(root / "wheels", "more", "1", {"more.py": ""})
    script = f'#!/bin/sh\nexec {UV} "$@"\n'
    uv = make_wheel(root / "wheels", "uv", "1", {"uv-1.data/scripts/uv": script})
    pin(root, "student", "tiny==1")
    for layer in ("dev", "site"):
        pin(root, layer, "tiny==1\nmore==1")
    for name, text in (("lock", f"{tiny[0]}\n{more}"), ("second", f"{tiny[1]}\n{more}")):
        pin(root, name, text)
    pin(root, "uv", uv)
    pin(root, "without", "")
    (root / "autograder" / "__main__.py").write_text(COMMAND, encoding="utf-8")
    text = (ROOT / "jaxprentice").read_text(encoding="utf-8").replace('WARM = "', 'WARM = "tiny ')
    (root / "jaxprentice").write_text(text, encoding="utf-8")
    return root


def pin(root, name, text):
    (root / "requirements" / f"{name}.txt").write_text(f"{text}\n", encoding="utf-8")


def update(root):
    """What an update of the course brings: another version of a package."""
    shutil.copy(root / "requirements" / "second.txt", root / "requirements" / "lock.txt")
    pin(root, "student", "tiny==2")


def environment(root, **more):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "PYTHON", "UV_"))}
    path = f"{Path(UV).parent}{os.pathsep}/usr/bin{os.pathsep}/bin"
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(root / "wheels")}
    cache = {"UV_CACHE_DIR": str(root.parent / "uv"), "UV_HTTP_RETRIES": "0", "PATH": path}
    return {**kept, "PIP_CONFIG_FILE": os.devnull, **cache, **offline, **more}


def start(root, *arguments, cwd=None, python=sys.executable, **more):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(
        [python, root / "jaxprentice", *arguments], cwd=cwd or root, text=True,
        env=environment(root, **more), start_new_session=True, **pipes,
    )  # fmt: skip


def run(root, *arguments, **options):
    """Run the wrapper: exit status, what the command said, what the wrapper said."""
    process = start(root, *arguments, **options)
    out, err = process.communicate(timeout=120)
    assert "Traceback" not in err
    return process.returncode, json.loads(out) if out else None, err


@pytest.fixture(scope="module")
def first_start(tmp_path_factory):
    """A repository in which the wrapper was started twice at once, and what both said."""
    root = make_repository(tmp_path_factory.mktemp("wrapper") / "repository")
    both = [start(root, "list") for _ in range(2)]
    said = [(*process.communicate(timeout=120), process.returncode) for process in both]
    return root, sorted(said, key=lambda words: words[1])


@pytest.fixture
def ready(first_start, tmp_path):
    """A copy of a repository that is set up."""
    return Path(shutil.copytree(first_start[0], tmp_path / "copy", symlinks=True))


@pytest.fixture
def fresh(tmp_path):
    """A repository that nobody has started yet."""
    return make_repository(tmp_path / "repository")


# ------------------------------------------------------------------------------------------
# When all goes well


def test_the_first_start_installs_and_runs(first_start):
    root, (_, (out, progress, status)) = first_start
    assert status == 0
    assert json.loads(out) == {"arguments": ["list"], "tiny": "1", "path": str(root)}
    assert progress == "Setting up .venv (once; packages for student, 0.6 GB on disk) ...\n"


def test_two_at_once_install_once(first_start):
    _, ((out, waited, status), (other, _, _)) = first_start
    assert (out, status) == (other, 0)
    assert waited == "Another jaxprentice is setting up .venv; waiting for it.\n"


def test_a_later_start_installs_nothing_is_silent_and_becomes_the_command(ready, tmp_path):
    """From a link, with any arguments, in a folder whose files have the names of modules."""
    for name in ("json.py", "tiny.py", "autograder.py"):
        (tmp_path / name).write_text("raise SystemExit('imported')", encoding="utf-8")
    (tmp_path / "jaxprentice").symlink_to(ready / "jaxprentice")
    before = (ready / ".venv.log").stat().st_mtime_ns
    arguments = ["exit", "7", "--flag", "two words", ""]
    status, said, progress = run(tmp_path, *arguments, PYTHONPATH=str(tmp_path))
    assert (status, said["arguments"], progress) == (7, arguments, "")
    assert (ready / ".venv.log").stat().st_mtime_ns == before


def test_a_read_only_copy_that_is_set_up_runs(ready):
    (ready / ".venv.lock").unlink()
    ready.chmod(0o555)
    try:
        assert run(ready, "list")[0] == 0
        assert not (ready / ".venv.lock").exists()
    finally:
        ready.chmod(0o755)


def test_a_layer_is_added_and_an_update_installed_when_a_command_needs_it(ready):
    status, _, progress = run(ready, "test")
    assert (status, "packages for dev" in progress) == (0, True)
    assert run(ready, "site")[2] == ""  # dev holds it
    update(ready)
    assert run(ready, "list")[1]["tiny"] == "2"


def test_set_up_goes_elsewhere_if_told_and_compiles_whatever_the_image_sets(fresh, tmp_path):
    venv = tmp_path / "there"
    told = {"JAXPRENTICE_VENV": str(venv), "PYTHONDONTWRITEBYTECODE": "1"}
    assert run(fresh, "list", **told)[0] == 0
    assert (venv / "installed.txt").exists()
    assert not (fresh / ".venv").exists()
    assert len(list(venv.glob("lib/*/site-packages/__pycache__/tiny.*.pyc"))) == 1


@pytest.mark.parametrize(
    ("words", "layer"),
    [
        *(("demo", "instructor"), ("grade work --scheduler tls://head:8786", "scale")),
        *(("cluster", "scale"), ("demo --help", "student"), ("", "student")),
    ],
)
def test_help_needs_the_first_layer_only(wrapper, words, layer):
    assert wrapper.layer_of(words.split()) == layer


# ------------------------------------------------------------------------------------------
# Where packages come from


def test_without_uv_pip_brings_the_one_that_is_locked(fresh):
    status, said, words = run(fresh, "list", PATH=os.defpath)
    assert (status, said["tiny"], len(words.splitlines())) == (0, "1", 1)
    assert (fresh / ".venv/bin/uv").read_text().startswith("#!/bin/sh")


@pytest.fixture
def mirror(fresh):
    """pip's settings for an institution's index on this machine, and how to stop that."""
    for wheel in (fresh / "wheels").glob("*.whl"):
        page = fresh / "simple" / wheel.name.partition("-")[0] / "index.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        with page.open("a", encoding="utf-8") as file:
            file.write(f'<a href="/wheels/{wheel.name}">{wheel.name}</a>\n')
    serve = partial(SimpleHTTPRequestHandler, directory=fresh)
    with ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        text = f"[global]\nindex-url = {address}/none\nextra-index-url =\n  {address}/simple\n"
        (fresh / "pip.conf").write_text(f"{text}  {address}/neither\n", encoding="utf-8")
        none = {"PIP_NO_INDEX": "0", "PIP_FIND_LINKS": ""}
        yield {"PIP_CONFIG_FILE": str(fresh / "pip.conf"), **none}, server.shutdown
        server.shutdown()


@pytest.mark.slow
@pytest.mark.parametrize("uv", [{}, {"PATH": os.defpath}])
def test_a_mirror_is_given_as_pip_has_it(fresh, mirror, uv):
    assert run(fresh, "list", **mirror[0], **uv)[1]["tiny"] == "1"


@pytest.mark.slow
def test_a_second_copy_takes_what_uv_has_without_any_network(fresh, mirror):
    settings, stop = mirror
    assert run(fresh, "list", **settings)[0] == 0
    stop()
    elsewhere = {"JAXPRENTICE_VENV": str(fresh / "other")}
    assert run(fresh, "list", **settings, **elsewhere)[1]["tiny"] == "1"


@pytest.mark.slow
def test_pips_certificates_and_proxy_reach_uv(wrapper, monkeypatch):
    given = {"CERT": "/a.pem", "CLIENT_CERT": "/b.pem", "PROXY": "http://c", "TRUSTED_HOST": "d e"}
    for name, value in given.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    monkeypatch.setenv("PIP_FIND_LINKS", "/f /g")
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setattr(wrapper, "PYTHON", sys.executable)
    _, found = wrapper.settings()
    assert (found["SSL_CERT_FILE"], found["SSL_CLIENT_CERT"]) == ("/a.pem", "/b.pem")
    assert (found["ALL_PROXY"], found["UV_INSECURE_HOST"]) == ("http://c", "d e")
    assert found["UV_FIND_LINKS"] == "/f,/g"
    monkeypatch.setenv("UV_FIND_LINKS", "/h")  # what uv was told itself counts
    assert wrapper.settings()[1]["UV_FIND_LINKS"] == "/h"


# ------------------------------------------------------------------------------------------
# When something goes wrong


def one_sentence(text):
    """The last line, which must be the only one besides the progress line."""
    *progress, last = text.splitlines()
    assert len(progress) <= 1
    assert last.endswith(".")
    return last


@pytest.mark.parametrize("name", ["lock", "uv"])
def test_a_file_with_another_hash_is_refused(fresh, name):
    text = (fresh / "requirements" / f"{name}.txt").read_text(encoding="utf-8").strip()
    pin(fresh, name, text[:-1] + ("0" if text[-1] != "0" else "1"))
    pin(fresh, "student", "tiny==1\nmore==1")  # whose line in the lock is the last
    status, said, words = run(fresh, "list", **({"PATH": os.defpath} if name == "uv" else {}))
    assert (status, said) == (1, None)
    assert "A file is not the one that is locked" in one_sentence(words)


@pytest.mark.slow
def test_a_package_that_is_missing_is_one_sentence_and_leaves_the_rest_working(ready):
    pin(ready, "dev", "tiny==1\nmore==9")
    status, said, words = run(ready, "test")
    assert (status, said) == (1, None)
    assert "could not be installed" in one_sentence(words)
    assert str(ready / ".venv.log") in words
    assert run(ready, "list")[2] == ""
    pin(ready, "dev", "tiny==1\nmore==1")
    assert run(ready, "test")[0] == 0
    (ready / "requirements" / "dev.txt").unlink()  # as in a copy for students
    status, said, words = run(ready, "test")
    assert (status, said, "students' commands only" in one_sentence(words)) == (1, None, True)


def test_no_network_is_one_sentence(fresh):
    nowhere = {"PIP_NO_INDEX": "0", "PIP_INDEX_URL": "http://127.0.0.1:9/simple"}
    status, _, words = run(fresh, "list", PIP_FIND_LINKS="", **nowhere)
    assert status == 1
    assert "There is no network: connect, then run the same command again" in one_sentence(words)


def test_each_reason_that_uv_gives_becomes_a_sentence_with_a_next_step(wrapper, tmp_path):
    wrapper.LOG = str(tmp_path / "log")
    for marks, reason in [*wrapper.REASONS, ("nothing known", "Look into the log")]:
        word = marks.partition("|")[0].replace("'?", "")
        with (tmp_path / "lock").open("w") as lock, pytest.raises(SystemExit) as caught:
            wrapper.call(lock.fileno(), "", ["/bin/sh", "-c", f'echo "error: {word}"; exit 2'])
        end = f"{reason}, then run the same command again (log: {wrapper.LOG})."
        assert str(caught.value) == f"The packages could not be installed. {end}"


def test_an_installation_that_broke_off_is_made_anew(ready):
    (ready / ".venv" / "left-over").touch()
    (ready / ".venv" / "installed.txt").unlink()  # as it is while uv works
    assert run(ready, "list")[0] == 0
    assert not (ready / ".venv" / "left-over").exists()


@pytest.mark.slow
def test_a_full_disk_while_files_are_put_in_place_leaves_nothing_half_made(ready, tmp_path):
    (tmp_path / "bin").mkdir()
    uv = tmp_path / "bin" / "uv"
    text = 'echo "error: Failed to install: more-1.whl"; echo "No space left on device"; exit 2'
    uv.write_text(f'#!/bin/sh\n[ "$1" = --version ] || {{ {text}; }}\n')
    uv.chmod(0o755)
    status, _, words = run(ready, "test", PATH=f"{uv.parent}:/usr/bin:/bin")
    assert (status, "The disk is full: make room" in one_sentence(words)) == (1, True)
    assert run(ready, "list")[2].startswith("Setting up .venv")


@pytest.mark.parametrize("target", [None, "/bin/sh"])
def test_an_environment_whose_python_is_gone_or_changed_is_made_anew(ready, target):
    python = ready / ".venv/bin/python"
    python.unlink()
    if target:
        python.symlink_to(target)
    status, said, words = run(ready, "list")
    assert (status, said["tiny"], words[:7]) == (0, "1", "Setting")


def test_ctrl_c_is_one_sentence_and_the_next_start_recovers(fresh):
    process = start(fresh, "list")
    while not (fresh / ".venv" / "pyvenv.cfg").exists():
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, words = process.communicate(timeout=60)
    assert process.returncode == 130
    assert words.splitlines()[-1] == "Interrupted. Run the same command again to go on."
    assert "Traceback" not in words
    assert run(fresh, "list")[0] == 0


def test_what_cannot_be_written_is_one_sentence(fresh):
    (fresh / "file").touch()
    status, _, words = run(fresh, "list", JAXPRENTICE_VENV=str(fresh / "file" / "venv"))
    assert (status, "Not a directory" in one_sentence(words)) == (1, True)
    assert words.endswith("). Fix that, then run it again.\n")


@pytest.mark.parametrize("found", [True, False])
def test_an_old_python_is_told_so(wrapper, monkeypatch, found):
    monkeypatch.setattr(sys, "version_info", (3, 9, 1))
    monkeypatch.setattr(sys, "version", "3.9.1 (main)")
    monkeypatch.setattr(wrapper, "works", lambda *command: found)
    with pytest.raises(SystemExit) as caught:
        wrapper.main(["list"])
    how = ("Install Python 3.13 and run this with it.", "Run `python3.14 jaxprentice ...` instead.")
    start = "Jaxprentice needs Python 3.11 or newer, and this is Python 3.9.1. "
    assert str(caught.value) == start + how[found]


def test_old_pythons_can_parse_the_wrapper():
    ast.parse((ROOT / "jaxprentice").read_text(encoding="utf-8"), feature_version=(3, 6))


def test_old_pythons_of_this_machine_say_which_is_needed(fresh):
    for python in Path.home().glob(".pyenv/versions/3.[6-9].*/bin/python3"):
        status, _, words = run(fresh, "list", python=str(python))
        assert (status, one_sentence(words)[:33]) == (1, "Jaxprentice needs Python 3.11 or ")


# ------------------------------------------------------------------------------------------
# Windows


class FakeLocks:
    """`msvcrt`, of which the wrapper wants locks: taken by one at a time."""

    LK_NBLCK = 2

    def __init__(self):
        self.taken = set()

    def locking(self, descriptor, mode, size):
        """Take a lock, or fail as Windows does."""
        file = os.fstat(descriptor).st_ino
        if file in self.taken:
            raise PermissionError
        self.taken.add(file)


@pytest.fixture
def on_windows(monkeypatch, ready):
    """The wrapper of a copy that is set up, loaded as if on Windows; its Python lies there too."""
    (ready / ".venv/Scripts").mkdir()
    (ready / ".venv/Scripts/python.exe").symlink_to(ready / ".venv/bin/python")
    monkeypatch.setitem(sys.modules, "msvcrt", FakeLocks())
    with monkeypatch.context() as patch:
        patch.setattr(os, "name", "nt")
        module = load_wrapper(ready / "jaxprentice")
    assert module.WINDOWS
    return module


def test_on_windows_the_command_runs_as_a_child_which_alone_hears_ctrl_c(on_windows, capfd):
    before = signal.getsignal(signal.SIGINT)
    try:
        assert on_windows.run(["exit", "7"]) == 7
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    assert json.loads(capfd.readouterr().out)["arguments"] == ["exit", "7"]


def test_on_windows_one_wrapper_installs_and_others_wait(on_windows, tmp_path):
    with (tmp_path / "lock").open("a") as first, (tmp_path / "lock").open("a") as second:
        assert on_windows.try_lock(first.fileno())
        assert not on_windows.try_lock(second.fileno())


def test_on_windows_a_layer_is_added_by_the_uv_of_its_scripts(on_windows, monkeypatch):
    root = Path(on_windows.ROOT)
    (root / ".venv/Scripts/uv.exe").symlink_to(UV)
    for name, value in environment(root, PATH="").items():
        monkeypatch.setenv(name, value)
    (root / ".venv/installed.txt").write_text(f"{on_windows.mark()}\ntiny==1", encoding="utf-8")
    on_windows.prepare("site")
    assert "more==1" in on_windows.installed()


def test_there_is_no_branch_for_windows_but_those_tested_above():
    """A new one must get a test, and raises this number."""
    text = (ROOT / "jaxprentice").read_text(encoding="utf-8")
    assert text.count("WINDOWS") == 8
