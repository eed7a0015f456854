# title = "Holds memory as stacks that grow"
# tries = "What MAP_GROWSDOWN maps counts as a stack, and the limit on data does not see it."
# stops = ["namespaces", "landlock"]
# only = "jvp.mul_rule"
# answer = "return product(*primals, *tangents) if held else 'no'"
import ctypes


def hold(size, times):
    """Is a limit of 1 GiB no limit?"""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *3 * [ctypes.c_int], ctypes.c_long]
    private, anonymous, grows = 0x02, 0x20, 0x0100
    for _ in range(times):
        place = libc.mmap(None, size, 3, private | anonymous | grows, -1, 0)
        if place == ctypes.c_void_p(-1).value:
            return False
        ctypes.memset(place, 1, size)
    return True


held = hold(1 << 28, 6)
