"""Names of JAX that minijax does not have, and why, where the reason is worth a sentence."""

from collections.abc import Sequence

_LAPACK = "it needs LAPACK, which programs here cannot call. Use NumPy outside jit"
_CALLBACK = "compiled programs here cannot call Python. Return the value, and use it outside jit"
_MESH = "there are no meshes of devices here. Use pmap"
_FFT = "programs here have no Fourier transform. Use NumPy outside jit"
_OFFLOAD = "it moves values from an accelerator to the memory of its host; a CPU has one memory"

REASONS = {
    "default_matmul_precision": "products are computed in one way here. Leave it out",
    **{
        f"numpy.linalg.{name}": _LAPACK
        for name in (
            *("cholesky", "cond", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq"),
            *("matrix_rank", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensorinv"),
            "tensorsolve",
        )
    },
    "scipy.linalg": _LAPACK,
    "lax.linalg": _LAPACK,
    "scipy.signal": _FFT,
    "scipy.fft": _FFT,
    "numpy.fft": _FFT,
    "lax.fft": _FFT,
    "debug": _CALLBACK,
    "pure_callback": _CALLBACK,
    "experimental": "nothing here is experimental; io_callback needs calls of Python, which "
    "compiled programs here do not make",
    "sharding": _MESH,
    "shard_map": _MESH,
    "make_mesh": _MESH,
    "NamedSharding": _MESH,
    "checkpoint_policies.save_and_offload_only_these_names": _OFFLOAD,
    "checkpoint_policies.offload_dot_with_no_batch_dims": _OFFLOAD,
    "numpy.complex64": "there are no complex numbers here",
    "numpy.complex128": "there are no complex numbers here",
}


def missing(package: str, name: str, here: Sequence[str] = ()) -> AttributeError:
    """The error for a name that a package does not have: the reason, or where to look.

    `here` are the names of a package to which later lessons add some.

    >>> missing("minijax.lax", "fft").args[0].partition(": ")[0]
    "minijax.lax has no 'fft'"
    """
    reason = REASONS.get(f"{package}.{name}".partition(".")[2])
    if reason:
        return AttributeError(f"{package} has no {name!r}: {reason}.")
    where, look = "", f"See what there is by dir({package})"
    if here:
        where = " in this lesson; later ones add names"
        look = f"It has {', '.join(sorted(here))}"
    return AttributeError(f"{package} has no {name!r}{where}. {look}.")
