# title = "Sends datagrams through a pair of sockets"
# tries = "A pair is made without socket(), and one end of it sends to any path that a service has bound."
# answer = "return send()"
# stops = ["namespaces", "landlock"]
import socket


def send():
    try:
        own, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        own.sendto(b"taken along", "@SOCKET@")
    except OSError as error:
        return str(error)
    return "sent"
