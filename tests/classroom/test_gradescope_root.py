"""Gradescope's archive, run from end to end in a root of its own, on the corpus of attacks.

The root is laid out as Gradescope's container: everything below /autograder, run by root. What a
submission writes must not become its result, and the suite in the archive must stay unread.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_exports import machine_of

from autograder.classroom.systems import gradescope
from autograder.lessons import assemble, manifest
from autograder.sandbox import isolation
from autograder.upkeep import attacks

LESSON = manifest.get("jvp")
RIGHT = assemble.read_solution(LESSON.module)
CORPUS = [attacks.narrowed(each) for each in attacks.load() if each.lesson == LESSON.id]
# The others are tried on the grader itself, which is the same; `--full` tries all here, too, and
# on every rung. Containers such as Gradescope's mostly offer the second one.
TELLING = {
    *("reads_the_suite", "imports_the_reference", "writes_the_result"),
    *("files_beside_the_module", "text_in_exceptions"),
}
LEVELS = ("namespaces", "landlock")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("bwrap"), reason="needs the Debian package bubblewrap"),
]
CANARY = "canary-of-gradescope"


class Root:
    """A folder that becomes /autograder."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "autograder.zip").write_bytes(gradescope.archive(LESSON, 3))
        machine_of(folder / "autograder.zip", folder)
        for name in ("suite", "solution"):
            with (folder / self._place(name)).open("a") as file:
                file.write(f"\n# {CANARY}-{name}\n")
        for name in ("other", "gradebook", "descriptor"):
            (folder / name).write_text(f"# {CANARY}-{name}\n")
        self.before = self._files()

    @staticmethod
    def _place(name):
        suite = f"source/autograder/hidden/suites/{LESSON.id}.py"
        return {"suite": suite, "solution": f"source/solutions/{LESSON.module}"}.get(name, name)

    def words(self):
        """What an attack knows of the place."""
        places = ("suite", "solution", "other", "gradebook", "descriptor")
        known = {f"@{name.upper()}@": f"/autograder/{self._place(name)}" for name in places}
        known |= {"@SOLUTIONS@": "/autograder/source/solutions", "@ROOT@": "/autograder/source"}
        known |= {"@DROP@": "/autograder/results", "@PARENT@": "2", "@ADDRESS@": "4096"}
        return known | {"@PORT@": "9", "@MARK@": "nobody"}

    def hand_in(self, attack):
        """Put an attack where Gradescope puts what was uploaded."""
        for name in ("submission", "results"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
            (self.folder / name).mkdir()
        folder = self.folder / "submission"
        if attack.kind == "module":
            text = attacks.made_module(attack, LESSON, self.words())
            (folder / "jvp.py").write_text(text, encoding="utf-8")
            return
        known = {"folder": folder, "name": LESSON.module, "solution": RIGHT}
        exec(attacks._filled(attack.body, self.words()), known)

    def run(self, level):
        """Run the script as Gradescope does; what it printed."""
        if isolation.detect(level):
            pytest.skip(f"no isolation {level!r}")
        script = (self.folder / "source/run_autograder").read_text(encoding="utf-8")
        script = script.replace('ISOLATION=""', f'ISOLATION="{level}"')
        (self.folder / "run_autograder").write_text(script, encoding="utf-8")
        python = {Path(path).resolve() for path in (sys.prefix, sys.base_prefix)}
        system = [x for x in ("/usr", "/bin", "/lib", "/lib64", "/etc") if Path(x).exists()]
        view = ["--tmpfs", "/tmp"]  # first, since this Python may be in a folder below it
        for path in (*system, *python):
            view += ["--ro-bind", str(path), str(path)]
        view += ["--bind", str(self.folder), "/autograder", "--dev-bind", "/proc", "/proc"]
        view += ["--dev", "/dev", "--die-with-parent", "--chdir", "/autograder"]
        become = ["--cap-add", "ALL"] if os.geteuid() == 0 else []
        done = subprocess.run(
            ["bwrap", *view, *become, "/autograder/run_autograder"],
            env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, timeout=400, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def result(self):
        """The result, which is the only file that there is more than before."""
        assert self._files() == self.before
        assert [path.name for path in (self.folder / "results").iterdir()] == ["results.json"]
        return json.loads((self.folder / "results/results.json").read_text(encoding="utf-8"))

    def _files(self):
        """What must stay as it is."""
        found = [self.folder / name for name in ("other", "gradebook", "descriptor")]
        found += [path for path in (self.folder / "source").rglob("*") if path.is_file()]
        made = (path for path in found if "__pycache__" not in path.parts)
        return {path: (path.read_bytes(), path.stat().st_mode) for path in made}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return Root(tmp_path_factory.mktemp("gradescope"))


@pytest.mark.parametrize("level", LEVELS)
def test_honest_work_has_full_points(root, level):
    shutil.rmtree(root.folder / "submission")
    (root.folder / "submission").mkdir()
    (root.folder / "submission" / "jvp.py").write_text(RIGHT, encoding="utf-8")
    assert f"isolation: {level}" in root.run(level)
    assert root.result()["score"] == LESSON.max_points


def case(attack, level):
    """All attacks on all levels need `--full`, the telling ones on the last level do not."""
    telling = attack.name in TELLING and level == LEVELS[-1]
    marks = [] if telling else [pytest.mark.full]
    return pytest.param(attack, level, marks=marks, id=f"{attack.name}-{level}")


CASES = [case(attack, level) for attack in CORPUS for level in LEVELS]


@pytest.mark.parametrize(("attack", "level"), CASES)
def test_nothing_that_a_submission_writes_becomes_its_result(root, attack, level):
    root.hand_in(attack)
    said = root.run(level)
    result = root.result()
    undone = {exercise.id for exercise in attacks._undone(attack, LESSON)}
    points = {test["name"].partition(":")[0]: test.get("score") for test in result["tests"]}
    assert {name: points[name] for name in undone if points[name]} == {}
    assert result["score"] == pytest.approx(sum(points[e.id] for e in LESSON.graded))
    text = json.dumps(result) + said
    assert CANARY not in text
    assert "<b>" not in text
    assert "\x1b" not in text
