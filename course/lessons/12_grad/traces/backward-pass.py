"""The backward pass walks a program from its end.

watch = ["minijax.transpose.backward_pass", "minijax.transpose.accumulate"]
hide = ["convert_element_type"]
look = "First the function is traced. Then its equations are visited from the last to the first. `a` is used twice: watch its two cotangents meet."
"""

from minijax import linear_transpose


def c_of(x):
    a = 3.0 * x
    b = 10.0 * a
    return b + a


print(*linear_transpose(c_of, 1.0)(1.0))
