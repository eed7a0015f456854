"""The help of every command ends with an example, and every example is a command that works."""

import shlex

import pytest
import typer

from autograder import cli
from autograder.lessons import assemble, places
from autograder.student import workspace


def every(group, path=""):
    for name, command in group.commands.items():
        yield path + name, command
        if hasattr(command, "commands"):
            yield from every(command, f"{path}{name} ")


COMMANDS = dict(every(typer.main.get_command(cli.app)))

# What a student's examples say on skeletons, of which `core` is solved, and how they end.
SAID = {
    "list": (0, "9 of 9"),
    "check": (1, "to do  jvp.mul_rule"),
    "hint": (0, "Hint 1 of 3 for jvp.mul_rule"),
    "trace": (0, "sin 3.0 -> 0.1411   level 0, EvalTrace"),
    "run": (0, "-0.0\n"),
    "give": (0, "minijax/core.py is now the solution of core."),
    "reset": (0, "minijax/core.py is now the skeleton of core."),
    "progress": (0, "done   core.bind"),
}


@pytest.fixture(scope="module")
def skeletons():
    return assemble.handout({"minijax", "microjax"})


@pytest.fixture
def begun(skeletons, tmp_path, monkeypatch):
    """A workspace of the course in which `core` is done, and a program."""
    assemble.write_files(tmp_path, skeletons)
    core = (places.SOLUTIONS / "minijax/core.py").read_bytes()
    (tmp_path / "minijax/core.py").write_bytes(core)
    workspace.add_launcher(tmp_path, str(places.ROOT))
    program = "from minijax import lax\nprint(lax.neg(lax.sin(0.0)))\n"
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_ends_with_an_example_that_the_command_takes(name, capsys, monkeypatch):
    assert cli.main([*name.split(), "--help"]) == 0
    last = capsys.readouterr().out.rstrip().splitlines()[-1].strip()
    assert last == f"Example: ./jaxprentice {cli.EXAMPLES[name]}"
    called = []
    group = typer.main.get_command(cli.app)
    for command in dict(every(group)).values():
        if not hasattr(command, "commands"):
            monkeypatch.setattr(command, "callback", lambda **given: called.append(given))
    group.main(shlex.split(cli.EXAMPLES[name]), standalone_mode=False)
    assert len([given for given in called if given.keys() != {"version", "plain"}]) == 1


@pytest.mark.parametrize("name", SAID)
def test_the_examples_for_students_run(begun, name, capfd):
    status = cli.main(shlex.split(cli.EXAMPLES[name]))
    assert (status, SAID[name][1] in capfd.readouterr().out) == (SAID[name][0], True)


def test_there_is_no_example_of_a_command_that_is_gone():
    assert cli.EXAMPLES.keys() == COMMANDS.keys()
