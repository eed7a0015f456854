"""The end of the course as a page: one file that needs no other, to be sent to a friend."""

import math
from collections.abc import Sequence
from html import escape
from typing import Any

from autograder.student.ending import Trained, Work

NAME = "my-jax.html"  # in the workspace

# What to say of a program: a heading, and what it is about.
TOLD = {
    "digits": (
        "It reads",
        "A small network saw 1,437 handwritten digits. These are from 360 others, among them "
        "some that it got wrong.",
    ),
    "characters": (
        "It writes",
        "A transformer read six sonnets by Shakespeare, letter by letter. It was given the first "
        "words, and went on.",
    ),
    "heat": (
        "It looks inside",
        "A rod insulates somewhere. Five thermometers outside, read four times each, were enough "
        "to find where.",
    ),
}

PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>I built my own JAX</title>
<style>
:root {{ --paper: #fbfaf7; --ink: #1f2430; --soft: #5c6270; --line: #dcd8cf; --own: #2f62a8;
  --jax: #b3541e; color-scheme: light; }}
@media (prefers-color-scheme: dark) {{
  :root {{ --paper: #14171d; --ink: #e9e6df; --soft: #a3a8b4; --line: #343a46; --own: #86b4f2;
    --jax: #f0a06a; color-scheme: dark; }}
}}
* {{ box-sizing: border-box; }}
body {{ background: var(--paper); color: var(--ink); font: 17px/1.55 system-ui, sans-serif;
  margin: 0 auto; max-width: 46rem; padding: 3rem 1.25rem 4rem; }}
h1 {{ font: 600 clamp(2rem, 7vw, 3.1rem)/1.1 Georgia, serif; margin: 0 0 1rem; }}
h2 {{ font: 600 1.5rem/1.2 Georgia, serif; margin: 0 0 .4rem; }}
p {{ margin: 0 0 1rem; }}
.lede {{ font-size: 1.15rem; }}
.soft, figcaption, th {{ color: var(--soft); font-size: .88rem; }}
dl {{ display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr));
  margin: 2rem 0 0; }}
dl div {{ border-top: 2px solid var(--ink); display: flex; flex-direction: column-reverse;
  justify-content: flex-end; padding-top: .5rem; }}
dd {{ font: 600 1.9rem/1.1 Georgia, serif; margin: 0; }}
dt {{ color: var(--soft); font-size: .88rem; }}
section {{ border-top: 1px solid var(--line); margin-top: 2.5rem; padding-top: 2rem; }}
blockquote {{ font: italic 1.25rem/1.5 Georgia, serif; margin: 1rem 0 1.5rem;
  white-space: pre-line; }}
figure {{ margin: 0; }}
.pictures {{ display: grid; gap: 1rem .75rem; grid-template-columns: repeat(6, 1fr);
  margin: 1rem 0 1.5rem; }}
.pictures svg {{ background: color-mix(in srgb, var(--ink) 6%, transparent); width: 100%; }}
.wide {{ grid-template-columns: 1fr; }}
.pictures.wide svg {{ height: 1.6rem; }}
@media (max-width: 34rem) {{ .pictures {{ grid-template-columns: repeat(3, 1fr); }}
  .wide {{ grid-template-columns: 1fr; }} }}
.curve {{ border-bottom: 1px solid var(--line); border-left: 1px solid var(--line); display: block;
  height: 9rem; width: 100%; }}
polyline {{ fill: none; stroke-linecap: round; stroke-width: 2.5;
  vector-effect: non-scaling-stroke; }}
.own {{ stroke: var(--own); }}
.jax {{ stroke: var(--jax); stroke-dasharray: .1 7; stroke-width: 3.5; }}
b.own {{ color: var(--own); }}
b.jax {{ color: var(--jax); }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ border-bottom: 1px solid var(--line); padding: .4rem .5rem .4rem 0; text-align: left;
  vertical-align: top; }}
th + th, td + td {{ text-align: right; white-space: nowrap; }}
pre {{ overflow-x: auto; }}
footer {{ margin-top: 3rem; }}
</style>
<body>
<h1>I built my own JAX.</h1>
<p class="lede">{lede}</p>
<dl>
{figures}
</dl>
{runs}
<section>
<h2>What I wrote</h2>
<table>
<tr><th>Lesson</th><th>my own</th>{heads}<th>lines</th></tr>
{rows}
</table>
</section>
<footer class="soft">
<p>JAX is the library with which Google trains its models: it differentiates, batches and compiles
Python functions. In the course Jaxprentice you write one yourself, function by function, and XLA
compiles its programs. The programs above know nothing of the package that runs them: they are
written for JAX.</p>
</footer>
</body>
</html>
"""


def text(trained: Sequence[Trained], works: Sequence[Work]) -> str:
    """The page about these runs and this work."""
    begun = [work for work in works if work.own or work.given]
    numbers = (f"<div><dt>{a}</dt><dd>{b}</dd></div>" for a, b in figures(trained, works))
    return PAGE.format(
        lede=lede(trained, works),
        figures="\n".join(numbers),
        runs="\n".join(map(section, trained)),
        heads="".join(f"<th>{head}</th>" for head, _ in _more(begun)),
        rows="\n".join(row(work, begun) for work in begun),
    )


def lede(trained: Sequence[Trained], works: Sequence[Work]) -> str:
    """What happened, in two sentences."""
    own, given = (sum(len(getattr(x, kind)) for x in works) for kind in ("own", "given"))
    wrote = f"I wrote {own} of its functions myself"
    if given:
        wrote += f", and took {given} from the course"
    steps = sum(len(run.own["losses"]) for run in trained)
    return (
        f"{wrote}. Then I trained on it, {steps:,} steps in all, and after each step the loss "
        "was the same as JAX's."
    )


def figures(trained: Sequence[Trained], works: Sequence[Work]) -> list[tuple[str, str]]:
    """The numbers at the top, each after its name."""
    pairs = [pair for x in trained for pair in zip(x.own["losses"], x.jax["losses"], strict=True)]
    equal = sum(a == b for a, b in pairs)
    fastest = max((x for x in trained if x.pace), key=lambda x: x.pace, default=None)
    found = [
        ("lines of my own", f"{sum(x.lines for x in works):,}"),
        ("exercises solved", f"{sum(len(x.own) for x in works)}"),
        (f"of {len(pairs)} losses equal JAX's digit for digit{rest(pairs)}", f"{equal}"),
    ]
    if fastest:
        found.append((f"training steps a second ({fastest.name})", f"{fastest.pace:,.0f}"))
    return [(escape(name), escape(value)) for name, value in found]


def rest(pairs: Sequence[tuple[float, float]]) -> str:
    """To how many digits the other losses agree; "" if there is no other."""
    far = max((abs(a - b) / max(abs(b), 1e-300) for a, b in pairs), default=0.0)
    return f"; the others to {math.floor(-math.log10(far))}" if far else ""


# ------------------------------------------------------------------------------------------
# A program


def section(run: Trained) -> str:
    """What a program has learned, and its curve beside JAX's."""
    title, about = TOLD.get(run.name, (run.name, ""))
    first, last = run.own["losses"][0], run.own["losses"][-1]
    return (
        f"<section>\n<h2>{escape(title)}</h2>\n<p>{escape(about)}</p>\n{learned(run)}\n"
        f"<figure>\n{curves(run)}\n<figcaption>The loss at each step, from {first:.3g} to "
        f'{last:.3g}: <b class="own">mine</b> as a line, <b class="jax">JAX\'s</b> as dots on it. '
        f"{escape(run.verdict)}</figcaption>\n</figure>\n</section>"
    )


def learned(run: Trained) -> str:
    """Pictures where a program draws some, else its words."""
    pictures = run.own.get("pictures") or []
    if not pictures:
        return f"<blockquote>{escape(run.shown)}</blockquote>" if run.shown else ""
    wide = " wide" if len(pictures[0][1]) == 1 else ""
    drawn = "\n".join(picture(title, rows) for title, rows in pictures)
    first = run.shown.partition("\n")[0]
    words = "" if wide else f"<p>{escape(first)}.</p>\n"
    return f'{words}<div class="pictures{wide}">\n{drawn}\n</div>'


def picture(title: str, rows: Sequence[Sequence[float]]) -> str:
    """Shades from 0 to 1 as squares, the title below."""
    width, height = len(rows[0]), len(rows)
    squares = "".join(
        f'<path d="M{x} {y}h1v1h-1z" opacity="{float(shade):.2f}"/>'
        for y, row in enumerate(rows)
        for x, shade in enumerate(row)
        if shade > 0
    )
    box = f'viewBox="0 0 {width} {height}" preserveAspectRatio="none" fill="currentColor"'
    said = f'<svg {box} role="img" aria-label="{escape(title)}" shape-rendering="crispEdges">'
    return f"<figure>{said}{squares}</svg><figcaption>{escape(title)}</figcaption></figure>"


def curves(run: Trained) -> str:
    """Both loss curves, on a logarithmic scale."""
    every = [x for side in (run.own, run.jax) for x in side["losses"] if x > 0]
    least, most = min(every), max(every)
    lines = "".join(
        f'<polyline class="{kind}" points="{points(side["losses"], least, most)}"/>'
        for kind, side in (("own", run.own), ("jax", run.jax))
    )
    label = f"Two loss curves of {run.name}, mine and JAX's, which cover each other"
    box = 'viewBox="0 0 600 100" preserveAspectRatio="none"'
    return f'<svg class="curve" {box} role="img" aria-label="{escape(label)}">{lines}</svg>'


def points(losses: Sequence[float], least: float, most: float) -> str:
    """A curve's corners, from left to right."""
    height, last = math.log(most / least) or 1.0, max(len(losses) - 1, 1)
    return " ".join(
        f"{600 * i / last:.1f},{3 + 94 * math.log(most / max(x, least)) / height:.1f}"
        for i, x in enumerate(losses)
    )


# ------------------------------------------------------------------------------------------
# The table


def row(work: Work, works: Sequence[Work]) -> str:
    """A lesson in the table."""
    cells = [
        work.lesson.title.partition(":")[0],
        f"{len(work.own)} of {len(work.lesson.exercises)}",
    ]
    cells += [find(work) for _, find in _more(works)]
    return "<tr>" + "".join(f"<td>{escape(x)}</td>" for x in [*cells, f"{work.lines}"]) + "</tr>"


def _more(works: Sequence[Work]) -> list[tuple[str, Any]]:
    """The columns that are not always needed: what was given, and the way of a lesson."""
    given = ("given", lambda work: str(len(work.given)))
    way = ("way", lambda work: work.way if work.own else "")
    return [given] * any(x.given for x in works) + [way] * any(x.way for x in works)
