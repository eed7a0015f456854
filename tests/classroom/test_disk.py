"""A full or read-only disk ends nbgrader's commands, with one sentence."""

import errno
import logging
import os
import re
import sqlite3
from types import SimpleNamespace

import pytest
from nbgrader.converters.base import NbGraderException
from sqlalchemy.exc import OperationalError

from autograder.classroom.nbgrader import disk, gradebook
from autograder.lessons.problem import Problem

FULL = "Make room on the disk, then run the same command again."


def broken(text):
    return OperationalError("", {}, sqlite3.OperationalError(text))


def of(error, cause):
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "said", "tried"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), f"No space left on device. {FULL}", 1),
        (OSError(errno.EROFS, "Read-only", "a.html"), "a.html: Read-only. Use a disk that can", 1),
        (of(KeyError("no such assignment"), broken("database or disk is full")), FULL, 1),
        (broken("attempt to write a readonly database"), "Use a disk that can be written to", 1),
        (ValueError("a fault of one submission"), "for details on the specific errors", 2),
    ],
)
def test_no_other_submission_is_tried_if_it_is_the_disk(tmp_path, caplog, error, said, tried):
    students = []

    def fail(assignment, student):
        students.append(student)
        (tmp_path / student).mkdir()
        raise error

    converter = SimpleNamespace(
        **dict.fromkeys(disk.STEPS, fail),
        assignments={"in/ada/jvp": [], "in/bob/jvp": []},
        coursedir=SimpleNamespace(notebook_id="*"),
        log=logging.getLogger("of this test"),
        logfile="",
        _format_source=lambda name, student, escape: f"in/{student}/{name}",
        _format_dest=lambda _, student: str(tmp_path / student),
    )
    with pytest.raises(NbGraderException, match=re.escape(said)):
        disk.convert_notebooks(converter)
    assert len(students) == tried
    assert list(tmp_path.iterdir()) == []  # nothing half-written is left


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("database or disk is full", FULL),
        ("attempt to write a readonly database", "Use a disk that can be written to"),
        ("database disk image is malformed", "Restore it from a backup."),
    ],
)
def test_a_gradebook_on_such_a_disk_is_not_to_be_restored(tmp_path, text, said):
    with pytest.raises(Problem, match=re.escape(said)), gradebook.opened(tmp_path):
        raise broken(text)
