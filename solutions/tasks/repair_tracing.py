def logged(f, *args):
    """The result of `f`, and the names of its operations."""
    with new_main(LogTrace, []) as main:
        previous, trace_state.dynamic_trace = trace_state.dynamic_trace, main
        try:
            trace = LogTrace(main)
            out = full_raise(trace, f(*[trace.pure(x) for x in args]))
        finally:
            trace_state.dynamic_trace = previous
        return out.value, main.global_data
