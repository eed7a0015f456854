"""What audit tells of seeds and of losses."""

import pytest

from autograder.lessons import manifest
from autograder.upkeep import seeds
from autograder.upkeep.seeds import Cost

ODD = Cost("core.bind, no level", (30.0, 31.0), 31.0, {"test_random_programs": [0]})
STEADY = Cost("core.bind, no box", (27.9, 27.9), 31.0, {})


def _verdict(name, *tests):
    found = [{"id": f"test_{i}", "passed": x, "class": None, "message": None} for i, x in tests]
    for test in found[2:]:
        test["random"] = True
    return {"id": name, "max_points": 6.0, "tests": found}


def test_points_follow_what_comes_of_the_generated_tests():
    part = [_verdict(f"core.{name}", *enumerate([True] * 4)) for name in ("bind", "whole")]
    first = {"exercises": part}
    assert seeds._points(first, {}) == 12
    assert seeds._points(first, {"test_3": False}) == seeds._points(first, {"test_2": False}) == 6
    # Where another test fails, they do not count, in the whole module neither.
    part[0]["tests"][0]["passed"] = False
    every = {seeds._points(first, {"test_2": x, "test_3": y}) for x in (0, 1) for y in (0, 1)}
    assert every == {3 + 6}
    assert seeds._decided(first, ["test_2", "test_3"])


def test_points_are_open_where_only_generated_tests_decide():
    first = {"exercises": [_verdict("core.bind", *enumerate([True] * 4))]}
    assert not seeds._decided(first, ["test_2", "test_3"])
    assert seeds._decided(first, [])


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
