"""`trace` and `run`: programs on the student's own modules."""

import json

import pytest

from autograder import cli
from autograder.lessons import assemble, places
from autograder.student import programs, workspace

PROGRAM = "from minijax import jvp, lax\nprint(jvp(lax.sin, (3.0,), (1.0,))[1])\n"


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A workspace in which all is solved, without pages, and a program in it."""
    folder = tmp_path / "work"
    assemble.write_files(folder, assemble.handout({"minijax", "microjax"}))
    for path in folder.rglob("*.py"):
        path.write_bytes((places.SOLUTIONS / path.relative_to(folder)).read_bytes())
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


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["trace"], 'Give a program: the name of a file, or -c "...".'),
        (["trace", "program.py", "-c", "1"], "Give a program"),
        (["trace", "nothing.py"], "There is no file nothing.py."),
        (
            ["trace", "-c", "import minijax, os; os._exit(3)"],
            "The program ended Python (status 3).",
        ),
    ],
)
def test_problems_are_one_sentence(work, say, line, words):
    status, out, err = say(*line)
    assert (status, out) == (1, "")
    assert words in err
    assert err.count("\n") == 1


def test_a_terminal_without_utf8_gets_ascii(work, capfd, monkeypatch):
    import io
    import sys

    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="cp1252"))
    document = programs.record(workspace.find(), programs.read(work / "program.py", None))
    programs.tell(document, document["steps"])
    sys.stdout.flush()
    assert b"sin [3.0 | 1.0]1   level 1, JVPTrace" in sys.stdout.buffer.getvalue()
