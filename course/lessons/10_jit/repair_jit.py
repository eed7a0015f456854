"""A cache that confuses functions.

`shared(f)` computes what `f` does, as `jit(f)` would. But all functions with the same program share
one executable, even if they have captured different arrays, so a training loop may create its step
function anew each time. Now and then, though, a result belongs to an earlier function. Repair it,
without compiling more often. (`f` does not call other compiled functions.)
"""

from minijax import jit
from minijax.jaxpr import eval_jaxpr
from minijax.tracing import trace_tree
from minijax.tree import tree_leaves, tree_unflatten

executables = {}


def shared(f):
    """`f`, compiled to an executable that all functions with this program share."""

    def run(*args):
        closed, out_tree = trace_tree(f, args)
        key = (str(closed), *closed.in_avals, *closed.out_avals)
        if key not in executables:

            def compute(*leaves):
                return eval_jaxpr(closed.jaxpr, closed.consts, *leaves)

            executables[key] = jit(compute)
        return tree_unflatten(out_tree, executables[key](*tree_leaves(args)))

    return run
