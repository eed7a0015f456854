"""Writes all files that are generated from the manifests, the reference and the lesson pages.

The reference's `__init__.py` files, the map, the numbers of hidden tests, and the tables between
markers in Markdown files. (Skeletons and notebooks are made where they are needed, by `skeleton.py`
and `notebook.py` in `autograder/lessons/`.)

    <!-- generated: lessons -->
    <!-- /generated -->
"""

import ast
import json
import math
import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from autograder.lessons import (
    assemble,
    examples,
    explored,
    manifest,
    page,
    page_outputs,
    places,
    skeleton,
    traced,
)
from autograder.lessons.manifest import Lesson
from autograder.lessons.problem import Problem
from autograder.student import workspace
from autograder.upkeep import course_map, refusals, routes


def sync(check: bool) -> list[str]:
    """Write what is generated, or only look with `check`; what differed, as "FILE (why)"."""
    wanted = generated()
    drifted = []
    for path, text in wanted.items():
        if why := _difference(places.ROOT / path, text):
            drifted.append(f"{path} ({why})")
            if not check:
                workspace.write(places.ROOT / path, text.encode())
    for path in _leftovers(set(wanted)):
        drifted.append(f"{path} (nothing generates it any more)")
        if not check:
            (places.ROOT / path).unlink()
    return drifted


def generated() -> dict[str, str]:
    """The text of every generated file, by its path below the root."""
    known = list(manifest.load().values())
    for lesson in known:
        _check(lesson)
    files = {f"solutions/{path}": text for path, text in assemble.init_files(known).items()}
    files["course/map.svg"] = course_map.picture(known)
    files.update(_outputs(known))
    if counts := _hidden_tests():
        files["course/hidden_tests.json"] = json.dumps(counts, indent=0) + "\n"
    return {**files, **_pages(known)}


def _outputs(known: list[Lesson]) -> Iterator[tuple[str, str]]:
    """What programs on pages leave, as far as it changed run now; by the path of its file."""
    examples.prepare([lesson for lesson in known if lesson.has_page])
    for lesson in known:
        makers = (examples.all_outputs, traced.all_outputs, explored.all_outputs)
        found = {place: left for make in makers for place, left in make(lesson).items()}
        if found:
            yield f"{page_outputs.FOLDER}/{lesson.id}.json", page_outputs.text(found)


def _check(lesson: Lesson) -> None:
    """Check what the manifest says against the reference and the page."""
    if lesson.has_page:
        page.check(page.read(lesson), lesson)
    if not lesson.exercises:
        return
    reference = assemble.read_solution(lesson.module)
    skeleton.make_skeleton(reference, lesson)  # complains about targets that are not there
    for exercise in lesson.exercises:
        if not skeleton.docstring(reference, exercise.target):
            raise Problem(
                f"solutions/{lesson.module}: {exercise.target} has no docstring. "
                f"Write one: it is the specification of the exercise {exercise.id}."
            )


def _hidden_tests() -> dict[str, int]:
    """How many hidden tests there are for each exercise and each whole module."""
    known = [part.id for lesson in manifest.load().values() for part in lesson.graded]
    found = dict.fromkeys(known, 0)
    for suite in sorted(places.SUITES.glob("*.py")):
        exercise = ""
        for node in ast.parse(suite.read_text(encoding="utf-8")).body:
            match node:
                case ast.Expr(ast.Call(ast.Name("exercise"), [ast.Constant(str(begins))])):
                    exercise = begins
                case ast.FunctionDef(name) if name.startswith("test_") and exercise in found:
                    found[exercise] += math.prod(map(_cases, node.decorator_list))
    return {name: count for name, count in found.items() if count}


def _cases(mark: ast.expr) -> int:
    """How many cases a mark makes of a test: as many as a list of parameters has entries."""
    match mark:
        case ast.Call(ast.Attribute(attr="parametrize"), [_, ast.List(x) | ast.Tuple(x), *_]):
            return len(x)
    return 1


def _difference(path: Path, text: str) -> str:
    if not path.is_file():
        return "missing"
    return "" if path.read_bytes() == text.encode() else "out of date"


def _leftovers(wanted: set[str]) -> Iterator[str]:
    """Files in the folder that has only generated ones."""
    for file in sorted((places.ROOT / page_outputs.FOLDER).rglob("*")):
        path = file.relative_to(places.ROOT).as_posix()
        if file.is_file() and path not in wanted:
            yield path


# ------------------------------------------------------------------------------------------
# Tables in Markdown files

_TABLE = re.compile(
    r"^(<!-- generated: (\w+) -->\n).*?^(<!-- /generated -->)$", re.MULTILINE | re.DOTALL
)


def _pages(known: list[Lesson]) -> dict[str, str]:
    """The Markdown files that hold generated tables, with these tables renewed."""
    files = {}
    for file in [*places.ROOT.glob("*.md"), *places.COURSE.rglob("*.md")]:
        text = file.read_text(encoding="utf-8")
        if _TABLE.search(text):
            files[file.relative_to(places.ROOT).as_posix()] = _renewed(text, file, known)
    return files


def _renewed(text: str, file: Path, known: list[Lesson]) -> str:
    makers = {
        "lessons": lambda: _lesson_table(file.parent, known),
        "attacks": _attack_table,
        "widths": _width_table,
        "routes": lambda: routes.route_table(file.parent, known),
        "schedules": lambda: routes.schedules(file.parent, known),
        "goals": lambda: routes.goal_lists(known),
        "mistakes": lambda: routes.mistake_tables(file.parent, known),
        "gallery": _gallery,
        "hours": lambda: routes.hours(known),
        "seeds": lambda: routes.seed_tables(file.parent, known),
        "downloads": _downloads,
        "formats": _formats,
        "absent": refusals.names,
        "refused": refusals.cases,
    }
    names = {found[2] for found in _TABLE.finditer(text)}
    if not names <= makers.keys():
        where = file.relative_to(places.ROOT)
        raise Problem(f"{where} asks for {sorted(names)}. Known are: {', '.join(makers)}.")
    return _TABLE.sub(lambda found: f"{found[1]}\n{makers[found[2]]()}\n{found[3]}", text)


def _width_table() -> str:
    """How much of a message a submission can choose."""
    from autograder.upkeep import widths

    lines = [f"| {kind} | {bits:.0f} |" for kind, bits in widths.rows()]
    return "\n".join(["| message | bits |", "|---|---|", *lines, ""])


def _attack_table() -> str:
    from autograder.sandbox import isolation
    from autograder.upkeep import attacks

    rows = ["| attack | " + " | ".join(f"`{level}`" for level in isolation.LEVELS) + " |"]
    rows.append("|---" * (1 + len(isolation.LEVELS)) + "|")
    for attack in sorted(attacks.load(), key=lambda attack: (len(attack.stops), attack.title)):
        cells = ["stopped" if level in attack.stops else "**no**" for level in isolation.LEVELS]
        rows.append(f"| {attack.title} | {' | '.join(cells)} |")
    return "".join(f"{row}\n" for row in rows)


def _downloads() -> str:
    from autograder.classroom.systems import registry

    rows = ["| system | download | names | note |", "|---|---|---|---|"]
    for name, x in registry.collecting().items():
        rows.append(f"| `{name}` | {x.download} | `{x.example}` | {x.note} |")
    return "".join(f"{row}\n" for row in rows)


def _formats() -> str:
    from autograder.classroom.systems import registry

    rows = ["| format | what is written | what to do with it |", "|---|---|---|"]
    rows += [f"| `{name}` | {x.holds} | {x.use} |" for name, x in registry.exporting().items()]
    return "".join(f"{row}\n" for row in rows)


def _gallery() -> str:
    """The programs of the gallery by lesson: what each is about, its text, and what it prints."""
    folder = places.COURSE / "capstones" / "gallery"
    found = tomllib.loads((folder / "lessons.toml").read_text(encoding="utf-8"))
    parts = []
    for lesson, names in found.items():
        parts.append(f"\n## After the `{lesson}` lesson\n")
        parts += [_program(folder / f"{name}.py") for name in names]
    return "".join(parts)


def _program(file: Path) -> str:
    """One program as a section of the page; its text is in a box that opens."""
    text = file.read_text(encoding="utf-8")
    title, _, about = (ast.get_docstring(ast.parse(text)) or "").partition("\n\n")
    code = "".join(f"    {line}".rstrip() + "\n" for line in text.splitlines())
    printed = file.with_suffix(".txt").read_text(encoding="utf-8").rstrip()
    about = " ".join(about.split())
    return (
        f"\n### {title.rstrip('.')}\n\n{about}\n\n``` {{ .text .drawn }}\n{printed}\n```\n\n"
        f'??? note "{file.name}"\n\n    ```python\n{code}    ```\n'
    )


def _lesson_table(folder: Path, known: list[Lesson]) -> str:
    rows = ["| # | lesson | title | exercises | points | minutes |", "|--:|---|---|--:|--:|--:|"]
    for part, lessons in routes.parts(known).items():
        rows.append(f"| | | **{part}** | | | |")
        for lesson in lessons:
            link = Path(os.path.relpath(lesson.folder / "lesson.md", folder)).as_posix()
            graded = f"{len(lesson.exercises)} | {lesson.max_points:g}" if lesson.exercises else "|"
            facts = f"{graded} | {lesson.minutes}"
            rows.append(f"| {lesson.number} | `{lesson.id}` | [{lesson.title}]({link}) | {facts} |")
    return "".join(f"{row}\n" for row in rows)
