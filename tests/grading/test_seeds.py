"""What audit tells of seeds and of losses."""

import pytest

from autograder.lessons import manifest
from autograder.upkeep import seeds
from autograder.upkeep.seeds import Cost

ODD = Cost("core.bind, no level", (30.0, 31.0), 31.0, {"test_random_programs": [0]})
STEADY = Cost("core.bind, no box", (27.9, 27.9), 31.0, {})


def test_points_follow_what_comes_of_the_generated_tests():
    tests = [{"id": f"test_{i}", "passed": i < 3, "class": None, "message": None} for i in range(4)]
    verdict = {"id": "core.bind", "points": 4.0, "max_points": 6.0, "tests": tests}
    assert seeds._points(verdict, {"test_3": True}) == 6.0
    assert seeds._points(verdict, {"test_3": False}) == 4.0
    assert seeds._points(verdict, {"test_2": False}) == 2.0
    assert seeds._points({**verdict, "id": "core.whole"}, {"test_3": False}) == 4.5


@pytest.mark.parametrize(("found", "status"), [([STEADY], 0), ([STEADY, ODD], 1)])
def test_the_table_names_what_depends_on_the_seed(monkeypatch, capsys, found, status):
    monkeypatch.setattr(seeds, "costs", lambda lesson, crew: found)
    assert seeds.run([manifest.get("core")]) == status
    text = capsys.readouterr().out
    assert f"core    1 of {len(found)}" in text
    told = "- core.bind, no level: 30 to 31. test_random_programs fails with 1 of 20 seeds\n"
    assert (told in text) == bool(status)


def test_generated_tests_are_those_of_the_exercise_and_of_the_whole_module():
    found = seeds._generated(manifest.get("core"), "core.counted")
    assert {"test_counted_programs", "test_whole_programs"} <= found
    assert not {"test_random_programs", "test_constants_do_not_count"} & found
    assert seeds._generated(manifest.get("duals"), "duals.jvp") == frozenset()
