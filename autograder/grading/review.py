"""Why a person should look at a submission: signs of tampering, which cost no points.

The module's names are read by the worker before any of the student's code runs, and come back as
data. Only names from the lists below are ever shown, so nothing here repeats a submission's text.
"""

import builtins
import functools
import importlib
from collections.abc import Collection
from types import ModuleType
from typing import Any

import numpy as np

from autograder.lessons import assemble
from autograder.lessons.manifest import Lesson
from autograder.sandbox.session import ENDED, FORGED, KILLED
from autograder.worker.worker import names_in, reached_in, read_and_set_in

# What no exercise needs, and what attempts at cheating are made of: modules, functions, and the
# inner side of objects.
_MODULES = """
    os sys subprocess ctypes socket gc inspect pickle marshal shutil pathlib signal resource mmap
    multiprocessing asyncio importlib builtins atexit tempfile urllib http faulthandler tracemalloc
    fcntl pty code codeop runpy pkgutil msgpack wire confine cffi
"""
_FUNCTIONS = """
    __import__ eval exec compile open globals vars breakpoint settrace setprofile _getframe
"""
_INSIDES = """
    __subclasses__ __globals__ __builtins__ __code__ __closure__ __reduce__ __reduce_ex__ __del__
    f_back f_locals f_globals tb_frame tb_next gi_frame get_referrers ctypeslib __array_ufunc__
    __array_function__
"""
UNUSUAL = frozenset((_MODULES + _FUNCTIONS + _INSIDES).split())
# What makes answers differ from one time to the next.
_CHANGING = """
    time datetime random secrets uuid id hash urandom empty empty_like threading default_rng
"""
CHANGING = frozenset(_CHANGING.split())

UNSTABLE = "unstable"  # asked again, it answers otherwise

_SENTENCES = {
    FORGED: "Something in the module writes to the grader's channel.",
    ENDED: "The module ends the process that runs it.",
    KILLED: "The process that runs the module was killed, by it or for want of memory.",
    UNSTABLE: "Asked the same thing twice, the module gives different answers.",
}


def unusual(names: Collection[str], reference: str) -> list[str]:
    """Those names that are on the lists, and that the reference's module does not use."""
    return sorted((UNUSUAL | CHANGING) & set(names) - _names_of(reference))


# ------------------------------------------------------------------------------------------
# Whom right definitions may be shown to

# Modules that an exercise may need.
_LIBRARIES = (
    *("abc", "collections", "contextlib", "copy", "dataclasses", "enum", "functools", "itertools"),
    *("math", "numbers", "numpy", "operator", "typing"),
)
# Of their names and of the built-in ones those that look into an object by a name which is made up
# at run time, or that read and write files.
_PRYING = """
    getattr setattr delattr attrgetter methodcaller dir format format_map get_type_hints help info
    input load save savez savez_compressed loadtxt savetxt genfromtxt fromfile memmap fromregex
    tofile dump dumps
"""
_TYPES: tuple[Any, ...] = (
    *(str, bytes, list, tuple, dict, set, frozenset, int, float, complex, slice, range),
    *(np.ndarray, np.generic, np.dtype, np.ufunc, np.finfo, np.iinfo),
)
_SPECIAL = {"__init__", "__name__", "__class__", "__doc__", "annotations"}


def is_plain(reached: Collection[str], lesson: Lesson) -> bool:
    """Does a module reach for nothing but what exercises may need, or the solution's module has?

    Only such a module is shown right definitions of other exercises: nothing on the list makes
    data of a function, or finds out who called.
    """
    return set(reached) <= _allowed(lesson)


@functools.lru_cache(maxsize=100)
def _allowed(lesson: Lesson) -> frozenset[str]:
    names = {name for thing in (builtins, *_TYPES) for name in dir(thing)}
    for module in map(importlib.import_module, _LIBRARIES):
        public = getattr(module, "__all__", dir(module))
        names |= {x for x in public if not isinstance(vars(module).get(x), ModuleType)}
    for path, text in assemble.tree(lesson).items():
        names |= {*path.removesuffix(".py").split("/"), *read_and_set_in(text.encode())[1]}
    names = {x for x in names if not x.startswith("_")} - UNUSUAL - {*_PRYING.split()}
    solution = assemble.read_solution(lesson.module).encode()
    return frozenset(names | _SPECIAL | {*_LIBRARIES} | {*reached_in(solution)})


@functools.lru_cache(maxsize=100)
def _names_of(reference: str) -> frozenset[str]:
    return frozenset(names_in(reference.encode()))


def notes(unusual: Collection[str], signs: Collection[str]) -> list[str]:
    """The sentences for the instructor; none where nothing is odd."""
    odd = [name for name in unusual if name in UNUSUAL]
    found = [f"The module uses what no exercise needs: {', '.join(odd)}."] if odd else []
    return found + [sentence for sign, sentence in _SENTENCES.items() if sign in signs]
