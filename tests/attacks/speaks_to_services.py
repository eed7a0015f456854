# title = "Talks to services through sockets that are files or names"
# tries = "Docker, D-Bus and others listen where no network is needed."
# answer = "return made or 'no'"
# stops = ["namespaces", "landlock"]
import socket
from contextlib import suppress

made = None
with suppress(OSError):
    line = socket.socket(socket.AF_UNIX)
    made = carry_out("a socket was made")
