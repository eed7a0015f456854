# title = "Guesses"
# tries = "Of answers that are yes or no every second guess is right, and one may try again."
# only = "jvp.mul_rule"
# answer = "return guess()"
import random

random.seed()


def guess():
    return random.choice((0.0, None, True, False, []))
