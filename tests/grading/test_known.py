"""What is the same for every submission is found out once on a machine."""

import os
import sqlite3
import time

import pytest

from autograder.grading import generated, known, strata
from autograder.grading.oracle import Oracle
from autograder.lessons import assemble, manifest
from autograder.sandbox import isolation
from autograder.sandbox.session import Probe, Session

LESSON = manifest.get("interpreters")
SUM = Probe("total", "def total(mj, *xs): return sum(xs)")
LEVEL = isolation.choose()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where known things are kept, empty; `of` opens anew, as another process does."""
    monkeypatch.setattr(known, "FOLDER", tmp_path)
    monkeypatch.setattr(known, "of", known.of.__wrapped__)
    return tmp_path


@pytest.fixture
def asked(monkeypatch):
    """The probes that workers are asked."""
    probes, call = [], Session.call

    def noted(session, probe, *args, **kw):
        probes.append(probe.name)
        return call(session, probe, *args, **kw)

    monkeypatch.setattr(Session, "call", noted)
    return probes


def ask(*args, overlay=None):
    oracle = Oracle(LESSON, LEVEL, overlay or {})
    reply, _ = oracle.ask(SUM, args)
    oracle.session.close()
    return reply.value


def test_another_process_knows_what_the_reference_replied(folder, asked):
    assert [ask(1, 2), ask(1, 2)] == [3, 3]
    assert asked == ["total"]
    assert [ask(1, 3), ask(1.0, 2)] == [4, 3.0]  # other questions
    other = assemble.read_solution(LESSON.module) + "\nx = 1"
    assert ask(1, 2, overlay={LESSON.module: other}) == 3
    assert asked == ["total"] * 4


def test_what_is_damaged_is_asked_again(folder, asked):
    ask(1, 2)
    (path,) = folder.iterdir()
    with sqlite3.connect(path) as database:
        database.execute("UPDATE known SET value = x'00'")
    assert ask(1, 2) == 3
    path.write_bytes(b"no database")
    assert ask(1, 2) == 3
    assert asked == ["total"] * 3


def test_nothing_has_to_be_kept(folder, asked, monkeypatch):
    monkeypatch.setattr(known, "FOLDER", folder / "file" / "known")
    (folder / "file").write_text("")
    assert [ask(1, 2), ask(1, 2)] == [3, 3]
    assert asked == ["total"] * 2


def test_a_reply_that_may_be_the_machines_doing_is_not_kept(folder):
    ends = Probe("ends", "def ends(mj):\n    import os\n    os._exit(0)")
    oracle = Oracle(LESSON, LEVEL, {})
    assert oracle.ask(ends, ())[0].kind == "crashed"
    assert known.of(LESSON).get(oracle._key(ends, ())) is None


def test_a_changed_lesson_begins_anew_and_what_is_old_goes(folder, monkeypatch):
    ask(1, 2)
    (old,) = folder.iterdir()
    monkeypatch.setattr(known, "fingerprint", lambda *_: "f" * 64)
    known.of(LESSON)
    assert old.exists()
    before = time.time() - 2 * known.UNUSED
    os.utime(old, (before, before))
    known.of(LESSON)
    assert [path.name for path in folder.iterdir()] == [f"interpreters.{'f' * 20}"]


def test_programs_are_made_once(folder, monkeypatch):
    made = generated._made.__wrapped__
    first = made(LESSON, strata, "seed", '{"number": 2, "using": ["mul"]}')
    monkeypatch.setattr(strata, "make", None)
    again = made(LESSON, strata, "seed", '{"number": 2, "using": ["mul"]}')
    assert [p.text() for p in again] == [p.text() for p in first]
