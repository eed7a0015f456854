"""The public names of minijax.nn.

Written by `./jaxprentice sync` from the lessons' `exports`: change those, not this file.
"""

import typing as _typing

from minijax.absent import missing as _missing
from minijax.nn import initializers
from minijax.nn.functions import *
from minijax.nn.functions import __all__ as _functions
from minijax.numpy.elementwise import tanh

__all__ = ["initializers", "tanh", *_functions]

if not _typing.TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        raise _missing("minijax.nn", name)
