"""The systems where courses live: one file for each, with what it collects and what it exports.

A new system is one file that gives its `SYSTEM`. It is found here; the command's choices and
the guide's tables (`sync` writes them) follow. Two tests ask for an example of what it packs:
`DOWNLOADS` in `test_collect.py` and `PLACES` in `test_owners.py`.

nbgrader does not say where a download is from, so there all readers are asked about each entry: one
takes only names that no other system makes. If these could be anything, such as a student's id, the
name of the folder around them must tell (`wrapper`). What goes into a table passes through
`result_files.table`, after which no cell is a formula.

Of the columns that a claim names, the first one that the roster has decides whom it means: name
`lms_id` only if the system gives that number. A folder around all, whose name can be anything, is
not looked into; `download` says that the folder inside it is to be given. `entry.files[name](most)`
reads a file of an entry, and `Claim.time` takes the time that it says.
"""

import functools
import importlib
import pkgutil

from autograder.classroom.systems.system import Collects, Exports, System


@functools.cache
def load() -> dict[str, System]:
    """The systems by name."""
    files = [x.name for x in pkgutil.iter_modules(__path__, f"{__name__}.")]
    modules = [importlib.import_module(name) for name in files]
    found = [module.SYSTEM for module in modules if hasattr(module, "SYSTEM")]
    return {system.name: system for system in sorted(found, key=lambda system: system.name)}


def collecting() -> dict[str, Collects]:
    """The systems from which submissions are collected, by name."""
    return {name: system.collects for name, system in load().items() if system.collects}


def exporting() -> dict[str, Exports]:
    """The systems to which grades are exported, by name."""
    return {name: system.exports for name, system in load().items() if system.exports}
