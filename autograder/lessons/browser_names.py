"""Names that browsers and desktops make: `core (1).py`, `core.py.txt`, `core - Copy.py`."""

import re
from pathlib import Path


def alike(folder: Path, wanted: str) -> list[str]:
    """Those of a folder's names that were made of `wanted`, such as "core.py"; not that itself."""
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    stem = re.escape(wanted.removesuffix(".py"))
    again = r"(?: ?\(\d{1,3}\)|[-_ ]\d{1,3}|(?: -)? ?[Cc]opy(?: ?\(?\d{1,3}\)?)?)?"
    pattern = re.compile(rf"{stem}{again}(?:\.py|\.py\.txt|\.txt)", re.ASCII)
    return sorted(name for name in names if name != wanted and pattern.fullmatch(name))
