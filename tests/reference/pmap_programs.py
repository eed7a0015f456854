"""Programs of `pmap`, of collectives and of devices, each a function of the library (or of JAX).

`python pmap_programs.py LIBRARY` runs on eight devices those whose table and name it reads, and
writes what each gave. How many devices there are is fixed when XLA starts, and other tests count on
one: hence a process.
"""

import importlib
import json
import pickle
import sys

import numpy as np
from expressions import programs_of

X = np.linspace(0.5, 2.0, 8)
M = np.sin(np.arange(16.0)).reshape(8, 2)
C = np.cos(np.arange(24.0)).reshape(8, 3)
N = np.arange(8, dtype=np.int32)


# Collectives: these give the same under vmap and under pmap ---------------------------------------


def averaging(lib):
    """Three steps, in each of which all examples meet."""
    sin, psum = lib.numpy.sin, lib.lax.psum
    return lambda x: lib.lax.scan(lambda c, _: (psum(c, "i") / 8 + sin(x), c), x, None, length=3)[0]


COLLECTIVES = programs_of(
    globals(),
    """
    in scan: lib.along(averaging(lib))(X)
    grad of scan inside: lib.along(lib.grad(averaging(lib)))(X)
    grad of scan outside: lib.grad(lambda x: (lib.along(averaging(lib))(x) * X).sum())(X)
    psum: lib.along(lambda x: x / lax.psum(x, "i"))(X)
    psum of int: lib.along(lambda x: lax.psum(x, "i"))(N)
    psum of bool: lib.along(lambda x: lax.psum(x, "i"))(N > 2)
    psum of a constant: lib.along(lambda x: x * lax.psum(1, "i"))(X)
    psum of constants: lib.along(lambda x: lax.psum((x, 2.5), "i"))(M)
    psum of float32: lib.along(lambda x: lax.psum(x, "i"))(M.astype("f4"))
    psum of what does not move: lib.along(lambda x: lib.jit(lambda y: lax.psum(jnp.sin(y),
        "i"))(3.0) + x)(X)
    pmean: lib.along(lambda x: lax.pmean({"a": x, "b": 3.0 * x}, "i"))(M)
    pmean of int: lib.along(lambda x: lax.pmean(x, "i"))(N)
    axis_index: lib.along(lambda x: x * lax.axis_index("i"))(X)
    axis_index alone: lib.along(lambda x: lax.axis_index("i"))(X)
    all_gather: lib.along(lambda x: lax.all_gather(x, "i"))(M)
    all_gather at 1: lib.along(lambda x: lax.all_gather(x, "i", axis=1))(M)
    all_gather at -1: lib.along(lambda x: lax.all_gather(x, "i", axis=-1))(M)
    all_gather tiled: lib.along(lambda x: lax.all_gather([x, x[:1]], "i", tiled=True))(M)
    all_gather of 0-d: lib.along(lambda x: lax.all_gather(x, "i"))(X)
    in jit: lib.along(lib.jit(lambda x: x * lax.psum(x * x, "i")))(X)
    inner vmap: lib.along(lib.vmap(lambda x: lax.psum(x, "i") + lax.all_gather(x, "i").sum()))(M)
    inner vmap of all: lib.along(lib.vmap(lambda x: (lax.all_gather(x, "i"), lax.psum(x, "i"),
        lax.axis_index("i"))))(M)
    two axes: lib.along(lib.vmap(lambda x: lax.psum(x, ("i", "j")) + lax.axis_index("j"),
        axis_name="j"))(M)
    the inner of two axes of one name: lib.along(lib.vmap(lambda x: lax.psum(x, "i"),
        axis_name="i"))(M)
    jvp inside: lib.along(lambda x: lib.jvp(lambda y: lax.psum(y * y, "i"), (x,), (1.0,)))(X)
    grad inside: lib.along(lib.grad(lambda x: x * lax.psum(jnp.sin(x), "i")))(X)
    grad of pmean inside: lib.along(lib.grad(lambda x: lax.pmean(x * x * x, "i")))(X)
    grad of all_gather inside: lib.along(lib.grad(lambda x: (lax.all_gather(x, "i") * X).sum()
        * x))(X)
    grad of tiled all_gather inside: lib.along(lib.grad(lambda x: (lax.all_gather(x, "i",
        tiled=True) ** 2 * x[0]).sum()))(M)
    grad of grad inside: lib.along(lib.grad(lib.grad(lambda x: x * x
        * lax.psum(jnp.sin(x), "i"))))(X)
    grad outside: lib.grad(lambda x: (lib.along(lambda y: y * lax.psum(jnp.sin(y), "i"))(x)
        * X).sum())(X)
    grad outside of all_gather: lib.grad(lambda x: (lib.along(lambda y: lax.all_gather(y, "i",
        axis=1) * y[0])(x) ** 2).sum())(M)
    jvp outside: lib.jvp(lib.along(lambda y: y * lax.pmean(jnp.sin(y), "i")), (X,), (X * X,))
    grad of jit inside: lib.along(lib.grad(lib.jit(lambda x: x * lax.psum(jnp.sin(x), "i"))))(X)
""",
)

# Further collectives, each in every transformation, of values with two axes or more ---------------

K = np.sin(np.arange(8.0 * 8 * 2 * 3)).reshape(8, 8, 2, 3)  # eight examples
L = np.sin(np.arange(8.0 * 2 * 16)).reshape(8, 2, 16)
RING = [(i, (i + 3) % 8) for i in range(8)]

LINEAR = {
    "ppermute": (K, lambda lax, x: lax.ppermute(x, "i", RING)),
    "all_to_all": (K, lambda lax, x: lax.all_to_all(x, "i", 0, 0)),
    "all_to_all tiled": (L, lambda lax, x: lax.all_to_all(x, "i", 1, 0, tiled=True)),
    "all_to_all tiled, one axis": (L, lambda lax, x: lax.all_to_all(x, "i", 1, 1, tiled=True)),
    "psum_scatter": (K, lambda lax, x: lax.psum_scatter(x, "i")),
    "psum_scatter, second axis": (
        K.swapaxes(1, 2),
        lambda lax, x: lax.psum_scatter(x, "i", scatter_dimension=1),
    ),
    "psum_scatter tiled, first axis": (K, lambda lax, x: lax.psum_scatter(x, "i", tiled=True)),
    "psum_scatter tiled": (
        L,
        lambda lax, x: lax.psum_scatter(x, "i", scatter_dimension=1, tiled=True),
    ),
}
TRANSFORMED = {
    "": lambda lib, f, x: lib.along(f)(x),
    " in jit": lambda lib, f, x: lib.along(lib.jit(lambda x: f(x * x)))(x),
    " with jvp inside": lambda lib, f, x: lib.along(lambda x: lib.jvp(f, (x,), (x * x,)))(x),
    " with grad inside": lambda lib, f, x: lib.along(lib.grad(lambda x: (f(x) ** 2).sum()))(x),
    " with grad outside": lambda lib, f, x: lib.grad(lambda x: (lib.along(f)(x) ** 2).sum())(x),
    " in vmap": lambda lib, f, x: lib.vmap(lib.along(f))(np.stack([x, -x])),
}
COLLECTIVES |= {
    f"{name}{how}": lambda lib, f=f, x=x, g=g: g(lib, lambda x: f(lib.lax, x), x)
    for name, (x, f) in LINEAR.items()
    for how, g in TRANSFORMED.items()
}
# JAX's own transpose of the first two fails, as their axes differ: forward only.
COLLECTIVES |= programs_of(
    globals(),
    """
    all_to_all at another axis: lib.along(lambda x: lax.all_to_all({"a": x}, "i", 0, 2))(K)
    all_to_all to the front: lib.along(lib.jit(lambda x: lax.all_to_all(x.T, "i", 2, 0)))(K)
    pmax: lib.along(lambda x: lax.pmax([x, N[:3], 2.5], "i"))(K)
    pmin: lib.along(lib.jit(lambda x: lax.pmin(x, "i")))(K)
    pmax of bool: lib.along(lambda x: lax.pmax(x > 0, "i"))(X)
    pmax in vmap: lib.vmap(lib.along(lambda x: lax.pmax(x, "i")))(K)
    pmin of what does not move: lib.along(lib.grad(lambda x: x
        * lax.pmin(lax.stop_gradient(x), "i")))(X)
    the same for all, permuted: lib.along(lambda x: x + lax.ppermute(X, "i", RING))(X)
    the same for all, summed: lib.along(lambda x: x + lax.psum_scatter(X, "i"))(X)
""",
)
REFUSED = programs_of(
    globals(),
    """
    pmax has no derivative: lib.along(lib.grad(lambda x: lax.pmax(x, "i")))(X)
    pmax has no derivative, outside: lib.grad(lambda x: lib.along(lambda y: lax.pmax(y,
        "i"))(x).sum())(X)
    all_to_all of another size: lib.along(lambda x: lax.all_to_all(x, "i", 0, 0))(C)
    all_to_all of no multiple: lib.along(lambda x: lax.all_to_all(x, "i", 0, 0, tiled=True))(C)
""",
)

# What vmap does with a name, and programs of one device -------------------------------------------

ONE_DEVICE = programs_of(
    globals(),
    """
    axis_size: lib.vmap(lambda x: lax.axis_index("i"), in_axes=None, axis_name="i",
        axis_size=3)(1.0)
    the same jit with two sizes: [lib.vmap(f, axis_name="i")(x)
        for f in [lib.jit(lambda x: x * lax.psum(1, "i"))] for x in (X, X[:3])]
    the same jit, inside and between: [g(lib.jit(lambda x: x
        * lax.psum(x, "i")))(np.ones((2, 2))) for g in (lambda f: lib.vmap(lib.vmap(f),
        axis_name="i"), lambda f: lib.vmap(lib.vmap(f, axis_name="i")))]
    psum, the same for all: lib.vmap(lambda x: lax.psum(x, "i"), axis_name="i", out_axes=None)(X)
    calls of what does not move: lib.vmap(lambda x: lib.jit(lib.checkpoint(lambda y:
        lax.psum(jnp.sin(y), "i")))(3.0) * x, axis_name="i")(X)
    loop of what does not move: lib.vmap(lambda x: (lax.fori_loop(0, 3, lambda i, c: c
        + lax.psum(jnp.sin(c), "i"), 1.0) * x), axis_name="i")(X)
    pmap on one device: lib.pmap(lambda x: x / lax.psum(x, "i"), "i")(X[:1])
    devices: [repr(lib.devices()[0]), repr(lib.devices("cpu")[0])]
    default_device: placed(lib, lib.devices()[0])
""",
)


def placed(lib, device):
    """On which devices the results of jit are, inside and outside of a `with` block."""
    f = lib.jit(lambda x: x + 1.0)
    with lib.default_device(device):
        inside = f(1.0)
        from_inside = f(inside)
    outside = f(inside)
    places = [str(x.devices()) for x in (inside, from_inside, outside)]
    return [*places, str(inside.device), outside, bool(inside.committed)]


# Eight devices ------------------------------------------------------------------------------------


def ids(x):
    return sorted(device.id for device in x.devices())


def square_sum(lib):
    return lib.pmap(lambda x: x * lib.lax.psum(x * x, "i"), axis_name="i")


def shared(lib, out_axes=None):
    """A function of a shared weight and of data in pieces, whose result is shared too."""
    sin, psum = lib.numpy.sin, lib.lax.psum
    return lib.pmap(
        lambda w, x: psum(sin(w * x), "i"), axis_name="i", in_axes=(None, 0), out_axes=out_axes
    )


def halves(lib):
    """Two arrays in pieces, on the first four and on the last four devices."""

    def identity(devices):
        return lib.pmap(lambda x: x, devices=devices)(X[:4])

    return identity(lib.devices()[:4]), identity(lib.devices()[4:])


PMAP = programs_of(
    globals(),
    """
    ppermute of some: lib.pmap(lambda x: lax.ppermute(x, "i", [(0, 1), (1, 3)]), "i")(M)
    grad of ppermute of some: lib.pmap(lib.grad(lambda x: (lax.ppermute(x, "i", [(0, 1), (1, 3)])
        ** 2).sum()), "i")(M)
    ppermute of none: lib.pmap(lambda x: lax.ppermute(x, "i", []), "i")(X)
    in_axes: lib.pmap(lambda x, y: x + y, in_axes=(0, None))(X, 3.0)
    in_axes 1: lib.pmap(lambda x: x * 2.0, in_axes=1)(M.T)
    out_axes 1: lib.pmap(lambda x: (x, x[0]), out_axes=(1, 0))(M)
    out_axes None: shared(lib)(2.0, X)
    in_axes of containers: lib.pmap(lambda d, x: d["a"] * x + d["b"],
        in_axes=({"a": None, "b": 0}, 1))({"a": 2.0, "b": X}, M.T)
    by name: lib.pmap(lambda x, y: x - y)(X, y=N)
    static: lib.pmap(lambda n, x: x * n, static_broadcasted_argnums=0)(3, X)
    static and in_axes: lib.pmap(lambda x, n, y: x * n + y, static_broadcasted_argnums=1,
        in_axes=(0, None, None))(X, 3, 2.0)
    fewer examples than devices: lib.pmap(lambda x: x * x)(X[:3])
    devices: [ids(x) for x in halves(lib)]
    results stay in place: [ids(f(f(x))) for f in [square_sum(lib)] for x in (X, X[:3])]
    captured array: lib.pmap(lambda x: x * X)(X)
    closure of grad: lib.grad(lambda w: lib.pmap(lambda x: x * w)(X).sum())(2.0)
    grad of what is shared: lib.grad(lambda w: shared(lib, 0)(w, X).sum())(2.0)
    grad of a shared result: lib.grad(shared(lib), (0, 1))(2.0, X)
    grad of a result that all have: lib.grad(lambda x: lib.pmap(lambda y: y * 2.0,
        out_axes=None)(x))(X)
    grad with in_axes 1: lib.grad(lambda m: (lib.pmap(lambda x: jnp.sin(x) * x.sum(), in_axes=1,
        out_axes=1)(m) * M.T).sum())(M.T)
    grad past an integer: lib.grad(lambda x: lib.pmap(lambda y: (y * 2.0, 3))(x)[0].sum())(X)
    grad of grad: lib.grad(lambda x: lib.grad(lambda y: (square_sum(lib)(y) * X).sum())(x).sum())(X)
    jacfwd: lib.jacfwd(square_sum(lib))(X[:3])
    jacrev: lib.jacrev(square_sum(lib))(X[:3])
    hessian: lib.hessian(lambda x: square_sum(lib)(x).sum())(X[:3])
    linearize: lib.linearize(square_sum(lib), X)[1](X * X)
    vmap at 0: lib.vmap(square_sum(lib))(M.T)
    vmap at 1: lib.vmap(square_sum(lib), in_axes=1, out_axes=1)(M)
    vmap of in_axes 1: lib.vmap(lib.pmap(lambda x, y: (x.sum() * y, x), in_axes=(1, None),
        out_axes=(0, 1)), in_axes=(2, 0))(np.sin(np.arange(48.0)).reshape(3, 8, 2), M[0])
    vmap of out_axes None: lib.vmap(shared(lib), in_axes=(0, None))(M[0], X)
    vmap with the same name: lib.vmap(square_sum(lib), in_axes=1, axis_name="i")(M)
    vmap with another name: lib.vmap(lib.pmap(lambda x: lax.psum(x, ("i", "j")) + lax.psum(x, "j"),
        "i"), in_axes=1, axis_name="j")(M)
    vmap of what does not move: lib.vmap(lambda w: lib.pmap(lambda x: lax.psum(jnp.sin(x),
        ("i", "j")), "i")(X) * w, axis_name="j")(M[0])
    the same pmap in vmaps of two sizes: [lib.vmap(f, in_axes=1, axis_name="j")(m)
        for f in [lib.pmap(lambda x: x * lax.psum(1, "j"))] for m in (M, C)]
    in a loop: lib.jit(lambda x: lax.fori_loop(0, 3, lambda i, c: square_sum(lib)(c) / 8, x))(X)
    checkpoint inside: lib.along(lib.grad(lib.checkpoint(lambda x: x
        * lax.psum(jnp.sin(x), "i"))))(X)
    checkpoint outside: lib.grad(lib.checkpoint(lambda x: (jnp.sin(square_sum(lib)(x))
        * X).sum()))(X)
    vmap of grad: lib.vmap(lib.grad(lambda w: shared(lib)(w, X)))(M[0])
    grad of vmap: lib.grad(lambda m: lib.vmap(square_sum(lib))(m).sum())(M.T)
    in jit: lib.jit(lambda x: square_sum(lib)(x * 2.0) + 1.0)(X)
    in jit, several: lib.jit(lambda w, x: (shared(lib)(w, x), lib.pmap(lambda y: y, out_axes=1)(M),
        w))(2.0, X)
    jit of grad: lib.jit(lib.grad(shared(lib), (0, 1)))(2.0, X)
    grad of jit: lib.grad(lib.jit(shared(lib)), (0, 1))(2.0, X)
    jit of vmap: lib.jit(lib.vmap(square_sum(lib)))(M.T)
    vmap of jit: lib.vmap(lib.jit(square_sum(lib)))(M.T)
    jit after pmap: lib.jit(lambda x: x.sum() + x)(square_sum(lib)(X))
    places after jit: [ids(lib.jit(lambda x: x + 1.0)(square_sum(lib)(X))),
        ids(lib.jit(lambda x: square_sum(lib)(x))(X[:4])), ids(lib.jit(lambda x, y: x
        + y.sum())(1.0, halves(lib)[1]))]
    committed: [bool(x.committed) for x in (shared(lib)(2.0, X), square_sum(lib)(X[:1]),
        lib.jit(lambda x: x + 1.0)(square_sum(lib)(X[:1])), lib.jit(square_sum(lib))(X),
        lib.jit(lambda x: x + 1.0)(X))]
    from one half to the other: ids(lib.pmap(lambda x: x,
        devices=lib.devices()[4:])(halves(lib)[0]))
    default_device: placed(lib, lib.devices()[3])
    default_device by name: placed(lib, "cpu")
    default_device does not move pmap: ids(within(lib, 5, lambda: square_sum(lib)(X[:2])))
    operations go where operands are: [(sorted(d.id for d in x.devices()), bool(x.committed))
        for x in beside(lib)]
    device_put in transformations: [(ids(x), bool(x.committed), x)
        for x in lib.tree.leaves(moved(lib))]
    two defaults: str(lib.jit(lambda x, y: x + y)(within(lib, 5,
        lambda: lib.jit(lambda x: x)(1.0)), within(lib, 3, lambda: lib.jit(lambda x:
        x)(2.0))).devices())
    training: train(lib)
""",
)


def beside(lib):
    """What operations on arrays of devices 2 and 3 return, without `jit`."""
    jnp, (two, three) = lib.numpy, lib.devices()[2:4]
    x, s, key = lib.device_put((jnp.arange(3.0), 2.0, lib.random.key(0)), two)
    free, pieces = lib.device_put(3.0), square_sum(lib)(X)
    return [
        *(x + 1, 1 - s, x * free, x[0], x.sum(), jnp.sin(x), x < 1, jnp.sort(x), x.at[0].set(5.0)),
        *(x.reshape(3, 1), jnp.stack([s, s]), jnp.array([s, 1.0]), x.copy(), free + 1, *x),
        *(lib.lax.cond(True, jnp.sin, jnp.cos, s), lib.grad(jnp.sin)(s), jnp.where(True, s, 0.0)),
        *(lib.random.normal(key), lib.jit(jnp.sin)(x * 2), pieces + 1, pieces[0], free),
        lib.device_put(x + 1, three) * 2,
    ]


def moved(lib):
    """What `device_put` inside a function that is differentiated or mapped moves, and where."""
    jnp, (two, three) = lib.numpy, lib.devices()[2:4]
    x, w, v = lib.device_put(jnp.arange(3.0), two), *lib.device_put((2.0, jnp.ones(3)), three)

    def layers(x, w):
        return jnp.sum(lib.device_put(jnp.sin(x), three) * w)

    return [
        lib.value_and_grad(layers, (0, 1))(x, w),
        lib.jvp(lambda x: lib.device_put(x, three), (x,), (X[:3],)),
        lib.vmap(lib.grad(lambda x: lib.device_put(x**3, three)))(x),
        lib.hessian(lambda x: lib.device_put(x**3, two))(w),
        lib.grad(lambda x: lib.device_put(x, three))(1.0),
        lib.grad(lib.device_put)(w),
        lib.jit(lib.grad(layers))(X[:3], v),
    ]


def within(lib, number, thunk):
    with lib.default_device(lib.devices()[number]):
        return thunk()


ERRORS = programs_of(
    globals(),
    """
    operands on two devices: lib.device_put(1.0, lib.devices()[1])
        + lib.device_put(2.0, lib.devices()[2])
    a value on another device: lib.device_put(jnp.ones(3),
        lib.devices()[1]).at[0].set(lib.device_put(2.0, lib.devices()[2]))
    too few devices: lib.pmap(lambda x: x)(np.ones(9))
    too few devices, in jit: lib.jit(lib.pmap(lambda x: x))(np.ones(9))
    too few of these devices: lib.pmap(lambda x: x, devices=lib.devices()[:2])(X)
    no devices: lib.pmap(lambda x: x, devices=[])(X)
    nothing mapped: lib.pmap(lambda x: x, in_axes=None)(1.0)
    no arguments: lib.pmap(lambda: 1.0)()
    0-d: lib.pmap(lambda x: x)(1.0)
    sizes: lib.pmap(lambda x, y: x + y)(X, X[:3])
    axis_size: lib.pmap(lambda x: x, axis_size=3)(X)
    in_axes of another length: lib.pmap(lambda x, y: x, in_axes=(0,))(X, X)
    in_axes in a list: lib.pmap(lambda x, y: x, in_axes=[0, 0])(X, X)
    static: lib.pmap(lambda x, n: x, static_broadcasted_argnums=1)(X)
    pmap in pmap: lib.pmap(lib.pmap(lambda x: x, axis_name="j"), axis_name="i")(M[:4])
    all_gather: lib.pmap(lambda x: lax.all_gather(x, "i", tiled=True), "i")(X)
    psum_scatter of another size: lib.pmap(lambda x: lax.psum_scatter(x, "i"), "i")(C)
    psum_scatter of no multiple: lib.pmap(lambda x: lax.psum_scatter(x, "i", tiled=True),
        "i")(C)
    cut along another axis: lib.pmap(lambda x: x, in_axes=1)(lib.pmap(lambda x: x)(np.ones((8,
        8))))
    two places: lib.jit(lambda x, y: x + y)(*halves(lib))
    two places in one program: lib.jit(lambda x: (square_sum(lib)(x),
        square_sum(lib)(x[:4])))(X)
    an argument elsewhere: lib.jit(lambda x, y: square_sum(lib)(x) + y.sum())(X, halves(lib)[1])
    not a device: within_value(lib, 3)
    unbound: lax.psum(1.0, "i")
    unbound index: lax.axis_index("i")
    unbound in jit: lib.jit(lambda x: lax.psum(x, "i"))(1.0)
    unbound in pmap: lib.pmap(lambda x: lax.psum(x, "j"), "i")(X)
    unbound after vmap: [g(f)(X) for f in [lib.jit(lambda x: lax.psum(x, "i"))]
        for g in (named(lib), plain)]
    in_axes: lib.pmap(lambda x: x, in_axes="i")(X)
    if: lib.pmap(lambda x: x if x > 0 else -x)(X)
    unknown backend: lib.devices("gpu")
""",
)


def named(lib):
    return lambda f: lib.vmap(f, axis_name="i")


def plain(f):
    return f


def within_value(lib, value):
    with lib.default_device(value):
        pass


# Data-parallel training ---------------------------------------------------------------------------


def train(lib, steps=5):
    """Each device has an eighth of the data, and parameters of its own; gradients are averaged."""
    rng = np.random.default_rng(0)
    params = {"w1": rng.normal(size=(3, 5)), "b1": np.zeros(5), "w2": rng.normal(size=5)}
    xs = rng.normal(size=(8, 8, 3))

    def loss(params, xs, ys):
        hidden = lib.numpy.tanh(xs @ params["w1"] + params["b1"])
        return ((hidden @ params["w2"] - ys) ** 2).mean()

    def step(params, xs, ys):
        value, grads = lib.lax.pmean(lib.value_and_grad(loss)(params, xs, ys), "i")
        return lib.tree.map(lambda p, g: p - 0.1 * g, params, grads), value

    parallel = lib.pmap(step, axis_name="i")
    copies = lib.tree.map(lambda p: np.stack([p] * 8), params)
    losses = []
    for _ in range(steps):
        copies, value = parallel(copies, xs, np.sin(xs.sum(2)))
        losses.append(value)
    return copies, losses


# Running ------------------------------------------------------------------------------------------


class Library:
    """minijax or JAX, with `mapped`, the transformation that the table of collectives is about."""

    def __init__(self, module, mapped):
        self.module, self.mapped = module, mapped

    def __getattr__(self, name):
        return getattr(self.module, name)

    def along(self, f):
        """`f` with one argument, mapped."""
        return self.mapped(f, axis_name="i")


def plain_data(tree, lib):
    """A result as lists of NumPy's arrays, strings and numbers."""
    return [x if isinstance(x, str) else np.asarray(x) for x in lib.tree.leaves(tree)]


def outcome(program, lib):
    try:
        return plain_data(program(lib), lib)
    except Exception as error:
        return type(error).__mro__, str(error)


PROGRAMS = {"collectives": COLLECTIVES, "pmap": PMAP, "errors": ERRORS}


def main(name):
    module = importlib.import_module(name)
    if name == "jax":
        module.config.update("jax_enable_x64", True)
    lib = Library(module, module.pmap)
    for line in sys.stdin:
        table, key = json.loads(line)
        value = outcome(PROGRAMS[table][key], lib)
        value = named_error(value) if is_error(value) else value
        pickle.dump(value, sys.stdout.buffer)
        sys.stdout.flush()


def is_error(value):
    return isinstance(value, tuple)


def named_error(value):
    """The names of an error's classes, since the reader has not JAX's; and its text."""
    classes, text = value
    return tuple(cls.__name__ for cls in classes), text


if __name__ == "__main__":
    main(*sys.argv[1:])
