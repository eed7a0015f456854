"""The charts of the report, drawn by matplotlib as SVG inside the page itself.

Their colours are the page's: each is drawn in a stand-in, which becomes a CSS variable. So they
follow the page into dark mode and onto paper. Their text stays text. What a chart shows stands
in a table too, for those who cannot see it.

The heat map has a column for each rank by frequency and none for each mistake: a mistake belongs to
one exercise, so such a column would be empty but for one cell.
"""

import io
import re
from collections.abc import Mapping, Sequence
from html import escape

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

TEXT, BAR, LINE = "#010101", "#020202", "#030303"
_VARIABLES = {TEXT: "var(--text)", BAR: "var(--bar)", LINE: "var(--line)"}
_STYLE = {
    "axes.edgecolor": LINE, "axes.labelcolor": TEXT, "axes.spines.right": False,
    "axes.spines.top": False, "font.size": 13, "svg.fonttype": "none", "svg.hashsalt": "report",
    "text.color": TEXT, "xtick.color": LINE, "xtick.labelcolor": TEXT, "ytick.color": LINE,
    "ytick.labelcolor": TEXT,
}  # fmt: skip
WIDTH = 5.0  # inches: little enough to be readable on a phone
DARKEST = 0.55  # of a cell, on which text must still be readable
LIGHT = 0.4  # of the second part of a bar


def histogram(labels: Sequence[str], counts: Sequence[int], about: str) -> str:
    """Upright bars, each with its count above it."""
    with mpl.rc_context(_STYLE):
        figure, axes = _new(2.6)
        bars = axes.bar(range(len(counts)), counts, color=BAR, width=0.8)
        axes.bar_label(bars, labels=[str(count or "") for count in counts])
        axes.set_xticks(range(len(labels)), labels)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.set_xlabel("percent of the points")
        axes.margins(y=0.15)
        return _svg(figure, about)


def bars(
    parts: Mapping[str, tuple[float, float]], notes: Sequence[str], top: float, about: str
) -> str:
    """A row for each label: a dark part, a light part behind it, and a note at the end."""
    with mpl.rc_context(_STYLE):
        figure, axes = _new(0.6 + 0.36 * len(parts))
        rows = range(len(parts))
        dark, light = [a for a, _ in parts.values()], [b for _, b in parts.values()]
        axes.barh(rows, dark, color=BAR, height=0.7)
        axes.barh(rows, light, left=dark, color=BAR, alpha=LIGHT, height=0.7)
        for row, a, b, note in zip(rows, dark, light, notes, strict=True):
            axes.text(a + b + 0.02 * top, row, note, va="center")
        axes.set_xlim(0, 1.3 * top)
        axes.set_xticks([])
        axes.spines["bottom"].set_visible(False)
        _name_rows(axes, list(parts))
        return _svg(figure, about)


def heat_map(rows: Mapping[str, Sequence[int]], columns: Sequence[str], about: str) -> str:
    """A cell for each row and column, the darker the larger its count is."""
    with mpl.rc_context(_STYLE):
        figure, axes = _new(0.9 + 0.42 * len(rows))
        most = max((count for counts in rows.values() for count in counts), default=1) or 1
        for y, counts in enumerate(rows.values()):
            for x, count in enumerate(counts):
                shade, corner = (BAR, DARKEST * count / most), (x - 0.48, y - 0.46)
                axes.add_patch(Rectangle(corner, 0.96, 0.92, facecolor=shade, edgecolor=LINE))
                if count:
                    axes.text(x, y, str(count), ha="center", va="center")
        axes.set_xlim(-0.5, len(columns) - 0.5)
        axes.set_xticks(range(len(columns)), columns)
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)
        _name_rows(axes, list(rows))
        return _svg(figure, about)


def _new(height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    figure.patch.set_visible(False)
    axes = figure.add_subplot()
    axes.patch.set_visible(False)
    return figure, axes


def _name_rows(axes: Axes, labels: Sequence[str]) -> None:
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)  # the first on top
    axes.tick_params(axis="y", length=0)


def _svg(figure: Figure, about: str) -> str:
    """The chart as an element of HTML: as wide as there is room, and an image to screen readers."""
    file = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.savefig(file, format="svg", metadata=nothing)
    text = file.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*|<!--.*?-->\s*", "", text, flags=re.DOTALL)
    text = re.sub(r'<g id="[\w.]+"', "<g", text)  # the same names in each chart
    text = re.sub(r'^<svg [^>]*?viewBox="([^"]*)"[^>]*>', _opening(about), text)
    text = re.sub(r"font: ([\d.]+px)[^;\"]*", r"font-size: \1", text)
    text = re.sub(r"font-family: [^;\"]*;?", "", text)
    for stand_in, variable in _VARIABLES.items():
        text = text.replace(stand_in, variable)
    return text.strip()


def _opening(about: str) -> str:
    names = 'xmlns:xlink="http://www.w3.org/1999/xlink"'
    return rf'<svg viewBox="\1" role="img" aria-label="{escape(about)}" {names}>'
