from minijax.core import Tracer


def remember(f):
    """`f`, with a memory of what it returned."""
    known = {}

    def remembered(x):
        if isinstance(x, Tracer):  # it carries more than a value
            return f(x)
        key = float(get_aval(x).val)
        if key not in known:
            known[key] = f(x)
        return known[key]

    return remembered
