"""The command: what each subcommand of `./jaxprentice` does with the parts of this package.

Every command imports what it needs when it runs, so that the cheap ones start at once. A `Problem`
is printed as one sentence with exit status 1; wrong usage has status 2, Ctrl-C 130.
"""

import errno
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import click
import typer
from typer.core import TyperCommand, TyperGroup

from autograder.lessons import places
from autograder.lessons.problem import Problem

STUDENTS, INSTRUCTORS, MAINTAINERS = "For students", "For instructors", "For maintainers"

# How each command is used: the last line of its help. A test runs all of them.
EXAMPLES = {
    "init": "init my-jax",
    "list": "list",
    "check": "check jvp.mul_rule",
    "watch": "watch",
    "hint": "hint jvp.mul_rule",
    "trace": 'trace -c "from minijax import lax; lax.sin(3.0)"',
    "run": "run program.py",
    "give": "give core",
    "reset": "reset core",
    "update": "update minijax/jvp.py",
    "progress": "progress",
    "doctor": "doctor",
    "release": "release jvp --out handouts",
    "grade": "grade submissions --lesson jvp --out results",
    "cluster": "cluster",
    "collect": "collect submissions.zip --from canvas --lesson jvp",
    "return": "return --lesson jvp --out feedback.zip",
    "report": "report results",
    "similar": "similar submissions --lesson jvp --out similar",
    "export": "export results --format csv",
    "demo": "demo",
    "new": "new fusion",
    "sync": "sync --check",
    "audit": "audit jvp --quick",
    "bench": "bench reference",
    "test": "test tests/student",
    "nbgrader": "nbgrader init my-class",
    "nbgrader init": "nbgrader init my-class --lessons core,jvp",
    "nbgrader update": "nbgrader update jvp",
    "nbgrader roster": "nbgrader roster class.csv",
    "nbgrader extend": "nbgrader extend jvp ada --days 3",
    "nbgrader late-days": "nbgrader late-days",
    "nbgrader group": "nbgrader group jvp ada grace",
    "nbgrader variants": "nbgrader variants jvp",
    "nbgrader section": "nbgrader section monday ada grace",
    "site": "site serve",
    "site build": "site build",
    "site serve": "site serve",
}


def _add_examples(group: Any, path: str = "") -> None:
    """End the help of each command with its example."""
    for name, command in group.commands.items():
        command.epilog = f"Example: ./jaxprentice {EXAMPLES[path + name]}"
        if hasattr(command, "commands"):
            _add_examples(command, f"{path}{name} ")


class Commands(TyperGroup):
    """The commands, listed in the help below the heading of those whom they are for."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the headings with their commands."""
        for heading in (STUDENTS, INSTRUCTORS, MAINTAINERS):
            rows = [
                (name, command.get_short_help_str(formatter.width))
                for name, command in self.commands.items()
                if getattr(command, "rich_help_panel", None) == heading
            ]
            if rows:  # a handout has the students' commands only
                with formatter.section(heading):
                    formatter.write_dl(rows)


_OF_REGISTRY = "the systems"  # stands for their names, which only a help needs


class _Choosing(TyperCommand):
    """A command with an option that is one of the systems."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options with the names that the registry has."""
        from autograder.classroom.systems import registry

        for option in self.params:
            if getattr(option, "help", None) == _OF_REGISTRY:
                known = (
                    registry.collecting() if ctx.info_name == "collect" else registry.exporting()
                )
                *names, last = known
                option.help = f"{', '.join(names)} or {last}."
        super().format_options(ctx, formatter)


app = typer.Typer(
    name="jaxprentice",
    cls=Commands,
    help="Build JAX yourself, lesson by lesson; and run the course for a class.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    suggest_commands=False,  # click does it already
)
nbgrader = typer.Typer(help="Course directories for nbgrader.", no_args_is_help=True)
site = typer.Typer(help="The course's web site.", no_args_is_help=True)
app.add_typer(nbgrader, name="nbgrader", rich_help_panel=INSTRUCTORS)
app.add_typer(site, name="site", rich_help_panel=MAINTAINERS)

LessonName = Annotated[str, typer.Argument(metavar="LESSON", help="A lesson, such as core.")]
OfCourse = Annotated[
    Path | None,
    typer.Option("--course", metavar="DIR", help="Take points and hints from its course.toml."),
]
Course = Annotated[
    Path, typer.Option("--course", metavar="DIR", help="The course directory; here if absent.")
]
ProgramFile = Annotated[
    Path | None, typer.Argument(metavar="[FILE]", help="A program that imports your package.")
]
ProgramText = Annotated[
    str | None, typer.Option("-c", metavar="CODE", help="The program itself, not a file.")
]


def main(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit status."""
    command = typer.main.get_command(app)
    _add_examples(command)
    if not places.is_complete():
        _keep_students_commands(command)
    try:
        status = command.main(list(arguments), prog_name="jaxprentice", standalone_mode=False)
    except Problem as problem:
        return _fail(str(problem), problem.status)
    except click.ClickException as error:  # something is wrong with the command line
        return _fail_usage(error)
    except BrokenPipeError:
        return _hang_up()
    except OSError as error:
        return _fail(_sentence_for(error), 1)
    if status == 130:  # what typer makes of Ctrl-C
        return _fail("Stopped.", 130)
    return status if isinstance(status, int) else 0


def _keep_students_commands(command: Any) -> None:
    """A handout is a workspace, and holds nothing for those who teach."""
    kept = {n: c for n, c in command.commands.items() if c.rich_help_panel == STUDENTS}
    command.commands = {name: kept[name] for name in kept if name != "init"}


def _hang_up() -> int:
    """The reader of our output has gone, as in `list | head -1`: nothing more may be written."""
    sys.stdout = None
    return 1


# What to do about an operating system's error.
REMEDIES = {
    errno.ENOSPC: "Make room on the disk",
    errno.EDQUOT: "Make room within your disk quota",
    errno.EACCES: "Let yourself read and write it",
    errno.EROFS: "Use a disk that can be written to",
    errno.ENOENT: "Make it, or name one that exists",
    errno.EISDIR: "Put a file there, not a folder",
    errno.ENOTDIR: "Put a folder there, not a file",
}


def _sentence_for(error: OSError) -> str:
    """What went wrong with which file, and what to do."""
    what = error.strerror or str(error)
    told = f"{error.filename}: {what}" if error.filename else what
    remedy = REMEDIES.get(error.errno or 0, "Set that right")
    return f"{told}. {remedy}, then run the same command again."


def _fail(sentence: str, status: int) -> int:
    print(sentence, file=sys.stderr)
    return status


def _fail_usage(error: click.ClickException) -> int:
    message = error.format_message()
    if isinstance(error, click.exceptions.NoArgsIsHelpError):  # its message is the help
        return _fail(message, 2)
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "jaxprentice"
    end = "" if message.endswith((".", "?")) else "."
    return _fail(f"{message}{end} See `./{path} --help`.", 2)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"jaxprentice {places.VERSION}")
        raise typer.Exit()


def _plain(wanted: bool) -> None:
    if wanted:
        os.environ["JAXPRENTICE_PLAIN"] = "1"


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="The version.")
    ] = False,
    plain: Annotated[
        bool, typer.Option("--plain", callback=_plain, help="Text that a screen reader reads well.")
    ] = False,
) -> None:
    """Build JAX yourself, lesson by lesson; and run the course for a class."""


# ------------------------------------------------------------------------------------------
# For students


@app.command(rich_help_panel=STUDENTS)
def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder.")],
) -> None:
    """Make a workspace of your own, in which you write your JAX."""
    from autograder.student import updating, workspace

    if sys.stderr.isatty():
        print("Writing the lessons; the first time it takes up to a minute ...", file=sys.stderr)
    updating.keep_given(workspace.init(folder).root)
    print(f"Your workspace is {folder}. Begin with:")
    print(f"    cd {folder}")
    print("    ./jaxprentice list")


@app.command("list", rich_help_panel=STUDENTS)
def list_() -> None:
    """List the lessons, and how far you are."""
    from autograder.student import commands, workspace

    commands.list_lessons(workspace.find())


@app.command(rich_help_panel=STUDENTS)
def check(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[LESSON or EXERCISE]",
            help="Such as jvp or jvp.mul_rule; the first incomplete lesson if absent.",
        ),
    ] = None,
    mine: Annotated[
        bool,
        typer.Option("--mine", help="Use your own earlier modules, not the reference's."),
    ] = False,
) -> int:
    """Check your work, and say what is not right."""
    from autograder.student import commands, workspace

    return commands.check(workspace.find(), name, mine=mine)


@app.command(rich_help_panel=STUDENTS)
def watch() -> None:
    """Check again each time you save a file, and move on when an exercise passes."""
    from autograder.student import watching, workspace

    watching.watch(workspace.find())


@app.command(rich_help_panel=STUDENTS)
def hint(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[EXERCISE]", help="Such as jvp.mul_rule; the next one if absent."),
    ] = None,
) -> None:
    """Give a hint for an exercise, a better one each time."""
    from autograder.student import commands, workspace

    place = workspace.find()
    commands.hint(place, commands.to_hint(place, name))


@app.command(rich_help_panel=STUDENTS)
def trace(
    file: ProgramFile = None,
    code: ProgramText = None,
    level: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="Only what the interpreter at this level takes."),
    ] = None,
    only: Annotated[
        str, typer.Option(metavar="NAMES", help="Only these operations, such as mul,sin.")
    ] = "",
    depth: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Fold what is deeper than this.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="As JSON (docs/recordings.md says what it holds).")
    ] = False,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="As a page, step by step.")
    ] = None,
) -> int:
    """Show what each operation of a program does inside your own interpreters."""
    from autograder.student import programs, workspace

    names = tuple(name.strip() for name in only.split(",") if name.strip())
    view = programs.View(level, names, depth, as_json, html)
    return programs.trace(workspace.find(), programs.read(file, code), view)


@app.command(rich_help_panel=STUDENTS)
def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A program on minijax, or on JAX.")],
    on: Annotated[
        str | None, typer.Option(metavar="jax", help="Run it on JAX as well, and compare.")
    ] = None,
) -> int:
    """Run a program on your own minijax."""
    from autograder.student import programs, workspace

    return programs.run(workspace.find(), file, on)


@app.command(rich_help_panel=STUDENTS)
def give(name: LessonName) -> None:
    """Take the solution of a lesson (your file is kept)."""
    from autograder.student import commands, workspace

    lesson = commands.taught(name)
    commands.replace(workspace.find(), lesson, workspace.solution(lesson), "the solution")


@app.command(rich_help_panel=STUDENTS)
def reset(name: LessonName) -> None:
    """Begin a lesson again (your file is kept)."""
    from autograder.student import commands, workspace

    lesson = commands.taught(name)
    commands.replace(workspace.find(), lesson, workspace.skeleton(lesson), "the skeleton")


@app.command(rich_help_panel=STUDENTS)
def update(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE]...", help="Take the course's version of these files."),
    ] = None,
) -> int:
    """Bring corrected pages and new lessons into your workspace; what you changed stays."""
    from autograder.student import updating, workspace

    return updating.update(workspace.find(), files or [])


@app.command(rich_help_panel=STUDENTS)
def progress(
    export: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write what is done, for the course's web site."),
    ] = None,
) -> None:
    """Show which exercises are done, and the points."""
    from autograder.student import commands, workspace

    place = workspace.find()
    commands.progress(place)
    if export:
        commands.export_progress(place, export)


@app.command(rich_help_panel=STUDENTS)
def doctor() -> int:
    """Look whether this machine is fit for the course."""
    from autograder.student import doctor

    return doctor.examine()


# ------------------------------------------------------------------------------------------
# For instructors


@nbgrader.command("init")
def nbgrader_init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder.")],
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="Of the generated tests; drawn if absent."),
    ] = None,
    lessons: Annotated[
        str, typer.Option(metavar="A,B,...", help="The lessons; all if absent.")
    ] = "",
) -> None:
    """Write a course directory in which nbgrader's own commands work."""
    from autograder.classroom import nbgrader_course

    made = nbgrader_course.init(folder, seed, _names(lessons))
    command = shlex.quote(str(Path(sys.executable).with_name("nbgrader")))
    print(f"The course directory is {folder}, with the assignments {', '.join(made)}.")
    print("Its file course.toml says what they hold and what they are worth. Go on with:")
    print(f"    cd {shlex.quote(str(folder))}")
    print(f"    {command} generate_assignment {made[0]}")


def _names(text: str) -> list[str]:
    """The names in a list with commas."""
    return [name for part in text.split(",") if (name := part.strip())]


@nbgrader.command("update")
def nbgrader_update(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[LESSON]...", help="Lessons or assignments; all if absent."),
    ] = None,
    folder: Course = Path(),
) -> None:
    """Bring corrected lessons and what course.toml says into a course directory."""
    from autograder.classroom import nbgrader_course

    changed = nbgrader_course.update(folder, names or [])
    for name in changed:
        print(f"{name} is renewed. Its submissions and grades are as they were.")
    for sentence in nbgrader_course.outdated(folder, names or []):
        print(sentence)
    if not changed:
        print("What students get is up to date.")


@nbgrader.command("roster")
def nbgrader_roster(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A CSV file with a column `id`.")],
    folder: Course = Path(),
) -> None:
    """Take the class list over: names, sections, and the ids of the LMS."""
    from autograder.classroom import nbgrader_people

    print(f"The course has {nbgrader_people.take_roster(folder, file)} students.")


@nbgrader.command("extend")
def nbgrader_extend(
    assignment: Annotated[str, typer.Argument(metavar="ASSIGNMENT")],
    students: Annotated[list[str], typer.Argument(metavar="STUDENT...")],
    days: Annotated[float, typer.Option(metavar="N", min=0, help="0 takes it back.")],
    folder: Course = Path(),
) -> None:
    """Give students more time for an assignment."""
    from autograder.classroom import nbgrader_people

    for sentence in nbgrader_people.extend(folder, assignment, students, days):
        print(sentence)


@nbgrader.command("late-days")
def nbgrader_late_days(folder: Course = Path()) -> None:
    """List who handed in late, who has an extension, and what is left of the late days."""
    from autograder.classroom import nbgrader_people

    for sentence in [*nbgrader_people.late_days(folder)] or ["No student is late."]:
        print(sentence)


@nbgrader.command("group")
def nbgrader_group(
    assignment: Annotated[str, typer.Argument(metavar="ASSIGNMENT")],
    students: Annotated[
        list[str] | None, typer.Argument(metavar="[STUDENT]...", help="None: list the groups.")
    ] = None,
    folder: Course = Path(),
) -> None:
    """Let students hand in together: what one hands in counts for all of them."""
    from autograder.classroom import nbgrader_people

    found = [*nbgrader_people.group(folder, assignment, students or [])]
    for sentence in found or [f"{assignment}: no groups"]:
        print(sentence)


@nbgrader.command("section")
def nbgrader_section(
    section: Annotated[str, typer.Argument(metavar="SECTION")],
    students: Annotated[
        list[str] | None, typer.Argument(metavar="[STUDENT]...", help="None: list the section.")
    ] = None,
    folder: Course = Path(),
) -> None:
    """Put students into a section, or list who is in it."""
    from autograder.classroom import nbgrader_people

    for sentence in nbgrader_people.section(folder, section, students or []):
        print(sentence)


@nbgrader.command("variants")
def nbgrader_variants(
    assignment: Annotated[str, typer.Argument(metavar="ASSIGNMENT")],
    folder: Course = Path(),
) -> None:
    """Print which variant and which open task each student has, as CSV."""
    from autograder.classroom import nbgrader_people

    print(nbgrader_people.variants(folder, assignment), end="")


@app.command(rich_help_panel=INSTRUCTORS)
def release(
    lesson: LessonName,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the handout goes.")],
    folder: OfCourse = None,
) -> None:
    """Write the handout of a lesson, as a folder and as a ZIP archive."""
    from autograder.classroom import course, release
    from autograder.student import commands

    chosen = course.lessons(folder, lesson) if folder else [commands.with_page(lesson)]
    for each in chosen:
        made = release.release(each, out)
        print(
            f"The handout of {each.id} is {made.folder}, and {made.archive} ({made.files} files)."
        )
        if made.publishes:
            print(f"With it you publish the solutions of: {', '.join(made.publishes)}.")
    print("It was searched for other solutions, hidden tests and known mistakes: none is in it.")


@app.command(rich_help_panel=INSTRUCTORS)
def grade(
    submissions: Annotated[
        Path, typer.Argument(metavar="SUBMISSIONS", help="A folder with a folder for each student.")
    ],
    lesson: Annotated[str, typer.Option(metavar="LESSON", help="The lesson to grade.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the results go.")],
    jobs: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Submissions at once; all cores if absent."),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDR", help="Grade on the Dask cluster whose scheduler is there."),
    ] = None,
    isolation: Annotated[
        str | None,
        typer.Option(metavar="LEVEL", help="namespaces, landlock or process; the best if absent."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            help="Of the generated tests; what --out keeps, or drawn, if absent.",
        ),
    ] = None,
    on_own: Annotated[
        bool, typer.Option("--own-base", help="Stand on the students' own earlier modules.")
    ] = False,
    folder: OfCourse = None,
) -> None:
    """Grade a folder of submissions, in isolation."""
    from autograder.classroom import class_run, course, own_base
    from autograder.student import commands

    if jobs and scheduler:
        raise Problem("The cluster has the workers that it has. Give --jobs or --scheduler.")
    chosen = course.one_lesson(folder, lesson) if folder else commands.taught(lesson)
    assignment = course.find(folder, lesson) if folder else None
    on_own = on_own or bool(assignment and assignment.own_base)
    run = own_base.grade_folder if on_own else class_run.grade_folder
    how: dict[str, Any] = {"jobs": jobs, "level": isolation, "scheduler": scheduler, "seed": seed}
    run(submissions, chosen, out, assignment=assignment, **how)


@app.command(rich_help_panel=INSTRUCTORS)
def cluster() -> None:
    """Make the key of a Dask cluster of your own, and say how to start one."""
    from autograder.classroom import cluster

    print(f"The key of your clusters is in {cluster.make_key()}, which no other account can open.")
    print("All that Dask starts in your account uses it. Where HEAD is one of your machines:\n")
    print(*(f"    {command}" for command in cluster.how_to_start()), sep="\n")
    print("    ./jaxprentice grade SUBMISSIONS ... --scheduler tls://HEAD:8786")


@app.command(rich_help_panel=INSTRUCTORS, cls=_Choosing)
def collect(
    download: Annotated[Path, typer.Argument(metavar="DOWNLOAD", help="A folder or ZIP archive.")],
    system: Annotated[str, typer.Option("--from", metavar="SYSTEM", help=_OF_REGISTRY)],
    lesson: Annotated[
        str, typer.Option(metavar="LESSON", help="The lesson, or the assignment of a course.")
    ],
    roster: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The class; the course's if absent.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where; the course's submitted/ if absent.")
    ] = None,
    folder: Course = Path(),
) -> None:
    """Take submissions over as an LMS packs them, under the ids of the roster."""
    from autograder.classroom import collect

    for sentence in collect.collect(download, system, lesson, roster, out, folder):
        print(sentence)


@app.command("return", rich_help_panel=INSTRUCTORS)
def return_(
    lesson: Annotated[
        str, typer.Option(metavar="LESSON", help="The lesson, or the assignment of a course.")
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The ZIP archive to write.")],
    collected: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where `collect` wrote; submitted/ if absent."),
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where `report` wrote; nbgrader's feedback if absent."),
    ] = None,
    folder: Course = Path(),
) -> None:
    """Pack feedback for the LMS, by the names of its download."""
    from autograder.classroom import collect

    count = collect.give_back(lesson, out, collected, results, folder)
    print(f"{out} holds {count} pages, named as the submissions were.")


_GRADED = "A course directory, or a folder of results."
Source = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="SOURCE",
        help="gradebook or results; the gradebook if absent, where there is one.",
    ),
]


@app.command(rich_help_panel=INSTRUCTORS)
def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help=_GRADED)],
    source: Source = None,
) -> None:
    """Write a report on a class from its grades."""
    from autograder.classroom import report

    print(f"The report is {report.write(folder, source)}.")


@app.command(rich_help_panel=INSTRUCTORS)
def similar(
    submissions: Annotated[
        Path, typer.Argument(metavar="SUBMISSIONS", help="A folder, or a course directory.")
    ],
    lesson: Annotated[
        str, typer.Option(metavar="LESSON", help="The lesson; in a course an assignment, too.")
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where the page goes; SUBMISSIONS if absent.")
    ] = None,
) -> None:
    """List submissions that share code, and write a page that shows it."""
    from autograder.classroom import sharing

    for sentence in sharing.find(submissions, lesson, out):
        print(sentence)


@app.command(rich_help_panel=INSTRUCTORS, cls=_Choosing)
def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help=_GRADED)],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help=_OF_REGISTRY,
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where; DIR/exports/FORMAT if absent.")
    ] = None,
    source: Source = None,
) -> None:
    """Write grades in a form that another system reads."""
    from autograder.classroom import exports

    print(f"The export is in {exports.export(folder, form, out, source)}.")


@app.command(rich_help_panel=INSTRUCTORS)
def demo() -> None:
    """Grade a sample class through nbgrader."""
    from autograder.upkeep import demo

    demo.run()


# ------------------------------------------------------------------------------------------
# For maintainers


@app.command(rich_help_panel=MAINTAINERS)
def new(
    lesson: Annotated[str, typer.Argument(metavar="LESSON", help="Its id, such as fusion.")],
) -> None:
    """Begin a lesson: write its files, with marks where they are to be filled in."""
    from autograder.upkeep import new

    files = new.begin(lesson)
    print(f"The lesson {lesson} is begun. Replace what is marked with {new.MARK}, in this order:")
    for path in files:
        print(f"    {path}")
    print("It works as it is. Try it now, and again after each step:")
    for step in ("sync", f"audit {lesson}", "site serve"):
        print(f"    ./jaxprentice {step}")
    print("`./jaxprentice sync --check` lists what is left. docs/lessons.md says more.")


@app.command(rich_help_panel=MAINTAINERS)
def sync(
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; fail if it would.")
    ] = False,
) -> None:
    """Write all generated files anew."""
    from autograder.upkeep import new, sync

    changed = sync.sync(check)
    for path in changed:
        print(path if check else f"written: {path}")
    if check and changed:
        raise Problem("Generated files are out of date. Run `./jaxprentice sync`.")
    if not changed:
        print("Everything generated is up to date.")
    unfinished = new.unfinished()
    for place in unfinished:
        print(place)
    if check and unfinished:
        raise Problem(f"A lesson is not finished. Replace each {new.MARK} by what it asks for.")


@app.command(rich_help_panel=MAINTAINERS)
def audit(
    lesson: Annotated[
        str | None, typer.Argument(metavar="[LESSON]", help="A lesson; all if absent.")
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Every twentieth answer, mutant and attack, no lone exercise."
        ),
    ] = False,
) -> int:
    """Examine the hidden suites; without LESSON, also sweep the reference against JAX."""
    from autograder.student import commands
    from autograder.upkeep import audit, sweep

    chosen = [commands.taught(lesson)] if lesson else commands.all_taught()
    status = audit.run(chosen, quick, hostile=lesson is None)
    return status if lesson or quick else sweep.run() or status


@app.command(rich_help_panel=MAINTAINERS)
def bench(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Such as reference; all if absent.")
    ] = None,
) -> int:
    """Measure speed beside JAX's and others'."""
    from autograder.upkeep import bench

    return bench.run(name)


@app.command(
    rich_help_panel=MAINTAINERS,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    add_help_option=True,
)
def test(context: typer.Context) -> int:
    """Run a choice of the tests; all with --all, or those that you name. The rest goes to pytest.

    With --every-python they run under each Python found.
    """
    from autograder.upkeep import selftest

    return selftest.run(context.args)


@site.command("build")
def site_build(
    offline: Annotated[
        bool, typer.Option("--offline", help="For reading from a folder, without a server.")
    ] = False,
) -> None:
    """Build the site into build/site, or for offline use into build/offline."""
    from autograder.upkeep import site

    print(f"The site is in {site.build(offline=offline)}.")


@site.command("serve")
def site_serve() -> None:
    """Serve the site on this machine, built anew when a page changes."""
    from autograder.upkeep import site

    site.serve()
