# title = "Sends data to the outside"
# tries = "Names and addresses of the network, by TCP, UDP and raw packets."
# answer = "return sent or 'no'"
# stops = ["namespaces", "landlock"]
import socket
from contextlib import suppress

sent = None
for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW):
    with suppress(OSError):
        with socket.socket(socket.AF_INET, kind) as line:
            line.sendto(b"hello", ("127.0.0.1", int("@PORT@")))
            sent = carry_out("a packet left")
