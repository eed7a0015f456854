"""The Python package behind the `./jaxprentice` command: a room for each purpose.

Imports run one way: `cli`, then the rooms upkeep, classroom, student, grading, sandbox, lessons,
recording, worker, each of which may import those after it, and the last two no other.
import-linter holds it (pyproject.toml).

As one flat package there were 199 imports between 57 modules, and the question what student code
can reach had no short answer. `worker` is what is mounted into the sandbox, `student` and below is
what a handout brings along, and a grade's fingerprint covers `grading` and below. Nothing imports
`hidden`. Where a room needs two others that do not know each other, the lower part of it is a room.
"""
