# title = "Makes grad run forwards, one direction after another"
# tries = "Instead of a backward pass, the linear program of the lesson before runs for each input."
# lesson = "grad"


def weighed(lin, cts, i, tangent):
    """How much the results of a linear program count along one direction of the i-th input."""
    from minijax.jaxpr import eval_jaxpr

    moving = [aval for aval in lin.in_avals if dtypes.is_float(aval.dtype)]
    zero = [tangent if i == j else zeros(aval.shape, aval) for j, aval in enumerate(moving)]
    total = None
    for out, ct in zip(eval_jaxpr(lin.program.jaxpr, lin.program.consts, *zero), cts):
        part = out * ct
        part = reduce_sum(part, tuple(range(len(get_aval(part).shape))))
        total = part if total is None else total + part
    return total


def pull(lin, cotangent):
    """The cotangents of the inputs, all directions of each in a batch."""
    cts = tree_flatten(cotangent)[0]
    found = []
    for i, aval in enumerate(a for a in lin.in_avals if dtypes.is_float(a.dtype)):
        along = functools.partial(weighed, lin, cts, i)
        for _ in aval.shape:
            along = vmap(along)
        one = 1.0 if aval.weak_type else np.ones((), aval.dtype)
        found.append(along(basis(aval) if aval.shape else one))
    return tree_unflatten(lin.in_tree, found)


def vjp(fun, *primals, has_aux=False):
    """The value, and the function that takes one direction after the other."""
    lin = linearize_tree(fun, primals, has_aux)
    back = Partial(pull, lin)
    return (lin.value, back, lin.aux) if has_aux else (lin.value, back)


def value_and_grad(fun, argnums=0, has_aux=False, **options):
    """A function that returns the value, and how it moves along each direction."""

    def both(*args):
        chosen = chosen_args(argnums, args)
        value, back, *aux = vjp(function_of(fun, argnums, args, {}), *chosen, has_aux=has_aux)
        gradients = back(np.ones((), get_aval(value).dtype))
        gradient = gradients[0] if isinstance(argnums, int) else gradients
        return ((value, *aux) if has_aux else value), gradient

    return both
