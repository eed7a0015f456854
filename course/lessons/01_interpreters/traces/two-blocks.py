"""Which interpreter is current in two nested blocks.

look = "One block is inside the other. Watch which interpreter takes each operation, and which one is back when a block ends."
"""

from microjax.interpreters import EvalInterpreter, add, mul, set_interpreter


class Outer(EvalInterpreter):
    pass


class Inner(EvalInterpreter):
    pass


with set_interpreter(Outer()):
    x = add(1.0, 2.0)
    with set_interpreter(Inner()):
        y = mul(x, 2.0)
    z = add(y, x)
print(mul(z, 10.0))
