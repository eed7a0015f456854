"""Where nbgrader's words go: news to the terminal, and everything to a log.

It tells of 31 steps for each student, among which a class's skipped submission would be lost. What
came of autograding is said by a table at its end (`summary.py`).
"""

import logging
import os
from pathlib import Path

import nbgrader
from nbgrader import api
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
    logging.raiseExceptions = False  # else a full disk is told of with Python's calls
    api.app_log = logging.getLogger(api.__name__)  # tells of each error that it raises, at length
    for logger in (api.app_log, logging.getLogger("py.warnings")):  # SQLAlchemy's
        logger.handlers = [logging.FileHandler(folder / FILE, delay=True)]
        logger.propagate = False
    logging.captureWarnings(True)
    if Application.initialized():
        for handler in Application.instance().log.handlers:
            if not isinstance(handler, logging.FileHandler):
                handler.addFilter(_is_news)


QUIET = ("AutogradeApp", "GenerateFeedbackApp", "ZipCollectApp")  # we say what came of these
OWN = str(Path(nbgrader.__file__).parent)


def _is_news(record: logging.LogRecord) -> bool:
    quiet = type(Application.instance()).__name__ in QUIET
    if quiet and record.pathname.startswith(OWN):
        return record.levelno >= logging.ERROR
    return record.levelno > logging.INFO or not str(record.msg).startswith(STEPS)
