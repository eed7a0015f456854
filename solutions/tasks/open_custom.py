"""Bounds that are proved."""

from minijax import lax, make_jaxpr
from minijax.custom_interpreters import called_program, is_variable, read, write


def bounds(f):
    """The function from what the arguments of `f` are between to what its results are between."""

    def bounded(*pairs):
        closed = make_jaxpr(f)(*(low for low, _ in pairs))
        outs = through(closed.jaxpr, closed.consts, pairs)
        return outs[0] if len(outs) == 1 else tuple(outs)

    return bounded


def through(jaxpr, consts, pairs):
    """Pairs for the results of a program."""
    env = {}
    write(env, [*jaxpr.constvars, *jaxpr.invars], [*((x, x) for x in consts), *pairs])
    for eqn in jaxpr.eqns:
        write(env, eqn.outvars, one_step(eqn, [pair_of(env, x) for x in eqn.invars]))
    return [pair_of(env, x) for x in jaxpr.outvars]


def pair_of(env, atom):
    """What is known of an operand; a literal is between itself and itself."""
    return read(env, atom) if is_variable(atom) else (atom.val, atom.val)


def one_step(eqn, pairs):
    """Pairs for the results of an equation."""
    called, name = called_program(eqn), eqn.primitive.name
    if called:
        return through(*called, pairs)
    if name not in rules:
        raise NotImplementedError(f"bounds has no rule for '{name}'.")

    def apply(*xs):
        return eqn.primitive.bind(*xs, **eqn.params)

    return [rules[name](apply, *pairs)]


def growing(apply, *pairs):
    """An operation whose result grows with every operand."""
    lows, highs = zip(*pairs, strict=True)
    return apply(*lows), apply(*highs)


def product(apply, x, y):
    """The extremes are among the four products of the ends."""
    a, b, c, d = (apply(one, other) for one in x for other in y)
    return lax.min(lax.min(a, b), lax.min(c, d)), lax.max(lax.max(a, b), lax.max(c, d))


def sums_of_products(apply, x, y):
    """Around the product of the middles, as far as the widths allow."""
    (x, x_width), (y, y_width) = around(x), around(y)
    middle = apply(x, y)
    width = lax.add(apply(lax.abs(x), y_width), apply(x_width, lax.add(lax.abs(y), y_width)))
    return lax.sub(middle, width), lax.add(middle, width)


def around(pair):
    """The middle of a pair, and how far it is from there to the ends."""
    low, high = pair
    return lax.mul(0.5, lax.add(low, high)), lax.mul(0.5, lax.sub(high, low))


rules = {
    **dict.fromkeys(("exp", "tanh", "add", "max", "reduce_sum"), growing),
    **dict.fromkeys(("transpose", "broadcast_in_dim"), growing),
    "neg": lambda apply, x: (apply(x[1]), apply(x[0])),
    "sub": lambda apply, x, y: (apply(x[0], y[1]), apply(x[1], y[0])),
    "mul": product,
    "dot_general": sums_of_products,
}
