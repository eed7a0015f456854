"""What students write stays text: nbgrader's pages of hostile answers, in a real browser."""

import functools
import re
from collections import Counter

import pytest
import result_documents
from hostile_answers import AWAY, FORMULAS, HEAVY, HIT, REQUESTS, SCRIPTS, named
from nbconvert.filters.markdown_mistune import markdown2html_mistune as markdown2html
from nbgrader_class import answer, feedback_page, formgrader_of, nbgrader, run

from autograder.classroom.intake import written
from autograder.classroom.nbgrader import directory, gradebook
from autograder.classroom.reports import exports, report
from autograder.grading import result_files
from autograder.lessons import assemble, manifest
from autograder.upkeep import demo

pytestmark = pytest.mark.slow

LESSON = manifest.get("interpreters")
RIGHT = assemble.read_solution(LESSON.module)
QUESTION = f"{LESSON.id}-question"
HONEST = """\
If `a < b` then $a<b$, and *both* are **kept**:

```python
x: list[<int>] = [1 & 2]
```

1. one $x_i * y_i$
2. two

$$
a_1
+ \\frac{b}{2}
$$
"""
# By student: all of a kind in one answer, and each of those that swallow what comes after them.
WRITERS = {
    "scripts": "\n\n".join(SCRIPTS.values()),
    "requests": "\n\n".join(REQUESTS.values()),
    "formulas": "\n\n".join(FORMULAS.values()),
    **{name: SCRIPTS[name] for name in ("script", "drawing", "mermaid", "template")},
}
# Names that a folder of results may have, and that a page must not believe.
NAMES = (
    *("x' onmouseover='hit()", "&lt;img src=x onerror=hit()&gt;", "&#60;script&#62;hit()"),
    *("{{7+7}}{% raw %}", "${hit()}`+hit()+`", "');hit();('", "a#b%3Cscript%3E&c=d", "=1+1;=hit()"),
)
BUSY = ("brackets", "environments", "one_word")
BAD = f"<img src='{AWAY}x' onerror='{HIT}'><script>{HIT}</script>"


def everywhere(notebook):
    """Hostile text in all the places of a notebook that are not answers."""
    picture = {"evil.svg": {"image/svg+xml": "PHN2Zz4="}, BAD: {BAD: BAD}}
    html = {"output_type": "display_data", "data": {"text/html": BAD}, "metadata": {BAD: BAD}}
    for cell in notebook["cells"]:
        cell["metadata"] |= {"tags": [BAD], "name": BAD, BAD: BAD, "collapsed": BAD}
        cell["attachments"] = picture
        if cell["cell_type"] == "code":
            cell |= {"outputs": [html], "execution_count": 7, "source": BAD}
    notebook["metadata"] |= {"title": BAD, "authors": [{"name": BAD}], BAD: BAD}
    notebook["metadata"]["kernelspec"] = {"name": BAD, "display_name": BAD, "language": BAD}
    notebook["metadata"]["language_info"] = {"name": BAD, "pygments_lexer": BAD}
    return notebook


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A graded class, in which one answer is honest, and one student has not answered."""
    course = tmp_path_factory.mktemp("hostile") / "course"
    directory.init(course, seed=0)
    run(course, "generate_assignment", LESSON.id)
    for student, text in {"honest": HONEST, **WRITERS}.items():
        answer(demo.hand_in(course, LESSON, student, RIGHT), LESSON, text)
    answer(demo.hand_in(course, LESSON, "everywhere", RIGHT), LESSON, "Fine.", everywhere)
    for name in BUSY:
        answer(demo.hand_in(course, LESSON, f"heavy_{name}", RIGHT), LESSON, HEAVY[name])
    for student in ("silent", *NAMES):
        demo.hand_in(course, LESSON, student, RIGHT)
    run(course, "autograde", LESSON.id)
    run(course, "generate_feedback", LESSON.id, "--CourseDirectory.student_id_exclude=heavy_*")
    return course


@pytest.fixture(scope="module")
def formgrader(course):
    with formgrader_of(course) as address:
        yield address


# What can act, or ask for something, in a page; without what formgrader's own scripts fill in.
ACTIVE = """() => [...document.querySelectorAll("*")].filter(e =>
    e.matches("script, style, link, meta, base, img, svg, iframe, object, embed, form, input, a")
    || e.matches("video, audio, math, .mermaid, [style]")
    || [...e.attributes].some(a => a.name.startsWith("on") || /^\\s*javascript:/i.test(a.value))
).map(e => {
    const copy = e.cloneNode(e.matches("script, style"));
    for (const name of ["placeholder", "value", "class", "title", "tabindex"]) {
        copy.removeAttribute(name);
    }
    for (const name of Object.keys(copy.dataset)) delete copy.dataset[name];
    return copy.outerHTML.slice(0, 300);
})"""
# What of a student's would act.
OWN = """() => [...document.querySelectorAll("*")].filter(e =>
    e.matches("script") && e.textContent.includes("hit(")
    || [...e.attributes].some(a => a.name.startsWith("on") && a.value.includes("hit"))
    || /^\\s*javascript:/i.test(e.getAttribute("href"))
).map(e => e.outerHTML)"""


@functools.cache
def watched(browser):
    """A tab, what its pages ask for, and what of them runs."""
    tab, asked, ran = browser.new_page(), set(), []
    tab.expose_function("hit", lambda: ran.append("a script"))
    tab.on("dialog", lambda dialog: (ran.append("a dialog"), dialog.dismiss()))
    tab.on("request", lambda request: asked.add(request.url))
    # Nothing leaves this machine; nbgrader's own pages ask for MathJax and Mermaid.
    outside = re.compile(r"^(?!file:|data:|http://127\.0\.0\.1)")
    tab.route(outside, lambda route: route.abort())
    return tab, asked, ran


def visit(browser, show, what=ACTIVE):
    """What is active in a page, what it has asked for, and whether something in it has run."""
    tab, asked, ran = watched(browser)
    asked.clear()
    ran.clear()
    show(tab)
    tab.wait_for_load_state("networkidle")
    return Counter(tab.evaluate(what)), {*asked}, [*ran]


def differences(browser, place, students):
    """What is on the page of each student, and not on that of an honest one."""
    usual = seen(browser, place, "honest")[0]
    found = {}
    for student in students:
        own, ran = seen(browser, place, student)
        if what := [*(own - usual), *ran]:
            found[student] = what
    return found


def seen(browser, place, student):
    """What is active or asked for on a student's page, without names and numbers; and what runs."""
    active, asked, ran = visit(browser, lambda tab: tab.goto(place(student)))
    texts = (text.replace(f"/{student}/", "/*/") for text in {*active, *asked})
    return {re.sub(r"[0-9a-f]{32}|\d+", "*", text) for text in texts}, ran


# Each page in a frame of its own, and all of them at once: to wait for each takes half a second.
FRAMES = """([how, pages]) => document.body.append(...pages.map(
    page => Object.assign(document.createElement("iframe"), { [how]: page })))"""


def visit_all(browser, base, how, pages, what):
    """What is active on a base and in each of its frames, what they ask for, and what ran."""

    def show(tab):
        tab.goto(base)
        tab.evaluate(FRAMES, [how, pages])

    own, *more = visit(browser, show, what)
    frames = watched(browser)[0].main_frame.child_frames
    return own, [frame.evaluate(what) for frame in frames], *more


def test_what_nbgrader_makes_of_an_answer_is_only_to_be_read(browser):
    answers = named()
    pages = [markdown2html(written.harmless(text)) for text in answers.values()]
    _, active, asked, ran = visit_all(browser, "about:blank", "srcdoc", pages, ACTIVE)
    assert {name: x for name, x in zip(answers, active, strict=True) if x} == {}
    assert (asked, ran) == (set(), [])


def test_nothing_of_an_answer_acts_in_the_feedback_page(course, browser):
    def place(student):
        return feedback_page(course, LESSON, student).as_uri()

    assert differences(browser, place, [*WRITERS, "everywhere"]) == {}


def test_nothing_of_an_answer_acts_in_formgrader(course, formgrader, browser):
    with gradebook.opened(course) as book:
        found = book.notebook_submissions(LESSON.id, LESSON.id)
        numbers = {each.student.id: each.id for each in found}

    def place(student):
        return f"{formgrader}/submissions/{numbers[student]}"

    assert differences(browser, place, [*WRITERS, "everywhere"]) == {}
    for address in map(place, NAMES):
        own, _, ran = visit(browser, lambda tab, at=address: tab.goto(at), OWN)
        assert (own, ran) == (Counter(), [])


@pytest.mark.parametrize("page", ["manage_submissions/{}", "gradebook/{}/{}", "manage_students"])
def test_names_stay_text_in_formgraders_lists(course, formgrader, browser, page):
    address = f"{formgrader}/{page.format(LESSON.id, LESSON.id)}"

    def show(tab):
        tab.goto(address)
        tab.wait_for_function("document.querySelectorAll('tbody tr').length > 4")
        for row in tab.locator("tbody tr").all():
            row.hover()

    own, _, ran = visit(browser, show, OWN)
    assert (own, ran) == (Counter(), [])


def test_names_stay_text_in_reports_and_exports(tmp_path, browser):
    bad = "<img src=x onerror='hit()'><script>hit()</script>"
    exercise = result_documents.exercise("core.full_raise", False, program=bad)
    exercise["message"] = exercise["tests"][0]["message"] = bad
    for name in NAMES:
        made = result_documents.result(name, exercise, remarks=[bad], review=[bad])
        result_files.write(made, tmp_path)
    report.write(tmp_path)
    exports.export(tmp_path, "junit")
    pages = [*tmp_path.glob("*.html"), *tmp_path.rglob("students/*.html"), *tmp_path.rglob("*.xml")]
    assert len(pages) == 1 + 2 * len(NAMES)
    first, *others = (page.as_uri() for page in pages)
    own, active, asked, ran = visit_all(browser, first, "src", others, OWN)
    assert (own, active) == (Counter(), [[]] * len(others))
    assert (asked, ran) == ({first, *others}, [])


def test_an_honest_answer_stays_readable(course, browser):
    tab = browser.new_page()
    tab.goto(feedback_page(course, LESSON, "honest").as_uri())
    shown = tab.locator(f"section#{QUESTION} .tex2jax_ignore").last
    text = shown.inner_text()
    assert "If a < b then " in text
    assert ", and both are kept:" in text
    assert shown.locator("code").first.inner_text() == "a < b"
    assert shown.locator("strong").inner_text() == "kept"
    assert shown.locator("pre").inner_text().strip() == "x: list[<int>] = [1 & 2]"
    assert shown.locator("li").count() == 2
    assert shown.locator("math").count() == 3
    assert shown.locator("math mfrac").count() == 1
    assert "$" not in text
    tab.close()


def test_a_question_without_an_answer_needs_no_person(course):
    with gradebook.opened(course) as book:
        for student, asks in (("silent", False), ("honest", True)):
            grade = book.find_grade(QUESTION, LESSON.id, LESSON.id, student)
            assert grade.needs_manual_grade == asks


def test_answers_that_keep_a_renderer_busy_cost_no_time(course):
    """Each of them took nbgrader's renderer 20 seconds or more."""
    done = nbgrader(course, "generate_feedback", LESSON.id, "--student", "heavy_*")
    assert done.returncode == 0, done.stderr
    assert all(feedback_page(course, LESSON, f"heavy_{name}").exists() for name in BUSY)
    assert done.seconds < 5 + len(BUSY)
