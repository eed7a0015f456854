"""The site in Firefox: pages of each kind, or all with `--full`, are as whole as in Chromium."""

import json
import shutil

import firefox as bidi
import pytest
from axe_playwright_python.base import AXE_SCRIPT
from test_measured import CLIPPED, PASSED_BY

PAGES = ["index.html", "path/index.html", "lessons/vmap/index.html"]

ANSWER = "def bind(op, *args): return current_interpreter().interpret_op(op, args)"


@pytest.fixture(scope="module")
def firefox():
    program = shutil.which("firefox") or shutil.which("firefox-esr")
    if not program:
        pytest.skip("needs the Debian package firefox-esr")
    with bidi.opened(program) as window:
        yield window


@pytest.fixture
def paths(built, request):
    every = sorted(str(page.relative_to(built)) for page in built.rglob("*.html"))
    return every if request.config.getoption("--full") else PAGES


WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
FOREIGN = """performance.getEntriesByType("resource").map((entry) => entry.name)
  .filter((name) => !name.startsWith(location.origin) && !/^(data|blob):/.test(name))"""
MALFORMED = """[...document.querySelectorAll("mfrac, mroot, msub, msup, munder, mover, msubsup")]
  .filter((x) => x.children.length != (x.localName == "msubsup" ? 3 : 2)).map((x) => x.outerHTML)"""
# All of a page is examined, not only what is near, and nothing while it appears.
SHOWN = """void document.head.append(Object.assign(document.createElement("style"), { textContent:
  "* { animation: none !important; content-visibility: visible !important }" }))"""
AXE = """axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
  violations.flatMap((v) => v.nodes.map((node) => [v.id, node.html])))"""


@pytest.mark.slow
def test_pages_are_whole_and_accessible(firefox, address, paths):
    found = {}
    for path in paths:
        for width in (375, 1280):
            firefox.open(f"{address}/{path}", width)
            firefox.evaluate(SHOWN)
            firefox.evaluate(f"({PASSED_BY})()")
            wrong = [*firefox.evaluate(FOREIGN), *firefox.evaluate(MALFORMED)]
            wrong += [f"{over} pixels too wide"] if (over := firefox.evaluate(WIDE)) else []
            wrong += firefox.evaluate(f"({CLIPPED})()") if width == 1280 else []
            firefox.evaluate(f"void eval({json.dumps(AXE_SCRIPT)})")
            wrong += firefox.evaluate(AXE)
            found |= {(path, width): wrong} if wrong else {}
    assert found == {}
    assert firefox.wrong == []


@pytest.mark.slow
def test_a_stepper_goes_to_its_end_by_keyboard(firefox, address):
    firefox.open(f"{address}/lessons/jvp/")
    steps = firefox.evaluate("document.querySelectorAll('.stepper-steps > li').length")
    firefox.evaluate("document.querySelector('.stepper input').focus()")
    firefox.press(*["\ue014"] * steps)  # the right arrow
    last = firefox.evaluate("document.querySelector('.stepper-current').innerText")
    assert last.startswith("The program prints")


@pytest.mark.slow
def test_search_understands_a_slip(firefox, address):
    firefox.open(f"{address}/404.html")
    # A page hears keys a moment after it is loaded.
    while not firefox.evaluate("document.activeElement.matches('.md-search__input')"):
        firefox.press("/")
    firefox.press(*"tangnet")
    firefox.until("document.querySelector('.md-search-result__link[href*=\"lessons/jvp/\"]')")
    assert firefox.wrong == []


@pytest.mark.slow
def test_an_exercise_is_done_on_its_page(firefox, built, address):
    if not (built / "assets" / "runner").exists():
        pytest.skip("needs the Debian package npm, and a network for it")
    firefox.open(f"{address}/lessons/interpreters/")
    firefox.evaluate("document.querySelector('.try-exercise button').click()")
    firefox.until("document.querySelector('.cm-content')")
    firefox.evaluate("document.querySelector('.cm-content').focus()")
    firefox.press_together("\ue009", "a")  # Control-A
    firefox.press(*ANSWER)
    said = "document.querySelector('.try-said').innerText"
    firefox.evaluate("document.querySelector('.try-check').click()")
    firefox.until(f"!/starting|Checking/.test({said})")
    assert firefox.evaluate(said).startswith("Done: Ask the interpreter.")
    assert firefox.wrong == []
