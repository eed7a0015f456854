"""Pages, in both schemes and at both widths, each loaded once: what can be measured on it.

With `--full`, each scheme is seen at each width, on every page; else the phone is dark, the desktop
light, and every third page is seen: all are made by one template. The choice of the tests sees
every twelfth page.
"""

import functools
import gzip
import itertools

import pytest
from axe_playwright_python.base import AXE_SCRIPT

SIZES = {"phone": 375, "desktop": 1280}
SCHEMES = {"light": "default", "dark": "slate"}  # the theme's names for them
VIEWS = {"phone": "dark", "desktop": "light"}  # those that are always seen


def paint(tab, size, scheme):
    tab.set_viewport_size({"width": SIZES[size], "height": 900})
    tab.emulate_media(color_scheme=scheme)


def show(tab, size, scheme):
    paint(tab, size, scheme)
    shown = "scheme => document.body.dataset.mdColorScheme === scheme"
    tab.wait_for_function(shown, arg=SCHEMES[scheme], polling=20, timeout=9000)
    tab.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")


# One element for each combination of what contrast depends on, if no page had it before: axe takes
# seconds for all of them. What lies behind an opaque ground is not seen.
COLOURS = """(seen) => {
  const grounds = new Map(); // what lies behind an element, by element
  const ground = (element) => {
    if (!element) return { behind: "", opacity: "" };
    if (!grounds.has(element)) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(element);
      const around = ground(element.parentElement);
      const own = [backgroundColor, backgroundImage].filter((x) => !NOTHING.test(x)).join(" ");
      grounds.set(element, {
        behind: own.startsWith("rgb(") ? own : around.behind + own,
        opacity: around.opacity + (opacity === "1" ? "" : ` ${opacity}`),
      });
    }
    return grounds.get(element);
  };
  const NOTHING = /^(rgba\\(0, 0, 0, 0\\)|none)$/;
  const found = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
    const { color, fontSize, fontWeight } = getComputedStyle(element);
    const size = parseFloat(fontSize);
    const large = size >= 24 || (size >= 18.66 && fontWeight >= 700); // for which less is enough
    const { behind, opacity } = ground(element);
    const name = [color, large, behind, opacity].join();
    if (!seen.includes(name)) found.set(name, element);
  }
  window.colours = [...found.values()];
  return [...found.keys()];
}"""
# Half of a page are the spans of words in code, and steps that are hidden, which axe leaves out.
# One word of each class is kept in each kind of block.
LESS = """() => {
  const kept = new Set();
  for (const word of document.querySelectorAll(".highlight code span")) {
    if (!/^[a-z0-9]{1,3}$/.test(word.className)) continue;
    const around = word.closest(".stepper, details, .admonition, table, .md-content").className;
    const kind = `${word.className} ${around}`;
    if (kept.has(kind)) word.replaceWith(...word.childNodes);
    kept.add(kind);
  }
  document.querySelectorAll("step-viewer ol > li:not(.stepper-current)").forEach((x) => x.remove());
  document.body.normalize();
}"""
# What else depends on the width of the screen.
NARROW = ["scrollable-region-focusable", "target-size", "meta-viewport", "aria-hidden-focus"]
# Code gets its tab stop when it comes into view, where it is wider than the screen.
PASSED_BY = """async () => {
  for (let y = 0; y < document.body.scrollHeight; y += innerHeight) {
    scrollTo(0, y);
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  }
  const waits = (x) => x.scrollWidth > x.clientWidth && x.tabIndex < 0;
  for (let round = 0; round < 30; round++) {  // a busy machine is slow to give it
    const code = [...document.querySelectorAll("pre > code")].find(waits);
    if (!code) return;
    code.scrollIntoView();
    await new Promise((done) => setTimeout(done, 100));
  }
}"""
AXE = """async ([coloured, options]) => {
  const context = coloured ? { include: window.colours } : document;
  const { violations } = await axe.run(context, { ...options, resultTypes: ["violations"] });
  return violations.flatMap((v) => v.nodes.map((node) => [v.id, v.impact, node.html]));
}"""


class Visit:
    """One load of a page, and all that is measured on it."""

    def __init__(self, tabs, tab, path, seen, views):
        self.tab, wrong = tab
        wrong.clear()
        paint(self.tab, *next(iter(views)))  # so that the page is laid out once
        tabs.go(self.tab, path)
        # All of it is measured, not only what is near.
        self.tab.add_style_tag(content="* { content-visibility: visible !important }")
        self.overflow, self.inaccessible = [], []
        self.tab.evaluate(LESS)
        for size, scheme in views:
            show(self.tab, size, scheme)
            width = self.tab.evaluate("document.documentElement.scrollWidth")
            if width != SIZES[size]:
                self.overflow.append((size, scheme, width))
            self.note(size, scheme, self.contrast(seen))
            if (size, scheme) == ("phone", VIEWS["phone"]):
                self.tab.evaluate(PASSED_BY)
                self.note(size, scheme, self.axe(False, {"runOnly": NARROW}))
        self.clipped = self.tab.evaluate(CLIPPED)  # the last size is that of a desktop
        self.fetched = self.tab.evaluate(FETCHED_NOW)
        self.errors = list(wrong)
        others = {"rules": {"color-contrast": {"enabled": False}}}
        self.note(size, scheme, self.axe(False, others))

    def note(self, size, scheme, found):
        self.inaccessible += [(size, scheme, *problem) for problem in found]

    def contrast(self, seen):
        new = self.tab.evaluate(COLOURS, list(seen))
        seen.update(new)
        return self.axe(True, {"runOnly": ["color-contrast"]}) if new else []

    def axe(self, *arguments):
        if not self.tab.evaluate("'axe' in window"):
            self.tab.evaluate(AXE_SCRIPT)
        return self.tab.evaluate(AXE, list(arguments))


# Beside a stage there is less room, and the program scrolls.
CLIPPED = """() => [...document.querySelectorAll(".md-content :not(.stepper-code *) > pre > code")]
  .filter((code) => code.scrollWidth > code.clientWidth).map((code) => code.innerText)"""
FETCHED_NOW = """() => performance.getEntriesByType("resource").map((entry) => entry.name)"""


@pytest.fixture(scope="session")
def visits(tabs, built, request):
    views, step = VIEWS.items(), 12 if request.config.getoption("--choice") else 3
    if request.config.getoption("--full"):
        views, step = list(itertools.product(SIZES, SCHEMES)), 1
    paths, seen = [str(page.relative_to(built)) for page in sorted(built.rglob("*.html"))], set()
    tab = tabs.blank()
    found = {path: Visit(tabs, tab, path, seen, views) for path in paths[::step]}
    tab[0].close()
    return found


def findings(visits, kind):
    return {path: found for path, visit in visits.items() if (found := getattr(visit, kind))}


@pytest.mark.slow
def test_pages_load_without_errors_and_from_here_only(visits):
    assert findings(visits, "errors") == {}


def test_pages_fit_the_screen_and_follow_the_system_s_colours(visits):
    assert findings(visits, "overflow") == {}


def test_code_fits_its_column_on_a_desktop(visits):
    assert findings(visits, "clipped") == {}


def test_axe_finds_nothing_of_any_level(visits):
    assert findings(visits, "inaccessible") == {}


def test_a_page_with_all_that_it_fetches_is_less_than_500_kb(visits, built, address):
    @functools.cache
    def weight(url):
        path = built / url.removeprefix(f"{address}/").partition("?")[0]
        return len(gzip.compress(path.read_bytes()))

    heavy = {}
    for path, visit in visits.items():
        files = {url for url in visit.fetched if not url.startswith(("data:", "blob:"))}
        total = sum(map(weight, {f"{address}/{path}", *files}))
        if total >= 500_000:
            heavy[path] = total
    assert heavy == {}
