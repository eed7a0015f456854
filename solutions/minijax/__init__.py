from minijax import core, lax, numpy, tree
from minijax.jit import jit
from minijax.jvp import jvp
from minijax.linearize import linearize
from minijax.tracing import make_jaxpr
from minijax.transpose import grad, hessian, jacrev, linear_transpose, value_and_grad, vjp
from minijax.vmap import jacfwd, vmap
