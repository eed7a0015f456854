"""Whose a submission is: the one rule for all systems.

The owner is named by the outermost level of a download alone, by the system's exact pattern,
against the roster. Nothing below that level is ever read as a name. What is left in doubt is left
out, and said with all names; everyone else is collected.
"""

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.classroom.course import people
from autograder.classroom.course.people import Roster
from autograder.classroom.intake.downloads import NOT_STUDENTS, Download, Entry
from autograder.classroom.systems.system import Called, Claim, Collects, Readings

NAMED = 5  # files of an entry, in a sentence

Owned = tuple[Claim, list[Any]]  # with what was asked for


@dataclass
class Owners:
    """The entries of each student, and what was left out, as the systems call it."""

    students: dict[str, list[Owned]] = field(default_factory=dict)
    strangers: list[str] = field(default_factory=list)
    doubtful: list[str] = field(default_factory=list)  # sentences
    unasked: dict[str, list[str]] = field(default_factory=dict)  # files that were left out
    unnamed: list[str] = field(default_factory=list)  # entries with a name that is not a system's
    advice: str = ""  # for strangers

    def said(self) -> Iterator[str]:
        """What a person should know of those that were left out."""
        yield from self.doubtful
        for student, names in self.unasked.items():
            files = sorted(set(names))
            more = [f"{len(files) - NAMED} more"] if len(files) > NAMED else []
            named = ", ".join([*files[:NAMED], *more])
            if student in self.students:
                yield f"Not taken from {student}: {named}."
            else:
                yield f"{student} submitted only what was not asked for: {named}."
        if self.strangers:
            who = ", ".join(f"{name!r}" for name in dict.fromkeys(self.strangers))
            said = f"Not in the roster, and left out: {who}. Add them to it, and collect again."
            yield f"{said} {self.advice}".strip()
        if self.unnamed:
            entries = people.named([f"{name!r}" for name in self.unnamed])
            yield f"Not named as a submission, and left out: {entries}."


def find(
    downloads: Sequence[Download],
    systems: Sequence[Collects],
    assignment: str,
    roster: Roster,
    sort: Callable[[Claim, Entry], tuple[list[Any], list[str]]],
) -> Owners:
    """The owners of what these systems have packed, and what was not asked for.

    `sort` says what of an entry was asked for, and which files were not.
    """
    entries = list(_entries(downloads, systems, assignment))
    known = _Known(roster, [claim for _, readings in entries for x in readings for claim in x])
    found = Owners(advice=known.advice or (systems[0].unknown if len(systems) == 1 else ""))
    for entry, readings in entries:
        hidden = entry.name.startswith(".") and entry.name != ".."  # an archive may hold `../it`
        if not readings and entry.name not in NOT_STUDENTS and not hidden:
            found.unnamed.append(entry.name)
        claims = [claim for reading in readings for claim in reading]
        sorted_out = [(claim, *sort(claim, entry)) for claim in claims]
        wanted = any(taken for _, taken, _ in sorted_out)
        if not wanted or len(readings) == 1:
            for claim, _, left in sorted_out:
                students = known.called(claim)
                if len(students) == 1 and left:  # it is clear whose they are
                    found.unasked.setdefault(students[0], []).extend(left)
        if not wanted:
            continue
        if len(readings) > 1:
            ways = " or ".join(f"{claim.account!a}" for claim in claims)
            found.doubtful.append(
                f"{entry.name!a} could be from {ways} and is left out. Rename it."
            )
            continue
        for claim, taken, _ in sorted_out:
            _give(found, claim, taken, known)
    _refuse_two_accounts(found)
    return found


def claimed(download: Download, systems: Sequence[Collects], assignment: str) -> list[str]:
    """The names of the entries that a system has named."""
    return [entry.name for entry, found in _entries([download], systems, assignment) if found]


def _entries(
    downloads: Sequence[Download], systems: Sequence[Collects], assignment: str
) -> Iterator[tuple[Entry, Readings]]:
    """The entries with everything that a system reads from their names."""
    for download in downloads:
        inner = download.within([system.wrapper for system in systems])
        read = [system.reader(inner, assignment) for system in systems]
        for entry in inner.entries.values():
            yield entry, [reading for each in read for reading in each(entry)]


def _give(found: Owners, claim: Claim, taken: list[Any], known: "_Known") -> None:
    students = known.called(claim)
    if len(students) == 1:
        found.students.setdefault(students[0], []).append((claim, taken))
    elif students:
        several = " and ".join(students)
        numbers = " Write their numbers into its column `participant`." if claim.participant else ""
        said = f"{claim.account!r} is left out: {several} have this name in the roster.{numbers}"
        found.doubtful.append(said)
    else:
        found.strangers.append(claim.account)


class _Known:
    """The students of a roster by what they are called in its columns."""

    def __init__(self, roster: Roster, claims: Sequence[Claim]) -> None:
        self._students = roster.students.values()
        self._columns: dict[str, dict[str, list[str]]] = {}
        self._other = any(map(self._contradicts, claims))
        self.advice = ""  # for those who are not in it, if it has numbers
        if self._other:
            self.advice = "The numbers in its column `participant` are not those of this download."
        elif self._column("participant") and any(claim.participant for claim in claims):
            self.advice = "The number is not in its column `participant`."

    def _contradicts(self, claim: Claim) -> bool:
        """Has the person of this name other numbers? Then they are those of another assignment."""
        named = [x for x in claim.called if x[1] != ("participant",)]
        own = set(self._of(named, claim.participant)) if claim.participant else set()
        numbers = {x.participant for x in self._students if x.id in own} - {""}
        return bool(numbers) and claim.participant not in numbers

    def called(self, claim: Claim) -> list[str]:
        """Who is meant: one student if all is well."""
        texts = [x for x in claim.called if not (self._other and x[1] == ("participant",))]
        return self._of(texts, claim.participant)

    def _of(self, called: Called, participant: str) -> list[str]:
        for text, columns in called:
            column = next(filter(None, map(self._column, columns)), {})
            if own := column.get(_plain(text)):  # of several the one with this number
                same = self._column("participant").get(participant, [])
                return [x for x in own if x in same] or own
        return []

    def _column(self, name: str) -> dict[str, list[str]]:
        if name not in self._columns:
            found = self._columns[name] = {}
            for student in self._students:
                if text := _plain(getattr(student, name)):
                    found.setdefault(text, []).append(student.id)
        return self._columns[name]


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def _refuse_two_accounts(found: Owners) -> None:
    for student, own in list(found.students.items()):
        accounts = dict.fromkeys(claim.account for claim, _ in own)
        if len(accounts) > 1:
            names = " and ".join(f"{name!a}" for name in accounts)
            found.doubtful.append(
                f"{student} is left out: {names} both claim to be {student}. Remove the wrong one, "
                "and collect again."
            )
            del found.students[student]
