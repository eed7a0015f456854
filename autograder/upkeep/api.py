"""The reference of minijax for the site: a page for each public module, made from the package.

What a function promises is its docstring. Which names are public is what `__all__` says; what a
public module has among its names is a public module, too.
"""

import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from autograder.lessons import manifest, page
from autograder.lessons.manifest import Exercise

_HEAD = """\
---
title: "{title}"
description: "{title}: its public names, how each one is called, and what it promises."
search:
  exclude: true
---

"""
_ABOUT = """\
The public names of minijax, with what each promises. They are JAX's names, and whatever runs on
minijax runs unchanged on JAX in 64-bit mode; JAX has more of them. `import minijax as jax` and
`import minijax.numpy as jnp` are all that changes.

"""


def pages(package: str = "minijax") -> dict[str, str]:
    """Markdown of each public module's page, by the page's name: `minijax.numpy` is `numpy.md`."""
    found = dict(_modules(importlib.import_module(package), package))
    texts = {_file(name): _page(name, module) for name, module in found.items()}
    every = "".join(f"- [`{x}`]({_file(x)}): {_summary(found[x])}\n" for x in [*found][1:])
    first = _file(package)
    return {**texts, first: texts[first].replace("\n## ", f"\n{_ABOUT}{every}\n## ", 1)}


def _file(module: str) -> str:
    return f"{module.partition('.')[2] or 'index'}.md"


def _modules(module: ModuleType, path: str) -> Iterator[tuple[str, ModuleType]]:
    yield path, module
    for name in _names(module):
        if inspect.ismodule(inner := getattr(module, name)):
            yield from _modules(inner, f"{path}.{name}")


def _names(module: ModuleType) -> list[str]:
    """The public names; of a module without `__all__` those that it defines."""
    own = [n for n, x in vars(module).items() if getattr(x, "__module__", "") == module.__name__]
    return sorted(n for n in getattr(module, "__all__", own) if not n.startswith("_"))


def _summary(module: ModuleType) -> str:
    """The first sentence about a module; of one that `sync` writes, how many names it has."""
    doc = inspect.getdoc(module) or ""
    if doc.startswith("The public names of"):
        count = len(_names(module))
        return f"{count} name{'s' * (count != 1)}."
    return _first(doc)


# ------------------------------------------------------------------------------------------
# A page

_KINDS = ("Functions", "Classes", "Values", "Primitives")


def _page(path: str, module: ModuleType) -> str:
    kinds: dict[str, list[str]] = {kind: [] for kind in _KINDS}
    inner = []
    for name in _names(module):
        value = getattr(module, name)
        if inspect.ismodule(value):
            inner.append(f"[`{path}.{name}`]({_file(f'{path}.{name}')})")
        else:
            kinds[_kind(value)].append(_entry(f"{path}.{name}", name, value))
    links = f"Modules in it: {', '.join(inner)}.\n\n" if inner and "." in path else ""
    sections = [f"## {kind}\n\n{''.join(found)}" for kind, found in kinds.items() if found]
    return f"{_HEAD.format(title=path)}# `{path}`\n\n{links}" + "\n".join(sections)


def _kind(value: Any) -> str:
    if type(value).__name__.endswith("Primitive"):
        return "Primitives"
    if inspect.isclass(value):  # NumPy's own, such as dtype, are told in a word
        return "Classes" if value.__module__.startswith("minijax") else "Values"
    is_dtype = hasattr(value, "dtype")  # float32 and its like may be called, too
    return "Functions" if callable(value) and not is_dtype else "Values"


def _entry(path: str, name: str, value: Any) -> str:
    """A public name: how it is called and what it promises; of a value, which it is."""
    if _kind(value) in ("Values", "Primitives"):
        numpys = " is NumPy's" if inspect.isclass(value) else ""
        shown = f" is `{value!r}`" if isinstance(value, float | None) else numpys
        return f'- <span id="{path}">`{name}`</span>{shown}\n'
    blocks = [
        f"### {name} {{ #{path} }}",
        page.fenced(_wrapped(name + _signature(value)), "python"),
    ]
    if exercise := _exercise(value):
        folder = manifest.get(exercise.lesson).folder.name
        link = f"../lessons/{folder}/lesson.md#{exercise.id}"
        blocks.append(f"You write it in the [`{exercise.lesson}`]({link}) lesson.")
    doc = vars(value).get("__doc__") if inspect.isclass(value) else inspect.getdoc(value)
    blocks.append(page.doctests_fenced(inspect.cleandoc(doc or "")))
    return "\n\n".join(block.strip() for block in blocks if block.strip()) + "\n\n"


def _first(doc: str) -> str:
    return " ".join(doc.partition("\n\n")[0].split())


def _wrapped(signature: str) -> str:
    return "\n".join(textwrap.wrap(signature, 78, subsequent_indent="    "))


def _signature(value: Any) -> str:
    """The parameters without their types, which the sentences below tell better."""
    try:
        given = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    bare = [x.replace(annotation=x.empty) for x in given.parameters.values()]
    text = str(given.replace(parameters=bare, return_annotation=given.empty))
    return re.sub(r"<object object at \w+>", "...", text)  # a default that says: nothing was given


def _exercise(value: Any) -> Exercise | None:
    """The exercise of the course in which this is written."""
    place = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    for lesson in manifest.load().values():
        for exercise in lesson.exercises:
            if (lesson.module_name, exercise.target) == place:
                return exercise
    return None
