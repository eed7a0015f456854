"""The public names of minijax.numpy.

Written by `./jaxprentice sync` from the lessons' `exports`: change those, not this file.
"""

import typing as _typing

from minijax.absent import missing as _missing
from minijax.numpy import linalg
from minijax.numpy.basic import *
from minijax.numpy.basic import __all__ as _basic
from minijax.numpy.containers import with_containers as _with_containers
from minijax.numpy.contractions import *
from minijax.numpy.contractions import __all__ as _contractions
from minijax.numpy.elementwise import *
from minijax.numpy.elementwise import __all__ as _elementwise
from minijax.numpy.functions import *
from minijax.numpy.functions import __all__ as _functions
from minijax.numpy.lookups import *
from minijax.numpy.lookups import __all__ as _lookups
from minijax.numpy.making import *
from minijax.numpy.making import __all__ as _making
from minijax.numpy.matrices import *
from minijax.numpy.matrices import __all__ as _matrices
from minijax.numpy.reductions import *
from minijax.numpy.reductions import __all__ as _reductions
from minijax.numpy.shapes import *
from minijax.numpy.shapes import __all__ as _shapes
from minijax.numpy.statistics import *
from minijax.numpy.statistics import __all__ as _statistics
from minijax.numpy.types import *
from minijax.numpy.types import __all__ as _types

__all__ = [
    "linalg",
    *_basic,
    *_contractions,
    *_elementwise,
    *_functions,
    *_lookups,
    *_making,
    *_matrices,
    *_reductions,
    *_shapes,
    *_statistics,
    *_types,
]

for _name in __all__:
    globals()[_name] = _with_containers(globals()[_name])

if not _typing.TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        raise _missing("minijax.numpy", name)
