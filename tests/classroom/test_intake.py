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


def take(inbox):
    return intake.take_module(inbox, ["ada"], LESSON)


def refused(inbox):
    source, reason = take(inbox)
    assert source is None
    return reason


@pytest.mark.parametrize("place", ["minijax/jvp.py", "jvp.py"])
def test_the_module_is_taken_from_its_place_in_the_package_or_alone(inbox, place):
    (inbox / "ada" / place).write_bytes(GOOD)
    assert take(inbox) == (GOOD, "")


def test_the_place_in_the_package_goes_before_a_stray_copy(inbox, module):
    module.write_bytes(GOOD)
    (inbox / "ada" / "jvp.py").write_bytes(GOOD)
    assert take(inbox) == (GOOD, "")
    (inbox / "ada" / "jvp.py").write_bytes(b"other")
    assert take(inbox) == (GOOD, "Also submitted, and not looked at: jvp.py.")
    (inbox / "ada" / "jvp (1).py").symlink_to("/etc/passwd")
    assert take(inbox) == (GOOD, "Also submitted, and not looked at: jvp.py, jvp (1).py.")


def test_a_missing_module_is_said_and_what_there_is_instead(inbox):
    assert "minijax/jvp.py is missing" in refused(inbox)
    (inbox / "ada" / "notes.docx").write_bytes(b"x")
    assert refused(inbox).endswith("Submitted: minijax, notes.docx.")


@pytest.mark.parametrize("name", ["jvp.py ", "jvp(x).py", "jvp_old.py", "my_jvp.py"])
def test_names_are_compared_exactly(inbox, module, name):
    module.with_name(name).write_bytes(GOOD)
    assert "is missing" in refused(inbox)


@pytest.mark.parametrize(
    "name",
    ["jvp (1).py", "jvp(2).py", "jvp.py.txt", "jvp.txt", "jvp - Copy.py", "jvp-1.py", "JVP.PY"],
)
def test_a_name_that_a_browser_made_is_taken_and_said(inbox, module, name):
    for file in (module.with_name(name), inbox / "ada" / name):
        file.write_bytes(GOOD)
        assert take(inbox) == (GOOD, f"There is no minijax/jvp.py; {name} was taken for it.")
        file.unlink()


def test_of_several_such_names_none_is_taken(inbox, module):
    for name in ("jvp (1).py", "jvp (2).py"):
        module.with_name(name).write_bytes(GOOD)
    assert "several could be it: jvp (1).py, jvp (2).py. Submit one, as jvp.py." in refused(inbox)


def test_a_link_with_such_a_name_is_not_followed(inbox, module):
    module.with_name("jvp (1).py").symlink_to("/etc/passwd")
    assert "is a link" in refused(inbox)


def holding(content):
    return lambda path: path.write_bytes(content)


# What may be in place of the module, and why it is not taken.
INSTEAD = {
    "link": (lambda path: path.symlink_to("/etc/passwd"), "is a link"),
    "dangling link": (lambda path: path.symlink_to("nowhere"), "is a link"),
    "fifo": (os.mkfifo, "not an ordinary file"),
    "folder": (Path.mkdir, "not an ordinary file"),
    "large file": (holding(b"#" * (intake.MODULE_LIMIT + 1)), "larger than 256 KiB"),
    "empty file": (holding(b" \n"), "jvp.py is empty."),
    "no UTF-8": (holding(b"a = 1\nb = '\xff'\n"), "line 2, column 6"),
    "no text": (holding(b"x\n\0"), "line 2, column 1"),
}


@pytest.mark.parametrize(("make", "reason"), INSTEAD.values(), ids=INSTEAD)
def test_what_is_no_module_is_refused_and_a_stray_copy_does_not_replace_it(
    inbox, module, make, reason
):
    make(module)
    assert reason in refused(inbox)
    (inbox / "ada" / "jvp.py").write_bytes(GOOD)
    assert reason in refused(inbox)


def test_a_linked_folder_on_the_way_is_not_followed(inbox, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "jvp.py").write_bytes(GOOD)
    (inbox / "ada" / "minijax").rmdir()
    (inbox / "ada" / "minijax").symlink_to(tmp_path / "elsewhere")
    assert "behind one" in refused(inbox)


def test_a_linked_student_folder_is_not_followed(inbox, module):
    module.write_bytes(GOOD)
    (inbox / "bela").symlink_to(inbox / "ada")
    taken = {student: source for student, source, _ in intake.submissions(inbox, LESSON)}
    assert taken == {"ada": GOOD, "bela": None}


def test_a_file_in_place_of_the_package_is_refused(inbox):
    (inbox / "ada" / "minijax").rmdir()
    (inbox / "ada" / "minijax").write_bytes(GOOD)
    assert "not an ordinary file" in refused(inbox)


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
    zipped(inbox / "ada" / "work.zip", ("jvp/jvp.ipynb", text), ("jvp/minijax/jvp.py", GOOD))
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


# ------------------------------------------------------------------------------------------
# Archives


def zipped(path, *files, **about):
    """Write an archive of (name, content) pairs; `about` sets fields of the last entry."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            vars_of = about if (name, content) == files[-1] else {}
            for key, value in vars_of.items():
                setattr(entry, key, value)
            archive.writestr(entry, content)


PLACES = ["minijax/jvp.py", "jvp.py", "work/minijax/jvp.py", "work/jvp.py"]


@pytest.mark.parametrize("name", PLACES)
def test_the_module_is_taken_from_an_archive(inbox, name):
    zipped(inbox / "ada" / "upload.zip", ("notes.txt", "x"), (name, GOOD))
    assert take(inbox) == (GOOD, "")


def test_an_archive_stands_for_a_students_folder(inbox):
    zipped(inbox / "bela.zip", ("minijax/jvp.py", GOOD))
    taken = {student: source for student, source, _ in intake.submissions(inbox, LESSON)}
    assert taken == {"ada": None, "bela": GOOD}


def test_a_module_goes_before_an_archive(inbox, module):
    module.write_bytes(GOOD)
    zipped(inbox / "ada" / "upload.zip", ("minijax/jvp.py", b"other"))
    zipped(inbox / "ada" / "more.zip", ("jvp (1).py", b"other"), ("minijax/jvp.py", b"x"))
    assert take(inbox) == (GOOD, "Also submitted, and not looked at: an archive.")
    (inbox / "ada" / "more.zip").unlink()
    zipped(inbox / "ada" / "upload.zip", ("notes.txt", b"other"))
    assert take(inbox) == (GOOD, "")


def test_of_several_archives_the_one_that_holds_the_module_is_taken(inbox):
    zipped(inbox / "ada" / "a.zip", ("notes.txt", b"x"))
    zipped(inbox / "ada" / "B.ZIP", ("minijax/jvp.py", GOOD))
    assert take(inbox) == (GOOD, "")
    zipped(inbox / "ada" / "a.zip", ("jvp.py", b"other"))
    assert "Several archives hold minijax/jvp.py." in refused(inbox)


@pytest.mark.parametrize("name", ["JVP.py", "jvp (1).py", "jvp.py.txt"])
@pytest.mark.parametrize("place", ["", "work/", "minijax/", "work/minijax/"])
def test_a_browsers_name_within_an_archive_is_taken_and_said(inbox, place, name):
    zipped(inbox / "ada" / "upload.zip", ("__MACOSX/minijax/._jvp.py", b"x"), (place + name, GOOD))
    assert take(inbox) == (GOOD, f"There is no minijax/jvp.py; {name} was taken for it.")
    more = ("my_jvp.py", b"x"), (f"{place}jvp-2.py", b"x"), (place + name, GOOD)
    zipped(inbox / "ada" / "upload.zip", *more)
    assert "several could be it: jvp-2.py, " in refused(inbox)


DEEPER = "There is no minijax/jvp.py; jvp.py deeper in the archive was taken for it."


@pytest.mark.parametrize(
    ("others", "said"),
    [
        (["a/b/my_jvp.py", "a/b/c/minijax/jvp.py", "__MACOSX/a/b/minijax/._jvp.py"], DEEPER),
        (["jvp (1).py"], "There is no minijax/jvp.py; jvp (1).py was taken for it."),
    ],
)
def test_a_module_in_folders_within_folders_is_taken_if_there_is_no_better_one(inbox, others, said):
    place = "a/b/minijax/jvp.py"
    files = {place: b"deeper", **dict.fromkeys(others, b"other")}
    files["jvp (1).py" if "jvp (1).py" in others else place] = GOOD
    zipped(inbox / "ada" / "upload.zip", *files.items())
    assert take(inbox) == (GOOD, said)


OUTSIDE = ["../x", "a/../../x", "/etc/x", "..\\x", "C:\\x", "\\x", "a/.."]
MODULE = ("minijax/jvp.py", GOOD)
TRICKS = {
    **{f"path {name}": ([(name, b"x"), MODULE], {}, "leads outside") for name in OUTSIDE},
    "link": ([MODULE], {"external_attr": 0o120777 << 16}, "is a link"),
    "bomb": ([("minijax/jvp.py", b"#" * (16 << 20))], {}, "larger than 256 KiB"),
    "twice": ([MODULE, ("work/minijax/jvp.py", b"other")], {}, "more than once"),
    "many": ([(f"{i}", b"") for i in range(2001)], {}, "more than 2000 files"),
    "twice as deep": ([("a/b/jvp.py", b"x"), ("a/c/jvp.py", b"y")], {}, "more than once"),
    "another archive": ([("a.zip", b"x")], {}, "missing from the archive, which holds another"),
    "no text": ([("minijax/jvp.py", b"\xff")], {}, "line 1, column 1"),
    "empty": ([], {}, "is missing"),
    "unusual packing": ([MODULE], {"compress_type": zipfile.ZIP_LZMA}, "in an unusual way"),
}


@pytest.mark.parametrize("name", TRICKS)
def test_tricks_with_archives_are_refused(inbox, name):
    files, about, reason = TRICKS[name]
    zipped(inbox / "ada" / "upload.zip", *files, **about)
    assert reason in refused(inbox)


def test_an_encrypted_archive_is_refused(inbox):
    path = inbox / "ada" / "x.zip"
    zipped(path, MODULE)
    data = bytearray(path.read_bytes())
    for signature, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.index(signature) + place] |= 1
    path.write_bytes(data)
    assert "encrypted" in refused(inbox)


@pytest.mark.parametrize("cut", [0, 10, 60, -1])
def test_a_damaged_archive_is_refused(inbox, cut):
    path = inbox / "ada" / "x.zip"
    zipped(path, MODULE)
    path.write_bytes(path.read_bytes()[:cut])
    assert "damaged" in refused(inbox)


def test_an_archive_with_changed_content_is_refused(inbox):
    path = inbox / "ada" / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(*MODULE)
    path.write_bytes(path.read_bytes().replace(b"return 1", b"return 2"))
    assert "damaged" in refused(inbox)


def test_a_list_of_very_many_entries_is_not_even_read(inbox, monkeypatch):
    monkeypatch.setattr(intake.zipfile, "ZipFile", None)
    (inbox / "ada" / "x.zip").write_bytes(b"PK\1\2" * 100_000)
    assert "more than 2000 files" in refused(inbox)


def test_a_large_archive_and_a_linked_one_are_refused(inbox, tmp_path):
    with (inbox / "ada" / "x.zip").open("wb") as file:
        file.truncate(intake.ARCHIVE_LIMIT + 1)
    assert "larger than" in refused(inbox)
    (inbox / "ada" / "x.zip").unlink()
    zipped(tmp_path / "x.zip", MODULE)
    (inbox / "ada" / "x.zip").symlink_to(tmp_path / "x.zip")
    assert "is a link" in refused(inbox)


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
