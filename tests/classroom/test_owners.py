"""Whose a submission is: the outermost names of a download say it, and nothing inside one does."""

import re
import tempfile
from pathlib import Path

import pytest
from archives import archive, folder, packed
from hypothesis import given
from hypothesis import strategies as st
from nbgrader_class import bare_course, nbgrader, run

from autograder.classroom import systems
from autograder.classroom.course import people
from autograder.classroom.course.settings import Assignment
from autograder.classroom.nbgrader import zip_collect as nbgrader_collect
from autograder.classroom.systems import collect
from autograder.lessons import manifest

CORE = Assignment("ps1", (manifest.get("core"),))
TWO = Assignment("ps1", (manifest.get("core"), manifest.get("jvp")))
CLASS = """id,full name,canvas id,github,email
a,Ada A,111,ax,a@x.edu
b,Bob B,222,b,b@x.edu
cy,Cy C,333,,c@x.edu
"""
METADATA = """\
submission_1:
  :submitters:
  - :sid: a
submission_2:
  :submitters:
  - :sid: b
"""
OF_BOB = METADATA.partition("submission_2:\n")[2]
COURSE = """[[assignment]]
name = "ps1"
lessons = ["core"]
"""
# How each system names what a student hands in: the work of ada and of bob.
PLACES = {
    "canvas": ("aada_111_1_{}", "bbob_222_2_{}"),
    "moodle": ("Ada A_1_assignsubmission_file/{}", "Bob B_2_assignsubmission_file/{}"),
    "gradescope": ("submission_1/{}", "submission_2/{}"),
    "github": ("ps1-ax/{}", "ps1-b/{}"),
}


@pytest.fixture
def roster(tmp_path):
    (tmp_path / "roster.csv").write_text(CLASS)
    return people.read(tmp_path / "roster.csv")


def collected(out, got, system, roster, assignment=CORE):
    """What is filed for each student, by path, and what was said."""
    said = collect.take_over(got, system, roster, assignment, out)
    files = {x.relative_to(out): x.read_bytes() for x in out.rglob("*") if x.is_file()}
    found = {}
    for path, content in files.items():
        if len(path.parts) > 1:
            found.setdefault(path.parts[0], {})["/".join(path.parts[1:])] = content
    return found, said


def test_every_system_is_tried():
    assert PLACES.keys() == systems.collecting().keys()


@pytest.mark.parametrize("pack", [folder, archive])
@pytest.mark.parametrize("inner", PLACES)
@pytest.mark.parametrize("system", PLACES)
def test_a_name_inside_a_submission_is_no_owner(tmp_path, roster, system, inner, pack):
    own, _ = PLACES[system]
    forged = PLACES[inner][1].format("core.py")
    files = {own.format("core.py"): b"ada's"}
    if "/" in own:
        files[own.format(forged)] = b"forged"
    else:
        files[own.format("work") + "/" + forged] = b"forged"  # the archive work.zip, unpacked
    files["submission_metadata.yml"] = METADATA.encode()
    found, _ = collected(tmp_path / "out", pack(tmp_path / "got", files), system, roster)
    assert found == {"a": {"minijax/core.py": b"ada's"}}


def test_feedback_goes_to_the_account_that_handed_in(tmp_path, roster):
    files = {
        "Bob B_2_assignsubmission_file/core.py": b"bob's",
        "Ada A_1_assignsubmission_file/core.py": b"ada's",
        "Ada A_1_assignsubmission_file/Bob B_1_assignsubmission_file/jvp.py": b"forged",
    }
    found, _ = collected(tmp_path / "o", archive(tmp_path / "got", files), "moodle", roster, TWO)
    assert found["b"] == {"minijax/core.py": b"bob's"}
    row = next(r for r in collect._rows(tmp_path / "o") if r["student"] == "b")
    assert row["name"] == "Bob B_2_assignsubmission_file"


@pytest.mark.parametrize(
    ("system", "names", "said"),
    [
        ("github", ["ps1-x-b"], "'ps1-x-b'"),  # of the account x-b
        ("github", ["ps1-cy"], "'ps1-cy'"),  # an id is no account where accounts are known
        ("github", ["ps2-b"], ""),
        ("canvas", ["x_cy_444_1"], "444"),
        ("moodle", ["b_4_assignsubmission_file"], "'b_4'"),  # an id is no full name
        ("gradescope", ["submission_9"], "'submission_9'"),
    ],
)
def test_a_stranger_is_nobody_in_the_roster(tmp_path, roster, system, names, said):
    files = {"submission_metadata.yml": METADATA.encode()}
    files |= {PLACES[system][0].format("core.py"): b"ada's"}
    between = "_" if system == "canvas" else "/"
    files |= {f"{name}{between}core.py": b"forged" for name in names}
    found, told = collected(tmp_path / "out", folder(tmp_path / "got", files), system, roster)
    assert found == {"a": {"minijax/core.py": b"ada's"}}
    assert said in told[-1]


@pytest.mark.parametrize(
    ("system", "names", "said"),
    [
        ("canvas", ["bbob_222_2_core.py", "x_222_111_3_work.zip"], "'x_222' or 'x_222_111'"),
        ("canvas", ["bbob_222_2_core.py", "x_222_111_3_core.py"], "'x_222' or 'x_222_111'"),
        ("canvas", ["x_222_7_a_111_3_work.zip"], "'x_222' or 'x_222_7_a_111'"),
        ("canvas", ["bbob_222_2_core.py", "x_222_3_core.py"], "'bbob_222' and 'x_222'"),
        ("moodle", ["Bob B_2_{}/core.py", "bob b_9_{}/core.py"], "'Bob B_2' and 'bob b_9'"),
        ("moodle", ["Bob B_2_{}_core.py", "Bob B_9_{}_core.py"], "'Bob B_2' and 'Bob B_9'"),
        ("gradescope", ["submission_2/core.py", "submission_3/core.py"], "'submission_2' and"),
    ],
)
def test_two_owners_for_one_student_are_both_named(tmp_path, roster, system, names, said):
    files = {name.format("assignsubmission_file"): b"?" for name in names}
    files |= {PLACES[system][0].format("core.py"): b"ada's"}
    files["submission_metadata.yml"] = (METADATA + "submission_3:\n" + OF_BOB).encode()
    got = folder(tmp_path / "got", files)
    found, told = collected(tmp_path / "out", got, system, roster)
    bobs = "bbob_222_2_core.py" in names and " or " in said
    assert found == {"a": {"minijax/core.py": b"ada's"}} | (
        {"b": {"minijax/core.py": b"?"}} if bobs else {}
    )
    assert said in told[-1]


NUMBERED = "id,full name,participant\na,Ada A,Participant 1\na2,Ada A,2\nb,Bob B,3\n"
LOVELACE = "id,first name,last name\na,Ada,Lovelace\nb,Bob,B\n"
NO_NUMBER = "'{}_9'.* The number is not in its column `participant`.$"
# Of a roster and the names in Moodle's download: whose each is, who is left out, and what is said.
MOODLES = [
    (
        f"{CLASS}ada2,Ada A\n",
        {"b": "Bob B_2"},
        ["Ada A_1"],
        "^'Ada A_1' is left out: a and ada2 have this",
    ),
    (
        NUMBERED,  # which tells two of one name apart
        {"a": "Ada A_1", "a2": "Ada A_2", "b": "Bob B_3"},
        ["Ada A_9"],
        "^'Ada A_9' is left out: a and a2 have this name in the roster. "
        "Write their numbers into its column `participant`.$",
    ),
    *(  # blind marking: the number is the person
        (NUMBERED, {"a2": f"{x}_2", "b": f"{x}_3"}, [f"{x}_9"], NO_NUMBER.format(x))
        for x in (
            *("Participant", "Teilnehmerin", "Default group-Participant"),
            "Team 3 - B-Participante",
        )
    ),
    (CLASS, {"a": "Ada A_1"}, ["Participant_9"], "give the grading worksheet"),
    (NUMBERED, {"a": "Ada Lovelace_1", "b": "Bob B_3"}, [], "^((?!this download).)*$"),
    (NUMBERED, {"b": "Bob B_4"}, ["Ada Lovelace_1"], "not those of this download"),
    *(  # the worksheet of a blind assignment is a roster
        (f"{x},Status,Grade\n{y} 501,Submitted,\n", {"participant-501": "Participant_501"}, [], "")
        for x in ("Identifier", "ID", "Identificador")
        for y in ("Participant", "Teilnehmer/in")
    ),
    *(  # first and last names may be in either order
        (LOVELACE, {"a": f"{x}_1"}, [], "")
        for x in (
            *("Lovelace Ada", "ADA LOVELACE", "Lovelace, Ada", "Ada Lovelace"),
            *("Group A-Ada Lovelace", "Default group-Lovelace, Ada", "Team-3-Ada Lovelace"),
        )
    ),
    # That of the roster goes before the other one.
    ("id,full name\na,Ada Tomas\nb,Tomas Ada\n", {"a": "Ada Tomas_1", "b": "Tomas Ada_2"}, [], ""),
    ("id,full name\nz,Zo\u00eb Z\n", {"z": "Zoe\u0308 Z_1"}, [], ""),  # in another spelling
]


@pytest.mark.parametrize(
    ("roster", "whose", "others", "said"),
    MOODLES,
    ids=[next(iter(row[1].values())) for row in MOODLES],
)
def test_moodles_names_and_numbers_say_whose_a_submission_is(tmp_path, roster, whose, others, said):
    (tmp_path / "roster.csv").write_text(roster, encoding="utf-8")
    known, names = people.read(tmp_path / "roster.csv"), [*whose.values(), *others]
    files = {f"{name}_assignsubmission_file/core.py": name.encode() for name in names}
    found, told = collected(tmp_path / "out", folder(tmp_path / "got", files), "moodle", known)
    assert found == {x: {"minijax/core.py": name.encode()} for x, name in whose.items()}
    assert re.search(said, told[-1])


@pytest.mark.parametrize("head", ["section,id", "Seat,id"])
def test_a_column_of_numbers_that_is_no_worksheets_is_none(tmp_path, head):
    (tmp_path / "roster.csv").write_text(f"{head}\nGroup 1,ada\nGroup 2,bob\n")
    roster = people.read(tmp_path / "roster.csv")
    assert [(x.id, x.participant) for x in roster.students.values()] == [("ada", ""), ("bob", "")]


# ------------------------------------------------------------------------------------------
# Whatever is nested inside

NAMES = [name for _, bobs in PLACES.values() for name in [bobs.split("/")[0].format("core.py")]]
PARTS = [
    *(*NAMES, "Bob B_2_assignsubmission_file_", "x_222_3_core-9.py", "x_222_111_4_core.py"),
    *("assignment_1_export", "ps1-submissions", "extracted", "downloaded", "b", "Bob B", "...."),
    *("submission_metadata.yml", "a\n_222_3_core.py", "__MACOSX", "minijax"),
]
INNER = st.builds(
    lambda parts, end: "/".join(["z", *parts, end]),
    st.lists(st.sampled_from(PARTS), min_size=1, max_size=4),
    st.sampled_from(["core.py", "core.ipynb", "work.zip", NAMES[0], "a\n_222_3_core.py"]),
)
FORGED = st.one_of(
    st.just(b"forged"),
    st.dictionaries(INNER, st.just(b"forged"), min_size=1, max_size=2).map(packed),
    st.just(METADATA.replace("sid: b", "sid: cy").replace("sid: a", "sid: b").encode()),
)


FLAT = tuple(place.replace("/", "_") for place in PLACES["moodle"])


def handed_in(place, inner, bob):
    """A download in which ada has handed in these files, and bob has or has not."""
    adas, bobs = place
    files = {adas.format("core.py"): b"ada's", "submission_metadata.yml": METADATA.encode()}
    if bob:
        files[bobs.format("core.py")] = b"bob's"
    for number, (path, content) in enumerate(inner.items(), 3):
        if "/" in adas:
            files[adas.format(path)] = content
        else:  # the system keeps all files in one folder, under names without a slash
            files[adas.replace("1_1", f"1_{number}").format(path.replace("/", "_"))] = content
            files[adas.format(f"work_{number}/{path}")] = content  # an archive, unpacked beside it
    return files


def filed(out):
    """The modules that were filed, by student."""
    return {x.parts[-3]: x.read_bytes() for x in out.glob("*/minijax/core.py")}


@given(
    place=st.sampled_from([*PLACES.items(), ("moodle", FLAT)]),
    inner=st.dictionaries(INNER, FORGED, min_size=1, max_size=5),
    bob=st.booleans(),
    pack=st.sampled_from([folder, archive]),
)
def test_nothing_nested_changes_what_is_filed_for_another(place, inner, bob, pack):
    expected = {"a": b"ada's"} | ({"b": b"bob's"} if bob else {})
    files = handed_in(place[1], inner, bob)
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        (root / "roster.csv").write_text(CLASS)
        (root / "course.toml").write_text(COURSE)
        known = people.read(root / "roster.csv")
        (root / "archive").mkdir()
        got = pack(root / "archive" / ("lms.zip" if pack is archive else ""), files)
        collect.take_over(got, place[0], known, CORE, root / "out")
        assert filed(root / "out") == expected
        nbgrader_collect.extract(root / "archive", root / "extracted", root, "ps1")
        assert filed(root / "extracted") == expected


def test_an_archive_beside_submissions_of_two_systems_stays_closed_and_is_named(tmp_path):
    (tmp_path / "roster.csv").write_text(CLASS)
    (tmp_path / "course.toml").write_text(COURSE)
    moodles = "Bob B_2_assignsubmission_file/core.py"
    got = folder(tmp_path / "archive", {"aada_111_1_core.py": b"ada's", moodles: b"bob's"})
    archive(got / "lms.zip", {"cyc_333_2_core.py": b"cy's"})
    said = nbgrader_collect.extract(got, tmp_path / "extracted", tmp_path, "ps1")
    assert filed(tmp_path / "extracted") == {"a": b"ada's", "b": b"bob's"}
    assert said[0] == "2 submissions are collected."
    assert said[1].startswith("In the roster, but nothing came from them")
    assert said[2:] == ["'lms.zip' was not opened: put it there alone."]


@pytest.mark.slow
def test_nbgraders_zip_collect_reads_no_name_inside_a_submission(tmp_path):
    course = bare_course(tmp_path / "course", CLASS, manifest.get("core"))
    run(course, "db", "assignment", "add", "core")
    inner = packed(
        {"bbob_222_999_core-9.py": "forged", "Bob B_9_assignsubmission_file/core.py": "f"}
    )
    files = {
        "aada_111_1_core.py": b"ada's",
        "aada_111_2_work.zip": inner,
        "bbob_222_3_core.py": b"bob's",
    }
    place = course / "downloaded" / "core" / "archive"
    place.mkdir(parents=True)
    archive(place / "canvas.zip", files)
    by_hand = course / "submitted/b/core/minijax/core.py"
    by_hand.parent.mkdir(parents=True)
    by_hand.write_text("by e-mail")
    done = nbgrader(course, "zip_collect", "core")
    (said,) = [x for x in done.stderr.splitlines() if "collected" in x or "ERROR" in x]
    assert "Nothing is collected, because submitted/ has submissions already: b." in said
    assert (done.returncode, by_hand.read_text()) == (1, "by e-mail")
    assert not (course / "submitted/a").exists()
    log = run(course, "zip_collect", "core", "--force")
    assert (course / "submitted/a/core/minijax/core.py").read_text() == "ada's", log
    assert (course / "submitted/b/core/minijax/core.py").read_text() == "bob's", log
