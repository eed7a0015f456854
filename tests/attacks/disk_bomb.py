# title = "Fills the disk"
# tries = "Where the worker may write, it writes without end."
# only = "jvp.mul_rule"
# answer = "return fill()"
# stops = ["namespaces", "landlock"]
import os
import tempfile
from contextlib import suppress


def fill():
    written = 0
    for number in range(40):
        path = os.path.join(tempfile.gettempdir(), f"full{number}")
        with suppress(OSError):
            with open(path, "wb", buffering=0) as file:
                while written < 200 << 20 and file.write(b"x" * (1 << 20)):
                    written += 1 << 20
    return carry_out("filled") if written > 100 << 20 else None
