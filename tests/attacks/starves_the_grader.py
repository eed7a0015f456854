# title = "Lowers the grader's own limits and priority"
# tries = "prlimit and setpriority work on any process of the same user, no signal is needed."
# stops = ["namespaces", "landlock"]
# reported = "not_implemented"
import os
import resource
from contextlib import suppress

parent = int("@PARENT@")


def lower():
    soft, hard = resource.prlimit(parent, resource.RLIMIT_NOFILE)
    resource.prlimit(parent, resource.RLIMIT_NOFILE, (soft - 1, hard))


for act in (lower, lambda: os.setpriority(os.PRIO_PROCESS, parent, 1)):
    with suppress(OSError):
        act()
