"""Every command with its example, as the command's own help has them."""

import typer

from autograder import cli


def every(group, path=""):
    """The commands and groups below a group, by what is typed for each."""
    for name, command in group.commands.items():
        yield path + name, command
        if hasattr(command, "commands"):
            yield from every(command, f"{path}{name} ")


COMMANDS = dict(every(typer.main.get_command(cli.app)))
EXAMPLES = {
    name: command.epilog.removeprefix("Example: ./jaxprentice ")
    for name, command in COMMANDS.items()
}
