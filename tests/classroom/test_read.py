"""Reading by question: equal answers together, remarks in the gradebook, requests to look again."""

import html
import shlex
import threading
import urllib.error
import urllib.parse
import urllib.request
from http.server import ThreadingHTTPServer
from types import SimpleNamespace

import pytest
from command_lines import EXAMPLES
from hostile_answers import HIT
from nbgrader_class import answer, feedback_page, run

from autograder import cli
from autograder.classroom.course import settings
from autograder.classroom.intake import look_again
from autograder.classroom.nbgrader import answers, directory, gradebook, read, rubric
from autograder.classroom.nbgrader.answers import Handed, Part
from autograder.classroom.nbgrader.rubric import Remark
from autograder.classroom.reports import report
from autograder.lessons import assemble, manifest, skeleton
from autograder.lessons.problem import Problem
from autograder.upkeep import demo

LESSON = manifest.get("interpreters")
RIGHT = assemble.read_solution(LESSON.module)
EXERCISE = Part(LESSON.exercises[0].id, "", LESSON, by_hand=False)
QUESTION = Part(f"{LESSON.id}.question", "", LESSON, by_hand=True)
LOOP, NAMES, GOOD = Remark("No loop.", -1.0), Remark("Better names."), Remark("Right.", 3.0)


def handed(auto=2.0, comment=None, manual=None):
    grade = SimpleNamespace(
        auto_score=auto, manual_score=manual, max_score=3.0, needs_manual_grade=True
    )
    return Handed("ada", grade, SimpleNamespace(manual_comment=comment))


# ------------------------------------------------------------------------------------------
# Rubrics


def test_a_remark_adds_its_points_to_those_of_the_tests_and_takes_them_back():
    each = handed(comment="Come and see me.")
    rubric.toggle(EXERCISE, [each], [LOOP, NAMES], 0)
    rubric.toggle(EXERCISE, [each], [LOOP, NAMES], 1)
    assert each.comment.manual_comment == "Come and see me.\n- No loop. (-1)\n- Better names."
    assert each.grade.manual_score == 1.0
    assert not each.grade.needs_manual_grade
    rubric.toggle(EXERCISE, [each], [LOOP, NAMES], 0)
    assert each.grade.manual_score is None
    assert each.lines == ["Come and see me.", "- Better names."]


def test_points_stay_between_nothing_and_the_maximum():
    for remark, wanted in ((Remark("x", -9.0), 0.0), (Remark("x", 9.0), 3.0)):
        each = handed()
        rubric.toggle(EXERCISE, [each], [remark], 0)
        assert each.grade.manual_score == wanted


@pytest.mark.parametrize(("points", "wanted"), [(1.0, 0.5), (2.5, 2.5)])
def test_after_new_points_remarks_are_added_to_those_of_the_tests(monkeypatch, points, wanted):
    each = handed(comment=LOOP.line, manual=points)
    monkeypatch.setattr(rubric, "read", lambda *_: {EXERCISE.id: [LOOP]})
    monkeypatch.setattr(rubric.answers, "parts", lambda _: [EXERCISE])
    monkeypatch.setattr(rubric.answers, "handed", lambda *_: [each])
    book = SimpleNamespace(db=SimpleNamespace(commit=lambda: None))
    each.grade.max_score = 0.75  # `update` changes it at once, and `autograde` the tests' points
    before = rubric.whose(book, None, SimpleNamespace(name="jvp"))
    each.grade.auto_score = 1.5
    rubric.score_again(book, None, SimpleNamespace(name="jvp"), before)
    assert each.grade.manual_score == wanted


def test_a_remark_without_points_leaves_those_that_a_person_gave():
    each = handed(manual=2.5)
    rubric.toggle(EXERCISE, [each], [NAMES], 0)
    assert each.grade.manual_score == 2.5
    assert each.lines == ["- Better names."]


@pytest.mark.parametrize(
    ("part", "comment", "manual", "wanted"),
    [
        (EXERCISE, None, None, False),
        (EXERCISE, None, 2.5, True),
        (EXERCISE, "- Better names.", 2.5, True),
        (EXERCISE, "- No loop. (-1)", 1.0, False),
        (EXERCISE, "- No loop. (-1)", 2.5, True),
        (QUESTION, "- Better names.", 0.0, False),
        (QUESTION, None, 0.0, True),
    ],
)
def test_points_by_hand_are_known_from_those_of_remarks(part, comment, manual, wanted):
    assert rubric.by_hand(part, handed(2.0, comment, manual), [LOOP, NAMES]) == wanted


@pytest.mark.parametrize("points", ["-1,5", "-1.5"])
def test_points_may_have_a_comma(points):
    assert rubric.made("x", points) == Remark("x", -1.5)


def test_a_written_question_begins_at_nothing_and_is_unread_again_without_remarks():
    each = handed(auto=0.0)
    rubric.toggle(QUESTION, [each], [GOOD, LOOP], 0)
    rubric.toggle(QUESTION, [each], [GOOD, LOOP], 1)
    assert (each.grade.manual_score, each.grade.needs_manual_grade) == (2.0, False)
    for index in (0, 1):
        rubric.toggle(QUESTION, [each], [GOOD, LOOP], index)
    assert (each.grade.manual_score, each.grade.needs_manual_grade) == (None, True)


def test_a_remark_that_some_have_is_given_to_all_and_then_taken_from_all():
    who = [handed(), handed(comment="- No loop. (-1)")]
    rubric.toggle(EXERCISE, who, [LOOP], 0)
    assert [len(rubric.having(LOOP, [each])) for each in who] == [1, 1]
    rubric.toggle(EXERCISE, who, [LOOP], 0)
    assert rubric.having(LOOP, who) == []


def test_a_changed_remark_is_changed_for_all_who_have_it():
    who, gentler = [handed(), handed(comment="- No loop. (-1)", manual=1.0)], Remark("Loop?", -0.5)
    rubric.renew(EXERCISE, who, [LOOP, NAMES], [gentler, NAMES])
    assert [each.comment.manual_comment for each in who] == [None, "- Loop? (-0.5)"]
    assert [each.grade.manual_score for each in who] == [None, 1.5]
    rubric.renew(EXERCISE, who, [gentler, NAMES], [None, NAMES])
    assert (who[1].comment.manual_comment, who[1].grade.manual_score) == (None, None)


def test_a_questions_rubric_begins_with_full_points_and_one_that_was_emptied_stays_so():
    place = SimpleNamespace(assignment=SimpleNamespace(cells=lambda _: {QUESTION.cell: 3.0}))
    assert read._rubric({}, place, QUESTION) == [GOOD]
    assert read._rubric({QUESTION.id: []}, place, QUESTION) == []
    assert read._rubric({}, place, EXERCISE) == []


@pytest.mark.parametrize(("text", "points"), [("", "1"), ("x" * 501, ""), ("x", "nan"), ("x", "y")])
def test_a_remark_has_words_and_its_points_are_a_number(text, points):
    with pytest.raises(Problem):
        rubric.made(text, points)


# ------------------------------------------------------------------------------------------
# Requests to look again


def test_a_request_is_a_comment_that_names_the_exercise_and_may_go_on_below():
    source = """\
def mul_jvp(x):  # look again: jvp.sum_rule. this is no line of its own
    # Look again: jvp.mul_rule. Any error is allowed
    # by the docstring.
    return x
#look again jvp.question
# Look again: the tests are wrong.
"""
    assert look_again.in_module(source) == [
        ("jvp.mul_rule", "Any error is allowed by the docstring."),
        ("jvp.question", "Look again: the tests are wrong."),
    ]


def test_requests_are_short_and_few():
    assert look_again.in_module("# look again: jvp.flat " + "x" * 9999)[0][1] == "x" * 500
    assert len(look_again.in_module("# look again: jvp.flat\n" * 999)) == look_again.MOST
    ((_, text),) = look_again.in_module("# look again: jvp.flat a\u202eb\x1b[2J")
    assert text == "a\\u202eb?[2J"


# ------------------------------------------------------------------------------------------
# A course

SENTENCE = f"The docstring <script>{HIT}</script> allows it."
REQUEST = f"\n# Look again: {EXERCISE.id}. {SENTENCE}\n"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A graded class: two with equal code, one with code of another kind that fails."""
    course = tmp_path_factory.mktemp("read") / "course"
    directory.init(course, seed=0, lessons=[LESSON.id])
    run(course, "generate_assignment", LESSON.id)
    definition = skeleton.definition(RIGHT, LESSON.exercises[0].target).rstrip()
    sources = {"ada": RIGHT + REQUEST, "bob": RIGHT + "\n# Mine.\n"}
    sources["cem"] = RIGHT.replace(definition, f"{definition}  # done")
    for student, source in sources.items():
        folder = demo.hand_in(course, LESSON, student, source)
        if student != "cem":
            answer(folder, LESSON, f"<b>{student}</b> `code`")
    run(course, "autograde", LESSON.id)
    (course / "roster.csv").write_text("id,name\nada,Maria Silva\nbob,Maria Silva\ncem,Cem\n")
    return course


@pytest.fixture(scope="module")
def address(course):
    with read.server(course, LESSON.id) as (server, address):
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield address
        server.shutdown()
        thread.join()


def points_of(course):
    assignment = settings.read(course).get(LESSON.id)
    with gradebook.opened(course) as book:
        found = answers.handed(book, assignment, EXERCISE)
        return {x.student: (x.grade.score, x.comment.manual_comment) for x in found}


@pytest.fixture(scope="module")
def session(course, address, browser):
    """What a lecturer did by keys, and what came of it: points before and after, and pages."""
    tab, before = browser.new_page(), points_of(course)
    tab.goto(address)
    tab.click(f"text={LESSON.exercises[0].title}")
    tab.fill("input[aria-label='A new remark']", "No *loop*, <please>.")
    tab.fill("input[aria-label='Points of a new remark']", "-0.5")
    tab.click("button[value=add]")
    tab.wait_for_selector(".marks")
    tab.evaluate("document.activeElement.blur()")
    tab.keyboard.press("j")
    with tab.expect_navigation():
        tab.keyboard.press("1")
    pressed = [x.get_attribute("aria-pressed") for x in tab.query_selector_all(".marks button")]
    with tab.expect_navigation():
        tab.keyboard.press("n")
    url = tab.url
    tab.close()
    form = {"student": "ada", "exercise": EXERCISE.id, "request": SENTENCE, "text": "So it does."}
    urllib.request.urlopen(address, data=urllib.parse.urlencode(form).encode())
    run(course, "generate_feedback", LESSON.id)
    pages = {x: feedback_page(course, LESSON, x).read_text(encoding="utf-8") for x in before}
    whole = report.write(course).read_text(encoding="utf-8")
    return SimpleNamespace(
        before=before, after=points_of(course), pressed=pressed, url=url, pages=pages, report=whole
    )


@pytest.mark.slow
def test_equal_answers_get_a_remark_by_one_key_in_nbgraders_own_tables(session):
    full = LESSON.exercises[0].points
    assert session.before == dict.fromkeys(("ada", "bob", "cem"), (full, None))
    remark = (full - 0.5, "- No *loop*, <please>. (-0.5)")
    assert session.after == {**session.before, "ada": remark, "bob": remark}
    assert session.pressed == ["true", "false"]
    assert session.url.endswith("/2")


@pytest.mark.slow
def test_feedback_shows_the_remark_to_those_who_have_it(session):
    line = "<li>No <em>loop</em>, &lt;please&gt;. (-0.5)</li>"
    shown = {x: line in page.replace("&#10;", "") for x, page in session.pages.items()}
    assert shown == {"ada": True, "bob": True, "cem": False}


@pytest.mark.slow
def test_the_answer_to_a_request_is_in_the_next_feedback_and_in_the_report(session):
    said = f"You asked to look again at {EXERCISE.id}. The answer: So it does."
    assert [x for x, page in session.pages.items() if said in page] == ["ada"]
    (row,) = [x for x in session.report.splitlines() if html.escape(SENTENCE) in x]
    points = LESSON.exercises[0].points
    assert f"{LESSON.id}: {points - 0.5:g} of {points:g}." in row
    assert "So it does." in row


@pytest.mark.slow
def test_nothing_of_a_students_acts_on_the_pages(course, address, browser):
    tab, ran = browser.new_page(), []
    tab.expose_function("hit", lambda: ran.append("hit"))
    texts, last = [], len(answers.parts(settings.read(course).get(LESSON.id)))
    for number in ("", *range(1, last + 1)):
        tab.goto(f"{address}{number}")
        assert tab.query_selector_all("main script, main b > b, main img") == []
        texts.append(tab.inner_text("main"))
    tab.close()
    assert SENTENCE in texts[0]
    assert "<b>ada</b> code" in texts[-1]
    assert "Maria Silva (ada)" in texts[1]
    assert "Maria Silva (bob)" in texts[1]
    assert "Cem (cem)" not in texts[1]
    assert "Nothing from cem." in texts[-1]
    assert ran == []


@pytest.mark.slow
@pytest.mark.parametrize("form", [{"do": "add"}, {"do": "change", "index": "0"}])
def test_a_form_that_is_refused_comes_back_with_what_was_typed(course, address, form):
    number = len(answers.parts(settings.read(course).get(LESSON.id)))  # its rubric begins with one
    sent = urllib.parse.urlencode({**form, "text": "A <long> one", "points": "1 1/2"}).encode()
    with pytest.raises(urllib.error.HTTPError) as error:
        urllib.request.urlopen(f"{address}{number}", data=sent)
    shown = error.value.read().decode()
    assert "&#39;1 1/2&#39; is not a number of points. Write one, such as -1 or 0.5." in shown
    assert shown.count('value="A &lt;long&gt; one"') == 1
    assert shown.count('value="1 1/2"') == 1


@pytest.mark.slow
def test_points_by_hand_are_named_before_a_remark_replaces_them(course, address):
    number = len(answers.parts(settings.read(course).get(LESSON.id)))
    with gradebook.opened(course) as book:
        found = answers.handed(book, settings.read(course).get(LESSON.id), QUESTION)
        {x.student: x for x in found}["ada"].grade.manual_score = 2.5
        book.db.commit()
    shown = urllib.request.urlopen(f"{address}{number}").read().decode()
    assert "Points by hand: Maria Silva (ada) (2.5). A remark with points replaces" in shown


@pytest.mark.slow
def test_without_the_secret_there_is_nothing_to_read_and_nothing_is_written(course, address):
    root = address.rpartition("/")[0].rpartition("/")[0]
    for place in (f"{root}/", f"{root}/1", f"{root}/x/1", address + "99", address + "1/2"):
        for data in (None, b"do=add&text=x"):
            with pytest.raises(urllib.error.HTTPError):
                urllib.request.urlopen(place, data=data)
    assert "x" not in {x.text for x in rubric.read(course, LESSON.id).get(EXERCISE.id, [])}


@pytest.mark.slow
def test_the_command_says_the_address_and_ends_with_ctrl_c(course, monkeypatch, capsys):
    def interrupted(server):
        raise KeyboardInterrupt

    monkeypatch.setattr(ThreadingHTTPServer, "serve_forever", interrupted)
    monkeypatch.chdir(course)
    command = EXAMPLES["nbgrader read"].replace("jvp", LESSON.id)
    assert cli.main(shlex.split(command)) == 0
    assert "Open http://127.0.0.1:" in capsys.readouterr().out
