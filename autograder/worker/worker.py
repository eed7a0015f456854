"""The process in which a submission runs: imports the tree, calls probes, replies with plain data.

It is started with one argument, a JSON object (see `sandbox/launch.py`), reads requests from its
standard input and writes replies to its standard output. Before any of the student's code runs, it
moves both to other descriptors, gives up its rights (`confine.py`), and lets prints go nowhere.

Before the first line of the submission it is sealed: all that will be needed is in memory by then,
and no file can be opened any more. So what a worker is shown cannot be left for the next one.

Nothing here holds a secret: it is mounted into the sandbox, and the submission may read and change
all of it. What it replies is only ever compared with something on the other side.
"""

import gc
import importlib
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
    sys.path.append(settings["site"])
    sys.dont_write_bytecode = True
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


def _confine(settings: dict[str, Any]) -> list[str]:
    """Take rights away, in the layers that are wanted; those in `must` may not be missing."""
    confine.stay_on(settings["processor"])
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
        self.top = settings["tree"]
        self.module = settings["module"]  # "minijax/jvp.py"
        self.package_name = self.module.split("/")[0]
        self.imports = settings["imports"]
        self.to_be_sealed = settings["seal"]
        self.tree: Any = None  # once it is in memory
        self.package: Any = None
        self.probes: dict[tuple[str, str], Callable[..., Any]] = {}

    def answer(self, request: Request) -> Reply:
        """The reply to one request; whatever the submission raises is a reply as well."""
        operation, *rest = request
        operations: dict[str, Callable[..., Reply]] = {
            "seal": self.seal,
            "import": self.load,
            "call": self.call,
        }
        try:
            return operations[operation](*rest)
        except BaseException as error:
            return ["raised", *self.describe(error), self.lines_of(error)]

    # --- what comes before the submission ---

    def seal(self) -> Reply:
        """Have in memory what may be needed, then give up files; or say which error stops that."""
        tree = ahead.Tree(self.top)
        try:
            tree.loader(self.module).code  # noqa: B018
        except SyntaxError as error:
            return ["syntax_error", str(error.msg), error.lineno, error.offset]
        except ValueError:
            return ["syntax_error", "the file holds a null byte", None, None]
        names = set().union(self.imports, *map(ahead.imports_in, tree.texts()))
        ahead.import_all(names, but=self.package_name)
        if "jaxlib" in sys.modules:
            ahead.warm_xla()
        ahead.compile_once()
        sys.meta_path.insert(0, tree)
        gc.freeze()  # what is there now stays, and no collection has to go through it
        gc.set_threshold(20_000, 20, 20)  # seldom: a worker lives for seconds
        try:
            confine.seal() if self.to_be_sealed else None
        except confine.Unavailable as error:
            return ["refused", str(error)]
        self.tree = tree
        return ["value", None]

    # --- importing ---

    def load(self) -> Reply:
        """Import the package afresh."""
        try:
            self.package = self.fresh()
        except BaseException as error:
            lines = self.lines_of(error)
            return ["import_error", *self.describe(error), lines[-1] if lines else None]
        return ["value", None]

    def fresh(self) -> Any:
        """The package, imported as if for the first time."""
        if self.tree is None and (reply := self.seal())[0] != "value":
            raise ImportError(reply[1])
        for name in list(sys.modules):
            if name.split(".")[0] == self.package_name:
                del sys.modules[name]
        return importlib.import_module(self.package_name)

    def lines_of(self, error: BaseException) -> list[int]:
        """The lines of the student's file that the error came through; the last ones of many."""
        lines, step = [], error.__traceback__
        while step is not None:
            if step.tb_frame.f_code.co_filename == str(Path(self.top, self.module)):
                lines.append(step.tb_lineno)
            step = step.tb_next
        return lines[-100:]

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
            # A probe that asks others again compiles their texts, which were compiled before.
            namespace = {"np": numpy, "__name__": "probe", "compile": ahead.compiled}
            exec(ahead.compiled(source, "<probe>", "exec", dont_inherit=True), namespace)
            self.probes[source, name] = namespace[name]
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


def _message(error: BaseException) -> str:
    try:
        return str(error).encode("utf-8", "replace").decode()[: wire.MAX_ERROR]
    except BaseException:  # the class may be the submission's own
        return ""


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    import ahead  # type: ignore[import-not-found]
    import confine  # type: ignore[import-not-found]

    _settings = json.loads(sys.argv[1])
    # wire imports NumPy and msgpack; only what is confined already may read the rest of the disk.
    sys.path.append(_settings["site"])
    import numpy
    import wire  # type: ignore[import-not-found]

    sys.path.remove(str(Path(__file__).parent))
    sys.path.remove(_settings["site"])
    main(_settings)
