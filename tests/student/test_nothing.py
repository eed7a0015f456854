"""What is written from an empty page is judged by its public names: right from wrong."""

# ruff: noqa: E501
import ast
from pathlib import Path

import pytest

from autograder.lessons import assemble, manifest, nothing
from autograder.lessons.problem import Problem
from autograder.student import checks, commands, contents, explain, from_nothing, names, workspace
from autograder.student.workspace import Workspace

TASKS = nothing.all_tasks()
RIGHT = {name: task.solution.read_text(encoding="utf-8") for name, task in TASKS.items()}
each_task = pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)


def judged(name, text):
    """The lessons of which a file is right."""
    report = from_nothing.judge(TASKS[name], text.encode())
    assert report.broken is None
    return [one.partition(".")[2] for one in report.done]


@each_task
def test_the_courses_own_file_is_right(task):
    assert judged(task.id, RIGHT[task.id]) == [*task.lessons]


@each_task
def test_a_right_file_in_another_style_is_right(task):
    text = Path(__file__).with_name("from_nothing").joinpath(f"{task.id}.py").read_text("utf-8")
    assert judged(task.id, text) == [*task.lessons]


@each_task
def test_the_empty_page_is_to_do(task):
    report = from_nothing.judge(task, task.begin.encode())
    assert {report.status(part) for part in task.parts} == {checks.TO_DO}


WRONG = [
    # file, what is changed in it, and the first lesson that is not right then
    ("microjax", "    finally:\n        _current.interpreter = before", "    finally:\n        pass", 0),
    ("microjax", "class _Current(threading.local)", "class _Current", 0),
    ("microjax", "if not isinstance(x, float)", "if isinstance(x, str)", 0),
    ("microjax", "self.below, self.count = current_interpreter()", "self.below, self.count = Interpreter()", 0),
    ("microjax", "own = isinstance(x, _Dual) and x.owner is self", "own = isinstance(x, _Dual)", 1),
    ("microjax", "add(mul(x.tangent, y.primal), mul(x.primal, y.tangent))", "mul(x.tangent, y.primal)", 1),
    ("microjax", "with set_interpreter(self.below):\n            value", "with set_interpreter(Interpreter()):\n            value", 1),
    ("microjax", "out = forward.lift(f(", "out = (f(", 1),
    ("microjax", "values = dict(zip(jaxpr.inputs, args, strict=True))", "values = {str(k): v for k, v in zip(jaxpr.inputs, args)}", 2),
    ("microjax", "@dataclass(frozen=True, eq=False)\nclass _Var", "@dataclass(frozen=True)\nclass _Var", 2),
    ("microjax", "        if var in needed:\n", "        if True:\n", 2),
    ("microjax", "            needed.update(operands)\n", "            needed.add(operands[0])\n", 2),
    ("microjax", "    jaxpr = build_jaxpr(f, num_args)\n    return lambda *args: eval_jaxpr(jaxpr, args)", "    return lambda *args: eval_jaxpr(build_jaxpr(f, num_args), args)", 2),
    ("microjax", "    if len(args) != len(jaxpr.inputs):", "    if False:", 2),
    ("microjax", "        self.equations.append((self.new()", "        if op is Op.mul and args[1] == 1.0:\n            return args[0]\n        self.equations.append((self.new()", 2),
    ("microjax", "    values = dict(zip(", "    jaxpr = dce_jaxpr(jaxpr)\n    values = dict(zip(", 2),
    ("microjax", "class _Current(threading.local):\n    interpreter = Interpreter()\n\n\n_current = _Current()", "_current = threading.local()\n_current.interpreter = Interpreter()", 0),
    ("microjax", "        out = forward.lift(f(", "        f(_Dual(forward, primal, tangent))\n        out = forward.lift(f(", 1),
    ("microjax", "@dataclass(frozen=True, eq=False)\nclass _Dual", "@dataclass\nclass _Dual", 2),
    ("pocket", '"inv": lambda x: 1.0 / x', '"inv": lambda x: 1.0 - x', 1),
    ("pocket", "def __rsub__(self, x):\n        return sub(x, self)", "def __rsub__(self, x):\n        return sub(self, x)", 1),
    ("pocket", "lambda: neg(sin(x))", "lambda: sin(x)", 1),
    ("pocket", "if isinstance(x, _Box) and x.trace is trace else", "if isinstance(x, _Box) else", 1),
    ("pocket", "primal, 0.0 if tangent is None else tangent", "primal, tangent", 1),
    ("pocket", "        raise TypeError(\"the value is not known", "        return 1.0\n        raise TypeError(\"the value is not known", 2),
    ("pocket", "zip(jaxpr.inputs, args, strict=True)", "zip(jaxpr.inputs, args)", 2),
    ("pocket", "lambda *tangents: eval_jaxpr(program, tangents)", "lambda *tangents: jvp(f, primals, tangents)[1]", 3),
    ("pocket", "counts[x] = add(counts[x], amount) if x in counts else amount", "counts[x] = amount", 4),
    ("pocket", "count = counts.pop(var)", "count = cotangent", 4),
    ("pocket", "counts.get(x, 0.0) for x", "counts.get(x) for x", 4),
]  # fmt: skip
CACHED = "from functools import cache\nfrom contextlib import contextmanager"
IN_PLACES = {
    # the mistake: what is changed for it, and the first lesson that is not right then
    "no class to inherit from": ({"class Interpreter:": "class Eval:", "(Interpreter)": "(Eval)", "Interpreter()": "Eval()"}, 0),
    "one interpreter in two blocks": ({
        "@contextmanager\ndef set_interpreter(interpreter):": "@contextmanager\ndef set_interpreter(interpreter):\n    interpreter.before, _current.interpreter = _current.interpreter, interpreter\n    try:\n        yield\n    finally:\n        _current.interpreter = interpreter.before\n\n\n@contextmanager\ndef not_used(interpreter):",
    }, 0),
    "every level is counted": ({
        "    return current_interpreter().interpret_op(Op": "    _current.count += 1\n    return current_interpreter().interpret_op(Op",
        "    interpreter = Interpreter()": "    interpreter = Interpreter()\n    count = 0",
        "    counting = _Counting()\n    with set_interpreter(counting):\n        return f(*args), counting.count": "    before = _current.count\n    return f(*args), _current.count - before",
    }, 1),
    "not restored after an operation": ({
        "        with set_interpreter(self.below):\n            value": "        _current.interpreter = self.below\n        try:\n            value",
        "            return _Dual(self, value, moved)": "            return _Dual(self, value, moved)\n        finally:\n            _current.interpreter = self",
    }, 1),
    "owned by a depth in the chain": ({
        "class _Forward(Interpreter):\n    def __init__(self):\n        self.below = current_interpreter()": "class _Forward(Interpreter):\n    def __init__(self):\n        self.below = current_interpreter()\n        self.depth = getattr(self.below, 'depth', 0) + 1",
        "x.owner is self": "x.owner == self.depth", "_Dual(self,": "_Dual(self.depth,", "_Dual(forward,": "_Dual(forward.depth,",
    }, 1),
    "owned by the number of derivatives that run": ({
        "class _Forward(Interpreter):\n    def __init__(self):\n        self.below = current_interpreter()": "class _Forward(Interpreter):\n    running = 0\n\n    def __init__(self):\n        self.below = current_interpreter()\n        self.depth = _Forward.running",
        "x.owner is self": "x.owner == self.depth", "_Dual(self,": "_Dual(self.depth,", "_Dual(forward,": "_Dual(forward.depth,",
        "    forward = _Forward()\n    with set_interpreter(forward):\n": "    _Forward.running += 1\n    forward = _Forward()\n    with set_interpreter(forward):\n",
        "    return out.primal, out.tangent": "    _Forward.running -= 1\n    return out.primal, out.tangent",
    }, 1),
    "programs are kept": ({"from contextlib import contextmanager": CACHED, "def build_jaxpr(": "@cache\ndef build_jaxpr("}, 2),
    "results are kept": ({"from contextlib import contextmanager": CACHED, "return lambda *args: eval_jaxpr(jaxpr, args)": "return cache(lambda *args: eval_jaxpr(jaxpr, args))"}, 2),
    "running recurses": ({
        "    for var, op, operands in jaxpr.equations:\n        values[var] = _apply[op](*(values.get(x, x) for x in operands))\n    return values.get(jaxpr.output, jaxpr.output)": "    known = {var: (op, operands) for var, op, operands in jaxpr.equations}\n\n    def value(x):\n        if x in known and x not in values:\n            values[x] = _apply[known[x][0]](*map(value, known[x][1]))\n        return values.get(x, x)\n\n    return [value(x) for x in [*known, jaxpr.output][::-1]][0]",
    }, 2),
    "dead code is found by recursion": ({
        "    needed, kept = {jaxpr.output}, []": "    needed, kept, known = set(), [], {var: operands for var, _, operands in jaxpr.equations}\n\n    def need(x):\n        if x not in needed:\n            needed.add(x)\n            for y in known.get(x, ()):\n                need(y)\n\n    need(jaxpr.output)",
    }, 2),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "old", "new", "first"),
    [pytest.param(*x, marks=[pytest.mark.full] * (i % 3 > 0)) for i, x in enumerate(WRONG)],
    ids=lambda x: x if x in TASKS else "",
)
def test_what_is_wrong_is_refused_in_the_lesson_that_it_belongs_to(name, old, new, first):
    refused(name, {old: new}, first)


@pytest.mark.parametrize("mistake", IN_PLACES)
def test_so_is_what_is_wrong_in_several_places(mistake):
    changes, first = IN_PLACES[mistake]
    done = refused("microjax", changes, first)
    assert {*TASKS["microjax"].lessons[:first]} <= {*done}


def refused(name, changes, first):
    text = RIGHT[name]
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    done = judged(name, text)
    assert TASKS[name].lessons[first] not in done
    return done


@each_task
def test_a_file_that_is_begun_is_judged_as_far_as_it_goes(task):
    tree = ast.parse(RIGHT[task.id])
    last = {"microjax": "_Var", "pocket": "_Dual"}[task.id]
    end = next(i for i, x in enumerate(tree.body) if getattr(x, "name", "") == last)
    text = ast.unparse(ast.Module(tree.body[:end], []))
    assert judged(task.id, text) == [*task.lessons[: {"microjax": 2, "pocket": 1}[task.id]]]


@pytest.mark.parametrize("package", ["numpy", "microjax", "jax"])
def test_it_runs_alone(package):
    text = f"{RIGHT['microjax']}\nimport {package}\n"
    report = from_nothing.judge(TASKS["microjax"], text.encode())
    told = " ".join(explain.broken(report))
    assert f"imports {package}" in told
    assert "Python" in told


# ------------------------------------------------------------------------------------------
# As a student


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A workspace of the blank way, with the empty pages and nothing else."""
    workspace.add_launcher(tmp_path, "/none", way=manifest.BLANK)
    assemble.write_files(tmp_path, contents.blank_pages())
    monkeypatch.chdir(tmp_path)
    return Workspace(tmp_path, own=True)


def write(place, name, text):
    (place.root / TASKS[name].file).write_text(text, encoding="utf-8")


def test_the_page_says_each_name_that_the_checks_take():
    for task in TASKS.values():
        page = task.page_file.read_text(encoding="utf-8")
        assert [name for name in from_nothing.public(task) if f"`{name}" not in page] == []


def test_what_is_not_there_is_named(place, capsys):
    assert from_nothing.check(place, TASKS["microjax"]) == 1
    out = capsys.readouterr().out
    assert (
        "Next: write Interpreter, Op, add, count_ops, current_interpreter, mul, set_interpreter in "
        "nothing/microjax.py.\n"
    ) in out
    assert "What they do is in nothing/microjax.md." in out
    assert str(TASKS["microjax"].solution) not in out


def test_the_end_is_a_card_and_the_files_own_output(place, capsys):
    write(place, "microjax", RIGHT["microjax"])
    assert from_nothing.check(place, TASKS["microjax"]) == 0
    out = capsys.readouterr().out
    assert "|  114 lines of code, from an empty page, by me" in out
    assert "microjax.py runs on its own" in out
    assert "cube(2), cube'(2), cube''(2): [8.0, 12.0, 12.0]" in out
    assert f"The course's own, to compare: {TASKS['microjax'].solution}" in out


def test_in_the_blank_way_it_is_the_first_lessons(place, capsys):
    lesson = manifest.get("duals")
    assert place.file(lesson) == place.root / "nothing/microjax.py"
    write(place, "microjax", RIGHT["microjax"].replace("len(args) != len(jaxpr.inputs)", "False"))
    assert from_nothing.check(place, TASKS["microjax"], lesson) == 0
    assert "The lesson duals is complete in nothing/microjax.py.\n" in capsys.readouterr().out
    done = {name: len(place.checked(manifest.get(name))[0]) for name in TASKS["microjax"].lessons}
    assert done == {
        "interpreters": len(manifest.get("interpreters").exercises),
        "duals": len(lesson.exercises),
        "staging": 0,
    }
    assert not from_nothing.is_done(place, TASKS["microjax"])


def test_a_complete_lesson_names_the_page_that_follows(place, capsys, monkeypatch):
    monkeypatch.setattr(commands.extras, "milestone", lambda *about: [])
    monkeypatch.setattr(commands.extras, "of", lambda lesson: ())
    commands.tell_end(place, manifest.get("staging"))
    assert capsys.readouterr().out == (
        "\nmicrojax from nothing, one file from an empty page: nothing/microjax.py "
        "(./jaxprentice check microjax)\n"
    )


def test_nothing_means_the_page_at_hand_and_a_file_and_its_name_mean_it(place):
    assert from_nothing.named(place, "nothing") == TASKS["microjax"]
    write(place, "pocket", "x = 1\n")
    assert from_nothing.named(place, "nothing") == TASKS["pocket"]
    assert from_nothing.named(place, None) is None
    for name in ("nothing/pocket.py", "pocket.py", "pocket", "../nothing/pocket.py"):
        assert from_nothing.named(place, name) == TASKS["pocket"]


@pytest.mark.parametrize("ask", [names.taught, names.resolve])
@pytest.mark.parametrize("name", ["nothing", "microjax", "nothing/pocket.py"])
def test_where_a_lesson_is_asked_for_a_page_is_refused_by_its_name(ask, name):
    with pytest.raises(
        Problem, match=f"{name} is written from an empty page: .*check {name}` says"
    ):
        ask(name)
