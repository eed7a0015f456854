"""Oracles: the reference and its mistaken variants, asked each thing once."""

import atexit
import functools
import hashlib
import math
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgpack

from autograder.grading import answers, known, under_pytest, values
from autograder.grading.answers import Mistake
from autograder.grading.suite import SuiteError
from autograder.lessons import assemble
from autograder.lessons.manifest import Lesson
from autograder.sandbox.session import Probe, Reply, Session
from autograder.worker import wire

Timed = tuple[Reply, float]  # with the seconds of CPU that it took


@functools.cache
def given(lesson: Lesson) -> dict[str, str | bytes]:
    """What every submission's tree holds besides its module, compiled here, once for all."""
    return assemble.with_bytecode(assemble.tree(lesson, but=[lesson.module]))


class Oracle:
    """A trusted tree in a worker of its own; remembers its replies for the whole process."""

    def __init__(self, lesson: Lesson, level: str, overlay: Mapping[str, str]) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="jaxprentice-")
        own = overlay or {lesson.module: assemble.read_solution(lesson.module)}
        assemble.write_files(Path(self.folder.name), {**given(lesson), **own})
        imports = under_pytest.imports(under_pytest.suite_of(lesson))
        tree = Path(self.folder.name)
        self.session = Session(tree, lesson.module, level, math.inf, imports)
        self.tree = repr((level, sorted(overlay.items())))
        self.known = known.of(lesson)
        self.replies: dict[bytes, Timed] = {}

    def ask(self, probe: Probe, args: tuple[Any, ...]) -> Timed:
        """The reply, and the seconds of CPU that it took."""
        key = self._key(probe, args)
        if key not in self.replies:
            self.replies[key] = self.known.get(key) or self._asked(key, probe, args)
        return self.replies[key]

    def _key(self, probe: Probe, args: tuple[Any, ...]) -> bytes:
        """A hash of all that a reply depends on, in one state of the lesson."""
        packed = msgpack.packb(wire.encode(list(args)))
        return hashlib.sha256(repr((self.tree, probe, packed)).encode()).digest()

    def _asked(self, key: bytes, probe: Probe, args: tuple[Any, ...]) -> Timed:
        self._open()
        begin = self.session.seconds
        reply = self.session.call(probe, *args, seconds=30, fresh=True)
        timed = reply, self.session.seconds - begin
        if reply.kind in ("value", "raised"):  # the rest may be the machine's doing
            self.known.put(key, timed)
        return timed

    def _open(self) -> None:
        """Have a worker, and let few other oracles keep theirs."""
        if self in _awake:
            _awake.remove(self)
        _awake.append(self)
        while len(_awake) > MOST_AWAKE:
            _awake.pop(0).session.close()
        if self.session.worker is None:
            self.session.load()


MOST_AWAKE = 3
_awake: list[Oracle] = []  # those that may have a worker, the one asked last at the end


@atexit.register
def _close_oracles() -> None:
    for oracle in _awake:
        oracle.session.close()


@functools.lru_cache(maxsize=100)
def reference(lesson: Lesson, level: str) -> Oracle:
    """The reference's tree of a lesson."""
    return Oracle(lesson, level, {})


@functools.lru_cache(maxsize=1000)
def variant(lesson: Lesson, level: str, mistake: Mistake) -> Oracle:
    """The reference's tree with a known mistake in it."""
    return Oracle(lesson, level, {lesson.module: answers.variant_source(mistake)})


# What a probe raises that asks for something that is not there.
BROKEN_PROBE = (
    *("NameError", "UnboundLocalError", "ImportError", "ModuleNotFoundError", "AttributeError"),
)


def check_reference(probe: Probe, reply: Reply, raises: bool) -> None:
    """Complain loudly about a probe that does not do on the reference what its test announces.

    If an error counted as an answer where none is announced, a submission would agree by being
    broken in the same way.
    """
    if reply.kind not in ("value", "raised"):
        raise SuiteError(f"The probe {probe.name} ends with {reply.kind!r} on the reference.")
    if reply.name in BROKEN_PROBE or (reply.kind == "raised" and not raises):
        raise SuiteError(f"The probe {probe.name} raises {reply.name}: {reply.message}.")
    if raises and reply.kind == "value":
        raise SuiteError(f"The probe {probe.name} should raise an error, and does not.")
    if values.has_opaque(reply.value):
        raise SuiteError(f"The probe {probe.name} returns something that is not plain data.")
