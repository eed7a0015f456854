"""Try it here: lessons are done on their pages, as in a workspace, and with the same words."""

import functools
import shutil
import zipfile
from pathlib import Path

import accessibility
import pytest

from autograder.classroom.handouts import leaks
from autograder.lessons import assemble, manifest, page, places, skeleton
from autograder.upkeep import pyodide

LESSONS = pyodide.lessons()
PATIENCE = 90_000  # milliseconds: the other processes of a test run are busy, too


class Trial:
    """A lesson's page on which one exercise after the other is tried."""

    def __init__(self, context, address, lesson):
        self.tab, self.lesson, self.address = context.new_page(), lesson, address
        self.fetched, self.wrong = [], []
        self.tab.on("request", lambda request: self.fetched.append(request.url))
        self.tab.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.tab.on("console", lambda m: m.type == "error" and self.wrong.append(m.text))
        self.tab.goto(f"{address}/lessons/{lesson.id}/")

    def open(self, exercise):
        button = self.tab.get_by_role("button", name=f"Try it here: {exercise}", exact=True)
        if button.count():  # it is not open yet
            button.click()
        self.panel = self.tab.get_by_role("group", name=f"Try {exercise}", exact=True)
        self.panel.locator(".cm-content").wait_for()
        return self

    def write(self, text):
        self.panel.locator(".cm-content").focus()
        self.tab.keyboard.press("ControlOrMeta+a")
        self.tab.keyboard.insert_text(text.rstrip("\n"))
        return self

    def press(self, name):
        self.panel.get_by_role("button", name=name).click()
        return self

    def check(self):
        self.press("Check").panel.get_by_role("button", name="Stop").wait_for(
            state="hidden", timeout=120_000
        )
        return self.panel.locator(".try-said").inner_text()

    def explanation(self):
        return self.panel.locator(".try-told").inner_text()

    def download(self):
        with self.tab.expect_download() as caught:
            self.press(f"Download {Path(self.lesson.module).name}")
        return Path(caught.value.path()).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def try_it(browser, built, address):
    """The page of a lesson, opened when it is first asked for."""
    if not (built / "assets" / "runner").exists():
        pytest.skip("needs the Debian package npm, and a network for it")
    with browser.new_context() as context:
        context.set_default_timeout(PATIENCE)
        yield functools.cache(lambda name: Trial(context, address, manifest.get(name)))


@pytest.fixture
def trial(try_it):
    """An exercise, opened on its page."""
    return try_it("duals").open("duals.mul_rule")


ENDLESS = "def mul_jvp(primals, tangents):\n    while True: pass"
WRONG = """\
def mul_jvp(primals, tangents):
    (x, y), (x_dot, y_dot) = primals, tangents
    return mul(x, y), mul(x_dot, y_dot)
"""


@pytest.mark.slow
def test_a_wrong_answer_is_explained_as_by_the_command(trial):
    assert trial.check().startswith("Still to do")
    assert "Not right yet" in trial.write(WRONG).check()
    told = trial.explanation()
    assert "expected: (12.0, 34.0)\n  got:      (12.0, 10.0)" in told
    assert "lessons/02_duals/checks.py, line " in told
    trial.write("def mul_jvp(primals, tangents):\n    return mul(1.0")
    assert "Not right yet" in trial.check()
    rows = assemble.read_handout("microjax/duals.py").splitlines()
    line = next(i for i, row in enumerate(rows, 1) if row.startswith("def mul_jvp"))
    assert f"microjax/duals.py, line {line + 1}:" in trial.explanation()
    numbers = trial.panel.locator(".cm-lineNumbers").inner_text().split()
    assert numbers[-2:] == [str(line), str(line + 1)]


@pytest.mark.slow
def test_an_example_is_changed_and_runs_after_those_above_it(try_it):
    tab = try_it("interpreters").tab
    place = tab.locator(".change-this").nth(1)
    place.get_by_role("button", name="Change this").click()
    text = place.get_by_role("textbox")
    assert text.input_value().startswith("def power(x, n):")
    for line, said in (
        ("print(foo(power(3.0, 2)))", "108.0"),
        ("foo(1)", "TypeError: add takes fl"),
    ):
        text.fill(f"{text.input_value()}\n{line}")
        place.get_by_role("button", name="Run").click()
        place.get_by_role("status").get_by_text(said).wait_for(timeout=60_000)


@pytest.mark.slow
def test_stop_ends_an_endless_loop(trial):
    trial.write(ENDLESS).press("Check").press("Stop").panel.get_by_text("Stopped.").wait_for()
    assert "Not right yet" in trial.write(WRONG).check()


@pytest.mark.full  # on a busy machine the button may stay out of reach
def test_stop_ends_a_check_that_waits_for_python_to_start(trial):
    trial.press("Check").press("Stop").press("Check").press("Stop")
    trial.panel.get_by_text("Stopped.").wait_for()
    assert "Not right yet" in trial.check()
    assert len([worker for worker in trial.tab.workers if "/runner/" in worker.url]) == 1


@pytest.mark.full  # the page is patient for 13 seconds, and then starts Python again
def test_what_does_not_end_is_explained_as_by_the_command(trial):
    assert "Not right yet" in trial.write(ENDLESS).check()
    told = trial.explanation()
    assert told.startswith("This should hold: A product moves by what its two operands contribu")
    assert "but it does not end within 10 seconds. Is there an endless loop?" in told
    trial.write(WRONG)


@pytest.mark.slow
def test_hints_are_shown_one_after_the_other(trial):
    hints = trial.tab.locator(".try-exercise[data-exercise='duals.mul_rule'] ~ details")
    for shown in (1, 2, 3):
        trial.press("Show a hint")
        assert [hints.nth(i).get_attribute("open") is not None for i in range(3)] == [
            i < shown for i in range(3)
        ]


def test_tab_indents_in_the_editor_and_escape_lets_it_leave(trial):
    trial.write("def mul_jvp(primals, tangents):\n    return 1")
    editor = trial.panel.locator(".cm-content")
    assert "press Escape, then Tab" in editor.get_attribute("aria-label")
    trial.tab.keyboard.press("Tab")
    assert editor.inner_text().splitlines()[-1] == "        return 1"
    trial.tab.keyboard.press("Escape")
    trial.tab.keyboard.press("Tab")
    assert trial.tab.evaluate("document.activeElement.textContent") == "Check"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
def test_what_opens_fits_the_screen_and_is_accessible(trial, scheme, width):
    tab = trial.tab
    tab.add_style_tag(content="*, ::before, ::after { transition: none !important }")
    tab.set_viewport_size({"width": width, "height": 900})
    tab.emulate_media(color_scheme=scheme)
    tab.wait_for_timeout(200)
    assert tab.evaluate("document.documentElement.scrollWidth") == width
    assert accessibility.problems(tab, ".try-exercise") == []


@pytest.mark.slow
def test_work_survives_a_reload(trial):
    source = trial.write(WRONG).download()
    trial.tab.reload()
    assert WRONG in source
    assert trial.open("duals.mul_rule").download() == source


@pytest.mark.slow
@pytest.mark.parametrize(
    "lesson",
    [LESSONS[0], *(pytest.param(lesson, marks=pytest.mark.full) for lesson in LESSONS[1:])],
    ids=lambda lesson: lesson.id,
)
def test_a_lesson_is_solved_on_its_page_and_downloaded_as_a_workspace_has_it(try_it, lesson):
    trial = try_it(lesson.id)
    solution = assemble.read_solution(lesson.module)
    for exercise in lesson.exercises:
        trial.open(exercise.id)
        said = trial.write(skeleton.definition(solution, exercise.target)).check()
        assert f"Done: {exercise.title}" in said
    assert f"All {len(lesson.exercises)} exercises of this lesson are done." in said
    assert trial.download() == solution
    assert trial.wrong == []
    assert [url for url in trial.fetched if not url.startswith((trial.address, "blob:"))] == []


def test_nothing_but_the_buttons_is_loaded_before_a_click(built, browser, address, try_it):
    with browser.new_context() as context:
        context.set_default_timeout(PATIENCE)
        trial = Trial(context, address, LESSONS[0])
        trial.tab.wait_for_load_state("networkidle")
        assert [url for url in trial.fetched if "/runner/" in url] == [
            f"{address}/assets/runner/{name}" for name in ("try.js", "change.js")
        ]
        trial.open(LESSONS[0].exercises[0].id)
        assert trial.download() == assemble.read_handout(LESSONS[0].module)


def test_without_javascript_there_is_no_button(browser, address, try_it):
    with browser.new_context(java_script_enabled=False) as context:
        tab = context.new_page()
        tab.goto(f"{address}/lessons/duals/")
        assert tab.get_by_text("Try it here").count() == 0
        assert tab.get_by_text("./jaxprentice check duals.mul_rule").is_visible()


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_what_the_browser_gets_holds_no_solution_that_a_handout_has_not(
    try_it, built, tmp_path, lesson
):
    with zipfile.ZipFile(built / "assets" / "runner" / f"{lesson.id}.zip") as archive:
        archive.extractall(tmp_path)
    assert list(leaks.find(tmp_path, lesson)) == []
    before = manifest.needed(lesson)[:-1]
    given = [part.module for part in before]
    assert {x.name for x in tmp_path.rglob("solutions/*/*")} == {Path(x).name for x in given}


def test_without_npm_the_site_has_all_but_the_button_and_says_so(monkeypatch, tmp_path, capsys):
    shutil.copytree(places.ROOT / "site" / "runner", tmp_path / "site" / "runner")
    monkeypatch.setattr(places, "ROOT", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    told_without(capsys, "they need npm. ")
    (tmp_path / "npm").write_text("#!/bin/sh\necho npm error no network >&2; exit 1\n")
    (tmp_path / "npm").chmod(0o755)
    told_without(capsys, "npm error no network. ")


def told_without(capsys, reason):
    text = "\n".join(page.command(exercise.id) for exercise in LESSONS[0].exercises)
    pyodide.prepare()
    assert capsys.readouterr().out.startswith(f'"Try it here" is left out of the pages: {reason}')
    assert pyodide.assets() == {}
    assert pyodide.add_to(text, LESSONS[0]) == text


def test_pages_that_are_read_from_files_have_no_button(try_it, monkeypatch):
    assert pyodide.assets()
    monkeypatch.setenv("SITE_OFFLINE", "true")
    assert pyodide.assets() == {}
    text = page.command(LESSONS[0].exercises[0].id)
    assert pyodide.add_to(text, LESSONS[0]) == text
