"""The public names of minijax.scipy.stats.

Written by `./jaxprentice sync` from the lessons' `exports`: change those, not this file.
"""

import typing as _typing

from minijax.scipy.stats import norm

__all__ = ["norm"]

if not _typing.TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        missing = f"minijax.scipy.stats has no {name!r}."
        raise AttributeError(f"{missing} See what there is by dir(minijax.scipy.stats).")
