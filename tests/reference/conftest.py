"""XLA compiles these tests' programs in three quarters of the time: most of them run once."""

import os
from unittest import mock

import jax

with mock.patch.dict(os.environ, XLA_FLAGS="--xla_backend_optimization_level=0"):
    jax.devices()  # XLA reads its flags now, and once; what tests start has none of them
