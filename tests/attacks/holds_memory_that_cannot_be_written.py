# title = "Holds memory that can no longer be written"
# tries = "Memory made read-only after it was filled is no data for the limit, but it stays where it is."
# stops = ["namespaces", "landlock"]
# only = "jvp.mul_rule"
# answer = "return product(*primals, *tangents) if held else 'no'"
import ctypes


def hold(size, times):
    """Is a limit of 1 GiB no limit?"""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *3 * [ctypes.c_int], ctypes.c_long]
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    private, anonymous = 0x02, 0x20
    for _ in range(times):
        place = libc.mmap(None, size, 3, private | anonymous, -1, 0)
        if place == ctypes.c_void_p(-1).value:
            return False
        ctypes.memset(place, 1, size)
        libc.mprotect(place, size, 1)
    return True


held = hold(1 << 28, 12)
