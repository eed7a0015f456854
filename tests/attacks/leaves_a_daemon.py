# title = "Leaves a daemon behind"
# tries = "A grandchild in a session of its own survives the worker, and waits for the next."
import ctypes
import os
import time
from contextlib import suppress

ctypes.CDLL(None).prctl(15, b"@MARK@", 0, 0, 0)
with suppress(OSError):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for descriptor in range(256):
                with suppress(OSError):
                    os.close(descriptor)
            time.sleep(600)
        os._exit(0)
ctypes.CDLL(None).prctl(15, b"python", 0, 0, 0)
