"""The class: `roster.csv` and `groups.csv` of a course directory.

The roster maps the names of an LMS to the ids under which work is graded, and has the sections.
A group hands in one piece of work, which counts for all of its members.
"""

import csv
import io
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.grading import result_files
from autograder.lessons import user_files
from autograder.lessons.problem import Problem

ROSTER, GROUPS = "roster.csv", "groups.csv"
# The columns of a roster, with the names that some systems have for them.
COLUMNS = {
    "id": ("id", "student", "student_id", "sis login id", "username", "login", "sid", "login_id"),
    "first_name": ("first_name", "first name", "vorname", "firstname"),
    "last_name": ("last_name", "last name", "surname", "lastname"),
    "name": ("name", "full name", "student name", "display name"),
    "email": ("email", "email address", "e-mail"),
    "section": ("section", "sections", "group"),
    "lms_id": ("lms_id", "canvas id", "moodle id", "lms_user_id", "user id"),
    "github": ("github", "github_username", "github username"),
    "participant": ("participant", "identifier", "participant number"),
}


@dataclass(frozen=True)
class Student:
    """A row of the roster."""

    id: str
    first_name: str = ""
    last_name: str = ""
    name: str = ""
    email: str = ""
    section: str = ""
    lms_id: str = ""
    github: str = ""
    participant: str = ""  # Moodle's number of a person in one assignment

    @property
    def full_name(self) -> str:
        """First and last name, as far as they are known; else the id."""
        return self.name or f"{self.first_name} {self.last_name}".strip() or self.id

    @property
    def words(self) -> str:
        """The words of the full name in an order of ours."""
        return in_any_order(self.full_name)


def in_any_order(name: str) -> str:
    """The words of a name in an order of ours: "Lovelace, Ada" as "Ada Lovelace"."""
    return " ".join(sorted(name.replace(",", " ").casefold().split()))


@dataclass
class Roster:
    """The students by id."""

    students: dict[str, Student] = field(default_factory=dict)
    unused: list[str] = field(default_factory=list)  # columns

    def get(self, student: str) -> Student:
        """What is known of a student."""
        return self.students.get(student, Student(student))

    @property
    def names(self) -> dict[str, str]:
        """The full names by id, with the id behind those that several students have."""
        found = {x.id: x.full_name for x in self.students.values()}
        times = Counter(found.values())
        return {x: name if times[name] == 1 else f"{name} ({x})" for x, name in found.items()}


def read(path: Path) -> Roster:
    """The roster in a file."""
    rows = user_files.rows(path)
    head = [name.strip().lower() for name in rows[0]] if rows else []
    places = {key: head.index(x) for key, known in COLUMNS.items() for x in known if x in head}
    if "participant" not in places and _is_worksheet(places, rows[1:]):
        places = {key: place for key, place in places.items() if place} | {"participant": 0}
    if not {"id", "participant"} & places.keys():
        raise Problem(f"{path} has no column `id`. Name one so in its first line.")
    unused = [x.strip() for i, x in enumerate(rows[0]) if i not in places.values() and x.strip()]
    found: dict[str, Student] = {}
    taken: dict[str, set[str]] = defaultdict(set)
    for number, row in enumerate(rows[1:], 2):
        facts = _facts(row, places)
        if not any(map(str.strip, row)):
            continue
        if not facts.get("id"):
            raise Problem(f"{path}, line {number}, has no id. Write one, or remove the line.")
        if not result_files.is_file_name(facts["id"]):
            raise Problem(f"{path}, line {number}: {facts['id']!r} cannot name a folder.")
        for key in ("id", "participant"):
            # Some file systems take `ada` and `ADA` for one folder, and some people for one person.
            value = facts.get(key, "")
            if value and value.casefold() in taken[key]:
                raise Problem(f"{path}, line {number}: {value!r} is there twice, as {key}.")
            taken[key].add(value.casefold())
        found[facts["id"]] = Student(**facts)
    return Roster(found, unused)


def _is_worksheet(places: dict[str, int], rows: list[list[str]]) -> bool:
    """Is it Moodle's in some language, with "Participant 501" first, whatever that is called?"""
    cells = [row[0] for row in rows if row]
    words = {found and found[1] for found in (re.fullmatch(r"(\D+)\s\d+", x) for x in cells)}
    others = {place for key, place in places.items() if key != "id"}
    is_first = 0 not in others and not places.get("id")
    return is_first and len(words) == 1 and None not in words and len({*cells}) == len(cells)


def _facts(row: list[str], places: dict[str, int]) -> dict[str, str]:
    """What a row says of a student; of a participant it may be the number alone."""
    facts = {key: row[i].strip() for key, i in places.items() if i < len(row)}
    if number := re.sub(r"\D", "", facts.get("participant", "")):
        facts["participant"] = number  # Moodle's worksheet has "Participant 501"
        facts.setdefault("id", f"participant-{number}")
    return facts


def roster(folder: Path) -> Roster:
    """The roster of a course directory; empty if it has none."""
    path = folder / ROSTER
    return read(path) if user_files.is_there(path) else Roster()


def write(folder: Path, students: Iterable[Student]) -> None:
    """Write the roster of a course directory."""
    rows = [[getattr(student, name) for name in COLUMNS] for student in students]
    _write(folder / ROSTER, [list(COLUMNS), *rows])


def _write(path: Path, rows: list[list[str]]) -> None:
    text = io.StringIO()  # ids stay as they are: this is read again
    csv.writer(text, lineterminator="\n").writerows(rows)
    result_files.write_text(path, text.getvalue())


def named(students: Sequence[str]) -> str:
    """Students in a sentence: ten of them, and how many more there are."""
    more = f" and {len(students) - 10} more" if len(students) > 10 else ""
    return f"{', '.join(students[:10])}{more}"


def check_ids(students: Iterable[str]) -> None:
    """Refuse what cannot be a student's id, as it names folders."""
    for student in students:
        if not result_files.is_file_name(student):
            raise Problem(f"{student!r} cannot be a student's id. Correct it.")


def check_known(folder: Path, students: Sequence[str]) -> None:
    """Refuse ids that are not in the roster, if the course has one."""
    check_ids(students)
    known = roster(folder).students
    if known and (unknown := [student for student in students if student not in known]):
        raise Problem(f"{ROSTER} has no {', '.join(unknown)}. Correct the id, or add the student.")


def put_in_section(folder: Path, section: str, ids: Sequence[str]) -> list[str]:
    """Put students into a section, and return who is in it."""
    check_known(folder, ids)
    known = roster(folder).students
    for student in ids:
        known[student] = replace(known.get(student, Student(student)), section=section)
    if ids:
        write(folder, known.values())
    return [student.id for student in known.values() if student.section == section]


# ------------------------------------------------------------------------------------------
# Groups


def groups(folder: Path) -> dict[str, list[list[str]]]:
    """The groups by assignment."""
    path = folder / GROUPS
    found: dict[str, list[list[str]]] = {}
    for row in user_files.rows(path) if user_files.is_there(path) else []:
        if row:
            found.setdefault(row[0], []).append([name for name in row[1:] if name])
    return found


def group(folder: Path, assignment: str, students: Sequence[str]) -> None:
    """Make a group; its members leave the groups that they were in, and one alone is none."""
    members = list(dict.fromkeys(students))
    check_ids(members)
    if len(members) > 1:  # one alone, who may have left, is taken out
        check_known(folder, members)
    known = groups(folder)
    rest = [[x for x in old if x not in members] for old in known.get(assignment, [])]
    known[assignment] = [each for each in [*rest, members] if len(each) > 1]
    rows = [[name, *each] for name, found in known.items() for each in found]
    _write(folder / GROUPS, rows)


def members(folder: Path, assignment: str) -> dict[str, list[str]]:
    """By student the group of an assignment that the student is in."""
    return {student: each for each in groups(folder).get(assignment, []) for student in each}
