from minijax import core, lax, numpy, tree
from minijax.jvp import jvp
