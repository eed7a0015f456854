# title = "Writes replies of its own to the grader"
# tries = "Every descriptor gets messages that look like the worker's, with all likely numbers."
# reported = "crashed"
# says = ["writes to the grader's channel"]
import os
import struct

import msgpack

for number in range(1, 200):
    text = msgpack.packb([number, "value", 12.5])
    for descriptor in range(1, 16):
        try:
            os.write(descriptor, struct.pack(">I", len(text)) + text)
        except OSError:
            pass
