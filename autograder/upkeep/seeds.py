"""Does the seed of the generated tests change a grade? What does a wrong answer cost?

Each stored wrong answer meets the generated tests of its exercise and of the whole module with
each of so many seeds, if its points depend on them at all. A mistake that they can find must be
found with every seed.
"""

import functools
import statistics
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pytest

from autograder.grading import answers, partial, pool, submission, telling, under_pytest
from autograder.grading.laws import Generating
from autograder.grading.oracle import reference
from autograder.grading.result import Result, Test, Verdict
from autograder.grading.suite_run import SuiteRun
from autograder.grading.task import Task
from autograder.lessons import manifest
from autograder.lessons.manifest import Lesson
from autograder.student import screen

SEEDS = 20

Passed = Mapping[str, bool]  # by generated test


@dataclass(frozen=True)
class Cost:
    """What came of a stored wrong answer: its points by seed, of so many in the lesson."""

    name: str
    points: Sequence[float]
    maximum: float
    odd: Mapping[str, Sequence[int]]  # the tests that only some seeds fail, with these seeds

    @property
    def loss(self) -> float:
        """The percentage of the lesson's points that it loses, with the first seed."""
        return 100 * (1 - self.points[0] / self.maximum)

    @property
    def is_steady(self) -> bool:
        """Has it the same points with every seed?"""
        return len(set(self.points)) == 1

    def __str__(self) -> str:
        tests = (
            f"{test} fails with {len(some)} of {SEEDS} seeds" for test, some in self.odd.items()
        )
        return f"{self.name}: {min(self.points):g} to {max(self.points):g}. {'; '.join(tests)}"


def run(chosen: Sequence[Lesson]) -> int:
    """Print a table of these lessons, and the answers whose points depend on the seed: 1 for any.

    It takes a minute or two for a lesson, where the other tests decide about most answers.
    """
    rows, odd = [("lesson", f"same points with {SEEDS} seeds", "median loss")], []
    with pool.crew() as crew:
        for lesson in chosen:
            found = costs(lesson, crew)
            steady = [cost for cost in found if cost.is_steady]
            odd += [str(cost) for cost in found if not cost.is_steady]
            loss = f"{statistics.median(x.loss for x in found):.1f} %" if found else ""
            rows.append((lesson.id, f"{len(steady)} of {len(found)}", loss))
    print("\nWhat stored wrong answers cost:", *screen.columns(rows), "", sep="\n")
    print(*(f"- {text}" for text in odd), sep="\n")
    return 1 if odd else 0


def costs(lesson: Lesson, crew: pool.Crew, level: str | None = None) -> list[Cost]:
    """What each stored wrong answer of a lesson costs, with each seed."""
    named = [(x.exercise, x.name, answers.variant_source(x)) for x in answers.mistakes(lesson.id)]
    others = answers.wrong(lesson.id)
    named += [(x.exercise, f"fails {x.fails}", answers.variant_source(x)) for x in others]
    task = functools.partial(_cost, lesson.id, level)
    return [found for _, found in crew.each(task, named)]


def _cost(lesson_id: str, level: str | None, sent: tuple[str, str, str]) -> Cost:
    lesson, (exercise, name, source) = manifest.get(lesson_id), sent
    task = Task.of(lesson, source.encode(), level)
    first = submission.grade(task, shrink=False)
    decided = _decided(first, _generated(lesson, exercise))
    every = [{}] if decided else [*_outcomes(lesson, task, exercise)]
    points = [_points(first, passed) for passed in every]
    failing = {test: [i for i, x in enumerate(every) if not x.get(test)] for test in every[0]}
    odd = {test: seeds for test, seeds in failing.items() if 0 < len(seeds) < SEEDS}
    return Cost(f"{exercise}, {name}", points, lesson.max_points, odd)


def _decided(first: Result, generated: Collection[str]) -> bool:
    """Whether a submission has the same points, whatever the generated tests find."""
    best, worst = (_points(first, dict.fromkeys(generated, passed)) for passed in (True, False))
    return best == worst


def _points(first: Result, passed: Passed) -> float:
    """The points of a submission if its generated tests come to this."""
    every = [test for verdict in first["exercises"] for test in verdict["tests"]]
    return round(sum(_worth(verdict, every, passed) for verdict in first["exercises"]), 2)


def _worth(verdict: Verdict, every: Sequence[Test], passed: Passed) -> float:
    whole = verdict["id"].endswith(".whole")
    tests: list[Test] = [
        {**test, "passed": passed.get(test["id"], test["passed"])} for test in verdict["tests"]
    ]
    others = (test for test in (every if whole else tests) if not test.get("random"))
    share = partial.share(tests, sure=all(test["passed"] for test in others))
    points = round(share * verdict["max_points"], 2)
    changed: Verdict = {**verdict, "tests": tests, "points": points, "by_tests": points}
    rule = partial.TESTS if whole else partial.THIRDS
    return partial.worth(changed, rule, verdict["max_points"])["points"]


def _outcomes(lesson: Lesson, task: Task, exercise: str) -> Iterator[Passed]:
    """By seed, what comes of the generated tests of an exercise and of the whole module."""
    source, level, tests = task.source or b"", task.edition.level, _generated(lesson, exercise)
    oracle, lines = reference(lesson, level), telling.file_lines(source)
    with submission.opened(lesson, source, level) as session:
        session.load()
        for seed in range(SEEDS):
            generating = Generating(seed, None, shrink=False)
            run = _Some(lesson, session, oracle, generating, None, lines=lines)
            run.tests = tests
            if tests:
                under_pytest.run(under_pytest.suite_of(lesson), run)
            yield {test: found is None for test, found in run.outcomes.items()}


def _generated(lesson: Lesson, exercise: str) -> frozenset[str]:
    """The tests of an exercise and of the whole module that ask about random programs."""
    suite = under_pytest.suite_of(lesson)
    parts = [exercise, *([lesson.whole.id] if lesson.whole else [])]
    tests = [test for part in parts for test in under_pytest.collect(suite)[part]]
    return under_pytest.on_random_programs(suite).intersection(tests)


class _Some(SuiteRun):
    """A run of some tests."""

    tests: Collection[str] = ()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out the others, and have those of the whole module first."""
        items[:] = [item for item in items if item.name in self.tests]
        super().pytest_collection_modifyitems(items)
