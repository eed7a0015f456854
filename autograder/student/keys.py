"""Keys that are pressed while a command waits: one at a time, and without Return."""

import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager

END = ""  # what is read when the terminal is gone


@contextmanager
def listening() -> Iterator[bool]:
    """Let single keys be read for the time of a `with` block; False where there is no terminal."""
    if not all(stream and stream.isatty() for stream in (sys.stdin, sys.stdout)):
        yield False
    elif os.name == "nt":
        yield True  # where keys are read one at a time anyway
    else:
        import termios
        import tty

        terminal = sys.stdin.fileno()
        before = termios.tcgetattr(terminal)
        tty.setcbreak(terminal)
        try:
            yield True
        finally:
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def pressed() -> str | None:
    """The key that was pressed, as a lower-case letter; None if none was, `END` at the end."""
    if os.name == "nt":
        import msvcrt

        return msvcrt.getwch().lower() if msvcrt.kbhit() else None  # type: ignore[attr-defined]
    terminal = sys.stdin.fileno()
    if not select.select([terminal], [], [], 0)[0]:
        return None
    try:
        return os.read(terminal, 1).decode("ascii", "ignore").lower() or END
    except OSError:  # the connection broke
        return END
