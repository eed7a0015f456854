# title = "Ends the process with status 0 in a probe"
# tries = "The same, when the module is loaded and a test runs."
# answer = "return leave()"
# reported = "crashed"
# says = ["The module ends the process"]
import os


def leave():
    os._exit(0)
