from minijax import make_jaxpr
from minijax.jaxpr import jaxpr_as_fun


def forgetful(f):
    """`f`, which is computed again when a cotangent is pulled back."""

    def called(*args):
        program = jaxpr_as_fun(make_jaxpr(f)(*args))  # `f` may do something different next time

        @custom_vjp
        def run(*args):
            return program(*args)[0]

        def forwards(*args):
            return run(*args), args

        def backwards(args, ct):
            _, pull_back = vjp(lambda *args: program(*args)[0], *args)
            return pull_back(ct)

        run.defvjp(forwards, backwards)
        return run(*args)

    return called
