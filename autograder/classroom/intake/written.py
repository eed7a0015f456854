"""What a student wrote in words, made into HTML that can do nothing but be read.

nbgrader shows the Markdown of a notebook without cleaning it: tags, pictures and links work in its
pages, and so do its renderer's bugs. So an answer is rendered here, by a renderer that knows no raw
HTML, no links and no pictures; nh3 lets only a short list of tags through; and the outcome goes
into the notebook as one block of HTML, which nbgrader's own renderer hands on as it is.
"""

import html
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

LIMIT = 10_000  # characters of an answer
DEEP = 20  # blocks within blocks, emphasis within emphasis
FORMULA = 1_000  # characters of a formula

_TAGS = {
    *("blockquote", "br", "code", "div", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr"),
    *("li", "ol", "p", "pre", "s", "span", "strong", "ul"),
}
# MathJax leaves alone what is in the first, but for what is in the second.
_PLAIN, _MATH = "tex2jax_ignore", "tex2jax_process"


def limited(text: str) -> str:
    """A text of at most LIMIT characters, none of which controls anything."""
    text = re.sub(r"\r\n?", "\n", text[: LIMIT + 1])
    text = re.sub(
        r"[^\n\t -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", text
    )
    if len(text) > LIMIT:
        text = f"{text[:LIMIT]}\n\n(The answer goes on. Only {LIMIT:,} characters are kept.)"
    return text


def visible(code: str) -> str:
    """Code with escapes instead of invisible characters.

    Some of these have a line read in another order than it runs.
    """
    if code.isascii():
        return code
    hidden = {c for c in set(code) if unicodedata.category(c) in ("Cf", "Zl", "Zp")}
    return code.translate({ord(c): ascii(c)[1:-1] for c in hidden})


def harmless(text: str) -> str:
    """The HTML of an answer in Markdown, on one line."""
    text = limited(text)
    tokens = _MARKDOWN.parse(text)
    if _depth(tokens) > DEEP:
        page = f"<pre>{html.escape(text)}</pre>"
    else:
        page = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    clean = nh3.clean(
        f'<div class="{_PLAIN}">{page}</div>',
        tags=_TAGS,
        attributes={"ol": {"start"}},
        allowed_classes={"div": {_PLAIN}, "span": {_MATH}},
    )
    # Within a line no blank line can end the block, after which Markdown would be read again.
    return clean.replace("\n", "&#10;")


def _depth(tokens: Sequence[Token]) -> int:
    inner = (token.level + _depth(token.children or ()) for token in tokens)
    return max(inner, default=0)


# ------------------------------------------------------------------------------------------
# Formulas: MathJax gets those whose commands do nothing but set mathematics

_BODY = rf"(?:\\.|[^\\$]){{1,{FORMULA}}}?"
_FORMULA = re.compile(
    rf"\$\$(?P<shown>{_BODY})\$\$"
    rf"|\$(?![\s$])(?P<inline>{_BODY})(?<!\s)\$(?!\d)"
    rf"|\\begin\{{(?P<name>[a-z]+\*?)\}}(?P<body>.{{0,{FORMULA}}}?)\\end\{{(?P=name)\}}",
    re.DOTALL,
)
_ENVIRONMENTS = "align aligned array bmatrix cases equation gather gathered matrix pmatrix vmatrix"
_COMMANDS = """
    alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi pi
    rho sigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi
    Psi Omega ell hbar infty partial nabla emptyset varnothing forall exists neg top bot dots ldots
    cdots vdots ddots prime circ bullet star cdot times div ast pm mp cap cup setminus oplus otimes
    odot wedge vee land lor lnot in notin ni subset supset subseteq supseteq to gets mapsto implies
    iff rightarrow leftarrow Rightarrow Leftarrow leftrightarrow Leftrightarrow longrightarrow
    longleftarrow longmapsto hookrightarrow uparrow downarrow le leq ge geq lt gt ne neq equiv sim
    simeq approx cong propto ll gg prec succ mid parallel perp models vdash frac dfrac tfrac binom
    sqrt sum prod int iint oint lim limsup liminf sup inf max min arg argmax argmin det dim ker exp
    log ln lg sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan gcd deg Pr hat
    widehat tilde widetilde bar overline underline vec dot ddot check breve acute grave overbrace
    underbrace overset underset stackrel left right big Big bigg Bigg bigl bigr Bigl Bigr middle
    langle rangle lfloor rfloor lceil rceil lbrace rbrace lvert rvert lVert rVert vert Vert
    mathrm mathbf mathit mathsf mathtt mathcal mathbb mathfrak boldsymbol text textrm textbf textit
    texttt operatorname quad qquad limits nolimits displaystyle textstyle begin end tag notag not
"""
_KNOWN = frozenset(_COMMANDS.split())


def _is_harmless(formula: str) -> bool:
    names = re.findall(r"\\(?:begin|end)\s*\{([^}]*)\}", formula)
    used = re.findall(r"\\([A-Za-z]+)", formula)
    return {name.rstrip("*") for name in names} <= _ALLOWED and set(used) <= _KNOWN


_ALLOWED = frozenset(_ENVIRONMENTS.split())


def _formula(state: StateInline, silent: bool) -> bool:
    found = _FORMULA.match(state.src, state.pos, state.posMax)
    if not found:
        return False
    if not silent:
        state.push("formula", "", 0).content = found[0]
    state.pos = found.end()
    return True


def _formula_block(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Take a formula that fills whole lines: other rules would find lists in it."""
    begin = state.bMarks[first] + state.tShift[first]
    found = _FORMULA.match(state.src, begin, state.eMarks[last - 1])
    if state.level or not found or found["inline"]:
        return False
    lines = found[0].count("\n") + 1
    if state.src[found.end() : state.eMarks[first + lines - 1]].strip():
        return False
    if not silent:
        state.push("formula", "", 0).content = found[0]
        state.line = first + lines
    return True


def _render_formula(_: object, tokens: Sequence[Token], index: int, *__: object) -> str:
    formula = tokens[index].content
    tag = ("span", f' class="{_MATH}"') if _is_harmless(formula) else ("code", "")
    return f"<{tag[0]}{tag[1]}>{html.escape(formula)}</{tag[0]}>"


def _markdown() -> MarkdownIt:
    # Tables are left out: a few characters make a cell of each column in each row.
    made = MarkdownIt("commonmark", {"html": False, "maxNesting": DEEP}).enable("strikethrough")
    made.disable(["link", "image", "autolink", "reference"])
    made.inline.ruler.before("escape", "formula", _formula)
    interrupts: Any = {"alt": ["paragraph", "blockquote", "list"]}
    made.block.ruler.before("fence", "formula", _formula_block, interrupts)
    made.add_render_rule("formula", _render_formula)
    return made


_MARKDOWN = _markdown()
