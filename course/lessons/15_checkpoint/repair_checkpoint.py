"""A checkpoint without a primitive.

`forgetful(f)` is `f`, but reverse mode keeps only its arguments: `custom_vjp` is enough for that.
`f` takes arrays of floats and returns one. The values are right, and so are the gradients of most
functions. But the gradient must always belong to the value that was returned with it. Repair it,
and still keep nothing but the arguments.
"""

from minijax import custom_vjp, vjp


def forgetful(f):
    """`f`, which is computed again when a cotangent is pulled back."""

    def called(*args):
        @custom_vjp
        def run(*args):
            return f(*args)

        def forwards(*args):
            return run(*args), args

        def backwards(args, ct):
            _, pull_back = vjp(f, *args)
            return pull_back(ct)

        run.defvjp(forwards, backwards)
        return run(*args)

    return called
