"""`%load_ext jaxprentice`: the command in Jupyter.

    %check jvp.flat        what `./jaxprentice check jvp.flat` says
    %hint                  the next hint
    %trace sin(3.0)        what one line does inside your interpreters; %%trace takes a whole cell

A workspace holds this file as `jaxprentice.py`. It needs IPython and nothing else: the command runs
as a program of its own, with the packages that belong to it.
"""

import html
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def say(*words: str) -> None:
    """Print what the command says."""
    launcher = str(HERE / "jaxprentice")
    done = subprocess.run(
        [sys.executable, launcher, *words], cwd=HERE, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, encoding="utf-8", errors="replace", check=False,
    )  # fmt: skip
    print(done.stdout + done.stderr, end="")


def check(line: str) -> None:
    """%check [LESSON or EXERCISE]: check your work, and say what is not right."""
    say("check", *line.split())


def hint(line: str) -> None:
    """%hint [EXERCISE]: a hint, a better one each time."""
    say("hint", *line.split())


def trace(line: str, cell: str | None = None) -> Any:
    """%trace CODE, or %%trace above a cell: what the program does inside your interpreters."""
    from IPython.display import IFrame

    with tempfile.TemporaryDirectory(prefix="trace-") as folder:
        program, page = Path(folder, "cell.py"), Path(folder, "page.html")
        program.write_text(cell if cell is not None else line, encoding="utf-8")
        words = [*(line.split() if cell is not None else []), "--html", str(page)]
        say("trace", str(program), *words)
        if not page.exists():
            return None
        source = html.escape(page.read_text(encoding="utf-8"), quote=True)
    return IFrame("about:blank", "100%", 600, extras=[f'title="The recording" srcdoc="{source}"'])


def load_ipython_extension(shell: Any) -> None:
    """Add the magics."""
    shell.register_magic_function(check)
    shell.register_magic_function(hint)
    shell.register_magic_function(trace, "line_cell")
