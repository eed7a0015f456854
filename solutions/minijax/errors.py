"""The error classes that users meet, under their names in JAX (`jax.errors`).

Each message says what happened and what to use instead.
"""

__all__ = [
    "ConcretizationTypeError",
    "JAXIndexError",
    "JAXTypeError",
    "NonConcreteBooleanIndexError",
    "TracerArrayConversionError",
    "TracerBoolConversionError",
    "TracerIntegerConversionError",
    "UnexpectedTracerError",
]


class JAXTypeError(TypeError):
    """The base class of the errors in this module that are also `TypeError`s."""


class ConcretizationTypeError(JAXTypeError):
    """A program asked a tracer for its value, and only its shape and dtype are known."""


class TracerBoolConversionError(ConcretizationTypeError):
    """A tracer without a value was used as a condition, as in `if x > 0:`."""


class TracerIntegerConversionError(JAXTypeError):
    """A tracer without a value was used as a Python integer, as in `range(n)`."""


class TracerArrayConversionError(JAXTypeError):
    """A tracer was handed to NumPy, which needs a real array."""


class JAXIndexError(IndexError):
    """The base class of the errors in this module that are also `IndexError`s."""


class NonConcreteBooleanIndexError(JAXIndexError):
    """A tracer of booleans was used as an index: the shape of the result depends on its values."""


class UnexpectedTracerError(JAXTypeError):
    """A tracer was used after the transformation that made it had ended."""
