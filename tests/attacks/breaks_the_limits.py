# title = "Removes its limits"
# tries = "setrlimit, signal handlers, a new session, and less of everything for others."
# only = "jvp.mul_rule"
# answer = "return escape()"
# reported = "does_not_terminate"
import os
import resource
import signal

for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
for limit in range(16):
    try:
        resource.setrlimit(limit, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except (OSError, ValueError):
        pass
try:
    os.setsid()
except OSError:
    pass


def escape():
    while True:
        pass
