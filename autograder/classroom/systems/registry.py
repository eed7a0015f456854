"""All systems, found by their files."""

import functools
import importlib
import pkgutil

from autograder.classroom import systems
from autograder.classroom.systems.system import Collects, Exports, System


@functools.cache
def load() -> dict[str, System]:
    """The systems by name."""
    files = [x.name for x in pkgutil.iter_modules(systems.__path__, f"{systems.__name__}.")]
    modules = [importlib.import_module(name) for name in files]
    found = [module.SYSTEM for module in modules if hasattr(module, "SYSTEM")]
    return {system.name: system for system in sorted(found, key=lambda system: system.name)}


def collecting() -> dict[str, Collects]:
    """The systems from which submissions are collected, by name."""
    return {name: system.collects for name, system in load().items() if system.collects}


def exporting() -> dict[str, Exports]:
    """The systems to which grades are exported, by name."""
    return {name: system.exports for name, system in load().items() if system.exports}
