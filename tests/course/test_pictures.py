"""The pictures of the lessons: enough of them, in the course's colors, legible on a phone."""

import re
import xml.etree.ElementTree as ET
from collections import Counter

import pytest

from autograder.lessons import manifest, page, pictures
from autograder.lessons.problem import Problem

LESSONS = [lesson for lesson in manifest.load().values() if lesson.has_page]
FILES = [file for lesson in LESSONS for file in sorted(lesson.folder.glob("*.svg"))]
SHOWN = re.compile(r"(?<!\[)\]\(([\w-]+\.svg)\)")
PHONE = 343  # CSS pixels that a page has for a picture on a phone that is 375 wide
NAMES = [f"{file.parent.name}/{file.name}" for file in FILES]


def test_every_picture_is_shown_once_and_no_lesson_has_only_one():
    for lesson in LESSONS:
        shown = Counter(SHOWN.findall(page.read(lesson)))
        assert shown == Counter(file.name for file in lesson.folder.glob("*.svg"))
        assert 2 <= len(shown) <= 3


@pytest.mark.parametrize("file", FILES, ids=NAMES)
def test_a_picture_has_only_colors_that_follow_the_scheme(file):
    svg = file.read_text(encoding="utf-8")
    given = set(re.findall(r'(?:fill|stroke|color)="([^"]+)"', svg))
    assert given <= {*pictures.COLORS, "none"}
    assert '"#' not in pictures.inlined(file, "words")


@pytest.mark.parametrize("file", FILES, ids=NAMES)
def test_a_picture_s_letters_are_inside_and_large_enough_for_a_phone(file):
    root = ET.parse(file).getroot()
    _, _, width, height = map(float, root.get("viewBox").split())
    sizes = [float(x.get("font-size")) for x in root.iter() if x.get("font-size")]
    assert min(sizes) * min(1, PHONE / width) >= 10
    for text in root.iter("{http://www.w3.org/2000/svg}text"):
        assert 0 <= float(text.get("x")) <= width
        assert 0 <= float(text.get("y")) <= height


def test_a_picture_that_does_not_say_what_it_shows_is_refused(tmp_path):
    (tmp_path / "box.svg").write_text("<svg><title>A box</title></svg>")
    with pytest.raises(Problem, match=r"box\.svg does not say what it shows"):
        pictures.with_descriptions("![](box.svg)", tmp_path)
    (tmp_path / "box.svg").write_text("<svg><desc>\n  A box\n  &lt; 3.\n</desc></svg>")
    assert pictures.with_descriptions("![](box.svg)", tmp_path) == "![A box < 3.](box.svg)"


def test_ids_of_two_pictures_on_a_page_differ(tmp_path):
    svg = (
        '<svg viewBox="0 0 10 10" font-size="8"><path id="tip" fill="#1b2440"/>'
        '<path marker-end="url(#tip)"/></svg>'
    )
    for name in "ab":
        (tmp_path / f"{name}.svg").write_text(svg)
        made = pictures.inlined(tmp_path / f"{name}.svg", "A tip")
        assert f'id="{name}-tip"' in made
        assert f"url(#{name}-tip)" in made
        assert "var(--picture-ink)" in made
