"""The public names of minijax.scipy.

Written by `./jaxprentice sync` from the lessons' `exports`: change those, not this file.
"""

import typing as _typing

from minijax.absent import missing as _missing
from minijax.scipy import special, stats

__all__ = ["special", "stats"]

if not _typing.TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        raise _missing("minijax.scipy", name)
