"""The reference of minijax: every public name is on a page, with what it promises."""

import re
import tomllib

import pytest

from autograder.lessons import places
from autograder.upkeep import api

SURFACE = tomllib.loads((places.ROOT / "tests/surface.toml").read_text(encoding="utf-8"))
PAGES = api.pages()


def entry(place, name):
    """What the reference has of a name: from its anchor to the next one's heading."""
    path = re.escape(".".join(["minijax", *filter(None, [place]), name]))
    found = re.search(
        rf'^(?:### [^\n]* \{{ #{path} \}}|- <span id="{path}">).*?(?=^#|^- |\Z)',
        PAGES[f"{place or 'index'}.md"],
        re.MULTILINE | re.DOTALL,
    )
    return found and found[0]


@pytest.mark.parametrize("place", SURFACE)
def test_every_public_name_is_in_the_reference(place):
    modules = {page.removesuffix(".md").rpartition(".")[2] for page in PAGES}
    missing = [name for name in SURFACE[place]["names"] if not entry(place, name)]
    assert set(missing) <= modules
    assert [x for x in missing if f"{place}.{x}.md".removeprefix(".") not in PAGES] == []


@pytest.mark.parametrize("place", SURFACE)
def test_every_function_is_told_in_a_sentence(place):
    for name in SURFACE[place]["names"]:
        text = entry(place, name) or "- a module"
        told = re.sub(r"```.*?```|You write it in [^\n]*|^### [^\n]*", "", text, flags=re.DOTALL)
        assert text.startswith("- ") or told.strip(), name


def test_the_pages_are_published_without_numpys_texts(built):
    shown = {path.parent.name for path in (built / "api").glob("*/index.html")}
    assert {name.removesuffix(".md") for name in PAGES} - shown == {"index"}
    assert "Parameters\n----" not in "".join(PAGES.values())
    assert " object at 0x" not in "".join(PAGES.values())
    numpy = (built / "api/numpy/index.html").read_text(encoding="utf-8")
    assert '<h3 id="minijax.numpy.einsum">' in numpy
    assert 'href="../../lessons/' in (built / "api/tree_util/index.html").read_text(
        encoding="utf-8"
    )
