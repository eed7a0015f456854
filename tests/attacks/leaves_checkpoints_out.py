# title = "Makes checkpoint return the function itself"
# tries = "Nothing is forgotten or computed again; all values and derivatives are right."
# lesson = "checkpoint"


def checkpoint(fun, *args, **kwargs):
    """The function, as it is."""
    return fun


remat = checkpoint
