"""The backward pass walks a program from its end.

hide = ["convert_element_type"]
look = "First the function is traced. Then its equations are visited from the last to the first. `b` is used twice: watch its two cotangents meet. Change the factors, and go back."

[choices]
inner = [1.0, 2.0, 3.0]
outer = [0.0, 2.0, 10.0]
"""

from minijax import linear_transpose

inner = 3.0
outer = 10.0


def d_of(a):
    b = inner * a
    c = outer * b
    return c + b


print(*linear_transpose(d_of, 1.0)(1.0))
