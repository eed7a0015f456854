"""A language for chance.

Write `sample(name, mean, std)`, an operation for a number that a program draws from a normal
distribution, and `density(f, numbers)`, a function of the arguments of `f`. It returns a pair: the
result of `f` if the samples named in the dict `numbers` have these values, and the logarithm of the
density with which `f` draws these values. A sample with a different name goes to the outer
interpreters, and raises `ValueError` if none of them knows it. So one `density` may be inside
another, and all of it inside `jvp`, `grad`, `vmap` and `jit`.
"""

from microjax.stackless import Interpreter, bind, context, lax, running, set_interpreter
from minijax.core import Primitive, ShapedArray, abstract_eval_rules, impl_rules
