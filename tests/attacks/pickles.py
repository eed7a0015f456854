# title = "Answers with pickles"
# tries = "A reader that unpickles runs what the pickle says, in the grader."
# answer = "return choices[next(count) % 2]"
import itertools
import pickle

count = itertools.count()


class Trap:
    """Unpickled, it writes a file."""

    def __reduce__(self):
        return open, ("@DROP@/unpickled", "w")


choices = (pickle.dumps(Trap()), Trap())
