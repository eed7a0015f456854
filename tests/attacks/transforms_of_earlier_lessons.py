# title = "Lets the transformations of earlier lessons do the work"
# tries = "grad, jvp, vmap and jit are those of minijax, and no interpreter of this lesson runs."
# lesson = "stackless"
from minijax import lax
from minijax.gradients import grad, value_and_grad
from minijax.jit import jit
from minijax.jvp import jvp
from minijax.linearize import linearize
from minijax.transpose import vjp
from minijax.vmap import vmap
