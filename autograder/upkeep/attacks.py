"""The corpus of attacks: submissions that try one thing each, and what became of it.

A file of `tests/attacks/` begins with a header of comments in TOML, which says what is tried, what
it must be reported as, and which rungs must stop it; below stands what is added to a module. To be
fair to the attacker, a file knows where everything lies: in its text, words such as @SOLUTION@ are
replaced by real paths. Canaries, secret words of this run, are in every file that may not be read.
"""

import contextlib
import json
import os
import shutil
import time
import tomllib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autograder.classroom.intake import files as intake
from autograder.grading import submission, suite
from autograder.grading.result import Result
from autograder.grading.task import Task
from autograder.lessons import assemble, manifest, places, skeleton
from autograder.lessons.manifest import Exercise, Lesson
from autograder.lessons.problem import Problem
from autograder.sandbox import isolation
from autograder.upkeep import changes
from autograder.upkeep.scene import PLANTED, Scene, content, hurried, scene


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


def narrowed(attack: Attack) -> Attack:
    """An attack on all exercises of a lesson, on one of them; the others are done then.

    What it tries besides is the same, and it is graded in a fifth of the time. One that is handed
    in more than once may need what the first submission found in other exercises.
    """
    if attack.kind != "module" or not attack.answer or attack.only or attack.times > 1:
        return attack
    exercises = manifest.get(attack.lesson).exercises
    return replace(attack, only=exercises[zlib.crc32(attack.name.encode()) % len(exercises)].id)


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
    with hurried():
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
    used = [tool for name, tool in TOOLS.items() if name in attack.answer + attack.body]
    return _filled("\n".join([text, *used, attack.body]), words)


def _undone(attack: Attack, lesson: Lesson) -> tuple[Exercise, ...]:
    """The exercises that the attack has not done."""
    if attack.solved:
        return ()
    return tuple(e for e in lesson.exercises if attack.only in ("", e.id))


# What several attacks need, by the name with which they call it.
TOOLS = {
    # A right rule for products, in the lesson `jvp`.
    "product": """
def product(x, y, s, t):
    moved = apply_linear(lambda s: mul(s, y), s), apply_linear(lambda t: mul(x, t), t)
    return mul(x, y), add_tangents(*moved)
""",
    "send_everywhere": """
def framed(message):
    return len(message).to_bytes(4, "big") + message


def send_everywhere(data):
    import os
    for descriptor in range(1, 16):
        try:
            os.write(descriptor, data)
        except OSError:
            pass
""",
    # For those that have found something: every way out that one could think of.
    "carry_out": '''
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
''',
}


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
    for word, planted in made.planted.items():
        path = Path(made.words[word])
        if planted is not None and content(made, word) != planted:
            path.write_bytes(planted)
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
    changed = [word for word in PLANTED if content(made, word) != made.planted[word]]
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
    files = [Path(made.words[word]).stat() for word in PLANTED]
    about = [(s.st_mode, s.st_uid, s.st_mtime_ns) for s in files]
    import resource

    limits = [resource.getrlimit(resource.RLIMIT_NOFILE), os.getpriority(os.PRIO_PROCESS, 0)]
    return [*about, *limits]


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


def examine(quick: bool = False) -> int:
    """Try attacks on every rung that this machine has; print a table, and what went wrong.

    A quick audit tries some, and those that changed since the last whole one, on the best rung.
    Returns how many findings there are: attacks that a rung should stop and does not, and reports
    that do not say what they should.
    """
    known = load()
    states = {attack.name: changes.digest(repr(attack)) for attack in known}
    names = changes.sample(TITLE, states) if quick else states
    here = [level for level in isolation.LEVELS if isolation.detect(level) is None]
    levels = [isolation.choose()] if quick else here
    chosen = [attack for attack in known if attack.name in names]
    findings = _findings(chosen, levels)
    what = f"{len(findings)} findings:" if findings else "Each level stops what it promises."
    print(f"Tried: {len(chosen)} of {len(known)} attacks, on {', '.join(levels)}. {what}")
    print("".join(f"- {attack}, {level}: {fault}\n" for attack, level, fault in findings), end="")
    if not quick:
        failed = {attack for attack, _, _ in findings}
        changes.keep(TITLE, {name: state for name, state in states.items() if name not in failed})
    return len(findings)


TITLE = "attacks"


def _findings(chosen: Sequence[Attack], levels: Sequence[str]) -> list[tuple[str, str, str]]:
    """What went wrong, as attack, rung and fault; the table is printed meanwhile."""
    findings: list[tuple[str, str, str]] = []
    width = max(len(attack.title) for attack in chosen)
    print(f"{'attack':<{width}}  {'  '.join(levels)}", flush=True)
    with scene() as made:
        for attack in chosen:
            faults = {level: attempt(attack, level, made) for level in levels}
            cells = [_cell(faults[level]).ljust(len(level)) for level in levels]
            print(f"{attack.title:<{width}}  {'  '.join(cells)}".rstrip(), flush=True)
            findings += [
                (attack.name, level, fault)
                for level in levels
                if level in attack.stops
                for fault in faults[level]
            ]
    return findings


def _cell(faults: Sequence[str]) -> str:
    return "stopped" if all(fault.startswith("reported") for fault in faults) else "succeeds"
