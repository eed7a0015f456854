"""`minijax.config`: the one setting that programs for JAX need, and that is always on here."""

from collections.abc import Iterator
from contextlib import contextmanager

from minijax.core import Value


class Config:
    """JAX computes in 32 bits unless it is told otherwise; minijax always computes in 64."""

    jax_enable_x64 = True

    def update(self, name: str, value: Value) -> None:
        """Accept the line that switches JAX to 64 bits; refuse everything else.

        >>> config.update("jax_enable_x64", True)
        """
        if name != "jax_enable_x64":
            raise AttributeError(f"minijax has no option {name!r}, only 'jax_enable_x64'.")
        if value is not True:
            raise ValueError("minijax computes in 64-bit mode, which cannot be switched off.")

    def parse_flags_with_absl(self) -> None:
        """Nothing: JAX's own tests begin with this line, and there are no flags here."""


PRECISIONS = (None, "default", "high", "highest", "bfloat16", "tensorfloat32", "float32")


@contextmanager
def default_matmul_precision(new_val: str | None) -> Iterator[None]:
    """A `with` block with another default of `precision`, which changes nothing on the CPU.

    >>> with default_matmul_precision("highest"):
    ...     pass
    """
    if new_val not in PRECISIONS:
        raise ValueError(f"new value must be one of {PRECISIONS}, got {new_val!r}.")
    yield


config = Config()
