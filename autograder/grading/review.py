"""Why a person should look at a submission: signs of tampering, which cost no points.

The module's names are read by the worker before any of the student's code runs, and come back as
data. Only names from the lists below are ever shown, so nothing here repeats a submission's text.
"""

import builtins
import functools
import itertools
import math
import operator
import sys
from collections.abc import Collection
from types import (
    CellType,
    CodeType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    TracebackType,
)
from typing import Any

import numpy as np

from autograder.lessons import assemble
from autograder.lessons.manifest import Lesson
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


# ------------------------------------------------------------------------------------------
# Whom right definitions may be shown to

# Modules that an exercise may need, and those of their names that do as they say. What is left out
# looks up an attribute by a name that is made up at run time, or runs a text.
_LIBRARIES = {
    "abc": "ABC ABCMeta abstractmethod",
    "collections": "ChainMap Counter OrderedDict abc defaultdict deque namedtuple",
    "contextlib": "ExitStack closing contextmanager nullcontext suppress",
    "copy": "copy deepcopy",
    "dataclasses": "FrozenInstanceError KW_ONLY dataclass field replace",
    "enum": "Enum Flag IntEnum auto unique",
    "functools": "cache cached_property cmp_to_key lru_cache partial reduce total_ordering",
    "itertools": " ".join(x for x in dir(itertools) if not x.startswith("_")),
    "math": " ".join(x for x in dir(math) if not x.startswith("_")),
    "numbers": "Complex Integral Number Rational Real",
    "numpy": " ".join({*np.__all__} - np.__numpy_submodules__),
    "operator": " ".join({*operator.__all__} - {"attrgetter", "methodcaller"}),
    "typing": """
        Any Callable ClassVar Final Generic Hashable Iterable Iterator Literal Mapping NamedTuple
        NewType NoReturn Optional ParamSpec Protocol Self Sequence TypeAlias TypeVar Union cast
    """,
}
_PRYING = """
    getattr setattr delattr dir format format_map help info input
    load save savez savez_compressed loadtxt savetxt genfromtxt fromfile memmap fromregex
    tofile dump dumps
"""
_TYPES: tuple[Any, ...] = (
    *(str, bytes, list, tuple, dict, set, frozenset, int, float, complex, slice, range),
    *(np.ndarray, np.generic, np.dtype, np.ufunc, np.finfo, np.iinfo),
)
# Special names that a module may read, and special methods that it may define.
_SPECIAL = """
    __name__ __class__ __doc__ annotations __all__ __slots__ __init__ __post_init__ __repr__ __str__
    __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __hash__ __bool__ __len__ __iter__ __next__
    __contains__ __getitem__ __setitem__ __call__ __enter__ __exit__ __int__ __float__ __index__
    __neg__ __pos__ __abs__ __add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__
    __rtruediv__ __pow__ __rpow__ __matmul__ __rmatmul__
"""
_INNER = (FunctionType, CodeType, FrameType, GeneratorType, CoroutineType, TracebackType, CellType)
# What leads out of a module even if it defines such a name itself.
_INSIDE = frozenset(name for inner in _INNER for name in dir(inner) if "_" in name)
_NEVER_OWN = _INSIDE | {*UNUSUAL, *_PRYING.split(), "np", *sys.stdlib_module_names}


def is_plain(reached: tuple[Collection[str], Collection[str]], lesson: Lesson) -> bool:
    """Does a module reach for nothing but what exercises may need, or the solution's module has?

    Only such a module is shown right definitions of other exercises: nothing on the list makes
    data of a function, or finds out who called. It is judged by its text, which is no proof.
    """
    read, own = reached
    if _INSIDE & set(own):  # a dataclass's fields are attributes that `match` reads of anything
        return False
    leads_nowhere = {x for x in own if not {x, x.strip("_")} & _NEVER_OWN}
    return set(read) - leads_nowhere <= _allowed(lesson)


@functools.lru_cache(maxsize=100)
def _allowed(lesson: Lesson) -> frozenset[str]:
    names = {name for thing in (builtins, *_TYPES) for name in dir(thing)}
    names |= {name for listed in _LIBRARIES.values() for name in listed.split()}
    for path, text in assemble.tree(lesson).items():
        names |= {*path.removesuffix(".py").split("/"), *names_in(text.encode())[2]}
    names = {x for x in names if not x.startswith("_")} - UNUSUAL - {*_PRYING.split()}
    _, solution, _ = names_in(assemble.read_solution(lesson.module).encode())
    return frozenset(names | {*_SPECIAL.split(), *_LIBRARIES, *solution})


@functools.lru_cache(maxsize=100)
def _names_of(reference: str) -> frozenset[str]:
    return frozenset(names_in(reference.encode())[0])


def notes(unusual: Collection[str], signs: Collection[str]) -> list[str]:
    """The sentences for the instructor; none where nothing is odd."""
    odd = [name for name in unusual if name in UNUSUAL]
    found = [f"The module uses what no exercise needs: {', '.join(odd)}."] if odd else []
    return found + [sentence for sign, sentence in _SENTENCES.items() if sign in signs]


def faults(unhandled: Collection[str]) -> list[str]:
    """The sentence about what went wrong in the grader itself with a submission's answers."""
    places = "; ".join(list(unhandled)[:3])
    return [f"The grader could not handle what the module returns ({places})."] if places else []
