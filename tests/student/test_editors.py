"""A workspace in editors and in Jupyter: pytest finds the checks, a real kernel has the magics."""

import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from jupyter_client.manager import KernelManager
from student_course import solve

from autograder.lessons import assemble, manifest, places
from autograder.student import contents, workspace

# ------------------------------------------------------------------------------------------
# Editors


def pytest_in(work, *options):
    """What plain pytest says in a workspace."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PYTEST"))}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=no", *options]
    done = subprocess.run(command, cwd=work, env=kept, capture_output=True, text=True, check=False)
    return done.stdout


def test_pytest_finds_the_checks_of_all_lessons_on_the_students_own_files(work):
    solve(work, "toy/hello.py", ("self.size += by", "self.size += 7"))
    said = pytest_in(work, "-rA").splitlines()
    assert sorted(line.split(" - ")[0] for line in said if "::" in line) == [
        "FAILED lessons/01_hello/checks.py::test_grow",
        "FAILED lessons/03_bye/checks.py::test_bye",
        "PASSED lessons/01_hello/checks.py::test_greet",
    ]


def test_a_module_that_cannot_be_imported_does_not_hide_the_other_checks(work):
    (work / "toy/bye.py").write_text("1 / 0\n", encoding="utf-8")
    solve(work)
    (work / "toy/__init__.py").write_text("", encoding="utf-8")
    assert "2 passed, 1 error" in pytest_in(work)


def test_the_settings_name_the_workspace_and_pytest(work):
    settings = json.loads((work / ".vscode/settings.json").read_text(encoding="utf-8"))
    assert settings["python.analysis.extraPaths"][0] == "."
    assert settings["python.testing.pytestEnabled"]
    assert Path(settings["python.defaultInterpreterPath"]).exists()
    module = ET.parse(work / ".idea/jax.iml").getroot()
    runner = module.find(".//option[@name='PROJECT_TEST_RUNNER']")
    assert runner.get("value") == "py.test"
    modules = ET.parse(work / ".idea/modules.xml").getroot()
    assert modules.find(".//module").get("filepath") == "$PROJECT_DIR$/.idea/jax.iml"


# ------------------------------------------------------------------------------------------
# Jupyter

START = """\
import os, sys
root = {root!r}
environment = dict(os.environ, PYTHONPATH=root)
os.execve(sys.executable, [sys.executable, "-P", "-m", "autograder", *sys.argv[1:]], environment)
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """A kernel in a workspace of the course in which all but a rule of jvp is solved."""
    folder = tmp_path_factory.mktemp("jupyter")
    work, copy = folder / "work", folder / "copy"
    shutil.copytree(places.SOLUTIONS, work, ignore=shutil.ignore_patterns("__pycache__", "tasks"))
    lesson = manifest.get("jvp")
    text = assemble.read_solution(lesson.module).replace("neg(x), neg(x_dot)", "neg(x), x_dot")
    text = text.replace("z = primitive.bind(x, y)\n", 'raise NotImplementedError("jvp.sum_rule")\n')
    (work / lesson.module).write_text(text, encoding="utf-8")
    copy.mkdir()
    (copy / "jaxprentice").write_text(START.format(root=str(places.ROOT)), encoding="utf-8")
    workspace.add_launcher(work, str(copy))
    assemble.write_files(work, contents.extension())
    manager = KernelManager()
    manager._kernel_spec = None
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    manager.kernel_spec.argv = command
    manager.start_kernel(cwd=str(work))
    client = manager.blocking_client()
    client.start_channels()
    client.wait_for_ready(timeout=120)
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def outputs(kernel, code):
    """What a cell shows, as data by kind."""
    found = {}

    def note(message):
        content = message["content"]
        if message["msg_type"] == "error":
            found["error"] = f"{content['ename']}: {content['evalue']}"
        found.update(content.get("data", {}))

    kernel.execute_interactive(code, output_hook=note, timeout=240)
    assert "error" not in found, found
    return found


def test_check_and_hint_are_magics_with_tables(kernel):
    outputs(kernel, "%load_ext jaxprentice")
    shown = outputs(kernel, "%check jvp.sum_rule")
    assert "<td>✗ not right yet</td><td><code>jvp.sum_rule</code></td>" in shown["text/html"]
    assert "There is code, but line" in shown["text/html"]
    assert shown["text/plain"].startswith("  not right yet  jvp.sum_rule")
    assert "Hint 1 of 4 for jvp.sum_rule" in outputs(kernel, "%hint jvp.sum_rule")["text/html"]


def test_trace_is_a_magic_for_lines_and_cells(kernel):
    outputs(kernel, "%load_ext jaxprentice")
    page = outputs(kernel, "%trace from minijax import lax; lax.sin(3.0)")["text/html"]
    assert page.startswith('<iframe srcdoc="')
    assert "goes to level 0, where &lt;code&gt;EvalTrace" in page
    cell = "%%trace --only mul\nfrom minijax import jvp, lax\njvp(lax.sin, (3.0,), (1.0,))"
    page = outputs(kernel, cell)["text/html"]
    assert "Step" in page
    assert "mul 1.0 -0.99" in page
    assert "cos 3.0" not in page


def test_arrays_jaxprs_and_pytrees_are_drawn(kernel):
    outputs(kernel, "%load_ext jaxprentice\nfrom minijax import lax, make_jaxpr, numpy as jnp")
    table = outputs(kernel, "jnp.arange(3.0)")["text/html"]
    assert "<caption><code>float64[3]</code></caption><tr><td>0</td><td>1</td><td>2</td>" in table
    assert "float64[20, 20]" in outputs(kernel, "jnp.zeros((20, 20))")["text/html"]
    program = outputs(kernel, "make_jaxpr(lax.sin)(3.0)")["text/html"]
    assert program.startswith("<pre>{ lambda ; a<span")
    tree = outputs(kernel, '{"w": [jnp.ones(2), 3]}')["text/html"]
    assert "<code>&#x27;w&#x27;</code>: <code>list</code><ul>" in tree
    assert "text/html" not in outputs(kernel, '{"w": [1, 2]}')


def test_what_jupyter_loads_needs_nothing_of_ours():
    text = contents.extension()["jaxprentice.py"].decode()
    assert "import autograder" not in text
    assert "from autograder" not in text
