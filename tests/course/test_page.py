"""Pages show what the manifests say and the docstrings specify, and never a solution."""

import re

import markdown
import pytest
import small_course

from autograder.lessons import assemble, manifest, page, places, skeleton, tasks, terms
from autograder.lessons.problem import Problem
from autograder.student import contents

EXTENSIONS = [
    "admonition",
    "attr_list",
    "toc",
    "pymdownx.details",
    "pymdownx.highlight",
    "pymdownx.superfences",
]


@pytest.fixture
def hello(monkeypatch, tmp_path):
    small_course.write(monkeypatch, tmp_path)
    return manifest.get("hello")


def test_text_and_examples_stay_as_they_are(hello):
    text = (
        '# Hello\n\n```python exec="on"\n{{ lesson }}\n```\n\nText {{ lesson }} text.\n\n~~~\n```\n'
    )
    assert page.expand(text, hello) == text
    assert "".join(part.raw for part in page.parts(small_course.HELLO_MD, hello)) == (
        small_course.HELLO_MD
    )


def test_the_facts_box_links_to_earlier_lessons_and_names_the_command(hello):
    made = page.expand("{{ lesson }}\n", manifest.get("bye"))
    assert "[Greeting people](../01_hello/lesson.md)" in made
    assert "about 10 minutes" in made
    assert "1, in 1 exercise\n" in made
    assert "`./jaxprentice check bye`" in made
    assert "no other lesson" in page.expand("{{ lesson }}\n", hello)


def test_an_exercise_shows_specification_command_and_folded_hints(hello):
    made = page.expand("{{ exercise hello.greet }}\n", hello)
    shown = markdown.markdown(made, extensions=EXTENSIONS)
    assert '<h3 id="hello.greet">Exercise: A greeting</h3>' in shown
    assert "<code>greet</code> in <code>toy/hello.py</code> (2 points" in shown
    assert "Give the greeting with its mark." in shown
    assert "./jaxprentice check hello.greet" in re.sub("<[^>]*>", "", shown)
    assert re.findall(r'<details class="tip">\s*<summary>(.*?)</summary>', shown) == [
        "Hint 1",
        "Hint 2",
        "Hint 3",
    ]


def test_an_exercise_names_those_that_it_needs(hello):
    assert "[hello.greet](#hello.greet)" in page.expand("{{ exercise hello.grow }}\n", hello)


def test_sessions_in_a_docstring_become_code(monkeypatch, tmp_path):
    doc = '"""Part from somebody.\n\n    >>> bye("A")\n    \'Bye\'\n\n    Not for twice.\n    """'
    bye = small_course.BYE.replace('"""Part from somebody."""', doc)
    small_course.write(monkeypatch, tmp_path, {"solutions/toy/bye.py": bye})
    made = page.expand("{{ exercise bye.bye }}\n", manifest.get("bye"))
    assert "Part from somebody.\n\n```pycon\n>>> bye(\"A\")\n'Bye'\n```\n\nNot for twice.\n" in made


def test_a_source_is_the_definition_as_it_stands(hello):
    made = page.expand("{{ source toy/text/words.py loud }}\n", hello)
    definition = (
        'def loud(x: str) -> str:\n    """Return it in capitals."""\n    return x.upper()\n'
    )
    assert made == f'```python title="toy/text/words.py"\n{definition}```\n\n'
    folded = page.expand("{{ source toy/text/words.py loud folded }}\n", hello)
    assert "<summary>See this function</summary>" in folded
    assert made in folded


@pytest.mark.parametrize("lesson_id", ["hello", "bye"])
@pytest.mark.parametrize("name", ["greet", "Box", "Box.grow"])
def test_a_source_never_shows_a_solution(hello, name, lesson_id):
    made = page.expand(f"{{{{ source toy/hello.py {name} }}}}\n", manifest.get(lesson_id))
    assert "raise NotImplementedError" in made
    assert "self.size += by" not in made
    assert "Hello," not in made


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{{ picture x }}", "no directive 'picture'. Known are lesson, source, exercise"),
        ("{{ source toy/hello.py lost }}", "no definition of 'lost'"),
        ("{{ source toy/hello.py }}", "Give a file and a name"),
        ("{{ source toy/lost.py x }}", "No lesson holds toy/lost.py"),
        ("{{ exercise bye.bye }}", "bye.bye belongs to the lesson bye"),
        ("{{ exercise hello.great }}", "Did you mean hello.greet"),
        ("{{ lesson now }}", "takes no argument"),
        ("    {{ lesson }}", "The directive lesson is indented"),
    ],
)
def test_a_wrong_directive_is_told_with_file_and_line(hello, line, message):
    with pytest.raises(Problem) as problem:
        page.expand(f"# Title\n\n```\n{{{{ x }}}}\n```\n{line}\n", hello)
    assert str(problem.value).startswith("course/lessons/01_hello/lesson.md, line 6: ")
    assert message in str(problem.value)


# ------------------------------------------------------------------------------------------
# The real lessons

REAL = [lesson for lesson in manifest.load().values() if lesson.exercises]


def test_every_page_has_the_length_of_two_sittings():
    pages = [lesson for lesson in manifest.load().values() if lesson.has_page]
    words = {x.id: len((x.folder / "lesson.md").read_text().split()) for x in pages}
    assert len(words) == 19
    assert {name: count for name, count in words.items() if not 1500 <= count <= 3500} == {}


def test_the_first_sitting_ends_in_the_middle_of_a_page_with_something_that_runs():
    end, divided = "\n## First sitting ends here\n", {}
    for lesson in REAL:
        before, found, after = page.read(lesson).partition(end)
        if found:
            divided[lesson.id] = len(before.split()) / len((before + after).split())
            section = after.partition("\n## ")[0]
            assert 'exec="on"' in section, lesson.id
            shown = re.findall(r"^\{\{ exercise (\S+) \}\}$", before, re.MULTILINE)
            assert 0 < len(shown) < len(lesson.exercises), lesson.id
    assert {name: share for name, share in divided.items() if not 1 / 3 < share < 2 / 3} == {}
    assert len(divided) >= 9


def lines_of(code):
    """A docstring may end on a page where it goes on in the file."""
    return {line.strip().removesuffix('"""') for line in code.splitlines()}


@pytest.mark.parametrize("lesson", REAL, ids=[x.id for x in REAL])
def test_no_page_holds_a_line_that_only_a_solution_holds(lesson):
    made = page.expand(page.read(lesson), lesson)
    blocks = re.findall(r'^```python title="(.*?)"\n(.*?)^```', made, re.MULTILINE | re.DOTALL)
    for file, code in blocks:
        assert lines_of(code) <= lines_of(assemble.read_handout(file))
    ids = re.findall(r"^### .*\{ #(\w+\.\w+) \}$", made, re.MULTILINE)
    extra = [f"{lesson.id}.{kind}" for kind in tasks.KINDS if tasks.exist(lesson)]
    assert sorted(ids) == sorted([*(exercise.id for exercise in lesson.exercises), *extra])
    for exercise in lesson.exercises:
        assert skeleton.docstring(assemble.read_solution(lesson.module), exercise.target)


# ------------------------------------------------------------------------------------------
# Words of the glossary

GLOSSARY = """# Glossary

### Tangent { #tangent }

### Weak type { #weak-type }

### Rule { #rule .common }
"""


def test_a_word_of_the_glossary_is_linked_where_it_is_used_first(hello):
    (places.COURSE / "glossary.md").write_text(GLOSSARY)
    text = "# Tangent\n\n`tangent` and $tangent$. Tangents, a tangent, a rule.\n"
    linked = "[Tangents](../../glossary.md#tangent)"
    assert page.expand(text, hello) == text.replace("Tangents", linked)


def test_a_word_that_is_linked_by_hand_is_left_alone(hello):
    (places.COURSE / "glossary.md").write_text(GLOSSARY)
    text = "A weak type, and [weak types](../../glossary.md#weak-type).\n"
    assert page.expand(text, hello) == text


def slug(heading):
    """The anchor that Markdown outside the site makes of a heading."""
    return re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-"))


def test_every_link_to_the_glossary_hits_in_plain_markdown_too():
    glossary = contents.page("glossary.md")["glossary.md"]
    anchors = re.findall(r'^<a id="(.+)"></a>$', glossary, re.MULTILINE)
    anchors += map(slug, re.findall("^#+ (.+)$", glossary, re.MULTILINE))
    links = re.findall(r"\]\(#([^)]+)\)", glossary)
    assert links
    for lesson in REAL:
        text = page.read(lesson)
        found = re.findall(
            r"\(\.\./\.\./glossary\.md#([^)]+)\)", terms.link_first(text, text, set())
        )
        assert found, lesson.id
        links += found
    assert {link for link in links if link not in anchors} == set()
