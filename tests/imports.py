"""Imports modules, each as the first of its package, in one process: starting one costs more."""

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

EACH = """
import importlib, json, sys
for folder, module in json.loads(sys.argv[1]):
    for name in [x for x in sys.modules if x.partition(".")[0] in ("microjax", "minijax")]:
        del sys.modules[name]
    sys.path.insert(0, folder)
    assert importlib.import_module(module).__file__.startswith(folder), module
    del sys.path[0]
"""


def each_first(modules: Iterable[tuple[Path, str]], *flags: str) -> None:
    """Import each module, given with the folder of its tree; it may fail."""
    listed = json.dumps([(str(folder), module) for folder, module in modules])
    subprocess.run([sys.executable, "-I", *flags, "-c", EACH, listed], check=True)
