"""Ways through the course: no idea of the seeds is lost; routes fit the manifests."""

import tomllib
from collections import Counter

import pytest

from autograder.lessons import assemble, manifest, skeleton
from autograder.lessons.places import COURSE
from autograder.lessons.problem import Problem
from autograder.upkeep import routes

SEEDS = tomllib.loads((COURSE / "seeds.toml").read_text(encoding="utf-8"))
ROUTES = tomllib.loads((COURSE / "routes.toml").read_text(encoding="utf-8"))["route"]
KNOWN = manifest.load()
TAUGHT = [lesson for lesson in KNOWN.values() if lesson.has_page]


LEFT_OUT = [name for names in SEEDS["left_out"].values() for name in names]


@pytest.mark.parametrize("seed", SEEDS["seed"], ids=lambda seed: seed["id"])
def test_every_definition_and_idea_of_a_seed_is_covered_once(seed):
    own = [idea for idea in SEEDS["idea"] if seed["id"] in idea.get("seeds", [])]
    named = Counter(name for idea in own for name in idea["names"])
    shared = [idea for idea in SEEDS["idea"] if "seeds" not in idea]
    named.update(name for idea in shared for name in idea["names"] if name not in named)
    named.update(LEFT_OUT)
    wanted = {*seed["names"], *seed["ideas"]}
    assert wanted - named.keys() == set()
    assert [name for name in wanted if named[name] > 1] == []
    assert {name for idea in own for name in idea["names"]} - wanted == set()


def test_nothing_is_listed_that_no_seed_has():
    wanted = {name for seed in SEEDS["seed"] for name in seed["names"] + seed["ideas"]}
    named = {name for idea in SEEDS["idea"] for name in idea["names"]}
    assert (named | {*LEFT_OUT}) - wanted == set()


def test_every_idea_has_a_lesson_that_is_taught_and_code_that_exists():
    lessons_named = {idea["lesson"] for idea in SEEDS["idea"]}
    assert [name for name in lessons_named if not KNOWN[name].exercises] == []
    places = [idea["code"].split() for idea in SEEDS["idea"] if "code" in idea]
    assert all(skeleton.definition(assemble.read_solution(f), name) for f, name in places)


def test_a_lesson_that_is_not_there_is_told(monkeypatch):
    seed = {"id": "s", "title": "S", "by": "x", "about": "y", "names": ["a"], "ideas": []}
    wrong = {"names": ["a"], "lesson": "nonsense", "anchor": "z"}
    data = {"seed": [seed], "idea": [wrong], "left_out": {}}
    monkeypatch.setattr(routes, "_read", lambda name: data)
    with pytest.raises(Problem, match="no lesson 'nonsense'"):
        routes.seed_tables(COURSE, list(KNOWN.values()))


def test_routes_go_through_lessons_that_exist_in_an_order_that_works():
    for route in ROUTES:
        names = [name for step in route["steps"] for name in step]
        numbers = [KNOWN[name].number for name in names]
        assert numbers == sorted(set(numbers))
    assert set(names) == set(KNOWN)  # the last one is the whole course


def test_the_hours_of_a_route_are_the_sum_of_its_lessons():
    table = routes.route_table(COURSE, TAUGHT).splitlines()[2:]
    for route, row in zip(ROUTES, table, strict=True):
        names = [name for step in route["steps"] for name in step]
        minutes = sum(KNOWN[name].minutes for name in names if KNOWN[name].has_page)
        assert row.split("|")[-2].strip() == f"{minutes / 60:.0f}"
    assert "[grad](lessons/12_grad/lesson.md)" in table[0]


def test_instructors_see_goals_and_mistakes_of_every_lesson():
    goals, mistakes = routes.goal_lists(TAUGHT), routes.mistake_tables(COURSE, TAUGHT)
    assert [x.id for x in TAUGHT if x.title not in goals] == []
    assert [x.id for x in TAUGHT if x.exercises and x.title not in mistakes] == []


def test_the_parts_hold_every_lesson_once_and_in_order():
    shown = [lesson.id for part in routes.parts(TAUGHT).values() for lesson in part]
    assert shown == [lesson.id for lesson in TAUGHT]


def test_the_lessons_after_control_need_each_other_as_the_map_of_ways_says():
    """`path.md` names them."""
    later = [lesson for lesson in TAUGHT if lesson.number > KNOWN["control"].number]
    names = {lesson.id for lesson in later}
    needed = {lesson.id: names & {*lesson.requires} for lesson in later}
    assert {name: of for name, of in needed.items() if of} == {
        "checkpoint": {"custom"},
        "random": {"pmap"},
    }
