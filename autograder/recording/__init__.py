"""What happens inside an interpreter while a program runs, recorded step by step.

    with recording("minijax") as record:
        jvp(sin, (3.0,), (1.0,))
    record.document()  # plain data; docs/recordings.md describes it

Everything is observed from outside. For the time of the `with` block, wrappers take the place of
`bind`, of the functions that make an interpreter active, of the interpreters' methods and of the
rules in the tables. They tell what goes in and what comes out, whatever the package does between.
So a student's own package can be recorded, finished or not: an exercise that is still to do shows
up as what is missing. `lessons/drawing.py` makes texts and pages of a recording.

`SCRIPT` records a given program in a process of its own. This room needs the standard library
only, since it runs with a student's package and nothing else of ours:

    steps      what began, what ended it and what happened between
    values     values as texts, boxes with what is in them, and which objects they are
    sources    the code of the functions that steps name
    package    the package that is watched, and its active interpreters
    memory     what arrays take
    wrappers   what takes the place of the package's functions
    rounds     the rounds of a loop
    patches    where they are put, and how they are taken away
    calls      functions that are watched by name
    program    the recording of a program from its text
"""

from pathlib import Path

from autograder.recording.patches import recording
from autograder.recording.program import PACKAGES, record
from autograder.recording.steps import LIMIT

__all__ = ["LIMIT", "PACKAGES", "SCRIPT", "record", "recording"]

SCRIPT = Path(__file__).with_name("__main__.py")
