from minijax.core import full_raise


def origins(f):
    """The function that returns the value of `f` and where it comes from."""

    def origins_f(*args):
        with new_main(OriginTrace) as main:
            trace = OriginTrace(main)
            out = f(*[Origin(trace, x, frozenset({i})) for i, x in enumerate(args)])
            out = full_raise(trace, out)  # a box of another use is a constant here
        return out.value, set(out.numbers)

    return origins_f
