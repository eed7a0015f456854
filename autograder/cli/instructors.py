"""The commands for instructors: handouts, grades, reports, and a course directory for nbgrader."""

import functools
import shlex
import sys
from pathlib import Path
from typing import Annotated

import click
import typer
from typer.core import TyperCommand

from autograder.cli.command import (
    INSTRUCTORS,
    LessonName,
    add_group,
    adds,
    app,
    argument,
    flag,
    number,
    option,
)
from autograder.lessons.problem import Problem

nbgrader = add_group("nbgrader init my-class", INSTRUCTORS, help="Course directories for nbgrader.")
command = adds(app, INSTRUCTORS)
nbgrader_command = adds(nbgrader, within="nbgrader")

OF_REGISTRY = "the systems"  # stands for their names, which only a help needs


class Choosing(TyperCommand):
    """A command with an option that is one of the systems."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options with the names that the registry has."""
        from autograder.classroom import systems

        for param in self.params:
            if getattr(param, "help", None) == OF_REGISTRY:
                known = systems.collecting() if ctx.info_name == "collect" else systems.exporting()
                *names, last = known
                param.help = f"{', '.join(names)} or {last}."
        super().format_options(ctx, formatter)


in_course = functools.partial(typer.Option, "--course", metavar="DIR", exists=True, file_okay=False)
OfCourse = Annotated[Path | None, in_course(help="Take points and hints from its course.toml.")]
AssignmentName = Annotated[str, typer.Argument(metavar="ASSIGNMENT")]
OfAssignment = Annotated[str, option("LESSON", "The lesson, or the assignment of a course.")]
Course = Annotated[Path, in_course(help="The course directory; here if absent.")]


@nbgrader_command("nbgrader init my-class --lessons core,jvp")
def nbgrader_init(
    folder: Annotated[Path, argument("DIR", "A new folder.")],
    seed: Annotated[
        int | None, number("For the generated tests; drawn at random if absent.", 0)
    ] = None,
    lessons: Annotated[str, option("A,B,...", "The lessons; all if absent.")] = "",
) -> None:
    """Write a course directory in which nbgrader's own commands work."""
    from autograder.classroom.nbgrader import directory

    made = directory.init(folder, seed, _names(lessons))
    command = shlex.quote(str(Path(sys.executable).with_name("nbgrader")))
    print(f"The course directory is {folder}, with the assignments {', '.join(made)}.")
    print("Its file course.toml says what they hold and what they are worth. Go on with:")
    print(f"    cd {shlex.quote(str(folder))}")
    print(f"    {command} generate_assignment {made[0]}")


def _names(text: str) -> list[str]:
    """The names in a list with commas."""
    return [name for part in text.split(",") if (name := part.strip())]


@nbgrader_command("nbgrader update jvp")
def nbgrader_update(
    names: Annotated[
        list[str] | None, argument("[LESSON]...", "Lessons or assignments; all if absent.")
    ] = None,
    folder: Course = Path(),
) -> None:
    """Bring corrected lessons and what course.toml says into a course directory."""
    from autograder.classroom.course import settings
    from autograder.classroom.nbgrader import directory
    from autograder.upkeep import new

    known = {path.name for path in (folder / "source").glob("*")}
    changed = directory.update(folder, names or [])
    for name in changed:
        renewed = f"{name} has been updated. Its submissions and grades have not changed."
        print(renewed if name in known else f"{name} is new in source/, and has no grades.")
    if not changed:
        print("What students get is up to date.")
    for sentence in directory.waiting(folder, names or []):
        print(sentence)
    asked = settings.read(folder).chosen(names or [])
    if left := new.unfinished(lesson for each in asked for lesson in each.lessons):
        print(f"{len(left)} marks are left in lessons, and students get them: {left[0]} ...")
    for name, sentence in ({} if names else directory.taken_out(folder)).items():
        print(sentence)
        if sys.stdin.isatty() and typer.confirm(f"Remove {name} and all of its grades?"):
            print(directory.remove(folder, name))


@nbgrader_command("nbgrader roster class.csv")
def nbgrader_roster(
    file: Annotated[Path, argument("FILE", "A CSV file with a column `id`.")],
    folder: Course = Path(),
) -> None:
    """Import the class list: names, sections, and the ids of the LMS."""
    from autograder.classroom.nbgrader import people

    for sentence in people.take_roster(folder, file):
        print(sentence)


@nbgrader_command("nbgrader extend jvp ada --hours 36")
def nbgrader_extend(
    assignment: AssignmentName,
    students: Annotated[list[str], typer.Argument(metavar="STUDENT...")],
    days: Annotated[float | None, option("N", "0 takes it back.", min=0)] = None,
    hours: Annotated[
        float | None, option("N", "Hours, on top of --days if both are given.", min=0)
    ] = None,
    folder: Course = Path(),
) -> None:
    """Give students more time for an assignment."""
    from autograder.classroom.nbgrader import people

    for sentence in people.extend(folder, assignment, students, people.span(days, hours)):
        print(sentence)


@nbgrader_command("nbgrader late-days")
def nbgrader_late_days(folder: Course = Path()) -> None:
    """List who submitted late, who has an extension, and what is left of the late days."""
    from autograder.classroom.nbgrader import people

    for sentence in [*people.late_days(folder)] or ["No student is late."]:
        print(sentence)


@nbgrader_command("nbgrader group jvp ada grace")
def nbgrader_group(
    assignment: AssignmentName,
    students: Annotated[
        list[str] | None, argument("[STUDENT]...", "None: list the groups.")
    ] = None,
    folder: Course = Path(),
) -> None:
    """Let students submit together: what one submits counts for all of them."""
    from autograder.classroom.nbgrader import people

    found = [*people.group(folder, assignment, students or [])]
    for sentence in found or [f"{assignment}: no groups"]:
        print(sentence)


@nbgrader_command("nbgrader section monday ada grace")
def nbgrader_section(
    section: Annotated[str, typer.Argument(metavar="SECTION")],
    students: Annotated[
        list[str] | None, argument("[STUDENT]...", "None: list the section.")
    ] = None,
    folder: Course = Path(),
) -> None:
    """Put students into a section, or list who is in it."""
    from autograder.classroom.nbgrader import people

    for sentence in people.section(folder, section, students or []):
        print(sentence)


@nbgrader_command("nbgrader variants jvp")
def nbgrader_variants(assignment: AssignmentName, folder: Course = Path()) -> None:
    """Print which variant and which open task each student has, as CSV."""
    from autograder.classroom.nbgrader import people

    print(people.variants(folder, assignment), end="")


@nbgrader_command("nbgrader read jvp")
def nbgrader_read(assignment: AssignmentName, folder: Course = Path()) -> None:
    """Read all answers to one question together, and give remarks with points."""
    from autograder.classroom.nbgrader import read

    read.serve(folder, assignment, functools.partial(print, flush=True))


@command("release jvp --out handouts")
def release(
    lesson: LessonName,
    out: Annotated[Path, option("DIR", "Where the handout goes.")],
    folder: OfCourse = None,
) -> None:
    """Write the handout of a lesson, as a folder and as a ZIP archive."""
    from autograder.classroom.course import settings
    from autograder.classroom.handouts import release
    from autograder.lessons import places
    from autograder.student import names

    places.adopt(folder or Path.cwd())
    chosen = settings.lessons(folder, lesson) if folder else [names.with_page(lesson)]
    for each in chosen:
        made = release.release(each, out)
        print(
            f"The handout of {each.id} is {made.folder}, and {made.archive} ({made.files} files)."
        )
        if made.publishes:
            print(f"With it you publish the solutions of: {', '.join(made.publishes)}.")
    print("It was searched for other solutions, hidden tests and known mistakes: none were found.")


@command("grade submissions --lesson jvp --out results")
def grade(
    submissions: Annotated[
        Path, argument("SUBMISSIONS", "A folder with a folder for each student.")
    ],
    lesson: Annotated[str, option("LESSON", "The lesson to grade.")],
    out: Annotated[Path, option("DIR", "Where the results go.")],
    jobs: Annotated[int | None, number("Submissions at once; all cores if absent.", 1)] = None,
    scheduler: Annotated[
        str | None, option("ADDR", "Grade on the Dask cluster whose scheduler is there.")
    ] = None,
    isolation: Annotated[
        str | None, option("LEVEL", "namespaces, landlock or process; the best if absent.")
    ] = None,
    seed: Annotated[
        int | None,
        number("For the generated tests; if absent, what --out keeps, or drawn at random.", 0),
    ] = None,
    on_own: Annotated[
        bool, flag("--own-base", "Use the students' own earlier modules, not the reference's.")
    ] = False,
    folder: OfCourse = None,
) -> None:
    """Grade a folder of submissions, in isolation."""
    from autograder.classroom.course import settings
    from autograder.classroom.run import folder as class_run
    from autograder.lessons import places
    from autograder.student import names

    places.adopt(folder or Path.cwd())
    if jobs and scheduler:
        raise Problem(
            "A cluster has its own number of workers. Give --jobs or --scheduler, not both."
        )
    chosen = settings.one_lesson(folder, lesson) if folder else names.taught(lesson)
    assignment = settings.find(folder, lesson) if folder else None
    class_run.grade_folder(
        submissions,
        chosen,
        out,
        jobs=jobs,
        level=isolation,
        scheduler=scheduler,
        seed=seed,
        assignment=assignment,
        on_own=on_own or bool(assignment and assignment.own_base),
    )


@command("cluster")
def cluster() -> None:
    """Make the key of a Dask cluster of your own, and say how to start one."""
    from autograder.classroom.run import cluster

    print(f"The key of your clusters is in {cluster.make_key()}, which no other account can open.")
    print(
        "All that Dask starts in your account uses it. Start it so; HEAD is one of your machines:\n"
    )
    print(*(f"    {command}" for command in cluster.how_to_start()), sep="\n")
    print("    ./jaxprentice grade SUBMISSIONS ... --scheduler tls://HEAD:8786")


@command("collect submissions.zip --from canvas --lesson jvp", cls=Choosing)
def collect(
    download: Annotated[Path, argument("DOWNLOAD", "A folder or ZIP archive.")],
    system: Annotated[str, option("SYSTEM", OF_REGISTRY, "--from")],
    lesson: OfAssignment,
    roster: Annotated[Path | None, option("FILE", "The class; the course's if absent.")] = None,
    out: Annotated[
        Path | None, option("DIR", "Where to put them; the course's submitted/ if absent.")
    ] = None,
    folder: Course = Path(),
) -> None:
    """Import submissions as an LMS packs them, under the ids of the roster."""
    from autograder.classroom.systems import collect

    for sentence in collect.collect(download, system, lesson, roster, out, folder):
        print(sentence)


@command("return --lesson jvp --out feedback.zip")
def return_(
    lesson: OfAssignment,
    out: Annotated[Path, option("FILE", "The ZIP archive to write.")],
    collected: Annotated[
        Path | None, option("DIR", "Where `collect` wrote; submitted/ if absent.")
    ] = None,
    results: Annotated[
        Path | None, option("DIR", "Where `report` wrote; nbgrader's feedback if absent.")
    ] = None,
    folder: Course = Path(),
) -> None:
    """Pack feedback for the LMS, under the names in its download."""
    from autograder.classroom.reports import grades
    from autograder.classroom.systems import collect

    if results is None and grades.directory(folder):
        from autograder.classroom.nbgrader import directory

        for sentence in directory.renew_feedback(folder, lesson):
            print(sentence)
    elif results is not None and grades.directory(results):
        from autograder.classroom.reports import report

        report.write(results)
    for sentence in collect.give_back(lesson, out, collected, results, folder):
        print(sentence)


_GRADED = "A course directory, or a folder of results."
Source = Annotated[
    str | None,
    option(
        "SOURCE", "gradebook or results; the gradebook if absent, where there is one.", "--from"
    ),
]


@command("report results")
def report(folder: Annotated[Path, argument("DIR", _GRADED)], source: Source = None) -> None:
    """Write a report on a class from its grades."""
    from autograder.classroom.reports import grades, report

    print(f"The report is {report.write(folder, source)}.")
    for sentence in grades.waiting(folder, source):
        print(sentence)


@command("similar submissions --lesson jvp --out similar")
def similar(
    submissions: Annotated[Path, argument("SUBMISSIONS", "A folder, or a course directory.")],
    lesson: Annotated[str, option("LESSON", "The lesson; in a course an assignment, too.")],
    out: Annotated[
        Path | None, option("DIR", "Where the page goes; SUBMISSIONS if absent.")
    ] = None,
) -> None:
    """List submissions that share code, and write a page that shows it."""
    from autograder.classroom.reports.similar import find

    for sentence in find(submissions, lesson, out):
        print(sentence)


@command("export results --format csv", cls=Choosing)
def export(
    folder: Annotated[Path, argument("DIR", _GRADED)],
    format_name: Annotated[str, option("FORMAT", OF_REGISTRY, "--format")],
    out: Annotated[
        Path | None, option("DIR", "Where to write it; DIR/exports/FORMAT if absent.")
    ] = None,
    source: Source = None,
) -> None:
    """Write grades in a format that another system reads."""
    from autograder.classroom.reports import exports

    print(f"The export is in {exports.export(folder, format_name, out, source)}.")


@command("demo")
def demo() -> None:
    """Grade a sample class through nbgrader."""
    from autograder.upkeep import demo

    demo.run()
