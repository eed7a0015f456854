"""XLA compiles these tests' programs in a third of the time: most run once. JAX has 64 bits."""

import os
import sys
from unittest import mock

import jax
import pytest

from autograder.sandbox import launch

with mock.patch.dict(os.environ, XLA_FLAGS=launch.xla_flags()):
    jax.devices()  # XLA reads its flags now, and once; what tests start has none of them
jax.config.update("jax_enable_x64", True)


@pytest.fixture
def default_recursion_limit():
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    yield
    sys.setrecursionlimit(limit)
