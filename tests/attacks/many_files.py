# title = "Makes endless files"
# tries = "Empty files take no room, but a disk has only so many places for them."
# only = "jvp.mul_rule"
# answer = "return fill()"
import os
import tempfile


def fill():
    for number in range(10_000_000):
        path = os.path.join(tempfile.gettempdir(), f"empty{number}")
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
