def with_slope(f, slope):
    """`f`, for floats and dual numbers."""

    def extended(x):
        interpreter = current_interpreter()
        if not isinstance(interpreter, JVPInterpreter):
            return f(x)
        x = interpreter.lift(x)
        with set_interpreter(interpreter.prev_interpreter):
            return DualNumber(interpreter, extended(x.primal), mul(slope(x.primal), x.tangent))

    return extended
