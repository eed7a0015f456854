"""The first ten minutes: how long a newcomer waits, from an empty folder on, beside the aims.

`./jaxprentice bench start` clones what is committed here, sets it up, and runs there what students,
instructors and maintainers run first. It takes a quarter of an hour of a machine that has nothing
else to do, keeps the figures with their date in `benchmarks/start.json`, and shows those of the run
before, so that growth is seen. uv's cache is used, where there is one.
"""

import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks import _cost as cost
from benchmarks import _measure as measure
from benchmarks.reference import ROOT

REPORT = ROOT / "benchmarks" / "start.json"
PACKAGES = ("nbgrader", "jaxlib", "numpy")
ENDLESS = "while True: pass"
PRINTING = "while True: print(1)"
IN, OUT = "build/in", "build/out"  # where git and the style's tests do not look


@dataclass(frozen=True)
class Step:
    """A command, where it runs below the clone, and the seconds that it may take."""

    name: str
    command: str
    aim: float = 0.0  # there is none
    of_cpu: bool = False  # not by the clock
    folder: str = "."
    grouped: bool = True  # in a control group; the tests make their own


def endless(body: str) -> str:
    """A command that hands in a module whose function `jvp_flat` never ends."""
    change = f's/raise NotImplementedError("jvp.flat")/{body}/'
    made = f"sed '{change}' my-jax/minijax/jvp.py > {IN}/ada/jvp.py"
    return f"rm -rf {IN} {OUT}; mkdir -p {IN}/ada; {made}; grep -q '{body}' {IN}/ada/jvp.py"


OURS = "../../../jaxprentice nbgrader"
NBGRADER = "../../../.venv/bin/python -m nbgrader"
COURSE = "build/demo/course"
GRADE = f"./jaxprentice grade {IN} --lesson jvp --out {OUT}"
STEPS = (
    Step("set-up for students", "./jaxprentice list"),
    Step("init", "./jaxprentice init my-jax", 4, of_cpu=True),
    Step("check", "./jaxprentice check core; test $? -lt 2", 1, folder="my-jax"),
    Step("demo, with set-up", "./jaxprentice demo", 100),
    Step("demo again", "./jaxprentice demo", 60),
    Step("nbgrader export", f"{NBGRADER} export", 1.7, of_cpu=True, folder=COURSE),
    Step("", f"echo id,name > {COURSE}/class.csv; echo ada,Ada >> {COURSE}/class.csv"),
    Step("nbgrader roster", f"{OURS} roster class.csv", 1.7, of_cpu=True, folder=COURSE),
    Step("nbgrader late-days", f"{OURS} late-days", 1.7, of_cpu=True, folder=COURSE),
    Step(
        "nbgrader generate_assignment",
        f"{NBGRADER} generate_assignment jvp --force",
        2.0,
        of_cpu=True,
        folder=COURSE,
    ),
    Step("", endless(ENDLESS)),
    Step("grade what never ends", GRADE, 8),
    Step("", endless(PRINTING)),
    Step("grade what prints endlessly", GRADE, 20),
    Step("set-up for tests", "./jaxprentice test --version"),
    Step("test", "./jaxprentice test", 270, grouped=False),
)


def taken(step: Step, clone: Path, before: dict[str, float]) -> cost.Row:
    """Run a step in the clone."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "JAXPRENTICE"))}
    command = ["/bin/sh", "-c", step.command]
    log = clone.parent / "log"
    found = cost.of(command, clone / step.folder, kept, log, grouped=step.grouped)
    last = before.get(step.name)
    return cost.Row(step.name, found.seconds, found.cpu, step.aim, step.of_cpu, last)


def main(steps: tuple[Step, ...] = STEPS, report: Path = REPORT) -> None:
    """Print the table and keep the figures, those before a step that fails as well."""
    before = {row["name"]: cost.Row(**row).counts for row in measure.last_rows(report)}
    rows = []
    print(cost.HEAD)
    with tempfile.TemporaryDirectory(prefix="jaxprentice-bench-") as name:
        Path(name).chmod(0o755)  # as where people clone: some tests run as another user
        clone = Path(name, "jaxprentice")
        clone.mkdir()
        try:
            for step in (Step("clone", f"git clone -q '{ROOT}' ."), *steps):
                row = taken(step, clone, before)
                if step.name:
                    rows.append(row)
                    print(row.line, flush=True)
        finally:
            measure.keep(report, [*map(asdict, rows)], PACKAGES)


if __name__ == "__main__":
    cost.take_two_processors()
    main()
