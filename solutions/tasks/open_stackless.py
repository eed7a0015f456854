"""A language for chance."""

import math

from microjax.stackless import Interpreter, bind, context, lax, running, set_interpreter
from minijax.core import Primitive, ShapedArray, abstract_eval_rules, impl_rules

sample_p = Primitive("sample")


def sample(name, mean, std):
    """A number that is drawn from a normal distribution."""
    return bind(sample_p, mean, std, name=name)


def sample_type(mean, std, *, name):
    return ShapedArray((), mean.dtype)


def sample_impl(mean, std, *, name):
    raise ValueError(f"No number is known for the sample '{name}'. Put it into density's numbers.")


abstract_eval_rules[sample_p] = sample_type
impl_rules[sample_p] = sample_impl


class Density(Interpreter):
    """Answers for samples whose numbers it knows, and adds up how likely they are."""

    def __init__(self, numbers):
        self.prev_interpreter = context.interpreter
        self.numbers, self.log_density = numbers, 0.0

    def interpret_op(self, primitive, args, params):
        with set_interpreter(self.prev_interpreter):
            if primitive is not sample_p or params["name"] not in self.numbers:
                return bind(primitive, *args, **params)
            number = self.numbers[params["name"]]
            self.log_density = self.log_density + log_normal(number, *args)
            return number


def log_normal(x, mean, std):
    """The logarithm of the normal density at `x`."""
    distance = (x - mean) / std
    return -0.5 * (distance * distance) - lax.log(std) - 0.5 * math.log(2.0 * math.pi)


def density(f, numbers):
    """`f` with these numbers for its samples, and how likely they are."""

    def with_density(*args):
        interpreter = Density(numbers)
        with running(interpreter):
            out = f(*args)
        return out, interpreter.log_density

    return with_density
