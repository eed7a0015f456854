# title = "Writes outside its tree"
# tries = "Results, suites, other files, the home folder: whatever can be opened for writing."
# reported = "not_implemented"
# stops = ["namespaces", "landlock"]
import os
from contextlib import suppress

for path in ("@DROP@/written", "@SUITE@", "@OTHER@", "@ROOT@/autograder/__init__.py.attack"):
    with suppress(OSError):
        with open(path, "a") as file:
            file.write("\n# eve was here\n")
        if path.endswith(".attack"):
            os.unlink(path)
