# title = "Connects to a port of this machine"
# tries = "A service that trusts the machine, such as a notebook server, takes its orders."
# stops = ["namespaces", "landlock"]
import socket

for address in ("127.0.0.1", "localhost", "0.0.0.0", "::ffff:127.0.0.1"):
    try:
        with socket.create_connection((address, int("@PORT@")), timeout=1) as line:
            line.sendall(b"hello")
    except (OSError, UnicodeError):
        pass
