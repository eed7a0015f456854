"""The corpus of attacks: the best rung stops them all, and each of them can succeed somewhere."""

import contextlib
from dataclasses import replace

import pytest

from autograder.grading import suite
from autograder.lessons import places
from autograder.sandbox import isolation, launch
from autograder.upkeep import attacks

CORPUS = attacks.load()
pytestmark = pytest.mark.isolated


@pytest.fixture(scope="module")
def scene():
    with attacks.scene() as made:
        yield made


def test_the_corpus_is_large_and_says_what_it_tries():
    assert len(CORPUS) >= 40
    assert len({attack.title for attack in CORPUS}) == len(CORPUS)
    assert set(DISTANT) < {attack.name for attack in CORPUS}
    for attack in CORPUS:
        assert attack.tries.endswith("."), attack.name
        assert isolation.choose() in attack.stops, attack.name
        assert set(attack.stops) <= set(isolation.LEVELS), attack.name
        assert attack.reported in ("", *suite.CLASSES), attack.name


# Relatives of one that runs here: `differences_for_dual_numbers`, `keeps_the_siblings`,
# `breaks_the_limits`, `endless_in_c`, `answers_beyond_the_limits`. Each asks the reference of
# another lesson, grades twice, or computes until its time is over.
DISTANT = [
    *("endless_loop", "endless_in_xla", "many_small_lists", "exits_in_a_probe"),
    *("forward_mode_for_gradients", "differentiates_again_for_each_tangent", "leaves_jit_out"),
    *("leaves_checkpoints_out", "loops_of_python", "transforms_of_earlier_lessons"),
    "keeps_the_siblings_for_later",
]


# `audit` tries each on all exercises. An honest submission is graded after some of them: by then
# each has had its turn before one.
@pytest.mark.parametrize(
    ("attack", "followed"),
    [
        pytest.param(
            *(attack, i % 25 == 24 or attack is CORPUS[-1]),
            id=attack.name,
            marks=[pytest.mark.full] * (attack.name in DISTANT),
        )
        for i, attack in enumerate(CORPUS)
    ],
)
def test_an_attack_is_stopped_and_reported(scene, attack, followed):
    assert attacks.attempt(attacks.narrowed(attack), isolation.choose(), scene, followed) == []


# With one mechanism switched off, something goes through: the corpus would notice


def without(monkeypatch, *layers):
    """Take away layers of every rung, and the seal, which refuses all that the others do."""
    monkeypatch.setattr(launch, "SEALED", ())
    kept = {k: tuple(x for x in v if x not in layers) for k, v in launch.LAYERS.items()}
    for level, left in kept.items():
        monkeypatch.setitem(launch.LAYERS, level, left)


def named(name):
    (attack,) = [attack for attack in CORPUS if attack.name == name]
    return attack


def succeeds(scene, name, level):
    attack = replace(attacks.narrowed(named(name)), reported="", says=())
    return attacks.attempt(attack, level, scene, followed=False)


NEEDED = [
    ("landlock", "reads_the_reference"),
    ("landlock", "reads_the_suite"),
    ("landlock", "writes_outside"),
    ("landlock", "changes_files_in_place"),
    ("seccomp", "connects_to_loopback"),
    ("seccomp", "changes_rights_and_times"),
    ("seccomp", "starves_the_grader"),
    ("seccomp", "kills_the_grader"),
    ("seccomp", "starts_programs"),
    ("seccomp", "sends_datagrams"),
    ("seccomp", "remembers_in_the_page_cache"),
]


@pytest.mark.parametrize(("layer", "name"), NEEDED, ids=[f"{a}: {b}" for a, b in NEEDED])
def test_without_its_mechanism_an_attack_succeeds(scene, monkeypatch, layer, name):
    if isolation.detect("landlock") is not None:
        pytest.skip("no isolation 'landlock'")
    without(monkeypatch, "landlock", layer)
    assert succeeds(scene, name, "process" if layer == "landlock" else "landlock") != []


@pytest.mark.slow
def test_the_seal_alone_keeps_right_answers_from_the_next_submission(scene, monkeypatch):
    """On the lowest rung, where nothing else does."""
    if isolation.detect("landlock") is not None:
        pytest.skip("no seccomp")
    name = "keeps_the_siblings_for_later"
    assert any("it earns" in fault for fault in succeeds(scene, name, "process"))
    monkeypatch.setattr(launch, "SEALED", isolation.LEVELS)
    assert attacks.attempt(named(name), "process", scene, followed=False) == []


def test_a_leak_would_be_seen(scene):
    """An attack whose canary stands in the open, as a message that feedback would show."""
    attacks._clean(scene)
    for canary in scene.canaries.values():
        assert list(attacks._leaked({"message": f"x {canary} y"}, scene))


def test_a_daemon_that_lives_on_would_be_seen(scene, monkeypatch):
    monkeypatch.setattr(attacks, "_alive", lambda mark: True)
    monkeypatch.setattr(attacks.time, "monotonic", iter(range(0, 1000, 4)).__next__)
    attacks._clean(scene)
    assert "a process of it lives on" in attacks._harmed(scene)


def test_a_table_says_which_attacks_were_tried_and_a_quick_one_has_those_that_changed(
    monkeypatch, tmp_path, capsys
):
    monkeypatch.setattr(places, "COURSE", tmp_path / "course")
    attack = replace(CORPUS[0], stops=("one",))
    known = [replace(attack, name=name, title=name) for name in ("first", "second", "third")]
    monkeypatch.setattr(attacks, "load", lambda: known)
    monkeypatch.setattr(attacks, "scene", contextlib.nullcontext)
    monkeypatch.setattr(isolation, "LEVELS", ("one",))
    monkeypatch.setattr(isolation, "detect", lambda level: None)
    monkeypatch.setattr(isolation, "choose", lambda: "one")
    monkeypatch.setattr(attacks, "attempt", lambda *_: [])

    def said(quick):
        assert attacks.examine(quick) == 0
        return capsys.readouterr().out.splitlines()[-1]

    whole = "Each level stops what it promises."
    assert said(quick=True) == f"Tried: 1 of 3 attacks, on one. {whole}"
    assert said(quick=False) == f"Tried: 3 of 3 attacks, on one. {whole}"
    known[2] = replace(known[2], body="another")
    assert said(quick=True) == f"Tried: 2 of 3 attacks, on one. {whole}"
