"""The commands for students: a workspace, checks, hints, programs."""

from pathlib import Path
from typing import Annotated

from autograder.cli.command import STUDENTS, LessonName, adds, app, argument, flag, number, option

command = adds(app, STUDENTS)

ProgramFile = Annotated[Path | None, argument("[FILE]", "A program that imports your package.")]
ProgramText = Annotated[str | None, option("CODE", "The program itself, not a file.", "-c")]


@command("init my-jax")
def init(
    folder: Annotated[Path, argument("DIR", "A new folder.")],
    way: Annotated[
        str | None, option("WAY", "How much help: guided, contract (the default) or blank.")
    ] = None,
) -> None:
    """Make a workspace of your own, in which you write your JAX."""
    from autograder.student import updating, workspace

    updating.init(folder, way or workspace.CONTRACT)
    print(f"Your workspace is {folder}. Begin with:")
    print(f"    cd {folder}")
    print("    ./jaxprentice list")


@command("list")
def list_() -> None:
    """List the lessons, and how far you are."""
    from autograder.student import progress, workspace

    progress.list_lessons(workspace.find())


@command("check jvp.mul_rule")
def check(
    name: Annotated[
        str | None,
        argument(
            "[LESSON or EXERCISE]",
            "Such as jvp, jvp.mul_rule or a file; if absent, what you saved last.",
        ),
    ] = None,
    mine: Annotated[
        bool, flag("--mine", "Use your own earlier modules, not the reference's.")
    ] = False,
) -> int:
    """Check your work, and say what is not right."""
    from autograder.student import commands, workspace

    return commands.check(workspace.around(name), name, mine=mine)


@command("watch jvp")
def watch(
    name: Annotated[
        str | None,
        argument("[LESSON or EXERCISE]", "Where to begin; if absent, what you saved last."),
    ] = None,
) -> None:
    """Check again each time you save a file, and move on when an exercise passes."""
    from autograder.student import watching, workspace

    watching.watch(workspace.find(), name)


@command("hint jvp.mul_rule")
def hint(
    name: Annotated[
        str | None, argument("[EXERCISE]", "Such as jvp.mul_rule; the next one if absent.")
    ] = None,
) -> None:
    """Give a hint for an exercise, a better one each time."""
    from autograder.student import commands, workspace

    place = workspace.find()
    commands.hint(place, commands.to_hint(place, name))


@command('trace -c "from minijax import lax; lax.sin(3.0)"')
def trace(
    file: ProgramFile = None,
    code: ProgramText = None,
    level: Annotated[
        int | None, number("Only operations that the interpreter at this level handles.", 0)
    ] = None,
    only: Annotated[str, option("NAMES", "Only these operations, such as mul,sin.")] = "",
    depth: Annotated[int | None, number("Fold what is deeper than this.", 1)] = None,
    as_json: Annotated[
        bool, flag("--json", "As JSON (docs/recordings.md says what it holds).")
    ] = False,
    html: Annotated[Path | None, option("FILE", "As a page, step by step.")] = None,
) -> int:
    """Show what each operation of a program does inside your own interpreters."""
    from autograder.student import programs, workspace

    names = tuple(name.strip() for name in only.split(",") if name.strip())
    program = programs.read(file, code)
    return programs.trace(workspace.find(), program, level, names, depth, as_json, html)


@command("run program.py", context_settings={"ignore_unknown_options": True})
def run(
    file: Annotated[Path, argument("FILE", "A program on minijax, or on JAX.")],
    options: Annotated[
        list[str] | None, argument("[OPTION]...", "The program's own options.")
    ] = None,
    on: Annotated[str | None, option("jax", "Run it on JAX as well, and compare.")] = None,
) -> int:
    """Run a program on your own minijax."""
    from autograder.student import programs, workspace

    return programs.run(workspace.around(str(file)), file, on, options or [])


@command("give core")
def give(name: LessonName) -> None:
    """Take the solution of a lesson (your file is kept)."""
    from autograder.student import names, progress, workspace

    progress.give(workspace.find(), names.taught(names.plain(name)))


@command("reset core")
def reset(name: LessonName) -> None:
    """Begin a lesson again (your file is kept)."""
    from autograder.student import commands, names, workspace

    place, lesson = workspace.find(), names.taught(names.plain(name))
    what = "an empty page, for all" if place.page(lesson) else "the skeleton"
    commands.replace(place, lesson, place.skeleton(lesson), what)


@command("way jvp blank")
def way(
    name: LessonName,
    way: Annotated[str, argument("WAY", "How much help: guided, contract or blank.")],
) -> None:
    """Choose how much help a lesson gives, before you begin it.

    guided: the module has each exercise's signature, contract and toolbox. contract: without the
    toolbox, which is the second hint. blank: the exercises are not there, and the page says what
    to write.
    """
    from autograder.student import names, ways, workspace

    ways.choose(workspace.find(), names.taught(names.plain(name)), way)


@command("update minijax/jvp.py")
def update(
    files: Annotated[
        list[str] | None, argument("[FILE]...", "Take the course's version of these files.")
    ] = None,
) -> int:
    """Bring corrected pages and new lessons into your workspace; what you changed stays."""
    from autograder.student import updating, workspace

    return updating.update(workspace.find(), files or [])


@command("progress")
def progress(
    name: Annotated[str | None, argument("[LESSON]", "Show each exercise of a lesson.")] = None,
    export: Annotated[
        Path | None, option("FILE", "Write your progress to a file, for the course's site.")
    ] = None,
) -> None:
    """Show which exercises are done, and the points."""
    from autograder.student import names, progress, workspace

    place = workspace.find()
    if name:
        progress.show_lesson(place, names.taught(names.plain(name)))
    else:
        progress.show(place)
    if export:
        progress.export(place, export)


@command("doctor")
def doctor() -> int:
    """Check whether this machine is ready for the course."""
    from autograder.student import doctor

    return doctor.examine()
