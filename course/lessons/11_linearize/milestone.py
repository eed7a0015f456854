"""The weather is computed once, and its derivative predicts what each butterfly will change."""

from minijax import linearize


def weather(x, days=40):
    return x if days == 0 else weather(3.9 * x * (1.0 - x), days - 1)


then, change = linearize(weather, 0.3)
print("In 40 days:", then)
for flap in (1e-13, -1e-12, 5e-12):
    print("A flap of", flap, "predicted:", change(flap), "really:", weather(0.3 + flap) - then)
