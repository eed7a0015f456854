"""The commands for maintainers: generated files, audits, benchmarks, tests and the site."""

from pathlib import Path
from typing import Annotated

import typer

from autograder.cli.command import MAINTAINERS, add_group, adds, app, argument, flag, option
from autograder.lessons.problem import Problem

site = add_group("site serve", MAINTAINERS, help="The course's web site.")
command = adds(app, MAINTAINERS)
site_command = adds(site, within="site")


@command("new fusion")
def new(lesson: Annotated[str, argument("LESSON", "Its id, such as fusion.")]) -> None:
    """Begin a lesson: write its files, with marks to fill in.

    In a course directory the lesson is that course's own, and this copy stays as it is.
    """
    from autograder.classroom.course import settings
    from autograder.lessons import manifest
    from autograder.upkeep import new

    here = Path.cwd() if Path(settings.FILE).is_file() else None
    files = new.begin(lesson, here)
    print(f"The lesson {lesson} is created. Replace what is marked with {new.MARK}, in this order:")
    for path in files:
        print(f"    {path}")
    print("It works as it is. Try it now, and again after each step:")
    if here:
        print(f"    jaxprentice audit {lesson}")
        needed = ", ".join(x.id for x in manifest.needed(new.standing_on(own=True)))
        print(f"Students get the solutions of what `requires` in lesson.toml names: {needed}.")
        print(
            f"Then make it an assignment in {settings.FILE}, and run `jaxprentice nbgrader update`."
        )
        return
    for step in ("sync", f"audit {lesson}", "site serve"):
        print(f"    ./jaxprentice {step}")
    print("`./jaxprentice sync --check` lists what is left. docs/lessons.md says more.")


@command("sync --check")
def sync(
    check: Annotated[
        bool, flag("--check", "Change nothing; fail if anything would change.")
    ] = False,
) -> None:
    """Write all generated files again."""
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
        raise Problem(f"A lesson is not finished. Replace each {new.MARK} with what it asks for.")


@command("audit jvp --quick")
def audit(
    what: Annotated[
        str | None,
        argument(
            "[WHAT]", "A lesson, an exercise, or a path below solutions/; all lessons if absent."
        ),
    ] = None,
    quick: Annotated[
        bool,
        flag(
            "--quick",
            "What changed since the last whole audit, and a sample; not for one exercise.",
        ),
    ] = False,
) -> int:
    """Examine the hidden suites; without WHAT, also sweep the reference against JAX.

    Of whole lessons it also says what stored wrong answers cost, with 20 seeds.

    Of a path, such as minijax/random.py, mutants are tried on the reference's own tests.
    """
    from autograder.lessons import places
    from autograder.student import names
    from autograder.upkeep import audit, reference, seeds, sweep

    places.adopt(Path.cwd())
    if what and (modules := reference.modules(what)):
        return reference.run(modules, quick)
    lesson, exercise = names.resolve(what) if what else (None, None)
    chosen = [lesson] if lesson else names.all_taught()
    status = audit.run(chosen, audit.Asked(exercise, quick), hostile=not lesson)
    if not (exercise or quick):
        status = seeds.run(chosen) or status
    return status if lesson or quick else sweep.run() or status


@command("bench reference")
def bench(
    name: Annotated[str | None, argument("[NAME]", "Such as reference; all if absent.")] = None,
) -> int:
    """Measure speed, next to JAX and other tools."""
    from autograder.upkeep import bench

    return bench.run(name)


@command(
    "test tests/student",
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    add_help_option=True,
)
def test(context: typer.Context) -> int:
    """Run a selection of the tests; all with --all, or those you name. The rest goes to pytest.

    With --full the sweeps run, too. With --every-python they run under each Python found.
    """
    from autograder.upkeep import selftest

    return selftest.run(context.args)


@command("archives --out build/archives")
def archives(out: Annotated[Path, option("DIR", "Where they are written.", "--out")]) -> None:
    """Pack a release: one archive for students, one for instructors."""
    from autograder.upkeep import archives

    for path in archives.build(out):
        print(f"Written: {path}")


@site_command("site build")
def site_build(
    offline: Annotated[
        bool, flag("--offline", "For reading from a folder, without a server.")
    ] = False,
) -> None:
    """Build the site into build/site, or for offline use into build/offline."""
    from autograder.upkeep import site

    print(f"The site is in {site.build(offline=offline)}.")


@site_command("site serve")
def site_serve() -> None:
    """Serve the site on this machine, rebuilt when a page changes."""
    from autograder.upkeep import site

    site.serve()
