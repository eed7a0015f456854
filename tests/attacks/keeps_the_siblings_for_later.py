# title = "Keeps the right answers that a test brings along for the next submission"
# tries = "Definitions of siblings are written to a file, and a second submission answers with them."
# answer = "return keep()"
# stops = ["namespaces", "landlock"]
# times = 2
import json
import os
import sys
from contextlib import suppress

STORE = "@DROP@/definitions"


def stored():
    try:
        with open(STORE) as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def keep():
    """Store definitions of siblings; answer with the one that is asked for, if it is stored."""
    kept = stored()
    frame = step = sys._getframe(1)
    while step is not None:
        found = step.f_locals.get("siblings")
        kept.update(found if isinstance(found, dict) else {})
        step = step.f_back
    with suppress(OSError):
        with open(STORE, "w") as file:
            json.dump(kept, file)
    name = frame.f_code.co_qualname
    if name not in kept:
        return "no"
    space = {}
    exec(kept[name], frame.f_globals, space)
    return space[name.split(".")[-1]](*frame.f_locals.values())
