"""Submissions as LMSs pack them: whose they are, which attempt counts, and the way back."""

import csv
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile

import pytest
from archives import archive, deepen, folder

from autograder import cli
from autograder.classroom import systems
from autograder.classroom.course import people
from autograder.classroom.course.settings import Assignment
from autograder.classroom.handouts import release
from autograder.classroom.intake import files as intake
from autograder.classroom.nbgrader import outgoing
from autograder.classroom.systems import collect
from autograder.lessons import assemble, manifest, skeleton
from autograder.lessons.problem import Problem

LESSON = manifest.get("interpreters")
CORE = Assignment("ps1", (manifest.get("core"),))
ROSTER = """id,first name,last name,email,section,canvas id,github
ada,Ada,Byron,ada@x.edu,A,12345,adab
bob,Robert,O'Ross,bob@x.edu,B,12346,bob-r
cy,Cy,Young,cy@x.edu,B,12347,
"""
METADATA = """\
---
submission_678:
  :submitters:
  - :name: Ada Byron
    :sid: ada
    :email: ada@x.edu
  - :name: Somebody
    :email: bob@x.edu
  :created_at: 2026-03-01 10:00:00.123456000 Z
  :score: 0.0
submission_679:
  :submitters:
  - :name: Stranger
    :sid: zoe
  :created_at: 2026-03-02 10:00:00.123456000 Z
"""
DOWNLOADS = {
    "canvas": {
        "byronada_12345_900_core.py": "first",
        "byronada_LATE_12345_901_core-1.py": "second",
        "byronada_12345_902_notes.txt": "no",
        "orossrobert_12346_903_work.zip": "zip",
        "strangerzoe_99_904_core.py": "no",
    },
    "moodle": {
        "Ada Byron_4711_assignsubmission_file/minijax/core.py": "second",
        "Ada Byron_4711_assignsubmission_file/core.ipynb": "{}",
        "Robert O'Ross_4712_assignsubmission_file_work.zip": "zip",
        "Zoe Stranger_4713_assignsubmission_file_/core.py": "no",
    },
    "gradescope": {
        "assignment_1_export/submission_678/minijax/core.py": "second",
        "assignment_1_export/submission_678/work.zip": "zip",
        "assignment_1_export/submission_679/core.py": "no",
        "assignment_1_export/submission_metadata.yml": METADATA,
    },
    "github": {
        "ps1-adab/minijax/core.py": "second",
        "ps1-bob-r/work.zip": "zip",
        "ps1-zoe/core.py": "no",
    },
}


@pytest.fixture
def roster(tmp_path):
    (tmp_path / "roster.csv").write_text(ROSTER)
    return people.read(tmp_path / "roster.csv")


@pytest.fixture
def taken(tmp_path, roster):
    """Collects files of a system into `out`; what is said."""

    def collected(system, files, pack=folder):
        got = pack(tmp_path / "got", files)
        return collect.take_over(got, system, roster, CORE, tmp_path / "out")

    return collected


@pytest.mark.parametrize("system", systems.collecting())
@pytest.mark.parametrize("pack", [folder, archive], ids=["folder", "archive"])
def test_what_students_handed_in_is_found_under_their_ids(tmp_path, taken, system, pack):
    out, said = tmp_path / "out", taken(system, DOWNLOADS[system], pack)
    assert (out / "ada/minijax/core.py").read_text() == "second"
    assert (out / "bob/submission.zip").read_text() == "zip"
    assert sorted(x.name for x in out.iterdir()) == ["ada", "bob", "collected.csv"]
    assert said[0] == "2 submissions are collected."
    assert "In the roster, but nothing came from them (1): cy." in said
    assert "Not in the roster" in said[-1]
    if system == "canvas":
        assert {"ada: 2 attempts; the last one counts.", "ada: late, as the download says."} <= {
            *said
        }
    # Its list is no submission.
    assert [name for name, *_ in intake.submissions(out, CORE.lessons[0])] == ["ada", "bob"]


@pytest.mark.parametrize("system", systems.collecting())
def test_the_guides_example_of_a_name_is_collected(tmp_path, taken, system):
    example = systems.collecting()[system].example
    taken(system, {example: "mine", "submission_metadata.yml": METADATA})
    assert (tmp_path / "out/ada/minijax/core.py").read_text() == "mine"


@pytest.mark.parametrize("beside", ["__MACOSX/._core.py", "submission_metadata.yml"])
def test_what_lies_beside_the_folder_around_all_does_not_hide_it(tmp_path, taken, beside):
    taken("gradescope", {**DOWNLOADS["gradescope"], beside: "no"}, archive)
    assert (tmp_path / "out/ada/minijax/core.py").read_text() == "second"


def test_nothing_is_lost_without_a_line_that_names_it(tmp_path, taken):
    files = {
        "byronada_12345_900_core.py": "first",
        "byronada_12345_901_core (1)-1.py": "second",
        "orossrobert_12346_902_CORE.PY": "mine",
        "youngcy_12347_903_my_core_solution.py": "other",
        "index.html": "who knows",
    }
    said = taken("canvas", files)
    assert [x.name for x in (tmp_path / "out/ada/minijax").iterdir()] == ["core (1).py"]
    assert (tmp_path / "out/ada/minijax/core (1).py").read_text() == "second"
    assert (tmp_path / "out/bob/minijax/CORE.PY").read_text() == "mine"
    assert "cy submitted only what was not asked for: my_core_solution.py." in said
    assert said[-1] == "Not named as a submission, and left out: 'index.html'."
    assert not any("nothing came" in sentence for sentence in said)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PK\3\4 half of it", "is a ZIP archive that is damaged. Download it again."),
        (b"id,name", "is neither a folder nor a ZIP archive. Give what you downloaded"),
    ],
)
def test_what_is_no_download_is_said_with_what_to_do(tmp_path, roster, content, said):
    (tmp_path / "got.zip").write_bytes(content)
    with pytest.raises(Problem, match=re.escape(said)):
        collect.take_over(tmp_path / "got.zip", "canvas", roster, CORE, tmp_path / "out")


@pytest.mark.parametrize("time", ["1 March", "2026-03-01 10:00"])
def test_a_time_that_is_not_understood_is_named(taken, time):
    metadata = METADATA.replace("2026-03-01 10:00:00.123456000 Z", time)
    files = {**DOWNLOADS["gradescope"], "assignment_1_export/submission_metadata.yml": metadata}
    said = taken("gradescope", files)
    assert any(x.startswith("No time is known of ada, bob, so nothing") for x in said)


def test_every_archive_is_taken_and_a_second_file_of_the_same_name_is_named(tmp_path, taken):
    place = "Ada Byron_4711_assignsubmission_file/"
    files = {"a.zip": "PK a", "B.ZIP": "PK b", "core.py": "it", "old/core.py": "older"}
    said = taken("moodle", {place + name: text for name, text in files.items()})
    there = {x.name: x.read_text() for x in (tmp_path / "out/ada").glob("*.zip")}
    assert there == {"submission.zip": "PK b", "submission-2.zip": "PK a"}
    assert (tmp_path / "out/ada/minijax/core.py").read_text() == "it"
    assert "Not taken from ada: old/core.py." in said


def adas(system, *names):
    """What these files of Ada's are called in a download."""
    place = {"canvas": "byronada_12345_9{}_", "moodle": "Ada Byron_4711_assignsubmission_file/"}
    return [place[system].format(i) + name for i, name in enumerate(names)]


TYPED = "orossrobert_LATE_12346_text.html"  # what was typed into Canvas
BESIDE = ("core.py", "helper.py", "core.ipynb", "jvp.ipynb", "a.txt")
GOT = (  # by everybody
    *("core/minijax/__init__.py", "core/checks.py", "core/conftest.py", "core/setup_core.py"),
    *("core/__pycache__/core.pyc", "core/random_programs.py", "core/.ipynb_checkpoints/core.ipynb"),
)


@pytest.mark.parametrize(
    ("system", "names", "said"),
    [
        ("canvas", ["../youngcy_1_9_core.py"], "Not named as a submission, and left out: '..'."),
        ("canvas", [TYPED], f"bob submitted only what was not asked for: {TYPED}."),
        ("canvas", adas("canvas", *BESIDE), "Not taken from ada: a.txt, helper.py, jvp.ipynb."),
        ("moodle", adas("moodle", *BESIDE), "Not taken from ada: a.txt, helper.py, jvp.ipynb."),
        ("moodle", adas("moodle", *GOT), ""),
        ("moodle", adas("moodle", "core.py", "core (1).ipynb"), ""),  # a browser has renamed it
    ],
)
def test_what_is_left_out_is_named(tmp_path, taken, system, names, said):
    files = dict.fromkeys([*adas(system, "core.py"), *names], "it")
    told = [x for x in taken(system, files, archive) if x.startswith(("Not ", "bob sub"))]
    assert told == ([said] if said else [])
    there = {path.name for path in (tmp_path / "out/ada").iterdir()}
    assert ("core (1).ipynb" in there) == any("core (1).ipynb" in name for name in names)


def test_collecting_again_replaces_only_what_it_wrote_itself(tmp_path, roster):
    out, got = tmp_path / "out", tmp_path / "got"
    names = {"ada": "byronada_12345", "bob": "orossrobert_12346", "cy": "youngcy_12347"}
    numbers = {student: f"{name}_9_core.py" for student, name in names.items()}
    folder(got, dict.fromkeys(numbers.values(), "first"))
    assert collect.take_over(got, "canvas", roster, CORE, out) == ["3 submissions are collected."]
    stamp = "2030-05-20 12:00:00 UTC\n"
    (out / "ada/timestamp.txt").write_text(stamp)
    (out / "bob/minijax/core.py").write_text("by e-mail")
    (out / "cy/.ipynb_checkpoints").mkdir()  # a program made it, and no person
    folder(got, {numbers["ada"]: "second", numbers["bob"]: "second", numbers["cy"]: "second"})
    for _ in range(2):  # what was kept once is kept again
        said = collect.take_over(got, "canvas", roster, CORE, out)
    files = {x: (out / x / "minijax/core.py").read_text() for x in names}
    assert files == {"ada": "second", "bob": "by e-mail", "cy": "second"}
    assert (out / "ada/timestamp.txt").read_text() == stamp
    assert said[0] == "2 submissions are collected."
    assert said[1].startswith("Kept, because it is not as `collect` left it: bob. To take what")
    assert said[1].endswith(f"remove {out}/STUDENT and collect again.")
    assert said[2].startswith("Kept, because `collect` did not write it: the timestamp.txt of ada.")
    shutil.rmtree(out / "bob")
    folder(got, {numbers["cy"]: "third"})
    said = collect.take_over(got, "canvas", roster, CORE, out)
    assert said[:2] == ["3 submissions are collected.", "Replaced by another submission: cy."]
    assert (out / "bob/minijax/core.py").read_text() == "second"


def test_a_time_that_the_download_has_is_renewed_and_one_by_hand_is_not(tmp_path, roster):
    out, got = tmp_path / "out", folder(tmp_path / "got", DOWNLOADS["gradescope"])
    name = "assignment_1_export/submission_metadata.yml"
    stamp = out / "ada/timestamp.txt"
    for hour in ("10", "11"):
        folder(got, {name: METADATA.replace("2026-03-01 10", f"2026-03-01 {hour}")})
        said = collect.take_over(got, "gradescope", roster, CORE, out)
        assert stamp.read_text() == f"2026-03-01 {hour}:00:00 UTC\n"
    stamp.write_text("2026-02-28 10:00")
    assert not any("Kept" in sentence for sentence in said)
    said = collect.take_over(got, "gradescope", roster, CORE, out)
    assert stamp.read_text() == "2026-02-28 10:00"
    assert any("the timestamp.txt of ada." in sentence for sentence in said)


def test_a_list_without_the_column_of_contents_still_names_the_submissions(tmp_path, roster):
    out, got = tmp_path / "out", folder(tmp_path / "got", DOWNLOADS["canvas"])
    collect.take_over(got, "canvas", roster, CORE, out)
    rows = [row[:-1] for row in csv.reader((out / "collected.csv").open(newline=""))]
    with (out / "collected.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    assert [row["student"] for row in collect._rows(out)] == ["ada", "bob"]


@pytest.fixture
def git(tmp_path):
    """Runs git in one of the folders of a download, which it makes a clone; what git said."""
    clone = folder(tmp_path / "got", DOWNLOADS["github"]) / "ps1-adab"
    known = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}

    def run(words, text="", **more):
        done = subprocess.run(
            ["git", *shlex.split(words)],
            cwd=clone, env=known | more, input=text, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout.strip()

    run("init -q")
    return run


def test_a_clone_has_the_time_of_its_last_commit(tmp_path, taken, git):
    who = "-c user.name=a -c user.email=a"
    when = "2026-03-01T12:00:00+0200"
    git(f"{who} commit -q --allow-empty -m x", GIT_COMMITTER_DATE=when)
    said = taken("github", {})
    assert (tmp_path / "out/ada/timestamp.txt").read_text() == "2026-03-01 10:00:00 UTC\n"
    assert any("as given by the students themselves" in sentence for sentence in said)


def test_the_folder_of_clones_says_what_github_calls_the_assignment(tmp_path, roster):
    files = {"hw-1-adab/core.py": "ada's", "ps1-bob-r/core.py": "of another"}
    got = folder(tmp_path / "hw-1-submissions", files)
    said = collect.take_over(got, "github", roster, CORE, tmp_path / "out")
    assert said == [
        "1 submission is collected.",
        "In the roster, but nothing came from them (2): bob, cy.",
        "Not named as a submission, and left out: 'ps1-bob-r'.",
    ]
    assert (tmp_path / "out/ada/minijax/core.py").read_text() == "ada's"


def test_the_settings_of_a_clone_start_no_program(tmp_path, taken, git):
    for setting in (
        "core.repositoryFormatVersion 1",
        "extensions.partialClone origin",
        f"remote.origin.url {tmp_path}",
        f"remote.origin.uploadPack 'touch {tmp_path}/started'",
    ):
        git(f"config {setting}")
    # git asks the remote for what is not there
    (tmp_path / "got/ps1-adab/.git/HEAD").write_text(f"{'1' * 40}\n")
    assert "2 submissions are collected." in taken("github", {})
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize("when", ["@999999999999999 +0000", "@253402300800 +0000", "@-9 +0000"])
def test_a_commit_at_no_time_stops_nobody(tmp_path, taken, git, when):
    person = f"a <a@b> {when.removeprefix('@')}"
    tree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    text = f"tree {tree}\nauthor {person}\ncommitter {person}\n\nx\n"
    made = git("hash-object -t commit --literally -w --stdin", text)
    head = tmp_path / "got/ps1-adab/.git" / git("symbolic-ref HEAD")
    head.write_text(f"{made}\n")
    assert "2 submissions are collected." in taken("github", {})


def test_a_name_that_is_no_text_and_a_damaged_file_stop_nobody(tmp_path, roster):
    got = folder(tmp_path / "got", DOWNLOADS["canvas"])
    (got / os.fsdecode(b"youngcy_12347_904_w\xf6rk.zip")).write_text("latin")
    said = collect.take_over(got, "canvas", roster, CORE, tmp_path / "out")
    assert "3 submissions are collected." in said
    assert "w\\xf6rk.zip" in (tmp_path / "out/collected.csv").read_text()
    whole = archive(tmp_path / "got.zip", DOWNLOADS["canvas"]).read_bytes()
    (tmp_path / "got.zip").write_bytes(
        whole.replace(b"zip", b"zap", 1).replace(b"second", b"sXcond")
    )
    said = collect.take_over(tmp_path / "got.zip", "canvas", roster, CORE, tmp_path / "more")
    assert "2 submissions are collected." in said


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no folders as deep")
def test_a_very_deep_folder_stops_nobody(tmp_path, taken):
    deep = folder(tmp_path / "got", DOWNLOADS["github"]) / "ps1-zoe"
    deepen(deep)
    assert "2 submissions are collected." in taken("github", {})
    subprocess.run(["rm", "-r", deep], check=True)  # pytest cannot


@pytest.mark.parametrize(("system", "name"), [("canvas", "moodle"), ("moodle", "canvas")])
def test_a_download_of_another_system_is_a_problem(taken, system, name):
    with pytest.raises(Problem, match="Look whether --from and the roster are right"):
        taken(system, DOWNLOADS[name])


def test_names_that_lead_outside_and_large_files_stay_inside_their_limits(tmp_path, taken):
    files = {"x_12345_1_../../../core.py": "no", "y_12345_2_core.py": "x" * 9_000_000}
    taken("canvas", files, archive)
    assert [x.name for x in tmp_path.rglob("core.py")] == ["core.py"]
    assert (tmp_path / "out/ada/minijax/core.py").stat().st_size == intake.ARCHIVE_LIMIT + 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  - :name: Somebody\n    :email: bob@x.edu\n", "  - Somebody\n"),
        (METADATA[METADATA.index("submission_679:") :], ""),
        (METADATA[METADATA.index("submission_679:") :], "submission_679: it is a text\n"),
        ("  - :name: Stranger\n    :sid: zoe\n", ""),
        ("  :submitters:\n  - :name: Stranger\n    :sid: zoe\n", "  :submitters: a text\n"),
    ],
)
def test_metadata_that_names_nobody_for_one_submission_stop_no_other(tmp_path, taken, old, new):
    assert old in METADATA
    name = "assignment_1_export/submission_metadata.yml"
    files = DOWNLOADS["gradescope"] | {name: METADATA.replace(old, new)}
    said = "\n".join(taken("gradescope", files))
    assert (tmp_path / "out/ada/minijax/core.py").read_text() == "second"
    assert "zoe" in said or "submission_679" in said


def test_metadata_of_a_large_class_are_read_whole(tmp_path, taken):
    """Gradescope says ten kilobytes about a submission; the last one of ten megabytes counts."""
    one = "submission_{}:\n  :results: '" + "x" * 10_000 + "'\n"
    many = "".join(one.format(number) for number in range(1000, 2000))
    files = {"submission_678/core.py": "it", "submission_metadata.yml": many + METADATA[4:]}
    assert len(many) > intake.ARCHIVE_LIMIT
    taken("gradescope", files)
    assert (tmp_path / "out/ada/minijax/core.py").read_text() == "it"


def test_a_name_that_begins_like_a_formula_is_guarded_in_the_list_and_not_in_the_archive(tmp_path):
    (tmp_path / "roster.csv").write_text("id,name\neve,=1+1\n")
    known = people.read(tmp_path / "roster.csv")
    name = "=1+1_4711_assignsubmission_file"
    got = folder(tmp_path / "got", {f"{name}/core.py": "it"})
    out = tmp_path / "out"
    for _ in range(2):  # the list is read, and written again
        collect.take_over(got, "moodle", known, CORE, out)
    assert f"{CORE.name},eve,moodle,'{name}," in (out / collect.LIST).read_text()
    (tmp_path / "page.html").write_text("Well done.")
    collect._pack(out, CORE.name, lambda student: [tmp_path / "page.html"], tmp_path / "a.zip")
    assert zipfile.ZipFile(tmp_path / "a.zip").namelist() == [f"{name}/page.html"]


def test_a_page_of_someone_who_is_in_no_download_is_named(tmp_path, roster):
    got = folder(tmp_path / "canvas", DOWNLOADS["canvas"])
    collect.take_over(got, "canvas", roster, CORE, tmp_path / "submitted", "ps1")
    (tmp_path / "course.toml").write_text('[[assignment]]\nname = "ps1"\nlessons = ["core"]\n')
    pages = [f"feedback/{student}/ps1/core.html" for student in ("ada", "bob")]
    folder(tmp_path, dict.fromkeys(pages, "Well done."))
    out = tmp_path / "a.zip"
    holds = f"{out} holds 2 pages, named as the submissions were."
    assert collect.give_back("ps1", out, None, None, tmp_path) == [holds]
    folder(tmp_path, {"feedback/cy/ps1/core.html": "By e-mail.", "feedback/eve/ps2/x.html": ""})
    _, said = collect.give_back("ps1", out, None, None, tmp_path)
    assert said.startswith("No download had a submission of cy, so an LMS cannot take their")
    assert said.endswith("it is in feedback/STUDENT/ps1.")
    all_, lms, other = outgoing.elsewhere(tmp_path, "ps1", ["ada", "bob", "cy"])
    assert all_.endswith("no submission of theirs: ada, bob, cy.")
    assert lms == "`jaxprentice return` packs the feedback of ada, bob for an LMS."
    assert other == said


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("name\nada\n", "has no column `id`"),
        ("id\nada\nada\n", "line 3: 'ada' is there twice, as id"),
        ("id\nada\nADA\n", "line 3: 'ADA' is there twice, as id"),
        ("id,participant\nada,7\nbo,Participant 7\n", "line 3: '7' is there twice, as participant"),
        ("id\n../ada\n", "line 2: '../ada' cannot name a folder"),
        ("id;first name\n\nada;Ada\n;No Id\n", "line 4, has no id. Write one"),
    ],
)
def test_a_roster_that_cannot_be_used_is_a_problem(tmp_path, text, complaint):
    (tmp_path / "roster.csv").write_text(text)
    with pytest.raises(Problem, match=complaint):
        people.read(tmp_path / "roster.csv")


# ------------------------------------------------------------------------------------------
# A course without nbgrader


COURSE = """
[students]
hints = 1

[[assignment]]
name = "ps1"
lessons = ["interpreters"]
points = { "interpreters.bind" = 5 }
"""


SOLUTION = assemble.read_solution(LESSON.module)
SKELETON = skeleton.make_skeleton(SOLUTION, LESSON)


def check_handout(folder):
    """It has the skeleton, and the points and hints of the course."""
    assert (folder / LESSON.module).read_text() == SKELETON
    facts = [tomllib.loads(x.read_text()) for x in folder.glob("tool/course/lessons/*/lesson.toml")]
    (own,) = [x for x in facts if x["id"] == LESSON.id]
    assert [e["points"] for e in own["exercise"] if e["id"] == "interpreters.bind"] == [5]
    assert own["exercise"][0]["hints"][1] == release.WITHHELD


def ours(*arguments):
    assert cli.main(list(arguments)) == 0


@pytest.mark.slow
def test_a_term_without_nbgrader_from_the_release_to_the_feedback_in_canvas(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "course.toml").write_text(COURSE)
    ours("release", "ps1", "--out", "handouts", "--course", ".")
    check_handout(tmp_path / "handouts" / LESSON.id)
    (tmp_path / "roster.csv").write_text(ROSTER)
    name = LESSON.module.rpartition("/")[2]
    files = {
        f"byronada_12345_900_{name}": SKELETON,
        f"byronada_12345_905_{name.replace('.', '-1.')}": SOLUTION,
        f"orossrobert_LATE_12346_903_{name}": SKELETON,
    }
    archive(tmp_path / "canvas.zip", files)
    about = ("--from", "canvas", "--lesson", "ps1", "--roster", "roster.csv")
    ours("collect", "canvas.zip", *about, "--out", "submissions")
    graded = ("--lesson", "ps1", "--course", ".", "--out", "results")
    ours("grade", "submissions", *graded)
    ours("report", "results")
    ours("export", "results", "--format", "canvas")
    back = ("--collected", "submissions", "--results", "results", "--out", "back.zip")
    ours("return", "--lesson", "ps1", *back)
    with (tmp_path / "results/exports/canvas/canvas.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))[1:]
    scores = {row["SIS Login ID"]: float(row[LESSON.title]) for row in rows}
    assert scores == {"ada": LESSON.max_points + 3, "bob": 0.0}
    with zipfile.ZipFile(tmp_path / "back.zip") as packed:
        stems = {x.replace(".py", "").replace(".html", "") for x in packed.namelist()}
        page = packed.read(f"orossrobert_LATE_12346_903_{LESSON.id}.html").decode()
    assert stems == {f"byronada_12345_905_{LESSON.id}-1", f"orossrobert_LATE_12346_903_{LESSON.id}"}
    assert "not implemented" in page
