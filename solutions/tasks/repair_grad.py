def gradient(f, *xs):
    """The gradients of the sum of `f(*xs)` with respect to all of `xs`."""
    tape = []
    starts = [Node(tape, x) for x in xs]
    out = f(*starts)
    out.ct = np.ones(np.shape(out.value))[()]
    for node in reversed(tape):
        if node.ct is not None:
            for operand, pull_back in node.uses:
                ct = pull_back(node.ct)
                if operand.ct is None:
                    operand.ct = ct
                else:
                    operand.ct = operand.ct + ct  # not in place: others may have the same array
    return [np.zeros(np.shape(x.value)) if x.ct is None else x.ct for x in starts]
