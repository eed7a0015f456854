"""Written answers that try to do something in the browser, or to keep a renderer busy.

Each calls `hit()`, which a page of the tests defines, or asks for something from `elsewhere`.
"""

import base64

HIT = "window.hit && hit()"
AWAY = "http://elsewhere.invalid/"
_PICTURE = f'<svg xmlns="http://www.w3.org/2000/svg" onload="parent.{HIT}"/>'
_DATA = "data:image/svg+xml;base64," + base64.b64encode(_PICTURE.encode()).decode()

SCRIPTS = {
    "script": f"<script>{HIT}</script>",
    "image": f"<img src=x onerror='{HIT}'>",
    "drawing": f"<svg onload='{HIT}'></svg>",
    "inside_a_sentence": f"Because <b onmouseover='{HIT}'><img src=x onerror='{HIT}'></b> so.",
    "frame": f'<iframe srcdoc="<script>parent.{HIT}</script>"></iframe>',
    "mermaid": f"```mermaid\n</pre><img src=x onerror='{HIT}'>\n```",
    "language": f"```python'><img/src=x/onerror={HIT}>\nx\n```",
    "math": f"$</p><img src=x onerror='{HIT}'>$ and $$</p><script>{HIT}</script>$$",
    "environment": f"\\begin{{align}}</p><script>{HIT}</script>\\end{{align}}",
    "code_that_does_not_end": f"`<img src=x onerror='{HIT}'>",
    "code_ended_by_html": f"<pre>`</pre><img src=x onerror='{HIT}'>`",
    "comment": f"<!--><img src=x onerror='{HIT}'>-->",
    "processing": f"<?x ><img src=x onerror='{HIT}'>?>",
    "cdata": f"<![CDATA[><img src=x onerror='{HIT}'>]]>",
    "broken_tag": f"<img src=x onerror='{HIT}'\n\n> and <img src=x onerror='{HIT}' ",
    "table": f"|a|b|\n|-|-|\n|<img src=x onerror='{HIT}'>|b|",
    "heading": f"# <img src=x onerror='{HIT}'>",
    "definition": f"term\n: <img src=x onerror='{HIT}'>",
    "link": f"[here](javascript:{HIT.replace(' ', '%20')}) <javascript:{HIT.replace(' ', '')}>",
    "link_in_disguise": f"[here](java&#115;cript:{HIT.replace(' ', '')} 'x\" onmouseover=\"{HIT}')",
    "reference": f"[here]\n\n[here]: javascript:{HIT.replace(' ', '')}",
    "template": f"<math><mtext><table><mglyph><style><img src=x onerror='{HIT}'>",
    "form": "<form action='/formgrader/api/x' method='post'><input name='score'></form>",
    "entities": f"&lt;img src=x onerror='{HIT}'&gt; &#60;script&#62;{HIT}&#60;/script&#62;",
    "half_escaped": f"\\<img src=x onerror='{HIT}'>\\\\<script>{HIT}</script>",
    "closes_the_page": f"</div></div></body></html><script>{HIT}</script>",
    "control_characters": f"<im\0g src=x>\x0c<img\x0bsrc=x onerror='{HIT}'>\x85\u2028",
}
REQUESTS = {
    "picture": f"![]({AWAY}x.png)",
    "picture_by_reference": f"![a]\n\n[a]: {AWAY}x.png",
    "picture_in_data": f"![]({_DATA})",
    "picture_without_protocol": "![](//elsewhere.invalid/x.png)",
    "picture_that_is_attached": "![](attachment:evil.svg) ![](attachment:missing.png)",
    "style": f"<style>@import '{AWAY}x.css'; body {{ background: url({AWAY}y) }}</style>",
    "style_of_a_tag": f"<p style='background: url({AWAY}x)'>x</p>",
    "sheet": f"<link rel=stylesheet href='{AWAY}x.css'>",
    "refresh": f"<meta http-equiv=refresh content='0; url={AWAY}'>",
    "base": f"<base href='{AWAY}'>",
    "object": f"<object data='{AWAY}x'></object><embed src='{AWAY}y'>",
    "media": f"<video src='{AWAY}x' poster='{AWAY}y'></video><audio src='{AWAY}z'></audio>",
    "frame_from_elsewhere": f"<iframe src='{AWAY}'></iframe>",
}
# Commands of MathJax that make links, styles and macros; the page must not hand them on.
FORMULAS = {
    "link": "$\\href{javascript:hit()}{x}$",
    "style": "$$\\style{background:url(http://elsewhere.invalid/)}{x}$$",
    "class": "$\\class{panel}{x} \\cssId{notebook}{y}$",
    "macro": "$\\def\\a{\\a\\a}\\a$ and $\\newcommand{\\b}{x}\\let\\c=\\href$",
    "extension": "$\\require{html}\\href{x}{y}$",
    "in_plain_text": "\\\\(\\href{javascript:hit()}{x}\\\\)",
    "environment": "\\begin{align}\\href{javascript:hit()}{x}\\end{align}",
}
# Each kept nbgrader's `generate_feedback` busy for long, or might.
HEAVY = {
    "brackets": "[" * 60_000,
    "environments": "\\begin{a}" * 20_000,
    "pictures": "![" * 30_000,
    "emphasis": "*a **b " * 10_000,
    "deep_emphasis": "*" * 20_000 + "a" + "*" * 20_000,
    "ticks": "".join("`" * count + "a" for count in range(1, 350)),
    "quotes": ">" * 60_000,
    "lists": "- " * 30_000,
    "deep_lists": "\n".join("  " * depth + "- a" for depth in range(250)),
    "dollars": "$a" * 30_000,
    "angles": "<a " * 20_000,
    "tables": "|a" * 70 + "\n" + "|-" * 70 + "\n" + "|\n" * 20_000,
    "references": "".join(f"[{i}]: x\n" for i in range(8_000)),
    "entities": "&#1;" * 15_000,
    "definitions": "a\n: b\n" * 10_000,
    "one_word": "a" * 3_000_000,
    "lines": "\n" * 1_000_000,
    "braces": "$" + "{" * 30_000 + "}" * 30_000 + "$",
}


def named():
    """All that can be tried in a moment, by kind and name."""
    kinds = {"script": SCRIPTS, "request": REQUESTS, "formula": FORMULAS}
    return {f"{kind}-{name}": text for kind, found in kinds.items() for name, text in found.items()}
