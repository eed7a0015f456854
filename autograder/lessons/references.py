"""Links to what pages name: the source of JAX at one version, and what they recommend to read.

Addresses stand once, in `course/references.toml`. Nothing is fetched: a test looks at their form.
"""

import functools
import re
import tomllib

from autograder.lessons import places

JAX = "0.10.2"  # the version that the pages describe
SOURCE = f"https://github.com/jax-ml/jax/blob/jax-v{JAX}/"
PREFIXES = {
    "documentation": "https://docs.jax.dev/en/latest/",
    "elsewhere": "",
    "doi": "https://doi.org/",
}
_FILE = re.compile(r"(?<!\[)`(jax/[\w./]+\.py)`(?!\])")
_READING = re.compile(r"^## Further reading\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def linked(text: str) -> str:
    """Running text of a page with links: files of JAX, and the titles under "Further reading"."""
    text = _FILE.sub(lambda found: f"[`{found[1]}`]({SOURCE}{found[1]})", text)
    return _READING.sub(lambda found: _titles().sub(_title, found[0]), text)


def _title(found: re.Match[str]) -> str:
    address = addresses()[found[0].lower()]
    return f"[{found[0]}]({address})" if address else found[0]


@functools.cache
def addresses() -> dict[str, str]:
    """By title, in small letters, where it is; "" where nothing can be linked."""
    tables = tomllib.loads((places.COURSE / "references.toml").read_text(encoding="utf-8"))
    return {
        title.lower(): (PREFIXES[kind] + path if path else "")
        for kind, table in tables.items()
        for title, path in table.items()
    }


@functools.cache
def _titles() -> re.Pattern[str]:
    longest = sorted(addresses(), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest)), re.IGNORECASE)
