# title = "Connects to a port of this machine"
# tries = "A service that trusts the machine, such as a notebook server, takes its orders."
# stops = ["namespaces", "landlock"]
import socket
from contextlib import suppress

for address in ("127.0.0.1", "localhost", "0.0.0.0", "::ffff:127.0.0.1"):
    with suppress(OSError, UnicodeError):
        with socket.create_connection((address, int("@PORT@")), timeout=1) as line:
            line.sendall(b"hello")
