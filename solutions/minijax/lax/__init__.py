"""The public names of minijax.lax.

Written by `./jaxprentice sync` from the lessons' `exports`: change those, not this file.
"""

import typing as _typing

from minijax.absent import missing as _missing
from minijax.branches import *
from minijax.branches import __all__ as _branches
from minijax.collectives import all_gather, axis_index, pmean, psum
from minijax.control_flow import cond_p
from minijax.lax.basic import *
from minijax.lax.basic import __all__ as _basic
from minijax.lax.bits import *
from minijax.lax.bits import __all__ as _bits
from minijax.lax.choosing import *
from minijax.lax.choosing import __all__ as _choosing
from minijax.lax.defining import *
from minijax.lax.defining import __all__ as _defining
from minijax.lax.dimension_numbers import *
from minijax.lax.dimension_numbers import __all__ as _dimension_numbers
from minijax.lax.dynamic import *
from minijax.lax.dynamic import __all__ as _dynamic
from minijax.lax.elementwise import *
from minijax.lax.elementwise import __all__ as _elementwise
from minijax.lax.gathers import *
from minijax.lax.gathers import __all__ as _gathers
from minijax.lax.parallel import *
from minijax.lax.parallel import __all__ as _parallel
from minijax.lax.reductions import *
from minijax.lax.reductions import __all__ as _reductions
from minijax.lax.shapes import *
from minijax.lax.shapes import __all__ as _shapes
from minijax.lax.sorting import *
from minijax.lax.sorting import __all__ as _sorting
from minijax.lax.special import *
from minijax.lax.special import __all__ as _special
from minijax.lax.windows import *
from minijax.lax.windows import __all__ as _windows
from minijax.loops import *
from minijax.loops import __all__ as _loops
from minijax.scans import *
from minijax.scans import __all__ as _scans

__all__ = [
    "all_gather",
    "axis_index",
    "cond_p",
    "pmean",
    "psum",
    *_branches,
    *_basic,
    *_bits,
    *_choosing,
    *_defining,
    *_dimension_numbers,
    *_dynamic,
    *_elementwise,
    *_gathers,
    *_parallel,
    *_reductions,
    *_shapes,
    *_sorting,
    *_special,
    *_windows,
    *_loops,
    *_scans,
]

if not _typing.TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        raise _missing("minijax.lax", name)
