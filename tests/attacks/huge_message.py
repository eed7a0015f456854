# title = "Announces a message of 4 GB"
# tries = "A reader that believes the length makes room for it."
# answer = "return shout()"
# only = "jvp.mul_rule"
# reported = "crashed"
# says = ["writes to the grader's channel"]
import os


def shout():
    for descriptor in range(1, 16):
        try:
            os.write(descriptor, b"\xff\xff\xff\xff")
        except OSError:
            pass
