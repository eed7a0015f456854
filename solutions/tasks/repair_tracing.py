"""What changes in `repair_tracing.py`."""

from minijax.tracing import new_dynamic


def logged(f, *args):
    """The result of `f`, and the names of its operations."""
    with new_main(LogTrace, []) as main, new_dynamic(main):
        trace = LogTrace(main)
        out = full_raise(trace, f(*[trace.pure(x) for x in args]))
        return out.value, main.global_data
