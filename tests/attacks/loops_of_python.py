# title = "Uses Python's own control flow"
# tries = "cond, switch, while_loop, fori_loop and scan run at once, with if, while and for."
# lesson = "control"


def cond(pred, true_fun, false_fun, *operands):
    """One of two functions."""
    return true_fun(*operands) if bool(pred) else false_fun(*operands)


def switch(index, branches, *operands):
    """One of several functions."""
    return branches[max(0, min(int(index), len(branches) - 1))](*operands)


def while_loop(cond_fun, body_fun, carry):
    """The last carry."""
    while bool(cond_fun(carry)):
        carry = body_fun(carry)
    return carry


def fori_loop(lower, upper, body_fun, carry):
    """The last carry."""
    for i in range(int(lower), int(upper)):
        carry = body_fun(i, carry)
    return carry


def scan(f, carry, xs=None, length=None, reverse=False, unroll=1):
    """The last carry, and the stacked results."""
    from minijax import numpy as jnp
    from minijax import tree

    steps = tree.leaves(xs)[0].shape[0] if length is None else length
    ys = [None] * steps
    for i in reversed(range(steps)) if reverse else range(steps):
        carry, ys[i] = f(carry, tree.map(lambda x: x[i], xs))
    return carry, tree.map(lambda *rows: jnp.stack(rows), *ys)
