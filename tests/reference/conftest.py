"""XLA compiles these tests' programs in half the time: most of them run once."""

import os
from unittest import mock

import jax

QUICKLY = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"

with mock.patch.dict(os.environ, XLA_FLAGS=QUICKLY):
    jax.devices()  # XLA reads its flags now, and once; what tests start has none of them
