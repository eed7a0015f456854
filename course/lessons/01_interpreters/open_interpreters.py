"""The odds of a game.

Write `odds(f, *dice)`, a dictionary from every value that the program `f` can return to
the probability of that value. A die is such a dictionary itself, from floats to fractions; `f` gets one
value for each die, independent of the others, and it runs only once, however many outcomes there
are. A die is thrown once, so `add(x, x)` is always twice the throw. `f` may use
constants, and `count_ops`.
"""

from fractions import Fraction

from microjax.interpreters import Interpreter, add, mul, set_interpreter

DIE = {float(face): Fraction(1, 6) for face in range(1, 7)}
