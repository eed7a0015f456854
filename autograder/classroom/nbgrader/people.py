"""Extensions, late days, groups and sections: what the commands do with nbgrader's gradebook."""

import contextlib
import shutil
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

from autograder.classroom.course import notebooks, people
from autograder.classroom.course import settings as courses
from autograder.classroom.nbgrader import directory, gradebook
from autograder.grading import result_files
from autograder.lessons import user_files
from autograder.lessons.problem import Problem

MOST_DAYS = 3650


def take_roster(folder: Path, file: Path) -> Iterator[str]:
    """Keep a class list, and enter its students into the gradebook; what is to be said."""
    directory.course_of(folder)
    read, before = people.read(file), people.Roster()
    with contextlib.suppress(Problem):  # it may be one that is to be mended
        before = people.roster(folder)
    known = read.students
    with gradebook.opened(folder) as book:
        own = folder / people.ROSTER
        if not (own.exists() and own.samefile(file)):
            shutil.copyfile(file, own)
            own.chmod(0o600)
        for student in known.values():
            facts = {"first_name": student.first_name, "last_name": student.last_name}
            facts |= {"email": student.email, "lms_user_id": student.lms_id}
            book.update_or_create_student(student.id, **{k: v for k, v in facts.items() if v})
    yield f"The course has {len(known)} student{'s' * (len(known) != 1)}."
    if gone := [x for x in before.students if x not in known]:
        yield f"No longer in {people.ROSTER}, though grades stay: {people.named(gone)}."
    if read.unused:
        yield f"Not used of {file}: the columns {people.named(read.unused)}."


def extend(
    folder: Path, assignment: str, students: Sequence[str], span: timedelta
) -> Iterator[str]:
    """Give students so much more time; what that is and changes, a sentence each."""
    course = directory.course_of(folder)
    people.check_ids(students)
    group = people.members(folder, assignment)
    everyone = list(dict.fromkeys(x for one in students for x in group.get(one, [one])))
    changes = gradebook.extend(folder, course, assignment, everyone, span)
    due = course.assignments[assignment].due
    until = f", until {course.said(due + span)}" if due else ""
    for student in everyone:
        if span:
            yield f"{student} has {gradebook.span_said(span)} more for {assignment}{until}."
        else:
            yield f"{student} has no extension for {assignment}."
    if due is None:
        yield f"{assignment} has no due date, so nothing is late. Write one into {courses.FILE}."
    yield from changes


def span(days: float | None, hours: float | None) -> timedelta:
    """An extension of so many days and hours."""
    if days is None and hours is None:
        raise Problem("Give the extension as --days or --hours; 0 takes it back.")
    total = (days or 0) + (hours or 0) / 24
    if not 0 <= total <= MOST_DAYS:  # it may be no number at all
        raise Problem(f"An extension may be 0 to {MOST_DAYS} days. Change --days.")
    return timedelta(days=total)


def late_days(folder: Path) -> Iterator[str]:
    """What is to be said of each student who was late or has an extension."""
    course = directory.course_of(folder)
    with gradebook.opened(folder) as book:
        yield from gradebook.follow(book, course)
        yield from gradebook.settle(book, course)
        for student in book.students:
            found = gradebook.lateness_of(student, course)
            told = [f"{x.name}: {late.text}" for x, late in found.items() if late.text]
            left = course.late.days - sum(late.free for late in found.values())
            if told:
                said = "; ".join(told)
                yield f"{student.id}: {said}. {left} of {course.late.days} late days are left."


def group(folder: Path, assignment: str, students: Sequence[str]) -> Iterator[str]:
    """Make a group, if students are named; the groups of the assignment."""
    directory.course_of(folder).get(assignment)
    before = people.members(folder, assignment)
    if students:
        people.group(folder, assignment, students)
    now = people.members(folder, assignment)
    for each in people.groups(folder).get(assignment, []):
        yield f"{assignment}: {', '.join(each)}"
    if alone := [x for x in before if x not in now]:
        are = "is" if len(alone) == 1 else "are"
        yield (
            f"{assignment}: {', '.join(alone)} {are} in no group any more. `nbgrader autograde "
            f"{assignment}` grades each on their own work. Points and comments that a person gave "
            "the group stay with each of them: look at these again."
        )
    if [x for x in students if x in now]:
        yield f"`nbgrader autograde {assignment}` grades them together."
    elif students and not alone:
        yield f"{assignment}: {students[0]} is in no group. A group has two members or more."


def variants(folder: Path, name: str) -> str:
    """A table of the students with their variants and open tasks; none of it depends on the others.

    The students are the roster's and the gradebook's.
    """
    assignment = courses.read(folder).get(name)
    if assignment.variants is None:
        raise Problem(f"{name} has no variants. Write `variants = 6` into {courses.FILE}.")
    students = {*people.roster(folder).students}
    if user_files.is_there(folder / gradebook.FILE):
        with gradebook.opened(folder) as book:
            students |= {student.id for student in book.students}
    if not students:
        raise Problem("No student is known. Enter the class: `nbgrader roster class.csv`.")
    lessons = [lesson for lesson in assignment.lessons if lesson.id in assignment.open]
    rows: list[list[str]] = [["student", "variant", *(f"open task in {x.id}" for x in lessons)]]
    for student in sorted(students):
        files = [notebooks.open_files(assignment.open_task(x, student))[0] for x in lessons]
        rows.append([student, str(assignment.variant(student)), *files])
    return result_files.table(rows)


def section(folder: Path, name: str, students: Sequence[str]) -> Iterator[str]:
    """Put students into a section, if some are named; who is in it."""
    directory.course_of(folder)
    found = people.put_in_section(folder, name, students)
    yield f"{name}: {', '.join(found) or 'none'}"
