"""The map: each lesson below those that it needs, and no arrow over a box, by geometry."""

import itertools
import re
from xml.etree import ElementTree as ET

from autograder.lessons import manifest
from autograder.upkeep import course_map

SVG = "{http://www.w3.org/2000/svg}"
TAUGHT = [lesson for lesson in manifest.load().values() if lesson.has_page]


class Drawn:
    """The boxes of a map by lesson, as (left, top, right, bottom), and its arrows as points."""

    def __init__(self, lessons):
        picture = ET.fromstring(course_map.picture(lessons))
        links = {a.get("data-lesson"): a for a in picture.iter(f"{SVG}a")}
        self.texts = {name: "".join(a.itertext()).split() for name, a in links.items()}
        self.addresses = {name: a.get("href") for name, a in links.items()}
        self.boxes = {name: sides(a.find(f"{SVG}rect")) for name, a in links.items()}
        (group,) = (g for g in picture.iter(f"{SVG}g") if g.get("class") == "map-arrows")
        self.arrows = [points(path.get("d")) for path in group]

    def ends(self, arrow):
        """The lessons that an arrow connects."""
        (x, y), (u, v) = arrow[0], arrow[-1]
        start = [n for n, (a, _, b, bottom) in self.boxes.items() if a < x < b and y == bottom]
        end = [n for n, (a, top, b, _) in self.boxes.items() if a < u < b and top - 3 < v < top]
        return (*start, *end)


def sides(rect):
    x, y, width, height = (float(rect.get(name)) for name in ("x", "y", "width", "height"))
    return x, y, x + width, y + height


def points(path):
    """Points along a path of moves, lines and cubic curves, a few pixels apart."""
    found = []
    for text in re.findall(r"[MLC]([^MLC]*)", path):
        numbers = [float(number) for number in text.split()]
        corners = [*found[-1:], *zip(numbers[::2], numbers[1::2], strict=True)]
        found += [on_curve(corners, t / 40) for t in range(41)]
    return found


def on_curve(corners, t):
    """A point of a Bézier curve, by De Casteljau's way."""
    while len(corners) > 1:
        pairs = itertools.pairwise(corners)
        corners = [((1 - t) * a + t * c, (1 - t) * b + t * d) for (a, b), (c, d) in pairs]
    return corners[0]


def test_no_arrow_runs_over_a_box_and_no_box_over_another():
    drawn = Drawn(TAUGHT)
    for points in drawn.arrows:
        for left, top, right, bottom in drawn.boxes.values():
            assert [p for p in points if left < p[0] < right and top < p[1] < bottom] == []
    for (a, b, c, d), (e, f, g, h) in itertools.combinations(drawn.boxes.values(), 2):
        assert c < e or g < a or d < f or h < b


def test_the_arrows_lead_to_a_lesson_from_all_that_it_needs_and_from_nothing_else():
    drawn = Drawn(TAUGHT)
    leading = {lesson.id: set() for lesson in TAUGHT}
    for start, end in map(drawn.ends, drawn.arrows):
        assert drawn.boxes[start][3] < drawn.boxes[end][1]
        leading[end].add(start)
    known = {lesson.id: lesson for lesson in TAUGHT}
    assert {x: closure(x, leading) for x in known} == {
        x: closure(x, {name: lesson.requires for name, lesson in known.items()}) for x in known
    }


def closure(name, before):
    return {*before[name], *(far for near in before[name] for far in closure(near, before))}


def test_each_box_leads_to_its_lesson_and_has_its_number_and_its_exercises():
    drawn = Drawn(TAUGHT)
    for lesson in TAUGHT:
        count = [str(len(lesson.exercises)), "exercises"] if lesson.exercises else ["to", "run"]
        assert drawn.texts[lesson.id] == [f"{lesson.number}.", lesson.id, *count]
        assert drawn.addresses[lesson.id] == f"../lessons/{lesson.id}/"
