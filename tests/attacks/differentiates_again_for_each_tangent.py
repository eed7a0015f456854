# title = "Makes linearize differentiate again for each tangent"
# tries = "No program is made for later: jvp of the lesson before runs the function each time."
# lesson = "linearize"


def linearize(fun, *primals, has_aux=False):
    """The value, and a function that runs all of it again."""
    from minijax.jvp import jvp

    out = fun(*primals)
    first = (lambda *args: fun(*args)[0]) if has_aux else fun

    def along(*tangents):
        return jvp(first, primals, tangents)[1]

    return (out[0], along, out[1]) if has_aux else (out, along)
