"""Recordings tell what happened inside, leave nothing behind, and are drawn as the lessons draw."""

import contextlib
import importlib
import io
import itertools
import json
import re
import shutil
import subprocess
import sys

import pytest

from autograder.lessons import assemble, drawing, places, stepper
from autograder.recording import PACKAGES, SCRIPT, record, recording
from autograder.recording.package import TABLE
from autograder.recording.values import Shown, one_line

SECOND = """
import minijax.numpy as jnp
from minijax import jvp
def deriv(f):
    return lambda x: jvp(f, (x,), (1.0,))[1]
print(deriv(deriv(jnp.sin))(3.0))
"""

CONFUSION = """
from microjax import add, derivative, mul
derivative(lambda x: mul(x, derivative(lambda y: add(x, y), 1.0)), 1.0)
"""


def lines(source):
    document = record(source, "program.py")
    return "\n".join(drawing.lines(document["steps"])), document


def every(steps):
    for step in steps:
        yield step
        yield from every(step.get("inside", []))


def test_a_second_derivative_is_drawn_level_by_level():
    text, document = lines(SECOND)
    assert text.startswith(
        "with JVPTrace, level 1:\n"
        "  with JVPTrace, level 2:\n"
        "    sin [[3.0 | 1.0]₁ | 1.0]₂   level 2, JVPTrace\n"
        "      by sin_jvp (minijax/jvp.py, line "
    )
    assert "            sin 3.0 -> 0.1411   level 0, EvalTrace: numpy.sin\n" in text
    assert "          pure: 1.0 -> [1.0 | None]₁\n" in text
    assert "\n    -> [[0.1411 | -0.99]₁ | [-0.99 | -0.1411]₁]₂\n" in text
    assert "error" not in document
    (rule, *_) = [step for step in every(document["steps"]) if step["kind"] == "rule"]
    source = (places.SOLUTIONS / rule["file"]).read_text(encoding="utf-8").splitlines()
    assert source[rule["line"] - 1].startswith(f"def {rule['rule']}(")


LOOP = """
from minijax import lax
print(lax.while_loop(lambda x: x < 40.0, lambda x: x * LESS, 5.0))
"""


@pytest.mark.parametrize(
    ("factor", "carries"), [("2.0", ["5.0", "10.0", "20.0", "40.0"]), ("1.01", [])]
)
def test_a_loop_of_few_rounds_tells_each_with_its_carry(factor, carries):
    text, document = lines(LOOP.replace("LESS", factor))
    told = [x for x in every(document["steps"]) if x["kind"] == "round"]
    assert [x["operands"] + x["results"] for x in told] == [
        list(pair) for pair in itertools.pairwise(carries)
    ]
    assert ("round 1: 5.0 -> 10.0" in text) == bool(carries)


def test_a_loop_is_recorded_without_rounds_if_its_program_cannot_be_evaluated(monkeypatch):
    module = importlib.import_module("minijax.jaxpr")

    def broken(jaxpr):
        raise ValueError

    monkeypatch.setattr(module, "jaxpr_as_fun", broken)
    _, document = lines(LOOP.replace("LESS", "2.0"))
    assert "error" not in document
    assert not [x for x in every(document["steps"]) if x["kind"] == "round"]


def test_the_context_of_part_one_is_recorded_too():
    text, document = lines(CONFUSION)
    assert document["package"] == "microjax"
    assert "lift: [1.0 | 1.0]₁ -> [[1.0 | 1.0]₁ | 0.0]₂\n" in text
    assert "    -> [[2.0 | 1.0]₁ | [1.0 | 0.0]₁]₂\n" in text


def test_all_transformations_show_their_rules_and_boxes():
    text, _ = lines(
        "import minijax.numpy as jnp\n"
        "from minijax import grad, jit, vmap\n"
        "grad(lambda x: jnp.sin(x) * x)(3.0)\n"
        "vmap(lambda x: x * 2.0)(jnp.arange(3.0))\n"
        "jit(lambda x: jnp.sin(x) + 1.0)(3.0)\n"
    )
    for part in (
        "mul [unknown | a:~f64[]]₁ -0.99   level 1, PartialEvalTrace",
        "transpose rule of mul, mul_transpose (minijax/transpose.py, line ",
        "pure: 2.0 -> [2.0 | not_mapped]₁",
        "by binary_batch (minijax/vmap.py, line ",
        "level 1, JaxprTrace: float_type",
        "lowering of sin, ",
    ):
        assert part in text


def test_a_rule_that_a_program_adds_is_recorded():
    text, _ = lines(
        "import numpy as np\n"
        "from minijax.core import Primitive, impl_rules, jvp_rules, mul_p\n"
        "from minijax import jvp\n"
        "cube_p = Primitive('cube')\n"
        "impl_rules[cube_p] = lambda x: np.power(x, 3)\n"
        "def cube_jvp(primals, tangents):\n"
        "    (x,), (t,) = primals, tangents\n"
        "    return cube_p.bind(x), mul_p.bind(t, 3.0 * x * x)\n"
        "jvp_rules[cube_p] = cube_jvp\n"
        "jvp(cube_p.bind, (2.0,), (1.0,))\n"
    )
    assert "by cube_jvp (program.py, line 6)" in text
    assert "cube 2.0 -> 8.0   level 0, EvalTrace: <lambda> (program.py, line 5)" in text


def test_a_value_is_the_one_that_an_earlier_step_gave_and_not_one_that_looks_like_it():
    _, document = lines("from minijax import jvp, lax\njvp(lax.sin, (3.0,), (1.0,))")
    by_name = {step["name"]: step for step in every(document["steps"]) if step.get("level") == 0}
    ids = {name: step["ids"] for name, step in by_name.items()}
    assert by_name["mul"]["results"] == by_name["cos"]["results"] == ["-0.99"]
    assert ids["mul"]["operands"][1] == ids["cos"]["results"][0] != ids["mul"]["results"][0]
    (whole,) = [
        step for step in every(document["steps"]) if step.get("level") == 1 and "name" in step
    ]
    sin, product = ids["sin"]["results"][0], ids["mul"]["results"][0]
    assert whole["ids"]["results"][0]["parts"] == {"primal": sin, "tangent": product}
    assert document["types"][product] == "~f64[]"


def test_equations_are_told_when_they_are_appended_and_when_their_transpose_rule_runs():
    _, document = lines(
        "from minijax import grad, lax, make_jaxpr\n"
        "make_jaxpr(lambda x: lax.sin(x))(3.0)\n"
        "grad(lambda x: lax.mul(x, 2.0))(3.0)\n"
    )
    steps = list(every(document["steps"]))
    assert [x["appends"] for x in steps if "appends" in x] == [["b:~f64[] = sin a:~f64[]"]]
    assert [x["equation"] for x in steps if "equation" in x] == ["d:~f64[] = mul c:~f64[] 2.0"]
    _, document = lines(
        "from microjax import add, build_jaxpr\nbuild_jaxpr(lambda x: add(x, 1.0), 1)"
    )
    told = [x["appends"] for x in every(document["steps"]) if "appends" in x]
    assert told == [["v_2 = add(v_1, 1.0)"]]


def test_the_part_of_a_line_is_the_expression_that_is_evaluated():
    source = "from minijax import lax\ny = lax.exp(lax.sin(1.0)) + lax.cos(\n    2.0)\n"
    _, document = lines(source)
    names = {step["name"]: step.get("part") for step in document["steps"]}
    text = source.splitlines()[1]
    assert {name: text[slice(*part)] for name, part in names.items() if part} == {
        "sin": "lax.sin(1.0)",
        "exp": "lax.exp(lax.sin(1.0))",
    }


def test_results_that_leave_their_boxes_are_told():
    text, _ = lines("from minijax import jvp\njvp(lambda x: x + (x > 2.0), (3.0,), (1.0,))")
    assert "-> True   (unboxed: [True | None]₁)" in text


@pytest.mark.parametrize("package", PACKAGES)
def test_nothing_is_left_behind_even_by_an_error(package):
    importlib.import_module(package)
    before = picture(package)
    with contextlib.suppress(ZeroDivisionError), recording(package):
        during = picture(package)
        raise ZeroDivisionError
    assert before == picture(package)
    changed = {place for place in before if before[place] is not during[place]}
    assert len(changed) > 10


def picture(package):
    """What the modules hold, what their classes hold, and what the tables hold."""
    found = {}
    for module in [m for n, m in sys.modules.items() if n.split(".")[0] == package]:
        for name, value in vars(module).items():
            found[module.__name__, name] = value
            if isinstance(value, type):
                found |= {(module.__name__, name, key): x for key, x in vars(value).items()}
            if TABLE.fullmatch(name) and type(value) is dict:
                found |= {(name, id(key)): rule for key, rule in value.items()}
    return {key: value for key, value in found.items() if key[-1] != "__abstractmethods__"}


def test_recording_does_not_change_what_is_computed():
    from minijax import numpy as jnp
    from minijax import value_and_grad

    def f(x):
        return jnp.sum(jnp.sin(x) * x)

    x = jnp.arange(4.0)
    want = value_and_grad(f)(x)
    with recording("minijax"):
        got = value_and_grad(f)(x)
    assert want[0] == got[0]
    assert want[1].tolist() == got[1].tolist()


def test_above_the_limit_nothing_is_kept_and_the_program_goes_on_to_its_end():
    from minijax import jvp, lax

    def twice(x):
        return jvp(lambda y: lax.mul(y, lax.sin(y)), (x,), (1.0,))[1]

    with recording("minijax", limit=1) as running:
        got = jvp(twice, (3.0,), (1.0,))
    assert running.document()["cut"]
    assert len(list(every(running.document()["steps"]))) == 1
    assert got == jvp(twice, (3.0,), (1.0,))


# ------------------------------------------------------------------------------------------
# Half-finished modules


@pytest.fixture(scope="module")
def skeletons(tmp_path_factory):
    folder = tmp_path_factory.mktemp("skeletons")
    assemble.write_files(folder, assemble.handout({"minijax", "microjax"}))
    return folder


def record_in(folder, source, tmp_path, script=SCRIPT):
    (tmp_path / "program.py").write_text(source, encoding="utf-8")
    document = tmp_path / "document.json"
    names = [folder, tmp_path / "program.py", "program.py", document]
    subprocess.run([sys.executable, "-P", "-B", script, *names], cwd=tmp_path, check=True)
    return json.loads(document.read_text(encoding="utf-8"))


def test_what_is_missing_is_shown_as_missing(skeletons, tmp_path):
    tree = tmp_path / "tree"
    assemble.write_files(tree, assemble.handout({"minijax"}))
    core = assemble.read_solution("minijax/core.py")
    core = core.replace("return trace.pure(val)", 'raise NotImplementedError("core.full_raise")')
    (tree / "minijax/core.py").write_text(core, "utf-8")
    source = (
        "from minijax import lax\n"
        "from minijax.core import new_main\n"
        "from minijax.jvp import JVPTrace, JVPTracer\n"
        "with new_main(JVPTrace) as main:\n"
        "    lax.mul(JVPTracer(JVPTrace(main), 3.0, 1.0), 2.0)\n"
    )
    document = record_in(tree, source, tmp_path)
    text = "\n".join(drawing.lines(document["steps"]))
    assert "  mul [3.0 | 1.0]₁ 2.0   no interpreter took it" in text
    assert "missing: core.full_raise is still to do" in text
    assert drawing.ending(document) == (
        "The program ends at `core.full_raise`, which is still to do."
    )


def test_an_untouched_package_has_a_recording_too(skeletons, tmp_path):
    document = record_in(skeletons, CONFUSION, tmp_path)
    assert document["steps"] == []
    assert document["error"]["missing"] == "duals.jvp"
    document = record_in(skeletons, "from minijax.core import sin_p\nsin_p.bind(3.0)", tmp_path)
    (step,) = document["steps"]
    assert (step["name"], step["missing"]) == ("sin", "core.find_top_trace")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("1 +", "SyntaxError"),
        ("import minijax\n1 / 0", "in line 2 with ZeroDivisionError: division by zero"),
        ("print(1)", "It has to import minijax or microjax, to be recorded."),
        ("import minijax\nraise SystemExit('enough')", "SystemExit: enough"),
    ],
)
def test_a_program_that_fails_has_a_recording(source, words):
    with contextlib.redirect_stdout(io.StringIO()):
        document = record(source, "program.py")
    assert words in drawing.ending(document)


def test_a_tracer_that_cannot_be_shown_does_no_harm():
    text, _ = lines(
        "from minijax.core import Tracer, new_main, EvalTrace, mul_p\n"
        "class Odd(Tracer):\n"
        "    def __init__(self, main): self._trace = EvalTrace(main)\n"
        "    __dict__ = property(lambda self: 1 / 0)\n"
        "with new_main(EvalTrace) as main:\n"
        "    mul_p.bind(Odd(main), 2.0)\n"
    )
    assert "<Odd that cannot be shown: " in text


# ------------------------------------------------------------------------------------------
# Choosing and drawing


def test_steps_are_chosen_by_level_and_by_name_and_folded_by_depth():
    steps = lines(SECOND)[1]["steps"]
    level_one = drawing.chosen(steps, level=1)
    assert [step["name"] for step in level_one] == ["sin", "cos", "mul"]
    assert {step["level"] for step in level_one} == {1}
    assert [step["name"] for step in drawing.chosen(steps, only=["neg"])] == ["neg"]
    folded = list(drawing.lines(drawing.folded(steps, 3)))
    assert folded[3] == "      ... 26 more inside"
    assert len(list(every(steps))) == 26 + 4


def test_a_moment_knows_who_is_active_and_who_has_an_operation():
    moments = list(drawing.moments(lines(SECOND)[1]["steps"]))
    fourth = moments[3]
    assert fourth.text.startswith(
        "`sin [3.0 | 1.0]₁` goes to level 1, where `JVPTrace` applies `sin_jvp` ("
    )
    assert fourth.scene.active == ("EvalTrace", "JVPTrace", "JVPTrace")
    assert [(n, step["name"]) for n, step in fourth.scene.busy] == [(2, "sin"), (1, "sin")]


def test_a_step_in_a_function_names_the_line_that_led_there():
    function = "from minijax import jvp, lax\n\n\ndef f(x):\n    return lax.sin(x)\n\n\n"
    program = f"{function}f(3.0)\njvp(f, (3.0,), (1.0,))\n"
    moments = list(drawing.moments(record(program, "p.py")["steps"]))
    lines = [(x.at, x.begun) for x in moments if x.text.startswith("`sin")]
    assert lines == [(5, 8), (5, 9), (5, 9)]


def test_a_lowering_is_told_by_the_lines_that_it_writes():
    program = "from minijax import jit, lax\njit(lax.sin).lower(1.0)\n"
    moments = list(drawing.moments(record(program, "p.py")["steps"]))
    (told,) = [x.text for x in moments if "lowering" in x.text]
    assert told.endswith(" writes `%0 = stablehlo.sine %arg0 : tensor<f64>`.")


def test_sentences_leave_out_parameters_that_say_nothing_and_count_equal_values():
    arrays = ["float64[100]"] * 3
    step = {"name": "f", "operands": ["1.0", *arrays], "params": {"a": "False", "b": "(0,)"}}
    assert drawing.brief(step) == "f[b=(0,)] 1.0 float64[100] (3 times)"
    assert drawing.results({"results": arrays[:2]}) == "float64[100], float64[100]"


def test_dtypes_devices_and_executables_are_shown_by_their_names():
    import numpy as np
    from minijax import devices

    show = Shown(lambda owner: 0)
    assert show(devices()[0]) == "cpu:0"
    assert one_line({"new": np.dtype("float32")}) == "{'new': float32}"
    assert one_line(show) == "Shown"


def test_the_page_shows_the_program_as_text_and_steps_with_the_sites_script():
    source = "# <script>alert(1)</script>\n" + SECOND
    document = record(source, "<b>.py")
    page = stepper.page(document, document["steps"])
    assert "&lt;script&gt;alert(1)" in page
    assert "alert(1)</script>" not in page
    assert "customElements.define" in page
    assert page.count(" data-at=") == len(list(drawing.moments(document["steps"])))


def test_the_page_works_in_a_browser(browser, tmp_path):
    document = record(SECOND, "second.py")
    file = tmp_path / "page.html"
    file.write_text(stepper.page(document, document["steps"]), encoding="utf-8")
    page = browser.new_page()
    page.goto(file.as_uri())
    assert page.locator(".stepper-current").count() == 1
    page.get_by_role("button", name="Next").click()
    assert "at level 2" in page.locator(".stepper-current").inner_text()
    page.close()


def test_every_key_of_a_recording_is_documented():
    text = (places.ROOT / "docs/recordings.md").read_text(encoding="utf-8")
    known = set(re.findall(r"`(\w+)(?:: true)?`", text)) | set(re.findall(r'"(\w+)":', text))
    document = lines(SECOND + "\n1 / 0")[1]
    missing = record("from minijax import vmap\nvmap(1)", "p.py")
    used = {
        *document,
        *missing,
        *document["sources"][0],
        *document["error"],
        *document["error"]["frames"][0],
    }
    for step in every([*document["steps"], *lines(CONFUSION)[1]["steps"]]):
        used |= step.keys()
    assert used - known == set()


def test_the_room_runs_alone_and_is_not_in_the_way_of_the_programs_modules(skeletons, tmp_path):
    room = tmp_path / "elsewhere/autograder/recording"
    shutil.copytree(SCRIPT.parent, room, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "values.py").write_text("mine = True", encoding="utf-8")
    program = "import sys, values, microjax\nprint(values.mine, *sys.path)"
    document = record_in(skeletons, program, tmp_path, room / "__main__.py")
    assert "error" not in document
    assert [step["text"][:5] for step in document["steps"]] == ["True "]
    assert str(tmp_path / "elsewhere") not in document["steps"][0]["text"]


def test_the_example_in_the_documentation_runs():
    text = (places.ROOT / "docs/recordings.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec("from minijax import jvp, numpy as jnp\n" + code, {})
    assert "with JVPTrace, level 1:" in printed.getvalue()
    assert (
        '<section class="stepper" data-search-exclude data-label="jvp of sin">'
        in printed.getvalue()
    )
