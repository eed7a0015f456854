"""`minijax.config`: the one setting that programs for JAX need, and that is always on here."""

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


config = Config()
