"""The Python package behind the `./jaxprentice` command: lessons, grading, nbgrader, site."""
