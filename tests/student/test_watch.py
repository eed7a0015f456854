"""`watch` in a real terminal and without one: it checks after each save, moves on, has keys."""

import contextlib
import os
import sys
from pathlib import Path

import pexpect
import pytest
from student_course import solve

from autograder import cli
from autograder.lessons import places
from autograder.student import keys

STUB = 'raise NotImplementedError("hello.grow")'
GROW = "self.size += by\n        return self"


@pytest.fixture
def start(work):
    """Start `watch` on the workspace in a terminal of its own."""
    code = (
        "import sys\n"
        "from autograder import cli\n"
        "from autograder.lessons import places\n"
        f"places.COURSE = places.Path({str(places.COURSE)!r})\n"
        f"places.SOLUTIONS = places.Path({str(places.SOLUTIONS)!r})\n"
        "sys.exit(cli.main(sys.argv[1:]))"
    )
    started = []

    def run(*words, **more):
        kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")}
        root = Path(cli.__file__).parents[2]
        environment = {**kept, "PYTHONPATH": str(root), "TERM": "xterm", "BROWSER": "true", **more}
        child = pexpect.spawn(
            sys.executable, ["-P", "-c", code, *words, "watch"], env=environment, cwd=work,
            encoding="utf-8", timeout=60, dimensions=(40, 100),
        )  # fmt: skip
        started.append(child)
        return child

    yield run
    for child in started:
        child.close(force=True)


def save(work, *changes):
    solve(work, "toy/hello.py", *changes)


def test_it_moves_on_when_an_exercise_passes_and_ends_with_q(start, work):
    child = start()
    child.expect("to do.*hello.greet")
    child.expect_exact("[------------------------------] 0 of 3 exercises")
    child.expect_exact("Waiting for you to save a file (h hint, n next")
    save(work, (GROW, STUB))
    child.expect_exact("hello.greet passes. Next: hello.grow.")
    child.expect_exact("[##########--------------------] 1 of 3 exercises")
    child.setwinsize(10, 40)  # the window changes its size
    child.send("h")
    child.expect_exact("Hint 1 of 3 for hello.grow: One.")
    save(work)
    child.expect_exact("The lesson hello is complete.")
    child.send("q")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_in_plain_text_every_key_does_what_it_says(start, work):
    child = start("--plain")
    child.expect_exact("Waiting for you")
    assert "\x1b" not in child.before  # no colours, and neither lines nor bars
    assert "---" not in child.before
    assert "0 of 3 exercises" in child.before
    child.send("n")
    child.expect_exact("Now: bye.bye (1 of 1), A parting.")
    child.expect_exact("Waiting for you")
    child.send("l")
    child.expect("lesson +title")
    child.expect_exact("Waiting for you")
    child.send("o")
    child.expect("The page is opened: .*lessons/03_bye/lesson.md")
    child.send("r")
    child.expect("to do.*bye.bye")
    child.expect_exact("Waiting for you")
    child.send("x")
    child.expect_exact(
        "Keys: h hint, n next exercise, l list, o open the page, r run again, q quit."
    )
    child.sendeof()  # in this mode a character like others
    child.sendintr()
    child.expect_exact("Stopped.")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130


def test_a_terminal_that_is_gone_is_noticed(monkeypatch):
    import pty

    other, terminal = pty.openpty()
    with os.fdopen(terminal) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert keys.pressed() is None
        os.close(other)
        assert keys.pressed() == keys.END


@pytest.mark.parametrize("name", ["dumb", "no-such-terminal"])
def test_each_terminal_has_keys_survives_its_new_size_and_has_colours_if_it_can(start, name):
    child = start(TERM=name)
    child.expect_exact("Waiting for you to save a file (h hint, n next")
    assert ("\x1b[" in child.before) == (name != "dumb")
    child.setwinsize(5, 20)
    child.send("h")
    child.expect_exact("Hint 1 of 3 for hello.greet")
    child.setwinsize(60, 200)
    child.send("q")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_without_a_terminal_there_are_no_keys_and_plain_lines(work, capfd, monkeypatch):
    import watchfiles

    def one_change(*arguments, **options):
        yield set()
        save(work)
        yield {(1, str(work / "toy/hello.py"))}

    monkeypatch.setattr(watchfiles, "watch", one_change)
    assert cli.main(["watch", "greet"]) == 0
    out = capfd.readouterr().out
    before, _, after = out.partition("-" * 72)
    assert "to do  hello.greet" in before
    assert "done  hello.greet" in after
    assert out.count("Waiting for you to save a file (Ctrl-C ends this).") == 2
    assert "\x1b" not in out


def test_the_terminal_is_given_back_as_it_was(monkeypatch):
    import pty
    import termios

    _, terminal = pty.openpty()
    before = termios.tcgetattr(terminal)
    with os.fdopen(terminal) as both:
        monkeypatch.setattr(sys, "stdin", both)
        monkeypatch.setattr(sys, "stdout", both)
        with contextlib.suppress(ZeroDivisionError), keys.listening() as has_keys:
            assert has_keys
            assert termios.tcgetattr(terminal) != before
            assert keys.pressed() is None
            raise ZeroDivisionError
        assert termios.tcgetattr(terminal) == before
