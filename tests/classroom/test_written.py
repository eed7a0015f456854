"""Written answers become HTML that can only be read, quickly, and that nbgrader leaves as it is."""

import html
import time
from html.parser import HTMLParser

import nh3
import pytest
from hostile_answers import FORMULAS, HEAVY, named
from hypothesis import given
from hypothesis import strategies as st
from nbconvert.filters.markdown_mistune import markdown2html_mistune as markdown2html

from autograder.classroom.intake import written


class Reader(HTMLParser):
    """Notes the tags of a text, and what a browser would show of it."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.shown, self.mathematics, self._in_span = [], "", [], False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, *attrs))
        self._in_span = tag == "span"

    def handle_endtag(self, tag):
        self._in_span = False

    def handle_data(self, data):
        self.shown += data
        if self._in_span:
            self.mathematics.append(data)


BODY = ("div", ("class", "tex2jax_ignore"))
SPAN = ("span", ("class", "tex2jax_process"))
PLAIN = (
    *("blockquote", "br", "code", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr"),
    *("li", "ol", "p", "pre", "s", "strong", "ul"),
)


def assert_harmless(text):
    made = written.harmless(text)
    assert "\n" not in made
    page = markdown2html(made)
    assert page.strip() == made
    found = Reader(page)
    assert {tag[0] for tag in found.tags} <= {*PLAIN, "div", "span"}
    for tag in found.tags:
        numbered = tag[0] == "ol" and len(tag) == 2 and tag[1][0] == "start"
        assert tag in (BODY, SPAN) or len(tag) == 1 or numbered
    assert nh3.is_html(page)
    return found


@pytest.mark.parametrize("text", [*named().values(), *HEAVY.values()], ids=[*named(), *HEAVY])
def test_of_a_hostile_answer_only_text_is_left(text):
    assert_harmless(text)


@pytest.mark.parametrize("name", FORMULAS)
def test_a_formula_that_could_do_more_is_shown_as_code(name):
    assert not [x for x in assert_harmless(FORMULAS[name]).mathematics if "\\" in x]


# Pieces that mean something to one of the parsers on the way, or to a browser.
PIECES = st.sampled_from(
    [
        *"<>&\"'`*_~$\\[](){}!#-+|:=\n\t /",
        *("<script>", "</div>", "<!--", "-->", "<pre>", "</pre>", "<svg onload=x>", "<div\n>"),
        *("```", "~~~", "$$", "\\begin{align}", "\\end{align}", "\\frac", "\\href", "1. ", "- "),
        *("> ", "    ", "\n\n", "&lt;", "&#60;", "&#x3c;", "&NewLine;", "javascript:", "](", "!["),
        *("http://a.b", "\0", "\x0b", "\x85", "\u2028", "\ufeff", "\ud800", "</div >"),
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=5), max_size=40).map("".join)


@given(TEXTS)
def test_of_any_answer_only_text_is_left(text):
    assert_harmless(text)


@given(st.text(alphabet=st.characters(exclude_categories=["C"]), max_size=200))
def test_no_word_of_an_answer_is_lost(text):
    plain = "".join(c if c.isalnum() else " " for c in text)
    shown = html.unescape(assert_harmless(plain).shown)
    assert [word for word in shown.split() if not word.isdecimal()] == [
        word for word in plain.split() if not word.isdecimal()
    ]


@pytest.mark.parametrize("name", HEAVY)
def test_no_answer_takes_long(name):
    begin = time.process_time()
    made = written.harmless(HEAVY[name])
    markdown2html(made)
    assert time.process_time() - begin < 2
    assert len(made) < 20 * written.LIMIT


READABLE = {
    "if `a < b` then": "<p>if <code>a &lt; b</code> then</p>",
    "a < b, $a<b_1*c*$": '<p>a &lt; b, <span class="tex2jax_process">$a&lt;b_1*c*$</span></p>',
    "it costs $5 or $6": "<p>it costs $5 or $6</p>",
    "$\\frac{a}{b}$": '<p><span class="tex2jax_process">$\\frac{a}{b}$</span></p>',
    "$\\unknown{a}$": "<p><code>$\\unknown{a}$</code></p>",
    "`$HOME` \\$x\\$": "<p><code>$HOME</code> $x$</p>",
    "**b** *i* ~~s~~": "<p><strong>b</strong> <em>i</em> <s>s</s></p>",
    "[JAX](https://jax.dev)": "<p>[JAX](https://jax.dev)</p>",
    "<b>bold</b>": "<p>&lt;b&gt;bold&lt;/b&gt;</p>",
    "```python\nx: list[<int>]\n\ny\n```": (
        "<pre><code>x: list[&lt;int&gt;]&#10;&#10;y&#10;</code></pre>"
    ),
    "$$\na\n- b\n\n+ c\n$$\nso": (
        '<span class="tex2jax_process">$$&#10;a&#10;- b&#10;&#10;+ c&#10;$$</span><p>so</p>'
    ),
    "\\begin{align}\na &= b \\\\\n\\end{align}": (
        '<span class="tex2jax_process">\\begin{align}&#10;a &amp;= b \\\\&#10;\\end{align}</span>'
    ),
    "3. three\n4. four": '<ol start="3"><li>three</li><li>four</li></ol>',
}


@pytest.mark.parametrize("text", READABLE)
def test_an_honest_answer_stays_readable(text):
    made = written.harmless(text)
    inner = made.removeprefix('<div class="tex2jax_ignore">').removesuffix("</div>")
    assert inner.replace("&#10;<", "<").removesuffix("&#10;") == READABLE[text].replace(
        "&#10;<", "<"
    )


def test_a_long_answer_is_cut_and_says_so():
    made = written.harmless("a" * written.LIMIT + "b")
    assert "b</p>" not in made
    assert "Only 10,000 characters are kept" in made
    assert "kept" not in written.harmless("a" * written.LIMIT)


def test_deep_emphasis_is_shown_as_it_was_typed():
    assert written.harmless("*" * 60 + "a" + "*" * 60).count("<") == 4  # a div and a pre
