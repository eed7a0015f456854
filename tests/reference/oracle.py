"""Which JAX the tests compare with: the newest that each Python gets from the lock file."""

import jax
import pytest

# Jaxprs are promised to print as in JAX 0.10.2 (Python 3.11); later ones print more parameters.
prints_as_promised = pytest.mark.skipif(
    jax.__version_info__ >= (0, 11), reason="printed jaxprs are compared with those of JAX 0.10"
)

# Signatures too are JAX 0.10's: later ones drop and add parameters.
signed_as_promised = pytest.mark.skipif(
    jax.__version_info__ >= (0, 11), reason="signatures are compared with those of JAX 0.10"
)
