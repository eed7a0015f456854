"""The command as a whole: its help, its groups, and how it ends.

A `Problem` is printed as one sentence with exit status 1; wrong usage has status 2, Ctrl-C 130.
"""

import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import click
import typer
from typer.core import TyperGroup

from autograder.lessons import places
from autograder.lessons.problem import Problem, of_system

STUDENTS, INSTRUCTORS, MAINTAINERS = "For students", "For instructors", "For maintainers"
LONGEST = 300  # characters of a name, a path or a number in a sentence


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


app = typer.Typer(
    name="jaxprentice",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    suggest_commands=False,  # click does it already
)


class Whole(click.IntRange):
    """A whole number from `min` on that fits where numbers are kept."""

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        """The number; Python itself calls one of thousands of digits no number."""
        if len(str(value)) > DIGITS:
            self.fail(f"the number {value} is too large; give at most {DIGITS} digits", param, ctx)
        return super().convert(value, param, ctx)


DIGITS = 18


def argument(metavar: str, text: str) -> Any:
    """What stands on a command's line at a place of its own: its name there, and its help."""
    return typer.Argument(metavar=metavar, help=text)


def option(metavar: str, text: str, *names: str, **more: Any) -> Any:
    """An option with a value: how that is shown, its help, and its name if it is not the usual."""
    return typer.Option(*names, metavar=metavar, help=text, **more)


def flag(name: str, text: str) -> Any:
    """An option that is given or not."""
    return typer.Option(name, help=text)


def number(text: str, least: int) -> Any:
    """An option with a whole number from `least` on."""
    return option("N", text, click_type=Whole(min=least))


LessonName = Annotated[str, argument("LESSON", "A lesson, such as core.")]

F = TypeVar("F", bound=Callable[..., Any])


def adds(group: typer.Typer, audience: str | None = None, within: str = "") -> Any:
    """A decorator for functions that become commands of a group.

    Its argument is an example of the command: it begins with the name, and ends the help.
    """

    def command(example: str, **options: Any) -> Callable[[F], F]:
        name = example.removeprefix(within).split()[0]
        return group.command(name, rich_help_panel=audience, epilog=_epilog(example), **options)

    return command


def add_group(example: str, audience: str, **options: Any) -> typer.Typer:
    """A new group of commands, whose example begins with the group's name."""
    group = typer.Typer(no_args_is_help=True, epilog=_epilog(example), **options)
    app.add_typer(group, name=example.split(maxsplit=1)[0], rich_help_panel=audience)
    return group


def _epilog(example: str) -> str:
    return f"Example: ./jaxprentice {example}"


def main(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit status."""
    command = typer.main.get_command(app)
    if not places.is_complete():
        _keep_students_commands(command)
    try:
        status = command.main(
            [at_home(x) for x in arguments], prog_name="jaxprentice", standalone_mode=False
        )
    except Problem as problem:
        return _fail(str(problem), problem.status)
    except click.ClickException as error:  # something is wrong with the command line
        return _fail_usage(error)
    except BrokenPipeError:
        return _hang_up()
    except OSError as error:
        return _fail(of_system(error), 1)
    if status == 130:  # what typer makes of Ctrl-C
        return _fail("Stopped.", 130)
    return status if isinstance(status, int) else 0


def at_home(argument: str) -> str:
    """An argument with `~/` written out, which no shell does after `--out=`, nor Jupyter at all."""
    option, path = re.fullmatch(r"(--[\w-]+=)?(.*)", argument, re.DOTALL).groups("")  # type: ignore[union-attr]
    return option + (str(Path(path).expanduser()) if re.match(r"~([/\\]|$)", path) else path)


def _keep_students_commands(command: Any) -> None:
    """There is nothing for those who teach; and a handout is a workspace already."""
    kept = {n: c for n, c in command.commands.items() if c.rich_help_panel == STUDENTS}
    if places.is_handout():
        kept.pop("init")
    command.commands = kept


def _hang_up() -> int:
    """The reader of our output has gone, as in `list | head -1`: nothing more may be written."""
    sys.stdout = None
    return 1


def _fail(sentence: str, status: int) -> int:
    print(_readable(sentence), file=sys.stderr)
    return status


def _readable(sentence: str) -> str:
    """A sentence without characters that play with the terminal, and without endless names."""
    plain = "".join(c if c.isprintable() or c == "\n" else "?" for c in sentence)
    return re.sub(rf"(\S{{{LONGEST}}})\S+", r"\1...", plain)


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
    """Build JAX yourself, lesson by lesson, and run the course for a class."""
