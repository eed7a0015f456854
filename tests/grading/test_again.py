"""What was answered rightly is asked again: nothing may stay from one call to the next."""

import graded_course
import pytest
from graded_course import MODULE, SUITE, changed, graded

pytestmark = pytest.mark.isolated


@pytest.fixture
def lesson(monkeypatch, tmp_path):
    return graded_course.write(monkeypatch, tmp_path)


def exercise(result, name):
    (found,) = [e for e in result["exercises"] if e["id"] == f"tiny.{name}"]
    return found


def test_a_right_answer_is_asked_again_and_keeps_its_points(lesson):
    assert graded(lesson, MODULE.encode())["score"] == 6


KEPT = {
    "types": "_kept[type(x)] = x\n    return 2.0 * np.asarray(x) + (len(_kept) - 1)",
    "values": "_kept[x] = x\n    return 2.0 * np.asarray(x) + (len(_kept) > 3)",
}


@pytest.mark.parametrize("how", KEPT)
def test_what_stays_from_one_call_to_the_next_costs_points(lesson, how):
    source = changed("return 2.0 * np.asarray(x)", KEPT[how]) + b"\n\n_kept = {}\n"
    found = exercise(graded(lesson, source), "double")
    assert found["points"] < 3
    assert "stays from one call to the next" in str(found["tests"])


def test_an_argument_that_is_changed_costs_points(lesson, monkeypatch, tmp_path):
    suite = SUITE.replace("tiny.mean(np.array(x))", "tiny.mean(x)")
    lesson = graded_course.write(monkeypatch, tmp_path, {"suites/tiny.py": suite})
    assert graded(lesson, MODULE.encode())["score"] == 6
    total = "    total = sum(x)\n    x.reverse()\n    return np.float64(total / len(x))"
    found = exercise(graded(lesson, changed("    return np.sum(x) / len(x)", total)), "mean")
    assert found["points"] < 2
    assert "changes an argument" in str(found["tests"])
