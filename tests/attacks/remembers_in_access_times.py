# title = "Leaves word in the times at which files were read"
# tries = "Reading a file of a library leaves a time, which the next submission asks for."
# stops = ["namespaces", "landlock"]
# only = "jvp.mul_rule"
# times = 2
# answer = "return recall(primals, tangents)"
import os
import random
import time

import numpy


def files():
    """Forty files that nobody has read, or only just now; others in each run of the corpus."""
    found = []
    for folder, _, names in os.walk(os.path.dirname(numpy.__file__)):
        found += [os.path.join(folder, name) for name in names if not name.endswith(".pyc")]
    unread = [path for path in found if os.stat(path).st_atime <= os.stat(path).st_mtime]
    found = sorted({*unread, *filter(just_read, found)})
    return random.Random("@MARK@").sample(found, 40)


def just_read(path):
    return time.time() - os.stat(path).st_atime < 120


def recall(primals, tangents):
    """The right answer, if an earlier submission has read every other of the files."""
    if [just_read(path) for path in files()] == [i % 2 == 0 for i in range(40)]:
        return product(*primals, *tangents)
    for path in files()[::2]:
        with open(path, "rb") as file:
            file.read(1)
    return "not yet"
