"""Everything that touches jaxlib: making a client, compiling StableHLO text, moving arrays.

`minijax` needs jaxlib, never jax. Some conveniences of jaxlib import jax; they are avoided here.
"""

import functools
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")  # before jaxlib loads, or XLA talks

from jaxlib import _jax, xla_client


@functools.cache
def client() -> Any:
    """The one connection to XLA of this process; made when it is first used."""
    return xla_client.make_cpu_client()


def device() -> Any:
    """The device on which programs run."""
    return client().local_devices()[0]


@functools.cache
def sharding() -> Any:
    """All of an array on the one device."""
    return _jax.GSPMDSharding([device()], xla_client.HloSharding.replicate())


def to_device(aval: Any, x: Any) -> Any:
    """A buffer on the device with a copy of the host array `x`."""
    host = np.array(x, dtype=aval.dtype, order="C")
    semantics = xla_client.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL
    return xla_client.batched_device_put(
        aval, sharding(), [host], [device()], enable_x64=True, host_buffer_semantics=semantics
    )


def compile_text(stablehlo: str) -> Any:
    """Compile a module, given as text, for the device."""
    devices = xla_client.DeviceList((device(),))
    return client().compile_and_load(stablehlo, devices, xla_client.CompileOptions())


def run(executable: Any, buffers: Sequence[Any], out_avals: Sequence[Any]) -> list[Any]:
    """Run a compiled program on buffers; gives buffers."""
    handlers = [result_handler(aval) for aval in out_avals]
    return executable.execute_sharded(list(buffers)).consume_with_handlers(handlers)


def result_handler(aval: Any) -> Any:
    """What makes an array of a result; jaxlib 0.11 dropped the last argument."""
    try:
        return xla_client.array_result_handler(aval, sharding(), True, True)
    except TypeError:
        return xla_client.array_result_handler(aval, sharding(), True)
