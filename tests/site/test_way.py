"""Finding one's way on the site: what is done is ticked, counted, kept and taken along."""

import json
import re

import pytest
from accessibility import problems

from autograder.classroom.handouts import release
from autograder.lessons import manifest
from autograder.student import commands, progress

CORE = manifest.get("core").exercises
COUNT = sum(len(lesson.exercises) for lesson in manifest.load().values())


@pytest.fixture
def visit(browser, address):
    """Opens a page; all that a test opens share what the browser remembers."""
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:

        def opened(path):
            tab = context.new_page()
            tab.goto(f"{address}/{path}")
            return tab

        yield opened


def kept(tab):
    return json.loads(tab.evaluate("localStorage.getItem('jaxprentice.progress')"))


@pytest.mark.slow
def test_exercises_are_ticked_by_keyboard_and_counted_where_one_looks_for_them(visit):
    tab = visit("lessons/core/")
    boxes = tab.get_by_role("checkbox", name="Done: Exercise: ")
    assert boxes.count() == len(CORE)
    for box in boxes.all()[:2]:
        box.focus()
        tab.keyboard.press("Space")
    assert kept(tab) == {exercise.id: True for exercise in CORE[:2]}
    assert tab.get_by_text(f"2 of {len(CORE)} exercises done").get_attribute("role") == "status"
    assert tab.get_by_role("progressbar", name="Exercises done").evaluate("e => e.value") == 2
    menu = tab.locator(".md-nav--primary .md-nav__link", has_text="4. Core").last
    assert menu.inner_text().endswith(f"2 of {len(CORE)}")
    boxes.first.uncheck()
    assert kept(tab) == {CORE[1].id: True}
    assert problems(tab, ".exercise-done", ".lesson-done", ".md-nav--primary") == []


def test_what_else_finds_an_exercise_done_can_say_so(visit):
    tab = visit("lessons/core/")
    tab.evaluate(
        "heard = []; document.addEventListener('jaxprentice-progress', e => heard.push(e.detail))"
    )
    tab.evaluate("id => jaxprentice.progress.mark(id, true)", CORE[0].id)
    assert tab.evaluate("heard") == [tab.evaluate("jaxprentice.progress.get()")] == [kept(tab)]
    assert kept(tab) == {CORE[0].id: True}
    assert tab.get_by_role("checkbox").first.is_checked()
    tab.evaluate("id => jaxprentice.progress.mark(id, false)", CORE[0].id)
    assert kept(tab) == {}
    assert not tab.get_by_role("checkbox").first.is_checked()


def test_what_is_no_progress_counts_as_none(visit):
    tab = visit("404.html")
    for spoilt in ("[1", "null", "7", '{"core.full_raise": "yes"}'):
        tab.evaluate("text => localStorage.setItem('jaxprentice.progress', text)", spoilt)
        assert tab.evaluate("jaxprentice.progress.get()") == {}, spoilt


def test_the_map_and_the_table_show_what_is_done(visit):
    tab = visit("path/")
    assert tab.locator("[data-lesson=core] .map-count").text_content() == f"{len(CORE)} exercises"
    done = [*(exercise.id for exercise in CORE), manifest.get("jvp").exercises[0].id]
    tab.evaluate("ids => ids.forEach(id => jaxprentice.progress.mark(id, true))", done)
    full, begun = f"✓ {len(CORE)} of {len(CORE)}", f"1 of {len(manifest.get('jvp').exercises)}"
    assert tab.get_by_role("link", name=f"4. core {full}").count() == 1
    assert tab.locator(".map-done").count() == 1
    assert tab.get_by_role("link", name=f"6. jvp {begun}").count() == 1
    assert problems(tab, ".course-map", "#progress-file") == []
    assert visit("").locator("td > .done-count:not(:empty)").all_inner_texts() == [full, begun]


def test_progress_comes_from_a_file_and_goes_to_one(visit, tmp_path):
    tab = visit("path/")
    exported = {CORE[0].id: True, "gone.away": True, CORE[1].id: False}
    (tmp_path / "progress.json").write_text(json.dumps(exported))
    tab.evaluate("jaxprentice.progress.mark('jvp.flat', true)")
    tab.set_input_files("#progress-file input", tmp_path / "progress.json")
    said = tab.locator("#progress-file").get_by_role("status")
    said.get_by_text(f"The file ticks 1. 2 of {COUNT} exercises are ticked.").wait_for(timeout=5000)
    assert kept(tab) == {"jvp.flat": True, CORE[0].id: True}
    with tab.expect_download() as saved:
        tab.get_by_role("button", name="Save to a file").click()
    assert json.loads(saved.value.path().read_text()) == kept(tab)
    (tmp_path / "letter.txt").write_text("Dear browser")
    tab.set_input_files("#progress-file input", tmp_path / "letter.txt")
    said.get_by_text("This file holds no progress. Nothing has changed.").wait_for(timeout=5000)
    assert len(kept(tab)) == 2


@pytest.mark.slow
def test_progress_can_be_pasted_as_a_text(visit, tmp_path, monkeypatch):
    done = {"core": [CORE[0].id]}
    monkeypatch.setattr(commands, "done_of", lambda place, lesson: done.get(lesson.id, []))
    progress.export(None, exported := tmp_path / "progress.json")
    tab = visit("path/")
    tab.add_style_tag(content="* { transition: none !important }")  # for axe, which sees colors
    panel = tab.locator("#progress-file")
    tab.evaluate("jaxprentice.progress.mark('jvp.flat', true)")
    assert not panel.get_by_role("textbox").is_visible()
    panel.get_by_role("button", name="Paste a text", expanded=False).press("Enter")
    field = panel.get_by_role("textbox", name="The text of a file of progress")
    assert field.evaluate("e => e === document.activeElement")
    said = panel.get_by_role("status")
    for text, answer in [
        ("Dear browser", "This text holds no progress. Nothing has changed."),
        (f"Here it is:\n{exported.read_text()}", "The text ticks 1. 2 of"),
        (f"{{“{CORE[1].id}”: true}}", "The text ticks 1. 3 of"),
    ]:
        field.fill(text)
        panel.get_by_role("button", name="Load the text").press("Enter")
        said.get_by_text(answer).wait_for(timeout=5000)
    assert kept(tab) == {"jvp.flat": True, CORE[0].id: True, CORE[1].id: True}
    for scheme in ("light", "dark"):  # the button has the focus
        tab.emulate_media(color_scheme=scheme)
        assert problems(tab, "#progress-file") == []


def test_on_a_phone_the_map_scrolls_and_one_sees_that_it_does(visit):
    tab = visit("path/")
    tab.set_viewport_size({"width": 375, "height": 800})
    area = tab.locator(".course-map")
    wide, shown = area.evaluate("e => [e.scrollWidth, e.clientWidth]")
    assert shown <= 375 < wide
    hint = area.evaluate("e => getComputedStyle(e, '::before').content")
    assert "move it sideways" in hint
    area.focus()
    tab.keyboard.press("ArrowRight")
    tab.wait_for_function("document.querySelector('.course-map').scrollLeft > 0", timeout=5000)


@pytest.fixture
def on_phone(browser, address):
    """The jvp lesson on a phone, one of its words, and what appears beside it."""
    with browser.new_context(has_touch=True, viewport={"width": 375, "height": 800}) as context:
        tab = context.new_page()
        tab.goto(f"{address}/lessons/jvp/")
        word = tab.locator(".term", has_text="Jacobian-vector product").first
        word.scroll_into_view_if_needed()
        yield tab, word, tab.get_by_role("tooltip")


@pytest.mark.slow
def test_a_word_of_the_glossary_says_what_it_means_to_the_pointer(on_phone):
    tab, word, tip = on_phone
    assert tip.count() == 0
    word.hover()
    assert "the change of the output when the input changes" in tip.inner_text()
    assert tip.locator("math").count() == 2
    tip.hover()
    tab.wait_for_timeout(500)  # it stays while the pointer is on it
    assert word.get_attribute("aria-describedby") == tip.get_attribute("id")
    sides = tip.evaluate("e => (({left, right}) => [left, right])(e.getBoundingClientRect())")
    assert 0 <= sides[0] < sides[1] <= 375
    assert problems(tab, ".term-tip") == []
    tab.keyboard.press("Escape")
    assert tip.count() == 0


def test_a_word_of_the_glossary_says_what_it_means_to_keyboard_and_finger(on_phone):
    tab, word, tip = on_phone
    word.focus()
    assert tip.is_visible()
    tab.evaluate("document.activeElement.blur()")
    tab.keyboard.press("Escape")
    before = tab.url
    word.tap()
    assert tip.is_visible()
    assert tab.url == before
    word.tap()
    tab.wait_for_url("**/glossary/#jvp", timeout=5000)


def test_every_link_to_the_glossary_has_its_definition(built):
    for page in built.glob("lessons/*/index.html"):
        links = re.findall(r'<a [^>]*href="[^"]*glossary/#[^>]*>', page.read_text(encoding="utf-8"))
        assert links
        assert [x for x in links if 'class="term" data-definition="' not in x] == []


@pytest.mark.slow
def test_what_is_downloaded_is_what_is_released_which_was_searched_for_secrets(built, tmp_path):
    released = release.release(manifest.get("duals"), tmp_path).archive
    assert (built / "lessons/duals/duals.zip").read_bytes() == released.read_bytes()
