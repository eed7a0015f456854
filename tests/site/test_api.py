"""The reference of minijax: every public name is on a page, with what it promises."""

import importlib
import inspect
import re

import jax
import minijax
import minijax.core
import minijax.numpy
import pytest
from minijax.array import ArrayImpl, array_methods
from surface import PLACES

from autograder.upkeep import api

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


@pytest.mark.parametrize("place", PLACES)
def test_every_public_name_is_in_the_reference_with_a_sentence(place):
    modules = {page.removesuffix(".md").rpartition(".")[2] for page in PAGES}
    missing = [name for name in PLACES[place] if not entry(place, name)]
    assert set(missing) <= modules
    assert [x for x in missing if f"{place}.{x}.md".removeprefix(".") not in PAGES] == []
    for name in PLACES[place]:
        text = entry(place, name) or "- a module"
        told = re.sub(r"```.*?```|You write it in [^\n]*|^### [^\n]*", "", text, flags=re.DOTALL)
        assert text.startswith("- ") or told.strip(), name


def public_classes():
    """Each public class by its first name, with JAX's."""
    for place, names in PLACES.items():
        module = importlib.import_module(f"minijax.{place}".rstrip("."))
        for name in names:
            cls = getattr(module, name)
            if inspect.isclass(cls) and cls.__module__.startswith("minijax"):
                jaxs = importlib.import_module(f"jax.{place}".rstrip("."))
                yield cls, (f"{module.__name__}.{name}", getattr(jaxs, name))


def objects(backend):
    """An object of each class that has no public name, as public functions make it."""
    array, jit, seen = backend.numpy.ones(3), backend.jit(lambda x: x + 1.0), []
    closed = backend.make_jaxpr(lambda x: seen.append(x) or jit(x))(array)
    (eqn,) = closed.eqns
    literal = eqn.params["jaxpr"].eqns[0].invars[1]
    parts = [closed, closed.jaxpr, eqn, literal, eqn.outvars[0]]
    return [array.aval, *seen, *parts, jit, jit.lower(array), array.at[0]]


def returned_classes():
    for ours, jaxs in zip(objects(minijax), objects(jax), strict=True):
        cls = minijax.core.Tracer if isinstance(ours, minijax.core.Tracer) else type(ours)
        yield cls, (f"{cls.__module__}.{cls.__name__}", jaxs)


CLASSES = {**dict([*public_classes()][::-1]), **dict(returned_classes())}  # the first name stays


def own_members(cls):
    """The methods and properties that minijax gives a class; a tracer's besides an array's."""
    if cls is minijax.Array:
        return own_members(ArrayImpl) | array_methods.keys()
    bases = [x for x in cls.__mro__ if x.__module__.startswith("minijax")]
    defined = {name: x for base in bases for name, x in vars(base).items()}
    found = {n for n, x in defined.items() if inspect.isroutine(x) or isinstance(x, property)}
    return found - ({*dir(ArrayImpl)} if cls is minijax.core.Tracer else set())


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_method_and_property_that_jaxs_class_has_too_is_in_the_reference(cls):
    path, jaxs = CLASSES[cls]
    jaxs = jax.numpy.ones(3) if cls is minijax.Array else jaxs
    wanted = {x for x in own_members(cls) if not x.startswith("_") and hasattr(jaxs, x)}
    heading = rf"^#### (\w+) {{ #{re.escape(path)}\.\1 }}\n(.*?)(?=^#|\Z)"
    found = dict(re.findall(heading, "\n".join(PAGES.values()), re.MULTILINE | re.DOTALL))
    assert found.keys() == wanted
    told = {x: re.sub(r"```.*?```", "", text, flags=re.DOTALL) for x, text in found.items()}
    assert [x for x, text in told.items() if not text.strip()] == []


def test_a_method_is_shown_without_self_and_a_property_without_a_call():
    index = PAGES["index.md"]
    update = "#### update { #minijax.ShapeDtypeStruct.update }\n\n```python\nupdate(**changes)\n"
    assert update in index
    assert "#### ndim { #minijax.Array.ndim }\n\nThe number of axes.\n" in index
    assert "of this array.\n" in index


def test_a_page_begins_with_what_is_in_the_module():
    for name, text in PAGES.items():
        _, _, begin = text.partition("\n# ")
        assert re.match(r"[^\n]+\n\n[A-Z]", begin), name


def test_a_second_name_of_a_function_refers_to_the_first():
    assert entry("numpy", "absolute").endswith("The same as [`abs`](#minijax.numpy.abs).\n\n")


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
