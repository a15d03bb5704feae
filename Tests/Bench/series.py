"""Sequential requests over kept connections, for measurements that are counted exactly and not timed."""

import socket
from urllib.parse import urlencode

import scenarios

CONNECTIONS = 8


def connect(port):
    return [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(CONNECTIONS)]


def send(connections, requests):
    """Sends the requests over the connections in turn and reads each answer. Fails if a request is not answered."""
    readers = [each.makefile("rb") for each in connections]
    for number, request in enumerate(requests):
        connections[number % len(connections)].sendall(request)
        reader, length = readers[number % len(connections)], 0
        status = reader.readline()
        while (line := reader.readline().strip()) != b"":
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        reader.read(length)
        if not status.startswith((b"HTTP/1.1 2", b"HTTP/1.1 3")):
            raise RuntimeError(f"answered with {status.decode(errors='replace').strip()}")


def authorizations(proxy, count):
    target = scenarios.authorization_request()
    return [f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{proxy.port}\r\n\r\n".encode()] * count


def redemptions(proxy, count):
    """Fetches `count` codes and returns a token request for each."""
    fields = {"grant_type": "authorization_code", "client_id": "bench", "redirect_uri": scenarios.REDIRECT}
    requests = []
    for code in scenarios.codes(proxy, count):
        body = urlencode(dict(fields, code_verifier=scenarios.VERIFIER, code=code))
        head = f"POST /oauth/token HTTP/1.1\r\nHost: 127.0.0.1:{proxy.port}\r\n"
        head += f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n\r\n"
        requests.append((head + body).encode())
    return requests
