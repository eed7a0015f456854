"""The audit finds what is wrong with a suite, and only that."""

import functools
import re
import shlex

import graded_course
import pytest
from command_lines import EXAMPLES
from graded_course import MISTAKES, MODULE, RIGHTS, WHOLE_SUITE, WHOLE_TOML

from autograder import cli
from autograder.grading import pool
from autograder.lessons import manifest, places
from autograder.upkeep import audit, cases, changes, classes, mutants, sweep

pytestmark = pytest.mark.isolated

EQUIVALENT = """
[[mutant]]
id = "tiny.double/d78ed16b"
diff = "2.0 * x in place of 2.0 * np.asarray(x)"
why = "The suite doubles numbers only."
"""

CHECKS = """
import pytest
import tiny


@pytest.mark.exercise("tiny.double")
def test_double():
    assert tiny.double(2.0) == 4.0


@pytest.mark.exercise("tiny.mean")
def test_mean():
    assert tiny.mean([1.0, 2.0]) == 1.5


@pytest.mark.exercise("tiny.spread")
def test_spread():
    assert tiny.spread([1.0, 2.0]) == 1.0
"""

# Only one class is said to apply, and not to all exercises.
CLASSES = f"""
nowhere = {sorted({*classes.classes()} - {"sizes"})}
double = ["sizes"]
"""
MARKED = {
    "def test_mean_of_nothing": '@pytest.mark.meets("sizes")',
    "def test_whole_spread_of_one": '@pytest.mark.meets(sizes="spread")',
    "def test_double": '@pytest.mark.keeps("twice x")',
    "def test_mean(": '@pytest.mark.keeps("must not be empty")',
    "def test_spread": '@pytest.mark.keeps("how far")',
}

# The small course with exercises that are independent, and mistakes that can be recognised.
GOOD = {
    "course/lessons/01_tiny/lesson.toml": WHOLE_TOML.replace('["tiny.double", "tiny.mean"]', "[]"),
    "solutions/tiny/numbers.py": MODULE.replace("double(x) - mean(x)", "np.max(x) - np.min(x)"),
    "answers/tiny.py": MISTAKES.rpartition("\n@mistake")[0] + RIGHTS,
    "course/lessons/01_tiny/checks.py": CHECKS,
    "suites/tiny.py": functools.reduce(
        lambda text, test: text.replace(test, f"{MARKED[test]}\n{test}"), MARKED, WHOLE_SUITE
    ),
    "suites/tiny.equivalent.toml": EQUIVALENT,
    "suites/tiny.classes.toml": CLASSES,
}

WITHOUT_MUTANTS = {name: text for name, text in GOOD.items() if text is not EQUIVALENT}


def examined(monkeypatch, tmp_path, name=None, old="", new=""):
    changes = dict(GOOD)
    if name:
        text = {**graded_course.FILES, **GOOD}[name]
        assert old in text
        changes[name] = text.replace(old, new)
    graded_course.write(monkeypatch, tmp_path, changes)
    return tried()


def tried(exercise=None, quick=False):
    """What an audit of the small course finds."""
    found = manifest.find_exercise(exercise) if exercise else None
    return audit.audit([manifest.get("tiny")], audit.Asked(found, quick), workers=1)


def counts(report, *kinds):
    """Of kinds of submissions, how many were right, tried and left out."""
    return [row[2:] for row in report.rows if row.kind in kinds]


def said(report, exercise=None, quick=False):
    asked = audit.Asked(manifest.find_exercise(exercise) if exercise else None, quick)
    return audit.summary(report, [manifest.get("tiny")], asked)


@pytest.mark.slow
def test_a_good_suite_passes(monkeypatch, tmp_path):
    report = examined(monkeypatch, tmp_path)
    assert report.findings == []
    assert report.passed
    cells = 3 * len(classes.classes())
    assert report.rows == [
        ("tiny", "class of mistakes", cells, cells, 0),
        ("tiny", "promise with a test", 3, 3, 0),
        ("tiny", "promise that a stored answer breaks", 1, 3, 0),
        ("tiny", "reference", 1, 1, 0),
        ("tiny", "skeleton", 1, 1, 0),
        ("tiny", "cheat", 1, 1, 0),
        ("tiny", "one exercise", 3, 3, 0),
        ("tiny", "one missing", 3, 3, 0),
        ("tiny", "constant answer", 14, 14, 0),
        ("tiny", "state between calls", 3, 3, 0),
        ("tiny", "right answer", 2, 2, 0),
        ("tiny", "known mistake", 3, 3, 0),
        ("tiny", "wrong answer", 1, 1, 0),
        ("tiny", "visible checks agree", 2, 2, 0),
        ("tiny", "message that says what differs", 0, 1, 0),
        ("tiny", "mutant", 26, 26, 0),
    ]
    assert "known mistake 3 of 3\n" in re.sub(" +", " ", audit.table(report))
    assert said(report).startswith(
        "Tried: 58 submissions to tiny.\nEvery suite that was tried gives"
    )
    assert "students wonder:\n- tiny: " in said(report)


def test_an_audit_of_one_exercise_tries_what_asks_for_it_and_names_it(monkeypatch, tmp_path):
    graded_course.write(monkeypatch, tmp_path, GOOD)
    report = tried("tiny.double")
    assert report.passed
    assert counts(report, "one exercise", "constant answer") == [(1, 1, 0), (14, 14, 0)]
    assert counts(report, "right answer", "known mistake") == [(2, 2, 0), (2, 2, 0)]
    every = mutants.make_mutants(manifest.get("tiny"))
    own = sum(mutant.exercise == "tiny.double" for mutant in every)
    assert counts(report, "mutant") == [(own - 1, own - 1, 0)]  # one is argued to be right
    assert "submissions to tiny.double.\nAll of these get" in said(report, "tiny.double")


def test_a_quick_audit_says_what_it_left_out_and_praises_only_what_it_tried(monkeypatch, tmp_path):
    graded_course.write(monkeypatch, tmp_path, GOOD)
    report = tried(quick=True)
    assert report.passed
    assert counts(report, "constant answer", "right answer", "mutant") == [
        *[(0, 0, 14), (1, 1, 1), (2, 2, 25)]
    ]
    assert said(report, quick=True).partition("\nThese messages")[0] == (
        "Tried: 7 submissions to tiny.\nAll of these get the grades that they should.\n"
        "Left out: 52 submissions. Without --quick they are tried, too.\n"
        "No whole audit is kept of tiny: nothing there counts as changed."
    )
    assert "constant answer 0 of 0 14\n" in re.sub(" +", " ", audit.table(report))


def rewritten(tmp_path, file, old, new):
    text = (tmp_path / file).read_text()
    assert old in text
    (tmp_path / file).write_text(text.replace(old, new))


@pytest.mark.slow
def test_a_quick_audit_tries_what_changed_since_the_last_whole_one(monkeypatch, tmp_path):
    graded_course.write(monkeypatch, tmp_path, WITHOUT_MUTANTS)
    monkeypatch.setattr(mutants, "make_mutants", lambda lesson: [])
    made = cases.make_cases(manifest.get("tiny"))
    rewritten(tmp_path, "answers/tiny.py", "np.multiply(x, 2.0)", "np.multiply(x, 2.5)")
    assert tried(quick=True).passed  # the second right answer is not in the sample
    rights = {case.name: case.state for case in made if case.kind == "right answer"}
    changes.keep("tiny right answer", rights)
    assert "right answers, number 2" in tried(quick=True).findings[0]


@pytest.mark.slow
def test_a_whole_audit_keeps_what_it_found_right_and_no_other_keeps_anything(monkeypatch, tmp_path):
    graded_course.write(monkeypatch, tmp_path, WITHOUT_MUTANTS)
    monkeypatch.setattr(mutants, "make_mutants", lambda lesson: [])
    real, answered = cases.make_cases, lambda case: case.kind == "right answer"
    monkeypatch.setattr(audit, "make_cases", lambda *args: list(filter(answered, real(*args))))
    rewritten(tmp_path, "answers/tiny.py", "np.multiply(x, 2.0)", "np.multiply(x, 2.5)")
    assert [tried(quick=True).passed, tried("tiny.mean").passed] == [True, True]
    assert not changes.is_kept("tiny right answer")
    assert not tried().passed
    assert changes.is_kept("tiny mutant")
    assert not tried(quick=True).passed


# By what is written instead of which piece of which file: whose answers count as changed.
CHANGED = {
    ("answers/tiny.py", "np.add(x, 1.5)", "np.add(x, 2.5)"): {"tiny.double, wrong answer 1"},
    ("answers/tiny.py", "np.multiply(x, 2.0)", "2.0 * x"): {"right answers, number 2"},
    ("suites/tiny.py", "1.0, 2.0, 6.0", "1.0, 2.0, 7.0"): {
        *("tiny.mean/divided_by_one_less", "right answers, number 1")
    },
    ("suites/tiny.py", "return tiny.double(x)", "return 1 * tiny.double(x)"): set(),
}


@pytest.mark.every
@pytest.mark.parametrize("change", CHANGED, ids=lambda change: change[2])
def test_an_answer_changes_with_its_text_and_its_tests(monkeypatch, tmp_path, change):
    lesson = graded_course.write(monkeypatch, tmp_path, GOOD)
    before = {case.name: case.state for case in cases.make_cases(lesson)}
    rewritten(tmp_path, *change)
    after = {case.name: case.state for case in cases.make_cases(lesson)}
    assert {name for name in before if before[name] != after[name]} == CHANGED[change]


def test_a_sample_has_what_changed_what_is_new_and_every_twentieth(monkeypatch, tmp_path):
    graded_course.write(monkeypatch, tmp_path, GOOD)
    states = {f"{i}": "old" for i in range(50)}
    few = {"0", "20", "40"}
    assert changes.sample("any", states) == few
    changes.keep("any", states)
    now = {**states, "7": "new", "50": "old"}
    assert changes.sample("any", now) == {*few, "7", "50"}


@pytest.mark.slow
def test_the_example_for_auditing_runs_where_the_lesson_is_small(monkeypatch, tmp_path, capsys):
    """The small course's lesson takes the name of the one in the help's example."""
    command, lesson, quick = shlex.split(EXAMPLES["audit"])
    names = [(f'"tiny{end}', f'"{lesson}{end}') for end in ('"', ".")]
    changes = {**graded_course.FILES, **GOOD}
    for path, text in changes.items():
        changes[path] = functools.reduce(lambda x, pair: x.replace(*pair), names, text)
    for path in [x for x in changes if x.startswith(("suites/", "answers/"))]:
        changes[path.replace("tiny", lesson)] = changes[path]
    graded_course.write(monkeypatch, tmp_path, changes, lesson)
    monkeypatch.setattr(audit, "audit", functools.partial(audit.audit, workers=1))
    assert cli.main([command, lesson, quick]) == 0
    assert "known mistake" in capsys.readouterr().out


FINDINGS = [
    ("suites/tiny.py", "return tiny.spread(np.array(x))", "return None", "pass without an answer"),
    (
        "suites/tiny.py",
        "return tiny.double(x)",
        "return tiny.double(x) + 0 * tiny.mean([1, 2])",
        "`after`",
    ),
    ("suites/tiny.py", 'meets("sizes")', 'meets(sizes="double")', "no test of tiny.double"),
    ("suites/tiny.py", 'meets(sizes="spread")', 'meets("sizes")', "meets sizes in no exercise"),
    ("suites/tiny.py", 'meets("sizes")', 'meets("size")', "size is no class"),
    ("suites/tiny.py", '@pytest.mark.keeps("how far")', "", "spread: no test keeps"),
    ("suites/tiny.py", 'keeps("twice x")', 'keeps("thrice x")', "is in 0 sentences of tiny.double"),
    ("suites/tiny.py", '@pytest.mark.meets("sizes")', "", "mean: either a test meets sizes"),
    ("suites/tiny.classes.toml", '["sizes"]', "[]", "double: either a test meets sizes"),
    ("suites/tiny.classes.toml", "double", "mean", "mean: either a test meets sizes"),
    ("suites/tiny.classes.toml", "double", "triple", "triple is no exercise"),
    ("suites/tiny.classes.toml", "'again'", "'anew'", "anew is no class"),
    ("suites/tiny.py", "return tiny.mean(np.array(x))", "return sum(x) / len(x)", "without tiny"),
    ("suites/tiny.py", "return tiny.mean(np.array(x))", "return 1 / 0", "The suite of tiny is at"),
    ("answers/tiny.py", "3.0 * np", "2.0 * np", "should lose points"),
    ("answers/tiny.py", "np.multiply(x, 2.0)", "np.multiply(x, 2.5)", "should have full points"),
    ("course/lessons/01_tiny/checks.py", "[1.0, 2.0]) == 1.5", "[1.0, 2.0]) == 2.0", "refuses it"),
    ("answers/tiny.py", "np.add(x, 1.5)", "np.add(x, x)", "tiny.double should lose points"),
    ("answers/tiny.py", 'fails="test_double"', 'fails="test_mean"', "does not fail test_mean"),
    *(  # equal to another mistake, ending, different each time, too seldom wrong
        ("answers/tiny.py", "np.asarray(x) ** 2", wrong, "the mistake is not recognized. Two tests")
        for wrong in (
            *("3.0 * np.asarray(x)", "__import__('os')._exit(1)"),
            *("id(object())", "2 * x + (x == 1.5)"),
        )
    ),
]


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize(("name", "old", "new", "finding"), FINDINGS, ids=[f[3] for f in FINDINGS])
def test_each_kind_of_fault_is_found(monkeypatch, tmp_path, name, old, new, finding):
    monkeypatch.setattr(mutants, "make_mutants", lambda lesson: [])
    report = examined(monkeypatch, tmp_path, name, old, new)
    assert not report.passed
    assert any(finding in text for text in report.findings)


@pytest.mark.parametrize(
    ("entry", "finding"),
    [
        ("d78ed16b", None),
        ("00000000", "is not a mutant any more"),
        (None, "passes all tests of its exercise"),
        ("killed", "a test fails it"),
    ],
)
def test_mutants_are_killed_or_argued_away(monkeypatch, tmp_path, entry, finding):
    graded_course.write(monkeypatch, tmp_path, GOOD)
    made = [m for m in mutants.make_mutants(manifest.get("tiny")) if m.exercise == "tiny.double"]
    monkeypatch.setattr(mutants, "make_mutants", lambda lesson: made)
    killed = next(m.id for m in made if m.id != "tiny.double/d78ed16b")
    name = killed if entry == "killed" else f"tiny.double/{entry}"
    text = EQUIVALENT.replace("tiny.double/d78ed16b", name) if entry else "# Nothing argued.\n"
    (tmp_path / "suites" / "tiny.equivalent.toml").write_text(text, encoding="utf-8")
    report = audit.Report()
    audit.examine_mutants(manifest.get("tiny"), report, pool.Crew(), audit.Asked())
    assert (finding is None) == (report.findings == [])
    assert finding is None or any(finding in text for text in report.findings)


def test_the_sweep_is_where_the_audit_looks_for_it():
    assert (places.ROOT / sweep.TEST).is_file()
