"""Manifests are read as they stand, and every slip in one is told with its file and key."""

import pytest
import small_course

from autograder.lessons import manifest
from autograder.lessons.problem import Problem

MANIFEST = "course/lessons/01_hello/lesson.toml"


@pytest.fixture
def course(monkeypatch, tmp_path):
    return small_course.write(monkeypatch, tmp_path)


def test_a_lesson_holds_what_its_manifest_says(course):
    hello = manifest.get("hello")
    assert (hello.number, hello.package, hello.module_name) == (1, "toy", "toy.hello")
    assert hello.max_points == 3.5
    assert [e.id for e in hello.exercises] == ["hello.greet", "hello.grow"]
    assert hello.exercises[1].after == ("hello.greet",)
    assert hello.exercises[0].lesson == "hello"
    assert hello.files == ("toy/text/words.py", "toy/hello.py")


def test_the_whole_module_has_points_of_its_own(monkeypatch, tmp_path):
    changed = small_course.HELLO_TOML.replace("requires = []", "requires = []\nwhole = 2.5")
    small_course.write(monkeypatch, tmp_path, {MANIFEST: changed})
    hello = manifest.get("hello")
    assert [part.id for part in hello.graded] == ["hello.greet", "hello.grow", "hello.whole"]
    assert hello.max_points == 6.0


def test_lessons_come_in_the_order_of_their_folders(course):
    assert list(manifest.load()) == ["hello", "between", "bye"]
    assert [x.id for x in manifest.prefix(manifest.get("between"))] == ["hello", "between"]


def test_an_unknown_name_is_answered_with_a_close_one(course):
    with pytest.raises(Problem, match=r"no lesson 'helo'. Did you mean hello"):
        manifest.get("helo")
    for name in ("hello.great", "greet"):
        with pytest.raises(Problem, match=r"Did you mean hello.greet"):
            manifest.find_exercise(name)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('id = "hello"\n', "", "`id` is missing; give a text"),
        ("minutes = 10", 'minutes = "10"', "`minutes` should be a whole number"),
        ("minutes = 10", "minutes = true", "`minutes` should be a whole number"),
        ("requires = []", "requires = [1]", "`requires` should be a list of texts"),
        ("requires = []", 'requires = ["bye"]', "`requires` names 'bye', no earlier lesson"),
        ("requires = []", "requires = []\ncolour = 1", "`colour` is not a known key"),
        ("minutes = 10", "minutes = 0", "`minutes` should be 1 or more"),
        ("minutes = 10", "minutes = ", "not valid TOML"),
        ('module = "toy/hello.py"\n', "", "`module` is missing; only given code may be"),
        ("toy/hello.py", "hello.py", "`module` holds 'hello.py', not like minijax/jvp.py"),
        ("toy/hello.py", "toy/../hello.py", "not like minijax/jvp.py"),
        ('"toy/text/words.py"', '"other/words.py"', "in another package than the others"),
        ('"toy/text/words.py"', '"toy/__init__.py"', "sync writes those"),
        ('"greet", "Box"', '"gr eet"', "`exports` holds 'gr eet'"),
        ('"hello.greet"\ntitle', '"bye.greet"\ntitle', "should be hello.NAME"),
        ('target = "greet"', 'target = "greet()"', "'hello.greet': `target` should be a name"),
        ("points = 2", "points = 0", "exercise 'hello.greet': `points` should be more than 0"),
        ("requires = []", "requires = []\nwhole = 1", "`whole` should hold a quarter of the"),
        ("requires = []", 'requires = []\nwhole = "1"', "`whole` should be a number"),
        ('"hello.grow"', '"hello.whole"', "`id` of an exercise ends in .whole"),
        ("difficulty = 1", "difficulty = 4", "`difficulty` should be 1, 2 or 3"),
        ('["One.", "Two.", "Three."]', '["One."]', "`hints` should hold three texts"),
        ('todo = "Add to the size."', 'todo = ""', "`todo` should be a text"),
        ('"hello.grow"\n', '"hello.greet"\n', "'hello.greet' is given to two exercises"),
        ('target = "Box.grow"', 'target = "greet"', "'greet' is given to two exercises"),
        ('after = ["hello.greet"]', 'after = ["hello.grow"]', "no earlier exercise here"),
        ('after = ["hello.greet"]', "afterwards = []", "number 2: `afterwards` is not a known key"),
    ],
)
def test_a_slip_is_told_with_file_and_key(monkeypatch, tmp_path, old, new, message):
    assert old in small_course.HELLO_TOML
    changed = small_course.HELLO_TOML.replace(old, new)
    small_course.write(monkeypatch, tmp_path, {MANIFEST: changed})
    with pytest.raises(Problem) as problem:
        manifest.load()
    assert message in str(problem.value)
    assert MANIFEST in str(problem.value).split(": ")[0]


def test_given_code_may_do_without_a_module(monkeypatch, tmp_path):
    files = 'given = ["toy/more/a.py", "toy/more/b.py"]'
    toml = small_course.GIVEN_TOML.replace('module = "toy/between.py"', files)
    small_course.write(monkeypatch, tmp_path, {"course/lessons/02_between/lesson.toml": toml})
    between = manifest.get("between")
    assert (between.module, between.package) == ("", "toy")
    assert between.files == ("toy/more/a.py", "toy/more/b.py")


@pytest.mark.parametrize(
    ("folder", "old", "new", "message"),
    [
        ("02_x", '"between"', '"hello"', "'hello' is taken by another lesson"),
        ("01_x", "", "", "shares number 1 with another"),
        ("x", "", "", "should be NN_name"),
        ("04_x", '"between"', '"new"', "'toy/between.py', which 'between' has"),
    ],
)
def test_two_lessons_share_nothing(monkeypatch, tmp_path, folder, old, new, message):
    text = small_course.GIVEN_TOML.replace(old, new)
    small_course.write(monkeypatch, tmp_path, {f"course/lessons/{folder}/lesson.toml": text})
    with pytest.raises(Problem) as problem:
        manifest.load()
    assert message in str(problem.value)


def test_the_time_of_a_lesson_is_its_exercises_and_forty_minutes_or_more_to_read():
    taught = [lesson for lesson in manifest.load().values() if lesson.exercises]
    left = {x.id: x.minutes - sum(e.minutes for e in x.exercises) for x in taught}
    assert {name: minutes for name, minutes in left.items() if minutes < 40} == {}
