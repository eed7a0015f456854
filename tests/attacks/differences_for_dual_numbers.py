# title = "Differentiates by finite differences, without a dual number"
# tries = "A derivative is the slope through points beside it, and no rule or interpreter is written."
# lesson = "duals"
WEIGHTS = {1: 6 / 7, 2: -15 / 56, 3: 5 / 63, 4: -1 / 56, 5: 1 / 385, 6: -1 / 5544}


def jvp(f, primal, tangent):
    """The value, and the slope of the polynomial through twelve points beside it."""
    value, slope = f(primal), 0.0
    for i, weight in WEIGHTS.items():
        high = f(add(primal, mul(tangent, i / 4)))
        low = f(add(primal, mul(tangent, -i / 4)))
        slope = add(slope, mul(add(high, mul(-1.0, low)), 4 * weight))
    return value, slope
