"""`%load_ext jaxprentice`: the command in Jupyter, and jaxprs, arrays and pytrees drawn as HTML.

    %check jvp.flat        what `./jaxprentice check jvp.flat` says
    %hint                  the next hint
    %trace sin(3.0)        what one line does inside your interpreters; %%trace takes a whole cell

A workspace holds this file as `jaxprentice.py`. It needs IPython and nothing else: the command runs
as a program of its own, with the packages that belong to it.

Values are drawn by formatters that are registered here, and have no method `_repr_html_`: JAX's
have none, so a program that asks for it would run here only; a dict cannot have it; and in a
lesson's module it would be about web pages. A formatter also serves a module that is half finished.
"""

import html
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
STATUS = re.compile(r"^  (done|to do|not right yet|waits|not run) +(\S+) +(.*)$")
SIGNS = {"done": "✓", "to do": "○", "not right yet": "✗", "waits": "…", "not run": "?"}


class Page:
    """Something to show: HTML, and the same as plain text."""

    def __init__(self, markup: str, text: str) -> None:
        self.markup, self.text = markup, text

    def _repr_html_(self) -> str:
        return self.markup

    def __repr__(self) -> str:
        return self.text


# ------------------------------------------------------------------------------------------
# The magics


def command(*words: str) -> str:
    """What the command says."""
    launcher = str(HERE / "jaxprentice")
    done = subprocess.run(
        [sys.executable, launcher, *words], cwd=HERE, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, encoding="utf-8", errors="replace", check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


def check(line: str) -> Page:
    """%check [LESSON or EXERCISE]: check your work, and say what is not right."""
    said = command("check", *line.split())
    return Page(report(said), said)


def hint(line: str) -> Page:
    """%hint [EXERCISE]: a hint, a better one each time."""
    said = command("hint", *line.split())
    return Page(f"<blockquote>{html.escape(said.strip())}</blockquote>", said)


def trace(line: str, cell: str | None = None) -> Page:
    """%trace CODE, or %%trace above a cell: what the program does inside your interpreters."""
    with tempfile.TemporaryDirectory(prefix="trace-") as folder:
        program, page = Path(folder, "cell.py"), Path(folder, "page.html")
        program.write_text(cell if cell is not None else line, encoding="utf-8")
        words = [*(line.split() if cell is not None else []), "--html", str(page)]
        said = command("trace", str(program), *words)
        if not page.exists():
            return Page(f"<pre>{html.escape(said)}</pre>", said)
        source = html.escape(page.read_text(encoding="utf-8"), quote=True)
    frame = f'<iframe srcdoc="{source}" title="The recording" width="100%" height="600"></iframe>'
    return Page(frame, "A recording, which Jupyter shows as a page.")


def report(said: str) -> str:
    """The words of `check` as HTML: a table of the exercises, and the rest as it is."""
    parts, rows = [], []
    for line in said.splitlines():
        if found := STATUS.match(line):
            status, name, title = (html.escape(part) for part in found.groups())
            rows.append(
                f"<tr><td>{SIGNS[found[1]]} {status}</td><td><code>{name}</code></td>"
                f'<td style="text-align:left">{title}</td></tr>'
            )
        else:
            parts.append(html.escape(line))
    text = "\n".join(parts).strip()
    return (f"<table>{''.join(rows)}</table>" if rows else "") + f"<pre>{text}</pre>"


# ------------------------------------------------------------------------------------------
# Values as HTML

LARGEST = 12  # rows and columns of an array that are shown


def array(x: Any) -> str | None:
    """An array with up to two axes as a table; only its type, if it is larger."""
    about = f"{x.dtype}{list(x.shape)}"
    if len(x.shape) > 2 or any(size > LARGEST for size in x.shape):
        return f"<code>{html.escape(about)}</code>"
    values: Any = x.tolist()
    for _ in range(2 - len(x.shape)):
        values = [values]
    rows = "".join(f"<tr>{cells(row)}</tr>" for row in values)
    return f"<table><caption><code>{html.escape(about)}</code></caption>{rows}</table>"


def cells(row: Iterable[Any]) -> str:
    """A row of a table."""
    return "".join(
        f"<td>{html.escape(f'{x:.6g}' if type(x) is float else str(x))}</td>" for x in row
    )


TYPE = re.compile(r"(:[a-z]+[0-9]*\[[0-9,]*\])")
LIGHTER = r'<span style="opacity:.65">\1</span>'


def program(jaxpr: Any) -> str:
    """A jaxpr, its types in a lighter colour."""
    text = html.escape(str(jaxpr))
    return f"<pre>{TYPE.sub(LIGHTER, text)}</pre>"


def tree(value: Any) -> str | None:
    """A container in which there are arrays, as lists in lists; nothing for others."""
    return branches(value) if any(map(is_array, leaves(value))) else None


def leaves(value: Any) -> Iterable[Any]:
    """What is in the containers of a pytree."""
    if isinstance(value, dict | list | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            yield from leaves(part)
    else:
        yield value


def branches(value: Any) -> str:
    """A pytree: containers as lists, with keys or places, and what is in them."""
    if not isinstance(value, dict | list | tuple):
        return (
            array(value) if is_array(value) else None
        ) or f"<code>{html.escape(repr(value))}</code>"
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    rows = (f"<li><code>{html.escape(repr(key))}</code>: {branches(x)}</li>" for key, x in pairs)
    return f"<code>{type(value).__name__}</code><ul>{''.join(rows)}</ul>"


def is_array(value: Any) -> bool:
    """Whether this is an array of minijax that has values."""
    return type(value).__module__.startswith("minijax.") and hasattr(value, "tolist")


SHOWN: dict[tuple[str, str], Callable[[Any], str | None]] = {
    ("minijax.array", "ArrayImpl"): array,
    ("minijax.jaxpr", "Jaxpr"): program,
    ("minijax.jaxpr", "ClosedJaxpr"): program,
    ("microjax.staging", "Jaxpr"): program,
    ("minijax.tree", "PyTreeDef"): program,
}


def load_ipython_extension(shell: Any) -> None:
    """Add the magics, and show values as HTML."""
    for name, magic in (("check", check), ("hint", hint), ("trace", trace)):
        kind = "line_cell" if magic is trace else "line"
        shell.register_magic_function(magic, kind, name)
    formatter = shell.display_formatter.formatters["text/html"]

    def watch(info: Any = None) -> None:  # before each cell: modules may have been loaded anew
        for (module, name), show in SHOWN.items():
            formatter.for_type_by_name(module, name, show)

    watch()
    shell.events.register("pre_run_cell", watch)
    for container in (dict, list, tuple):
        formatter.for_type(container, tree)
