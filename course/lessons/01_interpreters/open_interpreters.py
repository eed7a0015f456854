"""The odds of a game.

Write `odds(f, *dice)`. It returns a dictionary from every value that the program `f` can return to
the probability of that value. A die is such a dictionary too, from floats to fractions, and `f`
takes one argument for each die. All dice are independent, and each is thrown once, so `add(x, x)`
is always twice the throw. Run `f` only once, however many outcomes there are; it may use constants,
and `count_ops`.
"""

from fractions import Fraction

from microjax.interpreters import Interpreter, add, mul, set_interpreter

DIE = {float(face): Fraction(1, 6) for face in range(1, 7)}
