"""What the gallery's programs print, as drawings."""

import importlib.util
import re

import pytest

from autograder.lessons import places

spec = importlib.util.spec_from_file_location("drawn", places.ROOT / "site" / "drawn.py")
drawn = importlib.util.module_from_spec(spec)
spec.loader.exec_module(drawn)
PRINTED = sorted(places.ROOT.glob("course/capstones/gallery/*.txt"))


def figure(printed):
    return drawn.FENCE.sub(drawn.figure, f"``` {{ .text .drawn }}\n{printed}\n```")


@pytest.mark.parametrize("file", PRINTED, ids=lambda file: file.stem)
def test_each_letter_of_a_picture_is_drawn_once_and_each_word_kept(file):
    printed = file.read_text(encoding="utf-8").rstrip("\n")
    found, lines = figure(printed), printed.split("\n")
    letters = "".join(line for line in lines if drawn._kind(line) == "letters")
    marks = re.findall(r'<rect|<circle class="(?:seen|found|centre)"', found)
    assert len(marks) == len(letters.replace(" ", ""))
    for line in lines:
        if drawn._kind(line) == "text":
            assert line in found


def test_a_column_of_numbers_is_a_curve_that_falls_where_they_fall():
    found = figure("loss 8.00\nloss 4.00\nloss 2.00")
    points = re.search(r'points="([^"]*)"', found)[1].split()
    heights = [float(point.partition(",")[2]) for point in points]
    assert heights[1] - heights[0] == pytest.approx(heights[2] - heights[1], abs=0.2)
    assert heights[1] > heights[0]
    assert 'aria-label="loss: 8, 4, 2"' in found


@pytest.mark.parametrize("losses", ["2.0 2.0 2.0", "2.0 1.0 0.0"])
def test_equal_numbers_and_zero_are_drawn(losses):
    found = figure("\n".join(f"loss {x}" for x in losses.split()))
    points = re.search(r'points="([^"]*)"', found)[1].split()
    heights = {point.partition(",")[2] for point in points}
    assert len(heights) == len({*losses.split()})
    assert ("logarithmic" in found) == ("0.0" not in losses.split())


def test_the_planet_goes_from_point_to_point_and_back():
    values = re.search(r'"cx" [^>]*values="([^"]*)"', figure("  o\no @ o\n  o"))[1].split(";")
    assert len(values) == 5
    assert values[0] == values[-1]
