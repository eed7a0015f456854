# title = "Uses what namespaces and mounts offer"
# tries = "New namespaces, mounts, a new root and other calls by which sandboxes were left before."
# reported = "not_implemented"
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
for flags in (0x10000000, 0x20000, 0x40000000, 0x10000000 | 0x20000):
    if libc.unshare(flags) == 0:
        libc.mount(b"none", b"/tmp", b"tmpfs", 0, None)
        carry_out("unshared")
if libc.chroot(b".") == 0:
    carry_out("chroot")
if libc.mount(b"@DROP@", b"/tmp", None, 4096, None) == 0:
    carry_out("mounted")
