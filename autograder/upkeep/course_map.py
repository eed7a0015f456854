"""The map of the course: which lessons build on which, as a picture whose boxes are links.

Each lesson is in a row below all that it needs, and no arrow crosses a box: `layered` sees to that.
What follows from two other arrows is not drawn.
"""

from collections.abc import Sequence

from autograder.lessons import layered
from autograder.lessons.manifest import Lesson

_WIDTH, _HEIGHT, _GAP, _STEP = 134, 48, 14, 88
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


def picture(known: Sequence[Lesson]) -> str:
    """The lessons as boxes, each below those that it builds on, as SVG."""
    shown = [lesson for lesson in known if lesson.has_page]
    reads = [[shown.index(other) for other in direct(lesson, shown)] for lesson in shown]
    plan = layered.draw([layered.Node(_WIDTH, x) for x in reads])
    return _PICTURE.format(
        width=round(plan.width + 2 * _GAP),
        height=max(map(_top, plan.layers)) + _HEIGHT + _GAP,
        arrows="".join(f'    <path d="{_path(way)}"/>\n' for way in plan.ways.values()),
        boxes="".join(map(_box, shown, plan.middles, map(_top, plan.layers))),
    )


def direct(lesson: Lesson, shown: Sequence[Lesson]) -> list[Lesson]:
    """The lessons that a lesson requires, but for what one of the others requires anyway."""
    required = [other for other in shown if other.id in lesson.requires]
    indirect = {name for other in required for name in _before(other, shown)}
    return [other for other in required if other.id not in indirect]


def _before(lesson: Lesson, shown: Sequence[Lesson]) -> set[str]:
    """All that a lesson stands on."""
    required = [other for other in shown if other.id in lesson.requires]
    return {*lesson.requires, *(name for other in required for name in _before(other, shown))}


def _top(layer: int) -> int:
    return _GAP + layer * _STEP


def _box(lesson: Lesson, middle: float, top: int) -> str:
    count = len(lesson.exercises)
    return _LESSON.format(
        id=lesson.id,
        number=lesson.number,
        x=round(_GAP + middle - _WIDTH / 2),
        y=top,
        width=_WIDTH,
        height=_HEIGHT,
        middle=round(_GAP + middle),
        name=top + 21,
        count=top + 39,
        what=f"{count} exercise{'s' * (count != 1)}" if count else "to run",
    )


def _path(way: Sequence[tuple[float, int]]) -> str:
    """An arrow: straight down where it passes a row, a curve from one row to the next."""
    (x, first), *rest = [(round(_GAP + middle), _top(layer)) for middle, layer in way]
    path = f"M{x} {first + _HEIGHT}"
    for end, top in rest:
        middle = top - (_STEP - _HEIGHT) // 2
        path += f"C{x} {middle} {end} {middle} {end} {top - 2}L{end} {top + _HEIGHT}"
        x = end
    return path.rpartition("L")[0]
