"""The Python package behind the `./jaxprentice` command: a room for each purpose.

Imports run one way: `cli`, then the rooms upkeep, classroom, student, grading, sandbox, lessons,
recording, worker, each of which may import those after it, and the last two no other.
import-linter holds it (pyproject.toml).
"""
