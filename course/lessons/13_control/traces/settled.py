"""Which parts of a loop's carry move.

watch = ["minijax.control_flow.settled", "minijax.programs.jvp_program"]
hide = ["JaxprTrace", "broadcast_in_dim", "hlo_lowerings"]
look = "Only the first part of the carry moves at first. Watch how the answer grows until one more round changes nothing."
"""

from minijax import jvp, lax


def step(carry):
    x, y, z = carry
    return x * 2.0, y + x, z + y


def f(x):
    return lax.while_loop(lambda carry: carry[0] < 9.0, step, (x, 0.0, 0.0))


values, tangents = jvp(f, (1.0,), (1.0,))
print(*values, *tangents)
