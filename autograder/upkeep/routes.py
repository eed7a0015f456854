"""Ways through the course: the routes, and the way from the seeds to here.

Tables are made from the manifests, `course/routes.toml` and `course/seeds.toml`.
"""

import itertools
import os
import tomllib
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from autograder.grading import answers
from autograder.lessons import page, places
from autograder.lessons.manifest import Lesson
from autograder.lessons.problem import Problem

# ------------------------------------------------------------------------------------------
# Parts and routes


def parts(known: Sequence[Lesson]) -> dict[str, list[Lesson]]:
    """The lessons of each part of the course, by the part's title; the last one takes the rest."""
    named = {part["title"]: _named(part["lessons"], known) for part in _read("routes.toml")["part"]}
    placed = {lesson.id for lessons in named.values() for lesson in lessons}
    [*named.values()][-1].extend(x for x in known if x.has_page and x.id not in placed)
    return named


def titled(lesson: Lesson) -> str:
    """A lesson's title with its number, as the menu and the map have it."""
    return f"{lesson.number}. {lesson.title}"


def route_table(folder: Path, known: Sequence[Lesson]) -> str:
    """The routes, with the lessons of each and its hours."""
    rows = ["| route | what it is | lessons | hours |", "|---|---|---|--:|"]
    for route in _read("routes.toml")["route"]:
        chosen = _named(itertools.chain(*route["steps"]), known)
        links = ", ".join(_link(lesson, folder) for lesson in chosen)
        rows.append(f"| {route['title']} | {route['about']} | {links} | {_hours(chosen):.0f} |")
    return _text(rows)


def schedules(folder: Path, known: Sequence[Lesson]) -> str:
    """Each route as a table with a row for each week."""
    tables = []
    for route in _read("routes.toml")["route"]:
        rows = [f"### {route['title']}\n", f"| {route['step']} | lessons | hours | points |"]
        rows.append("|--:|---|--:|--:|")
        for number, names in enumerate(route["steps"], 1):
            chosen = _named(names, known)
            links = ", ".join(_link(lesson, folder) for lesson in chosen)
            points = sum(lesson.max_points for lesson in chosen)
            rows.append(f"| {number} | {links} | {_hours(chosen):.1f} | {points:g} |")
        tables.append(_text(rows))
    return "\n".join(tables)


def _named(names: Iterable[str], known: Sequence[Lesson]) -> list[Lesson]:
    by_id = {lesson.id: lesson for lesson in known}
    return [by_id[name] for name in names if name in by_id and by_id[name].has_page]


def _hours(chosen: Sequence[Lesson]) -> float:
    return sum(lesson.minutes for lesson in chosen) / 60


def hours(known: Sequence[Lesson]) -> str:
    """How long the course takes, as a sentence: the whole, and its first part."""
    by_part = list(parts(known).values())
    first, whole = by_part[0], list(itertools.chain(*by_part))
    return (
        f"**{len(whole)} lessons, about {_hours(whole):.0f} hours**, reading included. The first "
        f"{len(first)} take about {_hours(first):.0f} hours and need nothing but Python.\n"
    )


def _text(rows: Iterable[str]) -> str:
    return "".join(f"{row}\n" for row in rows)


# ------------------------------------------------------------------------------------------
# For instructors: what each lesson is for, and what goes wrong in it


def goal_lists(known: Sequence[Lesson]) -> str:
    """What the page of each lesson says that one will be able to do."""
    parts = []
    for lesson in known:
        if lesson.has_page:
            goals = page.GOALS.search(page.read(lesson))
            if goals is None:
                raise Problem(f"The page of {lesson.id} does not say what you will be able to do.")
            parts.append(f"### {lesson.title}\n\n{goals[2].strip()}\n")
    return "\n".join(parts)


def mistake_tables(folder: Path, known: Sequence[Lesson]) -> str:
    """The known mistakes of each lesson, with the first question to ask."""
    parts = []
    for lesson in known:
        rows = [
            f"| [{m.exercise}]({_page(lesson, folder)}#{m.exercise}) | {m.name} | {m.hints[0]} |"
            for m in answers.mistakes(lesson.id)
        ]
        if rows:
            head = [f"### {lesson.title}\n", "| exercise | mistake | ask |", "|---|---|---|"]
            parts.append(_text([*head, *rows]))
    return "\n".join(parts)


def _link(lesson: Lesson, folder: Path, anchor: str = "") -> str:
    if not lesson.has_page:
        return lesson.id  # given code has no page
    return f"[{lesson.id}]({_page(lesson, folder)}{anchor and '#'}{anchor})"


def _page(lesson: Lesson, folder: Path) -> str:
    return Path(os.path.relpath(lesson.folder / "lesson.md", folder)).as_posix()


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((places.COURSE / name).read_text(encoding="utf-8"))


# ------------------------------------------------------------------------------------------
# From the seeds to here


def seed_tables(folder: Path, known: Sequence[Lesson]) -> str:
    """For each document that the course grew from, where its definitions and ideas are."""
    data = _read("seeds.toml")
    by_id = {lesson.id: lesson for lesson in known}
    parts = []
    for seed in data["seed"]:
        covered = ideas_of(seed, data["idea"])
        rows = [f"### {seed['title']}\n", f"By {seed['by']}: {seed['about']}.\n"]
        rows += ["| there | lesson | here |", "|---|---|---|"]
        names = (name for name in [*seed["names"], *seed["ideas"]] if name in covered)
        for _, group in itertools.groupby(names, key=lambda name: id(covered[name])):
            found = list(group)
            rows.append(_seed_row(found, covered[found[0]], by_id, folder, seed["names"]))
        parts.append(_text(rows))
    ideas = {idea for seed in data["seed"] for idea in seed["ideas"]}
    return "\n".join([*parts, *_left_out(data["left_out"], ideas)])


def ideas_of(seed: dict[str, Any], ideas: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """By name, the idea that a name of this seed belongs to: its own one, or one for all seeds."""
    own = [idea for idea in ideas if seed["id"] in idea.get("seeds", [])]
    shared = [idea for idea in ideas if "seeds" not in idea]
    return {name: idea for idea in [*shared, *own] for name in idea["names"]}


def _seed_row(
    names: list[str],
    idea: dict[str, Any],
    by_id: dict[str, Lesson],
    folder: Path,
    code: Sequence[str],
) -> str:
    if idea["lesson"] not in by_id:
        raise Problem(f"course/seeds.toml: there is no lesson {idea['lesson']!r}.")
    there = ", ".join(f"`{name}`" if name in code else name for name in names)
    link = _link(by_id[idea["lesson"]], folder, idea["anchor"])
    file, _, name = idea.get("code", "").partition(" ")
    here = f"`{name}` in `{file}`" if name else ""
    return f"| {there} | {link} | {here} |"


def _left_out(reasons: dict[str, list[str]], ideas: Collection[str]) -> Iterator[str]:
    yield "### Left out\n"
    for reason, names in reasons.items():
        shown = (name if name in ideas else f"`{name}`" for name in names)
        yield f"- {', '.join(shown)}: {reason}.\n"
