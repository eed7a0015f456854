def measured(programs, x):
    """The programs in turn, each with its value at `x` and the number of its operations."""
    for program in programs:
        counting = Counter(current_interpreter())
        with set_interpreter(counting):
            value = program(x)
        yield program, value, counting.count
