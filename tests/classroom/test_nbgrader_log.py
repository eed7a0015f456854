"""What nbgrader says goes to a log; news go to the terminal, too."""

import io
import logging
import warnings

import pytest
from nbgrader import api
from traitlets.config import Application, Config

from autograder.classroom.nbgrader import log as nbgrader_log


@pytest.fixture
def app(monkeypatch, tmp_path):
    """An application with a course directory and a terminal, whose log is divided."""
    app = Application(log=logging.Logger("of this test", logging.INFO))
    monkeypatch.setattr(Application, "_instance", app)
    monkeypatch.setattr(logging, "raiseExceptions", True)
    monkeypatch.setattr(api, "app_log", api.app_log)
    app.terminal = io.StringIO()
    app.log.handlers = [logging.StreamHandler(app.terminal)]
    config = Config()
    nbgrader_log.divide(config, tmp_path)
    assert config.NbGrader.logfile == str(tmp_path / "nbgrader.log")
    app.log.addHandler(logging.FileHandler(config.NbGrader.logfile))  # as nbgrader does
    yield app
    logging.captureWarnings(False)


def test_steps_go_to_the_log_only_and_news_to_the_terminal_as_well(app, tmp_path):
    app.log.info("Copying %s -> %s", "a", "b")
    app.log.info("Graded %s of %s", 1, 2)
    app.log.warning("Writing was refused")
    assert app.terminal.getvalue() == "Graded 1 of 2\nWriting was refused\n"
    text = (tmp_path / "nbgrader.log").read_text(encoding="utf-8")
    assert text == "Copying a -> b\nGraded 1 of 2\nWriting was refused\n"


def test_a_log_that_cannot_be_written_is_no_news(app, capsys):
    app.log.handlers = [logging.StreamHandler(io.StringIO())]
    app.log.handlers[0].stream.close()  # fails as a full disk does
    app.log.error("No space left on device.")
    assert capsys.readouterr().err == ""


def test_warnings_of_libraries_go_to_the_log_only(app, capsys, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(True)
        warnings.warn("an object is not in the session", stacklevel=1)
    api.app_log.error("Rolling back session")
    assert capsys.readouterr().err == ""
    text = (tmp_path / "nbgrader.log").read_text(encoding="utf-8")
    assert "not in the session" in text
    assert "Rolling back session" in text
