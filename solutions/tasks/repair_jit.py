def shared(f):
    """`f`, compiled; by an executable that all functions with this program share."""

    def run(*args):
        closed, out_tree = trace_tree(f, args)
        key = (str(closed), *closed.in_avals, *closed.out_avals)
        if key not in executables:

            def compute(consts, *leaves):
                return eval_jaxpr(closed.jaxpr, consts, *leaves)

            executables[key] = jit(compute)
        return tree_unflatten(out_tree, executables[key](closed.consts, *tree_leaves(args)))

    return run
