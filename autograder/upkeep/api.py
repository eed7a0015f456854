"""The reference of minijax for the site: a page for each public module, made from the package.

What a function promises is its docstring. Which names are public is what `__all__` says; what a
public module has among its names is a public module, too. Classes that have no public name, because
only functions make them, are on a page of their own.

mkdocstrings was tried. It reads source code, and many public names are made by a function, `sin =
unary(sin_p, "f", ...)`: it finds no signature and no docstring for them, and takes `minijax.jit`,
the function, for the module with this name.
"""

import dataclasses
import enum
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
description: "{title}: {about}, how each one is called, and what it promises."
---

"""
_ABOUT = """\
The public names of minijax, with what each promises. They are JAX's names, and whatever runs on
minijax runs unchanged on JAX in 64-bit mode; JAX has more of them. `import minijax as jax` and
`import minijax.numpy as jnp` are all that changes.

"""


# Classes that public functions return or hand to the user's function.
_RETURNED = (
    *("abstract_values.ShapedArray", "abstract_values.Tracer", "ir.ClosedJaxpr", "ir.Jaxpr"),
    *("ir.JaxprEqn", "ir.Literal", "ir.Var", "jit.Jitted", "lowering.Lowered"),
    "numpy.indexing.IndexUpdateRef",
)
_ABOUT_RETURNED = """\
These classes have no public name: you meet their objects as arguments or results of public
functions. `make_jaxpr` returns a `ClosedJaxpr`, `jit` a `Jitted`, and `x.at[index]` is an
`IndexUpdateRef`.

"""


def pages(package: str = "minijax") -> dict[str, str]:
    """Markdown of each page by its name: that of the module `minijax.numpy` is `numpy.md`."""
    found = dict(public_modules(importlib.import_module(package), package))
    texts = {_file(name): _page(name, module) for name, module in found.items()}
    every = "".join(f"- [`{x}`]({_file(x)}): {_summary(x, found[x])}\n" for x in [*found][1:])
    every += "- [What functions return](returned.md): classes without a public name.\n"
    first = _file(package)
    texts[first] = texts[first].replace("\n## ", f"\n{_ABOUT}{every}\n## ", 1)
    return {**texts, "returned.md": _returned(package)}


def _returned(package: str) -> str:
    title = "What functions return"
    head = _HEAD.format(title=title, about="classes without a public name")
    places = (f"{package}.{x}".rpartition(".") for x in _RETURNED)
    values = (
        (path, name, getattr(importlib.import_module(path), name)) for path, _, name in places
    )
    entries = "".join(_entry(f"{path}.{name}", name, value) for path, name, value in values)
    return f"{head}# {title}\n\n{_ABOUT_RETURNED}## Classes\n\n{entries}"


def _file(module: str) -> str:
    return f"{module.partition('.')[2] or 'index'}.md"


def public_modules(module: ModuleType, path: str) -> Iterator[tuple[str, ModuleType]]:
    """A module with its path, and the public modules inside it with theirs."""
    yield path, module
    for name in public_names(module):
        if inspect.ismodule(inner := getattr(module, name)):
            yield from public_modules(inner, f"{path}.{name}")


def public_names(module: ModuleType) -> list[str]:
    """The public names; of a module without `__all__` those that it defines."""
    own = [n for n, x in vars(module).items() if getattr(x, "__module__", "") == module.__name__]
    return sorted(n for n in getattr(module, "__all__", own) if not n.startswith("_"))


# Of modules that `sync` writes; all others say it themselves.
_SUMMARIES = {
    "minijax.lax": "The operations that programs are made of, and control flow.",
    "minijax.nn": "Activation functions, and what else neural networks need.",
    "minijax.numpy": "NumPy's functions, for arrays that can be transformed.",
    "minijax.scipy": "The part of SciPy that minijax has.",
    "minijax.scipy.stats": "Probability distributions.",
    "minijax.tree_util": "Pytrees under their older names, and containers of your own.",
}


def _summary(path: str, module: ModuleType) -> str:
    """What is in a module, as a sentence, without its name."""
    sentence = _SUMMARIES.get(path) or _first(inspect.getdoc(module) or "")
    return re.sub(r" \(`(?:mini)?jax\.[\w.]+`\)", "", sentence)


# ------------------------------------------------------------------------------------------
# A page

_KINDS = ("Functions", "Classes", "Values", "Primitives")


def _page(path: str, module: ModuleType) -> str:
    kinds: dict[str, list[str]] = {kind: [] for kind in _KINDS}
    inner = []
    for name in public_names(module):
        value = getattr(module, name)
        if inspect.ismodule(value):
            inner.append(f"[`{path}.{name}`]({_file(f'{path}.{name}')})")
        elif _kind(value) == "Functions" and (own := _own_name(module, value)) != name:
            kinds["Functions"].append(_alias(path, name, own))
        else:
            kinds[_kind(value)].append(_entry(f"{path}.{name}", name, value))
    links = f" Modules in it: {', '.join(inner)}." if inner else ""
    jaxs = path.replace("minijax", "jax", 1)
    about = f"{_summary(path, module)} Counterpart: `{jaxs}`.{links}\n\n" if "." in path else ""
    sections = [f"## {kind}\n\n{''.join(found)}" for kind, found in kinds.items() if found]
    head = _HEAD.format(title=path, about="its public names")
    return f"{head}# `{path}`\n\n{about}" + "\n".join(sections)


def _own_name(module: ModuleType, function: Any) -> str:
    """Of a function's names in a module the one that it was given, or the first."""
    names = [name for name in public_names(module) if getattr(module, name) is function]
    given = getattr(function, "__name__", "")
    return given if given in names else names[0]


def _alias(path: str, name: str, own: str) -> str:
    """A further name of a function."""
    return f"### {name} {{ #{path}.{name} }}\n\nThe same as [`{own}`](#{path}.{own}).\n\n"


def _kind(value: Any) -> str:
    if type(value).__name__.endswith("Primitive"):
        return "Primitives"
    if inspect.isclass(value):  # NumPy's own, such as dtype, are told in a word
        return "Classes" if value.__module__.startswith("minijax") else "Values"
    is_dtype = hasattr(value, "dtype")  # float32 and its like may be called, too
    return "Functions" if callable(value) and not is_dtype else "Values"


_TYPES = {
    "minijax.typing.ArrayLike": ": an array, or a number that is taken for one",
    "minijax.typing.DTypeLike": ": a dtype, its name, or a class that stands for one",
}


def _entry(path: str, name: str, value: Any) -> str:
    """A public name: how it is called and what it promises; of a value, which it is."""
    if _kind(value) in ("Values", "Primitives"):
        numpys = " is NumPy's" if inspect.isclass(value) else _TYPES.get(path, "")
        shown = f" is `{value!r}`" if isinstance(value, float | None) else numpys
        return f'- <span id="{path}">`{name}`</span>{shown}\n'
    if inspect.isclass(value):
        return _class(path, name, value)
    return _told(f"### {name} {{ #{path} }}", name + _signature(value), value)


def _told(heading: str, call: str, value: Any, doc: str | None = None) -> str:
    """How something is called, where it is written, and its docstring, or what replaces it."""
    blocks = [heading, page.fenced(_wrapped(call), "python") if call else ""]
    if exercise := _exercise(value):
        folder = manifest.get(exercise.lesson).folder.name
        link = f"../lessons/{folder}/lesson.md#{exercise.id}"
        blocks.append(f"You write it in the [`{exercise.lesson}`]({link}) lesson.")
    doc = inspect.getdoc(value) if doc is None else inspect.cleandoc(doc)
    if dataclasses.is_dataclass(value) and not inspect.isclass(value):  # one of several of a class
        doc = f"{doc}\n\nIt is `{value!r}`."
    blocks.append(page.doctests_fenced(doc or ""))
    return "\n\n".join(block.strip() for block in blocks if block.strip()) + "\n\n"


def _first(doc: str) -> str:
    return " ".join(doc.partition("\n\n")[0].split())


def _wrapped(signature: str) -> str:
    return "\n".join(textwrap.wrap(signature, 78, subsequent_indent="    "))


def _signature(value: Any, given_before: int = 0) -> str:
    """The parameters without their types, which the sentences below tell better.

    A method is `given_before` an object as first argument.
    """
    try:
        given = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    asked = [*given.parameters.values()][given_before:]
    bare = [x.replace(annotation=x.empty) for x in asked]
    text = str(given.replace(parameters=bare, return_annotation=given.empty))
    return re.sub(
        r"<object object at \w+>|<factory>", "...", text
    )  # a default that says: nothing was given


def _exercise(value: Any) -> Exercise | None:
    """The exercise of the course in which this is written."""
    value = inspect.unwrap(value)
    place = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    for lesson in manifest.load().values():
        for exercise in lesson.exercises:
            if (lesson.module_name, exercise.target) == place:
                return exercise
    return None


# ------------------------------------------------------------------------------------------
# Classes

# Methods that minijax's own modules call. JAX's classes do not have them, which a test compares.
_INTERNAL = {
    "Array": "by_numpy number value",
    "IndexUpdateRef": "places scattered",
    "Jitted": "bind flatten launcher launcher_for program traced",
    "PyTreeDef": "describe",
    "ShapeDtypeStruct": "parts",
    "ShapedArray": "to_bool to_index to_int",
}


def _class(path: str, name: str, cls: type) -> str:
    """A class and its members; at its second public name only where the first one is."""
    first = _homes().get(cls, path)
    heading = f"### {name} {{ #{path} }}"
    if first != path:
        link = f"{_file(first.rpartition('.')[0])}#{first}"
        return f"{heading}\n\nThis is [`{first}`]({link}).\n\n"
    call, doc = name + _signature(cls), vars(cls).get("__doc__") or ""
    if issubclass(cls, enum.Enum):
        call, doc = "", f"{doc}\n\nIts members are {', '.join(f'`{x.name}`' for x in cls)}."
    told = _told(heading, call, cls, doc)
    members = sorted(_members(cls).items())
    return told + "".join(_member(f"{path}.{own}", own, value) for own, value in members)


def _homes() -> dict[type, str]:
    """Where each public class is described: its first name, from the outermost module."""
    found: dict[type, str] = {}
    for path, module in public_modules(importlib.import_module("minijax"), "minijax"):
        for name in public_names(module):
            if inspect.isclass(value := getattr(module, name)):
                found.setdefault(value, f"{path}.{name}")
    return found


def _members(cls: type) -> dict[str, Any]:
    """The public methods and properties of a class that are not another class's."""
    left_out = {name for base in cls.__mro__[1:] for name in _surface(base)}
    left_out.update(_INTERNAL.get(cls.__name__, "").split())
    return {
        name: value
        for name, value in _surface(cls).items()
        if not name.startswith("_") and name not in left_out
        if inspect.isroutine(value) or isinstance(value, property)
    }


def _surface(cls: type) -> dict[str, Any]:
    """All that a class has; arrays get most of their methods from a table."""
    array = importlib.import_module("minijax.array")
    if cls is not array.Array:
        return dict(vars(cls))
    return {**array.array_methods, **vars(cls), **vars(array.ArrayImpl)}


def _member(path: str, name: str, value: Any) -> str:
    """A method or a property; one that is a public function, too, refers to it."""
    heading = f"#### {name} {{ #{path} }}"
    if isinstance(value, property):
        return _told(heading, "", value)
    function = getattr(value, "__func__", value)  # of a class method
    call, doc = name + _signature(function, 1), inspect.getdoc(function) or ""
    public: Any = getattr(importlib.import_module("minijax.numpy"), name, None)
    if inspect.unwrap(public) is function:
        same = f"minijax.numpy.{name}"
        doc = f"{_first(doc)}\n\nIt is [`{same}`](numpy.md#{same}) of this array."
    return _told(heading, call, function, doc)
