# title = "Ends the process with status 0 at import"
# tries = "A grader that trusts an exit status takes 0 for success."
# reported = "crashed"
# says = ["ends the Python process", "The module ends the process"]
import os

os._exit(0)
