"""Records one program: `__main__.py FOLDER PROGRAM NAME DOCUMENT [OPTIONS]`, these as JSON."""

import contextlib
import json
import sys
from pathlib import Path

if not __package__:  # it was started by its path, beside a package that is not to see ours
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from autograder.recording.program import record

if not __package__:
    del sys.path[0]


def main() -> None:
    """Record the program that the command line names."""
    folder, program, name, document, *options = sys.argv[1:]
    sys.path[:0] = [folder, str(Path(name).resolve().parent)]
    wishes = json.loads(options[0]) if options else {}
    found = record(Path(program).read_text(encoding="utf-8"), name, **wishes)
    Path(document).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):  # the command says it
        main()
