# title = "Loops forever at import"
# tries = "The grader waits before the first test."
# reported = "does_not_terminate"
# says = ["does not terminate"]
while True:
    pass
