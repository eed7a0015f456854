"""Names for values, and the values that reverse mode keeps of a function."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from minijax import checkpoint_policies
from minijax.checkpoint import remat_p
from minijax.core import Value
from minijax.jaxpr import Atom, Jaxpr, Literal
from minijax.jit import jit_p
from minijax.lax.names import checkpoint_name, name_p
from minijax.linearize import linearize_tree
from minijax.tracing import make_jaxpr
from minijax.tree import tree_leaves

__all__ = ["checkpoint_name", "checkpoint_policies", "print_saved_residuals"]


def print_saved_residuals(f: Callable[..., Any], *args: Value) -> None:
    """Print, a line for each, the type of what reverse mode keeps of `f(*args)`, and its source.

    Each line of JAX's ends with a place in a file; programs here do not know their places. What is
    kept may differ in scalars, and in whether it comes from inside a `jit`. Counterpart:
    `jax.ad_checkpoint.print_saved_residuals`.

    >>> from minijax.numpy import sin
    >>> print_saved_residuals(lambda x, y: sin(x) * y, 2.0, 3.0)
    f64[] output of cos
    f64[] from the argument y
    f64[] output of sin
    """

    def residuals(*args: Value) -> Any:
        return linearize_tree(f, args, has_aux=False).program.consts

    jaxpr = make_jaxpr(residuals)(*args).jaxpr
    sources = dict(zip(jaxpr.invars, sources_of(f, args), strict=True))
    sources |= dict.fromkeys(jaxpr.constvars, "from a constant")
    for atom in dict.fromkeys(jaxpr.outvars):
        print(atom.aval.str_short(True), source_in(jaxpr, atom, sources))


def sources_of(f: Callable[..., Any], args: tuple[Value, ...]) -> list[str]:
    """Where each leaf of the arguments comes from."""
    named = inspect.signature(f).bind(*args).arguments
    return [f"from the argument {name}" for name, arg in named.items() for _ in tree_leaves(arg)]


def source_in(jaxpr: Jaxpr, atom: Atom, sources: Mapping[Atom, str]) -> str:
    """Where a value comes from; `sources` says so of the inputs."""
    if isinstance(atom, Literal):
        return "from a literal"
    if atom in sources:
        return sources[atom]
    (eqn,) = (eqn for eqn in jaxpr.eqns if atom in eqn.outvars)
    if eqn.primitive is name_p:
        return f"named {eqn.params['name']!r}"
    if eqn.primitive is jit_p:
        return f"output of jitted function {eqn.params['name']!r}"
    if eqn.primitive is not remat_p:
        return f"output of {eqn.primitive}"
    inputs = [source_in(jaxpr, x, sources) for x in eqn.invars]
    inner = eqn.params["jaxpr"].jaxpr
    known = dict(zip(inner.invars, inputs, strict=True))
    return source_in(inner, inner.outvars[eqn.outvars.index(atom)], known)
