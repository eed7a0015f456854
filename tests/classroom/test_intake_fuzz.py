"""Whatever one student hands in, the intake answers: taken, or refused with a reason."""

import io
import json
import struct
import unicodedata
import zipfile
from datetime import datetime
from zoneinfo import ZoneInfo

import nbformat
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from nbgrader import utils

from autograder.classroom.intake import answers, files
from autograder.classroom.nbgrader import submitted
from autograder.classroom.run import folder as class_run
from autograder.grading import result_files
from autograder.lessons import manifest, notebook

LESSON = manifest.get("jvp")
GOOD = b"def jvp():\n    return 1\n"
RELEASE = notebook.make(LESSON)
QUESTION = f"{LESSON.id}-question"


# ------------------------------------------------------------------------------------------
# Archives


def archive(names):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in names:
            packed.writestr(name, GOOD)
    return made.getvalue()


def spoilt(data, changes, cut):
    """An archive with some of its numbers replaced, and without its end."""
    data = bytearray(data)
    for place, number, form in changes:
        size = struct.calcsize(form)
        struct.pack_into(form, data, place % (len(data) - size), number % (1 << 8 * size))
    return bytes(data[: len(data) - cut])


WHOLE = archive(["notes.txt", "minijax/jvp.py"])
NUMBERS = st.sampled_from([0, 1, 2**15, 2**16 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1])
CHANGES = st.lists(
    st.tuples(
        st.integers(0, len(WHOLE)),
        NUMBERS | st.integers(0, 2**64 - 1),
        st.sampled_from(["<B", "<H", "<I", "<Q"]),
    ),
    min_size=1,
    max_size=6,
)
PATHS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20
)
ARCHIVES = (
    st.binary(max_size=300)
    | st.builds(spoilt, st.just(WHOLE), CHANGES, st.sampled_from([0, 0, 0, 1, 22, 60]))
    | st.lists(PATHS, max_size=4, unique=True).map(archive)
)


@pytest.fixture(scope="module")
def inbox(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inbox")
    (folder / "ada").mkdir()
    return folder


@given(data=ARCHIVES)
def test_any_archive_is_taken_or_refused(inbox, data):
    (inbox / "ada" / "work.zip").write_bytes(data)
    source, reason = files.take_module(inbox, ["ada"], LESSON)
    assert (source is None) == bool(reason)
    assert reason.isprintable()


@given(error=st.sampled_from([OverflowError, struct.error, KeyError, RecursionError, MemoryError]))
def test_any_error_of_a_reader_refuses_one_submission(inbox, error):
    def fail(*args):
        raise error("<script>")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "_find", fail)
        source, reason = files.take_module(inbox, ["ada"], LESSON)
    assert source is None
    assert reason.startswith(f"The submission cannot be read ({error.__name__}).")


# ------------------------------------------------------------------------------------------
# Notebooks

KEYS = st.sampled_from(["cells", "source", "metadata", "nbgrader", "grade_id", "cell_type", "x"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
ANSWERS = JSON | st.text(max_size=50) | st.lists(st.text(max_size=9), max_size=3)
CELLS = st.builds(
    lambda name, source, more: {**more, "metadata": {"nbgrader": {"grade_id": name}}, **source},
    st.just(QUESTION) | JSON,
    st.builds(lambda source: {"source": source}, ANSWERS) | st.just({}),
    st.dictionaries(KEYS, JSON, max_size=3),
)
NOTEBOOKS = JSON | st.builds(lambda cells: {"cells": cells}, st.lists(CELLS | JSON, max_size=4))
TEXTS = st.binary(max_size=60) | NOTEBOOKS.map(lambda made: json.dumps(made).encode())


def rebuilt(folder, data):
    (folder / f"{LESSON.id}.ipynb").write_bytes(data)
    return answers.rebuild_notebook(RELEASE, answers.take(folder, [], LESSON).texts)


@given(data=TEXTS)
@example(data=b'{"cells": ' + b"[" * 100_000)
@example(data=b'{"cells": [' + b"9" * 10_000 + b"]}")
@example(data=b"\xff\xfe{\0}\0")
def test_of_any_notebook_only_answers_are_kept(inbox, data):
    made = rebuilt(inbox, data)
    nbformat.validate(nbformat.from_dict(made))
    differ = [(a, b) for a, b in zip(made["cells"], RELEASE["cells"], strict=True) if a != b]
    for cell, released in differ:
        assert cell["id"] == QUESTION
        assert {**cell, "source": released["source"]} == released
    assert {**made, "cells": RELEASE["cells"]} == RELEASE


# ------------------------------------------------------------------------------------------
# Timestamps

DATES = st.datetimes().map(str) | st.builds(
    "{}-{}-{} {}:{}:{} {}".format,
    *[st.integers(-1, 10**5) | st.just("9" * 30)] * 6,
    st.sampled_from(["UTC", "+9999", "-2400", "CET", "9" * 20, "../../etc/passwd", "Infinity"]),
)


@given(text=DATES | st.text(max_size=60) | st.from_regex(r"\d{4}-\d\d-\d\d \S{1,20}( \S{1,9})?"))
@example(text="2030-01-01 12:00:00 NaN")
@example(text="2030-01-01 1e999999999")
@example(text="1e9999999999999999999 12:00")
@example(text="0001-01-01 00:00:00 +1400")
def test_any_timestamp_is_a_time_for_nbgrader_or_none(inbox, text):
    (inbox / "ada" / "timestamp.txt").write_bytes(text.encode("utf-8", "surrogatepass"))
    found = submitted.submitted_at(inbox, ["ada"], ZoneInfo("Europe/Berlin"))
    content = submitted._timestamp(found)
    if content is not None:
        when = utils.parse_utc(content.decode().strip())
        assert when == found
        assert datetime(2000, 1, 1) <= when < datetime(2200, 1, 1)


@pytest.mark.parametrize(
    ("text", "hour"),
    [
        ("2030-05-20 11:30", 9),
        ("2030-05-20T11:30:00.5\n", 9),
        ("2030-01-20 11:30:00", 10),
        ("2030-05-20 11:30:00 UTC", 11),
        ("2030-05-20T11:30Z", 11),
        ("2030-05-20 11:30:00 -0500", 16),
        ("2030-05-20T11:30-05:00", 16),
        ("2030-05-20 11:30:00 Europe/Lisbon", 10),
    ],
)
def test_a_time_without_a_zone_is_the_courses_as_a_due_date_is(inbox, text, hour):
    (inbox / "ada" / "timestamp.txt").write_text(text)
    when = submitted.submitted_at(inbox, ["ada"], ZoneInfo("Europe/Berlin"))
    assert (when.hour, when.minute) == (hour, 30)


# ------------------------------------------------------------------------------------------
# Names

NAMES = st.text(st.characters(exclude_characters="/\0"), min_size=1, max_size=30) | st.sampled_from(
    ["ada", "Ada", "ADA", "a\u0308da", "\xe4da", ".", "..", "<img src=x>", "\ufeffada", "a" * 300]
)


@given(names=st.lists(NAMES, min_size=1, max_size=8))
@example(names=["ada", "<img src=x onerror=alert(1)>", "\ufeffbela"])
def test_names_refuse_themselves_and_nobody_else(tmp_path_factory, names):
    taken = [(name, None, "is missing") for name in names]
    try:
        fit, unfit = class_run._fit(tmp_path_factory.getbasetemp(), taken)
    except class_run.Problem:  # there is not one that is fit
        fit, unfit = [], dict.fromkeys(names, "")
    assert class_run._about_unfit(unfit).isprintable()
    folded = [unicodedata.normalize("NFC", name).casefold() for name, _, _ in fit]
    assert len(set(folded)) == len(folded)
    for name, _, _ in fit:
        assert result_files.is_file_name(name)
    for name in unfit:
        key = unicodedata.normalize("NFC", name).casefold()
        alike = [x for x in names if unicodedata.normalize("NFC", x).casefold() == key]
        assert len(alike) > 1 or not result_files.is_file_name(name)
