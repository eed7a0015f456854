"""What a built site needs besides its pages: for hosts, search, previews, and use without a server.

- A page's description is its own opening.
- The search index holds how each section begins, and the words of each page once. Code, formulas
  and hints are left out: an index of everything is three times as large. It is loaded when the
  search opens; the theme would load it with every page.
  Of the reference it has the names and the first sentences. Hints must not turn up in a search for
  the exercise.
- The theme's search worker is given the queries as `assets/search.js` prepares them: the theme
  finds nothing for "tangnet", and for "how do I install" each page that has "how".
- With `extra.offline`, pages can be opened from a folder: links name files, and search needs no
  server: its worker is started from its text, because a browser starts none from a file. The
  theme's own plugin for this loads a script from another host.
"""

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

_ASSETS = Path(__file__).resolve().parent / "theme" / "assets"

# ------------------------------------------------------------------------------------------
# Pages


def on_page_content(content: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Describe the page by its opening, and mark what the search leaves out."""
    page.meta.setdefault("description", _opening(content))
    return _NOT_SEARCHED.sub(r'<\1 data-search-exclude="x"', content)


_NOT_SEARCHED = re.compile(r'<(pre|math|svg|details(?= class="tip"))\b')
_ASIDE = re.compile(r'<(div|details) class="(?:admonition|tip|question).*?</\1>', re.DOTALL)
_PARAGRAPH = re.compile(r"<p>(.*?)</p>", re.DOTALL)
_LONGEST = 160  # characters that search engines and previews show


def _opening(content: str) -> str:
    """The first paragraph that can be read alone, as an attribute's value."""
    for paragraph in _PARAGRAPH.findall(_ASIDE.sub("", content)):
        text = _text(paragraph)
        if len(text) > 40 and not text.endswith(":") and "<msup" not in paragraph:
            return html.escape(_shortened(text, _LONGEST))
    return ""


def _text(markup: str) -> str:
    return " ".join(html.unescape(re.sub("<[^>]*>", "", markup)).split())


def _shortened(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    return text[: longest - 1].rpartition(" ")[0] + "…"


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Finish a page."""
    return _finished(output, config)


def on_post_template(output: str, template_name: str, config: MkDocsConfig) -> str:
    """Finish the page that says that there is none."""
    return _finished(output, config) if template_name.endswith(".html") else output


def _finished(output: str, config: MkDocsConfig) -> str:
    """Name the theme's search dialog, which has a role but no name for screen readers."""
    output = output.replace('role="dialog"', 'role="dialog" aria-label="Search"')
    return _FOLDER.sub(_file, output) if config.extra["offline"] else output


_FOLDER = re.compile(r'(?<=\shref=")((?:\.\./)*\.{1,2}|(?!/)[^":#?]*/)(?=["#])')


def _file(folder: re.Match[str]) -> str:
    return folder[1].rstrip("/") + "/index.html"


# ------------------------------------------------------------------------------------------
# Search


def on_post_build(config: MkDocsConfig) -> None:
    """Write the search index and the worker that reads it; have it loaded when it is needed."""
    site = Path(config.site_dir)
    (bundle,) = (site / "assets" / "javascripts").glob("bundle.*.js")
    script = bundle.read_text(encoding="utf-8")
    for old, new in _CHANGED.items():
        assert script.count(old) == 1, f"The theme no longer has {old} in its script."
        script = script.replace(old, new)
    bundle.write_text(script, encoding="utf-8")
    (sheet,) = (site / "assets" / "stylesheets").glob("main.*.css")
    rules = sheet.read_text(encoding="utf-8")
    assert rules.count(_AFTER_TABLES) == 1, (
        "The theme no longer has a rule for what follows tables."
    )
    sheet.write_text(rules.replace(_AFTER_TABLES, ""), encoding="utf-8")
    path = site / "search" / "search_index.json"
    index = json.loads(path.read_text(encoding="utf-8"))
    index["docs"] = _pruned([*index["docs"], *_values(site, index["docs"])])
    index["config"]["fields"] |= {"words": {"boost": 1}, "name": {"boost": _NAME}}  # see search.js
    (worker,) = (site / "assets" / "javascripts" / "workers").glob("search.*.js")
    theirs = worker.read_text(encoding="utf-8")
    worker.write_text((_ASSETS / "search.js").read_text(encoding="utf-8") + theirs, "utf-8")
    if config.extra["offline"]:
        _write_offline(site, index, worker)
    path.write_text(_compact(index), encoding="utf-8")


# In the theme's script, and what it becomes.
_MOVED = 'L(h(window,"scroll",{passive:!0}),h(window,"resize",{passive:!0})'
_SWITCHING = 'document.body.setAttribute("data-md-color-switching","")'
_CHANGED = {
    # The index, from the start; or once the search opens, something is typed in it (without focus,
    # as in a window in the background, it does not open), or the address asks for a word (`?q=`)
    # or for its marks (`?h=`).
    '.namedItem("search")?ks():': (
        '.namedItem("search")?L($(/[?&][qh]=/.test(location.search)),Je("search"),'
        'h(document.forms.namedItem("search"),"keyup")).pipe(Re(o=>o),b(()=>ks()),Z(1)):'
    ),
    # The mark that colours change, which has the whole page styled anew: where they do not, none.
    _SWITCHING: (
        'document.body.getAttribute("data-md-color-scheme")!==s.color.scheme&&' + _SWITCHING
    ),
    # What the page needs once it is there, from one task: each part of it in a task of its own, and
    # what is done for each link, table or fold of the text in tasks for a few of them.
    "function oi(e,t){let{viewport$:r,target$:o,print$:n}=t;return L(": (
        "function apart(n,...x){return L(...Array.from({length:Math.ceil(x.length/n)},"
        "(_,i)=>$(0).pipe(nt(0),b(()=>L(...x.slice(i*n,i*n+n))))))}"
        "function oi(e,t){let{viewport$:r,target$:o,print$:n}=t;return apart(24,"
    ),
    "Ki=ct.pipe(b(()=>$s)": "Ki=ct.pipe(nt(0),b(()=>$s)",
    "$s=H(()=>L(": "$s=H(()=>apart(1,",
    "Fi({viewport$:ke,document$:ct})": "Fi({viewport$:ke,document$:ct.pipe(nt(0))})",
    'Hs=L(...me("consent")': 'Hs=apart(1,...me("consent")',
    "_i(e,{index$:zi,keyboard$:mo})": "H(()=>_i(e,{index$:zi,keyboard$:mo}))",
    # Where the page is scrolled to, which has it laid out: not while the script begins.
    f"{_MOVED}).pipe(m(wn),Q(wn()))": f"{_MOVED},$(0).pipe(nt(0))).pipe(m(wn),Q({{x:0,y:0}}))",
    # The colours of the browser itself, which have the whole page styled anew: only other ones.
    "return o.content=a.colorScheme,": (
        "return o.content!==a.colorScheme&&(o.content=a.colorScheme),"
    ),
    # A landmark around each button to copy: a page would have dozens of the same name.
    'x("nav",{class:"md-code__nav"})': 'x("div",{class:"md-code__nav"})',
    # The same for the colours of the browser itself: main.html has begun them.
    'x("meta",{name:"color-scheme"});document.head.appendChild(o)': (
        "document.querySelector('meta[name=color-scheme]')"
    ),
}


# It is for a table that no script has put into a box. Where a script adds an element, this rule has
# all elements around it styled anew, with what is in them.
_AFTER_TABLES = ".md-typeset table:not([class])+*{margin-top:1.5em}"


def _compact(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


# How much a hit in a folder counts beside one in a lesson: most who search are students.
_WEIGHTS = {"instructor": 0.3, "glossary": 2}
_TEASER = 160  # characters of a section that its search result may show


def _pruned(sections: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """How each section begins; with a page's first section, the words of the whole page."""
    pages: dict[str, dict[str, Any]] = {}
    words: dict[str, set[str]] = {}
    for section in sections:
        if weight := _WEIGHTS.get(section["location"].partition("/")[0]):
            section["boost"] = weight
        text = _text(section["text"])
        if "/#minijax." in section["location"]:
            section.update(_reference(section["location"], text))
            continue
        shown = _shortened(text, _TEASER)
        section["text"] = html.escape(shown, quote=False)
        page = section["location"].partition("#")[0]
        pages.setdefault(page, section)
        rest = text[len(shown) - 1 :].lower()
        words.setdefault(page, set()).update(re.findall(r"[a-z_][\w.]+\w", rest))
    for page, first in pages.items():
        first["words"] = " ".join(sorted(words[page]))
    return sections


_VALUE = re.compile(r'<li><span id="(minijax\.[^"]*)"><code>[^<]*</code></span>(.*?)</li>')


def _values(site: Path, sections: list[dict[str, str]]) -> Iterator[dict[str, str]]:
    """The reference's values, such as `jnp.pi`, which have no heading."""
    for section in sections:
        page, _, anchor = section["location"].partition("#")
        if page.startswith("api/") and anchor == "values":
            shown = (site / page / "index.html").read_text(encoding="utf-8")
            for path, said in _VALUE.findall(shown):
                yield {"location": f"{page}#{path}", "title": path, "text": _text(said)}


_NAME = 2000  # twice as much as a title: who types `grad` may want to know what it promises
_LESSON = re.compile(r"You write it in the \S+ lesson\. ")
_PROMISE = 50  # characters of it that a search result shows


def _reference(location: str, text: str) -> dict[str, str]:
    """An entry of the reference: under the name that a program uses, with its first sentence."""
    path = location.partition("#minijax.")[2].replace("numpy.", "jnp.", 1)
    sentence = re.split(r"[.;:](?: |$)", _LESSON.sub("", text))[0]
    shown = html.escape(_shortened(sentence, _PROMISE), quote=False)
    return {"title": path if "." in path else f"jax.{path}", "text": shown}


# ------------------------------------------------------------------------------------------
# Without a server


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Load what search needs where there is no server."""
    if config.extra["offline"]:
        config.extra["polyfills"] = [_WORKER]
    return config


_WORKER = "assets/search-worker.js"

# A page from a folder may start no worker from a file, but one from a text.
_STARTER = """\
window.Worker = class extends Worker {
  constructor(address, options) {
    const search = String(address).includes("/workers/search.");
    super(search ? URL.createObjectURL(new Blob([%s])) : address, options);
  }
};
"""


def _write_offline(site: Path, index: dict, worker: Path) -> None:
    """Write the index and its worker as scripts, the only files that such a page may read."""
    for section in index["docs"]:
        page, mark, anchor = section["location"].partition("#")
        section["location"] = f"{page}index.html{mark}{anchor}"
    (site / "search" / "search_index.js").write_text(f"var __index = {_compact(index)}", "utf-8")
    starter = _STARTER % json.dumps(worker.read_text(encoding="utf-8"))
    (site / _WORKER).write_text(starter, encoding="utf-8")
