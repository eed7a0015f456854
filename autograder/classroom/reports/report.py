"""The report: a page for the class, a page for each student, and a table, made from results.

The class page is for the instructor. A student's page is for that student: it holds what feedback
holds, and nothing of what is for the instructor's eye. Both are single files. Nothing that a
submission wrote is shown but requests to look again; these and names of students are escaped. The
programs that are shown are the grader's own: the smallest ones on which a submission goes wrong.
"""

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from autograder.classroom.course import people
from autograder.classroom.course import settings as courses
from autograder.classroom.course.people import Roster
from autograder.classroom.intake import look_again
from autograder.classroom.intake.look_again import Request
from autograder.classroom.reports import charts, grades
from autograder.classroom.run import pages
from autograder.grading import feedback, result_files
from autograder.grading.result import Class, Result, Verdict
from autograder.lessons import manifest
from autograder.lessons.manifest import Exercise, Whole

NO_MODULE = "no module to test"  # why all points were lost: it is missing, or is no valid Python
NOT_TRIED = (None, "not_implemented", NO_MODULE)
BINS = 10
STUDENTS = "students"
FEW = 10  # submissions, with fewer of which discrimination means nothing
POOR = 0.2  # discrimination below which an exercise tells little (Ebel and Frisbie 1991)
NAMED = ("1st", "2nd", "3rd")  # mistakes of an exercise in the heat map, by frequency
SHOWN = 5  # counterexamples
Shared = dict[str, Any]  # what submissions share, by the page that shows it
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
    shared = _shared(course, folder) if course else {}
    # All are made before any is written.
    asked = look_again.requests(course, courses.read(course)) if course else []
    students, page = student_pages(found), render(found, roster, shared, asked)
    table = result_files.table(list(_rows(found, roster)))
    with result_files.made_whole(folder / STUDENTS) as new:
        for student, text in students.items():
            (new / f"{result_files.file_name(student)}.html").write_text(text, encoding="utf-8")
    result_files.write_text(folder / "report.csv", table)
    result_files.write_text(folder / "report.html", page)
    return folder / "report.html"


def _shared(course: Path, folder: Path) -> dict[str, Any]:
    """What submissions share, by page; nothing where copydetect is not installed."""
    if find_spec("copydetect") is None:
        return {}
    from autograder.classroom.reports import similar

    return similar.of_course(course, courses.read(course), folder)


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


def render(
    found: Class,
    roster: Roster | None = None,
    shared: Shared | None = None,
    asked: Sequence[Request] = (),
) -> str:
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
        shared=shared or {},
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
    by_student: dict[str, list[Result]] = {}
    for class_results in found.values():
        for result in class_results:
            by_student.setdefault(result["student"], []).append(result)
    template = pages.template("student.html.j2")
    return {
        student: template.render(student=student, lessons=[_own_lesson(x) for x in own])
        for student, own in by_student.items()
    }


def _own_lesson(result: Result) -> dict[str, Any]:
    exercises = [
        {
            "id": verdict["id"],
            "title": _title(verdict["id"]),
            "points": verdict["points"],
            "max_points": verdict["max_points"],
            "by_tests": _by_tests(verdict),
            "feedback": "\n".join(feedback.lines(verdict, [])),
            "unread": feedback.is_unread(verdict),
            "program": verdict["counterexample"],
        }
        for verdict in result["exercises"]
    ]
    return {
        "score": result["score"],
        "max_score": result["max_score"],
        "remarks": [*result.get("notes", []), *result["remarks"]],
        "id": result["lesson"],
        "title": _lesson_title(result["lesson"]),
        "exercises": exercises,
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
# A lesson on the class page


def _lesson(name: str, given: list[Result], roster: Roster) -> dict[str, Any]:
    found = list(map(_with_one_fault, given))
    scores = [result["score"] for result in found]
    exercises = _exercises(found)
    bins, mistakes, sinks = _histogram(found), _mistakes(found), _time_sinks(found)
    suspects = [suspect for result in found if (suspect := _suspect(result))]
    return {
        "id": name,
        "title": _lesson_title(name),
        "count": len(found),
        "max_score": found[0]["max_score"],
        "mean": statistics.fmean(scores),
        "by_tests": statistics.fmean(sum(map(_by_tests, x["exercises"])) for x in found),
        "median": statistics.median(scores),
        "bins": bins,
        "exercises": exercises,
        "unclear": [x for x in exercises if x["unclear"]],
        "mistakes": mistakes,
        "sinks": sinks,
        "grading": _grading_time(found),
        "programs": _programs(found),
        "suspects": sorted(suspects, key=lambda suspect: not suspect["cheating"]),
        "grades": [_grade(result) for result in found],
        "who": _who(found),
        "variants": _groups(found, lambda result: result.get("variant")),
        "sections": _groups(found, lambda result: roster.get(result["student"]).section),
        "charts": _charts(name, len(found), bins, exercises, mistakes, sinks),
    }


def _with_one_fault(result: Result) -> Result:
    """The result; what is at fault in the module as a whole is no failure of each exercise."""
    faults = feedback.faults(result)
    verdicts: list[Any] = [
        {**x, "class": NO_MODULE} if x["message"] in faults else x for x in result["exercises"]
    ]
    return {**result, "exercises": verdicts}


def _who(found: list[Result]) -> dict[str, dict[Any, list[str]]]:
    """The students behind the numbers: by what is counted, and which."""
    who: dict[str, dict[Any, list[str]]] = {name: {} for name in _COUNTED}
    for result in found:
        counted = [("bin", _bin(result)), *(x for v in result["exercises"] for x in _counted(v))]
        for kind, key in counted:
            who[kind].setdefault(key, []).append(result["student"])
    return who


_COUNTED = ("bin", "full", "part", "reason", "mistake", "stuck", "program")


def _counted(verdict: Verdict) -> Iterator[tuple[str, Any]]:
    """Where a verdict counts in the numbers of a lesson."""
    share, name, kind = verdict["points"] / verdict["max_points"], verdict["id"], verdict["class"]
    if share > 0:
        yield "full" if share >= 1 else "part", name
    if kind:
        yield "reason", (name, plain(kind))
    if kind not in NOT_TRIED:
        yield "stuck", name
        yield "mistake", (name, _mistake(verdict))
    if verdict["counterexample"]:
        yield "program", (name, verdict["counterexample"])


def _groups(found: list[Result], of: Callable[[Result], Any]) -> list[dict[str, Any]]:
    """The variants, or sections, with their students and means; none if there are none."""
    groups: dict[Any, list[Result]] = {}
    for result in found:
        if name := of(result):
            groups.setdefault(name, []).append(result)
    return [
        {
            "name": name,
            "who": [result["student"] for result in own],
            "mean": statistics.fmean(result["score"] for result in own),
        }
        for name, own in sorted(groups.items())
    ]


def _charts(
    name: str,
    count: int,
    bins: list[tuple[str, int]],
    exercises: list[dict[str, Any]],
    mistakes: dict[str, list[tuple[str, int]]],
    sinks: list[dict[str, Any]],
) -> dict[str, str]:
    rates = {x["id"].partition(".")[2]: (x["full"], x["part"]) for x in exercises}
    notes = [f"{x['full']} of {count}" for x in exercises]
    hours = {x["id"].partition(".")[2]: (x["hours"], 0.0) for x in sinks}
    longest = max((x["hours"] for x in sinks), default=0.0)
    heat = {name.partition(".")[2]: _cells(found) for name, found in mistakes.items()}
    about = f"in {name}. The table below has the numbers."
    return {
        "scores": charts.histogram(
            [label.split()[0] for label, _ in bins], [n for _, n in bins], f"Scores {about}"
        ),
        "rates": charts.bars(rates, notes, count, f"Submissions with full points {about}"),
        "sinks": charts.bars(
            hours, [f"{x['hours']:.1f} h" for x in sinks], longest, f"Time sinks {about}"
        )
        if sinks
        else "",
        "mistakes": charts.heat_map(heat, [*NAMED, "no name"], f"Mistakes {about}") if heat else "",
    }


def _cells(found: list[tuple[str, int]]) -> list[int]:
    """The most frequent named mistakes of an exercise, and what has no name, as counts."""
    named = [count for name, count in found if name][: len(NAMED)]
    nameless = sum(count for name, count in found if not name)
    return [*named, *[0] * (len(NAMED) - len(named)), nameless]


def _histogram(found: list[Result]) -> list[tuple[str, int]]:
    """How many submissions have how much of the maximum, in tenths; the last has full points."""
    counts = Counter(_bin(result) for result in found)
    labels = [*(f"{i * 10} to {i * 10 + 9} %" for i in range(BINS)), "100 %"]
    return [(label, counts[i]) for i, label in enumerate(labels)]


def _bin(result: Result) -> int:
    """The tenth of the points that a submission has; BINS for all of them."""
    return min(int(result["score"] / result["max_score"] * BINS + 1e-9), BINS)


# ------------------------------------------------------------------------------------------
# Exercises


def _by_exercise(found: list[Result]) -> dict[str, list[tuple[Result, Verdict]]]:
    """The verdicts on each exercise, each with the result that it is in."""
    rows: dict[str, list[tuple[Result, Verdict]]] = {}
    for result in found:
        for verdict in result["exercises"]:
            rows.setdefault(verdict["id"], []).append((result, verdict))
    return rows


def _exercises(found: list[Result]) -> list[dict[str, Any]]:
    """Every exercise with its pass rate, discrimination, and why points were lost."""
    return [_exercise(name, pairs) for name, pairs in _by_exercise(found).items()]


def _exercise(name: str, pairs: list[tuple[Result, Verdict]]) -> dict[str, Any]:
    verdicts = [verdict for _, verdict in pairs]
    shares = [v["points"] / v["max_points"] for v in verdicts]
    classes = Counter(v["class"] for v in verdicts if v["class"])
    rest = [result["score"] - verdict["points"] for result, verdict in pairs]
    value = discrimination(shares, rest)
    return {
        "id": name,
        "full": sum(share >= 1 for share in shares),
        "part": sum(0 < share < 1 for share in shares),
        "mean": 100 * statistics.fmean(shares),
        "discrimination": value,
        "unclear": _unclear(shares, value),
        "reasons": [(plain(kind), count) for kind, count in classes.most_common()],
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


def _mistakes(found: list[Result]) -> dict[str, list[tuple[str, int]]]:
    """By exercise the named mistakes, most frequent first, then the failures without a name.

    What was not tried is no mistake.
    """
    rows: dict[str, list[tuple[str, int]]] = {}
    for name, pairs in _by_exercise(found).items():
        tried = [v for _, v in pairs if v["class"] not in NOT_TRIED]
        named = Counter(v["misconception"]["name"] for v in tried if v["misconception"])
        nameless = len(tried) - named.total()
        if tried:
            rows[name] = [*named.most_common(), *([("", nameless)] if nameless else [])]
    return rows


def _time_sinks(found: list[Result]) -> list[dict[str, Any]]:
    """The exercises that were tried and not finished, with the working time that is planned."""
    rows = []
    for name, pairs in _by_exercise(found).items():
        stuck = sum(v["class"] not in NOT_TRIED for _, v in pairs)
        known = _known().get(name)
        if stuck and isinstance(known, Exercise):
            minutes = known.minutes
            rows.append(
                {"id": name, "stuck": stuck, "minutes": minutes, "hours": stuck * minutes / 60}
            )
    return sorted(rows, key=lambda row: -row["hours"])


def _grading_time(found: list[Result]) -> dict[str, Any]:
    """How long grading took: the middle, and the longest submission."""
    longest = max(found, key=lambda result: result["seconds"])
    middle = statistics.median(result["seconds"] for result in found)
    return {"median": middle, "longest": longest["seconds"], "student": longest["student"]}


def _programs(found: list[Result]) -> list[tuple[str, str, int]]:
    """The most common counterexamples: exercise, program, how many submissions it is of."""
    counts = Counter(
        (name, verdict["counterexample"])
        for name, pairs in _by_exercise(found).items()
        for _, verdict in pairs
        if verdict["counterexample"]
    )
    return [(name, program, count) for (name, program), count in counts.most_common(SHOWN)]


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


def _grade(result: Result) -> dict[str, Any]:
    verdicts = result["exercises"]
    lost = [v["id"] for v in verdicts if v["points"] < v["max_points"]]
    # What all lost is told in one word; a lesson has too many exercises to list them all.
    where = "every exercise" if len(lost) == len(verdicts) > 1 else ", ".join(lost)
    facts: dict[str, Any] = {key: result[key] for key in ("student", "score", "max_score")}
    return facts | {"lost": where, "notes": result.get("notes", [])}


def plain(kind: str) -> str:
    """A kind of failure in words."""
    return kind.replace("_", " ")
