"""The course site: builds it into `build/site`, or serves it on this machine while it is edited.

mkdocs does the work, in a process of its own: it imports the reference, for the pages about its
names. `mkdocs.yml` and `site/` hold all settings.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from autograder.lessons import places
from autograder.lessons.problem import Problem
from autograder.upkeep import pyodide


def build(to: Path | None = None, offline: bool = False) -> Path:
    """Build all pages; every warning is an error. Returns the folder that holds them.

    That is `build/site` unless told, and `build/offline` for pages that need no server.
    """
    to = to or places.ROOT / "build" / ("offline" if offline else "site")
    if not offline:
        pyodide.prepare()
    result = subprocess.run(
        _mkdocs("build", "--strict", "--site-dir", str(to)),
        cwd=places.ROOT,
        env=_environment() | {"SITE_OFFLINE": str(offline).lower()},
        check=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    if result.returncode != 0:
        raise Problem(f"The site cannot be built. {_first_complaint(result.stderr)}")
    return to


def style() -> str:
    """The style sheet of all pages, of its chapters in their order."""
    chapters = sorted((places.SITE / "styles").iterdir())
    return "".join(file.read_text(encoding="utf-8") for file in chapters)


def serve(address: str = "127.0.0.1:8000") -> None:
    """Serve the site until Ctrl-C; pages are built anew when their text changes.

    Manifests and code of the command itself are read once, at the start.
    """
    pyodide.prepare()
    command = _mkdocs("serve", "--dev-addr", address)
    try:
        status = subprocess.run(
            command, check=False, cwd=places.ROOT, env=_environment()
        ).returncode
    except KeyboardInterrupt:
        return
    if status != 0:
        raise Problem(f"The site cannot be served at {address}. The reason is above.")


def _mkdocs(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "mkdocs", *arguments]


def _environment() -> dict[str, str]:
    # The variable turns off an announcement that the theme prints at every start.
    quiet = {"NO_MKDOCS_2_WARNING": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"}
    return os.environ | quiet


_RECORD = re.compile(r"^(WARNING|ERROR|INFO|DEBUG) +- +", re.MULTILINE)


def _first_complaint(log: str) -> str:
    """The first warning or error in mkdocs' messages, as one line."""
    _, *pieces = _RECORD.split(log.partition("\nAborted with")[0])
    records = [
        [line.strip() for line in text.splitlines() if line.strip(" `")]
        for level, text in zip(pieces[::2], pieces[1::2], strict=True)
        # mkdocs announces an error of a page before it tells it.
        if level in ("WARNING", "ERROR") and not text.startswith("Error reading page")
    ]
    if not records:
        return log.strip().rpartition("\n")[2]
    return records[0][0]
