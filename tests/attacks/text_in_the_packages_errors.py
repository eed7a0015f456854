# title = "Carries text out as one of the package's own errors"
# tries = "A class put into minijax.errors may have any name, and looks known."
# answer = "raise give()"
import importlib


def give():
    errors = importlib.import_module("minijax.errors")
    errors.loot_from_the_probe = type("loot_from_the_probe", (Exception,), {})
    return errors.loot_from_the_probe("<b>")
