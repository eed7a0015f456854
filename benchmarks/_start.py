"""Starts workers for a lesson's reference and imports its package there: a submission, no probes.

Run as `python -m benchmarks._start LESSON NUMBER`; `grading.py` takes the time.
"""

import sys
import tempfile
from pathlib import Path

from autograder.grading import oracle
from autograder.lessons import assemble, manifest
from autograder.sandbox import isolation
from autograder.sandbox.session import Session


def main(name: str, number: int) -> None:
    lesson, level = manifest.get(name), isolation.choose()
    files = {**oracle.given(lesson), lesson.module: assemble.read_solution(lesson.module)}
    for _ in range(number):
        with tempfile.TemporaryDirectory(prefix="jaxprentice-") as folder:
            assemble.write_files(Path(folder), files)
            with Session(Path(folder), lesson.module, level) as session:
                session.load()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
