"""Why a person should look at a submission: signs of tampering, which cost no points.

The module's names are read by the worker before any of the student's code runs, and come back as
data. Only names from the lists below are ever shown, so nothing here repeats a submission's text.
"""

import functools
from collections.abc import Collection

from autograder.sandbox.session import ENDED, FORGED, KILLED
from autograder.worker.worker import names_in

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


@functools.lru_cache(maxsize=100)
def _names_of(reference: str) -> frozenset[str]:
    return frozenset(names_in(reference.encode()))


def notes(unusual: Collection[str], signs: Collection[str]) -> list[str]:
    """The sentences for the instructor; none where nothing is odd."""
    odd = [name for name in unusual if name in UNUSUAL]
    found = [f"The module uses what no exercise needs: {', '.join(odd)}."] if odd else []
    return found + [sentence for sign, sentence in _SENTENCES.items() if sign in signs]
