"""What a worker has in memory before it is sealed: modules, the tree's files, XLA's client.

The worker runs this file: import nothing of the repository here.
"""

import collections
import contextlib
import dataclasses
import functools
import importlib
import importlib.machinery
import importlib.util
import re
import sys
import typing
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

# What Python imports by itself: with a probe's first line, for a warning, for these encodings.
_BY_ITSELF = ("__future__", "linecache", "traceback", "encodings.ascii", "encodings.latin_1")
# No pattern that may begin at any character: those are ten times slower on a million of them.
_IMPORTED = re.compile(r"import[ \t]+(\([^)]*\)|[^\n#;]*)")
_OF_NUMPY = re.compile(r"(?:np|numpy)\.(\w+)")


def imports_in(text: str) -> set[str]:
    """The modules that a file may import, wherever it does; among them names that are none."""
    found = {f"numpy.{name}" for name in _OF_NUMPY.findall(text)}  # imports some when it is asked
    for one in _IMPORTED.finditer(text):
        line = text.rfind("\n", 0, one.start()) + 1
        parts = [x.split()[0] for x in one[1].strip("()").split(",") if x.strip()]
        match text[line : one.start()].split():
            case []:
                found |= {*parts}
            case ["from", home]:
                found |= {home, *(f"{home}.{part}" for part in parts)}
    return {name for name in found if not name.startswith(".")}


def import_all(names: Iterable[str], but: str) -> None:
    """Import those of these modules that there are, and none of the package `but`."""
    for name in sorted({*names, *_BY_ITSELF}):
        if name.partition(".")[0] not in (but, "__main__"):
            with contextlib.suppress(BaseException):
                _import(name)


def _import(name: str) -> None:
    home, _, last = name.rpartition(".")
    if home:
        _import(home)
    # The rest is what modules have that are no packages, or have already.
    if not home or ("__path__" in vars(sys.modules[home]) and last not in vars(sys.modules[home])):
        importlib.import_module(name)


compiled = functools.cache(compile)


def compile_once() -> None:
    """Compile once the texts that dataclasses, named tuples and annotations are made of.

    Each import of the package makes the same ones again: without this, half of its time.
    """
    vars(typing)["compile"] = compiled
    vars(collections)["eval"] = lambda text, space: eval(compiled(text, "<string>", "eval"), space)
    vars(dataclasses)["exec"] = lambda text, *spaces: exec(
        compiled(text, "<string>", "exec"), *spaces
    )


_PROGRAM = """module @nothing { func.func public @main() -> tensor<f32> {
    %0 = stablehlo.constant dense<0.0> : tensor<f32>
    return %0 : tensor<f32> } }"""


def warm_xla() -> None:
    """Have minijax's client, and compile a program: the first one reads /dev/urandom, once."""
    importlib.import_module("ml_dtypes")  # jaxlib imports it when it needs it
    xla: Any = importlib.import_module("jaxlib.xla_client")
    client = xla.minijax_client = _Client(xla.make_cpu_client())
    devices = xla.DeviceList(tuple(client.local_devices()[:1]))
    client.compile_and_load(_PROGRAM, devices, xla.CompileOptions())


class _Client:
    """XLA's client, which compiles a program once: the same one is asked for again and again."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._compiled: dict[Any, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def compile_and_load(self, text: str, devices: Any, options: Any) -> Any:
        """The program, made anew if it is another text, on other devices, or with other options."""
        key = text, *(device.id for device in devices), options.SerializeAsString()
        if key not in self._compiled:
            self._compiled[key] = self._client.compile_and_load(text, devices, options)
        return self._compiled[key]


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads a module from the files that were read, and compiles it once."""

    def __init__(self, name: str, path: str, files: dict[str, bytes]) -> None:
        super().__init__(name, path)
        self.files = files

    def get_data(self, path: str) -> bytes:
        try:
            return self.files[path]
        except KeyError:
            raise FileNotFoundError(path) from None

    def path_stats(self, path: str) -> dict[str, int]:
        return {"mtime": 0, "size": len(self.get_data(path))}

    @functools.cached_property
    def code(self) -> Any:
        return super().get_code(self.name)

    def get_code(self, fullname: str) -> Any:
        return self.code


class Tree:
    """The package under test, read into memory; among `sys.meta_path`, what finds its modules."""

    def __init__(self, top: str) -> None:
        files = {str(x): x.read_bytes() for x in Path(top).rglob("*") if x.is_file()}
        self.loaders = {}
        for path in files:
            parts = Path(path).relative_to(top).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            if path.endswith(".py"):
                self.loaders[name] = _Loader(name, path, files)

    def loader(self, path: str) -> _Loader:
        """What loads a module, given by its path in the tree."""
        return self.loaders[path.removesuffix(".py").replace("/", ".")]

    def texts(self) -> Iterator[str]:
        """The text of each module."""
        for loader in self.loaders.values():
            yield loader.get_data(loader.path).decode(errors="replace")

    def find_spec(self, name: str, *_: object) -> importlib.machinery.ModuleSpec | None:
        """Where a module of the tree is loaded from; None for other modules."""
        if (loader := self.loaders.get(name)) is None:
            return None
        return importlib.util.spec_from_file_location(name, loader.path, loader=loader)
