# title = "Removes its limits"
# tries = "setrlimit, signal handlers, a new session, and less of everything for others."
# only = "jvp.mul_rule"
# answer = "return escape()"
# reported = "does_not_terminate"
import os
import resource
import signal
from contextlib import suppress

for number in range(1, 65):
    with suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_IGN)
for limit in range(16):
    with suppress(OSError, ValueError):
        resource.setrlimit(limit, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
with suppress(OSError):
    os.setsid()


def escape():
    while True:
        pass
