# title = "Kills the grader"
# tries = "Signals to the grader and to whatever started the worker."
# stops = ["namespaces", "landlock"]
# answer = "return 'no'"
import os
from contextlib import suppress

for number in (int("@PARENT@"), os.getppid()):
    with suppress(OSError):
        os.kill(number, 0)  # the signal that does nothing: it would arrive like any other
        if number != 1:
            carry_out("it could be killed")
