"""The public names of minijax.

Written by `./jaxprentice sync` from the lessons' `exports`: change those, not this file.
"""

import typing as _typing

from minijax import (
    ad_checkpoint,
    checkpoint_policies,
    custom_derivatives,
    errors,
    flatten_util,
    lax,
    nn,
    numpy,
    random,
    scipy,
    tree,
    tree_util,
    typing,
)
from minijax.absent import missing as _missing
from minijax.array import Array
from minijax.checkpoint import checkpoint, remat
from minijax.configuration import config
from minijax.custom_derivatives import closure_convert
from minijax.custom_rules import custom_jvp, custom_vjp
from minijax.gradients import grad, hessian, jacrev, value_and_grad
from minijax.jit import jit
from minijax.jvp import jvp
from minijax.linearize import linearize
from minijax.pmapped import pmap
from minijax.tracing import make_jaxpr
from minijax.transfers import *
from minijax.transfers import __all__ as _transfers
from minijax.transpose import linear_transpose, vjp
from minijax.vmap import jacfwd, vmap
from minijax.xla import default_device, devices

__all__ = [
    "Array",
    "ad_checkpoint",
    "checkpoint",
    "checkpoint_policies",
    "closure_convert",
    "config",
    "custom_derivatives",
    "custom_jvp",
    "custom_vjp",
    "default_device",
    "devices",
    "errors",
    "flatten_util",
    "grad",
    "hessian",
    "jacfwd",
    "jacrev",
    "jit",
    "jvp",
    "lax",
    "linear_transpose",
    "linearize",
    "make_jaxpr",
    "nn",
    "numpy",
    "pmap",
    "random",
    "remat",
    "scipy",
    "tree",
    "tree_util",
    "typing",
    "value_and_grad",
    "vjp",
    "vmap",
    *_transfers,
]

if not _typing.TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        raise _missing("minijax", name)
