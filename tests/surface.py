"""The public names of minijax by module, and the parameters that `surface.toml` leaves out."""

import tomllib
from pathlib import Path

import minijax

from autograder.upkeep import api

PLACES = {
    path.partition(".")[2]: api.public_names(module)
    for path, module in api.public_modules(minijax, "minijax")
    if module.__name__ == path  # its own place, not that of another name for it
}
WITHOUT = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
