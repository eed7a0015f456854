"""What a layer of `requirements/` holds: the packages that it names, and all that these need."""

import sysconfig
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

REQUIREMENTS = Path(__file__).resolve().parents[1] / "requirements"

# Run before a program: `import` finds none of the modules in BLOCKED.
BLOCK = """
import sys

class Others:
    def __init__(self, finder):
        self.finder = finder

    def __getattr__(self, name):
        return getattr(self.finder, name)

    def find_spec(self, name, path=None, target=None):
        blocked = name.partition(".")[0] in {blocked!r}
        return None if blocked else self.finder.find_spec(name, path, target)

sys.meta_path[:] = map(Others, sys.meta_path)
"""


def lines(name):
    """The requirements in a file, for this machine; hashes are left out."""
    text = (REQUIREMENTS / f"{name}.txt").read_text(encoding="utf-8")
    found = [Requirement(line.partition(" --hash")[0]) for line in text.splitlines()]
    return [x for x in found if not x.marker or x.marker.evaluate()]


def packages(layer):
    """The names of all packages of a layer."""
    found, todo = set(), [(x.name, frozenset(x.extras)) for x in lines(layer)]
    while todo:
        name, extras = wanted = todo.pop()
        if wanted not in found:
            found.add(wanted)
            todo += needs(name, extras or {""})
    return {canonicalize_name(name) for name, _ in found}


def needs(name, extras):
    """What a package asks for, with these of its extras."""
    try:
        asked = [Requirement(x) for x in metadata.requires(name) or []]
    except metadata.PackageNotFoundError:  # left out, see without.txt
        return
    for x in asked:
        if not x.marker or any(x.marker.evaluate({"extra": extra}) for extra in extras):
            yield x.name, frozenset(x.extras)


def others(layer):
    """The modules installed here that come with no package of a layer."""
    theirs = packages(layer)
    # setuptools, once it is imported, adds a folder of what it brings along to sys.path.
    installed = {x.name for x in metadata.distributions(path=[sysconfig.get_path("purelib")])}
    found = {m: installed & {*x} for m, x in metadata.packages_distributions().items()}
    return {
        m
        for m, owners in found.items()
        if owners and not theirs & {*map(canonicalize_name, owners)}
    }
