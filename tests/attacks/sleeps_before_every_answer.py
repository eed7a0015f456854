# title = "Sleeps before every answer"
# tries = "Who sleeps takes no time of the processor, and may do so for half a minute before each of its answers."
# solved = true
import sys
import time

confine = sys.modules["confine"]


def rest(seconds, begin=confine.allow_cpu):
    time.sleep(1.5)
    begin(seconds)


confine.allow_cpu = rest
