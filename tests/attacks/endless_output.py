# title = "Prints forever"
# tries = "Output that somebody keeps fills memory or disk; a full pipe stops the reader."
# only = "jvp.mul_rule"
# answer = "return shout()"
# reported = "does_not_terminate"
import os
import sys


def shout():
    while True:
        print("x" * 1_000_000)
        print("x" * 1_000_000, file=sys.stderr)
        os.write(1, b"x" * 1_000_000)
        os.write(2, b"x" * 1_000_000)
