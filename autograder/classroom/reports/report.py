"""The report: a page for the class, a page for each student, and a table, made from results.

The class page is for the instructor. A student's page is for that student: it holds what feedback
holds, and nothing of what is for the instructor's eye. Both are single files. Nothing that a
submission wrote is shown but requests to look again; these and names of students are escaped. The
programs that are shown are the grader's own: the smallest ones on which a submission goes wrong.
"""

import statistics
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from autograder.classroom.course import people
from autograder.classroom.course import settings as courses
from autograder.classroom.course.people import Roster
from autograder.classroom.intake import look_again
from autograder.classroom.intake.look_again import Request
from autograder.classroom.reports import grades
from autograder.classroom.run import pages
from autograder.grading import feedback, result_files
from autograder.grading.result import Class, Result, Verdict
from autograder.lessons import manifest
from autograder.lessons.manifest import Exercise, Whole

NO_MODULE = "no module to test"  # why all points were lost: it is missing, or is no valid Python
NOT_TRIED = (None, "not_implemented", NO_MODULE)
BINS = (*(f"{i * 10} to {i * 10 + 9} %" for i in range(10)), "100 %")  # full points apart
STUDENTS = "students"
FEW = 10  # submissions, with fewer of which discrimination means nothing
POOR = 0.2  # discrimination below which an exercise tells little (Ebel and Frisbie 1991)
SHOWN = 5  # counterexamples
FAR_APART = "Means that are far apart say that a variant is harder than the others."
T = TypeVar("T")
COLUMNS = (
    *("lesson", "student", "exercise", "points", "max_points", "class", "mistake", "by_tests"),
    *("name", "section", "days_late"),
)


def write(folder: Path, source: str | None = None) -> Path:
    """Write report.html, report.csv and a page for each student; the path of the class page.

    They are made from a folder of results and those in it, or from the gradebook of a course
    directory, and are written to where the results are.
    """
    course = grades.directory(folder)
    roster = people.roster(course or folder)
    found, folder = grades.read(folder, source), grades.written_to(folder, source)
    # All are made before any is written.
    asked = look_again.requests(course, courses.read(course)) if course else []
    students, page = student_pages(found), render(found, roster, asked)
    table = result_files.table(list(_rows(found, roster)))
    with result_files.made_whole(folder / STUDENTS) as new:
        for student, text in students.items():
            (new / f"{result_files.file_name(student)}.html").write_text(text, encoding="utf-8")
    result_files.write_text(folder / "report.csv", table)
    result_files.write_text(folder / "report.html", page)
    return folder / "report.html"


def _rows(found: Class, roster: Roster) -> Iterable[list[Any]]:
    """The table: one line for each exercise of each submission."""
    yield list(COLUMNS)
    for lesson, class_results in found.items():
        for result in class_results:
            who = roster.get(result["student"])
            person = who.full_name, who.section, result.get("days_late", "")
            for verdict in result["exercises"]:
                points = verdict["points"], verdict["max_points"]
                about = verdict["id"], *points, verdict["class"], _mistake(verdict)
                yield [lesson, result["student"], *about, _by_tests(verdict), *person]


def _mistake(verdict: Verdict) -> str:
    return verdict["misconception"]["name"] if verdict["misconception"] else ""


def _by_tests(verdict: Verdict) -> float:
    """The points that the share of passed tests would give."""
    return verdict.get("by_tests", verdict["points"])


# ------------------------------------------------------------------------------------------
# The pages


def render(found: Class, roster: Roster | None = None, asked: Sequence[Request] = ()) -> str:
    """The class page."""
    roster = roster or Roster()
    everything = [result for class_results in found.values() for result in class_results]
    return pages.template("report.html.j2").render(
        lessons=[_lesson(name, class_results, roster) for name, class_results in found.items()],
        students=len({result["student"] for result in everything}),
        submissions=len(everything),
        isolation=sorted({result["isolation"] for result in everything}),
        names={x.id: x.full_name for x in roster.students.values()},
        sections={x.id: x.section for x in roster.students.values() if x.section},
        asked=[(each, _verdict(found, each)) for each in asked],
        few=FEW,
        poor=POOR,
    )


def _verdict(found: Class, each: Request) -> list[str]:
    """The points of what a student wants to be looked at again, by assignment, and why."""
    return [
        f"{name}: {v['points']:g} of {v['max_points']:g}. {v['message'] or ''}".strip()
        for name, results in found.items()
        for result in results
        for v in result["exercises"]
        if (result["student"], v["id"]) == (each.student, each.exercise)
    ]


def student_pages(found: Class) -> dict[str, str]:
    """Each student's page."""
    results = (result for class_results in found.values() for result in class_results)
    template = pages.template("student.html.j2")
    about = {"title": _title, "lesson_title": _lesson_title, "by_tests": _by_tests}
    return {
        student: template.render(student=student, results=own, feedback=feedback, **about)
        for student, own in _grouped((result["student"], result) for result in results).items()
    }


_BY_HAND = {"question": "The written question", "open": "The open task"}


@cache
def _known() -> dict[str, Exercise | Whole]:
    return {part.id: part for lesson in manifest.load().values() for part in lesson.graded}


def _title(exercise: str) -> str:
    """An exercise's title; its id where the course does not have it any more."""
    kind = exercise.rpartition(".")[2]
    if exercise not in _known() and kind in _BY_HAND:
        return _BY_HAND[kind]
    return _known()[exercise].title if exercise in _known() else exercise


def _lesson_title(lesson: str) -> str:
    known = manifest.load()
    return known[lesson].title if lesson in known else lesson


# ------------------------------------------------------------------------------------------
# A lesson on the class page. Where something is counted, the page names the students as well.


def _lesson(name: str, given: list[Result], roster: Roster) -> dict[str, Any]:
    found = list(map(_with_one_fault, given))
    scores = [result["score"] for result in found]
    exercises = _exercises(found)
    bins = _grouped((_bin(result), result["student"]) for result in found)
    suspects = [suspect for result in found if (suspect := _suspect(result))]
    programs = [(x["id"], *each) for x in exercises for each in x["programs"]]
    longest = max(found, key=lambda result: result["seconds"])
    return {
        "id": name,
        "title": _lesson_title(name),
        "count": len(found),
        "max_score": found[0]["max_score"],
        "mean": statistics.fmean(scores),
        "by_tests": statistics.fmean(sum(map(_by_tests, x["exercises"])) for x in found),
        "median": statistics.median(scores),
        "bins": [(label, bins.get(i, [])) for i, label in enumerate(BINS)],
        "exercises": exercises,
        "unclear": [x for x in exercises if x["unclear"]],
        "mistakes": [x for x in exercises if x["mistakes"]],
        "sinks": sorted((x for x in exercises if x["hours"]), key=lambda x: -x["hours"]),
        "seconds": statistics.median(result["seconds"] for result in found),
        "longest": longest,
        "programs": sorted(programs, key=lambda row: -len(row[2]))[:SHOWN],
        "suspects": sorted(suspects, key=lambda suspect: not suspect["cheating"]),
        "grades": [(result, _lost(result)) for result in found],
        "groups": [
            ("Sections", "", _groups(found, lambda x: roster.get(x["student"]).section)),
            ("Variants", FAR_APART, _groups(found, lambda x: x.get("variant"))),
        ],
    }


def _with_one_fault(result: Result) -> Result:
    """The result; what is at fault in the module as a whole is no failure of each exercise."""
    faults = feedback.faults(result)
    verdicts: list[Any] = [
        {**x, "class": NO_MODULE} if x["message"] in faults else x for x in result["exercises"]
    ]
    return {**result, "exercises": verdicts}


def _grouped(pairs: Iterable[tuple[Any, T]]) -> dict[Any, list[T]]:
    """What the second ones of pairs are, by the first ones."""
    groups: dict[Any, list[T]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def _ranked(pairs: Iterable[tuple[Any, str]]) -> list[tuple[Any, list[str]]]:
    """The same, the largest group first."""
    return sorted(_grouped(pairs).items(), key=lambda group: -len(group[1]))


def _groups(found: list[Result], of: Callable[[Result], Any]) -> list[dict[str, Any]]:
    """The variants, or sections, with their students and means; none if there are none."""
    return [
        {
            "name": name,
            "who": [result["student"] for result in own],
            "mean": statistics.fmean(result["score"] for result in own),
        }
        for name, own in sorted(_grouped((of(x), x) for x in found if of(x)).items())
    ]


def _bin(result: Result) -> int:
    """The tenth of the points that a submission has; the last of BINS for all of them."""
    tenths = len(BINS) - 1
    return min(int(result["score"] / result["max_score"] * tenths + 1e-9), tenths)


# ------------------------------------------------------------------------------------------
# Exercises


def _exercises(found: list[Result]) -> list[dict[str, Any]]:
    """Every exercise with its pass rate, discrimination, and why points were lost."""
    pairs = (
        (verdict["id"], (result, verdict)) for result in found for verdict in result["exercises"]
    )
    return [_exercise(name, own) for name, own in _grouped(pairs).items()]


def _exercise(name: str, pairs: list[tuple[Result, Verdict]]) -> dict[str, Any]:
    shares = [v["points"] / v["max_points"] for _, v in pairs]
    whose = [(v, result["student"]) for result, v in pairs]
    tried = [(v, who) for v, who in whose if v["class"] not in NOT_TRIED]
    known = _known().get(name)
    minutes = known.minutes if isinstance(known, Exercise) else 0
    value = discrimination(shares, [result["score"] - v["points"] for result, v in pairs])
    mistakes = _ranked((_mistake(v), who) for v, who in tried)
    return {
        "id": name,
        "full": [who for share, (_, who) in zip(shares, whose, strict=True) if share >= 1],
        "part": [who for share, (_, who) in zip(shares, whose, strict=True) if 0 < share < 1],
        "mean": 100 * statistics.fmean(shares),
        "discrimination": value,
        "unclear": _unclear(shares, value),
        "reasons": _ranked((plain(v["class"]), who) for v, who in whose if v["class"]),
        "mistakes": sorted(mistakes, key=lambda mistake: not mistake[0]),  # what has no name last
        "stuck": [who for _, who in tried],
        "minutes": minutes,  # of working time, as planned
        "hours": len(tried) * minutes / 60,
        "programs": _ranked((v["counterexample"], who) for v, who in whose if v["counterexample"]),
    }


def discrimination(shares: Sequence[float], rest: Sequence[float]) -> float | None:
    """How an exercise's points go together with the points of the other exercises, from -1 to 1.

    It is Pearson's correlation, without the exercise itself in the total; None where there are too
    few submissions, or where all have the same.
    """
    if len(shares) < FEW or len(set(shares)) == 1 or len(set(rest)) == 1:
        return None
    return statistics.correlation(shares, rest)


def _unclear(shares: Sequence[float], value: float | None) -> str:
    """Why an exercise does not tell the strong from the weak; nothing where it does."""
    if len(shares) < FEW:
        return ""
    if len(set(shares)) == 1:
        return {1.0: "All have full points.", 0.0: "None has points."}.get(
            shares[0], "All have the same points."
        )
    if value is None or value >= POOR:
        return ""
    if value < 0:
        return "Who does well in it does worse in the rest: it may be at fault."
    return "Who does well in it does hardly better in the rest."


# ------------------------------------------------------------------------------------------
# Students


def _suspect(result: Result) -> dict[str, Any] | None:
    """Why a person should look at a submission; signs of cheating first."""
    signs, verdicts = result.get("review", []), result["exercises"]
    odd = [f"{v['id']}: {plain(v['class'])}" for v in verdicts if v["class"] in feedback.LIMITS]
    unread = [f"{v['id']}: not read yet" for v in verdicts if feedback.is_unread(v)]
    reasons = [*signs, *odd, *unread, *result["remarks"]]
    found = {"student": result["student"], "reasons": reasons, "cheating": bool(signs)}
    return found if reasons else None


def _lost(result: Result) -> str:
    """Where points were lost; one word for everywhere: a lesson has too many exercises to list."""
    lost = [v["id"] for v in result["exercises"] if v["points"] < v["max_points"]]
    everywhere = len(lost) == len(result["exercises"]) > 1
    return "every exercise" if everywhere else ", ".join(lost)


def plain(kind: str) -> str:
    """A kind of failure in words."""
    return kind.replace("_", " ")
