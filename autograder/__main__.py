"""`python -m autograder`: what the wrapper `jaxprentice` runs inside `.venv`."""

import sys

from autograder.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
