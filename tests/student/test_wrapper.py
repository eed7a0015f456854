"""The wrapper: first start, later starts, and every way in which the set-up can go wrong.

The real wrapper runs here in a small repository of its own, whose one package comes from a folder.
"""

import ast
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib
import zipfile
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
LAYERS = ("student", "instructor", "scale", "site", "dev")
LOCKED = (*LAYERS, "grader")  # with what is installed on other machines

COMMAND = """
import json, sys, tiny
print(json.dumps({"arguments": sys.argv[1:], "tiny": tiny.VERSION, "path": sys.path[0]}))
sys.exit(int(sys.argv[2]) if sys.argv[1] in ("exit", "test") and sys.argv[2:] else 0)
"""


def make_wheel(folder, version):
    """A package of one line."""
    info = f"tiny-{version}.dist-info"
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f"tiny-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny.py", f"VERSION = '{version}'\n")
        wheel.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny\nVersion: {version}\n"
        )
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", f"tiny.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n")


def make_repository(root):
    """The wrapper, a lock file for each layer and a command."""
    for layer in LAYERS:
        pin(root, layer, "1.0")
    (root / "autograder").mkdir()
    (root / "autograder" / "__main__.py").write_text(COMMAND, encoding="utf-8")
    shutil.copy(ROOT / "jaxprentice", root)
    make_wheel(root / "wheels", "1.0")
    make_wheel(root / "wheels", "2.0")
    return root


def pin(root, layer, version):
    (root / "requirements").mkdir(parents=True, exist_ok=True)
    (root / "requirements" / f"{layer}.txt").write_text(f"tiny=={version}\n", encoding="utf-8")


def environment(root, **more):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "PYTHON"))}
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(root / "wheels")}
    cache = {"XDG_CACHE_HOME": str(root.parent / "cache")}
    return {**kept, "PIP_CONFIG_FILE": os.devnull, **cache, **offline, **more}


def start(root, *arguments, cwd=None, **more):
    command = [sys.executable, root / "jaxprentice", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    env = environment(root, **more)
    return subprocess.Popen(
        command, cwd=cwd or root, env=env, text=True, start_new_session=True, **pipes
    )


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


# ------------------------------------------------------------------------------------------
# When all goes well


@pytest.mark.slow
def test_the_first_start_installs_and_runs(first_start):
    root, (_, (out, progress, status)) = first_start
    assert status == 0
    assert json.loads(out) == {"arguments": ["list"], "tiny": "1.0", "path": str(root)}
    assert progress == "Setting up .venv (once; packages for student, 0.6 GB on disk) ...\n"


def test_two_at_once_install_once(first_start):
    _, ((out, waited, status), (other, _, _)) = first_start
    assert (out, status) == (other, 0)
    assert waited == "Another jaxprentice is setting up .venv; waiting for it.\n"


def test_a_later_start_installs_nothing_and_is_silent(ready):
    log = ready / ".venv" / "install.log"
    before = log.stat().st_mtime_ns
    status, _, progress = run(ready, "list")
    assert (status, progress, log.stat().st_mtime_ns) == (0, "", before)


def test_a_read_only_copy_that_is_set_up_runs(ready):
    (ready / ".venv.lock").unlink()
    ready.chmod(0o555)
    try:
        assert run(ready, "list")[0] == 0
        assert not (ready / ".venv.lock").exists()
    finally:
        ready.chmod(0o755)


def test_exit_status_and_arguments_are_the_commands(ready):
    status, said, _ = run(ready, "exit", "7", "--flag", "two words", "")
    assert status == 7
    assert said["arguments"] == ["exit", "7", "--flag", "two words", ""]


def test_files_in_the_current_folder_are_not_imported(ready, tmp_path):
    for name in ("json.py", "tiny.py", "autograder.py"):
        (tmp_path / name).write_text("raise SystemExit('imported')", encoding="utf-8")
    status, _, _ = run(ready, "list", cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert status == 0


def test_a_link_to_the_wrapper_works(ready, tmp_path):
    (tmp_path / "link").symlink_to(ready / "jaxprentice")
    command = [sys.executable, tmp_path / "link", "list"]
    assert subprocess.run(command, env=environment(ready), check=False).returncode == 0


def test_a_layer_is_added_when_a_command_needs_it(ready):
    assert not (ready / ".venv" / "dev.stamp").exists()
    status, _, progress = run(ready, "test")
    assert status == 0
    assert "packages for dev" in progress
    assert run(ready, "site")[2] == ""  # dev holds it


def test_changed_pins_are_installed(ready):
    pin(ready, "student", "2.0")
    assert run(ready, "list")[1]["tiny"] == "2.0"


def test_help_needs_the_first_layer_only(wrapper):
    assert wrapper.layer_of(["demo"]) == "instructor"
    assert wrapper.layer_of(["grade", "work", "--scheduler", "tls://head:8786"]) == "scale"
    assert wrapper.layer_of(["cluster"]) == "scale"
    assert wrapper.layer_of(["demo", "--help"]) == "student"
    assert wrapper.layer_of([]) == "student"


# ------------------------------------------------------------------------------------------
# One environment for many copies


@pytest.fixture
def second(first_start, tmp_path):
    """Another copy without an environment, for a user on whose machine the first one is set up."""
    root, _ = first_start
    copy = tmp_path / "second"
    skip = shutil.ignore_patterns(".venv*")
    return shutil.copytree(root, copy, ignore=skip), {"XDG_CACHE_HOME": str(root.parent / "cache")}


def test_a_second_copy_uses_the_environment_of_the_first_and_says_so(second, first_start):
    root, user = second
    status, said, words = run(root, "list", **user)
    assert (status, said["tiny"], said["path"]) == (0, "1.0", str(root))
    venv = first_start[0] / ".venv"
    assert words == f"Using the packages in {venv}, which fit: nothing is installed.\n"
    assert not (root / ".venv").exists()
    assert run(root, "list", **user)[2] == ""  # said once


@pytest.mark.slow
def test_an_environment_that_does_not_fit_is_not_used(second):
    root, user = second
    pin(root, "student", "2.0")
    status, said, words = run(root, "list", **user)
    assert (status, said["tiny"]) == (0, "2.0")
    assert words.startswith("Setting up .venv")
    assert (root / ".venv").exists()


@pytest.mark.slow
def test_an_environment_that_is_gone_is_not_used(second, first_start, tmp_path):
    root, _ = second
    cache = tmp_path / "cache/jaxprentice/environments"
    cache.mkdir(parents=True)
    (cache / "0123").write_text("/nowhere/.venv\n", encoding="utf-8")
    status, _, words = run(root, "list", XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert status == 0
    assert words.startswith("Setting up .venv")


def test_whoever_names_an_environment_gets_that_one(wrapper, monkeypatch):
    monkeypatch.setattr(wrapper, "GIVEN", "/somewhere")
    assert wrapper.shared("student") == ""


def test_without_a_cache_folder_nothing_is_noted_and_all_goes_on(wrapper, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    wrapper.note()
    assert wrapper.noted() == []


# ------------------------------------------------------------------------------------------
# When something goes wrong


def one_sentence(text):
    """The last line, which must be the only one besides the progress line."""
    *progress, last = text.splitlines()
    assert len(progress) <= 1
    assert last.endswith(".")
    return last


def test_a_package_that_is_missing_is_one_sentence_and_leaves_the_rest_working(ready):
    pin(ready, "dev", "9.9")
    status, said, words = run(ready, "test")
    assert (status, said) == (1, None)
    assert "could not be installed" in one_sentence(words)
    assert str(ready / ".venv" / "install.log") in words
    assert run(ready, "list")[2] == ""
    pin(ready, "dev", "1.0")
    assert run(ready, "test")[0] == 0


def test_a_copy_for_students_has_no_other_layer(ready):
    (ready / "requirements" / "dev.txt").unlink()
    status, said, words = run(ready, "test")
    assert (status, said) == (1, None)
    assert "students' commands only" in one_sentence(words)


def test_no_network_is_one_sentence(ready):
    pin(ready, "student", "9.9")
    nowhere = {"PIP_NO_INDEX": "0", "PIP_INDEX_URL": "http://127.0.0.1:9/simple"}
    status, _, words = run(ready, "list", **nowhere)
    assert status == 1
    assert "There is no network: connect, then run the same command again" in one_sentence(words)


@pytest.mark.slow
def test_an_installation_that_broke_off_is_made_anew(ready):
    venv = ready / ".venv"
    (venv / "student.stamp").unlink()
    (venv / "install.log").write_text("Installing collected packages: tiny\n", encoding="utf-8")
    (venv / "left-over").touch()
    assert run(ready, "list")[0] == 0
    assert not (venv / "left-over").exists()


@pytest.fixture
def at_ready(ready, wrapper, monkeypatch):
    """The wrapper as a module, which looks at a repository that is set up."""
    monkeypatch.setattr(wrapper, "ROOT", str(ready))
    monkeypatch.setattr(wrapper, "VENV", str(ready / ".venv"))
    monkeypatch.setattr(wrapper, "LOG", str(ready / ".venv" / "install.log"))
    monkeypatch.setattr(wrapper, "PYTHON", str(ready / ".venv" / "bin" / "python"))
    assert wrapper.is_ready("student")
    assert wrapper.is_sound()
    return wrapper


@pytest.mark.parametrize("target", [None, "/bin/sh"])
def test_a_venv_whose_python_is_gone_or_changed_is_not_used(at_ready, target):
    python = Path(at_ready.PYTHON)
    python.unlink()
    if target:
        python.symlink_to(target)
    assert not at_ready.is_ready("student")
    assert not at_ready.is_sound()


@pytest.mark.slow
def test_ctrl_c_is_one_sentence_and_the_next_start_recovers(tmp_path):
    root = make_repository(tmp_path / "repository")
    process = start(root, "list")
    while not (root / ".venv" / "pyvenv.cfg").exists():
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, words = process.communicate(timeout=60)
    assert process.returncode == 130
    assert words.splitlines()[-1] == "Interrupted. Run the same command again to go on."
    assert "Traceback" not in words
    assert run(root, "list")[0] == 0


def test_an_old_python_is_told_so(wrapper, monkeypatch, capsys):
    monkeypatch.setattr(sys, "version_info", (3, 9, 1))
    monkeypatch.setattr(sys, "version", "3.9.1 (main)")
    assert wrapper.main(["list"]) == 1
    words = one_sentence(capsys.readouterr().err)
    assert words.startswith("Jaxprentice needs Python 3.11 or newer, and this is Python 3.9.1.")


def test_old_pythons_can_parse_the_wrapper():
    ast.parse((ROOT / "jaxprentice").read_text(encoding="utf-8"), feature_version=(3, 6))


def test_a_python_without_venv_is_told_so(wrapper, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(wrapper, "VENV", str(tmp_path / ".venv"))
    monkeypatch.setattr(wrapper, "LOCK", str(tmp_path / ".venv.lock"))
    monkeypatch.setattr(wrapper, "PYTHON", str(tmp_path / "none"))
    assert wrapper.main(["list"]) == 1
    assert "sudo apt install python3." in one_sentence(capsys.readouterr().err)


def test_a_full_disk_is_told_so(wrapper, monkeypatch, capsys):
    def full(layer):
        raise OSError(errno.ENOSPC, "No space left on device", "/somewhere")

    monkeypatch.setattr(wrapper, "prepare", full)
    assert wrapper.main(["list"]) == 1
    assert "/somewhere: No space left on device" in one_sentence(capsys.readouterr().err)


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
            raise OSError(errno.EACCES, "Permission denied")
        self.taken.add(file)


@pytest.fixture
def on_windows(monkeypatch, ready):
    """The wrapper of a copy that is set up, loaded as if on Windows; its Python lies there too."""
    (ready / ".venv/Scripts").mkdir()
    (ready / ".venv/Scripts/python.exe").symlink_to(ready / ".venv/bin/python")
    monkeypatch.setitem(sys.modules, "msvcrt", FakeLocks())
    monkeypatch.setenv("LOCALAPPDATA", str(ready / "local"))
    loader = SourceFileLoader("wrapper_on_windows", str(ready / "jaxprentice"))
    module = module_from_spec(spec_from_loader("wrapper_on_windows", loader))
    with monkeypatch.context() as patch:
        patch.setattr(os, "name", "nt")
        patch.setattr(sys, "dont_write_bytecode", True)
        loader.exec_module(module)
    assert module.WINDOWS
    return module


def test_on_windows_the_command_runs_as_a_child_and_its_status_is_passed_on(on_windows, capfd):
    python = on_windows.PYTHON
    assert Path(python).parts[-3:] == (".venv", "Scripts", "python.exe")
    assert on_windows.run(python, ["exit", "7"]) == 7
    assert json.loads(capfd.readouterr().out)["arguments"] == ["exit", "7"]


def test_on_windows_ctrl_c_is_left_to_the_command(on_windows, monkeypatch):
    waits = iter([KeyboardInterrupt, 130])

    class Child:
        def __init__(self, command, env):
            assert command[0] == on_windows.PYTHON

        def __enter__(self):
            return self

        def __exit__(self, *error):
            return False

        def wait(self):
            answer = next(waits)
            if answer is KeyboardInterrupt:
                raise KeyboardInterrupt
            return answer

    monkeypatch.setattr(subprocess, "Popen", Child)
    assert on_windows.run(on_windows.PYTHON, ["watch"]) == 130


def test_on_windows_one_wrapper_installs_and_others_wait(on_windows, tmp_path, monkeypatch):
    monkeypatch.setattr(on_windows, "LOCK", str(tmp_path / "lock"))
    first = on_windows.take_lock()
    assert not on_windows.try_lock(first)
    os.close(first)


def test_on_windows_packages_are_installed_and_noted_in_the_users_folder(on_windows, monkeypatch):
    root = Path(on_windows.ROOT)
    for name in ("student", "site"):
        pin(root, name, "2.0")
    for name, value in environment(root).items():
        monkeypatch.setenv(name, value)
    on_windows.install("site", None)
    assert on_windows.is_ready("site")
    assert on_windows.noted() == [on_windows.VENV]
    assert on_windows.known_environments().startswith(str(root / "local"))
    monkeypatch.setattr(on_windows, "VENV", str(root / "none"))
    assert on_windows.shared("site") == on_windows.python_in(str(root / ".venv"))


def test_on_windows_without_a_variable_the_usual_folder_is_taken(on_windows, monkeypatch):
    monkeypatch.delenv("LOCALAPPDATA")
    assert Path(on_windows.known_environments()).parts[-4:-1] == ("AppData", "Local", "jaxprentice")


def test_there_is_no_branch_for_windows_but_those_tested_above():
    """A new one must get a test, and raises this number."""
    text = (ROOT / "jaxprentice").read_text(encoding="utf-8")
    assert text.count("WINDOWS") == 6


# ------------------------------------------------------------------------------------------
# The lock files


def pins(layer, python):
    """Name and version of each package of a layer on a version of Python, on Linux."""
    found = {}
    marks = {
        "python_version": python,
        "python_full_version": f"{python}.9",
        "sys_platform": "linux",
    }
    for line in (ROOT / "requirements" / f"{layer}.txt").read_text(encoding="utf-8").splitlines():
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate(marks):
            assert requirement.name not in found
            (exact,) = requirement.specifier
            assert (exact.operator, requirement.url) == ("==", None)
            found[requirement.name] = exact.version
    return found


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
def test_layers_agree_on_every_version(python):
    everything = pins("dev", python)
    for layer in LOCKED:
        assert pins(layer, python).items() <= everything.items()


@pytest.mark.parametrize(
    ("python", "series"), [("3.11", "0.10."), ("3.12", "0.12."), ("3.13", "0.12.")]
)
def test_both_ends_of_jaxlib_are_pinned(python, series):
    assert pins("student", python)["jaxlib"].startswith(series)
    assert pins("dev", python)["jax"] == pins("dev", python)["jaxlib"]


def dependencies(groups, layer):
    for entry in groups[layer]:
        if isinstance(entry, dict):
            yield from dependencies(groups, entry["include-group"])
        else:
            yield Requirement(entry)


@pytest.mark.parametrize("layer", LOCKED)
def test_lock_files_fit_the_project(layer):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    locked = pins(layer, "3.11")
    for requirement in dependencies(project["dependency-groups"], layer):
        assert locked[requirement.name] in requirement.specifier


def test_lock_files_name_no_address_and_no_path():
    for layer in LAYERS:
        text = (ROOT / "requirements" / f"{layer}.txt").read_text(encoding="utf-8")
        assert not any(mark in text for mark in ("://", "--", "@", "/"))


def test_versions_in_project_and_package_agree():
    from autograder.lessons.places import VERSION

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["version"] == VERSION


# ------------------------------------------------------------------------------------------
# The tests under every Python

OURS = "{}.{}".format(*sys.version_info)


@pytest.fixture
def one_python(tmp_path):
    """What to set so that the Python of this test is found, and no other; one has a wrong name."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for version in ("3.11", "3.12", "3.13"):
        (folder / f"python{version}").symlink_to(sys.executable)
    return {"PATH": str(folder), "HOME": str(tmp_path)}


def test_a_python_is_found_by_what_it_says_and_not_by_its_name(wrapper, one_python, monkeypatch):
    for name, value in one_python.items():
        monkeypatch.setenv(name, value)
    found = [version for version in wrapper.VERSIONS if wrapper.find_python(version)]
    assert OURS in found
    assert wrapper.version_of("python3.11") == OURS
    assert wrapper.version_of("no such python") == ""


def test_a_python_is_found_where_pyenv_keeps_it(wrapper, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    place = tmp_path / f".pyenv/versions/{OURS}.9/bin"
    place.mkdir(parents=True)
    (place / "python3").symlink_to(sys.executable)
    assert wrapper.find_python(OURS) == str(place / "python3")


@pytest.mark.slow
@pytest.mark.parametrize(("status", "word"), [(0, "passed"), (3, "failed")])
def test_the_tests_run_under_every_python_in_an_environment_of_its_own(
    ready, one_python, status, word
):
    process = start(ready, "test", str(status), "--every-python", **one_python)
    out, _ = process.communicate(timeout=300)
    (said,) = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    assert said["arguments"] == ["test", str(status)]
    table = [line.split() for line in out.splitlines() if line.startswith("Python ")]
    results = {row[1]: " ".join(row[2:]) for row in table}
    assert results == {"3.11": "not found", "3.12": "not found", "3.13": "not found"} | {
        OURS: f"{word} python{OURS}"
    }
    assert process.returncode == min(status, 1)
    assert (ready / f".venv-{OURS}" / "dev.stamp").exists()
    assert not (ready / ".venv" / "dev.stamp").exists()
