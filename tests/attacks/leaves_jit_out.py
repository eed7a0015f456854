# title = "Makes jit return the function itself"
# tries = "Nothing is traced or compiled; the values of all programs are right."
# lesson = "jit"


def jit(fun, *args, **kwargs):
    """The function, as it is."""
    return fun
