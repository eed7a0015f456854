"""The map of the course: which lessons build on which, as a picture whose boxes are links.

Each lesson is in a row below all that it needs. An arrow that passes a row has a place of its own
in it, as a lesson has, and between two rows there are no boxes: so no arrow crosses one. What
follows from two other arrows is not drawn.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from autograder.lessons.manifest import Lesson

_BOX, _GAP, _STEP = (150, 48), 14, 88
_PICTURE = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="group" \
font-family="system-ui, sans-serif" font-size="16">
  <title>Which lessons build on which; the arrows go from a lesson to those that need it</title>
  <rect class="map-ground" width="{width}" height="{height}" rx="10" fill="#f6f7fb"/>
  <defs>
    <marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="6" markerHeight="6" \
orient="auto">
      <path class="map-tip" d="M0 0 10 5 0 10z" fill="#33415c"/>
    </marker>
  </defs>
  <g class="map-arrows" fill="none" stroke="#33415c" stroke-width="1.5" marker-end="url(#tip)">
{arrows}  </g>
  <g text-anchor="middle">
{boxes}  </g>
</svg>
"""
_LESSON = """\
    <a href="../lessons/{id}/" data-lesson="{id}">
      <rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="#ffffff" \
stroke="#33415c" stroke-width="1.5"/>
      <text x="{middle}" y="{name}" fill="#1b2440">{number}. {id}</text>
      <text class="map-count" x="{middle}" y="{count}" fill="#46536b" font-size="13">{what}</text>
    </a>
"""


@dataclass(frozen=True)
class _Passing:
    """Where the arrow between two lessons passes a row."""

    before: Lesson
    after: Lesson
    row: int


_Place = Lesson | _Passing


def picture(known: Sequence[Lesson]) -> str:
    """The lessons as boxes, each below those that it builds on, as SVG."""
    shown = [lesson for lesson in known if lesson.has_page]
    arrows = drawn(shown)
    places = _corners(_rows(shown, arrows))
    paths = "".join(f'    <path d="{_path(way, places)}"/>\n' for way in _ways(shown, arrows))
    return _PICTURE.format(
        width=max(x for x, _ in places.values()) + _BOX[0] + _GAP,
        height=max(y for _, y in places.values()) + _BOX[1] + _GAP,
        arrows=paths,
        boxes="".join(_box(lesson, *places[lesson]) for lesson in shown),
    )


def drawn(shown: Sequence[Lesson]) -> list[tuple[Lesson, Lesson]]:
    """The pairs that an arrow connects: a lesson, and one of those that it requires.

    What one of the others requires anyway has none.
    """
    by_id = {lesson.id: lesson for lesson in shown}
    return [
        (by_id[name], lesson)
        for lesson in shown
        for name in lesson.requires
        if name in by_id and not any(name in _before(by_id, other) for other in lesson.requires)
    ]


def _before(known: dict[str, Lesson], name: str) -> set[str]:
    """All that a lesson stands on."""
    direct = known[name].requires if name in known else ()
    return {*direct, *(far for near in direct for far in _before(known, near))}


# ------------------------------------------------------------------------------------------
# Places


def _depths(shown: Sequence[Lesson]) -> dict[Lesson, int]:
    """How many steps there are before each lesson: its row."""
    depth: dict[str, int] = {}
    for lesson in shown:
        depth[lesson.id] = 1 + max((depth.get(name, -1) for name in lesson.requires), default=-1)
    return {lesson: depth[lesson.id] for lesson in shown}


def _ways(shown: Sequence[Lesson], arrows: Sequence[tuple[Lesson, Lesson]]) -> list[list[_Place]]:
    """Each arrow with the places that it goes through, from lesson to lesson."""
    depth = _depths(shown)
    return [
        [a, *(_Passing(a, b, row) for row in range(depth[a] + 1, depth[b])), b] for a, b in arrows
    ]


def _rows(shown: Sequence[Lesson], arrows: Sequence[tuple[Lesson, Lesson]]) -> list[list[_Place]]:
    """What is in each row, from left to right: each place near those above that lead to it."""
    depth, ways = _depths(shown), _ways(shown, arrows)
    row_of: dict[_Place, int] = {lesson: depth[lesson] for lesson in shown}
    row_of |= {x: x.row for way in ways for x in way if isinstance(x, _Passing)}
    above: dict[_Place, list[_Place]] = {place: [] for place in row_of}
    for a, b in (pair for way in ways for pair in itertools.pairwise(way)):
        above[b].append(a)
    column: dict[_Place, int] = {}

    def wish(place: _Place) -> tuple[float, int]:
        columns = [column[x] for x in above[place]]
        number = place.before.number if isinstance(place, _Passing) else place.number
        return (sum(columns) / len(columns) if columns else 0.0, number)

    rows = []
    for row in range(max(depth.values(), default=-1) + 1):
        rows.append(sorted((x for x in row_of if row_of[x] == row), key=wish))
        column |= {place: number for number, place in enumerate(rows[-1])}
    return rows


def _corners(rows: Sequence[Sequence[_Place]]) -> dict[_Place, tuple[int, int]]:
    """The upper left corner of each place."""
    return {
        place: (_GAP + column * (_BOX[0] + 2 * _GAP), _GAP + row * _STEP)
        for row, places in enumerate(rows)
        for column, place in enumerate(places)
    }


# ------------------------------------------------------------------------------------------
# Drawing


def _box(lesson: Lesson, x: int, y: int) -> str:
    width, height = _BOX
    count = len(lesson.exercises)
    return _LESSON.format(
        id=lesson.id,
        number=lesson.number,
        x=x,
        y=y,
        width=width,
        height=height,
        middle=x + width // 2,
        name=y + 21,
        count=y + 39,
        what=f"{count} exercise{'s' * (count != 1)}" if count else "to run",
    )


def _path(way: Sequence[_Place], places: dict[_Place, tuple[int, int]]) -> str:
    """An arrow: straight down where it passes a row, a curve from one row to the next."""
    width, height = _BOX
    x, y = places[way[0]]
    path = f"M{x + width // 2} {y + height}"
    for place in way[1:]:
        left, top = places[place]
        end, middle = left + width // 2, top - (_STEP - height) // 2
        path += f"C{x + width // 2} {middle} {end} {middle} {end} {top - 2}"
        if isinstance(place, _Passing):
            path += f"L{end} {top + height}"
        x = left
    return path
