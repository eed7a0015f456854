"""`jax.example_libraries`, from the files of the installed JAX, unmodified, on minijax.

The program runs twice, in processes of its own: `import jax` means minijax in the first and JAX in
the second. Of JAX's internal modules, `optimizers` takes three functions, which are defined here.
"""

import pytest
from run_on import printed

PROGRAM = """
import importlib.metadata
import importlib.util
import sys
import types

import jax
import jax.numpy as jnp
from jax import random

util = types.ModuleType("jax._src.util")
util.safe_map = lambda f, *xs: list(map(f, *xs))
util.safe_zip = lambda *xs: list(zip(*xs, strict=True))
util.unzip2 = lambda pairs: tuple(zip(*pairs)) or ((), ())
sys.modules.setdefault("jax._src", types.ModuleType("jax._src"))
sys.modules["jax._src.util"] = util


def load(name):
    file = importlib.metadata.distribution("jax").locate_file(f"jax/example_libraries/{name}.py")
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


stax, optimizers = load("stax"), load("optimizers")
init, apply = stax.serial(
    stax.Conv(4, (3, 3), padding="SAME"), stax.Relu, stax.MaxPool((2, 2), strides=(2, 2)),
    stax.Conv(6, (2, 2), strides=(2, 2)), stax.Gelu, stax.AvgPool((2, 2)),
    stax.FanOut(2), stax.parallel(stax.Identity, stax.Softplus), stax.FanInSum, stax.Flatten,
    stax.Dense(10), stax.BatchNorm(axis=0), stax.Tanh, stax.Dropout(0.8), stax.Dense(3),
    stax.LogSoftmax,
)
shape, params = init(random.key(0), (-1, 12, 12, 1))
x = random.normal(random.key(1), (8, 12, 12, 1))
y = jax.nn.one_hot(jnp.arange(8) % 3, 3)
print(tuple(map(int, shape)))


def loss(params, key):
    return -jnp.mean(jnp.sum(apply(params, x, rng=key) * y, 1))


slope_of = jax.jit(jax.value_and_grad(loss))
for make in (
    optimizers.adam(1e-2), optimizers.sgd(0.1), optimizers.momentum(0.05, 0.9),
    optimizers.rmsprop(optimizers.exponential_decay(0.01, 2, 0.5)),
):
    start, update, get = make
    state = start(params)

    def step(i, state):
        value, slope = slope_of(get(state), random.fold_in(random.key(2), i))
        return update(i, optimizers.clip_grads(slope, 1.0), state), value

    for i in range(3):
        state, value = step(i, state)
    print(f"{value:.9f}", f"{optimizers.l2_norm(get(state)):.9f}")
"""


@pytest.mark.slow
def test_stax_and_the_optimizers_train_as_they_do_on_jax(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(PROGRAM, encoding="utf-8")
    ours, theirs = (printed(file, backend) for backend in ("minijax", "jax"))
    assert len(ours.splitlines()) == 5
    assert ours == theirs
