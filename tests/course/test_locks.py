"""The lock holds what the project asks for, once, and every layer is a part of it."""

import json
import re
import tomllib

import pytest
from packaging.requirements import Requirement

from autograder.lessons import places

PROJECT = tomllib.loads((places.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
GROUPS = PROJECT["dependency-groups"]
LAYERS = [name for name in GROUPS if name != "otter"]  # which has a lock of its own


def pins(name, python):
    """Name and version of each package in a file on a version of Python, on Linux."""
    marks = {"python_version": python, "python_full_version": f"{python}.9"}
    found = {}
    text = (places.ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        pin, *hashes = line.split(" --hash=sha256:")
        assert all(re.fullmatch("[0-9a-f]{64}", x) for x in hashes)
        assert bool(hashes) == (name in ("lock", "otter", "uv"))
        requirement = Requirement(pin)
        if requirement.marker is None or requirement.marker.evaluate(
            {**marks, "sys_platform": "linux"}
        ):
            assert requirement.name not in found
            (exact,) = requirement.specifier
            assert (exact.operator, requirement.url) == ("==", None)
            found[requirement.name] = exact.version
    return found


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
@pytest.mark.parametrize("layer", [*LAYERS, "uv"])
def test_each_layer_is_a_part_of_the_lock(layer, python):
    assert pins(layer, python).items() <= pins("lock", python).items()


@pytest.mark.parametrize(
    ("python", "series"), [("3.11", "0.10."), ("3.12", "0.12."), ("3.14", "0.12.")]
)
def test_both_ends_of_jaxlib_are_pinned(python, series):
    assert pins("student", python)["jaxlib"].startswith(series)
    assert pins("dev", python)["jax"] == pins("dev", python)["jaxlib"]


def dependencies(layer):
    for entry in GROUPS[layer]:
        if isinstance(entry, dict):
            yield from dependencies(entry["include-group"])
        else:
            yield Requirement(entry)


@pytest.mark.parametrize("layer", GROUPS)
def test_each_layer_pins_what_the_project_names_for_it(layer):
    locked, named = pins(layer, "3.11"), list(dependencies(layer))
    for requirement in named:
        assert locked[requirement.name] in requirement.specifier
    assert layer == "otter" or locked.keys() == {x.name for x in named}


def test_what_makes_every_command_of_nbgrader_slow_is_left_out():
    text = (places.ROOT / "requirements" / "without.txt").read_text(encoding="utf-8")
    left_out = re.findall(r"^[\w-]+", text, re.MULTILINE)
    assert left_out == ["rfc3987-syntax"]
    assert not {*left_out, "lark"} & pins("lock", "3.11").keys()


def test_versions_in_project_and_package_agree():
    assert PROJECT["project"]["version"] == places.VERSION


@pytest.mark.parametrize("package", ["runner", "lighthouse"])
def test_a_lock_of_npm_has_a_line_for_each_package_with_its_hash_and_no_address(package):
    text = (places.ROOT / "site" / package / "package-lock.json").read_text(encoding="utf-8")
    _, _, *rows, _ = text.splitlines()
    packages = json.loads(text)["packages"]
    assert len(rows) == len(packages) - 1 > 0
    assert all('"integrity"' in row and '"resolved"' not in row for row in rows)
