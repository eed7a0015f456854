"""What is taken from a submission, and what is refused."""

import json
import os
import zipfile
from pathlib import Path

import pytest

from autograder.classroom.intake import answers
from autograder.classroom.intake import files as intake
from autograder.lessons import manifest
from autograder.lessons.problem import Problem

LESSON = manifest.get("jvp")
GOOD = b"def jvp():\n    return 1\n"


@pytest.fixture
def inbox(tmp_path):
    folder = tmp_path / "inbox"
    (folder / "ada" / "minijax").mkdir(parents=True)
    return folder


@pytest.fixture
def module(inbox):
    return inbox / "ada" / "minijax" / "jvp.py"


def put(folder, files):
    """Write each file: its bytes, a link to what a text names, or what a function makes there."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            path.rmdir()
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif isinstance(content, str):
            path.symlink_to(content)
        else:
            content(path)


def archive(files, **about):
    """What writes an archive of files, by name; `about` sets fields of the last entry."""

    def write(path):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
            for name, content in files.items():
                entry = zipfile.ZipInfo(name)
                entry.compress_type = zipfile.ZIP_DEFLATED
                for key, value in about.items() if name == [*files][-1] else ():
                    setattr(entry, key, value)
                made.writestr(entry, content)

    return write


def take(inbox):
    return intake.take_module(inbox, ["ada"], LESSON)


def refused(inbox):
    source, reason = take(inbox)
    assert source is None
    return reason


MODULE = "minijax/jvp.py"
RENAMED = "There is no minijax/jvp.py; {} was taken for it."
BROWSERS = (
    *("jvp (1).py", "jvp(2).py", "jvp.py.txt", "jvp.txt", "jvp - Copy.py", "jvp-1.py"),
    "JVP.PY",
)
DEEP = "a/b/minijax/jvp.py"
DEEPER = ("a/b/my_jvp.py", "a/b/c/minijax/jvp.py", "__MACOSX/a/b/minijax/._jvp.py")
# What is handed in, and what is said of it when the module is taken.
TAKEN = {
    "in the package": ({MODULE: GOOD}, ""),
    "alone": ({"jvp.py": GOOD}, ""),
    "twice the same": ({MODULE: GOOD, "jvp.py": GOOD}, ""),
    "a stray copy": (
        {MODULE: GOOD, "jvp.py": b"other"},
        "Also submitted, and not looked at: jvp.py.",
    ),
    "stray copies": (
        {MODULE: GOOD, "jvp.py": b"other", "jvp (1).py": "/etc/passwd"},
        "Also submitted, and not looked at: jvp.py, jvp (1).py.",
    ),
    "archives that hold one, too": (
        {
            MODULE: GOOD,
            "upload.zip": archive({MODULE: b"other"}),
            "more.zip": archive({"jvp (1).py": b"other", MODULE: b"x"}),
        },
        "Also submitted, and not looked at: an archive.",
    ),
    "another archive": ({MODULE: GOOD, "upload.zip": archive({"notes.txt": b"other"})}, ""),
    "in one of two archives": (
        {"a.zip": archive({"notes.txt": b"x"}), "B.ZIP": archive({MODULE: GOOD})},
        "",
    ),
    "deep in an archive": (
        {"upload.zip": archive({DEEP: GOOD, **dict.fromkeys(DEEPER, b"other")})},
        RENAMED.format("jvp.py deeper in the archive"),
    ),
    "a better one than a deep one": (
        {"upload.zip": archive({DEEP: b"deeper", "jvp (1).py": GOOD})},
        RENAMED.format("jvp (1).py"),
    ),
    **{f"{x}{y}": ({x + y: GOOD}, RENAMED.format(y)) for x in ("", "minijax/") for y in BROWSERS},
    **{
        f"{name} in an archive": ({"upload.zip": archive({"notes.txt": b"x", name: GOOD})}, "")
        for name in (MODULE, "jvp.py", "work/minijax/jvp.py", "work/jvp.py")
    },
}
OUTSIDE = ["../x", "a/../../x", "/etc/x", "..\\x", "C:\\x", "\\x", "a/.."]


def encrypted(path):
    archive({MODULE: GOOD})(path)
    data = bytearray(path.read_bytes())
    for signature, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.index(signature) + place] |= 1
    path.write_bytes(data)


def changed(path):
    with zipfile.ZipFile(path, "w") as made:
        made.writestr(MODULE, GOOD)
    path.write_bytes(path.read_bytes().replace(b"return 1", b"return 2"))


def large(path):
    with path.open("wb") as file:
        file.truncate(intake.ARCHIVE_LIMIT + 1)


def cut(end):
    def write(path):
        archive({MODULE: GOOD})(path)
        path.write_bytes(path.read_bytes()[:end])

    return write


# What an archive holds or is, and why it is refused.
TRICKS = {
    **{f"path {x}": (archive({x: b"x", MODULE: GOOD}), "leads outside") for x in OUTSIDE},
    "link": (archive({MODULE: GOOD}, external_attr=0o120777 << 16), "is a link"),
    "bomb": (archive({MODULE: b"#" * (16 << 20)}), "larger than 256 KiB"),
    "twice": (archive({MODULE: GOOD, "work/minijax/jvp.py": b"other"}), "more than once"),
    "many": (archive({f"{i}": b"" for i in range(2001)}), "more than 2000 files"),
    "twice as deep": (archive({"a/b/jvp.py": b"x", "a/c/jvp.py": b"y"}), "more than once"),
    "another archive": (archive({"a.zip": b"x"}), "missing from the archive, which holds another"),
    "no text": (archive({MODULE: b"\xff"}), "line 1, column 1"),
    "empty": (archive({}), "is missing"),
    "unusual packing": (
        archive({MODULE: GOOD}, compress_type=zipfile.ZIP_LZMA),
        "in an unusual way",
    ),
    "encrypted": (encrypted, "encrypted"),
    "changed content": (changed, "damaged"),
    **{f"cut at {end}": (cut(end), "damaged") for end in (0, 10, 60, -1)},
    "large": (large, "larger than"),
}
REFUSED = {
    "nothing": ({}, "minijax/jvp.py is missing"),
    "two of a browser's names": (
        {"minijax/jvp (1).py": GOOD, "minijax/jvp (2).py": GOOD},
        "several could be it: jvp (1).py, jvp (2).py. Submit one, as jvp.py.",
    ),
    "a link with such a name": ({"minijax/jvp (1).py": "/etc/passwd"}, "is a link"),
    "a linked folder on the way": (
        {"../../elsewhere/jvp.py": GOOD, "minijax": "../../elsewhere"},
        "behind one",
    ),
    "a file in place of the package": ({"minijax": GOOD}, "not an ordinary file"),
    "two archives with it": (
        {"a.zip": archive({"jvp.py": b"other"}), "B.ZIP": archive({MODULE: GOOD})},
        "Several archives hold minijax/jvp.py.",
    ),
    "a linked archive": (
        {"../../x.zip": archive({MODULE: GOOD}), "x.zip": "../../x.zip"},
        "is a link",
    ),
    **{  # names are compared exactly
        name: ({f"minijax/{name}": GOOD}, "is missing")
        for name in ("jvp.py ", "jvp(x).py", "jvp_old.py", "my_jvp.py")
    },
    **{f"archive, {x}": ({"upload.zip": make}, why) for x, (make, why) in TRICKS.items()},
}


@pytest.mark.parametrize(("files", "said"), TAKEN.values(), ids=TAKEN)
def test_the_module_is_taken_from_its_place_and_what_is_odd_is_said(inbox, files, said):
    put(inbox / "ada", files)
    assert take(inbox) == (GOOD, said)


@pytest.mark.parametrize(("files", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_the_module_is_refused(inbox, files, reason):
    put(inbox / "ada", files)
    assert reason in refused(inbox)


def test_a_missing_module_is_said_with_what_there_is_instead(inbox):
    put(inbox / "ada", {"notes.docx": b"x"})
    assert refused(inbox).endswith("Submitted: minijax, notes.docx.")


@pytest.mark.parametrize("name", ["JVP.py", "jvp (1).py", "jvp.py.txt"])
@pytest.mark.parametrize("place", ["", "work/", "minijax/", "work/minijax/"])
def test_a_browsers_name_within_an_archive_is_taken_and_said(inbox, place, name):
    beside = {"__MACOSX/minijax/._jvp.py": b"x"}
    put(inbox / "ada", {"upload.zip": archive({**beside, place + name: GOOD})})
    assert take(inbox) == (GOOD, RENAMED.format(name))
    more = {"my_jvp.py": b"x", f"{place}jvp-2.py": b"x", place + name: GOOD}
    put(inbox / "ada", {"upload.zip": archive(more)})
    assert "several could be it: jvp-2.py, " in refused(inbox)


# What may be in place of the module, and why it is not taken.
INSTEAD = {
    "link": ("/etc/passwd", "is a link"),
    "dangling link": ("nowhere", "is a link"),
    "fifo": (os.mkfifo, "not an ordinary file"),
    "folder": (Path.mkdir, "not an ordinary file"),
    "large file": (b"#" * (intake.MODULE_LIMIT + 1), "larger than 256 KiB"),
    "empty file": (b" \n", "jvp.py is empty."),
    "no UTF-8": (b"a = 1\nb = '\xff'\n", "line 2, column 6"),
    "no text": (b"x\n\0", "line 2, column 1"),
}


@pytest.mark.parametrize(("content", "reason"), INSTEAD.values(), ids=INSTEAD)
def test_what_is_no_module_is_refused_and_a_stray_copy_does_not_replace_it(inbox, content, reason):
    put(inbox / "ada", {MODULE: content})
    assert reason in refused(inbox)
    put(inbox / "ada", {"jvp.py": GOOD})
    assert reason in refused(inbox)


def test_a_linked_student_folder_is_not_followed(inbox, module):
    module.write_bytes(GOOD)
    (inbox / "bela").symlink_to(inbox / "ada")
    taken = {student: source for student, source, _ in intake.submissions(inbox, LESSON)}
    assert taken == {"ada": GOOD, "bela": None}


def test_a_module_of_the_largest_size_is_taken(inbox, module):
    module.write_bytes(b"#" * intake.MODULE_LIMIT)
    assert take(inbox)[0] is not None


def test_reasons_repeat_nothing_from_the_submission(inbox, module):
    module.with_name("<script>.py").write_bytes(GOOD)
    module.symlink_to("<script>.py")
    assert "script" not in refused(inbox)


def test_a_class_is_read_in_order_and_one_bad_submission_stops_nothing(inbox, module):
    os.mkfifo(module)
    for student in ("cy", "bela"):
        (inbox / student).mkdir()
        (inbox / student / "jvp.py").write_bytes(GOOD)
    (inbox / "notes.txt").write_text("not a submission")
    taken = [(student, bool(source)) for student, source, _ in intake.submissions(inbox, LESSON)]
    assert taken == [("ada", False), ("bela", True), ("cy", True)]


def test_a_name_that_is_not_fit_for_a_file_is_left_to_the_caller(inbox):
    for name in ("<img src=x>", "\ufeffbela", "x\nb"):
        (inbox / name).mkdir()
    assert len(list(intake.submissions(inbox, LESSON))) == 4


def test_a_missing_folder_is_a_problem(tmp_path):
    with pytest.raises(Problem, match="There is no folder"):
        list(intake.submissions(tmp_path / "none", LESSON))


def test_an_archive_stands_for_a_students_folder(inbox):
    put(inbox, {"bela.zip": archive({MODULE: GOOD})})
    taken = {student: source for student, source, _ in intake.submissions(inbox, LESSON)}
    assert taken == {"ada": None, "bela": GOOD}


def test_a_list_of_very_many_entries_is_not_even_read(inbox, monkeypatch):
    monkeypatch.setattr(intake.zipfile, "ZipFile", None)
    (inbox / "ada" / "x.zip").write_bytes(b"PK\1\2" * 100_000)
    assert "more than 2000 files" in refused(inbox)


@pytest.mark.parametrize(
    ("first", "taken"),
    [
        ("", True),
        ("# coding: latin-1\n", True),  # the same text in both
        ("# vim: set fileencoding=UTF-8 :\n", True),
        ("\ufeff", True),
        ("# coding: latin-1\n# \xe9\n", False),
        ("# coding: utf-7\n# +AAo-import os+AAo-\n", False),
        ("# coding: unicode_escape\n# \\nimport os\n", False),
        ("# coding: rot13\n", False),
        ("# coding: cp1253\n", False),  # only those are read that are known to be fast
        ("# coding: nothing\n", False),
    ],
)
def test_a_module_is_the_same_text_for_python_as_for_people(inbox, first, taken):
    (inbox / "ada" / "jvp.py").write_text(f"{first}x = 1\n")
    source, reason = intake.take_module(inbox, ["ada"], LESSON)
    assert (source is not None) == taken
    assert taken or "names an encoding other than UTF-8" in reason


# ------------------------------------------------------------------------------------------
# Notebooks


def notebook(*cells):
    return {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def cell(source, grade_id=None, solution=False):
    about = {"nbgrader": {"grade_id": grade_id, "solution": solution}} if grade_id else {}
    return {"cell_type": "code", "metadata": about, "source": source, "outputs": []}


RELEASE = notebook(cell("prose"), cell("checks", "q1"), cell("answer here", "q2", solution=True))


def rebuilt(folder, content):
    (folder / f"{LESSON.id}.ipynb").write_text(content, encoding="utf-8")
    found = answers.take(folder, [], LESSON).texts
    return [cell["source"] for cell in answers.rebuild_notebook(RELEASE, found)["cells"]]


@pytest.mark.parametrize(
    "student",
    [
        notebook(cell("evil", "q1", solution=True), cell("mine", "q2", solution=True), cell("x")),
        notebook(cell("not the last", "q2"), cell(["mi", "ne"], "q2")),
        {"nbformat": 3, "worksheets": [{"cells": [cell("mine", "q2", solution=True)]}]},
    ],
)
def test_of_a_notebook_the_last_answers_are_kept_and_nothing_else(tmp_path, student):
    assert rebuilt(tmp_path, json.dumps(student)) == ["prose", "checks", "mine"]


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "3", '{"cells": 3}', '{"cells": [1, {}, {"metadata": []}]}', "[" * 100_000],
)
def test_a_broken_notebook_has_no_answers_and_is_for_a_person_to_look_at(tmp_path, content):
    assert rebuilt(tmp_path, content) == ["prose", "checks", "answer here"]
    assert answers.take(tmp_path, [], LESSON).odd


def with_notebook(inbox, *cells, name="jvp.ipynb"):
    (inbox / "ada" / name).write_text(json.dumps(notebook(*cells)))
    return answers.take(inbox, ["ada"], LESSON)


def test_a_notebook_with_the_question_says_nothing(inbox):
    found = with_notebook(inbox, cell("mine", "jvp-question"))
    assert (dict(found.texts), found.remark, found.odd) == ({"jvp-question": "mine"}, "", False)


@pytest.mark.parametrize(
    ("cells", "name", "said"),
    [
        ([cell("mine", "core-question")], "jvp.ipynb", "the notebook of another lesson, core"),
        ([cell("mine", "jvp-mul_rule")], "jvp.ipynb", "has no cell for the written question"),
        ([], "jvp.ipynb", "has no cell for the written question"),
        ([cell("mine", "jvp-question")], "core.ipynb", "another notebook was submitted"),
    ],
)
def test_a_notebook_without_the_question_is_for_a_person_to_look_at(inbox, cells, name, said):
    found = with_notebook(inbox, *cells, name=name)
    assert found.odd
    assert said in found.remark


def test_no_notebook_is_no_answer(inbox):
    found = answers.take(inbox, ["ada"], LESSON)
    assert (found.texts, found.odd) == ({}, False)
    assert found.remark == "jvp.ipynb is missing, so there is no answer to the written question."


def test_an_answer_in_an_archive_or_under_a_browsers_name_is_found(inbox):
    text = json.dumps(notebook(cell("mine", "jvp-question")))
    put(inbox / "ada", {"work.zip": archive({"jvp/jvp.ipynb": text, "jvp/minijax/jvp.py": GOOD})})
    assert answers.take(inbox, ["ada"], LESSON).texts == {"jvp-question": "mine"}
    (inbox / "ada" / "work.zip").unlink()
    assert not with_notebook(inbox, cell("mine", "jvp-question"), name="jvp-Copy1.ipynb").odd


def test_half_a_surrogate_pair_in_an_answer_can_be_written(tmp_path):
    student = json.dumps(notebook(cell("\ud800 x", "q2")))
    assert rebuilt(tmp_path, student)[2] == "? x"


def test_an_answer_in_words_becomes_harmless_html_and_code_stays_as_it_is(tmp_path):
    release = notebook(cell("", "q1", solution=True), cell("", "q2", solution=True))
    release["cells"][0]["cell_type"] = "markdown"
    made = answers.rebuild_notebook(release, {"q1": "<b>*x*</b>", "q2": "x = '<b>'"})
    assert [x["source"] for x in made["cells"]] == [
        '<div class="tex2jax_ignore"><p>&lt;b&gt;<em>x</em>&lt;/b&gt;</p>&#10;</div>',
        "x = '<b>'",
    ]


def test_a_question_without_an_answer_stays_as_it_was_released():
    release = notebook(cell("*Your* answer.", "q1", solution=True))
    release["cells"][0]["cell_type"] = "markdown"
    assert answers.rebuild_notebook(release, {"q1": "*Your* answer."}) == release


def test_the_release_itself_is_not_changed(tmp_path):
    answers.rebuild_notebook(RELEASE, {"q2": "mine"})
    assert RELEASE["cells"][2]["source"] == "answer here"
