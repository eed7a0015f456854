"""Your library is a compiler: it writes the derivative of a Python function in C."""

from microjax import Op, add, build_jaxpr, dce_jaxpr, derivative, mul


def f(x):
    return mul(x, mul(x, add(x, 3.0)))


jaxpr = dce_jaxpr(build_jaxpr(lambda x: derivative(f, x), 1))
print(f"double slope(double {jaxpr.parameters[0]}) {{")
for e in jaxpr.equations:
    print(f"  double {e.var} = {e.args[0]} {'*' if e.op is Op.mul else '+'} {e.args[1]};")
print(f"  return {jaxpr.return_val};\n}}")
