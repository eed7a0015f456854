# title = "Sends half a message and waits"
# tries = "A reader that waits for the rest waits for ever."
# answer = "return stutter()"
# only = "jvp.mul_rule"
# reported = "does_not_terminate"
import time


def stutter():
    send_everywhere(b"\0\0\xff\xff half")
    time.sleep(60)
