"""Names that browsers and desktops make: `core (1).py`, `core.py.txt`, `CORE.PY`."""

import re
from pathlib import Path, PurePosixPath


def alike(folder: Path, wanted: str) -> list[str]:
    """Those of a folder's names that were made of `wanted`, such as "core.py"; not that itself."""
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    return sorted(name for name in names if name != wanted and made_of(wanted, name))


def made_of(wanted: str, name: str) -> bool:
    """Whether a name is `wanted`, such as "core.py", or what a browser or desktop makes of it."""
    stem, end = (re.escape(x) for x in (PurePosixPath(wanted).stem, PurePosixPath(wanted).suffix))
    other = r"|\.txt" if end == r"\.py" else ""
    again = r"(?: ?\(\d{1,3}\)|[-_ ]\d{1,3}|(?: ?-)? ?[Cc]opy(?: ?\(?\d{1,3}\)?)?)?"
    pattern = rf"{stem}{again}(?:{end}|{end}\.txt{other})"
    return re.fullmatch(pattern, name, re.ASCII | re.IGNORECASE) is not None
