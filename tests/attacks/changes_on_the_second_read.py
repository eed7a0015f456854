# title = "Answers with an object that is different on the second read"
# tries = "The check of the type sees a float, the comparison sees an object that agrees."
# answer = "return Turncoat()"


class Turncoat:
    """A float on the first look, agreeable on the next."""

    looks = 0

    @property
    def __class__(self):
        Turncoat.looks += 1
        return float if Turncoat.looks % 2 else Turncoat

    def __eq__(self, other):
        return True

    def __float__(self):
        return float(Turncoat.looks)

    def __array__(self, *args, **kwargs):
        import numpy as np

        Turncoat.looks += 1
        return np.full(3, float(Turncoat.looks))
