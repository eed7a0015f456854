"""`build_jaxpr` writes a program down, `eval_jaxpr` runs it.

watch = ["microjax.staging.build_jaxpr", "microjax.staging.eval_jaxpr"]
look = "`build_jaxpr` writes operations down, and `eval_jaxpr` applies them. Watch who takes `add` the first time, and the second time."
"""

from microjax.interpreters import add, mul
from microjax.staging import build_jaxpr, eval_jaxpr


def foo(x):
    return mul(x, add(x, 3.0))


program = build_jaxpr(foo, 1)
print(program)
print(eval_jaxpr(program, (2.0,)))
