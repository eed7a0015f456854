"""Runs one program on minijax or on JAX: a program of its own, which imports nothing else of ours.

    python run_program.py FOLDER FILE minijax|jax REPORT [OPTION]...

`import jax` and `import minijax` both mean the one that was asked for. REPORT gets the class
of the error that ended it, unless it is empty. The options are the program's.
"""

import importlib
import sys
import traceback
from pathlib import Path
from types import TracebackType


def main() -> int:
    """Run it; the exit status is the program's."""
    folder, file, backend, report, *options = sys.argv[1:]
    sys.path[:0] = [folder, str(Path(file).resolve().parent)]
    sys.argv = [file, *options]
    error, status = "", 0
    try:
        source = Path(file).read_text(encoding="utf-8")
        code = compile(source, file, "exec")
        use(backend, needed=any(f"import {name}" in source for name in PACKAGES))
        exec(code, {"__name__": "__main__", "__file__": file})
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except KeyboardInterrupt:  # the command says it
        return 130
    except Exception as found:
        error, status = type(found).__name__, 1
        traceback.print_exception(type(found), found, in_program(found.__traceback__, file))
    if report:
        Path(report).write_text(error, encoding="utf-8")
    return status


PACKAGES = ("minijax", "jax")


def use(backend: str, needed: bool) -> None:
    """Let both names mean this one, in 64-bit mode; each module below it, too."""
    if backend == "jax":
        importlib.import_module("jax").config.update("jax_enable_x64", True)
    elif not needed:  # a program on microjax, which must run where minijax does not
        return
    importlib.import_module(backend)
    (other,) = {*PACKAGES} - {backend}
    for name, module in list(sys.modules.items()):
        if name == backend or name.startswith(f"{backend}."):
            sys.modules[other + name.removeprefix(backend)] = module


def in_program(entries: TracebackType | None, file: str) -> TracebackType | None:
    """The part of a traceback that begins in the program; nothing of a syntax error's."""
    while entries and entries.tb_frame.f_code.co_filename != file:
        entries = entries.tb_next
    return entries


if __name__ == "__main__":
    sys.exit(main())
