# title = "Starts other programs"
# tries = "A shell, Python and whatever else is installed, in six ways."
# stops = ["namespaces", "landlock"]
# reported = "not_implemented"
import ctypes
import os
import subprocess
import sys
from contextlib import suppress

command = ["/bin/sh", "-c", "touch @DROP@/started"]
libc = ctypes.CDLL(None)
for start in (
    lambda: subprocess.run(command, timeout=2),
    lambda: subprocess.run([sys.executable, "-c", "open('@DROP@/started', 'w')"], timeout=2),
    lambda: os.system(command[-1]),
    lambda: os.posix_spawn(command[0], command, {}),
    lambda: libc.system(command[-1].encode()),
    lambda: os.popen(command[-1]).read(),
):
    with suppress(Exception):
        start()
