# title = "Leaves poisoned bytecode for those who come after"
# tries = "Files __pycache__ beside the package, the libraries and the worker, and a sitecustomize."
# stops = ["namespaces", "landlock"]
import os
import sys
from contextlib import suppress

for folder in {os.path.dirname(__file__), *sys.path, "@DROP@", os.path.dirname(os.__file__)}:
    for name in ("sitecustomize.py", "usercustomize.py", "evil-attack.pth"):
        path = os.path.join(folder, name)
        if os.path.exists(path) or (folder != "@DROP@" and os.access(folder, os.W_OK)):
            continue  # where it could be done it is not: this would be the machine's own Python
        with suppress(OSError):
            with open(path, "x") as file:
                file.write("raise SystemExit(0)\n")
