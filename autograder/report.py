"""The class report: one self-contained HTML page and a CSV file, made from result documents.

Shown are points, kinds of failure, named mistakes and the engine's remarks. Nothing that a
submission wrote is shown; names of students are escaped.
"""

import csv
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from autograder import lessons, results
from autograder.edition import Problem

# What may be more than a slip: somebody should look at these submissions.
SUSPECT = ("does_not_terminate", "crashed", "out_of_memory")
BINS = 10
COLUMNS = ("lesson", "student", "exercise", "points", "max_points", "class", "mistake")

Result = dict[str, Any]


def write(folder: Path) -> Path:
    """Write report.html, and report.csv beside it, into a folder of results; the page's path.

    The results in its subfolders count too.
    """
    found = _load(folder)
    if not found:
        raise Problem(f"There are no results in {folder}. Give the folder that `grade` wrote.")
    page = folder / "report.html"
    page.write_text(render(found), encoding="utf-8")
    _write_csv(found, folder / "report.csv")
    return page


def _load(folder: Path) -> list[Result]:
    folders = [folder, *(path for path in sorted(folder.rglob("*")) if path.is_dir())]
    return [result for place in folders for result in results.read_all(place)]


# ------------------------------------------------------------------------------------------
# The page


def render(found: list[Result]) -> str:
    """The page of a class's results."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    by_lesson: dict[str, list[Result]] = {}
    for result in found:
        by_lesson.setdefault(result["lesson"], []).append(result)
    known = [name for name in lessons.load() if name in by_lesson]
    order = [*known, *(name for name in by_lesson if name not in known)]
    return environment.get_template("report.html.j2").render(
        lessons=[_lesson(name, by_lesson[name]) for name in order],
        students=len({result["student"] for result in found}),
        submissions=len(found),
        isolation=sorted({result["isolation"] for result in found}),
    )


def _lesson(name: str, found: list[Result]) -> dict[str, Any]:
    scores = [result["score"] for result in found]
    return {
        "id": name,
        "title": lessons.load()[name].title if name in lessons.load() else name,
        "count": len(found),
        "max_score": found[0]["max_score"],
        "mean": sum(scores) / len(scores),
        "histogram": _histogram(found),
        "exercises": _exercises(found),
        "mistakes": _mistakes(found),
        "suspects": [suspect for result in found if (suspect := _suspect(result))],
        "grades": [_grade(r) for r in sorted(found, key=lambda result: result["student"])],
    }


def _histogram(found: list[Result]) -> list[dict[str, Any]]:
    """How many submissions have how much of the maximum, in tenths; the last has full points."""
    shares = (result["score"] / result["max_score"] for result in found)
    counts = Counter(min(int(share * BINS + 1e-9), BINS) for share in shares)
    top = max(counts.values())
    labels = [*(f"{i * 10} to {i * 10 + 9} %" for i in range(BINS)), "100 %"]
    return [
        {"label": label, "count": counts[i], "width": 100 * counts[i] / top}
        for i, label in enumerate(labels)
    ]


def _exercises(found: list[Result]) -> list[dict[str, Any]]:
    """Every exercise with its pass rate, and why points were lost, most frequent first."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for result in found:
        for exercise in result["exercises"]:
            rows.setdefault(exercise["id"], []).append(exercise)
    return [_exercise(name, verdicts) for name, verdicts in rows.items()]


def _exercise(name: str, verdicts: list[dict[str, Any]]) -> dict[str, Any]:
    full = sum(v["points"] >= v["max_points"] for v in verdicts)
    share = sum(v["points"] / v["max_points"] for v in verdicts) / len(verdicts)
    classes = Counter(v["class"] for v in verdicts if v["class"])
    return {
        "id": name,
        "max_points": verdicts[0]["max_points"],
        "full": full,
        "rate": 100 * full / len(verdicts),
        "mean": 100 * share,
        "reasons": [(plain(kind), count) for kind, count in classes.most_common()],
    }


def _mistakes(found: list[Result]) -> list[tuple[str, str, int]]:
    """The named mistakes: exercise, name, how many submissions have it."""
    counts = Counter(
        (exercise["id"], exercise["misconception"]["name"])
        for result in found
        for exercise in result["exercises"]
        if exercise["misconception"]
    )
    return [(exercise, name, count) for (exercise, name), count in counts.most_common()]


def _suspect(result: Result) -> dict[str, Any] | None:
    reasons = [
        f"{exercise['id']}: {plain(exercise['class'])}"
        for exercise in result["exercises"]
        if exercise["class"] in SUSPECT
    ]
    reasons += [*result["remarks"], *result.get("review", [])]
    return {"student": result["student"], "reasons": reasons} if reasons else None


def _grade(result: Result) -> dict[str, Any]:
    exercises = result["exercises"]
    lost = [e["id"] for e in exercises if e["points"] < e["max_points"]]
    # What all lost is told in one word; a lesson has too many exercises to list them all.
    where = "every exercise" if len(lost) == len(exercises) > 1 else ", ".join(lost)
    return {key: result[key] for key in ("student", "score", "max_score")} | {"lost": where}


def plain(kind: str) -> str:
    """A kind of failure in words."""
    return kind.replace("_", " ")


# ------------------------------------------------------------------------------------------
# The table


def _write_csv(found: Iterable[Result], path: Path) -> None:
    """One line for each exercise of each submission."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(
            ["lesson", "student", "exercise", "points", "max_points", "class", "mistake"]
        )
        for result in found:
            for exercise in result["exercises"]:
                mistake = (exercise["misconception"] or {}).get("name", "")
                values = [exercise[key] for key in ("id", "points", "max_points")]
                who = (result["lesson"], _cell(result["student"]))
                table.writerow([*who, *values, exercise["class"], mistake])


def _cell(text: str) -> str:
    """A name as a spreadsheet shows it; one that starts like a formula would be computed."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
