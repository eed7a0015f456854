"""Where nbgrader's words go: news to the terminal, and every file that it touches to a log.

It tells of 31 steps for each student, among which a class's skipped submission would be lost.
"""

import logging
import os
from pathlib import Path

from traitlets.config import Application, Config

FILE = "nbgrader.log"  # in the course directory
STEPS = (
    *("Autograding ", "Converting notebook ", "Copying ", "Creating/updating student "),
    *("Overwriting files ", "Sanitizing ", "Setting destination ", "Writing "),
)


def divide(config: Config, folder: Path) -> None:
    """Send all to the log, Python's warnings too, and what is no step to the terminal as well."""
    if not os.access(folder, os.W_OK):
        return
    config.NbGrader.logfile = str(folder / FILE)
    warnings = logging.getLogger("py.warnings")  # SQLAlchemy has some for each student
    warnings.handlers = [logging.FileHandler(folder / FILE, delay=True)]
    warnings.propagate = False
    logging.captureWarnings(True)
    if Application.initialized():
        for handler in Application.instance().log.handlers:
            if not isinstance(handler, logging.FileHandler):
                handler.addFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    return record.levelno > logging.INFO or not str(record.msg).startswith(STEPS)
