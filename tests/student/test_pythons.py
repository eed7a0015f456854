"""`test --every-python` finds Pythons by what they say, and gives each an environment."""

import re
import subprocess
import sys
import tomllib

import pytest
import yaml

from autograder.lessons import places
from autograder.lessons.problem import Problem
from autograder.student import doctor
from autograder.upkeep import pythons, selftest

OURS = "{}.{}".format(*sys.version_info)


@pytest.fixture
def one_python(tmp_path, monkeypatch):
    """The Python of this test is found, and no other; all but one have a wrong name."""
    for version in pythons.VERSIONS:
        (tmp_path / f"python{version}").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))


def test_a_python_is_found_by_what_it_says_and_not_by_its_name(one_python):
    assert [version for version in pythons.VERSIONS if pythons.find(version)] == [OURS]
    assert pythons.version_of("no such python") == ""


def test_a_python_is_found_where_pyenv_keeps_it(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    place = tmp_path / f".pyenv/versions/{OURS}.9/bin"
    place.mkdir(parents=True)
    (place / "python3").symlink_to(sys.executable)
    assert pythons.find(OURS) == str(place / "python3")


def test_where_there_is_none_it_says_which_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Problem, match=r"No Python of 3\.11, .* was found\. Install one\."):
        pythons.run([])


@pytest.mark.parametrize(("status", "word"), [(0, "passed"), (3, "failed")])
def test_each_python_has_an_environment_and_a_line(one_python, monkeypatch, capsys, status, word):
    calls = []
    monkeypatch.setattr(subprocess, "call", lambda *words, **more: calls.append(words[0]) or status)
    assert selftest.run(["--every-python", "-k", "x"]) == min(status, 1)
    assert calls == [[f"python{OURS}", str(places.ROOT / "jaxprentice"), "test", "-k", "x"]]
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[-len(pythons.VERSIONS) :]]
    assert {row[1]: " ".join(row[4:]) for row in rows} == {
        version: f"{word} python{OURS}" if version == OURS else "not found"
        for version in pythons.VERSIONS
    }


def test_each_jaxlib_gets_the_reference_and_a_lesson_of_each_part(one_python, monkeypatch, capsys):
    """One that pip does not have for this Python is no failure; one that fails is."""
    tested, there = [], {"0.11.0": "", "0.12.0": "No matching distribution found"}

    def pip(command, **words):
        error = there.get(command[-1].removeprefix("jax=="), "The disk is full")
        return subprocess.CompletedProcess(command, bool(error), "", error)

    monkeypatch.setattr(pythons, "version_of", lambda python: OURS if OURS in python else "")
    monkeypatch.setattr(subprocess, "call", lambda words, **more: tested.append(words[3:]) or 0)
    monkeypatch.setattr(subprocess, "run", pip)
    assert selftest.run(["--every-python"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [x.split()[3:-1] for x in lines if x.startswith(f"Python {OURS:<6}jaxlib")] == [
        ["locked", "passed"],
        *(
            [x, *{"0.11.0": ["passed"], "0.12.0": ["there", "is", "none"]}.get(x, ["failed"])]
            for x in pythons.JAXLIBS
        ),
    ]
    reference, (full, *graded, _) = [words for words in tested if "-q" in words]
    assert reference == ["tests/reference", "--choice", "-q"]
    assert full == "--full"
    firsts = ["interpreters", "core", "jaxprs", "linearize", "control"]
    assert [x.partition("[")[2] for x in graded] == [f"{x}]" for x in firsts]


def test_jaxlibs_reach_from_the_oldest_that_minijax_takes_to_the_newest_that_is_locked():
    project = tomllib.loads((places.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (taken,) = (x for x in project["dependency-groups"]["student"] if x.startswith("jaxlib"))
    pins = (places.ROOT / "requirements/student.txt").read_text(encoding="utf-8")
    assert re.findall(r">=([\d.]+)", taken) == [pythons.JAXLIBS[0]]
    assert max(re.findall(r"^jaxlib==([\d.]+)", pins, re.MULTILINE)) == pythons.JAXLIBS[-1]


# ------------------------------------------------------------------------------------------
# What is said is what is tested

PAGES = [*places.COURSE.rglob("*.md"), *places.ROOT.glob("*.md")]


def test_pages_speak_of_no_python_that_is_not_tested():
    said = {
        (page.name, version)
        for page in PAGES
        for text in re.findall(
            r"Python (3\.\d+(?:(?: to|,| and| or) [3n][\w.]+)*)", page.read_text("utf-8")
        )
        for version in re.findall(r"3\.\d+|newer", text)
    }
    assert {version for page, version in said if page == "README.md"} == {"3.11", "3.14"}
    assert [one for one in said if one[1] not in pythons.VERSIONS] == []


def test_the_newest_python_is_the_same_everywhere():
    assert "{}.{}".format(*doctor.NEWEST) == pythons.VERSIONS[-1]
    wrapper = (places.ROOT / "jaxprentice").read_text(encoding="utf-8")
    minors = ", ".join(version.partition(".")[2] for version in reversed(pythons.VERSIONS))
    assert f'map("python3.{{}}".format, ({minors}))' in wrapper


def test_each_python_is_tested_where_the_repository_is_hosted():
    flow = yaml.safe_load((places.ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    *_, python, run = flow["jobs"]["pythons"]["steps"]
    assert sorted(python["with"]["python-version"].split()) == [*pythons.VERSIONS]
    assert run == {"run": ".ci/run pythons"}
    assert subprocess.run(["bash", "-n", places.ROOT / ".ci/run"], check=False).returncode == 0
