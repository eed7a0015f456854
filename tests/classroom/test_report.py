"""The report: what its pages show, to whom, and what they must not."""

import html
import json
import re
from urllib.parse import unquote

import accessibility
import pytest
import result_documents
from result_documents import ADA, BELA, CLASS, CY, exercise, result

from autograder import cli
from autograder.classroom.reports import charts, report
from autograder.grading import result_files
from autograder.lessons.problem import Problem


def by_lesson(documents):
    found = {}
    for document in documents:
        found.setdefault(document["lesson"], []).append(document)
    return found


@pytest.fixture(scope="module")
def page():
    return report.render(by_lesson([ADA, BELA, CY]))


@pytest.fixture
def folder(tmp_path):
    return result_documents.write(tmp_path / "results")


def rows(page, caption):
    """The rows of the first table below a heading, as lists of texts."""
    table = re.search(rf"<h3[^>]*>{caption}</h3>.*?<tbody>(.*?)</tbody>", page, re.DOTALL)[1]
    table = re.sub("</summary>.*?</details>", "", table)  # the students behind a number
    cells = [
        re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row, re.DOTALL) for row in table.split("</tr>")[:-1]
    ]
    return [[" ".join(re.sub(r"<.*?>", " ", cell).split()) for cell in row] for row in cells]


# ------------------------------------------------------------------------------------------
# The class page


MINUTES = report._known()["core.full_raise"].minutes
TABLES = {
    "Exercises": [
        ["core.full_raise", "1 of 3", "1", "44 %", "-", "wrong value (1) does not terminate (1)"],
        ["core.get_aval", "2 of 3", "0", "67 %", "-", "not implemented (1)"],
    ],
    "Mistakes": [["A &lt; B core.full_raise", "1"], ["No known mistake core.full_raise", "1"]],
    "Submissions that need manual review": [
        [
            "=cy",
            "The module uses what no exercise needs: open. core.full_raise: does not terminate "
            "The import does not terminate.",
        ]
    ],
    "Time sinks": [["core.full_raise", "2", f"{MINUTES}", f"{2 * MINUTES / 60:.1f}"]],
    "Grades": [
        ["ada", "4 / 4", ""],
        ["bela", "2.67 / 4", "core.full_raise"],
        ["=cy", "0 / 4", "every exercise"],
    ],
}


@pytest.mark.parametrize("caption", TABLES)
def test_the_page_has_a_table_of(page, caption):
    assert rows(page, caption) == TABLES[caption]


def test_each_number_leads_to_the_students_behind_it(page):
    found = re.findall(r"<summary>(.*?)</summary>(.*?)</details>", page)
    behind = {(number, *re.findall(r">(.*?)</a>", names)) for number, names in found}
    assert ("1 of 3", "ada") in behind
    assert ("2 of 3", "ada", "bela") in behind
    assert ("1", "bela") in behind
    for link in ("bela.html#core-core.full_raise", "%3Dcy.html#core"):
        assert f'href="students/{link}"' in page
    assert '1.5 s for the longest (<a href="students/ada.html#core">ada</a>)' in page


def test_every_link_leads_to_a_place_that_is_there():
    found = by_lesson([{**x, "variant": i + 1} for i, x in enumerate(CLASS)])
    page, students = report.render(found), report.student_pages(found)
    pages = {
        f"students/{result_files.file_name(name)}.html": text for name, text in students.items()
    }
    links = [html.unescape(unquote(link)) for link in re.findall(r'href="(.*?)"', page)]
    assert len(links) > 60
    for path, _, place in (link.partition("#") for link in links):
        text = {"": page, "report.csv": ""}.get(path) if path not in pages else pages[path]
        assert text is not None, path
        assert not place or f'id="{place}"' in text, (path, place)


def test_variants_are_compared_by_their_means():
    found = [{**ADA, "variant": 1}, {**BELA, "variant": 2}, {**CY, "variant": 2}]
    table = rows(report.render(by_lesson(found)), "Variants")
    assert table == [["1", "1", "4.0"], ["2", "2", f"{(BELA['score'] + CY['score']) / 2:.1f}"]]


def test_a_syntax_error_is_told_once_and_is_no_mistake_in_any_exercise():
    wrong = "minijax/core.py, line 3 is no valid Python."
    lost = [exercise(x, False, kind="crashed") for x in ("core.full_raise", "core.get_aval")]
    lost = [{**x, "message": wrong} for x in lost]
    page = report.render({"core": [ADA, result("ada2", *lost, remarks=[wrong])]})
    assert rows(page, "Submissions that need manual review") == [["ada2", wrong]]
    assert rows(page, "Exercises")[0][-1].startswith("no module to test (1)")
    assert "crashed" not in page
    assert len(re.findall(r"<h3>(Mistakes|Time sinks)</h3>\s*<p>None.", page)) == 2


def test_those_who_may_have_cheated_come_first():
    slow = result("ada", exercise("core.full_raise", False, kind="crashed"))
    odd = result("zoe", exercise("core.full_raise", True), review=["It writes to the channel."])
    found = rows(report.render({"core": [slow, odd]}), "Submissions that need manual review")
    assert [student for student, _ in found] == ["zoe", "ada"]


def test_the_histogram_counts_full_points_apart(page):
    counts = dict(rows(page, "Scores"))
    filled = {label: n for label, n in counts.items() if n != "0"}
    assert filled == dict.fromkeys(("0 to 9 %", "60 to 69 %", "100 %"), "1")


def test_the_most_common_counterexamples_come_first():
    first, second = "f(<1>)", "f(2)"
    wrong = [exercise("core.full_raise", False, program=p) for p in (first, second, first)]
    page = report.render({"core": [result(f"s{i}", x) for i, x in enumerate(wrong)]})
    pattern = r"<summary>(\d) submissions?</summary>.*?</div>\n<pre[^>]*>(.*?)</pre>"
    shown = re.findall(pattern, page)
    assert shown == [("2", "f(&lt;1&gt;)"), ("1", "f(2)")]


def test_names_and_messages_are_escaped():
    name = "<i>cy</i>"
    page = report.render({"core": [result("cy", exercise("core.full_raise", False, mistake=name))]})
    assert name not in page
    assert "&lt;i&gt;cy" in page
    assert "a <property>" not in page


def test_lessons_are_compared_at_the_top():
    page = report.render(by_lesson(CLASS))
    top = rows(page.replace("<h1>Class report</h1>", "<h3>Top</h3>"), "Top")
    assert [row[0].partition(":")[0] for row in top] == ["Core", "jvp"]
    assert [" ".join(row[1:]) for row in top] == ["3 2.2 2.7 4 1", "1 0.5 0.5 1 0"]


# ------------------------------------------------------------------------------------------
# Discrimination


def a_class(bind):
    """Twelve submissions, the later ones the better, but for one exercise as given."""
    count = len(bind)
    return [
        result(
            f"s{i:02}",
            exercise("core.full_raise", *[k < bind[i] for k in range(4)]),
            exercise("core.get_aval", *[k < i for k in range(count)]),
        )
        for i in range(count)
    ]


def test_an_exercise_that_goes_with_the_rest_tells_apart():
    rising = [0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 4]
    page = report.render({"core": a_class(rising)})
    assert float(rows(page, "Exercises")[0][4]) > 0.9
    assert "None: each exercise tells strong students from weak ones." in page


UNCLEAR = {
    "it falls as the rest rises": ([4, 4, 3, 3, 2, 2, 2, 1, 1, 1, 0, 0], "it may be at fault"),
    "it has nothing to do with it": ([0, 4, 1, 3, 2, 2, 2, 2, 3, 1, 4, 0], "hardly better"),
    "all have full points": ([4] * 12, "All have full points."),
    "nobody has points": ([0] * 12, "None has points."),
    "all have the same": ([2] * 12, "All have the same points."),
}


@pytest.mark.parametrize(("points", "words"), UNCLEAR.values(), ids=UNCLEAR)
def test_an_exercise_that_tells_little_is_named(points, words):
    page = report.render({"core": a_class(points)})
    found = rows(page, "Exercises that tell little")
    assert found[0][0] == "core.full_raise"
    assert words in found[0][2]


def test_few_submissions_say_nothing_about_exercises(page):
    assert "There are too few submissions to know: it takes 10." in page
    assert report.discrimination([0.0, 1.0] * 4, [1.0, 2.0] * 4) is None


# ------------------------------------------------------------------------------------------
# The students' pages


def test_a_students_page_holds_their_feedback_of_all_lessons_and_nothing_for_others():
    pages = report.student_pages(by_lesson(CLASS))
    assert pages.keys() == {"ada", "bela", "=cy"}
    assert "4 of 4 points." in pages["ada"]
    assert "0.5 of 1 points." in pages["ada"]
    assert "Known mistake: A &lt; B." in pages["bela"]
    assert "Hint: First." in pages["bela"]
    assert "Second." not in pages["bela"]
    assert "This does not hold yet: a &lt;property&gt;." in pages["bela"]
    assert "The import does not terminate." in pages["=cy"]
    assert CY["review"][0] not in pages["=cy"]
    assert "bela" not in pages["ada"]
    assert not [name for name, text in pages.items() if "test_hidden" in text]
    assert not [name for name, text in pages.items() if "href" in text]


def test_a_student_sees_the_smallest_program():
    own = result("ada", exercise("core.full_raise", False, program="f(1) < 2"))
    assert '<pre tabindex="0">f(1) &lt; 2</pre>' in report.student_pages({"core": [own]})["ada"]


# ------------------------------------------------------------------------------------------
# Charts


def test_the_pages_need_no_other_file(page):
    pages = [page, *report.student_pages(by_lesson(CLASS)).values()]
    for text in pages:
        assert not re.search(r"<(script|link|img|iframe)|url\((?!#)|@import", text)
        assert not re.search(r"https?:(?!//www.w3.org/1999/xlink\")", text)


def test_charts_take_the_colours_of_the_page_and_say_what_they_show(page):
    found = re.findall(r"<svg .*?</svg>", page, re.DOTALL)
    assert len(found) == 4
    for chart in found:
        assert "<text" in chart
        assert re.match(r'<svg viewBox="0 0 [\d. ]+" role="img" aria-label="[^"]+ in core\.', chart)
        colours = set(re.findall(r"(?:fill|stroke): (#\w+|var\([\w-]+\))", chart))
        assert colours <= {"var(--text)", "var(--bar)", "var(--line)"}
        assert not re.search(r' id="(?!p|m)', chart)  # the same names would stand in each chart


def test_a_chart_is_the_same_each_time():
    drawn = [charts.histogram(["0", "10"], [1, 2], "about") for _ in range(2)]
    assert drawn[0] == drawn[1]


def test_a_chart_has_a_shape_for_each_number():
    text = charts.heat_map({"a": [3, 0], "b": [1, 1]}, ["1st", "2nd"], "about")
    shown = re.findall(r">([^<>\n]+)</text>", text)
    assert sorted(shown) == ["1", "1", "1st", "2nd", "3", "a", "b"]
    assert text.count("fill: var(--bar)") == 3  # zero has none


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_are_accessible_and_fit_a_phone(folder, browser, scheme):
    made = report.write(folder)
    view = browser.new_page(viewport={"width": 390, "height": 800}, color_scheme=scheme)
    for page in (made, folder / "students" / "bela.html"):
        view.goto(page.as_uri())
        assert view.evaluate("document.documentElement.scrollWidth") == 390
        assert accessibility.problems(view) == []
    view.close()


# ------------------------------------------------------------------------------------------
# Files


def test_the_command_writes_page_table_and_students(folder, capsys):
    assert cli.main(["report", str(folder)]) == 0
    assert capsys.readouterr().out == f"The report is {folder / 'report.html'}.\n"
    made = {path.relative_to(folder).as_posix() for path in folder.rglob("*.html")}
    assert made == {"report.html", *(f"students/{name}.html" for name in ("ada", "bela", "=cy"))}
    assert cli.main(["report", str(folder)]) == 0  # again, over what was made


def test_the_table_has_a_line_for_each_exercise_and_no_formula(folder):
    row = 'id,name,section\nbela,"Bela, of the first row",A\n'
    (folder / "roster.csv").write_text(row, encoding="utf-8")
    report.write(folder)
    lines = (folder / "report.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 8
    assert lines[1] == "core,'=cy,core.full_raise,0.0,2.0,does_not_terminate,,0.0,'=cy,,"
    bela = '"Bela, of the first row",A,'
    assert lines[5] == f"core,bela,core.full_raise,0.67,2.0,wrong_value,A < B,0.67,{bela}"


def test_each_section_has_its_mean(folder):
    row = "id,section\nbela,A\nada,A\n"
    (folder / "roster.csv").write_text(row, encoding="utf-8")
    text = report.write(folder).read_text(encoding="utf-8")
    assert text.count("<h3>Sections</h3>") == 2
    (section,) = [x for x in text.splitlines() if '<th scope="row">A</th>' in x and "bela" in x]
    assert f">{(4.0 + 2.67) / 2:.1f}<" in section


def test_a_report_that_fails_leaves_the_old_one(folder, monkeypatch):
    report.write(folder)
    before = {path: path.read_bytes() for path in folder.rglob("*.*") if path.is_file()}
    spoilt = json.loads((folder / "core" / "ada.json").read_text(encoding="utf-8"))
    (folder / "core" / "ada.json").unlink()
    spoilt["student"] = "../ada"
    (folder / "core" / "x.json").write_text(json.dumps(spoilt), encoding="utf-8")
    with pytest.raises(Problem, match="cannot name a file"):
        report.write(folder)
    after = {path: path.read_bytes() for path in folder.rglob("*.*") if path.is_file()}
    assert {p: c for p, c in before.items() if p.suffix != ".json"} == {
        p: c for p, c in after.items() if p.suffix != ".json"
    }


def test_links_that_lead_back_are_not_followed(folder):
    before = result_files.by_lesson(folder)
    (folder / "again").symlink_to(folder)
    (folder / "more").mkdir()
    (folder / "more" / "up").symlink_to("..")
    assert result_files.by_lesson(folder) == before


def test_a_folder_without_results_is_a_problem(tmp_path):
    with pytest.raises(Problem, match="There are no results"):
        report.write(tmp_path)
