"""`trace` and `run`: programs on the student's own modules."""

import json
import re
import shutil

import pytest

from autograder import cli
from autograder.lessons import places
from autograder.student import programs, workspace

PROGRAM = "from minijax import jvp, lax\nprint(jvp(lax.sin, (3.0,), (1.0,))[1])\n"


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A workspace in which all is solved, without pages, and a program in it."""
    folder = tmp_path / "work"
    shutil.copytree(places.SOLUTIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    workspace.add_launcher(folder, str(places.ROOT))
    (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def say(capfd):
    """Run a command line: exit status, standard output, standard error."""

    def run(*arguments):
        capfd.readouterr()
        status = cli.main(arguments)
        return (status, *capfd.readouterr())

    return run


def test_trace_draws_a_program_on_the_students_own_modules(work, say):
    text = (work / "minijax/jvp.py").read_text(encoding="utf-8")
    text = text.replace("mul(x_dot, cos(x))", "mul(x_dot, neg(cos(x)))")
    (work / "minijax/jvp.py").write_text(text, encoding="utf-8")
    status, out, err = say("trace", "program.py")
    assert (status, err) == (0, "")
    assert "      neg -0.99 -> 0.99   level 0, EvalTrace: numpy.negative\n" in out
    assert out.endswith("prints: 0.9899924966004454\nThe program ran to its end.\n")


def test_trace_takes_the_program_from_the_command_line(work, say):
    status, out, _ = say("trace", "-c", PROGRAM, "--only", "cos, mul")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()] == ["cos", "mul", "The"]
    assert "Give a program" in say("trace", "program.py", "-c", "1")[2]
    out = say("trace", "-c", PROGRAM, "--depth", "3")[1]
    assert [line.split()[0] for line in out.splitlines()[:4]] == ["with", "sin", "by", "..."]


def test_trace_prints_json_and_writes_a_page(work, say):
    document = json.loads(say("trace", "program.py", "--json", "--level", "1")[1])
    assert [step["name"] for step in document["steps"]] == ["sin"]
    status, out, _ = say("trace", "program.py", "--html", "page.html")
    assert (status, out) == (0, "The recording is in page.html. Open it in a browser.\n")
    assert 'class="stepper"' in (work / "page.html").read_text(encoding="utf-8")


def test_trace_ends_with_status_1_where_the_program_fails(work, say):
    status, out, _ = say("trace", "-c", "import minijax\nminijax.lax.sin('x')")
    assert status == 1
    assert "The program ends in line 2 with TypeError: " in out


def test_a_program_may_import_what_is_beside_it(work, say):
    (work / "sub").mkdir()
    (work / "sub/helper.py").write_text("from minijax import lax\nX = lax.sin(3.0)\n", "utf-8")
    (work / "sub/main.py").write_text("import minijax, helper\nprint(helper.X)\n", "utf-8")
    assert "sin 3.0 -> 0.1411" in say("trace", "sub/main.py")[1]


def test_a_terminal_without_utf8_gets_ascii(work, capfd, monkeypatch):
    import io
    import sys

    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="cp1252"))
    document = programs.record(workspace.find(), programs.read(work / "program.py", None))
    programs.tell(document, document["steps"])
    sys.stdout.flush()
    assert b"sin [3.0 | 1.0]1   level 1, JVPTrace" in sys.stdout.buffer.getvalue()


# ------------------------------------------------------------------------------------------
# run


@pytest.mark.parametrize(
    ("program", "options", "ended"),
    [
        (PROGRAM, "", (0, "-0.9899924966004454\n", "")),
        ("import sys\nsys.exit(7)", "", (7, "", "")),
        ("import sys\nsys.exit('No.')", "", (1, "", "No.\n")),
        ("import sys\nprint(sys.argv[1:])", "--steps 3 -q", (0, "['--steps', '3', '-q']\n", "")),
    ],
)
def test_run_runs_a_program_with_its_options_and_ends_as_it_does(
    work, say, program, options, ended
):
    (work / "program.py").write_text(program, encoding="utf-8")
    assert say("run", "program.py", *options.split()) == ended


def test_a_program_for_jax_runs_on_the_students_minijax(work, say):
    source = (
        "import jax\nimport jax.numpy as jnp\nfrom jax import lax\n"
        'jax.config.update("jax_enable_x64", True)\n'
        "print(jax.grad(lambda x: jnp.sum(lax.sin(x)))(jnp.arange(2.0)), jax.__name__)\n"
    )
    (work / "program.py").write_text(source, encoding="utf-8")
    assert say("run", "program.py") == (0, "[1.         0.54030231] minijax\n", "")


def test_a_program_on_part_one_runs_where_minijax_does_not(work, say):
    (work / "minijax/core.py").write_text("1 +", encoding="utf-8")
    (work / "program.py").write_text("from microjax import add\nprint(add(1.0, 2.0))", "utf-8")
    assert say("run", "program.py") == (0, "3.0\n", "")


def test_an_error_is_told_from_the_programs_first_line_on(work, say):
    (work / "program.py").write_text("import minijax\nminijax.grad(1)(2.0)\n", encoding="utf-8")
    status, _, err = say("run", "program.py")
    assert status == 1
    lines = err.splitlines()
    assert lines[1].strip() == 'File "program.py", line 2, in <module>'
    assert "run_program" not in err


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ("", 0, "prints the same.\n"),
        ("print(1.0)\n", 1, None),
        ("import minijax\nminijax.lax.sin('x')\n", 0, "prints the same.\n"),
    ],
)
def test_on_jax_compares_what_both_print(work, say, change, status, words):
    if words is None:  # the student's modules are wrong
        file = work / "minijax/jvp.py"
        text = file.read_text(encoding="utf-8").replace("cos(x))", "sin(x))")
        file.write_text(text, encoding="utf-8")
        words = "Line 1 differs.\n  yours: 0.14112"
    with (work / "program.py").open("a", encoding="utf-8") as file:
        file.write(change)
    got, out, _ = say("run", "program.py", "--on", "jax")
    assert (got, words in out) == (status, True)


def test_without_jax_it_says_how_to_get_it(work, say, monkeypatch):
    monkeypatch.setattr(programs, "find_spec", lambda name: None)
    status, out, err = say("run", "program.py", "--on", "jax")
    assert (status, out) == (1, "")
    assert re.search(r"-m pip install jax==0\.1\d\.\d+\n$", err)


def test_lines_are_compared_by_their_numbers():
    assert programs.alike("Array([0.1, 2.0])", "Array([0.10000000001,  2.])")
    assert not programs.alike("Array([0.1, 2.0])", "Array([0.1001, 2.0])")
    assert not programs.alike("1.0", "one")
    assert not programs.alike("1 2", "1")
