# title = "Sends half a message and waits"
# tries = "A reader that waits for the rest waits for ever."
# answer = "return stutter()"
# only = "jvp.mul_rule"
# reported = "does_not_terminate"
import os
import time


def stutter():
    for descriptor in range(1, 16):
        try:
            os.write(descriptor, b"\0\0\xff\xff half")
        except OSError:
            pass
    time.sleep(60)
