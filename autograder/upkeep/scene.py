"""The crime scene: what attacks might want, with canaries in it, and ears at each way out."""

import contextlib
import ctypes
import multiprocessing
import os
import secrets
import shutil
import socket
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.grading import oracle, rehearsal, retelling, under_pytest
from autograder.lessons import manifest, places
from autograder.sandbox import isolation, session


@dataclass
class Scene:
    """Everything that an attack might want, with canaries in it, and what it managed to take."""

    folder: Path
    beside: Executor  # a second grader, which knows nothing of the scene
    canaries: dict[str, str] = field(default_factory=dict)
    caught: list[bytes] = field(default_factory=list)  # what came by the network
    words: dict[str, str] = field(default_factory=dict)  # "@SOLUTION@" -> where it lies
    planted: dict[str, bytes | None] = field(default_factory=dict)  # contents, by their words
    state: list[Any] = field(default_factory=list)  # of files and of this process, before
    memory: int = 0  # that this process held before
    mark: str = field(default_factory=lambda: f"jxp{secrets.token_hex(5)}")

    def canary(self, place: str) -> str:
        """A secret word of this run for this place."""
        return self.canaries.setdefault(place, f"canary{secrets.token_hex(12)}")


@contextlib.contextmanager
def scene() -> Iterator[Scene]:
    """Plant the canaries and open a port, for as long as this lasts."""
    # From here on this process maps the libraries' pages, which count as memory that it holds.
    list(map(isolation.detect, isolation.LEVELS))
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="jaxprentice-")))
        folder.chmod(0o755)
        spawn = multiprocessing.get_context("spawn")
        made = Scene(folder, stack.enter_context(ProcessPoolExecutor(1, spawn)))
        for part in (_plant_edition, _plant_files, _plant_process, _listen, _read_letters):
            stack.enter_context(part(made))
        made.planted = {word: content(made, word) for word in PLANTED}
        yield made


@contextlib.contextmanager
def _plant_edition(made: Scene) -> Iterator[None]:
    """A copy of solutions and suites with canaries in the lesson that is graded."""
    before = {name: getattr(places, name) for name in ("SOLUTIONS", "SUITES")}
    for name, path in before.items():
        copy = made.folder / name.lower()
        shutil.copytree(path, copy, ignore=shutil.ignore_patterns("__pycache__"))
        setattr(places, name, copy)
    lesson = manifest.get("jvp")
    solution, suite = places.SOLUTIONS / lesson.module, places.SUITES / "jvp.py"
    for place, path in {"solution": solution, "suite": suite}.items():
        with path.open("a") as file:
            file.write(f"\n# {made.canary(place)}\n")
    made.words |= {"@SOLUTION@": str(solution), "@SUITE@": str(suite)}
    made.words["@SOLUTIONS@"] = str(places.SOLUTIONS)
    try:
        yield
    finally:
        for name, path in before.items():
            setattr(places, name, path)
        oracle._close_oracles()  # so that none of this scene answers later
        for cached in (oracle.reference, oracle.variant, under_pytest.collected):
            cached.cache_clear()
        rehearsal.rehearse.cache_clear()


@contextlib.contextmanager
def _plant_files(made: Scene) -> Iterator[None]:
    """Another student's work, the gradebook, a place where anybody may write."""
    for place in ("other", "gradebook", "descriptor"):
        path = made.folder / place
        path.write_text(f"# {made.canary(place)}\n")
        made.words[f"@{place.upper()}@"] = str(path)
    drop = made.folder / "drop"
    drop.mkdir()
    drop.chmod(0o777)
    made.words |= {"@DROP@": str(drop), "@ROOT@": str(places.ROOT)}
    yield


@contextlib.contextmanager
def _plant_process(made: Scene) -> Iterator[None]:
    """Canaries in the grader's environment and memory, and an open file that others may inherit."""
    memory = ctypes.create_string_buffer(made.canary("memory").encode())
    made.words |= {"@PARENT@": str(os.getpid()), "@ADDRESS@": str(ctypes.addressof(memory))}
    made.words |= {"@MARK@": made.mark}
    os.environ["JAXPRENTICE_CANARY"] = made.canary("environment")
    file = os.open(made.words["@DESCRIPTOR@"], os.O_RDONLY)
    os.set_inheritable(file, True)
    try:
        yield
    finally:
        os.close(file)
        del os.environ["JAXPRENTICE_CANARY"]
        del memory


@contextlib.contextmanager
def _listen(made: Scene) -> Iterator[None]:
    """A port on this machine that takes what is sent to it."""
    server = socket.create_server(("127.0.0.1", 0))
    made.words["@PORT@"] = str(server.getsockname()[1])

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = server.accept()
                with connection:
                    connection.settimeout(1)
                    with contextlib.suppress(OSError):
                        made.caught.append(b"connected " + connection.recv(65536))

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield
    finally:
        server.close()


@contextlib.contextmanager
def _read_letters(made: Scene) -> Iterator[None]:
    """A service that takes datagrams at a path where anybody may send them."""
    place = made.folder / "letters"
    made.words["@SOCKET@"] = str(place)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as letters:
        letters.bind(str(place))
        place.chmod(0o777)

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    made.caught.append(b"a letter " + letters.recv(65536))

        threading.Thread(target=serve, daemon=True).start()
        yield


@contextlib.contextmanager
def hurried() -> Iterator[None]:
    """Time limits that suit attacks which do nothing but wait; not honest work."""
    limits = {"LEAST_SECONDS": 0.4, "IMPORT_SECONDS": 2.0, "BUDGET_SECONDS": 20.0}
    limits |= {"PATIENCE": 4.0, "PAUSES": 3.0}
    with contextlib.ExitStack() as undo:
        for name, value in limits.items():
            undo.callback(setattr, session, name, getattr(session, name))
            setattr(session, name, value)
        undo.callback(setattr, retelling, "SEARCH_SECONDS", retelling.SEARCH_SECONDS)
        retelling.SEARCH_SECONDS = 1.0
        yield


def content(made: Scene, word: str) -> bytes | None:
    """What is in a planted file; None if it is not there."""
    path = Path(made.words[word])
    return path.read_bytes() if path.is_file() else None


PLANTED = ("@SOLUTION@", "@SUITE@", "@OTHER@", "@GRADEBOOK@")
