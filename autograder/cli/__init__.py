"""The command: what each subcommand of `./jaxprentice` does with the parts of this package.

A module for each audience has its commands, each with the example that ends its help. Every command
imports what it needs when it runs, so that the cheap ones start at once.
"""

from autograder.cli.command import app, main

# Each adds its commands, in the order of the help.
from autograder.cli import students, instructors, maintainers  # isort: skip

__all__ = ["app", "instructors", "main", "maintainers", "students"]
