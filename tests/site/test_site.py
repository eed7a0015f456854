"""The site builds strictly, shows every lesson, gives no solution away, and works in a browser."""

import ast
import functools
import gzip
import html
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
import urllib.request
import zipfile
from html.parser import HTMLParser

import pytest
import small_course
from command_lines import EXAMPLES
from PIL import Image

from autograder import cli
from autograder.classroom.handouts import leaks
from autograder.lessons import assemble, manifest, notebook, places
from autograder.lessons.problem import Problem
from autograder.upkeep import site

LESSONS = [lesson for lesson in manifest.load().values() if lesson.has_page]
GRADED = [lesson for lesson in LESSONS if lesson.exercises]
ASSETS = places.ROOT / "site" / "theme" / "assets"


def pages(folder):
    return sorted(folder.rglob("*.html"))


# ------------------------------------------------------------------------------------------
# What is published


FETCHED = {"src", "srcset", "data", "poster"}


class Reader(HTMLParser):
    """Collects a page's text, its anchors, and the addresses that a browser fetches."""

    def __init__(self, source):
        super().__init__()
        self.texts, self.anchors, self.fetched = [], set(), []
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.anchors.add(given.get("id"))
        self.fetched += [given[name] or "" for name in FETCHED & given.keys()]
        if tag in ("link", "use", "image") and given.get("rel") != "canonical":
            self.fetched.append(given.get("href") or "")
        self.fetched += urls(given.get("style") or "")

    def handle_data(self, data):
        self.texts.append(data)


def urls(css):
    found = re.findall(r"""url\(\s*["']?([^"')]*)|@import\s+["']([^"']*)""", css)
    return [a or b for a, b in found]


def is_foreign(address):
    return re.match(r"\s*([a-z]+:)?//", address, re.IGNORECASE) is not None


def page_of(built, lesson):
    return built / "lessons" / lesson.id / "index.html"


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_each_lesson_has_its_page_with_anchors_and_what_it_needs_to_download(built, lesson):
    shown = page_of(built, lesson)
    text, files = shown.read_text("utf-8"), [f"{lesson.id}.zip"]
    assert {exercise.id for exercise in lesson.exercises} <= Reader(text).anchors
    if lesson.exercises:
        files.append(f"{lesson.id}.ipynb")
        book = shown.with_name(files[-1]).read_text("utf-8")
        assert book == notebook.text(lesson, notebook.WORKSPACE)
    assert [x for x in files if f'download="{x}" href="{x}"' not in text] == []
    with zipfile.ZipFile(shown.with_name(files[0])) as packed:
        names = set(packed.namelist())
    needed = ["jaxprentice", "README.md", f"lessons/{lesson.folder.name}/lesson.md"]
    needed += [lesson.module, "checks.py"] if lesson.exercises else []
    assert {f"{lesson.id}/{name}" for name in needed} <= names


def test_each_idea_of_the_seeds_has_its_anchor(built):
    seeds = tomllib.loads((places.COURSE / "seeds.toml").read_text(encoding="utf-8"))
    anchors = {x.id: Reader(page_of(built, x).read_text(encoding="utf-8")).anchors for x in LESSONS}
    ideas = [(idea["lesson"], idea["anchor"]) for idea in seeds["idea"]]
    assert [f"{i}#{anchor}" for i, anchor in ideas if anchor not in anchors[i]] == []


def test_what_a_reader_is_to_guess_is_folded_with_its_answer(built):
    fold = r'<details class="question">\s*<summary>Guess first, then look</summary>(.*?)</details>'
    asked, folds = {}, {}
    for lesson in LESSONS:
        asked[lesson.id] = (lesson.folder / "lesson.md").read_text().count('result="guess"')
        folds[lesson.id] = re.findall(fold, page_of(built, lesson).read_text("utf-8"), re.DOTALL)
    assert {name: len(found) for name, found in folds.items()} == asked
    for found in (text for texts in folds.values() for text in texts):
        assert re.search(r'class="language-text highlight">.*</div>\s*<p>', found, re.DOTALL)


def test_every_page_of_the_menu_lists_every_lesson(built):
    for path in pages(built):
        shown = html.unescape(path.read_text(encoding="utf-8"))
        assert [lesson.title for lesson in LESSONS if lesson.title not in shown] == []


def test_only_pages_and_what_they_show_is_published(built):
    kinds = {p.suffix for p in built.rglob("*") if p.is_file() and "assets" not in p.parts}
    assert kinds <= {".html", ".ipynb", ".zip", ".svg", ".png", ".json", ".xml", ".gz"}


def test_each_page_has_its_address_description_and_a_picture_of_its_own_for_links_to_it(built):
    found = {path: described(path) for path in pages(built) if path.name != "404.html"}
    addresses = {links["canonical"] for links, _ in found.values()}
    named = re.findall("<loc>(.*)</loc>", (built / "sitemap.xml").read_text())
    folder = min(named, key=len)
    assert folder.endswith(f"/{built.name}/")
    paths = (path.parent.relative_to(built).as_posix() for path in found)
    assert addresses == {f"{folder}{'' if path == '.' else path + '/'}" for path in paths}
    assert set(named) == addresses
    descriptions = {metas["description"] for _, metas in found.values()}
    assert len(descriptions) == len(found)
    assert [x for x in descriptions if not 40 < len(x) <= 160] == []
    for _, metas in found.values():
        assert metas["og:description"] == metas["description"]
        assert metas["og:image"].startswith(folder)
    names = [metas["og:image"].removeprefix(folder) for _, metas in found.values()]
    pictures = [(built / name).read_bytes() for name in names]
    titles = {metas["og:title"] for _, metas in found.values()}
    assert len(set(pictures)) == len(titles)
    assert [title for title in titles if not title.isascii()] == []  # what the font has
    assert [name for name, x in zip(names, pictures, strict=True) if len(x) > 60_000] == []
    assert {Image.open(built / name).size for name in names} == {(1200, 630)}


def described(path):
    """The page's links by their relation, and what its head says about it."""
    text = path.read_text(encoding="utf-8")
    links = dict(re.findall('<link rel="([^"]*)" href="([^"]*)"', text))
    metas = re.findall('<meta (?:name|property)="([^"]*)" content="([^"]*)"', text)
    return links, {name: html.unescape(value) for name, value in metas}


def test_the_search_index_is_small_and_has_the_words_of_every_page(built):
    text = (built / "search" / "search_index.json").read_bytes()
    assert len(gzip.compress(text)) < 100_000
    sections = json.loads(text)["docs"]
    words = ["tangent", "stop_gradient", "toposort"]
    assert [w for w in words if not any(w in str(section).lower() for section in sections)] == []


def test_no_page_or_style_sheet_fetches_from_another_host(built):
    fetched = {p: Reader(p.read_text(encoding="utf-8")).fetched for p in built.rglob("*.html")}
    fetched |= {p: urls(p.read_text(encoding="utf-8")) for p in built.rglob("*.css")}
    assert [
        (p, address) for p, all_ in fetched.items() for address in all_ if is_foreign(address)
    ] == []
    assert any("course.css" in address for all_ in fetched.values() for address in all_)


# ------------------------------------------------------------------------------------------
# No solution is published


def normal(text):
    return " ".join(text.split())


@functools.cache
def what_students_get():
    """The skeletons and the given code of all lessons."""
    files = [file for lesson in manifest.load().values() for file in lesson.files]
    return "\n".join(map(assemble.read_handout, files))


def distinctive_lines(lesson):
    """The long lines of the solutions that stand neither in what students get nor in a hint.

    Hints of the lessons before it are no secret either. Toolboxes count as hints.
    """
    before = [e for other in assemble.prefix(lesson) for e in other.exercises]
    hints = [hint for exercise in before for hint in (*exercise.hints, *exercise.toolbox)]
    known = leaks.Text("\n".join([what_students_get(), *hints]))
    lines = {x for x in leaks._solutions(lesson) if isinstance(x, leaks.Sentence)}
    return [line for line in lines if not line.is_in(known)]


def published_text(folder):
    for path in folder.rglob("*"):
        if path.suffix in (".html", ".ipynb", ".json"):
            text = leaks._read(path)
            if path.suffix == ".html":
                text = "".join(Reader(text).texts)
            elif path.suffix == ".json":
                text = html.unescape(re.sub("<[^>]*>", "", text))
            yield path, leaks.Text(text)


@pytest.fixture(scope="module")
def texts(built):
    return dict(published_text(built))


def leaking(texts, secret):
    return [(path, line) for path, text in texts.items() for line in secret if line.is_in(text)]


@pytest.mark.parametrize("lesson", GRADED, ids=lambda lesson: lesson.id)
def test_no_line_of_a_solution_is_published(built, texts, lesson):
    secret = distinctive_lines(lesson)
    assert len(secret) >= len(lesson.exercises) / 2
    assert leaking({"a leak": leaks.Text(assemble.read_solution(lesson.module))}, secret)
    assert {built / "index.html", built / "search" / "search_index.json"} <= texts.keys()
    assert leaking(texts, secret) == []


# ------------------------------------------------------------------------------------------
# A broken page breaks the build

FENCE = '\n```python exec="on" source="above" result="text"{options}\n{code}\n```\n'


@pytest.fixture
def small(monkeypatch, tmp_path):
    """A copy of the site around a small course; the page that a test may spoil."""
    for name in (
        *("mkdocs.yml", "site", "autograder", "course/instructor", "course/glossary.md"),
        *("jaxprentice", "LICENSE", "requirements"),  # handouts have them
    ):
        copy = shutil.copytree if (places.ROOT / name).is_dir() else shutil.copy
        (tmp_path / name).parent.mkdir(exist_ok=True)
        copy(places.ROOT / name, tmp_path / name)
    # These pages name the lessons of the real course.
    for name in (
        "index.md", "path.md", "gallery.md", "refusals.md", "from-autodidax.md",
        "instructor/teaching.md",
    ):  # fmt: skip
        (tmp_path / "course" / name).write_text("# A page\n\n## The lessons\n")
    small_course.write(monkeypatch, tmp_path)
    for manifest_file in tmp_path.glob("course/lessons/*/lesson.toml"):
        manifest_file.with_name("checks.py").touch()
    return tmp_path / "course" / "lessons" / "01_hello" / "lesson.md"


def add(path, text):
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


BROKEN = {
    "an example raises": (FENCE.format(options="", code="1 / 0"), "ZeroDivisionError: division"),
    "a dead link": ("\n[there](../nowhere.md)\n", "nowhere.md"),
    "a dead anchor": ("\n[there](../../glossary.md#no-such-word)\n", "#no-such-word"),
    "an unknown formula": ("\nSee $\\notexisting$.\n", "\\notexisting"),
    "a recording without a program": ('\n{{ trace "missing" }}\n', "no traces/missing.py"),
    "a program that fails": ('\n{{ trace "broken" }}\n', "The recording broken fails"),
    "jaxprs without a program": ('\n{{ jaxpr "missing" }}\n', "no jaxprs/missing.py"),
    "a program of jaxprs that fails": ('\n{{ jaxpr "broken" }}\n', "jaxprs/broken.py fails"),
    "an unknown directive": ("\n{{ exercize hello.greet }}\n", "exercize"),
    "a later lesson": (
        FENCE.format(options="", code="import toy.bye"),
        "No module named 'toy.bye'",
    ),
}


@pytest.mark.sampled  # each of them is a build
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_page_fails_the_build_with_the_reason(small, name):
    text, reason = BROKEN[name]
    add(small, text)
    for folder in ("traces", "jaxprs"):
        (small.parent / folder).mkdir()
        (small.parent / folder / "broken.py").write_text('"""It fails."""\nimport minijax\n')
    with pytest.raises(Problem, match=re.escape(reason)) as caught:
        site.build()
    assert "lessons/01_hello/lesson.md" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_examples_show_what_they_print_and_pages_are_apart_and_tell_how_to_obtain_the_course(
    small, monkeypatch
):
    (small.parents[2] / "index.md").write_text("# A page\n\n{{ obtain }}\n\n## The lessons\n")
    for options, code in (
        (' raises="TypeError"', "print('before')\nlen(3)"),
        (' session="hello" raises="TypeError"', "given(None)"),  # imported by the page's first one
        ("", "silent = 1"),
        (' session="s"', "import toy.hello\ntoy.hello.spoilt = own = 1"),
    ):
        add(small, FENCE.format(options=options, code=code))
    other = small.parent.parent / "03_bye" / "lesson.md"
    code = "import toy.hello\nprint(hasattr(toy.hello, 'spoilt'))"
    add(other, FENCE.format(options="", code=code))
    assert cli.main(shlex.split(EXAMPLES["site build"])) == 0
    built = places.ROOT / "build/site"
    page = (built / "lessons/hello/index.html").read_text()
    shown = normal("".join(Reader(page).texts))
    assert "len(3) before TypeError: object of type 'int' has no len()" in shown
    assert "given(None) TypeError: unsupported operand" in shown
    assert page.count("language-text") == 3  # what prints nothing has no box for it
    assert "False" in "".join(Reader((built / "lessons/bye/index.html").read_text()).texts)
    assert "git clone" not in (built / "index.html").read_text()
    address = "https://example.org/school/jax-course"
    monkeypatch.setenv("REPO_URL", address)
    shown = (site.build() / "index.html").read_text()
    assert f"git clone {address} cd jax-course" in normal("".join(Reader(shown).texts))
    assert f"{address}/edit/main/course/index.md" in shown
    add(other, FENCE.format(options=' session="s"', code="print(own)"))
    with pytest.raises(Problem, match="NameError: name 'own' is not defined"):
        site.build()


# ------------------------------------------------------------------------------------------
# In a browser

TRACED = [x.id for x in LESSONS if "\n{{ trace " in (x.folder / "lesson.md").read_text()]


# Keys within the page, to the end: where they lead, and which of the steps can be seen there. A
# real key for each step takes ten times as long.
WALK = """(viewer) => {
  const place = viewer.querySelector(".stepper-controls > span"), found = [];
  const key = () => new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true });
  for (let i = 1; i < viewer.steps.length; i += 1) {
    const seen = viewer.steps.filter((step) => step.checkVisibility()).map((step) => step.value);
    found.push([place.checkVisibility() && place.textContent, ...seen]);
    document.activeElement.dispatchEvent(key());
  }
  return found;
}"""


UNFOLD = "document.querySelectorAll('details:has(step-viewer)').forEach((x) => x.open = true)"


SOME = TRACED[::4]  # all of them with --full


@pytest.mark.parametrize(
    "page",
    [
        "index.html",
        *(
            pytest.param(f"lessons/{x}/index.html", marks=[pytest.mark.full] * (x not in SOME))
            for x in TRACED
        ),
    ],
)
def test_recorded_programs_go_to_their_end_by_keyboard(tabs, page):
    tab, _ = tabs[page]
    tab.evaluate(UNFOLD)
    viewers = tab.locator("step-viewer:has(.stepper-line)")
    assert viewers.count() == tab.locator(".stepper").count() > 0
    for viewer in viewers.all():
        viewer.get_by_role("button", name="Next").click(trial=True)  # nothing covers it
        viewer.get_by_role("button", name="Next").focus()
        steps = viewer.locator("ol > li").count()
        assert steps > 5
        tab.keyboard.press("ArrowRight")
        wanted = [(f"Step {n} of {steps}", n) for n in range(2, steps + 1)]
        assert [*map(tuple, viewer.evaluate(WALK))] == wanted
        tab.keyboard.press("ArrowRight")  # at the end it stays
        last = viewer.locator("li.stepper-current")
        assert last.inner_text().startswith("The program prints")
        assert "print(" in viewer.locator(".stepper-at").inner_text()


# The heights of all steps, in all cases of a program that changes, and what is beside the stage.
FITS = """(viewer) => {
  const data = JSON.parse(viewer.querySelector("script").textContent);
  const found = { high: 0, over: [] };
  const top = viewer.querySelector(".stepper-choices") ?? viewer.querySelector(".stepper-code");
  for (const one of data.cases ?? [null]) {
    if (one) viewer.choose(one);
    viewer.steps.forEach((step, i) => {
      viewer.show(i);
      const { width, height, places } = viewer.stage;
      const high = step.getBoundingClientRect().bottom - top.getBoundingClientRect().top;
      found.high = Math.max(found.high, high);
      for (const [name, { x, y, w, h }] of places) {
        const inside = x >= -1 && y >= -1 && x + w <= width + 1 && y + h <= height + 1;
        if (!inside) found.over.push([i + 1, name]);
      }
    });
  }
  return found;
}"""


@pytest.mark.slow
def test_line_floors_and_sentence_fit_on_a_screen_at_every_step(browser, address, request):
    """On some pages; with `--full` on each."""
    context = browser.new_context(reduced_motion="reduce", has_touch=True)
    tab = context.new_page()
    for lesson in TRACED if request.config.getoption("--full") else SOME:
        tab.goto(f"{address}/lessons/{lesson}/index.html")
        tab.evaluate(UNFOLD)
        for width, height in ((390, 844), (1366, 768)):
            tab.set_viewport_size({"width": width, "height": height})
            for viewer in tab.locator("step-viewer:has(script)").all():
                viewer.scroll_into_view_if_needed()
                viewer.locator(".stage").wait_for()
                found = viewer.evaluate(FITS)
                assert found["over"] == [], lesson
                assert 200 < found["high"] <= height, lesson
    context.close()


def test_a_reader_changes_a_program_by_keyboard_and_the_last_step_stays_the_last(tabs):
    tab, _ = tabs["lessons/tracing/index.html"]
    viewer = tab.locator('step-viewer:has([data-label^="A loop is unrolled"])')
    viewer.scroll_into_view_if_needed()
    box, rounds = viewer.get_by_role("checkbox"), viewer.get_by_role("slider", name="rounds")
    viewer.get_by_role("slider", name="Step").focus()
    tab.keyboard.press("End")
    current = viewer.locator("li.stepper-current")
    for keys, prints in (("Space", 2), ("Space", 4)):
        box.focus()
        tab.keyboard.press(keys)
        assert f"{prints} equations" in current.inner_text()
    rounds.focus()
    tab.keyboard.press("ArrowRight")
    assert rounds.get_attribute("aria-valuetext") == "3"
    assert "6 equations" in current.inner_text()
    assert "rounds = 3\n" in viewer.locator(".stepper-code").inner_text()


def test_the_line_of_a_rule_is_marked_beside_the_program(tabs):
    tab, _ = tabs["lessons/jvp/index.html"]
    viewer = tab.locator("step-viewer").last
    viewer.scroll_into_view_if_needed()
    viewer.locator(".stage").wait_for()
    viewer.locator("li[data-in]").first.evaluate("x => x.closest('step-viewer').show(x.value - 1)")
    assert viewer.locator(".stepper-pane .stepper-at").inner_text().strip() != ""
    assert viewer.locator(".stepper-code .stepper-at").count() == 2


SEARCHES = {
    "tangnet": "lessons/jvp/?h=tangent",
    "how do I install": "?h=install#how-to-start",
    "perturbation": "glossary/?h=perturbation#perturbation-confusion",
    "grad": "api/?h=grad#minijax.grad",
    "jnp.where": "api/numpy/?h=jnp.where#minijax.numpy.where",
    "jax.numpy.einsum": "api/numpy/?h=jnp.einsum#minijax.numpy.einsum",
    "tree_map": "api/tree_util/?h=tree_map#minijax.tree_util.tree_map",
    "Array.sum": "api/?h=array.sum#minijax.Array.sum",
    "x.sum": "api/numpy/?h=sum#minijax.numpy.sum",
    "jnp.pi": "api/numpy/?h=jnp.pi#minijax.numpy.pi",
    "jvp.mul_rule": "lessons/jvp/?h=jvp.mul_rule#jvp.mul_rule",
}


@pytest.mark.parametrize("words", SEARCHES)
def test_search_understands_slips_and_sentences(tabs, address, words):
    tab, _ = tabs["404.html"]
    took = searched(tab, words, f"{address}/{SEARCHES[words]}")
    assert took < 5  # 0.1 alone on the machine, 1 on a busy one


def searched(tab, words, address):
    """The seconds until a search leads there."""
    tab.set_viewport_size({"width": 1280, "height": 900})
    tab.locator("input.md-search__input").fill("")
    tab.keyboard.press("Escape")
    tab.keyboard.press("/")
    tab.keyboard.type(words[:-1])
    tab.wait_for_timeout(400)  # the index is being read
    start = time.monotonic()
    tab.keyboard.type(words[-1])
    tab.locator(f'.md-search-result__link[href="{address}"]').wait_for(state="attached")
    return time.monotonic() - start


def test_the_search_index_is_loaded_when_the_search_opens(tabs):
    (tab, _), asked = tabs.blank(), []
    tab.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    tabs.go(tab, "glossary/index.html")
    tab.wait_for_load_state("networkidle")
    assert "search_index.json" not in asked
    with tab.expect_response("**/search_index.json"):
        tab.keyboard.press("/")
    tab.close()


def test_a_bare_name_is_the_function_before_the_method(tabs, address):
    tab, _ = tabs["404.html"]
    searched(tab, "sum", f"{address}/api/numpy/?h=sum#minijax.numpy.sum")
    found = tab.locator('.md-search-result__link[href*="#minijax."]')
    assert found.first.get_attribute("href").endswith("#minijax.numpy.sum")


def test_the_page_for_wrong_addresses_leads_on(tabs, built):
    tab, wrong = tabs["404.html"]
    links = tab.locator(".md-content a").evaluate_all("links => links.map((a) => a.pathname)")
    assert len(links) == 3
    assert [x for x in links if not (built.parent / x.removeprefix("/")).is_file()] == []
    assert wrong == []


def test_long_names_and_flags_break_where_a_reader_would(built):
    table = (built / "from-autodidax" / "index.html").read_text(encoding="utf-8")
    assert "<code>microjax/<wbr>interpreters.py</code>" in table
    hub = (built / "instructor" / "hub" / "index.html").read_text(encoding="utf-8")
    assert '<span class="course-unbroken">--lessons</span>' in hub


# Where the last line of each heading ends and where its box to tick begins.
LAST_LINES = """() => [...document.querySelectorAll('.exercise-done')].map((box) => {
  const text = document.createRange();
  text.selectNodeContents(box.previousElementSibling.firstChild);
  return [[...text.getClientRects()].at(-1).right, box.getBoundingClientRect().left];
})"""


def test_the_box_to_tick_is_beside_the_heading_on_a_phone(tabs):
    tab, _ = tabs["lessons/grad/index.html"]
    tab.set_viewport_size({"width": 375, "height": 800})
    lines = tab.evaluate(LAST_LINES)
    (lesson,) = (x for x in LESSONS if x.id == "grad")
    assert len(lines) == len(lesson.exercises) == 7
    assert [(end, box) for end, box in lines if end > box] == []


@pytest.mark.slow
def test_formulas_fit_a_phone(tabs):
    wide = "boxes => boxes.map((box) => box.scrollWidth - box.clientWidth)"
    for lesson in ("grad", "control", "custom"):
        tab, _ = tabs[f"lessons/{lesson}/index.html"]
        tab.set_viewport_size({"width": 375, "height": 800})
        assert set(tab.locator(".course-math").evaluate_all(wide)) == {0}


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_print_is_dark_on_white_in_both_schemes(browser, address, scheme):
    with browser.new_context(color_scheme=scheme) as context:
        page = context.new_page()
        page.goto(f"{address}/lessons/jvp/")
        page.add_style_tag(content="* { transition: none !important }")
        page.emulate_media(media="print", color_scheme=scheme)
        colors = "s => getComputedStyle(document.querySelector(s)).color"
        text = [page.evaluate(colors, x) for x in ("body", "h1", ".md-typeset pre code")]
    assert all(sum(map(int, re.findall(r"\d+", x)[:3])) < 200 for x in text), text


@pytest.mark.slow
def test_the_menu_of_a_phone_is_opened_by_keyboard_and_has_no_tab_stops_when_closed(
    browser, address
):
    with browser.new_context(viewport={"width": 375, "height": 800}) as context:
        page = context.new_page()
        page.goto(f"{address}/lessons/duals/", wait_until="load")
        page.locator('[for="__drawer"] > [data-opens]').focus()
        inside = "() => document.activeElement.closest('.md-sidebar--primary') !== null"
        drawer = page.locator("#__drawer")
        page.keyboard.press("Enter")
        assert drawer.is_checked()
        page.keyboard.press("Escape")
        assert not drawer.is_checked()
        page.locator(".md-sidebar--primary").wait_for(state="hidden")
        walked = []
        for _ in range(12):
            page.keyboard.press("Tab")
            walked.append(page.evaluate(inside))
        assert not any(walked)


def test_copying_a_session_of_the_prompt_copies_the_code(tabs):
    tab, _ = tabs["lessons/grad/index.html"]
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    block = tab.locator(".language-pycon").filter(has_text="Var(").first
    block.scroll_into_view_if_needed()
    block.get_by_role("button", name="Copy to clipboard").click()  # is there once it is in view
    assert ">>> " in block.inner_text()
    copied = tab.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("a, b, c = (Var(ShapedArray(")
    assert ">>>" not in copied
    ast.parse(copied)


def test_formulas_have_a_font_that_lowers_subscripts(tabs):
    tab, _ = tabs["lessons/grad/index.html"]
    lower = """async () => {
      await document.fonts.ready;
      const [base, sub] = document.querySelector("math msub").children;
      return sub.getBoundingClientRect().bottom - base.getBoundingClientRect().bottom;
    }"""
    assert tab.evaluate(lower) > 2
    assert tab.evaluate("document.fonts.check('16px \"STIX Two Math\"')")


@pytest.mark.slow
def test_pages_from_a_folder_link_to_files_and_search_without_a_server(small, browser):
    built = site.build(offline=True)
    assert built.name == "offline"
    tab = browser.new_page()
    failed = []
    tab.on("requestfailed", lambda request: failed.append(request.url))
    tab.on("request", lambda r: r.url.startswith("http") and failed.append(r.url))
    tab.goto((built / "index.html").as_uri())
    tab.get_by_role("link", name="Greeting people").first.click()
    assert tab.url == (built / "lessons" / "hello" / "index.html").as_uri()
    searched(tab, "glosary", f"{(built / 'glossary' / 'index.html').as_uri()}?h=glossary")
    assert failed == []
    tab.close()


@pytest.mark.full
def test_the_text_on_the_first_page_is_what_the_capstone_prints():
    page = (places.COURSE / "index.md").read_text(encoding="utf-8")
    quoted = re.findall("^> (.*)$", page, re.MULTILINE)
    command = [sys.executable, "capstones/characters.py", "--backend", "minijax"]
    path = {**os.environ, "PYTHONPATH": str(places.SOLUTIONS)}
    run = subprocess.run(
        command, cwd=places.COURSE, env=path, capture_output=True, text=True, check=True
    )
    assert "\n".join(quoted) in run.stdout


STEPPER = """
<section class="stepper" data-label="A stack">
<div class="highlight"><pre><code><span class="stepper-line">x
</span><span class="stepper-line">y</span></code></pre></div><ol>
<li data-level="1" data-at="2" data-rule="0">one</li>
<li data-level="0">two<pre tabindex="0">code</pre></li>
<li data-level="1" data-rule="0">three</li></ol>
<div class="stepper-rules"><details data-rule="0"><summary>The code</summary>rule</details></div>
<script type="application/json">[{"floors": [], "columns": []}, {}, {}]</script>
</section>
"""


@pytest.fixture
def stepper(blank, style):
    tab = blank
    tab.emulate_media(media="screen", reduced_motion="no-preference")
    tab.goto("about:blank")  # scripts begin anew
    tab.set_content(STEPPER)
    tab.add_style_tag(content=style)
    tab.evaluate("document.body.className = 'md-typeset'")
    for name in ("stage.js", "stepper.js"):
        tab.add_script_tag(path=ASSETS / name)
    tab.locator(".stage").wait_for(state="attached")
    return tab


def seen(tab):
    return [i for i, step in enumerate(tab.locator("ol > li").all(), 1) if step.is_visible()]


def test_the_stepper_goes_by_buttons_keys_and_slider_and_stops_at_the_ends(stepper):
    assert seen(stepper) == [1]
    stepper.get_by_role("button", name="Next").click()
    assert seen(stepper) == [2]
    assert stepper.get_by_text("Step 2 of 3").is_visible()
    for key, expected in [("ArrowRight", 3), ("ArrowRight", 3), ("Home", 1), ("ArrowLeft", 1)]:
        stepper.keyboard.press(key)
        assert seen(stepper) == [expected]
    assert stepper.get_by_role("button", name="Previous").get_attribute("aria-disabled") == "true"
    assert stepper.locator("ol").get_attribute("aria-live") == "polite"
    slider = stepper.get_by_role("slider", name="Step")
    slider.focus()
    stepper.keyboard.press("ArrowRight")
    assert seen(stepper) == [2]  # once, although both listen to the keys
    stepper.locator("pre[tabindex]").focus()
    stepper.keyboard.press("ArrowRight")
    assert seen(stepper) == [2]  # a code block keeps the key
    slider.focus()
    stepper.keyboard.press("End")
    assert seen(stepper) == [3]
    assert slider.get_attribute("aria-valuetext") == "Step 3 of 3"


def test_the_stepper_has_no_empty_field_at_first_and_does_not_shrink_later(stepper):
    numbers = [step.evaluate("x => x.value") for step in stepper.locator("ol > li").all()]
    assert numbers == [1, 2, 3]
    heights = []
    for n in numbers:
        stepper.get_by_role("slider", name="Step").fill(str(n))
        heights.append(stepper.locator("ol").bounding_box()["height"])
    assert heights[0] < heights[1] == heights[2]


def test_only_one_level_can_be_followed(stepper):
    only = stepper.get_by_role("button", name="Only level 1")
    only.click()
    stepper.get_by_role("button", name="Next").click()
    assert seen(stepper) == [3]
    assert only.get_attribute("aria-pressed") == "true"
    only.click()
    stepper.get_by_role("button", name="Previous").click()
    assert seen(stepper) == [2]


def test_a_swipe_is_a_step_and_a_scroll_is_not(stepper):
    swipe = """([x, y]) => { const list = document.querySelector("ol");
      const send = (type, x, y) => {
        const touch = new Touch({ identifier: 1, target: list, clientX: 200 + x, clientY: y });
        const lists = { changedTouches: [touch], touches: type === "touchend" ? [] : [touch] };
        list.dispatchEvent(new TouchEvent(type, { bubbles: true, ...lists }));
      };
      send("touchstart", 0, 0); send("touchend", x, y); }"""
    for way, expected in [((-90, 5), 2), ((-30, 0), 2), ((-50, 80), 2), ((90, 0), 1)]:
        stepper.evaluate(swipe, way)
        assert seen(stepper) == [expected]


def test_the_code_of_a_step_s_rule_and_the_line_are_shown(stepper):
    code = stepper.get_by_text("The code")
    assert code.is_visible()
    assert stepper.locator(".stepper-at").inner_text() == "y"
    stepper.keyboard.press("Tab")
    stepper.get_by_role("button", name="Next").click()
    assert not code.is_visible()
    assert stepper.locator(".stepper-at").count() == 0


def test_all_steps_are_a_text_on_the_page_and_on_paper_and_move_only_if_the_reader_wants(stepper):
    moves = "() => getComputedStyle(document.querySelector('li.stepper-current')).animationName"
    for wanted, name in (("no-preference", "stepper-appears"), ("reduce", "none")):
        stepper.emulate_media(reduced_motion=wanted)
        assert stepper.evaluate(moves) == name
    everything = stepper.get_by_role("button", name="All steps")
    everything.click()
    assert seen(stepper) == [1, 2, 3]
    everything.click()
    assert seen(stepper) == [1]
    stepper.emulate_media(media="print")
    assert seen(stepper) == [1, 2, 3]
    assert not everything.is_visible()


def test_without_javascript_every_step_is_shown(browser, style):
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.set_content(f"<style>{style}</style><body class=md-typeset>{STEPPER}")
    assert seen(tab) == [1, 2, 3]
    context.close()


# ------------------------------------------------------------------------------------------
# Serving


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="stops the server by a signal")
def test_serve_shows_changed_pages_and_ends_quietly(small):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    assert EXAMPLES["site"] == EXAMPLES["site serve"]
    code = (
        "import sys\nfrom autograder import cli\nfrom autograder.upkeep import site\n"
        f"site.serve.__defaults__ = ({address!r},)\n"
        "sys.exit(cli.main(sys.argv[1:]))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, *shlex.split(EXAMPLES["site serve"])],
        cwd=places.ROOT,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as server:
        try:
            wait_for(f"http://{address}/lessons/hello/", "Greeting people")
            add(small, "\nA new sentence.\n")
            wait_for(f"http://{address}/lessons/hello/", "A new sentence.")
        finally:
            os.killpg(server.pid, signal.SIGINT)
        try:
            said = server.communicate(timeout=20)[1].decode()
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)
            raise
    assert "Traceback" not in said
    assert server.returncode == 0


def wait_for(address: str, text: str, seconds: float = 20):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            with urllib.request.urlopen(address, timeout=5) as reply:
                if text in reply.read().decode():
                    return
        except OSError:
            pass
        time.sleep(0.2)
    pytest.fail(f"{address} does not show {text!r}")
