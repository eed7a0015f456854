"""What a page recommends or describes is linked, and the addresses have the form of such ones."""

import importlib.util
import re
from importlib.metadata import version
from pathlib import Path

import pytest

from autograder.lessons import manifest, page, references

PAGES = [lesson for lesson in manifest.load().values() if lesson.has_page]
LINK = re.compile(r"\]\((https?://[^\s]+?)\)(?=[\s.,;:*\"(]|$)", re.MULTILINE)


def reading(lesson):
    """The items under "Further reading", linked."""
    _, _, found = page.folded(page.read(lesson)).partition('??? abstract "Further reading"')
    return [x.strip() for x in found.partition("\n## ")[0].splitlines() if x.startswith("    - ")]


@pytest.mark.parametrize("lesson", PAGES, ids=lambda lesson: lesson.id)
def test_what_a_page_recommends_can_be_found(lesson):
    nowhere = [title for title, address in references.addresses().items() if not address]
    for item in reading(lesson):
        assert LINK.search(item) or any(title in item.lower() for title in nowhere), item


def test_every_address_is_used_and_has_the_form_of_its_kind():
    whole = "\n".join(line for lesson in PAGES for line in reading(lesson))
    for title, address in references.addresses().items():
        assert title in whole.lower() if not address else f"]({address})" in whole, title
        assert not address or re.fullmatch(r"https://[\w.-]+\.[a-z]+(/[\w.()/~+-]*)?", address)
        if "doi.org" in address:
            assert re.fullmatch(r"https://doi\.org/10\.\d{4,5}/[\w.()/-]+", address)


@pytest.mark.skipif(version("jax") != references.JAX, reason="another JAX is installed")
def test_the_files_of_jax_that_pages_name_are_there():
    root = Path(importlib.util.find_spec("jax").origin).parents[1]
    whole = "\n".join(references.linked(page.read(lesson)) for lesson in PAGES)
    files = re.findall(rf"{re.escape(references.SOURCE)}([\w./]+)", whole)
    assert len(files) > 30
    assert [file for file in files if not (root / file).is_file()] == []
