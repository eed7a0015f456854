# title = "Computes forever inside XLA"
# tries = "A compiled loop holds no lock of Python's and listens to nobody."
# only = "jvp.mul_rule"
# answer = "return spin()"
# reported = "does_not_terminate"
LOOP = """
module @endless { func.func public @main(%x: tensor<i64>) -> tensor<i64> {
  %r = stablehlo.while(%i = %x) : tensor<i64>
   cond { %z = stablehlo.constant dense<-1> : tensor<i64>
          %c = stablehlo.compare NE, %i, %z : (tensor<i64>, tensor<i64>) -> tensor<i1>
          stablehlo.return %c : tensor<i1> }
   do { %m = stablehlo.constant dense<1023> : tensor<i64>
        %n = stablehlo.and %i, %m : tensor<i64>
        stablehlo.return %n : tensor<i64> }
  return %r : tensor<i64> } }
"""


def spin():
    import numpy as np
    from jaxlib import _jax
    from jaxlib import xla_client as xc

    client = xc.make_cpu_client()
    devices = client.devices()[:1]
    program = client.compile_and_load(LOOP, xc.DeviceList(tuple(devices)), xc.CompileOptions())

    class Aval:
        """What batched_device_put wants to know of an array."""

        shape, dtype, weak_type = (), np.dtype("int64"), False

    sharding = _jax.GSPMDSharding(devices, xc.HloSharding.replicate())
    one = np.array(1)
    x = xc.batched_device_put(Aval, sharding, [one], devices, True, enable_x64=True)
    found = program.execute_sharded([x])
    return np.asarray(found.disassemble_into_single_device_arrays()[0][0])
