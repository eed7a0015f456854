"""The process in which a submission runs: imports the tree, calls probes, replies with plain data.

It is started with one argument, a JSON object (see `isolation.launch`), reads requests from its
standard input and writes replies to its standard output. Before any of the student's code runs, it
moves both to other descriptors, gives up its rights (`confine.py`), and lets prints go nowhere.

Nothing here holds a secret: it is mounted into the sandbox, and the submission may read and change
all of it. What it replies is only ever compared with something on the other side.
"""

import ast
import builtins
import functools
import importlib
import importlib.machinery
import json
import os
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

Request = list[Any]
Reply = list[Any]


def main(settings: dict[str, Any]) -> None:
    """Confine this process, say which layers hold, and answer requests until there are no more."""
    requests, replies = _take_channels()
    try:
        layers = _confine(settings)
    except (confine.Unavailable, OSError) as error:
        wire.send(replies, ["refused", str(error)])
        return
    sys.path += [settings["site"], settings["tree"]]
    sys.dont_write_bytecode = True
    _remember_code()
    server = Server(settings)
    wire.send(replies, ["ready", layers])
    while True:
        try:
            request = wire.receive(requests)
        except EOFError:
            os._exit(0)  # whatever the submission wants done at exit is not our business
        number, seconds, *rest = request
        confine.allow_cpu(seconds)
        wire.send(replies, [number, *server.answer(rest)])


def _take_channels() -> tuple[int, int]:
    """Move the two channels away from where a stray print or input() would find them."""
    channels = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    return channels


def _remember_code() -> None:
    """Compile each file once, however often the package is imported afresh."""
    loader: Any = importlib.machinery.SourceFileLoader
    loader.get_code = functools.cache(loader.get_code)


def _confine(settings: dict[str, Any]) -> list[str]:
    """Take rights away, in the layers that are wanted; those in `must` may not be missing."""
    confine.limit(settings["limits"])
    confine.give_up_privileges()
    files = (settings["readable"], settings["writable"])
    known = {"landlock": lambda: confine.restrict_files(*files), "seccomp": confine.refuse_calls}
    layers = ["limits"]
    for name in settings["layers"]:
        try:
            known[name]()
            layers.append(name)
        except confine.Unavailable:
            if name in settings["must"]:
                raise
    return layers


class Server:
    """Answers requests: `import` loads the package under test, `call` runs a probe on it."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.tree = settings["tree"]
        self.module = settings["module"]  # "minijax/jvp.py"
        self.package_name = self.module.split("/")[0]
        self.package: Any = None
        self.probes: dict[tuple[str, str], Callable[..., Any]] = {}

    def answer(self, request: Request) -> Reply:
        """The reply to one request; whatever the submission raises is a reply as well."""
        operation, *rest = request
        operations: dict[str, Callable[..., Reply]] = {
            "look": self.look,
            "import": self.load,
            "call": self.call,
        }
        try:
            return operations[operation](*rest)
        except BaseException as error:
            return ["raised", *self.describe(error), self.line_of(error)]

    # --- reading and importing ---

    def look(self) -> Reply:
        """Syntax errors, or what the student's file uses, before any of it runs.

        That is its names, and those by which it reaches for something that is not its own.
        """
        source = Path(self.tree, self.module).read_bytes()
        try:
            compile(source, self.module, "exec", dont_inherit=True)
        except SyntaxError as error:
            return ["syntax_error", str(error.msg), error.lineno, error.offset]
        except ValueError:
            return ["syntax_error", "the file holds a null byte", None, None]
        return ["value", wire.encode([*names_in(source)])]

    def load(self) -> Reply:
        """Import the package afresh."""
        try:
            self.package = self.fresh()
        except BaseException as error:
            return ["import_error", *self.describe(error), self.line_of(error)]
        return ["value", None]

    def fresh(self) -> Any:
        """The package, imported as if for the first time."""
        for name in list(sys.modules):
            if name.split(".")[0] == self.package_name:
                del sys.modules[name]
        return importlib.import_module(self.package_name)

    def line_of(self, error: BaseException) -> int | None:
        """The last line of the student's file that the error came through."""
        line, step = None, error.__traceback__
        while step is not None:
            if step.tb_frame.f_code.co_filename == str(Path(self.tree, self.module)):
                line = step.tb_lineno
            step = step.tb_next
        return line

    # --- probes ---

    def call(self, source: str, name: str, args: Any, fresh: bool) -> Reply:
        """Run a probe; `fresh` forgets what earlier calls left behind in the package."""
        if fresh or self.package is None:
            self.package = self.fresh()
        probe = self.probe(source, name)
        value = probe(self.package, *wire.decode(args))
        wire.own_arrays = array_classes()
        try:
            return ["value", wire.encode(value)]
        except wire.Malformed:
            return ["unsendable"]

    def probe(self, source: str, name: str) -> Callable[..., Any]:
        """The function that a probe's source text defines."""
        if (source, name) not in self.probes:
            namespace = {"np": numpy, "__name__": "probe"}
            exec(compile(source, "<probe>", "exec", dont_inherit=True), namespace)
            self.probes[source, name] = namespace[name]  # type: ignore[assignment]
        return self.probes[source, name]

    def describe(self, error: BaseException) -> tuple[str, str]:
        """The name of the nearest class that everybody knows, and the message."""
        errors = sys.modules.get(f"{self.package_name}.errors", types.ModuleType("errors"))
        for cls in type.__dict__["__mro__"].__get__(type(error)):
            if wire.builtin_name(cls) != "object":
                return wire.builtin_name(cls), _message(error)
            name = type.__dict__["__name__"].__get__(cls)
            if errors.__dict__.get(name) is cls:
                return f"errors.{name}", _message(error)
        return "BaseException", ""


def array_classes() -> set[type]:
    """The class of minijax's arrays, if minijax is imported; by its exact type, as all is sent."""
    module = sys.modules.get("minijax.array")
    found = module.__dict__.get("ArrayImpl") if type(module) is types.ModuleType else None
    return {found} if type(found) is type else set()


MOST_NAMES = 10_000
UNREADABLE = "?"  # stands for all that a file reads, if that cannot be told


def names_in(source: bytes) -> tuple[list[str], list[str], list[str]]:
    """The names, attributes and modules that a file uses; what it reads; what it defines.

    It reads attributes, modules, their parts, and built-in names. Special methods that it defines
    count as read: Python and NumPy call them, and believe them.
    """
    try:
        nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, _TELLING)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [], [UNREADABLE], []
    read, own = _read_and_set_in(nodes)
    parts = _parts_of_modules(nodes)
    special = {name for name in own if name.startswith("__")}
    read |= parts | special
    if len(read) > MOST_NAMES:
        read, own = {UNREADABLE}, set()
    return _used_in(nodes), sorted(read), sorted(own - parts - special)[:MOST_NAMES]


_TELLING = (
    *(ast.Name, ast.Attribute, ast.Call, ast.MatchClass, ast.arg, ast.FunctionDef, ast.ClassDef),
    *(ast.Import, ast.ImportFrom),
)


def _used_in(nodes: list[Any]) -> list[str]:
    names: set[str] = set()
    for node in nodes:
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.FunctionDef(name=name):
                names.add(name)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                names |= {alias.name.split(".")[0] for alias in aliases}
        if isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return sorted(name for name in names if len(name) < 60)[:MOST_NAMES]


def _read_and_set_in(nodes: list[Any]) -> tuple[set[str], set[str]]:
    """The attributes, modules and built-in names that are read; what is defined and set."""
    read: set[str] = set()
    own: set[str] = set()
    named = {id(node.func): node.args[1].value for node in nodes if _gets_a_known_attribute(node)}
    others = {*vars(builtins), *named.values()}
    for node in nodes:
        match node:
            case ast.Attribute(attr=name, ctx=ast.Load()):
                read.add(name)
            case ast.Name(id=name, ctx=ast.Load()):
                read.update({named.get(id(node), name)} & others)
            case ast.MatchClass(kwd_attrs=names):
                read.update(names)
            case ast.Import(names=aliases):
                read.update(part for alias in aliases for part in alias.name.split("."))
            case ast.ImportFrom(module=module, names=aliases):
                read.update((module or "").split("."), (alias.name for alias in aliases))
            case ast.Attribute(attr=name) | ast.Name(id=name) | ast.arg(arg=name):
                own.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                own.add(name)
    return read, own


def _parts_of_modules(nodes: list[Any]) -> set[str]:
    """What is read of the modules that are imported, which is never the file's own.

    A module that is used in another way than to read a name of it is among them, too.
    """
    imported = [alias for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    modules = {alias.asname or alias.name.split(".")[0] for alias in imported}
    parts: set[str] = set()
    owners: set[int] = set()
    for node in nodes:  # from the outside inwards
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=part) if name in modules:
                parts.add(part)
                owners.add(id(node.value))
            case ast.Name(id=name, ctx=ast.Load()) if name in modules and id(node) not in owners:
                parts.add(f"the module {name}")
    return parts


def _gets_a_known_attribute(node: Any) -> bool:
    """Is it a call of getattr or hasattr with a name that is written there?"""
    match node:
        case ast.Call(
            func=ast.Name(id="getattr" | "hasattr"), args=[_, ast.Constant(value=str()), *_]
        ):
            return True
    return False


def _message(error: BaseException) -> str:
    try:
        return str(error).encode("utf-8", "replace").decode()[: wire.MAX_ERROR]
    except BaseException:  # the class may be the submission's own
        return ""


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    import confine  # type: ignore[import-not-found]

    _settings = json.loads(sys.argv[1])
    # wire imports NumPy and msgpack; only what is confined already may read the rest of the disk.
    sys.path.append(_settings["site"])
    import numpy
    import wire  # type: ignore[import-not-found]

    sys.path.remove(str(Path(__file__).parent))
    sys.path.remove(_settings["site"])
    main(_settings)
