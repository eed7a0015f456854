"""What is kept between runs in the user's cache folder; whatever is missing there is made again."""

import importlib.util
import os
import py_compile
import sys
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path


def folder() -> Path:
    """The course's part of the user's cache folder."""
    home = Path.home()
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "jaxprentice"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "jaxprentice"


def add_bytecode(tree: Path, files: Mapping[str, str]) -> None:
    """Put the bytecode of the course's own files beside them: Python then compiles nothing.

    It is kept by the hash of the source. Without a cache folder nothing is kept, and all is slower.
    """
    with suppress(OSError):
        kept = folder() / "bytecode" / (sys.implementation.cache_tag or "python")
        kept.mkdir(parents=True, exist_ok=True, mode=0o700)
        for path, text in files.items():
            code = kept / sha256(text.encode()).hexdigest()
            if not code.exists():
                compile_to(code, tree / path)
            beside = Path(importlib.util.cache_from_source(str(tree / path)))
            beside.parent.mkdir(exist_ok=True)
            beside.write_bytes(code.read_bytes())


def compile_to(code: Path, file: Path) -> None:
    """Compile a file: bytecode that Python takes without a look at the source, whole or not."""
    new = code.with_name(f"{code.name}.{os.getpid()}")
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(file), cfile=str(new), doraise=True, invalidation_mode=mode)
    new.replace(code)
